"""Checks of the exercises on chapter 06: the prior's pull, its controls, PL, and two laws."""

import numpy as np
import torch

from grokkit.classroom.checks.common import (
    FITS,
    LOG_FITS,
    as_tensor,
    distribution,
    drawn_from,
    least_squares,
    tensors,
)
from grokkit.classroom.checks.exercise import Ask, Exercise, Function, each, mistaken
from grokkit.classroom.checks.expect import any_of, expect, require
from grokkit.theory import pl_constant_claimed

# --- 6.1 the pull on a score --------------------------------------------------------------


def pull(s, o, b, attention=lambda s: s.softmax(dim=1)):
    """The gradient of the mean penalty for scores, oracle and strength."""
    return b * (attention(s) - o) / len(s)


def batch(d, n, k=2):
    """Scores, oracles of k positions (0: full ones), a strength."""
    oracle = d.mask(n, 5, k=k) / torch.tensor(k, dtype=d.dtype) if k else d.shares(n, 5)
    return d.numbers(n, 5), oracle, d.one(0.2, 3)


ex_6_1 = Exercise.of(
    "pull_of_kl",
    right=pull,
    cases={
        "for one example it is (45), times the strength": Ask(
            lambda d: batch(d, 1),
            "Raise one score by 0.001, and look by how much the penalty grows.",
        ),
        "of several examples it is the mean, each with its own oracle": each(
            lambda d: batch(d, 3),
            lambda d: batch(d, 4, k=0),
            cause="Each score is in one example, one Nth of the mean.",
        ),
    },
    mistakes=mistaken(
        pull,
        attention={
            "Attention is the softmax of the scores over the positions of each row.": any_of(
                lambda s: s.softmax(dim=0), lambda s: s, torch.exp
            )
        },
    )
    | {
        "This is the derivative with respect to the attention: the softmax is missing.": (
            lambda s, o, b: -b * o / s.softmax(1) / len(s)
        ),
        "Half is missing: log alpha_j is a score minus a log-sum over all scores.": (
            lambda s, o, b: -b * o / len(s)
        ),
    },
    hints=(
        "log alpha_i is l_i minus the logarithm of the sum of all e^l. Differentiate that.",
        "Its derivative by l_j is [i = j] - alpha_j. Weight with alpha*_i, and sum over i.",
        "For one example it is (45). The mean over N examples divides each by N.",
    ),
    afterword="No loss stands in it: this gradient ends only when attention has arrived.",
)

# --- 6.2 two controls for the prior -------------------------------------------------------


def small(d):
    """Two gradients that a message can show."""
    return {"W_Q": 4 * d.numbers(1, 3), "W_K": d.numbers(2, 1)}


def large(d):
    """Two gradients of very different norm, none of their entries 0."""
    return {"W_Q": d.above(30, 8), "W_K": -0.01 * d.above(20, 12)}


def has_the_norm(given, gradients, step):
    norms = ([t.norm() for t in one.values()] for one in (tensors(given, gradients), gradients))
    cause = "Divide each matrix by its own norm, and multiply with the norm of its own gradient."
    expect(*norms, cause=cause, rtol=1e-4)


def has_no_trace(given, gradients, step):
    for name, one in tensors(given, gradients).items():
        true, kurtosis = gradients[name].double(), one.pow(4).mean() / one.square().mean() ** 2
        sizes = (part.abs().flatten().sort().values for part in (one, true))
        cosine = (one * true).sum() / (one.norm() * true.norm())
        cause = "It has the gradient's direction or its entries. Take nothing but the norm from it."
        what = "the cosine of the angle between it and the gradient"
        require(
            abs(cosine) < 0.3 and not torch.allclose(*sizes, rtol=1e-3), cause, cosine, what=what
        )
        require(2 < kurtosis < 5, "These numbers are not Gaussian: draw them with torch.randn.")


def keeps_sizes(given, gradients, seed):
    cause = "Multiply every entry with +1 or -1, and with nothing else; each keeps its place."
    for name, one in tensors(given, gradients).items():
        expect(one.abs(), gradients[name].abs(), cause=cause)


def turns_half(given, gradients, seed):
    cause = "Draw one sign for every entry (not for a whole row), +1 and -1 with the same chance."
    for name, one in tensors(given, gradients).items():
        turned = (one.sign() != gradients[name].sign()).double()
        what = "the share of entries that are turned"
        require(0.35 < turned.mean() < 0.65, cause, turned.mean(), "about one half", what)
        require(max(turned.mean(dim=0).std(), turned.mean(dim=1).std()) < 0.35, cause)


def lasts(given, *calls):
    signs = [tensors(got, calls[0][0])["W_Q"].sign() for got in given]
    turned = [one * call[0]["W_Q"].sign() for one, call in zip(signs, calls, strict=True)]
    cause = "Another gradient of the same run got other signs: make them from the seed alone."
    # The signs last, those that multiply or those that come out.
    require(torch.equal(turned[0], turned[1]) or torch.equal(signs[0], signs[1]), cause)


