"""Checks of the exercises on chapter 07: masks, rewinding, steps under a mask, a disguise."""

from typing import Any

import torch

from grokkit.classroom.checks.exercise import Exercise
from grokkit.classroom.checks.expect import as_array, expect, require

Tensors = dict[str, torch.Tensor]


def as_tensors(given: Any, like: Tensors) -> Tensors:
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

ex_7_1 = Exercise(
    "ex_7_1",
    answers=("keep_largest",),
    hints=(
        "Count first: how many entries of this matrix are to go? `round(share * number)`.",
        "`argsort` gives *places*, smallest first, and decides between equal values by itself.",
        "Begin with a flat mask of True, set the first so many places to False, and give it the "
        "matrix's shape with `.view`.",
    ),
    afterword="In grokkit: grokkit.tickets.prune(spec, weights, Pruning(sparsity=0.8)).",
)


@ex_7_1.property("the smallest by absolute value go")
def _(keep):
    weights = {"W_1": torch.tensor([[0.9, -0.1, 0.4], [-0.8, 0.2, -0.05]])}
    right = torch.tensor([[True, False, True], [True, False, False]])
    made = as_tensors(keep(weights, 0.5), weights)["W_1"]
    expect(
        made.bool(),
        right,
        cause="Half of six: -0.05, -0.1 and 0.2 are the three smallest by absolute value.",
        mistakes={
            "The largest went; the mask is true where an entry stays.": ~right,
            "The sign counted: -0.8 is a large weight. Sort the absolute values.": torch.tensor(
                [[True, False, True], [False, True, False]]
            ),
        },
    )
    require(
        set(made.flatten().tolist()) <= {0, 1},
        "These are weights; the mask says which of them stay: true or false.",
        made,
    )


@ex_7_1.property("each matrix loses its own share, and only matrices lose any")
def _(keep):
    weights = {
        "token_embedding": torch.tensor([[0.1, 0.2], [0.3, 0.4]]),
        "W_Q": torch.tensor([[0.04, 0.03], [0.02, -0.01]]),
        "b_1": torch.tensor([0.0, 0.001]),
        "W_1": torch.tensor([[3.0, 1.0, -2.0, 4.0]]),
    }
    matrices = {name: one for name, one in weights.items() if name.startswith("W_")}
    made = as_tensors(keep(weights, 0.25), matrices)
    expect(
        {name: one.bool() for name, one in made.items()},
        {
            "W_Q": torch.tensor([[True, True], [True, False]]),
            "W_1": torch.tensor([[True, False, True, True]]),
        },
        cause="A quarter of W_Q is one entry, and a quarter of W_1 is one.",
        mistakes={
            "The share is taken over all matrices together: W_Q, whose weights are small, loses "
            "more than its own quarter.": {
                "W_Q": torch.tensor([[True, True], [False, False]]),
                "W_1": torch.tensor([[True, True, True, True]]),
            },
            "The share is what goes, not what stays.": {
                "W_Q": torch.tensor([[True, False], [False, False]]),
                "W_1": torch.tensor([[False, False, False, True]]),
            },
        },
    )


@ex_7_1.property("exactly so many go, even of equal weights")
def _(keep):
    weight = torch.tensor([[0.0, 0.5, 0.0, -0.5, 0.0], [0.0, 0.0, 0.5, -2.0, 0.5]])
    for sparsity, count in ((0.3, 3), (0.7, 7), (0.0, 0), (1.0, 10)):
        made = as_tensors(keep({"W_2": weight}, sparsity), {"W_2": weight})["W_2"].bool()
        gone = int((~made).sum())
        require(
            gone == count,
            f"{gone} of 10 entries went, for a share of {sparsity}. Half of them are equal to 0: "
            "cutting at a value takes all equal ones or none. Sort places, and count.",
            made,
            f"{count} pruned",
        )
        size = weight.abs()
        require(
            not count or count == 10 or size[made].min() >= size[~made].max(),
            "A weight went that is larger than one that stayed.",
            made,
        )


@ex_7_1.property("the number that goes is rounded to the nearest")
def _(keep):
    weight = torch.arange(1.0, 8.0).view(1, 7)
    made = as_tensors(keep({"W_U": weight}, 0.4), {"W_U": weight})["W_U"].bool()
    expect(
        int((~made).sum()),
        3,
        cause="0.4 of 7 is 2.8, the nearest whole number is 3.",
        mistakes={"0.4 of 7 is 2.8: round it, do not cut off what follows the point.": 2},
    )


