"""Epochs and phases of Histories whose answers are known."""

import numpy as np
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st

from grokkit.diagnostics import (
    PHASES,
    grok_epoch,
    memorise_epoch,
    phase_borders,
    phase_labels,
)

EPOCHS = np.arange(0, 2025, 25)


def ramp(low: float, high: float, start: int, end: int, epochs: np.ndarray = EPOCHS) -> np.ndarray:
    """From one value to another between two epochs, level before and after."""
    return np.interp(epochs, [start, end], [low, high])


def history(*runs: dict[str, np.ndarray], epochs: np.ndarray = EPOCHS) -> xr.Dataset:
    names = runs[0]
    return xr.Dataset(
        {name: (("run", "epoch"), np.array([run[name] for run in runs])) for name in names},
        coords={"epoch": epochs},
    )


def story(epochs: np.ndarray = EPOCHS) -> dict[str, np.ndarray]:
    """Memorised at 100; KL falls from 0.4 at 500..900; test accuracy rises at 1000..1200."""
    kl = np.minimum(ramp(0.9, 0.4, 0, 100, epochs), ramp(0.4, 0.0, 500, 900, epochs))
    return {
        "train_accuracy": ramp(0.0, 1.0, 0, 100, epochs),
        "test_accuracy": ramp(0.0, 1.0, 1000, 1200, epochs),
        "kl": np.where(epochs < 100, ramp(0.9, 0.4, 0, 100, epochs), kl),
    }


def borders(one: dict[str, np.ndarray]) -> list[float]:
    return phase_borders(history(one)).values[0].tolist()


def test_the_plain_story_has_its_four_phases():
    one = history(story())
    assert memorise_epoch(one).values == [100]
    assert grok_epoch(one).values == [1200]
    assert grok_epoch(one, 0.5).values == [1100]
    assert borders(story()) == [100, 700, 1100]
    labels = phase_labels(one)
    assert labels.dims == ("run", "epoch")
    at = {epoch: float(labels.sel(epoch=epoch)[0]) for epoch in (0, 75, 100, 675, 700, 1075, 1100)}
    assert at == {0: 1, 75: 1, 100: 2, 675: 2, 700: 3, 1075: 3, 1100: 4}
    assert set(np.unique(labels)) == set(PHASES)


def test_one_run_of_a_history_is_treated_as_it_is_in_the_whole():
    both = history(story(), story() | {"kl": np.full(len(EPOCHS), 0.9)})
    for run in range(2):
        one = both.isel(run=run)
        np.testing.assert_array_equal(phase_borders(one), phase_borders(both).isel(run=run))
        np.testing.assert_array_equal(phase_labels(one), phase_labels(both).isel(run=run))
        np.testing.assert_array_equal(memorise_epoch(one), memorise_epoch(both).isel(run=run))


def test_what_is_never_reached_is_nan_not_the_last_epoch():
    flat = {name: np.full(len(EPOCHS), 0.3) for name in story()}
    one = history(flat)
    assert np.isnan(memorise_epoch(one)).all() and np.isnan(grok_epoch(one)).all()
    assert np.isnan(phase_borders(one)).all()
    assert (phase_labels(one) == 1).all()


def test_a_run_that_only_memorises_stays_on_the_plateau():
    one = story() | {"kl": np.full(len(EPOCHS), 0.9), "test_accuracy": np.zeros(len(EPOCHS))}
    assert borders(one)[0] == 100 and np.isnan(borders(one)[1:]).all()
    assert (phase_labels(history(one)).sel(epoch=slice(100, None)) == 2).all()


def test_where_no_structure_is_left_to_be_found_the_plateau_is_empty():
    one = story() | {"kl": np.where(EPOCHS == 0, 0.9, 0.08)}
    assert borders(one) == [100, 100, 1100]
    assert 2 not in phase_labels(history(one))


def test_a_way_back_to_uniform_attention_is_no_resurgence():
    trap = np.where(EPOCHS == 0, 0.9, ramp(3.0, 0.6, 100, 1500))
    one = story() | {"kl": trap, "test_accuracy": np.zeros(len(EPOCHS))}
    assert np.isnan(borders(one)[1])  # 0.6 is below half of 3.0, not of 0.9


