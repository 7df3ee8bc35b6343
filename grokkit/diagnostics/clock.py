"""Clock or Pizza: two ways to add with waves, told apart by two numbers.

A *Clock* multiplies the waves of a and b, which attention that depends on them can do. A *Pizza*
adds the two embeddings and takes absolute values, for which constant attention is enough. What
tells them apart:

    gradient symmetry      mean over (a, b, c) of cos(dQ_c / dE_a, dQ_c / dE_b)
    distance irrelevance   mean over d of std_a(Q_{a, a+d}) / std over all pairs of Q_{a, b}

where Q_c is the logit of class c for the pair (a, b), and Q_{a, b} that of the right class. The
source has 0.99 and 0.17 for a Pizza, 0.33 and 0.85 for a Clock. Where attention is frozen and
has the same weight on both operands the first is 1, whatever the rest of the network does: its
gradients are one and the same vector.

Source: Zhong et al., "The Clock and the Pizza", arXiv 2306.17844, sections 4.1 and 4.2.
"""

from collections.abc import Mapping

import torch
from jaxtyping import Float, Int
from torch import Tensor

from grokkit.diagnostics.kernel import Logits


def gradient_symmetry(
    logits: Logits,
    weights: Mapping[str, Tensor],
    rows: Int[Tensor, " example"],
    operands: Int[Tensor, "run example 2"],
    classes: Int[Tensor, " example"],
) -> Float[Tensor, " run"]:
    """The mean cosine of the two operands' gradients; pairs (a, a) do not count.

    Args:
        logits: the network as a function of its weights and the numbers of some examples.
        weights: the weights of the group, ``token_embedding`` among them.
        rows: the numbers of the examples.
        operands: the two operands' tokens in each of these examples.
        classes: the class whose logit is differentiated, in each of these examples.
    """
    table = weights["token_embedding"].detach().requires_grad_(True)
    fixed = {name: weight.detach() for name, weight in weights.items()} | {"token_embedding": table}
    run, cosines = torch.arange(len(table), device=table.device), []
    for place, row in enumerate(rows):
        with torch.enable_grad():
            out = logits(fixed, row.unsqueeze(0))[:, 0, classes[place]].sum()
        (gradient,) = torch.autograd.grad(out, table)
        a, b = (gradient[run, operands[:, place, side]].double() for side in (0, 1))
        cosines.append(torch.cosine_similarity(a, b, dim=1, eps=1e-30))
    counts = operands[..., 0] != operands[..., 1]
    return (torch.stack(cosines, dim=1) * counts).sum(dim=1) / counts.sum(dim=1)


def distance_irrelevance(right: Float[Tensor, "run a b"]) -> Float[Tensor, " run"]:
    """How little the right class's logit depends on a - b: near 0 it is a function of it alone.

    Args:
        right: the logit of the right class for every pair of operands.
    """
    p = right.shape[1]
    a = torch.arange(p, device=right.device)
    along = right[:, a, (a + a.unsqueeze(1)) % p]  # [run, distance, a]
    within = along.std(dim=2, correction=0).mean(dim=1)
    return within / right.std(dim=(1, 2), correction=0)
