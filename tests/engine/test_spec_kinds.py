"""Specs of several kinds in one place: who reads which, and by which key it is stored."""

import pytest

from grokkit.engine import RunSpec, Spec, presets
from grokkit.engine.spec_kinds import read_spec, spec_kinds
from grokkit.errors import SettingError
from grokkit.images import ImageSpec, image_presets
from grokkit.operators import contest_presets
from grokkit.runtime import spec_key

SPECS = [*presets.values(), *image_presets.values(), *contest_presets.values()]


@pytest.mark.parametrize("spec", SPECS, ids=repr)
def test_a_spec_of_any_kind_is_read_as_what_it_was(spec: Spec):
    again = read_spec(spec.to_json())
    assert type(again) is type(spec) and again == spec
    assert spec_key(again) == spec_key(spec)


def test_every_kind_of_spec_is_found_by_who_has_not_imported_its_room():
    homes = {kind: cls.__module__.rsplit(".", 1)[0] for kind, cls in spec_kinds.items()}
    assert {kind: home for kind, home in homes.items() if home != "grokkit.engine"} == (
        spec_kinds.homes
    )


def test_specs_of_two_kinds_have_keys_of_their_own():
    other = ImageSpec().with_(weight_decay=0.5), ImageSpec(seed=1), ImageSpec(), RunSpec()
    assert len({spec_key(spec) for spec in other}) == 4


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"kind": "cars"}', "spec: got 'cars'; allowed: .*images, .*transformer"),
        ('["images"]', "spec: got .*; allowed: settings by name"),
        ('{"kind": "images", "width": 3}', "width: got 3; allowed: task, network"),
    ],
)
def test_what_is_of_no_kind_is_refused_in_one_line(text: str, message: str):
    with pytest.raises(SettingError, match=message):
        read_spec(text)
