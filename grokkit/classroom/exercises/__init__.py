"""Exercises made from their solutions, one way: ``solutions/`` to ``exercises/``.

A chapter's exercises are written once, solved (``solutions/NN_name.py``); what a learner
opens is generated from it (``exercises/NN_name.ipynb``), with the solutions taken out.
So an exercise and its solution cannot drift apart.

It needs the ``course`` extra.
"""

from grokkit.classroom.exercises.generate import build, check
from grokkit.classroom.exercises.handout import handout

__all__ = ["build", "check", "handout"]
