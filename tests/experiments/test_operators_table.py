"""The table of scores of the row of operators: every system and rival, from the runs alone."""

import re

import numpy as np
import pytest

from grokkit.experiments import ROWS, operators
from grokkit.experiments.estimates import Measured
from grokkit.operators import RIVALS, contest_presets
from tests.experiments.tiny import SEEDS, history_of, tiny


@pytest.fixture(scope="module")
def evidence():
    return tiny("operators").evidence(history_of("operators"), "classroom", SEEDS)


@pytest.mark.slow
def test_every_rival_of_every_system_has_a_line_with_its_own_numbers(evidence):
    text = operators.table(evidence)
    blocks = re.split(r"\*\*(.+)\*\*\n", text)[1:]
    assert blocks[::2] == list(contest_presets)
    for arm, block in zip(blocks[::2], blocks[1::2], strict=True):
        lines = {line.split(" | ")[0].strip("| "): line for line in block.splitlines()}
        for rival in RIVALS:
            energy = operators.scores(evidence, arm, "energy", rival)
            assert str(Measured.of(energy).estimate()) in lines[rival]
        assert lines["truth"].endswith("| - | - |") and "| - | - |" not in lines["mno_8"]


def test_costs_are_summed_over_systems(evidence):
    each = [operators.costs(evidence, "train_seconds", "fno", [arm]) for arm in evidence.arms]
    total = operators.costs(evidence, "train_seconds", "fno")
    np.testing.assert_allclose(total, np.sum(each, axis=0))
    assert (total > 0).all() and len(total) == len(SEEDS)


def test_a_ratio_over_nothing_is_not_known():
    found = operators.ratio(np.array([1.0, 2.0]), np.array([0.0, 4.0]))
    assert np.isnan(found[0]) and found[1] == 0.5


def test_the_row_shows_its_table():
    assert ROWS["operators"].table is operators.table
