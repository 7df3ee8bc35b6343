"""A History of three short runs, and embeddings over epochs, made without training."""

import math

import numpy as np
import torch
import xarray as xr

from grokkit.diagnostics.uniformity import token_uniformity
from grokkit.engine import RunSpec, grid
from grokkit.runs.embedding_paths import EmbeddingPath
from grokkit.tasks import PrimeField

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


def small_path(p: int = 11, k: int = 3, epochs: int = 5) -> EmbeddingPath:
    """Random at first, at the end a circle of radius 2 that is gone round k times."""
    random = torch.randn(p, 16, generator=torch.Generator().manual_seed(0))
    angle = 2 * math.pi * k / p * torch.arange(p)
    circle = torch.zeros(p, 16)
    circle[:, 4], circle[:, 7] = 2 * angle.cos(), 2 * angle.sin()
    way = torch.linspace(0, 1, epochs)
    table = (1 - way).view(-1, 1, 1) * random + way.view(-1, 1, 1) * circle
    spec = RunSpec().with_(task=PrimeField("x+y", p=p, train_fraction=0.5))
    med = token_uniformity(table, shuffles=1).med.float()
    return EmbeddingPath(spec, 100 * torch.arange(epochs), way, med, table)
