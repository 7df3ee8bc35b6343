"""No setting is ignored: each one changes the run, or is refused where it would not."""

import dataclasses

import pytest

from grokkit.errors import SettingError
from grokkit.model import ModelSpec
from grokkit.tasks import ModularAddition, SparseParity
from grokkit.training import AdamW, KLPrior, RunSpec, train
from tests.training.small import SMALL, same

BASE = SMALL.with_(epochs=12, record_every=3, kl_strength=0.1)
LEARNS = RunSpec(
    task=SparseParity(bits=5, k=1), epochs=40, record_every=5, precision="float64"
).with_(d_model=8, d_mlp=16, learning_rate=0.03)

CHANGES = {
    # the task
    "task": "modular_quadratic",
    "p": 7,
    "length": 6,
    "positions": (1, 0),
    "distractors": "random",
    "alphabet": 2,
    "draws": 2,
    "train_fraction": 0.7,
    "split": "unordered",
    # the model
    "model": ModelSpec(d_model=8, d_mlp=4),
    "d_model": 12,
    "d_mlp": 13,
    "heads": 2,
    "attention": "relu",
    "readout": "residual",
    "output_projection": True,
    "init_scale": 2.0,
    "embedding_scale": 0.5,
    # the optimizer
    "optimizer": AdamW(learning_rate=0.5),
    "learning_rate": 0.02,
    "weight_decay": 3.0,
    "warmup": 0,
    "clip": 0.01,
    "beta1": 0.5,
    "beta2": 0.9,
    "eps": 1e-3,
    # the prior
    "prior": KLPrior(2.0),
    "kl_strength": 0.0,
    # the run
    "seed": 1,
    "epochs": 13,
    "record_every": 4,
    "stop_after": 5,
    "precision": "float64",
}


def test_the_list_is_complete():
    parts = (ModularAddition, ModelSpec, AdamW, KLPrior, RunSpec)
    assert set(CHANGES) == {field.name for part in parts for field in dataclasses.fields(part)}


@pytest.mark.parametrize("name", CHANGES)
def test_it_changes_the_run(name):
    base = LEARNS if name == "stop_after" else BASE
    changed = base.with_(**{name: CHANGES[name]})
    assert changed != base
    assert not same(train(base), train(changed))


@pytest.mark.parametrize(
    ("settings", "refused"),
    [
        ({"distractors": "constant", "alphabet": 3}, "alphabet"),
        ({"distractors": "random", "alphabet": 3}, "alphabet"),
        ({"distractors": "constant", "draws": 2}, "draws"),
        ({"length": 3, "draws": 2}, "draws"),
        ({"length": 3, "alphabet": 2}, "alphabet"),
    ],
)
def test_or_it_is_refused_where_it_would_do_nothing(settings, refused):
    with pytest.raises(SettingError) as problem:
        BASE.with_(**settings)
    assert problem.value.field == refused
