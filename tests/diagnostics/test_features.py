"""Spectra that are known, and laws that hold for all."""

import math
import warnings

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from grokkit.diagnostics import compressibility
from grokkit.diagnostics.features import feature_spectrum, fit_power_law, ranks


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
    assert found["effective_rank"].item() == pytest.approx(d, rel=1e-12)
    assert found["numerical_rank"].item() == d
    assert found["stable_rank"].item() == pytest.approx(d, rel=1e-12)
    assert found["norm_ratio"].item() == pytest.approx(math.sqrt(d), rel=1e-12)
    assert found["alpha"].isnan().all()  # all eigenvalues are equal


def test_one_direction_has_every_rank_one():
    h = torch.arange(1.0, 7.0)[:, None] * torch.tensor([2.0, -1.0, 0.5])
    found = compressibility(torch.stack((h, -h * 100)))
    for name in ("effective_rank", "numerical_rank", "stable_rank", "norm_ratio"):
        assert found[name].tolist() == pytest.approx([1, 1], rel=1e-6)


def test_each_measure_by_hand():
    z = [8.0, 4.0, 4.0]
    spectrum = torch.tensor([[*z, 0.0], [1.0, 0.0, 0.0, 0.0]]).double()
    # p = 1/2, 1/4, 1/4: the entropy is 1.5 log 2.
    found = ranks(spectrum)
    assert found["effective_rank"].tolist() == pytest.approx([2**1.5, 1], rel=1e-14)
    assert found["stable_rank"].tolist() == [2, 1]
    assert found["norm_ratio"].tolist() == pytest.approx([math.sqrt(96) / 8, 1], rel=1e-14)
    assert found["numerical_rank"].tolist() == [3, 1]


def test_the_numerical_rank_is_that_of_torch_for_the_gram_matrix_in_float32():
    for faint, rank in ((1.0, 6), (1e-2, 6), (1e-4, 3), (1e-6, 3)):
        h = with_values([1.0, 0.7, 0.3, faint, faint, faint], 40, 12).float()
        gram = (h.transpose(1, 2) @ h)[0]
        assert ranks(feature_spectrum(h))["numerical_rank"].item() == rank
        assert int(torch.linalg.matrix_rank(gram)) == rank


def test_a_heavy_tail_has_a_low_alpha():
    """Eigenvalues at the quantiles of a Pareto distribution: then alpha is its exponent."""
    place = (torch.arange(200).double() + 0.5) / 200
    found = []
    for exponent in (1.5, 2.5):
        z = place ** (-1 / (exponent - 1))
        found.append(compressibility(z.sqrt().diag()[None])["alpha"].item())
    assert found == pytest.approx([1.5, 2.5], rel=0.05)


def test_alpha_is_of_eigenvalues_that_are_more_than_rounding():
    """Five directions out of 250, in float32: 245 eigenvalues are rounding errors."""
    sizes = [2.0, 1.7, 1.6, 1.0, 0.7]
    found = compressibility(with_values(sizes, 300, 250).float())
    alone = fit_power_law(torch.tensor([[size**2 for size in sizes]], dtype=torch.float64))
    assert found["alpha"].item() == pytest.approx(alone.alpha.item(), rel=1e-4)


def test_features_that_are_not_there_are_nan_and_their_neighbours_are_not():
    h = torch.randn(3, 20, 6, generator=torch.Generator().manual_seed(3))
    alone = compressibility(h[:1])
    h[1] = 0
    h[2, 4, 4] = torch.inf
    found = compressibility(h)
    for name in ("effective_rank", "stable_rank", "norm_ratio", "alpha"):
        value = found[name]
        assert value[0].item() == alone[name].item()
        assert value[1:].isnan().all(), name
    assert found["numerical_rank"].tolist() == [6, 0, 0]


@given(
    st.integers(0, 2**16), st.integers(1, 12), st.integers(1, 12), st.floats(-3, 3), st.integers()
)
def test_ranks_are_free_of_scale_and_basis_and_stand_in_their_order(seed, n, width, size, turn):
    random = torch.Generator().manual_seed(seed)
    h = torch.randn(2, n, width, generator=random).double()
    turned = 10**size * h @ orthonormal(width, width, turn % 2**16)
    one, other = ranks(feature_spectrum(h)), ranks(feature_spectrum(turned))
    for measure in ("effective_rank", "stable_rank", "norm_ratio"):
        torch.testing.assert_close(one[measure], other[measure], rtol=1e-8, atol=0)
    rank = torch.full((2,), min(n, width)).double()
    slack = 1 + 1e-9
    assert (one["norm_ratio"] <= rank.sqrt() * slack).all()
    # exp of the Shannon entropy lies between exp of the min-entropy and the number of values.
    assert (one["stable_rank"] <= one["effective_rank"] * slack).all()
    assert (one["effective_rank"] <= rank * slack).all()
    assert (one["norm_ratio"] * slack >= 1).all()


