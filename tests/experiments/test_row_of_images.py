"""A row whose runs are residual networks: all that other rows can, it can."""

import dataclasses
import re
from pathlib import Path
from types import MappingProxyType

import jaxtyping
import numpy as np
import pytest
import xarray as xr

from grokkit import experiments, runs
from grokkit.cli import main
from grokkit.diagnostics import grok_epoch, memorise_epoch
from grokkit.errors import SettingError
from grokkit.experiments import differences, plan, reproduce, small
from grokkit.experiments.engines import engine_of
from grokkit.experiments.results import document
from grokkit.images import ImageTrainer
from grokkit.runtime import any_specs_of
from tests.experiments.tiny import SEEDS, history_of, tiny

pytestmark = pytest.mark.slow  # they train residual networks

NAME = "resnet-grokking"
ROW = dataclasses.replace(tiny(NAME), seeds=SEEDS)
RUNS = len(ROW.specs())


@pytest.fixture(scope="module")
def history() -> xr.Dataset:
    found = history_of(NAME)
    assert found is not None
    return found


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, history: xr.Dataset, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder; a package with the tiny row and nothing else, recorded."""
    monkeypatch.setattr(experiments, "ROWS", MappingProxyType({NAME: ROW}))
    package = tmp_path / "package"
    package.mkdir()
    monkeypatch.setattr(runs, "folder", lambda: package)
    runs.keep(NAME, small(ROW, history))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_it_is_reproduced_through_the_store(folder: Path, monkeypatch: pytest.MonkeyPatch):
    found, results = reproduce(ROW, folder / "made", seeds=(0,), workers=1, progress=False)
    assert found is not None and any_specs_of(found) == ROW.specs(seeds=(0,))
    assert found.arm.values.tolist() == ["with twins", "without twins"]
    assert {path.name for path in (folder / "made").iterdir()} == {
        f"{NAME}.nc",
        f"{NAME}.md",
        "store",
    }
    assert [result.claim.id for result in results] == [claim.id for claim in ROW.claims]
    monkeypatch.setattr(ImageTrainer, "advance", lambda *_, **__: pytest.fail("trained"))
    again, _ = reproduce(ROW, folder / "made", seeds=(0,), workers=1, progress=False)
    assert again is not None and again.identical(found)
    assert len(plan(ROW, folder / "made", seeds=(0,)).done) == 2


def test_its_two_splits_cost_the_same_and_are_measured_once(folder: Path):
    specs = ROW.specs()
    assert len({engine_of(spec).like(spec) for spec in specs}) == 1
    left = plan(ROW, folder / "none")
    assert (len(left.specs), left.done) == (RUNS, ()) and left.seconds > 0


def test_nothing_trains_a_spec_of_another_kind(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(jaxtyping.config, "jaxtyping_disable", True)
    with pytest.raises(SettingError, match="spec: got 'str'; allowed: RunSpec, ImageSpec"):
        engine_of("spec")  # type: ignore[arg-type]


def test_what_is_kept_says_the_same_and_can_be_made_again(history: xr.Dataset):
    kept = small(ROW, history)
    assert any_specs_of(kept) == any_specs_of(history)
    for epochs in (memorise_epoch, grok_epoch):
        np.testing.assert_array_equal(epochs(kept), epochs(history))
    assert [one.parts for one in ROW.judge(kept)] == [one.parts for one in ROW.judge(history)]
    assert differences(kept, 12, progress=False) == []
    forged = kept.copy(deep=True)
    forged.train_loss[0, 1] *= 1.01
    (line,) = differences(forged.isel(run=[0]), 12, progress=False)
    assert "run 0 (seed 0), train_loss at epoch 4: recorded" in line


def test_every_command_knows_it(folder: Path, capsys: pytest.CaptureFixture[str]):
    def said(*words: str) -> str:
        assert main(list(words)) == 0
        captured = capsys.readouterr()
        assert captured.err == ""
        return captured.out

    assert re.match(
        rf"{NAME}, classroom: {RUNS} runs, 0 done; about", said("reproduce", NAME, "--dry-run")
    )
    said("reproduce", NAME, "--quiet", "--record", "--workers", "1")
    assert (folder / "reproduced" / f"{NAME}.png").read_bytes().startswith(b"\x89PNG")
    assert NAME in said("runs", "list")
    shown = said("runs", "show", NAME, "--out", "shown.png")
    assert shown.count("without twins") == len(SEEDS) and (folder / "shown.png").exists()
    assert "agree to 2^-10" in said("runs", "verify", NAME, "--epochs", "8", "--quiet")
    verdicts = said("claims", NAME)
    assert verdicts == said("claims", NAME, "--history", f"reproduced/{NAME}.nc")
    assert "glyph sum, fraction 0.7, rate 0.003, decay 0.001" in verdicts
    assert f"{RUNS} runs of 2 arms" in document()
