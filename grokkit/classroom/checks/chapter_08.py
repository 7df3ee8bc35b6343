"""Checks of the exercises on chapter 08: entropy, summed mass, heads that cancel, own priors."""

import math
from typing import Any

import torch

from grokkit.classroom.checks.exercise import Exercise
from grokkit.classroom.checks.expect import as_array, expect, require
from grokkit.theory import multi_head_pooled

Tensor = torch.Tensor

# --- 8.1 sharp, and nothing else ----------------------------------------------------------

ex_8_1 = Exercise(
    "ex_8_1",
    answers=("pull_of_entropy",),
    hints=(
        "First with respect to the attention: the derivative of -alpha_i log alpha_i is "
        "-(log alpha_i + 1).",
        "Then the chain: sum over i of that times alpha_i ([i = j] - alpha_j). The 1 drops out.",
        "What is left for score j is alpha_j times (log alpha_j minus the mean logarithm), "
        "negative, times beta. And the mean logarithm is -H.",
    ),
    afterword="It pushes up whatever is ahead: it cannot know whether that is right.",
)


def right_entropy_pull(attention: Tensor, beta: float) -> Tensor:
    """By autograd, from the definition."""
    scores = attention.log().requires_grad_()
    alpha = scores.softmax(dim=0)
    (gradient,) = torch.autograd.grad(-beta * (alpha * alpha.log()).sum(), scores)
    return gradient


def entropy_mistakes(alpha: Tensor, beta: float) -> dict[str, Tensor]:
    """What known mistakes give."""
    right, log = right_entropy_pull(alpha, beta), alpha.log()
    entropy = -(alpha * log).sum()
    return {
        "The sign is the other way round: the gradient of the penalty is asked for, not the step "
        "downhill.": -right,
        "This is the derivative with respect to the attention; a score moves all of it, through "
        "the softmax.": -beta * (log + 1),
        "H is missing: the derivative of the softmax subtracts the mean.": -beta * alpha * log,
        "H is missing and a 1 is left: in the sum over i the 1 drops out and the mean logarithm "
        "comes in.": -beta * alpha * (log + 1),
        "H is to be added to log alpha_j: the mean logarithm is -H.": -beta
        * alpha
        * (log - entropy),
        "The factor alpha_j is missing.": -beta * (log + entropy),
        "The logarithm is to base 2; nats need the natural one.": right / math.log(2),
    }


@ex_8_1.property("it is the derivative of the entropy, at every score")
def _(pull):
    alpha = torch.tensor([0.5, 0.2, 0.25, 0.05], dtype=torch.float64)
    expect(
        pull(alpha, 1.0),
        right_entropy_pull(alpha, 1.0),
        cause="Go through the chain rule: first the entropy by the attention, then the attention "
        "by the scores.",
        mistakes=entropy_mistakes(alpha, 1.0),
    )


@ex_8_1.property("beta multiplies it")
def _(pull):
    alpha = torch.tensor([0.1, 0.6, 0.3], dtype=torch.float64)
    right = right_entropy_pull(alpha, 3.0)
    expect(
        pull(alpha, 3.0),
        right,
        cause="With beta = 3 it is three times as large.",
        mistakes={
            "The strength beta is missing.": right / 3,
            "beta is in it twice.": 3 * right,
            **entropy_mistakes(alpha, 3.0),
        },
    )


@ex_8_1.property("a uniform attention feels nothing")
def _(pull):
    expect(
        pull(torch.full((5,), 0.2), 2.0),
        torch.zeros(5),
        cause="Of all attentions the uniform one has the largest entropy: the gradient is 0 there.",
        rtol=0.0,
        atol=1e-5,
    )


# --- 8.2 what a mean can hide -------------------------------------------------------------

ex_8_2 = Exercise(
    "ex_8_2",
    answers=("mean_and_share",),
    hints=(
        "Sum over the heads first: what is left is [example, pos].",
        "A bool tensor picks entries: `summed[informative]` are all informative masses in a row.",
        "For the share you need each sequence's least: put infinity where a position is not "
        "informative, and take the minimum over the positions.",
    ),
    afterword="In grokkit: summed_head_mass and distributed_share in grokkit.diagnostics.",
)

TWO_HEADS = torch.tensor(
    [  # head 1 and head 2 of each position
        [[0.5, 0.1], [0.3, 0.2], [0.1, 0.4], [0.1, 0.3]],  # summed 0.6 0.5 0.5 0.4
        [[0.2, 0.1], [0.0, 0.6], [0.7, 0.2], [0.1, 0.1]],  # 0.3 0.6 0.9 0.2
        [[0.5, 0.6], [0.3, 0.2], [0.1, 0.2], [0.1, 0.0]],  # 1.1 0.5 0.3 0.1
    ]
)
SEEN = torch.tensor(
    [[True, False, True, False], [False, True, False, False], [True, False, False, True]]
)
# The informative masses are 0.6 and 0.5, 0.6, 1.1 and 0.1.


