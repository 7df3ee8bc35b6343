"""The History of runs on images: the same dataset that every other run leaves.

An ``xarray.Dataset`` with dims (run, epoch), the same names for the same records
(``train_accuracy``, ``test_loss``, ...) and each run's spec as JSON, so that
:mod:`grokkit.diagnostics.phases` can read it and :func:`grokkit.runtime.save_history` can
keep it. The spec is an :class:`ImageSpec`, so :func:`image_specs_of` reads it back.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from grokkit.images.spec import ImageSpec
from grokkit.images.trainer import MEANING, ImageTrainer
from grokkit.runtime.history import FORMAT, run_coordinates
from grokkit.runtime.outcome import provenance

if TYPE_CHECKING:
    import xarray as xr


def to_image_history(trainers: Sequence[ImageTrainer]) -> "xr.Dataset":
    """The History of some runs, as far as they have been trained.

    After the end of a run its values are ``nan``, as they are at epochs that only others
    have recorded.

    Args:
        trainers: one for each run, each with one record at least.
    """
    import xarray as xr

    epochs = sorted({epoch for one in trainers for epoch in one.epochs})
    place = {epoch: i for i, epoch in enumerate(epochs)}
    variables: dict[str, Any] = {}
    for name, meaning in MEANING.items():
        values = np.full((len(trainers), len(epochs)), np.nan)
        for run, one in enumerate(trainers):
            values[run, [place[epoch] for epoch in one.epochs]] = one.records[name]
        variables[name] = (("run", "epoch"), values, {"meaning": meaning})
    per_run: dict[str, Any] = {
        # Objects, as netCDF gives them back: fixed-width strings would not survive a round trip.
        "message": np.array([one.message for one in trainers], dtype=object),
        "ended": np.array([one.epochs[-1] for one in trainers], dtype=np.int64),
        "mirror_rate": np.array([one.data.mirror_rate for one in trainers]),
        "answerable": np.array([one.data.answerable for one in trainers]),
        "n_train": np.array([len(one.train) for one in trainers]),
        "n_test": np.array([len(one.test) for one in trainers]),
    }
    dataset = xr.Dataset(variables, coords={"epoch": np.array(epochs, dtype=np.int64)})
    dataset = dataset.assign_coords(run_coordinates([one.spec for one in trainers]))
    dataset = dataset.assign_coords({name: ("run", values) for name, values in per_run.items()})
    seconds = sum(one.seconds for one in trainers)
    dataset.attrs = {
        "format": FORMAT,
        **provenance(trainers[0].device, gradient="autograd", seconds=seconds),
    }
    return dataset


def image_specs_of(history: "xr.Dataset") -> list[ImageSpec]:
    """The spec of every run of a History of :func:`grokkit.images.train_images`."""
    return [ImageSpec.from_json(str(one)) for one in np.atleast_1d(history.spec.values)]
