"""What every chapter uses: random streams, and refusing a setting that makes no sense."""

import hashlib
from collections.abc import Iterable
from typing import NoReturn

import torch


def stream(seed: int, purpose: str) -> torch.Generator:
    """The random numbers for one purpose of one run, the same on every machine.

    One seed names a whole run. The split, the distractors and each array of weights still have
    a stream of their own: if two runs differ in their distractors only, their splits agree.

    >>> torch.randperm(5, generator=stream(0, "split")).tolist()
    [1, 4, 3, 0, 2]
    """
    digest = hashlib.blake2b(f"{seed}/{purpose}".encode(), digest_size=8).digest()
    return torch.Generator().manual_seed(int.from_bytes(digest, "big") >> 1)


def refuse(name: str, value: object, allowed: str) -> NoReturn:
    """Raise a ValueError that names the setting, its value, and what is allowed."""
    raise ValueError(f"{name}: got {value!r}; allowed: {allowed}")


def check_choice(name: str, value: object, choices: Iterable[str]) -> None:
    """Refuse a value that is not one of some words."""
    if value not in list(choices):
        refuse(name, value, ", ".join(choices))
