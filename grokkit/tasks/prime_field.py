"""Functions of two numbers modulo a prime, with a hole in the table if wanted.

The tasks of arXiv 2504.03162: seven functions f(i, j), in sequences [i, j, =]. Four of them
are tasks of their own in :mod:`grokkit.tasks.modular`, with its defaults; here they stand
beside the other three under the same settings, and can have holes.
"""

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from jaxtyping import Bool, Int
from torch import Tensor

from grokkit.errors import check_choice
from grokkit.tasks.base import TaskData, register_task
from grokkit.tasks.distractors import DistractorKind
from grokkit.tasks.holes import Hole
from grokkit.tasks.inputs import decode
from grokkit.tasks.modular import ModularTask, check_prime

Function = Literal["x+y", "x-y", "xy", "x^2+y^2", "x^2+xy+y^2", "x^3+y^3", "x^3+xy+y^3"]
"""The names of the functions."""

FUNCTIONS: Mapping[str, Callable[[Tensor, Tensor], Tensor]] = {
    "x+y": lambda x, y: x + y,
    "x-y": lambda x, y: x - y,
    "xy": lambda x, y: x * y,
    "x^2+y^2": lambda x, y: x**2 + y**2,
    "x^2+xy+y^2": lambda x, y: x**2 + x * y + y**2,
    "x^3+y^3": lambda x, y: x**3 + y**3,
    "x^3+xy+y^3": lambda x, y: x**3 + x * y + y**3,
}
"""The functions, before the remainder is taken; numbers up to 1000 overflow none of them."""


@dataclass(frozen=True)
class Rule:
    """The setting of the function.

    Attributes:
        function: f, one of :data:`FUNCTIONS`, as in ``"x^2+xy+y^2"``.
    """

    function: Function = "x+y"


# Rule comes last so that its setting is listed first, as in grokkit.tasks.modular.
@register_task("prime_field")
@dataclass(frozen=True)
class PrimeField(Hole, ModularTask, Rule):
    """f(x, y) modulo a prime p.

    See :class:`OperandTask` for the shared settings and :class:`Hole` for the last two. The
    train fraction is one of all p^2 pairs, hole or no hole. With a hole, the test set is
    all that is not trained on; its two parts are further test sets, ``"hole"`` and
    ``"outside the hole"``, each with its own mirrored pairs.

    Attributes:
        length: as in every task; 3 here, which is [x, y, =] with no room for distractors.
        distractors: as in every task, where the length leaves room for some.

    Raises:
        SettingError: a setting makes no sense; the message names it.

    >>> task = PrimeField("x^2+y^2", p=97, hole="square", hole_edge=30)
    >>> data = task.build(seed=0)
    >>> len(data.train), {name: len(part) for name, part in data.extra.items()}
    (2823, {'hole': 961, 'outside the hole': 5625})
    """

    p: int = 97
    length: int = 3
    distractors: DistractorKind = "constant"

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_hole(self.p, self.train_fraction, self.split)

    def check(self) -> None:
        """Refuse an unknown function, or a p that is not prime."""
        check_choice("function", self.function, FUNCTIONS)
        super().check()
        check_prime(self.p, "the others make no field")

    @property
    def commutes(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Whether f(x, y) = f(y, x): all but x - y."""
        return self.function != "x-y"

    def label(self, operands: Int[Tensor, "input operand"]) -> Int[Tensor, " input"]:
        """The class of f(x, y) modulo p."""
        return FUNCTIONS[self.function](*operands.unbind(dim=1)) % self.p

    def held_out(self, operands: Int[Tensor, "input operand"]) -> Bool[Tensor, " input"] | None:
        """The pairs in the hole."""
        return self.inside(operands)

    def build(self, seed: int) -> TaskData:
        """The data of this task for one seed.

        Args:
            seed: 0 or more.

        Raises:
            SettingError: as for any task with operands.
        """
        data = super().build(seed)
        inside = self.inside(decode(data.test.group, self.p, 2))
        if inside is None:
            return data
        parts = {"hole": inside, "outside the hole": ~inside}
        flags = data.mirrored
        return dataclasses.replace(
            data,
            extra={name: data.test[part] for name, part in parts.items()},
            extra_mirrored={} if flags is None else {n: flags[part] for n, part in parts.items()},
        )
