"""The History: joined, saved, loaded, thinned, and never lost."""

import math
import os
import pickle

import numpy as np
import pytest
import xarray as xr

import grokkit.engine.files as files
from grokkit import runs
from grokkit.diagnostics import grok_epoch, memorise_epoch
from grokkit.engine import RunSpec, grid
from grokkit.runtime import load_history, save_history, specs_of, thin, train
from grokkit.runtime.history import complete, join, split
from grokkit.tasks import LongerAddition, ModularAddition, ModularSubtraction
from tests.engine.small import SMALL, bits, same

MANY = [
    SMALL,
    SMALL.with_(seed=3, weight_decay=0.5, length=6, positions=(4, 0)),
    SMALL.with_(heads=2, epochs=8, kl_strength=0.1, clip=math.inf),
    SMALL.with_(learning_rate=1e30),
    SMALL.with_(task=ModularSubtraction(p=7, train_fraction=0.5), record_every=4),
    SMALL.with_(task=LongerAddition(p=5, length=5, longer=(7, 9), train_fraction=0.5)),
    SMALL.with_(precision="float64", distractors="random", draws=2),
]
"""Runs that differ in whatever can differ, one of which diverges."""


@pytest.fixture(scope="module")
def history() -> xr.Dataset:
    return train(MANY)


def test_every_run_of_a_joined_history_is_its_own(history):
    assert specs_of(history) == MANY
    for run, spec in enumerate(MANY):
        own = train(spec)
        for name, values in own.data_vars.items():
            part = history[name].isel(run=[run]).sel(epoch=own.epoch)
            part = part.isel({dim: slice(size) for dim, size in values.sizes.items()})
            assert bits(part.astype(values.dtype)) == bits(values), name
            rest = history[name].isel(run=run).drop_sel(epoch=own.epoch)
            assert rest.isnull().all(), name
        for name in ("ended", "message", "n_train", "n_test", "seed", "weight_decay"):
            mine = str(history[name].values[run]).replace(f"run {run} ", "run 0 ")
            assert mine == str(own[name].item()), name


def test_settings_that_vary_are_coordinates(history):
    assert history.weight_decay.values.tolist() == [1.0, 0.5, 1.0, 1.0, 1.0, 1.0, 1.0]
    assert history.heads.values.tolist() == [1, 1, 2, 1, 1, 1, 1]
    assert history["clip"].values.tolist()[2] == math.inf
    assert history.task.values.tolist()[3:6] == [
        "modular_addition",
        "modular_subtraction",
        "longer_addition",
    ]
    assert "d_model" not in history.coords
    for name in ("seed", "kl_strength", "weight_decay", "learning_rate", "spec"):
        assert name in train(SMALL).coords


@pytest.mark.parametrize(
    ("name", "axis", "shown"),
    [
        ("mlp_radius", [None, 15.0], ["None", "15.0"]),
        ("batch_size", [None, 5, 6], ["None", "5", "6"]),
        ("stop_after", [None, 3], ["None", "3"]),
        ("positions", [None, (1, 0), (0, 3)], ["None", "(1, 0)", "(0, 3)"]),
        ("record_every", [5, 10], [5, 10]),
        ("optimizer", ["adamw", "sgd"], ["adamw", "sgd"]),
    ],
)
def test_every_setting_that_varies_is_a_coordinate(name, axis, shown, tmp_path):
    history = train(grid(SMALL, **{name: axis}))
    assert history[name].values.tolist() == shown
    assert history.kl.groupby(name).mean().sizes[name] == len(axis), "and none is left out"
    loaded = load_history(save_history(history, tmp_path / "run.nc"))
    assert loaded[name].values.tolist() == shown
    assert join(split(loaded))[name].values.tolist() == shown


def test_a_mean_over_seeds_is_one_line():
    swept = train(grid(SMALL, weight_decay=[0.5, 2.0], seed=range(3)))
    means = swept.kl.groupby("weight_decay").mean()
    assert means.sizes == {"weight_decay": 2, "epoch": 5}
    first = swept.kl.values[:3].mean(axis=0)
    np.testing.assert_allclose(means.sel(weight_decay=0.5), first, rtol=1e-6)


def test_saved_and_loaded_it_is_the_same_bit_for_bit(history, tmp_path):
    loaded = load_history(save_history(history, tmp_path / "run.nc"))
    assert same(loaded, history)
    assert loaded.identical(history)
    assert set(loaded.coords) == set(history.coords)
    for name in history.coords:
        if history[name].dtype == object:
            assert loaded[name].values.tolist() == history[name].values.tolist()
        else:
            assert loaded[name].dtype == history[name].dtype
            assert bits(loaded[name]) == bits(history[name]), name
    assert loaded.attrs == history.attrs
    assert specs_of(loaded) == MANY
    assert [values.attrs for values in loaded.data_vars.values()] == [
        values.attrs for values in history.data_vars.values()
    ]
    again = load_history(save_history(loaded, tmp_path / "again.nc"))
    assert again.identical(history)


