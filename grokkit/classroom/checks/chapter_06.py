"""Checks of the exercises on chapter 06: the prior's pull, impostors, PL, and two laws."""

from typing import Any

import numpy as np
import torch

from grokkit.classroom.checks.exercise import Exercise
from grokkit.classroom.checks.expect import any_of, as_array, expect, require
from grokkit.theory import kl_score_gradient, pl_constant_claimed

# --- 6.1 the pull on a score --------------------------------------------------------------

ex_6_1 = Exercise(
    "ex_6_1",
    answers=("pull_of_kl",),
    hints=(
        "log alpha_i is l_i minus the logarithm of the sum of all e^l. Differentiate that.",
        "Its derivative with respect to l_j is [i = j] - alpha_j. Weight with alpha*_i and sum "
        "over i; the weights alpha*_i have the sum 1.",
        "For one example it is (45). The mean over N examples divides each by N.",
    ),
    afterword="No loss stands in it: this gradient ends only when attention has arrived.",
)


def right_pull(scores: torch.Tensor, oracle: torch.Tensor, beta: float) -> torch.Tensor:
    """The gradient of the mean penalty."""
    alpha = scores.softmax(dim=1)
    return torch.from_numpy(kl_score_gradient(oracle.numpy(), alpha.numpy(), beta)) / len(scores)


def pulls(scores: torch.Tensor, oracle: torch.Tensor, beta: float) -> dict[str, Any]:
    """What known mistakes give."""
    right, alpha = right_pull(scores, oracle, beta), scores.softmax(dim=1)
    across = beta * (scores.softmax(dim=0) - oracle) / len(scores)
    ratio = -beta * oracle / alpha / len(scores)
    raw = beta * (scores.exp() - oracle) / len(scores)
    uniform = torch.full_like(oracle, 1 / oracle.shape[1])
    even = (oracle > 0) / (oracle > 0).sum(dim=1, keepdim=True)
    others = [uniform] if torch.allclose(even.to(oracle.dtype), oracle) else [uniform, even]
    return {
        "The sign is the other way round: this is the step downhill, not the gradient.": -right,
        "The softmax is taken over the examples; attention sums to 1 over the positions.": across,
        "The scores are no attention yet: take their softmax over the positions.": (
            beta * (scores - oracle) / len(scores)
        ),
        "This is the derivative with respect to the attention. A score moves all entries of its "
        "row, through the softmax.": ratio,
        "That is alpha_j times the gap, as in the derivative of a square: KL has no such "
        "factor, for its 1/alpha_j cancels it.": right * alpha,
        "e^l is no attention yet: each row of shares must sum to 1.": raw,
        "Half of it is missing. log alpha_j is a difference of two terms, and a score stands in "
        "both of them: in the second for every position of its row.": any_of(
            -beta * oracle / len(scores), -beta * oracle
        ),
        "The oracle was taken for uniform; take the one that is given, row by row.": any_of(
            *(beta * (alpha - one) / len(scores) for one in others)
        ),
    }


def cause_of_pull(got: Any, otherwise: str) -> str:
    """The cause, or where a nan in the answer comes from."""
    array = as_array(got)
    if array is None or not np.isnan(array).any():
        return otherwise
    return (
        "There is nan in it: 0 times the logarithm of 0, where the oracle is 0. Take the oracle's "
        "own logarithm out before you differentiate: it does not depend on the scores."
    )


@ex_6_1.property("for one example it is (45)")
def _(pull):
    scores = torch.tensor([[0.4, -1.0, 0.1, 1.5]], dtype=torch.float64)
    oracle = torch.tensor([[0.5, 0.0, 0.5, 0.0]], dtype=torch.float64)
    right = right_pull(scores, oracle, 0.3)
    got = pull(scores, oracle, 0.3)
    expect(
        got,
        right,
        cause=cause_of_pull(
            got,
            "There is one example here: (45), times the strength. Hold it against a difference: "
            "raise one score by 0.001, and look by how much the penalty grows.",
        ),
        mistakes={
            **pulls(scores, oracle, 0.3),
            "The strength beta is missing.": right / 0.3,
            "It is divided by the number of positions; the mean is over the examples.": right / 4,
        },
    )


