"""The weights of a group of runs: one flat buffer, seen as named arrays.

One buffer, so that an optimizer step, a gradient norm, a checkpoint or a copy to a device
is one operation whatever the model. Named views into it, so that the model reads like its
formulas. The run axis leads everywhere: run 3 of the group is row 3 of every array.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from grokkit.model.spec import ModelSpec
from grokkit.seeding import generator

MLP_WEIGHTS = ("W_1", "b_1", "W_2", "b_2")
"""theta_MLP, the parameters whose norm Definition 4.2 bounds."""

QK_WEIGHTS = ("W_Q", "W_K")
"""The parameters that make the scores and nothing else: those that starve."""


@dataclass(frozen=True)
class Layout:
    """Where each named parameter lies in the flat buffer.

    Attributes:
        shapes: name -> shape without the run axis, in the order of the buffer.
    """

    shapes: Mapping[str, tuple[int, ...]]

    @property
    def size(self) -> int:
        """The number of parameters of one run."""
        return sum(math.prod(shape) for shape in self.shapes.values())

    @property
    def length(self) -> int:
        """The number of positions that have an embedding; the query's is the last."""
        return self.shapes["position_embedding"][0]

    def slices(self) -> Iterator[tuple[str, slice, tuple[int, ...]]]:
        """Name, place in the buffer, and shape of every parameter."""
        start = 0
        for name, shape in self.shapes.items():
            stop = start + math.prod(shape)
            yield name, slice(start, stop), shape
            start = stop

    @classmethod
    def of(cls, spec: ModelSpec, n_tokens: int, length: int, n_classes: int) -> "Layout":
        """The parameters that a model of these settings has."""
        d, m = spec.d_model, spec.d_mlp
        shapes: dict[str, tuple[int, ...]] = {
            "token_embedding": (n_tokens, d),
            "position_embedding": (length, d),
            "W_Q": (d, d),
            "W_K": (d, d),
            "W_V": (d, d),
        }
        if spec.output_projection:
            shapes["W_O"] = (d, d)
        shapes |= {"W_1": (d, m), "b_1": (m,)}
        if spec.readout == "classifier":
            shapes |= {"W_2": (m, n_classes), "b_2": (n_classes,)}
        else:
            shapes |= {"W_2": (m, d), "b_2": (d,), "W_U": (d, n_classes)}
        return cls(shapes)


class Parameters(Mapping[str, Tensor]):
    """Named views ``[run, *shape]`` into one buffer ``flat`` ``[run, parameter]``.

    The views are autograd leaves. ``gradient`` holds views of the same names and shapes
    into a second buffer, ``flat_grad``, for whoever computes the gradient to fill.

    Args:
        layout: names and shapes.
        flat: the buffer; it is used, not copied.
    """

    def __init__(self, layout: Layout, flat: Float[Tensor, "run parameter"]) -> None:
        self.layout = layout
        self.flat = flat.detach()
        self.flat_grad = torch.zeros_like(self.flat)
        self.gradient = self._split(self.flat_grad)
        self._views = self._split(self.flat)
        for view in self._views.values():
            view.requires_grad_(True)

    def _split(self, flat: Tensor) -> dict[str, Tensor]:
        return {
            name: flat[:, place].view(-1, *shape) for name, place, shape in self.layout.slices()
        }

    @property
    def runs(self) -> int:
        """The number of runs in the group."""
        return self.flat.shape[0]

    def __getitem__(self, name: str) -> Tensor:
        return self._views[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._views)

    def __len__(self) -> int:
        return len(self._views)

    def columns(self, names: Sequence[str]) -> Tensor:
        """The places of some parameters in the buffer, in order (for norms, masks)."""
        places = [
            torch.arange(place.start, place.stop)
            for name, place, _ in self.layout.slices()
            if name in names
        ]
        return torch.cat(places).to(self.flat.device)

    def run(self, index: int) -> "Parameters":
        """A copy of one run of the group, as a group of one."""
        return Parameters(self.layout, self.flat[index : index + 1].clone())

    def to(self, *args: Any) -> "Parameters":
        """A copy on another device or in another precision."""
        return Parameters(self.layout, self.flat.to(*args).clone())


def initialise(layout: Layout, spec: ModelSpec, seeds: Sequence[int]) -> Parameters:
    """Fresh weights, one row of the buffer for each seed.

    Embeddings are normal with standard deviation embedding_scale / sqrt(d_model).
    A matrix with n inputs is uniform in init_scale * [-1, 1] / sqrt(n) (PyTorch's own
    default for a linear layer); biases start at 0. The paper gives no initialisation:
    this is our choice. Drawn on the CPU in float32, so that a seed means the same
    weights on every device, and a run's weights do not depend on the rest of its group.
    """
    rows = []
    for seed in seeds:
        stream = generator(seed, "parameters")
        parts = []
        for name, shape in layout.shapes.items():
            if name.endswith("embedding"):
                scale = spec.embedding_scale / math.sqrt(spec.d_model)
                part = scale * torch.randn(shape, generator=stream)
            elif len(shape) == 1:
                part = torch.zeros(shape)
            else:
                bound = spec.init_scale / math.sqrt(shape[0])
                part = bound * (2 * torch.rand(shape, generator=stream) - 1)
            parts.append(part.flatten())
        rows.append(torch.cat(parts))
    return Parameters(layout, torch.stack(rows))
