"""``python -m grokkit.core``: train the live preset until it has grokked, and say what happened."""

from dataclasses import replace

import torch

from grokkit.core.train import LIVE, train


def main() -> None:
    """Four lines: memorised, where attention looks, grokked, and how fast it was."""
    torch.set_num_threads(1)  # a second thread gains nothing at this size
    result = train(replace(LIVE, stop_after=100))
    mass = dict(zip(result.epochs, result.curve("informative_mass"), strict=True))
    memorised, grokked = result.memorised or 0, result.grokked or result.epochs[-1]
    print(f"memorised at epoch {result.memorised}")
    print(f"attention on a and b: {mass[0]:.2f} at first, {mass[memorised]:.2f} then,", end=" ")
    print(f"{mass[grokked]:.2f} in the end")
    print(f"grokked at epoch {result.grokked}")
    print(f"{result.epochs[-1] / result.seconds:.0f} epochs a second")


if __name__ == "__main__":
    main()
