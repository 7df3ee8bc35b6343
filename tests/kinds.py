"""The kinds that grokkit brings along, whatever other tests have registered beside them."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from grokkit.engine.spec import FAMILIES
from grokkit.registry import Registry


def grokkits(family: str) -> dict[str, type[Any]]:
    """The kinds of a family without those that other tests have registered."""
    members = FAMILIES[family].items()
    return {kind: cls for kind, cls in members if cls.__module__.startswith("grokkit.")}


@contextmanager
def forgotten(registry: Registry[Any]) -> Iterator[None]:
    """Forget at the end of the block what was registered in it."""
    before = dict(registry._members)
    try:
        yield
    finally:
        registry._members.clear()
        registry._members.update(before)
