"""What a check says: four outcomes, the likely cause, the learner's own frames."""

import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st

import grokkit
from grokkit.classroom import check
from grokkit.classroom.checks import common
from grokkit.classroom.checks.exercise import Ask, Exercise, Function, each, mistaken
from grokkit.classroom.checks.expect import Wrong, alike, any_of, expect, require, show
from grokkit.classroom.checks.learner import LearnerError, Recorded
from grokkit.classroom.checks.outcome import CheckFailed
from grokkit.classroom.exercises import reveal
from grokkit.errors import SettingError


@pytest.fixture(autouse=True)
def _a_learners_own_notebook(monkeypatch: pytest.MonkeyPatch):
    for name in ("GROKKIT_CHECKS", "NBGRADER_EXECUTION"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def exercise() -> Exercise:
    made = Exercise(
        Function(
            "total",
            right=sum,
            cases={
                "it is the sum of the row": Ask(([1, 2, 5],), "Add them."),
                "it works for an empty row": Ask(([],), "A sum of nothing is 0."),
            },
            mistakes={"That is the product.": math.prod},
        ),
        hints=("First.", "Second."),
        afterword="Well.",
    )
    made.name = "ex_1_1"
    return made


def one_case(inputs: Any, **how: Any) -> Exercise:
    """An exercise that asks one function once."""
    made = Exercise(Function("answer", {"it holds": Ask(inputs)}, **how), hints=("A hint.",))
    made.name = "ex_1_1"
    return made


# --- the four outcomes --------------------------------------------------------------------


def test_not_attempted(exercise: Exercise):
    def stub(row):
        raise NotImplementedError("your code here")

    for answer in (stub, None, ...):
        result = exercise(answer)
        assert result.outcome == "not attempted" and not result and not exercise.solved
        assert "check.ex_1_1.hint()" in repr(result)


def test_wrong_says_property_input_answer_and_cause(exercise: Exercise):
    result = exercise(math.prod)
    assert repr(result) == (
        "ex_1_1: not right yet\n"
        "  must hold:    it is the sum of the row\n"
        "  likely cause: That is the product.\n"
        "  input:        iterable = [1, 2, 5]\n"
        "  your answer:  10\n"
        "  expected:     8"
    )
    assert exercise(lambda row: 7).cause == "Add them."
    assert exercise(lambda row: sum(row) or 3).cause == "A sum of nothing is 0."


def test_raised_shows_the_learners_frames_and_no_others(exercise: Exercise):
    def answer(row):
        return helper(row)

    def helper(row):
        return torch.tensor(row) @ torch.ones(7)

    result = exercise(answer)
    assert result.outcome == "raised"
    lines = result.traceback.splitlines()
    assert [line.split("in ")[-1] for line in lines if "line " in line] == ["answer", "helper"]
    assert "return torch.tensor(row) @ torch.ones(7)" in result.traceback
    assert lines[-1].startswith("RuntimeError")
    # In one line, as the page that a teacher hands back has it, the innermost is told.
    line = helper.__code__.co_firstlineno + 1
    own = f"in helper, line {line}: return torch.tensor(row) @ torch.ones(7) | RuntimeError: "
    assert own in result.line()
    assert result.inputs == [("row", "[1, 2, 5]")]


def test_correct_says_how_many_properties_hold_and_the_afterword(exercise: Exercise):
    result = exercise(sum)
    assert result and exercise.solved
    assert "all 2 properties hold" in repr(result) and "Well." in repr(result)


def test_a_call_without_an_answer_says_what_to_hand_in_and_forgets_nothing(exercise: Exercise):
    assert exercise(sum) and exercise.solved
    result = exercise()
    assert result.outcome == "not attempted" and "check.ex_1_1(total)" in repr(result)
    assert exercise.solved
    assert "check.ex_1_2(kl_to_oracle)" in repr(check.ex_1_2())


def test_a_value_where_a_function_is_asked_for():
    result = check.ex_1_2.judge(torch.tensor(0.3))
    assert result.outcome == "wrong" and result.got == "0.3"
    assert result.cause == (
        "Give the function itself, without calling it: check.ex_1_2(kl_to_oracle)."
    )


def test_one_function_of_two_is_told_which_are_asked_for():
    result = check.ex_6_4.judge(lambda times, divergence, since: 1.0)
    assert result.outcome == "wrong" and result.traceback == ""
    assert result.cause == "It asks for 2 answers: check.ex_6_4(late_power, inverse_law)."


def test_one_of_two_may_be_right_so_far_and_earns_nothing():
    def late_power(times, divergence, since):
        late = times >= since
        return -np.polyfit(np.log(times[late]), np.log(divergence[late]), 1)[0]

    def inverse_law(*given):
        raise NotImplementedError("your code here")

    for second in (inverse_law, None):
        result = check.ex_6_4.judge(late_power, second)
        assert result.outcome == "not attempted" and not result
        assert "late_power: right so far; inverse_law is not attempted" in repr(result)
    assert check.ex_6_4.judge(lambda *a: 1.0, inverse_law).outcome == "wrong"
    assert check.ex_6_4.judge(inverse_law, lambda *a: 1.0).outcome == "wrong"
    assert "right so far" not in repr(check.ex_6_4.judge(inverse_law, inverse_law))


def test_an_error_of_ones_own_is_not_taken_for_the_stub(exercise: Exercise):
    def answer(row):
        raise NotImplementedError("torch cannot do that")

    assert exercise(answer).outcome == "raised"


def test_leaving_the_notebook_is_the_learners_error_and_an_interrupt_is_not(exercise: Exercise):
    assert exercise(lambda row: exit(1)).outcome == "raised"

    def interrupted(row):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        exercise(interrupted)


def test_an_answer_that_the_check_cannot_use_is_wrong_and_not_the_checks_crash():
    made = one_case((), judge=lambda got: expect(got[0], 1))
    result = made(lambda: 5)
    assert result.outcome == "wrong" and "not of the kind" in result.cause


def test_an_error_in_a_method_of_the_learners_is_theirs():
    class Answer:
        def value(self):
            return [][1]

    made = one_case((), judge=lambda got: got.value())
    assert made(Answer).outcome == "raised"


def test_what_an_answer_does_to_its_input_and_to_the_generator_spoils_nothing_and_is_told():
    row = torch.tensor([3.0, 1.0])
    made = one_case((row,), right=lambda row: row.sort().values)

    def in_place(row):
        torch.manual_seed(5)
        row.copy_(row.sort().values)
        return row

    before = torch.random.get_rng_state()
    result = made(in_place)
    assert result.outcome == "wrong" and result.inputs == [("row", "[3., 1.]")]
    assert result.cause == "Your function changed its argument row; work on a copy."
    assert row.tolist() == [3.0, 1.0]
    assert torch.equal(torch.random.get_rng_state(), before)


def test_whatever_can_be_changed_in_place_is_noticed():
    def spoil(row, rows, names, untouched=None):
        row += 1
        rows[1][0] = 7
        names["new"] = 1
        return names

    row, rows = np.array([1.0, math.nan]), [torch.ones(2), [1, 2]]
    recorded = Recorded(spoil)
    recorded(row, rows, {"a": "b"}, untouched=[torch.tensor([math.nan]), "x", math.nan, {1, 2}])
    assert recorded.calls[0].changed == ["row", "rows", "names"]
    assert row[0] == 1 and rows[1] == [1, 2]
    for harmless in (lambda x: x.requires_grad_(), lambda x: x * 2, lambda x: x.sort()):
        other = Recorded(harmless)
        other(torch.ones(2))
        assert other.calls[0].changed == []


def test_a_right_answer_that_changes_its_input_is_not_excused_by_a_wrong_one_later():
    made = one_case(([1, 2],), right=sum)

    def answer(row):
        row.append(0)
        return sum(row)

    assert "changed its argument row" in made(answer).cause
    assert "changed" not in made(lambda row: row.append(0) or 7).cause  # the value comes first


def test_a_message_cannot_run_in_the_page(exercise: Exercise):
    html = exercise(lambda row: "<script>alert(1)</script>")._repr_html_()
    assert "<script>" not in html and "&lt;script&gt;" in html
    assert exercise(sum)._repr_html_().startswith("<div style='border-left:4px solid #00785A")


# --- when a check raises ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mode", "raising"),
    [
        ("show", set()),
        ("raise", {"wrong", "raised"}),
        ("grade", {"wrong", "raised", "not attempted"}),
    ],
)
def test_only_where_it_is_told_to_does_a_check_raise(
    exercise: Exercise, monkeypatch: pytest.MonkeyPatch, mode: str, raising: set[str]
):
    monkeypatch.setenv("GROKKIT_CHECKS", mode)
    answers: dict[str, Any] = {
        "wrong": lambda row: 7,
        "raised": lambda row: [][0],
        "not attempted": None,
        "correct": sum,
    }
    for outcome, answer in answers.items():
        if outcome not in raising:
            assert exercise(answer).outcome == outcome
            continue
        with pytest.raises(CheckFailed) as caught:
            exercise(answer)
        assert "\n" not in str(caught.value) and str(caught.value).startswith("ex_1_1: ")
        assert caught.value._render_traceback_() == [repr(caught.value.result)]


