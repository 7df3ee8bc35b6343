"""Checks of the exercises on chapter 09: spectra, two losses, a disguise, shared frequencies."""

import math
from itertools import combinations, pairwise

import numpy as np
import torch

from grokkit.classroom.checks.exercise import Ask, Exercise, Function
from grokkit.classroom.checks.expect import any_of, as_array, numbers, require
from grokkit.diagnostics import embedding_power, key_frequencies, sum_power

# --- 9.1 the spectrum ---------------------------------------------------------------------


def power(embedding):
    """The power of an embedding at each frequency."""
    return embedding_power({"token_embedding": embedding[None]}, len(embedding))[0]


def ends(embedding, first=1.0, last=1.0):
    """The power with another factor at frequency 0 and at p/2."""
    found = power(embedding).clone()
    found[0] *= first
    found[-1] *= last if len(embedding) % 2 == 0 else 1.0
    return found


def cosine_only(embedding):
    p = len(embedding)
    angle = 2 * math.pi / p * torch.outer(torch.arange(p // 2 + 1), torch.arange(p))
    return 2 / p * (angle.to(embedding.dtype).cos() @ embedding).square().sum(dim=1)


def mirrored(embedding):
    """All frequencies up to p - 1, each half of a pair with half the power."""
    return (torch.fft.fft(embedding, dim=0).abs() ** 2).sum(1) / len(embedding)


ex_9_1 = Exercise(
    "ex_9_1",
    Function(
        "spectrum",
        right=power,
        cases={
            "all powers together are the sum of all squares": Ask(
                lambda d: (d.numbers(7, 2),), "Seven numbers: frequencies 0, 1, 2 and 3."
            ),
            "frequency 0 has its power, too": Ask(
                lambda d: (d.numbers(5, 3) + 1,), "Five numbers: frequencies 0, 1 and 2."
            ),
            "with an even p the last frequency has no sine either": Ask(
                lambda d: (d.numbers(6, 2),),
                "Six numbers: frequencies 0 to 3. At 3 the sine is 0 at every number.",
            ),
        },
        mistakes={
            "Only the cosine's sum is taken; add the sine's.": any_of(
                cosine_only,
                lambda e: cosine_only(e) * torch.tensor([0.5] + [1.0] * (len(e) // 2)),
            ),
            "The list begins at frequency 1; the first is 0.": lambda e: power(e)[1:],
            "The factor 2/p is missing.": any_of(
                lambda e: power(e) * len(e) / 2, lambda e: ends(e, 2, 2) * len(e) / 2
            ),
            "The factor is 1/p; a cosine and a sine have 2/p.": any_of(
                lambda e: power(e) / 2, lambda e: ends(e, 2, 2) / 2
            ),
            "It is divided by all power: the power itself is asked for.": lambda e: (
                power(e) / power(e).sum()
            ),
            "This is the amplitude, the root of the power.": lambda e: power(e).sqrt(),
            "All frequencies up to p - 1 are listed; those beyond p // 2 are mirror images.": (
                mirrored
            ),
            "Frequency 0 has no sine, and its cosine is 1: its factor is 1/p.": any_of(
                lambda e: ends(e, 2), lambda e: ends(e, 2, 2)
            ),
            "Frequency 0 is left out; it is the mean, and has power.": lambda e: ends(e, 0),
            "The wave runs over the dimensions; it is to run over the numbers.": lambda e: power(
                e.T.contiguous()
            ),
            "At frequency p/2 the factor is 1/p, as at 0.": lambda e: ends(e, 1, 2),
            "Frequency p/2 is missing: they go up to p // 2, with it.": lambda e: power(e)[
                : (len(e) + 1) // 2
            ],
        },
    ),
    hints=(
        "For one k: `torch.cos(2 * torch.pi * k * n / p) @ embedding` is the sum over the "
        "numbers, a vector. Its squared length is what you need; the same with the sine.",
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


def turned(table):
    """The table with b replaced by -b."""
    return table.flip(1).roll(1, 1)


def loss(logits, among):
    """The mean cross-entropy of a + b among some pairs."""
    chosen = logits.log_softmax(dim=2).gather(2, answers(len(logits))[..., None])[..., 0]
    return -chosen[among].mean().item()


def losses(
    restricted=lambda table, waves: waves + table.mean(dim=(0, 1)),
    excluded=lambda table, waves: table - waves,
    unseen=lambda trained: ~trained,
    seen=lambda trained: trained,
):
    """Both losses, from other logits or among other pairs."""

    def answer(table, key, trained):
        found = waves(table, key)
        return (
            loss(restricted(table, found), unseen(trained)),
            loss(excluded(table, found), seen(trained)),
        )

    return answer


def everything(trained):
    return torch.ones_like(trained)


def trained_pairs(d, p, key):
    trained = torch.zeros(p * p, dtype=torch.bool)
    trained[d.order(p * p)[: p * p // 2]] = True
    return d.numbers(p, p, p) + d.numbers(p), key, trained.view(p, p)


ex_9_2 = Exercise(
    "ex_9_2",
    Function(
        "key_waves",
        right=waves,
        cases={
            "of a table without structure the waves of its mean over equal sums count": [
                Ask(
                    lambda d: (d.numbers(3, 3, 2) + d.numbers(2), [1]),
                    "First the mean over all pairs with the same (a + b) modulo p, class by class; "
                    "then its waves.",
                ),
                Ask(lambda d: (d.numbers(7, 7, 4), [1, 3]), "Two key frequencies."),
                Ask(lambda d: (d.numbers(5, 5, 5), [2]), "One key frequency, 2."),
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
                lambda t, key: 2 * waves(t, key), lambda t, key: waves(t, key) / 2
            ),
            "The factor 2/p is missing.": lambda t, key: waves(t, key) * len(t) / 2,
            "These are waves of a - b.": lambda t, key: turned(waves(turned(t), key)),
            "The sum over pairs is taken; it is a mean, of p pairs.": lambda t, key: (
                len(t) * waves(t, key)
            ),
            "Only one of the key frequencies is taken.": any_of(
                lambda t, key: waves(t, key[:1]), lambda t, key: waves(t, key[-1:])
            ),
        },
    ),
    Function(
        "two_losses",
        right=losses(),
        cases={
            "restricted: the constant and the waves alone, on unseen pairs; excluded: all but the "
            "waves, on train pairs": [
                Ask(
                    lambda d: trained_pairs(d, 5, [2]),
                    "Restricted: the mean of every class plus the key waves, on pairs that were "
                    "not trained on. Excluded: the table minus the waves, on those that were.",
                ),
                Ask(lambda d: trained_pairs(d, 7, [1, 3]), "Seven numbers, two frequencies."),
            ]
        },
        mistakes={
            "Restricted: the constant is missing, a class may be likelier in all pairs; "
            "or it is one for all classes, which does nothing.": any_of(
                losses(restricted=lambda t, w: w), losses(restricted=lambda t, w: w + t.mean())
            ),
            "Restricted: it is taken on other pairs than the unseen ones.": any_of(
                losses(unseen=lambda trained: trained), losses(unseen=everything)
            ),
            "Restricted: these are the logits as they are.": losses(restricted=lambda t, w: t),
            "Excluded and restricted are exchanged.": lambda *given: losses()(*given)[::-1],
            "Excluded: it is taken on other pairs than the trained ones.": any_of(
                losses(seen=lambda trained: ~trained), losses(seen=everything)
            ),
            "Excluded: the constant is taken away, too; only the waves are.": losses(
                excluded=lambda t, w: t - w - t.mean(dim=(0, 1))
            ),
            "Excluded: these are the logits as they are.": losses(excluded=lambda t, w: t),
        },
    ),
    hints=(
        "m: `table[total == s].mean(dim=0)` for every s, with total[a, b] = (a + b) % p.",
        "The sum over s' is a matrix product of a p x p matrix of cosines with m; the matrices of "
        "several k add up. Then look the row up for every pair: `waves[total]`.",
        "Restricted: the mean of the table over a and b, one number a class, plus the waves. "
        "Excluded: the table minus the waves. The targets are `total`.",
    ),
    afterword="In grokkit: restricted_loss and excluded_loss in grokkit.diagnostics.",
)

# --- 9.3 a disguise -----------------------------------------------------------------------


def adder(p, frequencies):
    """Logits made of waves of a + b - c, by frequency and height."""
    number = torch.arange(p, dtype=torch.float64)
    angle = 2 * math.pi / p * (number[:, None, None] + number[:, None] - number)
    heights = frequencies.items()
    return torch.stack([height * torch.cos(k * angle) for k, height in heights]).sum(0)


def keys(table):
    """The key frequencies by the rule of lesson 09, 90 % of the power, of a table as it is.

    On purpose without the centring that ``logit_table`` does: it would see through a disguise.
    """
    return key_frequencies(sum_power(table[None]))[0].nonzero().flatten().tolist()


def is_disguised(given, table, k):
    array = as_array(given)
    require(array is not None, "The answer is to be a table of logits [a, b, class].", given)
    made = torch.as_tensor(array).double()
    require(
        made.shape == table.shape,
        f"The table has shape {tuple(made.shape)}; as before it is {tuple(table.shape)}.",
    )
    require(made.isfinite().all(), "There is a nan or an infinity in the table.")
    same = torch.allclose(made.log_softmax(dim=2), table.log_softmax(dim=2), atol=1e-4)
    require(
        same,
        "The answers are the same, but not how sure they are: the softmax has changed. Add the "
        "same number to all classes of a pair."
        if bool((made.argmax(dim=2) == table.argmax(dim=2)).all())
        else "The answers have changed. Add the same number to all classes of a pair; a wave of "
        "a + b - c gives every class another one.",
    )
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


def centred(table):
    return table - table.mean(dim=2, keepdim=True)


ex_9_3 = Exercise(
    "ex_9_3",
    Function(
        "in_disguise",
        judge=is_disguised,
        cases={
            "in disguise every answer is the same, and as sure, and the only key frequency is k": [
                Ask((adder(7, {1: 3.0, 2: 2.0}), 3)),
                Ask((adder(5, {2: 4.0}), 1)),
                Ask((adder(11, {1: 9.0, 3: 9.0, 4: 9.0}), 5)),
                Ask((adder(7, {3: 1000.0}), 2)),
                Ask((1000 * adder(7, {1: 3.0}) - 3000, 3)),
            ]
        },
    ),
    Function(
        "without_disguise",
        right=centred,
        cases={
            "the cure has the same softmax and the least power": Ask(
                lambda d: (d.numbers(3, 3, 4) + d.numbers(3, 3, 1),),
                "From the logits of each pair take the number that leaves the least sum of "
                "squares: their mean.",
            )
        },
        mistakes={
            "The mean over the pairs is taken away; that changes how likely a class is. Take the "
            "mean over the classes, pair by pair.": lambda t: t - t.mean(dim=(0, 1)),
            "One mean for the whole table; take one for every pair.": lambda t: t - t.mean(),
            "The largest logit is taken away: the softmax is the same, the power is not the "
            "least.": lambda t: t - t.amax(dim=2, keepdim=True),
            "The log softmax is the same softmax, and not the least power.": lambda t: (
                t.log_softmax(2)
            ),
            "This is the softmax itself; the logits are asked for.": lambda t: t.softmax(dim=2),
            "It is divided by its length; only a number for each pair may be taken away.": (
                lambda t: centred(t) / centred(t).norm()
            ),
        },
    ),
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

# --- 9.4 a small study: an accident of what? ----------------------------------------------


def key_set(power, share, order=sorted, first=1, more=0, strict=False):
    """The fewest frequencies, with a slip on request."""
    ranked = (first + np.argsort(-power[first:])).tolist()
    total, found = power[first:].sum(), []
    while ranked and (
        power[found].sum() < share * total or (strict and power[found].sum() == share * total)
    ):
        found.append(ranked.pop(0))
    return order(found + ranked[: max(more, 0)] if more >= 0 else found[:more])


def overlap(
    pairs=lambda sets: combinations(sets, 2),
    divide=True,
    chance=lambda a, b, n: len(a) * len(b) / n,
    common=lambda a, b: len({*a} & {*b}),
):
    """Both means, over other pairs, as sums, or with another chance or overlap."""

    def answer(sets, n):
        couples = list(pairs(sets))
        shared = sum(common(a, b) for a, b in couples)
        luck = sum(chance(a, b, n) for a, b in couples)
        over = len(couples) if divide else 1
        return shared / over, luck / over

    return answer


POWER = np.array([50.0, 4.0, 1.0, 10.0, 5.0])
SETS = [[1, 2, 3, 4], [4, 5], [1, 4, 6]]

ex_9_4 = Exercise(
    "ex_9_4",
    Function(
        "key_set",
        right=key_set,
        cases={
            "the fewest frequencies that hold the share, never the constant": [
                Ask((POWER, 0.4), "10 of 20 are more than 40 % already: frequency 3 alone."),
                Ask((POWER, 0.9), "10, 5 and 4 of 20 are 95 %; without the 4 it would be 75 %."),
                Ask((POWER, 0.75), "10 and 5 of 20 are 75 %, which is enough."),
                Ask((POWER, 0.97), "All four are needed for more than 95 %."),
                Ask(
                    lambda d: (d.above(9).square().double().numpy(), d.one(0.5, 0.9)),
                    "Largest first, until they hold the share.",
                ),
            ]
        },
        mistakes={
            "The constant, frequency 0, is among them: it is no wave.": lambda p, s: key_set(
                p, s, first=0
            ),
            "Frequencies are counted from 0, the constant's: these are one too small.": (
                lambda p, s: [k - 1 for k in key_set(p, s)]
            ),
            "They are in the order of their power; ascending, please.": lambda p, s: key_set(
                p, s, list
            ),
            "One too few: together they hold less than the share.": lambda p, s: key_set(
                p, s, more=-1
            ),
            "All are there. Does the power of the constant count in what the share is of?": (
                lambda p, s: list(range(1, len(p)))
            ),
            "These have at least a share of the largest; the share is of all power.": (
                lambda p, s: [k for k in range(1, len(p)) if p[k] >= s * p[1:].max()]
            ),
            "Exactly the share is enough.": lambda p, s: key_set(p, s, strict=True),
            "One too many: stop as soon as the share is reached.": lambda p, s: key_set(
                p, s, more=1
            ),
        },
    ),
    Function(
        "shared",
        right=overlap(),
        cases={
            "shared: the mean over all pairs of sets, beside what chance gives": [
                Ask(
                    ([[1, 2, 3], [2, 3]], 10),
                    "2 and 3 are shared. By chance: each of 2 frequencies is among 3 of 10 with "
                    "the chance 0.3.",
                ),
                Ask((SETS, 8), "Three pairs: they share 1, 2 and 1. By chance 1, 1.5 and 0.75."),
                Ask(([*SETS, [2, 6, 7, 1]], 9), "Four sets make six pairs."),
            ]
        },
        mistakes={
            "The share of the union came out; count what is shared.": overlap(
                common=lambda a, b: len({*a} & {*b}) / len({*a} | {*b})
            ),
            "The two numbers are exchanged: what is shared comes first.": lambda sets, n: overlap()(
                sets, n
            )[::-1],
            "Chance: size times size over n.": overlap(chance=lambda a, b, n: len(a) * len(b)),
            "Only neighbours are compared; every pair counts, the first with the last, too.": (
                overlap(pairwise)
            ),
            "This is a sum; take the mean over the pairs.": overlap(divide=False),
            "What *all* have in common is not what two of them share.": lambda sets, n: (
                float(len(set.intersection(*map(set, sets)))),
                overlap()(sets, n)[1],
            ),
            "A set is compared with itself, too.": any_of(
                overlap(lambda sets: [(a, b) for a in sets for b in sets]),
                overlap(lambda sets: [(a, b) for i, a in enumerate(sets) for b in sets[i:]]),
            ),
        },
    ),
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

# --- 9.5 why more than one? ---------------------------------------------------------------


def ahead(p, frequencies, offsets=None):
    """By how much the right class is ahead of the best of those that are so far off."""
    d = np.arange(1, p) if offsets is None else np.array(offsets)
    return (1 - np.cos(2 * np.pi * np.outer(frequencies, d) / p)).sum(axis=0).min()


def are_the_best(given, p, m):
    asked = f"A list of {m} frequenc{'y' if m == 1 else 'ies'} is asked for."
    chosen = [int(k) for k in numbers(given, [m], asked)]
    require(
        len({*chosen}) == m and all(1 <= k <= p // 2 for k in chosen),
        f"They are to be different, and from 1 to {p // 2}.",
        given,
    )
    most = max(ahead(p, rest) for rest in combinations(range(1, p // 2 + 1), m))
    found = ahead(p, chosen)
    cause = "There are frequencies with a larger lead: try them all, or all with 1 among them."
    if chosen == list(range(1, m + 1)):
        cause = (
            "Neighbouring low frequencies are all near 1 for the same wrong class, the next one."
        )
    require(found >= most - 1e-9, cause, found, f"a lead of {most:.4g}")


ex_9_5 = Exercise(
    "ex_9_5",
    Function(
        "lead",
        right=ahead,
        cases={
            "it is the least sum of 1 - cos over all wrong classes": [
                Ask((7, [1]), "With one frequency it is 1 - cos(2 pi / p)."),
                Ask((11, [2, 5]), "Two waves: the wrong class that both nearly take for right."),
                Ask((13, [1, 3, 4]), "Three waves."),
                Ask(
                    (23, [7, 11]), "The best wrong class need not be a neighbour of the right one."
                ),
            ]
        },
        mistakes={
            "The right class itself is among those that it is compared with: the lead is not 0.": (
                lambda p, key: 0.0
            ),
            "Only the neighbours of the right class are looked at.": lambda p, key: ahead(
                p, key, [1]
            ),
            "The least lead of any single wave came out; the waves add up first.": any_of(
                lambda p, key: min(ahead(p, [k]) for k in key),
                lambda p, key: sum(ahead(p, [k]) for k in key),
            ),
            "This is the mean over the waves; their logits are added.": lambda p, key: (
                ahead(p, key) / len(key)
            ),
            "This is how far the *worst* wrong class is behind.": lambda p, key: (
                (1 - np.cos(2 * np.pi * np.outer(key, np.arange(1, p)) / p)).sum(axis=0).max()
            ),
            "This is the best wrong logit itself; take it from the right one, which is the number "
            "of waves.": lambda p, key: len(key) - ahead(p, key),
        },
    ),
    Function(
        "best_frequencies",
        judge=are_the_best,
        cases={
            "no other frequencies have a larger lead": [
                Ask((p, m)) for p, m in ((7, 1), (7, 2), (13, 2), (17, 3), (23, 2), (23, 3))
            ]
        },
    ),
    hints=(
        "The logits depend on d = a + b - c alone. What are they for d = 0, and what for another?",
        "The lead is the least of sum over k of 1 - cos(2 pi k d / p), over d from 1 to p - 1.",
        "`itertools.combinations(range(1, p // 2 + 1), m)` are all sets of m frequencies; "
        "`max(..., key=...)` takes the best.",
    ),
    afterword="Look at the frequencies of a real network: how near do they come to the best lead?",
)
