"""A run whose loss is no number any more ends, says so, and disturbs nobody."""

import numpy as np
import pytest
import torch

from grokkit.engine import Trainer
from grokkit.runtime import train
from grokkit.runtime.history import to_history
from tests.engine.small import SMALL, same

ABSURD = 1e30
BOTH = pytest.mark.parametrize("readout", ["classifier", "residual"])


@BOTH
def test_the_message_names_run_and_epoch(readout, capsys):
    history = train([SMALL, SMALL.with_(learning_rate=ABSURD, seed=7, readout=readout)])
    assert history.message.values.tolist()[0] == ""
    message = history.message.values.tolist()[1]
    assert message == "run 1 (seed 7): loss not finite at epoch 1; stopped"
    assert message in capsys.readouterr().out


@BOTH
def test_the_others_go_on_as_if_alone(readout):
    spec = SMALL.with_(precision="float64", readout=readout)
    group = Trainer([spec.with_(learning_rate=1e300), spec.with_(seed=1)])
    group.advance()
    alone = Trainer([spec.with_(seed=1)])
    alone.advance()
    assert group.records.ended == {0: 5, 1: 20}
    assert (group.weights.flat[1] - alone.weights.flat[0]).abs().max() < 1e-12
    for name, values in alone.records.values.items():
        theirs = torch.stack(group.records.values[name])[:, 1]
        assert (torch.stack(values)[:, 0] - theirs).abs().max() < 1e-12, name


def test_its_records_end_at_the_next_record_and_are_nan_afterwards():
    trainer = Trainer([SMALL.with_(learning_rate=ABSURD), SMALL])
    trainer.advance()
    history = to_history(trainer)
    assert history.ended.values.tolist() == [5, 20]
    broken = history.isel(run=0)
    assert np.isfinite(broken.train_loss[0]) and np.isnan(broken.train_loss[1:]).all()
    assert (broken.epoch[1] == 5) and np.isfinite(broken.train_accuracy[1])
    for name, values in broken.data_vars.items():
        assert np.isnan(values.values[2:]).all(), name
    for name, values in history.isel(run=1).data_vars.items():
        assert np.isfinite(values.values).all(), name


def test_a_group_of_which_all_have_diverged_is_done():
    trainer = Trainer([SMALL.with_(learning_rate=ABSURD), SMALL.with_(learning_rate=ABSURD / 2)])
    trainer.advance()
    assert trainer.done and trainer.epoch == 5
    assert to_history(trainer).sizes["epoch"] == 2


def test_the_next_runs_of_a_list_are_trained():
    history = train([SMALL.with_(learning_rate=ABSURD), SMALL])
    assert same(history.isel(run=[1]), train(SMALL))
