"""Grading a folder of students' notebooks, none of which is trusted.

A notebook is graded by two processes. The *student's* (:mod:`~grokkit.classroom.grading.student`)
runs the cells, locked down so that it can compute and little else. The *judge*
(:mod:`~grokkit.classroom.grading.judge`) runs the checks, from a clean copy of the exercise, and
calls the student's functions from afar. What decides a grade is never in the student's process:
whatever code does there, all it can say is what its functions return, and that is what is being
marked. :mod:`~grokkit.classroom.grading.supervise` watches both, by the clock.
"""