@ex_8_2.property("the mean is over informative positions, of masses summed over heads")
def _(both):
    got = both(TWO_HEADS, SEEN, 0.45)
    require(
        isinstance(got, tuple | list) and len(got) == 2,
        "Return two numbers: the mean, and the share.",
        got,
    )
    summed = TWO_HEADS.sum(dim=2)
    right = summed[SEEN].mean()
    expect(
        got[0],
        right,
        cause="The five informative positions have 0.6, 0.5, 0.6, 1.1 and 0.1, heads together.",
        mistakes={
            "The heads are averaged; sum them.": right / 2,
            "The mean is over all positions; take the informative ones.": summed.mean(),
            "The distractors count as zeros: divide by the number of informative positions.": (
                (summed * SEEN).mean()
            ),
            "This is the share; the mean comes first.": 2 / 3,
            "This is the mean of each sequence's least.": (0.5 + 0.6 + 0.1) / 3,
            "The masses of a sequence's informative positions are summed, too; they are to be "
            "averaged.": (summed * SEEN).sum(dim=1).mean(),
        },
    )


@ex_8_2.property("a sequence meets (55) if its least informative mass is gamma or more")
def _(both):
    expect(
        both(TWO_HEADS, SEEN, 0.45)[1],
        2 / 3,
        cause="The least summed masses of the three sequences are 0.5, 0.6 and 0.1.",
        mistakes={
            "All three were found to meet it, and the third has a position with 0.1. Is a mean "
            "compared with gamma, instead of each sequence's least?": 1.0,
            "No sequence was found to meet it: is the minimum taken over all positions, or over "
            "all sequences, or over single heads?": 0.0,
            "This counts positions (4 of 5 have 0.45); count sequences.": 4 / 5,
            "Sequences are counted; divide by how many there are.": 2,
        },
    )
    expect(
        both(TWO_HEADS, SEEN, 0.65)[1],
        0.0,
        cause="Each sequence has an informative position below 0.65. Its mean or its best "
        "position does not count.",
    )


@ex_8_2.property("exactly gamma is enough")
def _(both):
    attention = torch.tensor([[[0.25, 0.25], [0.75, 0.75]], [[0.25, 0.0], [0.75, 1.0]]])
    expect(
        both(attention, torch.tensor([[True, True], [True, True]]), 0.5)[1],
        0.5,
        cause="The first sequence has 0.5 and 1.5, the threshold is 0.5: it is met.",
        mistakes={"(55) asks for gamma *or more*.": 0.0},
    )


# --- 8.3 heads that cancel ----------------------------------------------------------------

ex_8_3 = Exercise(
    "ex_8_3",
    answers=("cancelling_values",),
    hints=(
        "Only the changes v_i - v'_i matter. Write down what they add up to in h - h'.",
        "Divide each head's change by its share: then all heads weigh the same, and you need "
        "numbers, none of them 0, whose sum is 0.",
        "1, 1, ..., and minus their sum for one head. Then scale all until the shortest change "
        "is long enough.",
    ),
    afterword="grokkit.theory.counterexamples.cancelling_heads() is the pair of lesson 08.",
)


@ex_8_3.property("the pooled vectors agree, and every head's value has changed by xi or more")
def _(values):
    cases = (
        ([0.9, 0.9], 1.0),
        ([0.5, 0.9], 2.0),
        ([0.3, 0.6, 0.9], 1.0),
        ([0.2, 0.7, 0.4, 0.9], 5.0),
    )
    for shares, separation in cases:
        given = values(torch.tensor(shares), separation)
        require(
            isinstance(given, tuple | list) and len(given) == 2,
            "Return two tensors: v_i and v'_i of every head.",
            given,
        )
        arrays = [as_array(one) for one in given]
        require(
            all(one is not None and one.ndim == 2 and len(one) == len(shares) for one in arrays)
            and arrays[0].shape == arrays[1].shape,  # pyright: ignore
            f"Both are to be of shape [head, embed], with {len(shares)} heads here.",
            given,
        )
        v, new = (torch.as_tensor(one).double() for one in arrays)
        far = (v - new).norm(dim=1)
        require(
            (far >= separation * (1 - 1e-5)).all(),
            "A head's two values are closer than xi"
            + (" (they are the same)." if bool((far < 1e-9).any()) else ".")
            + " Every head's are to be so far apart, that with the largest share, too.",
            far,
            f"{separation} or more in every head",
        )
        alpha = torch.tensor(shares).double()[:, None].numpy()
        gap = torch.as_tensor(multi_head_pooled(alpha, (v - new)[:, None].numpy()))
        plain = (v - new).sum(dim=0).norm() < 1e-4 * far.max()
        require(
            gap.norm() < 1e-4 * far.max(),
            "The changes add up to 0, but a pooled vector weighs each with its head's share."
            if plain
            else "They do not cancel: the sum over heads of share times change is to be 0, for any "
            "number of heads.",
            gap,
            "h - h' = 0",
        )


