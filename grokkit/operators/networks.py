"""Rival operators: from an initial field to a mean, to a Gaussian law, or to samples.

All are one Fourier neural operator (Li et al., arXiv 2010.08895): a layer multiplies the lowest
waves of its channels by complex matrices, which mean the same on every grid, and adds a map of each
place alone,

    h <- gelu(irfft(R_k rfft(h)_k) + W h)

and differ in what comes out of it and in the loss:

    =============  =====================================================================
    fno            m; the squared error, whose least is at the conditional mean
    ensemble       several smaller ones; their answers are its samples
    variance       m, log d at each place; the squared error of m, the likelihood of log d
    mno_R          m and R factors, one log d; the same, by the exact likelihood of low rank
    diffusion      the way back from a noised target, given u_0; sampled in steps
    =============  =====================================================================

Of the Martingale Neural Operator (arXiv 2605.15806) we know the abstract: a drift-like mean, a
low-rank factor and a Gaussian residual, in one pass. The rest is our design.

Axis names: ``member`` (of an ensemble), ``example``, ``channel``, ``place``, ``wave``, ``factor``,
``draw``. A ``stream`` draws what is random: the first weights of a network, or samples.
"""

import math
from collections.abc import Callable, Mapping
from itertools import pairwise
from types import MappingProxyType

import torch
from jaxtyping import Float
from torch import Generator, Tensor, nn
from torch.nn import functional as F

from grokkit.errors import check_int, refuse
from grokkit.operators.laws import GaussianLaw
from grokkit.operators.systems import Draws, Field, places

Hidden = Float[Tensor, "member example channel place"]

PLACE_WAVES = 6
"""Every operator is told its place: x, and cos and sin of the waves 1..6."""

MEMBERS = 4
"""The networks of an ensemble, each of half the width."""

NOISE_STEPS = 20
"""How many times a sample of the diffusion is denoised."""

LEAST = 1e-6
"""What is added to every variance, so that none is 0."""


class Linear(nn.Module):
    """W h + b at each place, one map for each member; one input may serve all members."""

    def __init__(self, members: int, incoming: int, outgoing: int, stream: Generator) -> None:
        super().__init__()
        draws = torch.randn(members, outgoing, incoming, generator=stream)
        self.weight = nn.Parameter(draws / incoming**0.5)
        self.bias = nn.Parameter(torch.zeros(members, 1, outgoing, 1))

    def forward(self, hidden: Float[Tensor, "#member example channel place"]) -> Tensor:
        """The output, [member, example, outgoing channel, place]."""
        return self.weight[:, None] @ hidden + self.bias


class SpectralLayer(nn.Module):
    """gelu(irfft(R rfft(h)) + W h), on whatever grid h is; R mixes the lowest ``waves`` waves."""

    def __init__(self, members: int, width: int, waves: int, stream: Generator) -> None:
        super().__init__()
        draws = torch.randn(members, waves, width, width, 2, generator=stream)
        self.mixing = nn.Parameter(draws / (2 * width) ** 0.5)
        self.local = Linear(members, width, width, stream)

    def forward(self, hidden: Hidden) -> Hidden:
        """The output; a grid that does not have the waves is refused."""
        grid, mixing = hidden.shape[-1], torch.view_as_complex(self.mixing)
        if 2 * mixing.shape[1] > grid:
            refuse("grid", grid, f"{2 * mixing.shape[1]} places or more")
        waves = torch.fft.rfft(hidden)[..., : mixing.shape[1]]
        mixed = torch.fft.irfft(torch.einsum("mbik,mkio->mbok", waves, mixing), n=grid)
        return F.gelu(mixed + self.local(hidden))


