"""Gaussian laws of low rank against dense ones, and scores against their closed forms."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from grokkit.errors import SettingError
from grokkit.operators import (
    GaussianLaw,
    covariance_error,
    coverage,
    crps,
    energy_score,
    fitted,
    wasserstein,
)


def draw(rank: int, grid: int, seed: int = 0, examples: int = 2) -> GaussianLaw:
    stream = torch.Generator().manual_seed(seed)

    def normal(*shape: int) -> torch.Tensor:
        return torch.randn(shape, generator=stream, dtype=torch.float64)

    variance = normal(examples, grid).square() + 0.05
    return GaussianLaw(normal(examples, grid), normal(examples, rank, grid), variance)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 6), st.integers(6, 12), st.integers(0, 99))
def test_the_density_is_that_of_a_dense_normal(rank: int, grid: int, seed: int):
    law = draw(rank, grid, seed)
    fields = law.sample(3, torch.Generator().manual_seed(seed + 1))
    dense = torch.distributions.MultivariateNormal(law.mean, law.covariance())
    for sample in range(3):
        torch.testing.assert_close(
            law.log_density(fields)[:, sample],
            dense.log_prob(fields[:, sample]),
            rtol=1e-9,
            atol=1e-9,
        )


def test_its_gradient_is_that_of_the_dense_one():
    law, fields = draw(3, 8), draw(1, 8, seed=5).mean[:, None]
    for name in ("mean", "factor", "variance"):
        parts = {part: getattr(law, part).clone() for part in ("mean", "factor", "variance")}
        parts[name].requires_grad_()
        both = GaussianLaw(**parts)
        dense = torch.distributions.MultivariateNormal(both.mean, both.covariance())
        (ours,) = torch.autograd.grad(both.log_density(fields).sum(), parts[name])
        (theirs,) = torch.autograd.grad(dense.log_prob(fields[:, 0]).sum(), parts[name])
        torch.testing.assert_close(ours, theirs, rtol=1e-8, atol=1e-8)


def test_samples_have_the_mean_and_the_covariance():
    law = draw(2, 6)
    samples = law.sample(40_000, torch.Generator().manual_seed(1))
    size = law.covariance().diagonal(dim1=1, dim2=2).sqrt()
    error = ((samples.mean(dim=1) - law.mean) / size).abs().max()
    assert error < 5 / 200  # five standard errors
    gap = torch.stack([torch.cov(one.T) for one in samples]) - law.covariance()
    assert (gap.abs() / (size[:, :, None] * size[:, None, :])).max() < 5 * 2**0.5 / 200


def test_the_order_of_the_factors_and_of_the_draws_does_not_matter():
    law = draw(4, 8)
    fields = law.sample(5, torch.Generator().manual_seed(1))
    mixed = GaussianLaw(law.mean, law.factor[:, [2, 0, 3, 1]], law.variance)
    torch.testing.assert_close(mixed.log_density(fields), law.log_density(fields))
    truth, order = law.sample(5, torch.Generator().manual_seed(2)), torch.tensor([3, 1, 4, 0, 2])
    for score in (wasserstein, crps, energy_score, covariance_error, coverage):
        torch.testing.assert_close(score(fields[:, order], truth), score(fields, truth))
        torch.testing.assert_close(score(fields, truth[:, order]), score(fields, truth))


def test_a_fitted_root_has_the_covariance_of_the_samples():
    samples = draw(3, 8).sample(20, torch.Generator().manual_seed(3))[0]
    root = fitted(samples)
    torch.testing.assert_close(root.mT @ root, torch.cov(samples.T))


def test_the_wasserstein_distance_is_that_of_scipy():
    ours, truth = (draw(2, 3, seed).sample(50, torch.Generator()) for seed in (0, 1))
    each = [
        stats.wasserstein_distance(ours[example, :, place], truth[example, :, place])
        for example in range(2)
        for place in range(3)
    ]
    assert wasserstein(ours, truth).item() == pytest.approx(np.mean(each))


def test_the_crps_of_a_normal_law_is_its_closed_form():
    stream = torch.Generator().manual_seed(4)
    ours = torch.randn(1, 4000, 1, generator=stream, dtype=torch.float64)
    for y in (0.0, 1.3):
        exact = y * (2 * stats.norm.cdf(y) - 1) + 2 * stats.norm.pdf(y) - 1 / np.sqrt(np.pi)
        assert crps(ours, torch.full((1, 1, 1), y).double()).item() == pytest.approx(
            exact, abs=0.03
        )


def test_scores_are_unbiased_and_one_draw_is_a_law_without_spread():
    """For two draws E|X - y| - E|X - X'| / 2 by hand; for one, the absolute error."""
    ours = torch.tensor([[[0.0, 3.0], [2.0, 5.0]]])
    truth = torch.tensor([[[1.0, 4.0]]])
    assert crps(ours, truth).item() == pytest.approx(1 - 2 / 2, abs=1e-6)
    assert energy_score(ours, truth).item() == pytest.approx(1 - 2 / 2, abs=1e-6)
    assert crps(ours[:, :1], truth).item() == pytest.approx(1)


def test_one_place_makes_the_energy_score_the_crps():
    ours, truth = (draw(1, 1, seed).sample(30, torch.Generator()) for seed in (0, 1))
    torch.testing.assert_close(energy_score(ours, truth), crps(ours, truth))


def test_coverage_and_covariance_error_of_the_truth_itself_and_of_nothing():
    truth = draw(2, 4).sample(2000, torch.Generator().manual_seed(1))
    assert coverage(truth, truth).item() == pytest.approx(0.9, abs=1e-3)
    assert covariance_error(truth, truth).item() == 0
    assert covariance_error(truth[:, :1].expand_as(truth), truth).item() == pytest.approx(1)


@pytest.mark.parametrize(
    ("make", "line"),
    [
        (lambda: draw(7, 6), "rank: got 7; allowed: at most 6, the places of the grid"),
        (
            lambda: GaussianLaw(torch.zeros(1, 2), torch.zeros(1, 0, 2), torch.zeros(1, 2)),
            "variance: got 0.0; allowed: above 0",
        ),
        (
            lambda: draw(1, 6).log_density(torch.zeros(2, 1, 5).double()),
            "fields: got '5 places'; allowed: 6, as the law has",
        ),
        (
            lambda: wasserstein(torch.zeros(1, 2, 3), torch.zeros(1, 3, 3)),
            r"fields: got 'shapes \(1, 2, 3\) and \(1, 3, 3\)'; allowed: one shape",
        ),
    ],
)
@pytest.mark.usefixtures("unchecked")
def test_what_does_not_fit_is_refused_in_one_line(make, line: str):
    with pytest.raises(SettingError, match=f"^{line}$"):
        make()
