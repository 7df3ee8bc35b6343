"""Checks of the exercises on chapter 01: sparse tasks, their oracle, KL to it, mirror images."""

import math
from itertools import product

import torch

from grokkit.classroom.checks.exercise import Exercise
from grokkit.classroom.checks.expect import AnyOf, any_of, expect
from grokkit.tasks import SparseParity

# --- 1.1 the oracle -----------------------------------------------------------------------

ex_1_1 = Exercise(
    "ex_1_1",
    answers=("oracle_attention",),
    hints=(
        "Start from the mask as numbers: `informative.float()` is 1 on I* and 0 elsewhere.",
        "Each row must be divided by its own k. What does `.sum(dim=1)` give, and in which shape?",
        "`keepdim=True` keeps the sum as a column, so that row i is divided by its own sum.",
    ),
    afterword="Every task of grokkit carries this array as `data.train.oracle`.",
)

# k is 2, 1 and 3, and there are three examples of five positions: no two numbers agree.
ROWS = torch.tensor(
    [
        [True, False, True, False, False],
        [False, False, False, True, False],
        [True, True, False, False, True],
    ]
)
ORACLE = torch.tensor(
    [[1 / 2, 0, 1 / 2, 0, 0], [0, 0, 0, 1, 0], [1 / 3, 1 / 3, 0, 0, 1 / 3]],
)


@ex_1_1.property("every informative position gets 1/k, and every other one 0")
def _(oracle):
    row = ROWS[:1]
    expect(
        oracle(row),
        ORACLE[:1],
        cause="The answer is to be a distribution over positions with equal parts on I*.",
        mistakes={
            "The mask itself is no distribution yet: divide it by k.": row.float(),
            "It is summed over the examples, dim 0; k is the number of trues along a row, dim 1. "
            "(0/0 is nan.)": any_of(row / row.sum(dim=0), row / row.sum(dim=0).clamp(min=1)),
            "It is divided by the number of positions T; divide it by k.": row / row.shape[1],
            "The mass is on the distractors: is the mask negated?": ~row / (~row).sum(),
        },
    )


@ex_1_1.property("each example is divided by its own k")
def _(oracle):
    expect(
        oracle(ROWS),
        ORACLE,
        cause="The number of informative positions is to be counted in each row by itself.",
        mistakes={
            "It is divided by the informative positions of all examples together: "
            "sum over dim 1 only.": ROWS / ROWS.sum(),
            "Every row is divided by the k of the first one; count each row's own.": ROWS / 2,
            "It is summed over the examples, dim 0; k is the number of trues along a row, dim "
            "1.": any_of(ROWS / ROWS.sum(dim=0), ROWS / ROWS.sum(dim=0).clamp(min=1)),
        },
    )


# --- 1.2 KL to the oracle -----------------------------------------------------------------

ex_1_2 = Exercise(
    "ex_1_2",
    answers=("kl_to_oracle",),
    hints=(
        "Only the informative positions have a term. What would the others give? 0 times ...",
        "Pick the attention on I*: `attention[informative]`. How large is k?",
        "Each of the k terms is (1/k) times the logarithm of (1/k) over the attention there.",
    ),
    afterword="Two masses with the same sum need not have the same KL. Which have the least?",
)


def kl(attention: torch.Tensor, informative: torch.Tensor) -> torch.Tensor:
    """KL(alpha* || alpha) in nats, of one example."""
    k = informative.sum()
    return -(attention[informative] * k).log().sum() / k


def of_another_k(attention: torch.Tensor, informative: torch.Tensor) -> AnyOf:
    """KL with 2 or T written where k should be counted, in the ratio, in the weight or in both."""
    right, on = int(informative.sum()), attention[informative]
    wrong = {2, len(attention)} - {right}
    cases = [(a, b) for a in {right} | wrong for b in {right} | wrong if a in wrong or b in wrong]
    return any_of(*(-(on * in_ratio).log().sum() / in_weight for in_ratio, in_weight in cases))


