"""Checks of the exercises on chapter 08: entropy, summed mass, heads that cancel, own priors."""

import math

import torch

from grokkit.classroom.checks.exercise import Ask, Exercise, Function
from grokkit.classroom.checks.expect import any_of, as_array, expect, numbers, require
from grokkit.theory import multi_head_pooled

# --- 8.1 sharp, and nothing else ----------------------------------------------------------


def entropy_pull(attention, beta):
    """By autograd, from the definition."""
    scores = attention.double().log().requires_grad_()
    alpha = scores.softmax(dim=0)
    (gradient,) = torch.autograd.grad(-beta * (alpha * alpha.log()).sum(), scores)
    return gradient


def entropy(alpha):
    return -(alpha * alpha.log()).sum()


ex_8_1 = Exercise(
    "ex_8_1",
    Function(
        "pull_of_entropy",
        right=entropy_pull,
        cases={
            "it is the derivative of the entropy, at every score": Ask(
                lambda d: (d.shares(4), 1.0),
                "Go through the chain rule: first the entropy by the attention, then the attention "
                "by the scores.",
            ),
            "beta multiplies it": Ask(lambda d: (d.shares(3), 3.0), "With beta = 3 it is 3 times."),
            "a uniform attention feels nothing": Ask(
                (torch.full((5,), 0.2), 2.0),
                "Of all attentions the uniform one has the largest entropy: the gradient is 0 "
                "there.",
                atol=1e-5,
            ),
        },
        mistakes={
            "The sign is the other way round: the gradient of the penalty is asked for, not the "
            "step downhill.": lambda a, b: -entropy_pull(a, b),
            "This is the derivative with respect to the attention; a score moves all of it, "
            "through the softmax.": lambda a, b: -b * (a.log() + 1),
            "H is missing: the derivative of the softmax subtracts the mean.": lambda a, b: (
                -b * a * a.log()
            ),
            "H is missing and a 1 is left: in the sum over i the 1 drops out and the mean "
            "logarithm comes in.": lambda a, b: -b * a * (a.log() + 1),
            "H is to be added to log alpha_j: the mean logarithm is -H.": lambda a, b: (
                -b * a * (a.log() - entropy(a))
            ),
            "The factor alpha_j is missing.": lambda a, b: -b * (a.log() + entropy(a)),
            "The logarithm is to base 2; nats need the natural one.": lambda a, b: (
                entropy_pull(a, b) / math.log(2)
            ),
            "The strength beta is missing.": lambda a, b: entropy_pull(a, 1.0),
            "beta is in it twice.": lambda a, b: entropy_pull(a, b**2),
        },
    ),
    hints=(
        "First with respect to the attention: the derivative of -alpha_i log alpha_i is "
        "-(log alpha_i + 1).",
        "Then the chain: sum over i of that times alpha_i ([i = j] - alpha_j). The 1 drops out.",
        "What is left for score j is alpha_j times (log alpha_j minus the mean logarithm), "
        "negative, times beta. And the mean logarithm is -H.",
    ),
    afterword="It pushes up whatever is ahead: it cannot know whether that is right.",
)

# --- 8.2 what a mean can hide -------------------------------------------------------------


def both(
    summed=lambda attention: attention.sum(dim=2),
    mean=lambda summed, on: summed[on].mean(),
    met=lambda summed, on, gamma: summed.masked_fill(~on, torch.inf).amin(1) >= gamma,
    share=lambda met: met.double().mean(),
):
    """The two numbers, with one of the steps done otherwise."""

    def answer(attention, informative, gamma):
        masses = summed(attention)
        return mean(masses, informative), share(met(masses, informative, gamma))

    return answer


def heads(d, gamma):
    """Attention of two heads over four positions of five sequences."""
    alpha = d.shares(5, 2, 4).transpose(1, 2)
    return alpha, d.mask(5, 4, k=2), gamma


EXACT = torch.tensor([[[0.25, 0.25], [0.75, 0.75]], [[0.25, 0.0], [0.75, 1.0]]])
EXACT = torch.cat([EXACT, EXACT[1:]])

