"""The process that marks one notebook: clean checks, the student's answers from afar.

It reads a line of orders and then the notebook from stdin. It writes one line of JSON for each
exercise, as soon as that is marked, so that what was right before a cell hung stays right.
"""

import json
import re
import socket
import sys
from collections.abc import Iterator, Mapping
from typing import Any

import torch

from grokkit.classroom.checks import check
from grokkit.classroom.checks.cells import answers
from grokkit.classroom.grading.peer import Gone, Peer
from grokkit.classroom.grading.walls import confine

LONGEST_FEEDBACK = 2000
"""Characters."""

_RANK = {"correct": 2, "wrong": 1, "raised": 1}
_CHECK = re.compile(r"^check\.(ex_\d+_\d+)\(", re.MULTILINE)


def main(argv: list[str]) -> None:
    """Mark the notebook that comes from stdin.

    Args:
        argv: the number of the socket, and the limits of
            :func:`~grokkit.classroom.grading.walls.confine`.
    """
    descriptor, *limits = map(int, argv)
    confine(*limits)
    torch.set_num_threads(1)
    orders, notebook = json.loads(sys.stdin.buffer.readline()), sys.stdin.buffer.read()
    lines, sys.stdout = sys.stdout, sys.stderr  # a check that prints says nothing to the supervisor
    peer = Peer(socket.socket(fileno=descriptor), {})
    for entry in mark(peer, notebook, orders["checks"], orders["seed"]):
        print(json.dumps(entry), file=lines, flush=True)


def mark(
    peer: Peer, notebook: bytes, checks: Mapping[str, str], seed: int
) -> Iterator[Mapping[str, Any]]:
    """What is to be said of each exercise of a notebook, as soon as it is known.

    An exercise is marked where its check stands, and if it is not correct there, at the end once
    more: an answer may stand in a cell below. A later entry replaces an earlier one.

    Args:
        peer: the student's process.
        notebook: the bytes of the student's notebook.
        checks: the clean check cells: their source by the exercise's name.
        seed: of the inputs that the checks draw; nobody knows it before.
    """
    try:
        cells = code_cells(notebook)
    except Exception as error:  # not JSON, not a notebook, no text: the file is the student's
        why = f"{type(error).__name__}: {error}"
        yield from (_entry(name, "unreadable", why) for name in checks)
        return
    outcomes = dict.fromkeys(checks, "")
    errors: list[tuple[str, str]] = []

    def marked(name: str) -> Iterator[Mapping[str, Any]]:
        entry = _marked(peer, name, checks[name], errors, seed)
        if not outcomes[name] or _RANK.get(entry["outcome"], 0) > _RANK.get(outcomes[name], 0):
            outcomes[name] = entry["outcome"]
            yield entry

    try:
        yield {"holes": peer.ask("holes")}
        for name, source in cells:
            error = peer.ask("run", source)
            errors += [(source, str(error))] if error else []
            if outcomes.get(name) == "":
                yield from marked(name)
        for name, outcome in list(outcomes.items()):
            if outcome != "correct":
                yield from marked(name)
        yield {"skipped": peer.ask("skipped")}
    except Gone as gone:
        left = [name for name, outcome in outcomes.items() if not outcome]
        yield from (_entry(name, "stopped", str(gone)) for name in left)


def _marked(
    peer: Peer, name: str, source: str, errors: list[tuple[str, str]], seed: int
) -> Mapping[str, Any]:
    given = []
    for answer in answers(source):
        found, value = peer.ask("get", answer)
        if not found:
            undefined = f"name '{answer}' is not defined"
            about = [e for cell, e in errors if answer in cell and undefined not in e]
            if about:
                return _entry(name, "raised", about[-1])
            return _entry(name, "not attempted", f"there is no {answer} in the notebook")
        given.append(value)
    try:
        result = getattr(check, name).judge(*given, seed=seed)
    except Exception as error:  # an answer that no check foresaw costs this exercise only
        return _entry(name, "raised", f"the check ended with {type(error).__name__}: {error}")
    told = result.outcome in ("wrong", "raised")
    return _entry(name, result.outcome, result.line() if told else "")


def _entry(name: str, outcome: str, feedback: str) -> Mapping[str, Any]:
    return {"exercise": name, "outcome": outcome, "feedback": feedback[:LONGEST_FEEDBACK]}


def code_cells(notebook: bytes) -> list[tuple[str, str]]:
    """The code cells of a student's notebook, each with the exercise that it checks or ``""``.

    A check cell is known by its id, so it is found though its text was changed; where ids are
    gone (nbformat 4.2, some editors), by nbgrader's, and then by its text.

    Raises:
        ValueError: the file is no notebook.
    """
    read = json.loads(notebook.decode("utf-8-sig"))
    if not isinstance(read, dict) or not isinstance(read.get("cells"), list):
        raise ValueError("no notebook of format 4: it has no list of cells")
    cells = [cell for cell in read["cells"] if cell.get("cell_type") == "code"]
    texts = [text_of(cell) for cell in cells]
    names = [_by_id(cell) for cell in cells]
    for at, text in enumerate(texts):
        found = _CHECK.findall(text)
        if not names[at] and found and found[-1] not in names:
            names[at] = found[-1]
    return list(zip(names, texts, strict=True))


def _by_id(cell: Mapping[str, Any]) -> str:
    """The exercise whose check cell this is by an id; ``""`` if none says so."""
    nbgrader = (cell.get("metadata") or {}).get("nbgrader") or {}
    for one in (cell.get("id"), nbgrader.get("grade_id")):
        name, _, role = str(one).rpartition("-")
        if role == "check":
            return name
    return ""


def text_of(cell: Mapping[str, Any]) -> str:
    """The source of a cell, which a notebook may keep line by line."""
    source = cell["source"]
    text = source if isinstance(source, str) else "".join(map(str, source))
    return text.replace("\r\n", "\n")
