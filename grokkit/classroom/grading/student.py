"""The process of one student's notebook: it runs cells and lends its functions.

Started by :mod:`~grokkit.classroom.grading.supervise` with one socket and nothing else. It
decides nothing: everything said here is only an answer to be marked.
"""

import __future__

import ast
import asyncio
import builtins
import contextlib
import inspect
import linecache
import os
import re
import socket
import sys
from collections.abc import Callable, Container
from types import ModuleType
from typing import Any

import torch

from grokkit.classroom.checks.learner import where
from grokkit.classroom.grading.peer import Gone, Peer
from grokkit.classroom.grading.walls import bound, enclose, holes
from grokkit.classroom.grading.withheld import Absent

_PYTHON_MAGIC = re.compile(r"\A\s*(%%(?:time|timeit|capture|prun)\b.*)")
"""The first line of a cell that is Python below it."""

_INSTALLER = re.compile(r"^(\s*)(?=(?:pip3?|conda|mamba|uv)\s)", re.MULTILINE)

MOST_QUESTIONS = 100
"""So often ``input()`` is answered; a loop that asks on and on then ends."""


class Shell:
    """What ``get_ipython()`` gives: magics and shell lines are listed, not run."""

    def __init__(self, notebook: "Notebook") -> None:
        self._notebook = notebook

    def __getattr__(self, name: str) -> Any:
        return getattr(Absent(), name)

    def run_line_magic(self, name: str, line: str, *_: Any) -> None:
        """``%name line``: only ``%time`` runs what it is given."""
        if name == "time":
            self._notebook.execute(line)
        else:
            self._notebook.skip(f"%{name} {line}")

    def run_cell_magic(self, name: str, line: str, body: str) -> None:
        """``%%name line``, and the cell below it."""
        self._notebook.skip(f"%%{name} {line}")

    def system(self, line: str) -> None:
        """``!line``."""
        self._notebook.skip(f"!{line}")

    def getoutput(self, line: str, **_: Any) -> list[str]:
        """``names = !line``."""
        self.system(line)
        return []


class Notebook:
    """The names and cells of one student.

    Args:
        before: told the number and the line of each statement of a cell before that is run.
    """

    def __init__(self, before: Callable[[tuple[int, int]], Any] = lambda at: None) -> None:
        self._before = before
        module = ModuleType("__main__")
        sys.modules["__main__"] = module  # where dataclasses and the like look names up
        self._names = vars(module)
        self._names |= {"get_ipython": lambda: Shell(self), "display": Absent()}
        self._flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
        self._cells = 0
        self._asked = 0
        self.skipped: list[str] = []
        builtins.input = self._input

    def run(self, source: str, without: Container[int] = ()) -> str:
        """Run a cell; the error it ended with, in a line, or nothing.

        Args:
            source: the cell.
            without: the numbers of statements that are left out.
        """
        try:
            name, statements = self._read(source)
            for number, statement in enumerate(statements):
                if number not in without:
                    self._before((number, statement.lineno))
                    self._run(statement, name)
        except (Exception, SystemExit, KeyboardInterrupt) as error:
            place = where(error)[:300]
            return " | ".join(filter(None, [place, f"{type(error).__name__}: {error}"[:1000]]))
        return ""

    def get(self, name: Any) -> Any:
        """What stands under a name, as ``(found, value)``."""
        return name in self._names, self._names.get(name)

    def skip(self, what: str) -> None:
        """List what was not run."""
        if len(self.skipped) < 50 and what[:100].strip() not in self.skipped:
            self.skipped.append(what[:100].strip())

    def execute(self, source: str) -> None:
        """Run code that a cell holds in a line of its own."""
        name, statements = self._read(source)
        for statement in statements:
            self._run(statement, name)

    def _read(self, source: str) -> tuple[str, list[ast.stmt]]:
        """The name of a cell in tracebacks, and its statements."""
        magic = _PYTHON_MAGIC.match(source)
        if magic:
            self.skip(magic[1])
            source = source[: magic.start(1)] + source[magic.end(1) :]
            for word in filter(str.isidentifier, magic[1].split()):  # %%capture NAME
                self._names.setdefault(word, Absent())
        self._cells += 1
        name, code = f"<cell {self._cells}>", _translated(source)
        # Where a traceback finds the lines of this cell.
        linecache.cache[name] = (len(code), None, code.splitlines(keepends=True), name)
        return name, ast.parse(code, name).body

    def _run(self, statement: ast.stmt, name: str) -> None:
        """Run a statement; a module that is not installed stops nothing."""
        try:
            self._one(statement, name)
        except ModuleNotFoundError as error:
            if not isinstance(statement, ast.Import | ast.ImportFrom):
                raise
            self.skip(f"import {error.name} (not installed here)")
            for alias in statement.names:
                self._names[alias.asname or alias.name.split(".")[0]] = Absent()

    def _one(self, statement: ast.stmt, name: str) -> None:
        if isinstance(statement, ast.ImportFrom) and statement.module == "__future__":
            for alias in statement.names:  # holds for the cells below, too
                self._flags |= getattr(__future__, alias.name).compiler_flag
        module = ast.Module([statement], [])
        code = compile(module, name, "exec", flags=self._flags, dont_inherit=True)
        running = eval(code, self._names)
        if code.co_flags & inspect.CO_COROUTINE:
            asyncio.get_event_loop_policy().get_event_loop().run_until_complete(running)

    def _input(self, prompt: object = "") -> str:
        self.skip(f"input({str(prompt)!r}), answered with 1")
        self._asked += 1
        if self._asked > MOST_QUESTIONS:
            raise EOFError("nobody is there to answer")
        return "1"


def _translated(source: str) -> str:
    """A cell as Python; only one that is none needs IPython, which is slow to import."""
    with contextlib.suppress(SyntaxError, ValueError):
        ast.parse(source)
        return source
    from IPython.core.inputtransformer2 import TransformerManager

    return TransformerManager().transform_cell(_INSTALLER.sub(r"\1%", source))


def main(argv: list[str]) -> None:
    """Give up all but computing, then do what the judge asks.

    Args:
        argv: the number of the socket, and the :class:`~grokkit.classroom.grading.walls.Limits`.
    """
    descriptor, seconds, memory_mb, file_mb = map(int, argv)
    connection = socket.socket(fileno=descriptor)
    enclose(memory_mb, file_mb)
    bound(seconds)
    torch.set_num_threads(1)
    torch.set_num_threads = lambda count: None  # there can be no other thread
    sys.setrecursionlimit(1000)
    peer = Peer(connection, {})
    notebook = Notebook(lambda at: peer.ask("at", at))
    peer.handlers |= {
        "run": lambda cell: notebook.run(*cell),
        "get": notebook.get,
        "skipped": lambda _: notebook.skipped,
        "holes": lambda _: holes(),
    }
    with contextlib.suppress(Gone):
        peer.serve()
    os._exit(0)  # whatever threads or exit handlers the student's code left
