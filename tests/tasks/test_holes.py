"""Holes: what is trained on, what is tested, and which mirror images leak."""

from itertools import product

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from grokkit.errors import SettingError
from grokkit.tasks import PrimeField, TaskData
from grokkit.tasks.arithmetic import Function
from tests.tasks.reference import operands

P, EDGE = 11, 4
SHAPES = {
    "square": lambda i, j: i <= EDGE and j <= EDGE,
    "strip": lambda i, j: i <= EDGE,
}


def build(hole, function: Function = "x+y", seed=0, **changes) -> TaskData:
    return PrimeField(function, p=P, hole=hole, hole_edge=EDGE, **changes).build(seed)


@pytest.mark.parametrize("hole", SHAPES)
@pytest.mark.parametrize("split", ["pair", "unordered"])
def test_nothing_in_the_hole_is_trained_on_and_the_parts_are_what_they_are_called(hole, split):
    data = build(hole, split=split)
    inside = {pair for pair in product(range(P), repeat=2) if SHAPES[hole](*pair)}
    train, test = operands(data.train, (0, 1)), operands(data.test, (0, 1))
    parts = {name: operands(part, (0, 1)) for name, part in data.extra.items()}
    assert not inside & set(train)
    assert set(parts["hole"]) == inside
    assert set(parts["outside the hole"]) == set(test) - inside
    assert sorted(parts["hole"] + parts["outside the hole"]) == sorted(test)
    assert sorted(train + test) == sorted(product(range(P), repeat=2))


@pytest.mark.parametrize("hole", SHAPES)
def test_the_train_fraction_is_one_of_the_whole_table(hole):
    fractions = (0.1, 0.3, 0.45)
    sizes = [len(build(hole, train_fraction=fraction).train) for fraction in fractions]
    assert sizes == [round(fraction * P**2) for fraction in fractions]


@pytest.mark.parametrize("hole", SHAPES)
@pytest.mark.parametrize("split", ["pair", "unordered"])
@pytest.mark.parametrize("draws", [1, 2])
def test_each_part_knows_its_mirrored_pairs(hole, split, draws):
    more = {"length": 5, "distractors": "random", "draws": draws} if draws > 1 else {}
    data = build(hole, split=split, **more)
    places = (0, 2) if draws > 1 else (0, 1)
    trained = set(operands(data.train, places))
    for name, part in data.extra.items():
        expected = [(j, i) in trained for i, j in operands(part, places)]
        assert data.extra_mirrored[name].tolist() == expected
        if split == "unordered":
            assert not any(expected)
    together = torch.cat([data.extra_mirrored[name] for name in data.extra])
    assert data.mirrored is not None and together.sum() == data.mirrored.sum()


def test_no_mirror_image_of_a_square_is_trained_on_and_some_of_a_strip_are():
    assert not build("square").extra_mirrored["hole"].any()
    strip = build("strip")
    pairs = torch.tensor(operands(strip.extra["hole"], (0, 1)))
    leaks = strip.extra_mirrored["hole"]
    # The corner of the strip is its own mirror image.
    assert not leaks[(pairs <= EDGE).all(dim=1)].any()
    assert leaks.any()


def test_nothing_is_called_a_mirror_image_where_the_order_matters():
    data = build("strip", function="x-y")
    assert data.mirrored is None
    assert data.extra_mirrored == {}
    assert set(data.extra) == {"hole", "outside the hole"}


def test_another_seed_is_another_split_around_the_same_hole():
    first, second = build("square", seed=0), build("square", seed=1)
    assert first.train.group.tolist() != second.train.group.tolist()
    assert first.extra["hole"].group.tolist() == second.extra["hole"].group.tolist()


@given(
    p=st.sampled_from([2, 3, 5, 7, 11, 13]),
    edge=st.integers(0, 11),
    hole=st.sampled_from(["square", "strip"]),
    split=st.sampled_from(["pair", "unordered"]),
    fraction=st.floats(0.05, 0.95),
)
def test_a_hole_is_refused_by_name_or_can_be_built(p, edge, hole, split, fraction):
    try:
        task = PrimeField(
            "xy", p=p, hole=hole, hole_edge=edge, split=split, train_fraction=fraction
        )
        data = task.build(seed=0)
    except SettingError as refusal:
        assert refusal.field in ("train_fraction", "hole_edge")
        return
    assert abs(len(data.train) - round(fraction * (p * p))) <= (split == "unordered")
    assert len(data.extra["hole"]) == (edge + 1) * (edge + 1 if hole == "square" else p)
    assert len(data.extra["outside the hole"]) > 0


def test_the_largest_train_set_beside_a_hole_is_all_but_one_pair():
    outside = P**2 - (EDGE + 1) ** 2
    assert len(build("square", train_fraction=(outside - 1) / P**2).train) == outside - 1
    with pytest.raises(SettingError, match=rf"^train_fraction: .* at most {outside - 1}/{P**2}: "):
        build("square", train_fraction=outside / P**2)


def test_flags_of_further_test_sets_are_for_all_of_them_or_none():
    data = build("strip")
    with pytest.raises(SettingError, match=r"^extra_mirrored: "):
        TaskData(
            data.train,
            data.test,
            data.vocabulary,
            data.n_classes,
            data.extra,
            data.mirrored,
            {"hole": data.extra_mirrored["hole"]},
        )
