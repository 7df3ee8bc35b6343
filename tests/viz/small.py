"""A History of three short runs, made without training."""

import numpy as np
import xarray as xr

from grokkit.training import RunSpec, grid

EPOCHS = np.arange(0, 1025, 25)


def small_history(runs: int = 3) -> xr.Dataset:
    """Each memorises at 100 and groks, the later the higher its seed."""
    specs = grid(RunSpec().with_(p=7, train_fraction=0.5, epochs=1000), seed=range(runs))
    rise = [np.interp(EPOCHS, [0, 100], [0, 1]) for _ in specs]
    late = [np.interp(EPOCHS, [300 + 100 * i, 500 + 100 * i], [0, 1]) for i in range(runs)]
    fall = [np.interp(EPOCHS, [0, 100, 200, 400], [0.9, 0.4, 0.4, 0.0]) for _ in specs]
    decay = [np.exp(-EPOCHS / 200) for _ in specs]
    mass = 1 - np.array(fall)[:, :, None, None]
    names = {
        "train_accuracy": rise,
        "test_accuracy": late,
        "mirrored_accuracy": rise,
        "unmirrored_accuracy": late,
        "train_loss": decay,
        "test_loss": [3 - 2 * one for one in late],
        "kl": fall,
        "informative_mass": mass[:, :, 0, 0],
        "mlp_norm": [20 + 10 * one for one in decay],
        "score_gradient": decay,
        "W_QK_gradient": decay,
    }
    history = xr.Dataset(
        {name: (("run", "epoch"), np.array(values)) for name, values in names.items()},
        coords={"epoch": EPOCHS},
    )
    bars = np.concatenate([mass / 2, 0 * mass, mass / 2, 1 - mass, 0 * mass], axis=3)
    history["attention_mass"] = (("run", "epoch", "head", "pos"), bars)
    spec = np.array([one.to_json() for one in specs], dtype=object)
    message = np.array([""] * runs, dtype=object)
    return history.assign_coords(
        spec=("run", spec), seed=("run", np.arange(runs)), message=("run", message)
    )
