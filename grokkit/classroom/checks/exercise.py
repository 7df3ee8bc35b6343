"""An exercise as a table: what goes in, what must come out, and what is known to go wrong.

A chapter's module declares its exercises like this::

    ex_1_1 = Exercise.of(
        "oracle_attention",
        right=lambda informative: informative / informative.sum(dim=1, keepdim=True),
        cases={
            "each example is divided by its own k": Ask(lambda d: (d.mask(3, 5),)),
        },
        mistakes={
            "The mask itself is no distribution yet: divide it by k.": lambda m: m.float(),
        },
        hints=("Count the informative positions first.",),
    )

A check has three steps, and only the middle one runs a learner's code: inputs are drawn by seed,
the answer is called on them, and what comes back is compared with what ``right`` gives. Where
there is no single right answer, ``judge`` says what must hold of it.
"""

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
import torch

from grokkit.classroom.checks.draw import Draw
from grokkit.classroom.checks.expect import NOTHING, RTOL, AnyOf, Wrong, expect, show, with_inputs
from grokkit.classroom.checks.learner import Call, LearnerError, Recorded, of_learner, own_frames
from grokkit.classroom.checks.outcome import CheckFailed, Result, mode
from grokkit.classroom.checks.shown import Hints, Solution

Judge = Callable[..., Any]
"""Given what came back and the inputs, it raises :class:`~grokkit.classroom.checks.expect.Wrong`
(by ``require`` or ``expect``) if something is wrong."""

DTYPES = (torch.float32, torch.float64)
"""Drawn inputs come once in each of these types."""

_OPEN: Any = object()


@dataclass(frozen=True)
class Ask:
    """One question to an answer.

    Attributes:
        inputs: the arguments, a tuple; a list of tuples if several calls are compared with each
            other; or a function of a :class:`~grokkit.classroom.checks.draw.Draw` that gives
            either. Drawn inputs come in float32 and in float64.
        cause: the likely cause if the answer is wrong and no known mistake fits.
        mistakes: more known mistakes, for these inputs only.
        want: what must come out, instead of what the function's ``right`` gives.
        judge: what must hold, instead of the function's own ``judge``; for several calls it gets
            the list of what came back.
        rtol: how far off numbers may be, relative to the right ones.
        atol: how far off they may be in any case; None for what float32 can hold.
    """

    inputs: Any
    cause: str = ""
    mistakes: Mapping[str, Any] = field(default_factory=dict)
    want: Any = _OPEN
    judge: Judge | None = None
    rtol: float = RTOL
    atol: float | None = None


def each(*inputs: Any, cause: str = "", **how: Any) -> list[Ask]:
    """One question for each of several inputs, with one cause for all.

    Args:
        inputs: see :class:`Ask`.
        cause: of each.
        how: what else is said of each :class:`Ask`.
    """
    return [Ask(one, cause, **how) for one in inputs]


def mistaken(right: Callable[..., Any], **tables: Mapping[str, Any]) -> dict[str, Any]:
    """Mistakes made by putting each entry of a table into the place of one part.

    Args:
        right: gives the right answer; its keyword arguments are the parts that it is made of.
        tables: by the name of the part, what some put in its place, by the sentence that says so.
    """
    made: dict[str, Any] = {}
    for part, table in tables.items():
        for sentence, wrong in table.items():
            several = wrong if isinstance(wrong, AnyOf) else [wrong]
            made[sentence] = AnyOf(partial(right, **{part: one}) for one in several)
    return made


@dataclass(frozen=True)
class Function:
    """A function that a learner writes.

    Attributes:
        name: as the exercise calls it.
        cases: what must hold, in words, with the questions that show it; the simplest first.
        right: a function that gives the right answer; None if there is no single one.
        judge: what must hold of an answer, where there is no single right one.
        form: what kind of answer it must be, asked before it is compared with the right one.
        mistakes: the sentence that names a mistake, with a function that makes it (or
            :func:`~grokkit.classroom.checks.expect.any_of` several). The first that gives what
            the learner's gives is taken for the cause.
    """

    name: str
    cases: Mapping[str, Ask | Sequence[Ask]]
    right: Callable[..., Any] | None = None
    judge: Judge | None = None
    form: Judge | None = None
    mistakes: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Value:
    """A value that a learner gives.

    Attributes:
        name: as the exercise calls it.
        cases: what must hold, in words, each with a judge of the value.
    """

    name: str
    cases: Mapping[str, Judge]


