"""The lessons and their sources agree, and a slip on either side is named."""

import json
from pathlib import Path

import nbformat
import pytest

from grokkit.classroom import notebooks
from grokkit.errors import SettingError
from grokkit.widgets.base import SCENE

COURSE = Path(__file__).parents[2] / "course"

SOURCE = """\
# %% [markdown]
# # A lesson
# With a paragraph.

# %%
x = 1
x

# %% tags=["nbval-ignore-output"]
print("twice", x + 1)

# %% [markdown]
# The end.
"""


def lesson(folder: Path, source: str = SOURCE, name: str = "01_lesson") -> Path:
    path = folder / f"{name}.py"
    path.write_text(source)
    return path


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert text.count(old) == 1
    path.write_text(text.replace(old, new))


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """The source and the executed notebook of the small lesson."""
    folder = tmp_path_factory.mktemp("built")
    lesson(folder)
    (notebook,) = notebooks.build(folder)
    return SOURCE, notebook.read_text()


@pytest.fixture
def folder(built: tuple[str, str], tmp_path: Path) -> Path:
    """A folder with the small lesson, built."""
    (tmp_path / "01_lesson.py").write_text(built[0])
    (tmp_path / "01_lesson.ipynb").write_text(built[1])
    return tmp_path


def ids(path: Path) -> list[str]:
    return [cell.id for cell in nbformat.read(path, as_version=4).cells]


# --- build --------------------------------------------------------------------------------


def test_a_built_notebook_is_valid_executed_and_passes_its_check(folder: Path):
    notebook = nbformat.read(folder / "01_lesson.ipynb", as_version=4)
    nbformat.validate(notebook)
    assert [cell.cell_type for cell in notebook.cells] == ["markdown", "code", "code", "markdown"]
    assert [cell.get("execution_count") for cell in notebook.cells] == [None, 1, 2, None]
    assert notebook.cells[1].outputs[0]["data"]["text/plain"] == "1"
    assert notebook.cells[2].outputs[0].text == "twice 2\n"
    assert notebook.cells[2].metadata == {"tags": ["nbval-ignore-output"]}
    assert notebook.metadata.kernelspec.name == "python3"
    assert set(notebook.metadata) == {"kernelspec", "language_info"}
    assert notebooks.check(folder) == []


def test_building_twice_gives_the_same_bytes(folder: Path):
    before = (folder / "01_lesson.ipynb").read_bytes()
    assert notebooks.build(folder) == [folder / "01_lesson.ipynb"]
    assert (folder / "01_lesson.ipynb").read_bytes() == before


@pytest.mark.slow
def test_streams_are_joined_and_widgets_figures_and_times_stay_stable(tmp_path: Path):
    lesson(
        tmp_path,
        "# %%\n"
        "import time, ipywidgets, matplotlib.pyplot as plt\n"
        "from IPython.display import display\n"
        "for i in range(3):\n"
        "    print(i, flush=True)\n"
        "    time.sleep(0.05)\n"
        "display(ipywidgets.IntSlider())\n"
        "plt.plot([0, 1]);\n",
    )
    (path,) = notebooks.build(tmp_path)
    first = path.read_bytes()
    stream, figure = nbformat.read(path, as_version=4).cells[0].outputs
    assert stream.text == "0\n1\n2\n"
    assert "image/png" in figure["data"]
    notebooks.build(tmp_path)
    assert path.read_bytes() == first


@pytest.mark.slow
def test_of_a_widget_with_a_picture_the_picture_is_kept(tmp_path: Path):
    lesson(tmp_path, "# %%\nfrom grokkit import widgets\nwidgets.RoutingPlayground()\n")
    (path,) = notebooks.build(tmp_path)
    (output,) = nbformat.read(path, as_version=4).cells[0].outputs
    assert output["data"].keys() == {"image/png", "text/plain", SCENE}
    said = "RoutingPlayground, at rest: run this cell to use it. "
    assert output["data"]["text/plain"].startswith(said)
    assert path.stat().st_size < 60_000
    first = path.read_bytes()
    notebooks.build(tmp_path)
    assert path.read_bytes() == first


def test_ids_belong_to_content_not_to_position(tmp_path: Path):
    path = lesson(tmp_path, SOURCE + "\n# %%\nx\n\n# %%\nx\n")
    (notebook,) = notebooks.build(tmp_path, execute=False)
    before = ids(notebook)
    assert len(set(before)) == len(before) == 6

    edit(path, "# %% [markdown]\n# # A lesson", "# %%\nnew = 0\n\n# %% [markdown]\n# # A lesson")
    notebooks.build(tmp_path, execute=False)
    assert ids(notebook)[1:] == before

    edit(path, "x + 1", "x + 2")
    notebooks.build(tmp_path, execute=False)
    changed = [i for i, (a, b) in enumerate(zip(before, ids(notebook)[1:], strict=True)) if a != b]
    assert changed == [2]