def test_texts_of_any_length_survive_a_join_of_files(tmp_path):
    """Why a run ended is a long text for some and empty for others."""
    saved = []
    for number, spec in enumerate((SMALL, SMALL.with_(learning_rate=1e30))):
        saved.append(load_history(save_history(train(spec), tmp_path / f"{number}.nc")))
    again = load_history(save_history(join(saved), tmp_path / "joined.nc"))
    assert again.message.values.tolist() == ["", saved[1].message.item()]
    assert "not finite" in again.message.values[1]


def test_two_hundred_runs_survive_the_round_trip(tmp_path):
    small = SMALL.with_(p=3, d_model=2, d_mlp=2, epochs=1)
    specs = grid(small, weight_decay=[0.0, 0.7], seed=range(10))
    whole = join([train(specs, workers=1)] * 10)
    loaded = load_history(save_history(whole, tmp_path / "many.nc"))
    assert loaded.identical(whole) and same(loaded, whole)
    assert specs_of(loaded) == specs * 10


def test_split_is_the_inverse_of_join(history):
    parts = split(history)
    assert [specs_of(part) for part in parts] == [[spec] for spec in MANY]
    again = join(parts)
    assert same(again, history)
    assert complete(history) == [True] * len(MANY)


def test_the_file_is_written_whole_or_not_at_all(history, tmp_path, monkeypatch):
    path = save_history(history.isel(run=[0]), tmp_path / "run.nc")
    before = path.read_bytes()

    def full(*_):
        raise OSError(28, os.strerror(28))

    for function in ("fsync", "replace"):
        with monkeypatch.context() as patch:
            patch.setattr(files.os, function, full)
            with pytest.raises(OSError, match="No space left") as refused:
                save_history(history, path)
            assert str(path) in str(refused.value) and "\n" not in str(refused.value)
        assert path.read_bytes() == before
        assert list(tmp_path.iterdir()) == [path]


