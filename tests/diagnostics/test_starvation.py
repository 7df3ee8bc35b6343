"""The gradient that would teach attention, against autograd on ordinary code."""

import math

import jaxtyping
import numpy as np
import pytest
import torch
from torch.nn import functional

from grokkit import core, theory
from grokkit.diagnostics import lipschitz, score_gradients, starvation_exponent
from grokkit.diagnostics.collapse import softmax_collapse
from grokkit.diagnostics.starvation import (
    BOUNDS,
    attention_gradient,
    embedding_norm,
    jacobian_norms,
    score_gradient_norm,
    starvation_bounds,
    value_matrix_norm,
)
from grokkit.diagnostics.variance import score_variance
from grokkit.engine import KLPrior, RunSpec
from grokkit.engine.autograd_step import AutogradStep
from grokkit.engine.contraction import step_contraction
from grokkit.errors import SettingError
from grokkit.model import Transformer
from tests.model.cases import MODELS, TASKS, core_of, group, objective, seen_by

CASES = [
    ("alphabet", "1 heads softmax classifier"),
    ("marked", "2 heads softmax classifier W_O"),
    ("longer", "3 heads softmax residual"),
    ("parity", "4 heads relu classifier"),
]


def loss_from_products(
    twin: core.Transformer, products: torch.Tensor, tokens, targets
) -> torch.Tensor:
    """The core's loss, with M = W_Q W_K^T of each head as a parameter of its own."""
    length = tokens.shape[1]
    positions = torch.arange(length)
    positions[-1] = len(twin.position_embedding) - 1
    x = twin.token_embedding[tokens] + twin.position_embedding[positions]
    d_head = twin.settings.d_model // twin.settings.heads
    scores = torch.einsum("ed,hdf,ejf->ehj", x[:, -1], products, x) / math.sqrt(d_head)
    if twin.settings.attention == "softmax":
        attention = scores.softmax(dim=2)
    else:
        attention = scores.relu() / scores.relu().sum(dim=2, keepdim=True)
    pooled = torch.einsum("ehj,ejhd->ehd", attention, twin.by_head(x @ twin.W_V)).flatten(1)
    if twin.settings.output_projection:
        pooled = pooled @ twin.W_O
    if twin.settings.readout == "classifier":
        logits = functional.relu(pooled @ twin.W_1 + twin.b_1) @ twin.W_2 + twin.b_2
    else:
        stream = x[:, -1] + pooled
        stream = stream + functional.relu(stream @ twin.W_1 + twin.b_1) @ twin.W_2 + twin.b_2
        logits = stream @ twin.W_U
    return functional.cross_entropy(logits, targets)


@pytest.mark.parametrize(("task", "name"), CASES)
def test_norms_are_those_of_autograds_gradients_of_the_cross_entropy_alone(task, name):
    model = MODELS[name]
    batch, weights = group(TASKS[task], model)
    if model.attention == "relu":
        # Scores with at least one positive in every sequence, where M has a gradient.
        with torch.no_grad():
            weights["position_embedding"][:, 0] += 3 * weights["W_Q"].sum()
    specs = [RunSpec(prior=KLPrior(beta)) for beta in (0.0, 0.5, 2.0)]
    step = AutogradStep(model, batch, weights, specs[0].prior.start(specs, batch))
    output = step(0, record=True)
    assert output.score_gradient is not None
    instruments = Transformer(model, batch, weights.layout.length)
    ours = attention_gradient(instruments, weights, output.score_gradient)
    for run in range(batch.runs):
        twin = core_of(model, weights, run)
        tokens, targets = batch.tokens[run], batch.targets[run]
        loss = objective(seen_by(twin, tokens), targets)
        d_query, d_key = torch.autograd.grad(loss, (twin.W_Q, twin.W_K))
        assert ours["W_Q_gradient"][run].item() == pytest.approx(d_query.norm().item(), rel=1e-10)
        assert ours["W_K_gradient"][run].item() == pytest.approx(d_key.norm().item(), rel=1e-10)

        per_head = (weights.unflatten(-1, (model.heads, -1)) for weights in (twin.W_Q, twin.W_K))
        products = torch.einsum("dhk,fhk->hdf", *per_head).detach().requires_grad_()
        again = loss_from_products(twin, products, tokens, targets)
        if again.isnan():
            continue  # a sequence without a positive score: normalised ReLU is undefined there
        assert again.item() == pytest.approx(loss.item(), rel=1e-12)
        (d_products,) = torch.autograd.grad(again, products)
        assert ours["W_QK_gradient"][run].item() == pytest.approx(
            d_products.norm().item(), rel=1e-10
        )


def test_the_score_gradient_norm_is_a_mean_over_examples():
    generator = torch.Generator().manual_seed(0)
    gradient = torch.randn(2, 3, 4, 2, generator=generator, dtype=torch.float64)
    norms = [
        sum(math.sqrt(gradient[run, e].square().sum().item()) for e in range(3)) / 3
        for run in range(2)
    ]
    assert score_gradient_norm(gradient).tolist() == pytest.approx(norms, rel=1e-14)


