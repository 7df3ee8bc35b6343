"""Random fields whose law is known: what an operator is to learn, from our own solvers.

A system takes a field u_0 on [0, 1) to a random field u_T. Three are equations on the circle,

    du = (nu u_xx + f(u)) dt + s dW_q         E[W_q(x) W_q(y)] = t sum_k q_k e_k(x) e_k(y)

    ==========  =========================  ==================================================
    heat        f = 0                      u_T is Gaussian; its covariance does not depend on
                                           u_0 (:func:`heat_mean`, :func:`heat_covariance`)
    burgers     f = -(u^2)_x / 2           shocks move the noise to where the slope is steep
    phi4        f = a (u - u^3)            two wells, -1 and 1: near u_0 = 0 the law has two
                                           peaks
    ==========  =========================  ==================================================

with e_0 = 1 and e_k = sqrt(2) cos, sqrt(2) sin of 2 pi k x, and q_k = 1 / (1 + (k / 4)^2)^2. They
are solved in Fourier space by exponential Euler: diffusion and noise of a step are exact, f is held
for the step, so the error is of first order in dt. The fourth is a path over time: with V the
variance of rough Bergomi (H 0.1) and ``u_0 = log(xi / xi_0)`` its forward curve,

    rough       V = xi exp(eta Y - eta^2 t^(2H) / 2),   dX = sqrt(V) dB - V dt / 2,   u_T = X

where Y, a fractional process, and B are jointly Gaussian and drawn from their exact covariance.

Axis names: ``example`` (an initial field), ``sample`` (a draw of u_T), ``place`` (x_j = j / N),
``wave`` (k = 0..N/2).
"""

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal, NamedTuple, get_args

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from grokkit.core.common import stream as generator
from grokkit.errors import check_choice, check_int, check_number, refuse

Field = Float[Tensor, "example place"]
Draws = Float[Tensor, "example draw place"]
Samples = Float[Tensor, "example sample place"]

SystemName = Literal["heat", "burgers", "phi4", "rough"]
SYSTEMS: tuple[SystemName, ...] = get_args(SystemName)


class Physics(NamedTuple):
    """The constants of an equation on the circle, in units of length and time.

    ``nu``: the diffusion, length^2 / time; ``time``: T; ``noise``: s, where the system's own
    ``noise`` is 1.
    """

    nu: float
    time: float
    noise: float


PHYSICS = {
    "heat": Physics(nu=0.02, time=0.25, noise=0.6),
    "burgers": Physics(nu=0.03, time=0.4, noise=0.4),
    "phi4": Physics(nu=0.08, time=1.0, noise=0.4),
}
RATE = 5.0
"""a of phi4; 1 / time."""

HURST, ETA, CORRELATION, VARIANCE = 0.1, 1.5, -0.7, 0.04
"""Of rough Bergomi: H, eta, the correlation of price and variance, and xi_0."""

INPUT_WAVES = 3
"""An initial field is a sum of the waves k = 0..3, with Gaussian amplitudes."""

INPUTS = {"heat": (1.0, 0.5), "burgers": (0.6, 0.2), "phi4": (0.3, 0.3), "rough": (1.0, 0.5)}
"""The standard deviation of the waves of u_0, and that of its mean."""


