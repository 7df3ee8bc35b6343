"""Jobs on the machines of a Dask cluster: ``pip install 'grokkit[cluster]'``.

Any scheduler will do. On two machines by hand, one thread a worker so that runs do not
share cores::

    dask scheduler                                         # prints its address
    dask worker tcp://10.0.0.1:8786 --nworkers 8 --nthreads 1      # on each machine
    grokkit sweep decay.toml --scheduler tcp://10.0.0.1:8786

Under SLURM ``dask-jobqueue`` submits the workers as batch jobs, and the sweep runs where
it was started, for example on the login node or in a small job of its own::

    from dask_jobqueue import SLURMCluster
    cluster = SLURMCluster(cores=8, processes=8, memory="16GB", walltime="04:00:00")
    cluster.scale(jobs=10)
    grokkit.runtime.sweep(specs, "runs/decay", scheduler=cluster.scheduler_address)

Workers need grokkit and no shared disk: a History comes back over the network as soon as
its group has ended, and is stored where the sweep was started. So a lost worker costs the
group it was at, which the scheduler gives to another; and a lost scheduler or a killed
sweep costs no finished group.
"""

import logging
import secrets
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch

from grokkit.engine.interrupts import endings_as_interrupts
from grokkit.errors import SettingError
from grokkit.runtime.collector import Collector
from grokkit.runtime.history import from_parts
from grokkit.runtime.jobs import Job, JobFailed, reason, train_job

try:
    from distributed import Client, as_completed, get_worker
except ModuleNotFoundError as missing:
    needed = "a sweep on a cluster needs Dask: pip install 'grokkit[cluster]'"
    raise ModuleNotFoundError(needed, name=missing.name) from missing

TIMEOUT = 20.0
"""The seconds in which a scheduler has to answer."""

PATIENCE = 1.0
"""The seconds after which a worker looks whether its result is still wanted."""


def on_cluster(jobs: Sequence[Job], watch: Collector, address: str) -> bool:
    """Train jobs on the workers of a Dask scheduler; returns whether that was interrupted.

    An interrupt gives up the groups that are being trained; so does a scheduler that is
    lost, and these are told to ``watch`` as failed.

    Raises:
        ConnectionError: no scheduler answers at the address.
    """
    try:
        client = Client(address, timeout=TIMEOUT, set_as_default=False)
    except (OSError, ValueError) as problem:
        raise ConnectionError(f"no Dask scheduler answers at {address}") from problem
    with _client_silent(), client, endings_as_interrupts():
        # Keys of its own: a result of another sweep is never mistaken for ours.
        sweep = secrets.token_hex(4)
        futures = {
            client.submit(train_here, job, key=f"grokkit-{sweep}-{job.first}"): job for job in jobs
        }
        # Results are fetched the moment they are there, and not when they are asked for:
        # until then they are in the memory of a worker that may be lost.
        arriving = as_completed(
            list(futures), with_results=True, raise_errors=False, loop=client.loop
        )
        try:
            for future, result in arriving:
                _handle_result(result, futures.pop(future), watch)
        except KeyboardInterrupt:
            client.cancel(list(futures))
            return True
    return False


def _handle_result(result: Any, job: Job, watch: Collector) -> None:
    # The result itself says so, and not the status of its future: by now the worker may
    # be lost that it came from, and the future pending once more.
    if isinstance(result, dict):
        watch.finished(job, from_parts(result))
        return
    # What the worker raised with its type and traceback, or that it is gone.
    problem = result[1] if isinstance(result, tuple) else result
    known = isinstance(problem, SettingError)
    watch.failed(job, problem if known else JobFailed(reason(problem)))


@contextmanager
def _client_silent() -> Iterator[None]:
    """Keep Dask's client from logging the traceback of a lost scheduler, which we report."""
    log = logging.getLogger("distributed.client")
    before = log.level
    log.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        log.setLevel(before)


def train_here(job: Job) -> dict[str, Any]:
    """What a Dask worker does: train one job, and return the parts of its History.

    It stops once nobody waits for the result any more, because the sweep was interrupted
    or killed: Dask by itself lets a task run to its end.
    """
    # For good: were a second job to end in this process, it would set the number back.
    torch.set_num_threads(1)
    worker = get_worker()
    key = worker.get_current_task()
    looked = time.monotonic()

    def stop_if_unwanted() -> None:
        nonlocal looked
        if time.monotonic() - looked > PATIENCE:
            looked = time.monotonic()
            task = worker.state.tasks.get(key)
            if task is None or task.state == "cancelled":
                raise KeyboardInterrupt

    parts, interrupted = train_job(job, on_epoch=stop_if_unwanted)
    if parts is None or interrupted:
        raise RuntimeError("interrupted")
    return parts
