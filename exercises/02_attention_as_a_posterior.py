# %% [markdown]
# # 02 · Exercises: attention as a posterior
#
# Four exercises on [lesson 02](../course/02_attention_as_a_posterior.ipynb). Write your code where
# it says so and run the cell below it: the check tries your answer on small inputs and says which
# property fails, on which input, and what the cause may be. A check can be run as often as you
# like; `check.ex_2_1.hint()` gives a hint, called again the next one.

# %%
import torch

from grokkit.classroom import check


# %% [markdown]
# ## 2.1 · A piece of evidence
#
# *●○○ easy · about 5 minutes*
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
    raise NotImplementedError("your code here")


# %%
check.ex_2_1(after_evidence)


# %% [markdown]
# ## 2.2 · The table, read off
#
# *●●○ medium · about 15 minutes*
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
    raise NotImplementedError("your code here")


# %%
check.ex_2_2(table_from_attention)


# %% [markdown]
# ## 2.3 · What KL is made of
#
# *●●○ medium · about 15 minutes*
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
    raise NotImplementedError("your code here")


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


# %% [markdown]
# ![What exercise 2.3 is to show](images/ex_2_3.png)

# %%
check.ex_2_3(split_kl)

# %%
split_picture(split_kl) if check.ex_2_3.solved else "Here your own picture will stand."


# %% [markdown]
# ## 2.4 · What no table can do
#
# *●●● hard · about 25 minutes*
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
    raise NotImplementedError("your code here")


# %%
impossible = None  # your attention for the four sequences, a tensor [4, 3]

# %%
check.ex_2_4(a_table_gives, impossible)
