"""The index of statements: which function computes which statement of the paper.

Each function names its statements once, in the decorator :func:`states`. The mapping
``grokkit.theory.STATEMENTS`` and the table in the help of ``grokkit.theory`` follow from that.

A statement is named as in arXiv 2605.15787. "corrected" names what replaces a statement that
fails; "counter to" names a constructed example on which a reading of it fails.

Here is what lessons, exercises and diagnostics compute. Not here are steps of proofs and plain
definitions, such as (6), (12), (48) and N; and, since no formula carries them, Assumption C.1
(B_gamma and N suffice) and the four phases of Section 5.1.
"""

from collections.abc import Callable, Mapping
from textwrap import wrap
from types import MappingProxyType
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])

_stated: list[tuple[str, Callable[..., Any]]] = []


def states(*statements: str) -> Callable[[Function], Function]:
    """Register a function under the statements that it computes; it stays as it is."""

    def register(function: Function) -> Function:
        _stated.extend((statement, function) for statement in statements)
        return function

    return register


def index() -> Mapping[str, tuple[Callable[..., Any], ...]]:
    """Each statement and its functions, in reading order. It cannot be changed.

    A statement with several functions stands where the last of them is read.
    """
    functions: dict[str, tuple[Callable[..., Any], ...]] = {}
    for statement, function in _stated:
        functions[statement] = (*functions.pop(statement, ()), function)
    return MappingProxyType(functions)


def table(statements: Mapping[str, tuple[Callable[..., Any], ...]]) -> str:
    """The index as a simple table in reStructuredText, 100 columns wide at most."""
    left = max(map(len, statements))
    right = 98 - left
    rule = f"{'=' * left}  {'=' * right}"
    rows = [rule, f"{'Statement':{left}}  Functions", rule]
    for statement, functions in statements.items():
        names = wrap(", ".join(function.__name__ for function in functions), right)
        rows += [f"{statement:{left}}  {names[0]}", *(f"{'':{left}}  {more}" for more in names[1:])]
    return "\n".join([*rows, rule])
