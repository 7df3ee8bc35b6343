"""Checks of the exercises on chapter 07: masks, rewinding, steps under a mask, a disguise."""

from itertools import pairwise

import torch

from grokkit.classroom.checks.exercise import Ask, Exercise, Function
from grokkit.classroom.checks.expect import any_of, as_array, require


def as_tensors(given, like):
    """An answer as tensors of the right names and shapes."""
    require(isinstance(given, dict), "The answer is to be a dict by name.", given)
    missing, more = like.keys() - given.keys(), given.keys() - like.keys()
    require(
        not missing and not more,
        f"The answer is to have the names {', '.join(like)}."
        + (f" {', '.join(sorted(missing))} is missing." if missing else "")
        + (f" {', '.join(sorted(map(str, more)))} does not belong there." if more else ""),
    )
    made = {}
    for name in like:
        array = as_array(given[name])
        require(array is not None, f"{name} is to be a tensor.", given[name])
        made[name] = torch.as_tensor(array)
        require(
            made[name].shape == like[name].shape,
            f"{name} has shape {tuple(made[name].shape)}; expected: {tuple(like[name].shape)}.",
        )
    return made


# --- 7.1 a mask that keeps its word -------------------------------------------------------


def keeps_its_word(given, weights, sparsity):
    """Whether of each matrix just so many entries go, the smallest."""
    matrices = {name: one for name, one in weights.items() if name.startswith("W_")}
    for name, made in as_tensors(given, matrices).items():
        require(
            set(made.flatten().tolist()) <= {0, 1},
            "These are weights; the mask says which of them stay: true or false.",
            made,
        )
        kept, size, n = made.bool(), matrices[name].abs(), made.numel()
        gone, wanted = int((~kept).sum()), round(sparsity * n)
        equal = size.flatten().unique().numel() < n
        causes = {
            n - wanted: "The share is what goes, not what stays: or the mask is turned round. It "
            "is true where an entry stays.",
            int(sparsity * n): f"{sparsity} of {n} is {sparsity * n:.3g}: round it, do not cut "
            "off what follows the point.",
        }
        cause = causes.get(
            gone, f"{gone} of {n} entries of {name} went, for a share of {sparsity}."
        )
        if equal and gone not in causes:
            cause += (
                " Many of them are equal: cutting at a value takes all equal ones or none. Sort "
                "places, and count."
            )
        elif gone not in causes:
            cause += " Is the share taken over all matrices together? Each loses its own."
        require(gone == wanted, cause, made, f"{wanted} pruned")
        if 0 < wanted < n and size[kept].min() < size[~kept].max():
            signed = matrices[name]
            if size[kept].max() <= size[~kept].min():
                cause = "The largest went; the mask is true where an entry stays."
            elif signed[kept].min() >= signed[~kept].max():
                cause = "The sign counted: a large negative weight is large. Sort absolute values."
            else:
                cause = "A weight went that is larger than one that stayed."
            require(False, cause, made, "the smallest by absolute value pruned")


def mixed(d):
    """Parameters of very different size, two of which are matrices."""
    parts = {"token_embedding": d.numbers(2, 2), "W_Q": 0.01 * d.numbers(3, 4)}
    return {**parts, "b_1": 0.01 * d.numbers(2), "W_1": 3 * d.numbers(1, 8)}


TIED = torch.tensor([[0.0, 0.5, 0.0, -0.5, 0.0], [0.0, 0.0, 0.5, -2.0, 0.5]])

