"""The probe on readouts whose answer is known."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from grokkit.diagnostics.shortcut import shortcut_loss
from grokkit.errors import SettingError
from grokkit.model import cross_entropy


def vectors(seed: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    random = torch.Generator().manual_seed(seed)
    y = torch.randn(2, 6, 5, generator=random, dtype=torch.float64)
    return y, torch.randint(5, (2, 6), generator=random)


def layer_norm(y: torch.Tensor) -> torch.Tensor:
    """With eps = 0."""
    return torch.nn.functional.layer_norm(y, y.shape[-1:], eps=0.0)


def test_an_axis_of_any_length_becomes_a_margin_of_one():
    """The readout is the identity and y = n e_c: what is left is log(1 + (C - 1) / e)."""
    targets = torch.tensor([[0, 3, 2], [4, 4, 1]])
    length = torch.tensor([[1.0, 30, 7], [2, 100, 0.1]]).double()
    y = length.unsqueeze(2) * torch.nn.functional.one_hot(targets, 5)
    expected = math.log(1 + 4 / math.e)
    assert shortcut_loss(y, lambda x: x, targets).tolist() == pytest.approx(2 * [expected])
    # What is known by length alone is lost: all examples point the same way.
    same = torch.ones(1, 4, 3).double() * torch.tensor([1.0, 2, 3, 4]).double()[:, None]
    by_length = torch.arange(4).view(1, 4)

    def ruler(x: torch.Tensor) -> torch.Tensor:
        """Sure of class i at a sum of 3 i + 3."""
        return -100 * (x.sum(dim=2, keepdim=True) - 3 * torch.arange(1, 5)).square()

    assert cross_entropy(ruler(same), by_length).max() < 1e-12
    assert shortcut_loss(same, ruler, by_length).item() > math.log(4)


def test_a_layer_norm_of_the_variants_own_is_kept_and_hides_the_norm_already():
    y, targets = vectors()
    usual = cross_entropy(3 * layer_norm(y), targets).mean(dim=1)
    probed = shortcut_loss(y, lambda x: 3 * layer_norm(x), targets)
    torch.testing.assert_close(probed, usual)
    # The residual path beside it still shows a difference.
    residual = shortcut_loss(y, lambda x: x + 3 * layer_norm(x), targets)
    assert not torch.isclose(residual, cross_entropy(y + 3 * layer_norm(y), targets).mean(1)).any()


@given(st.integers(0, 2**16), st.floats(-6, 6))
def test_the_probe_is_blind_to_the_norm_of_every_example(seed, size):
    y, targets = vectors(seed)
    own = 10 ** (size * torch.rand(2, 6, 1, generator=torch.Generator().manual_seed(seed)).double())
    matrix = torch.randn(2, 5, 7, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    plain, scaled = (shortcut_loss(x, lambda v: v @ matrix, targets) for x in (y, own * y))
    torch.testing.assert_close(scaled, plain, rtol=1e-9, atol=0)


def test_a_vector_of_zero_stays_zero_and_no_gradient_is_kept():
    y, targets = vectors()
    y[0, 2] = 0
    y.requires_grad_(True)
    seen = []

    def readout(x: torch.Tensor) -> torch.Tensor:
        seen.append(x)
        return x

    loss = shortcut_loss(y, readout, targets)
    assert not seen[0][0, 2].any() and loss.isfinite().all() and not loss.requires_grad


def test_a_readout_that_gives_no_logits_is_refused():
    y, targets = vectors()
    with pytest.raises(SettingError, match=r"readout: got \(2, 6\); allowed: logits of shape"):
        shortcut_loss(y, lambda x: x.sum(dim=2), targets)
