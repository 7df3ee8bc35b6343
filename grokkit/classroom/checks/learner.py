"""The learner's code, called by a check: what went in, and whose fault an error is.

Every function that a learner hands in is wrapped in a :class:`Recorded`. A check sees
nothing of it but what its calls return, so the same check can judge a function that lives
in another process: that is how :mod:`grokkit.classroom.grading` keeps students' code apart
from the code that marks it.
"""

import inspect
import sysconfig
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import torch

TO_DO = "your code here"
"""What the stub of an exercise raises, as ``NotImplementedError(TO_DO)``."""

_PACKAGE = str(Path(__file__).parents[2])
_LIBRARIES = {sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
CHANGED = "grokkit_changed"
"""What a function that lives in another process says of its last call: the names of the
arguments that it changed there."""

_NOTEBOOK = ("<ipython-input", "<stdin>", "<string>", "<cell")


class LearnerError(Exception):
    """An error in the learner's own code.

    Attributes:
        text: their frames and the error, as shown.
        attempted: false if the error says that the stub is still there.
    """

    def __init__(self, text: str, attempted: bool = True) -> None:
        super().__init__(text)
        self.text, self.attempted = text, attempted


@dataclass
class Call:
    """One call of a learner's function.

    Attributes:
        inputs: the arguments by name.
        returned: what came back; None if it raised.
        changed: the names of the arguments that the function changed.
    """

    inputs: list[tuple[str, Any]]
    returned: Any = None
    changed: list[str] = field(default_factory=list)


class Recorded:
    """A learner's function, as a check calls it.

    Arguments are copied, so that an answer which changes its input spoils nothing, and kept
    in ``calls``, so that a message can show the input that it failed on.

    Args:
        function: what the learner wrote.
        calls: where to keep each call.
    """

    def __init__(self, function: Callable[..., Any], calls: list[Call] | None = None) -> None:
        self.function = function
        self.calls: list[Call] = [] if calls is None else calls
        self.__name__ = getattr(function, "__name__", "answer")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """What the learner's function gives for these arguments.

        Raises:
            LearnerError: it raised.
        """
        call = Call(named(self.function, args, kwargs))
        self.calls.append(call)
        try:
            call.returned, call.changed = called(self.function, args, kwargs)
        except LearnerError:
            raise
        except (Exception, SystemExit) as error:
            raise of_learner(error) from error
        return call.returned


def called(
    function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[Any, list[str]]:
    """What a function gives for copies of its arguments, and the names of those it changed."""
    own = copied(list(args)), copied(dict(kwargs))
    returned = function(*own[0], **own[1])
    before, after = named(function, args, kwargs), named(function, *own)
    pairs = zip(before, after, strict=True)
    changed = [name for (name, was), (_, now) in pairs if not unchanged(was, now)]
    return returned, changed or list(getattr(function, CHANGED, ()))


def unchanged(was: Any, now: Any) -> bool:
    """Whether an argument is as it was before the call; see :func:`copied`."""
    if was is now:
        return True
    if type(was) is not type(now):
        return False
    if isinstance(was, torch.Tensor | np.ndarray):
        if was.shape != now.shape or was.dtype != now.dtype:
            return False
        return bool(((was == now) | ((was != was) & (now != now))).all())
    if type(was) in (list, tuple):
        return len(was) == len(now) and all(map(unchanged, was, now))
    if type(was) is dict:
        return list(was) == list(now) and all(unchanged(was[name], now[name]) for name in was)
    try:
        return bool(was == now or was != was)
    except Exception:  # what is no plain value has no say here
        return True


def of_learner(error: BaseException) -> LearnerError:
    """An error of the learner's code with its traceback shortened to their own frames."""
    attempted = not (isinstance(error, NotImplementedError) and error.args == (TO_DO,))
    lines = [_line(frame) for frame in own_frames(error.__traceback__)]
    last = "".join(traceback.format_exception_only(error)).strip()
    return LearnerError("\n".join([*lines, last]), attempted)


def where(error: BaseException) -> str:
    """The learner's own line that an error came from, with its place; empty if there is none."""
    if isinstance(error, SyntaxError):
        return f"line {error.lineno}: {error.text.strip()}" if error.text else ""
    frames = own_frames(error.__traceback__)
    if not frames:
        return ""
    name = "" if frames[-1].name == "<module>" else f"in {frames[-1].name}, "
    return f"{name}line {frames[-1].lineno}: {frames[-1].line}"


def own_frames(trace: TracebackType | None) -> list[traceback.FrameSummary]:
    """The frames of a traceback that are neither grokkit's, nor Python's, nor a library's."""
    return [frame for frame in traceback.extract_tb(trace) if is_own(frame.filename)]


def is_own(filename: str) -> bool:
    """Whether a file is the learner's: a cell of a notebook, or a script of theirs."""
    if filename.startswith("<"):
        return filename.startswith(_NOTEBOOK)
    return not any(Path(filename).is_relative_to(folder) for folder in (_PACKAGE, *_LIBRARIES))


def copied(value: Any) -> Any:
    """A copy of arrays, tensors, lists, tuples, sets and dicts, and of what is in them."""
    if isinstance(value, torch.Tensor):
        return value.clone()
    if isinstance(value, np.ndarray):
        return value.copy()
    if type(value) in (list, tuple, set):
        return type(value)(map(copied, value))
    if type(value) is dict:
        return {key: copied(part) for key, part in value.items()}
    return value


def named(
    function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> list[tuple[str, Any]]:
    """The arguments of a call, by the names that the learner gave them."""
    try:
        bound = inspect.signature(function).bind(*args, **kwargs)
    except (TypeError, ValueError):
        return [*((f"argument {i}", value) for i, value in enumerate(args, 1)), *kwargs.items()]
    return list(bound.arguments.items())


def _line(frame: traceback.FrameSummary) -> str:
    name = Path(frame.filename).name
    cell = frame.filename.startswith("<") or "ipykernel" in frame.filename
    where = f"line {frame.lineno}, in {frame.name}"
    return (where if cell else f"{name}, {where}") + (f"\n    {frame.line}" if frame.line else "")
