"""Checks of the exercises on chapter 05: decay alone, a norm held, growth, waits predicted."""

import math

import torch

from grokkit import theory
from grokkit.classroom.checks.exercise import Exercise
from grokkit.classroom.checks.expect import any_of, as_array, expect, require

# --- 5.1 if decay were alone --------------------------------------------------------------

ex_5_1 = Exercise(
    "ex_5_1",
    answers=("steps_of_pure_decay",),
    hints=(
        "After t steps the norm is (1 - a)^t times what it was, with a = eta * w.",
        "Take logarithms of (1 - a)^t * norm0 <= r_max, and mind that log(1 - a) is negative.",
        "`math.ceil` rounds up: a step that is needed in part is needed.",
    ),
    afterword="It is half of (5): how can (5) be a least wait?",
)


@ex_5_1.property("after so many steps, and no fewer, the norm is there")
def _(steps):
    # (1 - 0.1)^t <= 0.45 from t = 7.58 on; (5) has 15.97, and a = w would mean 1.15.
    exact = math.log(0.45) / math.log(0.9)
    expect(
        steps(8.0, 3.6, 0.2, 0.5),
        8,
        cause="Each step leaves 0.9 of the norm: 0.9^8 is the first power that is 0.45 or less.",
        mistakes={
            "This is (5); pure decay takes half of it.": -2 / 0.1 * math.log(0.45),
            "This is (5), rounded up; pure decay takes half of it.": 16,
            "This is (5), rounded down; pure decay takes half of it.": 15,
            "A whole number is asked for: round up.": exact,
            "It was rounded down; after 7 steps the norm is still above r_max.": 7,
            "The same amount is taken off at each step. Decay multiplies what is there: the "
            "smaller the norm, the less it loses.": any_of(5, 6, 44, 45),
            "log(1 - a) is not -a: the norm is multiplied with 1 - a at each step.": (
                -10 * math.log(0.45)
            ),
            "The share lost at each step is eta * w, not w alone.": 2,
            "The share lost at each step is eta * w, not eta alone.": 4,
            "The sign: both logarithms are negative.": any_of(-7, -8, -exact),
            "This is one step too many: is the first norm counted as well?": 9,
        },
    )


@ex_5_1.property("a step that is needed in part is needed")
def _(steps):
    # From t = 6.2 on.
    expect(
        steps(10.0, 5.2, 0.2, 0.5),
        7,
        cause="0.9^6 is 0.53, and 0.9^7 is 0.48: 0.52 is reached with the seventh step.",
        mistakes={
            "It was rounded to the nearest; after 6 steps the norm is still above r_max.": 6,
            "This is one step too many: is the first norm counted as well?": 8,
        },
    )


@ex_5_1.property("a norm that equals r_max is there")
def _(steps):
    # Halved twice, without rounding.
    expect(
        steps(4.0, 1.0, 1.0, 0.5),
        2,
        cause="Each step leaves half of the norm, so after 2 steps it is 1.",
        mistakes={
            "With a norm *equal* to r_max it is there. Is there a >= where a > belongs, or a + 1 "
            "in place of rounding?": 3
        },
    )
    expect(
        steps(3.0, 3.0, 1.0, 0.5),
        0,
        cause="It is there from the beginning.",
        mistakes={"A norm *equal* to r_max is there already: no step is needed.": 1},
    )


@ex_5_1.property("a small decay, and a norm that is there already")
def _(steps):
    expect(
        steps(40.0, 25.0, 0.005, 1.0),
        94,
        cause="a is 0.005: log(25 / 40) / log(0.995) is 93.8.",
        mistakes={
            "The same amount is taken off at each step. Decay multiplies what is there: the "
            "smaller the norm, the less it loses.": any_of(75, 76, 3000, 3001),
            "Natural logarithms in both places, or the same in both: their ratio counts.": (
                math.ceil(math.log10(25 / 40) / math.log(0.995))
            ),
            "log(1 - a) is not -a: with -a it comes out the same only nearly.": math.ceil(
                math.log(40 / 25) / 0.005 + 1
            ),
        },
    )
    expect(
        steps(3.0, 5.0, 0.1, 0.1),
        0,
        cause="The norm is below r_max from the beginning: no step is needed.",
        mistakes={"A number of steps is not negative: it is there already.": -5},
    )


# --- 5.2 hold a norm ----------------------------------------------------------------------

ex_5_2 = Exercise(
    "ex_5_2",
    answers=("hold_norm",),
    hints=(
        "The joint norm: the square root of the sum of all squares, of all held parameters.",
        "The norm of a list of norms is the joint norm, `torch.stack([...]).norm()`.",
        "One factor for all: radius / norm. In the new dict the others are as they were.",
    ),
    afterword="In grokkit it is a setting: `spec.with_(mlp_radius=20)`.",
)

# Norms 3 and 4, so 5 together; W_V is no part of the MLP.
WEIGHTS = {
    "W_V": torch.tensor([[1.0, 2.0]]),
    "W_1": torch.tensor([[0.0, 3.0, 0.0], [0.0, 0.0, 0.0]]),
    "b_1": torch.tensor([0.0, -4.0]),
}
HELD = ["W_1", "b_1"]


