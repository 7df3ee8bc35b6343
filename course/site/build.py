"""Builds the course as static pages, from the executed notebooks: `make site`.

The front page is the playground. Behind it stand the lessons, the exercises (to read), the
findings and results, and a reference made from the docstrings. Nothing is run anew, and the
pages ask no other host for anything.
"""

import argparse
import base64
import html
import json
import os
import posixpath
import re
import shutil
import subprocess
import sys
import tomllib
import zlib
from pathlib import Path
from typing import Any

import results

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
FOUND = ("FINDINGS.md", "RESULTS.md")
OTHERS = ("TEACHING.md", "BENCHMARKS.md", "course/glossary.md")
NAVIGATION = {
    "The course": "contents.html",
    "Glossary": "course/glossary.html",
    "Findings": "FINDINGS.html",
    "Results": "RESULTS.html",
    "The package": "api/core.html",
    "Search": "search.html",
}
"""What the front page links to, where it is there."""

LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]+(?:\([^()\s]*\))?)\)")


def main() -> None:
    """Stage the sources, build the pages, and say where they are."""
    parser = argparse.ArgumentParser(description="Build the course as static pages.")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "site")
    out = parser.parse_args().out.resolve()
    source = out.parent / f"{out.name}-source"
    for folder in (source, out):
        shutil.rmtree(folder, ignore_errors=True)
    stage(source)
    sphinx = [sys.executable, "-m", "sphinx", "-q", "-b", "html", "-c", str(HERE)]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    subprocess.run([*sphinx, str(source), str(out)], check=True, env=environment)
    link_front_page(out)
    for page in out.rglob("*.html"):
        text = accessible(page.read_text(encoding="utf-8"))
        if page.parent.name == "results":  # whose headings are long sentences
            text = text.replace("<body>", '<body class="results">', 1)
        page.write_text(text, "utf-8")
    for leftover in ("objects.inv", ".buildinfo", ".doctrees", "build.sh"):
        path = out / leftover
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    size = sum(file.stat().st_size for file in out.rglob("*") if file.is_file())
    print(f"{out}/index.html: {size / 1e6:.1f} MB; look at it with")
    print(f"  python -m http.server --directory {out}")


def link_front_page(out: Path) -> None:
    """Put links to the other pages on the playground; by itself it has none of them."""
    front = out / "index.html"
    pages = [(title, page) for title, page in NAVIGATION.items() if (out / page).exists()]
    links = "".join(f'<a href="{page}">{title}</a>' for title, page in pages)
    text = front.read_text(encoding="utf-8")
    text = text.replace("<!-- site links -->", links)
    text = re.sub(r'data-site="([^"]+)"', r'href="\1"', text)
    front.write_text(text, "utf-8")


def accessible(page: str) -> str:
    """A page with what the theme leaves out.

    Levels of headings, names of the columns beside the text, boxes that keys can scroll, tables
    of printed text that stay in line where the page is narrow, pictures that open at their full
    size, and no request for an icon.
    """
    page = page.replace("<head>", '<head><link rel="icon" href="data:,">', 1)
    page = PICTURE.sub(r'<a class="picture" href="\2">\1</a>', page)
    page = page.replace(
        'class="caption" role="heading"', 'class="caption" role="heading" aria-level="2"'
    )
    for side, name in (("sidebar-drawer", "All pages"), ("toc-drawer", "On this page")):
        page = page.replace(f'<aside class="{side}', f'<aside aria-label="{name}" class="{side}')
    page = PRINTED.sub(printed, page)
    return re.sub(
        r'<div class="(table-wrapper|formula|output text_html)',
        r'<div tabindex="0" class="\1',
        page,
    )


def printed(match: re.Match[str]) -> str:
    """A box of text that keys can scroll; in one with columns, lines are not to be wrapped."""
    columns = len(re.findall(r"^.*\S {3,}\S", match[1], re.MULTILINE)) > 1
    kind = ' class="columns"' if columns else ""
    return f'<pre tabindex="0"{kind}>{match[1]}</pre>'


PRINTED = re.compile(r"<pre>(.*?)</pre>", re.DOTALL)
PICTURE = re.compile(r'(?<!">)(<img [^>]*src="([^"]*_images/[^"]+)"[^>]*>)')