def another_k(attention: torch.Tensor, informative: torch.Tensor) -> dict[str, AnyOf]:
    """The mistake of a k that was not counted."""
    sentence = f"k is the number of true entries: {int(informative.sum())} here."
    return {sentence: of_another_k(attention, informative)}


@ex_1_2.property("attention that equals the oracle is at distance 0")
def _(distance):
    informative = torch.tensor([False, True, False, True, True])
    attention = informative / informative.sum()
    expect(
        distance(attention, informative),
        0.0,
        cause="Every ratio of oracle to attention is 1 here, so every logarithm is 0.",
        mistakes={
            "The distractors have attention 0 and make nan: sum over the informative positions "
            "only.": torch.tensor(math.nan),
            "This is the entropy of the attention: the oracle 1/k is missing in the ratio.": (
                math.log(3)
            ),
            **another_k(attention, informative),
        },
    )


@ex_1_2.property("it is the mean over I* of log((1/k) / attention), in nats")
def _(distance):
    informative = torch.tensor([True, False, True, False, False, False])
    attention = torch.tensor([0.1, 0.05, 0.4, 0.15, 0.1, 0.2])
    right, on = kl(attention, informative), attention[informative]
    forward = (on * (on * 2).log()).sum()
    expect(
        distance(attention, informative),
        right,
        cause="Go through the formula term by term, for the two informative positions alone.",
        mistakes={
            "The logarithm is to base 2; nats need the natural one.": right / math.log(2),
            "The logarithm is to base 10; nats need the natural one.": right / math.log(10),
            "The terms are summed but not weighted with 1/k.": 2 * right,
            "The ratio is upside down: oracle over attention, not attention over oracle.": -right,
            "This is KL(alpha || alpha*), weighted by the attention: the two are not the "
            "same.": forward,
            "The oracle 1/k is missing in the ratio.": -on.log().mean(),
            "The sum of the ratios is taken before the logarithm; average the logarithms.": (
                (0.5 / on).mean().log()
            ),
            **another_k(attention, informative),
        },
    )


@ex_1_2.property("it works for every k and every number of positions")
def _(distance):
    informative = torch.tensor([True, True, False, True])
    attention = torch.tensor([0.5, 0.1, 0.3, 0.1])
    expect(
        distance(attention, informative),
        kl(attention, informative),
        cause="k is the number of true entries: 3 here. Is a 2 or a 1/2 written into the code?",
        mistakes=another_k(attention, informative),
    )


# --- 1.3 mirror images --------------------------------------------------------------------

ex_1_3 = Exercise(
    "ex_1_3",
    answers=("mirror_rate",),
    hints=(
        "The mirror image of (a, b) is (b, a). A set of tuples answers `in` quickly.",
        "The question is asked of the test pairs, so their number is what to divide by.",
        "`train = set(train_pairs)`, then count the test pairs (a, b) with (b, a) in it.",
    ),
    afterword='In grokkit: `data.mirror_rate`, and `split="unordered"` makes it 0.',
)


@ex_1_3.property("a test pair counts if its mirror image was trained on")
def _(mirror_rate):
    train = [(1, 2), (3, 0), (4, 4)]
    test = [(2, 1), (0, 3), (0, 1), (3, 3), (2, 4), (1, 4), (4, 0)]
    expect(
        mirror_rate(train, test),
        2 / 7,
        cause="Of the seven test pairs, (2, 1) and (0, 3) have their mirror image in the train "
        "set.",
        mistakes={
            "It is divided by the number of train pairs; ask how many of the *test* pairs.": 2 / 3,
            "This is the number of mirrored pairs; divide it by the number of test pairs.": 2,
            "This is a percentage; a share is a number from 0 to 1.": 200 / 7,
            "Pairs of two equal numbers, such as (3, 3), are asked as well: they count in what "
            "it is divided by.": 2 / 6,
            "Pairs with two equal numbers are counted; they were not trained on.": 3 / 7,
            "This is the share that is not mirrored.": 5 / 7,
            "No pair was found: compare (b, a), not (a, b), with the train pairs.": 0,
            "The two numbers are looked up one by one; both must stand in one train pair.": any_of(
                4 / 7, 1.0
            ),
        },
    )


