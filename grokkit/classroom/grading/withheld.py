"""What stands in a student's process for something that is not there.

In the sandbox this file takes the place of ``grokkit/classroom/checks/__init__.py``: a notebook
that calls its checks runs on, and finds neither properties nor expected answers. The checks run
in the judge.
"""

from typing import Any


class Absent:
    """Takes every call, gives itself for every name, and is false."""

    def __getattr__(self, name: str) -> "Absent":
        if name.startswith("_"):
            raise AttributeError(name)
        return self

    def __call__(self, *args: Any, **kwargs: Any) -> "Absent":
        """Nothing is done."""
        return self

    def __bool__(self) -> bool:
        return False

    def __enter__(self) -> "Absent":
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def __repr__(self) -> str:
        return "(not here while a notebook is graded)"


check = Absent()
