"""Ctrl-C keeps what was trained, at whatever moment it comes."""

import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from grokkit.engine import Trainer
from grokkit.engine.interrupts import interrupts_held
from grokkit.runtime import train
from grokkit.runtime.history import to_history
from grokkit.tasks import ModularAddition
from tests.engine.small import SMALL, same

pytestmark = pytest.mark.slow  # they start processes, and interrupt them

ROOT = Path(__file__).parents[2]


def child(*arguments: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "tests.runtime.interrupted", *arguments],
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )


@pytest.mark.skipif(os.name == "nt", reason="Windows sends no SIGINT to one process")
def test_interrupted_at_random_moments_a_history_is_a_prefix_of_the_whole_one():
    rounds, chance = 4, random.Random(0)
    outcomes = []
    with child("keep", str(rounds)) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if line.strip() == "ready":
                time.sleep(chance.uniform(0, 0.2))
                process.send_signal(signal.SIGINT)
            else:
                outcomes.append(line.strip())
    assert process.returncode == 0
    assert len(outcomes) == rounds
    assert "different" not in outcomes
    assert sum(outcome.startswith("kept") for outcome in outcomes) >= rounds / 2


@pytest.mark.skipif(os.name == "nt", reason="Windows sends no SIGINT to one process")
def test_a_trainer_interrupted_again_and_again_equals_the_uninterrupted_one():
    chance = random.Random(1)
    stops = []
    with child("go on") as process:
        assert process.stdout is not None
        for line in process.stdout:
            if line.strip() == "ready" and len(stops) < 8:
                time.sleep(chance.uniform(0, 0.03))
                process.send_signal(signal.SIGINT)
            elif line.startswith("at epoch"):
                stops.append(int(line.split()[-1]))
            elif line.strip() in ("equal", "different"):
                outcome = line.strip()
    assert process.returncode == 0
    assert outcome == "equal"
    assert len(stops) > 3 and stops == sorted(stops)


def test_an_interrupt_between_records_keeps_all_records_so_far():
    trainer = Trainer([SMALL])

    def stop(now: Trainer) -> None:
        if now.epoch == 10:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        trainer.advance(on_record=stop)
    assert to_history(trainer).epoch.values.tolist() == [0, 5, 10]
    trainer.advance()
    whole = Trainer([SMALL])
    whole.advance()
    assert same(to_history(trainer), to_history(whole))


@pytest.mark.parametrize("at", range(5))
def test_an_interrupt_at_any_record_is_continued_without_a_difference(at):
    """The last record too: there the run must be over, and not go on for ever."""
    whole, trainer = Trainer([SMALL]), Trainer([SMALL])
    whole.advance()
    seen = []

    def stop(now: Trainer) -> None:
        seen.append(now.epoch)
        if len(seen) == at + 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        trainer.advance(on_record=stop)
    trainer.advance(on_record=stop)
    assert seen == [0, 5, 10, 15, 20]
    assert same(to_history(trainer), to_history(whole))


def interrupt_at(monkeypatch: pytest.MonkeyPatch, seed: int, epoch: int) -> None:
    """A real SIGINT to this process, in the middle of an epoch of one run."""
    from grokkit.engine.analytic_step import AnalyticStep

    real = AnalyticStep.__call__
    record = Trainer._record_if_due
    now = {}

    def step(self, now_at, record=False):
        output = real(self, now_at, record)
        if now["trainer"].specs[0].seed == seed and now_at == epoch:
            signal.raise_signal(signal.SIGINT)
        return output

    def remember(self):
        now["trainer"] = self
        return record(self)

    monkeypatch.setattr(AnalyticStep, "__call__", step)
    monkeypatch.setattr(Trainer, "_record_if_due", remember)


def test_train_returns_what_there_is_and_says_so(monkeypatch):
    whole = train(SMALL)
    assert whole.attrs["interrupted"] == 0
    interrupt_at(monkeypatch, seed=0, epoch=13)
    part = train(SMALL)
    assert part.attrs["interrupted"] == 1
    assert part.epoch.values.tolist() == [0, 5, 10]
    assert part.ended.item() == 10
    assert same(part, whole.isel(epoch=slice(3)))


def test_an_interrupt_while_a_record_is_made_keeps_that_record(monkeypatch):
    interrupt_at(monkeypatch, seed=0, epoch=10)
    part = train(SMALL)
    assert part.epoch.values.tolist() == [0, 5, 10]
    assert all(part[name].notnull().all() for name in part.data_vars)


def test_runs_that_were_complete_stay_complete(monkeypatch):
    specs = [SMALL, SMALL.with_(seed=1), SMALL.with_(seed=2)]
    whole = train(specs, workers=1)
    interrupt_at(monkeypatch, seed=1, epoch=8)
    part = train(specs, workers=1)
    assert part.attrs["interrupted"] == 1
    assert part.seed.values.tolist() == [0, 1]
    assert same(part.isel(run=[0]), whole.isel(run=[0]))
    assert part.ended.values.tolist() == [20, 5]
    assert part.train_loss[1].isnull().values.tolist() == [False, False, True, True, True]


def test_an_interrupt_while_the_next_run_is_being_built_keeps_the_ones_before(monkeypatch):
    whole = train(SMALL)
    real = ModularAddition.build

    def build(self, seed):
        if seed == 1:
            signal.raise_signal(signal.SIGINT)
        return real(self, seed)

    monkeypatch.setattr(ModularAddition, "build", build)
    part = train([SMALL, SMALL.with_(seed=1), SMALL.with_(seed=2)], workers=1)
    assert part.attrs["interrupted"] == 1
    assert part.ended.values.tolist()[0] == 20
    assert 2 not in part.seed.values
    assert same(part.isel(run=[0]), whole)


def test_nothing_trained_yet_is_an_ordinary_interrupt(monkeypatch):
    def build(self, seed):
        raise KeyboardInterrupt

    monkeypatch.setattr(ModularAddition, "build", build)
    with pytest.raises(KeyboardInterrupt):
        train(SMALL)


def test_a_held_interrupt_comes_at_the_end_of_the_block():
    done = []
    with pytest.raises(KeyboardInterrupt):
        with interrupts_held():
            signal.raise_signal(signal.SIGINT)
            done.append("the rest")
        done.append("never reached")
    assert done == ["the rest"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_whoever_handled_interrupts_before_handles_the_held_one():
    came = []
    before = signal.signal(signal.SIGINT, lambda *seen: came.append("mine"))
    try:
        with interrupts_held():
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGINT)
            assert not came
        assert came == ["mine"]
    finally:
        signal.signal(signal.SIGINT, before)


def test_training_in_another_thread_leaves_signals_alone():
    outcome = []
    thread = threading.Thread(target=lambda: outcome.append(train(SMALL)))
    thread.start()
    thread.join()
    assert same(outcome[0], train(SMALL))
