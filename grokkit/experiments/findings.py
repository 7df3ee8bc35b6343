"""FINDINGS.md: one page of what the course found, each sentence held to the claims it rests on.

A finding is written by hand once its runs have been judged; its numbers are not. It names the
claims that it rests on and the verdict that each of them must have. Where a recording changes
a verdict, the page cannot be made until the sentence is changed, too.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from grokkit.errors import refuse
from grokkit.experiments.claims import Result, Verdict
from grokkit.experiments.row import Size

MOST = 8
"""How many findings fit on the page."""


@dataclass(frozen=True)
class Finding:
    """One finding.

    Attributes:
        says: the finding, in one sentence that can be read alone.
        rests_on: the claims that it rests on, each with the verdict that it must have.
        effects: what is told in numbers: a word or two, the claim, and the part of it.
        caveat: the strongest reason to doubt it, or what it does not say.
        picture: the name of the picture of a row.
        size: the size whose runs are meant, ``classroom`` or ``paper``.
    """

    says: str
    rests_on: Mapping[str, Verdict]
    effects: Sequence[tuple[str, str, int]]
    caveat: str
    picture: str
    size: Size = "classroom"


FINDINGS: tuple[Finding, ...] = ()
"""At most :data:`MOST`, the one that matters most first."""


def findings_document() -> str:
    """The page, as Markdown.

    Raises:
        SettingError: a claim has another verdict than its finding was written for.
    """
    from grokkit import experiments

    judged = cache(experiments.claims)
    blocks = [_block(number, one, judged) for number, one in enumerate(FINDINGS, 1)]
    return "\n\n".join([HEAD, *blocks]) + "\n"


HEAD = """# Findings

What this course measured, in eight sentences or fewer. Each rests on claims that were written
before their runs unless the line says otherwise; their verdicts, every seed and every reservation
are in [RESULTS.md](RESULTS.md). An effect is the median over seeds with an interval that needs no
distribution and allows for runs that did not finish. `grokkit claims --findings FINDINGS.md` makes
this page from the recorded runs, and refuses where a verdict no longer bears its sentence out."""


def _block(number: int, finding: Finding, judged: Callable[[str, Size], Sequence[Result]]) -> str:
    results = {claim: _result(claim, finding.size, judged) for claim in _claims(finding)}
    for claim, verdict in finding.rests_on.items():
        if results[claim].verdict != verdict:
            refuse("finding", f"{claim}: {results[claim].verdict}", f"{verdict}: {finding.says}")
    rows = dict.fromkeys(claim.split("/")[0] for claim in results)
    lines = [f"## {number}. {finding.says}", ""]
    for name, claim, part in finding.effects:
        lines.append(f"- {name}: {_effect(results[claim], part)}")
    settings = dict.fromkeys(result.settings for result in results.values())
    lines.append(f"- Runs: {'; '.join(settings)}.")
    lines.append(f"- Caveat: {finding.caveat}")
    named = ", ".join(f"`{claim}` ({results[claim].label})" for claim in finding.rests_on)
    lines.append(f"- Rests on {named}. Again: `grokkit reproduce {' '.join(rows)}`.")
    lines += ["", f"![{finding.says}](course/images/rows/{finding.picture}.png)"]
    return "\n".join(lines)


def _effect(result: Result, part: int) -> str:
    one = result.parts[part]
    n = len(one.outcomes)
    effect = f"**{one.effect}**, " if one.effect is not None else ""
    return f"{effect}{one.says}: {one.count} of {n} seeds" + (f" ({one.seen})" if one.seen else "")


def _claims(finding: Finding) -> dict[str, None]:
    return dict.fromkeys([*finding.rests_on, *(claim for _, claim, _ in finding.effects)])


def _result(claim: str, size: Size, judged: Callable[[str, Size], Sequence[Result]]) -> Result:
    (found,) = [one for one in judged(claim.split("/")[0], size) if one.claim.id == claim]
    return found
