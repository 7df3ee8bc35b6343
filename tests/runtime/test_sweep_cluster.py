"""A sweep on a real Dask cluster: two worker processes, one of which is killed."""

import os
import signal
import threading
import time
from pathlib import Path

import pytest

from grokkit.engine import grid
from grokkit.errors import SettingError
from grokkit.runtime import RunsFailed, RunStore, spec_key, sweep, train
from grokkit.runtime.cluster import train_here
from grokkit.runtime.history import specs_of
from grokkit.runtime.jobs import Job
from tests.engine.small import SMALL, same
from tests.runtime.elsewhere import Unbuildable

distributed = pytest.importorskip("distributed")
pytestmark = pytest.mark.slow

SPECS = grid(SMALL.with_(epochs=200), seed=range(4))


@pytest.fixture(scope="module")
def cluster():
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with distributed.LocalCluster(processes=True, **options) as cluster:
        yield cluster


def test_a_worker_killed_in_mid_sweep_loses_no_finished_group(
    cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    stored: list[str] = []
    real = RunStore.put

    def put(self, history):
        stored.extend(spec_key(spec) for spec in specs_of(history))
        count = real(self, history)
        if len(stored) == 1:
            victim = next(iter(cluster.workers.values()))
            os.kill(victim.pid, signal.SIGKILL)
        return count

    monkeypatch.setattr(RunStore, "put", put)
    history = sweep(SPECS, tmp_path, scheduler=cluster.scheduler_address)
    assert sorted(stored) == sorted(spec_key(spec) for spec in SPECS), "each came back once"
    assert same(history, train(SPECS, workers=1))
    assert history.attrs["interrupted"] == 0
    # What is stored is not asked for again, not even of a scheduler that is gone.
    assert same(sweep(SPECS, tmp_path, scheduler="tcp://127.0.0.1:9"), history)


def test_a_setting_that_a_worker_refuses_is_told_as_it_is_here(cluster, tmp_path: Path):
    specs = [SMALL.with_(task=Unbuildable())]
    with pytest.raises(SettingError, match="draws: got"):
        sweep(specs, tmp_path, scheduler=cluster.scheduler_address)


def test_other_failures_cost_their_own_run(
    cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("grokkit.runtime.cluster.train_here", _broken_if_seed_1)
    with pytest.raises(RunsFailed, match=r"run 1 \(seed 1\)") as caught:
        sweep(SPECS[:3], tmp_path, scheduler=cluster.scheduler_address)
    assert caught.value.history is not None
    assert caught.value.history.seed.values.tolist() == [0, 2]


def _broken_if_seed_1(job: Job) -> dict:
    if job.specs[0].seed == 1:
        raise ModuleNotFoundError("no_such_module")
    return train_here(job)


def test_ctrl_c_returns_the_groups_that_have_come_back(cluster, tmp_path: Path):
    specs = [SMALL, SMALL.with_(epochs=10**7)]

    def interrupt() -> None:
        while not list(tmp_path.glob("*.nc")):
            time.sleep(0.05)
        time.sleep(0.3)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt, daemon=True).start()
    history = sweep(specs, tmp_path, scheduler=cluster.scheduler_address)
    assert history.attrs["interrupted"] == 1
    assert same(history, train(SMALL))
    # Nor do the workers go on with what nobody waits for.
    with distributed.Client(cluster, set_as_default=False) as client:
        deadline = time.monotonic() + 600
        while any(client.run(_at_work).values()) and time.monotonic() < deadline:
            time.sleep(0.2)
        assert not any(client.run(_at_work).values())


def _at_work(dask_worker) -> int:
    return dask_worker.state.executing_count


def test_where_no_scheduler_answers_is_one_line(tmp_path: Path, monkeypatch):
    monkeypatch.setattr("grokkit.runtime.cluster.TIMEOUT", 0.5)
    with pytest.raises(ConnectionError, match="no Dask scheduler answers at tcp://127"):
        sweep([SMALL], tmp_path, scheduler="tcp://127.0.0.1:9")
