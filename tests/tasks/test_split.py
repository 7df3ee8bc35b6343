"""The split: sizes, mirror images, and what it must not depend on."""

import math
from itertools import permutations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from grokkit.core.common import stream as generator
from grokkit.core.task import distinct, mirror_images, split
from grokkit.tasks import (
    KOperandAddition,
    MarkedAddition,
    ModularAddition,
    ModularDivision,
    ModularQuadratic,
    ModularSubtraction,
    PermutationComposition,
    SparseParity,
)
from grokkit.tasks.split import decode, encode, split_operands
from tests.tasks import reference

fractions = st.floats(0.05, 0.95)


@given(p=st.integers(2, 20), fraction=fractions, seed=st.integers(0, 9))
def test_a_split_by_pair_has_the_rounded_number_of_train_pairs(p, fraction, seed) -> None:
    wanted = round(fraction * (p * p))
    if 0 < wanted < p * p:
        train = split(torch.arange(p * p), fraction, generator(seed, "split"))
        assert train.sum() == wanted


@given(p=st.integers(2, 20), fraction=fractions, seed=st.integers(0, 9))
def test_an_unordered_split_is_near_and_closed_under_swapping(p, fraction, seed) -> None:
    pairs = decode(torch.arange(p * p), p, 2)
    unordered = encode(pairs.sort(dim=1).values, p)
    wanted = round(fraction * (p * p))
    if 1 < wanted < p * p - 1:
        train = split(unordered, fraction, generator(seed, "split")).reshape(p, p)
        assert abs(int(train.sum()) - wanted) <= 1
        if not train.diagonal().all():
            assert train.sum() == wanted
        assert torch.equal(train, train.T)
        flags = mirror_images(unordered, train.flatten())
        assert not flags.any()


@pytest.mark.parametrize(
    "task",
    [
        ModularAddition(p=11, train_fraction=0.3, draws=2),
        ModularAddition(p=8, train_fraction=0.6, split="unordered"),
        ModularQuadratic(p=9, train_fraction=0.2),
        KOperandAddition(p=4, k=3, train_fraction=0.1),
        KOperandAddition(p=4, k=3, train_fraction=0.4, split="unordered"),
        MarkedAddition(p=9, draws=2),
        MarkedAddition(p=9, split="unordered"),
    ],
    ids=repr,
)
def test_the_mirror_rate_is_a_count(task) -> None:
    data = task.build(seed=7)
    assert data.mirror_rate == pytest.approx(reference.mirror_rate(data), abs=1e-12)
    assert data.mirrored.tolist() == reference.mirrored(data)
    assert (data.mirror_rate == 0) == (task.split == "unordered")


def test_the_paper_s_split_leaks_three_in_ten_mirror_images() -> None:
    assert ModularAddition().build(seed=0).mirror_rate == pytest.approx(0.3, abs=0.02)


@pytest.mark.parametrize(
    "task",
    [
        ModularSubtraction(p=7),
        ModularDivision(p=7),
        PermutationComposition(n=3),
        SparseParity(bits=6),
    ],
    ids=repr,
)
def test_there_is_no_mirror_rate_where_operands_do_not_commute(task) -> None:
    assert math.isnan(task.build(seed=0).mirror_rate)


def test_the_split_does_not_depend_on_distractors_length_or_positions() -> None:
    groups = {
        tuple(sorted(set(task.build(seed=2).train.group.tolist())))
        for task in (
            ModularAddition(p=13),
            ModularAddition(p=13, distractors="constant"),
            ModularAddition(p=13, distractors="random", draws=4),
            ModularAddition(p=13, alphabet=2, length=8, positions=(5, 0)),
            ModularSubtraction(p=13),
            MarkedAddition(p=13),
        )
    }
    assert len(groups) == 1


def test_the_split_differs_between_seeds() -> None:
    splits = {tuple(ModularAddition(p=13).build(s).train.group.tolist()) for s in range(5)}
    assert len(splits) == 5


def test_a_fraction_that_no_family_fits_is_refused_when_built() -> None:
    # One family of six orders, and a single train input wanted.
    orders = torch.tensor([*permutations(range(3))])
    with pytest.raises(ValueError, match=r"^train_fraction: got 0\.2; allowed: "):
        split_operands(orders, 3, "unordered", 0.2, seed=0, commutes=True)


@given(base=st.integers(2, 12), k=st.integers(1, 5), seed=st.integers(0, 9))
def test_codes_and_operands_are_the_same_thing(base, k, seed) -> None:
    codes = distinct(base**k, min(base**k, 40), generator(seed, "inputs"))
    operands = decode(codes, base, k)
    assert operands.min() >= 0
    assert operands.max() < base
    assert torch.equal(encode(operands, base), codes)


# 100,000 out of four million: some are drawn twice, so that more must be drawn and cut.
@pytest.mark.parametrize(
    ("total", "count"), [(50, 50), (2**21, 50), (2**22 + 1, 100_000), (2**62, 50)]
)
def test_sampled_codes_are_distinct_and_cover_the_range(total: int, count: int) -> None:
    codes = distinct(total, count, generator(0, "inputs"))
    assert len(set(codes.tolist())) == count
    assert codes.max() < total
    assert 0.3 < (codes.double() / total).mean() < 0.7
