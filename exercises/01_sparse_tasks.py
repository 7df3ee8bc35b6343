# %% [markdown]
# # 01 · Exercises: sparse tasks
#
# Four exercises on [lesson 01](../course/01_sparse_tasks.ipynb). Write your code where it says
# so and run the cell below it: the check tries your answer on small inputs and says which
# property fails, on which input, and what the cause may be. A check can be run as often as you
# like; `check.ex_1_1.hint()` gives a hint, called again the next one.

# %%
import torch

from grokkit.classroom import check


# %% [markdown]
# ## 1.1 · The oracle
#
# *●○○ easy · about 5 minutes*
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
    raise NotImplementedError("your code here")


# %%
check.ex_1_1(oracle_attention)


# %% [markdown]
# ## 1.2 · How far from the oracle?
#
# *●●○ medium · about 10 minutes*
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
    raise NotImplementedError("your code here")


# %% [markdown]
# The green curve of lesson 01 comes from this function. Let two of five positions be
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


# %% [markdown]
# ![What exercise 1.2 is to show](images/ex_1_2.png)

# %%
check.ex_1_2(kl_to_oracle)

# %%
kl_curve(kl_to_oracle) if check.ex_1_2.solved else "Here your own curve will stand."


# %% [markdown]
# ## 1.3 · Mirror images
#
# *●●○ medium · about 10 minutes*
#
# Half of lesson 01's test success turned out to be mirror images: the test asked 5 + 17 where
# 17 + 5 had been trained on. Which share of the test pairs can be answered like that? A pair
# of two equal numbers has no mirror image but itself.

# %%
def mirror_rate(train_pairs, test_pairs):
    """The share of test pairs whose mirror image is in the train set.

    Args:
        train_pairs: a list of tuples (a, b); no pair of it is in the test set.
        test_pairs: a list of tuples (a, b).

    Returns:
        A number from 0 to 1.
    """
    raise NotImplementedError("your code here")


# %%
check.ex_1_3(mirror_rate)

# %% [markdown]
# Once it is right, this says how large the leak is for the five recorded runs' task; before, it
# does nothing. Does the number remind you of the share of pairs that are trained on?

# %%
if check.ex_1_3.solved:
    import grokkit

    data = grokkit.presets["classroom"].task.build(seed=0)
    pairs = [
        [tuple(row) for row in part.tokens[:, [0, 2]].tolist()] for part in (data.train, data.test)
    ]
    print(f"mirrored: {mirror_rate(*pairs):.2f}")


# %% [markdown]
# ## 1.4 · Which positions matter?
#
# *●●● hard · about 20 minutes*
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
    raise NotImplementedError("your code here")


# %%
check.ex_1_4(informative_positions)
