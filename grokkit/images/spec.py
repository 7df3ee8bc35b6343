"""ImageSpec: everything that decides a run on images, in one frozen value."""

import dataclasses
import difflib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import Any, Literal, get_args

from grokkit.engine.spec_kinds import register_spec
from grokkit.errors import check_choice, check_int, check_number, refuse
from grokkit.images.resnet import ResNetSpec
from grokkit.images.task import GlyphSum

ImageOptimizer = Literal["adam", "adamw"]
"""``"adam"``: the decay is L2, a part of the gradient. ``"adamw"``: it is decoupled."""

PARTS: Mapping[str, type[Any]] = {"task": GlyphSum, "network": ResNetSpec}
"""The parts of a spec, and what each of them must be."""


KIND = "images"
"""The kind of these specs among others."""


@register_spec(KIND)
@dataclass(frozen=True)
class ImageSpec:
    """One training run of a residual network on images of glyphs.

    Attributes:
        task: the images.
        network: the residual network.
        optimizer: ``"adam"`` with L2, or ``"adamw"`` with decoupled decay.
        learning_rate: the step size, above 0.
        weight_decay: 0 or more; of every parameter, those of BatchNorm too.
        batch_size: the number of images that an optimizer step sees; None for all.
        seed: names the split, the initial weights and the minibatches.
        epochs: the number of passes over the train set.
        record_every: the number of epochs between two records of the History.
        stop_after: stop this many epochs after the test accuracy has reached 0.99 and
            stayed there at every record; None: never stop early.

    Raises:
        SettingError: a setting makes no sense; the message names it.
    """

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
        for name, part in PARTS.items():
            if not isinstance(getattr(self, name), part):
                refuse(name, getattr(self, name), f"a {part.__name__}")
        check_choice("optimizer", self.optimizer, get_args(ImageOptimizer))
        check_number("learning_rate", self.learning_rate, strict=True)
        check_number("weight_decay", self.weight_decay)
        if self.batch_size is not None:
            check_int("batch_size", self.batch_size, 2)  # a BatchNorm of one image is none
        check_int("seed", self.seed, 0)
        check_int("epochs", self.epochs, 1)
        check_int("record_every", self.record_every, 1)
        if self.stop_after is not None:
            check_int("stop_after", self.stop_after, 0)

    def with_(self, /, **changes: Any) -> "ImageSpec":
        """A copy with some settings changed, each by its own name: ``with_(width=8)``.

        Raises:
            SettingError: no setting has that name, or a value is refused.
        """
        own: dict[str, Any] = {name: changes.pop(name) for name in list(changes) if name in PARTS}
        owner = {f.name: part for part in PARTS for f in fields(PARTS[part])}
        known = [*owner, *(f.name for f in fields(self))]
        for name, value in changes.items():
            if name not in known:
                near = difflib.get_close_matches(name, known, n=3) or sorted(known)
                refuse(name, value, f"a setting, such as {', '.join(near)}")
        for part in PARTS:
            inner = {name: value for name, value in changes.items() if owner.get(name) == part}
            if inner:
                own[part] = dataclasses.replace(own.get(part, getattr(self, part)), **inner)
        own |= {name: value for name, value in changes.items() if name not in owner}
        return dataclasses.replace(self, **own)

    def settings(self) -> dict[str, Any]:
        """Every setting by its own name; the parts are taken apart, ``task`` is its kind."""
        flat = {f.name: getattr(self, f.name) for f in fields(self)}
        parts = [dataclasses.asdict(flat.pop(part)) for part in PARTS]
        settings = {name: value for part in parts for name, value in part.items()}
        return {"task": self.task.kind, **settings, **flat}

    def to_json(self) -> str:
        """The spec as one line of JSON."""
        return json.dumps({"kind": KIND, **dataclasses.asdict(self)})

    @classmethod
    def from_json(cls, text: str) -> "ImageSpec":
        """The spec that :meth:`to_json` wrote.

        Raises:
            SettingError: a setting is unknown here, or a value is refused.
        """
        plain = json.loads(text)
        if not isinstance(plain, Mapping):
            refuse("spec", plain, "settings by name")
        if plain.get("kind") != KIND:
            refuse("kind", plain.get("kind"), KIND)
        made = {}
        for name, value in plain.items():
            if name == "kind":
                continue
            known = [f.name for f in fields(cls)]
            if name not in known:
                refuse(name, value, ", ".join(known))
            if name in PARTS:
                if not isinstance(value, Mapping):
                    refuse(name, value, "settings by name")
                inner = [f.name for f in fields(PARTS[name])]
                for one in value:
                    if one not in inner:
                        refuse(f"{name}.{one}", value[one], ", ".join(inner))
                # A list is what JSON makes of a tuple; a spec must be hashable.
                frozen = {n: tuple(v) if isinstance(v, list) else v for n, v in value.items()}
                value = PARTS[name](**frozen)
            made[name] = value
        return cls(**made)


image_presets: Mapping[str, ImageSpec] = MappingProxyType(
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
    }
)
"""The presets by name: ``small`` and ``paper``."""
