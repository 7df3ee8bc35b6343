"""Every exercise: its check takes right answers of any style, and names what is wrong.

A chapter has ``solutions/NN_name.py``, ``grokkit/classroom/checks/chapter_NN.py`` and, for
mistakes that the check's table does not make itself, ``tests/classroom/wrong/chapter_NN.py``.
"""

import ast
import functools
import re
import socket
import threading
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from grokkit.classroom import check
from grokkit.classroom.checks.exercise import Ask, Function
from grokkit.classroom.checks.expect import AnyOf
from grokkit.classroom.exercises import source as sources
from grokkit.classroom.exercises.source import Chapter
from grokkit.classroom.grading.peer import Peer
from tests.classroom.mutants import solved_names
from tests.classroom.right import RIGHT
from tests.classroom.variant import Variant

ROOT = Path(__file__).parents[2]
CHAPTERS = {int(p.stem[:2]): p for p in sorted((ROOT / "solutions").glob("[0-9][0-9]_*.py"))}
CHECKS = ROOT / "grokkit" / "classroom" / "checks"


@cache
def chapter(number: int) -> Chapter:
    return sources.read(CHAPTERS[number])


EXERCISES = [exercise for number in CHAPTERS for exercise in chapter(number).exercises]
BY_NAME = {exercise.name: exercise for exercise in EXERCISES}


def number_of(name: str) -> int:
    return int(name.split("_")[1])


@cache
def names_of(number: int) -> dict[str, Any]:
    return solved_names(chapter(number))


def solution(name: str) -> list[Any]:
    return [names_of(number_of(name))[answer] for answer in BY_NAME[name].answers]


def stubs(name: str) -> list[Any]:
    names = dict(names_of(number_of(name)))
    for cell in BY_NAME[name].cells:
        if sources.BEGIN in cell.source:
            exec(compile(sources.stubbed(cell.source), "<cell stub>", "exec"), names)
    return [names[answer] for answer in BY_NAME[name].answers]


@cache
def variants(number: int) -> dict[str, list[Variant]]:
    return import_module(f"tests.classroom.wrong.chapter_{number:02}").VARIANTS


each_exercise = pytest.mark.parametrize("name", list(BY_NAME))
each_chapter = pytest.mark.parametrize("number", list(CHAPTERS))


# --- the parts of a chapter fit -----------------------------------------------------------


@each_chapter
def test_a_chapter_has_the_same_exercises_in_all_its_parts(number: int):
    names = [exercise.name for exercise in chapter(number).exercises]
    assert names == [f"ex_{number}_{i + 1}" for i in range(len(names))]
    assert list(check.chapter(number)) == names
    assert [exercise.name for exercise in check.chapter(number).values()] == names
    assert set(variants(number)) <= set(names)


@each_chapter
def test_no_two_exercises_of_a_chapter_share_the_name_of_an_answer(number: int):
    used = [name for exercise in chapter(number).exercises for name in exercise.answers]
    assert len(used) == len(set(used))


@each_exercise
def test_the_names_of_the_answers_are_those_of_the_check_cell(name: str):
    exercise = getattr(check, name)
    assert list(exercise.answers) == BY_NAME[name].answers
    told = exercise.judge(*solution(name) * 2)
    assert told.outcome == "wrong" and f"check.{name}(" in told.cause, repr(told)


@pytest.mark.parametrize("path", sorted(CHECKS.glob("chapter_*.py")), ids=lambda p: p.stem)
def test_a_check_asks_the_package_and_never_a_solution(path: Path):
    text = path.read_text(encoding="utf-8")
    assert "solutions" not in text
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("grokkit.classroom"):
            assert node.module in (
                "grokkit.classroom.checks.common",
                "grokkit.classroom.checks.exercise",
                "grokkit.classroom.checks.expect",
            )


@each_exercise
def test_hints_come_in_steps_and_give_no_line_of_the_solution_away(name: str):
    hints = getattr(check, name).hints
    assert len(hints) >= 2
    for cell in BY_NAME[name].cells:
        for line in sources.solution_lines(cell.source):
            assert len(line) < 20 or not any(line in hint for hint in hints)


