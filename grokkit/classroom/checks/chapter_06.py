"""Checks of the exercises on chapter 06: the prior's pull, impostors, PL, and two laws."""

import numpy as np
import torch

from grokkit.classroom.checks.exercise import Ask, Exercise, Function
from grokkit.classroom.checks.expect import any_of, as_array, expect, numbers, require
from grokkit.theory import kl_score_gradient, pl_constant_claimed

# --- 6.1 the pull on a score --------------------------------------------------------------


def pull(scores, oracle, beta):
    """The gradient of the mean penalty."""
    alpha = scores.softmax(dim=1)
    return torch.from_numpy(kl_score_gradient(oracle.numpy(), alpha.numpy(), beta)) / len(scores)


def excess(of):
    """A mistake that takes another attention for the softmax of the scores."""
    return lambda scores, oracle, beta: beta * (of(scores) - oracle) / len(scores)


def towards(other):
    """A mistake that takes another oracle for the one given."""
    return lambda scores, oracle, beta: beta * (scores.softmax(dim=1) - other(oracle)) / len(scores)


def batch(d, n, k=2):
    """Scores, oracles of k positions (0: full ones), a strength."""
    oracle = d.shares(n, 5) if not k else d.mask(n, 5, k=k) / torch.tensor(k, dtype=d.dtype)
    if n > 1:
        oracle[0] = torch.eye(5)[2]
    return d.numbers(n, 5), oracle, d.one(0.2, 3)


ex_6_1 = Exercise(
    "ex_6_1",
    Function(
        "pull_of_kl",
        right=pull,
        cases={
            "for one example it is (45)": Ask(
                lambda d: batch(d, 1),
                "There is one example here: (45), times the strength. Hold it against a "
                "difference: raise one score by 0.001, and look by how much the penalty grows.",
            ),
            "of several examples it is the mean, each with its own oracle": [
                Ask(lambda d: batch(d, 3), "Each score is in one example, a third of the mean."),
                Ask(lambda d: batch(d, 4, 0), "An oracle may give something to every position."),
            ],
            "it is 0 where attention has arrived, whatever was added to the scores": Ask(
                lambda d: ((o := d.shares(2, 3)).log() + 2 * d.numbers(2, 1), o, 5.0),
                "A constant that is added to a row's scores changes no attention, which equals "
                "the oracle here.",
            ),
        },
        mistakes={
            "The sign is the other way round: this is the step downhill, not the gradient.": (
                lambda *given: -pull(*given)
            ),
            "The softmax is taken over the examples; attention sums to 1 over the positions.": (
                excess(lambda scores: scores.softmax(dim=0))
            ),
            "The scores are no attention yet: take their softmax over the positions.": excess(
                lambda scores: scores
            ),
            "e^l is no attention yet: each row of shares must sum to 1.": excess(torch.exp),
            "This is the derivative with respect to the attention. A score moves all entries of "
            "its row, through the softmax.": lambda s, o, b: -b * o / s.softmax(1) / len(s),
            "That is alpha_j times the gap, as in the derivative of a square: KL has no such "
            "factor, for its 1/alpha_j cancels it.": lambda s, o, b: pull(s, o, b) * s.softmax(1),
            "Half of it is missing. log alpha_j is a difference of two terms, and a score stands "
            "in both of them: in the second for every position of its row.": any_of(
                lambda s, o, b: -b * o / len(s), lambda s, o, b: -b * o
            ),
            "The oracle was taken for uniform; take the one that is given, row by row.": any_of(
                towards(lambda oracle: 1 / oracle.shape[1]),
                towards(lambda oracle: (oracle > 0) / (oracle > 0).sum(dim=1, keepdim=True)),
            ),
            "The strength beta is missing.": lambda s, o, b: pull(s, o, b) / b,
            "The mean over the examples is missing: each counts 1/N.": lambda s, o, b: (
                pull(s, o, b) * len(s)
            ),
            "It is divided by the number of positions; the mean is over the examples.": any_of(
                lambda s, o, b: pull(s, o, b) * len(s) / s.shape[1],
                lambda s, o, b: pull(s, o, b) / s.shape[1],
            ),
            "The gradients are averaged over the examples. It is the penalty that is averaged: "
            "each example keeps a gradient of its own.": lambda s, o, b: (
                pull(s, o, b).mean(dim=0, keepdim=True).expand_as(s)
            ),
            "There is nan in it: 0 times the logarithm of 0, where the oracle is 0. Take the "
            "oracle's own logarithm out before you differentiate: it does not depend on the "
            "scores.": any_of(
                lambda s, o, b: torch.where(o > 0, pull(s, o, b), torch.nan),
                lambda s, o, b: torch.where((o > 0).all(1, keepdim=True), pull(s, o, b), torch.nan),
            ),
        },
    ),
    hints=(
        "log alpha_i is l_i minus the logarithm of the sum of all e^l. Differentiate that.",
        "Its derivative with respect to l_j is [i = j] - alpha_j. Weight with alpha*_i and sum "
        "over i; the weights alpha*_i have the sum 1.",
        "For one example it is (45). The mean over N examples divides each by N.",
    ),
    afterword="No loss stands in it: this gradient ends only when attention has arrived.",
)

