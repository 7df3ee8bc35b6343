"""A sweep trains what is missing, stores what has ended, and loses nothing."""

import errno
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr

from grokkit.engine import AdamW, RunSpec, Trainer, grid, presets
from grokkit.engine.analytic_step import AnalyticStep
from grokkit.engine.files import STALE
from grokkit.errors import SettingError
from grokkit.runtime import (
    RunsFailed,
    RunStore,
    load_history,
    load_sweep,
    save_history,
    spec_key,
    sweep,
    train,
)
from grokkit.runtime.checkpoint import save_checkpoint
from grokkit.runtime.collector import Collector
from grokkit.runtime.history import complete, join, split, to_history
from grokkit.runtime.keys import group_name
from grokkit.runtime.run import plan
from grokkit.runtime.sweep import sweep_specs
from tests.engine.small import SMALL, same
from tests.runtime.elsewhere import Unbuildable

pytestmark = pytest.mark.slow  # they start worker processes

ROOT = Path(__file__).parents[2]
SPECS = grid(SMALL, weight_decay=[0.5, 2.0], seed=[0, 1])


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


# --- keys ---------------------------------------------------------------------------------


def test_keys_are_the_same_in_every_version():
    """A folder of runs is worth hours: if this fails, every stored run is lost to it."""
    old = RunSpec().with_(weight_streams="one")
    assert spec_key(old) == "1d9909590775dc2f"
    assert spec_key(old.with_(p=7, seed=3, weight_decay=0.5)) == "b38ba065c4bcfd3e"
    changed = old.with_(task="sparse_parity", clip=float("inf"), positions=(1, 0, 2))
    assert spec_key(changed) == "3daa64b96985fc92"


def test_keys_are_the_same_in_every_process():
    code = (
        "from grokkit.engine import RunSpec; from grokkit.runtime import spec_key; "
        "print(spec_key(RunSpec().with_(p=7, seed=3)))"
    )
    environment = os.environ | {"PYTHONPATH": str(ROOT), "PYTHONHASHSEED": "7"}
    there = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert there.stdout.strip() == spec_key(RunSpec().with_(p=7, seed=3))


@pytest.mark.usefixtures("unchecked")
def test_equal_specs_have_equal_keys_and_others_do_not():
    assert spec_key(SMALL.with_(weight_decay=2)) == spec_key(SMALL.with_(weight_decay=2.0))
    others = [SMALL.with_(seed=1), SMALL.with_(weight_decay=2.0), SMALL.with_(heads=2)]
    others += [SMALL.with_(prior="kl", kl_strength=1e-9), SMALL.with_(precision="float64")]
    assert len({spec_key(spec) for spec in [SMALL, *others]}) == 6
    for spec in [SMALL, *others]:
        assert spec_key(RunSpec.from_json(spec.to_json())) == spec_key(spec)
    assert group_name([SMALL]) == spec_key(SMALL)
    assert group_name(others) != group_name(others[::-1])


def test_a_setting_that_a_later_version_adds_leaves_old_keys_alone():
    @dataclass(frozen=True)
    class Later(AdamW):
        nesterov: bool = False

    Later.kind, Later.__module__ = "adamw", AdamW.__module__
    assert spec_key(SMALL.with_(optimizer=Later())) == spec_key(SMALL.with_(optimizer=AdamW()))
    assert spec_key(SMALL.with_(optimizer=Later(nesterov=True))) != spec_key(
        SMALL.with_(optimizer=AdamW())
    )


# --- the store ----------------------------------------------------------------------------


def test_split_is_the_inverse_of_join():
    alone = [train(spec) for spec in SPECS[:3]]
    parts = split(join(alone))
    assert all(
        a.drop_attrs(deep=False).identical(b.drop_attrs(deep=False))
        for a, b in zip(parts, alone, strict=True)
    )


def test_a_run_is_stored_as_if_it_had_been_trained_alone(tmp_path: Path):
    specs = [SMALL.with_(learning_rate=rate, clip=float("inf")) for rate in (1e30, 1e-2)]
    group = Trainer(specs)
    group.advance()
    store = RunStore(tmp_path / "runs")
    assert store.get(specs[0]) is None and not list(store.folder.glob("*.nc"))
    assert store.put(to_history(group)) == 2
    assert names(store.folder) == sorted(f"{spec_key(spec)}.nc" for spec in specs)
    for spec in specs:
        found = store.get(spec)
        assert found is not None and spec in store
        # Equal in all but the last bits, which on a CPU depend on the size of the group.
        xr.testing.assert_allclose(found, train(spec), rtol=1e-5)
        assert found.coords.equals(train(spec).coords)
    assert SMALL not in store and "a word" not in store


