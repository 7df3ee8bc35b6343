"""Checks of the exercises on chapter 08: entropy, summed mass, heads that cancel, own priors."""

import torch

from grokkit.classroom.checks.common import as_tensor
from grokkit.classroom.checks.exercise import Ask, Exercise, each, mistaken
from grokkit.classroom.checks.expect import any_of, as_array, expect, require

# --- 8.1 sharp, and nothing else ----------------------------------------------------------


def entropy_pull(attention, beta):
    """By autograd, from the definition."""
    scores = attention.double().log().requires_grad_()
    alpha = scores.softmax(dim=0)
    (gradient,) = torch.autograd.grad(-beta * (alpha * alpha.log()).sum(), scores)
    return gradient


def entropy(alpha):
    return -(alpha * alpha.log()).sum()


ex_8_1 = Exercise.of(
    "pull_of_entropy",
    right=entropy_pull,
    cases={
        "the derivative of beta H by every score": [
            Ask(lambda d: (d.shares(4), 1.0), "By the attention first, then that by scores."),
            Ask(lambda d: (d.shares(3), 3.0), "With beta = 3 it is 3 times as large."),
        ],
        "a uniform attention feels nothing: it has the largest entropy": Ask(
            (torch.full((5,), 0.2), 2.0), atol=1e-5
        ),
    },
    mistakes={
        "This is the derivative by the attention; a score moves all of it.": lambda a, b: (
            -b * (a.log() + 1)
        ),
        "H is missing: the derivative of the softmax subtracts the mean.": any_of(
            lambda a, b: -b * a * a.log(), lambda a, b: -b * a * (a.log() + 1)
        ),
        "H is to be added to log alpha_j: the mean logarithm is -H.": lambda a, b: (
            -b * a * (a.log() - entropy(a))
        ),
        "The factor alpha_j is missing.": lambda a, b: -b * (a.log() + entropy(a)),
    },
    hints=(
        "First by the attention: the derivative of -alpha_i log alpha_i is -(log alpha_i + 1).",
        "Then the chain: sum over i of that times alpha_i ([i = j] - alpha_j). The 1 drops out.",
        "What is left is -beta alpha_j (log alpha_j minus the mean logarithm), which mean is -H.",
    ),
    afterword="It pushes up whatever is ahead: it cannot know whether that is right.",
)

# --- 8.2 what a mean can hide -------------------------------------------------------------


def mean_and_share(
    attention,
    on,
    gamma,
    summed=lambda attention: attention.sum(dim=2),
    mean=lambda summed, on: summed[on].mean(),
    met=lambda summed, on, gamma: summed.masked_fill(~on, torch.inf).amin(1) >= gamma,
):
    masses = summed(attention)
    return mean(masses, on), met(masses, on, gamma).double().mean()


def heads(d, gamma):
    """Attention of two heads over four positions of five sequences."""
    return d.shares(5, 2, 4).transpose(1, 2), d.mask(5, 4, k=2), gamma


EXACT = torch.tensor([[[0.25, 0.25], [0.75, 0.75]], *[[[0.25, 0.0], [0.75, 1.0]]] * 2])

ex_8_2 = Exercise.of(
    "mean_and_share",
    right=mean_and_share,
    cases={
        "the mean over informative positions; the share of sequences that meet (55)": [
            *(
                Ask(lambda d, gamma=gamma: heads(d, gamma), "Is each sequence's least gamma?")
                for gamma in (0.2, 0.4, 0.6)
            ),
            Ask((EXACT, EXACT[..., 0] > 0, 0.5), "Exactly gamma is enough, as in the first."),
        ]
    },
    mistakes=mistaken(
        mean_and_share,
        summed={"The heads are averaged; sum them.": lambda attention: attention.mean(dim=2)},
        mean={
            "The mean is over informative positions, of all sequences alike.": any_of(
                lambda summed, on: summed.mean(),
                lambda summed, on: (summed * on).mean(),
                lambda summed, on: (summed * on).sum(dim=1).mean(),
            )
        },
        met={
            "A sequence meets it if each of its informative positions does.": any_of(
                lambda summed, on, gamma: summed[on] >= gamma,
                lambda summed, on, gamma: (summed * on).sum(1) / on.sum(1) >= gamma,
                lambda summed, on, gamma: summed.amin(1) >= gamma,
            )
        },
    ),
    hints=(
        "Sum over the heads first: what is left is [example, pos].",
        "A bool tensor picks entries: `summed[informative]` are all informative masses in a row.",
        "Each sequence's least: put infinity at the other positions, then take the minimum.",
    ),
    afterword="In grokkit: summed_head_mass and distributed_share in grokkit.diagnostics.",
)