# --- 6.2 two impostors --------------------------------------------------------------------


def large(d):
    """Two matrices of different shape and very different norm, none of their entries 0."""
    return {"W_Q": d.above(30, 8), "W_K": -0.01 * d.above(20, 12)}


def small(d):
    """Two gradients that a message can show."""
    return {"W_Q": 4 * d.numbers(1, 3), "W_K": d.numbers(2, 1)}


def as_tensors(given, like):
    """An answer as tensors in float64 of the right names and shapes."""
    require(
        isinstance(given, dict) and given.keys() == like.keys(),
        "The answer is to be a dict with the same names.",
        given,
    )
    made = {}
    for name, one in given.items():
        array = as_array(one)
        require(array is not None, f"{name} is to be a tensor.", one)
        made[name] = torch.as_tensor(array).double()
        require(
            made[name].shape == like[name].shape,
            f"{name} has shape {tuple(made[name].shape)}; its gradient {tuple(like[name].shape)}.",
        )
    return made, {name: one.double() for name, one in like.items()}


def has_the_norm(given, gradients, step):
    made, true = as_tensors(given, gradients)
    got, right = ({name: float(p.norm()) for name, p in one.items()} for one in (made, true))
    near = {name: abs(got[name] - right[name]) < 1e-4 * right[name] for name in right}
    both = [sum(norm**2 for norm in one.values()) ** 0.5 for one in (got, right)]
    cause = (
        "Divide the random numbers by their own norm and multiply with the gradient's. Their norm "
        "is not 1, and not the same every time."
    )
    if abs(both[0] - both[1]) < 1e-4 * both[1]:
        cause = "The noise is scaled for both matrices together; each is to have its own norm."
    rms = {name: float(one.square().mean().sqrt()) for name, one in made.items()}
    if all(abs(rms[name] - right[name]) < 1e-4 * right[name] for name in right):
        cause = (
            "Each *entry* is as large as the gradient's norm. The norm of all entries together is "
            "to be equal: divide by the norm of the random numbers."
        )
    require(all(near.values()), cause, got, f"norms {right}")


def has_no_trace(given, gradients, step):
    made, true = as_tensors(given, gradients)
    for name, one in made.items():
        sizes = (t.abs().flatten().sort().values for t in (one, true[name]))
        require(
            not torch.allclose(*sizes, rtol=1e-3),
            "These are the gradient's own entries, with other signs or in other places. Noise is "
            "made of random numbers alone; only its norm is the gradient's.",
        )
        along = float((one * true[name]).sum() / (one.norm() * true[name].norm()))
        require(
            abs(along) < 0.3,
            "The noise points the gradient's way, or against it. Is it added to the gradient or "
            "multiplied with it? Or are its numbers not centred on 0, as those of torch.rand?",
            along,
            "a cosine near 0 between noise and gradient",
        )
        kurtosis = float(one.pow(4).mean() / one.square().mean() ** 2)
        require(
            2 < kurtosis < 5,
            "These numbers are random, but not Gaussian: draw them with torch.randn.",
            kurtosis,
            "a kurtosis near 3",
        )


