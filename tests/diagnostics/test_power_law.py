"""Against the package ``powerlaw``, and samples whose exponent is known."""

import math
import warnings

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from grokkit.diagnostics import fit_power_law


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
