"""Every lesson, opened in JupyterLab and run from top to bottom as a learner would."""

from collections.abc import Callable

import pytest

from tests.browser.conftest import COURSE
from tests.browser.lab import Lab

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.mark.parametrize("lesson", sorted(path.stem for path in COURSE.glob("*.ipynb")))
def test_a_lesson_runs_whole(lab: Lab, lesson: str, shoot: Callable[[str], None]):
    lab.open(f"course/{lesson}.ipynb")
    lab.run_all()
    shoot(lesson)
    assert lab.errors() == []
