"""ImageSpec: everything that decides a run on images, in one frozen value."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, ClassVar, Literal, get_args

from grokkit.engine.spec_kinds import Spec, register_spec
from grokkit.errors import check_choice, check_int, check_number, refuse
from grokkit.images.resnet import ResNetSpec
from grokkit.images.task import GlyphSum
from grokkit.registry import Named

ImageOptimizer = Literal["adam", "adamw"]
"""``"adam"``: the decay is L2, a part of the gradient. ``"adamw"``: it is decoupled."""

KIND = "images"
"""The kind of these specs among others."""


@register_spec(KIND)
@dataclass(frozen=True)
class ImageSpec(Spec):
    """One training run of a residual network on images of glyphs.

    Attributes:
        task: the images.
        network: the residual network.
        optimizer: ``"adam"`` with L2, or ``"adamw"`` with decoupled decay.
        learning_rate: the step size, above 0.
        weight_decay: 0 or more; of every parameter, those of BatchNorm too.
        batch_size: the number of images that an optimizer step sees; None for all.
    """

    PARTS: ClassVar[Mapping[str, type[Any]]] = MappingProxyType(
        {"task": GlyphSum, "network": ResNetSpec}
    )

    task: GlyphSum = field(default_factory=GlyphSum)
    network: ResNetSpec = field(default_factory=ResNetSpec)
    optimizer: ImageOptimizer = "adam"
    learning_rate: float = 1e-3
    weight_decay: float = 1e-4
    batch_size: int | None = 200
    seed: int = 0
    epochs: int = 3000
    record_every: int = 10
    stop_after: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice("optimizer", self.optimizer, get_args(ImageOptimizer))
        check_number("learning_rate", self.learning_rate, strict=True)
        check_number("weight_decay", self.weight_decay)
        if self.batch_size is not None:
            check_int("batch_size", self.batch_size, 2)  # a BatchNorm of one image is none

    def check(self) -> None:
        """Refuse a minibatch that is no part of the train set."""
        if self.batch_size is not None and self.batch_size >= self.task.n_inputs:
            allowed = f"2..{self.task.n_inputs - 1}, or None for all train images"
            refuse("batch_size", self.batch_size, allowed)

    def group_key(self) -> tuple[object, ...]:
        """The spec itself: one network is trained at a time."""
        return (self,)

    def epoch_seconds(self) -> float:
        """About the seconds of an epoch on one core, within a factor of three."""
        pixels = self.task.cells * self.task.cell_size**2
        work = self.task.n_inputs * pixels * self.network.width**2
        # A 7x7 stem leaves a sixteenth of the pixels to all later layers.
        side = self.task.cell_size * min(self.task.grid_rows, self.task.grid_columns)
        return 2e-8 * work / (16 if self.network.stem_for(side) == "7x7" else 1)


image_presets: Mapping[str, ImageSpec] = Named(
    "preset",
    {
        "small": ImageSpec(
            task=GlyphSum(
                grid_rows=2,
                grid_columns=2,
                alphabet=(0, 3, 4, 5, 6),
                cell_size=8,
                train_fraction=0.7,
            ),
            network=ResNetSpec(width=8),
            learning_rate=3e-3,
            weight_decay=1e-3,
            batch_size=73,
            epochs=700,
            record_every=5,
        ),
        # arXiv 2504.03162: 14,641 images of 224 pixels, a quarter of them trained on. A GPU's.
        "paper": ImageSpec(
            task=GlyphSum(grid_rows=2, grid_columns=2, cell_size=112, train_fraction=0.25),
        ),
    },
)
"""The presets by name: ``small`` and ``paper``."""
