"""`grokkit bench`: what is timed is the same work, and the report says what was measured."""

import csv

import numpy as np
import pytest
import torch

from grokkit import bench, core
from grokkit.bench.contenders import EveryQuery
from grokkit.bench.core_run import core_run
from grokkit.bench.measure import Measurement
from grokkit.cli import main
from grokkit.engine import RunSpec
from grokkit.errors import SettingError

SMALL = RunSpec().with_(p=7, train_fraction=0.5, d_model=8, d_mlp=16, record_every=5)


@pytest.fixture(scope="module")
def measured() -> Measurement:
    return bench.measure(SMALL, rounds=2)


def test_every_contender_is_timed_in_every_round(measured):
    assert set(measured.milliseconds) == set(bench.CONTENDERS)
    assert all(times.shape == (2,) for times in measured.milliseconds.values())


def test_a_ratio_is_taken_within_a_round(measured):
    times = {"textbook": np.array([10.0, 40.0]), "ours": np.array([1.0, 2.0])}
    pair = Measurement(SMALL, measured.milliseconds | times, "a machine")
    assert pair.ratio("textbook", "ours").tolist() == [10.0, 20.0]
    assert "15.00x (10.00 .. 20.00)" in bench.report(pair)


def test_the_report_names_the_run_the_machine_and_the_spread(measured):
    text = bench.report(measured, memory=123.0)
    for words in ("p 7", "torch", "textbook / ours", "ours / floor", "123 MB", "min .. max"):
        assert words in text


def test_the_csv_has_every_round(measured, tmp_path):
    path = bench.write_csv(measured, tmp_path / "bench.csv")
    rows = list(csv.DictReader(path.read_text().splitlines()))
    assert len(rows) == 2 * len(bench.CONTENDERS)
    assert {row["contender"] for row in rows} == set(bench.CONTENDERS)


@pytest.mark.slow
def test_peak_memory_is_that_of_the_child_not_of_this_process():
    # This process has far more loaded than a run needs.
    ballast = np.ones(200_000_000, dtype=np.uint8)
    assert 100 < bench.peak_memory(SMALL, epochs=1) < 500
    assert ballast.all()


def test_a_device_report_has_a_line_for_every_size_of_group():
    text = bench.device_report(SMALL, "cpu", sizes=(1, 3), seconds=0.01)
    assert [line.split()[0] for line in text.splitlines()[2:]] == ["1", "3"]


def test_the_command_prints_the_table_and_writes_the_file(capsys, tmp_path):
    words = ["bench", "--p", "7", "--train-fraction", "0.5", "--rounds", "1", "--no-memory"]
    files = ["--csv", str(tmp_path / "b.csv"), "--markdown", str(tmp_path / "B.md")]
    assert main([*words, *files]) == 0
    assert "textbook / ours" in capsys.readouterr().out
    assert (tmp_path / "b.csv").exists()
    page = (tmp_path / "B.md").read_text()
    written = "grokkit bench --p 7 --train-fraction 0.5 --rounds 1 --no-memory --markdown B.md"
    assert "textbook / ours" in page and f"Written by `{written}`" in page


def test_no_rounds_are_refused_in_one_line(capsys):
    assert main(["bench", "--rounds", "0"]) == 2
    assert capsys.readouterr().err.startswith("grokkit bench: rounds: got 0; allowed:")


@pytest.mark.parametrize("readout", ["classifier", "residual"])
def test_every_position_as_a_query_gives_the_cores_answer(readout):
    spec = SMALL.with_(heads=2, readout=readout, output_projection=True, d_model=8)
    run = core_run(spec)
    train = run.task.build(0).train
    shape = (run.model, 12, train.tokens.shape[1], 7)
    for one, other in zip(
        core.Transformer(*shape)(train.tokens), EveryQuery(*shape)(train.tokens), strict=True
    ):
        torch.testing.assert_close(one, other)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"layers": 2, "readout": "residual"}, "layers"),
        ({"task": "permutation_composition"}, "task"),
        ({"penalty_gradient": "noise"}, "prior"),
    ],
)
def test_what_the_core_does_not_know_is_refused_by_name(change, field):
    with pytest.raises(SettingError, match=f"^{field}:"):
        core_run(RunSpec().with_(**change))
