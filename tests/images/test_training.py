"""Training on images: the same bits, a History that others can read, and interrupts."""

import functools
import signal

import numpy as np
import pytest
import torch
from torch.nn import functional as F

import grokkit
from grokkit.diagnostics import grok_epoch, memorise_epoch
from grokkit.errors import SettingError
from grokkit.images import GlyphSum, ImageSpec, ImageTrainer, ResNetSpec, seconds_per_epoch
from grokkit.images import trainer as trainer_module
from grokkit.images.trainer import MEANING
from grokkit.runtime import any_specs_of, load_history, save_history, sweep
from grokkit.runtime.checkpoint import load_checkpoint, save_checkpoint
from grokkit.runtime.history import to_history
from tests.engine.test_pinned import CALLERS

TINY = ImageSpec(
    GlyphSum(1, 2, alphabet=(0, 3, 4, 6), cell_size=8, train_fraction=0.6),
    ResNetSpec(width=2),
    learning_rate=0.01,
    batch_size=4,
    epochs=4,
    record_every=2,
)


def weights(trainer: ImageTrainer) -> torch.Tensor:
    return torch.cat([value.flatten().double() for value in trainer.network.state_dict().values()])


def trained(spec: ImageSpec) -> ImageTrainer:
    trainer = ImageTrainer([spec])
    trainer.advance()
    return trainer


@functools.cache
def history_of(spec: ImageSpec):
    return grokkit.train(spec)


def same(a, b) -> bool:
    return all(np.array_equal(a[name], b[name], equal_nan=True) for name in MEANING)


def test_the_same_spec_gives_the_same_bits_whatever_came_before():
    first = trained(TINY)
    torch.manual_seed(7)
    again = trained(TINY)
    assert torch.equal(weights(first), weights(again))
    assert same(first.records.values, again.records.values)


@pytest.mark.parametrize("caller", ["float64", "no_grad", "autocast", "medium"])
def test_the_callers_settings_change_nothing(caller):
    expected = trained(TINY)
    with CALLERS[caller]():
        found = trained(TINY)
    assert torch.equal(weights(found), weights(expected))
    assert same(found.records.values, expected.records.values)


@pytest.mark.parametrize(
    "change",
    [
        {"seed": 1},
        {"learning_rate": 0.02},
        {"weight_decay": 0.1},
        {"optimizer": "adamw", "weight_decay": 0.1},
        {"batch_size": 5},
        {"batch_size": None},
        {"width": 3},
        {"stem": "7x7"},
        {"cell_size": 9},
        {"alphabet": (0, 3, 4, 7)},
        {"train_fraction": 0.5},
        {"split": "unordered"},
        {"grid_rows": 2, "grid_columns": 1},
        {"grid_columns": 1, "train_fraction": 0.5, "batch_size": None},
    ],
    ids=str,
)
def test_every_setting_changes_the_run(change):
    assert not same(history_of(TINY), grokkit.train(TINY.with_(**change)))


def test_l2_and_decoupled_decay_are_two_things():
    l2 = grokkit.train(TINY.with_(optimizer="adam", weight_decay=0.1))
    decoupled = grokkit.train(TINY.with_(optimizer="adamw", weight_decay=0.1))
    assert not same(l2, decoupled)


def test_records_are_what_a_plain_computation_says():
    trainer = trained(TINY.with_(train_fraction=0.3, batch_size=None))
    data, task = trainer.data, trainer.spec.task
    network = trainer.network.eval()
    for name, part in (("train", data.train), ("test", data.test)):
        with torch.no_grad():
            logits = network(task.draw(data.tiles, part.glyphs))
        right = logits.argmax(dim=1) == part.targets
        loss = F.cross_entropy(logits.double(), part.targets).item()
        assert trainer.records.values[f"{name}_loss"][-1] == pytest.approx(loss, rel=1e-6)
        assert trainer.records.values[f"{name}_accuracy"][-1] == right.sum().item() / len(part)
    assert 0 < data.mirror_rate < 1
    for name, among in (("mirrored", data.mirrored), ("unmirrored", ~data.mirrored)):
        share = (right & among).sum().item() / among.sum().item()
        assert trainer.records.values[f"{name}_accuracy"][-1] == share
    norm = torch.cat([value.flatten() for value in network.parameters()]).norm().item()
    assert trainer.records.values["weight_norm"][-1] == pytest.approx(norm, rel=1e-6)


