"""Theorem 4.3's factors against loops over every substitution, one by one."""

import math

import numpy as np
import pytest
import torch

from grokkit import theory
from grokkit.diagnostics import lipschitz, logit_margins, separability, value_radius
from grokkit.errors import SettingError
from grokkit.model import Batch, ModelSpec, Parameters, Transformer
from grokkit.tasks import ModularAddition
from tests.model.cases import MODELS, TASKS, group

CASES = [
    ("alphabet", "1 heads softmax classifier"),
    ("constant, moved", "2 heads softmax classifier W_O"),
    ("marked", "2 heads softmax residual"),
    ("parity", "1 heads relu classifier"),
]


def by_hand(forward: Transformer, weights, run: int):
    """xi, Delta_emb and the least pair mass of one run; numpy, one substitution at a time."""
    spec, batch, slots = forward.spec, forward.batch, forward.slots
    embedding = forward.embed(weights)
    values = forward.slot_values(weights, embedding)[run].detach().numpy()
    scores = forward.slot_scores(weights, embedding)[run, 0].detach().numpy()
    index, informative = slots.index[run].numpy(), batch.informative[run].numpy()
    attend = theory.softmax if spec.attention == "softmax" else theory.relu_attention
    xi, spread = np.full(spec.heads, np.inf), np.zeros(spec.heads)
    pair = np.inf
    for position in np.flatnonzero(informative.any(axis=0)):
        tokens = sorted({index[x, position] for x in np.flatnonzero(informative[:, position])})
        for example in np.flatnonzero(informative[:, position]):
            row = index[example]
            for other in tokens:
                if other == row[position]:
                    continue
                changed = row.copy()
                changed[position] = other
                total = 0.0
                for head in range(spec.heads):
                    v = values[:, head]
                    a = attend(scores[row, head])
                    b = attend(scores[changed, head])
                    m = theory.rest_centroid(a, v[row], int(position))
                    moved, stays = v[other], v[row[position]]
                    xi[head] = min(xi[head], np.linalg.norm(moved - stays))
                    for value in (moved, stays):
                        spread[head] = max(spread[head], np.linalg.norm(value - m))
                    total += a[position] + b[position]
                pair = min(pair, total)
    return xi, spread, pair


@pytest.mark.parametrize(("task", "name"), CASES)
def test_every_factor_is_that_of_a_loop_over_all_substitutions(task, name):
    model = MODELS[name]
    batch, weights = group(TASKS[task], model)
    if model.attention == "relu":
        # Every token's score above 0, so that normalised ReLU is defined whatever is changed.
        with torch.no_grad():
            weights["W_K"].copy_(weights["W_Q"])
            weights["position_embedding"].add_(0.5)
            weights["token_embedding"].mul_(0.1)
    forward = Transformer(model, batch, weights.layout.length)
    found = separability(forward, weights)
    for run in range(batch.runs):
        xi, spread, pair = by_hand(forward, weights, run)
        np.testing.assert_allclose(found.separation[run], xi, rtol=1e-7)
        np.testing.assert_allclose(found.spread[run], spread, rtol=1e-7)
        assert found.least_pair_mass[run].item() == pytest.approx(pair, rel=1e-9)


def test_the_spread_is_the_theorys_over_the_batchs_own_values_and_centroids():
    model = MODELS["1 heads softmax classifier"]
    batch, weights = group(TASKS["no distractors"], model, seeds=(0,))
    # One informative position only, so that all its values meet all its centroids.
    informative = batch.informative.clone()
    informative[:, :, 2] = informative[:, :, 1] = False
    batch = Batch(batch.tokens, batch.targets, informative, batch.oracle)
    forward = Transformer(model, batch, weights.layout.length)
    values = forward.slot_values(weights, forward.embed(weights))[0, :, 0].detach().numpy()
    rows = forward.slots.index[0].numpy()
    attention = forward(weights).attention[0, :, :, 0].detach().numpy()
    centroids = theory.rest_centroid(attention, values[rows], 0)
    at = values[np.unique(rows[:, 0])]
    expected = theory.value_spread(at, centroids)
    assert separability(forward, weights).spread.item() == pytest.approx(expected, rel=1e-9)


def solved(margin: float) -> tuple[Transformer, Parameters]:
    """A network that adds modulo 5 by attention on I* alone, its least margin known."""
    task = ModularAddition(p=5, length=5, train_fraction=0.5)
    model = ModelSpec(d_model=12, d_mlp=40)
    batch, weights = group(task, model, seeds=(0,))
    forward = Transformer(model, batch, weights.layout.length)
    with torch.no_grad():
        # The last layer that gives every example its own class by exactly this margin.
        hidden = forward(weights).hidden[0]
        wanted = torch.nn.functional.one_hot(batch.targets[0], 5).double()
        weights["W_2"][0] = torch.linalg.pinv(hidden) @ wanted * margin
        weights["b_2"].zero_()
    return forward, weights


