"""Values on their way between the judge and a student's process, without pickle.

What a value may be made of: None, booleans, numbers, strings, tuples, lists, dicts, sets,
tensors, NumPy arrays, xarray datasets, dataclasses and named tuples of grokkit (specs, tasks), and
functions, which stay where they are and are called from afar. Anything else arrives as an
:class:`Opaque` that knows nothing but how it was printed.

A value becomes a *tree* that JSON can hold, and a list of *blobs*, the bytes of its arrays.
"""

import dataclasses
import inspect
from collections.abc import Callable
from importlib import import_module
from types import EllipsisType
from typing import Any

import numpy as np
import torch

DEEPEST = 40
"""How far values may be nested."""

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

    def inner(part: Any) -> Any:
        return encode(part, keep, blobs, depth + 1)

    if type(value) in _PLAIN:
        return value
    if isinstance(value, EllipsisType):
        return {"is": "ellipsis"}
    if type(value) is complex:
        return {"is": "complex", "parts": [value.real, value.imag]}
    if isinstance(value, torch.Tensor):
        value = value.detach().cpu().resolve_conj().resolve_neg()
        if value.dtype is torch.bfloat16:
            value = value.float()
        return {"is": "tensor", "array": _array(value.contiguous().numpy(), blobs)}
    if isinstance(value, np.ndarray | np.generic) and value.dtype.kind in "biufcU":
        scalar = isinstance(value, np.generic)
        return {"is": "scalar" if scalar else "array", "array": _array(np.asarray(value), blobs)}
    if isinstance(value, torch.dtype):
        return {"is": "dtype", "name": str(value).removeprefix("torch.")}
    if isinstance(value, torch.Generator):
        return {"is": "generator", "state": _array(value.get_state().numpy(), blobs)}
    if isinstance(value, slice | range):
        parts = [value.start, value.stop, value.step]
        return {"is": type(value).__name__, "parts": [inner(part) for part in parts]}
    module = type(value).__module__
    if isinstance(value, tuple) and hasattr(value, "_fields") and module.startswith("grokkit."):
        name = f"{module}:{type(value).__qualname__}"
        return {"is": "named tuple", "name": name, "parts": [inner(part) for part in value]}
    for name, kind in _SEQUENCES.items():
        if type(value) is kind or (kind is tuple and isinstance(value, tuple)):
            members: Any = value
            return {"is": name, "parts": [inner(part) for part in members]}
    if type(value) is dict:
        return {"is": "dict", "parts": [[inner(k), inner(v)] for k, v in value.items()]}
    if module.startswith("xarray.") and hasattr(value, "to_dict"):
        return {"is": type(value).__name__, "parts": inner(_shallow(value))}
    if module.startswith("grokkit.") and dataclasses.is_dataclass(value):
        fields = [f.name for f in dataclasses.fields(value) if f.init]
        name = f"{module}:{type(value).__qualname__}"
        parts = [[field, inner(getattr(value, field))] for field in fields]
        return {"is": "dataclass", "name": name, "parts": parts}
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
    def inner(part: Any) -> Any:
        return decode(part, blobs, call, depth + 1)

    kind = tree["is"]
    if kind == "ellipsis":
        return ...
    if kind == "complex":
        return complex(*tree["parts"])
    if kind == "tensor":
        return torch.from_numpy(_from_bytes(tree["array"], blobs))
    if kind in ("array", "scalar"):
        array = _from_bytes(tree["array"], blobs)
        return array if kind == "array" else array[()]
    if kind == "dtype":
        found = getattr(torch, tree["name"])
        if not isinstance(found, torch.dtype):
            raise CodecError(f"no dtype: {tree['name']!r}")
        return found
    if kind == "generator":
        generator = torch.Generator()
        generator.set_state(torch.from_numpy(_from_bytes(tree["state"], blobs)))
        return generator
    if kind in ("slice", "range"):
        return {"slice": slice, "range": range}[kind](*map(inner, tree["parts"]))
    if kind in _SEQUENCES:
        return _SEQUENCES[kind](map(inner, tree["parts"]))
    if kind == "dict":
        return {inner(key): inner(part) for key, part in tree["parts"]}
    if kind in ("Dataset", "DataArray"):
        import xarray

        return getattr(xarray, kind).from_dict(inner(tree["parts"]))
    if kind == "dataclass":
        return _class(tree["name"])(**{str(name): inner(part) for name, part in tree["parts"]})
    if kind == "named tuple":
        return _class(tree["name"])(*map(inner, tree["parts"]))
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
    if dtype.kind not in "biufcU":
        raise CodecError(f"no dtype for numbers: {dtype}")
    return np.frombuffer(blobs[entry["blob"]], dtype).reshape(entry["shape"]).copy()


def _shallow(value: Any) -> dict[str, Any]:
    """An xarray object as a dict of arrays."""
    return value.to_dict(data="array")


def _class(name: str) -> Any:
    """A dataclass or named tuple of grokkit by its name; no other class is ever called."""
    module, _, qualname = name.partition(":")
    parts = module.split(".")
    if parts[0] != "grokkit" or "__main__" in parts or not all(map(str.isidentifier, parts)):
        raise CodecError(f"no module of grokkit: {module!r}")
    found: Any = import_module(module)
    for part in qualname.split("."):
        found = getattr(found, part)
    data = dataclasses.is_dataclass(found) or issubclass(found, tuple)
    if not (isinstance(found, type) and data):
        raise CodecError(f"no dataclass: {name!r}")
    return found


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
