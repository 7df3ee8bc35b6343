"""Chapter 7. Lottery tickets and Bayesian tickets (section 6, Figure 4).

A *lottery ticket* is what magnitude pruning leaves of a trained network: a mask that says which
weights there are. A run under it has the others at exactly 0, before and after every step, and
their gradient at exactly 0. It begins with the weights of its own seed, or is *rewound* to those
that the trained network began with.

A *Bayesian ticket* is no mask at all. It is a fresh network with the KL prior of chapter 6,
``Prior(strength=1.0)``, which says where to look. The paper lets the two race, and gives only one
of them the oracle; a fair race gives it to both (``Run(ticket=..., prior=Prior(strength=1.0))``).
"""

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from grokkit.core.common import check_choice, refuse, stream
from grokkit.core.model import Transformer

Weights = Mapping[str, Tensor]
"""Arrays by the name of the weights they belong to."""


@dataclass(frozen=True, eq=False)
class Ticket:
    """A mask over some matrices.

    Attributes:
        kept: for each pruned matrix, true where an entry is kept. Arrays not named are kept whole.
        initial: the weights that a run begins with; None for those of its own seed.
    """

    kept: Weights
    initial: Weights | None = None


def prune(
    trained: Weights,
    sparsity: float = 0.8,
    scope: str = "layer",
    rewind_to: Weights | None = None,
) -> Ticket:
    """The ticket of a trained network: of all matrices W the largest entries are kept.

    Embeddings are tables, in which a row is a token, and biases are few: both are left whole. Of
    equal entries the first ones go.

    Args:
        trained: its weights, ``net.state_dict()``.
        sparsity: the share of entries to prune, between 0 and 1.
        scope: what loses that share: every matrix (``layer``), or all together (``global``).
        rewind_to: the weights that the trained network began with, to begin with them again.
    """
    check_choice("scope", scope, ("layer", "global"))
    if not 0 < sparsity < 1:
        refuse("sparsity", sparsity, "a number between 0 and 1")
    size = {name: W.abs() for name, W in trained.items() if name.startswith("W_")}
    if scope == "layer":
        kept = {name: largest(W.flatten(), sparsity) for name, W in size.items()}
    else:
        whole = largest(torch.cat([W.flatten() for W in size.values()]), sparsity)
        parts = whole.split([W.numel() for W in size.values()])
        kept = dict(zip(size, parts, strict=True))
    return Ticket({name: kept[name].view_as(W) for name, W in size.items()}, rewind_to)


def shuffled(ticket: Ticket, seed: int) -> Ticket:
    """A control: every matrix keeps as many entries as before, at random places."""
    kept = {}
    for name, mask in ticket.kept.items():
        order = torch.randperm(mask.numel(), generator=stream(seed, f"ticket/{name}"))
        kept[name] = mask.flatten()[order].view_as(mask)
    return Ticket(kept, ticket.initial)


def largest(values: Tensor, sparsity: float) -> Tensor:
    """False for the smallest of the values, a share ``sparsity`` of them, ``[entry]``."""
    kept = torch.ones_like(values, dtype=torch.bool)
    kept[values.argsort(stable=True)[: round(sparsity * values.numel())]] = False
    return kept


@torch.no_grad()
def begin(ticket: Ticket, net: Transformer) -> None:
    """Give a network the ticket's initial weights, if it has any, and its mask."""
    if ticket.initial is not None:
        for name, W in net.named_parameters():
            W.copy_(ticket.initial[name])
    mask_weights(ticket, net)


@torch.no_grad()
def mask_weights(ticket: Ticket, net: Transformer) -> None:
    """Set pruned weights to 0."""
    for name, kept in ticket.kept.items():
        net.get_parameter(name).masked_fill_(~kept, 0)


def mask_gradient(ticket: Ticket, net: Transformer) -> None:
    """Set the gradient of pruned weights to 0, so that clipping and Muon leave them out, too."""
    for name, kept in ticket.kept.items():
        gradient = net.get_parameter(name).grad
        assert gradient is not None
        gradient.masked_fill_(~kept, 0)
