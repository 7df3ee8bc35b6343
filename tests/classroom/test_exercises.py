"""Exercises are generated from their solutions; neither drifts, and no solution gets out."""

import json
import re
import tomllib
from pathlib import Path

import nbformat
import pytest

from grokkit.classroom import exercises
from grokkit.classroom.exercises import generate, targets
from grokkit.classroom.exercises import source as sources
from grokkit.classroom.notebooks import NotebookError
from grokkit.errors import SettingError

ROOT = Path(__file__).parents[2]
CHAPTERS = sorted((ROOT / "solutions").glob("[0-9][0-9]_*.py"))

SOURCE = '''\
# %% [markdown]
# # Exercises

# %%
from grokkit.classroom import check

# %% [markdown] exercise="ex_1_1" difficulty=2 minutes=7
# ## Twice
#
# Write it.

# %%
def twice(x):
    """2x."""
    ### BEGIN SOLUTION
    return the_number + x
    ### END SOLUTION


# %% tags=["target"]
from matplotlib.figure import Figure

Figure()

# %%
check.ex_1_1(twice)

# %% [markdown] tags=["solution"]
# Adding is doubling in disguise.

# %% [markdown] exercise="ex_1_2" difficulty=1 minutes=2 points=5
# ## A number
#
# Which one?

# %%
### BEGIN SOLUTION
first, second = 40_000_001, 2
### END SOLUTION

# %%
check.ex_1_2(first, second)
'''


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    """A folder with one source, and the folder of its exercises, built."""
    solutions, made = tmp_path / "solutions", tmp_path / "exercises"
    solutions.mkdir()
    (solutions / "01_small.py").write_text(SOURCE)
    exercises.build(solutions, made)
    return solutions, made


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


# --- the exercises of the course ----------------------------------------------------------


def test_the_exercises_are_those_of_the_solutions():
    assert CHAPTERS
    assert exercises.check(ROOT / "solutions", ROOT / "exercises") == [], (
        "run `grokkit notebooks exercises`"
    )


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_no_line_of_a_solution_stands_in_any_exercise(path: Path):
    chapter = sources.read(path)
    for made in [*(ROOT / "exercises").rglob("*")]:
        if made.suffix == ".ipynb":
            cells = json.loads(made.read_text())["cells"]
            text = "\n".join("".join(cell["source"]) for cell in cells)
            assert generate.leaks(chapter, text) == [], made.name
            assert all(cell.get("outputs", []) == [] for cell in cells)


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_an_exercise_links_to_what_is_there(path: Path):
    cells = generate.exercise_notebook(sources.read(path)).cells
    text = "\n".join(cell.source for cell in cells)
    links = re.findall(r"\]\((?!http)([^)#]+)\)", text)
    assert links, "an exercise names its lesson"
    assert [link for link in links if not (ROOT / "exercises" / link).exists()] == []


def test_a_wheel_is_the_package_alone():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]
    assert settings["targets"]["wheel"] == {"packages": ["grokkit"]}


# --- what is generated --------------------------------------------------------------------


def test_a_notebook_has_stubs_an_image_and_no_solution(folders: tuple[Path, Path]):
    notebook = nbformat.read(folders[1] / "01_small.ipynb", as_version=4)
    nbformat.validate(notebook)
    by_id = {cell.id: cell for cell in notebook.cells}
    assert by_id["ex_1_1"].source == "## 1.1 · Twice\n\n*●●○ medium · about 7 minutes*\n\nWrite it."
    assert by_id["ex_1_1-answer"].source.endswith('raise NotImplementedError("your code here")')
    assert by_id["ex_1_1-target"].source == "![What exercise 1.1 is to show](images/ex_1_1.png)"
    assert by_id["ex_1_2-answer"].source == (
        "first = None  # your code here\nsecond = None  # your code here"
    )
    assert by_id["ex_1_2-check"].source == "check.ex_1_2(first, second)"
    assert len(notebook.cells) == 9
    assert notebook.metadata.kernelspec.name == "python3"
    text = (folders[1] / "01_small.ipynb").read_text()
    for secret in ("the_number", "40_000_001", "disguise", "Figure()", "SOLUTION"):
        assert secret not in text


def test_cells_carry_what_nbgrader_needs_and_ids_are_names(folders: tuple[Path, Path]):
    notebook = nbformat.read(folders[1] / "01_small.ipynb", as_version=4)
    graded = {c.id: c.metadata.nbgrader for c in notebook.cells if "nbgrader" in c.metadata}
    check = graded["ex_1_2-check"]
    assert (check.grade, check.locked, check.points) == (True, True, 5)
    assert graded["ex_1_1-check"].points == 2
    assert all(entry.locked and not entry.solution for entry in graded.values())
    # With metadata of its own an answer would be replaced by nbgrader's stub.
    assert not any(name.endswith("-answer") for name in graded)


def test_building_twice_gives_the_same_bytes_and_draws_once(folders: tuple[Path, Path]):
    solutions, made = folders
    before = {path: path.read_bytes() for path in made.rglob("*") if path.is_file()}
    picture = made / "images" / "ex_1_1.png"
    written = exercises.build(solutions, made, ["01"])
    assert {path: path.read_bytes() for path in made.rglob("*") if path.is_file()} == before
    assert picture in before and picture not in written


