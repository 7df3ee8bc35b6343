"""The rivals: grids, sizes, losses, and a sampler with a known answer."""

import math

import pytest
import torch

from grokkit.errors import SettingError
from grokkit.operators import (
    TRAINED,
    FourierOperator,
    GaussianOperator,
    MeanOperator,
    denoise,
)


def stream(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def waves(grid: int, count: int = 3) -> torch.Tensor:
    x = torch.arange(grid) / grid
    return torch.stack([(2 * torch.pi * (k + 1) * x + k).cos() for k in range(count)])


def test_a_spectral_layer_means_the_same_on_every_grid():
    """Of a smooth field; the gelu makes waves that only the finer grid has, which are small."""
    network = FourierOperator(8, 4, 2, stream())
    coarse, fine = (network(waves(n)[:, None]) for n in (64, 256))
    torch.testing.assert_close(coarse, fine[..., ::4], rtol=0, atol=0.02 * coarse.std().item())


@pytest.mark.parametrize("name", TRAINED)
def test_rivals_are_as_large_as_the_fno_to_a_tenth(name: str):
    sizes = [
        sum(one.numel() for one in TRAINED[key](16, 8, stream()).parameters())
        for key in (name, "fno")
    ]
    assert sizes[0] == pytest.approx(sizes[1], rel=0.1)


@pytest.mark.parametrize("name", TRAINED)
def test_a_rival_learns_and_samples_with_the_noise_that_it_is_given(name: str):
    start, end = waves(16), 0.5 * waves(16)
    rival = TRAINED[name](8, 4, stream())
    optimizer = torch.optim.Adam(rival.parameters(), lr=1e-2)
    losses = []
    for step in range(40):
        loss = rival.loss(start, end, stream(step % 2))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert min(losses[-2:]) < losses[0]
    with torch.no_grad():
        ours, again, other = (rival.sample(start, 5, stream(seed)) for seed in (1, 1, 2))
    assert ours.shape == (3, 5, 16) and ours.isfinite().all()
    assert (ours == again).all()
    if name not in ("fno", "ensemble"):
        assert (ours != other).any()


def test_the_members_of_an_ensemble_are_trained_alone():
    """Two of one batch have the gradients that each would have by itself."""
    start, end = waves(16), waves(16).flip(0)
    both = MeanOperator(4, 4, stream(), members=2)
    both.loss(start, end, stream()).backward()
    for member in range(2):
        alone = MeanOperator(4, 4, stream())
        for one, other in zip(alone.parameters(), both.parameters(), strict=True):
            one.data = other.data[member : member + 1].clone()
        alone.loss(start, end, stream()).backward()
        for one, other in zip(alone.parameters(), both.parameters(), strict=True):
            assert one.grad is not None and other.grad is not None
            torch.testing.assert_close(one.grad[0], 2 * other.grad[member], rtol=1e-3, atol=1e-6)


def test_the_sampler_gives_a_gaussian_its_covariance():
    """Of N(0, C) the velocity is known: v = (a b (1 - C)) (a^2 C + b^2)^-1 x."""
    root = torch.tensor([[1.5, 0.0, 0.0], [0.7, 0.6, 0.0], [-0.3, 0.4, 0.5]]).double()
    covariance, identity = root @ root.T, torch.eye(3, dtype=torch.float64)

    def velocity(x: torch.Tensor, angle: torch.Tensor) -> torch.Tensor:
        a, b = angle.cos(), angle.sin()
        inner = torch.linalg.inv(a**2 * covariance + b**2 * identity)
        return x @ (a * b * (identity - covariance) @ inner).T

    # The sampler is linear here: where it takes the unit vectors is its root of C.
    for steps, near in ((20, 0.15), (400, 0.01)):
        seen: list[torch.Tensor] = []

        def watched(x: torch.Tensor, t: torch.Tensor, seen: list = seen) -> torch.Tensor:
            seen.append(x)
            return velocity(x, t)

        ends = denoise(watched, torch.zeros(6, 3).double(), stream(), steps)
        map_ = torch.linalg.lstsq(seen[0], ends).solution
        found = map_.T @ map_
        assert len(seen) == steps
        assert (found - covariance).norm() / covariance.norm() < near


def test_one_step_of_the_sampler_answers_what_the_network_takes_for_the_end():
    guess = torch.tensor([[3.0, -1.0]])
    ends = denoise(lambda x, t: t.cos() * 0 * x - t.sin() * guess, guess, stream(), 1)
    torch.testing.assert_close(ends, guess, rtol=0, atol=1e-6)


def test_the_loss_of_a_likelihood_is_least_at_the_true_variance():
    """A network that answers a constant: mean 0 and d; it is (log 2 pi d + s / d) / 2."""
    rival = GaussianOperator(4, 4, 0, stream())
    for one in rival.parameters():
        one.data.zero_()
    end = torch.full((2, 16), 0.5)
    for log_variance in (-1.0, math.log(0.25), 0.0):
        rival.network.read.bias.data[0, 0, 1, 0] = log_variance
        variance = math.exp(log_variance)
        exact = (math.log(2 * math.pi * variance) + 0.25 / variance) / 2
        start = waves(16, 2)
        assert rival.likelihood(rival.law(start), end).item() == pytest.approx(exact, rel=1e-4)
        assert rival.loss(start, end, stream()).item() == pytest.approx(exact + 0.25, rel=1e-4)


def test_the_squared_error_trains_the_mean_and_the_likelihood_the_covariance():
    """The gradient of each output of the network, at one place of one example."""
    start, end = waves(16, 2), torch.full((2, 16), 0.5)
    rival = GaussianOperator(4, 4, 3, stream())
    gradients = {}

    def keep(module: object, inputs: object, out: torch.Tensor) -> None:
        out.retain_grad()
        gradients["out"] = out

    rival.network.register_forward_hook(keep)
    rival.loss(start, end, stream()).backward()
    out, found = gradients["out"][0], gradients["out"].grad[0]
    squared = 2 * (out[:, 0].detach() - end) / end.numel()
    torch.testing.assert_close(found[:, 0], squared)
    rival.likelihood(rival.law(start), end).backward()
    torch.testing.assert_close(gradients["out"].grad[0][:, 1:], found[:, 1:])
    assert not torch.allclose(gradients["out"].grad[0][:, 0], squared)


@pytest.mark.usefixtures("unchecked")
def test_what_no_grid_can_hold_is_refused():
    with pytest.raises(SettingError, match="grid: got 6; allowed: 8 places or more"):
        FourierOperator(4, 4, 1, stream())(waves(6)[:, None])
    with pytest.raises(SettingError, match="rank: got 16; allowed: at most 8, the places"):
        GaussianOperator(4, 2, 16, stream()).law(waves(8))
    with pytest.raises(SettingError, match="rank: got -1"):
        GaussianOperator(4, 2, -1, stream())
    with pytest.raises(SettingError, match="steps: got 0"):
        denoise(lambda x, t: x, torch.zeros(1, 2), stream(), 0)
