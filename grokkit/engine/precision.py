"""In which precision a run computes.

=========  ==================================================================================
float32    everything in single precision
float64    everything in double precision: the reference
tf32       weights and results in single precision, matrix products on a GPU's TF32 units
bf16       the same, but the products between the hidden layer and the classes, which are
           most of the arithmetic, take their factors in bfloat16 and add up in float32
=========  ==================================================================================

Whichever it is, the weights, the optimizer and the cross-entropy are never below float32:
a memorised example's loss would be lost (:mod:`grokkit.model.loss`).
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal, get_args

import torch
from jaxtyping import Float
from torch import Tensor

from grokkit.errors import refuse

Precision = Literal["float32", "float64", "tf32", "bf16"]
"""The names of the precisions."""

PRECISIONS: tuple[str, ...] = get_args(Precision)


def master_dtype(precision: Precision) -> torch.dtype:
    """The type of the weights."""
    return torch.float64 if precision == "float64" else torch.float32


@contextmanager
def products_in(precision: Precision, device: torch.device) -> Iterator[None]:
    """Let matrix products on a GPU use TF32 units, or not; afterwards as before.

    Raises:
        SettingError: TF32 was asked for on a CPU, which has no such units.
    """
    if device.type != "cuda":
        if precision == "tf32":
            refuse("precision", precision, "float32, float64, bf16 on a CPU")
        yield
        return
    before = torch.backends.cuda.matmul.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = precision == "tf32"
    try:
        yield
    finally:
        torch.backends.cuda.matmul.allow_tf32 = before


def rounded_product(
    left: Float[Tensor, "run rows inner"],
    right: Float[Tensor, "run inner columns"],
    out: Float[Tensor, "run rows columns"],
) -> Float[Tensor, "run rows columns"]:
    """The product left @ right with both factors rounded to bfloat16, added up in float32.

    Args:
        left: the left factors.
        right: the right factors.
        out: where the product goes.
    """
    left, right = left.to(torch.bfloat16), right.to(torch.bfloat16)
    if left.device.type == "cuda":
        return out.copy_(torch.bmm(left, right, out_dtype=torch.float32))
    # A CPU rounds the result too; this is the same arithmetic, and slow.
    return torch.bmm(left.float(), right.float(), out=out)
