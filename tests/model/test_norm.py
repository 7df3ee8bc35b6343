"""Norms: the formula, and which of them a placement has."""

from typing import get_args

import pytest
import torch
from torch.testing import assert_close

from grokkit.model import Transformer, cross_entropy
from grokkit.model.block import normalise
from grokkit.model.norm import PLACEMENTS, NormPlacement
from tests.model.cases import TASKS, block, group


@pytest.mark.parametrize("kind", ["layer", "rms"])
def test_a_norm_is_its_formula(kind):
    model = block("M", norm_kind=kind, norm_eps=0.1)
    _, weights = group(TASKS["alphabet"], model)
    x = torch.randn(3, 7, 12, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    expected = x - x.mean(dim=-1, keepdim=True) if kind == "layer" else x
    expected = expected / (expected.square().mean(dim=-1, keepdim=True) + 0.1).sqrt()
    expected = expected * weights["gain_M"][:, None]
    if kind == "layer":
        expected = expected + weights["bias_M"][:, None]
    assert_close(normalise(model, weights, "M", x), expected)


def test_without_eps_a_norm_forgets_the_size_of_what_it_reads():
    model = block("A*", norm_eps=0.0)
    batch, weights = group(TASKS["alphabet"], model)
    seen = Transformer(model, batch)(weights)
    with torch.no_grad():
        for name in ("token_embedding", "position_embedding"):
            weights[name].mul_(1e-3)
    assert_close(Transformer(model, batch)(weights).scores, seen.scores, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("norm", get_args(NormPlacement)[1:])
def test_every_norm_has_its_own_gain_and_all_of_them_are_used(norm):
    model = block(norm, layers=2)
    batch, weights = group(TASKS["alphabet"], model)
    names = [name for name in weights if name.startswith(("gain", "bias"))]
    assert len(names) == 2 * 2 * len(PLACEMENTS[model.norm].norms)
    loss = cross_entropy(Transformer(model, batch)(weights).logits, batch.targets).sum()
    for name in names:
        (slope,) = torch.autograd.grad(loss, weights[name], retain_graph=True)
        assert slope.any(), name
    bare = block(norm, norm_affine=False)
    assert not [name for name in group(TASKS["alphabet"], bare)[1] if name.startswith("gain")]
