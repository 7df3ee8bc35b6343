"""In which precision, and under which settings of torch, a run computes.

=========  ==================================================================================
float32    everything in single precision
float64    everything in double precision: the reference
tf32       weights and results in single precision, matrix products on a GPU's TF32 units
bf16       the same, but the products between the hidden layer and the classes, which are
           most of the arithmetic, take their factors in bfloat16 and add up in float32
=========  ==================================================================================

Whichever it is, the weights, the optimizer and the cross-entropy are never below float32:
a memorised example's loss would be lost (:mod:`grokkit.core.loss`).
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, Literal, get_args

import torch
from jaxtyping import Float
from torch import Tensor

from grokkit.errors import refuse

Precision = Literal["float32", "float64", "tf32", "bf16"]
"""The names of the precisions."""

PRECISIONS: tuple[str, ...] = get_args(Precision)


_mkldnn: Any = torch.backends.mkldnn
MATMUL_UNITS: tuple[Any, ...] = (torch.backends.cuda.matmul, _mkldnn.matmul)
"""Where torch keeps the precision of float32 products, on a GPU and on a CPU.

It has older names for the same settings, which must not be mixed with these.
"""


def master_dtype(precision: Precision) -> torch.dtype:
    """The type of the weights."""
    return torch.float64 if precision == "float64" else torch.float32


@contextmanager
def pinned(precision: Precision, device: torch.device) -> Iterator[None]:
    """Compute under grokkit's settings of torch; afterwards the caller's are as they were.

    Gradients are recorded, autocast is off, new tensors are float32 and on the CPU unless said
    otherwise, and products are in the precision of the run. So a run does not depend on
    ``torch.no_grad()``, ``torch.set_default_dtype`` and the like around it.

    Raises:
        SettingError: TF32 was asked for on a CPU, which has no such units.
    """
    if precision == "tf32" and device.type != "cuda":
        refuse("precision", precision, "float32, float64, bf16 on a CPU")
    dtype = torch.get_default_dtype()
    products = {"tf32": "tf32"}.get(precision, "ieee")
    before = [unit.fp32_precision for unit in MATMUL_UNITS]
    with ExitStack() as stack:
        stack.enter_context(torch.inference_mode(False))
        stack.enter_context(torch.enable_grad())
        for kind in {"cpu", device.type}:
            stack.enter_context(torch.autocast(kind, enabled=False))
        if torch.get_default_device().type != "cpu":
            stack.enter_context(torch.device("cpu"))
        stack.enter_context(one_thread(device))
        try:
            torch.set_default_dtype(torch.float32)
            for unit in MATMUL_UNITS:
                unit.fp32_precision = products
            yield
        finally:
            torch.set_default_dtype(dtype)
            for unit, value in zip(MATMUL_UNITS, before, strict=True):
                unit.fp32_precision = value


@contextmanager
def one_thread(device: torch.device) -> Iterator[None]:
    """One CPU thread while training on a CPU.

    At these sizes a second thread gains less than a second run does, and the order of
    sums, so the last bits, would depend on the number of cores.
    """
    before = torch.get_num_threads()
    try:
        if device.type == "cpu":
            torch.set_num_threads(1)
        yield
    finally:
        torch.set_num_threads(before)


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
