"""Runs whose curves are drawn by hand: what a judge says of them is known."""

from collections.abc import Mapping, Sequence

import numpy as np
import xarray as xr

from grokkit.experiments import Evidence, Part
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


def drawn(arms: Mapping[str, Mapping[str, list[float]]]) -> Evidence:
    """Arms with one seed each, and a value for each of :data:`EPOCHS`; else the usual one."""
    base = field("classroom").with_(epochs=int(EPOCHS[-1]), stop_after=None)
    specs = {name: [base.with_(d_mlp=64 + place)] for place, name in enumerate(arms)}
    runs = []
    for name, curves in arms.items():
        data = {}
        for variable, values in {**USUAL, **curves}.items():
            axis, place = AXES.get(variable, ("", ""))
            one = xr.DataArray(np.array([values]), dims=("run", "epoch"))
            data[variable] = one.expand_dims({axis: [place]}, axis=2) if axis else one
        (spec,) = specs[name]
        runs.append(
            xr.Dataset(data, coords={"epoch": EPOCHS}).assign_coords(
                spec=("run", np.array([spec.to_json()], dtype=object)),
                seed=("run", [spec.seed]),
                ended=("run", [EPOCHS[-1]]),
            )
        )
    joined = xr.concat(runs, "run")
    assert isinstance(joined, xr.Dataset)
    return Evidence(joined, specs)


def outcomes(parts: Sequence[Part]) -> list[bool | None]:
    """What each part found of the one seed."""
    assert all(len(part.outcomes) == 1 for part in parts)
    return [part.outcomes[0] for part in parts]
