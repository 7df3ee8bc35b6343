"""The loop that every trainer shares: epochs, records, interrupts, and when a run ends."""

import time
from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from grokkit.core.measures import GROKKED
from grokkit.engine.interrupts import interrupts_held
from grokkit.engine.precision import pinned


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


class GroupTrainer(ABC):
    """A group of runs in training, whatever is trained.

    Args:
        specs: the runs.
        device: where they are trained.
        first: the number of the first run, for messages, where the group is part of a list.

    Attributes:
        epoch: the number of whole epochs so far.
        seconds: the time spent in ``advance``.
        records: what was recorded so far.
        per_run: further facts of each run by name, such as ``n_train``.
        axes: of each record that has more axes than its run, the names of these.
        meaning: of each record, what it is and its unit.
        labels: the names along an axis, where it has names.
        path: which code computes the gradient: ``analytic`` or ``autograd``.
    """

    per_run: Mapping[str, Sequence[float]]
    axes: Mapping[str, tuple[str, ...]] = {}
    meaning: Mapping[str, str]
    labels: Mapping[str, list[str]] = {}
    path = "autograd"

    def __init__(
        self, specs: Sequence[Any], device: torch.device | str = "cpu", first: int = 0
    ) -> None:
        self.specs = list(specs)
        self.first = first
        self.device = torch.device(device)
        self.epoch = 0
        self.seconds = 0.0
        self.records = Records()
        with self._settings():
            self._set_up()

    @property
    def done(self) -> bool:
        """Whether every run has ended."""
        return len(self.records.ended) == len(self.specs)

    def advance(
        self,
        epochs: int | None = None,
        on_record: "Callable[[Any], None] | None" = None,
        on_epoch: "Callable[[Any], None] | None" = None,
    ) -> None:
        """Train until the end, or for a number of epochs.

        An interrupt (Ctrl-C, a stopped kernel) leaves the trainer as it was after the
        last whole epoch: its records can be read, and ``advance`` goes on from there.

        Args:
            epochs: how many epochs at most; None: all that are left.
            on_record: called after each record with this trainer.
            on_epoch: called after each whole epoch with this trainer; to save it, or to
                stop it by raising KeyboardInterrupt.
        """
        last = self.specs[0].epochs
        stop = last if epochs is None else min(last, self.epoch + epochs)
        started = time.perf_counter()
        try:
            with self._settings():
                # At the last epoch of all once more, for the record that ends the runs.
                while not self.done and (self.epoch < stop or stop == last):
                    with interrupts_held():
                        replayed = self._replayed(stop)
                        self.epoch += replayed
                        recorded = not replayed and self._record_if_due()
                    # Here an interrupt is welcome: nothing is half done.
                    if recorded and on_record is not None:
                        on_record(self)
                    if self.done:
                        break
                    if not replayed:
                        with interrupts_held():
                            self._train()
                            self.epoch += 1
                    if on_epoch is not None:
                        now = time.perf_counter()
                        self.seconds, started = self.seconds + now - started, now
                        on_epoch(self)
        finally:
            self.seconds += time.perf_counter() - started

    def _record_if_due(self) -> bool:
        spec = self.specs[0]
        due = self.epoch % spec.record_every == 0 or self.epoch == spec.epochs
        # After an interrupt this epoch may be on record already.
        recording = due and self.records.epochs[-1:] != [self.epoch]
        record = self._look(recording)
        if recording:
            self.records.add(self.epoch, record)
            self._end_runs()
        return recording

    def _end_runs(self) -> None:
        """Note which runs end with the record just made."""
        spec, broken, held = self.specs[0], self._broken_at(), self._held()
        for run in range(len(self.specs)):
            if run in self.records.ended:
                continue
            message = ""
            if broken[run] >= 0:
                message = f"run {self.first + run} (seed {self.specs[run].seed}): "
                message += f"loss not finite at epoch {broken[run]}; stopped"
            elif held[run]:
                message = f"stopped at epoch {self.epoch}: test accuracy held {GROKKED}"
            if message or self.epoch == spec.epochs:
                self.records.ended[run] = self.epoch
                if message:
                    self.records.messages[run] = message

    def _held(self) -> list[bool]:
        """For each run, whether it has been grokked for ``stop_after`` epochs."""
        wait, epochs = self.specs[0].stop_after, self.records.epochs
        start = 0 if wait is None else bisect_right(epochs, epochs[-1] - wait) - 1
        if wait is None or start < 0:
            return [False] * len(self.specs)
        since = torch.stack(self.records.values["test_accuracy"][start:])
        return (since >= GROKKED).all(dim=0).tolist()

    # What each trainer does.

    @contextmanager
    def _settings(self) -> Iterator[None]:
        """The settings of torch under which it computes."""
        with pinned(getattr(self.specs[0], "precision", "float32"), self.device):
            yield

    @abstractmethod
    def _set_up(self) -> None:
        """The data, the weights and the instruments of the group."""

    @abstractmethod
    def _look(self, recording: bool) -> dict[str, Tensor]:
        """Before an epoch: the record of these weights, ``[run, ...]`` by name, if one is due."""

    @abstractmethod
    def _train(self) -> None:
        """One epoch's optimizer steps."""

    @abstractmethod
    def _broken_at(self) -> list[int]:
        """For each run the epoch at which its loss was not finite; -1: it is."""

    def _replayed(self, stop: int) -> bool:
        """Whether one epoch was trained without Python, since nothing is recorded before it."""
        return False

    @abstractmethod
    def state(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        """All that a resumed group needs: plain values, for JSON, and tensors by name.

        The tensors are the live ones, not copies.
        """

    @abstractmethod
    def load_state(self, facts: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> None:
        """Become the trainer of the same specs whose :meth:`state` this was."""

    def _facts(self) -> dict[str, Any]:
        return self.records.facts() | {"epoch": self.epoch, "seconds": self.seconds}

    def _load_facts(self, facts: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> None:
        self.epoch, self.seconds = facts["epoch"], facts["seconds"]
        self.records = Records.of(facts, tensors, self.device)
