"""A History of the row three-accounts in which every signal moves when it is told to."""

from collections.abc import Mapping

import numpy as np
import xarray as xr

from grokkit import experiments
from grokkit.experiments.signals import BASE, SIGNALS
from grokkit.experiments.three_accounts import NO_DECAY, TOLD, TRAPPED

EPOCHS = np.arange(0, 9001, 100)
MEMORISED = 300

BASELINE: Mapping[str, int] = {
    "KL": 2000,
    "entropy": 2500,
    "effective rank": 3000,
    "alpha": 3500,
    "best step": 4000,
    "Fourier": 4500,
    "norm": 4800,
    "unseen pairs": 5000,
}
"""When each signal is half-way in the baseline: a ramp from 200 epochs before to 200 after."""

FROM_TO: Mapping[str, tuple[float, float]] = {
    "KL": (0.4, 0.0),
    "entropy": (1.1, 0.7),
    "effective rank": (20.0, 10.0),
    "alpha": (3.0, 2.0),
    "best step": (0.95, 0.8),
    "Fourier": (0.1, 1.0),
    "norm": (40.0, 30.0),
    "unseen pairs": (0.0, 1.0),
}
"""What the signals go from, and to."""


def staged(
    dates: Mapping[str, Mapping[str, int]] | None = None,
    far: Mapping[str, Mapping[str, float]] | None = None,
    late: Mapping[int, Mapping[str, int]] | None = None,
    seeds: int = 5,
) -> xr.Dataset:
    """All arms: baseline and KL 1 grok, the controls stay where memorising left them.

    Args:
        dates: by arm, other epochs at which signals are half-way.
        far: by control, what share of the baseline's way a signal goes; 0 by default.
        late: by seed, how many epochs later than told a signal of the baseline is.
        seeds: how many there are.
    """
    row = experiments.row("three-accounts")
    runs = []
    for arm, specs in row.arms(seeds=range(seeds)).items():
        for seed, spec in enumerate(specs):
            when = {**BASELINE, **((dates or {}).get(arm, {}))}
            if arm == BASE:
                when = {n: d + (late or {}).get(seed, {}).get(n, 0) for n, d in when.items()}
            shares = dict.fromkeys(SIGNALS, 1.0)
            if arm in (NO_DECAY, TRAPPED):
                shares = {n: (far or {}).get(arm, {}).get(n, 0.0) for n in SIGNALS}
            assert arm in (BASE, TOLD, NO_DECAY, TRAPPED)
            runs.append(one_run(spec, when, shares))
    joined = xr.concat(runs, "run")
    assert isinstance(joined, xr.Dataset)
    return row.label(joined)


def one_run(spec, when: Mapping[str, int], shares: Mapping[str, float]) -> xr.Dataset:
    data: dict[str, xr.DataArray] = {}
    for name, signal in SIGNALS.items():
        start, end = FROM_TO[name]
        # Half a record behind, so that the record at the date is the first beyond the mark.
        ramp = np.interp(EPOCHS, [when[name] - 250, when[name] + 150], [0, 1])
        values = start + shares[name] * (end - start) * ramp
        dims, shape = ["run", "epoch"], [1, len(EPOCHS)]
        coords = {}
        for axis, place in signal.at.items():
            dims.append(axis)
            shape.append(1)
            coords[axis] = [place]
        data[signal.variable] = xr.DataArray(values.reshape(shape), dims=dims, coords=coords)
    null = xr.full_like(data["best_med"], 0.9)
    known = np.interp(EPOCHS, [0, MEMORISED], [0.0, 0.99])[None]
    unseen = data["unmirrored_accuracy"].values
    history = xr.Dataset(data | {"best_med_null": null}, coords={"epoch": EPOCHS}).assign(
        train_accuracy=(("run", "epoch"), known),
        test_accuracy=(("run", "epoch"), unseen),
        mirrored_accuracy=(("run", "epoch"), known),
        train_loss=(("run", "epoch"), 1 - known),
    )
    return history.assign_coords(
        spec=("run", np.array([spec.to_json()], dtype=object)),
        seed=("run", [spec.seed]),
        ended=("run", [EPOCHS[-1]]),
    )
