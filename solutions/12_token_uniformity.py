# %% [markdown]
# # 12 · Exercises: token uniformity
#
# Exercises on [lesson 12](../course/12_token_uniformity.ipynb): the measure and the form of it
# that is free of size, the pairs in a hole that are half-answered, two embeddings that turn MED
# into a lie, and a small study of how much a fair null is worth. `check.ex_12_1.hint()` gives a
# hint, called again the next one.

# %%
import math

import torch

from grokkit.classroom import check

# %% [markdown] exercise="ex_12_1" difficulty=1 minutes=10
# ## Free of size
#
# MED is the mean distance of neighbours, the last of whom is followed by the first. Neighbours
# need not be $i$ and $i + 1$: on a circle that is gone round $k$ times they are $i$ and $i + s$.
#
# - `med`: $\frac1n \sum_i \lVert \phi(i + s) - \phi(i) \rVert$, places taken modulo $n$.
# - `relative_med`: the same over the mean distance of all pairs of *different* places.
#
# Before you write: what is the relative MED of an embedding that is twice as large? And the mean of
# it over all steps $s = 1, \dots, n - 1$?


# %%
def med(walk, step):
    """The mean distance of neighbours.

    Args:
        walk: embeddings in the order in which they are walked, a float tensor [place, embed].
        step: s; the neighbour of place i is place i + s, modulo the number of places.

    Returns:
        A number.
    """
    ### BEGIN SOLUTION
    ahead = walk.roll(-step, dims=0) - walk
    return ahead.norm(dim=1).mean()
    ### END SOLUTION


# %%
def relative_med(walk, step):
    """MED over the mean distance of all pairs of different places.

    Args:
        walk: as before, [place, embed].
        step: as before.

    Returns:
        A number.
    """
    ### BEGIN SOLUTION
    n = len(walk)
    apart = (walk[:, None] - walk).norm(dim=2)
    return med(walk, step) * n * (n - 1) / apart.sum()
    ### END SOLUTION


# %%
check.ex_12_1(med, relative_med)

# %% [markdown] tags=["solution"]
# Twice as large changes nothing: both distances double. And over all steps the mean is exactly 1,
# for every pair of places is a neighbour at one of them. That makes 1 the number to compare with:
# an order that means nothing has 1, give or take chance. How much chance gives is the fourth
# exercise.

# %% [markdown] exercise="ex_12_2" difficulty=1 minutes=10
# ## Half-answered
#
# Where $f(i, j) = f(j, i)$, an unseen pair whose mirror image $(j, i)$ was trained on is
# half-answered. Inside a hole nothing is trained on. But where are the mirror images?
#
# - `half_answered`: which pairs of a hole have a mirror image among the train pairs.
# - `never_half_answered`: how many pairs of a hole cannot have one, whichever pairs are trained on.
#   A square is $i, j \le e$, a strip is $i \le e$.


# %%
def half_answered(hole, train):
    """Which pairs have a mirror image that is trained on.

    Args:
        hole: pairs of numbers, an integer tensor [pair, 2].
        train: the pairs that are trained on, [pair, 2].

    Returns:
        A bool for every pair of the hole.
    """
    ### BEGIN SOLUTION
    known = {(int(i), int(j)) for i, j in train}
    return torch.tensor([(int(j), int(i)) in known for i, j in hole])
    ### END SOLUTION


# %%
def never_half_answered(p, kind, edge):
    """How many pairs of a hole have no mirror image outside it.

    Args:
        p: the table has p x p pairs, of the numbers 0..p-1.
        kind: "square" or "strip".
        edge: e, the last number inside.

    Returns:
        A whole number.
    """
    ### BEGIN SOLUTION
    inside = {
        (i, j) for i in range(p) for j in range(p) if i <= edge and (kind == "strip" or j <= edge)
    }
    return sum((j, i) in inside for i, j in inside)
    ### END SOLUTION


# %%
check.ex_12_2(half_answered, never_half_answered)

