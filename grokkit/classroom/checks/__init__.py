"""Checks of the exercises, one module a chapter: ``check.ex_1_2(my_function)``.

:mod:`~grokkit.classroom.checks.exercise` says what an exercise is,
:mod:`~grokkit.classroom.checks.expect` how an answer is held against the right one, and
:mod:`~grokkit.classroom.checks.outcome` what is said about it. A chapter's module never
imports a solution; where it needs the right answer it asks the package itself.
"""

import pkgutil
import re
from collections.abc import Iterator
from importlib import import_module

from grokkit.classroom.checks.exercise import Exercise
from grokkit.classroom.checks.learner import of_learner

_NAME = re.compile(r"ex_(\d+)_(\d+)")


class NoExercise(AttributeError):
    """There is no such exercise; the message says which there are."""

    def _render_traceback_(self) -> list[str]:
        # IPython shows this in place of a traceback through the code of the checks.
        return [*of_learner(self).text.splitlines()[:-1], f"AttributeError: {self}"]


class Checks:
    """The exercises by name; a chapter's module is imported when its first one is asked for."""

    def __getattr__(self, name: str) -> Exercise:
        match = _NAME.fullmatch(name)
        if match and int(match[1]) in self.chapters():
            exercises = self.chapter(int(match[1]))
            if name in exercises:
                return exercises[name]
            raise NoExercise(f"no exercise {name}; allowed: {', '.join(exercises)}")
        if match:
            chapters = ", ".join(map(str, self.chapters()))
            raise NoExercise(f"no exercise {name}; chapters with exercises: {chapters}")
        raise NoExercise(f"check has no {name!r}; allowed: ex_CHAPTER_NUMBER, such as ex_1_1")

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *(exercise.name for exercise in self)]

    def __iter__(self) -> Iterator[Exercise]:
        for number in self.chapters():
            yield from self.chapter(number).values()

    def chapters(self) -> list[int]:
        """The numbers of the chapters that have checks."""
        names = (module.name for module in pkgutil.iter_modules(__path__))
        return sorted(int(name[-2:]) for name in names if re.fullmatch(r"chapter_\d\d", name))

    def chapter(self, number: int) -> dict[str, Exercise]:
        """The exercises of one chapter by name, in the order in which they are declared."""
        module = import_module(f"{__name__}.chapter_{number:02}")
        found = {name: part for name, part in vars(module).items() if isinstance(part, Exercise)}
        for name, exercise in found.items():
            exercise.name = name
        return found


check = Checks()
"""What a notebook imports: ``from grokkit.classroom import check``."""
