"""Two processes that ask each other to do things, over one socket.

A message is one frame: its length, the length of its JSON, the JSON, and the blobs of its
arrays. While one side waits for an answer it serves what the other asks meanwhile: so a
student's function may call the function that a check handed to it.

Nothing that arrives is trusted: a frame is bounded in size, and only functions that were
handed out can be called.
"""

import inspect
import json
import socket
import struct
from collections.abc import Callable
from typing import Any

from grokkit.classroom.checks.learner import CHANGED, LearnerError, called, named, of_learner
from grokkit.classroom.grading.codec import decode, encode

LARGEST_FRAME = 32 * 2**20
"""Bytes; a larger message ends the conversation."""

LONGEST_TEXT = 10_000
"""Characters of an error; what is longer is cut."""

MOST_FUNCTIONS = 10_000
"""How many functions one side may hand out."""

Handler = Callable[[Any], Any]


class Gone(BaseException):
    """The other side has ended, or does not keep to the protocol.

    No error of a check nor of the code it checks: so it passes through whatever catches those.
    """


class Peer:
    """One end of the conversation.

    Args:
        connection: the socket.
        handlers: what the other side may ask for besides the functions handed to it.

    Attributes:
        handlers: what the other side may ask for, by name.
        calling: the function of the other side that is at work, and what it was given by name.
    """

    def __init__(self, connection: socket.socket, handlers: dict[str, Handler]) -> None:
        self._connection = connection
        self.handlers = {**handlers, "call": self._called}
        self._functions: list[Callable[..., Any]] = []
        self.calling: tuple[str, list[tuple[str, Any]]] = "", []

    def ask(self, action: str, value: Any = None) -> Any:
        """Have the other side do something, and wait for what comes back.

        Raises:
            LearnerError: it raised an error.
            Gone: there is no answer to come.
        """
        self._send({"ask": action}, value)
        while True:
            header, value = self._receive()
            if "ask" in header:
                self._serve(header["ask"], value)
            elif header.get("answer") == "value":
                return value
            elif header.get("answer") == "error":
                raise LearnerError(str(value), bool(header.get("attempted", True)))
            else:
                raise Gone("a message that is neither a question nor an answer")

    def serve(self) -> None:
        """Do what the other side asks until it hangs up."""
        while True:
            try:
                header, value = self._receive()
            except Gone:
                return
            self._serve(str(header.get("ask")), value)

    def _serve(self, action: str, value: Any) -> None:
        try:
            if action not in self.handlers:
                raise Gone(f"nobody here does {action!r}")
            self._send({"answer": "value"}, self.handlers[action](value))
        except Gone:
            raise
        except (Exception, SystemExit, KeyboardInterrupt) as error:
            told = error if isinstance(error, LearnerError) else of_learner(error)
            self._send({"answer": "error", "attempted": told.attempted}, told.text[:LONGEST_TEXT])

    # --- functions ------------------------------------------------------------------------

    def _keep(self, function: Callable[..., Any]) -> int:
        if len(self._functions) >= MOST_FUNCTIONS:
            raise Gone("too many functions")
        self._functions.append(function)
        return len(self._functions) - 1

    def _called(self, value: Any) -> Any:
        number, args, kwargs = value
        if type(number) is not int or not 0 <= number < len(self._functions):
            raise Gone("a function that was never handed out")
        return called(self._functions[number], args, kwargs)

    def _stand_in(self, number: int, name: str, parameters: list[str]) -> Callable[..., Any]:
        def function(*args: Any, **kwargs: Any) -> Any:
            self.calling = name, named(function, args, kwargs)
            answer = self.ask("call", (number, args, kwargs))
            self.calling = "", []
            if type(answer) is not tuple or len(answer) != 2 or type(answer[1]) is not list:
                raise Gone("no answer of a function")
            # What it did to its arguments over there cannot be seen here.
            setattr(function, CHANGED, [str(name)[:100] for name in answer[1]])
            return answer[0]

        function.__name__ = name
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        names = dict.fromkeys(name for name in parameters if name.isidentifier())
        # So that a message can name the inputs as the student does.
        function.__signature__ = inspect.Signature(  # pyright: ignore[reportFunctionMemberAccess]
            [inspect.Parameter(name, kind) for name in names]
        )
        return function

    # --- frames ---------------------------------------------------------------------------

    def _send(self, header: dict[str, Any], value: Any) -> None:
        blobs: list[bytes] = []
        header = {**header, "value": encode(value, self._keep, blobs)}
        header["blobs"] = [len(blob) for blob in blobs]
        text = json.dumps(header).encode()
        size = len(text) + sum(map(len, blobs))
        if size > LARGEST_FRAME:
            raise ValueError(f"a value of {size:,} bytes; allowed: {LARGEST_FRAME:,}")
        try:
            self._connection.sendall(b"".join([struct.pack("!II", size, len(text)), text, *blobs]))
        except OSError as error:
            raise Gone(str(error)) from error

    def _receive(self) -> tuple[dict[str, Any], Any]:
        size, length = struct.unpack("!II", self._exactly(8))
        if not length <= size <= LARGEST_FRAME:
            raise Gone(f"a message of {size:,} bytes; allowed: {LARGEST_FRAME:,}")
        frame = self._exactly(size)
        try:
            header = json.loads(frame[:length])
            blobs, at = [], length
            for count in header["blobs"]:
                blobs.append(frame[at : at + count])
                at += count
            return header, decode(header["value"], blobs, self._stand_in)
        except Exception as error:  # whatever bytes may lead to
            raise Gone(f"a message that cannot be read: {error}") from error

    def _exactly(self, count: int) -> bytes:
        parts = []
        while count:
            try:
                part = self._connection.recv(min(count, 2**20))
            except OSError as error:
                raise Gone(str(error)) from error
            if not part:
                raise Gone("it has hung up")
            parts.append(part)
            count -= len(part)
        return b"".join(parts)