@ex_1_3.property("a pair is not its own mirror image")
def _(mirror_rate):
    train, test = [(5, 6), (1, 0)], [(2, 2), (6, 5), (7, 7), (0, 2)]
    expect(
        mirror_rate(train, test),
        1 / 4,
        cause="Pairs such as (2, 2) are in the test set only, so nothing of them was trained on.",
        mistakes={
            "Pairs with two equal numbers are counted; they were not trained on.": 3 / 4,
            "Pairs of two equal numbers, such as (2, 2), are asked as well: they count in what "
            "it is divided by.": 1 / 2,
        },
    )


@ex_1_3.property("it does not depend on how large the numbers are")
def _(mirror_rate):
    # Written as a * 43 + b the first two are the same number, and so are they to base 113.
    train, test = [(0, 43), (0, 113), (2, 130)], [(0, 1), (130, 2), (1, 0), (43, 1)]
    expect(
        mirror_rate(train, test),
        1 / 4,
        cause="A pair was taken for another one: is a modulus such as 43 or 113 in the code?",
    )


# --- 1.4 which positions matter -----------------------------------------------------------

ex_1_4 = Exercise(
    "ex_1_4",
    answers=("informative_positions",),
    hints=(
        "A position matters if changing its token, and nothing else, can change the answer.",
        "Leave column j out of each sequence. Two rows that agree in the rest are such a pair.",
        "Keep a dict from the rest of the row to the answers seen with it; more than one "
        "answer makes j informative. Do it for each j.",
    ),
    afterword="This is Definition 3.1 as an experiment: it needs all sequences, and no network.",
)


def table(alphabets: list[list[int]]) -> torch.Tensor:
    """Every sequence whose token at each position is from its alphabet."""
    return torch.tensor(list(product(*alphabets)))


@ex_1_4.property("of a sum, the two summands and nothing else")
def _(positions):
    tokens = table([[0, 1, 2], [7, 8], [5], [0, 1], [9]])
    expect(
        positions(tokens, tokens[:, 0] + tokens[:, 3]),
        [0, 3],
        cause="A position is informative if two sequences differ there and nowhere else and have "
        "different answers.",
        mistakes={
            "Every position whose tokens vary is named; the answer must vary with it.": ([0, 1, 3]),
            "These are the distractors.": [1, 2, 4],
            "All positions are named.": [0, 1, 2, 3, 4],
            "A mask came back; the question is for the positions, as a list.": (
                [True, False, False, True, False]
            ),
            "Positions are counted from 0.": [1, 4],
        },
    )


@ex_1_4.property("a parity, where no bit alone says anything about the answer")
def _(positions):
    data = SparseParity(bits=5, k=3, positions=(1, 3, 4)).build(seed=0)
    tokens = torch.cat([data.train.tokens, data.test.tokens])
    targets = torch.cat([data.train.targets, data.test.targets])
    expect(
        positions(tokens, targets),
        [1, 3, 4],
        cause="On average the answer is the same whatever one bit is. Compare sequences that "
        "differ at that bit alone, not averages.",
        mistakes={
            "No position is named. On average the answer is the same whatever one bit is: "
            "compare sequences that differ at that bit alone, not averages.": [],
        },
    )


@ex_1_4.property("a position that decides only sometimes is informative")
def _(positions):
    tokens = table([[0, 1], [0, 1], [0, 1], [0, 1]])
    targets = (tokens[:, 1] & tokens[:, 2]) | tokens[:, 3]
    expect(
        positions(tokens, targets),
        [1, 2, 3],
        cause="Position 1 changes the answer only where position 2 is 1 and position 3 is 0: "
        "one such pair is enough.",
        mistakes={
            "A position is asked to change every answer; one pair of sequences is enough.": [],
        },
    )
