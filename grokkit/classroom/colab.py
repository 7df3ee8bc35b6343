"""The line by which a notebook installs the course on Google Colab; elsewhere it does nothing.

It is put into the first code cell of every notebook when that is built, so that sources do
not have to carry it. Where to install from is what ``pyproject.toml`` calls the repository.
"""

import tomllib
from pathlib import Path

from nbformat import NotebookNode

_BEGIN = 'if "google.colab" in __import__("sys").modules: '


def line(source: Path) -> str:
    """The line for the notebooks of the checkout that a source lies in; empty outside of one.

    Without a known repository it can but tell the reader what to do.
    """
    project = source.resolve().parents[1] / "pyproject.toml"
    if not project.exists():
        return ""
    found = tomllib.loads(project.read_text(encoding="utf-8"))
    address = found.get("project", {}).get("urls", {}).get("Repository")
    if address is None:
        return f'{_BEGIN}print("First: %pip install the course, from where you have this notebook")'
    what = f"grokkit[course] @ git+{address}"
    return f"""{_BEGIN}get_ipython().run_line_magic("pip", "install -q '{what}'")"""


def prepare(notebook: NotebookNode, source: Path) -> None:
    """Put the line at the head of a notebook's first code cell; its id stays as it is."""
    first = [cell for cell in notebook.cells if cell.cell_type == "code"][:1]
    if line(source):
        for cell in first:
            cell.source = f"{line(source)}\n{cell.source}"


def without(text: str) -> str:
    """The source of a cell without the line."""
    first, _, rest = text.partition("\n")
    return rest if first.startswith(_BEGIN) else text
