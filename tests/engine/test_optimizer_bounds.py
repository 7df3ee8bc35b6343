"""Proposition B.2 on real steps: no optimizer steps farther than its bound says."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grokkit import theory
from grokkit.engine import Trainer
from grokkit.engine.contraction import measure_contraction
from grokkit.engine.optimizers import SGD, AdamW, Lion, Muon, hidden_matrices
from grokkit.errors import SettingError
from tests.engine.small import SMALL

RATES = st.floats(1e-4, 0.1)
DECAYS = st.floats(0.01, 5.0)
SHARES = st.floats(0.0, 0.95)
FEW = settings(max_examples=6)
STEPS = 8


def trainer(optimizer, **changes) -> Trainer:
    return Trainer([SMALL.with_(optimizer=optimizer, precision="float64", **changes)])


def check(one: Trainer, bound: float, names=None) -> None:
    """Every step: no longer than the bound, and Definition 3.2 holds with it."""
    names = tuple(one.weights) if names is None else names
    seen = measure_contraction(one, STEPS, names)
    assert seen.sizes == {"run": 1, "epoch": STEPS}
    assert (seen.update_norm <= bound * (1 + 1e-9)).all()
    assert (seen.slack >= -1e-9 * seen.growth).all(), "rho from the step itself"
    decay = one.specs[0].optimizer.weight_decay
    growth = seen.contraction / decay**2 * bound**2  # (eta / w) B^2
    assert (seen.growth_needed <= growth * (1 + 1e-9)).all(), "rho from the bound"


@FEW
@given(RATES, DECAYS, SHARES, st.floats(0.96, 0.9999))
def test_adamw(rate, decay, beta1, beta2):
    one = trainer(AdamW(learning_rate=rate, weight_decay=decay, beta1=beta1, beta2=beta2))
    check(one, theory.adamw_update_bound(one.weights.layout.size, beta1, beta2))


@FEW
@given(RATES, DECAYS, SHARES, SHARES)
def test_lion(rate, decay, beta1, beta2):
    one = trainer(Lion(learning_rate=rate, weight_decay=decay, beta1=beta1, beta2=beta2))
    check(one, theory.sign_update_bound(one.weights.layout.size))


@FEW
@given(RATES, DECAYS, st.floats(0.01, 10.0))
def test_sgd_without_momentum_is_bounded_by_its_clip(rate, decay, clip):
    check(trainer(SGD(learning_rate=rate, weight_decay=decay, clip=clip, momentum=0.0)), clip)


@FEW
@given(RATES, DECAYS, SHARES, st.booleans(), st.sampled_from(["rms", "spectral"]))
def test_muon_matrix_by_matrix(rate, decay, momentum, nesterov, update_scale):
    spec = Muon(
        learning_rate=rate,
        weight_decay=decay,
        momentum=momentum,
        nesterov=nesterov,
        update_scale=update_scale,
    )
    layout = trainer(spec).weights.layout
    for name in hidden_matrices(layout)[:: 3 if nesterov else 2]:
        shape = layout.shapes[name]
        check(trainer(spec), theory.muon_update_bound(min(shape), spec.scale(*shape)), (name,))


def test_a_trace_goes_on_from_where_the_trainer_is_and_changes_nothing():
    specs = [SMALL.with_(weight_decay=decay, warmup=4) for decay in (0.0, 2.0)]
    traced, plain = Trainer(specs), Trainer(specs)
    traced.advance(3)
    seen = measure_contraction(traced, 100)
    assert seen.epoch.values.tolist() == list(range(3, 20)) and traced.done
    plain.advance()
    assert traced.weights.flat.equal(plain.weights.flat)
    assert traced.records.epochs == plain.records.epochs
    assert seen.contraction[1, :2].values == pytest.approx([2 * 0.01, 2 * 0.01])
    assert seen.slack[0].isnull().all() and seen.slack[1].notnull().all()
    with pytest.raises(SettingError, match=r"^trainer: "):
        measure_contraction(traced, 5)


def test_a_trace_sees_the_warm_up():
    one = Trainer([SMALL.with_(weight_decay=2.0, warmup=4)])
    seen = measure_contraction(one, 5)
    expected = [0.005, 0.01, 0.015, 0.02, 0.02]
    assert seen.contraction[0].values == pytest.approx(expected)


def test_a_trace_of_minibatches_is_refused():
    with pytest.raises(SettingError, match=r"^batch_size: got 4"):
        measure_contraction(Trainer([SMALL.with_(batch_size=4)]), 5)


def test_a_sphere_is_part_of_the_step():
    """Norm-matching cancels the decay: what definition 3.2 then needs of rho says so."""
    one = Trainer([SMALL.with_(mlp_radius=3.0, precision="float64")])
    one.advance(1)
    seen = measure_contraction(one, 5)
    np.testing.assert_allclose(seen.norm_after, 3.0, rtol=1e-12)
    np.testing.assert_allclose(seen.growth_needed, 9 * seen.contraction, rtol=1e-9)
