"""Where two notebooks differ, in one line for each difference, by cell."""

import difflib
from collections.abc import Iterator
from itertools import zip_longest

from nbformat import NotebookNode


def differences(wanted: NotebookNode, found: NotebookNode, source: str) -> Iterator[str]:
    """What keeps a notebook from being the one wanted; outputs are not compared.

    Args:
        wanted: the notebook as its source makes it.
        found: the notebook as it lies on disk.
        source: the name of the source, for the messages.
    """
    for key in sorted({*wanted.metadata, *found.metadata}):
        has, wants = found.metadata.get(key), wanted.metadata.get(key)
        if has != wants:
            yield f"its metadata has {key} = {has}; allowed: {wants}"
    for key in ("nbformat", "nbformat_minor"):
        if wanted[key] != found[key]:
            yield f"has {key} {found[key]}; allowed: {wanted[key]}"
    have = [(cell.cell_type, cell.source) for cell in found.cells]
    want = [(cell.cell_type, cell.source) for cell in wanted.cells]
    matcher = difflib.SequenceMatcher(a=have, b=want, autojunk=False)
    for verdict, i, i_end, j, j_end in matcher.get_opcodes():
        for at, other in zip_longest(range(i, i_end), range(j, j_end)):
            if other is None:
                yield f"cell {at + 1} ({first_line(have[at][1])}) is not in {source}"
            elif at is None:
                yield f"lacks cell {other + 1} of {source} ({first_line(want[other][1])})"
            elif verdict == "equal":
                yield from _detail_differences(wanted.cells[other], found.cells[at], at + 1)
            else:
                yield f"cell {at + 1} {_source_difference(have[at], want[other], source)}"


def _source_difference(have: tuple[str, str], want: tuple[str, str], source: str) -> str:
    if have[0] != want[0]:
        return f"is a {have[0]} cell; in {source} it is a {want[0]} cell"
    none = "(no such line)"
    lines = list(zip_longest(have[1].splitlines(), want[1].splitlines(), fillvalue=none))
    at = next((n for n, (has, wants) in enumerate(lines) if has != wants), len(lines))
    has, wants = [*lines, (none, none)][at]
    return f"line {at + 1} is `{has.strip()}`; in {source} it is `{wants.strip()}`"


def _detail_differences(wanted: NotebookNode, found: NotebookNode, number: int) -> Iterator[str]:
    where = f"cell {number} ({first_line(found.source)})"
    if found.get("id") != wanted.id:
        yield f"{where} has the id {found.get('id')!r}; allowed: {wanted.id!r}"
    if found.metadata != wanted.metadata:
        yield f"{where} has the metadata {dict(found.metadata)}; allowed: {dict(wanted.metadata)}"


def first_line(text: str, width: int = 60) -> str:
    """The first line of a text, cut to a width, to name a cell by."""
    line = text.strip().split("\n", 1)[0].strip()
    return line if len(line) <= width else line[: width - 3] + "..."
