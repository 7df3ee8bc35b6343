"""The package as a whole: its face, what importing it costs, and what it depends on."""

import doctest
import importlib
import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

import grokkit

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "grokkit"
EXAMPLES = sorted(
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    for path in PACKAGE.rglob("*.py")
    if ">>> " in path.read_text()
)
"""The modules with examples in their docstrings."""

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def python(code: str) -> str:
    """What a fresh interpreter prints."""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


# --- importing ----------------------------------------------------------------------------

COSTLY = ("xarray", "h5netcdf", "h5py", "pandas", "scipy", "matplotlib", "distributed")
COURSE_ONLY = (
    "IPython",
    "ipywidgets",
    "anywidget",
    "jupytext",
    "nbformat",
    "nbclient",
    "jupyter_client",
)


def test_importing_grokkit_brings_in_nothing_costly_and_reads_no_file():
    """Modules are counted, not seconds, so that a busy machine cannot fail this."""
    loaded, opened = json.loads(
        python(
            "import json, sys\n"
            "before = set(sys.modules)\n"
            "opened = []\n"
            "sys.addaudithook(lambda event, args: opened.append(str(args[0]))\n"
            "                 if event == 'open' else None)\n"
            "import grokkit\n"
            "print(json.dumps([sorted(set(sys.modules) - before), opened]))"
        )
    )
    assert [name for name in loaded if name.startswith("grokkit")] == ["grokkit"]
    assert {name.split(".")[0] for name in loaded} <= {"grokkit", *sys.stdlib_module_names}
    assert [name for name in opened if not name.endswith((".py", ".pyc"))] == []


@pytest.mark.parametrize("name", ["RunSpec", "tasks", "model", "diagnostics"])
def test_the_rooms_below_the_figures_leave_the_costly_modules_alone(name: str):
    loaded = json.loads(
        python(
            "import json, sys, torch\n"
            "import grokkit\n"
            f"grokkit.{name}\n"
            "print(json.dumps(sorted({name.split('.')[0] for name in sys.modules})))"
        )
    )
    assert not {*COSTLY, *COURSE_ONLY} & set(loaded)


# --- the face -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted({*grokkit.__all__, *grokkit._ROOMS}))
def test_every_name_of_the_face_is_there(name: str):
    assert name in dir(grokkit)
    assert getattr(grokkit, name) is not None


def test_a_name_that_is_not_there_says_so():
    with pytest.raises(AttributeError, match="'grokkit' has no attribute 'trian'"):
        grokkit.trian  # type: ignore[attr-defined]  # noqa: B018
    assert not hasattr(grokkit, "__wrapped__")


def test_every_statement_of_the_version_agrees():
    citation = (ROOT / "CITATION.cff").read_text()
    assert f"\nversion: {grokkit.__version__}\n" in citation


# --- the house ----------------------------------------------------------------------------


def test_imports_go_one_way():
    """The contracts in pyproject.toml: layers of rooms, and no circles within a room."""
    done = subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-cache"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("module", EXAMPLES, ids=lambda module: module.removeprefix("grokkit."))
def test_the_examples_of_docstrings_are_true(module: str):
    result = doctest.testmod(importlib.import_module(module), optionflags=doctest.ELLIPSIS)
    assert result.failed == 0


def test_the_face_knows_every_room():
    packages = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert set(grokkit._ROOMS) == packages - {"cli"}


# --- dependencies -------------------------------------------------------------------------


def requirements() -> list[Requirement]:
    lines = [*PROJECT["dependencies"]]
    for extra in PROJECT["optional-dependencies"].values():
        lines += extra
    found = [Requirement(line) for line in lines]
    return [requirement for requirement in found if requirement.name != "grokkit"]


def pins() -> dict[str, Version]:
    found = {}
    for line in (ROOT / "constraints.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            name, version = re.fullmatch(r"([a-z0-9-]+)==(\S+)", line).groups()  # type: ignore[union-attr]
            assert name not in found, f"{name} is pinned twice"
            found[name] = Version(version)
    return found


@pytest.mark.parametrize("requirement", requirements(), ids=lambda requirement: requirement.name)
def test_every_direct_dependency_has_a_range_and_a_pin_within_it(requirement: Requirement):
    assert requirement.specifier, "has no range"
    assert requirement.name in pins(), "is not pinned in constraints.txt"
    assert pins()[requirement.name] in requirement.specifier


def test_nothing_else_is_pinned():
    assert set(pins()) == {requirement.name for requirement in requirements()}
