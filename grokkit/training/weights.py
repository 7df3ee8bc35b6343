"""The weights of one trained run in a file, to be used by others.

One safetensors file: every parameter under its own name, and the run's spec as JSON in the
header. No pickle, so that opening one that somebody sent runs nothing. For going on with a
training there are checkpoints (:mod:`grokkit.training.checkpoint`); this is for its result.
"""

import json
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save

from grokkit.model import Layout, Parameters
from grokkit.training.files import write_whole
from grokkit.training.spec import RunSpec
from grokkit.training.trainer import Trainer

HEADER = "grokkit.weights"
"""The key of our JSON in the metadata of the safetensors file."""
FORMAT = 1


class WeightsError(ValueError):
    """A file that holds no weights of a run."""


def save_weights(trainer: Trainer, path: str | Path, run: int = 0) -> Path:
    """Write the weights of one run as it ended, or as it is now, whole or not at all.

    Args:
        trainer: the group that the run is part of.
        path: the file to write or to replace; ``.safetensors`` is its usual ending.
        run: the number of the run in the group.

    Raises:
        OSError: the file cannot be written; an older one there is intact.
    """
    from grokkit import __version__

    header = {
        "format": FORMAT,
        "grokkit": __version__,
        "epoch": trainer.records.ended.get(run, trainer.epoch),
        "spec": trainer.specs[run].to_dict(),
    }
    weights = trainer.final_weights().run(run)
    tensors = {name: value[0].detach().cpu().contiguous() for name, value in weights.items()}
    return write_whole(path, save(tensors, metadata={HEADER: json.dumps(header)}))


def load_weights(path: str | Path) -> tuple[RunSpec, Parameters]:
    """The spec and the weights that :func:`save_weights` wrote, as a group of one run.

    Raises:
        FileNotFoundError: there is no such file.
        WeightsError: the file is damaged, holds something else, was made by a newer
            grokkit, or names a kind that is not registered here; the message is one line.
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"{path}: no such file")
    try:
        with safe_open(path, framework="pt") as file:
            header = json.loads((file.metadata() or {})[HEADER])
            version = int(header["format"])
            # Clones: what is read here must not hang on to the file.
            names = file.keys()
            tensors = {name: file.get_tensor(name).clone() for name in names}
    except (SafetensorError, OSError, LookupError, TypeError, ValueError) as problem:
        reason = "damaged, or no weights of grokkit"
        raise WeightsError(f"{path}: {reason} ({type(problem).__name__})") from problem
    if version > FORMAT:
        raise WeightsError(f"{path}: weights format {version}; this grokkit reads up to {FORMAT}")
    try:
        spec = RunSpec.from_dict(header["spec"])
        n_tokens, length = (len(tensors[f"{of}_embedding"]) for of in ("token", "position"))
        last = "b_2" if spec.model.readout == "classifier" else "W_U"
        layout = Layout.of(spec.model, n_tokens, length, tensors[last].shape[-1])
    except (ValueError, TypeError, LookupError) as problem:
        raise WeightsError(f"{path}: its spec is not known here: {problem}") from problem
    if {name: tuple(value.shape) for name, value in tensors.items()} != dict(layout.shapes):
        raise WeightsError(f"{path}: its arrays are not those of its spec")
    flat = torch.cat([tensors[name].flatten() for name in layout.shapes])
    return spec, Parameters(layout, flat.unsqueeze(0))
