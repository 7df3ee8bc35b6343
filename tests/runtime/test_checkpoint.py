"""A run that was saved and resumed is the run that was never stopped."""

import errno
import json
import os
import resource
import time
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import save_file

import grokkit
from grokkit.engine import RunSpec, Trainer
from grokkit.engine.analytic_step import AnalyticStep
from grokkit.engine.files import STALE, write_whole
from grokkit.runtime import CheckpointError, train
from grokkit.runtime.checkpoint import FORMAT, HEADER, Keeper, load_checkpoint, save_checkpoint
from grokkit.runtime.history import to_history
from tests.engine.forged import forge
from tests.engine.small import SMALL, same

MODELS = {
    "analytic": SMALL,
    "autograd": SMALL.with_(attention="relu"),
    "float64": SMALL.with_(precision="float64", heads=2, output_projection=True),
}


def whole(*specs: RunSpec) -> Trainer:
    trainer = Trainer(specs)
    trainer.advance()
    return trainer


def equal(one: Trainer, other: Trainer) -> bool:
    """Everything but the seconds, bit for bit."""
    facts, tensors = one.state()
    other_facts, other_tensors = other.state()
    return (
        facts | {"seconds": 0} == other_facts | {"seconds": 0}
        and tensors.keys() == other_tensors.keys()
        and all(
            tensors[name].numpy().tobytes() == other_tensors[name].numpy().tobytes()
            for name in tensors
        )
        and same(to_history(one), to_history(other))
    )


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("epoch", [0, 1, 5, 13, 20])
@pytest.mark.parametrize("spec", MODELS.values(), ids=MODELS.keys())
def test_a_resumed_run_equals_an_uninterrupted_one(spec: RunSpec, epoch: int, tmp_path: Path):
    trainer = Trainer([spec])
    trainer.advance(epoch)
    path = save_checkpoint(trainer, tmp_path / "run.safetensors")
    resumed = load_checkpoint(path)
    assert resumed.epoch == epoch and resumed.seconds == trainer.seconds
    assert epoch == 0 or equal(resumed, trainer)
    resumed.advance()
    assert equal(resumed, whole(spec))


def test_a_group_keeps_which_runs_ended_and_why(tmp_path: Path):
    specs = [SMALL.with_(learning_rate=rate, clip=float("inf")) for rate in (1e30, 1e-2)]
    trainer = Trainer(specs)
    trainer.advance(12)
    assert list(trainer.records.messages) == [0]
    resumed = load_checkpoint(save_checkpoint(trainer, tmp_path / "group.safetensors"))
    resumed.advance()
    reference = whole(*specs)
    facts, other = resumed.state()[0], reference.state()[0]
    assert facts | {"seconds": 0} == other | {"seconds": 0}
    assert same(to_history(resumed), to_history(reference))
    assert resumed.final_weights().flat[1].equal(reference.final_weights().flat[1])


def test_a_checkpoint_opens_without_grokkit_and_says_what_it_is(tmp_path: Path):
    path = save_checkpoint(whole(SMALL), tmp_path / "run.safetensors")
    with safe_open(path, framework="pt") as file:
        header = json.loads(file.metadata()[HEADER])
        assert file.get_tensor("weights").shape[0] == 1
    assert header["format"] == FORMAT
    assert header["specs"] == [json.loads(SMALL.to_json())]
    assert header["torch"] == torch.__version__ and header["grokkit"] == grokkit.__version__


# --- files that are refused ---------------------------------------------------------------


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    trainer = Trainer([SMALL])
    trainer.advance(7)
    return save_checkpoint(trainer, tmp_path / "run.safetensors")


def refusal(path: Path, specs: list[RunSpec] | None = None) -> str:
    """The one line with which a file is refused; the file stays as it was."""
    before = path.read_bytes()
    with pytest.raises(CheckpointError) as caught:
        load_checkpoint(path, specs=specs)
    assert path.read_bytes() == before
    line = str(caught.value)
    assert line.startswith(f"{path}: ") and "\n" not in line
    return line