def test_a_file_that_is_no_history_is_refused_in_one_line_and_left_alone(history, tmp_path):
    whole = save_history(history, tmp_path / "whole.nc").read_bytes()
    newer = history.assign_attrs(format=99)
    foreign = xr.Dataset({"x": ("time", [1.0, 2.0])})
    foreign.to_netcdf(tmp_path / "foreign.nc", engine="h5netcdf")
    wrong = {
        "truncated.nc": whole[: len(whole) // 2],
        "short.nc": whole[:100],
        "empty.nc": b"",
        "text.nc": b"epoch,loss\n0,1.0\n",
        "pickle.nc": pickle.dumps({"epoch": [0]}),
        "foreign.nc": (tmp_path / "foreign.nc").read_bytes(),
        "newer.nc": save_history(newer, tmp_path / "newer.nc").read_bytes(),
    }
    for name, content in wrong.items():
        path = tmp_path / name
        path.write_bytes(content)
        with pytest.raises(ValueError, match=name) as refused:
            load_history(path)
        line = str(refused.value)
        assert "\n" not in line and len(line) < 300
        assert path.read_bytes() == content
    assert "format 99; this grokkit reads up to 1" in line
    with pytest.raises(FileNotFoundError, match=r"nowhere\.nc: no such file"):
        load_history(tmp_path / "nowhere.nc")


def test_no_flipped_bit_goes_unnoticed(history, tmp_path):
    """Wherever in the file it is, in a record or in a coordinate: refused, or of no effect."""
    path = save_history(history.isel(run=[1, 5]), tmp_path / "run.nc")
    whole, before = path.read_bytes(), load_history(path)
    chance, refused = np.random.default_rng(0), 0
    starts = [whole.index(history.epoch.values[:4].tobytes())]
    for place in [*starts, *chance.integers(len(whole), size=12)]:
        content = bytearray(whole)
        content[place] ^= 1 << chance.integers(8)
        path.write_bytes(content)
        try:
            assert load_history(path).identical(before), place
        except ValueError as error:
            assert "\n" not in str(error)
            refused += 1
    assert refused > 2


@pytest.mark.parametrize("name", runs.names())
def test_what_is_read_is_what_xarray_reads(name):
    """Numbers, texts, flags, axes with and without numbers, attributes: of every recording."""
    path = runs.path(name)
    theirs = xr.load_dataset(path, engine="h5netcdf").drop_attrs(deep=False)
    ours = load_history(path)
    assert ours.drop_attrs(deep=False).identical(theirs)
    assert {n: v.dtype for n, v in ours.variables.items()} == {
        n: v.dtype for n, v in theirs.variables.items()
    }


def test_a_file_without_a_checksum_of_its_coordinates_is_read(history, tmp_path, monkeypatch):
    """As all were before there was one."""
    monkeypatch.setattr(xr.Dataset, "assign_attrs", lambda self, **_: self)
    path = save_history(history, tmp_path / "old.nc")
    assert "checksum" not in xr.load_dataset(path, engine="h5netcdf").attrs
    assert load_history(path).identical(history)


def test_thinning_rounds_floats_and_keeps_counts():
    bits_kept = 4
    spec = SMALL.with_(epochs=200, record_every=1, seed=1)
    whole = train([spec, spec.with_(learning_rate=1e30), spec.with_(kl_strength=1.0)])
    small = thin(whole, records=30, mantissa_bits=bits_kept)
    assert 20 <= small.sizes["epoch"] <= 32 + 3 * 7  # and what happened to each run
    assert small.epoch.values[0] == 0 and small.epoch.values[-1] == 200
    gaps = np.diff(small.epoch.values)
    assert gaps[0] == 1 and gaps[-1] > 10
    kept = whole.sel(epoch=small.epoch)
    for name, values in small.data_vars.items():
        ours, exact = values.values, kept[name].values
        assert ours.dtype == exact.dtype
        if "accuracy" in str(name):
            assert bits(ours) == bits(exact), name
        else:
            finite = np.isfinite(exact)
            assert np.array_equal(ours[~finite], exact[~finite], equal_nan=True), name
            ours, exact = ours[finite], exact[finite].astype(np.float64)
            bound = 2.0 ** -(bits_kept + 1) * np.abs(exact)
            assert (np.abs(ours - exact) <= bound).all(), name
            # Nothing below the bits that are kept, which is what makes the file small.
            assert not (ours.view(np.uint32) << (9 + bits_kept)).any(), name
    assert small.attrs["mantissa_bits"] == bits_kept
    assert specs_of(small) == specs_of(whole)


@pytest.mark.parametrize("seed", range(3))
def test_thinning_moves_no_event_of_any_run(seed):
    """Made-up curves: the epochs that people quote are the same on the small History."""
    chance = np.random.default_rng(seed)
    epochs = np.arange(0, 5001, 25)
    when = chance.uniform(100, 4000, size=(4, 3, 1))
    curves = 1 / (1 + np.exp(-(epochs - when) / 150))
    whole = xr.Dataset(
        {
            "train_accuracy": (("run", "epoch"), curves[:, 0]),
            "test_accuracy": (("run", "epoch"), curves[:, 1]),
            "kl": (("run", "epoch"), 1 - curves[:, 2]),
        },
        coords={"epoch": epochs, "ended": ("run", [5000, 4500, 5000, 3000])},
    )
    small = thin(whole, records=20)
    assert small.sizes["epoch"] < 60
    for rule in (memorise_epoch, grok_epoch, lambda history: grok_epoch(history, 0.95)):
        assert bits(rule(small).values) == bits(rule(whole).values)
    assert set(small.ended.values) <= set(small.epoch.values)


def test_thinning_makes_a_smaller_file_and_the_original_stays(tmp_path):
    whole = train(SMALL.with_(epochs=150, record_every=1))
    before = whole.copy(deep=True)
    small = thin(whole, records=40)
    assert whole.identical(before)
    sizes = [
        save_history(one, tmp_path / f"{i}.nc").stat().st_size
        for i, one in enumerate((whole, small))
    ]
    assert sizes[1] < sizes[0]


def test_a_history_of_one_record_can_be_thinned():
    one = train(SMALL.with_(epochs=1)).isel(epoch=[0])
    assert thin(one).sizes["epoch"] == 1


def test_values_survive_their_extremes(tmp_path):
    history = train(SMALL)
    odd = np.array([[math.nan, math.inf, -math.inf, -0.0, 1e-42]], dtype=np.float32)
    history["kl"] = (("run", "epoch"), odd)
    loaded = load_history(save_history(history, tmp_path / "odd.nc"))
    assert bits(loaded.kl) == bits(odd)


def test_joining_one_history_changes_nothing():
    one = train(SMALL)
    assert join([one]).identical(one)


def test_the_spec_of_a_history_can_be_trained_again():
    again = train(specs_of(train(SMALL)))
    assert same(again, train(SMALL))


def test_a_prior_without_a_strength_can_be_joined_to_one_with():
    from dataclasses import dataclass

    from grokkit.engine import Prior, register_prior
    from grokkit.engine.priors import priors

    @register_prior("test_none")
    @dataclass(frozen=True)
    class NoPrior(Prior):
        def penalty(self, seen, batch):
            return seen.scores.sum() * 0

    try:
        for specs in ([SMALL, SMALL.with_(prior=NoPrior())], [SMALL.with_(prior=NoPrior()), SMALL]):
            joined = train(specs)
            assert specs_of(joined) == specs
            assert joined.sizes["run"] == 2 and "kl_strength" not in joined.coords
    finally:
        del priors._members["test_none"]


def test_the_task_of_a_spec_is_back_in_its_own_type():
    spec = specs_of(train(MANY[1]))[0]
    assert isinstance(spec, RunSpec) and isinstance(spec.task, ModularAddition)
    assert spec.task.positions == (4, 0)