# --- 7.2 rewind, and the control ----------------------------------------------------------

ex_7_2 = Exercise(
    "ex_7_2",
    answers=("rewind", "random_mask"),
    hints=(
        "A float times a bool: the entry stays, or becomes 0. Names that the mask lacks stay.",
        "As many entries, other places: shuffle the mask itself. `torch.randperm(n, generator=g)` "
        "is a random order of n places.",
        "Flatten the mask, take its entries in the random order, give it its shape back. "
        "`torch.Generator().manual_seed(seed)` makes g.",
    ),
    afterword="In grokkit: grokkit.tickets.shuffled(ticket, seed).",
)


def ticket() -> Tensors:
    """A mask that keeps 3 of 12 entries, and one that keeps 50 of 60."""
    first = torch.zeros(3, 4, dtype=torch.bool)
    first[1, :3] = True
    second = torch.ones(6, 10, dtype=torch.bool)
    second[:2, :5] = False
    return {"W_Q": first, "W_1": second}


@ex_7_2.property("pruned weights begin at 0, kept ones where they were")
def _(rewind, _mask):
    initial = {"W_1": torch.tensor([[1.0, -2.0], [3.0, 4.0]]), "b_1": torch.tensor([5.0, 6.0])}
    kept = {"W_1": torch.tensor([[True, False], [True, True]])}
    right = {"W_1": torch.tensor([[1.0, 0.0], [3.0, 4.0]]), "b_1": initial["b_1"]}
    expect(
        as_tensors(rewind(initial, kept), initial),
        right,
        cause="Multiply each parameter that the mask names with it, and leave the others.",
        mistakes={
            "The mask is upside down: it is true where an entry is kept.": {
                "W_1": torch.tensor([[0.0, -2.0], [0.0, 0.0]]),
                "b_1": initial["b_1"],
            },
            "b_1 became 0: what the mask does not name begins as it was.": {
                **right,
                "b_1": torch.zeros(2),
            },
        },
    )


@ex_7_2.property("the random mask keeps as many entries of every matrix")
def _(_rewind, mask):
    kept = ticket()
    for seed in range(3):
        made = as_tensors(mask(kept, seed), kept)
        counts = {name: int(one.bool().sum()) for name, one in made.items()}
        right = {name: int(one.sum()) for name, one in kept.items()}
        pruned = {name: one.numel() - right[name] for name, one in kept.items()}
        expect(
            counts,
            right,
            cause="As many in all, but not in every matrix: shuffle each by itself."
            if sum(counts.values()) == sum(right.values())
            else "A coin for every entry keeps the sparsity on average only. Shuffle the mask that "
            "is there, and none is lost.",
            mistakes={"As many as were kept are pruned: the mask is upside down.": pruned},
        )


@ex_7_2.property("its places are random")
def _(_rewind, mask):
    kept = ticket()
    drawn = [as_tensors(mask(kept, seed), kept)["W_1"].bool() for seed in range(8)]
    require(
        any(not torch.equal(one, kept["W_1"]) for one in drawn),
        "This is the ticket's own mask; its entries are to be at random places.",
    )
    require(
        any(not torch.equal(one, drawn[0]) for one in drawn),
        "Two seeds have the same places: make the order from the seed.",
    )
    own = kept["W_1"]
    for what, flip in (("row", False), ("column", True)):
        before, after = (own.T, [one.T for one in drawn]) if flip else (own, drawn)
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


@ex_7_2.property("the same seed names the same places")
def _(_rewind, mask):
    kept = ticket()
    one, again = (as_tensors(mask(kept, 5), kept) for _ in range(2))
    require(
        all(torch.equal(one[name], again[name]) for name in kept),
        "Called twice with one seed it gave two masks: a run could not be repeated.",
    )


# --- 7.3 train under a mask ---------------------------------------------------------------

ex_7_3 = Exercise(
    "ex_7_3",
    answers=("masked_step",),
    hints=(
        "What must not be seen has to go before anybody looks: mask the gradient first.",
        "The norm of all gradients together is the norm of their norms, those without a mask "
        "among them.",
        "Clip only what is longer than c; the decay is not clipped. At the end mask the weights: "
        "one that was pruned before the first step may not be 0 yet.",
    ),
    afterword="In grokkit a ticket masks the gradient before every step, and the weights after.",
)


