# %% [markdown]
# # 01 · Exercises: sparse tasks
#
# Exercises on [lesson 01](../course/01_sparse_tasks.ipynb). Write your code where it says
# so and run the cell below it: the check tries your answer on small inputs and says which
# property fails, on which input, and what the cause may be. A check can be run as often as you
# like; `check.ex_1_1.hint()` gives a hint, called again the next one.

# %%
import torch

from grokkit.classroom import check

# %% [markdown] exercise="ex_1_1" difficulty=1 minutes=5
# ## The oracle
#
# The oracle attention $\alpha^*$ is $1/k$ on the informative positions and 0 elsewhere. Write
# it for a set of examples. Each row of `informative` is one example, and $k$ may differ from
# row to row.


# %%
def oracle_attention(informative):
    """alpha*, the oracle attention.

    Args:
        informative: true at the positions of I*, a bool tensor [example, pos].

    Returns:
        1/k on I* and 0 elsewhere, [example, pos].
    """
    ### BEGIN SOLUTION
    k = informative.sum(dim=1, keepdim=True)
    return informative / k
    ### END SOLUTION


# %%
check.ex_1_1(oracle_attention)

# %% [markdown] tags=["solution"]
# With `keepdim=True` the sums stay a column of shape [example, 1], which broadcasts along the
# positions. Dividing a bool by an integer gives a float, so no conversion is needed.

# %% [markdown] exercise="ex_1_2" difficulty=2 minutes=10
# ## How far from the oracle?
#
# Write the Kullback-Leibler divergence of one example's attention from the oracle,
#
# $$\mathrm{KL}(\alpha^* \,\|\, \alpha) = \sum_{j \in I^*} \tfrac1k \log \frac{1/k}{\alpha_j},$$
#
# in nats. The attention on distractors may be 0; that on informative positions is not.


# %%
def kl_to_oracle(attention, informative):
    """KL(alpha* || alpha) in nats, for one example.

    Args:
        attention: alpha, which sums to 1, a float tensor [pos].
        informative: true at the positions of I*, a bool tensor [pos].

    Returns:
        A single number.
    """
    ### BEGIN SOLUTION
    share = 1 / informative.sum()
    return (share * (share / attention[informative]).log()).sum()
    ### END SOLUTION


# %% [markdown]
# From lesson 02 on this number measures where a network looks. Let two of five positions be
# informative, and move attention to them from the other three, evenly:

# %%
from grokkit.viz import LOOKS, style
from grokkit.viz.style import picture


def kl_curve(distance):
    """KL over the attention on two informative positions of five, as `distance` gives it."""
    informative = torch.tensor([True, False, True, False, False])
    on_the_two = torch.linspace(0.02, 1, 99)
    spread = [torch.where(informative, share / 2, (1 - share) / 3) for share in on_the_two]
    with style():
        figure = picture(5.5, 3.2)
        axes = figure.subplots()
        kl = [float(distance(attention, informative)) for attention in spread]
        axes.plot(on_the_two, kl, **LOOKS["structure"].line)
        axes.set_title("KL falls to 0 as attention moves to the two numbers")
        axes.set_xlabel("attention on the informative positions (share)")
        axes.set_ylabel("KL to the oracle (nats)")
    return figure


# %% tags=["target"]
kl_curve(kl_to_oracle)

# %%
check.ex_1_2(kl_to_oracle)

# %%
kl_curve(kl_to_oracle) if check.ex_1_2.solved else "Here your own curve will stand."

# %% [markdown] tags=["solution"]
# Only the informative positions have a term: elsewhere the oracle is 0, and $0 \log 0$ counts
# as 0. Were the sum taken over all positions, a 0 in the attention would make it nan. For two
# positions with masses $a$ and $b$ it is $-\log 2 - \tfrac12 \log(ab)$, so of all pairs with the
# same $a + b$ the equal one has the least.

# %% [markdown] exercise="ex_1_3" difficulty=2 minutes=10
# ## Mirror images
#
# Of the unseen sums of lesson 01 about half have a mirror image that was trained on: the test asks
# 5 + 17 where 17 + 5 was trained on. Which share of the test pairs can be answered like that? A
# pair of two equal numbers has no mirror image but itself.


