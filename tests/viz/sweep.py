"""A History of a sweep of the KL prior's strength, made without training."""

import numpy as np
import xarray as xr

from grokkit.engine import RunSpec, grid

EPOCHS = np.arange(0, 4001, 50)
BETAS = (0.0, 0.01, 0.1, 1.0)


def sweep_history(betas: tuple[float, ...] = BETAS, seeds: int = 2, **settings) -> xr.Dataset:
    """Groks at 1000 + 20/beta + 100 seed, at 3800 without; attention arrives in 5 + 4/beta."""
    spec = RunSpec().with_(p=7, train_fraction=0.5, epochs=4000, **settings)
    specs = grid(spec, kl_strength=betas, seed=range(seeds))
    accuracy, kl = [], []
    for one in specs:
        beta, late = one.settings()["kl_strength"], 100 * one.seed
        grok = (1000 + 20 / beta if beta else 3800) + late
        arrival = 5 + 4 / beta if beta else 3000
        accuracy.append(np.clip((EPOCHS - grok) / 400 + 0.95, 0, 1))
        kl.append(0.9 * np.exp(-EPOCHS * np.log(0.9 / 0.223) / arrival))
    variables = {
        "train_accuracy": np.minimum(np.array(accuracy) + 0.5, 1),
        "test_accuracy": np.array(accuracy),
        "kl": np.array(kl),
    }
    history = xr.Dataset(
        {name: (("run", "epoch"), values) for name, values in variables.items()},
        coords={"epoch": EPOCHS},
    )
    shape = (len(specs), len(EPOCHS), 1, 5)
    history["attention_mass"] = (("run", "epoch", "head", "pos"), np.full(shape, 0.2))
    runs = {
        "spec": np.array([one.to_json() for one in specs], dtype=object),
        "seed": np.array([one.seed for one in specs]),
        "kl_strength": np.array([one.settings()["kl_strength"] for one in specs]),
        "learning_rate": np.full(len(specs), specs[0].optimizer.learning_rate),
        "weight_decay": np.full(len(specs), specs[0].optimizer.weight_decay),
        "ended": np.full(len(specs), EPOCHS[-1]),
        "message": np.array([""] * len(specs), dtype=object),
    }
    history.attrs = {"format": 1}
    return history.assign_coords({name: ("run", values) for name, values in runs.items()})
