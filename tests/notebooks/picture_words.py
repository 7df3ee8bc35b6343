"""A pytest plugin: nbval compares neither the pixels of a picture nor the words for them.

The words have numbers of live runs, which differ in their last digits from one kind of CPU to
another, as the pixels do.
"""

import pytest
from nbval.plugin import IPyNbCell

PICTURE = r"(?s)\A(Picture\. |<Picture size ).*\Z"
"""The text of an output that has a picture: its words, or what they were before."""


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    if isinstance(item, IPyNbCell):
        item.parent.sanitize_patterns[PICTURE] = "a picture"
