"""Names for kinds of settings, so that a notebook can add its own in a few lines.

Tasks, priors and optimizers are each a family of frozen dataclasses. A registry gives
every member a name, ``kind``, under which the command line and saved specs know it.
"""

import dataclasses
import importlib
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from importlib.metadata import entry_points
from typing import Generic, TypeVar

from grokkit.errors import refuse

T = TypeVar("T")
C = TypeVar("C", bound=type)


ENTRY_POINTS = "grokkit.kinds"
"""The entry points of installed packages whose modules register kinds."""

_SETTINGS: dict[str, dict[str, tuple[str, ...]]] = {}
"""The names of settings by part of a spec, and within a part by kind."""


def claim(part: str, kind: str, names: Iterable[str]) -> None:
    """Note which settings a part of a spec has: a setting is known by its name alone.

    Args:
        part: the part of the spec: ``"task"``, ``"model"``, ...
        kind: which kind of that part; a kind may claim again, and so change its names.
        names: the names of its settings.

    Raises:
        SettingError: another part has a setting of one of these names.
    """
    names = tuple(names)
    for other, kinds in _SETTINGS.items():
        taken = [name for theirs in kinds.values() for name in theirs if name in names]
        if other != part and taken:
            allowed = f"a name that is not a setting of the {other}, as {taken[0]} is"
            refuse(f"{kind}.{taken[0]}", taken[0], allowed)
    _SETTINGS.setdefault(part, {})[kind] = names


def kinds_with(name: str) -> list[str]:
    """The kinds that have a setting of this name: ``["optimizer adam", "optimizer adamw"]``."""
    found = [
        f"{p} {kind}" for p, kinds in _SETTINGS.items() for kind in kinds if name in kinds[kind]
    ]
    return sorted(found)


def import_kinds(modules: Iterable[str] = ()) -> None:
    """Import what registers kinds: modules by name, and all entry points ``grokkit.kinds``.

    Modules in the working directory are found too, as by ``python -m``.

    Args:
        modules: names as in an import statement: ``"my_project.tasks"``.

    Raises:
        SettingError: a module cannot be imported; the message says why.
    """
    if os.getcwd() not in sys.path:
        sys.path.append(os.getcwd())
    for module in modules:
        _import(module)
    _import_entry_points()


@cache
def _import_entry_points() -> None:
    for point in entry_points(group=ENTRY_POINTS):
        _import(point.value)


def _import(module: str) -> None:
    try:
        importlib.import_module(module)
    except Exception as problem:
        why = f"{type(problem).__name__}: {problem}"
        refuse("import", module, f"a module that can be imported ({why})")


class Registry(Mapping[str, type[T]], Generic[T]):
    """The classes of one family by name.

    Args:
        family: what is registered, singular, for messages: ``"task"``.
        part: whether the family is a part of a spec, so that no other part may have a
            setting of the same name.
    """

    def __init__(self, family: str, part: bool = True) -> None:
        self.family = family
        self.part = part
        self._members: dict[str, type[T]] = {}

    def register(self, kind: str) -> Callable[[C], C]:
        """A class decorator that adds a frozen dataclass to the family as ``kind``.

        Registering a name again replaces it, so a notebook cell can be run twice.

        Raises:
            TypeError: the class is not a frozen dataclass; a spec could not be hashed.
            SettingError: another part of a spec has a setting of the same name as a field.
        """

        def add(cls: C) -> C:
            # The class's own parameters: an undecorated child of a frozen dataclass
            # inherits its parent's, and its own fields would silently be none.
            params = vars(cls).get("__dataclass_params__")
            if params is None or not params.frozen:
                raise TypeError(f"{cls.__name__}: a {self.family} must be a frozen dataclass")
            if self.part:
                claim(self.family, kind, [f.name for f in dataclasses.fields(cls)])
            cls.kind = kind  # pyright: ignore[reportAttributeAccessIssue]
            self._members[kind] = cls  # pyright: ignore[reportArgumentType]
            return cls

        return add

    def __getitem__(self, kind: str) -> type[T]:
        """The class of that name.

        Raises:
            SettingError: nothing of that name is registered.
        """
        if kind not in self._members:
            _import_entry_points()
        if kind not in self._members:
            allowed = ", ".join(sorted(self._members))
            refuse(self.family, kind, allowed)
        return self._members[kind]

    def __contains__(self, kind: object) -> bool:
        return kind in self._members

    def __iter__(self) -> Iterator[str]:
        return iter(self._members)

    def __len__(self) -> int:
        return len(self._members)