def test_a_run_that_was_interrupted_is_not_stored(tmp_path: Path):
    trainer = Trainer([SMALL])
    trainer.advance(13)
    part = to_history(trainer)
    assert complete(part) == [False] and complete(train(SMALL)) == [True]
    assert RunStore(tmp_path).put(part) == 0 and names(tmp_path) == []


@pytest.mark.parametrize("damage", ["truncated", "empty", "newer", "other"])
def test_a_file_that_cannot_be_used_is_moved_aside_and_reported(
    tmp_path: Path, damage: str, capsys: pytest.CaptureFixture[str]
):
    store = RunStore(tmp_path)
    history = train(SMALL)
    store.put(history)
    path = store.path(SMALL)
    match damage:
        case "truncated":
            path.write_bytes(path.read_bytes()[:1000])
        case "empty":
            path.write_bytes(b"")
        case "newer":
            save_history(history.assign_attrs(format=99), path)
        case "other":
            save_history(train(SMALL.with_(seed=5)), path)
    before = path.read_bytes()
    capsys.readouterr()
    assert store.get(SMALL) is None
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 1 and lines[0].startswith(f"{path}: ") and "\n" not in lines[0]
    assert (tmp_path / f"{path.name}.damaged").read_bytes() == before
    store.put(history)
    assert SMALL in store
    path.write_bytes(b"again")
    assert store.get(SMALL) is None
    assert names(tmp_path) == [f"{path.name}.damaged", f"{path.name}.damaged2"]


# --- sweeps -------------------------------------------------------------------------------


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """Counts training steps, and interrupts the one whose number is ``stop``."""
    real, seen = AnalyticStep.__call__, {"count": 0, "stop": -1}

    def step(self: AnalyticStep, *args: Any, **named: Any) -> object:
        seen["count"] += 1
        if seen["count"] == seen["stop"]:
            raise KeyboardInterrupt
        return real(self, *args, **named)

    monkeypatch.setattr(AnalyticStep, "__call__", step)
    return seen


def test_a_sweep_is_what_train_returns_and_a_rerun_skips_what_is_done(
    tmp_path: Path, steps: dict[str, int]
):
    reference = train(SPECS)
    assert same(sweep(SPECS[:2], tmp_path), reference.isel(run=slice(2)))
    steps["count"] = 0
    history = sweep([*SPECS, SPECS[0]], tmp_path)
    assert steps["count"] == 2 * 21, "two of four runs were there"
    assert same(history.isel(run=slice(4)), reference)
    assert same(history.isel(run=[4]), reference.isel(run=[0]))
    assert history.weight_decay.values.tolist() == [0.5, 0.5, 2.0, 2.0, 0.5]
    assert names(tmp_path) == sorted(f"{spec_key(spec)}.nc" for spec in SPECS)
    sweep(SPECS, tmp_path)
    assert steps["count"] == 2 * 21


def test_an_interrupted_sweep_goes_on_in_the_middle_of_a_run(tmp_path: Path, steps: dict[str, int]):
    reference = train(SPECS)
    steps |= {"count": 0, "stop": 21 + 13}
    part = sweep(SPECS, tmp_path)
    assert part.attrs["interrupted"] == 1
    assert part.sizes["run"] == 2 and complete(part) == [True, False]
    assert len(list(tmp_path.glob("*.nc"))) == 1
    steps |= {"count": 0, "stop": -1}
    history = sweep(SPECS, tmp_path)
    assert steps["count"] == (21 - 12) + 2 * 21
    assert same(history, reference) and history.attrs["interrupted"] == 0
    assert not (tmp_path / "checkpoints").exists()


def test_a_damaged_run_is_trained_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    reference = sweep(SPECS[:2], tmp_path)
    RunStore(tmp_path).path(SPECS[1]).write_text("?")
    assert same(sweep(SPECS[:2], tmp_path), reference)
    assert "moved aside" in capsys.readouterr().out


def test_a_full_disk_stops_a_sweep_and_keeps_what_is_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    real = os.replace

    def full(old: Path, new: Path) -> None:
        if spec_key(SPECS[1]) in str(new):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        real(old, new)

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", full)
        with pytest.raises(OSError, match="No space left"):
            sweep(SPECS, tmp_path)
    assert names(tmp_path) == sorted([f"{spec_key(SPECS[0])}.nc", "checkpoints"])
    assert same(sweep(SPECS, tmp_path), train(SPECS))


def test_a_bad_job_costs_no_other_and_a_rerun_goes_past_it(
    tmp_path: Path, steps: dict[str, int], capsys: pytest.CaptureFixture[str]
):
    specs = [SPECS[0], SMALL.with_(task=Unbuildable()), *SPECS[1:]]
    for count in (4 * 21, 0):
        steps["count"] = 0
        with pytest.raises(RunsFailed, match=r"draws: got .*something else") as failed:
            sweep(specs, tmp_path)
        assert steps["count"] == count
        assert failed.value.history is not None and same(failed.value.history, train(SPECS))
        assert len(failed.value.failures) == 1
    assert len(list(tmp_path.glob("*.nc"))) == 4
    with pytest.raises(SettingError, match="draws: got"):
        sweep(specs[1:2], tmp_path)