def pareto(alpha: float, n: int, seed: int) -> torch.Tensor:
    """A sample [1, n] of the power law from 1 up."""
    random = torch.Generator().manual_seed(seed)
    return torch.rand(1, n, generator=random).double() ** (-1 / (alpha - 1))


def packages(values: torch.Tensor) -> tuple[float, float, float]:
    """alpha, xmin and D by the package, without its limit on alpha."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns of its own deprecated names
        import powerlaw

        fit = powerlaw.Fit(values.numpy(), verbose=0, parameter_ranges={"alpha": [1, None]})
    return float(fit.alpha), float(fit.xmin or 0), float(fit.D)


@pytest.mark.parametrize("alpha", [1.7, 2.5, 3.6])
@pytest.mark.parametrize("n", [20, 128])
def test_the_fit_is_that_of_the_package(alpha, n):
    for seed in range(3):
        sample = pareto(alpha, n, seed)
        # Below 2 no power law: the place where it begins has to be found.
        sample[0, : n // 4] = 2 * torch.linspace(0.01, 0.99, n // 4)
        found = fit_power_law(sample)
        expected = packages(sample[0])
        ours = (found.alpha.item(), found.xmin.item(), found.distance.item())
        # It solves numerically, to some digits, where alpha is above 3 or below 1.5.
        assert ours == pytest.approx(expected, rel=1e-4)
        assert found.tail.item() == int((sample >= found.xmin).sum())


def test_the_package_alone_would_stop_at_three():
    """The reason for a fit of our own: an alpha of 4 comes out as 3."""
    sample = pareto(4.0, 200, 0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import powerlaw

        capped = powerlaw.Fit(sample[0].numpy(), verbose=0).alpha
    assert capped == pytest.approx(3.0, abs=1e-6)
    assert fit_power_law(sample).alpha.item() == pytest.approx(4.0, rel=0.15)


@pytest.mark.parametrize("alpha", [1.5, 2.0, 3.0, 5.0])
def test_a_pareto_sample_gives_its_exponent(alpha):
    """Within three standard errors, (alpha - 1) / sqrt(n), of the tail that was chosen."""
    found = fit_power_law(torch.cat([pareto(alpha, 1000, seed) for seed in range(4)]))
    error = (alpha - 1) / found.tail.double().sqrt()
    assert ((found.alpha - alpha).abs() < 3 * error).all()


def test_from_xmin_up_alpha_and_distance_are_the_formulas():
    n, a = 40, 2.2
    x = (1 - torch.arange(n).double() / n) ** (-1 / (a - 1))
    found = fit_power_law(x.flip(0)[None])
    kept = x[x >= found.xmin.item()]
    alpha = 1 + len(kept) / sum(math.log(v / kept[0]) for v in kept.tolist())
    assert found.alpha.item() == pytest.approx(alpha, rel=1e-12)
    below = torch.arange(len(kept)) / len(kept)
    distance = (below - (1 - (kept / kept[0]) ** (1 - alpha))).abs().max()
    assert found.distance.item() == pytest.approx(distance.item(), abs=1e-12)


def test_the_two_largest_values_are_no_place_to_begin():
    """Two values would fit these better than any three do, and say nothing."""
    values = torch.tensor([[0.0, 14, 15.9, 16]]).double().exp()
    found = fit_power_law(values)
    assert found.tail.item() == 3 and found.xmin == values[0, 1]
    assert found.distance.item() > 0.5 - math.exp(-2)  # what two values would have
    assert found.alpha.item() == pytest.approx(packages(values[0])[0], rel=1e-3)


def test_too_few_values_and_those_at_the_floor_are_left_out():
    values = torch.tensor([[0.0, -1, 1, 2, 3, 3], [9, 9, 9, 9, 9, 9], [0, -1, 1, 2, 3, 4]])
    found = fit_power_law(values)
    assert found.alpha.isnan().tolist() == [True, True, False]
    assert found.tail.tolist()[:2] == [0, 0]
    # Rounding errors beside five eigenvalues: without a floor the fit is theirs.
    five = torch.tensor([[4.0, 3.0, 2.5, 1.0, 0.5]]).double()
    rounded = torch.cat((1e-16 * pareto(2.5, 300, 0), five), dim=1)
    assert fit_power_law(rounded).xmin.item() < 1e-14
    floored, alone = fit_power_law(rounded, floor=1e-6), fit_power_law(five)
    assert floored.alpha.item() == alone.alpha.item() and floored.xmin.item() == alone.xmin.item()


@given(st.integers(0, 2**16), st.floats(1.2, 6), st.integers(4, 60), st.floats(-3, 3))
def test_alpha_is_free_of_scale_and_order_and_xmin_goes_along(seed, alpha, n, size):
    sample = pareto(alpha, n, seed)
    plain, scaled = fit_power_law(sample), fit_power_law(10**size * sample.flip(1))
    torch.testing.assert_close(scaled.alpha, plain.alpha, rtol=1e-6, atol=0)
    torch.testing.assert_close(scaled.xmin, 10**size * plain.xmin, rtol=1e-9, atol=0)
    assert torch.equal(scaled.tail, plain.tail)
