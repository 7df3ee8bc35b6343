"""Names for kinds of settings, so that a notebook can add its own in a few lines.

Tasks, priors and optimizers are each a family of frozen dataclasses. A registry gives
every member a name, ``kind``, under which the command line and saved specs know it.
"""

import hashlib
import inspect
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields
from importlib import import_module
from types import FunctionType, MappingProxyType
from typing import Any, TypeVar

from grokkit.errors import refuse

T = TypeVar("T")
C = TypeVar("C", bound=type)


class Named(Mapping[str, T]):
    """Things by name, not to be changed; a name that is not there is refused in one line.

    Args:
        what: one of them, for messages: ``"preset"``.
        members: the things.
    """

    def __init__(self, what: str, members: Mapping[str, T]) -> None:
        self.what = what
        self._members = dict(members)

    def __getitem__(self, name: object) -> T:
        """The thing of that name.

        Raises:
            SettingError: there is none.
        """
        if not isinstance(name, str) or name not in self._members:
            refuse(self.what, name, ", ".join(self._members))
        return self._members[name]

    def __contains__(self, name: object) -> bool:
        return name in self._members

    def __iter__(self) -> Iterator[str]:
        return iter(self._members)

    def __len__(self) -> int:
        return len(self._members)


class Registry(Named[type[T]]):
    """The classes of one family by name.

    Args:
        family: what is registered, singular, for messages: ``"task"``.
        homes: kinds that a module of grokkit registers, which is imported when one is asked for.

    Attributes:
        owner_elsewhere: what has a setting of a name already, outside of this family; settings
            are known by their names alone.
    """

    def __init__(self, family: str, homes: Mapping[str, str] = MappingProxyType({})) -> None:
        super().__init__(family, {})
        self.homes = homes
        self.owner_elsewhere: Callable[[str], str | None] = lambda name: None

    def register(self, kind: str) -> Callable[[C], C]:
        """A class decorator that adds a frozen dataclass to the family as ``kind``.

        Registering a name again replaces it, so a notebook cell can be run twice.

        Raises:
            TypeError: the class is not a frozen dataclass, so that a spec could not be hashed,
                or lacks a method that every member of the family has.
            SettingError: a field has the name of a setting that belongs to something else.
        """

        def add(cls: C) -> C:
            # The class's own parameters: an undecorated child of a frozen dataclass
            # inherits its parent's, and its own fields would silently be none.
            params = vars(cls).get("__dataclass_params__")
            if params is None or not params.frozen:
                raise TypeError(f"{cls.__name__}: a {self.what} must be a frozen dataclass")
            missing = sorted(getattr(cls, "__abstractmethods__", ()))
            if missing:
                needed = f"needs {', '.join(missing)}, as every {self.what} does"
                raise TypeError(f"{cls.__name__}: {needed}")
            for field in fields(cls):
                if owner := self.owner_elsewhere(field.name):
                    allowed = f"another name for this field: {owner} has a setting {field.name}"
                    refuse(field.name, cls.__name__, allowed)
            if not cls.__module__.startswith("grokkit."):
                cls.source = source_digest(cls)  # pyright: ignore[reportAttributeAccessIssue]
            cls.kind = kind  # pyright: ignore[reportAttributeAccessIssue]
            self._members[kind] = cls  # pyright: ignore[reportArgumentType]
            return cls

        return add

    def __getitem__(self, kind: str) -> type[T]:
        """The class of that name.

        Raises:
            SettingError: nothing of that name is registered.
        """
        if kind not in self._members and kind in self.homes:
            import_module(self.homes[kind])
        if kind not in self._members:
            refuse(self.what, kind, ", ".join(sorted({*self._members, *self.homes})))
        return self._members[kind]


def source_digest(cls: type[Any]) -> str:
    """Sixteen hexadecimal digits of the source that defines a class: an edited kind is another.

    Of a module, the whole, since what a class does may stand anywhere in it; of a notebook or
    a script, whose other lines change from run to run, the methods of the class.
    """
    text = None
    if cls.__module__ != "__main__":
        text = _source(sys.modules.get(cls.__module__))
    if text is None:
        functions = [one for base in cls.__mro__ for one in vars(base).values()]
        functions = [getattr(one, "fget", None) or one for one in functions]
        mine = [one for one in functions if getattr(one, "__module__", "") == cls.__module__]
        # What dataclass makes follows from the fields, which a spec has: its file is no file.
        texts = [_source(one) for one in map(inspect.unwrap, mine) if isinstance(one, FunctionType)]
        text = "\n".join(filter(None, texts))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _source(thing: Any) -> str | None:
    """The source of a module or a function; None where there is none, as at a plain prompt."""
    try:
        return inspect.getsource(thing)
    except (OSError, TypeError):
        return None
