"""What would the answer be if ...: slips that any exercise may see.

A known mistake of one exercise stands in its table. What is here needs no table: from the right
answer, or from the function that gives it, follows what comes out if a logarithm is to base 2, if
an argument is forgotten, negated or taken for another, if a sum runs over the other axis, if a
division by a length is missing, and so on. Whatever the learner's answer agrees with is its cause.
"""

import math
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain, combinations, permutations
from typing import Any

import numpy as np
import torch

Named = Sequence[tuple[str, Any]]
"""The arguments of a call, by the learner's own names."""

Guess = tuple[str, Any, Any]
"""A cause, the answer that it would give, and one that must not agree as well; None for none."""


def slip(
    found: np.ndarray,
    wanted: np.ndarray,
    same: Callable[[Any], bool],
    ordered: bool = False,
    right: Callable[..., Any] | None = None,
    inputs: Named = (),
) -> str:
    """The cause of a wrong answer, if it is a slip that any exercise may see; else nothing.

    Args:
        found: the learner's answer, as numbers.
        wanted: the right one.
        same: whether the learner's answer agrees with another one.
        ordered: whether the answer is a tuple, whose entries may stand in another order.
        right: gives the right answer for ``inputs``; None if there is no such function.
        inputs: what the learner's function was given.
    """
    if found.shape != wanted.shape or {found.dtype.kind, wanted.dtype.kind} & {*"c"}:
        return ""
    if found.dtype.kind == "b" != wanted.dtype.kind:
        return ""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        said = _of_the_answer(found, wanted, ordered, same)
        if said or right is None or not _tells(wanted):
            return said
        guesses: Iterator[Guess] = iter(())
        if wanted.dtype.kind == "f":
            guesses = _with_a_factor(wanted, inputs)
        if _tells(found) or len(np.unique(found)) > 1:  # no 0, which many inputs give
            guesses = chain(guesses, _with_other_inputs(right, inputs))
        return _first(guesses, same)


def _first(guesses: Iterable[Guess], same: Callable[[Any], bool]) -> str:
    """The cause of the first guess that agrees; else nothing."""
    for cause, answer, other in guesses:
        if same(answer) and (other is None or not same(other)):
            return cause
    return ""


def _tells(wanted: np.ndarray) -> bool:
    """Whether an answer is hardly met by chance: several values, or one that is not round."""
    if len(np.unique(wanted)) > 2:
        return True
    if wanted.dtype.kind != "f":
        return wanted.size > 3
    return bool(np.isfinite(wanted).all() and np.any(20 * wanted != np.round(20 * wanted)))


# --- from the right answer alone ----------------------------------------------------------


def _of_the_answer(
    found: np.ndarray, wanted: np.ndarray, ordered: bool, same: Callable[[Any], bool]
) -> str:
    if ordered and wanted.ndim == 1 and same(wanted[_order(wanted, found)]):
        return "These are the right numbers in another order."
    if wanted.dtype.kind in "iu" and np.any(found != np.round(found)):
        for way, rounded in (("up", np.ceil), ("down", np.floor)):
            if np.array_equal(rounded(found), wanted):
                return f"A whole number is asked for: rounded {way} this one is right."
    if wanted.dtype.kind != "f":
        return ""
    return _first(((cause, answer, None) for cause, answer in _changed(wanted)), same)


def _order(wanted: np.ndarray, found: np.ndarray) -> np.ndarray:
    """The order in which the wanted numbers are as those that were found, if they are the same."""
    return wanted.argsort()[found.argsort().argsort()]


def _changed(wanted: np.ndarray) -> Iterator[tuple[str, Any]]:
    """The right numbers, each changed in one way."""
    yield "The logarithm is to base 2; take the natural one.", wanted / math.log(2)
    yield "The logarithm is to base 10; take the natural one.", wanted / math.log(10)
    if np.all((wanted >= 0) & (wanted <= 1)):
        yield "This is a percentage; a share is a number from 0 to 1.", 100 * wanted
    if np.all((wanted > 0) & (wanted < 1)):
        yield "This is 1 minus what is asked for.", 1 - wanted
    if np.all(abs(wanted) > 1):
        for rounded in (np.round, np.floor, np.ceil):
            yield "It is rounded; give all digits.", rounded(wanted)
    if not _tells(wanted):
        return
    yield "This is the square of what is asked for: is a root missing?", wanted**2
    yield "This is 1 over what is asked for: is a fraction upside down?", 1 / wanted
    yield "This is e to the power of what is asked for.", np.exp(wanted)
    if np.all(wanted > 0):
        yield "This is the square root of what is asked for.", np.sqrt(wanted)
        yield "This is the logarithm of what is asked for.", np.log(wanted)


# --- from what gives it -------------------------------------------------------------------


