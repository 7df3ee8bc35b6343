"""The judge: clean checks, the student's answers from afar.

It is started once for a class, as what takes longest is to import the checks. For each notebook it
forks a process that marks this one and ends. That one writes a line of JSON for each exercise, as
soon as it is marked, so that what was right before a cell hung stays right.
"""

import contextlib
import json
import os
import re
import signal
import socket
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import torch

from grokkit.classroom.checks import check
from grokkit.classroom.checks.cells import answers
from grokkit.classroom.checks.expect import show
from grokkit.classroom.grading.peer import Gone, Peer
from grokkit.classroom.grading.walls import bound, enclose

LONGEST_FEEDBACK = 2000
"""Characters."""

LONGEST_CALL = 300
"""Characters of a call that did not end."""

_RANK = {"correct": 2, "wrong": 1, "raised": 1}
_CHECK = re.compile(r"^check\.(ex_\d+_\d+)\(", re.MULTILINE)


def main(argv: list[str]) -> None:
    """Mark one notebook after another until the supervisor hangs up.

    It sends a byte, the number of the chapter, with three files: the socket to the student's
    process, the orders with the notebook below them, and where the lines go.

    Args:
        argv: the number of the supervisor's socket, how long a notebook may take by the clock, and
            its :class:`~grokkit.classroom.grading.walls.Limits`.
    """
    descriptor, patience, seconds, memory_mb, file_mb = map(int, argv)
    enclose(memory_mb, file_mb)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for those that end
    torch.set_num_threads(1)
    supervisor = socket.socket(fileno=descriptor)
    while True:
        number, files, _, _ = socket.recv_fds(supervisor, 1, 3)
        if not number:
            return
        with contextlib.suppress(ModuleNotFoundError):  # an empty notebook is of no chapter
            check.chapter(number[0])
        if os.fork() == 0:
            supervisor.close()
            signal.alarm(patience)
            bound(seconds)
            _mark_one(*files)
            os._exit(0)
        for file in files:
            os.close(file)


def _mark_one(student: int, orders: int, lines: int) -> None:
    """Mark one notebook; the arguments are the numbers of open files."""
    with open(orders, "rb") as given, open(lines, "w", encoding="utf-8") as out:
        try:
            told, notebook = json.loads(given.readline()), given.read()
            for entry in mark(Peer(socket.socket(fileno=student), {}), notebook, **told):
                print(json.dumps(entry), file=out, flush=True)
            print(json.dumps({"done": True}), file=out)
        except Exception as error:
            print(json.dumps({"failed": f"{type(error).__name__}: {error}"[:500]}), file=out)


def mark(
    peer: Peer,
    notebook: bytes,
    checks: Mapping[str, str],
    seed: int,
    left_out: Collection[Collection[int]] = (),
) -> Iterator[Mapping[str, Any]]:
    """What is to be said of each exercise of a notebook, as soon as it is known.

    An exercise is marked where its check stands, and if it is not correct there, at the end once
    more: an answer may stand in a cell below. A later entry replaces an earlier one.

    Args:
        peer: the student's process.
        notebook: the bytes of the student's notebook.
        checks: the clean check cells: their source by the exercise's name.
        seed: of the inputs that the checks draw; nobody knows it before.
        left_out: statements that are not run, as ``(cell, statement)``, both from 0: they have
            ended the student's process before.
    """
    try:
        cells = code_cells(notebook)
    except Exception as error:  # not JSON, not a notebook, no text: the file is the student's
        why = f"this file is no notebook, or was cut short ({type(error).__name__}: {error})"
        why += "; save the notebook and hand it in again"
        yield from (_entry(name, "unreadable", why) for name in checks)
        return
    outcomes = dict.fromkeys(checks, "")
    errors: list[tuple[str, str, str]] = []
    at: dict[str, Any] = {}  # what is being done: an exercise, or a statement of a cell

    def statement(value: Any) -> None:
        number, line = map(int, value)
        at.update(statement=number, line=line)

    peer.handlers["at"] = statement

    def marked(name: str) -> Iterator[Mapping[str, Any]]:
        at.clear()
        at.update(exercise=name)
        entry = _marked(peer, name, checks[name], errors, seed)
        if not outcomes[name] or _RANK.get(entry["outcome"], 0) > _RANK.get(outcomes[name], 0):
            outcomes[name] = entry["outcome"]
            yield entry

    try:
        yield {"holes": peer.ask("holes")}
        for number, (name, source) in enumerate(cells):
            without = [statement for cell, statement in left_out if cell == number]
            if without:
                errors.append((source, "stopped", "a line of its cell had to be left out"))
            at.clear()
            at.update(cell=number, text=source)
            error = peer.ask("run", (source, without))
            errors += [(source, "raised", str(error))] if error else []
            if outcomes.get(name) == "":
                yield from marked(name)
        for name, outcome in list(outcomes.items()):
            if outcome != "correct":
                yield from marked(name)
        at.clear()
        yield {"skipped": peer.ask("skipped")}
    except Gone as gone:
        yield {"gone": str(gone), **at, "call": _call(*peer.calling)}


def _marked(
    peer: Peer, name: str, source: str, errors: list[tuple[str, str, str]], seed: int
) -> Mapping[str, Any]:
    given = []
    for answer in answers(source):
        found, value = peer.ask("get", answer)
        if not found:
            undefined = f"name '{answer}' is not defined"
            about = [e for cell, *e in errors if answer in cell and undefined not in e[1]]
            if about:
                return _entry(name, *about[-1])
            return _entry(name, "not attempted", f"there is no {answer} in the notebook")
        given.append(value)
    try:
        result = getattr(check, name).judge(*given, seed=seed)
    except Exception as error:  # an answer that no check foresaw costs this exercise only
        return _entry(name, "raised", f"the check ended with {type(error).__name__}: {error}")
    told = result.outcome in ("wrong", "raised")
    return _entry(name, result.outcome, result.line() if told else "")


def _call(name: str, inputs: Sequence[tuple[str, Any]]) -> str:
    """A call as the student would write it, cut to a line; empty if there is none."""
    given = ", ".join(f"{key}={' '.join(show(value).split())}" for key, value in inputs)
    return f"{name}({given})"[:LONGEST_CALL] if name else ""


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
