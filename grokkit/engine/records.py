"""What a group of runs has left on record: the raw material of a History."""

from dataclasses import dataclass, field

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
