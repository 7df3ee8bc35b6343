"""Classes that are points, a line, and tables whose centres all coincide."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from grokkit.diagnostics import class_spread, pair_spread
from grokkit.errors import SettingError


def sums(n: int, p: int | None = None) -> torch.Tensor:
    """i + j, modulo p where it is given."""
    number = torch.arange(n)
    total = number[:, None] + number
    return total if p is None else total % p


def test_classes_that_are_points_have_no_spread():
    centre = torch.randn(2, 4, 3, generator=torch.Generator().manual_seed(0))
    classes = torch.tensor([[0, 1, 2, 3, 3, 1], [2, 2, 2, 0, 0, 1]])
    points = centre.gather(1, classes.unsqueeze(2).expand(-1, -1, 3))
    found = class_spread(points, classes)
    assert found.spread.abs().max() < 1e-7 and found.relative.abs().max() < 1e-6


def test_the_spread_by_hand():
    """Class 0 at 0 and 2, class 1 at 10, 11 and 15: centres 1 and 12, all of it 7.6."""
    points = torch.tensor([0.0, 10, 11, 2, 15]).view(1, 5, 1)
    found = class_spread(points, torch.tensor([[0, 1, 1, 0, 1]]))
    usual = (7.6 + 2.4 + 3.4 + 5.6 + 7.4) / 5
    assert found.spread.item() == pytest.approx((1 + 2 + 1 + 1 + 3) / 5)
    assert found.relative.item() == pytest.approx(8 / 5 / usual)


def test_on_a_line_equal_sums_are_at_one_place():
    """phi(i) = i v, without a wrap: phi(i) + phi(j) = (i + j) v, exactly."""
    table = torch.arange(6.0)[:, None] * torch.tensor([1.0, -2.0]) + torch.tensor([3.0, 1.0])
    found = pair_spread(table[None], sums(6))
    assert found.spread.item() == 0 and found.relative.item() == 0
    # Modulo 6 the sums i + j and i + j + 6 have one result, and stand apart.
    assert pair_spread(table[None], sums(6, 6)).relative > 0.5


@pytest.mark.parametrize(("p", "k"), [(7, 1), (23, 5), (43, 20)])
def test_on_a_circle_every_centre_is_the_middle_though_the_sums_are_right(p, k):
    angle = 2 * math.pi * k * torch.arange(p).double() / p
    table = 2.0 * torch.stack((torch.cos(angle), torch.sin(angle)), dim=1)[None] + 7
    found = pair_spread(table, sums(p, p))
    # The length of phi(i) + phi(j) is 2 R abs(cos(pi k (i - j) / p)), about the middle.
    expected = 4 * sum(abs(math.cos(math.pi * k * t / p)) for t in range(p)) / p
    assert found.spread.item() == pytest.approx(expected, rel=1e-9)
    assert found.relative.item() == pytest.approx(1, rel=1e-9)


@given(st.integers(0, 2**16), st.integers(2, 11), st.sampled_from([1, -1]))
def test_of_a_latin_square_the_relative_spread_is_one_whatever_the_embeddings(seed, p, sign):
    table = torch.randn(2, p, 3, generator=torch.Generator().manual_seed(seed)).double()
    number = torch.arange(p)
    found = pair_spread(table, (number[:, None] + sign * number) % p)
    assert found.relative.tolist() == pytest.approx([1, 1], rel=1e-9)


def test_of_squares_the_spread_says_something():
    """a^2 + b^2 modulo 7, and embeddings that are a^2 on a line, without a wrap: near."""
    number = torch.arange(7)
    results = (number[:, None] ** 2 + number**2) % 7
    squares = ((number**2) % 7).double().view(1, 7, 1)
    random = torch.randn(1, 7, 1, generator=torch.Generator().manual_seed(0))
    spreads = [pair_spread(one, results).relative.item() for one in (squares, random)]
    assert spreads[0] < 0.8 * spreads[1] and spreads[1] < 1


def test_pairs_are_what_they_are_one_by_one():
    random = torch.Generator().manual_seed(2)
    table = torch.randn(2, 6, 3, generator=random).double()
    results = (torch.arange(4)[:, None] * torch.arange(5)) % 5
    found = pair_spread(table, results)
    for run in range(2):
        pairs = [(i, j) for i in range(4) for j in range(5)]
        points = [table[run, i] + table[run, j] for i, j in pairs]
        middle = torch.stack(points).mean(dim=0)
        usual = sum((x - middle).norm().item() for x in points) / len(points)
        apart = []
        for (i, j), x in zip(pairs, points, strict=True):
            same = [y for (a, b), y in zip(pairs, points, strict=True) if a * b % 5 == i * j % 5]
            apart.append((x - torch.stack(same).mean(dim=0)).norm().item())
        assert found.spread[run].item() == pytest.approx(sum(apart) / len(apart))
        assert found.relative[run].item() == pytest.approx(sum(apart) / len(apart) / usual)


def test_classes_that_say_nothing_have_a_relative_spread_of_about_one():
    random = torch.Generator().manual_seed(3)
    points = torch.randn(3, 2000, 8, generator=random)
    found = class_spread(points, torch.randint(5, (3, 2000), generator=random))
    assert found.relative.tolist() == pytest.approx(3 * [1], abs=0.01)


@given(st.integers(0, 2**16), st.floats(-3, 3), st.floats(-10, 10))
def test_only_the_spread_itself_depends_on_scale_and_nothing_on_place(seed, size, shift):
    random = torch.Generator().manual_seed(seed)
    points = torch.randn(2, 9, 4, generator=random).double()
    classes = torch.randint(3, (2, 9), generator=random)
    scale = 10**size
    plain, moved = (class_spread(x, classes) for x in (points, scale * (points + shift)))
    torch.testing.assert_close(moved.spread, scale * plain.spread, rtol=1e-9, atol=0)
    torch.testing.assert_close(moved.relative, plain.relative, rtol=1e-9, atol=0)


def test_what_makes_no_sense_is_refused_and_one_place_has_no_spread():
    with pytest.raises(SettingError, match=r"results: got \(6, 6\); allowed: at most 5"):
        pair_spread(torch.zeros(1, 5, 2), sums(6))
    assert class_spread(torch.ones(1, 3, 2), torch.zeros(1, 3, dtype=torch.long)).relative.isnan()
