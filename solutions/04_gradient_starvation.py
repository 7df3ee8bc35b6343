# %% [markdown]
# # 04 · Exercises: gradient starvation
#
# Exercises on [lesson 04](../course/04_gradient_starvation.ipynb): measure with which power of
# the loss a gradient falls, write a loss that float32 does not round to 0, bound the gradient of a
# score, and then starve attention in four different ways. `check.ex_4_1.hint()` gives a hint,
# called again the next one.

# %%
import math

import numpy as np
import torch

from grokkit.classroom import check

# %% [markdown] exercise="ex_4_1" difficulty=1 minutes=10
# ## With which power?
#
# If a gradient goes like the loss to some power, $g = C\,L^{\,r}$, then $\log g$ over $\log L$ is a
# straight line, and $r$ is its slope. Measure it on the records of a run: those with a train
# accuracy of at least 0.99, for the question is about a network that has memorised. Leave out
# records whose gradient was rounded to 0, of which no logarithm can be taken.


# %%
def power_of_loss(loss, gradient, accuracy):
    """The power r in gradient = C * loss^r, after memorising.

    Args:
        loss: the train loss of each record, in nats, an array [record].
        gradient: the largest gradient of a score, [record].
        accuracy: the train accuracy, [record].

    Returns:
        r, the slope of the straight line of least squares through log gradient over
        log loss.
    """
    ### BEGIN SOLUTION
    kept = (accuracy >= 0.99) & (gradient > 0)
    return np.polyfit(np.log(loss[kept]), np.log(gradient[kept]), 1)[0]
    ### END SOLUTION


# %%
check.ex_4_1(power_of_loss)

# %% [markdown]
# Lemma 5.1 has the square root of the loss, a power of 0.5. What has a network? (A small one, sums
# modulo 17, without weight decay, so that its loss may fall as far as it likes.)

# %%
if check.ex_4_1.solved:
    import grokkit

    small = grokkit.presets["live"].with_(p=17, weight_decay=0.0, epochs=200, record_every=5)
    seen = grokkit.train(small, progress=False).isel(run=0)
    measured = [
        seen[name].values for name in ("train_loss", "score_gradient_max", "train_accuracy")
    ]
    print(f"power of the loss: {power_of_loss(*measured):.2f}")

# %% [markdown] tags=["solution"]
# A square root would be a slope of one half. The measured one is nearer to 1 (in the
# figure of lesson 04 the triangles stay near the dashed line). Anything before memorising would spoil the
# answer: there the loss falls and the gradient *rises*.

# %% [markdown] exercise="ex_4_2" difficulty=2 minutes=15
# ## A loss that is exact at both ends
#
# The cross-entropy of a class $y$ is
#
# $$L = \log\bigl(1 + S\bigr), \qquad S = \sum_{c \ne y} e^{z_c - z_y}.$$
#
# Computed in the usual way it is exactly 0 in float32 as soon as the right logit is some 17 ahead,
# and in float64 at 37. The evidence of lesson 04 mends that for one example, and leaves a hole at the
# other end: if a wrong logit is 100 ahead, $e^{100}$ is more than float32 can hold. Write it for many
# examples, exact at both ends.


# %%
def exact_cross_entropy(logits, targets):
    """The cross-entropy of each example in nats, to the last digits, however small or large.

    Args:
        logits: z, a float tensor [example, class].
        targets: y, an int tensor [example].

    Returns:
        L, [example].
    """
    ### BEGIN SOLUTION
    own = targets[:, None]
    ahead = (logits - logits.gather(1, own)).scatter(1, own, -torch.inf)
    log_s = ahead.logsumexp(dim=1)
    return log_s.clamp(min=0) + (-log_s.abs()).exp().log1p()
    ### END SOLUTION


# %%
check.ex_4_2(exact_cross_entropy)

