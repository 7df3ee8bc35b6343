"""An exercise as its check sees it: hints, and the properties that an answer must have.

A chapter's module declares its exercises like this::

    ex_1_1 = Exercise("ex_1_1", hints=("Count the informative positions first.",))

    @ex_1_1.property("every informative position gets 1/k")
    def _(oracle):
        informative = torch.tensor([[True, False, True]])
        expect(oracle(informative), [[0.5, 0, 0.5]], cause="Is it divided by k?")

A property is a function of the learner's answer. It calls the answer on a small input that
isolates one mistake, and says with :func:`expect` what must come out. Where there are several
answers, the names of those that it does not look at begin with ``_``: so it can be checked while
the others are stubs.
"""

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch

from grokkit.classroom.checks.expect import NOTHING, Wrong, show, with_inputs
from grokkit.classroom.checks.learner import Call, LearnerError, Recorded, of_learner, own_frames
from grokkit.classroom.checks.outcome import CheckFailed, Result, mode
from grokkit.classroom.checks.shown import Hints, Solution

Test = Callable[..., None]


@dataclass(frozen=True)
class Property:
    """One thing that must hold of an answer.

    Attributes:
        statement: what must hold, in words.
        cause: the likely cause where it does not and nothing better is known.
        test: a function of the answers; it raises :class:`Wrong` if the property fails.
        looks_at: the numbers of the answers that it looks at, from 0; None for what its
            parameters' names say.
    """

    statement: str
    cause: str
    test: Test
    looks_at: tuple[int, ...] | None = None

    @property
    def parameters(self) -> list[str] | None:
        """The names of the answers in the test; None if it takes any number of them."""
        found = inspect.signature(self.test).parameters.values()
        if any(one.kind is one.VAR_POSITIONAL for one in found):
            return None
        return [one.name for one in found]

    def used(self, count: int) -> set[int]:
        """The numbers of the answers that it looks at, of so many."""
        if self.looks_at is not None:
            return set(self.looks_at)
        names = self.parameters
        if names is None:
            return set(range(count))
        return {i for i, name in enumerate(names) if not name.startswith("_")}


class Exercise:
    """One exercise; called with a learner's answer, it says what to think of it.

    Args:
        name: ``"ex_CHAPTER_NUMBER"``.
        answers: what the check cell hands in, by name.
        hints: from a nudge to nearly the answer, in the order in which they are given.
        afterword: a sentence for whoever has solved it.
    """

    def __init__(
        self,
        name: str,
        *,
        answers: tuple[str, ...] = (),
        hints: tuple[str, ...],
        afterword: str = "",
    ) -> None:
        self.name = name
        self.answers = answers
        self.hints = hints
        self.afterword = afterword
        self.properties: list[Property] = []
        self._last: Result | None = None
        self._attempted = False
        self._hints_given = 0

    def __repr__(self) -> str:
        return f"check.{self.name}: call it with your answer; .hint() helps"

    @property
    def solved(self) -> bool:
        """Whether the latest answer that was checked is correct."""
        return bool(self._last)

    def property(
        self, statement: str, cause: str = "", looks_at: tuple[int, ...] | None = None
    ) -> Callable[[Test], Test]:
        """A decorator that adds a property; the order of declaration is that of checking."""

        def add(test: Test) -> Test:
            self.properties.append(Property(statement, cause, test, looks_at))
            return test

        return add

    def __call__(self, *answers: Any) -> Result:
        """Check an answer and say what came out; a notebook shows it as a box.

        Args:
            answers: the learner's function, or value, or several of them.

        Raises:
            CheckFailed: the answer is not correct and the environment says that a check
                is to raise then; see :func:`grokkit.classroom.checks.outcome.mode`.
        """
        result = self.judge(*answers)
        if answers:
            self._last = result
            self._attempted = self._attempted or result.outcome != "not attempted"
        harmless = {"show": ("wrong", "raised", "not attempted"), "raise": ("not attempted",)}
        if not result and result.outcome not in harmless.get(mode(), ()):
            raise CheckFailed(result)
        return result

    def judge(self, *answers: Any) -> Result:
        """The outcome for an answer; nothing is kept, and nothing of the learner's escapes."""
        if not answers:
            return Result(self.name, "not attempted", cause=f"Hand your answer in: {self._how()}")
        wanted = self._count()
        if wanted is not None and len(answers) != wanted:
            cause = f"It asks for {wanted} answer{'s' * (wanted != 1)}: {self._how()}."
            return Result(self.name, "wrong", cause=cause)
        missing = {i for i, answer in enumerate(answers) if answer is None or answer is Ellipsis}
        right: set[int] = set()
        held = 0
        for part in self.properties:
            used = part.used(len(answers))
            if used & missing:
                continue
            calls: list[Call] = []
            failed = _failure(part, [_recorded(*one, calls) for one in enumerate(answers)], calls)
            if isinstance(failed, LearnerError) and not failed.attempted:
                missing.add(calls[-1].number if calls else min(used))
                continue
            changing = next((call for call in calls if call.changed), None)
            if failed is None and changing is None:
                held += 1
                right |= used
                continue
            call = changing if failed is None else calls[-1] if calls else None
            inputs = [(name, show(value)) for name, value in (call.inputs if call else [])]
            told = Result(self.name, "raised", part.statement, inputs, held=held)
            if isinstance(failed, LearnerError):
                return replace(told, traceback=failed.text)
            if failed is None:
                return _told_of_a_change(told, call.changed if call else [])
            if isinstance(failed, _NoFunction):
                cause = f"Give the function itself, without calling it: {self._how()}."
                return replace(told, outcome="wrong", statement="", got=failed.got, cause=cause)
            return replace(
                told,
                outcome="wrong",
                got=failed.got,
                want=failed.want,
                cause=failed.cause or part.cause,
                note=failed.note,
            )
        if missing:
            note = self._so_far(answers, right - missing, missing)
            return Result(self.name, "not attempted", held=held, note=note)
        return Result(self.name, "correct", held=held, afterword=self.afterword)

    def _count(self) -> int | None:
        """How many answers there must be; None if nobody says."""
        if self.answers or not self.properties:
            return len(self.answers) or None
        names = self.properties[0].parameters
        return None if names is None else len(names)

    def _how(self) -> str:
        """How the check is called."""
        names = self.answers
        if not names and self.properties:
            names = [name.strip("_") for name in self.properties[0].parameters or ()]
        return f"check.{self.name}({', '.join(names) or '...'})"

    def _so_far(self, answers: Sequence[Any], right: set[int], missing: set[int]) -> str:
        """Which of several answers are right so far, if any are."""
        if not right:
            return ""

        def names(numbers: set[int]) -> str:
            return ", ".join(self._named(i, answers[i]) for i in sorted(numbers))

        verb = "is" if len(missing) == 1 else "are"
        return f"{names(right)}: right so far; {names(missing)} {verb} not attempted"

    def _named(self, number: int, answer: Any) -> str:
        """An answer by its name."""
        if number < len(self.answers):
            return self.answers[number]
        return str(getattr(answer, "__name__", f"answer {number + 1}"))

    def hint(self) -> Hints:
        """One more hint each time, with those given before."""
        self._hints_given = min(self._hints_given + 1, len(self.hints))
        return Hints(self.name, self.hints[: self._hints_given], len(self.hints))

    def solution(self) -> Solution:
        """The solution and what there is to say about it, where the teacher allows it.

        It is read from ``solutions/`` of the checkout that grokkit was installed from; an
        installed wheel and a student's folder have none. Its ``settings.toml`` says when.

        Raises:
            SettingError: the settings make no sense.
        """
        from grokkit.classroom.exercises.reveal import reveal

        return reveal(self.name, self._attempted)


