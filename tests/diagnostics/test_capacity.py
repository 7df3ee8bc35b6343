"""Norm and Lipschitz bound of the MLP, against PyTorch's decompositions and real distances."""

import math

import pytest
import torch

from grokkit.diagnostics import lipschitz, mlp_norm
from grokkit.diagnostics.capacity import logit_margins, value_radius
from grokkit.model import Parameters, Transformer
from tests.model.cases import MODELS, TASKS, core_of, group

CLASSIFIER, RESIDUAL = MODELS["1 heads softmax classifier"], MODELS["1 heads softmax residual"]


def random_weights(model=CLASSIFIER, dtype=torch.float64) -> Parameters:
    return group(TASKS["alphabet"], model, dtype)[1]


@pytest.mark.parametrize("model", [CLASSIFIER, RESIDUAL], ids=["classifier", "residual"])
def test_the_norm_is_over_both_matrices_and_both_biases(model):
    weights = random_weights(model)
    for run in range(weights.runs):
        squares = [
            value**2
            for name in ("W_1", "b_1", "W_2", "b_2")
            for value in weights[name][run].flatten().tolist()
        ]
        assert mlp_norm(weights)[run].item() == pytest.approx(math.sqrt(sum(squares)), rel=1e-13)


@pytest.mark.parametrize(
    ("dtype", "tolerance"), [(torch.float64, 1e-12), (torch.float32, 1e-6)], ids=str
)
def test_the_bound_is_the_product_of_the_largest_singular_values(dtype, tolerance):
    weights = random_weights(dtype=dtype)
    largest = [torch.linalg.svdvals(weights[name])[:, 0] for name in ("W_1", "W_2")]
    torch.testing.assert_close(
        lipschitz(CLASSIFIER, weights), largest[0] * largest[1], rtol=tolerance, atol=0
    )
    weights = random_weights(RESIDUAL, dtype)
    s1, s2, s3 = (torch.linalg.svdvals(weights[name])[:, 0] for name in ("W_1", "W_2", "W_U"))
    torch.testing.assert_close(
        lipschitz(RESIDUAL, weights), (1 + s1 * s2) * s3, rtol=tolerance, atol=0
    )


@pytest.mark.parametrize("model", [CLASSIFIER, RESIDUAL], ids=["classifier", "residual"])
@torch.no_grad()
def test_no_two_logits_are_farther_apart_than_the_bound_allows(model):
    weights = random_weights(model)
    bound = lipschitz(model, weights)
    generator = torch.Generator().manual_seed(2)
    for run in range(weights.runs):
        twin = core_of(model, weights, run)

        def readout(h, twin=twin):
            inner = torch.relu(h @ twin.W_1 + twin.b_1) @ twin.W_2 + twin.b_2
            return inner if model.readout == "classifier" else (h + inner) @ twin.W_U

        a, b = torch.randn(2, 200, model.d_model, generator=generator, dtype=torch.float64)
        for step in (1.0, 1e-4):
            moved = (readout(a) - readout(a + step * b)).norm(dim=1)
            assert (moved <= bound[run] * step * b.norm(dim=1) * (1 + 1e-9)).all()


def test_a_run_that_has_diverged_does_not_stop_the_others():
    weights = random_weights(dtype=torch.float32)
    before = lipschitz(CLASSIFIER, weights)
    for broken in (math.nan, math.inf):
        weights.flat[1] = broken
        after = lipschitz(CLASSIFIER, weights)
        assert after[[0, 2]].equal(before[[0, 2]])
        assert after[1].isnan()


@pytest.mark.parametrize("name", ["1 heads softmax classifier", "2 heads softmax residual"])
def test_the_radius_is_that_of_the_longest_value_among_the_runs_own_slots(name):
    model = MODELS[name]
    batch, weights = group(TASKS["alphabet"], model)
    forward = Transformer(model, batch, weights.layout.length)
    radius = value_radius(forward, weights)
    values = forward.slot_values(weights, forward.embed(weights)).detach()
    for run in range(batch.runs):
        own = values[run, forward.slots.index[run].unique()]
        assert radius[run].item() == pytest.approx(own.norm(dim=2).max().item())


def test_a_margin_is_the_right_logit_minus_the_best_other():
    logits = torch.tensor([[[3.0, 1.0, 2.5], [0.0, -1.0, 4.0]]])
    assert logit_margins(logits, torch.tensor([[0, 1]])).tolist() == [[0.5, -5.0]]