# --- right answers ------------------------------------------------------------------------


def numpy_style(value: Any) -> Any:
    return value.numpy() if isinstance(value, torch.Tensor) else value


def list_style(value: Any) -> Any:
    return value.tolist() if isinstance(value, torch.Tensor | np.ndarray | np.generic) else value


def tensor_style(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic | bool | int | float):
        return torch.as_tensor(value)
    return value


def wide_style(value: Any) -> Any:
    value = tensor_style(value)
    floats = isinstance(value, torch.Tensor) and value.is_floating_point()
    return value.double() if floats else value


def styled(answer: Any, style: Any) -> Any:
    """An answer, or what a function gives, with everything in it turned into another style."""
    if callable(answer):
        return functools.wraps(answer)(lambda *a, **k: styled(answer(*a, **k), style))
    if isinstance(answer, tuple) and not hasattr(answer, "_fields"):
        return tuple(styled(one, style) for one in answer)
    if isinstance(answer, dict):
        return {name: styled(one, style) for name, one in answer.items()}
    return style(answer)


@pytest.mark.parametrize("style", [None, numpy_style, list_style, tensor_style, wide_style])
@each_exercise
def test_a_right_answer_of_any_style_is_correct(name: str, style: Any):
    given = [styled(answer, style) if style else answer for answer in solution(name)]
    result = getattr(check, name).judge(*given)
    assert result.outcome == "correct", repr(result)


@pytest.mark.parametrize(
    ("name", "number"), [(name, i) for name, answers in RIGHT.items() for i in range(len(answers))]
)
def test_a_right_answer_that_is_written_otherwise_is_correct(name: str, number: int):
    for seed in (0, 7):
        result = getattr(check, name).judge(*RIGHT[name][number], seed=seed)
        assert result.outcome == "correct", repr(result)


@pytest.mark.parametrize("seed", [1, 12345])
@each_exercise
def test_the_solution_is_correct_whatever_is_drawn(name: str, seed: int):
    result = getattr(check, name).judge(*solution(name), seed=seed)
    assert result.outcome == "correct", repr(result)


@each_exercise
def test_a_check_sees_no_more_than_what_travels_between_processes(name: str):
    """A grade is given by a process that calls the student's functions from afar."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        student = Peer(theirs, {"get": lambda _: solution(name)})
        thread = threading.Thread(target=student.serve, daemon=True)
        thread.start()
        result = getattr(check, name).judge(*Peer(ours, {}).ask("get"))
        ours.shutdown(socket.SHUT_RDWR)
        thread.join(timeout=60)
    assert result.outcome == "correct", repr(result)


# --- answers that are not -----------------------------------------------------------------


@each_exercise
def test_the_stub_is_not_attempted(name: str):
    assert getattr(check, name).judge(*stubs(name)).outcome == "not attempted"


def mistakes(name: str) -> Iterator[tuple[str, int, Any]]:
    """Each mistake that a check's table makes: its sentence, which answer, the function."""
    for number, part in enumerate(getattr(check, name).parts):
        if not isinstance(part, Function):
            continue
        tables = [part.mistakes]
        for case in part.cases.values():
            tables += [ask.mistakes for ask in ([case] if isinstance(case, Ask) else case)]
        for table in tables:
            for sentence, made in table.items():
                for one in made if isinstance(made, AnyOf) else [made]:
                    if callable(one):
                        yield sentence, number, one


@each_exercise
def test_a_known_mistake_is_told_by_its_own_sentence(name: str):
    exercise, right = getattr(check, name), solution(name)
    told: dict[str, list[str]] = {}
    for sentence, number, made in mistakes(name):
        with np.errstate(all="ignore"):
            result = exercise.judge(*right[:number], made, *right[number + 1 :])
        assert result.outcome == "wrong", f"{sentence}: {result!r}"
        told.setdefault(sentence, []).append(result.cause)
    for sentence, causes in told.items():
        # Two mistakes may give the same on the first inputs; the first in the table is told then.
        assert sentence in causes, (sentence, causes)
        assert set(causes) <= set(told), (sentence, causes)


