"""The embeddings of one run at some of its epochs, to be watched as they move.

A History holds what was measured, and no weights. For the picture of numbers that arrange
themselves on a circle the embeddings themselves are needed, at a few epochs and in a small
file: one safetensors file with the run's spec in its header, and whole numbers in place of
floats, each epoch in steps of 1/127 of its largest entry. That moves a distance between two
embeddings of 128 dimensions by about one part in ten thousand.

>>> from grokkit.runs import embedding_paths
>>> path = embedding_paths.load("sum")            # x + y modulo 47, seed 0
>>> path.table.shape                         # epoch, number, embed
torch.Size([26, 47, 128])

``python -m grokkit.runs.embedding_paths sum product`` trains both again and writes their files.
"""

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import numpy as np
import torch
from jaxtyping import Float, Int, Num
from torch import Tensor

from grokkit.diagnostics.uniformity import token_uniformity
from grokkit.engine import RunSpec, presets
from grokkit.engine.files import RECORDED
from grokkit.engine.tensor_file import TensorFile
from grokkit.engine.trainer import Trainer
from grokkit.errors import check_choice, check_int, refuse
from grokkit.runtime.history import to_history
from grokkit.tasks import PrimeField


class EmbeddingsError(ValueError):
    """A file that holds no embeddings of a run."""


_FILE = TensorFile("embeddings", "grokkit.embeddings", 1, EmbeddingsError)

KEEP = 32
"""At how many epochs embeddings are kept, at most."""

STEPS = 127
"""The steps from 0 to the largest entry of an epoch: what a signed byte can count."""


def _field(function: str) -> RunSpec:
    """Seed 0 of an arm of the experiment ``med-tracking``, at classroom size."""
    task = PrimeField(function, p=47, train_fraction=0.4)  # type: ignore[arg-type]
    base = presets["uniformity"].with_(
        weight_streams="one", task=task, record_every=50, features=True
    )
    return base.with_(epochs=8000, stop_after=500, learning_rate=2e-3, init="lecun")


RECIPES: Mapping[str, Callable[[], RunSpec]] = MappingProxyType(
    {"sum": lambda: _field("x+y"), "product": lambda: _field("xy")}
)
"""What each recording is a recording of."""


@dataclass(frozen=True, eq=False)
class EmbeddingPath:
    """The way of a run's embeddings.

    Attributes:
        spec: the run.
        epochs: at which epochs, ascending.
        test_accuracy: the share of unseen pairs that were right there.
        med: MED in the natural order as it was in training, before anything was rounded.
        table: the embeddings of the numbers 0..p-1.
    """

    spec: RunSpec
    epochs: Int[Tensor, " epoch"]
    test_accuracy: Float[Tensor, " epoch"]
    med: Float[Tensor, " epoch"]
    table: Float[Tensor, "epoch number embed"]


def follow(spec: RunSpec, keep: int = KEEP) -> EmbeddingPath:
    """Train a run and keep the embeddings of its numbers, of all its records or of some.

    Those that are kept lie evenly along the curve of the test accuracy over the logarithm
    of epochs: where it rises there are more of them. The first and the last are among them.

    Args:
        spec: the run; its task has a ``p``, and token i is the number i.
        keep: at how many epochs at most.

    Raises:
        SettingError: the task has no numbers, or fewer than two epochs are to be kept.
    """
    check_int("keep", keep, 2)
    p = getattr(spec.task, "p", None)
    if p is None:
        refuse("task", type(spec.task).__name__, "tasks of numbers modulo p")
    trainer, tables = Trainer([spec]), []

    def look(now: Trainer) -> None:
        tables.append(now.weights["token_embedding"][0, :p].detach().float().cpu().clone())

    trainer.advance(on_record=look)
    history = to_history(trainer)
    epochs, accuracy = history.epoch.values, history.test_accuracy.values[0]
    chosen = along_the_curve(epochs, accuracy, keep)
    table = torch.stack([tables[i] for i in chosen])
    return EmbeddingPath(
        spec,
        torch.tensor(epochs[chosen]),
        torch.tensor(accuracy[chosen], dtype=torch.float32),
        token_uniformity(table, shuffles=1).med.float(),
        table,
    )


def along_the_curve(
    epochs: Num[np.ndarray, " record"], values: Num[np.ndarray, " record"], count: int
) -> list[int]:
    """Which records lie evenly along a curve over log epochs, its two axes equally long.

    Args:
        epochs: ascending, from 0.
        values: between 0 and 1.
        count: how many records at most; two or more.

    Returns:
        Their places, ascending, each once.
    """
    across = np.log1p(epochs / max(epochs[1], 1)) if len(epochs) > 1 else np.zeros(len(epochs))
    across = across / max(across[-1], 1e-12)
    way = np.concatenate([[0], np.hypot(np.diff(across), np.diff(values)).cumsum()])
    places = np.searchsorted(way, np.linspace(0, way[-1], count) - 1e-12)
    return np.unique(places).tolist()


def save(path: EmbeddingPath, file: str | Path) -> Path:
    """Write the way of a run's embeddings to one safetensors file, whole or not at all.

    Entries are rounded to 1/127 of the largest one of their epoch.

    Raises:
        OSError: the file cannot be written; an older one there is intact.
    """
    scale = path.table.abs().amax(dim=(1, 2)).float() / STEPS
    steps = path.table / scale.clamp_min(torch.finfo(torch.float32).tiny).view(-1, 1, 1)
    tensors = {
        "epochs": path.epochs.int(),
        "test_accuracy": path.test_accuracy.float(),
        "med": path.med.float(),
        "scale": scale,
        "steps": steps.round().to(torch.int8),
    }
    return _FILE.write(file, {"spec": path.spec.to_dict()}, tensors)


def load(name: str | Path) -> EmbeddingPath:
    """The way of a run's embeddings: a recording that comes with the package, or a file.

    Args:
        name: one of :data:`RECIPES`, or the path of a file that :func:`save` wrote.

    Raises:
        FileNotFoundError: there is neither.
        EmbeddingsError: the file is damaged, holds something else, or was made by a newer
            grokkit; the message is one line.
    """
    file = recording(str(name)) if name in RECIPES else name
    header, tensors = _FILE.read(file)
    try:
        spec = RunSpec.from_dict(header["spec"])
        table = tensors["steps"].float() * tensors["scale"].view(-1, 1, 1)
        accuracy, med = tensors["test_accuracy"], tensors["med"]
        return EmbeddingPath(spec, tensors["epochs"].long(), accuracy, med, table)
    except (ValueError, TypeError, LookupError, RuntimeError) as problem:
        raise EmbeddingsError(f"{file}: its spec or its arrays are not known here") from problem


def recording(name: str) -> str:
    """The name of the file of a recording.

    Raises:
        SettingError: there is no recording of that name.
    """
    check_choice("name", name, tuple(RECIPES))
    return f"{RECORDED}embeddings/{name}.safetensors"


def record(name: str, into: str | Path | None = None) -> Path:
    """Train the run of a recording again and write its file; it takes a minute or two.

    Args:
        name: which recording.
        into: the folder to write it to; by default over the package's own file.

    Raises:
        SettingError: there is no recording of that name.
        OSError: the file cannot be written.
    """
    file = recording(name)
    return save(
        follow(RECIPES[name]()), file if into is None else Path(into) / f"{name}.safetensors"
    )


if __name__ == "__main__":
    for which in sys.argv[1:] or RECIPES:
        print(record(which))
