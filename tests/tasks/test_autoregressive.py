"""Next-token prediction: one example for every prefix, and one of them has an answer."""

import math

import pytest
import torch

from grokkit.tasks import AutoregressiveParity, SparseParity
from tests.tasks.reference import rows

TASK = AutoregressiveParity(bits=6, k=2, positions=(4, 1))


def test_every_prefix_is_an_example_whose_target_is_the_next_token() -> None:
    data = TASK.build(seed=0)
    assert data.vocabulary == ("0", "1", "=") and data.n_classes == 3
    strings = SparseParity(bits=6, k=2, positions=(4, 1)).build(seed=0)
    expected = []
    for tokens, parity, informative, group in rows(strings.train):
        for query, target in enumerate((*tokens[1:], parity)):
            known = informative if query == 6 else (False,) * 7
            expected.append((tokens, target, known, group, query))
    assert data.train.query is not None
    found = [
        (*row, query)
        for row, query in zip(rows(data.train), data.train.query.tolist(), strict=True)
    ]
    assert found == expected


def test_answers_alone_are_graded_and_alone_are_tested() -> None:
    data = TASK.build(seed=0)
    strings = SparseParity(bits=6, k=2, positions=(4, 1)).build(seed=0)
    answers = data.train[data.train.informative.any(dim=1)]
    assert rows(answers) == rows(strings.train)
    assert (answers.query_position == 6).all()
    assert rows(data.test) == rows(strings.test)
    assert data.test.query is None
    bits = data.extra["next bit"]
    assert not bits.informative.any()
    assert set(bits.query_position.tolist()) == {0, 1, 2, 3, 4}
    assert bits.targets.max() == 1


def test_a_fresh_bit_cannot_be_known() -> None:
    """The best guess from any prefix of all strings is a fair coin: ln 2 nats."""
    data = AutoregressiveParity(bits=8, k=2).build(seed=0)
    targets: dict[tuple[int, ...], list[int]] = {}
    for sequences in (data.train, data.test):
        for tokens in sequences.tokens.unique(dim=0).tolist():
            for end in range(1, 8):
                targets.setdefault(tuple(tokens[:end]), []).append(tokens[end])
    for bits in targets.values():
        p = sum(bits) / len(bits)
        assert -p * math.log(p) - (1 - p) * math.log(1 - p) == pytest.approx(math.log(2))


def test_an_example_without_an_oracle_has_zeros_for_one() -> None:
    train = TASK.build(seed=0).train
    assert torch.equal(train.oracle.sum(dim=1), train.informative.any(dim=1).float())


def test_the_answer_alone_is_sparse_parity() -> None:
    alone = AutoregressiveParity(bits=6, k=2, predict="answer").build(seed=3)
    plain = SparseParity(bits=6, k=2).build(seed=3)
    assert rows(alone.train) == rows(plain.train) and rows(alone.test) == rows(plain.test)
    assert alone.train.query is None and not alone.extra and alone.n_classes == 3


def test_one_bit_has_no_next_bit() -> None:
    data = AutoregressiveParity(bits=1, k=1).build(seed=0)
    assert data.train.targets.tolist() == [2, data.train.tokens[0, 0].item()]
    assert not data.extra
