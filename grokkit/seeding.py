"""Independent random streams from one seed.

One seed names a whole run, yet the split, the distractors, and the initial weights
must not share a stream: adding a draw to one would silently change the others.
"""

import hashlib

import torch


def generator(seed: int, purpose: str) -> torch.Generator:
    """A CPU generator for one purpose of one run.

    Streams of different purposes, or of different seeds, are independent; the same
    pair always gives the same stream, on every machine. Always on the CPU, so that a
    run starts from the same numbers whatever device it trains on.

    Args:
        seed: the run's seed, 0 or more.
        purpose: what the numbers are for, such as ``"split"`` or ``"parameters"``.
    """
    digest = hashlib.blake2b(f"{seed}/{purpose}".encode(), digest_size=8).digest()
    return torch.Generator().manual_seed(int.from_bytes(digest, "big") >> 1)
