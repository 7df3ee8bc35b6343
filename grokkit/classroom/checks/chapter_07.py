"""Checks of the exercises on chapter 07: masks, rewinding, steps under a mask, a disguise."""

from itertools import pairwise

import torch

from grokkit.classroom.checks.common import JOINT_NORMS, drawn_from, joint, tensors
from grokkit.classroom.checks.exercise import Ask, Exercise, Function, each, mistaken
from grokkit.classroom.checks.expect import expect, require

# --- 7.1 a mask that keeps its word -------------------------------------------------------


def keeps_its_word(given, weights, sparsity):
    """Whether of each matrix just so many entries go, the smallest."""
    matrices = {name: one for name, one in weights.items() if name.startswith("W_")}
    for name, made in tensors(given, matrices).items():
        asked = "These are weights; the mask says which of them stay: true or false."
        require(set(made.flatten().tolist()) <= {0, 1}, asked, made)
        kept, size, n = made.bool(), matrices[name].abs(), made.numel()
        gone, wanted = int((~kept).sum()), round(sparsity * n)
        cause = "Each matrix loses its own share. Sort places: a limit cuts equal weights."
        if gone == n - wanted:
            cause = "The share is what goes, and the mask is true where an entry stays."
        elif gone == int(sparsity * n):
            cause = f"{sparsity} of {n} is {sparsity * n:.3g}: round it, do not cut it off."
        require(gone == wanted, f"{gone} of {n} entries went. {cause}", made, f"{wanted} pruned")
        cause = "A weight stayed, though one that is larger by absolute value went."
        require(not 0 < wanted < n or size[kept].min() >= size[~kept].max(), cause, made)


def different(d):
    """Parameters of very different size, two of which are matrices."""
    parts = {"token_embedding": d.numbers(2, 2), "W_Q": 0.01 * d.numbers(3, 4)}
    return {**parts, "b_1": 0.01 * d.numbers(2), "W_1": 3 * d.numbers(1, 8)}


TIED = torch.tensor([[0.0, 0.5, 0.0, -0.5, 0.0], [0.0, 0.0, 0.5, -2.0, 0.5]])

ex_7_1 = Exercise.of(
    "keep_largest",
    judge=keeps_its_word,
    cases={
        "the smallest by absolute value go": each(
            ({"W_1": torch.tensor([[0.9, -0.1, 0.4], [-0.8, 0.2, -0.05]])}, 0.5),
            lambda d: ({"W_1": d.numbers(3, 4)}, 0.5),
        ),
        "each matrix loses its own share, and only matrices lose any": Ask(
            lambda d: (different(d), 0.25)
        ),
        "exactly so many go, even of equal weights": each(
            *(({"W_2": TIED}, sparsity) for sparsity in (0.3, 0.7, 0.0, 1.0))
        ),
        "the number that goes is rounded to the nearest": each(
            lambda d: ({"W_U": d.numbers(1, 7)}, 0.4), lambda d: ({"W_U": d.numbers(1, 7)}, 0.6)
        ),
    },
    hints=(
        "Count first: how many entries of this matrix are to go? `round(share * number)`.",
        "`argsort` gives *places*, smallest first, and decides between equal values by itself.",
        "Set the first so many places of a flat mask to False; `.view` gives it its shape.",
    ),
    afterword="In grokkit: grokkit.tickets.prune(spec, weights, Pruning(sparsity=0.8)).",
)

# --- 7.2 rewind, and the control ----------------------------------------------------------


def masked(given, by):
    """Tensors with what is pruned at 0."""
    return {name: one * by[name] if name in by else one for name, one in given.items()}


def ticket(d):
    """A mask that keeps 3 of 12 entries, and one that keeps 50 of 60."""
    first, second = torch.zeros(3, 4).bool(), torch.ones(6, 10).bool()
    first[1, :3], second[:2, :5] = True, False
    return {"W_Q": first, "W_1": second}


def keeps_counts(given, kept, seed):
    cause = "Each matrix keeps as many as before: shuffle its own mask, toss no coins."
    counts = [[int(m.sum()) for m in one.values()] for one in (tensors(given, kept), kept)]
    expect(*counts, cause=cause)


def is_shuffled(given, kept, seed):
    own, drawn = kept["W_1"], tensors(given, kept)["W_1"].bool()
    cause = "Rows or columns are as they were: shuffle single entries, of the flat mask."
    for before, after in ((own, drawn), (own.T, drawn.T)):
        known = before.tolist()
        require(any(line not in known for line in after.tolist()), cause)
        require(not torch.equal(before.sum(dim=1), after.sum(dim=1)), cause)


