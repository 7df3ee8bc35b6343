# %% [markdown]
# # 02 · Exercises: attention as a posterior
#
# Exercises on [lesson 02](../course/02_attention_as_a_posterior.ipynb). Write your code where
# it says so and run the cell below it: the check tries your answer on small inputs and says which
# property fails, on which input, and what the cause may be. A check can be run as often as you
# like; `check.ex_2_1.hint()` gives a hint, called again the next one.

# %%
import torch

from grokkit.classroom import check

# %% [markdown] exercise="ex_2_1" difficulty=1 minutes=5
# ## A piece of evidence
#
# A score is the logarithm of evidence. Say a position has the share $\alpha_j$ of the attention,
# and now something more speaks for it, and for no other: its evidence $e^{\ell_j}$ is multiplied
# with a factor $b$. Which share has it then? You need neither the scores nor the other shares.


# %%
def after_evidence(share, factor):
    """The share of a position whose evidence was multiplied.

    Args:
        share: alpha_j before, from 0 to 1.
        factor: b, what e^l_j is multiplied with, above 0.

    Returns:
        alpha_j afterwards.
    """
    ### BEGIN SOLUTION
    return share * factor / (share * factor + 1 - share)
    ### END SOLUTION


# %%
check.ex_2_1(after_evidence)

# %% [markdown] tags=["solution"]
# Before, the evidence of the position and of all others is in the proportion $\alpha_j$ to
# $1 - \alpha_j$; afterwards in the proportion $b\,\alpha_j$ to $1 - \alpha_j$. Divide by the sum:
# $b\,\alpha_j / (b\,\alpha_j + 1 - \alpha_j)$. Betting people know this as a rule for *odds*: they
# are simply multiplied with $b$. With $\alpha_j$ at 0 or 1 nothing can change it any more.

# %% [markdown] exercise="ex_2_2" difficulty=2 minutes=15
# ## The table, read off
#
# In lesson 02 a table of scores gave the attention. Go the other way: somebody shows you the
# sequences and the attention of each, nothing else. Find the table.
#
# A constant added to all scores changes no attention, so you cannot know all of the table.
# Choose the constant such that the last token, the query "=", has the score 0. It is the same
# token in every sequence, and that is what makes this possible.


# %%
def table_from_attention(tokens, attention, vocabulary):
    """The table of scores behind an attention.

    Args:
        tokens: the sequences, which all end with the same token, an int tensor
            [example, pos].
        attention: alpha of each, above 0, a float tensor [example, pos].
        vocabulary: how many different tokens there are.

    Returns:
        The score of every token at every position, [pos, token], with 0 for the query
        and nan where a token never stands at a position.
    """
    ### BEGIN SOLUTION
    positions = tokens.shape[1]
    table = torch.full((positions, vocabulary), torch.nan, dtype=attention.dtype)
    table[torch.arange(positions), tokens] = (attention / attention[:, -1:]).log()
    return table
    ### END SOLUTION


# %%
check.ex_2_2(table_from_attention)

# %% [markdown] tags=["solution"]
# In a ratio of two shares of one sequence the sum that they were divided by cancels:
# $\log(\alpha_j / \alpha_q) = \ell_j - \ell_q$. The same entry of the table is written once for
# each sequence that it occurs in, always with the same number.
#
# The logarithm of a share alone will not do: it is a score minus the logarithm of a sum that
# differs from sequence to sequence.

# %% [markdown] exercise="ex_2_3" difficulty=2 minutes=15
# ## What KL is made of
#
# A KL of 1.5 nats can mean that attention is elsewhere, or that it is on $I^*$ but badly
# shared. Split it:
#
# $$\mathrm{KL}(\alpha^* \,\|\, \alpha) = \underbrace{\log\frac{1}{m}}_{\text{missing}} +
#   \underbrace{\mathrm{KL}(\alpha^* \,\|\, \alpha / m)}_{\text{uneven}},
#   \qquad m = \sum_{j \in I^*} \alpha_j$$
#
# The second term compares the oracle with what attention would be if it had kept its
# proportions on $I^*$, and had all of its mass there.


# %%
def split_kl(attention, informative):
    """The two parts of KL(alpha* || alpha), in nats, for one example.

    Args:
        attention: alpha, above 0 on the informative positions, a float tensor [pos].
        informative: true at the positions of I*, a bool tensor [pos].

    Returns:
        Two numbers, (missing, uneven), which sum to the KL.
    """
    ### BEGIN SOLUTION
    on = attention[informative]
    mass = on.sum()
    return -mass.log(), -(on / mass * len(on)).log().mean()
    ### END SOLUTION


# %% [markdown]
# Lesson 02 had two attentions with the same mass: a fair one, and one that is blinkered. Here
# attention goes from one to the other and beyond, at a mass that stays 0.8:

# %%
from grokkit.viz import LOOKS, style
from grokkit.viz.style import picture, titles