ZERO = {"W_Q": torch.zeros(2, 3), "W_K": torch.zeros(1, 1)}

ex_6_2 = Exercise(
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
                lambda d: [(g := small(d), 7), (g, 7), (g, 8)],
                judge=drawn_from("step", of=lambda given: given["W_Q"]),
            ),
            "where the gradient is 0 there is no noise": Ask(
                (ZERO, 0),
                "Divide by the norm of the noise, never by that of the gradient.",
                want=ZERO,
            ),
        },
    ),
    Function(
        "shuffled_for",
        cases={
            "shuffled keeps the size of every entry in its place": Ask(
                lambda d: (small(d), 0), judge=keeps_sizes
            ),
            "about half of the signs are turned, each by itself": each(
                lambda d: (large(d), 0), lambda d: (large(d), 1), judge=turns_half
            ),
            "the signs last for a run": Ask(
                lambda d: [(g := large(d), 5), ({n: -2 * g[n] for n in g}, 5)], judge=lasts
            ),
            "another run has other signs": Ask(
                lambda d: [(g := large(d), 5), (g, 5), (g, 6)],
                judge=drawn_from("seed", of=lambda given: given["W_Q"]),
            ),
        },
    ),
    hints=(
        "`torch.randn(shape, generator=torch.Generator().manual_seed(step))` depends on the step.",
        "A random matrix has some norm of its own. Divide by it, and multiply with the gradient's.",
        "Signs: random numbers 0 or 1, times 2, minus 1; made from the seed alone.",
    ),
    afterword='In grokkit: penalty_gradient="noise" and penalty_gradient="shuffled".',
)

# --- 6.3 where the inequality ends --------------------------------------------------------


def breaks(given, oracle, constant, cause):
    """Ask that |delta|^2 is below constant * D; gives D."""
    attention = distribution(given, len(oracle))
    require((attention > 0).all(), "A softmax has every entry above 0.", given)
    on = oracle > 0
    ratio, off = attention[on] / oracle[on], (attention - oracle)[on] / oracle[on]
    # Near the oracle the logarithm of a ratio is rounded, far from it a difference is.
    log = np.where(ratio < 0.5, np.log(ratio), np.log1p(np.maximum(off, -0.5)))
    divergence, gap = -(oracle[on] * log).sum(), ((attention - oracle) ** 2).sum()
    require(divergence > 1e-14, "This is the oracle itself: D is 0, and 0 is not below 0.", given)
    cause = f"The inequality holds: |delta|^2 is {gap:.3g}, and D is {divergence:.3g}. {cause}"
    require(gap < constant * divergence, cause, given)
    return divergence


def breaks_near(given, k, length, constant, within):
    more = "Inside I* nothing has to move. The smaller c, the less the distractors must have."
    divergence = breaks(given, (np.arange(length) < k) / k, constant, more)
    cause = "This is not near the oracle: leave less on the distractors."
    require(divergence <= within * (1 + 1e-4), cause, divergence, f"D of at most {within}")


def breaks_far(given, oracle):
    more = "Go further away: |delta|^2 has a largest value, but D grows without end."
    breaks(given, oracle.numpy(), float(pl_constant_claimed(oracle.numpy())), more)


ex_6_3 = Exercise(
    Function(
        "near",
        judge=breaks_near,
        cases={
            "near a sparse oracle no constant holds": each(
                *((2, 5, 1.0, 0.5), (3, 7, 0.02, 0.5), (2, 9, 1.0, 0.002), (1, 4, 0.05, 0.01)),
                *((3, 4, 0.01, 0.5), (1, 3, 50.0, 5.0), (1, 2, 3e-7, 0.5), (3, 4, 5.0, 2e-8)),
                lambda d: (2, 6, d.one(1e-4, 3), d.one(0.001, 1)),
            )
        },
    ),
    Function(
        "far",
        judge=breaks_far,
        cases={
            "far from a full oracle it does not hold either": [
                Ask((torch.tensor(shares, dtype=torch.float64),))
                for shares in ([0.5, 0.3, 0.2], [0.25] * 4, [0.1, 0.6, 0.2, 0.1], [0.1, 0.9])
            ]
        },
    ),
    hints=(
        "near: let the distractors have a little, eps in all, evenly. How large are D and delta?",
        "near: D is about eps, |delta|^2 is eps^2 (1/k + 1/(T - k)). Which eps is enough for c?",
        "far: |delta|^2 cannot be more than 2, whatever you do. D can: what makes it large?",
    ),
    afterword="Without such an inequality there is no exponential rate: that is how 1/t comes in.",
)

# --- 6.4 a small study: two laws ----------------------------------------------------------


def late(times, divergence, since, fit=least_squares, kept=np.greater_equal):
    """Minus the slope through the logarithms of the records kept."""
    those = kept(times, since)
    return -fit(np.log(times[those]), np.log(divergence[those]))[0]


