"""Slots and pooling: keys and values once per (position, token), and nothing lost by it."""

import pytest
import torch
from torch.testing import assert_close

from grokkit.errors import SettingError
from grokkit.model import Batch, Slots
from grokkit.model.slots import pool
from grokkit.tasks import Sequences
from tests.model.cases import MODELS, TASKS, group


@pytest.mark.parametrize("task", TASKS)
def test_every_position_of_every_sequence_finds_its_token_again(task):
    batch, _ = group(TASKS[task], MODELS["1 heads softmax classifier"])
    slots = Slots.of(batch)
    assert torch.equal(slots.token[slots.index], batch.tokens)
    assert torch.equal(slots.position[slots.index].unique(), torch.arange(batch.tokens.shape[2]))
    assert (slots.index[..., -1] == slots.query).all()
    pairs = set(zip(slots.position.tolist(), slots.token.tolist(), strict=True))
    assert len(pairs) == len(slots)


def batch_of(*runs: list[list[int]]) -> Batch:
    sequences = []
    for run in runs:
        tokens = torch.tensor(run)
        mask = torch.zeros(tokens.shape, dtype=torch.bool)
        mask[:, 0] = True
        zeros = torch.zeros(len(tokens), dtype=torch.int64)
        sequences.append(Sequences(tokens, zeros, mask, zeros))
    return Batch.of(sequences, dtype=torch.float64)


def test_the_query_is_refused_where_there_are_several():
    for batch in (batch_of([[0, 9], [1, 8]]), batch_of([[0, 9]], [[0, 8]])):
        assert not batch.fixed_query
        with pytest.raises(SettingError, match=r"^query: got '2 different queries'; allowed: "):
            _ = Slots.of(batch).query
    assert batch_of([[0, 9], [1, 9]]).fixed_query


@pytest.mark.parametrize("heads", [1, 2, 3])
def test_pooling_is_the_attention_weighted_sum_and_so_are_its_gradients(heads):
    # Runs that read different slots: some cells are read by nobody, the last one among them.
    batch = batch_of(
        [[0, 1, 9], [0, 2, 9], [3, 1, 9]], [[4, 4, 9], [4, 4, 9], [0, 5, 9]], [[0, 1, 9]] * 3
    )
    slots = Slots.of(batch)
    readers = slots.readers(heads)
    runs, examples, length = batch.tokens.shape
    generator = torch.Generator().manual_seed(0)
    attention = torch.rand(
        runs, examples, length, heads, generator=generator, dtype=torch.float64
    ).requires_grad_()
    cells = torch.randn(
        runs, len(slots), heads, 4, generator=generator, dtype=torch.float64
    ).requires_grad_()
    weight = torch.randn(runs * examples, 4, generator=generator, dtype=torch.float64)

    ours = pool(attention.reshape(runs * examples, -1), cells.flatten(0, 2), readers)
    by_hand = torch.stack(
        [
            (attention[r, e, ..., None] * cells[r, slots.index[r, e]]).sum(dim=(0, 1))
            for r in range(runs)
            for e in range(examples)
        ]
    )
    assert_close(ours, by_hand, rtol=1e-14, atol=1e-14)
    for total in (lambda h: (weight * h).sum(), lambda h: h.sum()):
        mine = torch.autograd.grad(total(ours), (attention, cells), retain_graph=True)
        theirs = torch.autograd.grad(total(by_hand), (attention, cells), retain_graph=True)
        assert_close(mine, theirs, rtol=1e-13, atol=1e-13)


def test_a_batch_is_the_runs_one_after_the_other():
    batch, _ = group(TASKS["marked"], MODELS["1 heads softmax classifier"])
    assert (batch.runs, batch.examples) == batch.targets.shape
    for run, seed in enumerate((0, 3, 11)):
        data = TASKS["marked"].build(seed).train
        one = batch.run(run)
        assert one.runs == 1
        assert torch.equal(one.tokens[0], data.tokens)
        assert torch.equal(one.targets[0], data.targets)
        assert torch.equal(one.informative[0], data.informative)
        assert_close(one.oracle[0], data.oracle.double())
        assert_close(one.oracle.sum(dim=2), torch.ones(1, len(data), dtype=torch.float64))
