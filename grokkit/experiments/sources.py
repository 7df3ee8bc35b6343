"""Trained networks: what experiments begin with, and what lessons look into.

The teacher, and the network that tickets are cut from, come with the package at classroom
size (``recorded:...``), so that everybody's runs begin with the same bits; at paper size
they are trained where the experiment is run. The final weights of the headline settings
(:data:`WEIGHTS`) come with the package, too.
"""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import torch

from grokkit.engine import RunSpec, load_weights
from grokkit.engine.files import RECORDED, locate
from grokkit.engine.ticket import load_ticket, save_ticket
from grokkit.experiments.row import SEEDS, Size
from grokkit.experiments.settings import kl, quick, slow
from grokkit.model import Batch, Parameters, Transformer
from grokkit.tickets import Pruning, draw, prune, shuffled

SEED = 100
"""The seed of the source: not one of those that it is compared on."""

WHOLE = (0.5, 0.6, 0.7)
"""Sparsities at which the source keeps its function under its own mask, without retraining."""

TICKETS = {
    "lottery": Pruning(sparsity=0.8),
    "lottery-mlp": Pruning(sparsity=0.8, pruned="all_but_scores"),
    **{f"lottery-{share:g}": Pruning(sparsity=share) for share in WHOLE},
}
"""How each lottery ticket is cut: with the matrices of the scores, and without; and gently."""

FRESH = tuple(range(30, 35))
"""Seeds of the race between tickets that were cut gently; no run of another row has them."""

MASKS = {f"random-{seed}": ("lottery", seed) for seed in SEEDS} | {
    f"random-0.5-{seed}": ("lottery-0.5", seed) for seed in FRESH
}
"""The random masks: the ticket of :data:`TICKETS` that each is as sparse as, and its seed."""


WEIGHTS: Mapping[str, RunSpec] = MappingProxyType(
    {
        "baseline": slow("classroom"),
        "memorised": slow("classroom").with_(epochs=500, stop_after=None),
        "kl": kl(slow("classroom")),
    }
)
"""The runs whose final weights are ``recorded:weights/NAME.safetensors``, all of seed 0; they are
made by ``draw(WEIGHTS[NAME], FILE)``."""


def source_spec(size: Size) -> RunSpec:
    """The run that makes the source."""
    return quick(size).with_(seed=SEED)


def source(size: Size) -> str:
    """The weights file of the source."""
    return f"{_folder(size)}/source.safetensors"


def ticket(size: Size, name: str) -> str:
    """The file of a ticket: a name of :data:`TICKETS` or :data:`MASKS`."""
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
    tickets, masks = (
        {name: how for name, how in known.items() if not locate(ticket(size, name)).exists()}
        for known in (TICKETS, MASKS)
    )
    if not tickets and not masks:
        return
    trained = load_weights(path)
    for name, how in tickets.items():
        save_ticket(prune(*trained, how), locate(ticket(size, name)))
    for name, (like, seed) in masks.items():
        mask = shuffled(prune(*trained, TICKETS[like]), seed)
        save_ticket(mask, locate(ticket(size, name)))


def right_under(file: str) -> tuple[float, float]:
    """The share of train and of test pairs that the source answers under a ticket's mask.

    Nothing is retrained: the weights that the mask leaves out are set to 0.

    Args:
        file: the ticket; the source lies beside it.
    """
    path = locate(file)
    spec, trained = load_weights(path.with_name("source.safetensors"))
    pruned = Parameters(trained.layout, trained.flat.detach().clone())
    data = spec.task.build(spec.seed)
    shares = []
    with torch.no_grad():
        for name, kept in load_ticket(path).kept.items():
            pruned[name].mul_(kept)
        for batch in (Batch.of([data.train]), Batch.of([data.test])):
            logits = Transformer(spec.model, batch, trained.layout.length)(pruned).logits
            shares.append(float((logits.argmax(dim=-1) == batch.targets).double().mean()))
    return shares[0], shares[1]


def _folder(size: Size) -> str:
    return f"{RECORDED}sources" if size == "classroom" else str(Path("reproduced") / "sources")
