"""The results as a table: for the terminal, for a notebook, and for RESULTS.md.

Claims that were not run would hide what was found: they are named below the others, in one line.
"""

import html
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby

from grokkit.experiments.claims import VERDICTS, Part, Result

AFTERWARDS = "after its runs"
"""What stands before the note that a claim was not written before its runs."""

NOT_RUN = VERDICTS[-1]

# Of a table as wide as its page; left alone, the longest cell takes the room of the others.
_COLUMNS = {"claim": "34%", "what was seen": "54%", "verdict": "12%"}
_CELL = "text-align:left;vertical-align:top"


class Table(Sequence[Result]):
    """Results that show themselves in a notebook."""

    def __init__(self, results: Sequence[Result]) -> None:
        self._results = tuple(results)

    def __len__(self) -> int:
        return len(self._results)

    def __getitem__(self, index):
        return self._results[index]

    def __iter__(self) -> Iterator[Result]:
        return iter(self._results)

    def __repr__(self) -> str:
        """Plain text, a few lines for each claim."""
        return text(self._results)

    def _repr_html_(self) -> str:
        judged, not_run = _apart(self._results)
        rows = "".join(
            "<tr>"
            f'<td style="{_CELL}">{html.escape(result.claim.says)}<br>'
            f"<small>{html.escape(_source(result))}</small></td>"
            f'<td style="{_CELL}">{"<br>".join(map(html.escape, _lines(result)))}'
            f"<br><small>{html.escape(result.settings)}</small></td>"
            f'<td style="{_CELL}"><b>{html.escape(verdict(result))}</b></td>'
            "</tr>"
            for result in judged
        )
        cells = "".join(
            f'<th style="text-align:left;width:{width}">{name}</th>'
            for name, width in _COLUMNS.items()
        )
        head = f"<thead><tr>{cells}</tr></thead>"
        table = f'<table style="width:100%">{head}<tbody>{rows}</tbody></table>' if judged else ""
        return table + (f"<p>{html.escape(_named(not_run))}</p>" if not_run else "")


def text(results: Sequence[Result]) -> str:
    """Plain text, for a terminal."""
    lines = []
    for _, own in groupby(results, lambda result: result.claim.id.split("/")[0]):
        judged, not_run = _apart(list(own))
        for result in judged:
            lines.append(f"[{verdict(result)}] {result.claim.id}")
            lines.append(f"    {result.claim.says} ({result.claim.source})")
            if result.claim.afterwards:
                lines.append(f"    {AFTERWARDS}: {result.claim.afterwards}")
            lines += [f"    - {_line(part)}" for part in result.parts]
            lines.append(f"    {result.settings}")
        lines += [f"[{NOT_RUN}] {one.claim.id}: {one.claim.says}" for one in not_run]
    return "\n".join(lines)


def markdown(results: Sequence[Result]) -> str:
    """A Markdown table, one claim a row; what was not run is named in one line below it."""
    judged, not_run = _apart(results)
    head = "| claim | who claims it | what was seen | runs | verdict |\n"
    head += "| --- | --- | --- | --- | --- |\n"
    rows = "".join(
        f"| {_cell(_says(result))} | {_cell(result.claim.source)} "
        f"| {'<br>'.join(_cell(_line(part)) for part in result.parts) or '-'} "
        f"| {_cell(result.settings)} | **{_cell(verdict(result))}** |\n"
        for result in judged
    )
    blocks = [head + rows] if judged else []
    blocks += [f"{_cell(_named(not_run))}\n"] if not_run else []
    return "\n".join(blocks)


def count(results: Sequence[Result]) -> str:
    """How many claims came to each verdict, in one line."""
    found = Counter(result.verdict for result in results)
    return ", ".join(f"{found[v]} {v}" for v in VERDICTS if found[v])  # type: ignore[index]


def verdict(result: Result) -> str:
    """The verdict, how it falls short, and what would turn it."""
    turns = f" (fragile: {' or '.join(result.fragile)} turns it)" if result.fragile else ""
    return result.label + turns


def _apart(results: Sequence[Result]) -> tuple[list[Result], list[Result]]:
    """What was judged, and what was not run."""
    judged = [result for result in results if result.verdict != NOT_RUN]
    return judged, [result for result in results if result.verdict == NOT_RUN]


def _named(not_run: Sequence[Result]) -> str:
    """The claims that were not run, in one line."""
    claims = " ".join(f"“{result.claim.says}”" for result in not_run)
    return f"{NOT_RUN.capitalize()} ({len(not_run)}): {claims}"


def _says(result: Result) -> str:
    late = result.claim.afterwards
    return f"{result.claim.says}<br>*{AFTERWARDS}: {late}*" if late else result.claim.says


def _source(result: Result) -> str:
    late = result.claim.afterwards
    return f"{result.claim.source}; {AFTERWARDS}: {late}" if late else result.claim.source


def _line(part: Part) -> str:
    n = len(part.outcomes)
    undecided = sum(outcome is None for outcome in part.outcomes)
    open_ = f", {undecided} undecided" if undecided else ""
    if n == 1:
        answer = {True: "yes", False: "no", None: "undecided"}[part.outcomes[0]]
    else:
        answer = f"{part.count} of {n} seeds{open_}"
    effect = f"effect {part.effect}" if n > 1 and part.effect is not None else ""
    return f"{part.says}: {'; '.join(filter(None, (part.seen, effect, answer)))}"


def _lines(result: Result) -> list[str]:
    """A line for each part; where there are several, one sees where each begins."""
    mark = "• " if len(result.parts) > 1 else ""
    return [mark + _line(part) for part in result.parts]


def _cell(words: str) -> str:
    return words.replace("|", "\\|").replace("\n", " ")
