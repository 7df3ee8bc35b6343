"""What a group of runs has left on record: the raw material of a History."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor


@dataclass
class Records:
    """What was recorded so far.

    Attributes:
        epochs: the epoch of each record.
        values: name -> one ``[run, ...]`` tensor for each record.
        ended: for each run, the epoch of its last record, once it has ended.
        messages: for each run, why it ended early; empty where it did not.
    """

    epochs: list[int] = field(default_factory=list)
    values: dict[str, list[Tensor]] = field(default_factory=dict)
    ended: dict[int, int] = field(default_factory=dict)
    messages: dict[int, str] = field(default_factory=dict)

    def add(self, epoch: int, record: dict[str, Tensor]) -> None:
        """Append one record."""
        self.epochs.append(epoch)
        for name, value in record.items():
            self.values.setdefault(name, []).append(value)

    def facts(self) -> dict[str, Any]:
        """What a checkpoint keeps as JSON."""
        return {
            "record_epochs": self.epochs,
            "record_names": list(self.values),
            "ended": list(self.ended.items()),
            "messages": list(self.messages.items()),
        }

    def tensors(self) -> dict[str, Tensor]:
        """What a checkpoint keeps as tensors, by name: ``[record, run, ...]``."""
        return {f"records/{name}": torch.stack(values) for name, values in self.values.items()}

    @staticmethod
    def of(
        facts: Mapping[str, Any], tensors: Mapping[str, Tensor], device: torch.device
    ) -> "Records":
        """The records whose :meth:`facts` and :meth:`tensors` these are, on a device."""
        return Records(
            list(facts["record_epochs"]),
            {
                name: list(tensors[f"records/{name}"].to(device).unbind())
                for name in facts["record_names"]
            },
            dict(facts["ended"]),
            dict(facts["messages"]),
        )
