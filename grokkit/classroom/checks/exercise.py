"""An exercise as its check sees it: hints, and the properties that an answer must have.

A chapter's module declares its exercises like this::

    ex_1_1 = Exercise("ex_1_1", hints=("Count the informative positions first.",))

    @ex_1_1.property("every informative position gets 1/k")
    def _(oracle):
        informative = torch.tensor([[True, False, True]])
        expect(oracle(informative), [[0.5, 0, 0.5]], cause="Is it divided by k?")

A property is a function of the learner's answer. It calls the answer on a small input that
isolates one mistake, and says with :func:`expect` what must come out.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import torch

from grokkit.classroom.checks.expect import Wrong, show
from grokkit.classroom.checks.learner import LearnerError, Recorded, of_learner, own_frames
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
    """

    statement: str
    cause: str
    test: Test


class Exercise:
    """One exercise; called with a learner's answer, it says what to think of it.

    Args:
        name: ``"ex_CHAPTER_NUMBER"``.
        hints: from a nudge to nearly the answer, in the order in which they are given.
        afterword: a sentence for whoever has solved it.
    """

    def __init__(self, name: str, *, hints: tuple[str, ...], afterword: str = "") -> None:
        self.name = name
        self.hints = hints
        self.afterword = afterword
        self.properties: list[Property] = []
        self._last: Result | None = None
        self._hints_given = 0

    def __repr__(self) -> str:
        return f"check.{self.name}: call it with your answer; .hint() helps"

    @property
    def solved(self) -> bool:
        """Whether the latest answer that was checked is correct."""
        return bool(self._last)

    def property(self, statement: str, cause: str = "") -> Callable[[Test], Test]:
        """A decorator that adds a property; the order of declaration is that of checking."""

        def add(test: Test) -> Test:
            self.properties.append(Property(statement, cause, test))
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
        self._last = result = self.judge(*answers)
        harmless = {"show": ("wrong", "raised", "not attempted"), "raise": ("not attempted",)}
        if not result and result.outcome not in harmless.get(mode(), ()):
            raise CheckFailed(result)
        return result

    def judge(self, *answers: Any) -> Result:
        """The outcome for an answer; nothing is kept, and nothing of the learner's escapes."""
        if not answers or any(answer is None or answer is Ellipsis for answer in answers):
            return Result(self.name, "not attempted")
        for held, part in enumerate(self.properties):
            calls: list[list[tuple[str, Any]]] = []
            failed = _failure(part, [_recorded(answer, calls) for answer in answers])
            if failed is None:
                continue
            if isinstance(failed, LearnerError) and not failed.attempted:
                return Result(self.name, "not attempted")
            inputs = [(name, show(value)) for name, value in (calls[-1] if calls else [])]
            told = Result(self.name, "raised", part.statement, inputs, held=held)
            if isinstance(failed, LearnerError):
                return replace(told, traceback=failed.text)
            return replace(
                told,
                outcome="wrong",
                got=failed.got,
                want=failed.want,
                cause=failed.cause or part.cause,
                note=failed.note,
            )
        return Result(self.name, "correct", held=len(self.properties), afterword=self.afterword)

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

        return reveal(
            self.name, attempted=self._last is not None and self._last.outcome != "not attempted"
        )


def _recorded(answer: Any, calls: list[list[tuple[str, Any]]]) -> Any:
    """Functions are recorded; values, and classes, which are asked for more than calls, are not."""
    return Recorded(answer, calls) if callable(answer) and not isinstance(answer, type) else answer


def _failure(part: Property, given: list[Any]) -> LearnerError | Wrong | None:
    """What keeps a property from holding; None if it holds."""
    try:
        # A check that draws numbers leaves the learner's generator as it was.
        with torch.random.fork_rng(devices=[]):
            part.test(*given)
    except (LearnerError, Wrong) as failed:
        return failed
    except Exception as error:
        return _blame(error)
    return None


def _blame(error: Exception) -> LearnerError | Wrong:
    """Whose fault an error is that came from neither the wrapper nor :func:`expect`.

    If it passed through the learner's code (a method of a class of theirs), it is raised by
    them; otherwise the check choked on what they returned.
    """
    trace = error.__traceback__
    for _ in range(2):  # the frame above, and the property's
        trace = trace.tb_next if trace else None
    if own_frames(trace):
        return of_learner(error.with_traceback(trace))
    cause = "The answer is not of the kind that the exercise asks for; read its first lines again."
    return Wrong(cause=cause, note=f"The check could not use it ({type(error).__name__}: {error}).")
