"""The weights: one buffer, named views, a start that depends on the seed alone."""

import math

import pytest
import torch

from grokkit.errors import SettingError
from grokkit.model import MLP_WEIGHTS, Layout, ModelSpec, Parameters, initialise
from tests.model.cases import MODELS

SPEC = MODELS["2 heads softmax residual W_O"]
LAYOUT = Layout.of(SPEC, n_tokens=9, length=5, n_classes=7)


def test_views_cover_the_buffer_once():
    flat = torch.arange(2.0 * LAYOUT.size).view(2, -1)
    weights = Parameters(LAYOUT, flat)
    assert torch.cat([weights[name].flatten(1) for name in weights], dim=1).equal(flat)
    assert all(weights[name].shape[1:] == shape for name, shape in LAYOUT.shapes.items())
    assert weights.runs == 2 and len(weights) == len(LAYOUT.shapes)


def test_views_share_memory_with_the_buffers():
    weights = Parameters(LAYOUT, torch.zeros(2, LAYOUT.size))
    weights.flat.fill_(3)
    weights.gradient["W_Q"].fill_(5)
    assert (weights["W_U"] == 3).all()
    assert int((weights.flat_grad == 5).sum()) == 2 * SPEC.d_model**2


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_a_model_has_the_parameters_that_it_needs(model):
    layout = Layout.of(model, n_tokens=9, length=5, n_classes=7)
    assert ("W_O" in layout.shapes) == model.output_projection
    assert ("W_U" in layout.shapes) == (model.readout == "residual")
    assert set(MLP_WEIGHTS) < set(layout.shapes)
    assert layout.shapes["W_1"] == (model.d_model, model.d_mlp)


def test_columns_are_the_places_of_the_named_parameters():
    weights = Parameters(LAYOUT, torch.arange(2.0 * LAYOUT.size).view(2, -1))
    columns = weights.columns(["W_1", "b_2"])
    expected = torch.cat([weights["W_1"].flatten(1), weights["b_2"].flatten(1)], dim=1)
    assert weights.flat[:, columns].equal(expected)


def test_copies_are_copies():
    weights = initialise(LAYOUT, SPEC, [0, 1])
    one, double = weights.run(1), weights.to(torch.float64)
    assert one.flat.equal(weights.flat[1:])
    assert double.flat.equal(weights.flat.double())
    weights.flat.zero_()
    assert one.flat.any() and double.flat.any()


def test_a_runs_first_weights_do_not_depend_on_its_group_or_on_torchs_own_stream():
    alone = initialise(LAYOUT, SPEC, [7])
    torch.manual_seed(123)
    together = initialise(LAYOUT, SPEC, [3, 7, 1])
    assert together.flat[1].equal(alone.flat[0])
    assert not together.flat[0].equal(together.flat[1])


def test_the_first_weights_have_the_stated_size():
    wide = ModelSpec(d_model=128, d_mlp=512, init_scale=0.5, embedding_scale=2.0)
    weights = initialise(Layout.of(wide, 50, 5, 50), wide, [0])
    assert weights["token_embedding"].std().item() == pytest.approx(2 / math.sqrt(128), rel=0.05)
    for name, inputs in (("W_Q", 128), ("W_V", 128), ("W_1", 128), ("W_2", 512)):
        bound = 0.5 / math.sqrt(inputs)
        assert weights[name].abs().max() <= bound
        assert weights[name].std().item() == pytest.approx(bound / math.sqrt(3), rel=0.05)
    assert not weights["b_1"].any() and not weights["b_2"].any()


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("d_model", 0),
        ("d_mlp", 0),
        ("heads", 0),
        ("heads", 3),
        ("d_model", True),
        ("init_scale", 0.0),
        ("init_scale", math.inf),
        ("embedding_scale", math.nan),
        ("embedding_scale", -1.0),
    ],
)
def test_settings_that_make_no_sense_are_refused_by_name(field, value):
    with pytest.raises(SettingError) as refused:
        ModelSpec(**{field: value})
    assert refused.value.field == field


@pytest.mark.parametrize(
    ("field", "value"), [("attention", "linear"), ("readout", "none"), ("output_projection", 1)]
)
def test_choices_that_do_not_exist_are_refused_by_name(field, value, unchecked):
    with pytest.raises(SettingError, match=f"^{field}: got "):
        ModelSpec(**{field: value})
