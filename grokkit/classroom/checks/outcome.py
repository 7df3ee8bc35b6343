"""What a check says: one of four outcomes, shown in a notebook as a small box.

=================  =======================================================================
outcome            what is said
=================  =======================================================================
``not attempted``  where to begin
``wrong``          which property failed, on which input, and the likely cause
``raised``         the learner's own traceback, shortened to their own frames
``correct``        how many properties hold
=================  =======================================================================
"""

import html
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from grokkit.errors import check_choice

Outcome = Literal["not attempted", "wrong", "raised", "correct"]

COLORS = {"not attempted": "#666666", "wrong": "#B34A00", "raised": "#B34A00", "correct": "#00785A"}
"""The colour of each outcome's box; on white each has a contrast of 5 or more."""

_FRAME = re.compile(r"^(|\S.*, )line (\d+), in (.+)$")

MODES = ("show", "raise", "grade")


def mode() -> str:
    """What a check does besides showing its outcome, from the environment.

    ``GROKKIT_CHECKS=show`` (nothing; a learner's notebook never stops at a check), ``raise``
    (wrong and raised answers stop the cell; for nbval) or ``grade`` (so does an answer that
    was not attempted; nbgrader, which gives points to whatever raises nothing, means this).
    """
    if "GROKKIT_CHECKS" not in os.environ and "NBGRADER_EXECUTION" in os.environ:
        return "grade"
    return check_choice("GROKKIT_CHECKS", os.environ.get("GROKKIT_CHECKS", "show"), MODES)


@dataclass(frozen=True)
class Result:
    """What came out of one check; true if the answer is correct.

    Attributes:
        exercise: its name, such as ``"ex_1_2"``.
        outcome: one of the four.
        statement: the property that failed, in words.
        inputs: the input it failed on: name and value, as shown.
        got: what the learner's code gave, as shown.
        want: what was expected, as shown.
        cause: the likely cause, a sentence; before an attempt, how to begin.
        note: how the answer differs from the one expected, a sentence; of several answers,
            which are right so far.
        traceback: the learner's own frames and their error.
        held: how many properties held.
        afterword: what a correct answer is told.
    """

    exercise: str
    outcome: Outcome
    statement: str = ""
    inputs: Sequence[tuple[str, str]] = ()
    got: str = ""
    want: str = ""
    cause: str = ""
    note: str = ""
    traceback: str = ""
    held: int = 0
    afterword: str = ""

    def __bool__(self) -> bool:
        return self.outcome == "correct"

    @property
    def headline(self) -> str:
        """The outcome in one sentence."""
        return {
            "not attempted": "not attempted yet",
            "wrong": "not right yet",
            "raised": "your code raised an error",
            "correct": "correct",
        }[self.outcome]

    def rows(self) -> list[tuple[str, str]]:
        """Everything there is to say after the headline: what it is, and its text."""
        if self.outcome == "not attempted":
            start = (
                f"Write your code into the cell above. A first hint: check.{self.exercise}.hint()"
            )
            start = self.cause or start
            return [*([("so far", self.note)] if self.note else []), ("to begin", start)]
        if self.outcome == "correct":
            held = f"all {self.held} properties hold" if self.held > 1 else "its property holds"
            return [("checked", held), *([("note", self.afterword)] if self.afterword else [])]
        rows = [
            ("must hold", self.statement),
            ("likely cause", self.cause),
            ("input", "\n".join(f"{name} = {value}" for name, value in self.inputs)),
            ("your answer", self.got),
            ("expected", self.want),
            ("differs", self.note),
            ("traceback", self.traceback),
        ]
        return [(name, text) for name, text in rows if text]

    def line(self) -> str:
        """All of it in one line, for an exception."""
        parts = [f"{name}: {text}" for name, text in self.rows() if name != "traceback"]
        parts += _innermost(self.traceback)
        return " | ".join(" ".join(part.split()) for part in [f"{self.headline}", *parts])

    def __repr__(self) -> str:
        lines = [f"{self.exercise}: {self.headline}"]
        for name, text in self.rows():
            first, *rest = text.splitlines()
            lines.append(f"  {name + ':':<14}{first}")
            lines += [f"  {'':<14}{line}" for line in rest]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        def cell(name: str, text: str) -> str:
            text = html.escape(text)
            prose = name not in ("input", "your answer", "expected", "traceback")
            return text if prose else f"<pre style='margin:0;background:none'>{text}</pre>"

        left = "text-align:left;vertical-align:top"
        rows = "".join(
            f"<tr><th style='{left};white-space:nowrap'>{name}</th>"
            f"<td style='{left}'>{cell(name, text)}</td></tr>"
            for name, text in self.rows()
        )
        color = COLORS[self.outcome]
        number = self.exercise.removeprefix("ex_").replace("_", ".")
        return (
            f"<div style='border-left:4px solid {color};padding-left:10px'>"
            f"<b style='color:{color}'>Exercise {number}: {html.escape(self.headline)}</b>"
            f"<table>{rows}</table></div>"
        )


def _innermost(text: str) -> list[str]:
    """The learner's last line in a traceback of theirs, and the error: a line each."""
    lines = text.splitlines()
    frames = [at for at, line in enumerate(lines) if _FRAME.match(line)]
    if not frames or frames[-1] + 1 == len(lines):
        return lines[-1:]
    where = _FRAME.sub(r"\1in \3, line \2", lines[frames[-1]])
    code = frames[-1] + 1
    has_code = lines[code].startswith("    ") and code + 1 < len(lines)
    return [f"{where}: {lines[code].strip()}" if has_code else where, lines[-1]]


class CheckFailed(Exception):
    """An answer that is not correct, where a check is told to raise; see :func:`mode`."""

    def __init__(self, result: Result) -> None:
        super().__init__(f"{result.exercise}: {result.line()}")
        self.result = result

    def _render_traceback_(self) -> list[str]:
        # IPython shows this in place of a traceback through the check's own code.
        return [repr(self.result)]
