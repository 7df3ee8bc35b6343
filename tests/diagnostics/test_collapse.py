"""Softmax collapse, by logits whose margins are known."""

import pytest
import torch
from torch.nn import functional

from grokkit.diagnostics import softmax_collapse
from grokkit.errors import SettingError


def logits_of(*margins: float) -> torch.Tensor:
    """One run, three classes, the first of them right by each of these margins."""
    return torch.tensor([[[m, 0.0, -1.0] for m in margins]])


def test_float32_loses_the_loss_at_17_and_the_gradient_at_the_others_at_104():
    logits = logits_of(-2.0, 1.0, 16.0, 18.0, 60.0, 110.0)
    targets = torch.zeros(1, 6, dtype=torch.int64)
    lost = softmax_collapse(logits, targets)
    assert lost.loss.item() == 3
    assert lost.target_gradient.item() == 3
    assert lost.whole_gradient.item() == 1
    rounder = softmax_collapse(logits, targets, torch.bfloat16)
    assert rounder.loss.item() >= 4
    finer = softmax_collapse(logits, targets, torch.float64)
    assert finer.loss.item() == 2 and finer.whole_gradient.item() == 0


def test_it_counts_what_autograd_gives_on_random_logits():
    generator = torch.Generator().manual_seed(0)
    logits = 8 * torch.randn(2, 400, 5, generator=generator)
    targets = torch.randint(5, (2, 400), generator=generator)
    targets = torch.where(torch.rand(2, 400, generator=generator) < 0.9, logits.argmax(2), targets)
    lost = softmax_collapse(logits, targets)
    for run in range(2):
        z = logits[run].clone().requires_grad_()
        loss = functional.cross_entropy(z, targets[run], reduction="none")
        (gradient,) = torch.autograd.grad(loss.sum(), z)
        own = gradient.gather(1, targets[run][:, None])
        assert lost.loss[run].item() == (loss == 0).sum().item() > 0
        assert lost.target_gradient[run].item() == (own == 0).sum().item() > 0
        assert lost.whole_gradient[run].item() == (gradient == 0).all(dim=1).sum().item()


def test_what_is_truly_zero_is_no_collapse():
    # exp(-800) is 0 in double precision too: there is nothing left to lose.
    lost = softmax_collapse(logits_of(800.0), torch.zeros(1, 1, dtype=torch.int64))
    assert (lost.loss.item(), lost.target_gradient.item(), lost.whole_gradient.item()) == (0, 0, 0)


def test_an_integer_precision_is_refused():
    with pytest.raises(SettingError, match="precision: got"):
        softmax_collapse(logits_of(1.0), torch.zeros(1, 1, dtype=torch.int64), torch.int32)
