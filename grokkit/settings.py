"""Settings that came later: how a new field leaves everything old as it was.

A spec is written into every file that a run leaves behind, and equal specs must stay equal
text. So a field that is added to a dataclass of settings is declared with :func:`later`: it
is written only where it differs from its default, and is its default where it is missing. A
file from before reads as ever, and a spec that does not use the new setting is written as
ever. Keys (:mod:`grokkit.training.keys`) leave out every default anyway.
"""

from dataclasses import Field, field, fields
from typing import Any


def later(default: Any) -> Any:
    """A dataclass field with this default, left out of :func:`plain` where it has it."""
    return field(default=default, metadata={"later": True})


def plain(settings: Any) -> dict[str, Any]:
    """The fields of a dataclass of settings by name, without later ones at their default."""
    return {f.name: getattr(settings, f.name) for f in fields(settings) if _written(settings, f)}


def _written(settings: Any, one: Field[Any]) -> bool:
    return not one.metadata.get("later") or getattr(settings, one.name) != one.default