ex_7_1 = Exercise(
    "ex_7_1",
    Function(
        "keep_largest",
        judge=keeps_its_word,
        cases={
            "the smallest by absolute value go": [
                Ask(({"W_1": torch.tensor([[0.9, -0.1, 0.4], [-0.8, 0.2, -0.05]])}, 0.5)),
                Ask(lambda d: ({"W_1": d.numbers(3, 4)}, 0.5)),
            ],
            "each matrix loses its own share, and only matrices lose any": Ask(
                lambda d: (mixed(d), 0.25)
            ),
            "exactly so many go, even of equal weights": [
                Ask(({"W_2": TIED}, sparsity)) for sparsity in (0.3, 0.7, 0.0, 1.0)
            ],
            "the number that goes is rounded to the nearest": [
                Ask(lambda d: ({"W_U": d.numbers(1, 7)}, 0.4)),
                Ask(lambda d: ({"W_U": d.numbers(1, 7)}, 0.6)),
            ],
        },
    ),
    hints=(
        "Count first: how many entries of this matrix are to go? `round(share * number)`.",
        "`argsort` gives *places*, smallest first, and decides between equal values by itself.",
        "Begin with a flat mask of True, set the first so many places to False, and give it the "
        "matrix's shape with `.view`.",
    ),
    afterword="In grokkit: grokkit.tickets.prune(spec, weights, Pruning(sparsity=0.8)).",
)

# --- 7.2 rewind, and the control ----------------------------------------------------------


def masked(given, by):
    """Tensors with what is pruned at 0."""
    return {name: one * by[name] if name in by else one for name, one in given.items()}


def ticket(d):
    """A mask that keeps 3 of 12 entries, and one that keeps 50 of 60."""
    second = torch.ones(6, 10, dtype=torch.bool)
    second[:2, :5] = False
    first = torch.zeros(3, 4, dtype=torch.bool)
    first[1, :3] = True
    return {"W_Q": first, "W_1": second}


def keeps_counts(given, kept, seed):
    made = as_tensors(given, kept)
    counts = {name: int(one.bool().sum()) for name, one in made.items()}
    right = {name: int(one.sum()) for name, one in kept.items()}
    cause = (
        "A coin for every entry keeps the sparsity on average only. Shuffle the mask that is "
        "there, and none is lost."
    )
    if sum(counts.values()) == sum(right.values()):
        cause = "As many in all, but not in every matrix: shuffle each by itself."
    elif counts == {name: one.numel() - right[name] for name, one in kept.items()}:
        cause = "As many as were kept are pruned: the mask is upside down."
    require(counts == right, cause, counts, str(right))


def is_random(given, *calls):
    kept = calls[0][0]
    drawn = [as_tensors(one, kept)["W_1"].bool() for one in given]
    own = kept["W_1"]
    require(
        any(not torch.equal(one, own) for one in drawn),
        "This is the ticket's own mask; its entries are to be at random places.",
    )
    require(
        torch.equal(drawn[0], drawn[1]),
        "Called twice with one seed it gave two masks: a run could not be repeated.",
    )
    require(
        any(not torch.equal(one, drawn[0]) for one in drawn),
        "Two seeds have the same places: make the order from the seed.",
    )
    for what, turned in (("row", False), ("column", True)):
        before, after = (own.T, [one.T for one in drawn]) if turned else (own, drawn)
        known = {tuple(line.tolist()) for line in before}
        require(
            any(tuple(line.tolist()) not in known for one in after for line in one),
            f"Whole {what}s have changed places: shuffle single entries.",
        )
    for what, dim in (("row", 1), ("column", 0)):
        require(
            any(not torch.equal(one.sum(dim=dim), own.sum(dim=dim)) for one in drawn),
            f"Entries have changed places within their {what}s only: shuffle the flat mask.",
        )


