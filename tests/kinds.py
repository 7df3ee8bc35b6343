"""The kinds that grokkit brings along, whatever other tests have registered beside them."""

from typing import Any

from grokkit.engine.spec import FAMILIES


def grokkits(family: str) -> dict[str, type[Any]]:
    """The kinds of a family without those that other tests have registered."""
    members = FAMILIES[family].items()
    return {kind: cls for kind, cls in members if cls.__module__.startswith("grokkit.")}