@pytest.mark.parametrize(
    "change",
    [
        {"ticket": "nowhere.safetensors"},
        {"prior": "teacher", "teacher": "nowhere.safetensors"},
        {"batch_size": 500},
    ],
    ids=lambda change: list(change)[-1],
)
def test_what_is_known_to_fail_is_refused_before_the_first_run(
    tmp_path: Path, steps: dict[str, int], change: dict
):
    name = list(change)[-1]
    for run in (lambda specs: sweep(specs, tmp_path / "runs"), train):
        with pytest.raises(SettingError, match=f"^{name}: got"):
            run([*SPECS, SMALL.with_(**change)])
    assert steps["count"] == 0 and names(tmp_path) == []


def test_a_device_that_is_not_there_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("torch.cuda.device_count", lambda: 0)
    for device in ("cuda", "cuda:1", "tpu"):
        with pytest.raises(SettingError, match=f"device: got '{device}'; allowed: cpu"):
            sweep(SPECS, tmp_path, device=device)


def test_what_killed_sweeps_left_is_deleted_by_the_next(tmp_path: Path):
    sweep(SPECS[:1], tmp_path)
    checkpoints = tmp_path / "checkpoints"
    checkpoints.mkdir()
    done, begun = (checkpoints / f"{spec_key(spec)}.safetensors" for spec in SPECS[:2])
    for spec, path in zip(SPECS, (done, begun), strict=False):
        save_checkpoint(Trainer([spec]), path)
    drafts = [tmp_path / ".a.nc.0.part", checkpoints / ".b.safetensors.1.part"]
    for draft in drafts:
        draft.write_text("half")
        old = time.time() - 2 * STALE
        os.utime(draft, (old, old))
    sweep(SPECS[:1], tmp_path)
    assert names(tmp_path) == sorted([f"{spec_key(SPECS[0])}.nc", "checkpoints"])
    assert names(checkpoints) == [begun.name], "what is not yet stored stays"
    sweep(SPECS[:2], tmp_path)
    assert not checkpoints.exists()