def test_the_ids_of_an_exercise_do_not_change_with_its_text(folders: tuple[Path, Path]):
    solutions, made = folders

    def ids() -> list[str]:
        return [c.id for c in nbformat.read(made / "01_small.ipynb", as_version=4).cells]

    before = ids()
    edit(solutions / "01_small.py", "# Write it.", "# Write it, please.")
    edit(solutions / "01_small.py", '"""2x."""', '"""Twice x."""')
    exercises.build(solutions, made)
    assert ids() == before


def test_a_stub_of_ones_own_takes_the_place_of_the_solution():
    cell = (
        "def f(x):\n    ### BEGIN SOLUTION\n    y = x + 1\n    return y\n    ### STUB\n"
        "    # y = ...\n    # for i in x:\n    #     pass\n    ### END SOLUTION\n"
    )
    assert sources.stubbed(cell) == "def f(x):\n    y = ...\n    for i in x:\n        pass\n"
    assert sources.solved(cell) == "def f(x):\n    y = x + 1\n    return y\n"
    assert list(sources.solution_lines(cell)) == ["y = x + 1", "return y"]


# --- drift and leaks ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        ("exercises/01_small.ipynb", "Write it.", "Write.", "cell 3 line 5 is `Write.`"),
        ("exercises/01_small.ipynb", "ex_1_1-answer", "other", "has the id 'other'"),
        ("exercises/01_small.ipynb", '"outputs": []', '"outputs": [ ]', "has outputs, or is not"),
        ("exercises/01_small.ipynb", '"cells"', '"sells"', "not a valid notebook"),
        ("solutions/01_small.py", "# Write it.", "# Do it.", "in 01_small.py it is `Do it.`"),
        ("solutions/01_small.py", "points=5", "points=6", "'points': 6"),
        ("solutions/01_small.py", "Figure()", "Figure((2, 2))", "ex_1_1.png: missing, or drawn"),
        ("solutions/01_small.py", "the_number", "a_number", "ex_1_1.png: missing, or drawn"),
    ],
)
def test_a_planted_difference_is_named(
    folders: tuple[Path, Path], file: str, old: str, new: str, message: str
):
    assert exercises.check(*folders) == []
    edit(folders[0].parent / file, old, new)
    lines = exercises.check(*folders)
    assert any(message in line for line in lines), lines
    assert all("\n" not in line for line in lines)


def test_a_file_without_a_source_and_a_missing_one_are_named(folders: tuple[Path, Path]):
    solutions, made = folders
    (made / "02_old.ipynb").write_text("{}")
    (made / "images" / "ex_9_9.png").write_bytes(b"")
    (made / "01_small.ipynb").unlink()
    (made / "conftest.py").write_text("")
    assert exercises.check(solutions, made) == [
        "01_small.ipynb: missing; `grokkit notebooks exercises` writes it from 01_small.py",
        f"02_old.ipynb: has no source in {solutions}",
        f"ex_9_9.png: has no source in {solutions}",
    ]


def test_a_solution_that_stands_elsewhere_too_is_refused(folders: tuple[Path, Path]):
    edit(folders[0] / "01_small.py", "# Which one?", "# Is it first, second = 40_000_001, 2 ?")
    with pytest.raises(NotebookError, match="stands outside of it too"):
        exercises.build(*folders)
    assert "stands outside of it too" in exercises.check(*folders)[0]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("difficulty=2", "difficulty=4", "ex_1_1: difficulty = 4; allowed: 1..3"),
        ("minutes=7", "", "ex_1_1: minutes = None"),
        ("minutes=7", "minutes=7 colour=1", "{'colour'}: allowed"),
        ("# ## Twice", "# Twice", "first line is `## Title`"),
        ("check.ex_1_1(twice)", "twice(1)", "ex_1_1: has 0 check cells"),
        ("check.ex_1_1(twice)", "check.ex_1_2(twice)", "calls check.ex_1_2"),
        ("check.ex_1_1(twice)", "check.ex_1_1(twice(2))", "alone; got"),
        ("check.ex_1_1(twice)", "x = 1\ncheck.ex_1_1(twice)", "alone; got"),
        ("    ### END SOLUTION", "    ### THE END", "do not pair"),
        (
            "### BEGIN SOLUTION\nfirst, second = 40_000_001, 2",
            "### BEGIN SOLUTION\nprint()",
            "no name",
        ),
    ],
)
def test_a_malformed_source_is_refused(
    folders: tuple[Path, Path], old: str, new: str, message: str
):
    edit(folders[0] / "01_small.py", old, new)
    with pytest.raises(NotebookError) as caught:
        exercises.build(*folders)
    assert str(caught.value).startswith("01_small.py: ") and message in str(caught.value)


def test_a_picture_knows_the_code_that_drew_it(folders: tuple[Path, Path]):
    picture = folders[1] / "images" / "ex_1_1.png"
    assert len(targets.mark_of(picture)) == 16
    picture.write_bytes(b"no picture")
    assert targets.mark_of(picture) == ""


