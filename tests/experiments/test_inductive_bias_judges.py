"""The judges of inductive bias and of holes, on runs whose curves are drawn by hand."""

import numpy as np
import pytest

from grokkit.experiments import compressibility, inductive_bias, uniformity
from tests.experiments.drawn import EPOCHS, drawn, outcomes

GROKS_AT = {
    # test accuracy 0.95 at 100, 200, 300, 400, and never
    100: [0.0, 1.0, 1.0, 1.0, 1.0],
    200: [0.0, 0.1, 1.0, 1.0, 1.0],
    300: [0.0, 0.1, 0.2, 1.0, 1.0],
    400: [0.0, 0.1, 0.2, 0.3, 1.0],
    np.inf: [0.0, 0.1, 0.2, 0.3, 0.4],
}


@pytest.mark.parametrize(
    ("rank", "epoch"),
    [
        ([1.0, 9.0, 5.0, 1.0, 1.0], 300),  # before memorising, at 100, nothing counts
        ([9.0, 9.0, 1.09, 1.0, 2.0], 200),  # within a tenth of the least
        ([9.0, 9.0, 1.11, 1.0, 2.0], 300),
        ([9.0, 8.0, 7.0, 6.0, 5.0], 400),  # still falling: its least is the last
        ([2.0, 2.0, 2.0, 2.0, 2.0], 100),
    ],
)
def test_a_measure_arrives_within_a_tenth_of_its_least_since_memorising(rank, epoch: int):
    runs = drawn({"it": {"effective_rank": rank}})
    assert compressibility.arrives(runs, "it", "effective_rank").values == [epoch]


@pytest.mark.parametrize(
    ("alpha", "ahead"),
    [
        ([3.0, 3.0, 3.0, 1.0, 1.0], True),  # at 300, and the grok at 400
        ([3.0, 3.0, 3.0, 3.0, 1.0], False),
    ],
)
def test_what_leads_has_arrived_by_nine_tenths_of_the_grok_in_every_placement(alpha, ahead: bool):
    arms = {name: {"alpha": alpha} for name in compressibility.COMPARED}
    assert outcomes(compressibility.leads("alpha")(drawn(arms))) == [ahead] * len(arms)


def placements(entropies, epochs) -> dict[str, dict[str, list[float]]]:
    """Six placements with an entropy at memorising and a grok epoch each."""
    return {
        name: {"map_entropy": [0.0, entropy, 0.0, 0.0, 0.0], "test_accuracy": GROKS_AT[epoch]}
        for name, entropy, epoch in zip(inductive_bias.PLACEMENTS, entropies, epochs, strict=True)
    }


def test_evenness_orders_where_who_looks_more_evenly_groks_sooner():
    epochs = (100, 200, 300, 300, 400, np.inf)  # never is later than all
    falling = (0.9, 0.8, 0.7, 0.7, 0.5, 0.4)
    judge = inductive_bias.entropy_orders
    assert outcomes(judge(drawn(placements(falling, epochs)))) == [True]
    assert outcomes(judge(drawn(placements(falling[::-1], epochs)))) == [False]
    assert outcomes(judge(drawn(placements((0.9, 0.4, 0.8, 0.7, 0.5, 0.6), epochs)))) == [False]


@pytest.mark.parametrize(("cost", "reads"), [(1.2, True), (1.0, True), (0.9, False)])
def test_the_length_is_read_where_the_probe_costs_a_nat_half_way_through_the_wait(
    cost: float, reads: bool
):
    # Memorised at 100, 0.95 at 300: half-way is 200, and the other records do not count.
    curves = {
        "test_accuracy": GROKS_AT[300],
        "train_loss": [1.0, 0.5, 0.25, 0.0, 0.0],
        "shortcut_loss": [9.0, 0.5, 0.25 + cost, 0.0, 9.0],
    }
    found = inductive_bias.shortcut(drawn({"none": curves, "A*": curves}))
    assert outcomes(found) == [reads, reads]


def hole(end: float, mirrored: float = 1.0, others: float = 1.0) -> dict[str, list[float]]:
    ends = {
        "extra_accuracy": end,
        "extra_mirrored_accuracy": mirrored,
        "extra_unmirrored_accuracy": others,
    }
    return {name: [1.0] * (len(EPOCHS) - 1) + [value] for name, value in ends.items()}


def test_a_hole_is_judged_by_its_last_record():
    runs = drawn({"small square": hole(0.4), "large square": hole(0.3)})
    assert outcomes(uniformity.larger_is_worse("square")(runs)) == [True]
    runs = drawn({"small square": hole(0.4), "large square": hole(0.38)})
    assert outcomes(uniformity.larger_is_worse("square")(runs)) == [False]


@pytest.mark.parametrize(("strip", "square", "worse"), [(0.1, 0.5, True), (0.5, 0.1, False)])
def test_strips_are_worse_where_the_large_one_is(strip: float, square: float, worse: bool):
    runs = drawn({"large strip": hole(strip), "large square": hole(square)})
    assert outcomes(uniformity.strips_are_worse(runs)) == [worse]


@pytest.mark.parametrize(("others", "by_mirrors"), [(0.5, True), (0.95, False), (1.0, False)])
def test_a_strip_is_right_by_mirror_images_where_the_others_are_not(
    others: float, by_mirrors: bool
):
    runs = drawn({"small strip": hole(0.9, mirrored=1.0, others=others)})
    assert outcomes(uniformity.by_mirrors(runs)) == [by_mirrors]