class FourierOperator(nn.Module):
    """Fourier neural operators of two spectral layers, of which each is trained alone.

    Args:
        width: the channels of the layers.
        waves: the waves of the layers.
        outputs: the output channels.
        stream: draws the weights.
        inputs: the input channels, besides those that tell the place.
        members: how many operators.
    """

    def __init__(
        self,
        width: int,
        waves: int,
        outputs: int,
        stream: Generator,
        inputs: int = 1,
        members: int = 1,
    ) -> None:
        super().__init__()
        self.lift = Linear(members, inputs + 1 + 2 * PLACE_WAVES, width, stream)
        self.layers = nn.ModuleList(SpectralLayer(members, width, waves, stream) for _ in range(2))
        self.widen = Linear(members, width, 2 * width, stream)
        self.read = Linear(members, 2 * width, outputs, stream)

    def forward(self, fields: Float[Tensor, "example channel place"]) -> Tensor:
        """The output channels at each place, [member, example, output channel, place]."""
        x = places(fields.shape[2]).to(fields.dtype)
        angles = 2 * torch.pi * torch.arange(1, PLACE_WAVES + 1)[:, None] * x
        told = torch.cat([x[None], angles.cos(), angles.sin()]).expand(len(fields), -1, -1)
        hidden = self.lift(torch.cat([fields, told], dim=1)[None])
        for layer in self.layers:
            hidden = layer(hidden)
        return self.read(F.gelu(self.widen(hidden)))


class Rival(nn.Module):
    """What takes part in a contest: a loss to train by, and samples of its law.

    Fields are in units of the train targets: mean 0 and variance 1 over all of them.
    """

    def loss(self, start: Field, end: Field, stream: Generator) -> Float[Tensor, ""]:
        """What is made small; ``stream`` draws what is random in it."""
        raise NotImplementedError

    def sample(self, start: Field, draws: int, stream: Generator) -> Draws:
        """Samples of u_T; of a law without spread one sample says all."""
        raise NotImplementedError

    def law(self, start: Field) -> GaussianLaw | None:
        """The law, where it is Gaussian."""
        return None


class MeanOperator(Rival):
    """One network with a squared error, or several that differ by their first weights."""

    def __init__(self, width: int, waves: int, stream: Generator, members: int = 1) -> None:
        super().__init__()
        self.network = FourierOperator(width, waves, 1, stream, members=members)

    def answers(self, start: Field) -> Draws:
        """What each member answers."""
        return self.network(start[:, None])[:, :, 0].movedim(0, 1)

    def loss(self, start: Field, end: Field, stream: Generator) -> Float[Tensor, ""]:
        """The mean squared error of the members."""
        return (self.answers(start) - end[:, None]).square().mean()

    def sample(self, start: Field, draws: int, stream: Generator) -> Draws:
        """The answers, each as often as the others."""
        answers = self.answers(start)
        return answers[:, torch.arange(draws) % answers.shape[1]]


class GaussianOperator(Rival):
    """A mean with independent places (rank 0), or with 1..64 factors and one nugget.

    The likelihood alone could train all of them, but then the mean may stay unlearned: the gradient
    in m is C^-1 (m - u_T), and in the directions that the covariance already explains it is small
    beside that in all others (Seitzer et al., arXiv 2203.09168). So the mean has the squared error,
    and the covariance the likelihood of what this mean leaves.
    """

    def __init__(self, width: int, waves: int, rank: int, stream: Generator) -> None:
        super().__init__()
        self.rank = check_int("rank", rank, 0, 64)
        self.network = FourierOperator(width, waves, 1 + (rank or 1), stream)
        self.nugget = nn.Parameter(torch.zeros(())) if rank else None

    def law(self, start: Field) -> GaussianLaw:
        """The law of u_T at each initial field, in one pass."""
        if self.rank > start.shape[1]:
            refuse("rank", self.rank, f"at most {start.shape[1]}, the places of the grid")
        out = self.network(start[:, None])[0]
        mean = out[:, 0]
        if self.nugget is None:
            return GaussianLaw(mean, out[:, :0], out[:, 1].exp() + LEAST)
        factor = out[:, 1:] / self.rank**0.5
        return GaussianLaw(mean, factor, (self.nugget.exp() + LEAST).expand_as(mean))

    def likelihood(self, law: GaussianLaw, end: Field) -> Float[Tensor, ""]:
        """The negative log-likelihood; nats for each place."""
        return -law.log_density(end[:, None]).mean() / end.shape[1]

    def loss(self, start: Field, end: Field, stream: Generator) -> Float[Tensor, ""]:
        """The mean squared error of the mean, and the likelihood with the mean held."""
        law = self.law(start)
        held = GaussianLaw(law.mean.detach(), law.factor, law.variance)
        return (law.mean - end).square().mean() + self.likelihood(held, end)

    def sample(self, start: Field, draws: int, stream: Generator) -> Draws:
        """Samples of the Gaussian law."""
        return self.law(start).sample(draws, stream)


