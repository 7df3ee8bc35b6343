"""What the field found elsewhere: its own quantities, and its arms."""

import numpy as np
import pytest

from grokkit.engine import RunSpec, Trainer
from grokkit.engine.files import locate
from grokkit.engine.ticket import load_ticket
from grokkit.experiments import SIZES, field, ungrokking
from tests.experiments.drawn import drawn, judged

ROWS = (field.CIRCUITS, field.KERNEL, field.NORM, field.DATA, ungrokking.ROW)
NEVER = {"test_accuracy": [0.0] * 5}
TURN = [0.0, 0.1, 0.2, 0.4, 0.5]
"""From 0.1 at memorising to 0.5: half-way, 0.3, is passed at 300."""


@pytest.mark.parametrize(
    ("turn", "epoch"),
    [(TURN, 300), ([0.0, 0.1, 0.5, 0.1, 0.5], 400), ([0.0, 0.5, 0.5, 0.5, 0.5], np.nan)],
)
def test_half_way_is_where_a_variable_stays_beyond_half_of_its_way(turn, epoch):
    runs = drawn({"it": {"kernel_turn": turn}})
    np.testing.assert_equal(field.half_way("it", "kernel_turn")(runs).values, [epoch])


def test_half_way_is_not_known_of_a_run_that_has_not_memorised():
    runs = drawn({"it": {"kernel_turn": TURN, "train_accuracy": [0.5] * 5}})
    assert np.isnan(field.half_way("it", "kernel_turn")(runs).values).all()


@pytest.mark.parametrize(("share", "holds"), [(2.0, True), (1.0, False)])
def test_the_kernel_is_lazy_where_it_turns_twice_as_far_after_memorising(share, holds):
    runs = drawn({"baseline": {"kernel_turn": [0.0, 0.2, 0.2, 0.2, 0.2 * share]}})
    assert judged(field.KERNEL, "lazy-first", runs) == [holds]


@pytest.mark.parametrize(("large", "holds"), [(0.1, True), (0.4, False)])
def test_a_larger_output_is_lazier_where_its_kernel_has_turned_half_as_far(large, holds):
    runs = drawn(
        {
            "baseline": {"kernel_turn": TURN, "test_accuracy": [0.0, 0.0, 0.0, 1.0, 1.0]},
            "output x4": {"kernel_turn": [0.0, large, 0.5, 0.5, 0.5]},
            "output x0.25": {
                "kernel_turn": [0.0, 0.4, 0.5, 0.5, 0.5],
                "test_accuracy": [0.0, 0.0, 1.0, 1.0, 1.0],
            },
        }
    )
    assert judged(field.KERNEL, "output-scale", runs) == [True, True, holds]


def test_a_kernel_that_turns_without_a_grok_is_told():
    still, moved = ([0.0, 0.1, 0.1, 0.1, last] for last in (0.2, 0.5))
    for turn, holds in ((still, True), (moved, False)):
        runs = drawn({"baseline": {"kernel_turn": TURN}, "decay 0": NEVER | {"kernel_turn": turn}})
        assert judged(field.KERNEL, "no-grok-no-turn", runs) == [True, holds]


@pytest.mark.parametrize(("patched", "holds"), [(0.95, True), (0.5, False)])
def test_what_is_left_under_the_patch_is_asked_of_both_networks(patched, holds):
    runs = drawn(
        {
            "baseline": {"patched_test_accuracy": [0.0] * 4 + [patched]},
            "decay 0": NEVER | {"patched_train_accuracy": [0.0] * 4 + [1 - patched]},
        }
    )
    assert judged(field.CIRCUITS, "patched", runs) == [holds, True]


@pytest.mark.parametrize(("more", "holds"), [(200, True), (400, False)])
def test_the_wait_falls_faster_than_the_data_grow(more, holds):
    waits = [1.0 if epoch >= more else 0.0 for epoch in (0, 100, 200, 300, 400)]
    runs = drawn({"baseline": {}, "pairs 0.9": {"test_accuracy": waits}})
    assert judged(field.DATA, "wait", runs) == [holds]


@pytest.mark.parametrize(("end", "holds"), [(0.5, True), (0.9, False)])
def test_a_network_has_forgotten_that_began_right_and_ends_wrong(end, holds):
    ends = {ungrokking.LESS: end, ungrokking.SAME: 1.0}
    runs = drawn({name: {"test_accuracy": [1.0] * 4 + [last]} for name, last in ends.items()})
    assert judged(ungrokking.ROW, "forgets", runs) == [True, holds, True]


def test_a_run_of_ungrokking_begins_with_the_weights_of_the_grokked_network():
    for name, spec in ungrokking.setup("classroom").items():
        assert isinstance(spec, RunSpec)
        if spec.controls.ticket is None:
            assert name == ungrokking.NEW
            continue
        ticket, trainer = load_ticket(locate(spec.controls.ticket)), Trainer([spec])
        assert ticket.initial is not None and not ticket.kept and spec.stop_after is None
        for array, value in ticket.initial.items():
            assert trainer.weights[array][0].equal(value), array


@pytest.mark.parametrize("size", SIZES)
def test_a_matched_run_keeps_its_relative_step_and_its_product(size):
    arms = field.norms(size)
    base = arms["baseline"].settings()
    for factor in (0.5, 2):
        told = arms[f"norm x{factor:g}, matched"].settings()
        assert told["init_scale"] == told["embedding_scale"] == factor
        assert told["learning_rate"] / factor == base["learning_rate"]
        product = told["learning_rate"] * told["weight_decay"]
        assert product == pytest.approx(base["learning_rate"] * base["weight_decay"])


def test_a_recording_keeps_what_the_judges_read():
    """Every claim can be judged on a History of the kept variables alone."""
    for row in ROWS:
        curves = {name: TURN for name in row.variables if name not in field.KEPT}
        runs = drawn({name: curves | {"unmirrored_accuracy": TURN} for name in row.arms()})
        for claim in row.claims:
            assert claim.judge(runs), claim.id