@pytest.mark.parametrize("share", [0.0, 0.001, 0.1, 0.5, 0.99, 0.9999])
def test_a_truncated_file_is_refused(saved: Path, share: float):
    data = saved.read_bytes()
    saved.write_bytes(data[: int(share * len(data))])
    assert "truncated" in refusal(saved)


def test_a_file_with_one_wrong_bit_is_refused(saved: Path):
    data = bytearray(saved.read_bytes())
    data[-100] ^= 4
    saved.write_bytes(data)
    assert "damaged" in refusal(saved)


def test_foreign_files_are_refused(tmp_path: Path):
    text, tensors = tmp_path / "text", tmp_path / "tensors"
    text.write_text("hello")
    save_file({"weights": torch.zeros(2)}, tensors)
    assert "no checkpoint of grokkit" in refusal(text)
    assert "no checkpoint of grokkit" in refusal(tensors)
    with pytest.raises(FileNotFoundError, match="no such file"):
        load_checkpoint(tmp_path / "none")


def change_header(path: Path, **changes: object) -> None:
    with safe_open(path, framework="pt") as file:
        header = json.loads(file.metadata()[HEADER])
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    forge(path, HEADER, header | changes, tensors)


def test_a_newer_format_is_refused_whatever_is_in_it(saved: Path):
    change_header(saved, format=FORMAT + 1, specs="?")
    line = refusal(saved)
    assert f"format {FORMAT + 1}" in line and f"up to {FORMAT}" in line


def test_a_kind_that_is_not_known_here_is_named(saved: Path):
    spec = SMALL.to_dict()
    spec["task"]["kind"] = "telepathy"
    change_header(saved, specs=[spec])
    assert "telepathy" in refusal(saved)


def test_an_optimizer_with_another_memory_is_refused(saved: Path):
    with safe_open(saved, framework="pt") as file:
        names = [name for name in file.keys() if name != "optimizer/square"]  # noqa: SIM118
        tensors = {name: file.get_tensor(name) for name in names}
        header = json.loads(file.metadata()[HEADER])
    forge(saved, HEADER, header, tensors)
    assert "'optimizer/square'" in refusal(saved)


@pytest.mark.parametrize(
    "change", [{"seed": 4}, {"weight_decay": 0.5}, {"p": 7}, {"heads": 2}, {"epochs": 40}]
)
def test_a_checkpoint_of_another_run_is_refused_by_the_setting_that_differs(
    saved: Path, change: dict[str, object]
):
    ((name, value),) = change.items()
    line = refusal(saved, [SMALL.with_(**change)])
    assert f"{name} is {SMALL.settings()[name]!r} there, {value!r} here" in line
    assert "1 runs, not of 2" in refusal(saved, [SMALL, SMALL])


# --- disks that are full ------------------------------------------------------------------


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_full_disk_is_an_error_and_the_last_checkpoint_is_intact(
    saved: Path, monkeypatch: pytest.MonkeyPatch
):
    before = saved.read_bytes()

    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    trainer = load_checkpoint(saved)
    trainer.advance(3)
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(OSError, match=r"could not be written \(No space left") as caught:
            save_checkpoint(trainer, saved)
    assert caught.value.errno == errno.ENOSPC and "intact" in str(caught.value)
    assert saved.read_bytes() == before and files(saved.parent) == [saved.name]
    trainer.advance()
    assert equal(trainer, whole(SMALL))


def test_a_limit_of_the_system_within_the_file_leaves_no_litter(saved: Path):
    """Half of the file is really written, then the system refuses more."""
    before = saved.read_bytes()
    trainer = whole(SMALL)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) // 2, hard))
    try:
        with pytest.raises(OSError, match="File too large"):
            save_checkpoint(trainer, saved)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert saved.read_bytes() == before and files(saved.parent) == [saved.name]


