"""Specs of runs on images: checked, changed by name, and written as JSON."""

import json

import pytest

from grokkit.errors import SettingError
from grokkit.images import GlyphSum, ImageSpec, ResNetSpec, image_presets

SPECS = [
    ImageSpec(),
    *image_presets.values(),
    ImageSpec(
        GlyphSum(2, 1, (0, 3, 7), 9, 0.3, "unordered"),
        ResNetSpec(3, "7x7"),
        "adamw",
        batch_size=None,
        stop_after=5,
        seed=4,
    ),
]


@pytest.mark.parametrize("spec", SPECS, ids=repr)
def test_json_and_back_is_the_same_spec(spec):
    again = ImageSpec.from_json(spec.to_json())
    assert again == spec
    assert hash(again) == hash(spec)


def test_a_setting_is_changed_by_its_own_name_wherever_it_lives():
    spec = ImageSpec().with_(width=8, alphabet=(0, 3), weight_decay=0.5, seed=2)
    assert spec.network == ResNetSpec(width=8)
    assert spec.task == GlyphSum(alphabet=(0, 3))
    assert (spec.weight_decay, spec.seed) == (0.5, 2)
    whole = ImageSpec().with_(task=GlyphSum(grid_rows=2), cell_size=8)
    assert whole.task == GlyphSum(grid_rows=2, cell_size=8)


def test_no_two_settings_have_one_name():
    spec = ImageSpec()
    plain = json.loads(spec.to_json())
    assert plain.pop("kind") == "images"
    parts = [plain.pop("task"), plain.pop("network")]
    settings = spec.settings()
    assert settings.pop("task") == "glyph_sum"
    assert len(settings) == len(plain) + sum(map(len, parts))


@pytest.mark.parametrize(("name", "near"), [("widht", "width"), ("decay", "weight_decay")])
def test_a_wrong_name_is_refused_with_one_that_is_near(name, near):
    with pytest.raises(SettingError, match=rf"^{name}: .*{near}"):
        ImageSpec().with_(**{name: 3})


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("task", "glyphs"),
        ("network", 18),
        ("optimizer", "sgd"),
        *(("learning_rate", value) for value in [0, -1.0, float("nan"), float("inf"), "1e-3"]),
        *(("weight_decay", value) for value in [-1.0, float("nan"), None]),
        *(("batch_size", value) for value in [0, 1, 2.5, True]),
        *(("seed", value) for value in [-1, 0.5, None]),
        *(("epochs", value) for value in [0, 1.0]),
        *(("record_every", value) for value in [0, "10"]),
        *(("stop_after", value) for value in [-1, 1.5]),
    ],
)
def test_a_bad_setting_is_refused_by_name(field, value):
    with pytest.raises(SettingError, match=rf"^{field}: got .*; allowed: "):
        ImageSpec(**{field: value})


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("3", "spec"),
        ("{}", "kind"),
        ('{"kind": "images", "sede": 1}', "sede"),
        ('{"kind": "images", "task": 1}', "task"),
        ('{"kind": "images", "task": {"cels": 1}}', "task.cels"),
        ('{"kind": "images", "network": {"width": 0}}', "width"),
    ],
)
def test_json_of_something_else_is_refused_by_name(text, field):
    with pytest.raises(SettingError) as caught:
        ImageSpec.from_json(text)
    assert caught.value.field == field
