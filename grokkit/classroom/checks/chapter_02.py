"""Checks of the exercises on chapter 02: evidence, the table of scores, what KL is made of."""

import math

import torch

from grokkit.classroom.checks.exercise import Exercise
from grokkit.classroom.checks.expect import expect, require

# --- 2.1 a piece of evidence --------------------------------------------------------------

ex_2_1 = Exercise(
    "ex_2_1",
    answers=("after_evidence",),
    hints=(
        "Before, position and rest have evidence in the proportion share to 1 - share.",
        "The factor multiplies the first of the two numbers and leaves the second alone.",
        "A share is a part of the whole, and the whole has grown, too: divide by the new sum.",
    ),
    afterword="Odds are easier: they are just multiplied. Which odds are a share of 0.9?",
)


@ex_2_1.property("evidence of factor 1 changes nothing")
def _(after):
    expect(
        after(0.3, 1),
        0.3,
        cause="Multiplied with 1, the evidence is what it was, and so is the share.",
        mistakes={
            "The odds came back; odds o are a share of o / (1 + o).": 0.3 / 0.7,
            "The evidence of all other positions together is 1 - share, not 1.": 0.3 / 1.3,
            "The factor is the evidence's already: it needs no exponential.": (
                0.3 * math.e / (0.3 * math.e + 0.7)
            ),
        },
    )


@ex_2_1.property("the evidence of the others stays, and the shares sum to 1 again")
def _(after):
    expect(
        after(0.2, 3),
        3 / 7,
        cause="The proportion of position to rest was 0.2 to 0.8, and is now 0.6 to 0.8.",
        mistakes={
            "Divide by the new sum: the shares of all positions no longer sum to 1.": 0.6,
            "The odds came back; odds o are a share of o / (1 + o).": 0.75,
            "The factor is the evidence's already: it needs no exponential.": (
                0.2 * math.exp(3) / (0.2 * math.exp(3) + 0.8)
            ),
            "The rest was multiplied as well; the evidence speaks for one position only.": 0.2,
            "The evidence is multiplied, not added: take its logarithm only if you add scores.": (
                0.2 * math.log(3) / (0.2 * math.log(3) + 0.8)
            ),
        },
    )


@ex_2_1.property("it can speak against a position, and never changes a share of 0 or 1")
def _(after):
    cause = "Try a share of 1: no evidence is left for the others, whatever the factor."
    for share, factor, want in ((0.5, 0.25, 0.2), (1.0, 0.5, 1.0), (0.0, 7.0, 0.0)):
        expect(after(share, factor), want, cause=cause)


# --- 2.2 the table, read off --------------------------------------------------------------

ex_2_2 = Exercise(
    "ex_2_2",
    answers=("table_from_attention",),
    hints=(
        "Two shares of one sequence were divided by the same sum. In what does the sum cancel?",
        "log(alpha_j / alpha_q) is l_j - l_q, and l_q is to be 0. So there is one entry for each "
        "position of each sequence.",
        "Begin with `torch.full((positions, vocabulary), torch.nan)`. The row is the position, "
        "the column the token: one indexed assignment fills all, `table[rows, tokens] = ...`.",
    ),
    afterword="So whoever sees attention sees every score, up to one constant.",
)

NAN = math.nan