class _NoFunction(Wrong):
    """A value was handed in where a function is asked for."""


def _recorded(number: int, answer: Any, calls: list[Call]) -> Any:
    """Functions are recorded; values, and classes, which are asked for more than calls, are not."""
    plain = not callable(answer) or isinstance(answer, type)
    return answer if plain else Recorded(answer, calls, number)


def _told_of_a_change(told: Result, names: Sequence[str]) -> Result:
    plural = "s" * (len(names) > 1)
    return replace(
        told,
        outcome="wrong",
        statement="what a function is given stays as it was",
        cause=f"Your function changed its argument{plural} {' and '.join(names)}; work on a copy.",
    )


def _failure(part: Property, given: list[Any], calls: list[Call]) -> LearnerError | Wrong | None:
    """What keeps a property from holding; None if it holds."""

    def latest() -> Any:
        return [value for _, value in calls[-1].inputs] if calls else None

    try:
        # A check that draws numbers leaves the learner's generator as it was.
        with torch.random.fork_rng(devices=[]), with_inputs(latest):
            part.test(*given)
    except LearnerError as failed:
        return failed
    except Exception as error:
        failed = error if isinstance(error, Wrong) else _blame(error, given)
        if isinstance(failed, Wrong) and not failed.known and calls and calls[-1].came_back:
            call = calls[-1]
            if call.returned is None:
                failed.got, failed.note, failed.cause = "None", "", NOTHING
            elif not isinstance(error, Wrong):
                failed.got = show(call.returned)
        return failed
    return None


def _blame(error: Exception, given: list[Any]) -> LearnerError | Wrong:
    """Whose fault an error is that came from neither the wrapper nor :func:`expect`.

    If it passed through the learner's code (a method of a class of theirs), it is raised by
    them; otherwise the check choked on what they returned.
    """
    trace = error.__traceback__
    for _ in range(2):  # the frame above, and the property's
        trace = trace.tb_next if trace else None
    if own_frames(trace):
        return of_learner(error.with_traceback(trace))
    values = [answer for answer in given if not callable(answer)]
    if values and isinstance(error, TypeError) and "not callable" in str(error):
        return _NoFunction(got=show(values[0]))
    cause = "The answer is not of the kind that the exercise asks for; read its first lines again."
    return Wrong(cause=cause, note=f"The check could not use it ({type(error).__name__}: {error}).")