# --- 8.4 a prior that is not in the book --------------------------------------------------

ex_8_4 = Exercise(
    "ex_8_4",
    answers=("my_pull",),
    hints=(
        "First who needs help: `informative & (attention < gamma)`. If nobody does, all is 0.",
        "The derivative of -log alpha_j with respect to the scores is alpha - e_j (1 at j, 0 "
        "elsewhere): its entries sum to 0, and at j it is near -1 where the share is tiny.",
        "Add that up over those who need help; or take the one who needs it most.",
    ),
    afterword="Whether it is a *better* prior is another question: five seeds, and lesson 10.",
)

TWO = torch.tensor([True, False, True, False, False])
THREE = torch.tensor([False, True, False, True, True, False, False])
FINE = torch.tensor([0.4, 0.05, 0.35, 0.1, 0.1])
"""Enough on both numbers for gamma = 0.3, and not half and half."""


def pull_on(pull: Any, attention: Tensor, informative: Tensor, gamma: float) -> Tensor:
    """The learner's gradient as a tensor in float64, refused where it is none."""
    given = pull(attention, informative, gamma)
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


def broken_cases() -> list[tuple[Tensor, Tensor, float]]:
    """Attentions that break the condition in one position or in several, with I* and gamma."""
    return [
        (torch.tensor([0.1, 0.2, 0.5, 0.1, 0.1]), TWO, 0.3),
        (torch.tensor([0.05, 0.5, 0.2, 0.15, 0.1]), TWO, 0.4),
        (torch.tensor([0.3, 0.1, 0.2, 0.05, 0.25, 0.06, 0.04]), THREE, 0.2),
        (torch.tensor([0.0005, 0.9, 0.09, 0.005, 0.0045]), TWO, 0.4),
    ]


@ex_8_4.property("where the condition holds it is silent")
def _(pull):
    for attention, informative, gamma in ((FINE, TWO, 0.3), (FINE, TWO, 0.2)):
        made = pull_on(pull, attention, informative, gamma)
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
            f"Every informative share is {gamma} or more: the condition holds, and yet it pulls.",
            made,
            "0 at every position",
        )
    exact = torch.tensor([0.25, 0.375, 0.25, 0.0625, 0.0625])
    require(
        (pull_on(pull, exact, TWO, 0.25).abs() < 1e-6).all(),
        "Two shares of exactly gamma are enough, and here it pulls.",
    )


@ex_8_4.property("where it is broken it pulls, with entries that sum to 0")
def _(pull):
    for attention, informative, gamma in broken_cases():
        made = pull_on(pull, attention, informative, gamma)
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


@ex_8_4.property("a small step downhill raises the least informative share")
def _(pull):
    for attention, informative, gamma in broken_cases():
        made = pull_on(pull, attention, informative, gamma)
        after = (attention.double().log() - 1e-3 * made / made.abs().max()).softmax(dim=0)
        before, now = attention.double()[informative].min(), after[informative].min()
        require(
            now > before * (1 + 1e-6),
            "Uphill it would rise: the sign is the other way round (a gradient points uphill, and "
            "training goes against it)."
            if made.argmax() == attention.masked_fill(~informative, 2).argmin()
            else "The least informative share does not rise: it is the one that breaks the "
            "condition, so it is the one to be helped.",
            made,
        )


@ex_8_4.property("it does not starve as a share goes to 0")
def _(pull):
    sizes = []
    for share in (1e-2, 1e-4, 1e-8):
        rest = 1 - share - 0.4
        attention = torch.tensor([share, rest / 2, 0.4, rest / 4, rest / 4], dtype=torch.float64)
        made = pull_on(pull, attention, TWO, 0.35)
        sizes.append(float(made[0].abs()))
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


@ex_8_4.property("it does not care in which order the positions are")
def _(pull):
    order = torch.tensor([3, 0, 4, 1, 2])
    for attention, informative, gamma in broken_cases():
        if len(attention) == 5:
            made = pull_on(pull, attention, informative, gamma)
            moved = pull_on(pull, attention[order], informative[order], gamma)
            expect(
                moved,
                made[order],
                cause="The same attention with its positions in another order is pulled in "
                "another way. Is a place written into the code?",
            )
