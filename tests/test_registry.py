from dataclasses import dataclass, make_dataclass
from pathlib import Path

import pytest

from grokkit.engine.spec import FAMILIES, PARTS, RunSpec
from grokkit.errors import SettingError
from grokkit.registry import Registry, import_kinds, kinds_with


def shapes() -> Registry:
    registry: Registry = Registry("shape", part=False)

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


@pytest.mark.parametrize("family", FAMILIES)
def test_a_field_that_another_part_has_is_refused_at_registration(family: str):
    spec = RunSpec()
    others = {f for part in PARTS if part != family for f in vars(getattr(spec, part))}
    for name in {*vars(spec), *others}:
        own = make_dataclass("Own", [(name, int, 0)], frozen=True)
        with pytest.raises(SettingError, match=f"test_own.{name}: got '{name}'; allowed: a name"):
            FAMILIES[family].register("test_own")(own)
    assert "test_own" not in FAMILIES[family] and "test_own" not in str(kinds_with("p"))


def test_kinds_are_imported_by_the_name_of_their_module_or_by_an_entry_point(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    from grokkit import registry

    source = (
        "from dataclasses import dataclass\n"
        "from grokkit.tasks import ModularAddition, register_task\n"
        "@register_task('test_{0}')\n@dataclass(frozen=True)\nclass Mine(ModularAddition): ...\n"
    )
    for name in ("named", "pointed"):
        (tmp_path / f"grokkit_test_{name}.py").write_text(source.format(name))
    info = tmp_path / "grokkit_test-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: grokkit-test\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[grokkit.kinds]\nmine = grokkit_test_pointed\n")
    monkeypatch.syspath_prepend(tmp_path)
    registry._import_entry_points.cache_clear()
    import_kinds(["grokkit_test_named"])
    for name in ("named", "pointed"):
        assert RunSpec().with_(task=f"test_{name}", p=5).settings()["p"] == 5
    with pytest.raises(SettingError, match="import: got 'no_such_module'; allowed: a module"):
        import_kinds(["no_such_module"])
