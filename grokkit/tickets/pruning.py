"""Magnitude pruning: from trained weights to a mask.

The smallest weights by absolute value go. The paper says no more than "pruned to the sparse
structural mask": at which sparsity, measured over which matrices, with or without those of
attention, are settings here, and their defaults are ours.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal, get_args

from torch import Tensor

from grokkit import core
from grokkit.engine import KLPrior, RunSpec, Trainer, save_weights
from grokkit.engine.ticket import Ticket
from grokkit.errors import check_choice, check_fraction, refuse
from grokkit.model import QK_WEIGHTS, Layout, Parameters, of_kinds

Scope = Literal["layer", "global"]
Which = Literal["all", "all_but_scores", "mlp"]
Start = Literal["own", "rewound"]

MLP_MATRICES = ("W_1", "W_2", "W_U")
"""The matrices after attention: those of the MLP, and the unembedding where there is one."""


@dataclass(frozen=True)
class Pruning:
    """How a ticket is made of trained weights; every default is our choice.

    Attributes:
        sparsity: the share of entries that are pruned, between 0 and 1; their number is
            rounded to the nearest whole one.
        scope: over what that share is. ``layer``: each matrix loses it, which keeps large
            matrices from deciding for small ones; ``global``: all of them together do.
        pruned: which matrices are pruned. ``all``: those of attention and of the MLP;
            ``all_but_scores``: without W_Q and W_K, which decide where to look and nothing
            else; ``mlp``: without W_V and W_O either. Embeddings are tables in which a row
            is a token, and biases are few and begin at 0: neither is ever pruned.
        start: the initial weights of a run under the mask. ``own``: those of the run's own
            seed; ``rewound``: those of the trained network go into the ticket, so that
            every run begins with them, whatever its seed.
    """

    sparsity: float = 0.8
    scope: Scope = "layer"
    pruned: Which = "all"
    start: Start = "own"

    def __post_init__(self) -> None:
        check_fraction("sparsity", self.sparsity)
        check_choice("scope", self.scope, get_args(Scope))
        check_choice("pruned", self.pruned, get_args(Which))
        check_choice("start", self.start, get_args(Start))


def prunable(layout: Layout, which: Which = "all") -> tuple[str, ...]:
    """The matrices that may be pruned, in the order of the buffer."""
    matrices = [name for name in layout.shapes if name.startswith("W_")]
    if which == "all_but_scores":
        scores = of_kinds(matrices, QK_WEIGHTS)
        return tuple(name for name in matrices if name not in scores)
    return tuple(matrices) if which == "all" else of_kinds(matrices, MLP_MATRICES)


def prune(spec: RunSpec, weights: Parameters, how: Pruning | None = None) -> Ticket:
    """The ticket of a trained network: its largest weights are kept.

    ``prune(*load_weights("source.safetensors"), Pruning(0.5))``. Of equal weights, those
    that come first go first. A network that was trained under a ticket can be pruned
    further: its zeros are its smallest weights.

    Args:
        spec: the run that trained it.
        weights: its weights at the end, a group of one run.
        how: which weights go; by default those of ``Pruning()``.

    Raises:
        SettingError: the weights are of several runs, or not finite.
    """
    how = how or Pruning()
    if weights.runs != 1:
        refuse("weights", f"{weights.runs} runs", "the weights of one run")
    pruned = {name: weights[name][0].detach() for name in prunable(weights.layout, how.pruned)}
    if not all(bool(one.isfinite().all()) for one in pruned.values()):
        refuse("weights", "weights that are not finite", "the weights of a run that went well")
    kept = core.prune(pruned, how.sparsity, how.scope).kept
    origin = {"spec": spec.to_dict(), "pruning": asdict(how), "mask": "magnitude"}
    return Ticket(kept, _initial(spec) if how.start == "rewound" else None, origin)


def shuffled(ticket: Ticket, seed: int) -> Ticket:
    """A control: every matrix keeps as many entries as before, but at random places."""
    kept = core.shuffled(ticket, seed).kept
    origin = {**ticket.origin, "mask": "random", "mask_seed": seed}
    return Ticket(kept, ticket.initial, origin)


def draw(spec: RunSpec, path: str | Path) -> Path:
    """Train a network here and now, and write its weights: the source of tickets.

    It serves as a teacher of attention, too.
    """
    trainer = Trainer([spec])
    trainer.advance()
    return save_weights(trainer, path)


def _initial(spec: RunSpec) -> Mapping[str, Tensor]:
    """What a run begins with, its own ticket included."""
    start = Trainer([spec.with_(prior=KLPrior())]).weights
    return {name: value[0].detach().clone() for name, value in start.items()}