def test_nbgrader_means_grading_and_an_unknown_mode_is_refused(
    exercise: Exercise, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    with pytest.raises(CheckFailed):
        exercise(None)
    monkeypatch.setenv("GROKKIT_CHECKS", "shout")
    with pytest.raises(SettingError, match="GROKKIT_CHECKS: got 'shout'; allowed: show, raise"):
        exercise(None)


# --- how an answer is compared ------------------------------------------------------------


@pytest.mark.parametrize(
    ("got", "want"),
    [
        (0.30000000000000004, 0.3),
        (torch.tensor([1, 2]), [1.0, 2.0]),
        (np.array([[True]]), [[1]]),
        ([torch.tensor(1.0), 2], (1, 2)),
        (torch.ones(2, requires_grad=True), np.ones(2)),
        (torch.ones(2, dtype=torch.bfloat16), [1, 1]),
        ({"a": [1, 2], "b": "x"}, {"a": torch.tensor([1, 2]), "b": "x"}),
        (("x", torch.ones(3)), ("x", [1, 1, 1])),
        ([], torch.zeros(0)),
        (float("nan"), float("nan")),
        ({1, 2}, {2, 1}),
    ],
)
def test_answers_are_compared_by_value_whatever_their_type(got: Any, want: Any):
    assert alike(got, want)


@pytest.mark.parametrize(
    ("got", "want"),
    [
        (0.301, 0.3),
        ([1, 2], [[1, 2]]),
        ([1], 1),
        (None, 0),
        ("1", 1),
        ({"a": 1}, {"a": 1, "b": 2}),
        (("x", 1), ("x", 1, 1)),
        (float("nan"), 1.0),
        (1, "x"),
        ([1, "x"], [1, 2]),
    ],
)
def test_what_differs_differs(got: Any, want: Any):
    assert not alike(got, want)


@pytest.mark.parametrize(
    ("got", "want", "said"),
    [
        (None, 1.0, "is there a `return`"),
        (..., 1.0, "the place for your code"),
        (lambda: 1, 1.0, "are the parentheses missing"),
        ([[1, 2], [3, 4]], [[1, 3], [2, 4]], "transposed"),
        ([-1.0, 2.0], [1.0, -2.0], "sign is the other way round"),
        ([3.0, 6.0], [1.0, 2.0], "3 times what is expected"),
        (515.97, 515.9583, "It is 515.97; expected: 515.96."),
        ([-1.00003, 2.00006], [1.0, -2.0], "sign is the other way round"),
        ([1.00003, 2.00006], [1.0, 2.0], "At [0] it is 1.00003; expected: 1."),
        ([float("nan"), 1.0], [0.0, 1.0], "has nan in it"),
        ([True, False], [True, True], "1 of 2 entries differ"),
        (4, 3, "It is 1 too large."),
        ([0, 4], [1, 5], "Each is 1 too small."),
    ],
)
def test_common_slips_are_found_without_a_check_of_their_own(got: Any, want: Any, said: str):
    with pytest.raises(Wrong) as caught:
        expect(got, want, cause="Something else.")
    assert said in caught.value.cause + caught.value.note


@pytest.mark.parametrize(
    ("got", "want", "said"),
    [
        ([1.0, 2.0, 3.0], 6.0, "3 numbers came back; expected: a single number."),
        ([1.0, 2.0, 3.0], 6.0, "sum the terms"),
        ((1.0, 2.0), 1.0, "2 things came back; expected: a single number. Return that alone."),
        ([1.0], 1.0, "The number is in a list"),
        (torch.ones(1), 2.0, "The number is in an array of shape (1,)"),
        (1.0, torch.ones(3), "This is a single number; expected: 3 numbers."),
        (torch.ones(2), torch.ones(3), "2 numbers came back; expected: 3."),
        (torch.ones(1, 2, 3), torch.ones(2, 3), "an axis too many in front"),
        (torch.ones(2, 3, 1), torch.ones(2, 3), "`keepdim=True`"),
        (torch.ones(2, 3, 4), torch.ones(2, 3), "is a sum over it missing?"),
        (torch.ones(3), torch.ones(1, 3), "keep it though its length is 1"),
        (torch.ones(3), torch.ones(2, 3), "An axis is missing"),
        (torch.ones(3, 2), torch.ones(2, 3), "in another order"),
        (torch.ones(2, 2), torch.ones(2, 3), "broadcast"),
        ("1.0", 1.0, "This is text; expected: a single number. Return the value itself"),
        ({"a": 1.0}, 1.0, "This is a dict; expected: a single number."),
        ({1.0, 2.0}, [1.0, 2.0], "A set has no order"),
        (map(abs, [1]), [1.0], "`list(...)` makes a list of it"),
        ([1.0, None], [1.0, 2.0], "There is a None in it."),
        ([[1.0], [1.0, 2.0]], torch.ones(2, 2), "or differ in size"),
        (object(), True, "of type object; expected: True or False."),
        ([1.0], {"a": 1.0}, "This is a list; expected: a dict with the names a."),
        ({"a": 1.0}, {"a": 1.0, "b": 2.0}, "In the dict there is no b."),
        ({"a": 1.0, "c": 2.0}, {"a": 1.0}, "In the dict c is too many"),
        ({"a": torch.ones(2)}, {"a": torch.ones(2, 1)}, "a: The shape is (2,)"),
        ({"a": None}, {"a": 1.0}, "a: It is None."),
        (("x",), ("x", "y"), "1 things came back; expected: 2."),
        ((1, [2.0]), (1, [2.0, 3.0]), "The one at place 2: 1 numbers came back; expected: 2."),
        (3, "x", "This is a number; expected: a text."),
    ],
)
def test_another_shape_or_type_is_the_cause_whatever_the_case_says(got: Any, want: Any, said: str):
    with pytest.raises(Wrong) as caught:
        expect(got, want, cause="Every ratio is 1 here.")
    assert said in caught.value.cause


@pytest.mark.parametrize(
    ("got", "want", "said"),
    [
        (0.3 / math.log(2), 0.3, "to base 2"),
        (np.array([-1.0, math.nan]) / math.log(10), [-1.0, math.nan], "to base 10"),
        (30.0, 0.3, "a percentage"),
        (torch.tensor([0.7, 0.4]), [0.3, 0.6], "1 minus what is asked for"),
        ((3, math.inf), (2.6, math.inf), "It is rounded"),
        (2.6, 3, "A whole number is asked for: rounded up"),
        (3.4, 3, "A whole number is asked for: rounded down"),
        ((2.0, 5.0, math.inf), (5.0, math.inf, 2.0), "in another order"),
    ],
)
def test_a_slip_that_any_exercise_may_see_is_the_cause(got: Any, want: Any, said: str):
    with pytest.raises(Wrong) as caught:
        expect(got, want, cause="Every ratio is 1 here.")
    assert said in caught.value.cause
    with pytest.raises(Wrong) as caught:
        expect(got, want, mistakes={"Known here.": got})
    assert caught.value.cause == "Known here."


ROWS = torch.tensor([[1.3, 0.4, 2.9], [0.7, 5.1, 0.2]])
MASK = torch.tensor([True, False, True, True, False])


@pytest.mark.parametrize(
    ("inputs", "right", "answer", "said"),
    [
        ((0.313, 5.127), lambda b, x: b * x, lambda b, x: x, "A factor b is missing."),
        ((0.313, 5.127), lambda b, x: b * x, lambda b, x: b * b * x, "The answer is b times what"),
        ((0.313, 5.127), lambda b, x: x**b, lambda b, x: x, "for b = 1: where does b come in?"),
        ((0.313, 5.127), lambda b, x: x + b, lambda b, x: x, "for b = 0: where does b come in?"),
        ((0.313, 5.127), lambda b, x: x + b, lambda b, x: x - b, "for -b: a sign is wrong"),
        (
            (0.313, 5.127),
            lambda b, x: x + b,
            lambda b, x: x + 1 / b,
            "for 1/b: is a fraction",
        ),
        (
            (0.313, 5.127),
            lambda b, x: x + b,
            lambda b, x: x + math.exp(b),
            "for e^b: take b as it",
        ),
        ((0.313, 5.127), lambda b, x: x - b, lambda b, x: b - x, "with b and x exchanged"),
        (
            (7, 5.13),
            lambda n, x: x / (n + x),
            lambda n, x: x / (n + 1 + x),
            "n +1: is it off by one",
        ),
        ((ROWS,), lambda m: m.mean(), lambda m: m.sum(), "6 is the number of entries of m: is a"),
        (
            (ROWS,),
            lambda m: m.sum(1),
            lambda m: m.sum(1) / 3,
            "axis 1 of m: is it divided by that",
        ),
        ((ROWS,), lambda m: m.sum() / 2, lambda m: m.sum() / 3, "in place of the length of axis 0"),
        ((ROWS,), lambda m: m.softmax(1), lambda m: m.softmax(0), "exchange dim 0 and dim 1"),
        (
            (ROWS,),
            lambda m: m / m.sum(1, keepdim=True),
            lambda m: m / m.sum(),
            "all are taken together",
        ),
        ((ROWS - 2,), lambda m: m.exp() + 1, lambda m: (-m).exp() + 1, "for -m: a sign is wrong"),
        ((ROWS[0],), lambda x: x.norm(), lambda x: x.norm() ** 2, "is a root missing"),
        ((ROWS[0],), lambda x: x.norm() ** 2, lambda x: x.norm(), "square root of what is asked"),
        ((ROWS[0],), lambda x: x.log(), lambda x: x, "e to the power of what is asked for"),
        ((ROWS[0],), lambda x: x, lambda x: x.log(), "the logarithm of what is asked for"),
        ((MASK, 0.713), lambda m, x: m * x, lambda m, x: ~m * x, "is it negated?"),
        (
            (MASK, 0.7),
            lambda m, x: x / m.sum(),
            lambda m, x: x,
            "trues in m: is a division by it",
        ),
        (
            ({"W": ROWS}, 0.3),
            lambda w, b: {name: one + b for name, one in w.items()},
            lambda w, b: {name: one for name, one in w.items()},
            "for b = 0: where does b come in?",
        ),
    ],
)
def test_what_the_answer_would_be_if_is_the_cause_by_the_learners_names(
    inputs: Any, right: Any, answer: Any, said: str
):
    result = one_case(inputs, right=right)(answer)
    assert result.outcome == "wrong" and said in result.cause, repr(result)


@pytest.mark.parametrize(
    ("inputs", "right", "answer"),
    [
        ((3, 0.6), lambda n, x: x**n, lambda n, x: 0.0),  # what 0 in place of x gives, too
        ((2, 4), lambda a, b: a + b, lambda a, b: 4),  # whole numbers agree by chance
        ((0.5, 2.0), lambda a, b: a * b, lambda a, b: 2.0),  # so do round ones
        (([1, 2],), lambda row: len(row), lambda row: 1),
    ],
)
def test_what_may_agree_by_chance_is_no_cause(inputs: Any, right: Any, answer: Any):
    assert one_case(inputs, right=right)(answer).cause == ""


@pytest.mark.parametrize(
    ("got", "want"),
    [([1, 2], [1, 2, 3]), ([], [0, 3]), (True, None), ("x", "y"), (2.0, 1.0), ([1, 2], [2, 1])],
)
def test_where_shape_and_type_are_right_the_case_has_its_say(got: Any, want: Any):
    with pytest.raises(Wrong) as caught:
        expect(got, want, cause="Every ratio is 1 here.")
    assert caught.value.cause == "Every ratio is 1 here."


def test_one_cause_may_stand_for_several_inputs():
    asks = each((1,), (2,), cause="Add them.", atol=0.0)
    assert asks == [Ask((1,), "Add them.", atol=0.0), Ask((2,), "Add them.", atol=0.0)]


def test_mistakes_are_the_right_answer_but_for_a_part():
    def line(x: float, slope: float = 2.0, start: float = 1.0) -> float:
        return start + slope * x

    made = mistaken(line, slope={"Too steep.": any_of(3.0, 4.0)}, start={"Too high.": 5.0})
    assert {name: [one(1) for one in each_one] for name, each_one in made.items()} == {
        "Too steep.": [4, 5],
        "Too high.": [7],
    }


def test_several_answers_may_be_one_mistake():
    for got in (5, [6]):
        with pytest.raises(Wrong) as caught:
            expect(got, 7, cause="Else.", mistakes={"Known.": any_of(5, [6])})
        assert caught.value.cause == "Known." and caught.value.known


def test_the_tolerance_around_0_grows_with_what_is_compared():
    large = one_case((torch.tensor([5.0, -1.0]),), right=lambda row: [0.0, 0.0])
    small = one_case(([0.01],), right=lambda row: 0.0)
    assert large(lambda row: [-2e-6, 0.0])
    assert large(lambda row: [-2e-5, 0.0]).outcome == "wrong"
    assert small(lambda row: 1e-6).outcome == "wrong"
    for off, same in ((5e-4, True), (5e-3, False)):  # of a difference of numbers near 1000
        if same:
            expect([1000.0, off], [1000.0, 0.0])
            continue
        with pytest.raises(Wrong):
            expect([1000.0, off], [1000.0, 0.0])


def test_a_right_answer_in_float32_is_right():
    def pull(scores, oracle, beta):
        e = scores.exp()
        a = e / e.sum(1, keepdim=True)
        return beta / len(scores) * (a - oracle)

    assert check.ex_6_1.judge(pull), repr(check.ex_6_1.judge(pull))


@given(
    st.floats(1.01, 1e3).filter(lambda x: min(x % 1, 1 - x % 1) > 0.1),
    st.floats(2e-5, 5e-5),
    st.sampled_from((torch.tensor, np.float32, lambda x: torch.tensor(x).item(), Fraction)),
)
def test_float32_may_lose_a_digit_that_float64_may_not(right: float, off: float, kind: Any):
    """Wherever the number stands; kept as a Python number it is still known by its digits."""
    near = right * (1 + off)
    # By chance it might have as few digits as a number that was rounded, or that float32 holds.
    assume(float(np.float16(near)) != float(np.float32(near)) != near)
    for number, told in ((kind(near), kind is not Fraction), (near, False)):
        assert alike(number, right) == told
        assert alike([1.0, number], (1.0, right)) == told
        assert alike({"x": number}, {"x": right}) == told
        assert not alike(number, right, rtol=1e-6)
        with pytest.raises(Wrong) as caught:
            expect([number, 1.0], [right, 2.0])
        assert caught.value.note.startswith(f"At [{int(told)}]")


@given(st.floats(-1e6, 1e6).filter(lambda x: abs(x) > 0.01), st.floats(-9e-4, 9e-4))
def test_no_answer_is_once_what_is_expected(right: float, off: float):
    got = right * (1 + off)
    if alike(got, right, atol=0.0):
        return
    with pytest.raises(Wrong) as caught:
        expect(got, right, atol=0.0)
    said = caught.value.note
    assert " 1 times" not in said and (said or show(got) != show(right))
    if said and " times " not in said:
        found, _, expected = said.removeprefix("It is ").removesuffix(".").partition("; expected: ")
        assert found != expected and expected


def test_a_condition_that_is_no_equality():
    require(2 > 1, "never said")
    with pytest.raises(Wrong) as caught:
        require(torch.tensor(0.5) > 1, "Too small.", got=torch.tensor(0.5), want="more than 1")
    assert (caught.value.got, caught.value.want, caught.value.cause) == (
        "0.5",
        "more than 1",
        "Too small.",
    )
    with pytest.raises(Wrong, match="Too small") as caught:  # no answer, but computed from it
        require(False, "Too small.", torch.tensor(8.2144), "9 or more", what="the norm of U")
    assert (caught.value.got, caught.value.want) == ("the norm of U: 8.214", "9 or more")


LIKE = {"a": torch.ones(2, 3), "b": torch.ones(2)}


@pytest.mark.parametrize(
    ("read", "given", "said"),
    [
        (lambda g: common.tensors(g, LIKE), [1], "a dict by name"),
        (lambda g: common.tensors(g, LIKE), {"a": LIKE["a"]}, "b is missing"),
        (lambda g: common.tensors(g, LIKE), {**LIKE, "c": 1}, "c does not belong there"),
        (lambda g: common.tensors(g, LIKE), {**LIKE, "b": "x"}, "b is to be a tensor"),
        (lambda g: common.tensors(g, LIKE), {**LIKE, "b": 1}, "b has the shape (); expected: (2,)"),
        (lambda g: common.parts(g, [(2,), ()], "Two."), 1.0, "Two."),
        (lambda g: common.parts(g, [(2,), ()], "Two."), ([1, 2],), "Two."),
        (lambda g: common.parts(g, [(2,), ()], "Two."), ([1, 2], [1]), "Two."),
        (lambda g: common.parts(g, [(2,), ()], "Two."), ([1, math.nan], 1), "a nan or an infinity"),
        (lambda g: common.distribution(g, 2), [1.0], "over 2 positions"),
        (lambda g: common.distribution(g, 2), [1.5, -0.5], "A share is below 0."),
        (lambda g: common.distribution(g, 2, 0.1), [0.95, 0.05], "A share is below 0.1."),
        (lambda g: common.distribution(g, 2), [1.0, 0.1], "sums to 1"),
    ],
)
def test_what_came_back_is_read_or_told_what_is_wrong_with_it(read: Any, given: Any, said: str):
    with pytest.raises(Wrong) as caught:
        read(given)
    assert said.lower() in caught.value.cause.lower()


def test_what_is_as_asked_for_is_read_in_float64():
    assert common.tensors({"b": [1, 2], "a": np.ones((2, 3))}, LIKE)["b"].dtype == torch.float64
    assert [one.shape for one in common.parts(([1, 2], 3), [(2,), ()], "Two.")] == [(2,), ()]
    assert common.distribution(torch.tensor([0.25, 0.75]), 2).tolist() == [0.25, 0.75]


def judged(judge: Any, given: Any, *inputs: Any) -> str:
    """The cause; empty if nothing is wrong."""
    try:
        judge(given, *inputs)
    except Wrong as wrong:
        return wrong.cause
    return ""


def test_what_is_drawn_is_drawn_from_the_seed():
    judge = common.drawn_from("step", of=lambda given: given["a"])
    calls = [(0,), (0,), (1,), (2,)]

    def given(*numbers: int) -> list[dict[str, Any]]:
        return [{"a": torch.tensor([number])} for number in numbers]

    assert judged(judge, given(1, 1, 1, 2), *calls) == ""
    assert judged(judge, given(1, 2, 3, 4), *calls).startswith("Called twice with one step")
    assert judged(judge, given(1, 1, 1, 1), *calls).startswith("Another step gave the same")


def test_values_are_shown_short():
    assert show(torch.tensor(1 / 3)) == "0.3333"
    assert (
        show(torch.arange(1000.0)).endswith("(shape (1000,))")
        and len(show(torch.arange(1000))) < 80
    )
    assert show(("a", torch.tensor([1, 2]))) == "('a', [1, 2])"
    assert show({"a": np.float64(0.5)}) == "{'a': 0.5}"
    assert len(show("x" * 10_000)) < 500


def test_a_call_is_kept_by_the_learners_own_names():
    recorded = Recorded(lambda scores, mask=None: scores)
    recorded(1, mask=2)
    assert [call.inputs for call in recorded.calls] == [[("scores", 1), ("mask", 2)]]
    assert recorded.calls[0].returned == 1 and recorded.calls[0].changed == []
    with pytest.raises(LearnerError, match="missing 1 required positional argument"):
        recorded()


# --- names, hints and solutions -----------------------------------------------------------


def test_exercises_are_found_by_name_and_a_slip_is_told_what_there_is():
    assert "ex_1_2" in dir(check)
    assert repr(check.ex_1_2) == "check.ex_1_2: call it with your answer; .hint() helps"
    with pytest.raises(AttributeError, match="no exercise ex_1_9; allowed: ex_1_1, ex_1_2"):
        _ = check.ex_1_9
    with pytest.raises(AttributeError, match="no exercise ex_77_1; chapters with exercises: 1"):
        _ = check.ex_77_1
    with pytest.raises(AttributeError, match="check has no 'exercise'"):
        _ = check.exercise


@pytest.mark.parametrize("slip", ["ex_1_9", "ex_77_1", "exercise"])
def test_of_a_slip_in_the_name_only_the_learners_frames_are_shown(slip: str):
    with pytest.raises(AttributeError) as caught:
        getattr(check, slip)
    shown = "\n".join(caught.value._render_traceback_())  # pyright: ignore
    assert "in test_of_a_slip" in shown and "getattr(check, slip)" in shown
    assert shown.endswith(f"\nAttributeError: {caught.value}") and "checks" not in shown


def test_hints_come_one_by_one(exercise: Exercise):
    assert repr(exercise.hint()) == "Hint 1 of 2: First."
    both = "Hint 1 of 2: First.\nHint 2 of 2: Second.\nThat was the last one."
    assert repr(exercise.hint()) == both
    assert repr(exercise.hint()) == both
    assert exercise.hint()._repr_markdown_() == both.replace("\n", "\n\n")


def test_a_solution_is_shown_only_where_the_settings_allow_it(tmp_path: Path):
    source = Path(grokkit.__file__).parents[1] / "solutions" / "01_sparse_tasks.py"
    (tmp_path / source.name).write_text(source.read_text())
    settings = tmp_path / "settings.toml"

    def shown(attempted: bool) -> str:
        return repr(reveal.reveal("ex_1_1", attempted, tmp_path))

    code = "keepdim=True"
    assert "Solutions are not shown here" in shown(True)  # no settings, no solutions
    settings.write_text('show = "never"\n')
    assert code not in shown(True)
    settings.write_text('show = "after an attempt"\n')
    assert "Try it first" in shown(False) and code not in shown(False)
    assert code in shown(True) and "SOLUTION" not in shown(True)
    settings.write_text('show = "always"\n')
    assert code in shown(False) and "stay a column" in shown(False)
    settings.write_text('show = "sometimes"\n')
    with pytest.raises(SettingError, match="show: got 'sometimes'; allowed: always, after an"):
        shown(True)


def test_an_attempt_opens_the_solution_in_the_checkout():
    exercise = one_case((1,), right=lambda mask: mask)
    assert "Try it first" in repr(exercise.solution())
    exercise(None)
    assert "Try it first" in repr(exercise.solution())
    exercise(lambda mask: mask)
    assert "def oracle_attention" in exercise.solution()._repr_markdown_()
    for later in ((), (None,)):
        exercise(*later)
        assert "def oracle_attention" in exercise.solution()._repr_markdown_()


def test_a_wheel_has_no_solutions(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    (tmp_path / "grokkit").mkdir()
    (tmp_path / "solutions").mkdir()  # somebody's own folder, beside a package that is installed
    monkeypatch.setattr(grokkit, "__file__", str(tmp_path / "grokkit" / "__init__.py"))
    assert reveal.folder() is None
    assert "ask whoever gave you this" in repr(reveal.reveal("ex_1_1", True))
