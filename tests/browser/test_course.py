"""A lesson, opened in JupyterLab and run from top to bottom as a learner would.

One: every lesson is run by nbval, and every widget moved in ``test_widgets``.
"""

from collections.abc import Callable

import pytest

from tests.browser.lab import Lab

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def test_a_lesson_runs_whole(lab: Lab, shoot: Callable[[str], None]):
    """The first one that trains live."""
    lesson = "01_sparse_tasks"
    lab.open(f"course/{lesson}.ipynb")
    lab.run_all()
    shoot(lesson)
    assert lab.errors() == []
