"""When the cell that made something is run again, the thing can be told."""

from collections.abc import Callable
from typing import Any

from IPython.core.getipython import get_ipython


def when_its_cell_runs_again(act: Callable[[], None]) -> Callable[[], None]:
    """Call a function when the notebook cell that is running now is run once more.

    Args:
        act: what to call, right before the cell runs.

    Returns:
        What takes this back; it may be called more than once. Outside of a notebook, or in
        one that does not name its cells, nothing is ever called.
    """
    shell = get_ipython()
    cell = _this_cell(shell)
    if shell is None or cell is None:
        return lambda: None

    def look(info: Any) -> None:
        if getattr(info, "cell_id", None) == cell:
            act()

    def forget() -> None:
        if look in shell.events.callbacks["pre_run_cell"]:
            shell.events.unregister("pre_run_cell", look)

    shell.events.register("pre_run_cell", look)
    return forget


def _this_cell(shell: Any) -> str | None:
    """The id of the cell that is running, if there is a kernel and it was told."""
    parent = getattr(shell, "get_parent", dict)()
    return parent.get("metadata", {}).get("cellId")
