"""Values on their way between the judge and a student's process, without pickle.

What a value may be made of: None, booleans, numbers, fractions, strings, tuples, lists, dicts,
sets, tensors, NumPy arrays, grokkit's specs (:func:`specs`), and functions, which stay where they
are and are called from afar. Anything else arrives as an :class:`Opaque`
that knows nothing but how it was printed. No other class is ever called, whatever arrives.

A value becomes a *tree* that JSON can hold, and a list of *blobs*, the bytes of its arrays.
"""

import dataclasses
import functools
import inspect
from collections.abc import Callable, Mapping
from fractions import Fraction
from types import EllipsisType
from typing import Any

import numpy as np
import torch

DEEPEST = 40
"""How far values may be nested."""

_NUMBERS = "biufcU"  # the kinds of NumPy's types that are numbers or text
_PLAIN = (type(None), bool, int, float, str)
_SEQUENCES = {"tuple": tuple, "list": list, "set": set, "frozenset": frozenset}


class CodecError(ValueError):
    """Bytes that are no value; whoever sent them did not use :func:`encode`."""


@dataclasses.dataclass(frozen=True, repr=False)
class Opaque:
    """Something that cannot travel, such as an object of the student's own class."""

    text: str

    def __repr__(self) -> str:
        return self.text


Keep = Callable[[Callable[..., Any]], int]
"""Keeps a function here and gives the number by which the other side may call it."""

Call = Callable[[int, str, list[str]], Callable[..., Any]]
"""A stand-in for a function of the other side, from its number, name and parameters."""


def encode(value: Any, keep: Keep, blobs: list[bytes], depth: int = 0) -> Any:
    """The tree of a value; the bytes of its arrays are appended to ``blobs``.

    Args:
        value: what to send.
        keep: called for each function in it.
        blobs: where the arrays' bytes go.
        depth: how deep in the value this is.
    """
    if depth > DEEPEST:
        return {"is": "opaque", "text": "(nested too deeply)"}
    inner = functools.partial(encode, keep=keep, blobs=blobs, depth=depth + 1)
    if type(value) in _PLAIN:
        return value
    if isinstance(value, EllipsisType):
        return {"is": "ellipsis"}
    if type(value) is Fraction:
        return {"is": "fraction", "parts": [value.numerator, value.denominator]}
    if isinstance(value, torch.Tensor):
        value = value.detach().to_dense().cpu().resolve_conj().resolve_neg()
        if value.dtype is torch.bfloat16:
            value = value.float()
        return {"is": "tensor", "array": _array(value.contiguous().numpy(), blobs)}
    if isinstance(value, np.ndarray | np.generic) and value.dtype.kind in _NUMBERS:
        scalar = isinstance(value, np.generic)
        return {"is": "scalar" if scalar else "array", "array": _array(np.asarray(value), blobs)}
    if isinstance(value, range):
        return {"is": "range", "parts": [value.start, value.stop, value.step]}
    for name, kind in _SEQUENCES.items():
        if isinstance(value, kind):
            members: Any = value
            return {"is": name, "parts": [inner(part) for part in members]}
    if isinstance(value, Mapping):
        return {"is": "dict", "parts": [[inner(k), inner(v)] for k, v in value.items()]}
    if isinstance(value, int | float | str):  # of a class of their own
        kind = next(one for one in (int, float, str) if isinstance(value, one))
        return kind(value)
    if type(value).__module__.startswith("grokkit.") and type(value) in specs().values():
        spec: Any = value
        names = [field.name for field in dataclasses.fields(spec) if field.init]
        parts = [[name, inner(getattr(value, name))] for name in names]
        return {"is": "spec", "name": type(value).__name__, "parts": parts}
    if callable(value) and not isinstance(value, type):
        name = str(getattr(value, "__name__", type(value).__name__))[:100]
        return {"is": "function", "number": keep(value), "name": name, "of": _parameters(value)}
    return {"is": "opaque", "text": _printed(value)}


