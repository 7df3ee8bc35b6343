"""Distractors: what each kind puts where, and the independence of their draws."""

import pytest
import torch

from grokkit.tasks import (
    Distractors,
    LongerAddition,
    MarkedAddition,
    ModularAddition,
    PermutationComposition,
)
from tests.tasks.reference import operands


def gaps(task: ModularAddition, seed: int = 0) -> torch.Tensor:
    """The distractor tokens of all sequences, in the order of their groups."""
    data = task.build(seed)
    tokens = torch.cat((data.train.tokens, data.test.tokens))
    order = torch.cat((data.train.group, data.test.group)).argsort(stable=True)
    informative = data.train.informative[0]
    keep = [i for i in range(task.length - 1) if not informative[i]]
    return tokens[order][:, keep]


def test_constant_distractors_are_one_own_token_per_position() -> None:
    task = ModularAddition(p=5, length=6, positions=(1, 2), distractors="constant")
    data = task.build(seed=0)
    assert data.vocabulary == ("0", "1", "2", "3", "4", "=", "·0", "·3", "·4")
    assert (gaps(task) == torch.tensor([6, 7, 8])).all()


def test_random_distractors_are_operand_tokens() -> None:
    task = ModularAddition(p=13, distractors="random")
    found = gaps(task)
    assert set(found.unique().tolist()) == set(range(13))
    assert task.build(seed=0).n_tokens == 14


@pytest.mark.parametrize(("alphabet", "size"), [(None, 4), (2, 2), (30, 30)])
def test_an_alphabet_has_tokens_of_its_own(alphabet, size) -> None:
    task = ModularAddition(p=23, alphabet=alphabet)
    assert set(gaps(task).unique().tolist()) == set(range(24, 24 + size))
    vocabulary = task.build(seed=0).vocabulary
    assert len(vocabulary) == len(set(vocabulary)) == 24 + size
    assert vocabulary[24:26] == ("A", "B")


@pytest.mark.parametrize("distractors", ["random", "alphabet"])
def test_random_symbols_are_uniform_and_independent_of_the_input(distractors) -> None:
    task = ModularAddition(p=53, distractors=distractors)
    found = gaps(task)
    first, second = found.T
    counts = first.unique(return_counts=True)[1].double()
    assert ((counts / counts.sum() * len(counts) - 1).abs() < 0.5).all()
    a = torch.arange(53).repeat_interleave(53)
    for x, y in ((first, second), (first, a), (second, a)):
        assert torch.corrcoef(torch.stack((x, y)).double())[0, 1].abs() < 0.08


def test_draws_differ_and_more_draws_keep_the_first() -> None:
    one = gaps(ModularAddition(p=11, distractors="random"))
    three = gaps(ModularAddition(p=11, distractors="random", draws=3)).reshape(121, 3, 2)
    assert torch.equal(three[:, 0], one)
    assert (three[:, 1] != three[:, 2]).any(dim=1).double().mean() > 0.9


def test_distractors_do_not_depend_on_the_split() -> None:
    few = gaps(ModularAddition(p=11, train_fraction=0.2))
    many = gaps(ModularAddition(p=11, train_fraction=0.8, split="unordered"))
    assert torch.equal(few, many)


def test_other_seeds_give_other_distractors() -> None:
    task = ModularAddition(p=11)
    assert not torch.equal(gaps(task, seed=0), gaps(task, seed=1))


def test_a_sequence_without_gaps_adds_no_tokens() -> None:
    for kind in ("constant", "random", "alphabet"):
        assert ModularAddition(p=5, length=3, distractors=kind).build(0).n_tokens == 6


def test_a_sequence_can_be_read() -> None:
    data = ModularAddition(p=5, distractors="constant").build(seed=0)
    a, b = operands(data.test, (0, 2))[3]
    assert data.spell(data.test.tokens[3]) == f"{a} ·1 {b} ·3 ="


def test_permutations_take_distractors_too() -> None:
    data = PermutationComposition(n=3, distractors="random").build(seed=0)
    assert data.vocabulary == ("012", "021", "102", "120", "201", "210", "=")


def test_names_do_not_run_out() -> None:
    names = Distractors("alphabet", 60).names([1])
    assert len(set(names)) == 60
    assert names[25:28] == ("Z", "A1", "B1")


def test_marked_positions_are_uniform_over_pairs_of_positions() -> None:
    data = MarkedAddition(p=31, length=5, draws=4).build(seed=0)
    masks, counts = data.test.informative.unique(dim=0, return_counts=True)
    assert len(masks) == 6
    assert (counts / counts.sum() - 1 / 6).abs().max() < 0.03


def test_longer_sets_keep_the_test_rows_and_are_nested() -> None:
    task = LongerAddition(p=7, longer=(7, 9, 20), draws=2)
    data = task.build(seed=0)
    assert list(data.extra) == ["length 7", "length 9", "length 20"]
    assert data.max_length == 20
    plain = ModularAddition(p=7, length=6, draws=2).build(seed=0)
    assert torch.equal(data.train.tokens, plain.train.tokens)
    assert torch.equal(data.test.tokens, plain.test.tokens)
    shorter = data.test
    for length, longer in zip(task.longer, data.extra.values(), strict=True):
        assert longer.length == length
        assert torch.equal(longer.tokens[:, : shorter.length - 1], shorter.tokens[:, :-1])
        assert torch.equal(longer.targets, data.test.targets)
        assert torch.equal(longer.group, data.test.group)
        assert torch.equal(longer.informative[:, :5], data.test.informative[:, :5])
        assert not longer.informative[:, 5:].any()
        assert (longer.tokens[:, 5:-1] > 7).all()
        shorter = longer