def is_fresh(given, *calls):
    first, again, later = (
        as_tensors(got, inputs[0])[0] for got, inputs in zip(given, calls, strict=True)
    )
    require(
        torch.allclose(first["W_Q"], again["W_Q"]),
        "Called twice for the same step it gave two answers: a run could not be repeated. Make "
        "the numbers from the step.",
    )
    require(
        not torch.allclose(first["W_Q"], later["W_Q"]),
        "Two steps have the same noise: that is a direction that lasts. Make the numbers from the "
        "step.",
    )


def keeps_sizes(given, gradients, seed):
    made, true = as_tensors(given, gradients)
    for name, one in true.items():
        size, right = made[name].abs(), one.abs()
        moved = torch.allclose(size.flatten().sort().values, right.flatten().sort().values)
        expect(
            size,
            right,
            cause="The entries have moved to other places: only their signs are to be random."
            if moved
            else "Multiply every entry with +1 or -1, and with nothing else.",
        )


def turns_half(given, gradients, seed):
    made, true = as_tensors(given, gradients)
    for name, one in made.items():
        turned = (one.sign() != true[name].sign()).double()
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


def lasts(given, *calls):
    pairs = [as_tensors(got, inputs[0]) for got, inputs in zip(given, calls, strict=True)]
    signs = [made["W_Q"].sign() for made, _ in pairs]
    flips = [made["W_Q"].sign() * true["W_Q"].sign() for made, true in pairs]
    require(
        # The signs last, those that multiply or those that come out.
        torch.equal(flips[0], flips[1]) or torch.equal(signs[0], signs[1]),
        "Another gradient of the same run got other signs: then the direction does not last, and "
        "this is a second kind of noise. Make them from the seed alone.",
    )
    require(
        not torch.equal(flips[0], flips[2]),
        "Two seeds have the same signs: make them from the seed.",
    )