# --- 8.3 heads that cancel ----------------------------------------------------------------


def cancel(given, shares, separation):
    """Whether every head's value changes by xi or more, and the pooled vectors agree."""
    shape = f"Two tensors [head, embed] are asked for, with {len(shares)} heads each."
    require(isinstance(given, tuple | list) and len(given) == 2, shape, given)
    arrays = [as_array(one) for one in given]
    fits = all(one is not None and one.ndim == 2 and len(one) == len(shares) for one in arrays)
    require(fits, shape, given)
    v, new = (torch.as_tensor(one).double() for one in arrays)
    far = (v - new).norm(dim=1)
    close = "A head's two values are closer than xi; that with the largest share counts, too."
    require(
        (far >= separation * (1 - 1e-5)).all(),
        close,
        far,
        f"{separation} or more",
        "|v - v'| of each head",
    )
    gap = shares.double() @ (v - new)
    cause = "The sum over heads of share times change is to be 0, for any number of heads."
    require(gap.norm() < 1e-4 * min(far.max(), separation), cause, gap, "0", "h - h'")


ex_8_3 = Exercise.of(
    "cancelling_values",
    judge=cancel,
    cases={
        "the pooled vectors agree, and every head's value has changed by xi or more": each(
            (torch.tensor([0.9, 0.9]), 1.0),
            lambda d: (d.shares(3)[:2], 2.0),
            lambda d: (0.9 * d.above(3).clamp(max=1), 1.0),
            lambda d: (d.shares(5), 0.01),
        )
    },
    hints=(
        "Only the changes v_i - v'_i matter. Write down what they add up to in h - h'.",
        "Divide each head's change by its share: then you need numbers, none 0, whose sum is 0.",
        "1, 1, ..., and minus their sum for one head. Scale all until the shortest is long enough.",
    ),
    afterword="grokkit.theory.counterexamples.cancelling_heads() is the pair of evidence 08.",
)

# --- 8.4 a prior that is not in the book --------------------------------------------------


def as_pull(given, attention):
    """The learner's gradient in float64."""
    asked = f"A number for each of the {len(attention)} scores is asked for."
    return as_tensor(given, attention.shape, asked)


def is_silent(given, attention, informative, gamma):
    made = as_pull(given, attention)
    kl = torch.allclose(made, attention.double() - informative / informative.sum(), atol=1e-5)
    cause = "It is the KL prior of lesson 06, which insists on 1/k." if kl else "And yet it pulls."
    said = f"Every informative share is {gamma} or more; just {gamma} is enough. {cause}"
    require(made.abs().max() < 1e-6, said, made, "0 at every position")


def pulls(given, attention, informative, gamma):
    made, alpha = as_pull(given, attention), attention.double()
    cause = "An informative share is below gamma, and nothing pulls. Compare each one with gamma, "
    cause += "neither their mean, nor their sum, nor the best of them."
    require(made.abs().max() > 1e-6, cause, made)
    cause = "A constant added to all scores changes no attention, so by the scores a gradient sums "
    cause += "to 0. Is it the derivative by the *attention*?"
    require(made.sum().abs() < 1e-4 * made.abs().max(), cause, made, "a sum of 0")
    after = (alpha.log() - 1e-3 * made / made.abs().max()).softmax(dim=0)
    cause = "The least informative share does not rise: it breaks the condition, so help that one."
    if made.argmax() == alpha.masked_fill(~informative, 2).argmin():
        cause = "The sign is the other way round: a gradient points uphill, training goes downhill."
    require(after[informative].min() > alpha[informative].min() * (1 + 1e-6), cause, made)


def does_not_starve(given, *calls):
    sizes = [float(as_pull(got, one[0])[0].abs()) for got, one in zip(given, calls, strict=True)]
    asked = "about the same pull, at shares of 0.01, 0.0001 and 0.00000001"
    cause = "The smaller the share, the weaker the pull: with a factor alpha_j it starves as the "
    cause += "loss does. Which penalty grows without end as a share goes to 0?"
    require(sizes[2] > 0.1 * sizes[0], cause, sizes, asked)
    cause = "The pull itself grows without end: is it the derivative by the attention?"
    require(sizes[2] < 100 * sizes[0], cause, sizes, asked)