def _with_other_inputs(right: Callable[..., Any], inputs: Named) -> Iterator[Guess]:
    """The right answers for inputs one of which was changed, or two of which were exchanged."""
    names, values = [name for name, _ in inputs], [value for _, value in inputs]
    for at, (name, value) in enumerate(inputs):

        def made(other: Any, at: int = at) -> Any:
            return right(*values[:at], other, *values[at + 1 :])

        for cause, other in _instead(name, value):
            with suppress(Exception):  # not every function is defined there
                # Where any number would give this answer, none is its cause; but for 0 and 1.
                exact = isinstance(other, float) and other not in (0.0, 1.0)
                yield cause, made(other), made(1.01 * other) if exact else None
        yield from _with_other_axes(made, name, value)
    for i, j in combinations(range(len(values)), 2):
        if _kind(values[i]) == _kind(values[j]):
            other = [*values]
            other[i], other[j] = values[j], values[i]
            with suppress(Exception):
                cause = f"This is the answer with {names[i]} and {names[j]} exchanged."
                yield cause, right(*other), None


def _instead(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """What may stand where an argument belongs, and the cause if that gives the answer."""
    negated = f"This is the answer for -{name}: a sign is wrong."
    if isinstance(value, Mapping) and all(map(torch.is_tensor, value.values())):
        flip = torch.logical_not if _is_mask(value) else torch.neg
        said = f"This is the answer for {name} upside down." if _is_mask(value) else negated
        yield said, {key: flip(one) for key, one in value.items()}
    elif torch.is_tensor(value) and value.dtype == torch.bool:
        yield f"This is the answer for the other entries of {name}: is it negated?", ~value
    elif torch.is_tensor(value) or isinstance(value, np.ndarray):
        if (value < 0).any():  # what is never negative may stand under a root or a logarithm
            yield negated, -value
    elif isinstance(value, int | float) and not isinstance(value, bool):
        for one in (1, 0):
            cause = f"This is the answer for {name} = {one}: where does {name} come in?"
            yield cause, type(value)(one)
        yield negated, -value
        if isinstance(value, int):
            for off in (1, -1):
                yield f"This is the answer for {name} {off:+}: is it off by one?", value + off
        yield f"This is the answer for the square of {name}.", float(value) ** 2
        yield f"This is the answer for e^{name}: take {name} as it is.", math.exp(value)
        if value > 0:
            upside_down = f"This is the answer for 1/{name}: is a fraction upside down?"
            yield upside_down, 1 / value
            yield f"This is the answer for log {name}: take {name} as it is.", math.log(value)


def _with_other_axes(made: Callable[[Any], Any], name: str, table: Any) -> Iterator[Guess]:
    """The right answers for a table with its axes exchanged, or with all its rows in one."""
    if not (torch.is_tensor(table) or isinstance(table, np.ndarray)) or table.ndim != 2:
        return
    with suppress(Exception):
        answer = made(table.T)
        cause = f"It runs along the other axis of {name}: exchange dim 0 and dim 1."
        yield cause, answer.T if getattr(answer, "ndim", 0) == 2 else answer, None
    with suppress(Exception):
        answer = made(table.reshape(1, -1)).reshape(table.shape)
        yield f"Each row of {name} stands for itself; here all are taken together.", answer, None


def _with_a_factor(wanted: np.ndarray, inputs: Named) -> Iterator[Guess]:
    """What an answer that is some multiple of the right one owes to a size or a number given."""
    lengths = {what: n for name, value in inputs for what, n in _lengths(name, value) if n > 1}
    for what, n in lengths.items():
        large, small = f"It is {n} times what is expected", f"It is 1/{n} of what is expected"
        yield f"{large}, and {n} is {what}: is a division by it missing?", n * wanted, None
        yield f"{small}, and {n} is {what}: is it divided by that, as a mean is?", wanted / n, None
    for (one, n), (other, m) in permutations(lengths.items(), 2):
        yield f"Is it divided by {other}, {m}, in place of {one}, {n}?", wanted * n / m, None
    for name, value in inputs:
        if isinstance(value, float) and value not in (0.0, 1.0):
            cause = f"The answer is {name} times what is expected: is a division by it missing?"
            yield cause, wanted * value, None
            yield f"A factor {name} is missing.", wanted / value, None


def _lengths(name: str, value: Any) -> Iterator[tuple[str, int]]:
    """The numbers of things that an argument holds, in words."""
    if torch.is_tensor(value) and value.dtype == torch.bool:
        yield f"the number of trues in {name}", int(value.sum())
    if torch.is_tensor(value) or isinstance(value, np.ndarray):
        several = value.ndim > 1
        for axis, n in enumerate(value.shape):
            yield f"the length of {f'axis {axis} of ' * several}{name}", int(n)
        if several:
            yield f"the number of entries of {name}", int(np.prod(value.shape))
    elif isinstance(value, list | tuple):
        yield f"the length of {name}", len(value)
    elif isinstance(value, int) and not isinstance(value, bool):
        yield name, value


def _kind(value: Any) -> tuple[Any, ...]:
    """Two arguments of one kind may be taken for each other."""
    return type(value), tuple(getattr(value, "shape", ()))


def _is_mask(value: Mapping[str, Any]) -> bool:
    return all(one.dtype == torch.bool for one in value.values())
