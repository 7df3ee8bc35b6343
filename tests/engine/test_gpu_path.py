"""The path for a GPU, as far as a CPU can tell: the same runs, the same numbers.

What cannot be tried here is the card itself; everything around it can.
"""

import gc
import weakref

import pytest
import torch

from grokkit.engine import RunSpec, Trainer, capture, grid
from grokkit.engine.capture import WARM_UP
from grokkit.engine.memory import bytes_per_run, runs_that_fit
from grokkit.engine.precision import master_dtype, pinned, rounded_product
from grokkit.errors import SettingError
from grokkit.runtime.history import to_history
from grokkit.runtime.run import groups
from tests.engine.small import SMALL, same

CPU = torch.device("cpu")
CUDA = torch.device("cuda")


# --- capture ------------------------------------------------------------------------------

CAPTURABLE = {
    "plain": SMALL,
    "prior": SMALL.with_(kl_strength=0.3),
    "controls": SMALL.with_(qk_penalty=0.1, mlp_radius=4.0),
    "stops": SMALL.with_(stop_after=0, p=5, train_fraction=0.9),
    "diverges": SMALL.with_(learning_rate=1e30),
}
NOT_CAPTURABLE = {
    "minibatches": SMALL.with_(batch_size=5),
    "accelerator": SMALL.with_(accelerator="grokfast"),
    "autograd": SMALL.with_(readout="residual"),
    "schedule": SMALL.with_(kl_strength=0.3, schedule="early", schedule_epochs=7),
}


def count_replays(monkeypatch) -> list[int]:
    """Let a CPU pass for a device whose epochs are captured; the list grows by replays."""
    replays: list[int] = []

    def pretend(work, device):
        def replay():
            replays.append(1)
            work()

        return replay

    monkeypatch.setattr(capture, "CAPTURED", {"cpu"})
    monkeypatch.setattr(capture, "capture", pretend)
    return replays


@pytest.mark.parametrize("name", CAPTURABLE)
def test_a_replayed_run_is_the_run_bit_for_bit(name, monkeypatch):
    spec = CAPTURABLE[name].with_(epochs=40, record_every=6)
    plain = Trainer([spec])
    plain.advance()
    replays = count_replays(monkeypatch)
    replayed = Trainer([spec])
    replayed.advance()
    assert same(to_history(replayed), to_history(plain))
    assert torch.equal(replayed.weights.flat, plain.weights.flat) or name == "diverges"
    if name == "plain":
        # 7 of 40 epochs have a record, and the first few were trained as usual.
        assert len(replays) == 40 - 7 - WARM_UP


def test_a_replayed_run_in_pieces_is_the_run_bit_for_bit(monkeypatch):
    spec = SMALL.with_(epochs=30, record_every=7)
    plain = Trainer([spec])
    plain.advance()
    count_replays(monkeypatch)
    pieces, seen = Trainer([spec]), []
    for epochs in (1, 2, 9, 5, None):
        pieces.advance(epochs, on_epoch=lambda now: seen.append(now.epoch))
    assert same(to_history(pieces), to_history(plain))
    assert seen == list(range(1, 31))


def test_a_trainer_is_gone_as_soon_as_nobody_holds_it():
    """Groups are planned with the whole memory of a device: the last one must not linger."""
    gc.disable()
    try:
        trainer = Trainer([SMALL.with_(epochs=8, record_every=6)])
        trainer.advance()
        gone = weakref.ref(trainer)
        del trainer
        assert gone() is None
    finally:
        gc.enable()


@pytest.mark.parametrize("name", NOT_CAPTURABLE)
def test_what_changes_from_epoch_to_epoch_is_not_captured(name, monkeypatch):
    replays = count_replays(monkeypatch)
    Trainer([NOT_CAPTURABLE[name].with_(epochs=15, record_every=6)]).advance()
    assert replays == []


# --- precision ----------------------------------------------------------------------------


def test_weights_are_never_below_single_precision():
    assert master_dtype("float64") is torch.float64
    assert {master_dtype("float32"), master_dtype("tf32"), master_dtype("bf16")} == {torch.float32}


