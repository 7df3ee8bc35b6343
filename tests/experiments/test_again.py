"""Hindsight on trial: the rules that other seeds suggested, on runs drawn by hand."""

import numpy as np
import pytest

from grokkit import experiments
from grokkit.experiments import again
from tests.experiments.drawn import drawn, outcomes
from tests.experiments.staged import staged

STAYS = [10.0, 8.0, 8.0, 8.0, 6.1]
"""An effective rank that never comes to three quarters of what it was when memorised, at 100."""


def test_the_rows_have_settings_of_others_and_none_of_their_seeds():
    for name in ("ln-placement", "three-accounts", "polynomial-ceiling"):
        first, second = (experiments.row(one) for one in (name, f"{name}-again"))
        assert not set(first.seeds) & set(second.seeds)
        assert set(second.specs(seeds=first.seeds)) <= set(first.specs())
        assert len({spec.seed for spec in second.specs()}) == len(first.seeds)


NEVER = [0.0, 0.1, 0.2, 0.2, 0.2]


@pytest.mark.parametrize(
    ("rank", "before", "never"),
    [
        ([10.0, 8.0, 6.0, 6.0, 6.0], True, False),
        ([5.0, 8.0, 8.0, 6.0, 8.0], True, False),  # the first time counts, and only later ones
        ([10.0, 8.0, 8.0, 8.0, 6.0], False, False),  # at 400, when all is understood
        (STAYS, False, True),
    ],
)
def test_the_rank_foretells_where_it_falls_before_the_grok_and_nowhere_else(
    rank: list[float], before: bool, never: bool
):
    arms = {name: {"effective_rank": rank} for name in ("M", "M+A*", "A*", "none")}
    arms["A^qk"] = {"effective_rank": rank, "test_accuracy": NEVER}
    assert outcomes(again.rank_foretells(drawn(arms))) == [before] * 4 + [never]


def test_where_no_grok_came_none_was_foretold_and_where_one_came_silence_is_not_asked_for():
    arms = {
        name: {"effective_rank": [10.0, 8.0, 6.0, 6.0, 6.0], "test_accuracy": NEVER}
        for name in ("M", "M+A*", "A*", "none")
    }
    arms["A^qk"] = {"effective_rank": STAYS}  # and it groks
    assert outcomes(again.rank_foretells(drawn(arms))) == [None] * 5
    arms["A^qk"] = {"effective_rank": STAYS, "test_accuracy": NEVER, "train_accuracy": NEVER}
    assert outcomes(again.rank_foretells(drawn(arms)))[-1] is None  # never memorised


@pytest.mark.parametrize(
    ("mirrored", "at_once"),
    [
        ([0.0, 0.4, 0.5, 0.9, 1.0], True),  # memorised at 100, so by 200
        ([0.0, 0.4, 0.4, 0.5, 1.0], False),
        ([0.0, 0.0, 0.0, 0.0, 0.4], False),  # not at all
    ],
)
def test_mirror_images_come_at_once_or_they_do_not(mirrored: list[float], at_once: bool):
    arms = {name: {"mirrored_accuracy": mirrored} for name in ("M", "A^v", "none", "A*")}
    quick = slow = at_once
    assert outcomes(again.mirror_images_at_once(drawn(arms))) == [quick] * 2 + [not slow] * 2


@pytest.mark.parametrize(
    "curves",
    [
        {"mirrored_accuracy": [0.0] * 5, "train_accuracy": NEVER},  # never memorised
        {"mirrored_accuracy": [np.nan] * 5},  # the task has no mirror images
    ],
)
def test_mirror_images_are_asked_for_where_there_is_something_to_compare(curves):
    arms = {name: curves for name in ("M", "A^v", "none", "A*")}
    assert outcomes(again.mirror_images_at_once(drawn(arms))) == [None] * 4


def verdicts(history) -> dict[str, str]:
    row = experiments.row("three-accounts-again")
    results = row.judge(history, seeds=range(5))
    return {result.claim.id.split("/")[1]: result.verdict for result in results}


IN_ORDER = {
    "effective rank": 1000,
    "KL": 1500,
    "entropy": 2000,
    "best step": 3000,
    "alpha": 4000,
}


def test_an_order_is_the_same_or_it_is_not():
    assert verdicts(staged({"baseline": IN_ORDER}))["same-order"] == "reproduced"
    others = dict(zip(IN_ORDER, reversed(IN_ORDER.values()), strict=True))
    assert verdicts(staged({"baseline": others}))["same-order"] == "not reproduced"


def test_a_level_is_stayed_away_from_or_it_is_not():
    assert verdicts(staged())["level"] == "reproduced"
    far = {"random distractors": {"KL": 1.0}}
    assert verdicts(staged(far=far))["level"] == "partly"


def test_a_level_is_not_asked_of_a_trap_where_there_is_no_mark_or_nothing_was_learned():
    history = staged()
    flat = history.assign(kl=0 * history.kl, map_entropy=0 * history.map_entropy)
    trapped = history.arm == "random distractors"
    ignorant = history.assign(train_accuracy=history.train_accuracy.where(~trapped, 0.0))
    nan = history.assign(kl=history.kl.where(~trapped), map_entropy=history.map_entropy * np.nan)
    for one in (flat, ignorant, nan):
        assert verdicts(one)["level"] == "undecided"


def test_a_rank_turns_shortly_before_the_unseen_are_half_way_or_it_does_not():
    # In the staged runs the rank falls from memorising on: its peak is no turn.
    assert verdicts(staged())["rank-turns"] == "not reproduced"
    history = staged()
    unseen = history.unmirrored_accuracy >= 0.5
    half = history.epoch.where(unseen).min("epoch")
    turn = (history.epoch == (0.9 * half // 100) * 100).astype(float)
    history["effective_rank"] = history.effective_rank + 50 * turn
    assert verdicts(history)["rank-turns"] == "reproduced"
    history["effective_rank"] = history.effective_rank.where(turn == 0)
    assert verdicts(history)["rank-turns"] == "undecided"  # a gap is no peak