def split_picture(split):
    """Both parts of the KL over the share of the first of two informative positions."""
    informative = torch.tensor([True, False, True, False, False])
    firsts = torch.linspace(0.01, 0.79, 79)
    rest = torch.tensor(0.2 / 3)
    rows = [torch.stack([one, rest, 0.8 - one, rest, rest]) for one in firsts]
    missing, uneven = zip(*[map(float, split(row, informative)) for row in rows], strict=True)
    with style():
        figure = picture(6.5, 3.4)
        ax = figure.subplots()
        ax.stackplot(
            firsts,
            missing,
            uneven,
            labels=["missing mass", "unevenly shared"],
            colors=[LOOKS["structure"].color, "#A6DCCB"],
        )
        ax.set(xlabel="attention on the first of the two numbers (share)", ylabel="KL (nats)")
        ax.legend(loc="upper center")
        titles(
            figure, "The same mass, and a KL that depends on how it is shared", "mass on I*: 0.8"
        )
    return figure


# %% tags=["target"]
split_picture(split_kl)

# %%
check.ex_2_3(split_kl)

# %%
split_picture(split_kl) if check.ex_2_3.solved else "Here your own picture will stand."

# %% [markdown] tags=["solution"]
# Write $\alpha_j = m \cdot (\alpha_j / m)$ in each term of the KL; the logarithm makes a sum of the
# product, and $\log(1/m)$ is the same in all $k$ terms. Neither part can be negative. So the KL is
# at least $\log(1/m)$, whatever is done with the mass.

# %% [markdown] exercise="ex_2_4" difficulty=3 minutes=25
# ## What no table can do
#
# Attention may depend on the whole sequence: the share of a token falls when a louder one comes
# in. But with a fixed query not every dependence is possible. Find out where the border is.
#
# 1. Write `a_table_gives`: is there a table of scores with exactly this attention?
# 2. Break it: there are four sequences, `0 0 =`, `0 1 =`, `1 0 =` and `1 1 =` (in this order).
#    Give an attention for each, all shares at least 0.01, that *no* table gives. Where you
#    could not simply draw lots, think of a rule such as "look at the first token *if* ...".


# %%
def a_table_gives(tokens, attention):
    """Whether some table of scores gives this attention.

    Args:
        tokens: the sequences, which all end with the same token, an int tensor
            [example, pos].
        attention: alpha of each, above 0, a float tensor [example, pos].

    Returns:
        True or False. Shares that differ by less than 1e-4 count as equal.
    """
    ### BEGIN SOLUTION
    table = table_from_attention(tokens, attention, int(tokens.max()) + 1)
    again = table[torch.arange(tokens.shape[1]), tokens].softmax(dim=1)
    return torch.allclose(again, attention, atol=1e-4)
    ### END SOLUTION


# %%
### BEGIN SOLUTION
impossible = torch.tensor(
    [[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.8, 0.1], [0.8, 0.1, 0.1]],
)
### STUB
# impossible = None  # your attention for the four sequences, a tensor [4, 3]
### END SOLUTION

# %%
check.ex_2_4(a_table_gives, impossible)

# %% [markdown] tags=["solution"]
# The test is to read the table off as if there were one, and look whether it gives the attention
# back. If two sequences disagree about an entry, it cannot.
#
# The attention above follows the rule "look at the first token if both are the same, else at the
# second". Compare the odds of the first position against the second in the four sequences: a
# table makes them $f(a)/g(b)$, so that odds(00) · odds(11) = odds(01) · odds(10). Here the left
# side is 64 and the right side 1/64. "Look at the first token if the second one is a 0" is
# possible, by the way: make the 1 in second place very loud.
#
# This is why grokkit's tasks can be learned with a fixed query, and why lesson 08 has one with a
# query that changes.

# %% [markdown] exercise="ex_2_5" difficulty=3 minutes=30
# ## Two heads can
#
# No table can say "look at the first token if the two differ, else do not". Two tables can: let each
# of two heads have one, and average their attention. Give both tables for the sequences `0 0 =`,
# `0 1 =`, `1 0 =`, `1 1 =` (token 2 is the "="), such that in the average the first position has
#
# - at least 0.45 where the two tokens differ,
# - at most 0.05 where they are the same.


# %%
### BEGIN SOLUTION
apart = 20.0
one_zero = torch.tensor([[0, apart, 0], [apart / 2, 1.5 * apart, 0], [0, 0, apart / 2]])
zero_one = torch.tensor([[apart, 0, 0], [1.5 * apart, apart / 2, 0], [0, 0, apart / 2]])
two_tables = (one_zero, zero_one)
### STUB
# two_tables = None  # two tables of scores, each a tensor [3 positions, 3 tokens]
### END SOLUTION

# %%
check.ex_2_5(two_tables)

# %% [markdown] tags=["solution"]
# One score against another is a comparison, and a comparison can say "the first is 1 *and* the
# second is 0": a 1 in first place beats a 0 in second place, a 1 there beats both, and a 0 in first
# place loses to everything. The other head says it the other way round. "They differ" is the sum of
# the two. An exclusive or takes two linear rules: the old story of the perceptron, told by softmax.
