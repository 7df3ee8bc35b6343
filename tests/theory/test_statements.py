"""The statements that the course computes, and their table in the help."""

import re

import numpy as np
import pytest

import grokkit.theory as theory
from grokkit.theory import STATEMENTS

# What the paper numbers and the course computes; steps inside proofs are covered by the
# statement they lead to.
NUMBERED = [
    "Definition 3.2", "Definition 4.1", "Theorem 4.3",
    "Corollary 4.5", "Lemma 5.1", "Proposition B.1", "Proposition B.2", "Conjecture E.1",
    "Conjecture E.2", *(str(n) for n in (1, 2, 3, 4, 5, 7)), "9", "10", "13", "14", "16", "17",
    "18", "19", "22", "24", "25", "27", "29", "32", "33", "34", "38", "39", "40",
    "45", "47", "50", "51", "52", "53", "54",
]  # fmt: skip


@pytest.mark.parametrize("number", NUMBERED)
def test_every_numbered_statement_has_a_function(number):
    if number.isdigit():
        found = [key for key in STATEMENTS if number in re.findall(r"(?<![\d.])\d+(?![\d.])", key)]
    else:
        found = [key for key in STATEMENTS if key.startswith(number)]
    assert found


def test_every_listed_function_is_public_and_says_where_it_comes_from():
    for key, functions in STATEMENTS.items():
        for function in functions:
            assert getattr(theory, function.__name__) is function, key
            assert function.__doc__


def test_every_public_function_belongs_to_a_statement():
    listed = {f.__name__ for functions in STATEMENTS.values() for f in functions}
    public = {
        name
        for name, value in vars(theory).items()
        if callable(value) and name.islower() and not name.startswith("_")
    }
    assert public - listed == {"log_softmax", "index", "table"}


def test_the_table_in_the_help_has_every_statement_as_one_row():
    text = re.sub(r"\n {25,}", " ", str(theory.__doc__))  # a row that wraps is one row
    rows = dict(re.findall(r"^(\S.*?) {2,}([a-z0-9_]+(?:, [a-z0-9_]+)*)$", text, re.M))
    assert rows == {
        statement: ", ".join(f.__name__ for f in functions)
        for statement, functions in STATEMENTS.items()
    }
    # reStructuredText reads a cell that is only "(12)" as a list.
    assert not [statement for statement in rows if statement.startswith("(")]


def test_the_mapping_cannot_be_changed_by_accident():
    with pytest.raises(TypeError):
        STATEMENTS["new"] = (np.sum,)  # type: ignore[index]
