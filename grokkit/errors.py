"""The one way in which grokkit refuses a setting.

Every refusal is a single line of the same shape, ``field: got VALUE; allowed: ...``, so
that a learner sees at once which setting to change, and the command line and the widgets
can show the line without the traceback.
"""

from collections.abc import Iterable
from typing import NoReturn


class SettingError(ValueError):
    """A setting whose value makes no sense.

    Attributes:
        field: the name of the setting.
        value: the value that was refused.
        allowed: what would have been accepted, in words.
    """

    def __init__(self, field: str, value: object, allowed: str) -> None:
        # All three go to BaseException, so that the error survives pickling between
        # the processes of a sweep.
        super().__init__(field, value, allowed)
        self.field = field
        self.value = value
        self.allowed = allowed

    def __str__(self) -> str:
        line = f"{self.field}: got {self.value!r}; allowed: {self.allowed}"
        return " ".join(line.split())


class SettingDropped(UserWarning):
    """A setting that was set, and that the kind which was changed to does not have."""


def refuse(field: str, value: object, allowed: str) -> NoReturn:
    """Raise the :class:`SettingError` for one setting.

    Args:
        field: the name of the setting, such as ``"positions"``.
        value: the value that was given.
        allowed: what would have been accepted: ``"distinct positions 0..3"``.

    Raises:
        SettingError: always; its message is ``field: got VALUE; allowed: ALLOWED``.
    """
    raise SettingError(field, value, allowed)


def check_int(field: str, value: object, low: int, high: int | None = None) -> int:
    """The value, if it is a whole number in ``low..high``.

    A bool is refused although Python counts it as an int: ``p=True`` is a slip.

    Args:
        field: the name of the setting.
        value: the value that was given.
        low: the least value allowed.
        high: the greatest value allowed; None for no limit.

    Raises:
        SettingError: the value is no int, or out of range.
    """
    if (
        not isinstance(value, int)
        or isinstance(value, bool)
        or value < low
        or (high is not None and value > high)
    ):
        span = f"{low} or more" if high is None else f"{low}..{high}"
        refuse(field, value, f"a whole number, {span}")
    return value


def check_fraction(field: str, value: object) -> float:
    """The value, if it is a number strictly between 0 and 1.

    Raises:
        SettingError: the value is no number, not finite, or out of range.
    """
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 < value < 1:
        refuse(field, value, "a number between 0 and 1, both excluded")
    return value


def check_number(
    field: str, value: object, low: float = 0.0, *, strict: bool = False, finite: bool = True
) -> float:
    """The value, if it is a number from ``low`` up.

    Args:
        field: the name of the setting.
        value: the value that was given.
        low: the least value allowed.
        strict: whether ``low`` itself is refused.
        finite: whether infinity is refused.

    Raises:
        SettingError: the value is no number, nan, or out of range.
    """
    if (
        isinstance(value, bool)
        or not isinstance(value, int | float)
        or (isinstance(value, int) and abs(value) > 2**1000)  # more than a float can hold
        or not (value > low if strict else value >= low)
        or (finite and value == float("inf"))
    ):
        span = f"above {low:g}" if strict else f"{low:g} or more"
        refuse(field, value, f"a {'finite ' if finite else ''}number, {span}")
    return value


def check_choice(field: str, value: object, choices: Iterable[str]) -> str:
    """The value, if it is one of the choices.

    Args:
        field: the name of the setting.
        value: the value that was given.
        choices: the allowed names.

    Raises:
        SettingError: the value is not among them.
    """
    choices = tuple(choices)
    if not isinstance(value, str) or value not in choices:
        refuse(field, value, ", ".join(choices))
    return value
