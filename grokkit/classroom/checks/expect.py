"""What a property expects of an answer, and what the difference tells.

:func:`expect` holds an answer against the right one. Where they differ it looks for the
mistake: first among the *mistakes* that the check lists with the answer each would give,
then for what is common to all exercises (nothing returned, a transposition, a lost sign).
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

RTOL, ATOL = 1e-5, 1e-7
"""How far an answer may be off, relative and absolute: float32 passes, a slip does not."""


class Wrong(Exception):
    """An answer that breaks a property. A check does not raise it itself; :func:`expect` does.

    Attributes:
        got: the answer, as shown; empty where there is nothing to show.
        want: what was expected, as shown.
        cause: the likely cause; empty for the property's own.
        note: how the two differ.
    """

    def __init__(self, got: str = "", want: str = "", cause: str = "", note: str = "") -> None:
        super().__init__(cause or note or f"got {got}, expected {want}")
        self.got, self.want, self.cause, self.note = got, want, cause, note


def expect(
    got: Any,
    want: Any,
    *,
    cause: str = "",
    mistakes: Mapping[str, Any] | None = None,
    rtol: float = RTOL,
    atol: float = ATOL,
) -> None:
    """Hold an answer against the one that is right.

    Numbers, lists, arrays and tensors are compared by value and shape, whatever their type;
    tuples, lists and dicts of such entry by entry; anything else by ``==``.

    Args:
        got: what the learner's code gave.
        want: what is right.
        cause: the likely cause if they differ; empty for the property's own.
        mistakes: the answer that a known mistake gives, by the sentence that names it. The
            first that the answer agrees with is taken for the cause.
        rtol: how far off numbers may be, relative to ``want``.
        atol: how far off they may be in any case.

    Raises:
        Wrong: they differ.
    """
    if alike(got, want, rtol, atol):
        return
    for sentence, answer in (mistakes or {}).items():
        if alike(got, answer, rtol, atol):
            raise Wrong(show(got), show(want), sentence)
    raise Wrong(show(got), show(want), _common_cause(got) or cause, _difference(got, want))


def require(condition: Any, cause: str, got: Any = None, want: str = "") -> None:
    """Ask for something that is no equality, such as an answer on one side of a bound.

    Args:
        condition: what must be true.
        cause: the likely cause if it is not.
        got: what to show of the answer; None for nothing.
        want: what was asked for, in words.

    Raises:
        Wrong: the condition is false.
    """
    if not bool(condition):
        raise Wrong("" if got is None else show(got), want, cause)


def alike(got: Any, want: Any, rtol: float = RTOL, atol: float = ATOL) -> bool:
    """Whether two answers are the same to within a tolerance; see :func:`expect`."""
    if isinstance(want, Mapping):
        return (
            isinstance(got, Mapping)
            and got.keys() == want.keys()
            and all(alike(got[key], want[key], rtol, atol) for key in want)
        )
    a, b = as_array(got), as_array(want)
    if a is not None and b is not None:
        return a.shape == b.shape and np.allclose(a, b, rtol, atol, equal_nan=True)
    if isinstance(want, tuple | list):
        return (
            isinstance(got, tuple | list)
            and len(got) == len(want)
            and all(alike(x, y, rtol, atol) for x, y in zip(got, want, strict=True))
        )
    if a is not None or b is not None:
        return False
    same = got == want
    return same if isinstance(same, bool) else False


def as_array(value: Any) -> np.ndarray | None:
    """Numbers as an array, wherever they come from; None for what is no numbers."""
    if isinstance(value, torch.Tensor):
        value = value.detach().cpu().resolve_conj().resolve_neg()
        return (value.float() if value.dtype is torch.bfloat16 else value).numpy()
    if value is None or isinstance(value, str | bytes | Mapping | set | frozenset):
        return None
    if isinstance(value, tuple | list):
        parts = [as_array(part) for part in value]
        if (
            any(part is None for part in parts)
            or len({part.shape for part in parts if part is not None}) > 1
        ):
            return None
        value = parts
    try:
        array = np.asarray(value)
    except Exception:  # an object of the learner's own may do anything when asked for numbers
        return None
    return array if array.dtype.kind in "biufc" else None


def show(value: Any, most: int = 60) -> str:
    """A value as a message shows it: four digits, and of a large array its shape and ends."""
    array = as_array(value)
    if array is None:
        if isinstance(value, tuple) and not hasattr(value, "_fields"):
            inner = ", ".join(show(part) for part in value)
            return f"({inner},)" if len(value) == 1 else f"({inner})"
        if isinstance(value, Mapping):
            return "{" + ", ".join(f"{key!r}: {show(part)}" for key, part in value.items()) + "}"
        text = getattr(value, "__name__", "") if callable(value) else repr(value)
        return text if len(text) <= 400 else text[:400] + " ..."
    if array.ndim == 0:
        number = array.item()
        return f"{number:.4g}" if isinstance(number, float) else str(number)
    text = np.array2string(
        array, precision=4, separator=", ", threshold=most, edgeitems=2, floatmode="maxprec"
    )
    return text if array.size <= most else f"{text}  (shape {array.shape})"


def _common_cause(got: Any) -> str:
    if got is None:
        return "The function returned nothing: is there a `return` at its end?"
    if got is Ellipsis:
        return "The function returned `...`, the place for your code."
    if callable(got):
        return "The answer is a function where its value is needed: are the parentheses missing?"
    return ""


def _difference(got: Any, want: Any) -> str:
    """How the answer differs, where that can be said in a sentence that suits any exercise."""
    a, b = as_array(got), as_array(want)
    if b is None or a is None:
        if got is not None and type(got) is not type(want):
            kind = "numbers" if b is not None else f"a {type(want).__name__}"
            return f"The answer is of type {type(got).__name__}; expected: {kind}."
        return ""
    if a.shape != b.shape:
        swapped = " Swap two axes?" if a.ndim > 1 and sorted(a.shape) == sorted(b.shape) else ""
        return f"The answer has shape {a.shape}; expected: {b.shape or 'a single number'}.{swapped}"
    if a.ndim == 2 and a.shape[0] == a.shape[1] and np.allclose(a.T, b, RTOL, ATOL):
        return "The answer is transposed."
    if a.dtype.kind == "b" and b.dtype.kind == "b":
        return f"{int((a != b).sum())} of {a.size} entries differ."
    if np.isnan(a).any() and not np.isnan(b).any():
        return "The answer has nan in it, such as 0/0 or 0 times the logarithm of 0 gives."
    if a.dtype.kind in "fc" and b.dtype.kind in "fc" and np.isfinite([a, b]).all() and np.any(b):
        factor = (a * b).sum() / (b * b).sum()
        if not np.isclose(factor, 0) and np.allclose(a, factor * b, RTOL, ATOL):
            return (
                "The sign is the other way round."
                if np.isclose(factor, -1)
                else (f"The answer is {np.real_if_close(factor):.4g} times what is expected.")
            )
    return ""
