"""A run of grokkit as the playground's kernel takes it: data, first weights, and losses."""

import ctypes
from pathlib import Path
from typing import Any

import numpy as np
import torch

from grokkit.engine import RunSpec, Trainer

PLAYGROUND = Path(__file__).parents[2] / "course" / "playground"
WEIGHTS = (
    "token_embedding",
    "position_embedding",
    "W_Q",
    "W_K",
    "W_V",
    "W_1",
    "b_1",
    "W_2",
    "b_2",
)


def export(spec: RunSpec) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """The data and the first weights of a run, in the form that ``run.js`` expects."""
    data = spec.task.build(spec.seed)
    sets = {
        name: [
            {"tokens": tokens, "target": target}
            for tokens, target in zip(part.tokens.tolist(), part.targets.tolist(), strict=True)
        ]
        for name, part in (("train", data.train), ("test", data.test))
    }
    weights = {name: w[0].detach().numpy().copy() for name, w in Trainer([spec]).weights.items()}
    settings = {"p": data.n_classes, "vocabulary": data.n_tokens, "mirrored": 0}
    return {**settings, **sets}, weights


def losses(spec: RunSpec, epochs: int, precision: str) -> np.ndarray:
    """The train loss of the first epochs, [epoch]."""
    trainer = Trainer([spec.with_(record_every=1, epochs=epochs, precision=precision)])
    trainer.advance()
    return torch.stack(trainer.records.values["train_loss"])[:, 0].double().numpy()


def native_losses(library: Path, spec: RunSpec, epochs: int) -> np.ndarray:
    """The same from the kernel, built in double precision for this machine."""
    data, weights = export(spec)
    kernel = ctypes.CDLL(str(library))
    real = ctypes.c_double

    def array(name: str, size: int, kind: Any) -> np.ndarray:
        address = getattr(kernel, name)
        address.restype = ctypes.c_void_p
        return np.ctypeslib.as_array(ctypes.cast(address(), ctypes.POINTER(kind)), (size,))

    examples = [*data["train"], *data["test"]]
    places = sorted({(j, t) for one in examples for j, t in enumerate(one["tokens"])})
    number = {place: i for i, place in enumerate(places)}
    sizes = (len(places), len(data["train"]), len(data["test"]))
    kernel.begin(data["p"], data["vocabulary"], *sizes, data["mirrored"])
    array("slot_tokens_at", len(places), ctypes.c_int)[:] = [token for _, token in places]
    array("slot_positions_at", len(places), ctypes.c_int)[:] = [j for j, _ in places]
    for name in ("train", "test"):
        slots = [number[j, t] for one in data[name] for j, t in enumerate(one["tokens"])]
        array(f"{name}_slots_at", len(slots), ctypes.c_int)[:] = slots
        classes = [one["target"] for one in data[name]]
        array(f"{name}_classes_at", len(classes), ctypes.c_int)[:] = classes
    spare = kernel.padded_classes() - data["p"]
    for name in ("W_2", "b_2"):
        edges = [(0, 0)] * (weights[name].ndim - 1) + [(0, spare)]
        weights[name] = np.pad(weights[name], edges)
    flat = np.concatenate([weights[name].ravel() for name in WEIGHTS])
    array("weights_at", kernel.parameters(), real)[:] = flat
    settings = spec.settings()
    kernel.set.argtypes = [real] * 3
    kernel.set(settings["learning_rate"], settings["weight_decay"], settings["kl_strength"])
    stats, seen = array("stats_at", 12, real), []
    for _ in range(epochs):
        kernel.train(1)
        seen.append(stats[0])
    return np.array(seen)
