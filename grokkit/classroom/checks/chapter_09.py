"""Checks of the exercises on chapter 09: spectra, two losses, a disguise, shared frequencies."""

import math
from itertools import combinations

import numpy as np
import torch

from grokkit.classroom.checks.common import as_tensor
from grokkit.classroom.checks.exercise import Ask, Exercise, Function, each, mistaken
from grokkit.classroom.checks.expect import any_of, as_floats, require
from grokkit.diagnostics import embedding_power, key_frequencies, sum_power

# --- 9.1 the spectrum ---------------------------------------------------------------------


def power(embedding, first=1.0, last=1.0):
    """The power at each frequency, with other factors at 0 and at p/2."""
    p = len(embedding)
    found = embedding_power({"token_embedding": embedding[None]}, p)[0].clone()
    found[0] *= first
    found[-1] *= last if p % 2 == 0 else 1.0
    return found


def cosine_only(embedding, first=1.0):
    found = torch.fft.rfft(embedding, dim=0).real.square().sum(dim=1) * 2 / len(embedding)
    found[0] *= first
    return found


ex_9_1 = Exercise.of(
    "spectrum",
    right=power,
    cases={
        "the powers at 0, 1, ..., p // 2 sum to that of all squares": Ask(
            lambda d: (d.numbers(7, 2),), "Seven numbers: the powers at 0, 1, 2 and 3."
        ),
        "frequency 0 has its power, too": Ask(lambda d: (d.numbers(5, 3) + 1,)),
        "with an even p there is no sine at p/2 either": Ask(lambda d: (d.numbers(6, 2),)),
    },
    mistakes={
        "Only the cosine's sum is taken; add the sine's.": any_of(
            cosine_only, lambda e: cosine_only(e, 0.5)
        ),
        "Where there is no sine the factor is 1/p.": any_of(
            lambda e: power(e, 2), lambda e: power(e, 2, 2), lambda e: power(e, 1, 2)
        ),
    },
    hints=(
        "`torch.cos(2 * torch.pi * k * n / p) @ embedding` is the sum of one k: square its length.",
        "The factor is 2/p, but 1/p where there is no sine: at k = 0, and at k = p/2 if p is even.",
        "Test yourself: all powers together are the sum of the squares of all entries.",
    ),
    afterword="A fast transform does the same: torch.fft.rfft, squared, folded.",
)

# --- 9.2 two losses -----------------------------------------------------------------------


def answers(p):
    """(a + b) modulo p, of every pair."""
    return (torch.arange(p)[:, None] + torch.arange(p)) % p


