"""Between tensors of a group of runs and the NumPy arrays that the theory takes.

The theory computes in float64 on the host, so calling it waits for the device: for looking
at a network, not for the records of a training.
"""

import numpy as np
import torch
from torch import Tensor


def to_numpy(tensor: Tensor) -> np.ndarray:
    """The same numbers as float64 on the host."""
    return tensor.detach().double().cpu().numpy()


def to_tensor(array: np.ndarray, like: Tensor) -> Tensor:
    """A float64 tensor where ``like`` is."""
    return torch.as_tensor(np.asarray(array, dtype=np.float64), device=like.device)
