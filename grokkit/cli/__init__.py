"""The command line: ``grokkit COMMAND ...``.

A command is a module in this folder, listed in :data:`COMMANDS` and imported only when it is
called, with a function of its own name, whose arguments are the options; or, where options are
not all, with a function ``main(argv)``. Either returns the exit code.

Exit codes: 0 done; 1 done, and the answer is no, or it could not be done; 2 bad input, told
in one line on stderr, nothing written; 130 interrupted; 141 nobody reads the output any more.
"""

import os
import sys
import warnings
from collections.abc import Mapping, Sequence
from importlib import import_module

from grokkit import __version__
from grokkit.errors import SettingDropped, SettingError

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
    with warnings.catch_warnings():
        warnings.simplefilter("always", SettingDropped)
        show = warnings.showwarning
        warnings.showwarning = lambda message, category, *rest, **more: (
            complain(f"grokkit {command}", message)
            if category is SettingDropped
            else show(message, category, *rest, **more)
        )
        return _run(command, rest)


def _run(command: str, argv: Sequence[str]) -> int:
    """Run a command; what goes wrong is told in one line, and a mistake of ours is raised."""
    who = f"grokkit {command}"
    try:
        module = import_module(f"grokkit.cli.{command}")
        if hasattr(module, "main"):
            return module.main(argv)
        from grokkit.cli.options import call

        return call(getattr(module, command), argv, who)
    except SettingError as error:
        return complain(who, error)
    except KeyboardInterrupt as interrupt:
        complain(who, "; ".join(["interrupted", *map(str, interrupt.args)]))
        return 130
    except BrokenPipeError:
        # Whoever read the output has stopped, as `head` does. Python must not try again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except ModuleNotFoundError as missing:
        extra = "cluster" if missing.name == "distributed" else "course"
        needs = f"needs {missing.name}; pip install 'grokkit[{extra}]'"
        complain(who, needs if missing.name else missing)
        return 1
    except Exception as problem:
        # The package's own errors (RunsFailed, NotebookError, ...) explain themselves.
        if not (isinstance(problem, OSError) or type(problem).__module__.startswith("grokkit.")):
            raise
        complain(who, problem)
        return 1


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
