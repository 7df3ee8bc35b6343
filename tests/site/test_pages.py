"""What the site makes of RESULTS.md and of types, before it is built."""

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "RESULTS.md").read_text(encoding="utf-8")


def load(name: str) -> ModuleType:
    """A module of the site's, which is no package."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "course" / "site" / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def results() -> ModuleType:
    return load("results")


@pytest.fixture
def build(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "course" / "site"))
    return load("build")


@pytest.fixture(scope="module")
def pages(results: ModuleType) -> dict[str, str]:
    return results.pages(TEXT)


def test_every_row_has_a_page_and_the_counts_are_those_of_all_claims(
    results: ModuleType, pages: dict[str, str]
):
    rows = re.findall(r"^## (\S+)$", TEXT, re.MULTILINE)
    assert list(pages) == [*(f"results/{row}" for row in rows), "RESULTS"]
    head, table = pages["RESULTS"].split("## Every question")
    claims = re.search(r"\*\*([\d,]+) claims\.\*\*", head)
    assert claims is not None
    counted = re.findall(rf"(\d+) (?:{'|'.join(results.VERDICTS)})", table)
    assert sum(map(int, counted)) == int(claims[1].replace(",", ""))


def test_a_page_has_all_that_its_row_has(pages: dict[str, str]):
    """Every word of a section but the heads of its tables, and every claim is a heading."""
    for section in re.split(r"^## (?=\S+$)", TEXT, flags=re.MULTILINE)[1:]:
        name, rest = section.split("\n", 1)
        page = pages[f"results/{name}"]
        assert "| claim |" not in page
        headings = re.findall(r"^#{2,3} (.*)$", page, re.MULTILINE)
        for line in rest.splitlines():
            if line.endswith("** |"):
                claim = line[2:].split("<br>")[0].split(" | ")[0].replace("\\|", "|")
                assert claim in headings, claim
        told = set(re.findall(r"\w+", page.lower()))
        heads = {"claim", "claims", "it", "who", "what", "was", "seen", "runs", "verdict", "br"}
        assert set(re.findall(r"\w+", rest.lower())) - told <= heads, name


@pytest.mark.parametrize(
    ("words", "few"),
    [
        ("int", "int"),
        ("grokkit.engine.RunSpec | None", "~grokkit.engine.RunSpec | None"),
        ("dict[str, ~grokkit.a.Long]", "dict[str, ~grokkit.a.Long]"),
        ("Literal['one', 'two']", "'one', 'two'"),
        ("jaxtyping.Bool[Tensor, 'run'] | torch.Tensor", "bool [run] | Tensor"),
        ("tuple[" + ", ".join(["float"] * 20) + "]", "tuple[" + "float, " * 7 + "…"),
        ("~jaxtyping.Float[Tensor, 'example place']", "float [example, place]"),
        ("Float[ndarray, '*batch'] | None", "float [*batch] | None"),
        ("float | int | ~numpy.floating | Float[ndarray, '...'] | Int[ndarray, '...']",
         "number | array"),
        ("~collections.abc.Callable[[int, Float[Tensor, '']], ~torch.Tensor]", "function"),
        ("Float[Tensor, '']", "float"),
    ],
)  # fmt: skip
def test_a_type_is_told_in_few_words(words: str, few: str):
    assert load("conf").brief(words) == few


def test_a_link_to_a_row_leads_to_its_page(build: ModuleType):
    staged = {"RESULTS.md", "results/wait.md"}
    for here, link, there in (
        ("course", "../RESULTS.md#wait", "../results/wait.md"),
        (".", "RESULTS.md#wait", "results/wait.md"),
        ("results", "../RESULTS.md#how", "../RESULTS.md#how"),
        ("course", "../RESULTS.md", "../RESULTS.md"),
    ):
        assert build.relink(f"see [it]({link}).", here, staged) == f"see [it]({there})."


def test_columns_stay_in_line_and_sentences_wrap(build: ModuleType):
    table, sentence = "rival      score\nfno        0.5", "a long sentence   of one line\nand more"
    page = f"<pre>{table}</pre><pre>{sentence}</pre>"
    told = f'<pre tabindex="0" class="columns">{table}</pre><pre tabindex="0">{sentence}</pre>'
    assert build.PRINTED.sub(build.printed, page) == told
