"""No setting is ignored: each one changes the run, or is refused where it would not.

All kinds of all families are walked, and every field of each. A setting that shows only
beside another one is tried on a base that has the other.
"""

import dataclasses
import functools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
import xarray as xr

from grokkit.engine import RunSpec, Trainer, save_weights
from grokkit.engine.controls import Controls
from grokkit.engine.spec import FAMILIES
from grokkit.engine.ticket import Ticket, save_ticket
from grokkit.errors import SettingError
from grokkit.model import ModelSpec
from grokkit.runtime import train
from grokkit.tasks import SparseParity
from tests.engine.small import SMALL, same
from tests.kinds import grokkits

BASE = SMALL.with_(epochs=12, record_every=3)
LEARNS = RunSpec(
    task=SparseParity(bits=5, k=1), epochs=40, record_every=5, precision="float64"
).with_(d_model=8, d_mlp=16, learning_rate=0.03)

KINDS: dict[str, dict[str, dict[str, Any]]] = {
    "task": {
        "modular_addition": {"p": 5},
        "modular_subtraction": {"p": 5},
        "modular_multiplication": {"p": 5},
        "modular_division": {"p": 5},
        "modular_quadratic": {"p": 5},
        "k_operand_addition": {"p": 3, "length": 5},
        "longer_addition": {"p": 5, "length": 5, "longer": (6,), "train_fraction": 0.5},
        "marked_addition": {"p": 5},
        "sparse_parity": {"bits": 5, "k": 2},
        "permutation_composition": {"n": 3},
        "autoregressive_parity": {"bits": 5, "k": 2},
        "prime_field": {"p": 5, "length": 5, "distractors": "alphabet"},
    },
    "optimizer": {"adamw": {}, "adam": {}, "sgd": {}, "lion": {}, "muon": {}},
    "prior": {
        "kl": {"kl_strength": 0.1},
        "entropy": {},
        "sparsity": {},
        "teacher": {"teacher": "one"},
    },
    "accelerator": {"none": {}, "grokfast": {}, "orthogonal": {}},
}
"""A small base for every kind: what it needs beside BASE."""

CHANGES: dict[str, Any] = {
    # tasks
    "p": 7,
    "n": 4,
    "bits": 6,
    "k": 1,
    "length": 6,
    "longer": (7,),
    "positions": (1, 0),
    "distractors": "random",
    "alphabet": 2,
    "draws": 2,
    "examples": 20,
    "train_fraction": 0.7,
    "split": "unordered",
    "predict": "answer",
    "function": "xy",
    "hole": "strip",
    "hole_edge": 2,
    # the model
    "d_model": 12,
    "d_mlp": 13,
    "heads": 2,
    "attention": "relu",
    "readout": "residual",
    "output_projection": True,
    "init_scale": 2.0,
    "embedding_scale": 0.5,
    "norm": "A*",
    "norm_kind": "rms",
    "norm_eps": 0.1,
    "norm_affine": False,
    "readout_scale": 0.5,
    "layers": 2,
    "causal": True,
    "init": "lecun",
    "toeplitz_length": 2.0,
    "weight_streams": "one",
    # optimizers
    "learning_rate": 0.02,
    "weight_decay": 3.0,
    "warmup": 0,
    "clip": 0.01,
    "beta1": 0.5,
    "beta2": 0.9,
    "eps": 1e-3,
    "momentum": 0.5,
    "nesterov": False,
    "update_scale": "spectral",
    "muon_readout": True,
    # priors
    "kl_strength": 0.4,
    "entropy_strength": 0.4,
    "sparsity_strength": 0.4,
    "target": "adversarial",
    "teacher": "other",
    "schedule": "early",
    "schedule_epochs": 9,
    "penalty_gradient": "shuffled",
    "head_reduction": "summed",
    # accelerators
    "filter_decay": 0.5,
    "filter_gain": 1.0,
    # controls
    "mlp_radius": 3.0,
    "qk_penalty": 0.5,
    "ticket": "ticket",
    # the run
    "seed": 1,
    "epochs": 13,
    "batch_size": 5,
    "record_every": 4,
    "stop_after": 5,
    "precision": "float64",
    "features": True,
    "updates": True,
    "circuits": True,
}
"""For every setting that there is, another value."""

INSTEAD: dict[tuple[str, str], Any] = {
    ("k_operand_addition", "k"): 2,
    ("k_operand_addition", "p"): 4,
    ("k_operand_addition", "length"): 6,
    ("k_operand_addition", "positions"): (1, 0, 2),
    ("sparse_parity", "positions"): (0, 2),
    ("autoregressive_parity", "positions"): (0, 2),
    ("marked_addition", "length"): 7,
    ("longer_addition", "length"): 4,
}
"""Where a kind needs yet another one."""

