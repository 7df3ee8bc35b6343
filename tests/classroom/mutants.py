"""Wrong answers made by machine: does a check take a solution that was broken in one place?

``python -m tests.classroom.mutants 3`` changes each solution of chapter 3 in one place at a
time (an operator, a norm, an axis, a sign, a constant, a comparison, an off by one), hands each
mutant to its check, and lists those that pass. None may, but those with a :func:`reason`: other
right answers, declared in :mod:`tests.classroom.equivalent`.

It runs the solutions of a checkout, in this process; a mutant has :data:`SECONDS` of CPU time.
"""

import argparse
import ast
import contextlib
import copy
import io
import signal
import sys
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from grokkit.classroom.checks import check
from grokkit.classroom.checks.exercise import Function
from grokkit.classroom.exercises import source as sources
from grokkit.classroom.exercises.generate import SOLUTIONS
from grokkit.classroom.exercises.source import Chapter, Exercise
from tests.classroom.equivalent import CONSTRUCTION, EQUIVALENT

SECONDS = 0.5
"""CPU time of one mutant; one that takes longer is stopped, and counts as refused."""

_BINARY: dict[type, list[type]] = {
    ast.Add: [ast.Sub],
    ast.Sub: [ast.Add],
    ast.Mult: [ast.Div],
    ast.Div: [ast.Mult],
    ast.FloorDiv: [ast.Div],
    ast.Mod: [ast.FloorDiv],
    ast.Pow: [ast.Mult],
    ast.BitAnd: [ast.BitOr],
    ast.BitOr: [ast.BitAnd],
}
_COMPARED: dict[type, list[type]] = {
    ast.Lt: [ast.LtE, ast.Gt],
    ast.LtE: [ast.Lt, ast.GtE],
    ast.Gt: [ast.GtE, ast.Lt],
    ast.GtE: [ast.Gt, ast.LtE],
    ast.Eq: [ast.NotEq],
    ast.NotEq: [ast.Eq],
    ast.In: [ast.NotIn],
    ast.NotIn: [ast.In],
}
_NAMES = {
    "sum": ["mean"],
    "mean": ["sum"],
    "min": ["max"],
    "max": ["min"],
    "amin": ["amax"],
    "amax": ["amin"],
    "argmin": ["argmax"],
    "argmax": ["argmin"],
    "log": ["log2"],
    "ceil": ["floor"],
    "cos": ["sin"],
    "sin": ["cos"],
    "any": ["all"],
    "all": ["any"],
    "square": ["abs"],
    "softmax": ["log_softmax"],
    "std": ["var"],
    "combinations": ["permutations"],
    "union": ["intersection"],
}


@dataclass(frozen=True)
class Mutant:
    """A solution that was changed in one place.

    Attributes:
        exercise: ``"ex_1_2"``.
        was: the statement before the change.
        now: the statement after it.
        source: the whole cell after it.
    """

    exercise: str
    was: str
    now: str
    source: str

    def __str__(self) -> str:
        return f"{self.exercise}: {self.was}  ->  {self.now}"


def mutants(exercise: Exercise) -> Iterator[tuple[int, Mutant]]:
    """Every mutant of an exercise's solution, with the number of the cell that it replaces."""
    for number, cell in enumerate(exercise.cells):
        if sources.BEGIN not in cell.source:
            continue
        source = sources.solved(cell.source)
        tree = ast.parse(source)
        before = ast.unparse(tree)
        seen = {before}
        for at, node in enumerate(ast.walk(tree)):
            for new in _alternatives(node):
                changed = copy.deepcopy(tree)
                old = _node(changed, at)
                changed = ast.fix_missing_locations(_Replaced(old, new).visit(changed))
                text = ast.unparse(changed)
                if text in seen:
                    continue
                seen.add(text)
                was, now = _difference(before, text)
                yield number, Mutant(exercise.name, was, now, text)


