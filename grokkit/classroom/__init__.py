"""The classroom: what surrounds the lessons.

:mod:`grokkit.classroom.notebooks` makes the notebooks from their sources, and checks that
the two still agree.
"""
