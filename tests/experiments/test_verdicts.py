"""The rule that turns parts into a verdict; nobody has a say after that."""

import dataclasses
import itertools

import numpy as np
import pytest

from grokkit.experiments import (
    VERDICTS,
    Claim,
    Part,
    Result,
    Table,
    count,
    markdown,
    text,
    verdict_of,
)
from grokkit.experiments.claims import Bounds
from grokkit.experiments.estimates import Measured
from grokkit.experiments.judges import rank_correlations

YES, NO, OPEN = True, False, None


def part(*outcomes: bool | None) -> Part:
    return Part("is so", outcomes, "1 [0 to 2]")


# --- one part -----------------------------------------------------------------------------


@pytest.mark.parametrize("outcomes", [*itertools.product((YES, NO, OPEN), repeat=5)])
def test_a_part_holds_with_four_of_five_and_fails_once_it_no_longer_could(
    outcomes: tuple[bool | None, ...],
):
    yes, undecided = outcomes.count(YES), outcomes.count(OPEN)
    expected = True if yes >= 4 else None if yes + undecided >= 4 else False
    assert part(*outcomes).holds is expected
    assert part(*outcomes).count == yes


@pytest.mark.parametrize(
    ("n", "needed"), [(1, 1), (2, 2), (3, 3), (4, 4), (5, 4), (6, 5), (10, 8), (20, 16)]
)
def test_four_fifths_of_any_number_of_seeds_rounded_up(n: int, needed: int):
    assert part(*[YES] * n).needed == needed
    assert part(*[YES] * needed, *[NO] * (n - needed)).holds is True
    assert part(*[YES] * (needed - 1), *[NO] * (n - needed + 1)).holds is False


def test_a_part_without_seeds_says_nothing():
    assert part().holds is None


# --- a claim ------------------------------------------------------------------------------

HOLDS, FAILS, UNDECIDED = part(*[YES] * 5), part(*[NO] * 5), part(*[OPEN] * 5)


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_the_verdict_of_all_mixtures_of_parts(size: int):
    for parts in itertools.product((HOLDS, FAILS, UNDECIDED), repeat=size):
        kinds = {one.holds for one in parts}
        if kinds == {True}:
            expected = "reproduced"
        elif False in kinds:
            expected = "partly" if True in kinds else "not reproduced"
        else:
            expected = "undecided"
        assert verdict_of(parts) == expected
        assert verdict_of(parts[::-1]) == expected


def test_no_parts_are_no_evidence():
    assert verdict_of([]) == "undecided"


def test_every_verdict_can_be_given():
    given = {verdict_of(parts) for parts in ([HOLDS], [HOLDS, FAILS], [FAILS], [UNDECIDED])}
    assert given | {"not run at this size"} == set(VERDICTS)


# --- in words -----------------------------------------------------------------------------

CLAIM = Claim("row/one", "A | B\nis so.", "Figure 1", lambda evidence: [])
RESULT = Result(CLAIM, "partly", (part(YES, YES, NO, OPEN, YES), HOLDS), "p 43", 5)


def test_a_line_says_what_was_asked_what_was_seen_and_for_how_many():
    assert "is so: 1 [0 to 2]; 3 of 5 seeds, 1 undecided" in text([RESULT])
    assert "is so: 1 [0 to 2]; 5 of 5 seeds" in text([RESULT])
    assert "[partly (fragile: one seed turns it)] row/one" in text([RESULT])
    assert "p 43" in text([RESULT])


def test_a_row_of_the_table_stays_one_row_whatever_the_claim():
    table = markdown([RESULT, RESULT])
    lines = table.strip().split("\n")
    assert len(lines) == 4
    assert len({line.replace("\\|", "").count("|") for line in lines}) == 1
    assert "A \\| B is so." in table


@pytest.mark.parametrize(
    ("seeds", "few"), [(0, ""), (1, " on 1 seed"), (4, " on 4 seeds"), (5, ""), (20, "")]
)
def test_a_verdict_on_fewer_than_five_seeds_says_on_how_many(seeds: int, few: str):
    assert dataclasses.replace(RESULT, seeds=seeds).label == f"partly{few}"


def numbers(*values: float, at_most: float) -> Part:
    return Part.of("x", Measured.of(values), Bounds(at_most=at_most, null=1.0), "")