# %% [markdown] tags=["solution"]
# Three steps. Subtract the right logit, and take it out of the sum (its exponential would be the 1
# that drowns everything). `logsumexp` gives $s = \log S$ without overflow. Then
# $\log(1 + e^s) = \max(s, 0) + \log(1 + e^{-|s|})$, where `log1p` never writes the 1 down.
# `torch.nn.functional.softplus(log_s)` does the same.
#
# Float64 alone is no cure: it moves the wall from a margin of 17 to one of 37.

# %% [markdown] exercise="ex_4_3" difficulty=2 minutes=20
# ## The gradient of a score, and its bound
#
# By the chain rule the gradient of a score is
#
# $$\frac{\partial L}{\partial \ell_j} = g \cdot \frac{\partial h}{\partial \ell_j},
#   \qquad g = \frac{\partial L}{\partial h}.$$
#
# 1. Write it as `score_gradient`: derive $\partial h / \partial \ell_j$ from $h = \sum_i \alpha_i v_i$
#    and the softmax.
# 2. Bound its size, for each position, by what does not need $g$: the loss, and the largest singular
#    values of the MLP's two matrices. Take the first factor of lesson 04 as it is there, linear in a small
#    loss: its length is at most $\sqrt2\,(1 - p)$, where $L = -\log p$.


# %%
def score_gradient(attention, values, g):
    """dL/dl_j for every position of one sequence.

    Args:
        attention: alpha, a float tensor [pos].
        values: v, [pos, embed].
        g: dL/dh, [embed].

    Returns:
        The gradient, [pos].
    """
    ### BEGIN SOLUTION
    h = attention @ values
    return attention * ((values - h) @ g)
    ### END SOLUTION


# %%
def linear_bound(loss, attention, values, W_1, W_2):
    """The most that |dL/dl_j| can be, linear in a small loss.

    Args:
        loss: L of this sequence, in nats.
        attention: alpha, a float tensor [pos].
        values: v, [pos, embed].
        W_1: the MLP's first matrix, [embed, hidden].
        W_2: its second matrix, [hidden, class].

    Returns:
        The bound, [pos].
    """
    ### BEGIN SOLUTION
    reach = attention * (values - attention @ values).norm(dim=1)
    passed_on = torch.linalg.matrix_norm(W_1, 2) * torch.linalg.matrix_norm(W_2, 2)
    wrongness = -(2**0.5) * torch.expm1(-torch.as_tensor(loss))
    return reach * passed_on * wrongness
    ### END SOLUTION


# %%
check.ex_4_3(score_gradient, linear_bound)

# %% [markdown] tags=["solution"]
# Softmax has the derivative $\partial \alpha_i / \partial \ell_j = \alpha_i (\mathbb 1_{i=j} - \alpha_j)$.
# Put into $h$: $\alpha_j v_j - \alpha_j \sum_i \alpha_i v_i = \alpha_j (v_j - h)$. Summed over $j$
# it is 0, as it must be: a constant added to all scores changes nothing.
#
# $1 - e^{-L}$ loses its digits for a small $L$, like the loss itself; `expm1` keeps them.

# %% [markdown] exercise="ex_4_4" difficulty=3 minutes=30
# ## Four ways to starve
#
# "The gradient of attention is tiny, so the loss must be small." That is Lemma 5.1 the wrong way round.
# Refute it: the gradient has three factors. Any one of them can make it tiny; and it can be tiny though
# none of them is.
#
# Here is the smallest network there is: three positions, values of two numbers, and a matrix $W$
# for three classes in place of the MLP, $z = h W$; the right class is 0. Give four of them,
# each as a tuple `(scores, values, W)` of tensors [pos 3], [pos 3, embed 2] and [embed 2, class 3], in
# which $|\partial L / \partial \ell_0|$ is below $10^{-4}$. The three factors are
#
# - the error $\|\mathrm{softmax}(z) - \mathrm{onehot}(0)\|$,
# - what is passed on, the largest singular value of $W$,
# - the reach $\alpha_0 \|v_0 - h\|$.
#
# In `no_error`, `no_passing` and `no_reach` the one named is below $10^{-4}$ and the other two are
# above 0.1. In `no_match` all three are above 0.1.


