"""Running a row: through the store, resumed, judged, written; and what is kept of it."""

import sys
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from grokkit.diagnostics import grok_epoch, memorise_epoch, phase_borders
from grokkit.engine import RunSpec
from grokkit.errors import SettingError
from grokkit.experiments import (
    Claim,
    Evidence,
    Part,
    Row,
    differences,
    name_at,
    plan,
    reproduce,
    small,
)
from grokkit.runtime import RunStore, load_history, specs_of
from grokkit.runtime.history import to_bytes
from tests.experiments.tiny import history_of, tiny

pytestmark = pytest.mark.slow  # each trains a row

SMALL = RunSpec().with_(p=5, train_fraction=0.5, d_model=8, d_mlp=12, epochs=40, record_every=5)
SEEDS = (0, 1)


def memorised(evidence: Evidence) -> list[Part]:
    return [Part("has memorised", tuple(evidence.memorised("fast").reached), "seen")]


ROW = Row(
    "small",
    "Figure 0",
    "Does it run?",
    lambda size: {"slow": SMALL, "fast": SMALL.with_(learning_rate=5e-3)},
    (Claim("small/memorises", "It memorises.", "ours", memorised),),
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the row has been reproduced."""
    folder = tmp_path_factory.mktemp("reproduced")
    reproduce(ROW, folder, "classroom", SEEDS, workers=1, progress=False)
    return folder


@pytest.fixture(scope="module")
def history(folder: Path) -> xr.Dataset:
    return load_history(folder / "small.nc")


def test_it_writes_the_labelled_runs_and_the_verdicts(folder: Path, history: xr.Dataset):
    assert specs_of(history) == ROW.specs("classroom", SEEDS)
    assert history.arm.values.tolist() == ["slow", "slow", "fast", "fast"]
    table = (folder / "small.md").read_text()
    assert "It memorises." in table and "**" in table
    assert {path.name for path in folder.iterdir()} == {"small.nc", "small.md", "store"}


def test_what_the_store_holds_is_not_trained_again(
    folder: Path, history: xr.Dataset, monkeypatch: pytest.MonkeyPatch
):
    sweep = sys.modules["grokkit.runtime.sweep"]  # the function has its name
    monkeypatch.setattr(sweep, "plan", lambda *_: pytest.fail("trained"))
    again, results = reproduce(ROW, folder, "classroom", SEEDS, workers=1, progress=False)
    assert again is not None
    assert again.identical(history)
    assert [result.verdict for result in results] == [
        result.verdict for result in ROW.judge(history, "classroom", SEEDS)
    ]


def test_rows_share_their_runs(folder: Path):
    other = Row("other", "", "", lambda size: {"fast": SMALL.with_(learning_rate=5e-3)}, ())
    assert len(plan(other, folder, "classroom", SEEDS).done) == 2


def test_the_plan_names_what_is_there_and_what_the_rest_costs(folder: Path):
    done = plan(ROW, folder, "classroom", SEEDS)
    assert (len(done.specs), len(done.done), done.seconds) == (4, 4, 0.0)
    more = plan(ROW, folder, "classroom", (0, 1, 2))
    assert (len(more.specs), len(more.done)) == (6, 4) and more.seconds > 0


def test_an_interrupted_row_goes_on_where_it_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    stop_at_third = {"runs": 0}
    put = RunStore.put

    def interrupted(self: RunStore, history: xr.Dataset) -> int:
        stop_at_third["runs"] += 1
        if stop_at_third["runs"] == 3:
            raise KeyboardInterrupt
        return put(self, history)

    monkeypatch.setattr(RunStore, "put", interrupted)
    with pytest.raises(KeyboardInterrupt):
        reproduce(ROW, tmp_path, "classroom", SEEDS, workers=1, progress=False)
    assert not (tmp_path / "small.nc").exists() and not (tmp_path / "small.md").exists()
    monkeypatch.undo()
    left = plan(ROW, tmp_path, "classroom", SEEDS)
    assert 0 < len(left.done) < 4
    reproduce(ROW, tmp_path, "classroom", SEEDS, workers=1, progress=False)
    assert len(plan(ROW, tmp_path, "classroom", SEEDS).done) == 4


def test_a_row_that_trains_nothing_is_judged_all_the_same(tmp_path: Path):
    def judge(evidence: Evidence) -> list[Part]:
        return [Part("one is one", (True,), "1 = 1")]

    row = Row("none", "", "", lambda size: {}, (Claim("none/one", "One.", "", judge),))
    history, results = reproduce(row, tmp_path, progress=False)
    assert history is None and [result.verdict for result in results] == ["reproduced"]
    assert [path.name for path in tmp_path.iterdir()] == ["none.md"]


def test_files_are_made_before_the_runs_that_begin_with_them(tmp_path: Path):
    made = []
    row = Row("prepared", "", "", lambda size: {"one": SMALL}, (), prepare=made.append)
    reproduce(row, tmp_path, "classroom", [0], workers=1, progress=False)
    assert made == ["classroom"]


def test_files_of_the_two_sizes_do_not_get_in_each_others_way():
    assert name_at("four-phases", "classroom") == "four-phases"
    assert name_at("four-phases", "paper") == "four-phases-paper"


def test_a_reproduction_of_no_seeds_is_refused(tmp_path: Path):
    with pytest.raises(SettingError, match="seeds"):
        reproduce(ROW, tmp_path, "classroom", [], progress=False)


# --- what is kept -------------------------------------------------------------------------


def test_what_is_kept_says_the_same_of_every_run(history: xr.Dataset):
    kept = small(ROW, history)
    assert specs_of(kept) == specs_of(history)
    assert len(to_bytes(kept)) <= len(to_bytes(history))
    for epochs in (memorise_epoch, grok_epoch, phase_borders):
        np.testing.assert_array_equal(epochs(kept), epochs(history))
    verdicts = [
        [result.verdict for result in ROW.judge(one, "classroom", SEEDS)] for one in (kept, history)
    ]
    assert verdicts[0] == verdicts[1]


def test_what_is_kept_can_be_made_again(history: xr.Dataset):
    assert differences(small(ROW, history), 20, progress=False) == []


@pytest.mark.parametrize("epochs", [3, 8])
def test_any_number_of_first_epochs_can_be_made_again(epochs: int):
    """Also fewer than a prior's schedule takes, and none that is a record's."""
    priors = history_of("priors")
    assert priors is not None
    assert differences(small(tiny("priors"), priors), epochs, progress=False) == []


def test_a_value_that_was_changed_is_found(history: xr.Dataset):
    forged = small(ROW, history).copy(deep=True)
    forged.train_loss[2, 2] *= 1.01
    (line,) = differences(forged, 20, progress=False)
    assert "run 2 (seed 0), train_loss at epoch 10: recorded" in line


def test_a_change_below_the_stored_precision_is_none(history: xr.Dataset):
    rounded = small(ROW, history).copy(deep=True)
    rounded.train_loss[2, 2] *= 1 + 2.0**-13
    assert differences(rounded, 20, progress=False) == []