ex_6_2 = Exercise(
    "ex_6_2",
    Function(
        "noise_for",
        cases={
            "noise has, in each matrix, the norm of its gradient": Ask(
                lambda d: (small(d), 0), judge=has_the_norm
            ),
            "noise has no trace of the gradient, neither its direction nor its sizes": Ask(
                lambda d: (large(d), 3), judge=has_no_trace
            ),
            "noise is fresh at every step, and the same if a step is computed again": Ask(
                lambda d: [(given := small(d), 7), (given, 7), (given, 8)], judge=is_fresh
            ),
            "where the gradient is 0 there is no noise": Ask(
                ({"W_Q": torch.zeros(2, 3), "W_K": torch.zeros(1, 1)}, 0),
                "A gradient of 0 has the norm 0. Divide by the norm of the noise, never by that of "
                "the gradient.",
                want={"W_Q": torch.zeros(2, 3), "W_K": torch.zeros(1, 1)},
            ),
        },
    ),
    Function(
        "shuffled_for",
        cases={
            "shuffled keeps the size of every entry in its place": Ask(
                lambda d: (small(d), 0), judge=keeps_sizes
            ),
            "about half of the signs are turned, each by itself": [
                Ask(lambda d: (large(d), 0), judge=turns_half),
                Ask(lambda d: (large(d), 1), judge=turns_half),
            ],
            "the signs last for a run, and another run has others": Ask(
                lambda d: [
                    (given := large(d), 5),
                    ({name: -2 * one for name, one in given.items()}, 5),
                    (given, 6),
                ],
                judge=lasts,
            ),
        },
    ),
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

# --- 6.3 where the inequality ends --------------------------------------------------------


def measured(given, oracle):
    """An answer as an attention in float64, |delta|^2 and D."""
    asked = f"The answer is to be a tensor of {len(oracle)} shares."
    attention = numbers(given, oracle.shape, asked)
    require(abs(attention.sum() - 1) < 1e-5, "Attention sums to 1.", given)
    require((attention > 0).all(), "A softmax has every entry above 0.", given)
    on = oracle > 0
    ratio, off = attention[on] / oracle[on], (attention - oracle)[on] / oracle[on]
    # Near the oracle the logarithm of a ratio is rounded, far from it a difference is.
    log = np.where(ratio < 0.5, np.log(ratio), np.log1p(np.maximum(off, -0.5)))
    divergence = float(-(oracle[on] * log).sum())
    return attention, float(((attention - oracle) ** 2).sum()), divergence


def breaks_near(given, k, length, constant, within):
    oracle = np.r_[np.full(k, 1 / k), np.zeros(length - k)]
    attention, gap, divergence = measured(given, oracle)
    require(divergence > 1e-14, "This is the oracle itself: D is 0, and 0 is not below 0.", given)
    require(
        divergence <= within * (1 + 1e-4),
        f"It breaks nothing near the oracle: D is {divergence:.3g}, which is to be at most "
        f"{within}. Leave less on the distractors.",
        given,
    )
    require(
        gap < constant * divergence or attention[k:].sum() > 0.1 * divergence,
        "Hardly anything is on the distractors: mass was moved about inside I*, where both "
        "sides are of second order. Move it outwards.",
        given,
    )
    require(
        gap < constant * divergence,
        f"|delta|^2 is {gap:.3g}, and c D only {constant * divergence:.3g}: the inequality "
        "holds. The left side is of second order in what the distractors have, so the "
        "smaller c is, the less they must have. (No one amount is small enough for every c.)",
        given,
    )


def breaks_far(given, oracle):
    oracle = oracle.double().numpy()
    _, gap, divergence = measured(given, oracle)
    require(divergence > 1e-12, "This is the oracle itself: D is 0, and so is |delta|^2.", given)
    claimed = float(pl_constant_claimed(oracle)) * divergence
    require(
        gap < claimed,
        f"|delta|^2 is {gap:.3g}, and 2 mu D is {claimed:.3g}: the inequality holds. Go "
        "further away: |delta|^2 is never more than 2, but D grows without end as an entry "
        "goes to 0.",
        given,
    )


ex_6_3 = Exercise(
    "ex_6_3",
    Function(
        "near",
        judge=breaks_near,
        cases={
            "near a sparse oracle no constant holds": [
                Ask((2, 5, 1.0, 0.5)),
                Ask((3, 7, 0.02, 0.5)),
                Ask((2, 9, 1.0, 0.002)),
                Ask((1, 4, 0.05, 0.01)),
                Ask((3, 4, 0.01, 0.5)),
                Ask((1, 3, 50.0, 5.0)),
                Ask((1, 2, 3e-7, 0.5)),
                Ask((3, 4, 5.0, 2e-8)),
                Ask(lambda d: (2, 6, d.one(1e-4, 3), d.one(0.001, 1))),
            ]
        },
    ),
    Function(
        "far",
        judge=breaks_far,
        cases={
            "far from a full oracle it does not hold either": [
                Ask((torch.tensor(shares, dtype=torch.float64),))
                for shares in (
                    [0.5, 0.3, 0.2],
                    [0.25, 0.25, 0.25, 0.25],
                    [0.1, 0.6, 0.2, 0.1],
                    [0.1, 0.9],
                )
            ]
        },
    ),
    hints=(
        "near: let the distractors have a little, eps in all, evenly. How large is D? And each "
        "entry of delta?",
        "near: D is about eps, and |delta|^2 is eps^2 times (1/k + 1/(T - k)). So how small must "
        "eps be for a given c?",
        "far: |delta|^2 cannot be more than 2, whatever you do. D can: what makes it large?",
    ),
    afterword="Without such an inequality there is no exponential rate: that is how 1/t comes in.",
)

# --- 6.4 a small study: two laws ----------------------------------------------------------


def late(fit=lambda x, y: -np.polyfit(x, y, 1)[0], kept=lambda times, since: times >= since):
    """A fit to the logarithms of the late records."""

    def answer(times, divergence, since):
        those = kept(times, since)
        return fit(np.log(times[those]), np.log(divergence[those])) if those.sum() > 1 else 0.0

    return answer


def records(d, since=2.0):
    """Unevenly spaced records around a power law; early ones follow another."""
    times = np.array([0.5, 1.0, 2.0, 4.0, 5.0, 10.0, 30.0, 100.0])
    scattered = np.exp(0.2 * d.numbers(8).double().numpy())
    divergence = 3 / times ** d.one(0.7, 2) * scattered
    divergence[times < since] = 2 * np.exp(-times[times < since])
    return times, divergence, since


def line(x=lambda betas: 1 / betas, r2=None, fit=lambda x, y: np.polyfit(x, y, 1)):
    """Floor, slope and R^2 of a line through the arms."""

    def answer(betas, epochs):
        slope, floor = fit(x(betas), epochs)
        missed = ((epochs - floor - slope * x(betas)) ** 2).sum()
        spread = ((epochs - epochs.mean()) ** 2).sum()
        return floor, slope, 1 - missed / spread if r2 is None else r2(missed, spread, epochs)

    return answer


def arms(d, scatter=120.0):
    betas = np.array([0.2, 0.5, 1.0, 2.5])
    epochs = 300 + d.one(30, 90) / betas
    return betas, epochs + scatter * d.numbers(4).double().numpy()


ex_6_4 = Exercise(
    "ex_6_4",
    Function(
        "late_power",
        right=late(),
        cases={
            "of a power law it is the power, above 0": Ask(
                lambda d: records(d, 0.5),
                "All records count here. Take the slope of log D over log t, with its sign turned.",
            ),
            "only records from `since` on count, with `since` itself": [
                Ask(records, "Records before 2 follow another law, that at 2 belongs to this one."),
                Ask(lambda d: records(d, 5.0), "Since 5: four records."),
            ],
        },
        mistakes={
            "The sign is the other way round: D falls as 1 / t^r, so r is minus the slope.": late(
                lambda x, y: np.polyfit(x, y, 1)[0]
            ),
            "The logarithm of the time is missing: this is the rate of an exponential.": late(
                lambda x, y: -np.polyfit(np.exp(x), y, 1)[0]
            ),
            "The logarithm of D is missing.": late(lambda x, y: -np.polyfit(x, np.exp(y), 1)[0]),
            "x and y are exchanged: D over the times.": late(lambda x, y: -np.polyfit(y, x, 1)[0]),
            "polyfit gives the slope first; this is where the line begins.": late(
                lambda x, y: np.polyfit(x, y, 1)[1]
            ),
            "All records are used; take those with times >= since.": late(
                kept=lambda times, since: times > 0
            ),
            "`since` is a time, not a number of records.": late(
                kept=lambda times, since: np.arange(len(times)) >= int(since)
            ),
            "The record at `since` itself is left out.": late(
                kept=lambda times, since: times > since
            ),
            "This is the slope from the first record to the last one; use all of them, by least "
            "squares.": late(lambda x, y: -(y[-1] - y[0]) / (x[-1] - x[0])),
            "This is the mean of the slopes from each record to the next; use the line of least "
            "squares.": late(lambda x, y: -(np.diff(y) / np.diff(x)).mean()),
            "The line was forced through the origin; it has an intercept, log C.": late(
                lambda x, y: -(x * y).sum() / (x**2).sum()
            ),
        },
    ),
    Function(
        "inverse_law",
        right=line(),
        cases={
            "epochs on such a law have its floor, its slope, and an R^2 of 1": Ask(
                lambda d: arms(d, 0.0), "These epochs are exactly 300 + slope / beta."
            ),
            "R^2 compares what the line misses with what the mean misses": Ask(
                arms,
                "1 minus (sum of the squares that the line misses) over (sum of the squares that "
                "the mean misses).",
            ),
        },
        mistakes={
            "Floor and slope are exchanged; polyfit gives the slope first.": lambda b, e: (
                line()(b, e)[1],
                line()(b, e)[0],
                line()(b, e)[2],
            ),
            "This is what the line misses, or its share of what the mean misses; R^2 is 1 minus "
            "that share.": any_of(
                line(r2=lambda missed, spread, e: missed / spread),
                line(r2=lambda missed, spread, e: missed),
            ),
            "The line is drawn over beta; the law is a line over 1/beta.": line(lambda b: b),
            "This is the correlation, not its square.": line(
                r2=lambda missed, spread, e: np.sqrt(1 - missed / spread)
            ),
            "It is compared with the squares of the epochs; take those around their mean.": line(
                r2=lambda missed, spread, e: 1 - missed / (e**2).sum()
            ),
            "There is no floor: the line goes through the origin.": line(
                fit=lambda x, y: ((x * y).sum() / (x**2).sum(), 0.0)
            ),
            "The line goes through two of the points; take the line of least squares.": any_of(
                *(
                    line(fit=lambda x, y, i=i, j=j: np.polyfit(x[[i, j]], y[[i, j]], 1))
                    for i in range(4)
                    for j in range(i)
                )
            ),
        },
    ),
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

# --- 6.5 a control that cannot help -------------------------------------------------------


def is_blind(given, pull):
    array = numbers(given, pull.shape, "The answer is to have the shape of the pull.")
    made, true = torch.from_numpy(array), pull.double()
    require(made.isfinite().all(), "There is a nan in it: is a row of 0 divided by 0?", given)
    length = true.norm(dim=1)
    require(
        bool((made.norm(dim=1) - length).abs().max() <= 1e-4 * length.max()),
        "Each row is to be as long as that of the pull, and 0 where that is 0.",
        made.norm(dim=1),
        f"lengths {length.numpy().round(4).tolist()}",
    )
    require(
        bool(made.sum(dim=1).abs().max() <= 1e-4 * length.max()),
        "The entries of a row do not sum to 0: no penalty has such a gradient. Take the mean off, "
        "before you take off what lies along the pull.",
        made.sum(dim=1),
        "sums of 0",
    )
    along = (made * true).sum(dim=1) / (length**2).clamp_min(1e-30)
    cause = "It has something of the pull's direction: take off what lies along the pull."
    if along.abs().min() > 0.99 or (along.abs()[length > 0] > 0.99).all():
        cause = "This is the pull itself, or its opposite."
    require(bool(along.abs().max() < 1e-4), cause, along, "a cosine of 0 in every example")


ex_6_5 = Exercise(
    "ex_6_5",
    Function(
        "blind_pull",
        judge=is_blind,
        cases={
            "as long as the pull, at a right angle to it, with the sum 0": [
                Ask(lambda d: (pull(*batch(d, 1)).to(d.dtype),)),
                Ask(lambda d: (pull(*batch(d, 4)).to(d.dtype),)),
            ],
            "for any pull": [
                Ask((torch.tensor([[2.0, -1.0, -1.0], [0.0, 0.0, 0.0], [1.0, -1.0, 0.0]]),)),
                Ask((torch.tensor([[0.0, 3.0, -3.0], [-1.0, -1.0, 2.0], [-1.0, 2.0, -1.0]]),)),
                Ask((torch.eye(4, dtype=torch.float64) - 0.25,)),
            ],
        },
    ),
    hints=(
        "Begin with any direction that is not the pull's own, in each row.",
        "Take its mean off: then it sums to 0. Take off what lies along the pull, (x . u) u with u "
        "of length 1: then it is at a right angle, and still sums to 0. Why?",
        "Give it the length of the pull; mind rows that are 0, and starting directions that happen "
        "to lie along the pull.",
    ),
    afterword="Compare it with noise: noise has, in few dimensions, quite some of the direction.",
)
