"""The classroom: what surrounds the lessons.

:mod:`grokkit.classroom.notebooks` makes the notebooks from their sources, and checks that
the two still agree. It needs the ``course`` extra; the rest does not.
"""

from grokkit.classroom.installation import check_installation
from grokkit.classroom.predictions import beside, kept

__all__ = ["beside", "check_installation", "kept"]
