"""Checks of the exercises on chapter 02: evidence, the table of scores, what KL is made of."""

from functools import partial

import torch

from grokkit.classroom.checks.common import distribution, parts
from grokkit.classroom.checks.exercise import Ask, Exercise, Function, Value, each, mistaken
from grokkit.classroom.checks.expect import any_of, require

# --- 2.1 a piece of evidence --------------------------------------------------------------


def evidence(share, b, rest=lambda share: 1 - share):
    return share * b / (share * b + rest(share))


ex_2_1 = Exercise.of(
    "after_evidence",
    right=evidence,
    cases={
        "the evidence of the others stays, and the shares sum to 1 again": each(
            (0.2, 3),
            lambda d: (d.one(0.1, 0.9), d.one(1.5, 4)),
            cause="Position and rest are as share to 1 - share: multiply one, not the other.",
        ),
        "it can speak against a position, and never changes a share of 0 or 1": each(
            *((0.5, 0.25), (1.0, 0.5), (0.0, 7.0)),
            cause="With a share of 1 no evidence is left for the others, whatever the factor.",
        ),
    },
    mistakes={
        "The odds came back; odds o are a share of o / (1 + o).": lambda s, b: s * b / (1 - s),
        "The evidence of all other positions together is 1 - share, not 1.": partial(
            evidence, rest=lambda share: 1
        ),
        "Divide by the new sum: the shares no longer sum to 1.": lambda s, b: s * b,
    },
    hints=(
        "Before, position and rest have evidence in the proportion share to 1 - share.",
        "The factor multiplies the first of the two numbers and leaves the second alone.",
        "A share is a part of the whole, and the whole has grown, too: divide by the new sum.",
    ),
    afterword="Odds are easier: they are just multiplied. Which odds are a share of 0.9?",
)

# --- 2.2 the table, read off --------------------------------------------------------------


def attention_of(table, tokens):
    """The attention that a table of scores [pos, token] gives, [example, pos]."""
    return table[torch.arange(tokens.shape[1]), tokens].softmax(dim=1)


def table_of(tokens, attention, vocabulary, over=lambda alpha: alpha[:, -1:], entry=torch.log):
    """The table read off, each share divided by `over(attention)`."""
    table = torch.full((tokens.shape[1], vocabulary), torch.nan, dtype=attention.dtype)
    table[torch.arange(tokens.shape[1]), tokens] = entry(attention / over(attention))
    return table


def sequences(d, rows=((0, 1, 4), (2, 0, 4), (2, 2, 4), (0, 2, 4)), vocabulary=5):
    """Sequences, their attention by a table that is drawn, and the vocabulary."""
    tokens = torch.tensor(rows)
    return tokens, attention_of(2 * d.numbers(tokens.shape[1], vocabulary), tokens), vocabulary


ex_2_2 = Exercise.of(
    "table_from_attention",
    right=table_of,
    cases={
        "one sequence fills one entry at each position": Ask(
            lambda d: sequences(d, ((1, 0, 3),), 4),
            'The entry of a token is log(its share / the share of the "=").',
        ),
        "a token has one entry for each position, whatever else stands in the sequence": Ask(
            sequences, "A 0 in first place and a 0 in second place have entries of their own."
        ),
    },
    mistakes=mistaken(
        table_of,
        over={
            'The "=" must come out as 0: divide each share by the last one of its own row.': (
                any_of(torch.ones_like, lambda alpha: alpha[:, :1], lambda alpha: alpha[0, -1])
            )
        },
        entry={
            "These are ratios of evidence; a score is their logarithm.": torch.clone,
            "The ratio is upside down: the share of the last token belongs below.": (
                lambda ratio: -ratio.log()
            ),
        },
    )
    | {
        "A token that never stands at a position has no known score there: nan, not 0.": (
            lambda *given: table_of(*given).nan_to_num(0)
        )
    },
    hints=(
        "Two shares of one sequence were divided by the same sum. In what does the sum cancel?",
        "log(alpha_j / alpha_q) is l_j - l_q, and l_q is to be 0: one entry for each position.",
        "Begin with a table full of nan: one assignment fills all, `table[rows, tokens] = ...`.",
    ),
    afterword="So whoever sees attention sees every score, up to one constant.",
)

# --- 2.3 what KL is made of ---------------------------------------------------------------


def mean_log_ratio(on, mass, k):
    return -(on / mass * k).log().mean()


def split(attention, informative, first=lambda mass: -mass.log(), second=mean_log_ratio):
    """The first part from the mass, the second from the attention on I*, the mass and k."""
    on = attention[informative]
    return first(on.sum()), second(on, on.sum(), len(on))


def only_missing(d):
    """A mass of 0.6, shared evenly by three positions."""
    mask = d.mask(6, k=3)
    return torch.where(mask, 0.2, 0.4 / 3).to(d.dtype), mask


def only_uneven(d):
    """A mass of 1, on three positions."""
    mask = d.mask(6, k=3)
    return torch.zeros(6, dtype=d.dtype).masked_scatter(mask, d.shares(3)), mask