SCENE = "application/vnd.grokkit.scene"
"""Under this name an output keeps what its widget shows; see grokkit/widgets/base.py."""


ELSEWHERE = """
<p class="elsewhere">There is no kernel on this page, so this shows a recorded run.
<a href="{home}index.html">Train a network of your own in the playground.</a></p>
"""


AS_IT_WAS_RUN = """
*To read here: this page shows the notebook as it was run. To run its cells and to write code of
your own, open the notebook in JupyterLab; `make lab` in the course's folder does that.*
"""


def describe_images(cell: dict[str, Any], home: str) -> bool:
    """The words that an output carries beside its picture become the picture's text.

    A widget comes to life from the scene that its output holds; its picture stays for who has no
    script. One that trains in its kernel leads to the playground, `home` being the way to the
    front page. Returns whether the cell has such a widget.
    """
    alive = False
    for output in cell.get("outputs", []):
        data = output.get("data", {})
        if "image/png" not in data or "text/plain" not in data:
            continue
        words = " ".join("".join(data["text/plain"]).split())
        cell["metadata"].setdefault("mystnb", {})["image"] = {"alt": words}
        if SCENE in data:
            scene = zlib.decompress(base64.b64decode(data[SCENE])).decode()
            held = scene.replace("<", "\\u003c")
            picture = "".join(data["image/png"]).replace("\n", "")
            trains = any(control.get("live") for control in json.loads(scene)["controls"])
            output["data"] = {"text/html": (
                f'<div class="grokkit-widget"><script type="application/json">{held}</script>'
                f'<img alt="{html.escape(words)}" src="data:image/png;base64,{picture}"></div>'
                + (ELSEWHERE.format(home=home) if trains else "")
            )}  # fmt: skip
            alive = True
    return alive


def widget_script() -> str:
    """A cell that brings every widget of a page to life: the module that Jupyter uses, inlined."""
    module = (ROOT / "grokkit" / "widgets" / "scene.js").read_text(encoding="utf-8")
    start = """
for (const box of document.querySelectorAll(".grokkit-widget")) {
  const scene = JSON.parse(box.querySelector("script").textContent);
  box.replaceChildren();
  mount(box, scene);
}
"""
    return f'<script type="module">\n{module}{start}</script>'


def stage(source: Path) -> None:
    """Copy what the site is made of, with links that hold on the site."""
    rooms = sorted(path.parent.name for path in (ROOT / "grokkit").glob("*/__init__.py"))
    lessons = sorted((ROOT / "course").glob("[0-9]*.ipynb"))
    exercises = sorted((ROOT / "exercises").glob("[0-9]*.ipynb"))
    evidence = sorted((ROOT / "course" / "evidence").glob("[0-9]*.ipynb"))
    found, others = ([ROOT / n for n in names if (ROOT / n).exists()] for names in (FOUND, OTHERS))
    documents = [*lessons, *evidence, *exercises, *found, *others]
    staged = {path.relative_to(ROOT).as_posix() for path in documents}
    images = list((ROOT / "course" / "images").rglob("*.png"))
    for path in [*images, *(ROOT / "exercises" / "images").rglob("*.png")]:
        staged.add(path.relative_to(ROOT).as_posix())
        place(path, source)
    pages = {name_of(p): p.read_text(encoding="utf-8") for p in documents if p.suffix == ".md"}
    if "RESULTS" in pages:
        pages |= results.pages(pages["RESULTS"])
    staged |= {f"{name}.md" for name in pages}
    for name, text in pages.items():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        text = relink(text, posixpath.dirname(name) or ".", staged)
        (source / f"{name}.md").write_text(text, "utf-8")
    for path in [*lessons, *evidence, *exercises]:
        target = place(path, source)
        here = path.relative_to(ROOT).parent.as_posix()
        notebook, alive = json.loads(path.read_text(encoding="utf-8")), False
        for cell in notebook["cells"]:
            if cell["cell_type"] == "markdown":
                cell["source"] = relink("".join(cell["source"]), here, staged)
            else:  # a formatter may have put empty lines above a function
                cell["source"] = "".join(cell["source"]).strip("\n")
            alive |= describe_images(cell, "../" * here.count("/") + "../")
        launch = launch_links(path.relative_to(ROOT).as_posix())
        notebook["cells"][0]["source"] += f"\n\n{AS_IT_WAS_RUN}{launch}"
        if alive:
            output = {"output_type": "display_data", "metadata": {}, "data": {
                "text/html": widget_script()}}  # fmt: skip
            next(c for c in reversed(notebook["cells"]) if c.get("outputs"))["outputs"].append(
                output
            )
        target.write_text(json.dumps(notebook), "utf-8")
    for room in rooms:
        page = source / "api" / f"{room}.md"
        page.parent.mkdir(exist_ok=True)
        page.write_text(reference(room), "utf-8")
    parts = {
        "Lessons": lessons,
        "Evidence": evidence,
        "What we found": found,
        "Exercises": exercises,
        "Beside the course": others,
    }
    trees = [toctree(name, [name_of(path) for path in paths]) for name, paths in parts.items()]
    trees.append(toctree("The package", [f"api/{room}" for room in rooms]))
    text = (HERE / "contents.md").read_text(encoding="utf-8")
    (source / "contents.md").write_text(text + "\n" + "\n".join(trees), "utf-8")


