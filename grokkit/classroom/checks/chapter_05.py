"""Checks of the exercises on chapter 05: decay alone, a norm held, growth, waits predicted."""

import math

import torch

from grokkit import theory
from grokkit.classroom.checks.exercise import Ask, Exercise, Function
from grokkit.classroom.checks.expect import any_of, numbers, require

# --- 5.1 if decay were alone --------------------------------------------------------------


def share_left(n, r):
    return math.log(r / n)


def steps(rate=lambda eta, w: math.log(1 - eta * w), rounded=math.ceil, more=0):
    """Steps of pure decay, by another rate, rounding or one more."""

    def answer(n, r, eta, w):
        return 0 if n <= r else rounded(share_left(n, r) / rate(eta, w)) + more

    return answer


def exact_steps(n, r, eta, w):
    """By walking: nothing is rounded where a power of two is all there is."""
    count = 0
    while n > r:
        n, count = n * (1 - eta * w), count + 1
    return count


ex_5_1 = Exercise(
    "ex_5_1",
    Function(
        "steps_of_pure_decay",
        right=exact_steps,
        cases={
            "after so many steps, and no fewer, the norm is there": Ask(
                (8.0, 0.18, 0.6, 0.5),
                "Each step leaves 0.7 of the norm: 0.7^11 is the first power of at most 9/400.",
            ),
            "a step that is needed in part is needed": [
                Ask(
                    (10.0, 5.2, 0.2, 0.5),
                    "0.9^6 is 0.53, and 0.9^7 is 0.48: 0.52 is reached with the seventh step.",
                ),
                Ask(lambda d: (d.one(20, 40), d.one(4, 9), 0.1, d.one(0.2, 0.9)), "Round up."),
            ],
            "a norm that equals r_max is there": [
                Ask((4.0, 1.0, 1.0, 0.5), "Each step leaves half, so after 2 steps it is 1."),
                Ask((3.0, 3.0, 1.0, 0.5), "It is there from the beginning."),
            ],
            "a small decay, and a norm that is there already": [
                Ask((40.0, 25.0, 0.005, 1.0), "log(25 / 40) / log(0.995) is 93.8."),
                Ask((3.0, 5.0, 0.1, 0.1), "It is below r_max already: no step is needed."),
            ],
        },
        mistakes={
            "This is (5); pure decay takes half of it.": steps(lambda eta, w: -eta * w / 2, float),
            "This is (5), rounded up; pure decay takes half of it.": steps(
                lambda eta, w: -eta * w / 2
            ),
            "This is (5), rounded down; pure decay takes half of it.": steps(
                lambda eta, w: -eta * w / 2, math.floor
            ),
            "A whole number is asked for: round up.": steps(rounded=float),
            "It was rounded to the nearest; the norm may still be above r_max then.": any_of(
                steps(rounded=round), steps(rounded=lambda t: int(t + 0.5))
            ),
            "It was rounded down; the norm is still above r_max then.": steps(rounded=math.floor),
            "The share lost at each step is eta * w, not w alone.": steps(
                lambda eta, w: math.log(1 - w)
            ),
            "The same amount is taken off at each step. Decay multiplies what is there: the "
            "smaller the norm, the less it loses.": any_of(
                lambda n, r, eta, w: math.ceil((n - r) / (eta * w * n)),
                lambda n, r, eta, w: math.ceil((n - r) / (eta * w)),
            ),
            "A number of steps is not negative: it is there already.": lambda n, r, eta, w: (
                math.ceil(share_left(n, r) / math.log(1 - eta * w))
            ),
            "With a norm *equal* to r_max it is there. Is there a >= where a > belongs, or a + 1 "
            "in place of rounding?": any_of(
                steps(rounded=lambda t: math.floor(t) + 1),
                lambda n, r, eta, w: steps()(n, r, eta, w) if n != r else 1,
            ),
            "This is one step too many: is the first norm counted as well?": steps(more=1),
            "log(1 - a) is not -a: the norm is multiplied with 1 - a at each step.": any_of(
                steps(lambda eta, w: -eta * w), steps(lambda eta, w: -eta * w, float)
            ),
            "The share lost at each step is eta * w, not eta alone.": steps(
                lambda eta, w: math.log(1 - eta)
            ),
            "The sign: both logarithms are negative.": any_of(
                steps(lambda eta, w: -math.log(1 - eta * w)),
                steps(lambda eta, w: -math.log(1 - eta * w), float),
            ),
        },
    ),
    hints=(
        "After t steps the norm is (1 - a)^t times what it was, with a = eta * w.",
        "Take logarithms of (1 - a)^t * norm0 <= r_max, and mind that log(1 - a) is negative.",
        "`math.ceil` rounds up: a step that is needed in part is needed.",
    ),
    afterword="It is half of (5): how can (5) be a least wait?",
)