def step(
    weights: Tensors, seen: Tensors, by: Tensors, eta: float, w: float, clip: float
) -> Tensors:
    """W' = (1 - eta w) W - eta clip g, under a mask."""
    return {
        name: ((1 - eta * w) * one - eta * clip * seen[name]) * by.get(name, torch.tensor(1.0))
        for name, one in weights.items()
    }


def masked(given: Tensors, by: Tensors) -> Tensors:
    """Tensors with what is pruned at 0."""
    return {name: one * by.get(name, torch.tensor(1.0)) for name, one in given.items()}


@ex_7_3.property("without a mask it is clipped SGD with decoupled decay")
def _(masked_step):
    weights = {"W_1": torch.tensor([[2.0, -1.0]]), "b_1": torch.tensor([4.0])}
    gradients = {"W_1": torch.tensor([[3.0, 0.0]]), "b_1": torch.tensor([4.0])}  # of norm 5
    right = step(weights, gradients, {}, 0.1, 0.5, 0.4)
    expect(
        masked_step(weights, gradients, {}, 0.1, 0.5, 2.0),
        right,
        cause="The gradient has norm 5 and is scaled to 2; the weights shrink by 1 - 0.1 x 0.5.",
        mistakes={
            "It is not clipped: the norm 5 is longer than 2.": step(
                weights, gradients, {}, 0.1, 0.5, 1.0
            ),
            "Each parameter is clipped by its own norm; it is that of all gradients together.": {
                name: 0.95 * one - 0.1 * gradients[name] * 2 / gradients[name].norm()
                for name, one in weights.items()
            },
            "The step goes uphill: subtract the gradient.": step(
                weights, gradients, {}, 0.1, 0.5, -0.4
            ),
            "The weights do not decay.": step(weights, gradients, {}, 0.1, 0.0, 0.4),
            "The decay is w alone; it is eta times w.": step(weights, gradients, {}, 0.1, 5.0, 0.4),
        },
    )
    expect(
        masked_step(weights, gradients, {}, 0.1, 0.5, 50.0),
        step(weights, gradients, {}, 0.1, 0.5, 1.0),
        cause="A gradient that is shorter than c stays as it is.",
        mistakes={
            "A gradient that is shorter than c is scaled up: the factor is at most 1.": step(
                weights, gradients, {}, 0.1, 0.5, 10.0
            )
        },
    )


@ex_7_3.property("pruned weights are 0 afterwards, whatever they were")
def _(masked_step):
    weights = {"W_1": torch.tensor([[2.0, -1.0, 0.0]])}
    gradients = {"W_1": torch.tensor([[1.0, 1.0, 1.0]])}
    kept = {"W_1": torch.tensor([[True, False, False]])}
    right = step(weights, masked(gradients, kept), kept, 0.1, 0.5, 1.0)
    expect(
        masked_step(weights, gradients, kept, 0.1, 0.5, 100.0),
        right,
        cause="The second weight is pruned and not 0 yet, the third is pruned and has a gradient: "
        "both are to be 0.",
        mistakes={
            "The mask is on the gradient only: a weight that was not 0 before just decays.": step(
                weights, masked(gradients, kept), {}, 0.1, 0.5, 1.0
            ),
            "The mask is on the old weights only: the gradient brings them back.": step(
                masked(weights, kept), gradients, {}, 0.1, 0.5, 1.0
            ),
        },
    )


@ex_7_3.property("clipping does not see the pruned")
def _(masked_step):
    weights = {"W_1": torch.tensor([[2.0, 0.0]]), "b_1": torch.tensor([1.0])}
    gradients = {"W_1": torch.tensor([[3.0, 12.0]]), "b_1": torch.tensor([4.0])}
    kept = {"W_1": torch.tensor([[True, False]])}
    seen = masked(gradients, kept)  # of norm 5, where all gradients have norm 13
    expect(
        masked_step(weights, gradients, kept, 0.1, 0.5, 2.6),
        step(weights, seen, kept, 0.1, 0.5, 2.6 / 5),
        cause="The gradient of what is there has the norm 5: that of W_1[0, 0] and of b_1.",
        mistakes={
            "The norm is 13 with the pruned weight's gradient in it: the living weights are "
            "clipped because of a dead one. Mask the gradient first.": step(
                weights, seen, kept, 0.1, 0.5, 2.6 / 13
            ),
            "b_1 has no mask, but its gradient belongs to the norm.": step(
                weights, seen, kept, 0.1, 0.5, 2.6 / 3
            ),
        },
    )