def attention_of(table: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
    """The attention that a table of scores [pos, token] gives, [example, pos]."""
    return table[torch.arange(tokens.shape[1]), tokens].softmax(dim=1)


# "=" is token 3, at position 2. No token stands at two positions here.
ONE_TABLE = torch.tensor([[NAN, 1.5, NAN, NAN], [-0.5, NAN, NAN, NAN], [NAN, NAN, NAN, 0.0]])
ONE = torch.tensor([[1, 0, 3]])

# "=" is token 4, at position 2; tokens 0 and 2 stand at both other positions.
TABLE = torch.tensor(
    [
        [2.0, NAN, -1.0, NAN, NAN],
        [0.5, 1.0, -2.0, NAN, NAN],
        [NAN, NAN, NAN, NAN, 0.0],
    ]
)
TOKENS = torch.tensor([[0, 1, 4], [2, 0, 4], [2, 2, 4], [0, 2, 4]])


@ex_2_2.property("one sequence fills one entry at each position")
def _(read_off):
    attention = attention_of(ONE_TABLE, ONE)
    logs = ONE_TABLE + attention[0, -1].log()
    expect(
        read_off(ONE, attention, 4),
        ONE_TABLE,
        cause='The entry of a token is log(its share / the share of the "=" in its sequence).',
        mistakes={
            'The "=" must come out as 0: divide each share by that of the last '
            "token before the logarithm.": logs,
            "These are ratios of evidence; a score is their logarithm.": ONE_TABLE.exp(),
            "The ratio is upside down: the share of the last token belongs below.": -ONE_TABLE,
            "A token that never stands at a position has no known score there: nan, not 0.": (
                ONE_TABLE.nan_to_num(0)
            ),
            "The constant is chosen so that the first token has 0; let it be the last.": (
                ONE_TABLE - ONE_TABLE[0, 1]
            ),
            "The rows are tokens; a row of the table is a position.": ONE_TABLE.T,
        },
    )


@ex_2_2.property("a token has one entry for each position, whatever else stands in the sequence")
def _(read_off):
    attention = attention_of(TABLE, TOKENS)
    first = TABLE.clone()
    first[0, 0] = first[1, 2] = NAN
    for row in reversed(range(len(TOKENS))):
        first[[0, 1], TOKENS[row, :2]] = attention[row, :2].log()
    by_token = TABLE.clone()
    by_token[0, [0, 2]], by_token[1, [0, 2]] = TABLE[0, [0, 2]], TABLE[0, [0, 2]]
    expect(
        read_off(TOKENS, attention, 5),
        TABLE,
        cause="Several sequences are given: divide each share by the last one of its own row, "
        "and keep the positions apart.",
        mistakes={
            "All sequences are divided by the last share of the first one; each row has its "
            "own.": _with_shift(attention),
            "A 0 in first place and a 0 in second place have one entry; the position counts "
            "as well.": by_token,
        },
    )


def _with_shift(attention: torch.Tensor) -> torch.Tensor:
    """The table of somebody who divides every row by the "=" of the first."""
    table = torch.full_like(TABLE, NAN)
    table[torch.arange(3), TOKENS] = (attention / attention[0, -1]).log()
    return table


# --- 2.3 what KL is made of ---------------------------------------------------------------

ex_2_3 = Exercise(
    "ex_2_3",
    answers=("split_kl",),
    hints=(
        "First the mass m on I*. The first part needs nothing else.",
        "Divide the attention on I* by m: it sums to 1 there. The oracle has 1/k at each.",
        "The second part is the mean over I* of log((1/k) / (alpha_j / m)).",
    ),
    afterword="A KL below log 2 therefore means a mass of more than one half.",
)

THREE = torch.tensor([True, False, True, False, False, True])


@ex_2_3.property("attention shared evenly on I* has no second part")
def _(split):
    attention = torch.where(THREE, 0.2, 0.4 / 3)
    expect(
        split(attention, THREE),
        (math.log(1 / 0.6), 0.0),
        atol=1e-6,
        cause="The mass is 0.6 and all three of I* have 0.2 of it: only mass is missing.",
        mistakes={
            "The two parts are the wrong way round: first what is missing.": (
                0.0,
                math.log(1 / 0.6),
            ),
            "The first part is the logarithm of 1/m, not the mass that is missing.": (0.4, 0.0),
            "Logarithms to base 2; nats need the natural one.": (math.log2(1 / 0.6), 0.0),
            "The second part is the whole KL: divide the attention on I* by its mass first.": (
                math.log(1 / 0.6),
                math.log(1 / 0.6),
            ),
            "In the second part the oracle 1/k is missing.": (math.log(1 / 0.6), math.log(3)),
            "The logarithm of m is negative: the first part is that of 1/m.": (math.log(0.6), 0.0),
        },
    )


@ex_2_3.property("attention on I* alone has no first part")
def _(split):
    shares = torch.tensor([0.5, 0.2, 0.3])
    attention = torch.zeros(6).masked_scatter(THREE, shares)
    uneven = -(3 * shares).log().mean()
    expect(
        split(attention, THREE),
        (0.0, uneven),
        atol=1e-6,
        cause="The mass is 1, so the second part is the KL itself: the mean over I* of the "
        "logarithm of (1/k) / alpha_j.",
        mistakes={
            "The second part is KL(alpha || alpha*), weighted with the attention; the oracle's "
            "1/k is the weight.": (0.0, (shares * (3 * shares).log()).sum()),
            "The terms of the second part are summed but not weighted with 1/k.": (0.0, 3 * uneven),
            "The ratio in the second part is upside down.": (0.0, -uneven),
            "The distractors have a share of 0 here and make nan: sum over I* only.": (0.0, NAN),
        },
    )


@ex_2_3.property("the two parts sum to KL(alpha* || alpha)")
def _(split):
    attention = torch.tensor([0.3, 0.1, 0.05, 0.15, 0.2, 0.2])
    on = attention[THREE]
    missing, uneven = -on.sum().log(), -(on / on.sum() * 3).log().mean()
    expect(
        split(attention, THREE),
        (missing, uneven),
        cause="Both parts are above 0 here, and their sum is the KL.",
        mistakes={
            "Divide the attention on I* by its mass before comparing it with the oracle.": (
                missing,
                -(3 * on).log().mean(),
            ),
        },
    )


# --- 2.4 what no table can do -------------------------------------------------------------

ex_2_4 = Exercise(
    "ex_2_4",
    answers=("a_table_gives", "impossible"),
    hints=(
        "If there is a table, exercise 2.2 finds it. What does it find if there is none?",
        "Read the table off, look the attention up in it again, and compare with what was given.",
        "To break it: let the first position win where the two tokens are equal, and the second "
        "where they differ. Can one table say both?",
    ),
    afterword="A query that changes from sequence to sequence can do it: lesson 08.",
)

FOUR = torch.tensor([[0, 0, 2], [0, 1, 2], [1, 0, 2], [1, 1, 2]])


@ex_2_4.property("a table gives its own attention, though a share changes with its neighbours")
def _(possible, _impossible):
    # No token stands at two positions. The share of the 0 goes from 0.84 to 0.02.
    table = torch.full((3, 6), NAN)
    table[0, :2], table[1, 3:5] = torch.tensor([2.0, 1.0]), torch.tensor([-1.0, 6.0])
    table[2, 5] = 0.0
    tokens = torch.tensor([[0, 3, 5], [0, 4, 5], [1, 3, 5], [1, 4, 5]])
    expect(
        possible(tokens, attention_of(table, tokens)),
        True,
        cause="There is a table. A token's *share* may differ between sequences: what stays is "
        "its ratio to the share of the last token.",
    )


@ex_2_4.property("what depends on two tokens at once is no table's")
def _(possible, _impossible):
    attention = torch.tensor([[0.7, 0.1, 0.2], [0.1, 0.7, 0.2], [0.1, 0.7, 0.2], [0.7, 0.1, 0.2]])
    expect(
        possible(FOUR, attention),
        False,
        cause="The 0 in first place has 3.5 times the share of the last token in one sequence "
        "and half of it in another: no one score does both.",
    )


@ex_2_4.property("the same sequence twice with different attention is no table's either")
def _(possible, _impossible):
    tokens = torch.tensor([[3, 1, 5], [3, 1, 5]])
    attention = torch.tensor([[0.5, 0.3, 0.2], [0.3, 0.5, 0.2]])
    expect(
        possible(tokens, attention),
        False,
        cause="Both rows ask for the same entries of the table. Are all sequences looked up "
        "again, not only the last one to write an entry?",
    )


@ex_2_4.property("sequences without a common token but the last can have any attention")
def _(possible, _impossible):
    tokens = torch.tensor([[0, 1, 6], [2, 3, 6], [1, 0, 6]])
    attention = torch.tensor([[0.7, 0.2, 0.1], [0.1, 0.1, 0.8], [0.05, 0.9, 0.05]])
    expect(
        possible(tokens, attention),
        True,
        cause="No entry of the table is used twice here (a 0 in first place is not a 0 in second "
        "place), so nothing can contradict.",
    )


@ex_2_4.property("your attention is one: a row for each of four sequences, summing to 1")
def _(_possible, impossible):
    alpha = torch.as_tensor(impossible, dtype=torch.float64)
    require(
        alpha.shape == (4, 3),
        "Four sequences of three tokens, the last of which is the =: a tensor [4, 3].",
        got=impossible,
    )
    require(
        (alpha.sum(dim=1) - 1).abs().max() < 1e-4,
        "Each row is the attention of one sequence: its three shares sum to 1.",
        got=impossible,
    )
    require(alpha.min() >= 0.01 - 1e-6, "A share is below 0.01.", got=impossible)


@ex_2_4.property("no table gives it")
def _(_possible, impossible):
    alpha = torch.as_tensor(impossible, dtype=torch.float64)
    score = (alpha / alpha[:, -1:]).log()
    # Position 0 has the same token in rows 0, 1 and in rows 2, 3; position 1 in 0, 2 and in 1, 3.
    apart = torch.cat([score[[0, 2], 0] - score[[1, 3], 0], score[[0, 1], 1] - score[[2, 3], 1]])
    require(
        apart.abs().max() > 0.05,
        "There is a table that gives this attention: a token's ratio to the last one is the same "
        "wherever it stands at that position. It is not enough that shares change.",
        got=impossible,
    )