def test_building_without_execution_keeps_outputs_of_unchanged_cells_only(folder: Path):
    edit(folder / "01_lesson.py", "With a paragraph.", "With another paragraph.")
    notebooks.build(folder, execute=False)
    assert notebooks.check(folder) == []

    edit(folder / "01_lesson.py", '"twice"', '"thrice"')
    notebooks.build(folder, execute=False)
    cells = nbformat.read(folder / "01_lesson.ipynb", as_version=4).cells
    assert cells[1].outputs and cells[1].execution_count == 1
    assert not cells[2].outputs and cells[2].execution_count is None
    assert notebooks.check(folder) == [
        '01_lesson.ipynb: cell 3 (print("thrice", x + 1)) has never been executed'
    ]


def test_only_the_notebooks_named_are_built(tmp_path: Path):
    lesson(tmp_path)
    lesson(tmp_path, name="02_other")
    assert notebooks.build(tmp_path, ["02"], execute=False) == [tmp_path / "02_other.ipynb"]
    assert notebooks.build(tmp_path, ["01_lesson"], execute=False) == [tmp_path / "01_lesson.ipynb"]
    with pytest.raises(SettingError, match="name: got '03'; allowed: 01_lesson, 02_other"):
        notebooks.build(tmp_path, ["03"])
    with pytest.raises(SettingError, match="folder: got"):
        notebooks.check(tmp_path / "nowhere")


def test_evidence_is_built_and_checked_with_the_lessons(tmp_path: Path):
    (tmp_path / "evidence").mkdir()
    lesson(tmp_path)
    lesson(tmp_path / "evidence")
    both = [tmp_path / "01_lesson.ipynb", tmp_path / "evidence" / "01_lesson.ipynb"]
    assert notebooks.build(tmp_path, ["01"], execute=False) == both[:1]
    assert notebooks.build(tmp_path, ["evidence/01_lesson"], execute=False) == both[1:]
    assert notebooks.build(tmp_path, execute=False) == both
    (tmp_path / "evidence" / "01_lesson.py").unlink()
    assert notebooks.check(tmp_path)[-1] == "01_lesson.ipynb: has no source 01_lesson.py"


def test_two_tags_fold_a_cell_away(tmp_path: Path):
    lesson(tmp_path, '# %% tags=["hide-output"]\n1\n\n# %% tags=["hide-input", "other"]\n2\n')
    (path,) = notebooks.build(tmp_path, execute=False)
    cells = nbformat.read(path, as_version=4).cells
    assert [cell.metadata.jupyter for cell in cells] == [
        {"outputs_hidden": True},
        {"source_hidden": True},
    ]


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ("1 / 0", "cell 1 raised ZeroDivisionError: division by zero"),
        ("import warnings; warnings.warn('old')", "wrote to stderr"),
        ("object()", "shows a memory address"),
        ("print('x' * 500_000)", "bytes; allowed: 480,000"),
    ],
)
def test_a_notebook_that_is_not_fit_to_show_is_refused(tmp_path: Path, cell: str, message: str):
    lesson(tmp_path, f"# %%\n{cell}\n")
    old = tmp_path / "01_lesson.ipynb"
    old.write_text("as it was")
    with pytest.raises(notebooks.NotebookError) as caught:
        notebooks.build(tmp_path)
    assert message in str(caught.value)
    assert str(caught.value).startswith("01_lesson")
    assert old.read_text() == "as it was"


def test_a_cell_whose_code_and_output_are_both_folded_is_refused(tmp_path: Path):
    # JupyterLab then shows one line of dots, and nobody finds what is under it.
    lesson(tmp_path, '# %% tags=["hide-input", "hide-output"]\nprint(1)\n')
    with pytest.raises(
        notebooks.NotebookError, match="'print\\(1\\)' folds its code and its output"
    ):
        notebooks.build(tmp_path)


def test_a_source_that_asks_for_another_kernel_is_refused(tmp_path: Path):
    lesson(
        tmp_path,
        "# ---\n# jupyter:\n#   kernelspec:\n#     name: julia\n#     display_name: J\n"
        "#     language: julia\n# ---\n\n" + SOURCE,
    )
    with pytest.raises(notebooks.NotebookError, match="asks for the kernel 'julia'"):
        notebooks.build(tmp_path, execute=False)


# --- check --------------------------------------------------------------------------------


