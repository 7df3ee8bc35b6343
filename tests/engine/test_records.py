"""When records are made, when runs end, and what the History says of it."""

import numpy as np
import pytest

from grokkit.engine import RunSpec, Trainer
from grokkit.engine.group import GROKKED
from grokkit.errors import SettingError
from grokkit.runtime import train
from grokkit.runtime.history import to_history
from grokkit.tasks import SparseParity
from tests.engine.small import SMALL, bits, same

EASY = RunSpec(
    task=SparseParity(bits=5, k=1), epochs=60, record_every=2, precision="float64"
).with_(d_model=8, d_mlp=16, learning_rate=0.03)
"""Learned within some twenty epochs."""


@pytest.mark.parametrize(
    ("epochs", "every", "expected"),
    [
        (20, 5, [0, 5, 10, 15, 20]),
        (7, 3, [0, 3, 6, 7]),
        (3, 100, [0, 3]),
        (1, 1, [0, 1]),
        (4, 1, [0, 1, 2, 3, 4]),
    ],
)
def test_records_are_made_at_the_start_every_so_often_and_at_the_end(epochs, every, expected):
    history = train(SMALL.with_(epochs=epochs, record_every=every))
    assert history.epoch.values.tolist() == expected
    assert history.ended.item() == epochs
    assert history.message.item() == ""


def test_recording_more_often_changes_no_number():
    often, rarely = train(SMALL.with_(record_every=1)), train(SMALL)
    assert same(often.sel(epoch=rarely.epoch), rarely)


def test_the_first_record_is_of_the_untrained_model():
    slow, fast = train(SMALL.with_(learning_rate=1e-4)), train(SMALL)
    assert same(slow.isel(epoch=[0]), fast.isel(epoch=[0]))


def test_longer_training_begins_as_shorter_training_does():
    short, long = train(SMALL), train(SMALL.with_(epochs=40))
    assert same(long.sel(epoch=slice(0, 20)), short)


def held_since(accuracy: np.ndarray, epochs: np.ndarray) -> int | None:
    """The first epoch from which on all records of a run are grokked."""
    since = None
    for epoch, value in zip(epochs, accuracy, strict=True):
        since = None if value < GROKKED else epoch if since is None else since
    return since


@pytest.mark.parametrize("wait", [0, 1, 6, 7])
def test_stop_after_counts_from_the_record_since_which_accuracy_has_held(wait):
    whole = train(EASY)
    accuracy, epochs = whole.test_accuracy.values[0], whole.epoch.values
    expected = next(
        epoch
        for i, epoch in enumerate(epochs)
        if (since := held_since(accuracy[: i + 1], epochs[: i + 1])) is not None
        and epoch - since >= wait
    )
    assert 0 < expected < 60
    stopped = train(EASY.with_(stop_after=wait))
    assert stopped.ended.item() == stopped.epoch.values[-1] == expected
    assert stopped.message.item() == f"stopped at epoch {expected}: test accuracy held 0.99"
    assert same(stopped, whole.sel(epoch=slice(0, expected)))


def test_a_fall_below_starts_the_wait_again(monkeypatch):
    accuracies = iter([0.2, 1.0, 1.0, 0.5, 0.99, 1.0, 0.995, 1.0])
    from grokkit.engine.probes import Probes

    real = Probes.__call__

    def fake(self, step, *features):
        record = real(self, step, *features)
        record["test_accuracy"].fill_(next(accuracies))
        return record

    monkeypatch.setattr(Probes, "__call__", fake)
    history = train(SMALL.with_(epochs=100, record_every=1, stop_after=3))
    assert history.ended.item() == 7  # held from 4 on


def test_a_run_that_never_groks_is_never_stopped():
    assert train(SMALL.with_(stop_after=0)).ended.item() == 20


def test_runs_of_a_group_end_each_in_its_time_and_are_nan_afterwards():
    specs = [EASY.with_(stop_after=4, learning_rate=rate) for rate in (0.03, 0.01, 0.0)]
    group = Trainer(specs)
    group.advance()
    together = to_history(group)
    ends = together.ended.values.tolist()
    assert ends[0] < ends[1] < ends[2] == 60
    for run, spec in enumerate(specs):
        alone = Trainer([spec])
        alone.advance()
        own = to_history(alone)
        assert own.ended.item() == ends[run]
        part = together.isel(run=[run])
        assert same_to_1e_12(part.sel(epoch=slice(0, ends[run])), own)
        for values in part.sel(epoch=slice(ends[run] + 1, None)).data_vars.values():
            assert values.isnull().all()
        ended_with = group.final_weights().flat[run]
        assert (ended_with - alone.final_weights().flat[0]).abs().max() < 1e-12


def same_to_1e_12(one, other) -> bool:
    return all(
        np.allclose(one[name], other[name], rtol=0, atol=1e-12, equal_nan=True)
        for name in other.data_vars
    )


def test_specs_that_cannot_be_one_group_are_refused():
    for change in (
        {"epochs": 3},
        {"p": 7},
        {"heads": 2},
        {"precision": "float64"},
        {"stop_after": 1},
        {"record_every": 1},
    ):
        with pytest.raises(SettingError, match=r"^specs: got '2 specs'"):
            Trainer([SMALL, SMALL.with_(**change)])
    with pytest.raises(SettingError, match=r"^specs: "):
        Trainer([])
    with pytest.raises(SettingError, match=r"^specs: "):
        train([])


def test_the_history_says_which_code_made_the_gradient():
    assert train(SMALL).attrs["gradient"] == "analytic"
    assert train(SMALL.with_(readout="residual")).attrs["gradient"] == "autograd"
    both = train([SMALL, SMALL.with_(attention="relu")])
    assert both.attrs["gradient"] == "analytic, autograd"


def test_the_learned_weights_are_those_of_the_last_record():
    trainer = Trainer([SMALL])
    trainer.advance()
    from grokkit.diagnostics import mlp_norm

    norm = mlp_norm(trainer.final_weights()).item()
    assert bits(np.float32(norm)) == bits(to_history(trainer).mlp_norm.values[0, -1])
