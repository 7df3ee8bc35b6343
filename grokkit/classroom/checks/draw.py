"""Inputs drawn by seed, so that no answer is right by an accident of the numbers."""

import torch


class Draw:
    """Small readable numbers; the same seed draws the same ones.

    Args:
        seed: of everything that is drawn.
        dtype: of every float tensor.
    """

    def __init__(self, seed: int, dtype: torch.dtype) -> None:
        self.generator = torch.Generator().manual_seed(seed)
        self.dtype = dtype

    def whole(self, low: int, high: int, *shape: int) -> torch.Tensor:
        """Whole numbers from low to high, both included."""
        return torch.randint(low, high + 1, shape, generator=self.generator)

    def one(self, low: float | int, high: float | int) -> float:
        """A number between two others, neither of them, rounded to a thousandth."""
        share = torch.rand((), generator=self.generator, dtype=torch.float64).item()
        return round(low + (0.02 + 0.96 * share) * (high - low), 3)

    def numbers(self, *shape: int) -> torch.Tensor:
        """Numbers of either sign, none nearer to 0 than 0.1, about 1 in size."""
        drawn = torch.randn(shape, generator=self.generator, dtype=torch.float64)
        return ((drawn + 0.15 * drawn.sign()) * 100).round().div(100).to(self.dtype)

    def above(self, *shape: int) -> torch.Tensor:
        """Numbers above 0, about 1 in size."""
        return self.numbers(*shape).abs()

    def shares(self, *shape: int) -> torch.Tensor:
        """Attention: each row of the last axis is above 0 and sums to 1."""
        return self.numbers(*shape).double().softmax(dim=-1).to(self.dtype)

    def mask(self, *shape: int, k: int = 0) -> torch.Tensor:
        """True at k places of every row; without k at 3, 4, ... of them, row by row."""
        rows = torch.zeros(shape, dtype=torch.bool).view(-1, shape[-1])
        for number, row in enumerate(rows):
            count = k or 1 + (number + 2) % (shape[-1] - 1)
            row[self.order(shape[-1])[:count]] = True
        return rows.view(shape)

    def order(self, n: int) -> torch.Tensor:
        """The numbers 0..n-1 in random order."""
        return torch.randperm(n, generator=self.generator)
