"""Kinds of one's own: where they are defined, and whether another process can have them.

A task, prior, optimizer or accelerator that is registered in a module of one's own works in
worker processes, sweeps and on a cluster: whoever is handed a spec imports the module that
defines its kinds. The command line is told of such modules by ``--import MODULE``; a package
that is installed may name them in its entry points ``grokkit.kinds``::

    [project.entry-points."grokkit.kinds"]
    mine = "my_package.kinds"
"""

import importlib.util
import inspect
import pickle
import sys
from collections.abc import Iterator, Sequence
from types import FunctionType

from grokkit.engine.spec_kinds import Spec


def own_kinds(specs: Sequence[Spec]) -> dict[type, str]:
    """The classes outside grokkit that the parts of these specs have, with their kinds."""
    parts = (part for spec in specs for part in vars(spec).values() if hasattr(part, "kind"))
    return {type(p): p.kind for p in parts if not type(p).__module__.startswith("grokkit.")}


def why_not_remote(specs: Sequence[Spec]) -> str | None:
    """Why these specs cannot be trained by another process, in words; None if they can.

    A kind that was registered in a notebook or a script exists in this process only.
    """
    for cls, kind in own_kinds(specs).items():
        module = cls.__module__
        if module == "__main__" or importlib.util.find_spec(module) is None:
            return f"{kind!r} is defined in {module}, which no other process can import"
        try:
            pickle.dumps(cls)
        except (pickle.PicklingError, AttributeError) as problem:
            return f"{kind!r} cannot be sent to another process ({problem})"
    return None


def sources(spec: Spec) -> dict[str, str]:
    """The source that defines each kind of one's own: a run is another one once it changes.

    Of a module, the whole, since what a class does may stand anywhere in it; of a notebook or
    a script, whose other lines change from run to run, the methods of the class.
    """
    return {kind: "\n".join(_source(cls)) for cls, kind in own_kinds([spec]).items()}


def _source(cls: type) -> Iterator[str]:
    if cls.__module__ != "__main__":
        try:
            yield inspect.getsource(sys.modules[cls.__module__])
            return
        except (OSError, TypeError, KeyError):
            pass  # made in memory
    for base in cls.__mro__:
        if base.__module__ == cls.__module__:
            for function in vars(base).values():
                function = inspect.unwrap(getattr(function, "fget", None) or function)
                # What dataclass makes follows from the fields, which the spec has.
                if isinstance(function, FunctionType) and function.__qualname__ in _own(base):
                    try:
                        yield inspect.getsource(function)
                    except (OSError, TypeError):
                        yield function.__code__.co_code.hex()


def _own(cls: type) -> set[str]:
    generated = ("__init__", "__repr__", "__eq__", "__hash__", "__setattr__", "__delattr__")
    return {f"{cls.__qualname__}.{name}" for name in vars(cls) if name not in generated}
