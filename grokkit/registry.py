"""Names for kinds of settings, so that a notebook can add its own in a few lines.

Tasks, priors and optimizers are each a family of frozen dataclasses. A registry gives
every member a name, ``kind``, under which the command line and saved specs know it.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Generic, TypeVar

from grokkit.errors import refuse

T = TypeVar("T")
C = TypeVar("C", bound=type)


class Registry(Mapping[str, type[T]], Generic[T]):
    """The classes of one family by name.

    Args:
        family: what is registered, singular, for messages: ``"task"``.
    """

    def __init__(self, family: str) -> None:
        self.family = family
        self._members: dict[str, type[T]] = {}

    def register(self, kind: str) -> Callable[[C], C]:
        """A class decorator that adds a frozen dataclass to the family as ``kind``.

        Registering a name again replaces it, so a notebook cell can be run twice.

        Raises:
            TypeError: the class is not a frozen dataclass, so that a spec could not be hashed,
                or lacks a method that every member of the family has.
        """

        def add(cls: C) -> C:
            # The class's own parameters: an undecorated child of a frozen dataclass
            # inherits its parent's, and its own fields would silently be none.
            params = vars(cls).get("__dataclass_params__")
            if params is None or not params.frozen:
                raise TypeError(f"{cls.__name__}: a {self.family} must be a frozen dataclass")
            missing = sorted(getattr(cls, "__abstractmethods__", ()))
            if missing:
                needed = f"needs {', '.join(missing)}, as every {self.family} does"
                raise TypeError(f"{cls.__name__}: {needed}")
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
            allowed = ", ".join(sorted(self._members))
            refuse(self.family, kind, allowed)
        return self._members[kind]

    def __contains__(self, kind: object) -> bool:
        return kind in self._members

    def __iter__(self) -> Iterator[str]:
        return iter(self._members)

    def __len__(self) -> int:
        return len(self._members)
