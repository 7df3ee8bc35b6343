"""Kinds of specs: what every run says of itself, whatever it trains, and who reads it again.

A :class:`grokkit.engine.RunSpec` trains a transformer. Another room may train something
else by specs of its own, registered here; then their Histories are joined, thinned, stored
and judged as all others are. The JSON of a spec names its kind; where it names none it is
that of a RunSpec, as all were before there was another::

    @register_spec("images")
    @dataclass(frozen=True)
    class ImageSpec: ...
"""

import json
from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable

from grokkit.errors import refuse
from grokkit.registry import Registry


@runtime_checkable
class Spec(Protocol):
    """Everything that decides a run, in one frozen value; equal specs, equal runs."""

    @property
    def seed(self) -> int:
        """Names all that is random in the run."""
        ...

    @property
    def epochs(self) -> int:
        """The number of passes over the train set, unless the run stops early."""
        ...

    def with_(self, /, **changes: Any) -> "Spec":
        """A copy with some settings changed, each by its own name."""
        ...

    def settings(self) -> dict[str, Any]:
        """Every setting by its own name; ``task`` is the kind of task."""
        ...

    def to_json(self) -> str:
        """The spec as one line of JSON; its class has a ``from_json`` that reads it."""
        ...

    def __hash__(self) -> int: ...


TRANSFORMER = "transformer"
"""The kind of a spec whose JSON names none."""

spec_kinds: Registry[Any] = Registry("spec", part=False)
"""The classes of specs by kind."""

register_spec = spec_kinds.register
"""A class decorator that adds a frozen dataclass of settings to the kinds of specs."""


def read_spec(text: str) -> Spec:
    """The spec, of any kind, that its ``to_json`` wrote.

    Raises:
        SettingError: it is of a kind that is not registered here, a setting is unknown, or a
            value is refused.
    """
    plain = json.loads(text)
    if not isinstance(plain, Mapping):
        refuse("spec", plain, "settings by name")
    return spec_kinds[plain.get("kind", TRANSFORMER)].from_json(text)
