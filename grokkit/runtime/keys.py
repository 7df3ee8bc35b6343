"""A short name for a run, computed from its settings alone."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, Field, fields
from typing import Any

from grokkit.engine.spec import FAMILIES, PARTS, RunSpec
from grokkit.engine.spec_kinds import Spec
from grokkit.runtime.kinds import sources
from grokkit.settings import when_missing

NAMED = ("task", "model", "optimizer", "prior")
"""The parts that a key always names; the others only where they are not the default."""


def spec_key(spec: Spec) -> str:
    """Sixteen hexadecimal digits that name a run: equal specs, equal keys.

    The same on every machine and in every process. Settings that have their default value
    are left out, so that a key outlives the addition of new settings in a later version.
    (A changed default would give two specs one key: who looks a run up by its key compares
    the spec too.) The key of a spec with kinds of one's own depends on the source that defines
    them, so that an edited task is another run. A spec of another kind than RunSpec is named by
    the whole of its JSON.
    """
    if not isinstance(spec, RunSpec):
        return _digest(json.loads(spec.to_json()))
    plain = {name: value for name, value in _changed(spec).items() if name not in PARTS}
    parts = {name: getattr(spec, name) for name in PARTS}
    defaults = {field.name: _default(field) for field in fields(spec)}
    for name, part in parts.items():
        if name in NAMED or part != defaults[name]:
            plain[name] = _changed(part)
            if name in FAMILIES:
                plain[name]["kind"] = part.kind
    if source := sources(spec):
        plain["source"] = source
    return _digest(plain)


def group_name(specs: Sequence[Spec]) -> str:
    """The name of a group of runs; that of the run itself where there is only one."""
    keys = [spec_key(spec) for spec in specs]
    return keys[0] if len(keys) == 1 else _digest(keys)


def _changed(part: Any) -> dict[str, Any]:
    """The fields that have not their default value."""
    changed = {}
    for field in fields(part):
        value = getattr(part, field.name)
        default = _default(field)
        if default is MISSING or value != default:
            changed[field.name] = value
    return changed


def _default(field: Field[Any]) -> Any:
    """What a key that does not name a field says of it; MISSING: nothing."""
    return when_missing(field) if field.default_factory is MISSING else field.default_factory()


def _digest(plain: Any) -> str:
    text = json.dumps(_canonical(plain), sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _canonical(value: Any) -> Any:
    """One way of writing each value: 1.0 is 1, as it is to Python; a tuple is a list."""
    if isinstance(value, Mapping):
        return {str(name): _canonical(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_canonical(inner) for inner in value]
    if isinstance(value, float):
        if value in (float("inf"), float("-inf")):
            return repr(value)
        return int(value) if value.is_integer() else value
    return value
