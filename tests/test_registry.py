from dataclasses import dataclass

import pytest

from grokkit.errors import SettingError
from grokkit.registry import Registry


def shapes() -> Registry:
    registry: Registry = Registry("shape")

    @registry.register("square")
    @dataclass(frozen=True)
    class Square:
        side: float = 1.0

    @registry.register("circle")
    @dataclass(frozen=True)
    class Circle:
        radius: float = 1.0

    return registry


def test_classes_are_known_by_their_kind():
    registry = shapes()
    assert registry["square"].__name__ == "Square"
    assert registry["square"].kind == "square" and registry["circle"]().kind == "circle"
    assert list(registry) == ["square", "circle"] and len(registry) == 2
    assert "square" in registry and "triangle" not in registry


def test_an_unknown_kind_is_refused_with_the_known_ones():
    with pytest.raises(SettingError) as refused:
        shapes()["triangle"]
    assert str(refused.value) == "shape: got 'triangle'; allowed: circle, square"


def test_a_kind_with_a_home_is_imported_when_it_is_asked_for(tmp_path, monkeypatch):
    registry: Registry = Registry("shape", homes={"far": "far_shape", "lost": "errno"})
    (tmp_path / "far_shape.py").write_text(
        "from dataclasses import dataclass\n"
        "from tests.test_registry import pending\n"
        "@pending[0].register('far')\n@dataclass(frozen=True)\nclass Far: pass\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    pending.append(registry)
    assert registry["far"].__name__ == "Far"
    with pytest.raises(SettingError, match="shape: got 'lost'; allowed: far, lost"):
        registry["lost"]


pending: list[Registry] = []
"""What the module of a test registers in."""


def test_registering_again_replaces():
    registry = shapes()

    @registry.register("square")
    @dataclass(frozen=True)
    class Better:
        side: float = 2.0

    assert registry["square"] is Better and len(registry) == 2


def test_only_frozen_dataclasses_can_be_registered():
    registry = shapes()

    class Plain:
        pass

    @dataclass
    class Mutable:
        side: float = 1.0

    class Child(registry["square"]):
        colour: str = "red"

    for cls in (Plain, Mutable, Child):
        with pytest.raises(TypeError, match=f"{cls.__name__}: a shape must be a frozen dataclass"):
            registry.register("odd")(cls)
    assert "odd" not in registry