def test_one_step_is_adam_s():
    spec = TINY.with_(batch_size=None, epochs=1, record_every=1)
    trainer, twin = ImageTrainer([spec]), ImageTrainer([spec])
    trainer.advance()
    images = spec.task.draw(twin.tiles, twin.train.glyphs)
    loss = F.cross_entropy(twin.network.train()(images), twin.train.targets)
    loss.backward()
    for (name, after), before in zip(
        trainer.network.named_parameters(), twin.network.parameters(), strict=True
    ):
        assert before.grad is not None
        gradient = before.grad + spec.weight_decay * before.detach()
        # Of the first step, with both means corrected: lr * g / (abs(g) + eps).
        step = spec.learning_rate * gradient / (gradient.abs() + 1e-8)
        torch.testing.assert_close(after, before.detach() - step, msg=name)


def test_an_epoch_sees_every_train_image_once_in_another_order_each_time():
    trainer = ImageTrainer([TINY])
    seen = []
    for epoch in range(2):
        trainer.epoch = epoch
        seen.append(torch.cat([rows for rows in trainer._batches() if rows is not None]).tolist())
    assert sorted(seen[0]) == sorted(seen[1]) == list(range(len(trainer.train)))
    assert seen[0] != seen[1]


def test_a_last_batch_of_one_image_is_left_out():
    trainer = ImageTrainer([TINY.with_(batch_size=3)])
    assert len(trainer.train) % 3 == 1
    rows = [len(rows) for rows in trainer._batches() if rows is not None]
    assert rows == [3] * (len(trainer.train) // 3)


def test_batches_larger_than_the_train_set_are_refused():
    with pytest.raises(SettingError, match=r"^batch_size: got 11; allowed: 1\.\.9, or None"):
        ImageTrainer([TINY.with_(batch_size=11)])


# --- the History --------------------------------------------------------------------------


def test_the_history_is_one_that_the_rest_can_judge_and_keep(tmp_path):
    specs = [TINY, TINY.with_(seed=1, epochs=6, record_every=3)]
    history = grokkit.train(specs)
    assert dict(history.sizes) == {"run": 2, "epoch": 5}
    assert history.epoch.values.tolist() == [0, 2, 3, 4, 6]
    assert history.ended.values.tolist() == [4, 6]
    assert history.seed.values.tolist() == [0, 1]
    assert any_specs_of(history) == specs
    tasks = [spec.task.build(spec.seed) for spec in specs]
    assert history.mirror_rate.values.tolist() == [data.mirror_rate for data in tasks]
    assert history.answerable.values.tolist() == [data.answerable for data in tasks]
    assert history.attrs["interrupted"] == 0
    recorded = history.train_loss.notnull().values
    assert recorded.tolist() == [[1, 1, 0, 1, 0], [1, 0, 1, 0, 1]]
    for run, spec in enumerate(specs):
        alone = history_of(spec)
        for name in MEANING:
            kept = history[name].values[run][recorded[run]]
            assert np.array_equal(kept, alone[name].values[0], equal_nan=True)
    again = load_history(save_history(history, tmp_path / "images.nc"))
    assert again.identical(history)
    assert memorise_epoch(again).sizes == grok_epoch(again).sizes == {"run": 2}


def test_memorising_is_seen_by_the_diagnostics():
    history = grokkit.train(TINY.with_(epochs=40, record_every=5, batch_size=None))
    memorised = memorise_epoch(history).item()
    assert history.train_accuracy.sel(epoch=memorised).item() >= 0.99
    assert (history.train_accuracy.sel(epoch=slice(None, memorised - 1)) < 0.99).all()


@pytest.mark.parametrize(("right_from", "end"), [(0, 4), (2, 6), (3, 8), (99, 8)])
def test_a_run_stops_once_it_has_held_what_it_understood(monkeypatch, right_from, end):
    def evaluate(self, images):
        right = torch.full((len(images),), self.epoch >= right_from)
        return torch.zeros(len(images), dtype=torch.float64), right

    monkeypatch.setattr(ImageTrainer, "_evaluate", evaluate)
    trainer = trained(TINY.with_(epochs=8, stop_after=4, batch_size=None))
    assert trainer.records.epochs[-1] == end
    assert ("held 0.99" in trainer.records.messages.get(0, "")) == (right_from < 99)


def test_a_loss_that_is_not_finite_ends_the_run_and_says_when():
    trainer = ImageTrainer([TINY])
    torch.nn.init.constant_(trainer.network.readout.bias, float("nan"))
    trainer.advance()
    assert trainer.records.messages == {0: "run 0 (seed 0): loss not finite at epoch 0; stopped"}
    assert (trainer.done, trainer.records.epochs) == (True, [0])


# --- in the runtime -----------------------------------------------------------------------


def test_what_is_stopped_and_resumed_is_the_run_that_never_was(tmp_path):
    whole = ImageTrainer([TINY])
    whole.advance()
    for epoch in (0, 1, TINY.epochs):
        part = ImageTrainer([TINY])
        part.advance(epoch)
        resumed = load_checkpoint(save_checkpoint(part, tmp_path / "run.safetensors"))
        assert isinstance(resumed, ImageTrainer) and resumed.epoch == epoch
        resumed.advance()
        assert torch.equal(weights(resumed), weights(whole))
        for name in MEANING:
            assert np.array_equal(to_history(resumed)[name], history_of(TINY)[name], equal_nan=True)


@pytest.mark.slow
def test_a_sweep_interrupted_in_the_middle_of_a_run_goes_on_there(tmp_path, monkeypatch):
    specs = [
        TINY.with_(split=split, seed=seed) for split in ("pair", "unordered") for seed in (0, 1)
    ]
    trained, train_epoch = [], ImageTrainer._train

    def counted(self):
        trained.append((specs.index(self.spec), self.epoch))
        train_epoch(self)
        if len(trained) == 10:
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(ImageTrainer, "_train", counted)
    part = sweep(specs, tmp_path)
    assert part.attrs["interrupted"] == 1 and any_specs_of(part) == specs[:3]
    assert part.ended.values.tolist() == [4, 4, 0]
    whole = sweep(specs, tmp_path)
    assert trained == [(run, epoch) for run in range(4) for epoch in range(4)]
    assert whole.attrs["interrupted"] == 0 and any_specs_of(whole) == specs
    assert sweep(specs, tmp_path).identical(whole)
    reference = grokkit.train(specs, workers=1)
    assert whole.drop_attrs(deep=False).identical(reference.drop_attrs(deep=False))


@pytest.mark.slow
def test_workers_make_no_difference(tmp_path):
    specs = [TINY, TINY.with_(seed=1)]
    alone, together = (grokkit.train(specs, workers=workers) for workers in (1, 2))
    assert together.drop_attrs(deep=False).identical(alone.drop_attrs(deep=False))


@pytest.mark.parametrize(("sample", "images"), [(2**24, 4), (3 * 128 * 2, 3), (1, 2)])
def test_the_cost_of_an_epoch_is_that_of_its_images_and_a_third_of_each_record(
    monkeypatch, sample, images
):
    """Measured on a batch, or on as many of its images as there is patience for."""
    clock, seen = iter([10.0, 12.0]), []
    monkeypatch.setattr(trainer_module, "SAMPLE", sample)
    monkeypatch.setattr(trainer_module.time, "perf_counter", lambda: next(clock))
    monkeypatch.setattr(ImageTrainer, "step", lambda self, batch: seen.append(len(batch)))
    seconds = seconds_per_epoch(TINY)
    assert seen == [images, images]
    assert seconds == pytest.approx(2 / images * (10 + 16 / 3 / TINY.record_every))
