"""Words of a command line to a dataclass of options, and what is wrong with them if not.

Tyro does the reading and the help. Its complaints are boxes of many lines, so they are
switched off; :func:`diagnose` finds the words at fault and says so in one line, in the
same shape as a setting that a spec refuses.
"""

import contextlib
import dataclasses
import difflib
import inspect
import io
import re
import types
from collections.abc import Sequence
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import tyro

from grokkit.errors import SettingError, refuse

T = TypeVar("T")

_CONFIG = (tyro.conf.OmitArgPrefixes,)


def parse(options: type[T], argv: Sequence[str], prog: str) -> T:
    """The options that a command line describes.

    Args:
        options: a dataclass that refuses nothing itself; nested dataclasses become
            sections of the help.
        argv: the words of the command line.
        prog: how the command is called, for its help.

    Raises:
        SettingError: the words are no such options; the message names the first at fault.
        SystemExit: help was asked for, and printed.
    """
    help_wanted = bool({"-h", "--help"} & set(argv))
    try:
        return _tyro(options, argv, prog, help_wanted)
    except SystemExit as stop:
        if stop.code in (0, None):
            raise
    raise diagnose(options, argv, prog)


def diagnose(options: type[Any], argv: Sequence[str], prog: str) -> SettingError:
    """What is wrong with a command line that could not be read.

    Each flag is tried on its own with its values; the first that fails is at fault.
    """
    known = flags(options)
    see = f"{prog} --help lists them"
    for flag, *values in chunks(argv):
        given = " ".join(values)
        if not flag:
            if not _reads(options, values, prog):
                return SettingError("argument", given, f"flags only; {see}")
            continue
        name, equals, value = flag.removeprefix("--").replace("-", "_").partition("=")
        if equals:
            given = value
        field = name.removeprefix("no_") if name not in known else name
        if not flag.startswith("--") or field not in known:
            close = difflib.get_close_matches(name.strip("_"), known, n=1)
            nearest = f"; nearest: --{close[0].replace('_', '-')}" if close else ""
            return SettingError("flag", flag, f"a flag that {prog} --help lists{nearest}")
        if not _reads(options, [flag, *values], prog):
            return SettingError(field, given, in_words(known[field]))
    return SettingError("arguments", " ".join(argv), f"what {prog} --help lists")


def flags(options: type[Any]) -> dict[str, Any]:
    """The type of every option by name, those of nested dataclasses included."""
    found: dict[str, Any] = {}
    for name, kind in get_type_hints(options).items():
        found |= flags(kind) if _is_section(kind) else {name: kind}
    return found


def chunks(argv: Sequence[str]) -> list[list[str]]:
    """The command line cut before each flag; first the words before any flag, after ""."""
    cut: list[list[str]] = [[""]]
    for word in argv:
        if word.startswith("-") and not re.match(r"-[\d.]", word):
            cut.append([word])
        else:
            cut[-1].append(word)
    return cut if len(cut[0]) > 1 else cut[1:]


def in_words(kind: Any) -> str:
    """A type as what may be typed for it: ``"a whole number, or None"``."""
    simple = {
        int: "a whole number",
        float: "a number",
        str: "a word",
        bool: "no value; the flag itself, or --no- before its name",
        type(None): "None",
    }
    if kind in simple:
        return simple[kind]
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Literal:
        return ", ".join(map(str, inner))
    if origin in (Union, types.UnionType):
        return ", or ".join(map(in_words, inner))
    if origin is tuple and inner[0] is int:
        return "whole numbers with spaces between"
    return getattr(kind, "__name__", str(kind)).lower()


def told(value: Any, kind: Any, words: str) -> Any:
    """A field for ``dataclasses.make_dataclass`` with a default and a line of help."""
    return Annotated[kind, tyro.conf.arg(help=words)], dataclasses.field(default=value)


def unchecked(part: Any, name: str) -> type[Any]:
    """A dataclass with the fields, values and help of another, but without its checks.

    So that every value reaches the spec itself, whose refusal is the better message.

    Args:
        part: a dataclass instance: its values become defaults.
        name: the name of the new class.
    """
    kinds = get_type_hints(type(part))
    words = attributes(type(part))
    made = [
        (f.name, *told(getattr(part, f.name), kinds[f.name], words.get(f.name, "")))
        for f in dataclasses.fields(part)
    ]
    return dataclasses.make_dataclass(name, made)


def attributes(cls: type[Any]) -> dict[str, str]:
    """What the ``Attributes:`` sections of a class and its bases say of each field."""
    found: dict[str, str] = {}
    for base in reversed(cls.__mro__):
        text = inspect.cleandoc(base.__dict__.get("__doc__") or "")
        section = re.search(r"^Attributes:\n((?: .*\n|\n)*)", text + "\n", re.MULTILINE)
        if section:
            for entry in re.split(r"^    (?=\S)", section[1], flags=re.MULTILINE)[1:]:
                name, _, words = entry.partition(":")
                found[name.strip()] = plain(words)
    return found


def plain(text: str) -> str:
    """Documentation markup taken out: ``x`` and :func:`f` become x and f."""
    text = re.sub(r":\w+:`~?([^`]+)`", r"\1", " ".join(text.split()))
    return text.replace("``", "")


def _is_section(kind: Any) -> bool:
    return isinstance(kind, type) and dataclasses.is_dataclass(kind)


def _reads(options: type[Any], argv: Sequence[str], prog: str) -> bool:
    try:
        _tyro(options, argv, prog, False)
    except SystemExit:
        return False
    return True


def _tyro(options: type[T], argv: Sequence[str], prog: str, aloud: bool) -> T:
    # Some complaints are printed whatever console_outputs says.
    with contextlib.nullcontext() if aloud else contextlib.redirect_stderr(io.StringIO()):
        return tyro.cli(options, prog=prog, args=list(argv), console_outputs=aloud, config=_CONFIG)


def chosen(argv: Sequence[str], flag: str, default: str, allowed: Sequence[str]) -> str:
    """The value of one flag, read ahead of the others because it decides which there are.

    Raises:
        SettingError: the value is none of those allowed.
    """
    value = default
    for word, *values in chunks(argv):
        name, equals, joined = word.partition("=")
        if name == f"--{flag}":
            value = joined if equals else " ".join(values)
    if value not in allowed:
        refuse(flag, value, ", ".join(allowed))
    return value
