"""The thresholds of B_gamma and N, read off made runs whose numbers are known."""

import math

import numpy as np
import pytest
import xarray as xr

from grokkit import runs
from grokkit.diagnostics import hindsight_conditions, plateau_lengths

EPOCH = np.arange(0, 2001, 50)


def made(groks: bool = True, margin: float = 4.0) -> xr.Dataset:
    """Memorises at 200, groks at 1000 with norm 20, L_f 10 and R 5; L_f was 90 before."""
    late = EPOCH >= 1000
    variables = {
        "train_accuracy": np.where(EPOCH >= 200, 1.0, 0.1),
        "test_accuracy": np.where(late & groks, 1.0, 0.0),
        "kl": np.where(EPOCH >= 800, 0.0, 0.8),
        "mlp_norm": np.where(late, 20.0, 40.0) - EPOCH / 1000,
        "lipschitz": np.where(late, 10.0, 90.0) + (EPOCH == 1500),
        "logit_margin": np.where(late, margin, -1.0),
        "value_radius": np.where(late, 5.0, 50.0),
    }
    return xr.Dataset(
        {name: (("run", "epoch"), values[None]) for name, values in variables.items()},
        coords={"epoch": EPOCH},
    )


def test_both_are_measured_where_phase_4_begins():
    found = hindsight_conditions(made()).isel(run=0)
    assert found.epoch == 1000
    assert found.r_max == 19.0
    # L_max is that of the record at 1500, which lies within N: 11. Delta_emb is 2R.
    assert found.gamma.item() == pytest.approx(math.sqrt(2) * 4 / (11 * 2 * 5))


def test_a_run_that_has_not_grokked_has_no_thresholds():
    both = xr.concat([made(), made(groks=False)], dim="run")
    found = hindsight_conditions(both)
    for name in ("epoch", "r_max", "gamma"):
        assert np.isnan(found[name].values).tolist() == [False, True]


def test_without_a_margin_there_is_no_gamma():
    found = hindsight_conditions(made(margin=-0.1)).isel(run=0)
    assert found.r_max == 19.0
    assert np.isnan(found.gamma)


def test_without_its_factors_on_record_there_is_no_gamma_but_a_radius():
    found = hindsight_conditions(made().drop_vars("value_radius")).isel(run=0)
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