def scaled(one: float, two: float, other: float = 1.0) -> dict[str, torch.Tensor]:
    """The weights with W_1, b_1 and W_V multiplied."""
    factors = {"W_V": other, "W_1": one, "b_1": two}
    return {name: part * factors[name] for name, part in WEIGHTS.items()}


@ex_5_2.property("all held parameters together have the radius, and one factor")
def _(hold):
    expect(
        hold(WEIGHTS, HELD, 2.5),
        scaled(0.5, 0.5),
        cause="The norms of the two are 3 and 4, so 5 together; the factor is 2.5 / 5 for both. "
        "A dict with all three names comes back.",
        mistakes={
            "Each parameter is scaled to the radius by itself: together they are longer, and their "
            "proportions are lost.": scaled(2.5 / 3, 2.5 / 4),
            "Parameters that are not held were scaled as well.": scaled(0.5, 0.5, 0.5),
            "All parameters count in the norm; only those that are held should.": scaled(
                *[2.5 / math.sqrt(30)] * 2
            ),
            "The norms are added; the joint norm is the root of the sum of their squares.": scaled(
                2.5 / 7, 2.5 / 7
            ),
            "The factor is upside down: radius over norm.": scaled(2.0, 2.0),
            "They have norm 1 now; multiply with the radius.": scaled(0.2, 0.2),
            "The squared norm was divided by: the root is missing.": scaled(0.1, 0.1),
            "Those that are not held are missing in the dict.": {
                name: WEIGHTS[name] * 0.5 for name in HELD
            },
            "The bias was left alone; it is held, too.": scaled(0.5, 1.0),
        },
    )


@ex_5_2.property("a norm that is too small is scaled up")
def _(hold):
    expect(
        hold(WEIGHTS, HELD, 10.0),
        scaled(2.0, 2.0),
        cause="The factor is 10 / 5 here.",
        mistakes={
            "A norm below the radius was left as it is. To hold a norm is more than to limit "
            "it.": WEIGHTS
        },
    )


@ex_5_2.property("parameters that are all 0 stay so")
def _(hold):
    zeros = {name: torch.zeros_like(part) for name, part in WEIGHTS.items()}
    expect(
        hold(zeros, HELD, 2.5),
        zeros,
        cause="Their norm is 0 and no factor helps: leave them. A division by 0 makes nan.",
    )


# --- 5.3 contractive, and it grows --------------------------------------------------------

ex_5_3 = Exercise(
    "ex_5_3",
    answers=("growing_step",),
    hints=(
        "Which direction of U makes W' longest, for a given length of U? Mind the minus sign.",
        "With U = -c W / |W|, the new norm is (1 - a)|W| + eta c. When is that above |W|?",
        "c must be above w |W|, and at most a tenth above it. What is U then?",
    ),
    afterword="Read from right to left: steps of length B can grow a norm up to B / w, the floor.",
)

MATRIX = torch.tensor([[1.0, -2.0, 0.5], [0.0, 3.0, 1.5]])


@ex_5_3.property("after the step the norm is larger")
def _(step):
    _grows(step, MATRIX, 0.1, 0.5)


@ex_5_3.property("the step is at most a tenth longer than it has to be")
def _(step):
    _short(step, MATRIX, 0.1, 0.5)


@ex_5_3.property("for any weights, learning rate and decay")
def _(step):
    for scale, eta, w in ((0.01, 0.001, 3.0), (30.0, 0.5, 0.2)):
        _grows(step, scale * MATRIX, eta, w)
        _short(step, scale * MATRIX, eta, w)


def _step(step, matrix: torch.Tensor, eta: float, w: float) -> torch.Tensor:
    given = step(matrix, eta, w)
    array = as_array(given)
    require(
        array is not None and array.shape == tuple(matrix.shape),
        "U has the shape of W.",
        got=given,
        want=f"shape {tuple(matrix.shape)}",
    )
    return torch.as_tensor(array, dtype=torch.float64)


def _grows(step, matrix: torch.Tensor, eta: float, w: float) -> None:
    update = _step(step, matrix, eta, w)
    matrix = matrix.double()
    before, after = matrix.norm(), ((1 - eta * w) * matrix - eta * update).norm()
    cosine = (matrix * update).sum() / (before * update.norm()).clamp_min(1e-30)
    if abs(cosine) < 0.99 and update.norm() > 0:
        cause = "The step goes sideways; straight outward, along W, is the shortest way to grow."
    elif cosine > 0:
        cause = "The step goes inward: it is *subtracted*, so U must point against W."
    elif update.norm() >= 1.05 * eta * w * before and eta < 1:
        cause = (
            "The direction is right, but the step is too short. U is multiplied with eta: "
            "what decay takes is eta w |W|, so |U| must be above w |W|."
        )
    else:
        cause = "The step is too short to make good for what decay takes, eta w |W|."
    require(
        after > before,
        cause,
        got=update,
        want=f"a norm above {before:.6g}; it is {after:.6g}",
    )