ex_7_2 = Exercise(
    Function(
        "rewind",
        right=masked,
        cases={
            "pruned weights begin at 0, kept ones where they were": Ask(
                lambda d: ({"W_1": d.numbers(2, 3), "b_1": d.numbers(2)}, {"W_1": d.mask(2, 3)}),
                "Multiply each parameter that the mask names with it, and leave the others.",
            )
        },
    ),
    Function(
        "random_mask",
        cases={
            "the random mask keeps as many entries of every matrix": each(
                *(lambda d, seed=seed: (ticket(d), seed) for seed in range(3)), judge=keeps_counts
            ),
            "its places are random": Ask(lambda d: (ticket(d), 2), judge=is_shuffled),
            "they are the same for the same seed alone": Ask(
                lambda d: [(ticket(d), seed) for seed in (0, 0, 1, 2)],
                judge=drawn_from("seed", of=lambda given: given["W_1"]),
            ),
        },
    ),
    hints=(
        "A float times a bool: the entry stays, or becomes 0. Names that the mask lacks stay.",
        "Shuffle the mask itself: `torch.randperm(n, generator=g)` is a random order of n places.",
        "Of the flat mask, in its shape again. `torch.Generator().manual_seed(seed)` makes g.",
    ),
    afterword="In grokkit: grokkit.tickets.shuffled(ticket, seed).",
)

# --- 7.3 train under a mask ---------------------------------------------------------------


def plain(given, kept):
    return given


def step(
    weights,
    gradients,
    kept,
    eta,
    w,
    c,
    measured=masked,
    norm=joint,
    clip=lambda longest, norm: min(1.0, longest / norm),
    after=masked,
):
    """A masked step: what is measured is clipped, and the weights are masked after."""
    left, factor = 1 - eta * w, eta * clip(c, norm([*measured(gradients, kept).values()]))
    moved = {name: left * weights[name] - factor * gradients[name] for name in weights}
    return after(moved, kept)


def each_alone(weights, gradients, kept, *rest):
    """Each parameter clipped by its own norm."""
    alone = ({name: one} for name, one in weights.items())
    return {n: step(one, {n: gradients[n]}, kept, *rest)[n] for one in alone for n in one}


def parameters(d, scale=1.0):
    return {"W_1": scale * d.numbers(2, 3), "b_1": scale * d.numbers(2)}


def situation(d, share):
    """A step to take; `share` is c over the norm of the gradients that count."""
    weights, gradients, kept = parameters(d), parameters(d), {"W_1": d.mask(2, 3, k=2)}
    gradients["W_1"][~kept["W_1"]] *= 4
    norm = joint([*masked(gradients, kept).values()]).item()
    return weights, gradients, kept, 0.1, 0.5, round(share * norm, 4)


ex_7_3 = Exercise.of(
    "masked_step",
    right=step,
    cases={
        "without a mask it is clipped SGD with decoupled decay": [
            Ask(
                lambda d: (parameters(d), parameters(d, 3.0), {}, 0.1, 0.5, 2.0),
                "The gradient is scaled to the norm 2; the weights shrink by 1 - 0.1 x 0.5.",
            ),
            Ask(
                lambda d: (parameters(d), parameters(d), {}, 0.1, 0.5, 50.0),
                "A gradient that is shorter than c stays as it is.",
            ),
        ],
        "pruned weights are 0 afterwards, whatever they were": Ask(
            lambda d: situation(d, 9.0), "Pruned weights have a gradient, and need not be 0 yet."
        ),
        "clipping does not see the pruned": each(
            lambda d: situation(d, 0.4),
            lambda d: situation(d, 1.1),
            cause="Only living weights and b_1 are in the norm.",
        ),
    },
    mistakes=mistaken(
        step,
        clip={
            "It is not clipped: the norm is longer than c.": lambda c, norm: 1.0,
            "A gradient that is shorter than c is scaled up.": lambda c, norm: c / norm,
        },
        norm=JOINT_NORMS,
        after={"Mask the weights after the step: pruned ones need not be 0 before.": plain},
        measured={"Pruned weights are in the norm. Mask the gradient first.": plain},
    )
    | {
        "Each parameter is clipped by its own norm; it is that of all gradients together.": (
            each_alone
        ),
        "The weights decay by eta times w.": lambda weights, g, kept, eta, w, c: step(
            weights, g, kept, eta, w / eta, c
        ),
    },
    hints=(
        "What must not be seen has to go before anybody looks: mask the gradient first.",
        "The norm of all gradients is the norm of their norms, those without a mask among them.",
        "Clip only what is longer than c, not the decay. At the end mask the weights.",
    ),
    afterword="In grokkit a ticket masks the gradient before every step, and the weights after.",
)

