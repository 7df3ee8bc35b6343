"""Both gradient codes equal the core under PyTorch's own backward pass."""

from collections.abc import Sequence

import pytest
import torch

from grokkit import core
from grokkit.diagnostics import attention_kl
from grokkit.engine import KLPrior, RunSpec
from grokkit.engine.analytic_step import AnalyticStep
from grokkit.engine.autograd_step import AutogradStep, StepOutput
from grokkit.engine.priors import ScheduledPenalty
from grokkit.engine.trainer import Step
from grokkit.model import MLP_WEIGHTS, Batch, Layout, ModelSpec, Parameters, Transformer, attend
from tests.model.cases import (
    MODELS,
    TASKS,
    assert_gradients,
    core_of,
    group,
    objective,
    seen_by,
)

STRENGTHS = (0.0, 0.1, 3.7)
DEFAULT = "1 heads softmax classifier"


def penalty(batch: Batch, strengths: Sequence[float]) -> ScheduledPenalty:
    specs = [RunSpec(prior=KLPrior(beta)) for beta in strengths]
    return ScheduledPenalty(specs, batch)


def analytic(
    model: ModelSpec, batch: Batch, weights: Parameters, strengths: Sequence[float]
) -> Step:
    return AnalyticStep(model, batch, weights, penalty(batch, strengths))


def by_autograd(
    model: ModelSpec, batch: Batch, weights: Parameters, strengths: Sequence[float]
) -> Step:
    return AutogradStep(model, batch, weights, penalty(batch, strengths))


def check_against_core(
    step: Step,
    model: ModelSpec,
    batch: Batch,
    weights: Parameters,
    strengths: Sequence[float],
    loss_tolerance: float = 1e-12,
    gradient_tolerance: float = 1e-10,
) -> None:
    output = step(0)
    for run in range(batch.runs):
        twin = core_of(model, weights, run)
        seen = seen_by(twin, batch.tokens[run])
        usual = objective(seen, batch.targets[run])
        assert abs(output.loss[run].mean().item() - usual.item()) <= loss_tolerance
        objective(seen, batch.targets[run], batch.oracle[run], strengths[run]).backward()
        assert_gradients(weights, twin, run, gradient_tolerance)


SOFTMAX_CLASSIFIERS = [name for name in MODELS if "softmax classifier" in name]
EVERY_TASK = [(task, DEFAULT) for task in TASKS]
EVERY_CLASSIFIER = [("marked", model) for model in SOFTMAX_CLASSIFIERS]


@pytest.mark.parametrize("strengths", [(0.0, 0.0, 0.0), STRENGTHS], ids=["no prior", "prior"])
@pytest.mark.parametrize(
    ("task", "model"), EVERY_TASK + EVERY_CLASSIFIER + [("alphabet", "4 heads softmax classifier")]
)
def test_the_handwritten_gradient_is_the_cores(task, model, strengths):
    batch, weights = group(TASKS[task], MODELS[model])
    step = analytic(MODELS[model], batch, weights, strengths)
    check_against_core(step, MODELS[model], batch, weights, strengths)


@pytest.mark.parametrize(
    ("task", "model"),
    [(task, model) for i, task in enumerate(TASKS) for model in list(MODELS)[i % 5 :: 5]],
)
def test_the_autograd_gradient_is_the_cores(task, model):
    batch, weights = group(TASKS[task], MODELS[model])
    step = by_autograd(MODELS[model], batch, weights, STRENGTHS)
    check_against_core(step, MODELS[model], batch, weights, STRENGTHS)


@pytest.mark.parametrize("how", [analytic, by_autograd])
@pytest.mark.parametrize("model", ["1 heads softmax classifier", "3 heads softmax classifier W_O"])
@pytest.mark.parametrize("task", ["alphabet", "marked", "parity"])
def test_float32_gradients_are_right_to_1e_minus_4(task, model, how):
    batch, weights = group(TASKS[task], MODELS[model], torch.float64)
    narrow_batch, _ = group(TASKS[task], MODELS[model], torch.float32)
    narrow = weights.to(torch.float32)
    weights.flat.copy_(narrow.flat)
    how(MODELS[model], batch, weights, STRENGTHS)(0)
    how(MODELS[model], narrow_batch, narrow, STRENGTHS)(0)
    for name in weights:
        for run in range(3):
            error = narrow.gradient[name][run] - weights.gradient[name][run]
            assert error.norm() <= 1e-4 * weights.gradient[name][run].norm(), name