ex_8_2 = Exercise(
    "ex_8_2",
    Function(
        "mean_and_share",
        right=both(),
        cases={
            "the mean is over informative positions, the share over sequences": [
                Ask(
                    lambda d, gamma=gamma: heads(d, gamma),
                    "Sum over heads, then the least over the informative positions, then compare "
                    "with gamma, and the mean over sequences last.",
                )
                for gamma in (0.2, 0.4, 0.6)
            ],
            "exactly gamma is enough": Ask(
                (EXACT, torch.ones(3, 2, dtype=torch.bool), 0.5),
                "The first sequence has 0.5 and 1.5, the threshold is 0.5: it is met.",
            ),
        },
        mistakes={
            "The heads are averaged; sum them.": both(lambda attention: attention.mean(dim=2)),
            "The mean is over all positions; take the informative ones.": both(
                mean=lambda summed, on: summed.mean()
            ),
            "The distractors count as zeros: divide by the number of informative positions.": both(
                mean=lambda summed, on: (summed * on).mean()
            ),
            "The two numbers are exchanged; the mean comes first.": lambda *given: (
                both()(*given)[1],
                both()(*given)[0],
            ),
            "This is the mean of each sequence's least.": both(
                mean=lambda summed, on: summed.masked_fill(~on, torch.inf).amin(1).mean()
            ),
            "The masses of a sequence's informative positions are summed, too; they are to be "
            "averaged.": both(mean=lambda summed, on: (summed * on).sum(dim=1).mean()),
            "This counts positions; count sequences.": both(met=lambda s, on, g: s[on] >= g),
            "A mean or a best position is compared with gamma, instead of each sequence's least.": (
                any_of(
                    both(met=lambda s, on, g: (s * on).sum(1) / on.sum(1) >= g),
                    both(met=lambda s, on, g: (s * on).amax(1) >= g),
                )
            ),
            "The minimum is taken over all positions; only informative ones count.": both(
                met=lambda s, on, g: s.amin(1) >= g
            ),
            "Sequences are counted; divide by how many there are.": both(
                share=lambda met: met.sum()
            ),
            "This is the share of the sequences that do not meet it.": both(
                share=lambda met: 1 - met.double().mean()
            ),
            "(55) asks for gamma *or more*.": both(
                met=lambda s, on, g: s.masked_fill(~on, torch.inf).amin(1) > g
            ),
        },
    ),
    hints=(
        "Sum over the heads first: what is left is [example, pos].",
        "A bool tensor picks entries: `summed[informative]` are all informative masses in a row.",
        "For the share you need each sequence's least: put infinity where a position is not "
        "informative, and take the minimum over the positions.",
    ),
    afterword="In grokkit: summed_head_mass and distributed_share in grokkit.diagnostics.",
)

# --- 8.3 heads that cancel ----------------------------------------------------------------


def cancel(given, shares, separation):
    """Whether every head's value changes by xi or more, and the pooled vectors agree."""
    require(
        isinstance(given, tuple | list) and len(given) == 2,
        "Return two tensors: v_i and v'_i of every head.",
        given,
    )
    arrays = [as_array(one) for one in given]
    require(
        all(one is not None and one.ndim == 2 and len(one) == len(shares) for one in arrays)
        and arrays[0].shape == arrays[1].shape,  # pyright: ignore[reportOptionalMemberAccess]
        f"Both are to be of shape [head, embed], with {len(shares)} heads here.",
        given,
    )
    v, new = (torch.as_tensor(one).double() for one in arrays)
    far = (v - new).norm(dim=1)
    require(
        bool((far >= separation * (1 - 1e-5)).all()),
        "A head's two values are closer than xi"
        + (" (they are the same)." if bool((far < 1e-9).any()) else ".")
        + " Every head's are to be so far apart, that with the largest share, too.",
        far,
        f"{separation} or more in every head",
    )
    alpha = shares.double()[:, None].numpy()
    gap = torch.as_tensor(multi_head_pooled(alpha, (v - new)[:, None].numpy()))
    cause = (
        "They do not cancel: the sum over heads of share times change is to be 0, for any number "
        "of heads."
    )
    if (v - new).sum(dim=0).norm() < 1e-4 * far.max():
        cause = "The changes add up to 0, but a pooled vector weighs each with its head's share."
    require(gap.norm() < 1e-4 * min(float(far.max()), separation), cause, gap, "h - h' = 0")


