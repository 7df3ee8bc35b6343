"""The process of one student's notebook: it runs cells and lends its functions.

Started by :mod:`~grokkit.classroom.grading.supervise` in an empty folder, with one socket and
nothing else. It decides nothing: everything said here is only an answer to be marked.
"""

import linecache
import os
import socket
import sys
from pathlib import Path
from typing import Any

from grokkit.classroom.grading.limits import lock_down
from grokkit.classroom.grading.peer import Gone, Peer


class Notebook:
    """The names and cells of one student; IPython translates magics, and nothing is kept."""

    def __init__(self) -> None:
        from IPython.core.interactiveshell import InteractiveShell
        from traitlets.config import Config

        config = Config()
        config.HistoryManager.enabled = False  # it would keep a database
        self._shell: Any = InteractiveShell.instance(config=config)
        self._cells = 0

    def run(self, source: Any) -> str:
        """Run a cell; the error it ended with, in a line, or nothing."""
        self._cells += 1
        name = f"<cell {self._cells}>"
        try:
            code = self._shell.transform_cell(str(source))
            # Where a traceback finds the lines of this cell.
            linecache.cache[name] = (len(code), None, code.splitlines(keepends=True), name)
            exec(compile(code, name, "exec"), self._shell.user_ns)
        except (Exception, SystemExit, KeyboardInterrupt) as error:
            return f"{type(error).__name__}: {error}"[:1000]
        return ""

    def get(self, name: Any) -> Any:
        """What stands under a name, as ``(found, value)``."""
        return (name in self._shell.user_ns, self._shell.user_ns.get(name))


def main(argv: list[str]) -> None:
    """Lock this process down, then do what the judge asks.

    Args:
        argv: the number of the socket, and the limits of
            :func:`~grokkit.classroom.grading.limits.lock_down`.
    """
    descriptor, seconds, memory_mb, file_mb = map(int, argv)
    connection = socket.socket(fileno=descriptor)
    taken = lock_down(Path.cwd(), seconds, memory_mb, file_mb)
    sys.setrecursionlimit(1000)
    notebook = Notebook()
    peer = Peer(connection, {"run": notebook.run, "get": notebook.get, "limits": lambda _: taken})
    try:
        peer.serve()
    except Gone:
        os._exit(3)
    os._exit(0)  # whatever threads or exit handlers the student's code left


if __name__ == "__main__":
    main(sys.argv[1:])
