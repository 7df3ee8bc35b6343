"""Wherever runs are trained, they are the same runs; and what was trained is never lost."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import xarray as xr

from grokkit.engine import KLPrior, RunSpec, grid, register_prior
from grokkit.engine.interrupts import interrupts_counted
from grokkit.engine.priors import priors
from grokkit.errors import SettingError
from grokkit.runtime import RunsFailed, run, train
from grokkit.runtime import executors as module
from grokkit.runtime.collector import Collector
from grokkit.runtime.executors import cores, in_this_process, in_workers
from grokkit.runtime.jobs import Job, reason
from grokkit.runtime.kinds import why_not_remote
from grokkit.runtime.run import choose_executor, plan
from tests.engine.small import SMALL, same
from tests.runtime.elsewhere import Elsewhere, Unbuildable

pytestmark = pytest.mark.slow  # they start worker processes

ROOT = Path(__file__).parents[2]
FOREVER = SMALL.with_(epochs=10**6)


def jobs(*specs: RunSpec) -> list[Job]:
    return plan(specs)


class Notes(Collector):
    """A collector that remembers; ``on_progress`` is called with each job that reports."""

    def __init__(self, on_progress: Callable[[Job], None] = lambda job: None) -> None:
        super().__init__([], progress=False)
        self.on_progress = on_progress
        self.histories: dict[int, xr.Dataset] = {}
        self.failures: dict[int, str] = {}

    def progress(self, job: Job, epoch: int, accuracy: float) -> None:
        assert 0 <= epoch <= job.specs[0].epochs and 0 <= accuracy <= 1
        self.on_progress(job)

    def finished(self, job: Job, history: xr.Dataset) -> None:
        self.histories[job.first] = history

    def failed(self, job: Job, problem: Exception) -> None:
        self.failures[job.first] = reason(problem)


@pytest.fixture
def crew(monkeypatch: pytest.MonkeyPatch) -> Iterator[list]:
    """The worker processes that the test starts; none of them is left at its end."""
    started: list = []
    real = module._Worker

    def start(events: object, job: Job) -> object:
        started.append(real(events, job))  # pyright: ignore[reportArgumentType]
        return started[-1]

    monkeypatch.setattr(module, "_Worker", start)
    yield started
    assert all(process.process.poll() is not None for process in started)


# --- worker processes ---------------------------------------------------------------------


def test_side_by_side_or_one_after_the_other_makes_no_difference(crew: list):
    specs = [
        SMALL.with_(seed=3),
        SMALL.with_(attention="relu", precision="float64"),
        SMALL.with_(prior=Elsewhere(kl_strength=0.5)),
        SMALL.with_(clip=float("inf"), learning_rate=1e30),
        SMALL.with_(stop_after=0, heads=2),
    ]
    together, alone = train(specs, workers=2), train(specs, workers=1)
    assert len(crew) == 2, "two workers take turns at five runs"
    assert same(together, alone)
    assert together.drop_attrs(deep=False).identical(alone.drop_attrs(deep=False))
    assert together.attrs | {"seconds": 0} == alone.attrs | {"seconds": 0}


def test_a_group_of_several_runs_is_one_job(crew: list):
    group = Job((SMALL, SMALL.with_(seed=1)), first=4)
    assert group.name == "runs 4-5" and group.epochs == 40
    here, there = Notes(), Notes()
    in_this_process([group], here)
    in_workers([group], there, 1)
    assert same(here.histories[4], there.histories[4])


def test_a_killed_worker_costs_its_own_run_only(crew: list):
    def kill(job: Job) -> None:
        for process in crew:
            if process.job is job and job.first == 0:
                os.kill(process.process.pid, signal.SIGKILL)

    notes = Notes(kill)
    specs = [FOREVER, *(SMALL.with_(seed=seed) for seed in range(1, 5))]
    assert in_workers(jobs(*specs), notes, 2) is False
    assert sorted(notes.histories) == [1, 2, 3, 4]
    assert "killed by signal 9" in notes.failures[0]
    assert len(crew) <= 3


def test_train_names_the_run_that_failed_and_returns_the_others(
    crew: list, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    specs = [SMALL, SMALL.with_(seed=1)]
    bad = plan(specs, checkpoint=tmp_path)[1].checkpoint
    assert bad is not None
    bad.write_text("not a checkpoint")
    with pytest.raises(RunsFailed) as caught:
        train(specs, workers=2, checkpoint=tmp_path)
    assert list(caught.value.failures) == ["run 1 (seed 1)"]
    assert caught.value.history is not None and same(caught.value.history, train(SMALL))
    assert "run 1 (seed 1): CheckpointError: " in str(caught.value)
    assert "\n" not in str(caught.value)
    assert "CheckpointError" in capsys.readouterr().out


@pytest.mark.parametrize("workers", [1, 2])
def test_a_job_that_fails_when_it_is_built_is_one_failed_job(crew: list, workers: int):
    specs = [SMALL, SMALL.with_(task=Unbuildable()), SMALL.with_(seed=1)]
    with pytest.raises(SettingError) as alone:
        train(specs[1])
    with pytest.raises(RunsFailed) as together:
        train(specs, workers=workers)
    assert together.value.failures == {"run 1 (seed 0)": str(alone.value)}
    assert together.value.history is not None
    assert together.value.history.seed.values.tolist() == [0, 1]
    with pytest.raises(SettingError) as all_of_them:
        train([specs[1], specs[1].with_(seed=1)], workers=workers)
    assert str(all_of_them.value) == str(alone.value)


def test_workers_that_cannot_start_are_an_error_at_once(
    crew: list, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(module, "_START", "raise SystemExit('no room here')")
    with pytest.raises(RuntimeError, match=r"do not start here: .*no room here"):
        train([SMALL, FOREVER], workers=2)


# --- Ctrl-C -------------------------------------------------------------------------------


@pytest.mark.skipif(os.name == "nt", reason="Windows has no process groups to signal")
def test_ctrl_c_in_a_plain_script_returns_what_its_workers_trained(tmp_path: Path):
    """As from a terminal: the signal goes to the whole process group."""
    script = subprocess.Popen(
        [sys.executable, "-m", "tests.runtime.unguarded", str(tmp_path), "1000000"],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    while script.poll() is None and len(list(tmp_path.glob("*.safetensors"))) < 2:
        time.sleep(0.02)
    os.killpg(script.pid, signal.SIGINT)
    out, err = script.communicate(timeout=600)
    assert script.returncode == 0, err
    interrupted, runs, epoch = map(int, out.split())
    assert interrupted == 1 and runs == 2 and 0 < epoch < 10**6
    assert "Traceback" not in err


def test_a_stopped_kernel_keeps_finished_and_unfinished_runs(crew: list):
    asked: list[Job] = []

    def stop(job: Job) -> None:
        # Once: a busy worker may report again before it stops, and a second Ctrl-C does not wait.
        if job.first == 2 and not asked:
            asked.append(job)
            signal.raise_signal(signal.SIGINT)

    notes = Notes(stop)
    assert in_workers(jobs(SMALL, SMALL.with_(seed=1), FOREVER, SMALL), notes, 1) is True
    assert sorted(notes.histories) == [0, 1, 2]
    assert not notes.failures
    reference = train(FOREVER.with_(epochs=1, record_every=5)).isel(epoch=[0])
    assert float(notes.histories[2].train_loss[0, 0]) == float(reference.train_loss[0, 0])


def test_a_second_ctrl_c_does_not_wait(crew: list):
    def stop(job: Job) -> None:
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        in_workers(jobs(FOREVER), Notes(stop), 1)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_in_this_process_an_interrupt_waits_for_the_end_of_an_epoch():
    def stop(job: Job) -> None:
        if job.first == 1:
            signal.raise_signal(signal.SIGINT)

    notes = Notes(stop)
    assert in_this_process(jobs(SMALL, FOREVER, SMALL), notes) is True
    assert sorted(notes.histories) == [0, 1]
    with interrupts_counted() as seen:
        signal.raise_signal(signal.SIGINT)
    assert seen.count == 1


# --- which executor -----------------------------------------------------------------------


@pytest.fixture
def in_notebook():
    """A prior that a notebook cell has registered."""

    @register_prior("in_notebook")
    @dataclass(frozen=True)
    class InNotebook(KLPrior):
        pass

    InNotebook.__module__ = "__main__"
    yield InNotebook
    del priors._members["in_notebook"]


def test_a_kind_of_the_notebook_is_trained_in_the_notebook(
    in_notebook: type[KLPrior], capsys: pytest.CaptureFixture[str]
):
    specs = grid(SMALL.with_(prior=in_notebook(0.5)), seed=[0, 1])
    assert why_not_remote([SMALL]) is None
    assert choose_executor(jobs(*specs), 2) is in_this_process
    line = capsys.readouterr().out
    assert "'in_notebook' is defined in __main__" in line and line.count("\n") == 1
    assert choose_executor(jobs(*specs), None) is in_this_process
    assert capsys.readouterr().out == ""


def test_workers_are_used_where_they_pay(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(run, "cores", lambda: 3)
    long = SMALL.with_(epochs=10**6)
    choices = {
        "one run": choose_executor(jobs(long), None),
        "short runs": choose_executor(jobs(*[SMALL] * 9), None),
        "asked not to": choose_executor(jobs(*[long] * 9), 1),
    }
    assert all(choice is in_this_process for choice in choices.values()), choices
    many: Any = choose_executor(jobs(*[long] * 9), None)
    assert many.func is in_workers and many.keywords == {"count": 3}
    few: Any = choose_executor(jobs(SMALL, SMALL), 5)
    assert few.func is in_workers and few.keywords == {"count": 2}


@pytest.mark.parametrize("workers", [0, -1])
def test_no_workers_are_refused(workers: int):
    with pytest.raises(SettingError, match=f"workers: got {workers}"):
        train([SMALL, SMALL], workers=workers)


def test_a_gpu_takes_no_workers():
    with pytest.raises(SettingError, match="workers: got 2; allowed: 1 on a GPU"):
        choose_executor([Job((SMALL, SMALL), device="cuda")], 2)
    assert choose_executor([Job((SMALL, SMALL), device="cuda")], None) is in_this_process


@pytest.mark.usefixtures("unchecked")
def test_what_is_no_run_is_refused():
    for nothing in ([], "live", [SMALL, 3]):
        with pytest.raises(SettingError, match=r"specs: got .*; allowed: a RunSpec"):
            train(nothing)  # pyright: ignore[reportArgumentType]


def test_at_least_one_core_is_counted():
    assert 1 <= cores() <= (os.cpu_count() or 1)
