"""Distances to the train set, and the rough threshold, against counts by hand."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from grokkit.errors import SettingError
from grokkit.tasks import (
    KOperandAddition,
    ModularAddition,
    PrimeField,
    Sequences,
    covered,
    nearest_train_distance,
    threshold_fraction,
)
from tests.tasks.reference import operands

P = 7


def pairs(*chosen: tuple[int, int], p: int = P) -> Sequences:
    """Some pairs with the class of their sum."""
    tokens = torch.tensor([[i, j, p] for i, j in chosen])
    return Sequences(
        tokens=tokens,
        targets=tokens[:, :2].sum(dim=1) % p,
        informative=torch.tensor([[True, True, False]] * len(chosen)),
        group=tokens[:, 0] * p + tokens[:, 1],
    )


def test_a_hand_drawn_table():
    train = pairs((0, 0), (3, 4), (6, 6))  # sums 0, 0, 5
    test = pairs((2, 5), (0, 5), (1, 0), (3, 2))  # sums 0, 5, 1, 5
    expected = [2, 7, math.inf, 7]
    assert nearest_train_distance(train, test).tolist() == expected
    # Round the corner 0 and 6 are neighbours: (0, 5) is next but one to (6, 6).
    around = nearest_train_distance(train, test, period=P)
    assert around.tolist() == [2, 2, math.inf, 6]


@pytest.mark.parametrize("period", [None, P])
@pytest.mark.parametrize(
    "task",
    [
        PrimeField("x^2+y^2", p=P, hole="square", hole_edge=3),
        PrimeField("x-y", p=P),
        ModularAddition(p=P, length=6, positions=(4, 1), draws=2),
    ],
    ids=repr,
)
def test_distances_are_the_least_over_all_train_pairs(task, period):
    data = task.build(seed=1)
    places = tuple(sorted(task.informative))
    known = list(zip(operands(data.train, places), data.train.targets.tolist(), strict=True))

    def gap(a: int, b: int) -> int:
        return abs(a - b) if period is None else min(abs(a - b), period - abs(a - b))

    expected = [
        min(
            (gap(i, k) + gap(j, m) for (k, m), other in known if other == label),
            default=math.inf,
        )
        for (i, j), label in zip(
            operands(data.test, places), data.test.targets.tolist(), strict=True
        )
    ]
    assert nearest_train_distance(data.train, data.test, period).tolist() == expected


def test_a_train_pair_is_at_no_distance_from_itself_and_a_hole_is_further_off():
    data = PrimeField(p=31, hole="square", hole_edge=15).build(seed=0)
    assert not nearest_train_distance(data.train, data.train).any()
    inside, outside = (
        nearest_train_distance(data.train, part).mean() for part in data.extra.values()
    )
    assert inside > 2 * outside


@given(p=st.integers(2, 9), reach=st.integers(0, 20), seed=st.integers(0, 3))
def test_the_covered_points_are_counted(p, reach, seed):
    labels = torch.randint(3, (p, p), generator=torch.Generator().manual_seed(seed))
    points = [(i, j) for i in range(p) for j in range(p)]
    near = sum(
        abs(i - k) + abs(j - m) <= reach and bool(labels[i, j] == labels[k, m])
        for i, j in points
        for k, m in points
    )
    assert covered(labels, reach) == near / p**2


def test_of_a_sum_a_pair_covers_a_piece_of_its_diagonal():
    p = 101
    labels = (torch.arange(p)[:, None] + torch.arange(p)) % p
    # Reach 2: (i, j), (i + 1, j - 1) and (i - 1, j + 1), but for those beyond the edge.
    assert covered(labels, 2) == 1 + 2 * ((p - 1) / p) ** 2


def test_at_the_threshold_about_one_pair_is_out_of_reach():
    for p in (47, 97, 211):
        fraction = threshold_fraction(p, 40)
        assert p**2 * math.exp(-fraction * 40) == pytest.approx(1)
        assert p**2 * (1 - fraction) ** 40 < 1


def test_what_makes_no_sense_is_refused():
    data = KOperandAddition(p=3, k=3).build(seed=0)
    with pytest.raises(SettingError, match=r"^informative: .*two in every sequence"):
        nearest_train_distance(data.train, data.test)
    with pytest.raises(SettingError, match=r"^period: "):
        nearest_train_distance(data.train, data.test, 0)
    with pytest.raises(SettingError, match=r"^reach: "):
        covered(torch.zeros(3, 3, dtype=torch.int64), -1)
    for value in (0, -1, math.inf, math.nan):
        with pytest.raises(SettingError, match=r"^covered: "):
            threshold_fraction(97, value)
