"""Runs whose curves are drawn by hand: what a judge says of them is known."""

from collections.abc import Mapping, Sequence

import numpy as np
import xarray as xr

from grokkit.experiments import Evidence, Part, Row
from grokkit.experiments.uniformity import field

EPOCHS = np.array([0, 100, 200, 300, 400])

USUAL: Mapping[str, list[float]] = {
    "train_loss": [1.0, 0.1, 0.1, 0.1, 0.1],
    "train_accuracy": [0.0, 1.0, 1.0, 1.0, 1.0],
    "test_accuracy": [0.0, 0.1, 0.2, 0.6, 1.0],
}
"""Memorised at 100, half right at 300, all at 400."""

AXES: Mapping[str, tuple[str, str]] = {
    "med": ("order", "natural"),
    "best_med": ("order", "natural"),
    "best_med_null": ("order", "natural"),
    "effective_rank": ("feature_set", "train"),
    "alpha": ("feature_set", "train"),
    "extra_accuracy": ("extra", "hole"),
    "extra_mirrored_accuracy": ("extra", "hole"),
    "extra_unmirrored_accuracy": ("extra", "hole"),
}
"""The further axis of a variable, and its one place."""


Curve = list[float] | xr.DataArray
"""A value for each of :data:`EPOCHS`; with further axes than :data:`AXES` has, an array."""


def drawn(
    arms: Mapping[str, Mapping[str, Curve]],
    cut: Mapping[str, int] | None = None,
    epochs: np.ndarray = EPOCHS,
) -> Evidence:
    """Arms with one seed each, and a value for each of :data:`EPOCHS`; else the usual one.

    Args:
        arms: the curves of each arm.
        cut: by arm, the epoch that its run was cut short at.
        epochs: those of the records, if others than the usual.
    """
    base = field("classroom").with_(epochs=int(epochs[-1]), stop_after=None)
    specs = {name: [base.with_(d_mlp=64 + place)] for place, name in enumerate(arms)}
    runs = []
    for name, curves in arms.items():
        data = {variable: _one_run(variable, v) for variable, v in {**USUAL, **curves}.items()}
        (spec,) = specs[name]
        ended = (cut or {}).get(name, int(epochs[-1]))
        one = xr.Dataset(data, coords={"epoch": epochs})
        one = one.where(one.epoch <= ended).assign_coords(
            spec=("run", np.array([spec.to_json()], dtype=object)),
            seed=("run", [spec.seed]),
            ended=("run", [ended]),
            learning_rate=("run", [spec.optimizer.learning_rate]),
            weight_decay=("run", [spec.optimizer.weight_decay]),
            mirror_rate=("run", [0.5]),
        )
        runs.append(one)
    joined = xr.concat(runs, "run")
    assert isinstance(joined, xr.Dataset)
    return Evidence(joined, specs)


def _one_run(variable: str, values: Curve) -> xr.DataArray:
    if isinstance(values, xr.DataArray):
        return values.expand_dims("run")
    axis, place = AXES.get(variable, ("", ""))
    one = xr.DataArray(np.array([values]), dims=("run", "epoch"))
    return one.expand_dims({axis: [place]}, axis=2) if axis else one


def judged(row: Row, name: str, runs: Evidence) -> list[bool | None]:
    """What each part of a row's claim found of the one seed."""
    (claim,) = (claim for claim in row.claims if claim.id == f"{row.name}/{name}")
    return outcomes(claim.judge(runs))


def outcomes(parts: Sequence[Part]) -> list[bool | None]:
    """What each part found of the one seed."""
    assert all(len(part.outcomes) == 1 for part in parts)
    return [part.outcomes[0] for part in parts]