def records(d, since=2.0):
    """Unevenly spaced records around a power law; early ones follow another."""
    times = np.array([0.5, 1.0, 2.0, 4.0, 5.0, 10.0, 30.0, 100.0])
    divergence = 3 / times ** d.one(0.7, 2) * np.exp(0.2 * d.numbers(8).double().numpy())
    divergence[times < since] = 2 * np.exp(-times[times < since])
    return times, divergence, since


def line(betas, epochs, x=np.reciprocal, fit=least_squares, r2=lambda m, s, e: 1 - m / s):
    """Floor, slope and R^2, from the squares that the line misses and those around the mean."""
    slope, floor = fit(x(betas), epochs)
    missed = ((epochs - floor - slope * x(betas)) ** 2).sum()
    return floor, slope, r2(missed, ((epochs - epochs.mean()) ** 2).sum(), epochs)


def arms(d, scatter=120.0):
    betas = np.array([0.2, 0.5, 1.0, 2.5])
    return betas, 300 + d.one(30, 90) / betas + scatter * d.numbers(4).double().numpy()


ex_6_4 = Exercise(
    Function(
        "late_power",
        right=late,
        cases={
            "of a power law it is the power, above 0": Ask(
                lambda d: records(d, 0.5), "All records count here. log D over log t has a slope."
            ),
            "only records from `since` on count, with `since` itself": each(
                records, lambda d: records(d, 5.0), cause="Earlier records follow another law."
            ),
        },
        mistakes=mistaken(
            late,
            fit=LOG_FITS,
            kept={
                "All records are used; take those with times >= since.": lambda times, since: (
                    times > 0
                ),
                "The record at `since` itself is left out.": np.greater,
            },
        ),
    ),
    Function(
        "inverse_law",
        right=line,
        cases={
            "epochs on such a law have its floor, its slope, and an R^2 of 1": Ask(
                lambda d: arms(d, 0.0), "These epochs are exactly 300 + slope / beta."
            ),
            "R^2 compares what the line misses with what the mean misses": Ask(arms),
        },
        mistakes=mistaken(
            line,
            fit=FITS,
            x={"The line is drawn over beta; the law is a line over 1/beta.": np.positive},
            r2={
                "R^2 is 1 minus what the line misses over what the mean misses, squared.": any_of(
                    lambda missed, spread, epochs: missed / spread,
                    lambda missed, spread, epochs: 1 - missed / (epochs**2).sum(),
                    lambda missed, spread, epochs: np.sqrt(1 - missed / spread),
                )
            },
        ),
    ),
    hints=(
        "log D = log C - r log t is a line over log t; `numpy.polyfit` gives its slope first.",
        "Over x = 1/beta the law is a straight line: its value at x = 0 is the floor.",
        "R^2: sum the squares of epochs minus line, and of epochs minus mean; 1 minus their ratio.",
    ),
    afterword="A law that a fit cannot refute has not been tested: try leaving out one point.",
)

# --- 6.5 a control that cannot help -------------------------------------------------------


def is_blind(given, pull):
    asked = "It is to have the shape of the pull, with finite entries: mind rows that are all 0."
    made = as_tensor(given, pull.shape, asked)
    length, total, along = pull.norm(dim=1), made.sum(dim=1), (made * pull).sum(dim=1)
    small = 1e-4 * float(length.max())
    cause = "Each row is to be as long as that of the pull, and 0 where that is 0."
    expect(made.norm(dim=1), length, cause=cause, atol=small)
    cause = "A row does not sum to 0. Take the mean off first, then what lies along the pull."
    require(total.abs().max() <= small, cause, total, "0 in each", "the sums of the rows")
    cause = "It has something of the pull's direction: take off what lies along the pull."
    what = "the product of each row with that of the pull"
    require((along.abs() <= 1e-4 * length**2).all(), cause, along, "0 in each", what)


ex_6_5 = Exercise.of(
    "blind_pull",
    judge=is_blind,
    cases={
        "as long as any pull, at a right angle to it, with the sum 0": each(
            lambda d: (pull(*batch(d, 1)),),
            lambda d: (pull(*batch(d, 4)),),
            (torch.tensor([[2.0, -1.0, -1.0], [0.0, 0.0, 0.0], [1.0, -1.0, 0.0]]),),
            (torch.tensor([[0.0, 3.0, -3.0], [-1.0, -1.0, 2.0], [-1.0, 2.0, -1.0]]),),
            (torch.eye(4, dtype=torch.float64) - 0.25,),
        )
    },
    hints=(
        "Begin with any direction that is not the pull's own, in each row.",
        "Take its mean off, then what lies along the pull, (x . u) u. Why does it still sum to 0?",
        "Give it the length of the pull; mind rows that are 0, and directions along the pull.",
    ),
    afterword="Compare it with noise: noise has, in few dimensions, quite some of the direction.",
)
