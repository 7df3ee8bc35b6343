"""What the caller has set in torch changes no run, and is there again afterwards."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import pytest
import torch

from grokkit.engine import Trainer
from grokkit.engine.memory import bytes_per_run, check_memory
from grokkit.engine.precision import MATMUL_UNITS
from grokkit.errors import SettingError
from tests.engine.small import SMALL

CPU = torch.device("cpu")
RUNS = [
    SMALL.with_(epochs=3, record_every=1, kl_strength=0.5),
    SMALL.with_(epochs=3, record_every=1, readout="residual", norm="post", features=True),
    SMALL.with_(epochs=3, record_every=1, task="marked_addition", init="lecun", batch_size=10),
    SMALL.with_(epochs=3, record_every=1, precision="float64", toeplitz_length=2.0),
]


@contextmanager
def during(change: Callable[[], object], back: Callable[[], object]) -> Iterator[None]:
    change()
    try:
        yield
    finally:
        back()


def matmul(name: str) -> AbstractContextManager[None]:
    return during(
        lambda: torch.set_float32_matmul_precision(name),
        lambda: torch.set_float32_matmul_precision("highest"),
    )


def new_style(value: str) -> AbstractContextManager[None]:
    before = [unit.fp32_precision for unit in MATMUL_UNITS]

    def put(values: list[str]) -> None:
        for unit, one in zip(MATMUL_UNITS, values, strict=True):
            unit.fp32_precision = one

    return during(lambda: put([value] * 2), lambda: put(before))


CALLERS = {
    "float64": lambda: during(
        lambda: torch.set_default_dtype(torch.float64),
        lambda: torch.set_default_dtype(torch.float32),
    ),
    "no_grad": torch.no_grad,
    "inference": torch.inference_mode,
    "autocast": lambda: torch.autocast("cpu", torch.bfloat16),
    "medium": lambda: matmul("medium"),
    "tf32": lambda: new_style("tf32"),
    "device": lambda: torch.device("meta"),
    "threads": lambda: during(lambda: torch.set_num_threads(3), lambda: torch.set_num_threads(1)),
}


def trained(spec) -> dict[str, torch.Tensor]:
    trainer = Trainer([spec])
    trainer.advance()
    records = {name: torch.stack(values) for name, values in trainer.records.values.items()}
    return {"weights": trainer.final_weights().flat, **records}


def settings() -> list[object]:
    return [
        torch.get_default_dtype(),
        torch.get_default_device(),
        torch.get_num_threads(),
        torch.is_grad_enabled(),
        torch.is_inference_mode_enabled(),
        torch.is_autocast_enabled("cpu"),
        *(unit.fp32_precision for unit in MATMUL_UNITS),
    ]


@pytest.mark.parametrize("spec", RUNS, ids=["analytic", "autograd", "minibatches", "float64"])
@pytest.mark.parametrize("caller", CALLERS)
def test_the_callers_settings_change_nothing_and_stay(caller, spec):
    expected = trained(spec)
    with CALLERS[caller]():
        before = settings()
        found = trained(spec)
        assert settings() == before
    assert found.keys() == expected.keys()
    for name, value in found.items():
        assert value.dtype == expected[name].dtype
        torch.testing.assert_close(value, expected[name], rtol=0, atol=0, equal_nan=True)


def test_old_and_new_names_of_the_precision_can_both_be_read_afterwards():
    with matmul("medium"):
        trained(RUNS[0])
        assert torch.get_float32_matmul_precision() == "medium"
    assert torch.get_float32_matmul_precision() == "highest"


def test_a_run_larger_than_the_memory_is_refused_before_it_starts(monkeypatch):
    data = SMALL.task.build(0)
    need = bytes_per_run(SMALL, data)
    monkeypatch.setattr("grokkit.engine.memory.total_memory", lambda device: 3 * need)
    check_memory(SMALL, data, 3, CPU)
    with pytest.raises(SettingError, match=r"^memory: got 'about .* GiB for 4 x .* classes'"):
        check_memory(SMALL, data, 4, CPU)
    monkeypatch.setattr("grokkit.engine.memory.total_memory", lambda device: need - 1)
    with pytest.raises(SettingError, match=r"^memory: "):
        Trainer([SMALL])


def test_classes_count():
    """The paper's preset at p = 997 has 15 GiB of logits and hidden units."""
    from grokkit.tasks import ModularAddition

    small, large = (SMALL.with_(task=ModularAddition(p=p)) for p in (53, 97))
    examples = (97 / 53) ** 2
    assert bytes_per_run(large) > 1.3 * examples * bytes_per_run(small)