@pytest.mark.parametrize("how", [analytic, by_autograd])
@pytest.mark.parametrize("model", ["1 heads softmax classifier", "2 heads softmax classifier W_O"])
@pytest.mark.parametrize("task", ["random, draws", "marked", "three operands"])
def test_a_run_in_a_group_is_the_run_alone(task, model, how):
    batch, weights = group(TASKS[task], MODELS[model])
    together = how(MODELS[model], batch, weights, STRENGTHS)(0, record=True)
    for run, beta in enumerate(STRENGTHS):
        alone = weights.run(run)
        output = how(MODELS[model], batch.run(run), alone, [beta])(0, record=True)
        assert (alone.flat_grad[0] - weights.flat_grad[run]).abs().max() <= 1e-12
        for name in ("loss", "logits", "attention", "score_gradient"):
            difference = getattr(output, name)[0] - getattr(together, name)[run]
            assert difference.abs().max() <= 1e-12, name


@pytest.mark.parametrize("model", SOFTMAX_CLASSIFIERS)
def test_both_codes_report_the_same(model):
    batch, weights = group(TASKS["alphabet"], MODELS[model])
    one: StepOutput = analytic(MODELS[model], batch, weights, STRENGTHS)(0, record=True)
    gradient = weights.flat_grad.clone()
    other = by_autograd(MODELS[model], batch, weights, STRENGTHS)(0, record=True)
    assert (gradient - weights.flat_grad).abs().max() <= 1e-14
    for name in ("loss", "logits", "attention", "score_gradient"):
        assert (getattr(one, name) - getattr(other, name)).abs().max() <= 1e-13, name


@pytest.mark.parametrize("how", [analytic, by_autograd])
def test_recording_changes_no_bit_of_the_gradient(how):
    batch, weights = group(TASKS["alphabet"], MODELS[DEFAULT], torch.float32)
    step = how(MODELS[DEFAULT], batch, weights, STRENGTHS)
    step(0, record=True)
    before = weights.flat_grad.clone()
    assert step(0, record=False).score_gradient is None
    assert torch.equal(before, weights.flat_grad)


@pytest.mark.parametrize("how", [analytic, by_autograd])
def test_the_score_gradient_is_that_of_the_cross_entropy_alone(how):
    model = MODELS["2 heads softmax classifier"]
    batch, weights = group(TASKS["marked"], model)
    output = how(model, batch, weights, STRENGTHS)(0, record=True)
    for run in range(3):
        seen = seen_by(core_of(model, weights, run), batch.tokens[run])
        total = len(batch.targets[run]) * objective(seen, batch.targets[run])
        (expected,) = torch.autograd.grad(total, seen.scores)
        ours = output.score_gradient[run].transpose(1, 2)
        assert (ours - expected).abs().max() <= 1e-13


@pytest.mark.parametrize("how", [analytic, by_autograd])
def test_a_memorised_example_still_gives_a_gradient_in_float32(how):
    """Where the usual loss is exactly 0 training would freeze; here it is a tiny number."""
    model = MODELS[DEFAULT]
    batch, weights = group(TASKS["alphabet"], model, torch.float64)
    one = batch.run(0)
    weights = weights.run(0)
    with torch.no_grad():
        weights["W_2"].zero_()
        weights["b_2"].zero_()
        weights["b_2"][0, 0] = 40
    keep = one.targets[0] == 0
    only = Batch(*(x[:, keep] for x in (one.tokens, one.targets, one.informative, one.oracle)))
    narrow = weights.to(torch.float32)
    how(model, only, weights, [0.0])(0)
    single = Batch(only.tokens, only.targets, only.informative, only.oracle.float())
    how(model, single, narrow, [0.0])(0)
    truth, ours = weights.gradient["b_2"][0, 0].item(), narrow.gradient["b_2"][0, 0].item()
    assert 0 < -truth < 1e-15
    assert ours == pytest.approx(truth, rel=1e-5)


