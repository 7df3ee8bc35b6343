"""Checks of the exercises on chapter 01: sparse tasks, their oracle, KL to it, mirror images."""

import math
from itertools import product

import torch

from grokkit.classroom.checks.exercise import Ask, Exercise, Function
from grokkit.classroom.checks.expect import any_of, as_array, require
from grokkit.tasks import SparseParity

# --- 1.1 the oracle -----------------------------------------------------------------------

ex_1_1 = Exercise(
    "ex_1_1",
    Function(
        "oracle_attention",
        right=lambda m: m / m.sum(dim=1, keepdim=True),
        cases={
            "every informative position gets 1/k, and every other one 0": Ask(
                lambda d: (d.mask(1, 5, k=3),),
                "The answer is to be a distribution over positions with equal parts on I*.",
            ),
            "each example is divided by its own k": Ask(
                lambda d: (d.mask(3, 5),),
                "The number of informative positions is to be counted in each row by itself.",
            ),
        },
        mistakes={
            "The mask itself is no distribution yet: divide it by k.": lambda m: m.float(),
            "It is divided by 2, whatever k is: count the trues of each row.": lambda m: m / 2,
            "It is summed over the examples, dim 0; k is the number of trues along a row, dim 1. "
            "(0/0 is nan.)": any_of(
                lambda m: m / m.sum(dim=0), lambda m: m / m.sum(dim=0).clamp(min=1)
            ),
            "It is divided by the number of positions T; divide it by k.": lambda m: m / m.shape[1],
            "The mass is on the distractors: is the mask negated?": lambda m: (
                ~m / (~m).sum(dim=1, keepdim=True)
            ),
            "It is divided by the informative positions of all examples together: sum over dim 1 "
            "only.": lambda m: m / m.sum(),
            "Every row is divided by the k of the first one; count each row's own.": lambda m: (
                m / m[0].sum()
            ),
        },
    ),
    hints=(
        "Start from the mask as numbers: `informative.float()` is 1 on I* and 0 elsewhere.",
        "Each row must be divided by its own k. What does `.sum(dim=1)` give, and in which shape?",
        "`keepdim=True` keeps the sum as a column, so that row i is divided by its own sum.",
    ),
    afterword="Every task of grokkit carries this array as `data.train.oracle`.",
)

# --- 1.2 KL to the oracle -----------------------------------------------------------------


def kl(attention, informative, ratio=None, weight=None):
    """KL(alpha* || alpha) in nats, with another k in the ratio or in the weight on request."""
    k, on = informative.sum(), attention[informative]
    return -(on * (ratio or k)).log().sum() / (weight or k)


