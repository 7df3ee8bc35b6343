"""Circles that are gone round k times, and orders that mean nothing."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from grokkit.diagnostics import logarithm_order, token_uniformity
from grokkit.errors import SettingError

PRIMES = [p for p in range(5, 114) if all(p % q for q in range(2, p))]


def circle(n: int, k: int, radius: float = 1.0, width: int = 6) -> torch.Tensor:
    """Number i at the angle 2 pi k i / n, in a plane at random, away from the origin."""
    angle = 2 * math.pi * k * torch.arange(n).double() / n
    random = torch.randn(width, 2, generator=torch.Generator().manual_seed(0)).double()
    flat = radius * torch.stack((torch.cos(angle), torch.sin(angle)), dim=1)
    return (flat @ torch.linalg.qr(random).Q.T + 5)[None]


def usual(n: int, radius: float) -> float:
    """The mean distance of two of n places on a circle, evenly spread."""
    return 2 * radius * sum(math.sin(math.pi * t / n) for t in range(1, n)) / (n - 1)


@pytest.mark.parametrize(("p", "k"), [(11, 1), (11, 5), (13, 4), (43, 20), (97, 36)])
def test_a_circle_has_the_med_of_its_frequency_and_its_best_step_undoes_it(p, k):
    found = token_uniformity(circle(p, k, 2.0), shuffles=3)
    assert found.med.item() == pytest.approx(4 * math.sin(math.pi * k / p), rel=1e-12)
    assert found.relative.item() == pytest.approx(found.med.item() / usual(p, 2.0), rel=1e-12)
    assert found.best.item() == pytest.approx(4 * math.sin(math.pi / p) / usual(p, 2.0), rel=1e-12)
    step = found.step.item()
    assert step * k % p in (1, p - 1) and 1 <= step <= p // 2


def test_the_last_step_home_counts():
    """Four numbers on a line: 1 + 1 + 1 + 3, not 1 + 1 + 1."""
    line = torch.arange(4.0).view(1, 4, 1)
    found = token_uniformity(line, shuffles=1)
    assert found.med.item() == 6 / 4
    assert found.relative.item() == pytest.approx(6 / 4 / (10 / 6), rel=1e-15)
    # With four numbers no step but 1 visits all; back is as far as forth.
    assert found.step.item() == 1 and found.best.item() == found.relative.item()


def test_a_step_that_leaves_numbers_out_is_no_walk():
    """Even numbers here and odd ones there: steps of two would stay on one side."""
    table = (torch.arange(8.0) + 100 * (torch.arange(8) % 2)).view(1, 8, 1)
    found = token_uniformity(table, shuffles=1)
    assert found.step.item() in (1, 3) and found.best > 0.9


def test_an_order_of_its_own_and_only_tokens_in_it():
    table = torch.cat((circle(7, 1)[:, [3, 0, 6, 1, 5, 2, 4]], torch.full((1, 2, 6), 99.0)), dim=1)
    order = torch.tensor([1, 3, 5, 0, 6, 4, 2])  # where each of 0..6 stands
    found = token_uniformity(table, order, shuffles=2)
    assert found.med.item() == pytest.approx(2 * math.sin(math.pi / 7), rel=1e-6)
    assert found.step.item() == 1


def test_the_mean_over_all_orders_is_one():
    """Exactly, of every table: each pair is as often neighbours as any other."""
    from itertools import permutations

    table = torch.randn(1, 5, 3, generator=torch.Generator().manual_seed(1))
    every = [
        token_uniformity(table, torch.tensor(order), shuffles=1).relative.item()
        for order in permutations(range(5))
    ]
    assert sum(every) / len(every) == pytest.approx(1, rel=1e-12)


def test_an_embedding_without_order_lies_in_its_null_and_a_circle_far_below():
    random = torch.randn(5, 43, 64, generator=torch.Generator().manual_seed(2))
    found = token_uniformity(random, seed=3)
    assert found.null.shape == found.best_null.shape == (5, 100)
    assert (found.null.mean(dim=1) - 1).abs().max() < 0.01
    strayed = (found.relative - 1).abs() / found.null.std(dim=1)
    assert (strayed < 4).all()
    # The best of many orders is below 1 by chance: its own null knows.
    assert (found.best < 1).all() and (found.best_null < 1).all()
    assert (found.best > found.best_null.amin(dim=1) - 0.02).all()
    ring = token_uniformity(circle(43, 9), seed=3)
    assert ring.best < 0.2 * ring.best_null.min()
    # Its frequency hides it from the natural order.
    assert ring.relative > ring.null.min() - 3 * ring.null.std()


def test_the_null_is_the_seeds_and_the_runs_are_shuffled_alike():
    table = torch.randn(1, 9, 4, generator=torch.Generator().manual_seed(4)).repeat(2, 1, 1)
    one, again, other = (token_uniformity(table, shuffles=5, seed=s) for s in (0, 0, 1))
    assert torch.equal(one.null, again.null) and torch.equal(one.best_null, again.best_null)
    assert not torch.equal(one.null, other.null)
    assert torch.equal(one.null[0], one.null[1])
    assert one.med.tolist() == other.med.tolist()


@given(st.integers(0, 2**16), st.floats(-3, 3), st.floats(-100, 100))
def test_relative_med_is_free_of_scale_and_place_and_med_goes_along(seed, size, shift):
    table = torch.randn(2, 7, 3, generator=torch.Generator().manual_seed(seed)).double()
    scale = 10**size
    plain, moved = (token_uniformity(x, shuffles=2) for x in (table, scale * (table + shift)))
    torch.testing.assert_close(moved.med, scale * plain.med, rtol=1e-9, atol=0)
    for name in ("relative", "best", "null", "best_null"):
        both = (getattr(moved, name), getattr(plain, name))
        torch.testing.assert_close(*both, rtol=1e-9, atol=0)
    assert torch.equal(moved.step, plain.step)


@pytest.mark.parametrize("p", PRIMES)
def test_the_logarithm_order_is_powers_of_the_least_primitive_root(p):
    order = logarithm_order(p).tolist()
    g = order[1]
    assert sorted(order) == list(range(1, p))
    assert order == [pow(g, i, p) for i in range(p - 1)]
    for smaller in range(2, g):
        assert len({pow(smaller, i, p) for i in range(p - 1)}) < p - 1


def test_known_primitive_roots():
    """Of 41 and 71 the least ones are large: 6 and 7."""
    roots = [int(logarithm_order(p)[1]) for p in (3, 5, 7, 23, 41, 71, 97, 113)]
    assert roots == [2, 2, 3, 5, 6, 7, 5, 3]


def test_a_circle_of_logarithms_is_even_in_their_order_and_another_root_is_another_step():
    p = 23
    place = torch.empty(p - 1, dtype=torch.long)
    place[logarithm_order(p) - 1] = torch.arange(p - 1)
    table = torch.cat((torch.zeros(1, 1, 6), circle(p - 1, 1)[:, place]), dim=1)
    even = 2 * math.sin(math.pi / (p - 1))
    found = token_uniformity(table, logarithm_order(p), shuffles=20)
    assert found.med.item() == pytest.approx(even, rel=1e-6)
    assert token_uniformity(table[:, 1:], shuffles=1).relative > 0.8
    # In powers of another root, g^3, the neighbours stand one third of a step ahead.
    root = pow(int(logarithm_order(p)[1]), 3, p)
    powers = torch.tensor([pow(root, i, p) for i in range(p - 1)])
    other = token_uniformity(table, powers, shuffles=1)
    assert other.med.item() == pytest.approx(2 * math.sin(3 * math.pi / (p - 1)), rel=1e-6)
    assert other.best.item() == pytest.approx(found.relative.item(), rel=1e-6)


def test_embeddings_that_coincide_have_no_relative_med():
    found = token_uniformity(torch.ones(1, 5, 3), shuffles=2)
    assert found.med.item() == 0 and found.relative.isnan() and found.null.isnan().all()


@pytest.mark.parametrize("p", [4, 9, 15, 25, 91])
def test_what_is_no_prime_has_no_logarithms(p):
    with pytest.raises(SettingError, match=f"p: got {p}; allowed: a prime number above 2"):
        logarithm_order(p)


def test_an_order_that_is_none_is_refused():
    table = torch.zeros(1, 5, 2)
    for order, allowed in (
        ([0, 1], "three different tokens"),
        ([0, 1, 2, 1], "three different"),
        ([0, 1, 5], "tokens 0..4"),
        ([-1, 1, 2], "tokens 0..4"),
    ):
        with pytest.raises(SettingError, match=f"order: got .*{allowed}"):
            token_uniformity(table, torch.tensor(order))
    with pytest.raises(SettingError, match="shuffles: got 0"):
        token_uniformity(table, shuffles=0)
