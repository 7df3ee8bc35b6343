"""Between records nothing waits for the device.

Under FakeTensorMode tensors have shapes and no values: whatever asks for a value, an
``.item()``, a ``bool()``, a ``nonzero()``, raises. So must a GPU never be asked.
"""

import dataclasses
from typing import Any

import pytest
import torch
from torch._subclasses import FakeTensorMode
from torch._subclasses.fake_tensor import DataDependentOutputException

from grokkit.engine import Trainer
from grokkit.model import Parameters
from grokkit.tasks import LongerAddition
from tests.engine.small import SMALL


class Faker:
    """Copies objects, with fake tensors for real ones; what is shared stays shared."""

    def __init__(self) -> None:
        self.mode = FakeTensorMode()
        self.made: dict[int, Any] = {}
        self.kept: list[Any] = []  # so that no id is used twice

    def __call__(self, thing: Any) -> Any:
        if id(thing) not in self.made:
            self.kept.append(thing)
            self.made[id(thing)] = self._copy(thing)
        return self.made[id(thing)]

    def _copy(self, thing: Any) -> Any:
        if isinstance(thing, torch.Tensor):
            return self.mode.from_tensor(thing.detach())
        if isinstance(thing, Parameters):
            flat = self(thing.flat)
            with self.mode:
                return Parameters(thing.layout, flat)
        if isinstance(thing, list | tuple):
            return type(thing)(map(self, thing))
        if isinstance(thing, dict):
            return {name: self(value) for name, value in thing.items()}
        if type(thing).__module__.startswith("grokkit"):
            if dataclasses.is_dataclass(thing) and not any(
                isinstance(value, torch.Tensor) or type(value).__module__.startswith("grokkit")
                for value in vars(thing).values()
            ):
                return thing  # settings
            copy = object.__new__(type(thing))
            self.made[id(thing)] = copy
            for name, value in vars(thing).items():
                object.__setattr__(copy, name, self(value))
            return copy
        return thing


SPECS = {
    "default": [SMALL, SMALL.with_(seed=1)],
    "prior, heads, W_O": [
        SMALL.with_(heads=2, output_projection=True, kl_strength=beta) for beta in (0.0, 0.5)
    ],
    "no clipping, no warm-up": [SMALL.with_(clip=float("inf"), warmup=0)],
    "longer": [SMALL.with_(task=LongerAddition(p=5, length=5, longer=(7,), train_fraction=0.5))],
    "muon, grokfast": [SMALL.with_(optimizer="muon", accelerator="grokfast")],
    "lion, orthogonal": [SMALL.with_(optimizer="lion", accelerator="orthogonal")],
    "sgd, controls": [SMALL.with_(optimizer="sgd", mlp_radius=3.0, qk_penalty=0.5)],
    "autograd": [SMALL.with_(readout="residual", attention="relu", kl_strength=0.5)],
}


@pytest.mark.parametrize("specs", SPECS.values(), ids=SPECS)
def test_step_watch_optimizer_and_probes_ask_for_no_value(specs):
    trainer = Trainer(specs)
    fake = Faker()
    twin = fake(trainer)
    with fake.mode:
        for record in (True, False):
            output = twin.step(0, record=record)
            twin._flag_nonfinite(output.loss)
            twin._update()
            if record:
                values = twin.probes(output)
    real = trainer.probes(trainer.step(0, record=True))
    assert {name: value.shape for name, value in values.items()} == {
        name: value.shape for name, value in real.items()
    }


def test_the_method_finds_a_hidden_question():
    trainer = Trainer([SMALL])
    fake = Faker()
    twin = fake(trainer)
    with fake.mode, pytest.raises(DataDependentOutputException):
        twin.step(0).loss.mean().item()