def test_lemma_5_1_bounds_the_score_gradient_of_a_real_network():
    """abs(dCE/dl_j) <= alpha_j norm(v_j - h) L_f sqrt(2 CE), for softmax and every example."""
    from grokkit.diagnostics import lipschitz

    model = MODELS["1 heads softmax classifier"]
    batch, weights = group(TASKS["alphabet"], model)
    specs = [RunSpec()] * 3
    output = AutogradStep(model, batch, weights, specs[0].prior.start(specs, batch))(0, record=True)
    assert output.score_gradient is not None
    instruments = Transformer(model, batch, weights.layout.length)
    with torch.no_grad():
        cells = instruments.slot_values(weights, instruments.embed(weights))
        table, pooled = cells[:, :, 0], instruments.pool(output.attention, cells)
        bound = lipschitz(model, weights)
    for run in range(3):
        values = table[run][instruments.slots.index[run]]
        distance = (values - pooled[run][:, None]).norm(dim=2)
        allowed = output.attention[run, ..., 0] * distance * bound[run]
        allowed = allowed * (2 * output.loss[run]).sqrt()[:, None]
        assert (output.score_gradient[run, ..., 0].abs() <= allowed * (1 + 1e-12)).all()


SOFTMAX = [
    ("alphabet", "1 heads softmax classifier"),
    ("parity", "2 heads softmax classifier W_O"),
    ("marked", "3 heads softmax residual"),
    ("longer", "4 heads softmax residual W_O"),
]
RELU = [("alphabet", "1 heads relu classifier"), ("marked", "2 heads relu residual W_O")]


def network(task: str, name: str):
    model = MODELS[name]
    batch, weights = group(TASKS[task], model)
    forward = Transformer(model, batch, weights.layout.length)
    return forward, weights, score_gradients(forward, weights)


