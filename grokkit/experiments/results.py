"""RESULTS.md: every claim with what was found of it, made from the recorded runs alone."""

import math
from typing import TYPE_CHECKING

from grokkit.experiments.claims import NEEDED, VERDICTS, Result
from grokkit.experiments.row import SEEDS, Row, Size
from grokkit.experiments.table import count, markdown
from grokkit.experiments.weak_points import WEAK_POINTS

if TYPE_CHECKING:
    import xarray as xr

FIGURES = "course/images/rows"
"""Where the figures of the rows are, seen from the document."""


def document() -> str:
    """The whole document, as Markdown.

    Nothing in it is typed by hand but the claims, which are in the code: a recording that
    changes, changes the document.
    """
    from grokkit import experiments

    sections, everything = [], []
    for row in experiments.ROWS.values():
        history = experiments.recorded(row.name)
        results = row.judge(history)
        everything += results
        sections.append(_section(row, history, results))
        at_paper = experiments.recorded(row.name, "paper")
        if at_paper is not None:
            results = row.judge(at_paper, "paper")
            everything += results
            sections.append(_at_paper_size(row, at_paper, results))
    return "\n".join([_introduction(everything), *sections])


def _introduction(results: list[Result]) -> str:
    weak = "\n".join(f"{number}. {what}" for number, what in WEAK_POINTS.items())
    n = len(SEEDS)
    needed = math.ceil(NEEDED * n)
    return f"""# Results

What the papers claim (and what they do not say and should have), written down as sentences that
could be false; and what {n} seeds of each run say. Verdicts are
computed: `grokkit claims --out RESULTS.md` writes this file from the recorded runs, and
`grokkit claims --check RESULTS.md` compares it with them. `grokkit reproduce NAME` makes the runs
of an experiment again.

**{len(results)} claims: {count(results)}.**

How to read a line:

- A claim has parts. Each part is asked of every seed, runs being compared with the run of the same
  seed, and holds if it holds for {needed} of {n}. *{VERDICTS[0].capitalize()}*: every part holds.
  *{VERDICTS[1].capitalize()}*: some hold and some fail. *{VERDICTS[2].capitalize()}*: some part
  fails and none holds. *{VERDICTS[3].capitalize()}*: none fails, and not all can be told.
  *{VERDICTS[4].capitalize()}*: runs that it needs are not there.
- `3,100 [2,900 to 3,400] (5/5)` is the median epoch, the least and the greatest, and how many of
  the seeds came there. A run that had not by its last epoch is never dropped and never counted as
  if it had: its epoch is *later than* that. Where two such runs would have to be compared, that
  seed is undecided; only "X not before Y" holds when neither came, for then no help was seen. A
  run that was cut short proves nothing by what it had not reached.
- *after its runs* confesses what of a claim was added or changed once runs had been seen, and why.
  All else was written first. The rules were tested on curves drawn by hand once the runs had been
  seen; that a run which was cut short, or a wait that is none, is left undecided was carried
  through then.
- Grok epochs are those of a test accuracy of 0.99, the paper's rule, and of 0.95. A *wait* is
  counted from memorising, a train accuracy of 0.99.
- *KL 1* is the prior at strength 1; "X by 0.8 of Y's epoch" asks X for a head start of a fifth.

Where a claim names a *weak point*, it is one of these, places where the first paper leaves
something open:

{weak}
"""


def _section(row: Row, history: "xr.Dataset | None", results: list[Result]) -> str:
    head = f"## {row.name}\n\n{row.question} ({row.figure})\n"
    if history is not None or not row.arms():
        head += f"\n![{row.question}]({FIGURES}/{row.name}.png)\n"
    table = markdown(results) if results else "No claims yet.\n"
    return f"{head}\n{_provenance(row, history)}\n\n{table}"


def _at_paper_size(row: Row, history: "xr.Dataset", results: list[Result]) -> str:
    from grokkit.experiments.reproduce import name_at

    picture = f"![{row.question}]({FIGURES}/{name_at(row.name, 'paper')}.png)"
    head = f"### {row.name} at the size of the paper\n\n{picture}\n"
    return f"{head}\n{_provenance(row, history, 'paper')}\n\n{markdown(results)}"


def _provenance(row: Row, history: "xr.Dataset | None", size: Size = "classroom") -> str:
    """How many runs there are, and what made them."""
    arms = row.arms(size)
    if not arms:
        return "Nothing is trained."
    if history is None:
        return f"Not recorded. `grokkit reproduce {row.name} --dry-run` tells what it would take."
    made = history.attrs
    minutes = made["seconds"] / 60
    arms = len(set(history.arm.values))
    return (
        f"{history.sizes['run']} runs of {arms} arm{'s' if arms > 1 else ''}, trained in "
        f"{minutes:.0f} minutes, with grokkit {made['grokkit']}, torch {made['torch']}, on "
        f"{made['device']}."
    )