def test_a_sweep_says_how_many_runs_diverged(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    specs = [SMALL, SMALL.with_(learning_rate=1e30, clip=float("inf"))]
    for _ in range(2):
        sweep(specs, tmp_path)
        assert "1 of 2 runs ended early: their loss was not finite" in capsys.readouterr().out


def test_without_a_stdout_and_a_stderr_all_is_the_same(monkeypatch: pytest.MonkeyPatch, tmp_path):
    """As under pythonw, or as a daemon."""
    reference = train(SPECS[:2])
    monkeypatch.setattr(sys, "stderr", None)
    monkeypatch.setattr(sys, "stdout", None)
    monkeypatch.setenv("TQDM_DISABLE", "0")
    assert same(sweep(SPECS[:2], tmp_path), reference)
    assert same(train(SPECS[:2], workers=2), reference)


def test_a_folder_that_cannot_be_written_to_is_found_before_the_work(
    tmp_path: Path, steps: dict[str, int]
):
    (tmp_path / "file").write_text("")
    place = tmp_path / "file" / "runs"
    with pytest.raises(SettingError, match=f"folder: got '{place}'; allowed: a folder to write"):
        sweep(SPECS, place)
    assert steps["count"] == 0


def test_workers_make_no_difference_to_a_sweep(tmp_path: Path):
    assert same(sweep(SPECS, tmp_path, workers=2), train(SPECS, workers=1))
    assert len(names(tmp_path)) == 4


def test_a_sweep_says_how_it_stands():
    jobs = plan(SPECS)
    said: list[tuple[int, str]] = []

    class Bar:
        def update(self, epochs: int) -> None:
            said.append((epochs, self.text))

        def set_postfix_str(self, text: str, refresh: bool = True) -> None:
            self.text = text

        def close(self) -> None:
            pass

    kept: list[xr.Dataset] = []
    with Collector(jobs, progress=False, keep=lambda job, one: kept.append(one)) as collector:
        collector._bar = Bar()
        history = train(SPECS[0])
        collector.progress(jobs[0], 15, 0.4)
        history.test_accuracy[0, -1] = 0.995
        collector.finished(jobs[0], history)
        collector.failed(jobs[1], ValueError("why"))
    assert said == [(15, "0/4 runs, 0 grokked"), (5, "1/4 runs, 1 grokked"), (20, said[2][1])]
    assert kept == [history]


@pytest.mark.parametrize("missing", [True, False])
def test_a_scheduler_that_cannot_be_had_is_one_line(
    missing: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    if missing:
        monkeypatch.setitem(sys.modules, "distributed", None)
        monkeypatch.delitem(sys.modules, "grokkit.runtime.cluster", raising=False)
        with pytest.raises(ModuleNotFoundError, match=r"pip install 'grokkit\[cluster\]'"):
            sweep(SPECS, tmp_path, scheduler="tcp://127.0.0.1:9")
    else:
        with pytest.raises(SettingError, match="workers: got 2"):
            sweep(SPECS, tmp_path, scheduler="tcp://127.0.0.1:9", workers=2)
    assert names(tmp_path) == []


# --- sweep files --------------------------------------------------------------------------


def test_a_sweep_file_is_a_grid_over_its_base(tmp_path: Path):
    path = tmp_path / "decay.toml"
    base, axes = 'preset = "live"\nepochs = 50', 'weight_decay = [0.5, 1.0]\nseed = "2 .. 4"'
    path.write_text(f"[base]\n{base}\n[grid]\n{axes}\n", encoding="utf-8")
    specs = load_sweep(path)
    assert specs == grid(presets["live"].with_(epochs=50), weight_decay=[0.5, 1.0], seed=[2, 3, 4])
    assert load_sweep(path)[0].settings()["p"] == presets["live"].settings()["p"]


def test_a_sweep_file_may_name_kinds():
    specs = sweep_specs({"base": {"task": "sparse_parity"}, "grid": {"optimizer": ["adamw"]}})
    assert [spec.settings()["task"] for spec in specs] == ["sparse_parity"]
    assert sweep_specs({"base": {}}) == [RunSpec()]


@pytest.mark.parametrize(
    ("plain", "field"),
    [
        ({}, "sweep"),
        ({"bas": {}}, "bas"),
        ({"grid": 3}, "grid"),
        ({"base": {"lernrate": 3}}, "lernrate"),
        ({"base": {"preset": "life"}}, "preset"),
        ({"base": {"preset": 3}}, "preset"),
        ({"grid": {"lernrate": [3]}}, "lernrate"),
        ({"grid": {"seed": 3}}, "seed"),
        ({"grid": {"seed": "a..b"}}, "seed"),
        ({"grid": {"seed": "4..2"}}, "seed"),
        ({"grid": {"seed": "0..99999999999"}}, "seed"),
        ({"grid": {"seed": "0..999", "weight_decay": [0.0] * 2000}}, "weight_decay"),
        ({"grid": {"seed": []}}, "seed"),
        ({"grid": {"epochs": [0]}}, "epochs"),
        ({"base": {"seed": 1}, "grid": {"seed": [1]}}, "seed"),
    ],
)
def test_a_sweep_file_that_makes_no_sense_is_refused_by_name(plain: dict, field: str):
    with pytest.raises(SettingError) as caught:
        sweep_specs(plain)
    assert caught.value.field == field


def test_a_range_that_runs_backwards_is_shown_as_it_was_written():
    with pytest.raises(SettingError, match=r"seed: got '4\.\.0'; allowed: the smaller .*0\.\.4"):
        sweep_specs({"grid": {"seed": "4..0"}})


def test_a_file_with_a_byte_order_mark_is_read(tmp_path: Path):
    path = tmp_path / "sweep.toml"
    path.write_text('[grid]\nseed = "0..1"\n', encoding="utf-8-sig")
    assert load_sweep(path) == grid(RunSpec(), seed=[0, 1])


def test_numbers_of_numpy_are_numbers():
    specs = grid(SMALL, seed=np.arange(2), weight_decay=np.array([0.5, 2.0], dtype=np.float32))
    assert specs == grid(SMALL, seed=[0, 1], weight_decay=[0.5, 2.0])
    assert SMALL.with_(positions=np.array([2, 0])) == SMALL.with_(positions=(2, 0))
    for spec in specs:
        assert RunSpec.from_json(spec.to_json()) == spec


def test_a_preset_that_is_not_there_is_refused_in_one_line():
    with pytest.raises(SettingError, match="preset: got 'x'; allowed: live, classroom"):
        presets["x"]
    assert presets.get("live") == presets["live"] and "x" not in presets


def test_a_file_that_is_no_toml_is_one_line(tmp_path: Path):
    path = tmp_path / "sweep.toml"
    with pytest.raises(FileNotFoundError, match="no such file"):
        load_sweep(path)
    path.write_text("[base\n")
    with pytest.raises(ValueError, match="not TOML") as caught:
        load_sweep(path)
    assert "\n" not in str(caught.value) and str(path) in str(caught.value)


def test_stored_histories_are_ordinary_ones(tmp_path: Path):
    sweep(SPECS[:1], tmp_path)
    assert same(load_history(tmp_path / f"{spec_key(SPECS[0])}.nc"), train(SPECS[0]))
