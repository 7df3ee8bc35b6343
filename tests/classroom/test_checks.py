"""Every exercise: its check takes the solution, knows the stub, and names what is wrong.

A chapter is tested once it has ``solutions/NN_name.py``,
``grokkit/classroom/checks/chapter_NN.py`` and ``tests/classroom/wrong/chapter_NN.py``.
"""

import ast
import functools
import socket
import threading
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from grokkit.classroom import check
from grokkit.classroom.exercises import source as sources
from grokkit.classroom.exercises.generate import exercise_notebook
from grokkit.classroom.exercises.source import Chapter, Exercise
from grokkit.classroom.grading.peer import Peer
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
def names_after(number: int, solve: bool) -> dict[str, Any]:
    """The names of a chapter's exercise notebook after all its code cells have run."""
    names: dict[str, Any] = {"__name__": "__main__"}
    for cell in exercise_notebook(chapter(number), solve).cells:
        if cell.cell_type == "code":
            exec(compile(cell.source, f"<cell {cell.id}>", "exec"), names)
    return names


def answers(exercise: Exercise, solve: bool) -> list[Any]:
    names = names_after(number_of(exercise.name), solve)
    return [names[name] for name in exercise.answers]


@cache
def variants(number: int) -> dict[str, list[Variant]]:
    return import_module(f"tests.classroom.wrong.chapter_{number:02}").VARIANTS


each_exercise = pytest.mark.parametrize("name", list(BY_NAME))
each_chapter = pytest.mark.parametrize("number", list(CHAPTERS))


# --- the three parts of a chapter fit -----------------------------------------------------


@each_chapter
def test_a_chapter_has_the_same_exercises_in_all_its_parts(number: int):
    names = [exercise.name for exercise in chapter(number).exercises]
    assert names == [f"ex_{number}_{i + 1}" for i in range(len(names))]
    assert 3 <= len(names) <= 4
    assert list(check.chapter(number)) == names
    assert [exercise.name for exercise in check.chapter(number).values()] == names
    assert list(variants(number)) == names


@each_chapter
def test_no_two_exercises_of_a_chapter_share_the_name_of_an_answer(number: int):
    used = [name for exercise in chapter(number).exercises for name in exercise.answers]
    assert len(used) == len(set(used))


@pytest.mark.parametrize("path", sorted(CHECKS.glob("chapter_*.py")), ids=lambda p: p.stem)
def test_a_check_asks_the_package_and_never_a_solution(path: Path):
    text = path.read_text(encoding="utf-8")
    assert "solutions" not in text
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("grokkit.classroom"):
            assert node.module in (
                "grokkit.classroom.checks.exercise",
                "grokkit.classroom.checks.expect",
            )


# --- what it says -------------------------------------------------------------------------


@each_exercise
def test_the_solution_is_correct(name: str):
    result = getattr(check, name).judge(*answers(BY_NAME[name], solve=True))
    assert result.outcome == "correct", repr(result)


@each_exercise
def test_a_check_sees_no_more_than_what_travels_between_processes(name: str):
    """A grade is given by a process that calls the student's functions from afar."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        student = Peer(theirs, {"get": lambda _: answers(BY_NAME[name], solve=True)})
        thread = threading.Thread(target=student.serve, daemon=True)
        thread.start()
        result = getattr(check, name).judge(*Peer(ours, {}).ask("get"))
        ours.shutdown(socket.SHUT_RDWR)
        thread.join(timeout=60)
    assert result.outcome == "correct", repr(result)


@each_exercise
def test_the_stub_is_not_attempted(name: str):
    assert (
        getattr(check, name).judge(*answers(BY_NAME[name], solve=False)).outcome == "not attempted"
    )


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
def test_at_least_two_wrong_answers_are_caught(name: str):
    wrong = [v for v in variants(number_of(name))[name] if v.outcome == "wrong"]
    assert len(wrong) >= 2
    causes = {getattr(check, name).judge(*variant.answers).cause for variant in wrong}
    assert len(causes) >= 2, "two mistakes are to be told apart"


@each_exercise
def test_code_that_raises_is_shown_with_the_learners_frames_alone(name: str):
    def inner():
        raise KeyError("the learner's own")

    def answer(*args, **kwargs):
        return inner()

    given = answers(BY_NAME[name], solve=True)
    if not all(callable(part) and not isinstance(part, type) for part in given):
        pytest.skip("the answer is a value")
    result = getattr(check, name).judge(*[answer for _ in given])
    assert result.outcome == "raised"
    assert "the learner's own" in result.traceback
    assert "in answer" in result.traceback and "in inner" in result.traceback
    assert "grokkit" not in result.traceback.replace("test_checks.py", "")


@each_exercise
def test_a_function_that_returns_nothing_is_asked_for_its_return(name: str):
    given = answers(BY_NAME[name], solve=True)
    if not callable(given[0]):
        pytest.skip("the answer is a value")
    for number, part in enumerate(given):
        if callable(part):
            nothing = [*given[:number], lambda *a, **k: None, *given[number + 1 :]]
            result = getattr(check, name).judge(*nothing)
            assert result.outcome == "wrong" and "is there a `return`" in result.cause, repr(result)


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
def test_a_right_answer_that_changes_its_input_is_told_so(name: str):
    given = answers(BY_NAME[name], solve=True)
    for number, part in enumerate(given):
        if not callable(part):
            continue
        spoilt: list[Any] = []
        handed = [*given[:number], spoiling(part, spoilt), *given[number + 1 :]]
        result = getattr(check, name).judge(*handed)
        if spoilt:
            assert result.outcome == "wrong", repr(result)
            assert "Your function changed its argument" in result.cause, repr(result)


@each_exercise
def test_the_names_of_the_answers_are_those_of_the_check_cell(name: str):
    exercise = getattr(check, name)
    assert exercise.answers in ((), tuple(BY_NAME[name].answers))
    others = answers(BY_NAME[name], solve=True) * 2
    told = exercise.judge(*others)
    assert told.outcome == "wrong" and f"check.{name}(" in told.cause, repr(told)


@each_exercise
def test_one_answer_of_several_is_told_how_far_it_is(name: str):
    right, stubs = (answers(BY_NAME[name], solve) for solve in (True, False))
    if len(right) == 1:
        pytest.skip("there is one answer")
    for number in range(len(right)):
        given = [right[i] if i == number else stubs[i] for i in range(len(right))]
        result = getattr(check, name).judge(*given)
        assert result.outcome == "not attempted" and not result
        assert f"{BY_NAME[name].answers[number]}: right so far" in repr(result), repr(result)


@each_exercise
def test_a_senseless_answer_is_wrong_and_told_something(name: str):
    given = answers(BY_NAME[name], solve=True)
    nonsense = [(lambda *a, **k: "nonsense") if callable(part) else object() for part in given]
    result = getattr(check, name).judge(*nonsense)
    assert result.outcome == "wrong", repr(result)
    assert result.cause, repr(result)


@each_exercise
def test_hints_come_in_steps_and_give_no_line_of_the_solution_away(name: str):
    hints = getattr(check, name).hints
    assert len(hints) >= 2
    for cell in BY_NAME[name].cells:
        for line in sources.solution_lines(cell.source):
            assert len(line) < 20 or not any(line in hint for hint in hints)
