import pytest
import torch
from torch.testing import assert_close

from grokkit.model import attend


def scores(seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(2, 5, 4, 3, generator=generator, dtype=torch.float64)


@pytest.mark.parametrize("kind", ["softmax", "relu"])
def test_attention_is_a_point_of_the_simplex(kind):
    attention = attend(scores(), kind)
    assert (attention >= 0).all()
    assert_close(attention.sum(dim=2), torch.ones(2, 5, 3, dtype=torch.float64))


def test_relu_attention_is_the_share_of_the_positive_part():
    attention = attend(torch.tensor([1.0, 3.0, -2.0, 0.0]).view(1, 1, 4, 1), "relu")
    assert attention.flatten().tolist() == [0.25, 0.75, 0, 0]


def test_relu_attention_without_a_positive_score_is_uniform_with_gradient_zero():
    dead = torch.tensor([-1.0, 0.0, -2.0, -3.0], requires_grad=True)
    attention = attend(dead.view(1, 1, 4, 1), "relu")
    assert attention.flatten().tolist() == [0.25] * 4
    attention.flatten()[0].backward()
    assert dead.grad is not None and dead.grad.tolist() == [0] * 4


@pytest.mark.parametrize("kind", ["softmax", "relu"])
def test_gradcheck(kind):
    values = scores(3).requires_grad_()
    assert torch.autograd.gradcheck(lambda s: attend(s, kind), values)


def test_huge_scores_give_no_nan():
    extreme = torch.tensor([1e30, -1e30, 1e30, 0.0]).view(1, 1, 4, 1)
    for kind in ("softmax", "relu"):
        assert_close(attend(extreme, kind).flatten(), torch.tensor([0.5, 0, 0.5, 0]))
