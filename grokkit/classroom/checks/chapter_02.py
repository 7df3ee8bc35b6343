"""Checks of the exercises on chapter 02: evidence, the table of scores, what KL is made of."""

import math

import torch

from grokkit.classroom.checks.exercise import Ask, Exercise, Function, Value
from grokkit.classroom.checks.expect import as_array, require

# --- 2.1 a piece of evidence --------------------------------------------------------------

ex_2_1 = Exercise(
    "ex_2_1",
    Function(
        "after_evidence",
        right=lambda share, b: share * b / (share * b + 1 - share),
        cases={
            "evidence of factor 1 changes nothing": Ask(
                (0.3, 1), "Multiplied with 1, the evidence is what it was, and so is the share."
            ),
            "the evidence of the others stays, and the shares sum to 1 again": [
                Ask(
                    (0.2, 3), "The proportion of position to rest was 0.2 to 0.8; it is 0.6 to 0.8."
                ),
                Ask(lambda d: (d.one(0.1, 0.9), d.one(1.5, 4)), "Multiply one part, not the rest."),
            ],
            "it can speak against a position, and never changes a share of 0 or 1": [
                Ask(
                    one,
                    "Try a share of 1: no evidence is left for the others, whatever the factor.",
                )
                for one in ((0.5, 0.25), (1.0, 0.5), (0.0, 7.0))
            ],
        },
        mistakes={
            "The odds came back; odds o are a share of o / (1 + o).": lambda s, b: s * b / (1 - s),
            "The evidence of all other positions together is 1 - share, not 1.": lambda s, b: (
                s * b / (s * b + 1)
            ),
            "The factor is the evidence's already: it needs no exponential.": lambda s, b: (
                s * math.exp(b) / (s * math.exp(b) + 1 - s)
            ),
            "Divide by the new sum: the shares of all positions no longer sum to 1.": (
                lambda s, b: s * b
            ),
            "The rest was multiplied as well; the evidence speaks for one position only.": (
                lambda s, b: s
            ),
            "The evidence is multiplied, not added: take its logarithm only if you add scores.": (
                lambda s, b: s * math.log(b) / (s * math.log(b) + 1 - s)
            ),
        },
    ),
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


def by_token(tokens, attention, vocabulary):
    """One entry for each token, wherever it stands; the first place it is seen at counts."""
    table = table_of(tokens, attention, vocabulary)
    for token in range(vocabulary):
        known = table[:, token][~table[:, token].isnan()]
        table[:, token] = torch.where(
            table[:, token].isnan(), torch.nan, (known.tolist() or [0])[0]
        )
    return table


def sequences(d, rows=((0, 1, 4), (2, 0, 4), (2, 2, 4), (0, 2, 4)), vocabulary=5):
    """Sequences, their attention by a table that is drawn, and the vocabulary."""
    tokens = torch.tensor(rows)
    return tokens, attention_of(2 * d.numbers(tokens.shape[1], vocabulary), tokens), vocabulary


ex_2_2 = Exercise(
    "ex_2_2",
    Function(
        "table_from_attention",
        right=table_of,
        cases={
            "one sequence fills one entry at each position": Ask(
                lambda d: sequences(d, ((1, 0, 3),), 4),
                'The entry of a token is log(its share / the share of the "=" in its sequence).',
            ),
            "a token has one entry for each position, whatever else stands in the sequence": Ask(
                sequences,
                "Several sequences are given: divide each share by the last one of its own row, "
                "and keep the positions apart.",
            ),
        },
        mistakes={
            'The "=" must come out as 0: divide each share by that of the last token before the '
            "logarithm.": lambda x, a, n: table_of(x, a, n, torch.ones_like),
            "These are ratios of evidence; a score is their logarithm.": lambda x, a, n: table_of(
                x, a, n, entry=lambda ratio: ratio
            ),
            "The ratio is upside down: the share of the last token belongs below.": (
                lambda x, a, n: -table_of(x, a, n)
            ),
            "A token that never stands at a position has no known score there: nan, not 0.": (
                lambda x, a, n: table_of(x, a, n).nan_to_num(0)
            ),
            "The constant is chosen so that the first token has 0; let it be the last.": (
                lambda x, a, n: table_of(x, a, n, lambda alpha: alpha[:, :1])
            ),
            "The rows are tokens; a row of the table is a position.": lambda x, a, n: (
                table_of(x, a, n).T
            ),
            "The logarithm is to base 2; scores are natural logarithms.": lambda x, a, n: table_of(
                x, a, n, entry=torch.log2
            ),
            "All sequences are divided by the last share of the first one; each row has its own.": (
                lambda x, a, n: table_of(x, a, n, lambda alpha: alpha[0, -1])
            ),
            "A 0 in first place and a 0 in second place have one entry; the position counts as "
            "well.": by_token,
        },
    ),
    hints=(
        "Two shares of one sequence were divided by the same sum. In what does the sum cancel?",
        "log(alpha_j / alpha_q) is l_j - l_q, and l_q is to be 0. So there is one entry for each "
        "position of each sequence.",
        "Begin with `torch.full((positions, vocabulary), torch.nan)`. The row is the position, "
        "the column the token: one indexed assignment fills all, `table[rows, tokens] = ...`.",
    ),
    afterword="So whoever sees attention sees every score, up to one constant.",
)

# --- 2.3 what KL is made of ---------------------------------------------------------------


def split(first=lambda mass: -mass.log(), second=None):
    """A way to split a KL: the first part from the mass, the second from on, mass and k."""

    def answer(attention, informative):
        on = attention[informative]
        mass, k = on.sum(), informative.sum()
        uneven = -(on / mass * k).log().mean() if second is None else second(on, mass, k)
        return first(mass), uneven

    return answer


ex_2_3 = Exercise(
    "ex_2_3",
    Function(
        "split_kl",
        right=split(),
        cases={
            "attention shared evenly on I* has no second part": Ask(
                lambda d: (torch.where(m := d.mask(6, k=3), 0.2, 0.4 / 3).to(d.dtype), m),
                "The mass is 0.6 and all three of I* have 0.2 of it: only mass is missing.",
                atol=1e-6,
            ),
            "attention on I* alone has no first part": Ask(
                lambda d: (
                    torch.zeros(6, dtype=d.dtype).masked_scatter(m := d.mask(6, k=3), d.shares(3)),
                    m,
                ),
                "The mass is 1, so the second part is the KL itself: the mean over I* of the "
                "logarithm of (1/k) / alpha_j.",
                atol=1e-6,
            ),
            "the two parts sum to KL(alpha* || alpha)": [
                Ask(lambda d: (d.shares(6), d.mask(6, k=2)), "Both parts are above 0 here."),
                Ask(lambda d: (d.shares(7), d.mask(7, k=4)), "Both parts are above 0 here."),
            ],
        },
        mistakes={
            "There is nan in it, such as 0 times the logarithm of 0 gives: sum over I* only.": (
                split(second=lambda on, mass, k: torch.tensor(math.nan))
            ),
            "The two parts are the wrong way round: first what is missing.": lambda a, m: split()(
                a, m
            )[::-1],
            "The first part is the logarithm of 1/m, not the mass that is missing.": split(
                lambda mass: 1 - mass
            ),
            "Logarithms to base 2; nats need the natural one.": lambda a, m: tuple(
                part / math.log(2) for part in split()(a, m)
            ),
            "The logarithm of m is negative: the first part is that of 1/m.": split(torch.log),
            "The second part is the whole KL: divide the attention on I* by its mass first.": split(
                second=lambda on, mass, k: -(on * k).log().mean()
            ),
            "In the second part the oracle 1/k is missing.": split(
                second=lambda on, mass, k: -(on / mass).log().mean()
            ),
            "The second part is KL(alpha || alpha*), weighted with the attention; the oracle's 1/k "
            "is the weight.": split(
                second=lambda on, mass, k: (on / mass * (on / mass * k).log()).sum()
            ),
            "The terms of the second part are summed but not weighted with 1/k.": split(
                second=lambda on, mass, k: -(on / mass * k).log().sum()
            ),
            "The ratio in the second part is upside down.": split(
                second=lambda on, mass, k: (on / mass * k).log().mean()
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


def no_table_misses(tokens, attention):
    """How far the attention of the table that was read off is from the attention itself."""
    again = attention_of(table_of(tokens, attention, int(tokens.max()) + 1), tokens)
    return (again - attention).abs().max()


def disturbed(d, by):
    """Two equal sequences whose attention differs by a little."""
    alpha = torch.tensor([0.5, 0.3, 0.2], dtype=torch.float64)
    moved = alpha + by * torch.tensor([1.0, -1.0, 0.0])
    return torch.tensor([[3, 1, 5], [3, 1, 5]]), torch.stack([alpha, moved])


FOUR = torch.tensor([[0, 0, 2], [0, 1, 2], [1, 0, 2], [1, 1, 2]])
LAST_ONLY = torch.tensor([[0, 1, 6], [2, 3, 6], [1, 0, 6]])


def an_attention(impossible):
    alpha = torch.as_tensor(as_array(impossible)).double()
    require(
        alpha.shape == (4, 3),
        "Four sequences of three tokens, the last of which is the =: a tensor [4, 3].",
        impossible,
    )
    require(
        (alpha.sum(dim=1) - 1).abs().max() < 1e-4,
        "Each row is the attention of one sequence: its three shares sum to 1.",
        impossible,
    )
    require(alpha.min() >= 0.01 - 1e-6, "A share is below 0.01.", impossible)


def beyond_tables(impossible):
    alpha = torch.as_tensor(as_array(impossible)).double()
    score = (alpha / alpha[:, -1:]).log()
    # Position 0 has the same token in rows 0, 1 and in rows 2, 3; position 1 in 0, 2 and in 1, 3.
    apart = torch.cat([score[[0, 2], 0] - score[[1, 3], 0], score[[0, 1], 1] - score[[2, 3], 1]])
    require(
        apart.abs().max() > 0.05,
        "There is a table that gives this attention: a token's ratio to the last one is the same "
        "wherever it stands at that position. It is not enough that shares change.",
        impossible,
    )


ex_2_4 = Exercise(
    "ex_2_4",
    Function(
        "a_table_gives",
        right=lambda x, a: bool(no_table_misses(x, a) <= 1e-4),
        cases={
            "a table gives its own attention, though a share changes with its neighbours": Ask(
                lambda d: sequences(d, ((0, 3, 5), (0, 4, 5), (1, 3, 5), (1, 4, 5)), 6)[:2],
                "There is a table. A token's *share* may differ between sequences: what stays is "
                "its ratio to the share of the last token.",
            ),
            "what depends on two tokens at once is no table's": Ask(
                (
                    FOUR,
                    torch.tensor(
                        [[0.7, 0.1, 0.2], [0.1, 0.7, 0.2], [0.1, 0.7, 0.2], [0.7, 0.1, 0.2]]
                    ),
                ),
                "The 0 in first place has 3.5 times the share of the last token in one sequence "
                "and half of it in another: no one score does both.",
            ),
            "the same sequence twice with different attention is no table's either": [
                Ask(
                    lambda d: disturbed(d, 0.2),
                    "Both rows ask for the same entries of the table. Are all sequences looked up "
                    "again, not only the last one to write an entry?",
                ),
                Ask(lambda d: disturbed(d, 3e-4), "The shares differ by 3e-4: more than 1e-4."),
                Ask(
                    lambda d: disturbed(d, 5e-5), "Shares that differ by less than 1e-4 are equal."
                ),
            ],
            "sequences without a common token but the last can have any attention": Ask(
                lambda d: (LAST_ONLY, d.shares(3, 3)),
                "No entry of the table is used twice here (a 0 in first place is not a 0 in second "
                "place), so nothing can contradict.",
            ),
        },
    ),
    Value(
        "impossible",
        {
            "your attention is one: a row for each of four sequences, summing to 1": an_attention,
            "no table gives it": beyond_tables,
        },
    ),
    hints=(
        "If there is a table, exercise 2.2 finds it. What does it find if there is none?",
        "Read the table off, look the attention up in it again, and compare with what was given.",
        "To break it: let the first position win where the two tokens are equal, and the second "
        "where they differ. Can one table say both?",
    ),
    afterword="A query that changes from sequence to sequence can do it: lesson 08.",
)

# --- 2.5 two heads can --------------------------------------------------------------------


def look_where_they_differ(two_tables):
    parts = list(two_tables) if isinstance(two_tables, tuple | list | torch.Tensor) else []
    arrays = [as_array(one) for one in parts]
    require(
        len(arrays) == 2 and all(one is not None and one.shape == (3, 3) for one in arrays),
        "Two tables of scores are asked for, each of shape [3 positions, 3 tokens].",
        two_tables,
    )
    tables = [torch.as_tensor(one).double() for one in arrays]
    require(all(one.isfinite().all() for one in tables), "A score is no finite number.", two_tables)
    each = torch.stack([attention_of(table, FOUR)[:, 0] for table in tables])
    first = each.mean(dim=0)
    same, differ = first[[0, 3]], first[[1, 2]]
    cause = "Where the tokens differ the first position has too little."
    if (differ > 0.45).any():
        cause = (
            "It works for one of the two ways to differ. Let one head say 'a 1 and then a 0', and "
            "the other 'a 0 and then a 1'."
        )
    elif (each.amax(dim=0)[[1, 2]] < 0.6).all():
        cause += " A head alone must give it nearly everything there: are the scores far apart?"
    require(bool((differ >= 0.45).all()), cause, first, "0.45 or more for 0 1 = and for 1 0 =")
    require(
        bool((same <= 0.05).all()),
        "Where both tokens are the same the first position has too much: in each head something "
        "must beat it there, the second position or the =.",
        first,
        "0.05 or less for 0 0 = and for 1 1 =",
    )


ex_2_5 = Exercise(
    "ex_2_5",
    Value(
        "two_tables",
        {"the first position is looked at where the two tokens differ": look_where_they_differ},
    ),
    hints=(
        "One head cannot. But 'they differ' is one of two things: 1 and 0, or 0 and 1.",
        "A head that looks at the first position for 1 0 alone: which tokens must a 1 in first "
        "place beat, and which must it lose to?",
        "Scores in steps of 10: a 0 in first place 0, a 0 in second place and the = 10, a 1 in "
        "first place 20, a 1 in second place 30.",
    ),
    afterword="Four heads can say even more, and cancel each other: lesson 08.",
)
