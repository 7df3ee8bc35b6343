"""The line by which a notebook installs the course on Google Colab; elsewhere it does nothing.

It is put into every notebook when that is built, so that sources do not have to carry it: into
a folded cell of its own at the end of a lesson, into the first code cell of an exercise. Where
to install from is what ``pyproject.toml`` calls the repository.
"""

import tomllib
from pathlib import Path

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell

ID = "colab"
"""The id of the cell at the end of a lesson, wherever its line installs from."""

_PROJECT = "pyproject.toml"
_BEGIN = 'if "google.colab" in __import__("sys").modules: '


def line(source: Path) -> str:
    """The line for the notebooks of the checkout that a source lies in; empty outside of one.

    Without a known repository it can but tell the reader what to do.
    """
    above = source.resolve().parents[1:3]
    checkout = next((folder for folder in above if (folder / _PROJECT).exists()), None)
    if checkout is None:
        return ""
    address = repository(checkout)
    if address is None:
        return f'{_BEGIN}print("First: %pip install the course, from where you have this notebook")'
    what = f"grokkit[course] @ git+{address}"
    return f"""{_BEGIN}get_ipython().run_line_magic("pip", "install -q '{what}'")"""


def repository(checkout: Path) -> str | None:
    """The address that the ``pyproject.toml`` of a checkout calls the repository; None: none."""
    project = checkout / _PROJECT
    found = tomllib.loads(project.read_text(encoding="utf-8")) if project.exists() else {}
    return found.get("project", {}).get("urls", {}).get("Repository")


def prepare(notebook: NotebookNode, source: Path) -> None:
    """Put the line at the head of a notebook's first code cell; its id stays as it is."""
    first = [cell for cell in notebook.cells if cell.cell_type == "code"][:1]
    if line(source):
        for cell in first:
            cell.source = f"{line(source)}\n{cell.source}"


def append(notebook: NotebookNode, source: Path) -> None:
    """Put the line into a folded cell of its own at the end of a notebook."""
    if text := line(source):
        cell = new_code_cell(f"# @title On Google Colab, run this cell first\n{text}")
        cell.id = ID
        cell.metadata = NotebookNode(jupyter=NotebookNode(source_hidden=True), tags=["hide-input"])
        notebook.cells.append(cell)