# %% [markdown] tags=["solution"]
# The square is its own mirror image: $(e + 1)^2$ pairs, and none of them is half-answered. Of the
# strip only the corner is, and it is that same square. So the *hard* part of a strip is as large as
# the square with the same edge, and all the rest of it is as good as in the training set, as
# far as its mirror images are.
#
# Whoever reports one accuracy for a strip has mixed the two.

# %% [markdown] exercise="ex_12_3" difficulty=2 minutes=20
# ## Two embeddings that lie
#
# "MED is low, so the embedding is uniform; MED is high, so it is not." Break both halves.
#
# - `low_and_meaningless`: an embedding whose MED (step 1) is at most as large as one likes, and in
#   which *no* step is better than another: relative MED at least 0.8 at every step.
# - `even_and_high`: a perfect circle, evenly spaced, each number on a place of its own, whose relative
#   MED at step 1 is above 1.4: its numbers look *further* from their neighbours than from anybody
#   else.


# %%
def low_and_meaningless(p, at_most):
    """An embedding without structure, with a low MED.

    Args:
        p: how many numbers, a prime from 7 up.
        at_most: the MED at step 1 that it may have, above 0.

    Returns:
        A float tensor [number, embed], no two rows alike; you choose the width, up to 512.
    """
    ### BEGIN SOLUTION
    random = torch.Generator().manual_seed(0)
    embedding = torch.randn(p, 512, generator=random, dtype=torch.float64)
    largest = torch.cdist(embedding, embedding).max()
    return embedding * (0.9 * at_most / largest)
    ### END SOLUTION