ex_1_2 = Exercise(
    "ex_1_2",
    Function(
        "kl_to_oracle",
        right=kl,
        cases={
            "attention that equals the oracle is at distance 0": Ask(
                (torch.tensor([0, 1, 0, 1, 1]) / 3, torch.tensor([0, 1, 0, 1, 1]).bool()),
                "Every ratio of oracle to attention is 1 here, so every logarithm is 0.",
                {
                    "The distractors have attention 0 and make nan: sum over the informative "
                    "positions only.": math.nan
                },
            ),
            "it is the mean over I* of log((1/k) / attention), in nats": Ask(
                lambda d: (d.shares(6), d.mask(6, k=2)),
                "Go through the formula term by term, for the informative positions alone.",
            ),
            "it works for every k and every number of positions": [
                Ask(lambda d: (d.shares(4), d.mask(4, k=3)), "Is a 2 or a 1/2 in the code?"),
                Ask(lambda d: (d.shares(7), d.mask(7, k=4)), "Is a 2 or a 1/2 in the code?"),
            ],
        },
        mistakes={
            "The logarithm is to base 2; nats need the natural one.": lambda a, m: (
                kl(a, m) / math.log(2)
            ),
            "The logarithm is to base 10; nats need the natural one.": lambda a, m: (
                kl(a, m) / math.log(10)
            ),
            "The terms are summed but not weighted with 1/k.": lambda a, m: kl(a, m) * m.sum(),
            "The ratio is upside down: oracle over attention, not attention over oracle.": (
                lambda a, m: -kl(a, m)
            ),
            "This is KL(alpha || alpha*), weighted by the attention: the two are not the same.": (
                lambda a, m: (a[m] * (a[m] * m.sum()).log()).sum()
            ),
            "The oracle 1/k is missing in the ratio.": any_of(
                lambda a, m: -a[m].log().mean(), lambda a, m: -a[m].log().sum()
            ),
            "The sum of the ratios is taken before the logarithm; average the logarithms.": (
                lambda a, m: (1 / (a[m] * m.sum())).mean().log()
            ),
            "This is -log of the mass on I*. The masses are summed before the logarithm; KL has "
            "a logarithm for each position.": any_of(
                lambda a, m: -a[m].sum().log(), lambda a, m: -a[m].mean().log()
            ),
            "Every position has a term here; only the informative ones do.": lambda a, m: (
                -(a * m.sum()).log().sum() / m.sum()
            ),
            "k is the number of true entries: count them.": any_of(
                *(
                    lambda a, m, r=r, w=w: kl(a, m, r and r(a), w and w(a))
                    for r, w in product([None, lambda a: 2, len], repeat=2)
                    if r or w
                )
            ),
        },
    ),
    hints=(
        "Only the informative positions have a term. What would the others give? 0 times ...",
        "Pick the attention on I*: `attention[informative]`. How large is k?",
        "Each of the k terms is (1/k) times the logarithm of (1/k) over the attention there.",
    ),
    afterword="Two masses with the same sum need not have the same KL. Which have the least?",
)

# --- 1.3 mirror images --------------------------------------------------------------------


def mirrored(train, test):
    """How many test pairs have their mirror image among the train pairs."""
    return sum((b, a) in set(train) for a, b in test)


ex_1_3 = Exercise(
    "ex_1_3",
    Function(
        "mirror_rate",
        right=lambda train, test: mirrored(train, test) / len(test),
        cases={
            "a test pair counts if its mirror image was trained on": Ask(
                (
                    [(1, 2), (3, 0), (4, 4)],
                    [(2, 1), (0, 3), (0, 1), (3, 3), (2, 4), (1, 4), (4, 0)],
                ),
                "Of the seven test pairs, (2, 1) and (0, 3) have their mirror image in the train "
                "set.",
            ),
            "a pair is not its own mirror image": Ask(
                ([(5, 6), (1, 0)], [(2, 2), (6, 5), (7, 7), (0, 2)]),
                "Pairs such as (2, 2) are in the test set only, so nothing of them was trained on.",
            ),
            "the mirror image itself must have been trained on, not a pair like it": [
                # (1, 5) and (2, 4) have the same sum, (0, 6) and (6, 0) the same product.
                Ask(
                    ([(1, 5), (0, 6), (3, 7)], [(4, 2), (5, 0), (5, 1), (7, 4), (2, 9)]),
                    "Only (5, 1) has its mirror image (1, 5) in the train set.",
                ),
                # Written as a * 43 + b the first two are the same number, and to base 113.
                Ask(
                    ([(0, 43), (0, 113), (2, 130)], [(0, 1), (130, 2), (1, 0), (43, 1)]),
                    "A pair was taken for another one: is a modulus such as 43 or 113 in the code?",
                ),
            ],
        },
        mistakes={
            "It is divided by the number of train pairs; ask how many of the *test* pairs.": (
                lambda s, t: mirrored(s, t) / len(s)
            ),
            "This is the number of mirrored pairs; divide by the number of test pairs.": mirrored,
            "This is a percentage; a share is a number from 0 to 1.": lambda s, t: (
                100 * mirrored(s, t) / len(t)
            ),
            "Pairs of two equal numbers, such as (3, 3), are asked as well: they count in what "
            "it is divided by.": lambda s, t: mirrored(s, t) / len([p for p in t if p[0] != p[1]]),
            "Pairs with two equal numbers are counted; they were not trained on.": lambda s, t: (
                sum((b, a) in s or a == b for a, b in t) / len(t)
            ),
            "This is the share that is not mirrored.": lambda s, t: 1 - mirrored(s, t) / len(t),
            "No pair was found: compare (b, a), not (a, b), with the train pairs.": lambda s, t: (
                sum(p in s for p in t) / len(t)
            ),
            "The sums are compared: another pair with the same sum is no mirror image.": (
                lambda s, t: sum(a + b in [c + d for c, d in s] for a, b in t) / len(t)
            ),
            "The products are compared: another pair with the same product is no mirror image.": (
                lambda s, t: sum(a * b in [c * d for c, d in s] for a, b in t) / len(t)
            ),
            "The two numbers are looked up one by one; both must stand in one train pair.": any_of(
                lambda s, t: sum(a in sum(s, ()) and b in sum(s, ()) for a, b in t) / len(t),
                lambda s, t: (
                    sum(b in [c for c, _ in s] and a in [d for _, d in s] for a, b in t) / len(t)
                ),
            ),
        },
    ),
    hints=(
        "The mirror image of (a, b) is (b, a). A set of tuples answers `in` quickly.",
        "The question is asked of the test pairs, so their number is what to divide by.",
        "`train = set(train_pairs)`, then count the test pairs (a, b) with (b, a) in it.",
    ),
    afterword='In grokkit: `data.mirror_rate`, and `split="unordered"` makes it 0.',
)

