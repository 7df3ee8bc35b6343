"""Where two notebooks differ, in one line for each difference, by cell."""

import difflib
from collections.abc import Iterator

from nbformat import NotebookNode


def differences(wanted: NotebookNode, found: NotebookNode, source: str) -> Iterator[str]:
    """What keeps a notebook from being the one wanted; outputs are not compared.

    Args:
        wanted: the notebook as its source makes it.
        found: the notebook as it lies on disk.
        source: the name of the source, for the messages.
    """
    yield from _metadata_differences(wanted, found)
    yield from _cell_differences(wanted, found, source)


def _metadata_differences(wanted: NotebookNode, found: NotebookNode) -> Iterator[str]:
    for key in sorted({*wanted.metadata, *found.metadata}):
        if wanted.metadata.get(key) != found.metadata.get(key):
            yield (
                f"its metadata has {key} = {found.metadata.get(key)}; "
                f"allowed: {wanted.metadata.get(key)}"
            )
    for key in ("nbformat", "nbformat_minor"):
        if wanted[key] != found[key]:
            yield f"has {key} {found[key]}; allowed: {wanted[key]}"


def _cell_differences(wanted: NotebookNode, found: NotebookNode, source: str) -> Iterator[str]:
    """One line for each cell that was changed, added, left out, or has another id or tag."""
    have = [(cell.cell_type, cell.source) for cell in found.cells]
    want = [(cell.cell_type, cell.source) for cell in wanted.cells]
    matcher = difflib.SequenceMatcher(a=have, b=want, autojunk=False)
    for verdict, i, i_end, j, j_end in matcher.get_opcodes():
        if verdict == "equal":
            for have_at, want_at in zip(range(i, i_end), range(j, j_end), strict=True):
                yield from _detail_differences(
                    wanted.cells[want_at], found.cells[have_at], have_at + 1
                )
            continue
        paired = min(i_end - i, j_end - j)
        for offset in range(paired):
            yield f"cell {i + offset + 1} " + _source_difference(
                have[i + offset], want[j + offset], source
            )
        for at in range(i + paired, i_end):
            yield f"cell {at + 1} ({first_line(have[at][1])}) is not in {source}"
        for at in range(j + paired, j_end):
            yield f"lacks cell {at + 1} of {source} ({first_line(want[at][1])})"


def _source_difference(have: tuple[str, str], want: tuple[str, str], source: str) -> str:
    if have[0] != want[0]:
        return f"is a {have[0]} cell; in {source} it is a {want[0]} cell"
    have_lines, want_lines = have[1].splitlines(), want[1].splitlines()
    same = 0
    while have_lines[same : same + 1] == want_lines[same : same + 1] != []:
        same += 1
    has = have_lines[same] if same < len(have_lines) else "(no such line)"
    wants = want_lines[same] if same < len(want_lines) else "(no such line)"
    return f"line {same + 1} is `{has.strip()}`; in {source} it is `{wants.strip()}`"


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
