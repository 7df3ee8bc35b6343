"""Kinds of one's own reach every process, and an edited kind is another run."""

import importlib
import runpy
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from grokkit.engine import KLPrior, register_optimizer, register_prior
from grokkit.engine.optimizers import AdamW
from grokkit.engine.priors import priors
from grokkit.errors import SettingError
from grokkit.runtime import import_kinds, kinds, spec_key, sweep, train
from grokkit.runtime.kinds import why_not_remote
from grokkit.tasks import tasks
from tests.engine.small import SMALL, same

pytestmark = pytest.mark.slow  # they start worker processes

MODULE = """
from dataclasses import dataclass
from grokkit.tasks import ModularTask, register_task

@register_task("of_mine")
@dataclass(frozen=True)
class OfMine(ModularTask):
    def label(self, operands):
        return rule(operands) % self.p

def rule(operands):
    return operands.sum(dim=1)
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A working directory with a module of one's own, ``my_kinds``."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "my_kinds.py").write_text(MODULE)
    yield tmp_path
    sys.modules.pop("my_kinds", None)
    tasks._members.pop("of_mine", None)
    priors._members.pop("of_mine", None)


def test_a_module_of_the_working_directory_works_everywhere(here: Path):
    import_kinds(["my_kinds"])
    specs = [SMALL.with_(task="of_mine", p=5, train_fraction=0.5, seed=seed) for seed in (0, 1)]
    assert why_not_remote(specs) is None
    alone = train(specs, workers=1)
    assert same(train(specs, workers=2), alone)
    assert same(sweep(specs, "runs", workers=2), alone)


def test_an_installed_package_names_its_kinds(here: Path, monkeypatch: pytest.MonkeyPatch):
    class Point:
        value = "my_kinds"

    asked = []
    monkeypatch.setattr(kinds, "entry_points", lambda group: asked.append(group) or [Point()])
    import_kinds()
    assert "of_mine" in tasks and asked == ["grokkit.kinds"]


@pytest.mark.parametrize(("text", "why"), [(None, "No module"), ("import", "SyntaxError")])
def test_a_module_that_cannot_be_imported_is_refused_in_one_line(here, text: str, why: str):
    if text is not None:
        (here / "broken_kinds.py").write_text(text)
    with pytest.raises(SettingError, match=f"import: got 'broken_kinds'.*{why}") as refused:
        import_kinds(["broken_kinds"])
    assert "\n" not in str(refused.value)


def edited(here: Path, old: str, new: str) -> None:
    text = (here / "my_kinds.py").read_text()
    assert old in text
    (here / "my_kinds.py").write_text(text.replace(old, new) + "\n# of another length")
    importlib.reload(sys.modules["my_kinds"])


def test_an_edited_task_is_trained_again(here: Path):
    import_kinds(["my_kinds"])
    before = SMALL.with_(task="of_mine", p=5, train_fraction=0.5)
    first = sweep([before], "runs")
    edited(here, "sum(dim=1)", "prod(dim=1)")
    after = SMALL.with_(task="of_mine", p=5, train_fraction=0.5)
    assert spec_key(after) != spec_key(before)
    assert not same(sweep([after], "runs"), first)


def test_a_file_edited_behind_the_back_of_a_session_is_not_what_it_runs(here: Path):
    import_kinds(["my_kinds"])
    spec = SMALL.with_(task="of_mine", p=5, train_fraction=0.5)
    key = spec_key(spec)
    (here / "my_kinds.py").write_text(MODULE + "\n# another")
    assert spec_key(spec) == key


SCRIPT = """
from dataclasses import dataclass
from grokkit.engine import KLPrior, presets, register_prior
from grokkit.runtime import spec_key

@register_prior("of_mine")
@dataclass(frozen=True)
class OfMine(KLPrior):
    def penalty(self, seen, batch):
        return {factor} * seen.scores.sum()

print(spec_key(presets["live"].with_(prior="of_mine", seed={seed})))
"""


def test_of_a_script_only_the_class_counts(here: Path, capsys: pytest.CaptureFixture[str]):
    def key(factor: int, seed: int) -> str:
        (here / f"{factor}{seed}.py").write_text(SCRIPT.format(factor=factor, seed=seed))
        runpy.run_path(f"{factor}{seed}.py", run_name="__main__")
        return capsys.readouterr().out.split()[-1]

    (here / "another.py").write_text("# another line\n" + SCRIPT.format(factor=0, seed=1))
    first = key(0, 1)
    runpy.run_path("another.py", run_name="__main__")
    assert capsys.readouterr().out.split()[-1] == first
    assert key(2, 1) != first


def test_kinds_of_grokkit_have_keys_without_their_source():
    assert not kinds.sources(SMALL)


def test_a_class_within_a_function_stays_in_this_process():
    @register_prior("of_mine")
    @dataclass(frozen=True)
    class Local(KLPrior):
        pass

    try:
        line = why_not_remote([SMALL.with_(prior=Local())])
        assert line is not None and "'of_mine' cannot be sent" in line
    finally:
        del priors._members["of_mine"]


@pytest.mark.parametrize("name", ["seed", "p", "epochs", "task", "heads", "kl_strength", "ticket"])
def test_a_field_with_the_name_of_another_setting_is_refused_when_it_registers(name: str):
    made = dataclass(frozen=True)(
        type("Clash", (AdamW,), {"__annotations__": {name: float}, name: 1.0})
    )
    with pytest.raises(SettingError, match=f"^{name}: got 'Clash'; allowed: another name"):
        register_optimizer("clash")(made)