def test_train_stops_at_a_full_disk_and_goes_on_once_there_is_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    path = tmp_path / "run.safetensors"
    real, count = os.replace, 0

    def fill_up(*names: Path) -> None:
        nonlocal count
        count += 1
        if count > 6:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        real(*names)

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", fill_up)
        with pytest.raises(OSError, match="No space left"):
            train(SMALL, checkpoint=path, checkpoint_minutes=0.0)
    assert load_checkpoint(path).epoch == 6
    assert same(train(SMALL, checkpoint=path), train(SMALL))


def test_a_disk_that_is_full_at_the_end_does_not_cost_a_finished_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def full(*names: Path) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", full)
        history = train(SMALL, checkpoint=tmp_path / "run.safetensors")
    assert same(history, train(SMALL))


def test_what_killed_processes_left_is_swept_up_once_it_is_old(tmp_path: Path):
    old, new = tmp_path / ".run.ab.part", tmp_path / ".run.cd.part"
    other = tmp_path / ".other.ab.part"
    for path in (old, new, other):
        path.write_text("half")
    for path in (old, other):
        old_time = time.time() - 2 * STALE
        os.utime(path, (old_time, old_time))
    write_whole(tmp_path / "run", b"whole")
    assert files(tmp_path) == [".other.ab.part", ".run.cd.part", "run"]


# --- train(checkpoint=...) ----------------------------------------------------------------


def stop_at(monkeypatch: pytest.MonkeyPatch, call: int) -> list[int]:
    """Interrupts the training step at its ``call``-th call; counts the calls."""
    real, calls = AnalyticStep.__call__, [0]

    def step(self: AnalyticStep, *args: Any, **named: Any) -> object:
        calls[0] += 1
        if calls[0] == call:
            raise KeyboardInterrupt
        return real(self, *args, **named)

    monkeypatch.setattr(AnalyticStep, "__call__", step)
    return calls


@pytest.mark.parametrize("name", ["run.safetensors", "a/folder"])
def test_an_interrupted_run_goes_on_where_it_stopped(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    reference = train(SMALL)
    calls = stop_at(monkeypatch, 13)
    assert train(SMALL, checkpoint=tmp_path / name).attrs["interrupted"] == 1
    history = train(SMALL, checkpoint=tmp_path / name)
    assert same(history, reference) and history.attrs["interrupted"] == 0
    assert calls[0] == 13 + (21 - 12)
    assert same(train(SMALL, checkpoint=tmp_path / name), reference)
    assert calls[0] == 13 + (21 - 12), "a finished run is not trained again"


def test_several_runs_share_a_folder_but_not_a_file(tmp_path: Path):
    specs = [SMALL, SMALL.with_(seed=1)]
    train(specs, checkpoint=tmp_path / "runs")
    assert len(files(tmp_path / "runs")) == 2
    with pytest.raises(ValueError, match=r"checkpoint: got .*a folder, for 2 groups"):
        train(specs, checkpoint=tmp_path / "one.safetensors")
    with pytest.raises(ValueError, match=r"checkpoint_minutes: got -1\.0"):
        train(SMALL, checkpoint=tmp_path, checkpoint_minutes=-1.0)


def test_checkpoints_are_as_many_minutes_apart_as_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    clock, saves = [0.0], []
    monkeypatch.setattr("grokkit.runtime.checkpoint.time.monotonic", lambda: clock[0])
    monkeypatch.setattr(
        "grokkit.runtime.checkpoint.save_checkpoint", lambda now, path: saves.append(now.epoch)
    )
    keeper = Keeper(tmp_path / "run.safetensors", minutes=1.0)

    def half_a_minute_later(now: Trainer) -> None:
        clock[0] += 30
        keeper(now)

    trainer = Trainer([SMALL])
    trainer.advance(10, on_epoch=half_a_minute_later)
    keeper.save(trainer)
    assert saves == [2, 4, 6, 8, 10]
    trainer.advance()
    keeper.save(trainer)
    assert saves[5:] == [20]
