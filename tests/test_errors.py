"""One line for every refusal: the field, what was given, what is allowed."""

import math
import pickle

import pytest

from grokkit.errors import (
    SettingError,
    check_choice,
    check_fraction,
    check_int,
    check_number,
    refuse,
)


@pytest.fixture(autouse=True)
def as_a_learner_calls(monkeypatch):
    """Without the type checks that tests switch on: wrong types are what is tested here."""
    import jaxtyping

    monkeypatch.setattr(jaxtyping.config, "jaxtyping_disable", True)


def test_the_line():
    with pytest.raises(SettingError) as refused:
        refuse("positions", (0, 9), "distinct positions 0..3")
    assert str(refused.value) == "positions: got (0, 9); allowed: distinct positions 0..3"
    assert (refused.value.field, refused.value.value) == ("positions", (0, 9))
    assert refused.value.allowed == "distinct positions 0..3"


def test_it_is_one_line_whatever_was_given():
    assert "\n" not in str(SettingError("p", "1\n2", "a\n number"))


def test_it_is_a_value_error_and_survives_pickling():
    error = SettingError("p", 4, "a prime")
    again = pickle.loads(pickle.dumps(error))
    assert isinstance(again, ValueError) and isinstance(again, SettingError)
    assert str(again) == str(error) and again.field == "p" and again.value == 4


@pytest.mark.parametrize("value", [True, False, 1.0, "1", None, 0, 6, -3])
def test_no_whole_number_in_range(value):
    with pytest.raises(SettingError, match=r"^n: got .*; allowed: a whole number, 1\.\.5$"):
        check_int("n", value, 1, 5)


def test_whole_numbers_in_range():
    assert [check_int("n", value, 1, 5) for value in (1, 3, 5)] == [1, 3, 5]
    assert check_int("n", 10**30, 1) == 10**30
    with pytest.raises(SettingError, match=r"allowed: a whole number, 1 or more$"):
        check_int("n", 0, 1)


@pytest.mark.parametrize(
    "value", [0, 1, 0.0, 1.0, -0.5, 1.5, math.nan, math.inf, True, "0.5", None]
)
def test_no_fraction(value):
    with pytest.raises(SettingError, match=r"^f: got .*; allowed: a number between 0 and 1"):
        check_fraction("f", value)


def test_a_fraction():
    assert check_fraction("f", 0.3) == 0.3


@pytest.mark.parametrize("value", [-1, -1e-9, math.nan, math.inf, -math.inf, True, "1", None])
def test_no_number(value):
    with pytest.raises(SettingError, match=r"^x: got .*; allowed: a finite number, 0 or more$"):
        check_number("x", value)


def test_numbers():
    assert check_number("x", 0) == 0 and check_number("x", 2.5) == 2.5
    assert check_number("x", math.inf, finite=False) == math.inf
    assert check_number("x", -1, low=-2) == -1
    with pytest.raises(SettingError, match=r"allowed: a finite number, above 0$"):
        check_number("x", 0, strict=True)
    with pytest.raises(SettingError, match=r"allowed: a number, above 0$"):
        check_number("x", math.nan, strict=True, finite=False)


@pytest.mark.parametrize("value", ["c", "A", "", None, 1, ["a"]])
def test_no_choice(value):
    with pytest.raises(SettingError, match=r"^kind: got .*; allowed: a, b$"):
        check_choice("kind", value, ("a", "b"))


def test_choices_may_come_from_anywhere():
    assert check_choice("kind", "b", iter(["a", "b"])) == "b"
