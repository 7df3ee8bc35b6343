"""The gradient that would teach attention, against autograd on ordinary code."""

import math

import pytest
import torch
from torch.nn import functional

from grokkit import core
from grokkit.diagnostics import attention_gradient, score_gradient_norm
from grokkit.engine import KLPrior, RunSpec
from grokkit.engine.autograd_step import AutogradStep
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
        assert ours.W_Q[run].item() == pytest.approx(d_query.norm().item(), rel=1e-10)
        assert ours.W_K[run].item() == pytest.approx(d_key.norm().item(), rel=1e-10)

        per_head = (weights.unflatten(-1, (model.heads, -1)) for weights in (twin.W_Q, twin.W_K))
        products = torch.einsum("dhk,fhk->hdf", *per_head).detach().requires_grad_()
        again = loss_from_products(twin, products, tokens, targets)
        if again.isnan():
            continue  # a sequence without a positive score: normalised ReLU is undefined there
        assert again.item() == pytest.approx(loss.item(), rel=1e-12)
        (d_products,) = torch.autograd.grad(again, products)
        assert ours.W_QK[run].item() == pytest.approx(d_products.norm().item(), rel=1e-10)


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
        table = instruments.slot_values(weights, instruments.embed(weights))[:, :, 0]
        pooled = instruments.pooled(weights)
        bound = lipschitz(model, weights)
    for run in range(3):
        values = table[run][instruments.slots.index[run]]
        distance = (values - pooled[run][:, None]).norm(dim=2)
        allowed = output.attention[run, ..., 0] * distance * bound[run]
        allowed = allowed * (2 * output.loss[run]).sqrt()[:, None]
        assert (output.score_gradient[run, ..., 0].abs() <= allowed * (1 + 1e-12)).all()
