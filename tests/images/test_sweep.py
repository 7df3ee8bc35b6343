"""Runs on images in a store: kept as they end, never trained twice; and what they would cost."""

import pytest

from grokkit.errors import SettingError
from grokkit.images import ImageTrainer, cost, sweep_images, train_images
from grokkit.runtime import RunStore, any_specs_of, load_history
from tests.images.test_training import TINY

SPECS = [TINY.with_(split=split, seed=seed) for split in ("pair", "unordered") for seed in (0, 1)]


def test_runs_are_stored_as_they_end_and_never_trained_again(tmp_path, monkeypatch):
    history = sweep_images(SPECS, tmp_path)
    assert any_specs_of(history) == SPECS
    assert len(list(RunStore(tmp_path).keys())) == 4
    monkeypatch.setattr(ImageTrainer, "advance", lambda *_, **__: pytest.fail("trained"))
    assert sweep_images(SPECS, tmp_path).identical(history)
    backwards = sweep_images(SPECS[::-1], tmp_path)
    assert any_specs_of(backwards) == SPECS[::-1]
    assert any_specs_of(load_history(tmp_path)) == sorted(
        SPECS, key=lambda spec: RunStore(tmp_path).path(spec).name
    )


def test_what_the_store_gives_back_is_what_was_trained(tmp_path):
    kept, trained = sweep_images(SPECS, tmp_path), train_images(SPECS)
    seconds = {one.attrs.pop("seconds") > 0 for one in (kept, trained)}
    assert seconds == {True}
    assert kept.identical(trained)


def test_a_sweep_that_was_stopped_goes_on_with_the_run_that_was_under_way(tmp_path, monkeypatch):
    train = ImageTrainer._train

    def interrupted(self):
        if (self.spec, self.epoch) == (SPECS[2], 1):
            raise KeyboardInterrupt
        train(self)

    monkeypatch.setattr(ImageTrainer, "_train", interrupted)
    history = sweep_images(SPECS, tmp_path)
    assert history.attrs["interrupted"] == 1 and any_specs_of(history) == SPECS[:2]
    with pytest.raises(KeyboardInterrupt):
        sweep_images(SPECS[2:], tmp_path)
    monkeypatch.undo()
    whole = sweep_images(SPECS, tmp_path)
    assert whole.attrs["interrupted"] == 0 and any_specs_of(whole) == SPECS


def test_no_spec_is_refused(tmp_path):
    with pytest.raises(SettingError, match=r"^specs: "):
        sweep_images([], tmp_path)


@pytest.mark.parametrize(("sample", "images"), [(2**24, 4), (3 * 128 * 2, 3), (1, 2)])
def test_the_cost_of_an_epoch_is_that_of_its_images_and_a_third_of_each_look(
    monkeypatch, sample, images
):
    """Measured on a batch, or on as many of its images as there is patience for."""
    clock, seen = iter([10.0, 12.0]), []
    monkeypatch.setattr(cost, "SAMPLE", sample)
    monkeypatch.setattr(cost.time, "perf_counter", lambda: next(clock))
    monkeypatch.setattr(ImageTrainer, "step", lambda self, batch: seen.append(len(batch)))
    seconds = cost.seconds_per_epoch(TINY)
    assert seen == [images, images]
    assert seconds == pytest.approx(2 / images * (10 + 16 / 3 / TINY.record_every))
