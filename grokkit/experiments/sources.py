"""Trained networks: what experiments begin with, and what lessons look into.

The teacher, and the network that tickets are cut from, come with the package at classroom
size (``recorded:...``), so that everybody's runs begin with the same bits; at paper size
they are trained where the experiment is run. The final weights of the headline settings
(:data:`WEIGHTS`) come with the package, too.
"""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from grokkit.engine import RunSpec, load_weights
from grokkit.engine.files import RECORDED, locate
from grokkit.engine.ticket import save_ticket
from grokkit.errors import check_choice
from grokkit.experiments.row import SEEDS, Size
from grokkit.experiments.settings import kl, quick, slow
from grokkit.tickets import Pruning, draw, prune, shuffled

SEED = 100
"""The seed of the source: not one of those that it is compared on."""

TICKETS = {
    "lottery": Pruning(sparsity=0.8),
    "lottery-mlp": Pruning(sparsity=0.8, pruned="all_but_scores"),
}
"""How each lottery ticket is cut: with the matrices of the scores, and without."""


WEIGHTS: Mapping[str, RunSpec] = MappingProxyType(
    {
        "baseline": slow("classroom"),
        "memorised": slow("classroom").with_(epochs=500, stop_after=None),
        "kl": kl(slow("classroom")),
    }
)
"""The runs whose final weights are ``recorded:weights/NAME.safetensors``, all of seed 0."""


def draw_weights(name: str, folder: str | Path | None = None) -> Path:
    """Train one of :data:`WEIGHTS` and write its final weights.

    Args:
        name: which one.
        folder: where to; by default into the package.

    Raises:
        SettingError: there is none of that name.
        OSError: the file cannot be written.
    """
    check_choice("name", name, tuple(WEIGHTS))
    folder = locate(f"{RECORDED}weights") if folder is None else Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    return draw(WEIGHTS[name], folder / f"{name}.safetensors")


def source_spec(size: Size) -> RunSpec:
    """The run that makes the source."""
    return quick(size).with_(seed=SEED)


def source(size: Size) -> str:
    """The weights file of the source."""
    return f"{_folder(size)}/source.safetensors"


def ticket(size: Size, name: str) -> str:
    """The file of a ticket: a name of :data:`TICKETS`, or ``random-SEED``."""
    return f"{_folder(size)}/{name}.safetensors"


def prepare(size: Size) -> None:
    """Make what is missing: train the source, cut the lottery tickets, draw random masks.

    Raises:
        OSError: a file cannot be written.
    """
    path = locate(source(size))
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        draw(source_spec(size), path)
    made = {name: how for name, how in TICKETS.items() if not locate(ticket(size, name)).exists()}
    masks = [s for s in SEEDS if not locate(ticket(size, f"random-{s}")).exists()]
    if not made and not masks:
        return
    trained = load_weights(path)
    for name, how in made.items():
        save_ticket(prune(*trained, how), locate(ticket(size, name)))
    for seed in masks:
        lottery = prune(*trained, TICKETS["lottery"])
        save_ticket(shuffled(lottery, seed), locate(ticket(size, f"random-{seed}")))


def _folder(size: Size) -> str:
    return f"{RECORDED}sources" if size == "classroom" else str(Path("reproduced") / "sources")
