"""The weights of a group of runs: one flat buffer, seen as named arrays.

One buffer, so that an optimizer step, a gradient norm, a checkpoint or a copy to a device
is one operation whatever the model. Named views into it, so that the model reads like its
formulas. The run axis leads everywhere: run 3 of the group is row 3 of every array.

A parameter of the first layer has the plain name of its *kind*, ``W_Q``; those of further
layers have the layer's number behind it: ``W_Q.2``, ``W_Q.3``.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from grokkit.model.norm import PLACEMENTS
from grokkit.model.spec import ModelSpec

MLP_WEIGHTS = ("W_1", "b_1", "W_2", "b_2")
"""theta_MLP, the parameters whose norm Definition 4.2 bounds."""

QK_WEIGHTS = ("W_Q", "W_K")
"""The parameters that make the scores and nothing else: those that starve."""


def of_kinds(names: Iterable[str], kinds: Sequence[str]) -> tuple[str, ...]:
    """Those names that are of some kinds, in every layer: ``W_Q``, ``W_Q.2``, ..."""
    return tuple(name for name in names if name.split(".")[0] in kinds)


def of_layer(weights: Mapping[str, Tensor], layer: int) -> Mapping[str, Tensor]:
    """The weights of one layer under the plain names of their kinds."""
    if layer == 0:
        return weights
    end = f".{layer + 1}"
    return {name.removesuffix(end): weights[name] for name in weights if name.endswith(end)}


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

    @property
    def n_classes(self) -> int:
        """The number of classes, and so of logits."""
        return self.shapes["W_U" if "W_U" in self.shapes else "W_2"][-1]

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
        classifies = spec.readout == "classifier"
        out = n_classes if classifies else d
        block: dict[str, tuple[int, ...]] = {"W_Q": (d, d), "W_K": (d, d), "W_V": (d, d)}
        if spec.output_projection:
            block["W_O"] = (d, d)
        block |= {"W_1": (d, m), "b_1": (m,), "W_2": (m, out), "b_2": (out,)}
        if spec.norm_affine:  # gain_A and, of a LayerNorm, bias_A, ...
            learned = ("gain", "bias") if spec.norm_kind == "layer" else ("gain",)
            norms = PLACEMENTS[spec.norm].norms
            block |= {f"{part}_{name}": (d,) for name in norms for part in learned}
        shapes = {"token_embedding": (n_tokens, d), "position_embedding": (length, d), **block}
        for layer in range(1, spec.layers):
            shapes |= {f"{name}.{layer + 1}": shape for name, shape in block.items()}
        if not classifies:
            shapes["W_U"] = (d, n_classes)
        return cls(shapes)


class Parameters(Mapping[str, Tensor]):
    """Named views ``[run, *shape]`` into one buffer ``flat`` ``[run, parameter]``.

    The views are autograd leaves. ``gradient`` holds views of the same names and shapes
    into a second buffer, ``flat_grad``, for whoever computes the gradient to fill.
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
