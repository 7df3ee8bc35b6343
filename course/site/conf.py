"""The settings of Sphinx for the site; `build.py` stages what it reads and runs it."""

import re
import tomllib
from pathlib import Path

from docutils import nodes
from latex2mathml.converter import convert
from sphinx import addnodes
from sphinx.application import Sphinx

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

project = "grokkit"
author = PROJECT["authors"][0]["name"]
root_doc = "contents"  # index.html is the playground
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]

# Notebooks are shown as they were executed; nothing runs anew.
nb_execution_mode = "off"
nb_merge_streams = True
myst_enable_extensions = ["dollarmath", "amsmath"]
myst_heading_anchors = 3
myst_fence_as_directive = []
suppress_warnings = ["myst.xref_missing", "mystnb.unknown_mime_type", "myst.header", "docutils"]

autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented_params"
add_module_names = False
napoleon_use_ivar = True
napoleon_use_rtype = False

html_theme = "furo"
html_title = "grokkit"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_extra_path = [str(ROOT / "course" / "playground")]
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
templates_path = ["templates"]
html_sidebars = {
    "**": [
        "sidebar/brand.html",
        "sidebar/search.html",
        "to_playground.html",
        "sidebar/scroll-start.html",
        "sidebar/navigation.html",
        "sidebar/scroll-end.html",
    ]
}
html_math_renderer = "mathml"


def inline_math(translator: nodes.NodeVisitor, node: nodes.math) -> None:
    """A formula in a line, as MathML: browsers draw it without a script or a font of ours."""
    translator.body.append(convert(node.astext()))  # type: ignore[attr-defined]
    raise nodes.SkipNode


def block_math(translator: nodes.NodeVisitor, node: nodes.math_block) -> None:
    """A formula on lines of its own, as MathML."""
    formula = convert(node.astext(), display="block")
    translator.body.append(f'<div class="formula">{formula}</div>')  # type: ignore[attr-defined]
    raise nodes.SkipNode


def escape_bars(
    app: Sphinx, what: str, name: str, of: object, options: object, lines: list[str]
) -> None:
    """Norms stay norms: to reStructuredText |W| is a name to be replaced."""
    for at, line in enumerate(lines):
        parts = line.split("``")
        parts[::2] = [re.sub(r"(?<![\w`|\\])\|(?=[^\s|])", r"\\|", part) for part in parts[::2]]
        lines[at] = "``".join(parts)


ARRAY = re.compile(r"(Float|Int|Bool|UInt8|Shaped|Num|Inexact)\[[^\[\]]*?, ['‘](.*?)['’]\]")
NUMBERS = {"float", "int", "floating", "integer"}
LONGEST = 60
"""A type of more letters is cut, and a value left out: it would bury the sentence that follows."""


def brief(words: str) -> str:
    """A type in few words: of an array its axes, of several kinds of numbers `number`.

    Names of the package keep their path behind a `~`, which Sphinx makes a link of.
    """

    def axes(match: re.Match[str]) -> str:
        kind, names = match[1].lower(), match[2].split()
        return "array" if names == ["..."] else f"{kind} [{', '.join(names)}]" if names else kind

    words = re.sub(r"(?<![\w.])~?(?!grokkit\.)(?:\w+\.)+(?=\w)", "", words)
    words = re.sub(r"(?<![\w.~])(?=grokkit\.)", "~", words)
    words = re.sub(r"Literal\[(.*?)\]", r"\1", re.sub(r"Callable\[.*\]", "function", words))
    kinds = ARRAY.sub(axes, words).split(" | ")
    if {"float", "int"} <= {*kinds}:
        kinds = ["number", *(kind for kind in kinds if kind not in NUMBERS)]
    words = " | ".join(dict.fromkeys(kinds))
    shown = re.sub(r"~(?:\w+\.)+", "", words)
    return words if len(shown) <= LONGEST else f"{shown[:LONGEST].rsplit(' ', 1)[0]} …"


def shorten_types(app: Sphinx, domain: str, objtype: str, content: nodes.Element) -> None:
    """The types of parameters, attributes and results in few words; nobody asks for `object`."""
    for value in content.parent.findall(addnodes.desc_annotation):
        if value.astext().lstrip().startswith("=") and len(value.astext()) > LONGEST:
            value.clear()
            value += nodes.Text(" = …")
    for field in content.findall(nodes.field):
        name, body = field.children
        assert isinstance(body, nodes.Element)
        if name.astext().split(" ")[0] in ("type", "vartype", "rtype"):
            words = brief(body.astext())
            body.clear()
            body += nodes.paragraph("", words)
    for base in [one for one in content.children if one.astext() == "Bases: object"]:
        content.remove(base)


def setup(app: Sphinx) -> None:
    """Draw formulas as MathML; show the bars of docstrings; shorten types."""
    app.connect("object-description-transform", shorten_types, priority=900)  # autodoc is at 500
    app.connect("autodoc-process-docstring", escape_bars)
    app.add_html_math_renderer("mathml", (inline_math, None), (block_math, None))