# --- the students' folder -----------------------------------------------------------------


def test_a_handout_has_the_exercises_and_no_solution(tmp_path: Path):
    written = exercises.handout(
        tmp_path / "class",
        ROOT / "solutions",
        ROOT / "exercises",
        ROOT / "course",
        ROOT / "constraints.txt",
    )
    names = {str(path.relative_to(tmp_path / "class")) for path in written}
    there = {str(p.relative_to(tmp_path / "class")) for p in tmp_path.rglob("*") if p.is_file()}
    assert names == there
    for path in CHAPTERS:
        assert f"exercises/{path.stem}.ipynb" in names
    assert {"README.md", "RESULTS.md", "constraints.txt", "exercises/conftest.py"} <= names
    assert not any("solution" in name or name.endswith("settings.toml") for name in names)
    for path in CHAPTERS:
        chapter = sources.read(path)
        for made in (tmp_path / "class" / "exercises").glob("*.ipynb"):
            cells = json.loads(made.read_text())["cells"]
            assert not generate.leaks(chapter, "\n".join("".join(c["source"]) for c in cells))


def texts(path: Path) -> list[str]:
    """The Markdown in a file: itself, or what is in the cells of a notebook and their outputs."""
    if path.suffix == ".md":
        return [path.read_text()]
    cells = json.loads(path.read_text())["cells"]
    said = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]
    outputs = [output.get("data", {}) for cell in cells for output in cell.get("outputs", [])]
    return said + ["".join(data.get("text/markdown", "")) for data in outputs]


def test_a_handout_has_no_dead_link(tmp_path: Path):
    folders = ("solutions", "exercises", "course", "constraints.txt")
    written = exercises.handout(tmp_path / "class", *(ROOT / name for name in folders))
    read = [path for path in written if path.suffix in (".md", ".ipynb")]
    assert len(read) > 20
    for path in read:
        for text in texts(path):
            links = re.findall(r"\]\(([^)]*)\)|(?:src|href)=[\"']([^\"']+)", text)
            for link in (one or other for one, other in links):
                there = (path.parent / link.partition("#")[0]).exists()
                assert there or re.match(r"https?:|#|data:", link), f"{path.name}: {link}"
    # What had no dead link is handed out as it is.
    for name in ("course/00_index.ipynb", "exercises/01_sparse_tasks.ipynb", "RESULTS.md"):
        assert (tmp_path / "class" / name).read_bytes() == (ROOT / name).read_bytes()


LINKED = [
    "[here](01_small.ipynb), [`code`](../grokkit/x.py#top) and [more](../grokkit).\n",
    "![A picture](images/no.png) [far](https://example.org/a) [up](../../secret) [b](#b)",
]


@pytest.mark.parametrize(
    ("urls", "wanted"),
    [
        ("", "[here](01_small.ipynb), `code` and more.\n"),
        (
            '[project.urls]\nRepository = "https://example.org/me/it.git"\n',
            "[here](01_small.ipynb), [`code`](https://example.org/me/it/tree/HEAD/grokkit/x.py#top)"
            " and [more](https://example.org/me/it/tree/HEAD/grokkit).\n",
        ),
    ],
)
def test_links_into_the_code_lead_to_the_repository_or_are_words(
    folders: tuple[Path, Path], tmp_path: Path, urls: str, wanted: str
):
    (tmp_path / "pyproject.toml").write_text(urls)
    (tmp_path / "constraints.txt").write_text("")
    (folders[1] / "conftest.py").write_text("")
    course = tmp_path / "course"
    course.mkdir()
    for name, cell in (
        ("01_small", nbformat.v4.new_markdown_cell("".join(LINKED))),
        ("02_code", nbformat.v4.new_code_cell("".join(LINKED))),
    ):
        nbformat.write(nbformat.v4.new_notebook(cells=[cell]), course / f"{name}.ipynb")
    exercises.build(*folders)  # they may name the repository
    exercises.handout(tmp_path / "class", *folders, course, tmp_path / "constraints.txt")
    made = nbformat.read(tmp_path / "class" / "course" / "01_small.ipynb", as_version=4)
    rest = "A picture [far](https://example.org/a) up [b](#b)"
    assert made.cells[0].source == wanted + rest
    code, copy = (folder / "02_code.ipynb" for folder in (course, tmp_path / "class" / "course"))
    assert code.read_bytes() == copy.read_bytes()


def test_a_handout_overwrites_nothing_and_hands_out_nothing_stale(
    folders: tuple[Path, Path], tmp_path: Path
):
    rest = (*folders, ROOT / "course", ROOT / "constraints.txt")
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "mine.ipynb").write_text("")
    with pytest.raises(SettingError, match=r"target: got .*work'; allowed: an empty folder"):
        exercises.handout(tmp_path / "work", *rest)
    edit(folders[1] / "01_small.ipynb", "Write it.", "Write.")
    with pytest.raises(NotebookError, match="run `grokkit notebooks exercises` first"):
        exercises.handout(tmp_path / "class", *rest)
    assert not (tmp_path / "class").exists()
