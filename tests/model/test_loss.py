"""Exact cross-entropy: as good in float32 as the usual formula is in float64, or better."""

import math

import mpmath
import pytest
import torch
from torch.nn import functional
from torch.testing import assert_close

from grokkit.core.loss import loss_and_gradient
from grokkit.model import cross_entropy


def with_gradient(logits: torch.Tensor, targets: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    logits = logits.clone().requires_grad_()
    loss = cross_entropy(logits, targets)
    (gradient,) = torch.autograd.grad(loss.sum(), logits)
    return loss.detach(), gradient


def precise(logits: torch.Tensor, target: int) -> tuple[float, list[float]]:
    """The loss and its gradient to 60 digits, from the same numbers."""
    with mpmath.workdps(60):
        z = [mpmath.mpf(value) for value in logits.double().tolist()]
        terms = [mpmath.exp(value - z[target]) for value in z]
        total = mpmath.fsum(terms)
        slope = [float(term / total) for term in terms]
        slope[target] = float(-(total - 1) / total)
        return float(mpmath.log(total)), slope


def test_the_usual_formula_is_exactly_zero_at_margin_24_and_ours_is_not():
    logits, target = torch.tensor([[24.0, 0.0, 0.0]]), torch.tensor([0])
    usual = logits.clone().requires_grad_()
    loss = functional.cross_entropy(usual, target)
    loss.backward()
    assert usual.grad is not None
    assert loss.item() == 0 and usual.grad[0, 0].item() == 0

    ours, gradient = with_gradient(logits, target)
    assert ours.item() == pytest.approx(2 * math.exp(-24), rel=1e-6)
    assert gradient[0, 0].item() == pytest.approx(-2 * math.exp(-24), rel=1e-6)


def test_at_margin_22_the_usual_loss_is_zero_where_float64_says_3e_minus_8():
    # 113 classes, as in the paper's task.
    logits = torch.zeros(1, 113)
    logits[0, 5] = 22
    target = torch.tensor([5])
    truth = functional.cross_entropy(logits.double(), target).item()
    assert truth == pytest.approx(3.1e-8, rel=0.02)
    assert functional.cross_entropy(logits, target).item() == 0
    assert cross_entropy(logits, target).item() == pytest.approx(truth, rel=1e-6)


@pytest.mark.parametrize("margin", [*range(-80, 81, 8), 0.5, 17.0, 22.0, 24.0])
def test_float32_is_right_to_1e_minus_5_up_to_margin_80(margin):
    generator = torch.Generator().manual_seed(int(10 * margin) + 1000)
    logits = torch.randn(7, generator=generator)
    target = 3
    logits[target] = logits.max() + margin
    loss, gradient = with_gradient(logits[None], torch.tensor([target]))
    true_loss, true_gradient = precise(logits, target)
    assert loss.item() == pytest.approx(true_loss, rel=1e-5, abs=0)
    assert gradient[0].tolist() == pytest.approx(true_gradient, rel=1e-5, abs=1e-37)


def test_large_margins_do_not_overflow():
    for size in (90.0, 1e4, 1e30):
        logits = torch.tensor([[0.0, size, -size, size]])
        loss, gradient = with_gradient(logits, torch.tensor([0]))
        assert loss.item() == pytest.approx(size + math.log(2), rel=1e-6)
        assert gradient[0].tolist() == pytest.approx([-1, 0.5, 0, 0.5])
        loss, gradient = with_gradient(logits, torch.tensor([2]))
        assert loss.isfinite().all() and gradient.isfinite().all()


def test_equal_logits_give_log_classes():
    loss, gradient = with_gradient(torch.zeros(1, 5), torch.tensor([2]))
    assert loss.item() == pytest.approx(math.log(5))
    assert gradient[0].tolist() == pytest.approx([0.2, 0.2, -0.8, 0.2, 0.2])


def test_one_class_has_no_loss():
    loss, gradient = with_gradient(torch.tensor([[3.0]]), torch.tensor([0]))
    assert loss.item() == 0 and gradient.item() == 0


def test_a_class_ruled_out_adds_nothing_and_a_lost_score_is_seen():
    loss, gradient = with_gradient(torch.tensor([[0.0, -math.inf]]), torch.tensor([0]))
    assert loss.item() == 0 and gradient.tolist() == [[0, 0]]
    # A run whose scores have overflowed must be seen to have broken.
    for logits in ([0.0, math.inf], [math.inf, math.inf], [math.nan, 0.0], [0.0, math.nan]):
        loss, _ = with_gradient(torch.tensor([logits]), torch.tensor([0]))
        assert not loss.isfinite().any()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_agrees_with_torch_wherever_that_is_exact(dtype):
    generator = torch.Generator().manual_seed(1)
    logits = 3 * torch.randn(4, 6, 9, generator=generator, dtype=dtype)
    targets = torch.randint(9, (4, 6), generator=generator)
    loss, gradient = with_gradient(logits, targets)
    usual = logits.clone().requires_grad_()
    theirs = functional.cross_entropy(usual.flatten(0, 1), targets.flatten(), reduction="none")
    (their_gradient,) = torch.autograd.grad(theirs.sum(), usual)
    tolerance = 1e-13 if dtype == torch.float64 else 1e-5
    assert_close(loss.flatten(), theirs.detach(), rtol=tolerance, atol=tolerance)
    assert_close(gradient, their_gradient, rtol=tolerance, atol=tolerance)


def test_the_gradient_sums_to_zero_and_shifting_all_scores_changes_nothing():
    generator = torch.Generator().manual_seed(2)
    logits = 5 * torch.randn(50, 11, generator=generator, dtype=torch.float64)
    targets = torch.randint(11, (50,), generator=generator)
    loss, gradient = with_gradient(logits, targets)
    assert gradient.sum(dim=1).abs().max() < 1e-15
    shifted, _ = with_gradient(logits + 7, targets)
    assert_close(shifted, loss, rtol=1e-12, atol=0)


def test_gradcheck():
    generator = torch.Generator().manual_seed(3)
    logits = 4 * torch.randn(5, 4, generator=generator, dtype=torch.float64, requires_grad=True)
    targets = torch.randint(4, (5,), generator=generator)
    assert torch.autograd.gradcheck(lambda z: cross_entropy(z, targets), logits)
    weights = torch.linspace(-1, 2, 5, dtype=torch.float64)
    assert torch.autograd.gradcheck(lambda z: (weights * cross_entropy(z, targets)).sum(), logits)


def test_a_second_derivative_is_refused_rather_than_wrong():
    logits = torch.randn(2, 3, dtype=torch.float64, requires_grad=True)
    loss = cross_entropy(logits, torch.tensor([0, 1])).sum()
    (gradient,) = torch.autograd.grad(loss, logits, create_graph=True)
    with pytest.raises(RuntimeError, match="does not require grad"):
        torch.autograd.grad(gradient.square().sum(), logits)


def test_inputs_stay_as_they_are_and_a_buffer_is_filled():
    logits, targets = torch.randn(6, 5), torch.randint(5, (6, 1))
    before, buffer = logits.clone(), torch.empty(6, 5)
    _, gradient = loss_and_gradient(logits, targets, out=buffer, weight=0.25)
    assert torch.equal(logits, before)
    assert gradient.data_ptr() == buffer.data_ptr()
    _, whole = loss_and_gradient(logits, targets)
    assert_close(gradient, 0.25 * whole)