@pytest.mark.parametrize(
    ("parts", "turns"),
    [
        ((part(*[YES] * 5),), ()),
        ((part(*[YES] * 4, NO),), ("one seed",)),  # three of four are not four fifths
        ((numbers(*[0.1] * 5, at_most=0.5),), ()),
        ((numbers(*[0.45] * 5, at_most=0.5),), ("a quarter of a threshold",)),
        ((numbers(*[0.55] * 5, at_most=0.5),), ("a quarter of a threshold",)),
        ((numbers(*[0.45] * 4, 0.9, at_most=0.5),), ("one seed", "a quarter of a threshold")),
        ((part(*[YES] * 5), part(*[NO] * 5)), ()),
    ],
)
def test_a_verdict_is_fragile_where_one_seed_or_a_quarter_of_a_threshold_turns_it(parts, turns):
    result = Result(CLAIM, verdict_of(parts), parts, "p 43", 5)
    assert result.fragile == turns
    for form in (text, markdown, lambda results: Table(results)._repr_html_()):
        assert ("fragile" in form([result])) == bool(turns)


@pytest.mark.parametrize(
    ("source", "whose"),
    [("Figure 3", "papers"), ("our control", "ours"), ("weak point 10", "ours")],
)
def test_the_papers_claims_and_ours_are_told_apart(source: str, whose: str):
    assert dataclasses.replace(CLAIM, source=source).whose == whose
    assert dataclasses.replace(CLAIM, id="theory/x", source=source).whose == "algebra"


@pytest.mark.parametrize("form", [text, markdown, lambda results: Table(results)._repr_html_()])
def test_what_was_written_after_the_runs_says_so(form):
    late = dataclasses.replace(RESULT, claim=dataclasses.replace(CLAIM, afterwards="added late"))
    assert "after its runs: added late" in form([late])
    assert "after its runs" not in form([RESULT])


def test_what_was_not_run_is_named_in_one_line_below_what_was_found():
    claim = dataclasses.replace(CLAIM, id="row/two", says="So is C.")
    unrun = Result(claim, "not run at this size", (), "p 43", 0)
    mixed = [unrun, RESULT, unrun]
    named = "Not run at this size (2): “So is C.” “So is C.”"
    assert markdown(mixed) == f"{markdown([RESULT])}\n{named}\n"
    assert markdown([unrun, unrun]) == f"{named}\n"
    shown = Table(mixed)._repr_html_()
    assert shown.endswith(f"</table><p>{named}</p>") and shown.count("<tr>") == 2
    assert "<table" not in Table([unrun])._repr_html_()
    line = "[not run at this size] row/two: So is C."
    assert text(mixed) == f"{text([RESULT])}\n{line}\n{line}"


def test_in_the_terminal_what_was_not_run_stays_with_its_row():
    other = dataclasses.replace(RESULT, claim=dataclasses.replace(CLAIM, id="another/one"))
    unrun = Result(CLAIM, "not run at this size", (), "", 0)
    heads = [
        line.split("] ")[1].split(":")[0]
        for line in text([unrun, RESULT, other]).split("\n")
        if line[0] == "["
    ]
    assert heads == ["row/one", "row/one", "another/one"]


def test_the_count_names_only_verdicts_that_there_are():
    assert count([RESULT, RESULT]) == "2 partly"
    assert count([]) == ""


# --- rank correlations --------------------------------------------------------------------


def test_a_setting_is_one_for_all_seeds_or_each_seed_s_own():
    epochs = np.array([[10.0, 30.0], [20.0, 20.0], [np.nan, 10.0]])
    np.testing.assert_allclose(rank_correlations((1, 2, 3), epochs), [1, -1])
    measured = np.array([[3.0, 1.0], [2.0, 2.0], [1.0, 3.0]])
    np.testing.assert_allclose(rank_correlations(measured, epochs), [-1, -1])
    for seed in (0, 1):
        alone = rank_correlations(measured[:, seed].tolist(), epochs[:, [seed]])
        np.testing.assert_allclose(alone, rank_correlations(measured, epochs)[seed])


def test_without_an_order_the_correlation_is_nought_and_without_a_number_it_is_none():
    epochs = np.array([[10.0, np.nan, 10.0], [10.0, np.nan, 20.0]])
    settings = np.array([[1.0, 1.0, np.nan], [2.0, 2.0, 2.0]])
    np.testing.assert_array_equal(rank_correlations(settings, epochs), [0, np.nan, np.nan])
