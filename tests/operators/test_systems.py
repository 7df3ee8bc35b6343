"""The solvers against closed forms: laws, orders in dt, and what is refused."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import torch
from scipy.integrate import quad
from scipy.special import ndtri

from grokkit.errors import SettingError
from grokkit.operators import (
    PHYSICS,
    SYSTEMS,
    System,
    heat_covariance,
    heat_mean,
    places,
    rough_covariance,
    solve,
)
from grokkit.operators.systems import RATE, VARIANCE, SystemName


def stream(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def test_the_heat_equation_has_its_exact_law_whatever_the_steps():
    """Mean, covariance and the Wasserstein distance of each marginal, to sampling error."""
    for steps, count in ((1, 20_000), (7, 5_000)):
        system = System("heat", grid=16, steps=steps)
        start = system.start(1, stream(1))
        ends = system.end(start.expand(count, -1), stream(2))
        covariance = heat_covariance(system)
        size = covariance.diagonal().sqrt()
        assert ((ends.mean(dim=0) - heat_mean(system, start)[0]) / size).abs().max() < (
            5 / count**0.5
        )
        gap = (torch.cov(ends.T) - covariance) / (size[:, None] * size)
        assert gap.abs().max() < 5 * (2 / count) ** 0.5
        scaled = ((ends - heat_mean(system, start)) / size).sort(dim=0).values
        normal = torch.from_numpy(ndtri((np.arange(count) + 0.5) / count))
        assert (scaled - normal[:, None]).abs().mean() < 3 / count**0.5


def test_the_covariance_of_the_heat_equation_is_the_same_on_every_grid():
    coarse, fine = (heat_covariance(System("heat", grid=grid)) for grid in (32, 64))
    # The grid's highest waves are cut: they hold this much of the variance.
    torch.testing.assert_close(coarse, fine[::2, ::2], rtol=0, atol=1e-3)


@pytest.mark.parametrize("name", ["burgers", "phi4"])
def test_without_noise_an_equation_has_its_closed_form_and_an_error_of_first_order(
    name: SystemName,
):
    """Burgers by Cole and Hopf, u = -2 nu p_x / p; phi^4 of a constant, u' = a (u - u^3)."""
    system, physics = System(name, grid=64, noise=0.0), PHYSICS[name]
    x, t = places(64), physics.time
    if name == "burgers":
        rate = physics.nu * (2 * np.pi) ** 2

        def exact(t: float) -> torch.Tensor:
            wave = 0.8 * np.exp(-rate * t)
            slope = -2 * torch.pi * wave * (2 * torch.pi * x).sin()
            return -2 * physics.nu * slope / (1 + wave * (2 * torch.pi * x).cos())
    else:

        def exact(t: float) -> torch.Tensor:
            grown = 0.3 * np.exp(RATE * t)
            return torch.full_like(x, grown / np.sqrt(1 + 0.3**2 * (np.exp(2 * RATE * t) - 1)))

    errors = [
        (solve(system, exact(0)[None], stream(), steps)[0] - exact(t)).abs().max().item()
        for steps in (800, 1600, 3200)
    ]
    assert errors[0] < 0.02
    np.testing.assert_allclose([a / b for a, b in pairwise(errors)], 2, rtol=0.06)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["burgers", "phi4"])
def test_with_the_same_noise_the_error_of_a_path_is_of_first_order(name: SystemName):
    system = System(name, grid=16)
    start = system.start(20, stream(1))
    fine, *coarse = (solve(system, start, stream(2), 4096, c) for c in (1, 4, 16))
    # The median: a few paths of phi^4 stop between its two wells and fall to either side.
    four, sixteen = ((one - fine).square().mean(1).sqrt().median().item() for one in coarse)
    assert four < 0.005
    # Each errs against the finest, which errs itself: as 4 - 1 and 16 - 1. Of order a half it
    # would be as 2 - 1 and 4 - 1, which is a slope of 0.68 here.
    assert np.log(sixteen / four) / np.log(15 / 3) == pytest.approx(1, abs=0.2)


def test_coarser_steps_take_the_same_noise():
    """The heat equation has no other error, so its paths agree."""
    system = System("heat", grid=16)
    start = system.start(3, stream(1))
    ends = [solve(system, start, stream(2), 32, c) for c in (1, 4, 32)]
    torch.testing.assert_close(ends[0], ends[1])
    torch.testing.assert_close(ends[0], ends[2])


