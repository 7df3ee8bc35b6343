"""Where the arms of an experiment start from, at each size."""

from grokkit.experiments.row import Size
from grokkit.training import RunSpec, presets


def slow(size: Size) -> RunSpec:
    """For the headline experiments: the classroom preset, or the paper's default setting."""
    return presets["paper" if size == "paper" else "classroom"]


def quick(size: Size) -> RunSpec:
    """For experiments with many arms: the live preset with time to spare, or the paper's.

    Its learning rate, 5e-3, makes a run five times shorter and leaves the picture as it is.
    """
    if size == "paper":
        return presets["paper"]
    return presets["live"].with_(epochs=4000, stop_after=500)


def kl(spec: RunSpec, kl_strength: float = 1.0) -> RunSpec:
    """The same run with the KL prior to the oracle."""
    return spec.with_(prior="kl", kl_strength=kl_strength)


def unordered(spec: RunSpec) -> RunSpec:
    """The same run where (a, b) and (b, a) are on one side of the split.

    Without mirror images more pairs are needed: 70 % of a small table instead of 50 %.
    """
    fraction = max(spec.settings()["train_fraction"], 0.7 if spec.settings()["p"] < 100 else 0.3)
    return spec.with_(split="unordered", train_fraction=fraction)