class DiffusionOperator(Rival):
    """A conditional diffusion (Ho et al., arXiv 2006.11239), variance preserving.

    x = a u_T + b e with a = cos t, b = sin t. The network is given x, u_0, a and b, and answers the
    velocity v = a e - b u_T (Salimans and Ho, arXiv 2202.00512), from which u_T = a x - b v.
    """

    def __init__(self, width: int, waves: int, stream: Generator) -> None:
        super().__init__()
        self.network = FourierOperator(width, waves, 1, stream, inputs=4)

    def velocity(self, noised: Field, start: Field, angle: Float[Tensor, " example"]) -> Field:
        """What the network takes for v."""
        level = torch.stack([angle.cos(), angle.sin()], dim=1)
        told = level[..., None].expand(-1, -1, noised.shape[1])
        fields = torch.cat([noised[:, None], start[:, None], told], dim=1)
        return self.network(fields)[0, :, 0]

    def loss(self, start: Field, end: Field, stream: Generator) -> Float[Tensor, ""]:
        """The mean squared error of v, at a random level for each example."""
        angle = torch.pi / 2 * torch.rand(len(end), generator=stream)
        noise = torch.randn(end.shape, generator=stream)
        a, b = angle.cos()[:, None], angle.sin()[:, None]
        guess = self.velocity(a * end + b * noise, start, angle)
        return (guess - (a * noise - b * end)).square().mean()

    def sample(self, start: Field, draws: int, stream: Generator) -> Draws:
        """Samples, by :data:`NOISE_STEPS` passes for each."""
        many = start.repeat_interleave(draws, dim=0)
        ends = denoise(lambda x, t: self.velocity(x, many, t.expand(len(x))), many, stream)
        return ends.view(len(start), draws, -1)


def denoise(
    velocity: Callable[[Tensor, Tensor], Tensor],
    like: Field,
    stream: Generator,
    steps: int = NOISE_STEPS,
) -> Field:
    """Samples by deterministic denoising (DDIM, Song et al., arXiv 2010.02502).

    From the angle pi / 2, pure noise, to 0: u and e are guessed, and mixed anew for the next angle,

        u = cos(t) x - sin(t) v,    e = sin(t) x + cos(t) v,    x' = cos(t') u + sin(t') e

    Args:
        velocity: from x and the angle t to the guess of v.
        like: the shape and type of the samples.
        stream: draws where they begin.
        steps: how many angles there are.
    """
    check_int("steps", steps, 1)
    angles = torch.linspace(math.pi / 2, 0, steps + 1, dtype=like.dtype)
    x = torch.randn(like.shape, generator=stream, dtype=like.dtype)
    for here, there in pairwise(angles):
        v, turn = velocity(x, here), here - there
        x = turn.cos() * x - turn.sin() * v
    return x


TRAINED: Mapping[str, Callable[[int, int, Generator], Rival]] = MappingProxyType(
    {
        "fno": MeanOperator,
        "ensemble": lambda width, waves, s: MeanOperator(width // 2, waves, s, MEMBERS),
        "variance": lambda width, waves, s: GaussianOperator(width, waves, 0, s),
        "mno_2": lambda width, waves, s: GaussianOperator(width, waves, 2, s),
        "mno_8": lambda width, waves, s: GaussianOperator(width, waves, 8, s),
        "mno_16": lambda width, waves, s: GaussianOperator(width, waves, 16, s),
        "diffusion": DiffusionOperator,
    }
)
"""The rivals that are trained, from a width, a number of waves and a stream of weights."""
