"""RESULTS.md: every claim with what was found of it, made from the recorded runs alone."""

import math
from collections import Counter
from itertools import product
from typing import TYPE_CHECKING, get_args

from grokkit.engine import Spec
from grokkit.experiments.claims import NEEDED, SHORTFALLS, VERDICTS, Result
from grokkit.experiments.claims_map import measure
from grokkit.experiments.estimates import LEVEL, coverage
from grokkit.experiments.judges import HOLDS
from grokkit.experiments.row import SEEDS, Row, Size
from grokkit.experiments.table import count, markdown
from grokkit.experiments.weak_points import WEAK_POINTS
from grokkit.runtime import any_specs_of

if TYPE_CHECKING:
    import xarray as xr

FIGURES = "course/images/rows"
"""Where the figures of the rows are, seen from the document."""


def document() -> str:
    """The whole document, as Markdown (see :func:`documents`)."""
    return documents()[0]


def documents() -> tuple[str, str]:
    """The whole document, as Markdown, and the file of the map, both from one look at all runs.

    Nothing in them is typed by hand but the claims, which are in the code: a recording that
    changes, changes the documents.
    """
    from grokkit import experiments

    sections, everything, at_classroom = [], [], []
    specs: list[Spec] = []
    for row, size in product(experiments.ROWS.values(), get_args(Size)):
        history = experiments.recorded(row.name, size)
        if history is None and size == "paper":
            continue
        results = row.judge(history, size)
        everything += results
        at_classroom += results if size == "classroom" else []
        specs += [] if history is None else any_specs_of(history)
        sections.append(_section(row, history, results, size))
    return "\n".join([_introduction(everything, specs), *sections]), measure(at_classroom)


def _counts(results: list[Result]) -> str:
    """How many claims came to each verdict, those of papers, ours and algebra apart."""
    names = {
        "papers": "What papers claim",
        "ours": "Our controls and findings",
        "algebra": "Algebra, checked on random inputs",
    }
    lines = []
    for whose, name in names.items():
        own = [result for result in results if result.claim.whose == whose]
        turns = sum(bool(result.fragile) for result in own)
        ways = Counter(result.shortfall for result in own if result.verdict == "not reproduced")
        told = ", ".join(f"{ways[way]} {way}" for way in SHORTFALLS if ways[way])
        told = f" (of those not reproduced {told})" if told else ""
        if own:
            lines.append(f"- {name}: {len(own)} claims: {count(own)}{told}; {turns} fragile.")
    return "\n".join(lines)


def _by_interval(results: list[Result]) -> str:
    """The rows some of whose parts are judged by the interval of an effect."""
    rows = [
        result.claim.id.split("/")[0]
        for result in results
        if any(part.bounds.rule == "interval" for part in result.parts)
    ]
    return ", ".join(f"`{row}`" for row in dict.fromkeys(rows))


def _introduction(results: list[Result], specs: list[Spec]) -> str:
    weak = "\n".join(f"{number}. {what}" for number, what in WEAK_POINTS.items())
    n = len(SEEDS)
    needed = math.ceil(NEEDED * n)
    return f"""# Results

What the papers claim (and what they do not say and should have), written down as sentences that
could be false; and what several seeds of each run say: {n}, or as many as a row names. Verdicts are
computed: `grokkit claims --out RESULTS.md` writes this file from the recorded runs, and
`grokkit claims --check RESULTS.md` compares it with them. `grokkit reproduce NAME` makes the runs
of an experiment again. [FINDINGS.md](FINDINGS.md) is the short form.

**{len(results)} claims.**

{_counts(results)}

The tables name {len(specs):,} runs. They are {len(set(specs)):,} different ones: rows share
them, one baseline serves several, and a verdict that two rows draw from the same runs is one
observation and not two.

How to read a line:

- A claim has parts. Each part is asked of every seed, runs being compared with the run of the same
  seed, and holds if it holds for {needed} of {n}. *{VERDICTS[0].capitalize()}*: every part holds.
  *{VERDICTS[1].capitalize()}*: some hold and some fail. *{VERDICTS[2].capitalize()}*: some part
  fails and none holds. *{VERDICTS[3].capitalize()}*: none fails, and not all can be told.
  *{VERDICTS[4].capitalize()}*: runs that it needs are not there.
- *effect 0.35 [0.29 to 0.42]* is the median over seeds of what a part asks for (of a comparison:
  mine over the other's, seed by seed) with an interval of order statistics, which assumes nothing
  about how the seeds are distributed and allows for censored runs. It covers {LEVEL:.0%} or more;
  of {n} seeds, from least to greatest, {coverage(n, 1):.1%}.
  Rows that were written after the estimates have parts that hold if the whole interval lies
  within the bounds: {_by_interval(results)}.
- What fails is told apart. *Refuted*: the effect lies on the other side of none. *Missed*: it lies
  on the claimed side, short of the threshold. *Not shown*: the interval reaches across.
- *Fragile*, found by the code: the verdict turns where one seed is left out, or where one threshold
  is a quarter larger or smaller.
- `3,100 [2,900 to 3,400] (5/5)` is the median epoch, the least and the greatest, and how many of
  the seeds came there. A run that had not by its last epoch is never dropped and never counted as
  if it had: its epoch is *later than* that. Where two such runs would have to be compared, that
  seed is undecided. A run that was cut short proves nothing by what it had not reached. A
  network that falls back below {HOLDS:g} has not grokked.
- *after its runs* says what of a claim was added or changed once runs had been seen, and why.
  The rest was written first, with three reservations: the settings of several rows were chosen on
  seed 0, which is among the seeds judged; runs cut short, and waits that never began, count as
  undecided by a rule that was added after runs had been seen; and so were estimates, *fragile*
  and *holds*. The rows on seeds 10 and later were written before any of their runs.
- Grok epochs are those of a test accuracy of 0.99, the paper's rule, and of 0.95. A *wait* is
  counted from memorising, a train accuracy of 0.99.
- *KL 1* is the prior at strength 1; "X by 0.8 of Y's epoch" asks X for a head start of a fifth.

Where a claim names a *weak point*, it is one of these, places where the first paper leaves
something open:

{weak}
"""


def _section(row: Row, history: "xr.Dataset | None", results: list[Result], size: Size) -> str:
    from grokkit.experiments.reproduce import name_at

    picture = f"![{row.question}]({FIGURES}/{name_at(row.name, size)}.png)"
    if size == "paper":
        head = f"### {row.name} at the size of the paper\n\n{picture}\n"
    else:
        head = f"## {row.name}\n\n{row.question} ({row.figure})\n"
        head += "" if history is None and row.arms() else f"\n{picture}\n"
    blocks = [head, _provenance(row, history, size) + "\n", markdown(results)]
    if row.table is not None and history is not None and size == "classroom":
        blocks.append(row.table(row.evidence(history)))
    return "\n".join(blocks)


def _provenance(row: Row, history: "xr.Dataset | None", size: Size) -> str:
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
