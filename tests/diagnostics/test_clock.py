"""Clock or Pizza, on tables and networks of which it is known."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from grokkit.diagnostics.clock import distance_irrelevance, gradient_symmetry

P = 11
A = torch.arange(P, dtype=torch.float64)
ANGLE = 2 * torch.pi * A / P


def test_what_depends_on_the_distance_alone_is_0_and_what_depends_on_the_sum_alone_is_1():
    distance = (ANGLE.unsqueeze(0) - ANGLE.unsqueeze(1)).cos()
    total = (ANGLE.unsqueeze(0) + ANGLE.unsqueeze(1)).cos()
    found = distance_irrelevance(torch.stack((distance, total)))
    assert found.tolist() == pytest.approx([0, 1], abs=1e-7)


@given(st.integers(0, 2**10), st.floats(0.1, 10), st.floats(-5, 5))
def test_distance_irrelevance_is_free_of_scale_and_of_a_constant(seed, scale, constant):
    table = torch.randn(2, P, P, generator=torch.Generator().manual_seed(seed)).double()
    again = distance_irrelevance(scale * table + constant)
    torch.testing.assert_close(again, distance_irrelevance(table))


def pizza(weights, rows):
    """The logits are a function of the sum of the two embeddings."""
    table = weights["token_embedding"]
    return ((table[:, rows] + table[:, (3 * rows + 1) % P]) @ weights["W"]).abs()


def clock(weights, rows):
    """The logits are products of the two embeddings."""
    table = weights["token_embedding"]
    return (table[:, rows] * table[:, (3 * rows + 1) % P]) @ weights["W"]


@pytest.mark.parametrize(("network", "symmetry"), [(pizza, 1.0), (clock, None)])
def test_gradients_are_the_same_where_embeddings_are_added(network, symmetry):
    generator = torch.Generator().manual_seed(0)
    weights = {
        "token_embedding": torch.randn(2, P, 6, generator=generator).double(),
        "W": torch.randn(2, 6, P, generator=generator).double(),
    }
    rows = torch.arange(P)
    pairs = torch.stack((rows, (3 * rows + 1) % P), dim=1).expand(2, -1, -1)
    found = gradient_symmetry(network, weights, rows, pairs, 7 * rows % P)
    if symmetry is None:
        # By hand: the gradient by one factor is the other one times the class's column.
        at, c = pairs[0], 7 * rows % P
        columns = weights["W"][:, :, c].transpose(1, 2)
        a, b = (weights["token_embedding"][:, at[:, side]] * columns for side in (1, 0))
        cosine = torch.cosine_similarity(a, b, dim=2)[:, at[:, 0] != at[:, 1]]
        torch.testing.assert_close(found, cosine.mean(dim=1))
        assert float(found.max()) < 0.5
    else:
        assert found.tolist() == pytest.approx([symmetry] * 2)
    assert not any(one.requires_grad for one in weights.values())