def keeps_no_order(given, *calls):
    one, other = (as_pull(got, call[0]) for got, call in zip(given, calls, strict=True))
    cause = "Positions in another order are pulled in another way: is a place in the code?"
    expect(other, one[ORDER], cause=cause)


ORDER = torch.tensor([3, 0, 4, 1, 2])
TWO = torch.tensor([True, False, True, False, False])
THREE = torch.tensor([False, True, False, True, True, False, False])
FINE = torch.tensor([0.25, 0.375, 0.25, 0.0625, 0.0625])
BROKEN = [
    (torch.tensor([0.1, 0.2, 0.5, 0.1, 0.1]), TWO, 0.3),
    (torch.tensor([0.05, 0.5, 0.2, 0.15, 0.1]), TWO, 0.4),
    (torch.tensor([0.0005, 0.9, 0.09, 0.005, 0.0045]), TWO, 0.4),
]


def starving(share):
    rest = 0.6 - share
    alpha = [share, rest / 2, 0.4, rest / 4, rest / 4]
    return torch.tensor(alpha, dtype=torch.float64), TWO, 0.35


ex_8_4 = Exercise.of(
    "my_pull",
    cases={
        "where the condition holds it is silent": each(
            (FINE, TWO, 0.2), (FINE, TWO, 0.25), judge=is_silent
        ),
        "where it is broken it pulls, and raises the least informative share": each(
            *BROKEN, (torch.tensor([30, 10, 20, 5, 25, 6, 4]) / 100, THREE, 0.2), judge=pulls
        ),
        "it does not starve as a share goes to 0": Ask(
            [starving(share) for share in (1e-2, 1e-4, 1e-8)], judge=does_not_starve
        ),
        "it does not care in which order the positions are": [
            Ask([(alpha, on, g), (alpha[ORDER], on[ORDER], g)], judge=keeps_no_order)
            for alpha, on, g in BROKEN
        ],
    },
    hints=(
        "First who needs help: `informative & (attention < gamma)`. If nobody does, all is 0.",
        "By the scores -log alpha_j has the gradient alpha - e_j: near -1 at j for a tiny alpha_j.",
        "Add that up over those who need help; or take the one who needs it most.",
    ),
    afterword="Whether it is a *better* prior is another question: five seeds, and lesson 10.",
)

# --- 8.5 everybody takes turns ------------------------------------------------------------


def take_turns(given, k, length, tiny):
    asked = f"Attention of shape [{k} sequences, {length} positions, {k} heads] is asked for."
    alpha = as_tensor(given, [k, length, k], asked)
    shares = "In a sequence each head's attention sums to 1 over the positions; none is below 0."
    sums = alpha.sum(dim=1)
    require((alpha >= 0).all() and (sums - 1).abs().max() < 1e-4, shares, sums)
    on = alpha[:, :k]
    seen = "An informative position is hardly looked at in some sequence: share the work."
    require((on.sum(dim=2) >= 0.9).all(), seen, on.sum(dim=2), "0.9 or more, summed over heads")
    mean = on.mean(dim=0)
    turns = "Averaged over sequences a head prefers a position: let heads change places."
    require((mean - mean[:1]).abs().max() < 1e-4, turns, mean, "the same at every position")
    second = on.sort(dim=1).values[:, :-1].max()
    single = "A head looks at several informative positions of one sequence: let it take one."
    require(second < tiny, single, second, f"below {tiny:g} but for one")


ex_8_5 = Exercise.of(
    "taking_turns",
    judge=take_turns,
    cases={
        "together they see everything, alone one thing, and on the average all the same": each(
            (2, 5, 0.01), (3, 7, 0.001), (4, 4, 1e-6), (5, 30, 0.2)
        )
    },
    hints=(
        "In one sequence: who looks where, so that nobody looks at two and nothing is left out?",
        "In the next sequence let everybody move on by one place.",
        "Head h takes position (h + n) modulo k in sequence n, nearly all of it.",
    ),
    afterword="Averaged attention maps are the usual picture in papers. What would yours show?",
)