ex_8_3 = Exercise(
    "ex_8_3",
    Function(
        "cancelling_values",
        judge=cancel,
        cases={
            "the pooled vectors agree, and every head's value has changed by xi or more": [
                Ask((torch.tensor([0.9, 0.9]), 1.0)),
                Ask(lambda d: (d.shares(3)[:2], 2.0)),
                Ask(lambda d: (0.9 * d.above(3).clamp(max=1), 1.0)),
                Ask(lambda d: (d.shares(4), 5.0)),
                Ask(lambda d: (d.shares(5), 0.01)),
            ]
        },
    ),
    hints=(
        "Only the changes v_i - v'_i matter. Write down what they add up to in h - h'.",
        "Divide each head's change by its share: then all heads weigh the same, and you need "
        "numbers, none of them 0, whose sum is 0.",
        "1, 1, ..., and minus their sum for one head. Then scale all until the shortest change "
        "is long enough.",
    ),
    afterword="grokkit.theory.counterexamples.cancelling_heads() is the pair of lesson 08.",
)

# --- 8.4 a prior that is not in the book --------------------------------------------------


def as_pull(given, attention):
    """The learner's gradient as a tensor in float64, refused where it is none."""
    array = as_array(given)
    require(array is not None, "The answer is to be a tensor [pos].", given)
    made = torch.as_tensor(array).double()
    require(
        made.shape == attention.shape,
        f"The answer has shape {tuple(made.shape)}; it is to have an entry for every score, "
        f"{tuple(attention.shape)}.",
        given,
    )
    require(made.isfinite().all(), "There is a nan or an infinity in it.", given)
    return made


def is_silent(given, attention, informative, gamma):
    made = as_pull(given, attention)
    oracle = informative / informative.sum()
    require(
        not torch.allclose(made, (attention - oracle).double(), atol=1e-5),
        "This is the KL prior of lesson 06: it insists on 1/k. Be silent as soon as every "
        "informative share is gamma or more.",
        made,
        "0 at every position",
    )
    require(
        (made.abs() < 1e-6).all(),
        f"Every informative share is {gamma} or more (just {gamma} is enough): the condition "
        "holds, and yet it pulls.",
        made,
        "0 at every position",
    )


def pulls(given, attention, informative, gamma):
    made = as_pull(given, attention)
    require(
        made.abs().max() > 1e-6,
        "An informative share is below gamma, and nothing pulls. Is the mean compared, or "
        "their sum, or the best of them?",
        made,
    )
    require(
        made.sum().abs() < 1e-4 * made.abs().max(),
        "The entries sum to something else than 0. A constant added to all scores changes no "
        "attention, so no penalty can have such a gradient. Is it the derivative with respect "
        "to the *attention*?",
        made,
        "a sum of 0",
    )
    after = (attention.double().log() - 1e-3 * made / made.abs().max()).softmax(dim=0)
    before, now = attention.double()[informative].min(), after[informative].min()
    uphill = made.argmax() == attention.masked_fill(~informative, 2).argmin()
    require(
        now > before * (1 + 1e-6),
        "Uphill it would rise: the sign is the other way round (a gradient points uphill, and "
        "training goes against it)."
        if uphill
        else "The least informative share does not rise: it is the one that breaks the "
        "condition, so it is the one to be helped.",
        made,
    )


def does_not_starve(given, *calls):
    sizes = [float(as_pull(got, one[0])[0].abs()) for got, one in zip(given, calls, strict=True)]
    require(
        sizes[2] > 0.1 * sizes[0],
        "The smaller the share, the weaker the pull on it: where it is needed most it has the "
        "factor alpha_j in it, and starves as the loss does. What penalty grows without end as "
        "a share goes to 0?",
        sizes,
        "a pull that stays, at shares of 0.01, 0.0001 and 0.00000001",
    )
    require(
        sizes[2] < 100 * sizes[0],
        "The pull itself grows without end as a share goes to 0. Is it the derivative with "
        "respect to the attention?",
        sizes,
    )


def keeps_no_order(given, *calls):
    one, other = (as_pull(got, call[0]) for got, call in zip(given, calls, strict=True))
    expect(
        other,
        one[ORDER],
        cause="The same attention with its positions in another order is pulled in another way. "
        "Is a place written into the code?",
    )


