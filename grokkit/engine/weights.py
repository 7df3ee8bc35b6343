"""The weights of one trained run in a file, to be used by others.

A file (:mod:`grokkit.engine.tensor_file`) has every parameter under its own name, and the run's
spec. For going on with a training there are checkpoints; this is for its result.
"""

from pathlib import Path

import torch

from grokkit.engine.spec import RunSpec
from grokkit.engine.tensor_file import TensorFile
from grokkit.engine.trainer import Trainer
from grokkit.model import Layout, Parameters


class WeightsError(ValueError):
    """A file that holds no weights of a run."""


FORMAT = 1
HEADER = "grokkit.weights"
_FILE = TensorFile("weights", HEADER, FORMAT, WeightsError)


def save_weights(trainer: Trainer, path: str | Path, run: int = 0) -> Path:
    """Write the weights of one run as it ended, or as it is now, whole or not at all.

    Args:
        trainer: the group that the run is part of.
        path: the file to write or to replace; ``.safetensors`` is its usual ending.
        run: the number of the run in the group.

    Raises:
        OSError: the file cannot be written; an older one there is intact.
    """
    header = {
        "epoch": trainer.records.ended.get(run, trainer.epoch),
        "spec": trainer.specs[run].to_dict(),
    }
    weights = trainer.final_weights().run(run)
    tensors = {name: value[0].detach().cpu().contiguous() for name, value in weights.items()}
    return _FILE.write(path, header, tensors)


def load_weights(path: str | Path) -> tuple[RunSpec, Parameters]:
    """The spec and the weights that :func:`save_weights` wrote, as a group of one run.

    Raises:
        FileNotFoundError: there is no such file.
        WeightsError: the file is damaged, holds something else, was made by a newer
            grokkit, or names a kind that is not registered here; the message is one line.
    """
    header, tensors = _FILE.read(path)
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