class Exercise:
    """One exercise; called with a learner's answers, it says what to think of them.

    Args:
        parts: the answers that it asks for, in the order of the check cell.
        hints: from a nudge to nearly the answer, in the order in which they are given.
        afterword: a sentence for whoever has solved it.

    Attributes:
        name: ``"ex_CHAPTER_NUMBER"``, as its chapter's module calls it.
    """

    def __init__(
        self, *parts: Function | Value, hints: tuple[str, ...], afterword: str = ""
    ) -> None:
        self.name = ""
        self.parts = parts
        self.hints = hints
        self.afterword = afterword
        self._last: Result | None = None
        self._attempted = False
        self._hints_given = 0

    @classmethod
    def of(
        cls, name: str, *, hints: tuple[str, ...], afterword: str = "", **function: Any
    ) -> "Exercise":
        """An exercise that asks for one function; what else is said is of :class:`Function`."""
        return cls(Function(name, **function), hints=hints, afterword=afterword)

    def __repr__(self) -> str:
        return f"check.{self.name}: call it with your answer; .hint() helps"

    @property
    def answers(self) -> tuple[str, ...]:
        """What the check cell hands in, by name."""
        return tuple(part.name for part in self.parts)

    @property
    def solved(self) -> bool:
        """Whether the latest answer that was checked is correct."""
        return bool(self._last)

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

    def judge(self, *answers: Any, seed: int = 0, brief: bool = False) -> Result:
        """The outcome for an answer; nothing is kept, and nothing of the learner's escapes.

        Args:
            answers: what is judged. A function may live in another process: nothing is asked of
                it but to be called.
            seed: of the drawn inputs. With a seed that the learner does not know no answer can
                be written down beforehand.
            brief: whether an answer is right is enough: no likely cause is looked for.
        """
        if not answers:
            return Result(self.name, "not attempted", cause=f"Hand your answer in: {self._how()}")
        if len(answers) != len(self.parts):
            wanted = len(self.parts)
            cause = f"It asks for {wanted} answer{'s' * (wanted != 1)}: {self._how()}."
            return Result(self.name, "wrong", cause=cause)
        missing, right, held = [], [], 0
        for part, answer in zip(self.parts, answers, strict=True):
            asked = _Asked(part, answer, seed, self._how(), brief)
            failed = asked.failure()
            held += asked.held
            if failed is None:
                right.append(part.name)
            elif isinstance(failed, LearnerError) and not failed.attempted:
                missing.append(part.name)
            else:
                return self._told(asked, failed, held)
        if missing:
            verb = "is" if len(missing) == 1 else "are"
            so_far = f"{', '.join(right)}: right so far; {', '.join(missing)} {verb} not attempted"
            return Result(self.name, "not attempted", held=held, note=so_far if right else "")
        return Result(self.name, "correct", held=held, afterword=self.afterword)

    def _told(self, asked: "_Asked", failed: LearnerError | Wrong, held: int) -> Result:
        """What is said of an answer that is wrong, or that raised."""
        inputs = [(name, show(value)) for name, value in asked.latest.inputs] if asked.calls else []
        told = Result(self.name, "raised", asked.statement, inputs, held=held)
        if isinstance(failed, LearnerError):
            return replace(told, traceback=failed.text)
        statement = asked.statement if failed.statement is None else failed.statement
        of_failed = {name: getattr(failed, name) for name in ("got", "want", "cause", "note")}
        return replace(told, outcome="wrong", statement=statement, **of_failed)

    def _how(self) -> str:
        """How the check is called."""
        return f"check.{self.name}({', '.join(self.answers)})"

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


