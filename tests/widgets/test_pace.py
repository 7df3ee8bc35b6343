"""`grokkit bench --widgets`: what is counted is what a learner sees."""

import pytest

from grokkit.cli import main
from grokkit.widgets import pace
from tests.widgets.makers import SMALL


def test_pictures_epochs_and_delays_are_counted():
    seen = pace.live_pace(SMALL, seconds=0.7, turns=1)
    assert 0 < seen.pictures <= 5  # a second: it is never faster
    assert seen.epochs > 0 and seen.epochs_alone > 0
    assert (seen.delays > -0.001).all()


@pytest.mark.slow
def test_the_report_has_a_line_for_each_widget():
    text = pace.pace_report(SMALL, seconds=0.5)
    for words in ("pictures a second", "kernel waits", "RoutingPlayground", "PhaseFinder", "kB"):
        assert words in text


@pytest.mark.slow
def test_the_command_adds_it_to_its_report(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(pace, "pace_report", lambda: "the pace of the widgets")
    words = ["bench", "--p", "7", "--train-fraction", "0.5", "--rounds", "1", "--no-memory"]
    assert main([*words, "--widgets"]) == 0
    out = capsys.readouterr().out
    assert "textbook / ours" in out and "the pace of the widgets" in out
    assert main(words) == 0
    assert "the pace of the widgets" not in capsys.readouterr().out