def place(path: Path, source: Path) -> Path:
    """Copy a file to the place that it has in the repository."""
    target = source / path.relative_to(ROOT)
    target.parent.mkdir(parents=True, exist_ok=True)
    return Path(shutil.copy(path, target))


def name_of(path: Path) -> str:
    """What a table of contents calls a document: its path without the ending."""
    return path.relative_to(ROOT).with_suffix("").as_posix()


def toctree(caption: str, names: list[str]) -> str:
    """A part of the table of contents; nothing where it is empty."""
    lines = "\n".join(names)
    return f"```{{toctree}}\n:caption: {caption}\n:maxdepth: 1\n\n{lines}\n```\n" if names else ""


def repository() -> str | None:
    """The address of the repository, where pyproject.toml names one."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    address = project.get("urls", {}).get("Repository")
    return address.rstrip("/") if address else None


def launch_links(path: str) -> str:
    """Links that open a notebook on Binder and Colab; nothing without a repository's address."""
    address = repository()
    if address is None or "github.com/" not in address:
        return ""
    name = address.split("github.com/")[1]
    binder = f"https://mybinder.org/v2/gh/{name}/HEAD?labpath={path}"
    colab = f"https://colab.research.google.com/github/{name}/blob/main/{path}"
    return f"[Open in Binder]({binder}) · [Open in Colab]({colab})"


def relink(text: str, here: str, staged: set[str]) -> str:
    """Markdown whose links hold on the site.

    A link to a page of the site stays. One into the package leads to its reference, another
    one to the repository; where no repository is named, its words stay.

    Args:
        text: the Markdown.
        here: the folder of the document, from the root of the repository.
        staged: the files that the site has, likewise.
    """

    def again(match: re.Match[str]) -> str:
        image, words, target = match.groups()
        path, _, name = target.partition("#")
        if not path or re.match(r"[a-z]+:", path):
            return match[0]
        full = posixpath.normpath(posixpath.join(here, path))
        row = f"results/{name}.md"
        if full == "RESULTS.md" and row in staged:
            return f"[{words}]({posixpath.relpath(row, here)})"
        if full in staged:
            return match[0]
        if full.startswith("grokkit/"):
            room = full.split("/")[1].removesuffix(".py")
            if (ROOT / "grokkit" / room / "__init__.py").exists():
                return f"[{words}]({posixpath.relpath(f'api/{room}.md', here or '.')})"
        if address := repository():
            return f"{image}[{words}]({address}/blob/main/{full})"
        return words

    return LINK.sub(again, text)


def reference(room: str) -> str:
    """The page of one room of the package."""
    name = f"grokkit.{room}"
    # `set` is what matplotlib adds to each of its descendants, with words in its own roles.
    options = "   :members:\n   :imported-members:\n   :show-inheritance:\n   :exclude-members: set"
    return f"# `{name}`\n\n```{{eval-rst}}\n.. automodule:: {name}\n{options}\n```\n"


if __name__ == "__main__":
    main()