BESIDE: dict[str, dict[str, Any]] = {
    "schedule": {"schedule": "annealed", "schedule_epochs": 5},
    "schedule_epochs": {"schedule": "early", "schedule_epochs": 5},
    "head_reduction": {"heads": 2},
    "hole": {"hole": "square", "hole_edge": 1},
    "hole_edge": {"hole": "square", "hole_edge": 1},
    "norm_kind": {"norm": "A*"},
    "norm_eps": {"norm": "A*"},
    "norm_affine": {"norm": "A*"},
    "layers": {"readout": "residual"},
    "causal": {"readout": "residual", "layers": 2},
}
"""What must be set on both sides for a setting to show."""


def own_settings() -> Iterator[tuple[str, str, str]]:
    """(part, kind, setting) for every setting of every part of a spec, and of the spec."""
    for family in FAMILIES:
        for kind, cls in grokkits(family).items():
            for field in dataclasses.fields(cls):
                yield family, kind, field.name
    for part, cls in (("model", ModelSpec), ("controls", Controls)):
        for field in dataclasses.fields(cls):
            yield part, "", field.name
    for field in dataclasses.fields(RunSpec):
        if field.name not in {*FAMILIES, "model", "controls"}:
            yield "run", "", field.name


@pytest.fixture(scope="module")
def teachers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Two files of weights with attention of their own, and a ticket."""
    folder: Path = tmp_path_factory.mktemp("teachers")
    made = {}
    for seed, name in enumerate(("one", "other")):
        for heads in (1, 2):
            trainer = Trainer([BASE.with_(seed=seed, heads=heads)])
            path = save_weights(trainer, folder / f"{name}{heads}.safetensors")
            made[f"{name}{heads}"] = str(path)
    ticket = Ticket({"W_Q": torch.eye(8, dtype=torch.bool)})
    return made | {"ticket": str(save_ticket(ticket, folder / "ticket.safetensors"))}


def base_of(part: str, kind: str) -> RunSpec:
    if part not in FAMILIES:
        return BASE
    return BASE.with_(**{part: FAMILIES[part][kind](**KINDS[part][kind])})


@functools.cache
def trained(spec: RunSpec) -> xr.Dataset:
    return train(spec)


def with_teacher(spec: RunSpec, teachers: dict[str, str]) -> RunSpec:
    if spec.controls.ticket is not None:
        spec = spec.with_(ticket=teachers["ticket"])
    name = spec.settings().get("teacher")
    return spec if name is None else spec.with_(teacher=teachers[f"{name}{spec.model.heads}"])


def test_every_setting_of_every_kind_is_tried():
    assert {family: set(kinds) for family, kinds in KINDS.items()} == {
        family: set(grokkits(family)) for family in FAMILIES
    }
    assert {name for _, _, name in own_settings()} == set(CHANGES)


@pytest.mark.parametrize(("part", "kind", "name"), list(own_settings()))
def test_it_changes_the_run(part, kind, name, teachers):
    base = LEARNS if name == "stop_after" else base_of(part, kind)
    base = base.with_(**BESIDE.get(name, {}))
    change = {name: INSTEAD.get((kind, name), CHANGES[name])}
    base, changed = with_teacher(base, teachers), with_teacher(base.with_(**change), teachers)
    assert changed != base
    assert not same(trained(base), train(changed))


@pytest.mark.parametrize(
    ("part", "kind"),
    [(part, kind) for part in FAMILIES for kind in KINDS[part] if kind != getattr(BASE, part).kind],
)
def test_so_does_every_kind(part, kind, teachers):
    changed = with_teacher(base_of(part, kind), teachers)
    assert not same(trained(BASE), trained(changed))


@pytest.mark.parametrize(
    ("settings", "refused"),
    [
        ({"distractors": "constant", "alphabet": 3}, "alphabet"),
        ({"distractors": "random", "alphabet": 3}, "alphabet"),
        ({"distractors": "constant", "draws": 2}, "draws"),
        ({"length": 3, "draws": 2}, "draws"),
        ({"length": 3, "alphabet": 2}, "alphabet"),
        ({"schedule": "annealed", "schedule_epochs": 5}, "schedule"),
        ({"heads": 2, "head_reduction": "summed"}, "head_reduction"),
        ({"target": "adversarial"}, "target"),
        ({"norm_kind": "rms"}, "norm_kind"),
        ({"norm_affine": False}, "norm_affine"),
    ],
)
def test_or_it_is_refused_where_it_would_do_nothing(settings, refused):
    with pytest.raises(SettingError) as problem:
        BASE.with_(**settings)
    assert problem.value.field == refused
