"""A run that takes a moment, and what it means for two runs to be the same."""

from typing import Any

import numpy as np
import xarray as xr

from grokkit.engine import RunSpec, Trainer
from grokkit.tasks import ModularAddition

SMALL = RunSpec(task=ModularAddition(p=5, train_fraction=0.5), epochs=20, record_every=5).with_(
    d_model=8, d_mlp=12, learning_rate=0.01
)


def bits(array: Any) -> bytes:
    return np.ascontiguousarray(array).tobytes()


def same(one: xr.Dataset, other: xr.Dataset) -> bool:
    """Every variable has the same type, shape, axes, and bits."""
    if set(one.data_vars) != set(other.data_vars) or bits(one.epoch) != bits(other.epoch):
        return False
    return all(
        one[name].dtype == other[name].dtype
        and one[name].sizes == other[name].sizes
        and bits(one[name]) == bits(other[name])
        for name in one.data_vars
    )


def plain_watched_and_resumed(spec: RunSpec, looks: str) -> tuple[Trainer, Trainer, Trainer]:
    """A run without some instruments, the same with them, and that one resumed at epoch 5."""
    plain, watched, resumed = (
        Trainer([spec.with_(**{looks: False})]),
        *(Trainer([spec]) for _ in "12"),
    )
    watched.advance(5)
    facts, tensors = watched.state()
    resumed.load_state(facts, {name: value.clone() for name, value in tensors.items()})
    for trainer in (plain, watched, resumed):
        trainer.advance()
    return plain, watched, resumed