# %%
def starved(network):
    """The gradient of the first score, and its three factors: error, passed on, reach."""
    scores, values, W = (torch.as_tensor(part, dtype=torch.float64) for part in network)
    alpha = scores.softmax(dim=0)
    h = alpha @ values
    error = (h @ W).softmax(dim=0) - torch.tensor([1.0, 0.0, 0.0])
    along = alpha[0] * (values[0] - h)
    passed_on = torch.linalg.matrix_norm(W, 2)
    return (along @ W @ error).item(), error.norm().item(), passed_on.item(), along.norm().item()


# %%
### BEGIN SOLUTION
flat = torch.zeros(3)
steps = torch.tensor([[2.0, 0.0], [1.0, 0.0], [0.0, 0.0]])
first_class = torch.tensor([[1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
no_error = (flat, steps, 20 * first_class)
no_passing = (flat, steps, 0 * first_class)
no_reach = (torch.tensor([-12.0, 0.0, 0.0]), steps, first_class)
no_match = (flat, steps.flip(1), first_class)
### STUB
# no_error = None  # (scores, values, W)
# no_passing = None
# no_reach = None
# no_match = None
### END SOLUTION

# %%
check.ex_4_4(no_error, no_passing, no_reach, no_match)

# %% [markdown] tags=["solution"]
# In the last one more attention on the first position would move $h$ well, but across the only
# direction that $W$ looks at. The product of three sizes is a bound; what counts is whether they
# point the same way.
#
# So a starved attention has four possible causes, and Lemma 5.1 is about the first. The third is a
# trap of its own: where a position has lost its attention, as beside the frozen MLP in the evidence of
# lesson 04, its score gets next to no gradient, however wrong the answers are.

# %% [markdown] exercise="ex_4_5" difficulty=3 minutes=30
# ## How small can an error be?
#
# The linear bound says that the error $\|\mathrm{softmax}(z) - \mathrm{onehot}(y)\|$ is at *most*
# $\sqrt2\,(1 - e^{-L})$. How small can it be, at the same loss $L$ and with $C$ classes? If it could
# be 0, starvation could come with a large loss.
#
# 1. `error_ends`: the least and the most.
# 2. `at_the_ends`: logits that reach them, for class 0 as the right one.


# %%
def error_ends(loss, classes):
    """The least and the largest error at a loss.

    Args:
        loss: L in nats, above 0.
        classes: C, 2 or more.

    Returns:
        Two numbers: least, most.
    """
    ### BEGIN SOLUTION
    wrong = -math.expm1(-loss)
    return wrong * math.sqrt(classes / (classes - 1)), wrong * math.sqrt(2)
    ### END SOLUTION


# %%
def at_the_ends(loss, classes):
    """Logits at which the error is least and largest.

    Args:
        loss: L in nats, above 0.
        classes: C, 2 or more.

    Returns:
        Two tensors [class], of least and of largest error, whose loss for class 0 is L.
    """
    ### BEGIN SOLUTION
    ahead = -math.log(math.expm1(loss))
    spread = torch.zeros(classes, dtype=torch.float64)
    spread[0] = ahead + math.log(classes - 1)
    single = torch.full((classes,), -200.0, dtype=torch.float64)
    single[0], single[1] = ahead, 0.0
    return spread, single
    ### END SOLUTION


# %%
check.ex_4_5(error_ends, at_the_ends)

# %% [markdown] tags=["solution"]
# The right class has the probability $e^{-L}$, so the error has $-(1 - e^{-L})$ there, and the other
# classes share $1 - e^{-L}$. The sum of squares of numbers with a given sum is least if all are
# equal, and largest if one has everything. So the error is linear in $1 - e^{-L}$ at *both* ends,
# and the two are at most $\sqrt2$ apart: the square root of Lemma 5.1 is never reached. The loss is
# small if and only if the error is.
