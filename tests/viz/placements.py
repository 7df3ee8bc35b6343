"""A History of several placements of the LayerNorm, made without training."""

from collections.abc import Sequence

import numpy as np
import xarray as xr

from grokkit.engine import grid, presets

EPOCHS = np.arange(0, 4001, 50)
GROKS = {"M": 1000, "M+A*": 1400, "A^v": 2000, "A*": 2500, "none": 3000}
"""When seed 0 groks; seed 1 a hundred epochs later, and other placements at 3500."""


def placement_history(
    norms: Sequence[str] = ("none", "A^qk", "A^v", "A*", "M", "M+A*"), **settings: float
) -> xr.Dataset:
    """Two seeds of each, which memorise at 100."""
    base = presets["inductive-bias"].with_(p=7, epochs=4000, features=True, **settings)
    specs = grid(base, norm=norms, seed=range(2))
    names = [one.settings()["norm"] for one in specs]
    grok = np.array([GROKS.get(n, 3500) + 100 * s.seed for n, s in zip(names, specs, strict=True)])
    way = np.clip((EPOCHS - grok[:, None]) / 400 + 0.95, 0, 1)
    entropy = np.log(3) - (grok[:, None] / 4000) * np.clip(EPOCHS / 100, 0, 1)
    rank = 5 + 30 * np.clip(EPOCHS / 100, 0, 1) - 20 * way
    variables = {
        "train_accuracy": np.clip(EPOCHS / 100, 0, 1) + 0 * way,
        "test_accuracy": way,
        "map_entropy": entropy,
    }
    history = xr.Dataset(
        {name: (("run", "epoch"), values) for name, values in variables.items()},
        coords={"epoch": EPOCHS, "feature_set": ["train", "test"]},
    )
    both = np.stack([rank, rank - 1], axis=2)
    history["effective_rank"] = (("run", "epoch", "feature_set"), both)
    shape = (len(specs), len(EPOCHS), 4, 3)
    history["attention_mass"] = (("run", "epoch", "head", "pos"), np.full(shape, 1 / 3))
    runs = {
        "spec": np.array([one.to_json() for one in specs], dtype=object),
        "seed": np.array([one.seed for one in specs]),
        "norm": np.array(names),
        "ended": np.full(len(specs), EPOCHS[-1]),
        "message": np.array([""] * len(specs), dtype=object),
    }
    history.attrs = {"format": 1}
    return history.assign_coords({name: ("run", values) for name, values in runs.items()})
