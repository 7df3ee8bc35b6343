"""Settings that came later: how a new field leaves everything old as it was.

A spec is written into every file that a run leaves behind, and equal specs must stay equal
text. So a field that is added to a dataclass of settings is declared with :data:`LATER`,

    layers: int = field(default=1, metadata=LATER)

and is written only where it differs from its default; where it is missing it has its
default. A file from before reads as ever, and a spec that does not use the new setting is
written as ever. Keys (:mod:`grokkit.runtime.keys`) leave out every default anyway.
"""

from collections.abc import Mapping
from dataclasses import fields
from types import MappingProxyType
from typing import Any

LATER: Mapping[str, bool] = MappingProxyType({"later": True})
"""The metadata of a dataclass field that is to be left out at its default."""


def plain(settings: Any) -> dict[str, Any]:
    """The fields of a dataclass of settings by name, without later ones at their default."""
    values = {f: getattr(settings, f.name) for f in fields(settings)}
    return {
        f.name: value
        for f, value in values.items()
        if not f.metadata.get("later") or value != f.default
    }