ORDER = torch.tensor([3, 0, 4, 1, 2])
TWO = torch.tensor([True, False, True, False, False])
THREE = torch.tensor([False, True, False, True, True, False, False])
FINE = torch.tensor([0.4, 0.05, 0.35, 0.1, 0.1])
BROKEN = [
    (torch.tensor([0.1, 0.2, 0.5, 0.1, 0.1]), TWO, 0.3),
    (torch.tensor([0.05, 0.5, 0.2, 0.15, 0.1]), TWO, 0.4),
    (torch.tensor([0.3, 0.1, 0.2, 0.05, 0.25, 0.06, 0.04]), THREE, 0.2),
    (torch.tensor([0.0005, 0.9, 0.09, 0.005, 0.0045]), TWO, 0.4),
]


def starving(share):
    rest = 0.6 - share
    alpha = [share, rest / 2, 0.4, rest / 4, rest / 4]
    return torch.tensor(alpha, dtype=torch.float64), TWO, 0.35


ex_8_4 = Exercise(
    "ex_8_4",
    Function(
        "my_pull",
        cases={
            "where the condition holds it is silent": [
                Ask((FINE, TWO, 0.3), judge=is_silent),
                Ask((FINE, TWO, 0.2), judge=is_silent),
                Ask(
                    (torch.tensor([0.25, 0.375, 0.25, 0.0625, 0.0625]), TWO, 0.25), judge=is_silent
                ),
            ],
            "where it is broken it pulls, with entries that sum to 0, and a small step downhill "
            "raises the least informative share": [Ask(case, judge=pulls) for case in BROKEN],
            "it does not starve as a share goes to 0": Ask(
                [starving(share) for share in (1e-2, 1e-4, 1e-8)], judge=does_not_starve
            ),
            "it does not care in which order the positions are": [
                Ask([(alpha, on, g), (alpha[ORDER], on[ORDER], g)], judge=keeps_no_order)
                for alpha, on, g in BROKEN
                if len(alpha) == 5
            ],
        },
    ),
    hints=(
        "First who needs help: `informative & (attention < gamma)`. If nobody does, all is 0.",
        "The derivative of -log alpha_j with respect to the scores is alpha - e_j (1 at j, 0 "
        "elsewhere): its entries sum to 0, and at j it is near -1 where the share is tiny.",
        "Add that up over those who need help; or take the one who needs it most.",
    ),
    afterword="Whether it is a *better* prior is another question: five seeds, and lesson 10.",
)

# --- 8.5 everybody takes turns ------------------------------------------------------------


def take_turns(given, k, length, tiny):
    asked = f"Attention of shape [{k} sequences, {length} positions, {k} heads] is asked for."
    alpha = torch.from_numpy(numbers(given, [k, length, k], asked))
    require(
        bool((alpha >= 0).all()) and bool((alpha.sum(dim=1) - 1).abs().max() < 1e-4),
        "Each head's attention sums to 1 over the positions of a sequence, and is not negative.",
        alpha.sum(dim=1),
    )
    on = alpha[:, :k]
    summed = on.sum(dim=2)
    cause = "Some informative position is looked at by nobody in some sequence."
    if (summed.sum(dim=1) < 0.9 * k).any():
        cause = "The heads look elsewhere: too much is on the distractors."
    require(bool((summed >= 0.9).all()), cause, summed, "0.9 or more, summed over the heads")
    mean = on.mean(dim=0)
    require(
        bool((mean - mean[:1]).abs().max() < 1e-4),
        "Averaged over the sequences some head prefers a position. Let the heads change places "
        "from one sequence to the next.",
        mean,
        "the same for every position, in every head",
    )
    second = on.sort(dim=1).values[:, :-1] if k > 1 else on[:, :0]
    require(
        bool((second < tiny).all()),
        "A head looks at several informative positions of one sequence: let it take one, and "
        "another one in the next sequence.",
        second.max() if second.numel() else 0.0,
        f"below {tiny:g} but for one",
    )


ex_8_5 = Exercise(
    "ex_8_5",
    Function(
        "taking_turns",
        judge=take_turns,
        cases={
            "together they see everything, alone one thing, and on the average all the same": [
                Ask((2, 5, 0.01)),
                Ask((3, 7, 0.001)),
                Ask((4, 4, 1e-6)),
                Ask((5, 30, 0.2)),
            ]
        },
    ),
    hints=(
        "In one sequence: who looks where, so that nobody looks at two and nothing is left out?",
        "In the next sequence let everybody move on by one place.",
        "Head h takes position (h + n) modulo k in sequence n; the crumbs that are left over must "
        "be small.",
    ),
    afterword="Averaged attention maps are the usual picture in papers. What would yours show?",
)