# --- 1.4 which positions matter -----------------------------------------------------------


def informative(tokens, targets, enough=any):
    """Positions at which changing the token changes the answer, in one pair of rows or in all."""
    rows = [(tuple(row), int(y)) for row, y in zip(tokens.tolist(), targets, strict=True)]
    found = []
    for j in range(tokens.shape[1]):
        changes = [
            y != z
            for row, y in rows
            for other, z in rows
            if [i for i, (a, b) in enumerate(zip(row, other, strict=True)) if a != b] == [j]
        ]
        if changes and enough(changes):
            found.append(j)
    return found


def by_average(tokens, targets):
    """Positions whose token moves the average answer."""
    columns = [(j, tokens[:, j]) for j in range(tokens.shape[1])]
    return [
        j for j, x in columns if len({float(targets[x == t].double().mean()) for t in set(x)}) > 1
    ]


def every_sequence(*alphabets):
    """Every sequence whose token at each position is from its alphabet."""
    return torch.tensor(list(product(*alphabets)))


def table(answer, *alphabets):
    """Every sequence, and the answer to each."""
    tokens = every_sequence(*alphabets)
    return tokens, answer(tokens)


def parity():
    """All sequences of a parity of three bits of five."""
    data = SparseParity(bits=5, k=3, positions=(1, 3, 4)).build(seed=0)
    parts = (data.train, data.test)
    return torch.cat([p.tokens for p in parts]), torch.cat([p.targets for p in parts])