@pytest.mark.parametrize(
    ("name", "variant"),
    [
        pytest.param(name, variant, id=f"{name}: {variant}")
        for number in CHAPTERS
        for name, several in variants(number).items()
        for variant in several
    ],
)
def test_a_wrong_answer_is_told_its_cause(name: str, variant: Variant):
    result = getattr(check, name).judge(*variant.answers)
    assert result.outcome == variant.outcome, repr(result)
    said = result.cause if variant.outcome == "wrong" else result.traceback
    assert variant.cause.lower() in said.lower(), repr(result)


@each_exercise
def test_code_that_raises_is_shown_with_the_learners_frames_alone(name: str):
    def inner():
        raise KeyError("the learner's own")

    def answer(*args, **kwargs):
        return inner()

    if not all(map(callable, solution(name))):
        pytest.skip("the answer is a value")
    result = getattr(check, name).judge(*[answer for _ in solution(name)])
    assert result.outcome == "raised"
    assert "the learner's own" in result.traceback
    assert "in answer" in result.traceback and "in inner" in result.traceback
    assert "grokkit" not in result.traceback.replace("test_checks.py", "")


def off(value: Any) -> Any:
    """The same with every float larger by a number that stands in no exercise."""
    if isinstance(value, float | np.floating):
        return value * 1.0123
    if isinstance(value, torch.Tensor | np.ndarray):
        return value * 1.0123 if "float" in str(value.dtype) else value
    if isinstance(value, list | tuple):
        return type(value)(map(off, value))
    return {key: off(part) for key, part in value.items()} if isinstance(value, dict) else value


@each_exercise
def test_a_number_that_is_a_little_off_is_taken_for_no_slip(
    name: str, capfd: pytest.CaptureFixture[str]
):
    """Nor does looking for slips print anything, as LAPACK does if it is handed a nan."""
    exercise, right = getattr(check, name), solution(name)
    slips = re.compile(
        r"come in\?|by it missing|as a mean is|in place of|A factor|exchanged|taken together|"
        "the other axis|upside down|a sign is wrong|off by one|as it is\\.|what is asked for"
    )
    for number, part in enumerate(right):
        if callable(part):
            answer = functools.wraps(part)(lambda *a, part=part, **k: off(part(*a, **k)))
            result = exercise.judge(*right[:number], answer, *right[number + 1 :])
            assert not slips.search(result.cause), repr(result)
    assert capfd.readouterr() == ("", "")


def spoiling(function: Any, spoilt: list[Any]) -> Any:
    """A right answer that changes what it was given, and keeps what it changed in ``spoilt``."""

    @functools.wraps(function)
    def answer(*args, **kwargs):
        returned = function(*args, **kwargs)
        for given in args:
            if isinstance(given, torch.Tensor | np.ndarray | list | dict):
                spoilt.append(given)
            if isinstance(given, torch.Tensor | np.ndarray):
                given[...] = given == 0  # no entry stays what it was
            elif isinstance(given, list):
                given.append(given[:1])
            elif isinstance(given, dict):
                given["more"] = 1
        return returned

    return answer


@each_exercise
def test_whatever_else_is_wrong_with_one_answer_is_told(name: str):
    """It returns nothing, or nonsense, or is missing, or changes what it was given."""
    exercise, right = getattr(check, name), solution(name)
    for number, part in enumerate(right):

        def judged(answer: Any, number: int = number) -> Any:
            return exercise.judge(*right[:number], answer, *right[number + 1 :])

        missing = judged(None)
        assert missing.outcome == "not attempted" and not missing
        for other in BY_NAME[name].answers[:number]:
            assert other in missing.note.split(":")[0], repr(missing)
        nonsense = judged((lambda *a, **k: "nonsense") if callable(part) else object())
        assert nonsense.outcome == "wrong" and nonsense.cause, repr(nonsense)
        if not callable(part):
            continue
        nothing = judged(lambda *a, **k: None)
        assert nothing.outcome == "wrong" and "is there a `return`" in nothing.cause, repr(nothing)
        spoilt: list[Any] = []
        changed = judged(spoiling(part, spoilt))
        if spoilt:
            assert "Your function changed its argument" in changed.cause, repr(changed)
