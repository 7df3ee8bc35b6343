"""Yes, no and not known: what is said must hold whatever the unknown turns out to be."""

from itertools import product

import pytest

from grokkit.experiments.outcomes import both, negated, where

ANY = (True, False, None)


def could_be(outcome: bool | None) -> set[bool]:
    return {True, False} if outcome is None else {outcome}


@pytest.mark.parametrize(("one", "other"), [*product(ANY, ANY)])
def test_both_is_known_where_all_that_could_be_agrees(one: bool | None, other: bool | None):
    (found,) = both([one], [other])
    answers = {a and b for a, b in product(could_be(one), could_be(other))}
    assert could_be(found) == answers


@pytest.mark.parametrize("one", ANY)
def test_a_negation_is_known_where_the_outcome_is(one: bool | None):
    assert could_be(negated([one])[0]) == {not each for each in could_be(one)}
    assert where([one], [True]) == [True if one else None]