def test_a_rounded_product_rounds_its_factors_only():
    stream = torch.Generator().manual_seed(0)
    left = torch.randn(2, 30, 40, generator=stream)
    right = torch.randn(2, 40, 5, generator=stream)
    out = rounded_product(left, right, torch.empty(2, 30, 5))
    exact = left.bfloat16().double() @ right.bfloat16().double()
    assert torch.allclose(out.double(), exact, rtol=1e-5, atol=1e-5)
    assert not torch.allclose(out.double(), left.double() @ right.double(), rtol=1e-4)


def test_a_bf16_gradient_is_near_the_exact_one_and_the_loss_stays_exact():
    spec = SMALL.with_(epochs=300)
    exact, rounded = Trainer([spec]), Trainer([spec.with_(precision="bf16")])
    loss = exact.step(0).loss.clone(), rounded.step(0).loss
    error = torch.linalg.vector_norm(exact.weights.flat_grad - rounded.weights.flat_grad)
    assert 0 < error < 0.02 * torch.linalg.vector_norm(exact.weights.flat_grad)
    assert torch.allclose(*loss, rtol=0.02)
    rounded.advance()
    assert rounded.weights.flat.dtype is torch.float32
    assert rounded.records.values["train_accuracy"][-1].item() > 0.9


def test_bf16_is_refused_where_autograd_is_needed_and_tf32_on_a_cpu():
    with pytest.raises(SettingError, match=r"precision: got 'bf16'; allowed: .*autograd"):
        Trainer([SMALL.with_(precision="bf16", readout="residual")])
    with pytest.raises(SettingError, match=r"precision: got 'tf32'; allowed: .*CPU"):
        Trainer([SMALL.with_(precision="tf32")])


def test_tf32_is_switched_for_the_training_and_then_back():
    products = torch.backends.cuda.matmul
    before = products.fp32_precision
    with pinned("tf32", CUDA):
        assert products.fp32_precision == "tf32"
        with pinned("float32", CUDA):
            assert products.fp32_precision == "ieee"
        assert products.fp32_precision == "tf32"
    assert products.fp32_precision == before


# --- groups -------------------------------------------------------------------------------


def test_a_gpu_takes_all_runs_that_differ_in_numbers_at_once(monkeypatch):
    monkeypatch.setattr("grokkit.runtime.run.runs_that_fit", lambda spec, device: 100)
    specs = [*grid(SMALL, weight_decay=[0.5, 1.0], seed=range(3)), SMALL.with_(p=7)]
    assert [len(group) for group in groups(specs, CUDA)] == [6, 1]
    assert [len(group) for group in groups(specs, CPU)] == [1] * 7


def test_no_group_is_larger_than_the_memory(monkeypatch):
    monkeypatch.setattr("grokkit.runtime.run.runs_that_fit", lambda spec, device: 4)
    specs = grid(SMALL, seed=range(10))
    parts = groups(specs, CUDA)
    assert [len(part) for part in parts] == [4, 4, 2]
    assert [spec for part in parts for spec in part] == specs


def test_runs_whose_train_sets_differ_in_size_are_not_stacked(monkeypatch):
    """With every (a, a) in the train set, an unordered split may miss its size by one."""
    monkeypatch.setattr("grokkit.runtime.run.runs_that_fit", lambda spec, device: 100)
    specs = grid(SMALL.with_(p=3, split="unordered", train_fraction=0.65), seed=range(30))
    parts = groups(specs, CUDA)
    sizes = [
        {len(spec.task.build(spec.seed).train) for spec in part if isinstance(spec, RunSpec)}
        for part in parts
    ]
    assert all(len(size) == 1 for size in sizes)
    assert len(set.union(*sizes)) == len(sizes) > 1


def test_the_memory_of_a_run_grows_with_all_that_takes_memory():
    base = bytes_per_run(RunSpec())
    for change in ({"d_mlp": 512}, {"train_fraction": 0.6}, {"length": 9}, {"heads": 4}):
        assert bytes_per_run(RunSpec().with_(**change)) > base, change
    assert bytes_per_run(RunSpec().with_(precision="float64")) == 2 * base


def test_a_group_has_at_least_one_run_and_no_more_than_fit(monkeypatch):
    need = bytes_per_run(SMALL)
    for free, runs in ((0, 1), (13 * need, 10)):
        monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device, free=free: (free, 0))
        assert runs_that_fit(SMALL, CUDA) == runs
    assert runs_that_fit(SMALL, CPU) == 1
