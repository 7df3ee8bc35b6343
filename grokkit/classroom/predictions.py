"""A learner's predictions: asked before a result, shown beside it, kept for the last lesson.

>>> my_answer = None                      # the learner writes a number here, or leaves it
>>> beside("01 grok epoch", my_answer, 1125, "epochs")
01 grok epoch:
  no prediction; measured 1125 epochs
"""

import html
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FILE = Path("predictions.json")
"""Where predictions are kept: beside the notebooks that the learner works in."""


@dataclass(frozen=True)
class Beside:
    """A prediction next to its measurement; a notebook shows it as a small table.

    Attributes:
        question: what was asked.
        predicted: the learner's answer; None where there was none.
        measured: what came out.
        unit: what both are counted in.
    """

    question: str
    predicted: Any
    measured: Any
    unit: str = ""

    def __repr__(self) -> str:
        said = f"you said {self._say(self.predicted)}"
        answer = "no prediction" if self.predicted is None else said
        # The first line tells nothing: JupyterLab shows that of an output that is folded away.
        return f"{self.question}:\n  {answer}; measured {self._say(self.measured)}"

    def _say(self, value: Any) -> str:
        number = isinstance(value, int | float) and not isinstance(value, bool)
        text = f"{value:.4g}" if isinstance(value, float) else str(value)
        return f"{text} {self.unit}".strip() if number else text

    def _repr_html_(self) -> str:
        answer = "no prediction yet" if self.predicted is None else self._say(self.predicted)
        cells = [("asked", self.question), ("you", answer), ("measured", self._say(self.measured))]
        rows = "".join(
            f"<tr><th style='text-align:left'>{name}</th>"
            f"<td style='text-align:left'>{html.escape(text)}</td></tr>"
            for name, text in cells
        )
        return f"<table>{rows}</table>"


def beside(question: str, predicted: Any, measured: Any, unit: str = "") -> Beside:
    """Show a prediction beside the measurement, and keep it.

    An answer that is not None is written to :data:`FILE`, one entry for each question with
    the first answer and the latest, so that the last lesson can look back. Nothing is
    written for None.

    Args:
        question: what was asked; also the name under which it is kept.
        predicted: the learner's answer: a number, a text, or None.
        measured: what came out; None and nan (a censored epoch) are shown as "never".
        unit: what numbers are counted in.
    """
    measured = "never" if measured is None or measured != measured else measured
    if predicted is not None:
        # A second guess does not unmake the first, which was the prediction.
        first = kept().get(question, {}).get("first", predicted)
        entry = {"first": first, "predicted": predicted, "measured": measured}
        everything = kept() | {question: entry}
        text = json.dumps(everything, indent=1, default=str)
        FILE.write_text(text, encoding="utf-8")
    return Beside(question, predicted, measured, unit)


def kept() -> dict[str, dict[str, Any]]:
    """All predictions kept so far, by question; empty where there are none to be read."""
    try:
        found = json.loads(FILE.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
