"""Settings that came later: how a new field leaves everything old as it was.

A spec is written into every file that a run leaves behind, and equal specs must stay equal
text. So a field that is added to a dataclass of settings is declared with :data:`OMIT_IF_DEFAULT`,

    layers: int = field(default=1, metadata=OMIT_IF_DEFAULT)

and is written only where it differs from its default; where it is missing it has its
default. A file from before reads as ever, and a spec that does not use the new setting is
written as ever. Keys (:mod:`grokkit.runtime.keys`) leave out every default anyway.

Where a new field's default is not what runs did before, :func:`later` names what they did,

    weight_streams: WeightStreams = field(default="array", metadata=later("one"))

and that value takes the default's part in files and keys: missing means ``"one"``.
"""

from collections.abc import Mapping
from dataclasses import Field, fields
from types import MappingProxyType
from typing import Any

OMIT_IF_DEFAULT: Mapping[str, bool] = MappingProxyType({"later": True})
"""The metadata of a dataclass field that is to be left out at its default."""


def later(before: object) -> Mapping[str, object]:
    """The metadata of a later field that was not there when runs did what ``before`` says."""
    return MappingProxyType({"later": True, "before": before})


def when_missing(field: Field[Any]) -> Any:
    """What a field means in a file or a key that does not name it."""
    return field.metadata.get("before", field.default)


def plain(settings: Any) -> dict[str, Any]:
    """The fields of a dataclass of settings by name, without later ones that need no word."""
    values = {f: getattr(settings, f.name) for f in fields(settings)}
    return {
        f.name: value
        for f, value in values.items()
        if not f.metadata.get("later") or value != when_missing(f)
    }


def earlier(settings: type[Any]) -> dict[str, Any]:
    """The values of later fields, where missing, that are not the defaults of today."""
    return {f.name: f.metadata["before"] for f in fields(settings) if "before" in f.metadata}
