"""The command line: ``grokkit COMMAND ...``.

A command is a module in this folder with a function ``main(argv) -> exit code``, listed
in :data:`COMMANDS`; its module is imported only when it is called.

Exit codes: 0 done; 1 done, and the answer is no; 2 bad input, told in one line on stderr,
nothing written; 130 interrupted; 141 nobody reads the output any more.
"""

import os
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module

from grokkit import __version__
from grokkit.errors import SettingError

COMMANDS: Mapping[str, str] = {
    "train": "train one run; write its History and a picture of it",
    "sweep": "train the runs that a file describes, on all cores or a cluster",
    "reproduce": "run an experiment of the paper again, and judge its claims",
    "claims": "print every claim, and what the recorded runs say of it",
    "runs": "list the recorded runs, show, make again or verify one",
    "bench": "time it against a textbook loop, and against the least that must be computed",
    "notebooks": "build the lessons' notebooks and exercises from their sources, or check them",
    "grade": "grade a folder of students' notebooks",
}
"""What ``grokkit`` can do: the name of a module here, and what it does in one line."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command.

    Args:
        argv: the words after ``grokkit``; None: those of this process.

    Returns:
        The exit code.
    """
    words = list(sys.argv[1:] if argv is None else argv)
    if words[:1] == ["--version"]:
        print(f"grokkit {__version__}")
        return 0
    if not words or words[0] in ("-h", "--help"):
        print(usage())
        return 0 if words else 2
    command, *rest = words
    if command not in COMMANDS:
        allowed = ", ".join([*COMMANDS, "--help", "--version"])
        return complain("grokkit", SettingError("command", command, allowed))
    try:
        return import_module(f"grokkit.cli.{command}").main(rest)
    except SettingError as error:
        return complain(f"grokkit {command}", error)
    except BrokenPipeError:
        # Whoever read the output has stopped, as `head` does. Python must not try again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except OSError as problem:
        complain(f"grokkit {command}", problem)
        return 1
    except KeyboardInterrupt:
        print(f"grokkit {command}: interrupted", file=sys.stderr)
        return 130


def usage() -> str:
    """The text of ``grokkit --help``."""
    width = max(map(len, COMMANDS))
    lines = [f"  {name:{width}}  {what}" for name, what in COMMANDS.items()]
    return "\n".join(
        [
            "usage: grokkit COMMAND [OPTIONS]",
            "",
            "Watch a Transformer memorise, and then understand.",
            "",
            *lines,
            "",
            "grokkit COMMAND --help tells what a command takes; grokkit --version its version.",
        ]
    )


def complain(who: str, problem: object) -> int:
    """Say on stderr, in one line, what was wrong with the input; the exit code for it."""
    print(f"{who}: {' '.join(str(problem).split())}", file=sys.stderr)
    return 2