# %%
def mirror_rate(train_pairs, test_pairs):
    """The share of test pairs whose mirror image is in the train set.

    Args:
        train_pairs: a list of tuples (a, b); no pair of it is in the test set.
        test_pairs: a list of tuples (a, b).

    Returns:
        A number from 0 to 1.
    """
    ### BEGIN SOLUTION
    trained = set(train_pairs)
    mirrored = [(a, b) for a, b in test_pairs if (b, a) in trained]
    return len(mirrored) / len(test_pairs)
    ### END SOLUTION


# %%
check.ex_1_3(mirror_rate)

# %% [markdown]
# Once your answer is right, this cell prints the share for the task of the five recorded runs; before,
# it prints nothing. Compare it with the share of all pairs that are trained on.

# %%
if check.ex_1_3.solved:
    import grokkit

    data = grokkit.presets["classroom"].task.build(seed=0)
    pairs = [
        [tuple(row) for row in part.tokens[:, [0, 2]].tolist()] for part in (data.train, data.test)
    ]
    print(f"mirrored: {mirror_rate(*pairs):.2f}")

# %% [markdown] tags=["solution"]
# A pair (a, a) of the test set is not in the train set, so it needs no case of its own. The
# share comes out near the train fraction, one half, because a random split puts the mirror
# image of a test pair into the train set with about that chance.

# %% [markdown] exercise="ex_1_4" difficulty=3 minutes=20
# ## Which positions matter?
#
# You are handed *all* sequences of a task and their answers, and nobody tells you which
# positions are informative. Find them. A position is informative if there are two sequences
# that differ there **and nowhere else** and have different answers.


# %%
def informative_positions(tokens, targets):
    """The positions on which the answer depends.

    Args:
        tokens: every sequence of the task, an int tensor [example, pos].
        targets: the answer to each, an int tensor [example].

    Returns:
        The positions, counted from 0, as a list in ascending order.
    """
    ### BEGIN SOLUTION
    found = []
    for position in range(tokens.shape[1]):
        answers_of = {}
        for row, answer in zip(tokens.tolist(), targets.tolist(), strict=True):
            rest = (*row[:position], *row[position + 1 :])
            answers_of.setdefault(rest, set()).add(answer)
        if any(len(seen) > 1 for seen in answers_of.values()):
            found.append(position)
    return found
    ### END SOLUTION


# %%
check.ex_1_4(informative_positions)

# %% [markdown] tags=["solution"]
# The dictionary groups the sequences by everything but one position. If a group has two
# answers, changing that token alone can change the answer. `grokkit.theory.sparse_task` finds
# the same pairs: the necessary condition of Theorem 4.3 speaks about exactly these.
#
# Looking at averages is not enough: in a parity each single bit is worthless, and three
# together decide everything. That is one reason why a network finds such a task hard.

# %% [markdown] exercise="ex_1_5" difficulty=3 minutes=30
# ## A split that hides nothing and gives nothing away
#
# Sums modulo an odd $p$, of all ordered pairs. Choose which `size` pairs are trained on, such that
#
# 1. nothing is given away: the mirror image of a train pair is a train pair, too;
# 2. nothing is hidden: every number $0, \dots, p-1$ occurs in some train pair;
# 3. no answer is new: every sum $0, \dots, p-1$ (modulo $p$) is that of some train pair.
#
# `size` is as small as $p + 3$, so drawing lots will not do. There is an idea that meets all three
# at once with $p$ pairs. What is left then?


# %%
def fair_split(p, size):
    """Train pairs without mirrored test pairs, that show every number and every sum.

    Args:
        p: the modulus, odd, 5 or more.
        size: how many pairs, from p + 3 to p * p - p.

    Returns:
        A list of `size` different pairs (a, b) of numbers 0..p-1.
    """
    ### BEGIN SOLUTION
    doubles = [(a, a) for a in range(p)]
    couples = [(a, b) for a in range(p) for b in range(a)]
    if (size - p) % 2:
        doubles.remove((0, 0))
        couples.sort(key=lambda one: one not in ((1, 0), (p - 1, 1)))
    others = couples[: (size - len(doubles)) // 2]
    return doubles + others + [(b, a) for a, b in others]
    ### END SOLUTION


# %%
check.ex_1_5(fair_split)

# %% [markdown] tags=["solution"]
# The pairs $(a, a)$ are their own mirror images, there are $p$ of them, and $2a$ takes every value
# modulo an odd $p$. Everything else comes in twos. If `size` has the wrong parity one double has to
# go, say $(0, 0)$; then the number 0 and the sum 0 must come from two couples, $(1, 0)$ and
# $(p - 1, 1)$, for example.