# %%
def even_and_high(p):
    """A circle whose relative MED at step 1 is above 1.4.

    Args:
        p: how many numbers, a prime from 11 up.

    Returns:
        A float tensor [number, 2], every row at distance 1 from 0.
    """
    ### BEGIN SOLUTION
    angle = 2 * math.pi * (p // 2) / p * torch.arange(p, dtype=torch.float64)
    return torch.stack([angle.cos(), angle.sin()], dim=1)
    ### END SOLUTION


# %%
check.ex_12_3(low_and_meaningless, even_and_high)

# %% [markdown] tags=["solution"]
# 1\. Any random embedding, made small. In many dimensions random points are all about equally far from
# each other, so every step has a relative MED near 1. (The corners of a simplex, `torch.eye(p)` made
# small, are the extreme: all distances equal, every step at exactly 1.)
#
# 2\. Frequency $p // 2$: each step goes nearly half-way round. MED is $2 \sin(\pi k / p) \approx 2$,
# the diameter, and two of many points of a circle are $4/\pi$ apart on average: together
# $\pi / 2 = 1.57$. No order is further from "neighbours are near", and yet the numbers lie as evenly as numbers can. The best
# step sees it: at $s = k^{-1}$ modulo $p$ the relative MED is $2 \sin(\pi/p)$ over the same
# $4/\pi$.

# %% [markdown] exercise="ex_12_4" difficulty=3 minutes=40
# ## A small study: what a null must pay for
#
# The best of many steps is low by chance, too: whoever looks at 23 orders and reports the lowest has
# to compare it with the lowest of 23 shuffled ones. How much does it matter? Build the instruments,
# then look at recorded embeddings.
#
# 1. `log_walk`: the numbers $1, g, g^2, \dots$ modulo $p$, with $g$ the least number whose powers
#    are all of $1..p-1$. In this order multiplying by $g$ is one step.
# 2. `best`: the least relative MED over all steps $s$ from 1 to $n // 2$ that visit every place, that
#    is, have no factor in common with $n$.
# 3. `fair_null`: the least of `best` over given shuffled orders.


# %%
def log_walk(p):
    """The numbers in the order of their discrete logarithm.

    Args:
        p: a prime, 3 or more.

    Returns:
        A list of the p - 1 numbers 1, g, g^2, ... modulo p.
    """
    ### BEGIN SOLUTION
    for g in range(2, p):
        powers = [pow(g, e, p) for e in range(p - 1)]
        if len(set(powers)) == p - 1:
            return powers
    ### END SOLUTION


# %%
def best(walk):
    """The least relative MED over all steps that visit every place.

    Args:
        walk: embeddings in the order in which they are walked, a float tensor [place, embed].

    Returns:
        A number.
    """
    ### BEGIN SOLUTION
    n = len(walk)
    return min(relative_med(walk, s) for s in range(1, n // 2 + 1) if math.gcd(s, n) == 1)
    ### END SOLUTION


# %%
def fair_null(walk, orders):
    """The least that the best step gives in shuffled orders.

    Args:
        walk: as before, [place, embed].
        orders: permutations of the places, an integer tensor [order, place].

    Returns:
        A number.
    """
    ### BEGIN SOLUTION
    return min(best(walk[order]) for order in orders)
    ### END SOLUTION


# %%
check.ex_12_4(log_walk, best, fair_null)

# %% [markdown]
# Two recorded runs: $x + y$ and $xy$ modulo 47. Each is walked in both orders, at its first and its last
# epoch, and held against two nulls of 20 shuffled orders: the fair one, and one that looks at step 1
# alone. *Where will the two nulls disagree? Write it down first.*

# %%
if check.ex_12_1.solved and check.ex_12_4.solved:
    from grokkit.runs import embedding_paths

    dice = torch.Generator().manual_seed(47)
    walks = {"natural": list(range(47)), "logarithm": log_walk(47)}
    for name in ("sum", "product"):
        path = embedding_paths.load(name)
        for at in (0, -1):
            for order, tokens in walks.items():
                walk = path.table[at, tokens].double()
                shuffled = torch.stack(
                    [torch.randperm(len(walk), generator=dice) for _ in range(20)]
                )
                cheap = min(relative_med(walk[one], 1) for one in shuffled)
                lowest, fair = best(walk), fair_null(walk, shuffled)
                verdicts = [
                    "even" if lowest < null else "no more than chance" for null in (fair, cheap)
                ]
                print(
                    f"{name:7} epoch {path.epochs[at]:>5,} {order:9}: best {lowest:.2f}, "
                    f"fair null {fair:.2f} ({verdicts[0]}), cheap null {cheap:.2f} ({verdicts[1]})"
                )

# %% [markdown] tags=["solution"]
# The two orders part as the theory says: numbers that are added lie evenly in the natural order, numbers
# that are multiplied in that of the logarithm. Look for the lines in which the nulls disagree: there
# an embedding that is no more even than chance is called even, because somebody chose the best of
# many and compared it with one that had no choice.
#
# A null has to do *everything* that was done to the thing itself, the choosing as well.

# %% [markdown] exercise="ex_12_5" difficulty=3 minutes=25
# ## Everybody nearer, nobody a neighbour
#
# "MED fell all through the training, so the embedding became more uniform." Refute it as sharply as one
# can: given an embedding, write a later one in which *every* two numbers are nearer to each other than
# before (so MED falls at every step), and in which no order is left: the relative MED is 1 at every
# step, to within a hundredth.


# %%
def nearer_without_order(embedding):
    """An embedding that is nearer in every pair, and has no order.

    Args:
        embedding: a float tensor [number, embed], no two rows alike.

    Returns:
        A float tensor [number, embed]; you choose the width.
    """
    ### BEGIN SOLUTION
    away = torch.pdist(embedding.double()).min()
    return 0.5 * away * torch.eye(len(embedding), dtype=torch.float64)
    ### END SOLUTION


# %%
check.ex_12_5(nearer_without_order)

# %% [markdown] tags=["solution"]
# Let all distances be equal, and below the least that there was: the corners of a simplex. Weight decay
# does a part of this by itself: everything comes nearer. So the fall of MED over a training shows
# that something shrinks. Whether an order appears is told by the relative MED, against its null.
