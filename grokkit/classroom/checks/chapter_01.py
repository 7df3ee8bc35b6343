"""Checks of the exercises on chapter 01: sparse tasks, their oracle, KL to it, mirror images."""

import math
from functools import partial
from itertools import product

import torch

from grokkit.classroom.checks.exercise import Ask, Exercise, each, mistaken
from grokkit.classroom.checks.expect import any_of, as_floats, require

# --- 1.1 the oracle -----------------------------------------------------------------------

ex_1_1 = Exercise.of(
    "oracle_attention",
    right=lambda m: m / m.sum(dim=1, keepdim=True),
    cases={
        "every informative position gets 1/k, and every other one 0": Ask(
            lambda d: (d.mask(1, 5, k=3),), "It is a distribution with equal parts on I*."
        ),
        "each example is divided by its own k": Ask(
            lambda d: (d.mask(3, 5),), "Count the informative positions of each row by itself."
        ),
    },
    mistakes={
        "The mask itself is no distribution yet: divide it by k.": lambda m: m.float(),
        "k is the number of trues: neither 2, whatever the row, nor the number of positions.": (
            any_of(lambda m: m / 2, lambda m: m / m.shape[1])
        ),
        "k is counted in each row by itself.": lambda m: m / m[0].sum(),
    },
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


ex_1_2 = Exercise.of(
    "kl_to_oracle",
    right=kl,
    cases={
        "attention that equals the oracle is at distance 0": Ask(
            (torch.tensor([0, 1, 0, 1, 1]) / 3, torch.tensor([0, 1, 0, 1, 1]).bool()),
            "Every ratio of oracle to attention is 1 here, so every logarithm is 0.",
            {"The distractors have attention 0: sum over the informative ones.": math.nan},
        ),
        "it is the mean over I* of log((1/k) / attention), in nats, for every k": each(
            lambda d: (d.shares(6), d.mask(6, k=2)),
            lambda d: (d.shares(7), d.mask(7, k=4)),
            cause="Go through the formula term by term, for the informative positions alone.",
        ),
    },
    mistakes={
        "The ratio is upside down: it is oracle over attention.": lambda a, m: -kl(a, m),
        "This is KL(alpha || alpha*), weighted by the attention: the two are not the same.": (
            lambda a, m: (a[m] * (a[m] * m.sum()).log()).sum()
        ),
        "The oracle 1/k is missing in the ratio.": any_of(
            partial(kl, ratio=1), partial(kl, ratio=1, weight=1)
        ),
        "It is summed before the logarithm; KL has a logarithm for each position.": any_of(
            lambda a, m: (1 / (a[m] * m.sum())).mean().log(),
            lambda a, m: -a[m].sum().log(),
            lambda a, m: -a[m].mean().log(),
        ),
        "Every position has a term here; only the informative ones do.": lambda a, m: (
            -(a * m.sum()).log().sum() / m.sum()
        ),
        "k is the number of true entries: count them.": any_of(
            *(partial(kl, ratio=a, weight=b) for a, b in ((2, 2), (2, 0), (0, 2))),
            lambda a, m: kl(a, m, len(a), len(a)),
        ),
    },
    hints=(
        "Only the informative positions have a term. What would the others give? 0 times ...",
        "Pick the attention on I*: `attention[informative]`. How large is k?",
        "Each of the k terms is (1/k) times the logarithm of (1/k) over the attention there.",
    ),
    afterword="Two masses with the same sum need not have the same KL. Which have the least?",
)

# --- 1.3 mirror images --------------------------------------------------------------------


def mirror_rate(train, test, hit=lambda train, a, b: (b, a) in train):
    """The share of test pairs that are hits."""
    return sum(hit(train, a, b) for a, b in test) / len(test)


ex_1_3 = Exercise.of(
    "mirror_rate",
    right=mirror_rate,
    cases={
        "a test pair counts if its mirror image was trained on": Ask(
            ([(1, 2), (3, 0), (4, 4)], [(2, 1), (0, 3), (0, 1), (3, 3), (2, 4), (1, 4), (4, 0)]),
            "Of the seven test pairs, (2, 1) and (0, 3) have theirs in the train set.",
        ),
        "a pair is not its own mirror image": Ask(
            ([(5, 6), (1, 0)], [(2, 2), (6, 5), (7, 7), (0, 2)]),
            "Pairs such as (2, 2) are in the test set only, so nothing of them was trained on.",
        ),
        # (1, 5) and (2, 4) have the same sum, (0, 6) and (6, 0) the same product; to base 43
        # or 113 two of the other train pairs are the same number.
        "the mirror image itself must have been trained on, not a pair like it": each(
            ([(1, 5), (0, 6), (3, 7)], [(4, 2), (5, 0), (5, 1), (7, 4), (2, 9)]),
            ([(0, 43), (0, 113), (2, 130)], [(0, 1), (130, 2), (1, 0), (43, 1)]),
            cause="A pair was taken for another: is a modulus such as 43 or 113 in the code?",
        ),
    },
    mistakes={
        "A pair of two equal numbers is asked as well.": lambda train, test: mirror_rate(
            train, [(a, b) for a, b in test if a != b]
        )
    }
    | mistaken(
        mirror_rate,
        hit={
            "A pair of two equal numbers was not trained on.": (
                lambda train, a, b: (b, a) in train or a == b
            ),
            "No pair was found: compare (b, a), not (a, b), with the train pairs.": (
                lambda train, a, b: (a, b) in train
            ),
            "Both numbers must stand in one train pair; an equal sum is not enough.": any_of(
                lambda train, a, b: a + b in map(sum, train),
                lambda train, a, b: a * b in map(math.prod, train),
                lambda train, a, b: {a, b} <= {*sum(train, ())},
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
    rows, found = [*zip(tokens.tolist(), targets.tolist(), strict=True)], []
    for j in range(tokens.shape[1]):
        rest = [row[:j] + row[j + 1 :] for row, _ in rows]
        pairs = [(a, b) for a in range(len(rows)) for b in range(a) if rest[a] == rest[b]]
        if pairs and enough(rows[a][1] != rows[b][1] for a, b in pairs):
            found.append(j)
    return found


def table(answer, *alphabets):
    """Every sequence whose token at each position is from its alphabet, and the answer to it."""
    tokens = torch.tensor(list(product(*alphabets)))
    return tokens, answer(tokens)


ex_1_4 = Exercise.of(
    "informative_positions",
    right=informative,
    cases={
        "of a sum, the two summands and nothing else": Ask(
            table(lambda x: x[:, 0] + x[:, 3], [0, 1, 2], [7, 8], [5], [0, 1], [9]),
            "Two sequences that differ there, and nowhere else, have different answers.",
        ),
        "a parity, where no bit alone says anything about the answer": Ask(
            table(lambda x: x[:, [1, 3, 4]].sum(dim=1) % 2, *[[0, 1]] * 5),
            "Compare sequences that differ at one bit alone, not averages over all others.",
        ),
        "a position that decides only sometimes is informative": Ask(
            table(lambda x: (x[:, 1] & x[:, 2]) | x[:, 3], *[[0, 1]] * 4),
            "Position 1 counts where position 2 is 1 and position 3 is 0: one pair is enough.",
        ),
        "of a sum modulo 3 the two summands as well": Ask(
            table(lambda x: (x[:, 1] + x[:, 2]) % 3, [4, 5], [0, 1, 2], [2, 1, 0])
        ),
    },
    mistakes={
        "A position whose tokens vary is named; the answer must vary with them.": any_of(
            lambda x, y: [j for j in range(x.shape[1]) if len(x[:, j].unique()) > 1],
            lambda x, y: list(range(x.shape[1])),
        ),
        "It is to change every answer here; one pair is enough.": partial(informative, enough=all),
        "A mask came back; the question is for the positions, as a list.": lambda x, y: [
            j in informative(x, y) for j in range(x.shape[1])
        ],
        "Positions are counted from 0.": lambda x, y: [j + 1 for j in informative(x, y)],
    },
    hints=(
        "A position matters if changing its token, and nothing else, can change the answer.",
        "Leave column j out of each sequence. Two rows that agree in the rest are such a pair.",
        "Keep a dict from the rest of the row to the answers seen with it: is it more than one?",
    ),
    afterword="This is Definition 3.1 as an experiment: it needs all sequences, and no network.",
)

# --- 1.5 a fair split ---------------------------------------------------------------------


def is_fair(given, p, size):
    """Whether it is closed under mirroring and shows every number and every sum."""
    everything = {*range(p)}
    array = as_floats(given, (size, 2), f"A list of {size} pairs (a, b) is asked for.")
    pairs = {(int(a), int(b)) for a, b in array}
    shown, sums = {number for one in pairs for number in one}, {sum(one) % p for one in pairs}
    cause = f"The pairs are to be different, and of the numbers 0..{p - 1}."
    require(len(pairs) == size and shown <= everything, cause, given)
    alone = [(a, b) for a, b in pairs if (b, a) not in pairs]
    require(not alone, "These pairs come without their mirror image: take both or neither.", alone)
    for what, seen in (("number", shown), ("sum", sums)):
        cause = f"Some {what} is not trained on. (a, a) shows one number and one sum."
        require(seen == everything, cause, sorted(everything - seen), f"every {what} below {p}")


ex_1_5 = Exercise.of(
    "fair_split",
    judge=is_fair,
    cases={
        "mirror images stay together, and every number and every sum is trained on": each(
            *((5, 15), (7, 11), (5, 8), (5, 20), (7, 10), (9, 13), (11, 110), (15, 60)),
            lambda d: (13, int(d.whole(16, 156))),
        )
    },
    hints=(
        "Which pairs are their own mirror images? How many are there, and which sums have they?",
        "With all of them in, the rest is to be added two by two. For which sizes does that work?",
        "Else leave (0, 0) out: the number 0 and the sum 0 need a couple each, as (1, 0), (0, 1).",
    ),
    afterword='grokkit\'s `split="unordered"` keeps couples together; the rest is chance.',
)