@ex_6_1.property("of several examples it is the mean, each with its own oracle")
def _(pull):
    scores = torch.tensor(
        [[0.4, -1.0, 0.1, 1.5, 0.0], [2.0, 0.3, -0.7, 0.2, 1.0], [0.0, 0.5, 1.0, -1.0, 0.8]],
        dtype=torch.float64,
    )
    oracle = torch.tensor(
        [[0.5, 0, 0.5, 0, 0], [0, 1, 0, 0, 0], [0.1, 0.2, 0.3, 0.15, 0.25]], dtype=torch.float64
    )
    right = right_pull(scores, oracle, 2.0)
    mean = 3 * right.mean(dim=0, keepdim=True).expand(3, 5)
    got = pull(scores, oracle, 2.0)
    expect(
        got,
        right,
        cause=cause_of_pull(
            got, "Each score is in one example only, whose share of the mean is one third."
        ),
        mistakes={
            **pulls(scores, oracle, 2.0),
            "The mean over the examples is missing: each counts 1/N.": 3 * right,
            "It is divided by all entries; the penalty is a mean over examples, and a sum over "
            "positions.": 3 * right / 15,
            "The gradients are averaged over the examples. It is the penalty that is averaged: "
            "each example keeps a gradient of its own.": mean / 3,
        },
    )


@ex_6_1.property("it is 0 where attention has arrived, whatever was added to the scores")
def _(pull):
    oracle = torch.tensor([[0.1, 0.6, 0.3], [0.2, 0.2, 0.6]])
    expect(
        pull(oracle.log() + torch.tensor([[3.0], [-2.0]]), oracle, 5.0),
        torch.zeros(2, 3),
        cause="A constant that is added to a row's scores changes no attention, which equals the "
        "oracle here.",
    )


# --- 6.2 two impostors --------------------------------------------------------------------

ex_6_2 = Exercise(
    "ex_6_2",
    answers=("noise_for", "shuffled_for"),
    hints=(
        "`torch.Generator().manual_seed(step)` makes numbers that depend on the step alone; hand "
        "it to `torch.randn` as `generator`.",
        "A random matrix has some length of its own. Divide by it, and multiply with the "
        "gradient's: `.norm()` is the Frobenius norm. Each matrix by itself.",
        "Signs: random numbers 0 or 1, times 2, minus 1; made from the seed alone, so the next "
        "gradient of the same run gets the same.",
    ),
    afterword='In grokkit: penalty_gradient="noise" and penalty_gradient="shuffled".',
)


def gradients(scale: float = 1.0) -> dict[str, torch.Tensor]:
    """Two matrices of different shape and very different norm, none of their entries 0."""
    random = torch.Generator().manual_seed(4)
    return {
        "W_Q": scale * (torch.rand(30, 8, generator=random) + 0.1),
        "W_K": -0.01 * (torch.rand(20, 12, generator=random) + 0.1),
    }


def small() -> dict[str, torch.Tensor]:
    """Two gradients that a message can show, of norm 13 and 1."""
    return {"W_Q": torch.tensor([[3.0, -4.0, 12.0]]), "W_K": torch.tensor([[0.6], [0.8]])}


def norms(given: dict[str, torch.Tensor]) -> dict[str, float]:
    """The Frobenius norm of each."""
    return {name: float(one.norm()) for name, one in given.items()}


