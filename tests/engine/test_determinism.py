"""The same spec and seed are the same run, to the last bit, whatever goes on around it."""

import pytest
import torch

from grokkit.engine import RunSpec, Trainer, grid
from grokkit.runtime import train
from grokkit.runtime.history import to_history
from grokkit.tasks import LongerAddition, SparseParity
from tests.engine.small import SMALL, same

SPECS = {
    "default": SMALL,
    "prior, heads": SMALL.with_(heads=2, output_projection=True, kl_strength=0.3),
    "autograd": SMALL.with_(readout="residual", attention="relu"),
    "longer": SMALL.with_(task=LongerAddition(p=5, length=5, longer=(7,), train_fraction=0.5)),
    "parity": SMALL.with_(task=SparseParity(bits=6, k=2)),
    "float64": SMALL.with_(precision="float64"),
}


@pytest.mark.parametrize("spec", SPECS.values(), ids=SPECS)
def test_twice_the_same(spec):
    assert same(train(spec), train(spec))


@pytest.mark.parametrize("spec", SPECS.values(), ids=SPECS)
def test_a_run_alone_is_the_run_among_others(spec):
    # The neighbours differ in everything, one of them diverges.
    crowd = [SPECS["float64"].with_(learning_rate=1e200), spec, spec.with_(seed=1), SMALL]
    together = train(crowd)
    alone = train(spec)
    one = together.isel(run=[1])
    for name in alone.data_vars:
        # In a History of several types of runs values are kept in the widest type.
        mine = (
            one[name]
            .astype(alone[name].dtype)
            .isel({dim: slice(size) for dim, size in alone[name].sizes.items()})
        )
        assert mine.values.tobytes() == alone[name].values.tobytes(), name


@pytest.mark.parametrize("spec", SPECS.values(), ids=SPECS)
def test_in_pieces_as_in_one_go(spec):
    whole = Trainer([spec])
    whole.advance()
    pieces = Trainer([spec])
    for epochs in (1, 4, 0, 2, 5, 3, 100):
        pieces.advance(epochs)
    assert pieces.done
    assert same(to_history(whole), to_history(pieces))
    assert whole.final_weights().flat.equal(pieces.final_weights().flat)


def test_pieces_end_where_they_should():
    trainer = Trainer([SMALL])
    trainer.advance(7)
    assert trainer.epoch == 7 and not trainer.done
    assert trainer.records.epochs == [0, 5]
    trainer.advance(0)
    assert trainer.epoch == 7
    trainer.advance(13)
    assert trainer.epoch == 20 and trainer.done
    trainer.advance(5)
    assert trainer.epoch == 20 and trainer.records.epochs == [0, 5, 10, 15, 20]


def test_torchs_own_random_stream_is_neither_read_nor_moved():
    torch.manual_seed(1)
    before = torch.get_rng_state()
    first = train(SMALL)
    assert torch.get_rng_state().equal(before)
    torch.manual_seed(2)
    assert same(train(SMALL), first)


def test_the_number_of_threads_outside_does_not_matter_and_is_left_as_it_was():
    first = train(SMALL)
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    try:
        assert same(train(SMALL), first)
        assert torch.get_num_threads() == 3
    finally:
        torch.set_num_threads(before)


def test_a_group_trained_together_is_its_runs_alone():
    specs = [
        spec.with_(precision="float64", weight_decay=decay)
        for spec in grid(SMALL, kl_strength=[0.0, 0.7], seed=[0, 4])
        for decay in (0.5, 2.0)
    ]
    together = Trainer(specs)
    together.advance()
    for run, spec in enumerate(specs):
        alone = Trainer([spec])
        alone.advance()
        error = alone.weights.flat[0] - together.weights.flat[run]
        assert error.abs().max() < 1e-12
        for name, values in alone.records.values.items():
            theirs = torch.stack(together.records.values[name])[:, run]
            error = torch.stack(values)[:, 0] - theirs
            assert error.abs().max() < 1e-12, name


def test_other_seeds_are_other_runs():
    history = train(grid(SMALL, seed=range(3)))
    assert len({row.tobytes() for row in history.train_loss.values}) == 3


def test_the_spec_alone_decides(tmp_path):
    text = SMALL.to_json()
    assert same(train(RunSpec.from_json(text)), train(SMALL))