def reason(mutant: Mutant) -> str:
    """Why a mutant that passes is a right answer; empty if it is none.

    Where an exercise asks for *any* answer of which something holds, whatever passes is right.
    """
    defined = {
        name.id if isinstance(name, ast.Name) else getattr(name, "name", "")
        for statement in ast.parse(mutant.source).body
        for name in ([statement] if isinstance(statement, ast.FunctionDef) else ast.walk(statement))
    }
    parts = [part for part in getattr(check, mutant.exercise).parts if part.name in defined]
    if all(isinstance(part, Function) and part.right for part in parts):
        return EQUIVALENT.get(mutant.exercise, {}).get(mutant.now, "")
    return CONSTRUCTION


def survivors(chapter: Chapter, share: float = 1.0, seed: int = 0) -> tuple[int, list[Mutant]]:
    """How many mutants of a chapter were tried, and those that its checks take for right.

    Args:
        chapter: the solutions.
        share: of the mutants, drawn at random, that are tried.
        seed: of the draw.
    """
    names = solved_names(chapter)
    random = np.random.default_rng(seed)
    tried, passed = 0, []
    for exercise in chapter.exercises:
        for _, mutant in mutants(exercise):
            if share < 1 and random.random() >= share:
                continue
            tried += 1
            if _passes(mutant, exercise, names):
                passed.append(mutant)
    return tried, passed


def solved_names(chapter: Chapter) -> dict[str, Any]:
    """What the imports and the solutions of a chapter define; no other cell is run."""
    names: dict[str, Any] = {"__name__": "__main__"}
    cells = [cell for cell in chapter.opening if cell.cell_type == "code"]
    cells += [c for part in chapter.exercises for c in part.cells if sources.BEGIN in c.source]
    for cell in cells:
        exec(compile(sources.solved(cell.source), "<cell solution>", "exec"), names)
    return names


def _passes(mutant: Mutant, exercise: Exercise, names: dict[str, Any]) -> bool:
    def stop(*_: Any) -> None:
        raise _TooLong

    own = dict(names)
    before = signal.signal(signal.SIGVTALRM, stop)
    # Again and again: in the callback of a weak reference an exception is lost.
    signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS, 1.0)
    quiet = contextlib.redirect_stdout(io.StringIO())
    try:
        with warnings.catch_warnings(), quiet, np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            exec(compile(mutant.source, "<cell mutant>", "exec"), own)
            given = [own[name] for name in exercise.answers]
            return bool(getattr(check, exercise.name).judge(*given, brief=True))
    except _TooLong:
        return False
    except Exception:  # a solution at the top level that raises
        return False
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


class _TooLong(BaseException):
    """A mutant has used up its time; no ``except Exception`` of a check may catch it."""


# --- one change at a time -----------------------------------------------------------------


class _Replaced(ast.NodeTransformer):
    """A tree with one of its nodes replaced, or taken out if ``new`` is None."""

    def __init__(self, old: ast.AST, new: ast.AST | None) -> None:
        self._old, self._new = old, new

    def visit(self, node: ast.AST) -> Any:
        return self._new if node is self._old else self.generic_visit(node)


def _node(tree: ast.AST, at: int) -> ast.AST:
    return next(node for i, node in enumerate(ast.walk(tree)) if i == at)


def _alternatives(node: ast.AST) -> Iterator[ast.AST | None]:
    """What may stand in the place of a node."""
    if isinstance(node, ast.BinOp):
        for operator in _BINARY.get(type(node.op), []):
            yield ast.BinOp(node.left, operator(), node.right)
        yield node.left
        yield node.right
    elif isinstance(node, ast.UnaryOp) and not isinstance(node.operand, ast.Constant):
        yield node.operand
    elif isinstance(node, ast.Compare) and len(node.ops) == 1:
        for operator in _COMPARED.get(type(node.ops[0]), []):
            yield ast.Compare(node.left, [operator()], node.comparators)
    elif isinstance(node, ast.BoolOp):
        yield ast.BoolOp(ast.And() if isinstance(node.op, ast.Or) else ast.Or(), node.values)
        yield from node.values
    elif isinstance(node, ast.Constant):
        yield from _constants(node.value)
    elif isinstance(node, ast.Call):
        yield from _calls(node)
    elif isinstance(node, ast.IfExp):
        yield node.body
        yield node.orelse
    elif isinstance(node, ast.If):
        yield ast.If(ast.Constant(True), node.body, node.orelse)
        yield ast.If(ast.Constant(False), node.body, node.orelse)
    elif isinstance(node, ast.comprehension) and node.ifs:
        yield ast.comprehension(node.target, node.iter, node.ifs[1:], node.is_async)
    elif isinstance(node, ast.Slice):
        if node.lower:
            yield ast.Slice(None, node.upper, node.step)
        if node.upper:
            yield ast.Slice(node.lower, None, node.step)
    elif isinstance(node, ast.Return) and isinstance(node.value, ast.Tuple):
        first, second, *rest = node.value.elts
        yield ast.Return(ast.Tuple([second, first, *rest], ast.Load()))
    elif (
        isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript)
    ) or isinstance(node, ast.AugAssign):
        yield ast.Pass()


