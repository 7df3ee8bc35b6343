"""Waits predicted and measured, on made Histories whose numbers are known."""

import math

import numpy as np
import pytest
import xarray as xr

from grokkit import runs, theory
from grokkit.diagnostics import hindsight_conditions, kl_times, plateau_lengths
from grokkit.errors import SettingError

EPOCH = np.arange(0, 10001, 50)


def made(decay: float = 1.0, beta: float = 0.0, groks: bool = True, seed: int = 0) -> xr.Dataset:
    """Memorises at 200 with norm 40; pure decay from there on; groks where the norm is 20."""
    a = 1e-3 * decay
    norm = np.where(EPOCH < 200, 10 + EPOCH * 0.15, 40 * (1 - a) ** (EPOCH - 200.0))
    grok = 200 + math.log(2) / -math.log(1 - a) if decay > 0 and groks else np.inf
    accuracy = np.where(grok <= EPOCH, 1.0, 0.0)
    kl = np.where(grok - 300 <= EPOCH, 0.05, 0.8)
    variables = {
        "train_accuracy": np.where(EPOCH >= 200, 1.0, 0.1),
        "test_accuracy": accuracy,
        "kl": kl,
        "mlp_norm": norm,
    }
    history = xr.Dataset(
        {name: (("run", "epoch"), values[None]) for name, values in variables.items()},
        coords={"epoch": EPOCH},
    )
    history["attention_mass"] = (("run", "epoch", "pos"), np.full((1, len(EPOCH), 5), 0.2))
    settings = {"learning_rate": 1e-3, "weight_decay": decay, "kl_strength": beta, "seed": seed}
    return history.assign_coords({name: ("run", [value]) for name, value in settings.items()})


def test_pure_decay_takes_half_of_what_the_paper_says():
    both = xr.concat([made(1.0), made(0.5)], dim="run")
    lengths = plateau_lengths(both)
    assert lengths.norm0.values.tolist() == [40, 40]
    # 693 and 1386 epochs, seen at the next record: the norm is read there, just below 20.
    assert lengths.measured.values.tolist() == [700, 1400]
    np.testing.assert_allclose(lengths.r_max, [40 * 0.999**700, 40 * 0.9995**1400])
    np.testing.assert_allclose(lengths.claimed / lengths.measured, 2, rtol=1e-3)


def test_what_was_not_seen_is_nan_and_not_a_wait():
    both = xr.concat([made(groks=False), made(decay=0.0)], dim="run")
    lengths = plateau_lengths(both)
    for name in ("measured", "claimed", "r_max"):
        assert np.isnan(lengths[name]).all(), name


def test_the_time_of_the_prior_is_the_theorys():
    both = xr.concat([made(beta=0.0), made(beta=0.1), made(beta=1.0)], dim="run")
    times = kl_times(both, k=2, gamma=0.25)
    assert times.delta.values.tolist() == pytest.approx([math.log(2)] * 3)
    claimed = [np.nan, *(theory.time_claimed(0.8, math.log(2), rate) for rate in (1e-4, 1e-3))]
    np.testing.assert_allclose(times.claimed, claimed)
    # D falls under log 2 at the record 300 epochs before it groks.
    assert times.measured.values.tolist() == [600, 600, 600]


def test_the_measured_time_is_that_of_the_flow_where_the_history_is_the_flow():
    rate = 0.002
    flow = theory.kl_flow(np.zeros(5), np.array([0.5, 0, 0.5, 0, 0]), rate, EPOCH[1:].astype(float))
    history = made(beta=2.0)
    history["kl"] = (("run", "epoch"), np.r_[math.log(2.5), flow.divergence][None])
    times = kl_times(history, k=2, gamma=0.4)
    uniform, guaranteed = (
        theory.sparse_time(math.log(2.5), times.delta.item(), kappa(5, 2), rate)
        for kappa in (theory.kappa_uniform, theory.kappa_guaranteed)
    )
    assert uniform <= times.measured.item() <= uniform + 50
    assert times.claimed.item() < times.measured.item() < guaranteed


def test_settings_that_make_no_sense_are_refused():
    history = made()
    with pytest.raises(SettingError, match="k: got 5"):
        kl_times(history, k=5, gamma=0.1)
    with pytest.raises(SettingError, match="gamma: got"):
        kl_times(history, k=2, gamma=0.6)
    with pytest.raises(SettingError, match="gamma: got"):
        kl_times(history, k=2, gamma=0.5)


RECORDED = np.arange(0, 2001, 50)


def grokked_run(groks: bool = True, margin: float = 4.0) -> xr.Dataset:
    """Memorises at 200, groks at 1000 with norm 20, L_f 10 and R 5; L_f was 90 before."""
    late = RECORDED >= 1000
    variables = {
        "train_accuracy": np.where(RECORDED >= 200, 1.0, 0.1),
        "test_accuracy": np.where(late & groks, 1.0, 0.0),
        "kl": np.where(RECORDED >= 800, 0.0, 0.8),
        "mlp_norm": np.where(late, 20.0, 40.0) - RECORDED / 1000,
        "lipschitz": np.where(late, 10.0, 90.0) + (RECORDED == 1500),
        "logit_margin": np.where(late, margin, -1.0),
        "value_radius": np.where(late, 5.0, 50.0),
    }
    return xr.Dataset(
        {name: (("run", "epoch"), values[None]) for name, values in variables.items()},
        coords={"epoch": RECORDED},
    )


def test_both_are_measured_where_phase_4_begins():
    found = hindsight_conditions(grokked_run()).isel(run=0)
    assert found.epoch == 1000
    assert found.r_max == 19.0
    # L_max is that of the record at 1500, which lies within N: 11. Delta_emb is 2R.
    assert found.gamma.item() == pytest.approx(math.sqrt(2) * 4 / (11 * 2 * 5))


def test_a_run_that_has_not_grokked_has_no_thresholds():
    both = xr.concat([grokked_run(), grokked_run(groks=False)], dim="run")
    found = hindsight_conditions(both)
    for name in ("epoch", "r_max", "gamma"):
        assert np.isnan(found[name].values).tolist() == [False, True]


def test_without_a_margin_there_is_no_gamma():
    found = hindsight_conditions(grokked_run(margin=-0.1)).isel(run=0)
    assert found.r_max == 19.0
    assert np.isnan(found.gamma)


def test_without_its_factors_on_record_there_is_no_gamma_but_a_radius():
    found = hindsight_conditions(grokked_run().drop_vars("value_radius")).isel(run=0)
    assert found.r_max == 19.0
    assert np.isnan(found.gamma)


def test_the_radius_is_the_one_that_the_plateau_is_measured_to():
    recorded = runs.load("classroom")
    found = hindsight_conditions(recorded)
    np.testing.assert_array_equal(found.r_max, plateau_lengths(recorded).r_max)
    # A threshold far below 1/k: very little attention would do.
    assert ((found.gamma > 0.001) & (found.gamma < 0.1)).all()
    one = hindsight_conditions(recorded.isel(run=2))
    assert one.gamma.item() == found.gamma[2].item()
