"""The map of the course: its lines are claims that there are, and it shows what was measured."""

import json

import pytest

from grokkit import experiments, runs, viz
from grokkit.errors import SettingError
from grokkit.experiments import ROWS
from grokkit.experiments.claims_map import FILE, LINES, measure
from grokkit.viz.claims_map import COLORS, MARKS


def test_every_line_is_of_a_claim_and_they_stand_in_the_order_of_the_lessons():
    claims = {claim.id for row in ROWS.values() for claim in row.claims}
    assert {one.claim for one in LINES} <= claims
    assert len({one.claim for one in LINES}) == len(LINES)
    assert [one.lesson for one in LINES] == sorted(one.lesson for one in LINES)


def test_the_kept_file_has_what_was_measured_of_every_line_and_nothing_else():
    kept = json.loads((runs.folder() / FILE).read_text(encoding="utf-8"))
    assert list(kept) == [one.claim for one in LINES]
    assert all(
        "{" not in one["measured"] and "None" not in one["measured"] for one in kept.values()
    )


def test_what_is_measured_is_worked_out_from_the_results():
    results = experiments.claims("polynomial-ceiling")
    kept = json.loads((runs.folder() / FILE).read_text(encoding="utf-8"))
    worked_out = json.loads(measure(list(results)))
    assert worked_out == {name: kept[name] for name in worked_out} and worked_out


@pytest.mark.parametrize("upto", [0, 3, None])
def test_it_shows_the_lines_up_to_a_lesson_and_says_the_same_in_words(upto: int | None):
    lines = experiments.claims_map(upto)
    assert [one.claim for one in lines] == [
        one.claim for one in LINES if upto is None or one.lesson <= upto
    ]
    figure = viz.claims_map(upto)
    for one in lines:
        whole = upto in (None, one.lesson)
        assert (f"{one.measured}; {one.verdict}" in figure.alt) == whole
        assert f"{one.says}" in figure.alt and one.verdict in figure.alt
        verdict = one.verdict.partition(": ")[0]
        assert verdict in COLORS and verdict in MARKS
    assert figure.get_figheight() == pytest.approx(_height(figure), abs=1.0)


def _height(figure: viz.Picture) -> float:
    """How far down the words reach, in inches."""
    renderer = figure.canvas.get_renderer()  # type: ignore[attr-defined]
    lowest = min(text.get_window_extent(renderer).y0 for text in figure.axes[0].texts)
    return figure.get_figheight() - lowest / figure.dpi


@pytest.mark.parametrize("upto", [8, None])
def test_no_words_of_a_column_reach_into_the_next(upto: int | None):
    figure = viz.claims_map(upto)
    renderer = figure.canvas.get_renderer()  # type: ignore[attr-defined]
    boxes = [text.get_window_extent(renderer) for text in figure.axes[0].texts]
    overlaps = [
        (i, j)
        for i, one in enumerate(boxes)
        for j, other in enumerate(boxes[:i])
        if one.overlaps(other)
    ]
    assert not overlaps
    assert all(box.x1 <= figure.bbox.x1 and box.y0 >= 0 for box in boxes)


def test_a_lesson_that_cannot_be_is_refused():
    with pytest.raises(SettingError, match="upto: got -1"):
        viz.claims_map(-1)
