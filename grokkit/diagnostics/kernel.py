"""The neural tangent kernel, and how far it has drifted: lazy training, or not?

    K[x, x'] = sum_c <d f_c(x) / d theta, d f_c(x') / d theta>

over all classes c: the trace, over classes, of the full kernel. If a network trains lazily,
its features staying what they were, K hardly changes; drift is

    norm(K_t - K_0)_F / norm(K_0)_F

0 for a model that is linear in its parameters. It is a statement about a set of examples, so
take the same ones each time. Drift is not free of scale: a network whose weights grow
r-fold in both of two layers has an r^2-fold kernel, and drifts by r^2 - 1 with the same
features. What is free of scale is the kernel's *turn*, 1 - <K_t, K_0> / (norm(K_t) norm(K_0)).

The sum is over classes of squares. The kernel of the *sum of the logits*, which is a single
gradient for each example, is something else: no softmax feels that sum. (The code of the paper has
both, and that one is its default.)

Gradients are taken by plain autograd, one class at a time, rather than by ``torch.func``: its
transforms refuse an operation with a backward pass of its own, as :mod:`grokkit.model.slots` has.

Source: Jacot et al., arXiv 1806.07572; drift: arXiv 2602.06702.
"""

from collections.abc import Callable, Mapping
from functools import cache

import torch
from jaxtyping import Float, Int, Shaped
from torch import Tensor

from grokkit.errors import check_int, refuse
from grokkit.model import Transformer

Logits = Callable[[Mapping[str, Tensor], Tensor], Tensor]
"""From parameters [run ...] and inputs [example ...] to logits [run example class]."""


def tangent_kernel(
    logits: Logits, parameters: Mapping[str, Tensor], inputs: Shaped[Tensor, "example *rest"]
) -> Float[Tensor, "run example example"]:
    """K between all pairs of some inputs, in float64.

    It costs one forward pass for each example, and a backward pass for each example and class.
    The memory is one gradient for each example and run, twice where the parameters are float32:
    64 examples of a network of 200,000 weights need about 0.15 GB. Runs of a group must not
    touch each other, as they nowhere do here: then one backward pass serves all.

    Args:
        logits: the network as a function.
        parameters: what the derivative is by, the run axis leading.
        inputs: a few examples; see :func:`evenly_spaced`.

    Raises:
        SettingError: ``logits`` gives no run, example and class for each input.
    """
    leaves = {name: weight.detach().requires_grad_(True) for name, weight in parameters.items()}
    wanted = list(leaves.values())
    with torch.enable_grad():
        outputs = [logits(leaves, inputs[i : i + 1]) for i in range(len(inputs))]
    runs = len(wanted[0])
    for output in outputs:
        if output.dim() != 3 or output.shape[:2] != (runs, 1):
            refuse("logits", tuple(output.shape), f"shape ({runs}, 1, class) for one input")
    kernel = torch.zeros(runs, len(inputs), len(inputs), dtype=torch.float64)
    kernel = kernel.to(wanted[0].device)
    for c in range(outputs[0].shape[2]):
        rows = []
        for output in outputs:
            gradient = torch.autograd.grad(
                output[:, 0, c].sum(), wanted, retain_graph=True, materialize_grads=True
            )
            rows.append(torch.cat([part.flatten(1) for part in gradient], dim=1))
        jacobian = torch.stack(rows, dim=1).double()
        kernel += jacobian @ jacobian.transpose(1, 2)
    return kernel


def kernel_drift(
    now: Float[Tensor, "run example example"], start: Float[Tensor, "run example example"]
) -> Float[Tensor, " run"]:
    """norm(K_t - K_0)_F / norm(K_0)_F.

    Args:
        now: K_t.
        start: K_0, of the same inputs.
    """
    norm = torch.linalg.matrix_norm
    return norm(now - start) / norm(start)


def kernel_turn(
    now: Float[Tensor, "run example example"], start: Float[Tensor, "run example example"]
) -> Float[Tensor, " run"]:
    """1 - cos(K_t, K_0), between 0 and 1; a kernel that only grows has not turned.

    Args:
        now: K_t.
        start: K_0, of the same inputs.
    """
    return 1 - torch.cosine_similarity(now.flatten(1), start.flatten(1), dim=1)


def network_logits(model: Transformer) -> Logits:
    """The model as a function of its weights and of the numbers of some of its examples.

    Args:
        model: the forward pass of a batch; the inputs are numbers of its examples.
    """

    # Slots of their own: those of all the data would be carried through every gradient. Kept,
    # for the same examples are asked for again and again.
    @cache
    def some(rows: tuple[int, ...], length: int) -> Transformer:
        where = torch.tensor(rows, device=model.batch.tokens.device)
        batch = model.batch.take(where.expand(model.batch.runs, -1))
        return Transformer(model.spec, batch, length)

    def logits(weights: Mapping[str, Tensor], rows: Tensor) -> Tensor:
        length = weights["position_embedding"].shape[1]
        return some(tuple(rows.tolist()), length)(weights).logits

    return logits


def evenly_spaced(examples: int, size: int) -> Int[Tensor, " example"]:
    """``size`` of the numbers 0..examples-1, evenly spread, the same ones each time.

    The sequences of a data set stand in the order of their operands, so these are from all
    over it, and no draw is needed.
    """
    check_int("size", size, 1, examples)
    return torch.arange(size) * examples // size
