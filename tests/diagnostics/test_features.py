"""Spectra that are known, and laws that hold for all."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from grokkit.diagnostics import (
    compressibility,
    effective_rank,
    feature_spectrum,
    fit_power_law,
    norm_ratio,
    numerical_rank,
    stable_rank,
)


def orthonormal(rows: int, columns: int, seed: int = 0) -> torch.Tensor:
    """Columns of length 1 at right angles."""
    random = torch.Generator().manual_seed(seed)
    return torch.linalg.qr(torch.randn(rows, columns, generator=random).double()).Q


def with_values(sizes: list[float], examples: int, width: int) -> torch.Tensor:
    """Features [1, example, width] whose singular values are given."""
    left, right = orthonormal(examples, len(sizes)), orthonormal(width, len(sizes), 1)
    return (left * torch.tensor(sizes, dtype=torch.float64) @ right.T)[None]


@pytest.mark.parametrize(("examples", "width"), [(9, 5), (5, 9), (5, 5)])
def test_the_spectrum_is_that_of_the_gram_matrix_uncentred(examples, width):
    sizes = [3.0, 2.0, 0.5, 0.1]
    spectrum = feature_spectrum(with_values(sizes, examples, width))
    assert spectrum.shape == (1, min(examples, width))
    expected = torch.tensor([size**2 for size in sizes] + [0.0], dtype=torch.float64)
    torch.testing.assert_close(spectrum[0], expected, atol=1e-14, rtol=1e-12)
    # A vector common to all rows is a direction: it is not taken away.
    same = torch.ones(1, examples, width)
    assert feature_spectrum(same)[0, 0].item() == pytest.approx(examples * width)


@pytest.mark.parametrize("d", [2, 7])
def test_features_at_right_angles_of_one_length_have_every_rank_d(d):
    h = 3.0 * torch.eye(d).repeat(1, 2, 1)
    found = compressibility(h)
    assert found.effective_rank.item() == pytest.approx(d, rel=1e-12)
    assert found.numerical_rank.item() == d
    assert found.stable_rank.item() == pytest.approx(d, rel=1e-12)
    assert found.norm_ratio.item() == pytest.approx(math.sqrt(d), rel=1e-12)
    assert found.alpha.isnan().all() and not found.tail.any()  # all eigenvalues are equal


def test_one_direction_has_every_rank_one():
    h = torch.arange(1.0, 7.0)[:, None] * torch.tensor([2.0, -1.0, 0.5])
    found = compressibility(torch.stack((h, -h * 100)))
    for one in (found.effective_rank, found.numerical_rank, found.stable_rank, found.norm_ratio):
        assert one.tolist() == pytest.approx([1, 1], rel=1e-6)


def test_each_measure_by_hand():
    z = [8.0, 4.0, 4.0]
    spectrum = torch.tensor([[*z, 0.0], [1.0, 0.0, 0.0, 0.0]]).double()
    # p = 1/2, 1/4, 1/4: the entropy is 1.5 log 2.
    assert effective_rank(spectrum).tolist() == pytest.approx([2**1.5, 1], rel=1e-14)
    assert stable_rank(spectrum).tolist() == [2, 1]
    assert norm_ratio(spectrum).tolist() == pytest.approx([math.sqrt(96) / 8, 1], rel=1e-14)
    assert numerical_rank(spectrum).tolist() == [3, 1]
    assert numerical_rank(spectrum, 0.5).tolist() == [1, 1]


def test_the_numerical_rank_is_that_of_torch_for_the_gram_matrix_in_float32():
    for faint, rank in ((1.0, 6), (1e-2, 6), (1e-4, 3), (1e-6, 3)):
        h = with_values([1.0, 0.7, 0.3, faint, faint, faint], 40, 12).float()
        gram = (h.transpose(1, 2) @ h)[0]
        assert numerical_rank(feature_spectrum(h)).item() == rank
        assert int(torch.linalg.matrix_rank(gram)) == rank


def test_a_heavy_tail_has_a_low_alpha():
    """Eigenvalues at the quantiles of a Pareto distribution: then alpha is its exponent."""
    place = (torch.arange(200).double() + 0.5) / 200
    found = []
    for exponent in (1.5, 2.5):
        z = place ** (-1 / (exponent - 1))
        found.append(compressibility(z.sqrt().diag()[None]).alpha.item())
    assert found == pytest.approx([1.5, 2.5], rel=0.05)


def test_alpha_is_of_eigenvalues_that_are_more_than_rounding():
    """Five directions out of 250, in float32: 245 eigenvalues are rounding errors."""
    sizes = [2.0, 1.7, 1.6, 1.0, 0.7]
    found = compressibility(with_values(sizes, 300, 250).float())
    alone = fit_power_law(torch.tensor([[size**2 for size in sizes]], dtype=torch.float64))
    assert found.alpha.item() == pytest.approx(alone.alpha.item(), rel=1e-4)
    assert found.tail.item() == alone.tail.item()


def test_features_that_are_not_there_are_nan_and_their_neighbours_are_not():
    h = torch.randn(3, 20, 6, generator=torch.Generator().manual_seed(3))
    alone = compressibility(h[:1])
    h[1] = 0
    h[2, 4, 4] = torch.inf
    found = compressibility(h)
    for name in ("effective_rank", "stable_rank", "norm_ratio", "alpha"):
        value = getattr(found, name)
        assert value[0].item() == getattr(alone, name).item()
        assert value[1:].isnan().all(), name
    assert found.numerical_rank.tolist() == [6, 0, 0]


@given(
    st.integers(0, 2**16), st.integers(1, 12), st.integers(1, 12), st.floats(-3, 3), st.integers()
)
def test_ranks_are_free_of_scale_and_basis_and_stand_in_their_order(seed, n, width, size, turn):
    random = torch.Generator().manual_seed(seed)
    h = torch.randn(2, n, width, generator=random).double()
    turned = 10**size * h @ orthonormal(width, width, turn % 2**16)
    one, other = feature_spectrum(h), feature_spectrum(turned)
    for measure in (effective_rank, stable_rank, norm_ratio):
        torch.testing.assert_close(measure(one), measure(other), rtol=1e-8, atol=0)
    rank = torch.full((2,), min(n, width)).double()
    slack = 1 + 1e-9
    assert (norm_ratio(one) <= rank.sqrt() * slack).all()
    # exp of the Shannon entropy lies between exp of the min-entropy and the number of values.
    assert (stable_rank(one) <= effective_rank(one) * slack).all()
    assert (effective_rank(one) <= rank * slack).all()
    assert (norm_ratio(one) * slack >= 1).all()
