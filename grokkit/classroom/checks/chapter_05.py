"""Checks of the exercises on chapter 05: decay alone, a norm held, growth, waits predicted."""

import math
from functools import partial

import numpy as np
import torch

from grokkit import theory
from grokkit.classroom.checks.common import JOINT_NORMS, as_tensor, joint
from grokkit.classroom.checks.exercise import Ask, Exercise, Function, each, mistaken
from grokkit.classroom.checks.expect import any_of, require

# --- 5.1 if decay were alone --------------------------------------------------------------


def exact_steps(n, r, eta, w):
    """By walking: nothing is rounded where a power of two is all there is."""
    count = 0
    while n > r:
        n, count = n * (1 - eta * w), count + 1
    return count


def claimed(n, r, eta, w):
    """(5)."""
    return 2 / (eta * w) * math.log(n / r)


def steps(n, r, eta, w, rounded=math.ceil, least=0):
    """By logarithms, where the norm is not there already."""
    return rounded(math.log(r / n) / math.log(1 - eta * w)) if n > r or least is None else least


ex_5_1 = Exercise.of(
    "steps_of_pure_decay",
    right=exact_steps,
    cases={
        "after so many steps, and no fewer, the norm is there": Ask(
            (8.0, 0.18, 0.6, 0.5), "Each step leaves 0.7 of the norm: find the power of 0.7."
        ),
        "a step that is needed in part is needed": each(
            (10.0, 5.2, 0.2, 0.5),
            lambda d: (d.one(20, 40), d.one(4, 9), 0.1, d.one(0.2, 0.9)),
            cause="Round up: before the last step the norm is still above r_max.",
        ),
        "a norm that equals r_max, or is below it, is there": each(
            *((4.0, 1.0, 1.0, 0.5), (3.0, 3.0, 1.0, 0.5), (3.0, 5.0, 0.1, 0.1)),
            cause="No step is needed once the norm is r_max or less.",
        ),
    },
    mistakes=mistaken(
        steps,
        rounded={
            "With a norm *equal* to r_max it is there: a + 1 is no rounding up.": (
                lambda t: math.floor(t) + 1
            ),
            "Round up: the norm may still be above r_max.": any_of(round, math.floor),
        },
        least={"A number of steps is not negative.": None},
    )
    | {
        "This is (5); pure decay takes about half of it. Exactly: with log(1 - a).": any_of(
            claimed, lambda *given: math.ceil(claimed(*given))
        ),
        "log(1 - a) is not -a: the norm is multiplied with 1 - a at each step.": any_of(
            lambda *given: claimed(*given) / 2, lambda *given: math.ceil(claimed(*given) / 2)
        ),
        "The share lost at each step is a = eta * w.": any_of(
            lambda n, r, eta, w: steps(n, r, 1, w), lambda n, r, eta, w: steps(n, r, eta, 1)
        ),
        "Decay multiplies what is there: the smaller the norm, the less it loses.": any_of(
            lambda n, r, eta, w: math.ceil((n - r) / (eta * w * n)),
            lambda n, r, eta, w: math.ceil((n - r) / (eta * w)),
        ),
    },
    hints=(
        "After t steps the norm is (1 - a)^t times what it was, with a = eta * w.",
        "Take logarithms of (1 - a)^t * norm0 <= r_max, and mind that log(1 - a) is negative.",
        "`math.ceil` rounds up: a step that is needed in part is needed.",
    ),
    afterword="It is about half of (5): how can (5) be a least wait?",
)

# --- 5.2 hold a norm ----------------------------------------------------------------------


def only(weights, names):
    return names


def hold(weights, names, radius, norm=joint, factor=lambda r, n: r / n, seen=only, scaled=only):
    """A projection; the norm is taken of those seen, and those scaled get the factor."""
    size = float(norm([weights[name] for name in seen(weights, names)]))
    scale, those = factor(radius, size) if size else 1.0, scaled(weights, names)
    return {name: part * scale if name in those else part for name, part in weights.items()}


def each_alone(weights, names, radius):
    alone = {name: hold({name: weights[name]}, [name], radius)[name] for name in names}
    return {**weights, **alone}


def some_weights(d, share, scale=1.0):
    """Three parameters, two of them held, and a radius that is a share of their joint norm."""
    weights = {"W_V": d.numbers(1, 2), "W_1": scale * d.numbers(2, 3), "b_1": scale * d.numbers(2)}
    return weights, ["W_1", "b_1"], round(share * scale * 3, 6)


ZERO = {"W_V": torch.ones(1, 2), "W_1": torch.zeros(2, 3), "b_1": torch.zeros(2)}