def _constants(value: Any) -> Iterator[ast.Constant]:
    if isinstance(value, bool):
        yield ast.Constant(not value)
    elif isinstance(value, int):
        yield ast.Constant(value + 1)
        yield ast.Constant(value - 1)
    elif isinstance(value, float):
        yield ast.Constant(1.05 * value if value else 0.1)
        yield ast.Constant(0.95 * value)
        if value:
            yield ast.Constant(-value)
    elif isinstance(value, str) and len(value) < 20:  # no docstring
        yield ast.Constant(value + "?")


def _calls(node: ast.Call) -> Iterator[ast.AST]:
    function = node.func
    if isinstance(function, ast.Attribute):
        for name in _NAMES.get(function.attr, []):
            yield ast.Call(
                ast.Attribute(function.value, name, ast.Load()), node.args, node.keywords
            )
        if function.attr == "norm" and not node.args:
            one = ast.keyword("p", ast.Constant(1))
            yield ast.Call(function, [], [*node.keywords, one])
        module = isinstance(function.value, ast.Name) and function.value.id in (
            "np",
            "math",
            "torch",
        )
        if not module and not isinstance(function.value, ast.Attribute):
            yield function.value
    elif isinstance(function, ast.Name):
        for name in _NAMES.get(function.id, []):
            if name in ("min", "max", "any", "all", "sum"):
                yield ast.Call(ast.Name(name, ast.Load()), node.args, node.keywords)
    if len(node.args) == 1 and not node.keywords:
        yield node.args[0]
    if len(node.args) > 1:
        yield ast.Call(function, node.args[:-1], node.keywords)
    for number in range(len(node.keywords)):
        if node.keywords[number].arg in ("strict", "dtype"):  # they do not say what comes out
            continue
        kept = [one for i, one in enumerate(node.keywords) if i != number]
        yield ast.Call(function, node.args, kept)


def _difference(before: str, after: str) -> tuple[str, str]:
    """The first line in which two texts differ."""
    pairs = zip(before.splitlines(), after.splitlines(), strict=False)
    return next((a.strip(), b.strip()) for a, b in pairs if a != b)


def main(argv: Sequence[str]) -> int:
    """List the mutants of the chapters named that pass, all chapters if none is; 1 if any do."""
    paths = {int(p.stem[:2]): p for p in sorted(Path(SOLUTIONS).glob("[0-9][0-9]_*.py"))}
    parser = argparse.ArgumentParser(
        "python -m tests.classroom.mutants",
        description="Break every solution in one place at a time, and list what the checks pass.",
    )
    parser.add_argument(
        "chapter", type=int, nargs="*", help="which chapters; by default all", default=list(paths)
    )
    chosen = parser.parse_args(argv).chapter
    for chapter in chosen:
        if chapter not in paths:
            parser.error(f"chapter: got {chapter}; allowed: {', '.join(map(str, paths))}")
    torch.set_num_threads(1)
    bad = 0
    for path in map(paths.__getitem__, chosen):
        tried, passed = survivors(sources.read(path))
        undeclared = [one for one in passed if not reason(one)]
        bad += len(undeclared)
        declared = len(passed) - len(undeclared)
        print(f"{path.stem}: {tried} mutants, {len(undeclared)} pass, {declared} declared")
        for one in undeclared:
            print(f"  {one}")
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
