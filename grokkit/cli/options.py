"""Words of a command line to the arguments of a function.

Every keyword of the function is a flag, and what its ``Args:`` say of it is the help; a
parameter that may be given by position is a word without a flag. argparse cuts the command
line once, and each value is read by the type of its parameter. What makes no sense is
refused in one line, in the shape in which a spec refuses a setting.
"""

import argparse
import difflib
import inspect
import os
import re
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple, NoReturn, Union, get_args, get_origin, get_type_hints

from grokkit.errors import refuse

REQUIRED = inspect.Parameter.empty

_IN_WORDS = {
    int: "a whole number",
    float: "a number",
    str: "a word",
    bool: "no value; the flag itself, or --no- before its name",
}


class Option(NamedTuple):
    """One thing that a command line may say: a flag, or a word without one."""

    name: str
    kind: Any
    default: Any
    help: str
    has_flag: bool = True


def options_of(source: Callable[..., Any], values: Mapping[str, Any] | None = None) -> list[Option]:
    """An option for every parameter of a function, or every field of a dataclass.

    Args:
        source: the function or the dataclass.
        values: other defaults than its own, by name.
    """
    kinds, words = get_type_hints(source), described(source)
    return [
        Option(
            name,
            kinds[name],
            (values or {}).get(name, one.default),
            words.get(name, ""),
            inspect.isclass(source) or one.kind is one.KEYWORD_ONLY,
        )
        for name, one in inspect.signature(source).parameters.items()
    ]


class Parser:
    """Reads the options of one command.

    Args:
        prog: how the command is called.
        about: what it does, for its help.
        help: whether it knows ``--help``.
        elsewhere: what has a flag of a name that is unknown here, for the message.
    """

    def __init__(
        self,
        prog: str,
        about: str = "",
        help: bool = True,
        elsewhere: Callable[[str], list[str]] = lambda name: [],
    ) -> None:
        self.prog = prog
        self.elsewhere = elsewhere
        self.kinds: dict[str, Any] = {}
        self._parser = argparse.ArgumentParser(
            prog=prog,
            usage=f"{prog} [OPTIONS]",
            description=about,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            add_help=help,
            allow_abbrev=False,
            exit_on_error=False,
        )
        # argparse takes -1 for a value, but -1e3 and -inf for flags.
        self._parser._negative_number_matcher = re.compile(r"-(\d|\.\d|inf$)")  # pyright: ignore

    def add(self, options: Iterable[Option], title: str = "options") -> None:
        """Add a section of options."""
        section = self._parser.add_argument_group(title)
        for name, kind, default, help, has_flag in options:
            self.kinds[name] = kind
            several = get_origin(_inner(kind)) is tuple
            how: dict[str, Any] = {"default": argparse.SUPPRESS, "metavar": _metavar(kind)}
            if kind is bool:
                how = {"default": argparse.SUPPRESS, "action": argparse.BooleanOptionalAction}
            elif has_flag:
                shown = " ".join(map(str, default)) if isinstance(default, tuple) else default
                help += f" (default: {'none' if shown == '' else shown})"
                if several:
                    how["nargs"] = "*"
            else:
                self._parser.usage = f"{self._parser.usage} {name.upper()}{' ...' * several}"
                how |= {"nargs": "*" if several else "?", "metavar": name.upper()}
            flag = "--" + name.rstrip("_").replace("_", "-")
            if has_flag:
                how["dest"] = name
            section.add_argument(flag if has_flag else name, help=help.replace("%", "%%"), **how)

    def read(self, argv: Sequence[str]) -> dict[str, Any]:
        """The values that a command line gives, by name.

        Raises:
            SettingError: a flag or a value makes no sense; the message names it.
            SystemExit: help was asked for, and printed.
        """
        found, rest = self.read_known(argv)
        if rest:
            self._refuse(rest)
        return {name: self._value(name, words) for name, words in found.items()}

    def read_known(self, argv: Sequence[str]) -> tuple[dict[str, Any], list[str]]:
        """The words of the options that are known here, by name; and all other words."""
        words = [_with_dashes(word) for word in argv]
        try:
            found, rest = self._parser.parse_known_intermixed_args(words)
        except argparse.ArgumentError as problem:
            flags = str(problem.argument_name).split("/")
            word = next(word for word in words if word.split("=")[0] in flags)
            name = flags[0].removeprefix("--").replace("-", "_")
            refuse(name, word.partition("=")[2], in_words(self.kinds.get(name, str)))
        return {k: v for k, v in vars(found).items() if v is not None}, rest

    def _value(self, name: str, words: Any) -> Any:
        if isinstance(words, bool):
            return words
        words = words if isinstance(words, list) else [words]
        try:
            return value_of(self.kinds[name], words)
        except ValueError:
            refuse(name.rstrip("_"), " ".join(words), in_words(self.kinds[name]))

    def _refuse(self, rest: list[str]) -> NoReturn:
        """Refuse the first flag that is unknown here, or the first word without a flag."""
        see = f"{self.prog} --help lists"
        at = next((i for i, word in enumerate(rest) if word.startswith("-")), None)
        if at is None:
            refuse("argument", rest[0], f"flags only; {see} them")
        flag, equals, value = rest[at].partition("=")
        name = flag.strip("-").replace("-", "_")
        if flag.startswith("--") and (others := self.elsewhere(name)):
            value = value if equals else " ".join(rest[at + 1 : at + 2])
            refuse(name, value, f"a setting of {', '.join(others)} only")
        close = difflib.get_close_matches(name, [name.rstrip("_") for name in self.kinds], n=1)
        nearest = f"; nearest: --{close[0].replace('_', '-')}" if close else ""
        refuse("flag", flag, f"a flag that {see}{nearest}")