ex_7_2 = Exercise(
    "ex_7_2",
    Function(
        "rewind",
        right=masked,
        cases={
            "pruned weights begin at 0, kept ones where they were": Ask(
                lambda d: ({"W_1": d.numbers(2, 3), "b_1": d.numbers(2)}, {"W_1": d.mask(2, 3)}),
                "Multiply each parameter that the mask names with it, and leave the others.",
            )
        },
        mistakes={
            "The mask is upside down: it is true where an entry is kept.": lambda w, kept: masked(
                w, {name: ~one for name, one in kept.items()}
            ),
            "b_1 became 0: what the mask does not name begins as it was.": lambda w, kept: {
                **masked(w, kept),
                "b_1": 0 * w["b_1"],
            },
        },
    ),
    Function(
        "random_mask",
        cases={
            "the random mask keeps as many entries of every matrix": [
                Ask(lambda d, seed=seed: (ticket(d), seed), judge=keeps_counts) for seed in range(3)
            ],
            "its places are random, and the same for the same seed": Ask(
                lambda d: [(ticket(d), seed) for seed in (0, 0, 1, 2, 3, 4, 5, 6)], judge=is_random
            ),
        },
    ),
    hints=(
        "A float times a bool: the entry stays, or becomes 0. Names that the mask lacks stay.",
        "As many entries, other places: shuffle the mask itself. `torch.randperm(n, generator=g)` "
        "is a random order of n places.",
        "Flatten the mask, take its entries in the random order, give it its shape back. "
        "`torch.Generator().manual_seed(seed)` makes g.",
    ),
    afterword="In grokkit: grokkit.tickets.shuffled(ticket, seed).",
)

# --- 7.3 train under a mask ---------------------------------------------------------------


def norm_of(tensors):
    return float(torch.cat([one.flatten() for one in tensors.values()]).double().norm())


def step(
    seen=masked,
    norm=lambda gradients, kept: norm_of(masked(gradients, kept)),
    clip=lambda longest, norm: min(1.0, longest / norm),
    decay=lambda eta, w: 1 - eta * w,
    sign=-1,
    old=lambda weights, kept: weights,
    after=masked,
):
    """A masked step with one of its parts done otherwise."""

    def answer(weights, gradients, kept, eta, w, longest):
        used, factor = seen(gradients, kept), clip(longest, norm(gradients, kept))
        before = old(weights, kept)
        moved = {
            name: decay(eta, w) * before[name] + sign * eta * factor * used[name]
            for name in weights
        }
        return after(moved, kept)

    return answer


def each_clipped(gradients, kept):
    """Each parameter clipped by its own norm, 1 for the norm of all."""
    return {name: one / one.norm() for name, one in masked(gradients, kept).items()}


def plain(given, kept):
    return given


def parameters(d, scale=1.0):
    return {"W_1": scale * d.numbers(2, 3), "b_1": scale * d.numbers(2)}


def situation(d, share):
    """A step to take; `share` is c over the norm of the gradients that count."""
    weights, gradients, kept = parameters(d), parameters(d), {"W_1": d.mask(2, 3, k=2)}
    gradients["W_1"][~kept["W_1"]] *= 4
    return weights, gradients, kept, 0.1, 0.5, round(share * norm_of(masked(gradients, kept)), 4)