def decode(tree: Any, blobs: list[bytes], call: Call, depth: int = 0) -> Any:
    """The value of a tree.

    Args:
        tree: what :func:`encode` made, or what somebody claims that it made.
        blobs: the arrays' bytes.
        call: makes the stand-in of a function of the other side.
        depth: how deep in the value this is.

    Raises:
        CodecError: it is no such tree.
    """
    if depth > DEEPEST + 1:
        raise CodecError("nested too deeply")
    if type(tree) in _PLAIN:
        return tree
    try:
        return _decode(tree, blobs, call, depth)
    except CodecError:
        raise
    except Exception as error:
        raise CodecError(f"{type(error).__name__}: {error}") from error


def _decode(tree: dict[str, Any], blobs: list[bytes], call: Call, depth: int) -> Any:
    inner = functools.partial(decode, blobs=blobs, call=call, depth=depth + 1)
    kind = tree["is"]
    if kind == "ellipsis":
        return ...
    if kind == "fraction":
        return Fraction(*map(int, tree["parts"]))
    if kind == "tensor":
        return torch.from_numpy(_from_bytes(tree["array"], blobs))
    if kind in ("array", "scalar"):
        array = _from_bytes(tree["array"], blobs)
        return array if kind == "array" else array[()]
    if kind == "range":
        return range(*map(int, tree["parts"]))
    if kind in _SEQUENCES:
        return _SEQUENCES[kind](map(inner, tree["parts"]))
    if kind == "dict":
        return {inner(key): inner(part) for key, part in tree["parts"]}
    if kind == "spec":
        return _spec(tree["name"], {str(name): inner(part) for name, part in tree["parts"]})
    if kind == "function":
        return call(int(tree["number"]), str(tree["name"]), [str(name) for name in tree["of"]])
    if kind == "opaque":
        return Opaque(str(tree["text"]))
    raise CodecError(f"no kind of value: {kind!r}")


def _array(array: np.ndarray, blobs: list[bytes]) -> dict[str, Any]:
    blobs.append(np.ascontiguousarray(array).tobytes())
    return {"blob": len(blobs) - 1, "dtype": array.dtype.str, "shape": list(array.shape)}


def _from_bytes(entry: dict[str, Any], blobs: list[bytes]) -> np.ndarray:
    dtype = np.dtype(str(entry["dtype"]))
    if dtype.kind not in _NUMBERS:
        raise CodecError(f"no dtype for numbers: {dtype}")
    return np.frombuffer(blobs[entry["blob"]], dtype).reshape(entry["shape"]).copy()


@functools.cache
def specs() -> dict[str, Any]:
    """The dataclasses that travel, by name: a run's settings, and the kinds that they may name.

    Making one checks its fields and does nothing else. Imported when one travels; most do not.
    """
    from grokkit.engine.accelerators import accelerators
    from grokkit.engine.controls import Controls
    from grokkit.engine.optimizers import optimizers
    from grokkit.engine.priors import priors
    from grokkit.engine.spec import RunSpec
    from grokkit.model.spec import ModelSpec
    from grokkit.tasks import tasks

    kinds = [kinds[name] for kinds in (accelerators, optimizers, priors, tasks) for name in kinds]
    return {kind.__name__: kind for kind in (RunSpec, ModelSpec, Controls, *kinds)}


def _spec(name: str, fields: dict[str, Any]) -> Any:
    """One of :func:`specs`; no other class is ever looked for, let alone called."""
    if name not in specs():
        raise CodecError(f"no spec of grokkit: {name!r}")
    try:
        return specs()[name](**fields)
    except (TypeError, ValueError) as error:  # such as a field of the student's own class
        return Opaque(f"a {name} that cannot be made: {error}"[:200])


def _parameters(function: Callable[..., Any]) -> list[str]:
    try:
        return list(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return []


def _printed(value: Any) -> str:
    try:
        return repr(value)[:200]
    except Exception:  # the student's own __repr__
        return f"(a {type(value).__name__} that cannot be printed)"
