"""Checks of the exercises on chapter 09: spectra, two losses, a disguise, shared frequencies."""

import math
from typing import Any

import numpy as np
import torch

from grokkit.classroom.checks.exercise import Exercise
from grokkit.classroom.checks.expect import as_array, expect, require
from grokkit.diagnostics import (
    embedding_power,
    excluded_loss,
    key_frequencies,
    restricted_loss,
    sum_power,
)
from grokkit.model import Batch

Tensor = torch.Tensor


def pairs(p: int) -> Batch:
    """All pairs of numbers, a slowest, as sequences of two operands and a query."""
    number = torch.arange(p)
    a, b = (one.flatten() for one in torch.meshgrid(number, number, indexing="ij"))
    tokens = torch.stack([a, b, torch.full_like(a, p)], dim=1)[None]
    informative = torch.tensor([True, True, False]).expand(tokens.shape)
    return Batch(tokens, ((a + b) % p)[None], informative, informative / 2)


def random_table(p: int, classes: int, seed: int = 0) -> Tensor:
    """Logits without any structure, with a mean that differs from class to class."""
    random = torch.Generator().manual_seed(seed)
    shapes = ((p, p, classes), (classes,))
    table, mean = (torch.randn(s, generator=random, dtype=torch.float64) for s in shapes)
    return table + mean


def adder(p: int, frequencies: dict[int, float]) -> Tensor:
    """Logits made of waves of a + b - c, by frequency and height."""
    number = torch.arange(p, dtype=torch.float64)
    angle = 2 * math.pi / p * (number[:, None, None] + number[:, None] - number)
    return sum(
        (height * torch.cos(k * angle) for k, height in frequencies.items()),
        torch.zeros(p, p, p, dtype=torch.float64),
    )


# --- 9.1 the spectrum ---------------------------------------------------------------------

ex_9_1 = Exercise(
    "ex_9_1",
    answers=("spectrum",),
    hints=(
        "For one k: `torch.cos(2 * torch.pi * k * n / p) @ embedding` is the sum over the "
        "numbers, a vector. Its squared length is what you need; the same with the sine.",
        "The factor is 2/p, but 1/p where there is no sine: at k = 0, and at k = p/2 if p is even.",
        "Test yourself: all powers together are the sum of the squares of all entries.",
    ),
    afterword="A fast transform does the same: torch.fft.rfft, squared, folded.",
)


def plain_power(embedding: Tensor) -> Tensor:
    """The power of an embedding at each frequency."""
    return embedding_power({"token_embedding": embedding[None]}, len(embedding))[0]


@ex_9_1.property("a single wave has all its power at its frequency")
def _(spectrum):
    n = torch.arange(7, dtype=torch.float64)
    angle = 2 * math.pi * 2 * n / 7
    wave = torch.stack([3 * torch.cos(angle), 1 * torch.sin(angle)], dim=1)
    right = plain_power(wave)  # 3.5 x (9 + 1)
    both = 3.5 * torch.tensor([0, 0, 9.0, 0])
    expect(
        spectrum(wave),
        right,
        cause="One dimension is 3 cos, the other sin, both of frequency 2 of 0..3: their power is "
        "(2/7) x 3.5^2 x (9 + 1) = 35.",
        mistakes={
            "Only the cosine's sum is taken; add the sine's.": both,
            "The list begins at frequency 1; the first is 0.": right[1:],
            "The factor 2/p is missing.": right * 3.5,
            "The factor is 1/p; a cosine and a sine have 2/p.": right / 2,
            "It is divided by all power: the power itself is asked for.": right / right.sum(),
            "This is the amplitude, the root of the power.": right.sqrt(),
            "All frequencies up to p - 1 are listed; those beyond p // 2 are mirror images.": (
                torch.tensor([0, 0, 17.5, 0, 0, 17.5, 0])
            ),
        },
    )


@ex_9_1.property("all powers together are the sum of all squares")
def _(spectrum):
    random = torch.Generator().manual_seed(1)
    embedding = torch.randn(5, 3, generator=random, dtype=torch.float64) + 1
    right = plain_power(embedding)
    twice = right * torch.tensor([2.0, 1, 1])
    expect(
        spectrum(embedding),
        right,
        cause="Five numbers in three dimensions: frequencies 0, 1 and 2.",
        mistakes={
            "Frequency 0 has no sine, and its cosine is 1: its factor is 1/p.": twice,
            "Frequency 0 is left out; it is the mean, and has power.": right
            * torch.tensor([0.0, 1, 1]),
            "The wave runs over the dimensions; it is to run over the numbers.": plain_power(
                embedding.T
            ),
        },
    )