# --- 7.4 small is not unimportant ---------------------------------------------------------

ex_7_4 = Exercise(
    "ex_7_4",
    answers=("same_network",),
    hints=(
        "Multiply what goes into a ReLU with s > 0. What comes out?",
        "So scale the unit's column of W_1 *and its bias* by s, and its row of W_2 by 1/s.",
        "How small must s be? The largest entry of the column times s is to be below the "
        "smallest entry of all other columns, by absolute value.",
    ),
    afterword="Weight decay ends such a disguise: it prefers both sides of a unit equally long.",
)


def network(seed: int, embed: int, hidden: int, classes: int) -> tuple[torch.Tensor, ...]:
    """W_1, b_1 and W_2 with biases that matter, no entry near 0."""
    random = torch.Generator().manual_seed(seed)
    shapes = ((embed, hidden), (hidden,), (hidden, classes))
    drawn = [torch.randn(shape, generator=random, dtype=torch.float64) for shape in shapes]
    first, bias, second = (one + 0.2 * one.sign() for one in drawn)
    return first, bias, second


@ex_7_4.property("it is the same function")
def _(same_network):
    for seed, unit in ((0, 1), (1, 3), (2, 0)):
        first, bias, second = network(seed, 3, 4, 2)
        given = same_network(first, bias, second, unit)
        require(
            isinstance(given, tuple | list) and len(given) == 3,
            "Return three tensors: the new W_1, b_1 and W_2.",
            given,
        )
        new = as_tensors(dict(zip("abc", given, strict=True)), {"a": first, "b": bias, "c": second})
        random = torch.Generator().manual_seed(9)
        x = 2 * torch.randn(40, 3, generator=random, dtype=torch.float64)
        right = (x @ first + bias).relu() @ second
        parts = {name: one.double() for name, one in new.items()}

        def out(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor, x: torch.Tensor = x) -> Any:
            return (x @ a + b).relu() @ c

        if torch.allclose(out(*parts.values()), right, rtol=1e-4, atol=1e-5):
            continue
        scale = (parts["a"] / first).mean(dim=0)
        if (scale - 1).abs().max() < 1e-6:
            cause = "W_1 is as it was, but the function has changed."
        elif (scale < 0).any():
            cause = "The factor is negative: relu(s z) = s relu(z) holds for s above 0 only."
        elif torch.allclose(out(parts["a"], bias * scale, parts["c"]), right, rtol=1e-4, atol=1e-5):
            cause = "The bias goes into the ReLU, too: scale it as the column of W_1."
        elif torch.allclose(
            out(parts["a"], parts["b"], second / scale[:, None]), right, rtol=1e-4, atol=1e-5
        ):
            cause = "What was taken from W_1 has to be given back in W_2: its row, divided."
        else:
            cause = (
                "Scale one column of W_1 and one entry of b_1 by s, one row of W_2 by 1/s, and "
                "nothing else."
            )
        require(
            False, cause, float((out(*parts.values()) - right).abs().max()), "a difference of 0"
        )


@ex_7_4.property("the unit's incoming weights are smaller than all others")
def _(same_network):
    for seed, unit in ((3, 2), (4, 0), (5, 4)):
        first, bias, second = network(seed, 4, 5, 3)
        array = as_array(same_network(first, bias, second, unit)[0])
        require(array is not None, "W_1 is to be a tensor.")
        size = torch.as_tensor(array).abs()
        own = size[:, unit]
        rest = size[:, torch.arange(5) != unit]
        require(
            own.min() > 0,
            "They became 0: then the function is kept only by a division by 0.",
            own,
        )
        require(
            torch.as_tensor(array).shape == first.shape and own.max() < rest.min(),
            "These are not the smallest of W_1: every entry of the column is to be below every "
            "other entry, by absolute value. Scale it down further (or is it another unit's?).",
            own,
            f"entries below {float(rest.min()):.3g}",
        )