def test_the_penalty_pulls_each_score_by_attention_minus_oracle():
    """Equation (45), and its form for normalised ReLU where a score is positive."""
    generator = torch.Generator().manual_seed(0)
    oracle = torch.tensor([0.5, 0, 0.5, 0, 0], dtype=torch.float64).expand(1, 3, 5)
    scores = torch.randn(1, 3, 5, 2, generator=generator, dtype=torch.float64).requires_grad_()
    attention = attend(scores, "softmax")
    (slope,) = torch.autograd.grad(attention_kl(attention, oracle).sum(), scores)
    torch.testing.assert_close(slope, attention.detach() - oracle[..., None])

    with torch.no_grad():
        scores.abs_()
        scores[:, :, 1] *= -1
    attention = attend(scores, "relu")
    (slope,) = torch.autograd.grad(attention_kl(attention, oracle).sum(), scores)
    expected = torch.where(scores > 0, (attention - oracle[..., None]) / scores, 0.0)
    torch.testing.assert_close(slope, expected.detach())


def test_the_penalty_of_a_dead_informative_position_is_finite_and_so_is_its_gradient():
    oracle = torch.tensor([0.5, 0.5, 0.0]).view(1, 1, 3)
    scores = torch.tensor([-1.0, 2.0, 1.0]).view(1, 1, 3, 1).requires_grad_()
    divergence = attention_kl(attend(scores, "relu"), oracle)
    assert 40 < divergence.item() < 50  # half of log(0.5 / 1.2e-38)
    divergence.sum().backward()
    assert scores.grad is not None and scores.grad.isfinite().all()
    assert scores.grad[0, 0, 0] == 0


@pytest.mark.parametrize("gap", [30, 86, 90, 100, 110, 300])
@pytest.mark.parametrize(
    ("how", "model", "reduction"),
    [
        (AnalyticStep, "1 heads softmax classifier", "each"),
        (AnalyticStep, "3 heads softmax classifier", "summed"),
        (AutogradStep, "1 heads softmax classifier", "each"),
        (AutogradStep, "3 heads softmax classifier", "summed"),
        (AutogradStep, "2 heads softmax residual W_O", "each"),
        (AutogradStep, "2 heads softmax residual W_O", "summed"),
    ],
)
def test_the_divergence_and_its_gradient_are_right_in_float32_at_any_score_gap(
    how, model, reduction, gap
):
    """In float32 attention is exactly 0 from a gap of about 104; its logarithm is not."""
    spec = MODELS[model]
    batch, weights = group(TASKS["alphabet"], spec, seeds=(0,))
    with torch.no_grad():
        scores = Transformer(spec, batch)(weights).scores
        weights["W_K"].mul_(gap / (scores.amax(dim=2) - scores.amin(dim=2)).max())
    narrow_batch, _ = group(TASKS["alphabet"], spec, torch.float32, seeds=(0,))
    narrow = weights.to(torch.float32)

    # The penalty's own gradient: the cross-entropy's is taken off again.
    gradients = []
    for strength in (0.0, 1.0):
        reduced = {"head_reduction": reduction} if strength else {}
        prior = KLPrior(kl_strength=strength, **reduced)
        penalty = ScheduledPenalty([RunSpec(model=spec, prior=prior)], narrow_batch)
        output = how(spec, narrow_batch, narrow, penalty)(0, record=True)
        gradients.append({name: narrow.gradient[name][0].clone() for name in narrow})
    record = attention_kl(output.attention, narrow_batch.oracle, output.log_attention).mean()

    truth = core_of(spec, narrow.to(torch.float64), 0)
    seen = seen_by(truth, batch.tokens[0])
    divergence = core.divergence(batch.oracle[0], seen.log_attention).mean()
    assert record.item() == pytest.approx(divergence.item(), rel=1e-4)
    train = core.Examples(batch.tokens[0], batch.targets[0], batch.informative[0])
    core.penalty(core.Prior(strength=1.0, head_reduction=reduction), seen, train, 0).backward()
    for name in ("W_Q", "W_K", "token_embedding", "position_embedding"):
        expected = truth.get_parameter(name).grad
        assert expected is not None
        error = gradients[1][name] - gradients[0][name] - expected
        assert error.norm() <= 1e-3 * expected.norm(), name


def test_the_mlp_is_trained_in_every_layout():
    layout = Layout.of(MODELS["1 heads relu residual"], 9, 5, 7)
    batch, weights = group(TASKS["alphabet"], MODELS["1 heads relu residual"])
    by_autograd(MODELS["1 heads relu residual"], batch, weights, (0.0,) * 3)(0)
    assert set(layout.shapes) == set(weights)
    assert all(weights.gradient[name].any() for name in MLP_WEIGHTS)