class _Asked:
    """One answer, asked all that its part of the exercise asks.

    Attributes:
        statement: what is asked about at present, in words.
        calls: the calls made so far for this statement.
        held: how many statements have held.
    """

    def __init__(
        self, part: Function | Value, answer: Any, seed: int, how: str, brief: bool = False
    ) -> None:
        self.part, self.answer, self._seed, self._how = part, answer, seed, how
        self._brief = brief
        self.statement, self.calls, self.held = "", [], 0

    @property
    def latest(self) -> Call:
        return self.calls[-1]

    def failure(self) -> LearnerError | Wrong | None:
        """What keeps the answer from being right; None if it is right."""
        if self.answer is None or self.answer is Ellipsis:
            return LearnerError("", attempted=False)
        if isinstance(self.part, Function) and not callable(self.answer):
            cause = f"Give the function itself, without calling it: {self._how}."
            return Wrong(show(self.answer), cause=cause, statement="")
        for number, (statement, case) in enumerate(self.part.cases.items()):
            self.statement, self.calls = statement, []
            for ask in case if isinstance(case, list | tuple) else [case]:
                failed = self._failure(ask, 100 * self._seed + 10 * number)
                if failed is not None:
                    return failed
            self.held += 1
        return None

    def _failure(self, ask: Any, seed: int) -> LearnerError | Wrong | None:
        """What is wrong with the answer to one question."""
        if isinstance(self.part, Value):
            return self._blamed(partial(ask, self.answer))
        drawn = callable(ask.inputs)
        for number, dtype in enumerate(DTYPES if drawn else DTYPES[:1]):
            inputs = ask.inputs(Draw(seed + number, dtype)) if drawn else ask.inputs
            calls = inputs if isinstance(inputs, list) else [inputs]
            recorded = Recorded(self.answer, self.calls)
            try:
                # A learner's function that draws numbers leaves the generator as it was.
                with torch.random.fork_rng(devices=[]):
                    got = [recorded(*one) for one in calls]
            except LearnerError as failed:
                return failed
            given = got if isinstance(inputs, list) else got[0]
            compare = _comparison(self.part, ask, inputs, self._brief)
            failed = self._blamed(partial(compare, given))
            if failed is not None:
                if isinstance(failed, Wrong) and not failed.known and self.latest.returned is None:
                    failed.got, failed.note, failed.cause = "None", "", NOTHING
                return failed
            changed = next((call.changed for call in self.calls if call.changed), None)
            if changed:
                names = f"{'s' * (len(changed) > 1)} {' and '.join(changed)}"
                cause = f"Your function changed its argument{names}; work on a copy."
                return Wrong(cause=cause, statement="what a function is given stays as it was")
        return None

    def _blamed(self, compare: Callable[[], None]) -> Any:
        """What a comparison has to object; if it fails, whose fault that is.

        An error that passed through the learner's code (a method of a class of theirs) is raised
        by them; otherwise what they returned is not of the kind that is asked for.
        """
        try:
            with with_inputs(lambda: self.latest.inputs if self.calls else ()):
                compare()
        except Wrong as wrong:
            return wrong
        except Exception as error:
            trace = error.__traceback__
            for _ in range(3):  # this frame, and those of the check itself
                trace = trace.tb_next if trace else None
            if own_frames(trace):
                return of_learner(error.with_traceback(trace))
            return Wrong(
                got=show(self.latest.returned) if self.calls else "",
                cause="The answer is not of the kind that the exercise asks for; read its first "
                "lines again.",
                note=f"The check could not use it ({type(error).__name__}: {error}).",
            )
        return None


def _comparison(part: Function, ask: Ask, inputs: Any, brief: bool) -> Callable[[Any], None]:
    """What holds an answer against what is right for these inputs."""
    judge = ask.judge or (part.judge if ask.want is _OPEN else None)
    if judge is not None:
        given = inputs if isinstance(inputs, list) else list(inputs)
        return lambda got: judge(got, *given)
    want = ask.want
    if want is _OPEN:
        assert part.right is not None
        want = part.right(*inputs)

    def mistakes() -> dict[str, AnyOf]:
        # One sentence may stand in both tables, for different answers.
        made_of: dict[str, AnyOf] = {}
        for sentence, made in [*ask.mistakes.items(), *part.mistakes.items()]:
            each = made if isinstance(made, AnyOf) else [made]
            before = made_of.get(sentence, ())
            made_of[sentence] = AnyOf([*before, *(_mistaken(one, inputs) for one in each)])
        return made_of

    right = None if brief or ask.want is not _OPEN else part.right

    def compare(got: Any) -> None:
        if part.form is not None:
            part.form(got, *inputs)
        how = {"rtol": ask.rtol, "atol": ask.atol}
        known = None if brief else mistakes
        expect(got, want, cause=ask.cause, mistakes=known, right=right, **how)

    return compare


def _mistaken(made: Any, inputs: tuple[Any, ...]) -> Any:
    """What a mistake gives for some inputs; nothing that is like an answer if it cannot be made."""
    if not callable(made):
        return made
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return made(*inputs)
    except Exception:  # a mistake that only fits other inputs
        return _OPEN
