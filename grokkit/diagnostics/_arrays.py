"""Between tensors of a group of runs and the NumPy arrays that the theory takes.

The theory computes in float64 on the host, so calling it waits for the device: these
diagnostics are for records and for looking at a trained network, not for every step.
"""

from collections.abc import Callable

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor


def to_numpy(tensor: Tensor) -> np.ndarray:
    """The same numbers as float64 on the host."""
    return tensor.detach().double().cpu().numpy()


def to_tensor(array: np.ndarray, like: Tensor) -> Tensor:
    """A float64 tensor where ``like`` is."""
    return torch.as_tensor(np.asarray(array, dtype=np.float64), device=like.device)


def finite_runs(
    formula: Callable[..., np.ndarray], *arrays: np.ndarray
) -> Float[np.ndarray, "run ..."]:
    """The formula, and ``nan`` for runs that have diverged.

    The theory refuses numbers that are not finite; but one diverged run must not end the
    record of the others. Such a run is replaced by zeros, where every formula here is
    defined.

    Args:
        formula: of these arrays; the run axis of its result leads too.
        arrays: with the run axis leading.
    """
    finite = np.ones(len(arrays[0]), dtype=bool)
    for array in arrays:
        finite &= np.isfinite(array).reshape(len(array), -1).all(axis=1)
    if finite.all():
        return formula(*arrays)
    zeroed = [array.copy() for array in arrays]
    for array in zeroed:
        array[~finite] = 0.0
    result = np.array(formula(*zeroed))
    result[~finite] = np.nan
    return result