def test_check_names_the_cell_of_an_edited_source(folder: Path):
    edit(folder / "01_lesson.py", '"twice"', '"thrice"')
    assert notebooks.check(folder) == [
        '01_lesson.ipynb: cell 3 line 1 is `print("twice", x + 1)`; '
        'in 01_lesson.py it is `print("thrice", x + 1)`'
    ]


def test_check_names_cells_added_to_and_taken_from_the_source(folder: Path):
    edit(folder / "01_lesson.py", "# %%\nx = 1\nx\n", "")
    edit(folder / "01_lesson.py", "# The end.\n", "# The end.\n\n# %%\ny = 2\n")
    assert notebooks.check(folder) == [
        "01_lesson.ipynb: cell 2 (x = 1) is not in 01_lesson.py",
        "01_lesson.ipynb: lacks cell 4 of 01_lesson.py (y = 2)",
    ]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("With a paragraph.", "Typed into the notebook.", "cell 1 line 2 is `Typed into"),
        ('"execution_count": 2', '"execution_count": null', "has never been executed"),
        ('"execution_count": 2', '"execution_count": 7', "executed out of order: as number 7"),
        ('"nbval-ignore-output"', '"other"', "has the metadata {'tags': ['other']}"),
        ('"Python 3 (ipykernel)"', '"My env"', "its metadata has kernelspec ="),
        ('"name": "stdout"', '"name": "stderr"', "wrote to stderr: twice 2"),
        ('"nbformat_minor": 5\n}\n', '"nbformat_minor": 5}\n', "is not written as"),
        ('"nbformat": 4', '"nbformat": }', "not a valid notebook"),
    ],
)
def test_check_names_an_edit_in_the_notebook(folder: Path, old: str, new: str, message: str):
    edit(folder / "01_lesson.ipynb", old, new)
    (line,) = notebooks.check(folder)
    assert line.startswith("01_lesson.ipynb: ")
    assert message in line
    assert "\n" not in line


def test_check_names_an_edited_id(folder: Path):
    path = folder / "01_lesson.ipynb"
    edit(path, ids(path)[1], "mine")
    (line,) = notebooks.check(folder)
    assert "cell 2 (x = 1) has the id 'mine'" in line


def test_check_names_an_output_that_is_an_error(folder: Path):
    path = folder / "01_lesson.ipynb"
    notebook = json.loads(path.read_text())
    notebook["cells"][2]["outputs"] = [
        {"output_type": "error", "ename": "KeyError", "evalue": "'p'", "traceback": []}
    ]
    path.write_text(json.dumps(notebook))
    assert any("shows an error: KeyError: 'p'" in line for line in notebooks.check(folder))


def test_check_names_a_missing_half(folder: Path):
    lesson(folder, name="02_never_built")
    (folder / "01_lesson.ipynb").rename(folder / "Untitled.ipynb")
    assert notebooks.check(folder) == [
        "01_lesson.ipynb: missing; 01_lesson.py has never been built",
        "02_never_built.ipynb: missing; 02_never_built.py has never been built",
        "Untitled.ipynb: has no source Untitled.py",
    ]


# --- the course itself --------------------------------------------------------------------


def test_the_course_is_built_from_its_sources():
    assert notebooks.sources(COURSE), "the course has no lesson"
    assert notebooks.check(COURSE) == [], "run `make notebooks`"


def test_a_folded_result_begins_with_words_that_give_nothing_away():
    """JupyterLab shows the first line of an output that is folded."""
    for path in sorted(COURSE.glob("[0-9]*.ipynb")):
        for cell in nbformat.read(path, as_version=4).cells:
            if "hide-output" in cell.metadata.get("tags", []) and cell.outputs:
                told = cell.outputs[0].get("text", cell.outputs[0].output_type)
                assert told.startswith("The result"), f"{path.name}: {cell.source}"


def test_every_lesson_and_its_evidence_lead_to_each_other():
    for evidence in sorted((COURSE / notebooks.EVIDENCE).glob("[0-9]*.py")):
        lesson = COURSE / evidence.name
        assert f"]({notebooks.EVIDENCE}/{evidence.stem}.ipynb)" in lesson.read_text("utf-8")
        assert f"](../{evidence.stem}.ipynb)" in evidence.read_text("utf-8")


def test_the_glossary_has_each_word_once_in_the_order_of_the_alphabet():
    lines = (COURSE / "glossary.md").read_text("utf-8").strip().splitlines()
    terms = [line[4:].partition("**")[0].lower() for line in lines if line.startswith("- **")]
    assert len(terms) > 30 and terms == sorted(set(terms))
    assert len(lines) == 4 + len(terms), "one line for each"