def value_matrix(weights, model, run: int, head: int) -> np.ndarray:
    """W_V of one head, W_O folded in: e_j -> v_j as a row times a matrix."""
    place = slice(head * model.d_model // model.heads, (head + 1) * model.d_model // model.heads)
    matrix = weights["W_V"][run].detach().numpy()[:, place]
    if model.output_projection:
        return matrix @ weights["W_O"][run].detach().numpy()[place]
    wide = np.zeros((model.d_model, model.d_model))
    wide[:, place] = matrix
    return wide


@pytest.mark.parametrize(("task", "name"), SOFTMAX + RELU)
def test_jacobian_norms_are_those_of_the_theory_example_by_example(task, name):
    forward, weights, (_, attention, _) = network(task, name)
    norms = jacobian_norms(forward, weights, attention)
    model, batch = forward.spec, forward.batch
    embedding = forward.embed(weights).detach().numpy()
    table = forward.slot_scores(weights, forward.embed(weights)).detach()
    scores = forward.look_up(table).numpy()
    for run in range(batch.runs):
        for head in range(model.heads):
            matrix = value_matrix(weights, model, run, head)
            for example in (0, 3, batch.examples - 1):
                values = embedding[run][forward.slots.index[run, example].numpy()] @ matrix
                row = scores[run, example, :, head]
                if model.attention == "softmax":
                    jacobian = theory.pooled_jacobian(theory.softmax(row), values)
                elif row.max() > 0:
                    jacobian = theory.pooled_jacobian_relu(row, values)
                else:
                    jacobian = np.zeros_like(values)
                expected = np.linalg.norm(jacobian, axis=1)
                ours = norms[run, example, :, head].numpy()
                np.testing.assert_allclose(ours, expected, rtol=1e-9, atol=1e-13)


@pytest.mark.parametrize(("task", "name"), SOFTMAX)
def test_every_single_score_obeys_the_three_bounds_in_their_order(task, name):
    forward, weights, (loss, attention, gradient) = network(task, name)
    jacobian = jacobian_norms(forward, weights, attention).numpy()[..., None]
    l_f = lipschitz(forward.spec, weights).detach().numpy()[:, None, None]
    losses = loss.numpy()[..., None]
    linear = theory.score_gradient_bound_linear(losses, l_f, jacobian)
    by_position = theory.score_gradient_bound_by_position(losses, l_f, jacobian)
    paper = theory.score_gradient_bound(
        losses,
        l_f,
        value_matrix_norm(forward, weights).detach().numpy()[:, None, None],
        embedding_norm(forward, weights).detach().numpy()[:, None, None],
    )
    measured = gradient.abs().numpy()
    assert (measured <= linear * (1 + 1e-9) + 1e-14).all()
    assert (linear <= by_position * (1 + 1e-12)).all()
    assert (by_position <= paper[..., None] * (1 + 1e-12)).all()


@pytest.mark.parametrize(("task", "name"), SOFTMAX)
def test_what_is_recorded_is_a_mean_of_largest_and_a_worst_ratio(task, name):
    forward, weights, (loss, attention, gradient) = network(task, name)
    bounds = starvation_bounds(forward, weights, loss, attention, gradient)
    jacobian = jacobian_norms(forward, weights, attention).amax(dim=(2, 3))
    miss = math.sqrt(2) * (1 - torch.exp(-loss))
    allowed = jacobian * lipschitz(forward.spec, weights)[:, None] * miss
    measured = gradient.abs().amax(dim=(2, 3))
    largest, paper, by_position, linear, worst, worst_linear = (bounds[name] for name in BOUNDS)
    torch.testing.assert_close(largest, measured.mean(dim=1))
    torch.testing.assert_close(linear, allowed.mean(dim=1))
    torch.testing.assert_close(worst_linear, (measured / allowed).amax(dim=1))
    assert (largest < linear).all() and (linear < by_position).all()
    assert (by_position < paper).all()
    assert (worst > 0).all() and (worst < worst_linear).all()
    assert (worst_linear <= 1).all()


def test_value_matrix_norm_is_the_largest_operator_norm_of_a_head():
    for name in ("1 heads softmax classifier", "3 heads softmax classifier W_O"):
        forward, weights, _ = network("parity", name)
        for run in range(forward.batch.runs):
            heads = range(forward.spec.heads)
            expected = max(
                np.linalg.norm(value_matrix(weights, forward.spec, run, h), 2) for h in heads
            )
            ours = value_matrix_norm(forward, weights)[run].item()
            assert ours == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("power", [0.5, 1.0, 2.0])
def test_the_exponent_of_a_power_law_is_found_from_float32_losses(power):
    loss = torch.logspace(-9, -1, 50)[None]
    gradient = 0.134 * loss[..., None, None] ** power * torch.tensor([[[[0.3], [-1.0]]]])
    assert starvation_exponent(loss, gradient).item() == pytest.approx(power, rel=1e-5)


def test_a_gradient_of_zero_has_no_say_in_the_exponent():
    loss = torch.tensor([[1e-3, 0.0, 1e-2, 1e-1], [1e-3, 1e-2, 0.0, 0.0], [1e-3, 0, 0, 0]])
    gradient = loss[..., None, None].clone()
    gradient[0, 3] = 0
    found = starvation_exponent(loss, gradient)
    assert found[:2].tolist() == pytest.approx([1, 1], rel=1e-5)
    assert found[2].isnan()


def test_a_float32_record_agrees_with_float64():
    forward, weights, seen = network("alphabet", "1 heads softmax classifier")
    batch, small = group(TASKS["alphabet"], forward.spec, torch.float32)
    again = Transformer(forward.spec, batch, small.layout.length)
    ours = starvation_bounds(again, small, *score_gradients(again, small))
    exact = starvation_bounds(forward, weights, *seen)
    for name in BOUNDS:
        torch.testing.assert_close(ours[name], exact[name], rtol=1e-4, atol=0)


def test_a_gradient_of_another_shape_is_refused(monkeypatch):
    # As a learner calls it, without the type checks that tests switch on.
    monkeypatch.setattr(jaxtyping.config, "jaxtyping_disable", True)
    forward, weights, (loss, attention, gradient) = network(*SOFTMAX[0])
    with pytest.raises(SettingError, match="score_gradient: got"):
        starvation_bounds(forward, weights, loss, attention, gradient[:, :, :2])


def test_a_run_that_diverged_is_nan_and_the_others_are_as_without_it():
    forward, weights, seen = network(*SOFTMAX[1])
    alone = starvation_bounds(forward, weights, *seen)
    spread = score_variance(forward, weights)
    with torch.no_grad():
        weights.flat[1] = torch.nan
    loss, attention, gradient = (part.clone() for part in seen)
    for part in (loss, attention, gradient):
        part[1] = torch.nan
    broken = starvation_bounds(forward, weights, loss, attention, gradient)
    for name, values in broken.items():
        assert values.isnan().tolist() == [False, True, False], name
        torch.testing.assert_close(values[::2], alone[name][::2], rtol=0, atol=0)
    for name, values in score_variance(forward, weights).items():
        assert values[1].isnan().all()
        torch.testing.assert_close(values[::2], spread[name][::2])
    assert starvation_exponent(loss, gradient).isnan().tolist() == [False, True, False]
    lost = softmax_collapse(forward(weights).logits.detach(), forward.batch.targets, loss)
    assert lost.tolist() == [0, 0, 0]
    half = torch.full((3,), 0.5)
    step = step_contraction(weights.flat, weights.flat, half, half)
    assert step["growth"].isnan().tolist() == [False, True, False]
    assert step["floor"].isnan().tolist() == [False, True, False]
