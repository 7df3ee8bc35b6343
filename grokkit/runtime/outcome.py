"""What came of training a group: arrays and plain facts, light enough to send.

A worker process sends this and not the History: xarray, pandas and HDF5 take most of a
second to import, which every worker would pay and the parent, who waits anyway, does not.
"""

import json
import platform
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from safetensors.torch import load, save

if TYPE_CHECKING:
    from grokkit.engine.trainer import Trainer

HEADER = "grokkit.outcome"


@dataclass(frozen=True, eq=False)
class Outcome:
    """The records of a group as far as it has been trained.

    Attributes:
        arrays: each record by name, ``[run, record, ...]``; ``nan`` after the end of a run.
        facts: what is no array, as JSON has it: ``specs``, ``epochs``, and for each run
            ``ended``, ``messages`` and ``mirror_rates``; ``sizes``, ``extra`` and the
            ``provenance``: versions, device, which gradient code, seconds.
    """

    arrays: dict[str, np.ndarray]
    facts: dict[str, Any]

    @staticmethod
    def of(trainer: "Trainer") -> "Outcome":
        """What a trainer has recorded so far."""
        records, runs = trainer.records, len(trainer.specs)
        newest = records.epochs[-1] if records.epochs else -1
        last = [records.ended.get(run, newest) for run in range(runs)]
        over = np.array([[epoch > last[run] for epoch in records.epochs] for run in range(runs)])
        arrays = {}
        for name, values in records.values.items():
            arrays[name] = torch.stack(values, dim=1).cpu().numpy()
            arrays[name][over] = np.nan
        facts = {
            "specs": [spec.to_dict() for spec in trainer.specs],
            "epochs": records.epochs,
            "ended": last,
            "messages": [records.messages.get(run, "") for run in range(runs)],
            "mirror_rates": trainer.mirror_rates,
            "sizes": trainer.sizes,
            "extra": trainer.extra_names,
            "provenance": provenance(trainer.device, trainer.path, trainer.seconds),
        }
        return Outcome(arrays, facts)

    def to_bytes(self) -> bytes:
        """These arrays and facts as one safetensors file."""
        tensors = {name: torch.from_numpy(array) for name, array in self.arrays.items()}
        return save(tensors, metadata={HEADER: json.dumps(self.facts)})

    @staticmethod
    def from_bytes(data: bytes) -> "Outcome":
        """What :meth:`to_bytes` wrote, bit for bit."""
        length = int.from_bytes(data[:8], "little")
        facts = json.loads(json.loads(data[8 : 8 + length])["__metadata__"][HEADER])
        return Outcome({name: tensor.numpy() for name, tensor in load(data).items()}, facts)


def provenance(device: torch.device, gradient: str, seconds: float) -> dict[str, Any]:
    """What made these numbers: versions, device, which gradient code, seconds."""
    from grokkit import __version__

    name = torch.cuda.get_device_name(device) if device.type == "cuda" else platform.machine()
    return {
        "grokkit": __version__,
        "torch": str(torch.__version__),
        "python": platform.python_version(),
        "device": f"{device.type} ({name})",
        "gradient": gradient,
        "seconds": round(seconds, 3),
    }