ex_2_3 = Exercise.of(
    "split_kl",
    right=split,
    cases={
        "attention shared evenly on I* has no second part": Ask(
            only_missing, "All three of I* have 0.2: only mass is missing.", atol=1e-6
        ),
        "attention on I* alone has no first part": Ask(
            only_uneven, "The mass is 1, so the second part is the KL itself.", atol=1e-6
        ),
        "the two parts sum to KL(alpha* || alpha)": each(
            lambda d: (d.shares(6), d.mask(6, k=2)),
            lambda d: (d.shares(7), d.mask(7, k=4)),
            cause="Both parts are above 0 here.",
        ),
    },
    mistakes=mistaken(
        split,
        first={"The first part is log(1/m).": any_of(torch.log, lambda mass: 1 - mass)},
        second={
            "The second part is the whole KL: divide the attention on I* by its mass first.": (
                lambda on, m, k: mean_log_ratio(on, 1, k)
            ),
            "The second part is the mean over I* of log((1/k) / (alpha_j / m)).": any_of(
                lambda on, m, k: mean_log_ratio(on, m, 1),
                lambda on, m, k: mean_log_ratio(on, m, k) * k,
                lambda on, m, k: -mean_log_ratio(on, m, k),
                lambda on, m, k: (on / m * (on / m * k).log()).sum(),
            ),
        },
    ),
    hints=(
        "First the mass m on I*. The first part needs nothing else.",
        "Divide the attention on I* by m: it sums to 1 there. The oracle has 1/k at each.",
        "The second part is the mean over I* of log((1/k) / (alpha_j / m)).",
    ),
    afterword="A KL below log 2 therefore means a mass of more than one half.",
)

# --- 2.4 what no table can do -------------------------------------------------------------


def a_table_gives(tokens, attention):
    """Whether the table that was read off gives the attention back."""
    again = attention_of(table_of(tokens, attention, int(tokens.max()) + 1), tokens)
    return bool((again - attention).abs().max() <= 1e-4)


def disturbed(by):
    """Two equal sequences whose attention differs by a little."""
    alpha = torch.tensor([[0.5, 0.3, 0.2], [0.5 + by, 0.3 - by, 0.2]], dtype=torch.float64)
    return torch.tensor([[3, 1, 5], [3, 1, 5]]), alpha


FOUR = torch.tensor([[0, 0, 2], [0, 1, 2], [1, 0, 2], [1, 1, 2]])
LAST_ONLY = torch.tensor([[0, 1, 6], [2, 3, 6], [1, 0, 6]])
BOTH = torch.tensor([[0.7, 0.1, 0.2], [0.1, 0.7, 0.2], [0.1, 0.7, 0.2], [0.7, 0.1, 0.2]])


def shares_of(impossible):
    """The attention of four sequences."""
    rows = parts(impossible, [(3,)] * 4, "Four sequences of three tokens: a tensor [4, 3].")
    return torch.tensor([distribution(row, 3, least=0.01).tolist() for row in rows])


def beyond_tables(impossible):
    score = (shares_of(impossible) / shares_of(impossible)[:, -1:]).log()
    # Position 0 has the same token in rows 0, 1 and in rows 2, 3; position 1 in 0, 2 and in 1, 3.
    apart = torch.cat([score[[0, 2], 0] - score[[1, 3], 0], score[[0, 1], 1] - score[[2, 3], 1]])
    cause = "There is a table that gives this: a token's ratio to the last one is always the same."
    require(apart.abs().max() > 0.05, cause, impossible)


ex_2_4 = Exercise(
    Function(
        "a_table_gives",
        right=a_table_gives,
        cases={
            "a table gives its own attention, though a share changes with its neighbours": Ask(
                lambda d: sequences(d, ((0, 3, 5), (0, 4, 5), (1, 3, 5), (1, 4, 5)), 6)[:2],
                "A token's *share* may differ: what stays is its ratio to that of the last token.",
            ),
            "what depends on two tokens at once is no table's": Ask(
                (FOUR, BOTH),
                "The first 0 has 3.5 times the last share, then half: no one score does both.",
            ),
            "the same sequence twice with different attention is no table's either": each(
                *(disturbed(by) for by in (0.2, 3e-4, 5e-5)),
                cause="Look up all sequences again, not only the last one to write an entry.",
            ),
            "sequences without a common token but the last can have any attention": Ask(
                lambda d: (LAST_ONLY, d.shares(3, 3)), "No entry of the table is used twice here."
            ),
        },
    ),
    Value(
        "impossible",
        {
            "your attention is one: a row for each of four sequences, summing to 1": shares_of,
            "no table gives it": beyond_tables,
        },
    ),
    hints=(
        "If there is a table, exercise 2.2 finds it. What does it find if there is none?",
        "Read the table off, look the attention up in it again, and compare with what was given.",
        "Let the first position win where the tokens are equal, and the second where they differ.",
    ),
    afterword="A query that changes from sequence to sequence can do it: lesson 08.",
)

# --- 2.5 two heads can --------------------------------------------------------------------


def look_where_they_differ(two_tables):
    tables = parts(two_tables, [(3, 3)] * 2, "Two tables [3 positions, 3 tokens] are asked for.")
    heads = torch.stack([attention_of(torch.from_numpy(one), FOUR)[:, 0] for one in tables])
    first = heads.mean(dim=0)
    one = "It works for one way to differ: let one head say 1 then 0, the other 0 then 1."
    none = "Where the tokens differ the first position has too little: are the scores far apart?"
    cause = one if first[[1, 2]].max() > 0.45 else none
    require(first[[1, 2]].min() >= 0.45, cause, first, "0.45 or more for 0 1 = and for 1 0 =")
    cause = "Where both tokens are the same something must beat the first position, in each head."
    require(first[[0, 3]].max() <= 0.05, cause, first, "0.05 or less for 0 0 = and for 1 1 =")


ex_2_5 = Exercise(
    Value(
        "two_tables",
        {"the first position is looked at where the two tokens differ": look_where_they_differ},
    ),
    hints=(
        "One head cannot. But 'they differ' is one of two things: 1 and 0, or 0 and 1.",
        "A head for 1 0 alone: what must a 1 in first place beat, and to what must it lose?",
        "Scores in steps of 10: a 0 in first place 0, a 0 in second place and the = 10, a 1 in "
        "first place 20, a 1 in second place 30.",
    ),
    afterword="Four heads can say even more, and cancel each other: lesson 08.",
)