ex_7_3 = Exercise(
    "ex_7_3",
    Function(
        "masked_step",
        right=step(),
        cases={
            "without a mask it is clipped SGD with decoupled decay": [
                Ask(
                    lambda d: (parameters(d), parameters(d, 3.0), {}, 0.1, 0.5, 2.0),
                    "The gradient is longer than 2 and is scaled to that; the weights shrink by "
                    "1 - 0.1 x 0.5.",
                ),
                Ask(
                    lambda d: (parameters(d), parameters(d), {}, 0.1, 0.5, 50.0),
                    "A gradient that is shorter than c stays as it is.",
                ),
            ],
            "pruned weights are 0 afterwards, whatever they were": Ask(
                lambda d: situation(d, 9.0),
                "Some pruned weights are not 0 yet, and all have a gradient: they are to be 0.",
            ),
            "clipping does not see the pruned": [
                Ask(lambda d: situation(d, 0.4), "Only living weights and b_1 are in the norm."),
                Ask(lambda d: situation(d, 1.1), "What lives is shorter than c: nothing to clip."),
            ],
        },
        mistakes={
            "It is not clipped: the norm is longer than c.": step(clip=lambda longest, norm: 1.0),
            "Each parameter is clipped by its own norm; it is that of all gradients together.": (
                step(each_clipped, clip=lambda longest, norm: longest)
            ),
            "This is a norm of another kind: it is the root of the sum of all squares.": any_of(
                step(
                    norm=lambda g, kept: float(
                        torch.stack([one.norm(p=1) for one in masked(g, kept).values()]).norm()
                    )
                ),
                step(
                    norm=lambda g, kept: sum(float(one.norm()) for one in masked(g, kept).values())
                ),
                step(
                    norm=lambda g, kept: sum(
                        float(one.abs().sum()) for one in masked(g, kept).values()
                    )
                ),
                step(
                    norm=lambda g, kept: max(
                        float(one.abs().max()) for one in masked(g, kept).values()
                    )
                ),
            ),
            "The step goes uphill: subtract the gradient.": step(sign=1),
            "The weights do not decay.": step(decay=lambda eta, w: 1.0),
            "The decay is w alone; it is eta times w.": step(decay=lambda eta, w: 1 - w),
            "A gradient that is shorter than c is scaled up: the factor is at most 1.": step(
                clip=lambda longest, norm: longest / norm
            ),
            "The mask is on the gradient only: a weight that was not 0 before just decays.": step(
                after=plain
            ),
            "The mask is on the old weights only: the gradient brings them back.": step(
                plain, old=masked, after=plain
            ),
            "The norm has the pruned weights' gradients in it: the living weights are clipped "
            "because of dead ones. Mask the gradient first.": step(
                norm=lambda gradients, kept: norm_of(gradients)
            ),
            "b_1 has no mask, but its gradient belongs to the norm.": step(
                norm=lambda g, kept: norm_of({n: masked(g, kept)[n] for n in kept or g})
            ),
        },
    ),
    hints=(
        "What must not be seen has to go before anybody looks: mask the gradient first.",
        "The norm of all gradients together is the norm of their norms, those without a mask "
        "among them.",
        "Clip only what is longer than c; the decay is not clipped. At the end mask the weights: "
        "one that was pruned before the first step may not be 0 yet.",
    ),
    afterword="In grokkit a ticket masks the gradient before every step, and the weights after.",
)

# --- 7.4 small is not unimportant ---------------------------------------------------------


def as_network(given, first, bias, second):
    """The new W_1, whether it is the same function, why it may not be, and by how much."""
    require(
        isinstance(given, tuple | list) and len(given) == 3,
        "Return three tensors: the new W_1, b_1 and W_2.",
        given,
    )
    like = {"W_1": first, "b_1": bias, "W_2": second}
    made = as_tensors(dict(zip(like, given, strict=True)), like)
    a, b, c = (one.double() for one in made.values())
    first, bias, second = (one.double() for one in like.values())
    random = torch.Generator().manual_seed(9)
    x = 2 * torch.randn(40, len(first), generator=random, dtype=torch.float64)
    right = (x @ first + bias).relu() @ second

    def same(a, b, c):
        return torch.allclose((x @ a + b).relu() @ c, right, rtol=1e-4, atol=1e-4)

    scale = (a / first).mean(dim=0)
    if (scale - 1).abs().max() < 1e-6:
        cause = "W_1 is as it was, but the function has changed."
    elif (scale < 0).any():
        cause = "The factor is negative: relu(s z) = s relu(z) holds for s above 0 only."
    elif same(a, bias * scale, c):
        cause = "The bias goes into the ReLU, too: scale it as the column of W_1."
    elif same(a, b, second / scale[:, None]):
        cause = "What was taken from W_1 has to be given back in W_2: its row, divided."
    else:
        cause = (
            "Scale one column of W_1 and one entry of b_1 by s, one row of W_2 by 1/s, and "
            "nothing else."
        )
    apart = float(((x @ a + b).relu() @ c - right).abs().max())
    return a, same(a, b, c), cause, apart


