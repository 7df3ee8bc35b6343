"""The first weights: their sizes, and embeddings that are alike for neighbouring numbers."""

import math
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close

from grokkit.model import Layout, ModelSpec, initialise, of_kinds
from grokkit.model.initial import CUT, KEPT_DEVIATION, draw_matrix, smooth
from grokkit.model.spec import InitKind

WIDE: dict[str, Any] = {"d_model": 128, "d_mlp": 512, "heads": 4, "readout": "residual"}
SHAPE = (400, 300)


def drawn(kind: InitKind, scale: float = 1.0) -> torch.Tensor:
    return draw_matrix(kind, SHAPE, scale, torch.Generator().manual_seed(0))


@pytest.mark.parametrize(
    ("kind", "deviation"), [("uniform", 1 / math.sqrt(3)), ("lecun", 1), ("kaiming", math.sqrt(2))]
)
def test_a_matrix_has_the_stated_deviation(kind, deviation):
    matrix = drawn(kind) * math.sqrt(SHAPE[0])
    assert matrix.mean().abs() < 0.02
    assert matrix.std().item() == pytest.approx(deviation, rel=0.01)
    assert_close(drawn(kind, 3.0), 3 * drawn(kind))


def test_lecuns_normal_is_cut_off_at_two_deviations_of_the_uncut_one():
    standard = drawn("lecun") * math.sqrt(SHAPE[0]) * KEPT_DEVIATION
    assert 0.99 * CUT < standard.abs().max() <= CUT
    assert drawn("kaiming").abs().max() * math.sqrt(SHAPE[0] / 2) > CUT
    # Second moment of the standard normal between -2 and 2, by the trapezoidal rule.
    x = torch.linspace(-CUT, CUT, 100_001, dtype=torch.float64)
    weight = torch.exp(-x.square() / 2)
    variance = torch.trapezoid(x.square() * weight, x) / torch.trapezoid(weight, x)
    assert math.sqrt(variance.item()) == pytest.approx(KEPT_DEVIATION)


def test_the_kind_is_that_of_every_matrix_and_no_embedding_gain_or_bias():
    layouts = {}
    for init in ("uniform", "kaiming"):
        spec = ModelSpec(**WIDE, norm="peri", layers=2, init=init)
        layout = Layout.of(spec, n_tokens=50, length=3, n_classes=49)
        layouts[init] = initialise(layout, spec, [0])
    for name in layouts["uniform"]:
        one, other = (layouts[init][name] for init in ("uniform", "kaiming"))
        if name.startswith("W_"):
            ratio = (other.std() / one.std()).item()
            assert ratio == pytest.approx(math.sqrt(6), rel=0.05), name
        elif name.startswith("gain"):
            assert (one == 1).all() and (other == 1).all()
        elif name.startswith(("b_", "bias")):
            assert not one.any() and not other.any()
    for name in ("token_embedding", "position_embedding"):
        assert torch.equal(layouts["uniform"][name], layouts["kaiming"][name])


def test_a_deeper_or_normed_model_begins_with_the_same_first_layer():
    starts = {}
    changes: list[dict[str, Any]] = [{}, {"norm": "M+A*"}, {"norm": "M+A*", "layers": 3}]
    for number, change in enumerate(changes):
        spec = ModelSpec(**WIDE, **change)
        starts[number] = initialise(Layout.of(spec, 50, 3, 49), spec, [4])
    plain, normed, deep = starts.values()
    assert all(torch.equal(normed[name], plain[name]) for name in plain)
    assert all(torch.equal(deep[name], plain[name]) for name in plain if name != "W_U")
    assert of_kinds(deep, ["W_Q"]) == ("W_Q", "W_Q.2", "W_Q.3")
    assert not torch.equal(deep["W_Q"], deep["W_Q.2"])


@given(st.integers(2, 60), st.floats(0.05, 100))
def test_smoothing_gives_the_covariance_that_it_states(p, length):
    root = smooth(torch.eye(p, dtype=torch.float64), length)
    number = torch.arange(p, dtype=torch.float64)
    apart = 2 * math.pi * (number[:, None] - number) / p
    stated = torch.exp((p / (2 * math.pi * length)) ** 2 * (apart.cos() - 1))
    assert_close(root @ root.T, stated, rtol=1e-7, atol=1e-7)


def test_near_neighbours_correlate_like_a_gaussian_of_that_length():
    p, length = 211, 5.0
    root = smooth(torch.eye(p, dtype=torch.float64), length)
    covariance = root @ root.T
    for apart in (0, 1, 3, 8):
        expected = math.exp(-(apart**2) / (2 * length**2))
        assert covariance[7, 7 + apart].item() == pytest.approx(expected, abs=0.01)
    assert covariance[0, p - 1].item() == pytest.approx(covariance[0, 1].item())


def test_only_the_numbers_become_alike_and_all_keep_their_size():
    p, n_tokens = 97, 99
    white, alike = (
        initialise(Layout.of(spec, n_tokens, 3, p), spec, [0])["token_embedding"][0]
        for spec in (ModelSpec(**WIDE), ModelSpec(**WIDE, toeplitz_length=4.0))
    )
    assert torch.equal(white[p:], alike[p:])
    assert alike[:p].std().item() == pytest.approx(white[:p].std().item(), rel=0.05)

    def step(numbers: torch.Tensor) -> float:
        return (numbers.roll(-1, 0) - numbers).norm(dim=1).mean().item()

    expected = math.sqrt(1 - math.exp(-1 / (2 * 4.0**2)))
    assert step(alike[:p]) / step(white[:p]) == pytest.approx(expected, rel=0.1)