def test_the_covariance_of_rough_volatility_is_the_integral_of_its_kernel():
    h, times = 0.1, np.array([0.2, 0.5, 1.0])
    found = rough_covariance(times, h)
    for i, s in enumerate(times):
        for j, t in enumerate(times):
            low, high = min(s, t), max(s, t)
            if i != j:
                inner, _ = quad(
                    lambda r, low=low, high=high: (high - r) ** (h - 0.5),
                    *(0, low),
                    weight="alg",
                    wvar=(0, h - 0.5),
                )
                assert found[i, j] == pytest.approx(2 * h * inner, rel=1e-7)
            cross, _ = quad(lambda r: 1.0, 0, low, weight="alg", wvar=(0, h - 0.5 if s <= t else 0))
            if s > t:
                cross, _ = quad(lambda r, s=s: (s - r) ** (h - 0.5), 0, low)
            assert found[i, 3 + j] == pytest.approx(np.sqrt(2 * h) * cross, rel=1e-6)
    np.testing.assert_allclose(found.diagonal(), [*times ** (2 * h), *times])
    assert np.linalg.eigvalsh(rough_covariance(np.arange(1, 64) / 64)).min() > 0


def test_a_rough_price_is_a_martingale_with_the_forward_variance():
    """E[exp X_T] = 1, and the variance of the martingale part is the integral of xi."""
    system = System("rough", grid=32)
    start = torch.zeros(20_000, 32, dtype=torch.float64)
    ends = system.end(start, stream(3))
    assert (ends[:, 0] == 0).all()
    price = ends[:, -1].exp()
    assert abs(price.mean().item() - 1) < 5 * price.std().item() / 20_000**0.5
    # E X = -E int V / 2, and xi is constant here
    mean, gone = ends[:, -1].mean().item(), 31 / 32
    error = 5 * ends[:, -1].std().item() / 20_000**0.5
    assert mean == pytest.approx(-VARIANCE * gone / 2, abs=error)


def test_without_noise_all_samples_are_the_same():
    for name in SYSTEMS:
        fields = System(name, 16, 0.0, 128, inputs=2, tests=2, samples=3).build(0)
        assert (fields.law == fields.law[:, :1]).all() and fields.targets.isfinite().all()


def test_a_finer_grid_has_the_same_initial_fields():
    system = System("phi4", grid=16)
    coarse, fine = (replace(system, grid=n).start(4, stream(1)) for n in (16, 64))
    torch.testing.assert_close(coarse, fine[:, ::4])
    smaller = replace(system, tests=4, samples=40).with_grid(64)
    assert (smaller.grid, smaller.tests, smaller.samples) == (64, 2, 10)


def test_data_hang_on_the_seed_alone_and_no_two_halves_are_the_same():
    system = System("burgers", grid=16, inputs=4, tests=2, samples=3)
    one, again, other = system.build(1), system.build(1), system.build(2)
    for name, values in vars(one).items():
        assert (values == getattr(again, name)).all()
        assert (values != getattr(other, name)).any()
    assert (one.law != one.again).any() and one.law.shape == (2, 3, 16)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("field", "value", "allowed"),
    [
        ("name", "wave", "heat, burgers, phi4, rough"),
        ("grid", 7, "a whole number, 8..1024"),
        ("grid", 9, "an even number"),
        ("noise", -1.0, "0 or more"),
        ("noise", float("nan"), "0 or more"),
        ("steps", 0, "1 or more"),
        ("inputs", 1, "2 or more"),
        ("tests", 0, "1 or more"),
        ("samples", True, "2 or more"),
    ],
)
def test_a_setting_that_makes_no_sense_is_refused(field: str, value: object, allowed: str):
    with pytest.raises(SettingError, match=rf"^{field}: got .*; allowed: .*{allowed}") as caught:
        System(**{field: value})  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)


def test_fields_of_another_grid_or_not_finite_are_refused():
    system = System("heat", grid=16)
    with pytest.raises(SettingError, match="start: got '8 places'; allowed: 16, the grid"):
        system.end(torch.zeros(1, 8, dtype=torch.float64), stream())
    with pytest.raises(SettingError, match="start: got 'a field with nan or infinity'"):
        system.end(torch.full((1, 16), np.nan, dtype=torch.float64), stream())
    with pytest.raises(SettingError, match="coarsen: got 3; allowed: a divisor of 8 steps"):
        solve(system, torch.zeros(1, 16, dtype=torch.float64), stream(), 8, 3)