def test_gamma_is_the_theorems_quotient_of_what_was_measured():
    forward, weights = solved(margin=3.0)
    found = separability(forward, weights)
    margin = logit_margins(forward(weights).logits, forward.batch.targets).min().item()
    assert found.logit_margin.item() == pytest.approx(margin) == pytest.approx(3.0, rel=1e-6)
    assert found.c_margin.item() == pytest.approx(math.sqrt(2) * margin)
    l_f = lipschitz(forward.spec, weights).item()
    gamma = found.c_margin.item() / (l_f * found.spread.item())
    assert found.gamma.item() == pytest.approx(gamma)
    assert found.pair_mass_required.item() == pytest.approx(gamma)
    assert found.structural.item() is (found.least_mass.item() >= gamma)
    assert found.necessary.item() is (found.least_pair_mass.item() >= gamma)

    looser = separability(forward, weights, lipschitz_max=torch.tensor([10 * l_f]))
    assert looser.gamma.item() == pytest.approx(gamma / 10)
    assert looser.pair_mass_required.item() == pytest.approx(gamma)


def test_real_pairs_of_a_solved_table_obey_the_necessary_condition():
    """(27) on pairs in the batch: each member has the margin, so it is a theorem here."""
    model = ModelSpec(d_model=12, d_mlp=60)
    task = ModularAddition(p=5, length=4, distractors="constant", train_fraction=0.9)
    batch, weights = group(task, model, seeds=(0,))
    forward = Transformer(model, batch, weights.layout.length)
    with torch.no_grad():
        hidden = forward(weights).hidden[0]
        wanted = 4.0 * torch.nn.functional.one_hot(batch.targets[0], 5).double()
        weights["W_2"][0] = torch.linalg.pinv(hidden) @ wanted
        weights["b_2"].zero_()
    found = separability(forward, weights)
    attention = forward(weights).attention[0, :, :, 0].detach()
    tokens, targets = batch.tokens[0].numpy(), batch.targets[0].numpy()
    counted = 0
    for position in (0, 2):
        for one, other in theory.class_distinct_pairs(tokens, targets, position):
            mass = (attention[one, position] + attention[other, position]).item()
            assert mass >= found.pair_mass_required.item()
            assert mass >= found.least_pair_mass.item() - 1e-12
            counted += 1
    assert counted > 50


def test_without_a_margin_gamma_is_undefined_and_nothing_is_said_to_hold():
    model = MODELS["1 heads softmax classifier"]
    batch, weights = group(TASKS["alphabet"], model)
    found = separability(Transformer(model, batch, weights.layout.length), weights)
    assert (found.logit_margin < 0).all()
    for name in ("c_margin", "gamma", "pair_mass_required"):
        assert getattr(found, name).isnan().all()
    assert not found.structural.any() and not found.necessary.any()


@pytest.mark.parametrize(("task", "name"), CASES[:3])
def test_twice_the_radius_is_no_less_than_the_spread(task, name):
    model = MODELS[name]
    batch, weights = group(TASKS[task], model)
    forward = Transformer(model, batch, weights.layout.length)
    radius = value_radius(forward, weights)
    values = forward.slot_values(weights, forward.embed(weights)).detach().numpy()
    for run in range(batch.runs):
        own = values[run, forward.slots.index[run].unique().numpy()]
        assert radius[run].item() == pytest.approx(np.linalg.norm(own, axis=2).max())
    assert (separability(forward, weights).spread <= 2 * radius[:, None]).all()


@pytest.mark.parametrize("kind", ["softmax", "relu"])
def test_attention_that_underflows_leaves_every_factor_defined(kind):
    model = MODELS[f"1 heads {kind} classifier"]
    batch, weights = group(TASKS["alphabet"], model)
    with torch.no_grad():
        # Scores apart by thousands: exp underflows wherever it is not attended to.
        weights["W_K"].copy_(weights["W_Q"]).mul_(200)
        weights["W_Q"].mul_(200)
    forward = Transformer(model, batch, weights.layout.length)
    assert (forward(weights).attention == 0).any()
    found = separability(forward, weights)
    assert found.spread.isfinite().all() and (found.spread > 0).all()
    assert (found.spread <= 2 * value_radius(forward, weights)[:, None]).all()
    assert ((found.least_pair_mass >= 0) & (found.least_pair_mass <= 2)).all()


def test_equal_embeddings_cannot_be_told_apart():
    model = MODELS["2 heads softmax classifier"]
    batch, weights = group(TASKS["alphabet"], model)
    with torch.no_grad():
        weights["token_embedding"][:, 1] = weights["token_embedding"][:, 0]
    found = separability(Transformer(model, batch, weights.layout.length), weights)
    assert (found.separation == 0).all() and (found.spread > 0).all()


def test_a_lipschitz_bound_below_the_networks_own_is_refused():
    forward, weights = solved(margin=1.0)
    with pytest.raises(SettingError, match="lipschitz_max: got"):
        separability(forward, weights, lipschitz_max=torch.tensor([1e-3]))


def test_frozen_attention_is_refused():
    model = ModelSpec(d_model=12, d_mlp=10, attention="oracle")
    batch, weights = group(TASKS["alphabet"], model)
    with pytest.raises(SettingError, match="attention: got 'oracle'; allowed: softmax, relu"):
        separability(Transformer(model, batch, weights.layout.length), weights)
