"""Writes the README's links to Binder and Colab: `python binder/badges.py`.

They stand between two marks in the README and lead to the one address that pyproject.toml
calls the repository: [project.urls] Repository. Without an address there are none.
"""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
FIRST = "course/00_index.ipynb"
MARKS = re.compile(r"(<!-- badges -->\n).*?(<!-- /badges -->)", re.DOTALL)


def badges(project: str) -> str:
    """The links of a pyproject.toml that is given as text."""
    address = tomllib.loads(project)["project"].get("urls", {}).get("Repository", "")
    _, found, name = address.rstrip("/").removesuffix(".git").partition("github.com/")
    if not found:
        return ""
    pairs = {
        "Open in Binder": f"https://mybinder.org/v2/gh/{name}/HEAD?labpath={FIRST}",
        "Open in Colab": f"https://colab.research.google.com/github/{name}/blob/main/{FIRST}",
    }
    return " · ".join(f"[{words}]({link})" for words, link in pairs.items()) + "\n"


def written(readme: str, project: str) -> str:
    """A README with the links of a pyproject.toml, both as text."""
    return MARKS.sub(lambda found: found[1] + badges(project) + found[2], readme)


if __name__ == "__main__":
    page = ROOT / "README.md"
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    page.write_text(written(page.read_text(encoding="utf-8"), project), encoding="utf-8")
