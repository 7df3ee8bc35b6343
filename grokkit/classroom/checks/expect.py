"""What a property expects of an answer, and what the difference tells.

:func:`expect` holds an answer against the right one. Where they differ it looks for the
mistake: first among the *mistakes* that the check lists with the answer each would give,
then for what is common to all exercises (nothing returned, another shape or type, and the
:mod:`~grokkit.classroom.checks.slips`).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from decimal import Decimal
from functools import partial
from numbers import Real
from typing import Any

import numpy as np
import torch

from grokkit.classroom.checks.slips import Named, slip

RTOL, ATOL = 1e-5, 1e-7
"""How far an answer may be off, relative and absolute: float32 passes, a slip does not."""

SINGLE_RTOL = 1e-4
"""How far a number that was computed in float32 may be off, relative to the right one, where
:data:`RTOL` is all that a check says: of log(1 - 0.001) float32 keeps four digits."""

SIZE_TOL = 1e-6
"""How far it may be off in any case, relative to the largest number that is involved.

A difference of two numbers near 5 is 0 to within what float32 says of 5, and not of 0."""

NOTHING = "The function returned nothing: is there a `return` at its end?"

_inputs: ContextVar[Callable[[], Named]] = ContextVar("_inputs", default=lambda: ())


class Wrong(Exception):
    """An answer that breaks a property. A check does not raise it itself; :func:`expect` does.

    Attributes:
        got: the answer, as shown; empty where there is nothing to show.
        want: what was expected, as shown.
        cause: the likely cause; empty for the property's own.
        note: how the two differ.
        known: whether the answer is one that a known mistake gives.
        statement: what does not hold, in words; None for what was asked about.
    """

    def __init__(
        self,
        got: str = "",
        want: str = "",
        cause: str = "",
        note: str = "",
        known: bool = False,
        statement: str | None = None,
    ) -> None:
        super().__init__(cause or note or f"got {got}, expected {want}")
        self.got, self.want, self.cause, self.note = got, want, cause, note
        self.known, self.statement = known, statement


class AnyOf(tuple[Any, ...]):
    """Several answers that one and the same mistake may give."""


def any_of(*answers: Any) -> AnyOf:
    """For ``mistakes`` of :func:`expect`: the answers that one sentence fits."""
    return AnyOf(answers)


@contextmanager
def with_inputs(inputs: Callable[[], Named]) -> Iterator[None]:
    """Tell :func:`expect`, as long as this lasts, what the learner's code was given.

    Args:
        inputs: gives the latest input, by name; tolerances grow with its numbers.
    """
    token = _inputs.set(inputs)
    try:
        yield
    finally:
        _inputs.reset(token)


def expect(
    got: Any,
    want: Any,
    *,
    cause: str = "",
    mistakes: Mapping[str, Any] | Callable[[], Mapping[str, Any]] | None = None,
    right: Callable[..., Any] | None = None,
    rtol: float = RTOL,
    atol: float | None = None,
) -> None:
    """Hold an answer against the one that is right.

    Numbers, lists, arrays and tensors are compared by value and shape, whatever their type;
    tuples, lists and dicts of such entry by entry; anything else by ``==``.

    Args:
        got: what the learner's code gave.
        want: what is right.
        cause: the likely cause if they differ; empty for the property's own. If shape or type
            differ, that is the cause, whatever this says.
        mistakes: the answer that a known mistake gives, by the sentence that names it; several
            answers with :func:`any_of`. The first that the answer agrees with is taken for the
            cause. A function that gives them is only called if the answer is wrong.
        right: gives the right answer for what the learner's code was given; from it follow the
            slips that any exercise may see, see :mod:`~grokkit.classroom.checks.slips`.
        rtol: how far off numbers may be, relative to ``want``.
        atol: how far off they may be in any case; None for what float32 can hold of the largest
            number in ``want`` and in what the learner's code was given.

    Raises:
        Wrong: they differ.
    """
    inputs = _inputs.get()()
    if atol is None:
        atol = max(ATOL, SIZE_TOL * max(_size(want), _size([value for _, value in inputs])))
    if alike(got, want, rtol, atol):
        return
    known = mistakes() if callable(mistakes) else mistakes or {}
    for sentence, answer in known.items():
        answers = answer if isinstance(answer, AnyOf) else (answer,)
        if any(alike(got, one, rtol, atol) for one in answers):
            raise Wrong(show(got), show(want), sentence, known=True)
    said, a, b = _common_cause(got) or _shape_cause(got, want), _flat(got), _flat(want)
    if not said and a is not None and b is not None:
        same = partial(alike, got, rtol=rtol, atol=atol)
        said = slip(a, b, same, isinstance(want, tuple), right, inputs)
    raise Wrong(show(got), show(want), said or cause, _difference(got, want, atol))


def require(condition: Any, cause: str, got: Any = None, want: str = "", what: str = "") -> None:
    """Ask for something that is no equality, such as an answer on one side of a bound.

    Args:
        condition: what must be true.
        cause: the likely cause if it is not.
        got: what to show of the answer; None for nothing.
        want: what was asked for, in words.
        what: what ``got`` is, in words, where it is not the answer but computed from it.

    Raises:
        Wrong: the condition is false.
    """
    if not bool(condition):
        shown = "" if got is None else show(got)
        raise Wrong(f"{what}: {shown}" if what and shown else shown, want, cause)


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
        return a.shape == b.shape and bool(_close(a, b, rtol, atol).all())
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


def _close(a: np.ndarray, b: np.ndarray, rtol: float, atol: float) -> np.ndarray:
    """Which entries are the same to within a tolerance; nan is the same as nan."""
    allowed = np.where(_single(a), SINGLE_RTOL, rtol) if rtol == RTOL else rtol
    return np.asarray(np.isclose(a, b, allowed, atol, equal_nan=True))


def _single(array: np.ndarray) -> np.ndarray:
    """Which entries have all the digits of float32 and no more, whatever their type is now.

    A number that was computed in float64 has more, and one that was rounded by hand, such as 516
    or 0.516, has fewer or more: both are held to the sharper tolerance.
    """
    if array.dtype.kind not in "fc":
        return np.zeros(array.shape, dtype=bool)
    real = np.real(array)
    with np.errstate(over="ignore"):
        single, half = array.astype(np.complex64), real.astype(np.float16)
    return np.asarray((single == array) & (half != real) & (array != np.round(array)))


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
        if array.dtype.kind == "O" and array.ndim == 0 and isinstance(value, Real | Decimal):
            array = np.asarray(float(value))
    except Exception:  # an object of the learner's own may do anything when asked for numbers
        return None
    return array if array.dtype.kind in "biufc" else None


def as_floats(given: Any, shape: Sequence[int], asked: str) -> np.ndarray:
    """An answer as an array of finite numbers in float64.

    Args:
        given: what the learner's code gave.
        shape: what it must have.
        asked: the sentence that says so.

    Raises:
        Wrong: it is no numbers, has another shape, or an entry is not finite.
    """
    array = as_array(given)
    fits = array is not None and array.shape == tuple(shape)
    require(fits, asked, given)
    made = np.asarray(array, dtype=np.float64)
    require(np.isfinite(made).all(), "There is a nan or an infinity in it.", given)
    return made


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
    if array.size > most:
        ends = [f"{number:.4g}" for number in (array.flat[0], array.flat[1], array.flat[-1])]
        return f"{ends[0]}, {ends[1]}, ..., {ends[2]}  (shape {array.shape})"
    return np.array2string(array, precision=4, separator=", ", floatmode="maxprec")


def _flat(value: Any) -> np.ndarray | None:
    """Numbers as an array, those of a dict one after another; None for what is no numbers."""
    if not isinstance(value, Mapping):
        return as_array(value)
    arrays = [array.ravel() for array in map(as_array, value.values()) if array is not None]
    return np.concatenate(arrays) if arrays and len(arrays) == len(value) else None


def _size(value: Any) -> float:
    """The largest finite number, wherever it stands in a value; whole ones do not count."""
    if isinstance(value, Mapping):
        return max(map(_size, value.values()), default=0.0)
    array = as_array(value)
    if array is None:
        return max(map(_size, value), default=0.0) if isinstance(value, tuple | list) else 0.0
    if array.dtype.kind not in "fc":
        return 0.0
    return float(np.abs(array[np.isfinite(array)]).max(initial=0.0))


def _common_cause(got: Any) -> str:
    if got is None:
        return NOTHING
    if got is Ellipsis:
        return "The function returned `...`, the place for your code."
    if callable(got):
        return "The answer is a function where its value is needed: are the parentheses missing?"
    return ""


# --- another shape, or another type -------------------------------------------------------


def _shape_cause(got: Any, want: Any) -> str:
    """A cause for an answer of another type or shape than was expected; else nothing."""
    if isinstance(want, Mapping):
        return _dict_cause(got, want)
    a, b = as_array(got), as_array(want)
    if a is not None and b is not None:
        return _axes_cause(got, a, want, b)
    if b is None and isinstance(want, tuple | list) and isinstance(got, tuple | list):
        if len(got) != len(want):
            return f"{len(got)} things came back; expected: {len(want)}."
        parts = enumerate(zip(got, want, strict=True), 1)
        return _first({f"the one at place {i}": pair for i, pair in parts})
    if b is None and not isinstance(want, str | tuple | list):
        return ""
    if isinstance(want, str) and isinstance(got, str):
        return ""
    return f"This is {_kind_of(got)}; expected: {_asked(want)}.{_advice(got)}"


def _dict_cause(got: Any, want: Mapping[Any, Any]) -> str:
    if not isinstance(got, Mapping):
        return f"This is {_kind_of(got)}; expected: {_asked(want)}."
    missing = [str(name) for name in want if name not in got]
    more = [str(name) for name in got if name not in want]
    if missing:
        return f"In the dict there is no {', '.join(missing)}."
    if more:
        return f"In the dict {', '.join(more)} is too many; expected: {_asked(want)}."
    return _first({str(name): (got[name], want[name]) for name in want})


def _first(pairs: Mapping[str, tuple[Any, Any]]) -> str:
    """What is to be said of the first part whose shape or type differs, if any does."""
    for name, (got, want) in pairs.items():
        said = "It is None." if got is None and want is not None else _shape_cause(got, want)
        if said:
            return f"{name[0].upper() if ' ' in name else name[0]}{name[1:]}: {said}"
    return ""


def _axes_cause(got: Any, a: np.ndarray, want: Any, b: np.ndarray) -> str:
    """Of two arrays; lists of whole numbers may differ in length: that is their content."""
    if a.shape == b.shape:
        return ""
    expected = f"expected: {_asked(want)}"
    if a.ndim == 0:
        return f"This is a single number; {expected}. Is something summed up that should not be?"
    if b.ndim == 0 and a.size == 1:
        where = "a list" if isinstance(got, tuple | list) else f"an array of shape {a.shape}"
        return f"The number is in {where}; {expected}. Take it out, with `[0]` or `.item()`."
    if b.ndim == 0 and isinstance(got, tuple):
        return f"{len(got)} things came back; {expected}. Return that alone."
    if b.ndim == 0:
        return (
            f"{a.size} numbers came back; {expected}. Return that one; or, if they are its terms, "
            "sum the terms."
        )
    if a.ndim == b.ndim == 1:
        same = b.dtype.kind in "iu"
        return "" if same else f"{a.size} numbers came back; expected: {b.size}."
    shapes = f"The shape is {a.shape}; expected: {b.shape}."
    if a.ndim > b.ndim and a.shape[-b.ndim :] == b.shape and a.size == b.size:
        return f"{shapes} There is an axis too many in front: `[0]` takes it off."
    if a.ndim > b.ndim and a.shape[: b.ndim] == b.shape and a.size == b.size:
        return f"{shapes} There is an axis too many at the end: is it left by `keepdim=True`?"
    if a.ndim > b.ndim:
        return f"{shapes} There is an axis too many: is a sum over it missing?"
    if a.ndim < b.ndim and a.size == b.size:
        return f"{shapes} An axis is missing; keep it though its length is 1."
    if a.ndim < b.ndim:
        return f"{shapes} An axis is missing: is something summed up that should not be?"
    if sorted(a.shape) == sorted(b.shape):
        return f"{shapes} The axes are in another order."
    return f"{shapes} Do numbers broadcast where they should not, or is it another axis?"


def _asked(want: Any) -> str:
    """What was expected, in words, with its shape."""
    if isinstance(want, str):
        return "a text"
    if isinstance(want, Mapping):
        return f"a dict with the names {', '.join(map(str, want))}"
    array = as_array(want)
    if array is None:
        return f"{len(want)} things"
    if array.ndim == 0:
        return "True or False" if array.dtype.kind == "b" else "a single number"
    if array.ndim == 1:
        return f"{len(array)} number{'s' * (len(array) != 1)}"
    return f"numbers in the shape {array.shape}"


def _kind_of(got: Any) -> str:
    """What came back, in words."""
    kinds = {str: "text", Mapping: "a dict", set: "a set", list: "a list", tuple: "a tuple"}
    named = next((name for kind, name in kinds.items() if isinstance(got, kind)), "")
    if named:
        return named
    array = as_array(got)
    if array is None:
        return f"a value of type {type(got).__name__}"
    return "a number" if array.ndim == 0 else "an array of numbers"


def _advice(got: Any) -> str:
    """What to do with an answer that is no numbers where numbers are expected."""
    if isinstance(got, str):
        return " Return the value itself, without quotes, `str()` or an f-string."
    if isinstance(got, Mapping):
        return " Return what is in it, without the names."
    if isinstance(got, set | frozenset):
        return " A set has no order: make a list of it."
    if isinstance(got, tuple | list):
        none = any(part is None for part in got)
        return (
            " There is a None in it." if none else " Its parts are no numbers, or differ in size."
        )
    return " `list(...)` makes a list of it." if hasattr(got, "__next__") else ""


# --- the same shape -----------------------------------------------------------------------


def _difference(got: Any, want: Any, atol: float) -> str:
    """How the answer differs, where that can be said in a sentence that suits any exercise."""
    a, b = as_array(got), as_array(want)
    if b is None or a is None or a.shape != b.shape:
        return ""
    if a.ndim == 2 and a.shape[0] == a.shape[1] and np.allclose(a.T, b, RTOL, atol):
        return "The answer is transposed."
    if a.dtype.kind == "b" and b.dtype.kind == "b":
        return f"{int((a != b).sum())} of {a.size} entries differ."
    if a.dtype.kind == b.dtype.kind == "i" and np.unique(a - b).tolist() in ([1], [-1]):
        return (
            f"{'It' if a.ndim == 0 else 'Each'} is 1 too {'large' if (a > b).any() else 'small'}."
        )
    if np.isnan(a).any() and not np.isnan(b).any():
        return "The answer has nan in it, such as 0/0 or 0 times the logarithm of 0 gives."
    if a.dtype.kind in "fc" and b.dtype.kind in "fc" and np.isfinite([a, b]).all() and np.any(b):
        factor = (a * b).sum() / (b * b).sum()
        if not np.isclose(factor, 0) and np.allclose(a, factor * b, RTOL, atol):
            times = f"{np.real_if_close(factor):.4g}"
            if times == "-1":
                return "The sign is the other way round."
            if times != "1":
                return f"The answer is {times} times what is expected."
    if a.size > 1:
        at = tuple(map(int, np.argwhere(~_close(a, b, RTOL, atol))[0]))
        where = f"At [{', '.join(map(str, at))}] it"
    else:
        at, where = (0,) * a.ndim, "It"
    found, expected = _told_apart(a[at], b[at])
    if a.size > 1 or found != f"{a[at]:.4g}":
        return f"{where} is {found}; expected: {expected}."
    return ""


def _told_apart(a: Any, b: Any) -> tuple[str, str]:
    """Two numbers, with four digits or as many as it takes to tell them apart."""
    pairs = ((f"{a:.{n}g}", f"{b:.{n}g}") for n in range(4, 18))
    return next((pair for pair in pairs if pair[0] != pair[1]), (str(a), str(b)))
