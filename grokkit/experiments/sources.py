"""Trained networks that experiments begin with: the teacher, and what tickets are cut from.

At classroom size they come with the package (``recorded:...``), so that everybody's runs
begin with the same bits. At paper size they are trained where the experiment is run.
"""

from pathlib import Path

from grokkit.experiments.row import SEEDS, Size
from grokkit.experiments.settings import quick
from grokkit.tickets import Pruning, draw, prune, shuffled
from grokkit.training import RunSpec, load_weights
from grokkit.training.files import locate
from grokkit.training.ticket import save_ticket

SEED = 100
"""The seed of the source: not one of those that it is compared on."""

TICKETS = {
    "lottery": Pruning(sparsity=0.8),
    "lottery-mlp": Pruning(sparsity=0.8, pruned="all_but_scores"),
}
"""How each lottery ticket is cut: with the matrices of the scores, and without."""


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
    return "recorded:sources" if size == "classroom" else str(Path("reproduced") / "sources")