def same_function(given, first, bias, second, unit):
    """Whether it is the same function, with the unit's column the smallest of W_1."""
    a, unchanged, cause, apart = as_network(given, first, bias, second)
    require(unchanged, cause, apart, "a difference of 0")
    own, rest = a.abs()[:, unit], a.abs()[:, torch.arange(a.shape[1]) != unit]
    require(own.min() > 0, "They became 0: then the function is kept only by a division by 0.", own)
    require(
        own.max() < rest.min(),
        "These are not the smallest of W_1: every entry of the column is to be below every "
        "other entry, by absolute value. Scale it down further (or is it another unit's?).",
        own,
        f"entries below {float(rest.min()):.3g}",
    )


def network(d, unit, scale=1.0):
    """W_1, b_1 and W_2 with biases that matter, no entry near 0, and one of the units."""
    return scale * d.numbers(3, 4), d.numbers(4), d.numbers(4, 2), unit


ex_7_4 = Exercise(
    "ex_7_4",
    Function(
        "same_network",
        judge=same_function,
        cases={
            "it is the same function, and the unit's incoming weights are the smallest": [
                Ask(lambda d, unit=unit: network(d, unit)) for unit in (1, 3, 0)
            ],
            "whatever the size of the weights": [
                Ask(lambda d: network(d, 2, 5.0)),
                Ask(lambda d: network(d, 2, 0.1)),
                Ask((torch.tensor([[0.1, 5.0], [0.2, -7.0]]), torch.ones(2), torch.ones(2, 3), 1)),
                Ask((torch.tensor([[0.1, 5.0], [0.2, -7.0]]), torch.ones(2), torch.ones(2, 3), 0)),
            ],
        },
    ),
    hints=(
        "Multiply what goes into a ReLU with s > 0. What comes out?",
        "So scale the unit's column of W_1 *and its bias* by s, and its row of W_2 by 1/s.",
        "How small must s be? The largest entry of the column times s is to be below the "
        "smallest entry of all other columns, by absolute value.",
    ),
    afterword="Weight decay ends such a disguise: it prefers both sides of a unit equally long.",
)

# --- 7.5 any order you like ---------------------------------------------------------------


def is_in_order(given, first, bias, second, order):
    """Whether it is the same function, and whole columns of W_1 come in the order given."""
    a, unchanged, cause, apart = as_network(given, first, bias, second)
    require(unchanged, cause, apart, "a difference of 0")
    size = a.abs()
    for before, after in pairwise(order):
        require(
            bool(size[:, before].min() > 0) and bool(size[:, before].max() < size[:, after].min()),
            f"Unit {after} is pruned before all of unit {before}: every entry of its column is to "
            "be above every entry of that one. Go through the order, and look at the largest entry "
            "so far.",
            size[:, [before, after]],
        )


ex_7_5 = Exercise(
    "ex_7_5",
    Function(
        "pruned_in_this_order",
        judge=is_in_order,
        cases={
            "it is the same function, and the units are pruned in the order given": [
                Ask(lambda d: (*network(d, 0)[:3], [2, 0, 3, 1])),
                Ask(lambda d: (*network(d, 0, 5.0)[:3], [0, 1, 2, 3])),
                Ask(lambda d: (*network(d, 0, 0.2)[:3], [3, 2, 1, 0])),
                Ask(lambda d: (*network(d, 0)[:3], d.order(4).tolist())),
            ]
        },
    ),
    hints=(
        "Every unit may have a factor of its own, as in 7.4.",
        "Which factor must the second unit have, so that its least entry is above the largest of "
        "the first?",
        "Keep the largest entry so far; a unit's factor is twice that, over its own least entry.",
    ),
    afterword="Try it on a trained network: its accuracy under such a mask is what you make it.",
)