def as_tensors(given: Any, like: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """An answer as tensors of the right names and shapes."""
    require(
        isinstance(given, dict) and given.keys() == like.keys(),
        "The answer is to be a dict with the same names.",
        given,
    )
    made = {}
    for name, one in given.items():
        array = as_array(one)
        require(array is not None, f"{name} is to be a tensor.", one)
        made[name] = torch.as_tensor(array)
        require(
            made[name].shape == like[name].shape,
            f"{name} has shape {tuple(made[name].shape)}; its gradient {tuple(like[name].shape)}.",
        )
    return made


@ex_6_2.property("noise has, in each matrix, the norm of its gradient")
def _(noise, _shuffled):
    given = small()
    made = as_tensors(noise(given, 0), given)
    got, right = norms(made), norms(given)
    both = sum(one**2 for one in right.values()) ** 0.5
    got_both = sum(one**2 for one in got.values()) ** 0.5
    require(
        any(abs(got[name] - right[name]) < 1e-4 * right[name] for name in right)
        or abs(got_both - both) > 1e-4 * both,
        "The noise is scaled for both matrices together; each is to have its own gradient's norm.",
        got,
        f"norms {right}",
    )
    rms = {name: one.square().mean().sqrt() for name, one in made.items()}
    require(
        any(abs(rms[name] - right[name]) > 1e-4 * right[name] for name in right),
        "Each *entry* is as large as the gradient's norm. The norm of all entries together is "
        "to be equal: divide by the norm of the random numbers.",
        got,
        f"norms {right}",
    )
    expect(
        got,
        right,
        cause="Divide the random numbers by their own norm and multiply with the gradient's. "
        "Their norm is not 1, and not the same every time.",
        rtol=1e-4,
    )


@ex_6_2.property("noise has no trace of the gradient, neither its direction nor its sizes")
def _(noise, _shuffled):
    given = gradients()
    for name, made in as_tensors(noise(given, 3), given).items():
        true = given[name]
        sizes = made.abs().flatten().sort().values, true.abs().flatten().sort().values
        require(
            not torch.allclose(*sizes, rtol=1e-3),
            "These are the gradient's own entries, with other signs or in other places. Noise is "
            "made of random numbers alone; only its norm is the gradient's.",
        )
        along = float((made * true).sum() / (made.norm() * true.norm()))
        require(
            abs(along) < 0.3,
            "The noise points the gradient's way, or against it. Is it added to the gradient or "
            "multiplied with it? Or are its numbers not centred on 0, as those of torch.rand?",
            along,
            "a cosine near 0 between noise and gradient",
        )


@ex_6_2.property("noise is fresh at every step, and the same if a step is computed again")
def _(noise, _shuffled):
    given = small()
    first, again, next_ = (as_tensors(noise(given, step), given) for step in (7, 7, 8))
    require(
        torch.allclose(first["W_Q"], again["W_Q"]),
        "Called twice for the same step it gave two answers: a run could not be repeated. Make "
        "the numbers from the step.",
    )
    require(
        not torch.allclose(first["W_Q"], next_["W_Q"]),
        "Two steps have the same noise: that is a direction that lasts. Make the numbers from the "
        "step.",
    )


@ex_6_2.property("where the gradient is 0 there is no noise")
def _(noise, _shuffled):
    given = {"W_Q": torch.zeros(2, 3), "W_K": torch.ones(4, 1)}
    expect(
        as_tensors(noise(given, 0), given)["W_Q"],
        torch.zeros(2, 3),
        cause="A gradient of 0 has the norm 0. Divide by the norm of the noise, never by that of "
        "the gradient.",
    )


@ex_6_2.property("shuffled keeps the size of every entry in its place")
def _(_noise, shuffled):
    given = small()
    made = as_tensors(shuffled(given, 0), given)
    for name, true in given.items():
        size, right = made[name].abs(), true.abs()
        moved = torch.allclose(size.flatten().sort().values, right.flatten().sort().values)
        expect(
            size,
            right,
            cause="The entries have moved to other places: only their signs are to be random."
            if moved
            else "Multiply every entry with +1 or -1, and with nothing else.",
        )


@ex_6_2.property("about half of the signs are turned, each by itself")
def _(_noise, shuffled):
    given = gradients()
    for seed in (0, 1):
        for name, made in as_tensors(shuffled(given, seed), given).items():
            turned = (made.sign() != given[name].sign()).double()
            require(
                turned.mean(dim=1).std() < 0.35 and turned.mean(dim=0).std() < 0.35,
                "Whole rows or columns are turned together: draw a sign for every entry.",
            )
            require(
                0.35 < turned.mean() < 0.65,
                "Nearly all entries have kept their sign, or nearly all have lost it: draw one for "
                "every entry, +1 and -1 with the same chance.",
                float(turned.mean()),
                "a share of turned signs near one half",
            )


@ex_6_2.property("the signs last for a run, and another run has others")
def _(_noise, shuffled):
    one, other = gradients(), gradients(-2.0)
    flips = [
        as_tensors(shuffled(given, seed), given)["W_Q"].sign() * given["W_Q"].sign()
        for given, seed in ((one, 5), (other, 5), (one, 6))
    ]
    require(
        torch.equal(flips[0], flips[1]),
        "Another gradient of the same run got other signs: then the direction does not last, and "
        "this is a second kind of noise. Make them from the seed alone.",
    )
    require(
        not torch.equal(flips[0], flips[2]),
        "Two seeds have the same signs: make them from the seed.",
    )


# --- 6.3 where the inequality ends --------------------------------------------------------

ex_6_3 = Exercise(
    "ex_6_3",
    answers=("near", "far"),
    hints=(
        "near: let the distractors have a little, eps in all, evenly. How large is D? And each "
        "entry of delta?",
        "near: D is about eps, and |delta|^2 is eps^2 times (1/k + 1/(T - k)). So how small must "
        "eps be for a given c?",
        "far: |delta|^2 cannot be more than 2, whatever you do. D can: what makes it large?",
    ),
    afterword="Without such an inequality there is no exponential rate: that is how 1/t comes in.",
)


def gap_and_divergence(attention: np.ndarray, oracle: np.ndarray) -> tuple[float, float]:
    """|delta|^2 and D, in float64."""
    on = oracle > 0
    divergence = float((oracle[on] * np.log(oracle[on] / attention[on])).sum())
    return float(((attention - oracle) ** 2).sum()), divergence


def as_attention(given: Any, length: int) -> np.ndarray:
    """An answer as an attention in float64, refused where it is none."""
    attention = as_array(given)
    require(attention is not None, "The answer is to be a tensor of shares.", given)
    assert attention is not None
    require(attention.shape == (length,), f"The answer is to have {length} entries.", given)
    attention = attention.astype(np.float64)
    require(abs(attention.sum() - 1) < 1e-5, "Attention sums to 1.", given)
    require((attention > 0).all(), "A softmax has every entry above 0.", given)
    return attention


@ex_6_3.property("near a sparse oracle no constant holds")
def _(near, _far):
    cases = ((2, 5, 1.0, 0.5), (3, 7, 0.02, 0.5), (2, 9, 1.0, 0.002), (1, 4, 0.05, 0.01))
    for k, length, constant, within in cases:
        oracle = np.r_[np.full(k, 1 / k), np.zeros(length - k)]
        given = near(k, length, constant, within)
        gap, divergence = gap_and_divergence(as_attention(given, length), oracle)
        require(
            divergence > 1e-12,
            "This is the oracle itself: D is 0, and 0 is not below 0.",
            given,
        )
        require(
            divergence <= within * (1 + 1e-4),
            f"It breaks nothing near the oracle: D is {divergence:.3g}, which is to be at most "
            f"{within}. Leave less on the distractors.",
            given,
        )
        if gap < constant * divergence:
            continue
        inside = as_attention(given, length)[k:].sum()
        require(
            inside > 0.1 * divergence,
            "Hardly anything is on the distractors: mass was moved about inside I*, where both "
            "sides are of second order. Move it outwards.",
            given,
        )
        require(
            False,
            f"|delta|^2 is {gap:.3g}, and c D only {constant * divergence:.3g}: the inequality "
            "holds. The left side is of second order in what the distractors have, so the "
            "smaller c is, the less they must have.",
            given,
        )


@ex_6_3.property("far from a full oracle it does not hold either")
def _(_near, far):
    for shares in ([0.5, 0.3, 0.2], [0.25, 0.25, 0.25, 0.25], [0.1, 0.6, 0.2, 0.1]):
        oracle = np.array(shares)
        given = far(torch.tensor(shares, dtype=torch.float64))
        gap, divergence = gap_and_divergence(as_attention(given, len(shares)), oracle)
        claimed = float(pl_constant_claimed(oracle)) * divergence
        require(
            divergence > 1e-12, "This is the oracle itself: D is 0, and so is |delta|^2.", given
        )
        require(
            gap < claimed,
            f"|delta|^2 is {gap:.3g}, and 2 mu D is {claimed:.3g}: the inequality holds. Go "
            "further away: |delta|^2 is never more than 2, but D grows without end as an entry "
            "goes to 0.",
            given,
        )


# --- 6.4 a small study: two laws ----------------------------------------------------------

ex_6_4 = Exercise(
    "ex_6_4",
    answers=("late_power", "inverse_law"),
    hints=(
        "log D = log C - r log t is a straight line over log t. `numpy.polyfit(x, y, 1)` gives "
        "its slope first, then where it begins.",
        "Over x = 1/beta the law is a straight line: its slope is the slope, and its value at "
        "x = 0 the floor.",
        "R^2: square epochs minus line and sum; square epochs minus their mean and sum; 1 minus "
        "the first over the second.",
    ),
    afterword="A law that a fit cannot refute has not been tested: try leaving out one point.",
)

TIMES = np.array([1.0, 2.0, 4.0, 5.0, 10.0, 30.0, 100.0])
# Early it falls by another law; from t = 5 on it is 3 / t^1.5.
DIVERGENCE = np.where(TIMES >= 5, 3 / TIMES**1.5, 2 * np.exp(-TIMES))


def slope_of(x: np.ndarray, y: np.ndarray) -> float:
    """The slope of the line of least squares."""
    return float(np.polyfit(x, y, 1)[0])


def through_two(x: np.ndarray, y: np.ndarray, i: int, j: int) -> tuple[float, float, float]:
    """Floor, slope and R^2 of the line through two of the points."""
    slope = (y[i] - y[j]) / (x[i] - x[j])
    floor = y[i] - slope * x[i]
    missed = ((y - floor - slope * x) ** 2).sum()
    return floor, slope, 1 - missed / ((y - y.mean()) ** 2).sum()


@ex_6_4.property("of a power law it is the power, above 0")
def _(power, _law):
    times, d = TIMES[3:], DIVERGENCE[3:]
    expect(
        power(times, d, 1.0),
        1.5,
        cause="This is 3 / t^1.5. Take the slope of log D over log t, with its sign turned.",
        mistakes={
            "The sign is the other way round: D falls as 1 / t^r, so r is minus the slope.": -1.5,
            "The logarithm of the time is missing: this is the rate of an exponential.": (
                -slope_of(times, np.log(d))
            ),
            "The logarithm of D is missing.": -slope_of(np.log(times), d),
            "x and y are exchanged: D over the times.": -slope_of(np.log(d), np.log(times)),
            "polyfit gives the slope first; this is where the line begins.": np.log(3.0),
        },
    )


@ex_6_4.property("only records from `since` on count, with `since` itself")
def _(power, _law):
    expect(
        power(TIMES, DIVERGENCE, 5.0),
        1.5,
        cause="Records before 5 follow another law, that at 5 belongs to this one.",
        mistakes={
            "All records are used; take those with times >= since.": -slope_of(
                np.log(TIMES), np.log(DIVERGENCE)
            ),
            "`since` is a time, not a number of records.": -slope_of(
                np.log(TIMES[5:]), np.log(DIVERGENCE[5:])
            ),
        },
    )
    # Scattered, and unevenly spaced: the line through two of the points is another one.
    t, bent = np.array([1.0, 2.0, 3.0, 8.0, 60.0]), np.array([9.0, 1.0, 0.2, 0.3, 0.01])
    x, y = np.log(t), np.log(bent)
    expect(
        power(t, bent, 2.0),
        -slope_of(x[1:], y[1:]),
        cause="The record at `since` itself counts; and use all that follow, by least squares.",
        mistakes={
            "The record at `since` itself is left out.": -slope_of(x[2:], y[2:]),
            "This is the slope from the first record to the last one; use all of them, by least "
            "squares.": any_of(-(y[-1] - y[1]) / (x[-1] - x[1]), -(y[-1] - y[2]) / (x[-1] - x[2])),
            "This is the mean of the slopes from each record to the next; use the line of least "
            "squares.": -(np.diff(y[1:]) / np.diff(x[1:])).mean(),
            "The line was forced through the origin; it has an intercept, log C.": (
                -(x[1:] * y[1:]).sum() / (x[1:] ** 2).sum()
            ),
        },
    )


@ex_6_4.property("epochs on such a law have its floor, its slope, and an R^2 of 1")
def _(_power, law):
    betas = np.array([0.1, 0.5, 1.0, 4.0])
    epochs = 300 + 20 / betas
    slope, floor = np.polyfit(betas, epochs, 1)
    linear = (
        1 - ((epochs - floor - slope * betas) ** 2).sum() / ((epochs - epochs.mean()) ** 2).sum()
    )
    expect(
        law(betas, epochs),
        (300.0, 20.0, 1.0),
        cause="These epochs are 300 + 20 / beta.",
        mistakes={
            "Floor and slope are exchanged; polyfit gives the slope first.": (20.0, 300.0, 1.0),
            "The 1 minus is missing: this is the share that the line does not explain.": (
                300.0,
                20.0,
                0.0,
            ),
            "The line is drawn over beta; the law is a line over 1/beta.": (floor, slope, linear),
        },
    )


@ex_6_4.property("R^2 compares what the line misses with what the mean misses")
def _(_power, law):
    betas, epochs = np.array([0.25, 0.5, 1.0, 2.0]), np.array([700.0, 300.0, 420.0, 200.0])
    slope, floor = np.polyfit(1 / betas, epochs, 1)
    missed = ((epochs - floor - slope / betas) ** 2).sum()
    spread = ((epochs - epochs.mean()) ** 2).sum()
    right = 1 - missed / spread
    origin = (epochs / betas).sum() / (1 / betas**2).sum()
    through = 1 - ((epochs - origin / betas) ** 2).sum() / spread
    expect(
        law(betas, epochs),
        (floor, slope, right),
        cause="1 minus (sum of the squares that the line misses) over (sum of the squares that the "
        "mean misses).",
        mistakes={
            "The 1 minus is missing: this is the share that the line does not explain.": (
                floor,
                slope,
                missed / spread,
            ),
            "This is the correlation, not its square.": (floor, slope, np.sqrt(right)),
            "This is what the line misses, not compared with anything.": (floor, slope, missed),
            "It is compared with the squares of the epochs; take those around their mean.": (
                floor,
                slope,
                1 - missed / (epochs**2).sum(),
            ),
            "There is no floor: the line goes through the origin.": (0.0, origin, through),
            "The line goes through two of the points; take the line of least squares.": any_of(
                *(through_two(1 / betas, epochs, i, j) for i in range(4) for j in range(i))
            ),
        },
    )
