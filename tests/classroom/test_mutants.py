"""No solution that was broken in one place passes its check."""

from pathlib import Path

import pytest

from grokkit.classroom.exercises import source as sources
from tests.classroom.equivalent import EQUIVALENT
from tests.classroom.mutants import main, mutants, reason, survivors

CHAPTERS = sorted((Path(__file__).parents[2] / "solutions").glob("[0-9][0-9]_*.py"))
# The clock that ends a mutant may strike where Python can only print the exception.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
each_chapter = pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)


@pytest.mark.sample
@each_chapter
def test_some_mutants_of_every_chapter_are_refused(path: Path):
    tried, passed = survivors(sources.read(path), share=0.1)
    assert tried > 5
    assert [str(one) for one in passed if not reason(one)] == []


@pytest.mark.slow
@each_chapter
def test_no_mutant_passes_but_those_declared(path: Path):
    _, passed = survivors(sources.read(path))
    assert [str(one) for one in passed if not reason(one)] == []


@pytest.mark.parametrize(("words", "code"), [("--help", 0), ("99", 2), ("one", 2)])
def test_its_command_says_how_it_is_used(words: str, code: int, capsys):
    with pytest.raises(SystemExit) as ended:
        main([words])
    said = capsys.readouterr()
    assert ended.value.code == code and "usage: " in said.out + said.err


@pytest.mark.slow
def test_what_is_declared_is_a_mutant():
    made = {
        (one.exercise, one.now)
        for path in CHAPTERS
        for part in sources.read(path).exercises
        for _, one in mutants(part)
    }
    declared = {(name, line) for name, lines in EQUIVALENT.items() for line in lines}
    assert declared <= made