# --- 5.2 hold a norm ----------------------------------------------------------------------


def hold(norm=lambda parts: math.sqrt(sum(float(p.square().sum()) for p in parts)), to=None):
    """A projection, by another joint norm or another factor."""

    def answer(weights, names, radius):
        size = norm([weights[name] for name in names])
        scale = (radius / size if to is None else to(radius, size)) if size else 1.0
        return {n: part * scale if n in names else part for n, part in weights.items()}

    return answer


def each_alone(weights, names, radius):
    return {
        n: p * radius / p.norm().clamp_min(1e-30) if n in names else p for n, p in weights.items()
    }


def some_weights(d, share, scale=1.0):
    """Three parameters, two of them held, and a radius that is a share of their joint norm."""
    weights = {"W_V": d.numbers(1, 2), "W_1": scale * d.numbers(2, 3), "b_1": scale * d.numbers(2)}
    return weights, ["W_1", "b_1"], round(share * scale * 3, 6)


ex_5_2 = Exercise(
    "ex_5_2",
    Function(
        "hold_norm",
        right=hold(),
        cases={
            "all held parameters together have the radius, and one factor": Ask(
                lambda d: some_weights(d, 0.2),
                "The joint norm is the root of the sum of all squares; the factor is the radius "
                "over it, for both. A dict with all three names comes back.",
            ),
            "a norm that is too small is scaled up": [
                Ask(lambda d: some_weights(d, 5.0), "The factor is above 1 here."),
                Ask(lambda d: some_weights(d, 5.0, 0.01), "These weights are small, but not 0."),
            ],
            "parameters that are all 0 stay so": Ask(
                (
                    {"W_V": torch.ones(1, 2), "W_1": torch.zeros(2, 3), "b_1": torch.zeros(2)},
                    ["W_1", "b_1"],
                    2.5,
                ),
                "Their norm is 0 and no factor helps: leave them. A division by 0 makes nan.",
            ),
        },
        mistakes={
            "Each parameter is scaled to the radius by itself: together they are longer, and their "
            "proportions are lost.": each_alone,
            "Parameters that are not held were scaled as well.": lambda weights, names, radius: {
                n: p * hold()(weights, names, radius)["W_1"][0, 0] / weights["W_1"][0, 0]
                for n, p in weights.items()
            },
            "All parameters count in the norm; only those that are held should.": (
                lambda weights, names, radius: {
                    n: p * radius / math.sqrt(sum(float((q**2).sum()) for q in weights.values()))
                    if n in names
                    else p
                    for n, p in weights.items()
                }
            ),
            "The norms are added; the joint norm is the root of the sum of their squares.": hold(
                lambda parts: sum(float(p.norm()) for p in parts)
            ),
            "This is a norm of another kind: Frobenius' is the root of the sum of all squares.": (
                any_of(
                    hold(lambda parts: sum(float(p.abs().sum()) for p in parts)),
                    hold(lambda parts: math.hypot(*(float(p.abs().sum()) for p in parts))),
                    hold(lambda parts: max(float(p.abs().max()) for p in parts)),
                    hold(
                        lambda parts: math.hypot(
                            *(float(torch.linalg.norm(p.double(), 2)) for p in parts)
                        )
                    ),
                )
            ),
            "The factor is upside down: radius over norm.": hold(to=lambda r, size: size / r),
            "They have norm 1 now; multiply with the radius.": hold(to=lambda r, size: 1 / size),
            "The squared norm was divided by: the root is missing.": hold(
                to=lambda r, size: r / size**2
            ),
            "Those that are not held are missing in the dict.": lambda weights, names, radius: {
                n: hold()(weights, names, radius)[n] for n in names
            },
            "The bias was left alone; it is held, too.": lambda weights, names, radius: {
                **hold()(weights, names, radius),
                "b_1": weights["b_1"],
            },
            "A norm below the radius was left as it is. To hold a norm is more than to limit it.": (
                hold(to=lambda r, size: min(1, r / size))
            ),
        },
    ),
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
    update = torch.from_numpy(numbers(given, matrix.shape, asked))
    matrix = matrix.double()
    before, after = matrix.norm(), ((1 - eta * w) * matrix - eta * update).norm()
    length, least = update.norm(), w * before
    cosine = (matrix * update).sum() / (before * length).clamp_min(1e-30)
    if abs(cosine) < 0.99 and length > 0:
        cause = "The step goes sideways; straight outward, along W, is the shortest way to grow."
    elif cosine > 0:
        cause = "The step goes inward: it is *subtracted*, so U must point against W."
    elif length >= 1.05 * eta * least and eta < 1:
        cause = (
            "The direction is right, but the step is too short. U is multiplied with eta: "
            "what decay takes is eta w |W|, so |U| must be above w |W|."
        )
    else:
        cause = "The step is too short to make good for what decay takes, eta w |W|."
    require(after > before, cause, update, f"a norm above {before:.6g}; it is {after:.6g}")
    require(
        length <= 1.1 * least * (1 + 1e-6),
        "The step is longer than it has to be: straight outward, a little more than w |W| is "
        "enough. (Not for one size of W only.)",
        update,
        f"a norm of U of at most {1.1 * least:.4g}; it is {length:.4g}",
    )


ex_5_3 = Exercise(
    "ex_5_3",
    Function(
        "growing_step",
        judge=grows,
        cases={
            "after the step the norm is larger, and the step hardly longer than necessary": Ask(
                lambda d: (d.numbers(2, 3), 0.1, 0.5)
            ),
            "for any weights, learning rate and decay": [
                Ask(lambda d: (0.01 * d.numbers(2, 3), 0.001, 3.0)),
                Ask(lambda d: (30 * d.numbers(4, 2), 0.5, 0.2)),
            ],
        },
    ),
    hints=(
        "Which direction of U makes W' longest, for a given length of U? Mind the minus sign.",
        "With U = -c W / |W|, the new norm is (1 - a)|W| + eta c. When is that above |W|?",
        "c must be above w |W|, and at most a tenth above it. What is U then?",
    ),
    afterword="Read from right to left: steps of length B can grow a norm up to B / w, the floor.",
)

# --- 5.4 predict, then measure ------------------------------------------------------------


def prediction(n, r, eta, w, longest, floor=None):
    """(5), earliest and latest."""
    a = eta * w
    bracket = theory.plateau_bracket(n, r, a, longest / w if floor is None else floor)
    return 2 / a * math.log(n / r), *map(float, bracket)


def in_place(first=None, earliest=None, latest=None):
    """A prediction with some of its three numbers replaced."""

    def answer(*given):
        found = prediction(*given)
        new = (first, earliest, latest)
        return tuple(was if f is None else f(*given) for was, f in zip(found, new, strict=True))

    return answer


def only_goal(sign):
    return lambda n, r, eta, w, b: math.log((r + sign * b / w) / n) / math.log(1 - eta * w)


ex_5_4 = Exercise(
    "ex_5_4",
    Function(
        "predict",
        right=prediction,
        cases={
            "without steps, all that is left is decay, and (5) is twice too much": Ask(
                (8.0, 4.0, 0.2, 0.5, 0.0),
                "With B = 0 earliest and latest are the same, log(r_max / norm0) / log(1 - a).",
            ),
            "steps that help make it earlier, steps that oppose it later": [
                Ask(
                    (10.0, 5.0, 0.002, 0.5, 1.2),
                    "The floor is B / w = 2.4 here: earliest has it added to both norms, latest "
                    "has it taken from both.",
                ),
                Ask(
                    lambda d: (d.one(9, 20), d.one(4, 8), d.one(0.01, 0.1), d.one(0.6, 2), 1.0),
                    "The floor is B / w.",
                ),
            ],
            "with a floor that is not below the goal there is no latest": [
                Ask(
                    (10.0, 5.0, 0.002, 0.5, longest),
                    "The floor is at or above r_max: opposing steps hold the norm there for ever, "
                    "so the latest is math.inf. The earliest stays what it is.",
                )
                for longest in (2.5, 4.0, 6.0)
            ],
        },
        mistakes={
            "log(1 - a) is not -a: in earliest and latest each step multiplies with 1 - a.": (
                lambda n, r, eta, w, b: (
                    2 / (eta * w) * math.log(n / r),
                    math.log((n + b / w) / (r + b / w)) / (eta * w),
                    math.log((n - b / w) / (r - b / w)) / (eta * w),
                )
            ),
            "(5) has the factor 2 in front: claimed is 2/a log(norm0 / r_max).": in_place(
                first=lambda n, r, eta, w, b: math.log(n / r) / (eta * w)
            ),
            "Do not round: these are bounds.": any_of(
                *(lambda *g, f=f: tuple(map(f, prediction(*g))) for f in (math.ceil, round))
            ),
            "The factor 2 belongs to (5) alone.": in_place(
                earliest=lambda *given: 2 * prediction(*given)[1],
                latest=lambda *given: 2 * prediction(*given)[2],
            ),
            "The floor is B / w, not B.": lambda *given: prediction(*given, floor=given[4]),
            "The floor is B / w, not B times w.": lambda *given: prediction(
                *given, floor=given[4] * given[3]
            ),
            "The floor is B / w: eta drops out of it.": lambda *given: prediction(
                *given, floor=given[4] * given[2] / given[3]
            ),
            "Earliest and latest are the wrong way round.": lambda *given: (
                prediction(*given)[0],
                *prediction(*given)[:0:-1],
            ),
            "The three numbers are asked for in another order: claimed, earliest, latest.": (
                lambda *given: (*prediction(*given)[1:], prediction(*given)[0])
            ),
            "Both norms are shifted by the floor, not only the goal.": in_place(
                earliest=only_goal(1), latest=only_goal(-1)
            ),
        },
    ),
    Function(
        "first_at",
        right=lambda norms, r: next((t for t, n in enumerate(norms) if n <= r), math.inf),
        cases={
            "measured is the first step at which the norm is there": Ask(
                ([9.0, 7.0, 5.0, 6.0, 4.0, 3.0, 3.5, 2.0, 1.0], 5.0),
                "The norm is 5 after the second step, for the first time.",
            ),
            "it is 0 for a norm that is there already, and inf for one that never gets there": [
                Ask(([2.0, 3.0], 2.5), "The norm is below r_max before the first step."),
                Ask(
                    ([9.0, 8.5, 8.8], 5.0),
                    "This norm never gets there: math.inf.",
                    {
                        "0 steps would mean that it was there from the beginning: this norm never "
                        "gets there. (argmax of nothing but False is 0.)": 0,
                        "The number of records is no answer: nobody knows what comes later. "
                        "math.inf.": 3,
                    },
                ),
            ],
        },
        mistakes={
            "It is there already where it *equals* r_max.": lambda norms, r: next(
                (t for t, n in enumerate(norms) if n < r), math.inf
            ),
            "The first norm is that before any step: count from 0.": lambda norms, r: next(
                (t for t, n in enumerate(norms, 1) if n <= r), math.inf
            ),
            "The norm came back; the step is asked for.": lambda norms, r: next(
                (n for n in norms if n <= r), math.inf
            ),
            "This is the last step, or that from which on it stays there; take the first.": any_of(
                lambda norms, r: max((t for t, n in enumerate(norms) if n <= r), default=math.inf),
                lambda norms, r: max((t + 1 for t, n in enumerate(norms) if n > r), default=0),
            ),
            "This is the number of norms that are small enough.": lambda norms, r: sum(
                n <= r for n in norms
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
    require(0 < len(steps) <= 100_000, "A list of steps is asked for, 100,000 at most.", len(steps))
    now = start = matrix.double()
    for number, step in enumerate(steps, 1):
        asked = f"Step {number} has not the shape of W."
        update = torch.from_numpy(numbers(step, matrix.shape, asked))
        length = float(update.norm())
        require(
            length <= longest * (1 + 1e-4),
            f"Step {number} is longer than B. Turn by less in each step, and take more steps.",
            length,
            f"{longest:.4g} or less",
        )
        now = (1 - eta * w) * now - eta * update
        ratio = float(now.norm() / start.norm())
        cause = (
            "Decay takes eta w |W| at each step: besides turning, a step has to give that back."
            if ratio < 1
            else "It goes off along a straight line: each step must be at a right angle to where W "
            "is *then*, not to where it was at first."
        )
        require(
            abs(ratio - 1) < 1e-3,
            f"After step {number} the norm is not what it was. {cause}",
            ratio,
            "a ratio within a thousandth of 1",
        )
    cosine = float((now * start).sum() / (now.norm() * start.norm()))
    require(
        cosine <= 1e-3,
        "The norm is held, and W points nearly where it did. Go on turning.",
        cosine,
        "a cosine of 0 or less between the last W and the first",
    )


def to_turn(d, shape, eta, w, more):
    matrix = d.numbers(*shape)
    return matrix, eta, w, round(more * w * float(matrix.norm()), 5)


ex_5_5 = Exercise(
    "ex_5_5",
    Function(
        "turning_steps",
        judge=turns,
        cases={
            "the norm stays and the weights turn by a right angle": [
                Ask(lambda d: to_turn(d, (2, 3), 0.1, 0.5, 3.0)),
                Ask(lambda d: to_turn(d, (1, 2), 0.05, 1.0, 1.2)),
            ],
            "for any learning rate, decay and longest step": [
                Ask(lambda d: to_turn(d, (3, 3), 0.5, 1.0, 1.15)),
                Ask(lambda d: to_turn(d, (2, 2), 0.01, 2.0, 5.0)),
                Ask((torch.tensor([[0.0, 2.0]]), 0.1, 1.0, 4.0)),
            ],
        },
    ),
    hints=(
        "Where may W be, if its norm stays the same and it is to turn?",
        "On a circle: cos(x) W + sin(x) V, where V is as long as W and at a right angle to it.",
        "Choose small angles, write down where W is to be after each step, and solve for U.",
    ),
    afterword="Measured on real runs: the direction of the weights keeps turning on the plateau.",
)
