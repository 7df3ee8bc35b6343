"""Softmax collapse, by logits whose margins are known."""

import torch
from torch.nn import functional

from grokkit.core.loss import cross_entropy
from grokkit.diagnostics.collapse import softmax_collapse


def lost(logits: torch.Tensor, targets: torch.Tensor) -> list[int]:
    """How many examples of each run are lost to the usual formula."""
    return softmax_collapse(logits, targets, cross_entropy(logits.double(), targets)).tolist()


def test_float32_loses_the_loss_from_a_margin_of_17_and_what_is_truly_zero_is_no_loss():
    margins = [-2.0, 1.0, 16.0, 18.0, 60.0, 110.0]
    logits = torch.tensor([[[m, 0.0, -1.0] for m in margins]])
    targets = torch.zeros(1, 6, dtype=torch.int64)
    assert lost(logits, targets) == [3]
    # exp(-800) is 0 in double precision too: there is nothing left to lose.
    assert lost(torch.tensor([[[800.0, 0.0]]]), targets[:, :1]) == [0]


def test_it_counts_what_the_usual_formula_gives_on_random_logits():
    generator = torch.Generator().manual_seed(0)
    logits = 8 * torch.randn(2, 400, 5, generator=generator)
    targets = torch.randint(5, (2, 400), generator=generator)
    targets = torch.where(torch.rand(2, 400, generator=generator) < 0.9, logits.argmax(2), targets)
    for run, count in enumerate(lost(logits, targets)):
        loss = functional.cross_entropy(logits[run], targets[run], reduction="none")
        assert count == (loss == 0).sum().item() > 0