@ex_9_1.property("with an even p the last frequency has no sine either")
def _(spectrum):
    random = torch.Generator().manual_seed(2)
    embedding = torch.randn(6, 2, generator=random, dtype=torch.float64) + 1
    right = plain_power(embedding)
    expect(
        spectrum(embedding),
        right,
        cause="Six numbers: frequencies 0 to 3. At 3 the sine is 0 at every number.",
        mistakes={
            "At frequency p/2 the factor is 1/p, as at 0.": right * torch.tensor([1.0, 1, 1, 2]),
            "Frequency p/2 is missing: they go up to p // 2, with it.": right[:3],
        },
    )


# --- 9.2 two losses -----------------------------------------------------------------------

ex_9_2 = Exercise(
    "ex_9_2",
    answers=("key_waves", "two_losses"),
    hints=(
        "m: `table[total == s].mean(dim=0)` for every s, with total[a, b] = (a + b) % p.",
        "The sum over s' is a matrix product of a p x p matrix of cosines with m; the matrices of "
        "several k add up. Then look the row up for every pair: `waves[total]`.",
        "Restricted: the mean of the table over a and b, one number a class, plus the waves. "
        "Excluded: the table minus the waves. The targets are `total`.",
    ),
    afterword="In grokkit: restricted_loss and excluded_loss in grokkit.diagnostics.",
)