def call(function: Callable[..., int], argv: Sequence[str], prog: str) -> int:
    """Call a function with what a command line says.

    Args:
        function: the command; its signature and its docstring say which options there are.
        argv: the words of the command line.
        prog: how the command is called, for its help.

    Returns:
        What the function returns: the exit code.

    Raises:
        SettingError: the words are no such options; the message names the first at fault.
        SystemExit: help was asked for, and printed.
    """
    parser, options = Parser(prog, about(function)), options_of(function)
    parser.add(options)
    given = parser.read(argv)
    for option in options:
        if option.default is REQUIRED and option.name not in given:
            refuse(option.name, "", in_words(option.kind))
    words = [given.pop(o.name) for o in options if not o.has_flag and o.name in given]
    return function(*words, **given)


def choose(actions: Mapping[str, Callable[..., int]], argv: Sequence[str], prog: str) -> int:
    """Call the function that the first word names; the arguments are those of :func:`call`."""
    action, *rest = [*argv] or [""]
    if action in ("-h", "--help"):
        print(f"usage: {prog} {'|'.join(actions)} [OPTIONS]\n")
        for name, function in actions.items():
            print(f"  {name:10} {about(function).partition('.')[0]}.")
        print(f"\n{prog} ACTION --help says what an action takes.")
        return 0
    if action not in actions:
        refuse("action", action, ", ".join(actions))
    return call(actions[action], rest, f"{prog} {action}")


def value_of(kind: Any, words: Sequence[str]) -> Any:
    """Some words as a value of a type.

    >>> value_of(tuple[int, ...] | None, ["1", "3"]), value_of(float | None, ["None"])
    ((1, 3), None)

    Raises:
        ValueError: they are none.
    """
    if get_origin(kind) in (Union, types.UnionType):
        return None if [*words] == ["None"] else value_of(_inner(kind), words)
    if get_origin(kind) is tuple:
        return tuple(value_of(get_args(kind)[0], [word]) for word in words)
    (word,) = words
    if get_origin(kind) is Literal:
        return get_args(kind)[[*map(str, get_args(kind))].index(word)]
    return kind(word)


def in_words(kind: Any) -> str:
    """A type as what may be typed for it: ``"a whole number, or None"``."""
    inner = _inner(kind)
    if inner is not kind:
        return f"{in_words(inner)}, or None"
    if get_origin(kind) is Literal:
        return ", ".join(map(str, get_args(kind)))
    if get_origin(kind) is tuple:
        return f"{'whole numbers' if get_args(kind)[0] is int else 'words'} with spaces between"
    return _IN_WORDS.get(kind) or kind.__name__.lower()


def about(function: Any) -> str:
    """What a docstring says before its sections."""
    text = inspect.cleandoc(function.__doc__ or "")
    return plain(re.split(r"\n(?:Args|Returns|Attributes|Raises):\n", text)[0].rstrip())


def described(source: Any) -> dict[str, str]:
    """What the ``Args:`` or ``Attributes:`` of a function, or a class and its bases, say."""
    found: dict[str, str] = {}
    for one in reversed(source.__mro__ if inspect.isclass(source) else [source]):
        text = inspect.cleandoc(vars(one).get("__doc__") or one.__doc__ or "") + "\n"
        section = re.search(r"^(?:Attributes|Args):\n((?: .*\n|\n)*)", text, re.MULTILINE)
        if section:
            for entry in re.split(r"^    (?=\S)", section[1], flags=re.MULTILINE)[1:]:
                name, _, words = entry.partition(":")
                found[name.strip()] = plain(" ".join(words.split()))
    return found


def plain(text: str) -> str:
    """Documentation markup taken out: ``x`` and :func:`f` become x and f."""
    return re.sub(r":\w+:`~?([^`]+)`", r"\1", text).replace("``", "")


def check_writable(field: str, path: Path | None) -> None:
    """Refuse a file that cannot be written, before the work that it is for."""
    if path is None:
        return
    if path.is_dir():
        refuse(field, str(path), "a file to write, and this is a folder")
    if not path.parent.is_dir():
        refuse(field, str(path), f"a file in a folder that is there; {path.parent} is not")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        refuse(field, str(path), "a file that can be written; permission denied")


def _inner(kind: Any) -> Any:
    """The type without its None."""
    if get_origin(kind) not in (Union, types.UnionType):
        return kind
    return next(inner for inner in get_args(kind) if inner is not type(None))


def _metavar(kind: Any) -> str:
    """What stands for a value in the help: ``INT``, ``{pair,unordered}``."""
    inner = _inner(kind)
    if get_origin(inner) is Literal:
        return "{" + ",".join(map(str, get_args(inner))) + "}"
    inner = get_args(inner)[0] if get_origin(inner) is tuple else inner
    return inner.__name__.upper()


def _with_dashes(word: str) -> str:
    """A flag may be written with underscores, as settings are."""
    flag, equals, value = word.partition("=")
    return flag.replace("_", "-") + equals + value if flag.startswith("--") else word