@dataclass(frozen=True)
class System:
    """A system, its grid and how much of it is drawn.

    Attributes:
        name: ``heat``, ``burgers``, ``phi4`` or ``rough``.
        grid: N, the number of places; even, 8..1024.
        noise: a factor of the noise, 0 or more; of ``rough``, of its volatility.
        steps: the number of time steps of an equation.
        inputs: how many initial fields are trained on, each with one sample.
        tests: how many other ones the law is compared at.
        samples: how many samples of u_T there are for each of these.

    Raises:
        SettingError: a setting makes no sense; the message names it.
    """

    name: SystemName = "heat"
    grid: int = 32
    noise: float = 1.0
    steps: int = 64
    inputs: int = 1024
    tests: int = 8
    samples: int = 256

    def __post_init__(self) -> None:
        check_choice("name", self.name, SYSTEMS)
        if check_int("grid", self.grid, 8, 1024) % 2:
            refuse("grid", self.grid, "an even number, 8..1024")
        check_number("noise", self.noise)
        for name, least in (("steps", 1), ("inputs", 2), ("tests", 1), ("samples", 2)):
            check_int(name, getattr(self, name), least)

    @property
    def kind(self) -> str:
        """The name: what tables call the task of a run."""
        return self.name

    def with_grid(self, grid: int) -> "System":
        """The same system on another grid: half as many tests, and little of everything else."""
        tests, samples = max(1, self.tests // 2), max(2, self.samples // 4)
        return replace(self, grid=grid, inputs=2, tests=tests, samples=samples)

    def start(self, count: int, stream: torch.Generator) -> Field:
        """Initial fields: waves with Gaussian amplitudes that fall as 1 / (1 + k); float64.

        The same fields on every grid, for the amplitudes are drawn and not the values.
        """
        size, offset = INPUTS[self.name]
        waves = torch.arange(1, INPUT_WAVES + 1, dtype=torch.float64)
        fall = 1 / (1 + waves)
        draws = torch.randn(count, 2 * INPUT_WAVES + 1, generator=stream, dtype=torch.float64)
        angle = 2 * torch.pi * waves[:, None] * places(self.grid)
        shapes = torch.cat([fall[:, None] * angle.cos(), fall[:, None] * angle.sin()])
        shapes = size * shapes / fall.square().sum().sqrt()
        return offset * draws[:, :1] + draws[:, 1:] @ shapes

    def end(self, start: Field, stream: torch.Generator) -> Field:
        """One sample of u_T for each initial field.

        Raises:
            SettingError: the fields are on another grid, or not finite.
        """
        if start.shape[1] != self.grid:
            refuse("start", f"{start.shape[1]} places", f"{self.grid}, the grid of the system")
        if not start.isfinite().all():
            refuse("start", "a field with nan or infinity", "finite fields")
        if self.name == "rough":
            return rough_path(start, self.noise, stream)
        return solve(self, start, stream, self.steps)

    def build(self, seed: int) -> "Fields":
        """All that a contest needs, drawn anew for each seed."""
        streams = {one: generator(seed, f"{self.name} {one}") for one in ("train", "test")}
        start = self.start(self.inputs, streams["train"])
        test = self.start(self.tests, streams["test"])
        law = self.end(test.repeat_interleave(2 * self.samples, dim=0), streams["test"])
        halves = law.view(self.tests, 2, self.samples, self.grid).unbind(dim=1)
        return Fields(start, self.end(start, streams["train"]), test, *halves)


@dataclass(frozen=True, eq=False)
class Fields:
    """What is trained on, and the law that it is compared with.

    Attributes:
        inputs: initial fields.
        targets: one sample of u_T for each.
        tests: other initial fields.
        law: samples of u_T for each of these.
        again: as many samples again: what the truth itself would score.
    """

    inputs: Field
    targets: Field
    tests: Float[Tensor, "test place"]
    law: Float[Tensor, "test sample place"]
    again: Float[Tensor, "test sample place"]


def places(grid: int) -> Float[Tensor, " place"]:
    """x_j = j / N; float64."""
    return torch.arange(grid, dtype=torch.float64) / grid


def decay_rates(nu: float, grid: int) -> Float[Tensor, " wave"]:
    """Lambda_k = nu (2 pi k)^2, by which diffusion damps each wave; 1 / time."""
    return nu * (2 * torch.pi * torch.arange(grid // 2 + 1, dtype=torch.float64)).square()


def noise_variances(system: System, time: float) -> Float[Tensor, " wave"]:
    """The variance that diffused noise has after a time: s^2 q_k (1 - e^(-2 l t)) / (2 l).

    None at the highest wave of the grid, which has a cosine and no sine.
    """
    physics, waves = PHYSICS[system.name], torch.arange(system.grid // 2 + 1, dtype=torch.float64)
    rates = decay_rates(physics.nu, system.grid)
    grown = torch.where(rates > 0, -torch.expm1(-2 * rates * time) / (2 * rates), time)
    variances = (system.noise * physics.noise) ** 2 * grown / (1 + (waves / 4).square()).square()
    variances[-1] = 0
    return variances


def solve(
    system: System, start: Field, stream: torch.Generator, steps: int, coarsen: int = 1
) -> Field:
    """Exponential Euler in Fourier space.

    v_(n+1) = e^(-l dt) v_n + (1 - e^(-l dt)) / l f_n + noise of the step

    Args:
        system: an equation.
        start: u_0, on the system's grid.
        stream: draws the noise.
        steps: the number of steps of the noise.
        coarsen: how many of these make one step of the solver. The noise is put together
            exactly, so that solutions of several dt differ by their error in f alone.
    """
    if steps % check_int("coarsen", coarsen, 1):
        refuse("coarsen", coarsen, f"a divisor of {steps} steps")
    physics, grid = PHYSICS[system.name], system.grid
    fine = physics.time / steps
    rates = decay_rates(physics.nu, grid)
    kick = (grid * noise_variances(system, fine)).sqrt()
    fade, dt = (-rates * fine).exp(), fine * coarsen
    whole = torch.where(rates > 0, -torch.expm1(-rates * dt) / rates, dt)
    wave = torch.fft.rfft(start)
    for _ in range(steps // coarsen):
        noise = torch.zeros_like(wave)
        for _ in range(coarsen if system.noise else 0):
            white = torch.randn(start.shape, generator=stream, dtype=start.dtype)
            noise = fade * noise + kick * torch.fft.rfft(white)
        wave = fade**coarsen * wave + whole * _force(system, wave) + noise
    return torch.fft.irfft(wave, n=grid)


def _force(system: System, wave: Tensor) -> Tensor:
    """The waves of the force f; those of a square are cut at two thirds, against aliases."""
    grid = system.grid
    if system.name == "heat":
        return torch.zeros_like(wave)
    if system.name == "phi4":
        field = torch.fft.irfft(wave, n=grid)
        return RATE * torch.fft.rfft(field - field**3)
    kept = (torch.arange(grid // 2 + 1) <= grid // 3).double()
    slope = 2j * torch.pi * torch.arange(grid // 2 + 1) * kept
    return -0.5 * slope * torch.fft.rfft(torch.fft.irfft(kept * wave, n=grid).square())


def heat_mean(system: System, start: Field) -> Field:
    """The exact mean of the heat equation's u_T."""
    fade = (-decay_rates(PHYSICS["heat"].nu, system.grid) * PHYSICS["heat"].time).exp()
    return torch.fft.irfft(fade * torch.fft.rfft(start), n=system.grid)


def heat_covariance(system: System) -> Float[Tensor, "place place"]:
    """The exact covariance of the heat equation's u_T: sum_k c_k e_k(x) e_k(y)."""
    variances = noise_variances(system, PHYSICS["heat"].time)
    apart = places(system.grid)[:, None] - places(system.grid)
    waves = torch.arange(1, len(variances), dtype=torch.float64)
    cosines = (2 * torch.pi * waves * apart[..., None]).cos()
    return variances[0] + 2 * cosines @ variances[1:]


def rough_covariance(times: np.ndarray, hurst: float = HURST) -> np.ndarray:
    """The joint covariance of (Y_t, W_t) at some times above 0, of shape ``(2 n, 2 n)``.

    Y_t = sqrt(2H) int_0^t (t - s)^(H - 1/2) dW_s; for s <= t and h = H + 1/2

        E[Y_s Y_t] = 2H / h  s^h t^(H - 1/2)  2F1(1, 1/2 - H; 1 + h; s / t)
        E[Y_s W_t] = sqrt(2H) / h  (s^h - (s - min(s, t))^h)
    """
    from scipy.special import hyp2f1

    h = hurst + 0.5
    low, high = np.minimum.outer(times, times), np.maximum.outer(times, times)
    own = 2 * hurst / h * low**h * high ** (hurst - 0.5)
    own = own * hyp2f1(1, 0.5 - hurst, 1 + h, low / high)
    cross = np.sqrt(2 * hurst) / h * (times[:, None] ** h - (times[:, None] - low) ** h)
    return np.block([[own, cross], [cross.T, low]])


@lru_cache(maxsize=4)
def _rough_root(grid: int) -> Float[Tensor, "both both"]:
    times = np.arange(1, grid) / grid
    return torch.from_numpy(np.linalg.cholesky(rough_covariance(times)))


def rough_path(start: Field, noise: float, stream: torch.Generator) -> Field:
    """The log-price X at the times j / N, of which X_0 = 0.

    Args:
        start: log(xi / xi_0) at these times.
        noise: a factor of the volatility.
        stream: draws Y, W and the part of B that is independent of W.
    """
    count, grid = start.shape
    root = _rough_root(grid)
    both = torch.randn(count, len(root), generator=stream, dtype=torch.float64) @ root.T
    first = torch.zeros(count, 1, dtype=torch.float64)
    rough = torch.cat([first, both[:, : grid - 1]], dim=1)
    steps = torch.cat([first, both[:, grid - 1 :]], dim=1).diff()
    other = torch.randn(steps.shape, generator=stream, dtype=torch.float64) / grid**0.5
    times = places(grid)
    forward = noise**2 * VARIANCE * start.exp()
    variance = forward * (ETA * rough - ETA**2 / 2 * times ** (2 * HURST)).exp()
    drive = CORRELATION * steps + (1 - CORRELATION**2) ** 0.5 * other
    moves = variance[:, :-1].sqrt() * drive - variance[:, :-1] / (2 * grid)
    return torch.cat([first, moves.cumsum(dim=1)], dim=1)
