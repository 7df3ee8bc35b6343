"""Check cells, ``check.ex_1_2(my_function)``, read as text.

Light enough for a process that is started once for each student's notebook.
"""

import ast
import re
from collections.abc import Mapping
from typing import Any

_CHECK = re.compile(r"check\.(ex_\d+_\d+)\(")


def is_check(cell: Mapping[str, Any]) -> bool:
    """Whether a cell is a check cell: code whose last line is ``check.ex_...(...)``."""
    lines = cell["source"].strip().splitlines()
    return cell["cell_type"] == "code" and bool(lines) and bool(_CHECK.match(lines[-1]))


def checked(cell: Mapping[str, Any]) -> str:
    """The name of the exercise that a check cell checks."""
    return _CHECK.findall(cell["source"])[-1]


def answers(source: str) -> list[str]:
    """The names that a check cell hands to the check, such as ``["kl_to_oracle"]``.

    Raises:
        ValueError: the cell is not ``check.ex_1_2(name, ...)`` and nothing else: only then
            can it be run on a student's answer that lives in another process.
    """
    match ast.parse(source).body:
        case [ast.Expr(ast.Call(args=[_, *_] as args, keywords=[]))]:
            names = [arg.id for arg in args if isinstance(arg, ast.Name)]
            if len(names) == len(args):
                return names
    raise ValueError(f"a check cell is `check.ex_1_2(name, ...)` alone; got {source!r}")
