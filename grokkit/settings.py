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

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import Field, fields
from types import MappingProxyType
from typing import Any

from grokkit.errors import refuse

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


_reading: ContextVar[bool] = ContextVar("reading", default=False)


@contextmanager
def reading() -> Iterator[None]:
    """Accept settings without effect in this block: what a file says was run, was run."""
    token = _reading.set(True)
    try:
        yield
    finally:
        _reading.reset(token)


def refuse_idle(settings: Any, names: tuple[str, ...], because: str) -> None:
    """Refuse settings that would change nothing, unless they are at their defaults.

    Args:
        settings: a dataclass.
        names: those of its fields that have no effect; one that it lacks is skipped.
        because: why, such as ``"with norm = 'none'"``.

    Raises:
        SettingError: one of them was set, and not by a file that is read.
    """
    for one in fields(settings):
        value = getattr(settings, one.name)
        if one.name in names and value != one.default and not _reading.get():
            refuse(one.name, value, f"{one.default!r} {because}, where it does nothing")
