"""Recorded runs: small, complete, and what the presets promise."""

import numpy as np
import pytest

from grokkit import runs
from grokkit.diagnostics import grok_epoch, memorise_epoch
from grokkit.engine import RunSpec, grid
from grokkit.errors import SettingError
from grokkit.runtime import specs_of


@pytest.mark.parametrize("name", sorted(runs.RECIPES))
def test_a_recording_is_of_the_specs_that_its_recipe_names(name):
    history = runs.load(name)
    assert specs_of(history) == runs.RECIPES[name]()
    assert runs.path(name).stat().st_size < runs.LIMIT
    for attribute in ("grokkit", "torch", "device", "seconds", "mantissa_bits"):
        assert attribute in history.attrs


def test_the_classroom_preset_memorises_early_and_groks_late_in_every_seed():
    history = runs.load("classroom")
    memorised, grokked = memorise_epoch(history), grok_epoch(history, 0.95)
    assert history.sizes["run"] == 5
    assert (memorised <= 300).all()
    assert (grokked >= 10 * memorised).all() and (grokked <= 10_000).all()


def test_in_every_recorded_seed_mirrored_pairs_come_first():
    """What lesson 01 says of the recording."""
    history = runs.load("classroom")
    when = history.epoch.where(history.unmirrored_accuracy >= 0.5).min("epoch")
    assert (history.mirrored_accuracy.sel(epoch=when) >= 0.8).all()


def test_a_recording_can_be_made_again(monkeypatch, tmp_path):
    small = RunSpec().with_(p=7, train_fraction=0.5, d_model=8, d_mlp=16, epochs=50)
    monkeypatch.setitem(runs.RECIPES, "tiny", lambda: grid(small, seed=range(2)))
    path = runs.record("tiny", progress=False, into=tmp_path)
    monkeypatch.setattr(runs, "path", lambda name: path)
    history = runs.load("tiny")
    assert specs_of(history) == grid(small, seed=range(2))
    assert np.isfinite(history.train_loss.values).all()


def test_an_unknown_recording_is_refused_by_name():
    with pytest.raises(SettingError, match=r"name: got 'classrom'; allowed: .*classroom"):
        runs.load("classrom")