def waves(table, key):
    """The key waves of a + b in a table, by a transform over the sum."""
    p, total = len(table), answers(len(table))
    mean = torch.stack([table[total == s].mean(dim=0) for s in range(p)])
    kept = torch.zeros(p // 2 + 1, 1)
    kept[key] = 1
    return torch.fft.irfft(torch.fft.rfft(mean, dim=0) * kept, n=p, dim=0)[total]


def loss(logits, among):
    """The mean cross-entropy of a + b among some pairs."""
    return torch.nn.functional.cross_entropy(logits[among], answers(len(logits))[among]).item()


def both(
    table,
    key,
    trained,
    restricted=lambda table, wave: wave + table.mean(dim=(0, 1)),
    excluded=lambda table, wave: table - wave,
    unseen=lambda trained: ~trained,
    seen=lambda trained: trained,
):
    """The restricted loss among unseen pairs, the excluded one among trained pairs."""
    wave = waves(table, key)
    return loss(restricted(table, wave), unseen(trained)), loss(
        excluded(table, wave), seen(trained)
    )


def turned(table):
    """The table with b replaced by -b."""
    return table.flip(1).roll(1, 1)


def some_trained(d, p, key):
    return d.numbers(p, p, p) + d.numbers(p), key, d.order(p * p).view(p, p) % 2 == 0


ex_9_2 = Exercise(
    Function(
        "key_waves",
        right=waves,
        cases={
            "take the mean over equal sums, class by class; of it the key waves, with 2/p": [
                Ask(lambda d: (d.numbers(3, 3, 2) + d.numbers(2), [1]), "One key frequency, 1."),
                Ask(lambda d: (d.numbers(5, 5, 5), [2]), "One key frequency, 2."),
                Ask(lambda d: (d.numbers(7, 7, 4), [1, 3]), "Two key frequencies."),
            ]
        },
        mistakes={
            "The constant is still in it: it is frequency 0, and no key.": lambda t, key: (
                waves(t, key) + t.mean(dim=(0, 1))
            ),
            "The waves that are *not* key came out.": lambda t, key: waves(
                t, [k for k in range(1, len(t) // 2 + 1) if k not in key]
            ),
            "This is what is left without the key waves.": lambda t, key: t - waves(t, key),
            "The factor is 2/p: a cosine and a sine have it together, and once.": any_of(
                lambda t, key: 2 * waves(t, key),
                lambda t, key: waves(t, key) / 2,
                lambda t, key: waves(t, key) * len(t) / 2,
            ),
            "These are waves of a - b.": lambda t, key: turned(waves(turned(t), key)),
            "Only one of the key frequencies is taken.": any_of(
                lambda t, key: waves(t, key[:1]), lambda t, key: waves(t, key[-1:])
            ),
        },
    ),
    Function(
        "two_losses",
        right=both,
        cases={
            "restricted: each class's mean and the waves; excluded: the table less the waves": each(
                lambda d: some_trained(d, 5, [2]),
                lambda d: some_trained(d, 7, [1, 3]),
                cause="Restricted: on unseen pairs. Excluded: on trained pairs.",
            )
        },
        mistakes=mistaken(
            both,
            restricted={
                "Restricted: add the constant, one number for each class.": any_of(
                    lambda table, wave: wave, lambda table, wave: wave + table.mean()
                ),
                "Restricted: these are the logits as they are.": lambda table, wave: table,
            },
            unseen={
                "Restricted: it is taken on other pairs than the unseen ones.": any_of(
                    lambda trained: trained, torch.ones_like
                )
            },
            excluded={
                "Excluded: the constant is taken away, too; only the waves are.": (
                    lambda table, wave: table - wave - table.mean(dim=(0, 1))
                ),
                "Excluded: these are the logits as they are.": lambda table, wave: table,
            },
            seen={
                "Excluded: it is taken on other pairs than the trained ones.": any_of(
                    lambda trained: ~trained, torch.ones_like
                )
            },
        ),
    ),
    hints=(
        "m: `table[total == s].mean(dim=0)` for every s, with total[a, b] = (a + b) % p.",
        "The sum over s' is a p x p matrix of cosines times m; those of several k add up.",
        "Then look the row up for every pair: `waves[total]`. The targets are `total` as well.",
        "Restricted: each class's mean over a and b, plus the waves. Excluded: table minus waves.",
    ),
    afterword="In grokkit: restricted_loss and excluded_loss in grokkit.diagnostics.",
)

# --- 9.3 a disguise -----------------------------------------------------------------------


def adder(p, frequencies):
    """Logits made of waves of a + b - c, by frequency and height."""
    number = torch.arange(p, dtype=torch.float64)
    angle = 2 * math.pi / p * (number[:, None, None] + number[:, None] - number)
    return sum(height * torch.cos(k * angle) for k, height in frequencies.items())


def keys(table):
    """The key frequencies, without the centring that would see through a disguise."""
    return key_frequencies(sum_power(table[None]))[0].nonzero().flatten().tolist()


def is_disguised(given, table, k):
    shape = tuple(table.shape)
    made = as_tensor(given, shape, f"A table of shape {shape} is asked for.")
    cause = "The answers have changed. Add the same number to all classes of a pair; a wave of "
    cause += "a + b - c gives every class another one."
    if (made.argmax(dim=2) == table.argmax(dim=2)).all():
        cause = "The answers are the same, but not how sure they are: the softmax has changed. Add "
        cause += "the same number to all classes of a pair."
    same = torch.allclose(made.log_softmax(dim=2), table.log_softmax(dim=2), atol=1e-4)
    require(same, cause)
    found, before = keys(made), keys(table)
    cause = "k is not the only key frequency. Is it a wave of a + b, with the frequency k?"
    if found == before:
        cause = "The key frequencies are what they were: is the wave too small, or a constant?"
    elif {*found} - {*before} == {k}:
        cause = "Others are key besides k: is the wave large enough, also where the logits are?"
    require(found == [k], cause, found, f"[{k}]")


ex_9_3 = Exercise(
    Function(
        "in_disguise",
        judge=is_disguised,
        cases={
            "every answer is the same, and as sure, and the only key frequency is k": each(
                (adder(7, {1: 3.0, 2: 2.0}), 3),
                (adder(5, {2: 4.0}), 1),
                (adder(11, {1: 9.0, 3: 9.0, 4: 9.0}), 5),
                (1000 * adder(7, {1: 3.0}) - 3000, 3),
            )
        },
    ),
    Function(
        "without_disguise",
        right=lambda table: table - table.mean(dim=2, keepdim=True),
        cases={
            "the cure has the same softmax and the least power": Ask(
                lambda d: (d.numbers(3, 3, 4) + d.numbers(3, 3, 1),),
                "From the logits of a pair take the number that leaves the least sum of squares.",
            )
        },
        mistakes={
            "The mean over pairs is taken away; take that over the classes, pair by pair.": (
                lambda t: t - t.mean(dim=(0, 1))
            ),
            "One mean for the whole table; take one for every pair.": lambda t: t - t.mean(),
            "The softmax is the same, and the power is not the least.": any_of(
                lambda t: t - t.amax(dim=2, keepdim=True), lambda t: t.log_softmax(dim=2)
            ),
            "This is the softmax itself; the logits are asked for.": lambda t: t.softmax(dim=2),
        },
    ),
    hints=(
        "What can be added to the logits of one pair without changing its softmax?",
        "One number for all its classes: let it be a large wave of a + b with frequency k.",
        "The cure: for which m is the sum of (x - m)^2 over a pair's logits the least?",
    ),
    afterword="An instrument should not see what the network cannot: logit_table centres first.",
)

# --- 9.4 a small study: an accident of what? ----------------------------------------------


def key_set(power, share):
    order = 1 + np.argsort(-power[1:])
    return sorted(order[: 1 + np.sum(power[order].cumsum() < share * power[1:].sum())])


def shared(sets, n):
    pairs = combinations(map(set, sets), 2)
    return np.mean([(len(one & other), len(one) * len(other) / n) for one, other in pairs], axis=0)


POWER = np.array([50.0, 4.0, 1.0, 10.0, 5.0])

ex_9_4 = Exercise(
    Function(
        "key_set",
        right=key_set,
        cases={
            "the fewest frequencies that hold the share, ascending; the constant does not count": [
                Ask((POWER, 0.4), "10 of 20 are more than 40 % already: frequency 3 alone."),
                Ask((POWER, 0.9), "10, 5 and 4 of 20 are 95 %; without the 4 it would be 75 %."),
                Ask((POWER, 0.75), "10 and 5 of 20 are 75 %, which is enough."),
                Ask((POWER, 0.97), "All four are needed for more than 95 %."),
                Ask(lambda d: (d.above(9).double().numpy(), d.one(0.5, 0.9)), "Largest first."),
            ]
        },
    ),
    Function(
        "shared",
        right=shared,
        cases={
            "the mean over all pairs of what two sets share, then what they share by chance": [
                Ask(([[1, 2, 3], [2, 3]], 10), "2 and 3 are shared; by chance 2 x 3 / 10."),
                Ask(([[1, 2, 3, 4], [4, 5], [1, 4, 6]], 8), "1, 2 and 1; 1, 1.5 and 0.75."),
                Ask(([[1, 2, 3, 4], [4, 5], [1, 4, 6], [2, 6, 7, 1]], 9), "There are six pairs."),
            ]
        },
    ),
    hints=(
        "Sort by power, largest first, without frequency 0. Take them until they hold the share.",
        "Two sets drawn blindly from n: each of the a of one is in the other with the chance b/n.",
        "`set(one) & set(other)`, for every pair of `itertools.combinations(sets, 2)`.",
    ),
    afterword="A seed names both the initial weights and the split. Which of the two is it?",
)

# --- 9.5 why more than one? ---------------------------------------------------------------


def each_lead(p, frequencies):
    """By how much the right class is ahead of each wrong one."""
    return (1 - np.cos(2 * np.pi * np.outer(frequencies, np.arange(1, p)) / p)).sum(axis=0)


def lead(p, frequencies):
    return each_lead(p, frequencies).min()


def are_the_best(given, p, m):
    asked = f"{m} different whole numbers from 1 to {p // 2} are asked for."
    chosen = as_floats(given, [m], asked).tolist()
    require(len({*chosen} & {*range(1, p // 2 + 1)}) == m, asked, given)
    found, most = lead(p, chosen), max(lead(p, k) for k in combinations(range(1, p // 2 + 1), m))
    cause = "Other frequencies have a larger lead: try them all, or all with 1 among them."
    require(found >= most - 1e-9, cause, found, f"a lead of {most:.4g}")


ex_9_5 = Exercise(
    Function(
        "lead",
        right=lead,
        cases={
            "it is the least sum of 1 - cos over all wrong classes": [
                Ask((7, [1]), "With one frequency it is 1 - cos(2 pi / p)."),
                Ask((11, [2, 5]), "Two waves: the wrong class that both nearly take for right."),
                Ask((23, [7, 11]), "The best wrong class need not be a neighbour of the right."),
            ]
        },
        mistakes={
            "The right class itself is among those that it is compared with.": lambda p, key: 0.0,
            "Add the waves up before you look for the least lead.": any_of(
                lambda p, key: min(lead(p, [k]) for k in key),
                lambda p, key: sum(lead(p, [k]) for k in key),
            ),
            "This is how far the *worst* wrong class is behind.": lambda p, key: each_lead(
                p, key
            ).max(),
            "This is the best wrong logit itself; take it from the right one.": lambda p, key: (
                len(key) - lead(p, key)
            ),
        },
    ),
    Function(
        "best_frequencies",
        judge=are_the_best,
        cases={
            "no other frequencies have a larger lead": each(
                (7, 1), (7, 2), (13, 2), (17, 3), (23, 2)
            )
        },
    ),
    hints=(
        "The logits depend on d = a + b - c alone. What are they for d = 0, and what for another?",
        "The lead is the least of sum over k of 1 - cos(2 pi k d / p), over d from 1 to p - 1.",
        "`itertools.combinations(range(1, p // 2 + 1), m)` are all sets of m; take the best.",
    ),
    afterword="Look at the frequencies of a real network: how near do they come to the best lead?",
)
