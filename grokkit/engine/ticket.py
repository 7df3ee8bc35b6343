"""A ticket: which weights a run may use, and perhaps what they are at first.

A run whose spec names a ticket (``ticket="lottery.safetensors"``) begins under its mask and
stays there: pruned weights are exactly 0 before and after every step, and their gradient is
exactly 0, so that nobody who reads the gradient, be it the clipping, Muon or Grokfast, knows
that they ever were. How tickets come about is told in :mod:`grokkit.tickets`; here is what
a training must know.

A file (:mod:`grokkit.engine.tensor_file`) has a mask for every pruned matrix, optionally initial
weights, and where it comes from.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from grokkit import core
from grokkit.engine.tensor_file import TensorFile
from grokkit.errors import refuse
from grokkit.model import Parameters


class TicketError(ValueError):
    """A file that holds no ticket."""


FORMAT = 1
HEADER = "grokkit.ticket"
_FILE = TensorFile("ticket", HEADER, FORMAT, TicketError)


@dataclass(frozen=True, eq=False)
class Ticket(core.Ticket):
    """The core's ticket, and where it comes from.

    Attributes:
        origin: where it comes from, plain values for JSON.
    """

    origin: Mapping[str, Any] = field(default_factory=dict)

    @property
    def tensors(self) -> dict[str, Tensor]:
        """Mask and initial weights, as they are named in the file."""
        named = {f"kept/{name}": kept for name, kept in self.kept.items()}
        initial = {} if self.initial is None else self.initial
        named |= {f"initial/{name}": value for name, value in initial.items()}
        return {name: tensor.detach().cpu().contiguous() for name, tensor in named.items()}

    @property
    def digest(self) -> str:
        """Sixteen hexadecimal digits computed from the mask and the initial weights."""
        digest = hashlib.sha256()
        for name, tensor in sorted(self.tensors.items()):
            digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
            digest.update(tensor.flatten().view(torch.uint8).numpy().tobytes())
        return digest.hexdigest()[:16]


def save_ticket(ticket: Ticket, path: str | Path) -> Path:
    """Write a ticket, whole or not at all.

    Args:
        ticket: what to write.
        path: the file to write or to replace; ``.safetensors`` is its usual ending. A run
            is known by the file's name, so a name should never come to mean another ticket:
            ``ticket.digest`` makes a good part of it.

    Raises:
        OSError: the file cannot be written; an older one there is intact.
    """
    header = {"digest": ticket.digest, "origin": dict(ticket.origin)}
    return _FILE.write(path, header, ticket.tensors)


def load_ticket(path: str | Path) -> Ticket:
    """The ticket that :func:`save_ticket` wrote.

    Raises:
        FileNotFoundError: there is no such file.
        TicketError: the file is damaged, holds something else, or was made by a newer
            grokkit; the message is one line.
    """
    header, tensors = _FILE.read(path)
    origin = header.get("origin")
    if not isinstance(origin, dict):
        raise TicketError(f"{path}: damaged: it does not say where it comes from")
    parts: dict[str, dict[str, Tensor]] = {"kept": {}, "initial": {}}
    for name, tensor in tensors.items():
        part, _, inner = name.partition("/")
        parts.setdefault(part, {})[inner] = tensor
    kept = parts["kept"]
    ticket = Ticket(kept, parts["initial"] or None, origin)
    if any(one.dtype != torch.bool for one in kept.values()) or ticket.digest != header["digest"]:
        raise TicketError(f"{path}: damaged: its digest does not fit its mask and weights")
    return ticket


class TicketMask:
    """The ticket of a group at work.

    Raises:
        SettingError: there is no such file, or its ticket is for a model of another shape.
    """

    def __init__(self, path: str, weights: Parameters) -> None:
        self.weights = weights
        try:
            ticket = load_ticket(path)
        except (OSError, TicketError) as problem:
            refuse("ticket", path, f"the file of a ticket ({problem})")
        _compare(path, ticket, weights.layout.shapes)
        # One mask for all runs: a group has one ticket.
        pruned = torch.zeros_like(weights.flat[:1], dtype=torch.bool)
        for name, place, _ in weights.layout.slices():
            if name in ticket.kept:
                pruned[0, place] = ~ticket.kept[name].flatten().to(pruned.device)
            if ticket.initial is not None:
                weights.flat[:, place] = ticket.initial[name].flatten().to(weights.flat)
        self.pruned = pruned
        self.mask_weights()

    @torch.no_grad()
    def mask_weights(self) -> None:
        """Set pruned weights to 0."""
        self.weights.flat.masked_fill_(self.pruned, 0.0)

    @torch.no_grad()
    def mask_gradient(self) -> None:
        """Set the gradient of pruned weights to 0."""
        self.weights.flat_grad.masked_fill_(self.pruned, 0.0)


def _compare(path: str, ticket: Ticket, shapes: Mapping[str, tuple[int, ...]]) -> None:
    """Refuse a ticket for a model of another shape, naming what differs."""
    for name, tensor in {**(ticket.initial or {}), **ticket.kept}.items():
        own, here = tuple(tensor.shape), shapes.get(name)
        if own != here:
            wanted = f"a ticket without {name}" if here is None else f"{name} of shape {here}"
            refuse("ticket", path, f"{wanted}, as here; its own has shape {own}")
    missing = [] if ticket.initial is None else [n for n in shapes if n not in ticket.initial]
    if missing:
        refuse("ticket", path, f"a ticket with initial weights for {missing[0]}, as here")
