"""Kinds of one's own: where they are defined, and whether another process can have them.

A task, prior, optimizer or accelerator that is registered in a module of one's own works in
worker processes, sweeps and on a cluster: whoever is handed a spec imports the module that
defines its kinds. The command line is told of such modules by ``--import MODULE``; a package
that is installed may name them in its entry points ``grokkit.kinds``::

    [project.entry-points."grokkit.kinds"]
    mine = "my_package.kinds"
"""

import importlib
import importlib.util
import os
import pickle
import sys
from collections.abc import Iterable, Sequence
from importlib.metadata import entry_points

from grokkit.engine.spec_kinds import Spec
from grokkit.errors import refuse

GROUP = "grokkit.kinds"
"""The entry points by which an installed package registers its kinds."""


def import_kinds(modules: Iterable[str] = ()) -> None:
    """Import what registers kinds: modules by name, and all entry points ``grokkit.kinds``.

    Modules in the working directory are found too, as by ``python -m``.

    Raises:
        SettingError: a module cannot be imported; the message says why.
    """
    if os.getcwd() not in sys.path:
        sys.path.append(os.getcwd())
    for module in [*modules, *(point.value for point in entry_points(group=GROUP))]:
        try:
            importlib.import_module(module)
        except Exception as problem:
            why = f"{type(problem).__name__}: {problem}"
            refuse("import", module, f"a module that can be imported ({why})")


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
    """For each kind of one's own, a digest of the source that defined it when it registered."""
    return {kind: vars(cls).get("source", "") for cls, kind in own_kinds([spec]).items()}