def _short(step, matrix: torch.Tensor, eta: float, w: float) -> None:
    update, least = _step(step, matrix, eta, w), w * matrix.double().norm()
    length = update.norm()
    require(
        length <= 1.1 * least * (1 + 1e-6),
        "The step is longer than it has to be: straight outward, a little more than w |W| is "
        "enough. (Not for one size of W only.)",
        got=update,
        want=f"a norm of U of at most {1.1 * least:.4g}; it is {length:.4g}",
    )


# --- 5.4 predict, then measure ------------------------------------------------------------

ex_5_4 = Exercise(
    "ex_5_4",
    answers=("predict", "first_at"),
    hints=(
        "Earliest: n' = (1 - a) n - a f. Add f on both sides: n' + f = (1 - a)(n + f).",
        "So n + f is a pure decay from norm0 + f to r_max + f: exercise 5.1, without rounding.",
        "Latest: the same with -f. It never ends if the floor is not below r_max.",
        "For the measured one: `enumerate` the norms, and stop at the first that is small enough.",
    ),
    afterword="In grokkit: theory.plateau_bracket, and diagnostics.plateau_lengths for a History.",
)


@ex_5_4.property("without steps, all that is left is decay, and (5) is twice too much")
def _(predict, _first):
    decay = math.log(0.5) / math.log(0.9)
    expect(
        predict(8.0, 4.0, 0.2, 0.5, 0.0),
        (20 * math.log(2), decay, decay),
        cause="With B = 0 earliest and latest are the same, log(r_max / norm0) / log(1 - a).",
        mistakes={
            "log(1 - a) is not -a: in earliest and latest each step multiplies with 1 - a.": (
                20 * math.log(2),
                10 * math.log(2),
                10 * math.log(2),
            ),
            "(5) has the factor 2 in front: claimed is 2/a log(norm0 / r_max).": (
                10 * math.log(2),
                decay,
                decay,
            ),
            "Do not round: these are bounds.": (14, 7, 7),
            "The factor 2 belongs to (5) alone.": (20 * math.log(2), 2 * decay, 2 * decay),
        },
    )


@ex_5_4.property("steps that help make it earlier, steps that oppose it later")
def _(predict, _first):
    norm0, r_max, eta, w, longest = 10.0, 5.0, 0.002, 0.5, 1.2
    claimed = 2000 * math.log(2)

    def bracket(floor: float) -> tuple[float, float, float]:
        earliest, latest = theory.plateau_bracket(norm0, r_max, 0.001, floor)
        return claimed, float(earliest), float(latest)

    right = bracket(longest / w)
    expect(
        predict(norm0, r_max, eta, w, longest),
        right,
        cause="The floor is B / w = 2.4 here: earliest has it added to both norms, latest has it "
        "taken from both.",
        mistakes={
            "The floor is B / w, not B.": bracket(longest),
            "The floor is B / w, not B times w.": bracket(longest * w),
            "The floor is B / w: eta drops out of it.": bracket(longest * eta / w),
            "Earliest and latest are the wrong way round.": (claimed, right[2], right[1]),
            "The three numbers are asked for in another order: claimed, earliest, latest.": (
                *right[1:],
                claimed,
            ),
            "Both norms are shifted by the floor, not only the goal.": (
                claimed,
                math.log((r_max + 2.4) / norm0) / math.log(0.999),
                math.log((r_max - 2.4) / norm0) / math.log(0.999),
            ),
        },
    )


@ex_5_4.property("with a floor that is not below the goal there is no latest")
def _(predict, _first):
    for longest in (2.5, 4.0):
        claimed, earliest, _ = (
            2000 * math.log(2),
            *theory.plateau_bracket(10.0, 5.0, 0.001, longest / 0.5),
        )
        expect(
            predict(10.0, 5.0, 0.002, 0.5, longest),
            (claimed, float(earliest), math.inf),
            cause="The floor is at or above r_max: opposing steps hold the norm there for ever, so "
            "the latest is math.inf. The earliest stays what it is.",
        )


@ex_5_4.property("measured is the first step at which the norm is there")
def _(_predict, first):
    norms = [9.0, 7.0, 5.0, 6.0, 4.0, 3.0]
    expect(
        first(norms, 5.0),
        2,
        cause="The norm is 5 after the second step, for the first time.",
        mistakes={
            "It is there already where it *equals* r_max.": 4,
            "The first norm is that before any step: count from 0.": 3,
            "The norm came back; the step is asked for.": 5.0,
            "This is the last step, or that from which on it stays there; take the first.": 5,
            "This is the number of norms that are small enough.": len([n for n in norms if n <= 5]),
        },
    )


@ex_5_4.property("it is 0 for a norm that is there already, and inf for one that never gets there")
def _(_predict, first):
    expect(first([2.0, 3.0], 2.5), 0, cause="The norm is below r_max before the first step.")
    expect(
        first([9.0, 8.5, 8.8], 5.0),
        math.inf,
        cause="This norm never gets there: math.inf.",
        mistakes={
            "0 steps would mean that it was there from the beginning: this norm never gets "
            "there. (argmax of nothing but False is 0.)": 0,
            "The number of records is no answer: nobody knows what comes later. math.inf.": 3,
        },
    )
