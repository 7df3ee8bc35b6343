"""The classroom: what surrounds the lessons.

:mod:`grokkit.classroom.notebooks` makes the notebooks from their sources, and checks that
the two still agree; :mod:`grokkit.classroom.exercises` does the same for the exercises. Both
need the ``course`` extra; the rest does not.
"""

from grokkit.classroom.checks import check
from grokkit.classroom.installation import check_installation
from grokkit.classroom.predictions import beside, kept

__all__ = ["beside", "check", "check_installation", "kept"]