ex_5_2 = Exercise.of(
    "hold_norm",
    right=hold,
    cases={
        "all held parameters together have the radius, and one factor": Ask(
            lambda d: some_weights(d, 0.2),
            "The factor is the radius over the root of the sum of all squares.",
        ),
        "a norm that is too small is scaled up": each(
            lambda d: some_weights(d, 5.0), lambda d: some_weights(d, 5.0, 0.01)
        ),
        "parameters that are all 0 stay so": Ask(
            (ZERO, ["W_1", "b_1"], 2.5),
            "Their norm is 0 and no factor helps: leave them. A division by 0 makes nan.",
        ),
    },
    mistakes=mistaken(
        hold,
        scaled={"Parameters that are not held were scaled as well.": lambda weights, _: weights},
        seen={"Only parameters that are held count in the norm.": lambda weights, _: weights},
        norm=JOINT_NORMS,
        factor={
            "The factor is the radius over the norm.": lambda r, n: n / r,
            "A norm below the radius was left as it is: to hold it is more than to limit it.": (
                lambda r, n: min(1, r / n)
            ),
        },
    )
    | {"Each parameter is scaled to the radius by itself; it is their joint norm.": each_alone},
    hints=(
        "The joint norm: the square root of the sum of all squares, of all held parameters.",
        "The norm of a list of norms is the joint norm, `torch.stack([...]).norm()`.",
        "One factor for all: radius / norm. In the new dict the others are as they were.",
    ),
    afterword="In grokkit it is a setting: `spec.with_(mlp_radius=20)`.",
)

# --- 5.3 contractive, and it grows --------------------------------------------------------


def grows(given, matrix, eta, w):
    """Whether a step makes the norm larger, and is hardly longer than it has to be."""
    asked = f"U has the shape of W, {tuple(matrix.shape)}."
    matrix, update = matrix.double(), as_tensor(given, matrix.shape, asked)
    before, after = matrix.norm(), ((1 - eta * w) * matrix - eta * update).norm()
    length, least = update.norm(), w * before
    cosine = (matrix * update).sum() / (before * length).clamp_min(1e-30)
    cause = "The step is too short: what decay takes is eta w |W|, and U is multiplied with eta."
    if cosine > 0.99:
        cause = "The step goes inward: it is *subtracted*, so U must point against W."
    elif cosine > -0.99 and length > 0:
        cause = "The step goes sideways; straight outward, along W, is the shortest way to grow."
    require(after > before, cause, update, f"a norm above {before:.6g}; it is {after:.6g}")
    cause = "The step is longer than it has to be: a little more than w |W| is enough, for any W."
    most = 1.1 * least
    require(length <= most * (1 + 1e-6), cause, length, f"{most:.4g} or less", "the norm of U")


ex_5_3 = Exercise.of(
    "growing_step",
    judge=grows,
    cases={
        "after the step the norm is larger, and the step hardly longer than necessary": each(
            lambda d: (d.numbers(2, 3), 0.1, 0.5),
            lambda d: (0.01 * d.numbers(2, 3), 0.001, 3.0),
            lambda d: (30 * d.numbers(4, 2), 0.5, 0.2),
        )
    },
    hints=(
        "Which direction of U makes W' longest, for a given length of U? Mind the minus sign.",
        "With U = -c W / |W|, the new norm is (1 - a)|W| + eta c. When is that above |W|?",
        "c must be above w |W|, and at most a tenth above it. What is U then?",
    ),
    afterword="Read from right to left: steps of length B can grow a norm up to B / w, the floor.",
)

# --- 5.4 predict, then measure ------------------------------------------------------------


def prediction(n, r, eta, w, b):
    """(5), earliest and latest."""
    bracket = theory.plateau_bracket(n, r, eta * w, b / w)
    return claimed(n, r, eta, w), *map(float, bracket)


def shifted(n, r, eta, w, b, start=1, rate=lambda a: math.log(1 - a)):
    """The same, with the first norm shifted by `start` floors."""
    ends = [math.log((r + f) / (n + start * f)) / rate(eta * w) for f in (b / w, -b / w)]
    return claimed(n, r, eta, w), *ends


def first(norms, r, there=lambda n, r: n <= r):
    return next((t for t, n in enumerate(norms) if there(n, r)), math.inf)


