"""Gaussian laws of low rank, and scores of a law by its samples.

A law of a field is ``u = m + B^T z + sqrt(d) e`` with independent standard normal z (of r numbers)
and e. Its covariance C = B^T B + diag(d) is positive definite whatever a network gives for B, and
needs no N x N matrix:

    log det C = log det(I + K) + sum log d          K = B diag(1/d) B^T,  r x r
    y^T C^-1 y = y^T y / d - w^T (I + K)^-1 w       w = B (y / d)

(the determinant lemma, and Woodbury). Scores compare samples of a model with samples of the truth.
The CRPS and the energy score are proper: on average they are least for the truth alone. The others
are least for samples of the truth as far as these are enough.

Axis names: ``example``, ``factor`` (1..r), ``place``, ``sample``, ``draw`` (a sample of the model).
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from grokkit.errors import refuse
from grokkit.operators.systems import Draws, Field, Samples


@dataclass(frozen=True, eq=False)
class GaussianLaw:
    """A Gaussian law for each example.

    Attributes:
        mean: m.
        factor: B; no factors at all: independent places.
        variance: d, above 0.
    """

    mean: Field
    factor: Float[Tensor, "example factor place"]
    variance: Field

    def __post_init__(self) -> None:
        rank, grid = self.factor.shape[1:]
        if rank > grid:
            refuse("rank", rank, f"at most {grid}, the places of the grid")
        if not (self.variance > 0).all():
            refuse("variance", float(self.variance.min()), "above 0")

    def log_density(self, fields: Samples) -> Float[Tensor, "example sample"]:
        """The exact log-density of some fields for each example; nats."""
        if fields.shape[2] != self.mean.shape[1]:
            refuse("fields", f"{fields.shape[2]} places", f"{self.mean.shape[1]}, as the law has")
        rest = fields - self.mean[:, None]
        scaled = self.factor / self.variance[:, None]
        inner = scaled @ self.factor.mT
        root = torch.linalg.cholesky(inner + torch.eye(inner.shape[1], dtype=inner.dtype))
        along = torch.linalg.solve_triangular(root, scaled @ rest.mT, upper=False)
        squares = (rest.square() / self.variance[:, None]).sum(dim=2) - along.square().sum(dim=1)
        log_det = 2 * root.diagonal(dim1=1, dim2=2).log().sum(dim=1)
        log_det = log_det + (2 * torch.pi * self.variance).log().sum(dim=1)
        return -0.5 * (squares + log_det[:, None])

    def sample(self, draws: int, stream: torch.Generator) -> Draws:
        """Independent samples: m + B^T z + sqrt(d) e."""
        examples, rank, grid = self.factor.shape
        z = torch.randn(examples, draws, rank, generator=stream, dtype=self.mean.dtype)
        e = torch.randn(examples, draws, grid, generator=stream, dtype=self.mean.dtype)
        return self.mean[:, None] + z @ self.factor + self.variance.sqrt()[:, None] * e

    def covariance(self) -> Float[Tensor, "example place place"]:
        """C = B^T B + diag(d), dense."""
        return self.factor.mT @ self.factor + torch.diag_embed(self.variance)


def fitted(samples: Float[Tensor, "sample place"]) -> Float[Tensor, "place place"]:
    """A root R of the covariance of some samples, R^T R = C: a factor as large as the grid."""
    values, vectors = torch.linalg.eigh(_covariance(samples))
    return values.clamp(min=0).sqrt()[:, None] * vectors.mT


def _covariance(samples: Float[Tensor, "*example sample place"]) -> Tensor:
    centred = samples - samples.mean(dim=-2, keepdim=True)
    return centred.mT @ centred / max(samples.shape[-2] - 1, 1)


def wasserstein(ours: Samples, truth: Samples) -> Float[Tensor, ""]:
    """The mean over places of the Wasserstein-1 distance of the marginals, int |F - G|."""
    if ours.shape != truth.shape:
        refuse("fields", f"shapes {tuple(ours.shape)} and {tuple(truth.shape)}", "one shape")
    return (ours.sort(dim=1).values - truth.sort(dim=1).values).abs().mean()


def crps(ours: Draws, truth: Samples) -> Float[Tensor, ""]:
    """E|X - y| - E|X - X'| / 2 at each place, averaged; unbiased in the number of draws."""
    return _kernel_score(*(one.movedim(2, 1).flatten(0, 1)[..., None] for one in (ours, truth)))


def energy_score(ours: Draws, truth: Samples) -> Float[Tensor, ""]:
    """The same for whole fields, |X - y| being the root of the mean square over places."""
    root = ours.shape[2] ** 0.5
    return _kernel_score(ours / root, truth / root)


def _kernel_score(ours: Tensor, truth: Tensor) -> Tensor:
    draws = ours.shape[1]
    far = torch.cdist(ours, truth, compute_mode="donot_use_mm_for_euclid_dist").mean()
    if draws == 1:  # a law without spread
        return far
    own = torch.cdist(ours, ours, compute_mode="donot_use_mm_for_euclid_dist").mean()
    return far - own * draws / (draws - 1) / 2


def covariance_error(ours: Draws, truth: Samples) -> Float[Tensor, ""]:
    """|C - C*| / |C*| in the Frobenius norm, averaged over examples; 1 for no spread at all."""
    real = _covariance(truth)
    gap = torch.linalg.matrix_norm(_covariance(ours) - real)
    return (gap / torch.linalg.matrix_norm(real)).mean()


def coverage(ours: Draws, truth: Samples, level: float = 0.9) -> Float[Tensor, ""]:
    """The share of true values within the central interval of the model's draws."""
    tail = (1 - level) / 2
    low, high = torch.quantile(ours, torch.tensor([tail, 1 - tail]).to(ours), dim=1, keepdim=True)
    return ((truth >= low) & (truth <= high)).to(ours).mean()
