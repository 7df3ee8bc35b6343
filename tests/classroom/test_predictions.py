"""Predictions: shown beside what was measured, kept for the last lesson."""

import json

import pytest

from grokkit.classroom import beside, kept
from grokkit.classroom.predictions import FILE


@pytest.fixture(autouse=True)
def _own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_an_empty_prediction_runs_and_leaves_no_file():
    shown = beside("when", None, 1125, "epochs")
    assert repr(shown) == "when:\n  no prediction; measured 1125 epochs"
    assert "no prediction yet" in shown._repr_html_()
    assert not FILE.exists() and kept() == {}


def test_a_prediction_is_shown_beside_the_measurement_and_kept():
    shown = beside("when", 500, 1125.0, "epochs")
    assert repr(shown) == "when:\n  you said 500 epochs; measured 1125 epochs"
    assert kept() == {"when": {"first": 500, "predicted": 500, "measured": 1125.0}}
    beside("when", 600, 1125.0, "epochs")
    beside("what", "the second", "the first")
    assert kept()["when"]["first"] == 500 and kept()["when"]["predicted"] == 600
    assert kept()["what"]["measured"] == "the first"


@pytest.mark.parametrize("measured", [None, float("nan")])
def test_what_never_happened_is_shown_as_never(measured):
    shown = beside("when", "never", measured, "epochs")
    assert repr(shown) == "when:\n  you said never; measured never"
    assert json.loads(FILE.read_text())["when"]["measured"] == "never"


@pytest.mark.parametrize("content", ["", "no json", "[1, 2]"])
def test_a_damaged_file_of_predictions_stops_nobody(content):
    FILE.write_text(content)
    assert kept() == {}
    beside("when", 1, 2)
    assert list(kept()) == ["when"]


def test_what_a_learner_typed_cannot_run_in_the_page():
    assert "<script>" not in beside("when", "<script>", 2)._repr_html_()
    assert "<script>" not in beside("<script>", 1, 2)._repr_html_()
