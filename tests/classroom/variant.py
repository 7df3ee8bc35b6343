"""A wrong answer to an exercise, and what its author must be told."""

from typing import Any


class Variant:
    """One wrong answer.

    Args:
        cause: words that the likely cause must contain; upper and lower case are one.
        answers: what is handed to the check, as its check cell does: a function, or a value,
            or several.
        outcome: ``"wrong"``, or ``"raised"`` where such a mistake makes the code raise; then
            ``cause`` is looked for in the traceback.
    """

    def __init__(self, cause: str, *answers: Any, outcome: str = "wrong") -> None:
        self.cause, self.answers, self.outcome = cause, answers, outcome

    def __repr__(self) -> str:
        return self.cause
