"""One run into a folder: never lost, never mixed with another, and resumed by itself."""

import errno
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from grokkit.engine import Trainer
from grokkit.engine.files import locked
from grokkit.errors import SettingError
from grokkit.runtime import CheckpointError, load_history, train, train_into
from grokkit.runtime.checkpoint import save_checkpoint
from grokkit.runtime.history import complete
from tests.engine.small import SMALL, same

ROOT = Path(__file__).parents[2]
FOREVER = SMALL.with_(epochs=10**6)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def interrupt_at(monkeypatch: pytest.MonkeyPatch, epoch: int, number: int = signal.SIGINT) -> None:
    """A signal to this process, in the middle of an epoch."""
    real = Trainer._train

    def train_epoch(self: Trainer) -> None:
        real(self)
        if self.epoch == epoch:
            signal.raise_signal(number)

    monkeypatch.setattr(Trainer, "_train", train_epoch)


def test_the_folder_holds_the_run_and_nothing_else(tmp_path: Path):
    history = train_into(SMALL, tmp_path / "a" / "b")
    assert names(tmp_path / "a" / "b") == ["run.nc"]
    assert same(history, train(SMALL)) and same(load_history(tmp_path / "a" / "b"), history)


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_what_a_signal_ends_is_kept_and_the_same_call_goes_on(tmp_path, monkeypatch, name: str):
    before = signal.getsignal(getattr(signal, name))
    with monkeypatch.context() as patch:
        interrupt_at(patch, 12, getattr(signal, name))
        part = train_into(SMALL, tmp_path)
    assert signal.getsignal(getattr(signal, name)) == before
    assert part.attrs["interrupted"] == 1 and part.epoch.values.tolist() == [0, 5, 10]
    assert names(tmp_path) == ["run.nc", "run.safetensors"]
    with pytest.raises(SettingError, match=r"out: got .*a folder without run.nc"):
        train_into(SMALL.with_(seed=1), tmp_path)
    begun: list[int] = []
    with monkeypatch.context() as patch:
        patch.setattr(Trainer, "_train", recording(begun))
        whole = train_into(SMALL, tmp_path)
    assert begun == list(range(13, 20)), "the first epochs are not trained again"
    assert same(whole, train(SMALL)) and whole.attrs["interrupted"] == 0
    assert names(tmp_path) == ["run.nc"] and complete(load_history(tmp_path)) == [True]


def recording(epochs: list[int]):
    real = Trainer._train

    def train_epoch(self: Trainer) -> None:
        epochs.append(self.epoch)
        real(self)

    return train_epoch


def test_an_ignored_signal_stays_ignored(monkeypatch):
    """As under nohup."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        interrupt_at(monkeypatch, 12, signal.SIGHUP)
        assert train(SMALL).attrs["interrupted"] == 0
    finally:
        signal.signal(signal.SIGHUP, before)


def test_a_run_that_is_there_is_kept_unless_forced(tmp_path: Path):
    first = train_into(SMALL, tmp_path)
    for spec in (SMALL, SMALL.with_(seed=1)):
        with pytest.raises(SettingError, match="out: got"):
            train_into(spec, tmp_path)
        assert same(load_history(tmp_path), first)
    train_into(SMALL.with_(seed=1), tmp_path, force=True)
    assert load_history(tmp_path).seed.item() == 1


def test_a_checkpoint_of_another_run_is_kept_unless_forced(tmp_path: Path):
    checkpoint = save_checkpoint(Trainer([SMALL]), tmp_path / "run.safetensors")
    for damaged in (False, True):
        if damaged:
            checkpoint.write_bytes(b"?")
        before = checkpoint.read_bytes()
        with pytest.raises(CheckpointError):
            train_into(SMALL.with_(seed=1), tmp_path)
        assert checkpoint.read_bytes() == before
    train_into(SMALL.with_(seed=1), tmp_path, force=True)
    assert names(tmp_path) == ["run.nc"]


@pytest.mark.slow
def test_a_second_process_is_refused_until_the_first_has_ended_however_it_ended(tmp_path: Path):
    code = (
        "import sys; from pathlib import Path; from grokkit.runtime import train_into;"
        "from tests.runtime.test_into import FOREVER;"
        "train_into(FOREVER, sys.argv[1], checkpoint_minutes=0)"
    )
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    owner = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], env=environment, cwd=ROOT)
    try:
        while not (tmp_path / "run.safetensors").exists():
            assert owner.poll() is None
            time.sleep(0.05)
        for force in (False, True):
            with pytest.raises(SettingError, match="no other process") as refused:
                train_into(SMALL, tmp_path, force=force)
            assert str(tmp_path) in str(refused.value)
        with pytest.raises(SettingError, match=r"checkpoint: got .*no other process"):
            train(SMALL, checkpoint=tmp_path / "run.safetensors")
    finally:
        owner.kill()
        owner.wait()
    with pytest.raises(CheckpointError, match="epochs is 1000000 there, 20 here"):
        train_into(SMALL, tmp_path)
    assert same(train_into(SMALL, tmp_path, force=True), train(SMALL))


def test_a_lock_of_a_file_and_of_a_folder_leave_nothing_behind(tmp_path: Path):
    for path in (tmp_path, tmp_path / "run.safetensors"):
        with (
            locked("out", path),
            pytest.raises(SettingError, match="out: got"),
            locked("out", path),
        ):
            pass
        with locked("out", path):
            pass
    assert names(tmp_path) == []


def test_a_disk_that_is_full_at_the_end_loses_nothing(tmp_path: Path, monkeypatch):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    real = os.replace

    def full(old: Path, new: Path) -> None:
        if Path(new).name == "run.nc":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        real(old, new)

    monkeypatch.setattr(os, "replace", full)
    monkeypatch.setattr(tempfile, "gettempdir", lambda: str(elsewhere))
    with pytest.raises(OSError, match="No space left") as caught:
        train_into(SMALL, tmp_path / "out")
    (rescued,) = elsewhere.iterdir()
    line = str(caught.value)
    assert line.endswith(f"the History is in {rescued}") and "\n" not in line
    assert str(tmp_path / "out" / "run.nc") in line
    assert same(load_history(rescued), train(SMALL))
    assert names(tmp_path / "out") == ["run.safetensors"], "and it can be made again at once"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_to_is_found_before_the_work(tmp_path: Path):
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(SettingError, match=r"out: got .*; allowed: a folder to write to"):
            train_into(SMALL, tmp_path / "out")
    finally:
        tmp_path.chmod(0o700)


def test_a_folder_that_is_a_file_is_found_before_the_work(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(Trainer, "advance", lambda *_, **__: pytest.fail("trained"))
    (tmp_path / "file").write_text("")
    place = tmp_path / "file" / "out"
    with pytest.raises(SettingError, match=f"out: got '{place}'; allowed: a folder to write to"):
        train_into(SMALL, place)
    with pytest.raises(SettingError, match=r"checkpoint: got .*a folder to write to"):
        train(SMALL, checkpoint=place)


def test_a_folder_made_for_nothing_is_taken_away_again(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(Trainer, "advance", stop)
    with pytest.raises(KeyboardInterrupt):
        train_into(SMALL, tmp_path / "a" / "b")
    assert names(tmp_path) == []


def stop(*_: object, **__: object) -> None:
    raise KeyboardInterrupt