ex_1_4 = Exercise(
    "ex_1_4",
    Function(
        "informative_positions",
        right=informative,
        cases={
            "of a sum, the two summands and nothing else": Ask(
                table(lambda x: x[:, 0] + x[:, 3], [0, 1, 2], [7, 8], [5], [0, 1], [9]),
                "A position is informative if two sequences differ there and nowhere else and "
                "have different answers.",
            ),
            "a parity, where no bit alone says anything about the answer": Ask(
                parity(),
                "On average the answer is the same whatever one bit is. Compare sequences that "
                "differ at that bit alone, not averages.",
                {
                    "No position is named. On average the answer is the same whatever one bit is: "
                    "compare sequences that differ at that bit alone, not averages.": by_average
                },
            ),
            "a position that decides only sometimes is informative": Ask(
                table(lambda x: (x[:, 1] & x[:, 2]) | x[:, 3], *[[0, 1]] * 4),
                "Position 1 changes the answer only where position 2 is 1 and position 3 is 0: "
                "one such pair is enough.",
                {
                    "A position is asked to change every answer; one pair of sequences is "
                    "enough.": lambda x, y: informative(x, y, all)
                },
            ),
            "of a sum modulo 3 the two summands as well": Ask(
                table(lambda x: (x[:, 1] + x[:, 2]) % 3, [4, 5], [0, 1, 2], [2, 1, 0]),
                "The answer is (second + third) modulo 3 here.",
            ),
        },
        mistakes={
            "Every position whose tokens vary is named; the answer must vary with it.": (
                lambda x, y: [j for j in range(x.shape[1]) if len(set(x[:, j].tolist())) > 1]
            ),
            "These are the distractors.": lambda x, y: [
                j for j in range(x.shape[1]) if j not in informative(x, y)
            ],
            "All positions are named.": lambda x, y: list(range(x.shape[1])),
            "A mask came back; the question is for the positions, as a list.": lambda x, y: [
                j in informative(x, y) for j in range(x.shape[1])
            ],
            "Positions are counted from 0.": lambda x, y: [j + 1 for j in informative(x, y)],
        },
    ),
    hints=(
        "A position matters if changing its token, and nothing else, can change the answer.",
        "Leave column j out of each sequence. Two rows that agree in the rest are such a pair.",
        "Keep a dict from the rest of the row to the answers seen with it; more than one "
        "answer makes j informative. Do it for each j.",
    ),
    afterword="This is Definition 3.1 as an experiment: it needs all sequences, and no network.",
)

# --- 1.5 a fair split ---------------------------------------------------------------------


def is_fair(given, p, size):
    """Whether it is closed under mirroring and shows every number and every sum."""
    array = as_array(given)
    pairs = [] if array is None or array.ndim != 2 else [tuple(map(int, one)) for one in array]
    require(
        array is not None and array.shape == (size, 2),
        f"A list of {size} pairs (a, b) is asked for; {len(pairs)} came back.",
        given,
    )
    require(
        len(set(pairs)) == size and {number for one in pairs for number in one} <= {*range(p)},
        f"The pairs are to be different, and of the numbers 0..{p - 1}.",
        pairs,
    )
    alone = [(a, b) for a, b in pairs if (b, a) not in pairs]
    require(
        not alone,
        "The mirror image of a train pair is a test pair: take both or neither. Which pairs come "
        "alone?",
        alone,
    )
    for what, shown in (
        ("number", {number for one in pairs for number in one}),
        ("sum", {(a + b) % p for a, b in pairs}),
    ):
        missing = sorted({*range(p)} - shown)
        require(
            not missing,
            f"Some {what} is not trained on. A pair of equal numbers shows one number and one sum "
            "at once, and is its own mirror image: is one of them left out?",
            missing,
            f"every {what} from 0 to {p - 1}",
        )


ex_1_5 = Exercise(
    "ex_1_5",
    Function(
        "fair_split",
        judge=is_fair,
        cases={
            "mirror images stay together, and every number and every sum is trained on": [
                Ask((5, 15)),
                Ask((7, 11)),
            ],
            "for every odd p and every size": [
                Ask((p, size))
                for p, size in ((5, 8), (5, 20), (7, 10), (9, 13), (11, 110), (15, 60))
            ]
            + [Ask(lambda d: (13, int(d.whole(16, 156))))],
        },
    ),
    hints=(
        "Which pairs are their own mirror images? How many are there, and which sums have they?",
        "With all of them in, the rest is to be added two by two. For which sizes does that work?",
        "Otherwise leave (0, 0) out. Then the number 0 is missing, and the sum 0: each needs a "
        "couple of its own, such as (1, 0) with (0, 1).",
    ),
    afterword='grokkit\'s `split="unordered"` keeps couples together; the rest is chance.',
)