ex_5_4 = Exercise(
    Function(
        "predict",
        right=prediction,
        cases={
            "without steps, all that is left is decay, and (5) is about twice as much": Ask(
                (8.0, 4.0, 0.2, 0.5, 0.0),
                "With B = 0 earliest and latest are the same, log(r_max / norm0) / log(1 - a).",
            ),
            "steps that help make it earlier, steps that oppose it later": each(
                (10.0, 5.0, 0.002, 0.5, 1.2),
                lambda d: (d.one(9, 20), d.one(4, 8), d.one(0.01, 0.1), d.one(0.6, 2), 1.0),
                cause="Earliest adds the floor B / w to both norms, latest takes it from both.",
            ),
            "with a floor that is not below the goal there is no latest": each(
                *((10.0, 5.0, 0.002, 0.5, longest) for longest in (2.5, 4.0, 6.0)),
                cause="Opposing steps hold the norm at the floor for ever: the latest is math.inf.",
            ),
        },
        mistakes=mistaken(
            shifted,
            rate={"log(1 - a) is not -a: each step multiplies with 1 - a.": lambda a: -a},
            start={"Both norms are shifted by the floor, not only the goal.": 0},
        )
        | {
            "(5) has the factor 2 in front, and it alone has.": any_of(
                lambda *given: np.multiply(prediction(*given), (0.5, 1, 1)),
                lambda *given: np.multiply(prediction(*given), (1, 2, 2)),
            ),
            "The floor is B / w.": any_of(
                lambda n, r, eta, w, b: prediction(n, r, eta, w, b * w),
                lambda n, r, eta, w, b: prediction(n, r, eta, w, b * w**2),
                lambda n, r, eta, w, b: prediction(n, r, eta, w, b * eta),
            ),
        },
    ),
    Function(
        "first_at",
        right=first,
        cases={
            "measured is the first step at which the norm is there": Ask(
                ([9.0, 7.0, 5.0, 6.0, 4.0, 3.0, 3.5, 2.0, 1.0], 5.0),
                "The first norm is that before any step; after the second step it is 5.",
            ),
            "it is 0 for a norm that is there already, and inf for one that never gets there": [
                Ask(([2.0, 3.0], 2.5), "The norm is below r_max before the first step."),
                Ask(
                    ([9.0, 8.5, 8.8], 5.0),
                    "This norm never gets there: math.inf. (argmax of nothing but False is 0.)",
                ),
            ],
        },
        mistakes={
            "It is there already where it *equals* r_max.": partial(
                first, there=lambda n, r: n < r
            ),
            "This is the last step at which it is there; take the first.": lambda norms, r: max(
                (t for t, n in enumerate(norms) if n <= r), default=math.inf
            ),
        },
    ),
    hints=(
        "Earliest: n' = (1 - a) n - a f. Add f on both sides: n' + f = (1 - a)(n + f).",
        "So n + f is a pure decay from norm0 + f to r_max + f: exercise 5.1, without rounding.",
        "Latest: the same with -f. It never ends if the floor is not below r_max.",
        "For the measured one: `enumerate` the norms, and stop at the first that is small enough.",
    ),
    afterword="In grokkit: theory.plateau_bracket, and diagnostics.plateau_lengths for a History.",
)

# --- 5.5 the norm stands still ------------------------------------------------------------


def turns(given, matrix, eta, w, longest):
    """Whether the steps hold the norm and turn the weights by a right angle."""
    steps = list(given) if isinstance(given, tuple | list | torch.Tensor) else []
    asked = "A list of steps is asked for, 100,000 at most."
    require(0 < len(steps) <= 100_000, asked, len(steps), what="the number of steps")
    now = start = matrix.double()
    angles = list[float]()
    for number, step in enumerate(steps, 1):
        update = as_tensor(step, matrix.shape, f"Step {number} has not the shape of W.")
        length, most = update.norm(), longest * (1 + 1e-4)
        cause = f"Step {number} is longer than B. Turn by less in each step, and take more steps."
        require(
            length <= most, cause, length, f"{longest:.4g} or less", f"the norm of step {number}"
        )
        before, now = now, (1 - eta * w) * now - eta * update
        ratio = now.norm() / start.norm()
        cause = "Besides turning, a step has to give back what decay takes, eta w |W|."
        if ratio > 1:
            cause = "A part of U across W makes it longer, too: along W give back a little less."
        if ratio > 1 and number > 1:
            cause = "Each step must be at a right angle to where W is *then*, not at first."
        cause = f"Step {number} changes the norm. {cause}"
        what = f"the norm after step {number} / the norm at first"
        require(abs(ratio - 1) < 1e-3, cause, ratio, "1", what)
        angles.append(float((now / now.norm() - before / before.norm()).norm()))
    cosine = (now * start).sum() / (now.norm() * start.norm())
    cause = "The norm is held, but W is not yet at a right angle to where it was. Go on turning."
    if max(angles) < 1e-6:
        cause = "The norm is held, but no step turns W: for that U needs a part across W."
    elif angles[-1] < 0.1 * max(angles):
        cause = (
            "The norm is held, but the last steps hardly turn W. Do they head for a fixed "
            "direction? W stalls there: take one that is at a right angle to W as it is *then*."
        )
    what = "the cosine of the angle between the last W and the first"
    require(cosine <= 1e-3, cause, cosine, "0 or less", what)


def to_turn(d, shape, eta, w, more):
    matrix = d.numbers(*shape)
    return matrix, eta, w, round(more * w * float(matrix.norm()), 5)


ex_5_5 = Exercise.of(
    "turning_steps",
    judge=turns,
    cases={
        "the norm stays and the weights turn by a right angle": each(
            lambda d: to_turn(d, (2, 3), 0.1, 0.5, 3.0),
            lambda d: to_turn(d, (1, 2), 0.05, 1.0, 1.2),
            lambda d: to_turn(d, (3, 3), 0.5, 1.0, 1.15),
            lambda d: to_turn(d, (2, 2), 0.01, 2.0, 5.0),
            (torch.tensor([[0.0, 2.0]]), 0.1, 1.0, 4.0),
        )
    },
    hints=(
        "Where may W be, if its norm stays the same and it is to turn?",
        "On a circle: cos(x) W + sin(x) V, where V is as long as W and at a right angle to it.",
        "Choose small angles, write down where W is to be after each step, and solve for U.",
    ),
    afterword="Measured on real runs: the direction of the weights keeps turning on the plateau.",
)
