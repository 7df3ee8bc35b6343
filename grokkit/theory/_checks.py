"""What every statement refuses, in one place: numbers outside a formula's domain.

Functions of this room take a number or an array of numbers (a whole history at once),
so a check looks at every element and names the first one that is not allowed. A NaN
fails every comparison and is therefore refused too.
"""

from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Bool, Float, Int

from grokkit.errors import refuse

# One number.
Scalar = float | int | np.floating | np.integer

# A number, or an array of them that broadcasts against the other arguments.
Number = Scalar | Float[np.ndarray, "..."] | Int[np.ndarray, "..."]

# What comes back: a number for numbers, an array for arrays. Which one, a type checker
# can't tell without an overload a function; the tests check it as they run.
if TYPE_CHECKING:
    Result = Any
else:
    Result = Number


def require(
    ok: bool | np.bool_ | Bool[np.ndarray, "..."], field: str, value: Number, allowed: str
) -> None:
    """Refuse ``value`` unless ``ok`` holds everywhere.

    Args:
        ok: the condition, a truth value or one per element of ``value``.
        field: the name of the argument, for the message.
        value: the argument.
        allowed: what would be allowed, in words.
    """
    fails = ~np.asarray(ok)
    if fails.any():
        refuse(field, np.broadcast_to(value, fails.shape)[fails].flat[0].item(), allowed)


def positive(**values: Number) -> None:
    """Refuse anything that is not above 0 and finite."""
    for field, value in values.items():
        ok = (np.asarray(value) > 0) & np.isfinite(value)
        require(ok, field, value, "a finite number above 0")


def non_negative(**values: Number) -> None:
    """Refuse anything that is not 0 or more."""
    for field, value in values.items():
        require(np.asarray(value) >= 0, field, value, "0 or more")


def mass_below_one(**values: Number) -> None:
    """Refuse an attention mass that leaves nothing for the other positions."""
    for field, value in values.items():
        mass = np.asarray(value)
        require((mass >= 0) & (mass < 1), field, value, "an attention mass in [0, 1)")
