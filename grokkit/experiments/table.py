"""The results as a table: for the terminal, for a notebook, and for RESULTS.md."""

import html
from collections import Counter
from collections.abc import Iterator, Sequence

from grokkit.experiments.claims import VERDICTS, Part, Result

AFTERWARDS = "after its runs"
"""What stands before the confession that a claim was not written before its runs."""


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
        rows = "".join(
            "<tr>"
            f'<td style="text-align:left">{html.escape(result.claim.says)}<br>'
            f"<small>{html.escape(_source(result))}</small></td>"
            f'<td style="text-align:left">{"<br>".join(map(html.escape, map(_line, result.parts)))}'
            f"<br><small>{html.escape(result.settings)}</small></td>"
            f'<td style="text-align:left"><b>{result.label}</b></td>'
            "</tr>"
            for result in self._results
        )
        names = ("claim", "what was seen", "verdict")
        cells = "".join(f'<th style="text-align:left">{name}</th>' for name in names)
        head = f"<tr>{cells}</tr>"
        return f"<table><thead>{head}</thead><tbody>{rows}</tbody></table>"


def text(results: Sequence[Result]) -> str:
    """Plain text, for a terminal."""
    lines = []
    for result in results:
        lines.append(f"[{result.label}] {result.claim.id}")
        lines.append(f"    {result.claim.says} ({result.claim.source})")
        if result.claim.afterwards:
            lines.append(f"    {AFTERWARDS}: {result.claim.afterwards}")
        lines += [f"    - {_line(part)}" for part in result.parts]
        lines.append(f"    {result.settings}")
    return "\n".join(lines)


def markdown(results: Sequence[Result]) -> str:
    """A Markdown table, one claim a row."""
    head = "| claim | who claims it | what was seen | runs | verdict |\n"
    return f"{head}| --- | --- | --- | --- | --- |\n" + "".join(
        f"| {_cell(_says(result))} | {_cell(result.claim.source)} "
        f"| {'<br>'.join(_cell(_line(part)) for part in result.parts) or '-'} "
        f"| {_cell(result.settings)} | **{result.label}** |\n"
        for result in results
    )


def count(results: Sequence[Result]) -> str:
    """How many claims came to each verdict, in one line."""
    found = Counter(result.verdict for result in results)
    return ", ".join(f"{found[v]} {v}" for v in VERDICTS if found[v])  # type: ignore[index]


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
        return f"{part.says}: {part.seen}; {answer}"
    return f"{part.says}: {part.seen}; {part.count} of {n} seeds{open_}"


def _cell(words: str) -> str:
    return words.replace("|", "\\|").replace("\n", " ")