# --- 7.4 small is not unimportant ---------------------------------------------------------


def same_function(given, first, bias, second):
    """The sizes of the new W_1; the function must be the same."""
    like = {"W_1": first, "b_1": bias, "W_2": second}
    asked = "Three tensors are asked for: the new W_1, b_1 and W_2."
    require(isinstance(given, tuple | list) and len(given) == 3, asked, given)
    a, b, c = tensors(dict(zip(like, given, strict=True)), like).values()
    first, bias, second = (one.double() for one in like.values())
    x = 2 * torch.randn(40, len(first), generator=torch.Generator().manual_seed(9)).double()

    def same(b, c):
        right = (x @ first + bias).relu() @ second
        return torch.allclose((x @ a + b).relu() @ c, right, rtol=1e-4, atol=1e-4)

    scale = (a / first).mean(dim=0)
    cause = "Scale a column of W_1 and its entry of b_1 by s, its row of W_2 by 1/s, nothing else."
    if (scale < 0).any():
        cause = "The factor is negative: relu(s z) = s relu(z) holds for s above 0 only."
    elif same(bias * scale, c):
        cause = "The bias goes into the ReLU, too: scale it as the column of W_1."
    elif same(b, second / scale[:, None]):
        cause = "What was taken from W_1 has to be given back in W_2: its row, divided."
    require(same(b, c), f"It is another function. {cause}", given)
    return a.abs()


def is_smallest(given, first, bias, second, unit):
    """Whether it is the same function, with the unit's column the smallest of W_1."""
    size = same_function(given, first, bias, second)
    own, rest = size[:, unit], size[:, torch.arange(size.shape[1]) != unit]
    cause = "Every entry of the unit's column is to be below all others in W_1, and not 0."
    require(own.min() > 0 and own.max() < rest.min(), cause, own, f"entries below {rest.min():.3g}")


def network(d, scale=1.0):
    """W_1, b_1 and W_2 with biases that matter, no entry near 0."""
    return scale * d.numbers(3, 4), d.numbers(4), d.numbers(4, 2)


UNEVEN = torch.tensor([[0.1, 5.0], [0.2, -7.0]]), torch.ones(2), torch.ones(2, 3)

ex_7_4 = Exercise.of(
    "same_network",
    judge=is_smallest,
    cases={
        "it is the same function, and the unit's incoming weights are the smallest": each(
            *(lambda d, unit=unit: (*network(d), unit) for unit in (1, 3, 0)),
            *(lambda d, scale=scale: (*network(d, scale), 2) for scale in (5.0, 0.1)),
            *((*UNEVEN, unit) for unit in (0, 1)),
        )
    },
    hints=(
        "Multiply what goes into a ReLU with s > 0. What comes out?",
        "So scale the unit's column of W_1 *and its bias* by s, and its row of W_2 by 1/s.",
        "The largest entry of the column times s is to be below the smallest one of all others.",
    ),
    afterword="Weight decay ends such a disguise: it prefers both sides of a unit equally long.",
)

# --- 7.5 any order you like ---------------------------------------------------------------


def is_in_order(given, first, bias, second, order):
    """Whether it is the same function, and whole columns of W_1 come in the order given."""
    size = same_function(given, first, bias, second)
    for before, after in pairwise(order):
        low, high = size[:, before], size[:, after]
        cause = f"Every entry of unit {after} is to be above every entry of unit {before}."
        require(low.min() > 0 and low.max() < high.min(), cause, size[:, [before, after]])


ex_7_5 = Exercise.of(
    "pruned_in_this_order",
    judge=is_in_order,
    cases={
        "it is the same function, and the units are pruned in the order given": each(
            lambda d: (*network(d), [2, 0, 3, 1]),
            lambda d: (*network(d, 5.0), [0, 1, 2, 3]),
            lambda d: (*network(d, 0.2), d.order(4).tolist()),
        )
    },
    hints=(
        "Every unit may have a factor of its own, as in 7.4.",
        "With which factor is the second unit's least entry above the largest of the first?",
        "Keep the largest entry so far; a unit's factor is twice that, over its own least entry.",
    ),
    afterword="Try it on a trained network: its accuracy under such a mask is what you make it.",
)
