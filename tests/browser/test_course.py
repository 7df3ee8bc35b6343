"""Lessons, opened in JupyterLab and run from top to bottom as a learner would.

A few: every lesson is run by nbval, and every widget moved in ``test_widgets``.
"""

from collections.abc import Callable

import pytest

from tests.browser.lab import Lab

pytestmark = [pytest.mark.browser, pytest.mark.slow]

LESSONS = ("00_index", "01_sparse_tasks", "03_the_decoupling_theorem")
"""The first, one that trains live, and one with two widgets."""


@pytest.mark.parametrize("lesson", LESSONS)
def test_a_lesson_runs_whole(lab: Lab, lesson: str, shoot: Callable[[str], None]):
    lab.open(f"course/{lesson}.ipynb")
    lab.run_all()
    shoot(lesson)
    assert lab.errors() == []