def right_waves(table: Tensor, key: list[int]) -> Tensor:
    """The key waves of a + b in a table, by a transform over the sum."""
    p = len(table)
    total = torch.arange(p)[:, None] + torch.arange(p)
    mean = torch.stack([table[total % p == s].mean(dim=0) for s in range(p)])
    kept = torch.zeros(p // 2 + 1, 1)
    kept[key] = 1
    return torch.fft.irfft(torch.fft.rfft(mean, dim=0) * kept, n=p, dim=0)[total % p]


@ex_9_2.property("a wave of a + b is found again, and no other")
def _(key_waves, _losses):
    table = adder(5, {1: 2.0, 2: 0.5})[:, :, :3] + torch.tensor([1.0, -2.0, 0.5])
    right = right_waves(table, [1])
    constant = table.mean(dim=(0, 1))
    expect(
        key_waves(table, [1]),
        right,
        cause="The table is a wave of frequency 1, one of frequency 2 and a constant for every "
        "class: the first alone is to come out.",
        mistakes={
            "The constant is still in it: it is frequency 0, and no key.": right + constant,
            "The waves that are *not* key came out.": table - constant - right,
            "Twice as large: the factor is 2/p.": 2 * right,
            "Half as large: the factor is 2/p, for cosine and sine together.": right / 2,
            "The factor 2/p is missing.": right * 2.5,
        },
    )


@ex_9_2.property("of a table without structure only its mean over equal sums counts")
def _(key_waves, _losses):
    table = random_table(7, 4)
    right = right_waves(table, [1, 3])
    difference = table.flip(1).roll(1, 1)  # b replaced by -b
    wrong = right_waves(difference, [1, 3]).flip(1).roll(1, 1)
    expect(
        key_waves(table, [1, 3]),
        right,
        cause="First the mean over all pairs with the same (a + b) modulo p, class by class; then "
        "its waves.",
        mistakes={
            "These are waves of a - b.": wrong,
            "The sum over pairs is taken; it is a mean, of p pairs.": 7 * right,
            "Only the first key frequency is taken.": right_waves(table, [1]),
            "Only the last key frequency is taken.": right_waves(table, [3]),
        },
    )
    expect(
        key_waves(adder(7, {2: 1.0}).flip(1).roll(1, 1), [2]),
        torch.zeros(7, 7, 7),
        cause="This table has waves of a - b only: of a + b nothing is in it.",
    )


def right_losses(table: Tensor, key: list[int], trained: Tensor) -> tuple[float, float]:
    """Restricted and excluded loss."""
    p = len(table)
    mask = torch.zeros(1, p // 2 + 1, dtype=torch.bool)
    mask[0, key] = True
    logits, flat = table.flatten(0, 1)[None], trained.flatten()[None]
    batch = pairs(p)
    return (
        restricted_loss(logits, batch, p, mask, ~flat).item(),
        excluded_loss(logits, batch, p, mask, flat).item(),
    )


def loss(logits: Tensor, among: Tensor) -> float:
    """The mean cross-entropy of a + b among some pairs."""
    total = (torch.arange(len(logits))[:, None] + torch.arange(len(logits))) % len(logits)
    chosen = logits.log_softmax(dim=2).gather(2, total[..., None])[..., 0]
    return -chosen[among].mean().item()


@ex_9_2.property("restricted is the constant and the waves alone, on unseen pairs")
def _(_waves, losses):
    table = random_table(5, 5, seed=3)
    trained = torch.rand(5, 5, generator=torch.Generator().manual_seed(4)) < 0.6
    restricted, excluded = right_losses(table, [2], trained)
    waves, constant = right_waves(table, [2]), table.mean(dim=(0, 1))
    got = losses(table, [2], trained)
    require(
        isinstance(got, tuple | list) and len(got) == 2,
        "Return two numbers: restricted, excluded.",
        got,
    )
    expect(
        got[0],
        restricted,
        cause="The logits are the mean of every class plus the key waves, the pairs those that "
        "were not trained on.",
        mistakes={
            "The constant is missing: a class may be likelier than others in all pairs.": loss(
                waves, ~trained
            ),
            "It is taken on the train pairs.": loss(waves + constant, trained),
            "It is taken on all pairs.": loss(waves + constant, torch.ones_like(trained)),
            "One constant for all classes does nothing: each has its own mean.": loss(
                waves + table.mean(), ~trained
            ),
            "These are the logits as they are.": loss(table, ~trained),
            "Excluded and restricted are exchanged.": excluded,
        },
    )


@ex_9_2.property("excluded is all but the waves, on train pairs")
def _(_waves, losses):
    table = random_table(5, 5, seed=5)
    trained = torch.rand(5, 5, generator=torch.Generator().manual_seed(6)) < 0.4
    waves, constant = right_waves(table, [1]), table.mean(dim=(0, 1))
    rest = table - waves
    expect(
        losses(table, [1], trained)[1],
        right_losses(table, [1], trained)[1],
        cause="The logits are the table minus the key waves, the pairs those that were trained on.",
        mistakes={
            "It is taken on the unseen pairs.": loss(rest, ~trained),
            "It is taken on all pairs.": loss(rest, torch.ones_like(trained)),
            "The constant is taken away, too; only the waves are.": loss(rest - constant, trained),
            "These are the logits as they are.": loss(table, trained),
        },
    )


# --- 9.3 a disguise -----------------------------------------------------------------------

ex_9_3 = Exercise(
    "ex_9_3",
    answers=("in_disguise", "without_disguise"),
    hints=(
        "What can be added to the logits of one pair without changing any answer, nor how sure "
        "of it the network is?",
        "The same number for all classes, another one for every pair: let it be a large wave of "
        "a + b with frequency k.",
        "The cure: of all numbers that could be taken from a pair's logits, which leaves the least "
        "sum of squares? (For which number is the sum of (x - m)^2 the least?)",
    ),
    afterword="An instrument should not see what the network itself cannot: centre first, as "
    "logit_table does in grokkit.diagnostics.",
)


def as_table(given: Any, like: Tensor) -> Tensor:
    """An answer as a table in float64."""
    array = as_array(given)
    require(array is not None, "The answer is to be a table of logits [a, b, class].", given)
    table = torch.as_tensor(array).double()
    require(
        table.shape == like.shape,
        f"The table has shape {tuple(table.shape)}; as before it is {tuple(like.shape)}.",
    )
    require(table.isfinite().all(), "There is a nan or an infinity in the table.")
    return table


def keys(table: Tensor) -> list[int]:
    """The key frequencies by the rule of lesson 09, 90 % of the power, of a table as it is.

    On purpose without the centring that ``logit_table`` does: it would see through a disguise.
    """
    return key_frequencies(sum_power(table[None]))[0].nonzero().flatten().tolist()


@ex_9_3.property("in disguise every answer is the same, and as sure")
def _(disguise, _cure):
    for p, frequencies, k in ((7, {1: 3.0, 2: 2.0}, 3), (5, {2: 4.0}, 1)):
        table = adder(p, frequencies)
        made = as_table(disguise(table, k), table)
        same = torch.allclose(made.log_softmax(dim=2), table.log_softmax(dim=2), atol=1e-4)
        answers = bool((made.argmax(dim=2) == table.argmax(dim=2)).all())
        require(
            same,
            "The answers are the same, but not how sure they are: the softmax has changed. Add "
            "the same number to all classes of a pair."
            if answers
            else "The answers have changed. Add the same number to all classes of a pair; a wave "
            "of a + b - c gives every class another one.",
        )


@ex_9_3.property("and its only key frequency is k")
def _(disguise, _cure):
    cases = (
        (7, {1: 3.0, 2: 2.0}, 3),
        (5, {2: 4.0}, 1),
        (11, {1: 9.0, 3: 9.0, 4: 9.0}, 5),
    )
    for p, frequencies, k in cases:
        table = adder(p, frequencies)
        made = as_table(disguise(table, k), table)
        found = keys(made)
        require(
            found != keys(table),
            "The key frequencies are what they were: is the wave too small, or a constant?",
            found,
            f"[{k}]",
        )
        require(
            found == [k],
            "k is not the only key frequency. Is the wave large enough, also where the logits are "
            "large? Is it a wave of a + b, with the frequency k?",
            found,
            f"[{k}]",
        )


@ex_9_3.property("the cure has the same softmax and the least power")
def _(_disguise, cure):
    table = random_table(5, 3, seed=7)
    right = table - table.mean(dim=2, keepdim=True)
    expect(
        cure(table),
        right,
        cause="From the logits of each pair take the number that leaves the least sum of squares: "
        "their mean.",
        mistakes={
            "The mean over the pairs is taken away; that changes how likely a class is. Take the "
            "mean over the classes, pair by pair.": table - table.mean(dim=(0, 1)),
            "One mean for the whole table; take one for every pair.": table - table.mean(),
            "The largest logit is taken away: the softmax is the same, the power is not the "
            "least.": table - table.amax(dim=2, keepdim=True),
            "The log softmax is the same softmax, and not the least power.": table.log_softmax(2),
            "This is the softmax itself; the logits are asked for.": table.softmax(dim=2),
            "It is divided by its length; only a number for each pair may be taken away.": right
            / right.norm(),
        },
    )


@ex_9_3.property("it sees through the disguise")
def _(disguise, cure):
    table = adder(7, {1: 3.0, 2: 2.0})
    expect(
        as_table(cure(disguise(table, 3)), table),
        table,
        cause="These logits have the sum 0 over the classes, so the cure is to give them back.",
        atol=1e-4,
    )


# --- 9.4 a small study: an accident of what? ----------------------------------------------

ex_9_4 = Exercise(
    "ex_9_4",
    answers=("key_set", "shared"),
    hints=(
        "Sort the frequencies by their power, largest first, without 0. Take one after the other "
        "until they hold the share.",
        "Two sets drawn blindly from n: each of the a frequencies of the one is in the other "
        "with the chance b/n.",
        "`set(one) & set(other)` is what they share. `itertools.combinations(sets, 2)` gives "
        "every pair once.",
    ),
    afterword="A seed names both the initial weights and the split. Which of the two is it?",
)


@ex_9_4.property("the fewest frequencies that hold the share, never the constant")
def _(key_set, _shared):
    power = np.array([50.0, 4.0, 1.0, 10.0, 5.0])  # 20 without the constant
    expect(
        key_set(power, 0.9),
        [1, 3, 4],
        cause="10, 5 and 4 of 20 are 95 %; without the 4 it would be 75 %.",
        mistakes={
            "The constant, frequency 0, is among them: it is no wave.": [0, 3, 4],
            "Frequencies are counted from 0, the constant's: these are one too small.": [0, 2, 3],
            "They are in the order of their power; ascending, please.": [3, 4, 1],
            "One too few: together they hold less than the share.": [3, 4],
            "All are there. Does the power of the constant count in what the share is of?": (
                [1, 2, 3, 4]
            ),
            "These have at least a share of the largest; the share is of all power.": [3],
        },
    )
    expect(
        key_set(power, 0.4),
        [3],
        cause="10 of 20 are more than 40 % already: frequency 3 alone.",
        mistakes={"One too many: stop as soon as the share is reached.": [3, 4]},
    )
    expect(
        key_set(power, 0.75),
        [3, 4],
        cause="10 and 5 of 20 are 75 %, which is enough.",
        mistakes={"Exactly the share is enough.": [1, 3, 4]},
    )


@ex_9_4.property("shared: the mean over all pairs of sets, beside what chance gives")
def _(_key, shared):
    expect(
        shared([[1, 2, 3], [2, 3]], 10),
        (2.0, 0.6),
        cause="2 and 3 are shared. By chance: each of 2 frequencies is among 3 of 10 with the "
        "chance 0.3.",
        mistakes={
            "The share of the union came out; count what is shared.": (2 / 3, 0.6),
            "The two numbers are exchanged: what is shared comes first.": (0.6, 2.0),
            "Chance: size times size over n.": (2.0, 6.0),
        },
    )
    sets = [[1, 2, 3, 4], [4, 5], [1, 4, 6]]
    expect(
        shared(sets, 8),
        (4 / 3, (8 + 12 + 6) / 8 / 3),
        cause="Three pairs: they share 1, 2 and 1. By chance 4 x 2 / 8, 4 x 3 / 8 and 2 x 3 / 8.",
        mistakes={
            "Only neighbours are compared; every pair counts, the first with the last, too.": (
                1.0,
                (8 + 6) / 8 / 2,
            ),
            "This is a sum; take the mean over the pairs.": (4.0, (8 + 12 + 6) / 8),
            "What *all* have in common is not what two of them share.": (
                1.0,
                (8 + 12 + 6) / 8 / 3,
            ),
            "A set is compared with itself, too.": (
                (2 * 4 + 9) / 9,
                (4 + 2 + 3) ** 2 / 8 / 9,
            ),
        },
    )