def test_understanding_without_structure_leaves_out_phase_3():
    one = story() | {"kl": np.full(len(EPOCHS), 0.9)}
    assert borders(one) == [100, 1100, 1100]
    assert 3 not in phase_labels(history(one))


def test_understanding_along_with_memorising_goes_from_1_to_4():
    one = story() | {"test_accuracy": ramp(0.0, 1.0, 0, 100)}
    assert borders(one) == [100, 100, 100]


@pytest.mark.parametrize("name, value", [("kl", 0.9), ("test_accuracy", 0.0)])
def test_one_bad_record_long_after_a_border_moves_nothing(name: str, value: float):
    one = story()
    one[name][60] = value
    assert borders(one) == borders(story())


def test_one_good_record_before_its_time_is_no_border():
    one = story()
    one["kl"][10], one["test_accuracy"][10] = 0.0, 1.0
    assert borders(one) == borders(story())


def test_sparse_records_must_hold_for_two():
    sparse = np.array([0, 100, 400, 800, 1200, 1600, 2000])
    one = story(sparse)
    assert phase_borders(history(one, epochs=sparse)).values.tolist() == [[100, 800, 1200]]
    one["kl"][2] = 0.1
    assert phase_borders(history(one, epochs=sparse)).values.tolist() == [[100, 400, 1200]]
    one["kl"][3] = 0.3
    assert phase_borders(history(one, epochs=sparse)).values.tolist() == [[100, 1200, 1200]]


def test_after_the_end_of_a_run_there_is_no_phase():
    whole, short = story(), story()
    for values in short.values():
        values[50:] = np.nan
    labels = phase_labels(history(whole, short))
    assert labels.isel(run=0).notnull().all()
    assert labels.isel(run=1, epoch=slice(50, None)).isnull().all()
    np.testing.assert_array_equal(labels[0, :50], labels[1, :50])


def test_mirrored_examples_do_not_count_as_unseen():
    one = story() | {"unmirrored_accuracy": ramp(0.0, 1.0, 1400, 1600)}
    assert borders(one) == [100, 700, 1500]
    nothing = story() | {"unmirrored_accuracy": np.full(len(EPOCHS), np.nan)}
    assert borders(nothing) == borders(story())


UNIT = st.floats(0, 1, width=32)


@st.composite
def any_run(draw: st.DrawFn) -> xr.Dataset:
    steps = draw(st.lists(st.integers(1, 200), min_size=1, max_size=30))
    epochs = np.concatenate([[0], np.cumsum(steps)])
    values = st.lists(UNIT, min_size=len(epochs), max_size=len(epochs))
    one = {name: np.array(draw(values)) for name in ("train_accuracy", "test_accuracy", "kl")}
    # Long stretches at 1, so that something is reached at all.
    one["train_accuracy"][draw(st.integers(0, len(epochs))) :] = 1
    one["test_accuracy"][draw(st.integers(0, len(epochs))) :] = 1
    return history(one, epochs=epochs)


@given(any_run())
def test_borders_never_run_backward_and_labels_never_fall(one: xr.Dataset):
    found = phase_borders(one).values[0]
    reached = found[~np.isnan(found)]
    assert (np.diff(reached) >= 0).all() and set(reached) <= set(one.epoch.values.tolist())
    # A later border is reached only if the earlier ones are.
    assert (np.diff(np.isnan(found).astype(int)) >= 0).all()
    labels = phase_labels(one).values[0]
    assert (np.diff(labels) >= 0).all() and set(labels) <= set(PHASES)


@given(any_run(), st.integers(1, 31))
def test_later_records_never_change_a_border(one: xr.Dataset, kept: int):
    before = phase_borders(one.isel(epoch=slice(kept))).values[0]
    after = phase_borders(one).values[0]
    for first, second in zip(before, after, strict=True):
        assert np.isnan(first) or first == second


@pytest.mark.parametrize("every", [1, 5, 20, 50])
def test_recording_more_or_less_often_moves_a_border_by_a_record_at_most(every: int):
    epochs = np.arange(0, 2001, every)
    found = phase_borders(history(story(epochs), epochs=epochs)).values[0]
    assert (np.abs(found - [99, 698, 1100]) < every + 2).all()
