"""The process that marks one notebook: clean checks, the student's answers from afar.

It reads its orders as JSON from stdin and writes one line of JSON for each exercise, as soon
as that is marked, so that what was right before a cell hung stays right.
"""

import json
import socket
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import torch

from grokkit.classroom.checks import check
from grokkit.classroom.checks.cells import answers, checked, is_check
from grokkit.classroom.grading.limits import limit
from grokkit.classroom.grading.peer import Gone, Peer


def main(argv: list[str]) -> None:
    """Mark the notebook that the orders name.

    Args:
        argv: the number of the socket, and seconds and megabytes, its own limits.
    """
    descriptor, seconds, memory_mb, _ = map(int, argv)
    orders = json.load(sys.stdin)
    limit(seconds, memory_mb, 0)
    torch.set_num_threads(1)
    lines, sys.stdout = sys.stdout, sys.stderr  # a check that prints says nothing to the supervisor
    peer = Peer(socket.socket(fileno=descriptor), {})
    for entry in mark(peer, Path(orders["notebook"]), Path(orders["exercises"])):
        print(json.dumps(entry), file=lines, flush=True)


def mark(peer: Peer, notebook: Path, exercises: Path) -> Iterator[Mapping[str, Any]]:
    """What is to be said of each exercise of a notebook, in the order in which it is found out.

    Args:
        peer: the student's process.
        notebook: the student's notebook.
        exercises: the clean notebook of the same chapter.
    """
    clean = check_cells(exercises)
    left = dict(clean)
    try:
        cells = code_cells(notebook)
    except Exception as error:  # not JSON, not a notebook, no text: the file is the student's
        why = f"{type(error).__name__}: {error}"[:200]
        yield from (_entry(name, "unreadable", why) for name in left)
        return
    errors: list[str] = []
    try:
        yield {"limits": peer.ask("limits")}
        for name, source in cells:
            if name in left:
                # Here stood the check cell, whatever stands there now.
                yield _marked(peer, name, left[name], errors)
                del left[name]
            if source.strip() != clean.get(name, "").strip():
                error = peer.ask("run", source)
                errors += [str(error)] if error else []
        for name in list(left):
            yield _marked(peer, name, left[name], errors)
            del left[name]
    except Gone as gone:
        yield from (_entry(name, "stopped", str(gone)[:200]) for name in left)


def _marked(peer: Peer, name: str, source: str, errors: list[str]) -> Mapping[str, Any]:
    given = []
    for answer in answers(source):
        found, value = peer.ask("get", answer)
        if not found:
            why = errors[0] if errors else f"there is no {answer} in the notebook"
            return _entry(name, "raised" if errors else "not attempted", why)
        given.append(value)
    result = getattr(check, name).judge(*given)
    told = result.outcome in ("wrong", "raised")
    return _entry(name, result.outcome, result.line() if told else "")


def _entry(name: str, outcome: str, feedback: str) -> Mapping[str, Any]:
    return {"exercise": name, "outcome": outcome, "feedback": feedback}


def check_cells(clean: Path) -> dict[str, str]:
    """The check cells of an exercise notebook: their source by the exercise's name."""
    cells = [{**cell, "source": text_of(cell)} for cell in json.loads(clean.read_text())["cells"]]
    return {checked(cell): cell["source"] for cell in cells if is_check(cell)}


def code_cells(notebook: Path) -> list[tuple[str, str]]:
    """The code cells of a student's notebook, each with the exercise that it checks or ``""``.

    A check cell is known by its id, so it is found though its text was changed.

    Raises:
        ValueError: the file is no notebook.
    """
    read = json.loads(notebook.read_text(encoding="utf-8"))
    cells = []
    for cell in read["cells"]:
        if cell["cell_type"] == "code":
            name, _, role = str(cell.get("id", "")).rpartition("-")
            cells.append((name if role == "check" else "", text_of(cell)))
    return cells


def text_of(cell: Mapping[str, Any]) -> str:
    """The source of a cell, which a notebook may keep line by line."""
    source = cell["source"]
    return source if isinstance(source, str) else "".join(map(str, source))


if __name__ == "__main__":
    main(sys.argv[1:])
