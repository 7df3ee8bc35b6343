# %% [markdown]
# # 14 · Exercises: random targets
#
# Three exercises on [lesson 14](../course/14_random_targets.ipynb): a fair score of a law, the
# likelihood that trains one, and a law that four moments do not tell from a normal one.
# `check.ex_14_1.hint()` gives a hint, called again the next one.

# %%
import numpy as np
import torch

from grokkit.classroom import check

# %% [markdown] exercise="ex_14_1" difficulty=1 minutes=10
# ## A fair score
#
# The CRPS of a law at the value $y$ that occurred is
#
# $$\mathbb{E}|X - y| - \tfrac12\,\mathbb{E}|X - X'|,$$
#
# where $X$ and $X'$ are *independent* draws. You are given $n$ draws. Estimate it without bias: the
# second mean is over all pairs of two *different* draws.


# %%
def fair_crps(draws, y):
    """The CRPS of a law at a value, from draws of the law.

    Args:
        draws: a tensor [draw] of two draws or more.
        y: the value that occurred, a number.

    Returns:
        A number.
    """
    ### BEGIN SOLUTION
    n = len(draws)
    pairs = (draws[:, None] - draws).abs().sum() / (n * (n - 1))
    return (draws - y).abs().mean() - pairs / 2
    ### END SOLUTION


# %%
check.ex_14_1(fair_crps)

# %% [markdown] tags=["solution"]
# A draw and itself are 0 apart. With them among the pairs the second mean is too small by the factor
# $(n - 1)/n$, and a law with few draws scores worse than the same law with many. An ensemble of four
# would be punished for being small.

# %% [markdown] exercise="ex_14_2" difficulty=2 minutes=20
# ## A likelihood without the large matrix
#
# The law of lesson 14 has the covariance $C = B^\top B + d\,I$ with $r$ factors on $n$ places. With
# $y = u - m$, and $K = I + BB^\top/d$, an $r \times r$ matrix,
#
# $$\log\det C = \log\det K + n \log d, \qquad
#   y^\top C^{-1} y = \frac{y^\top y}{d} - w^\top K^{-1} w, \quad w = B y / d .$$
#
# Write the log-density of $u$ in nats, all constants included. No $n \times n$ matrix, please: $n$ may be
# a million.


# %%
def log_density(rest, factor, nugget):
    """The log-density of a field under a Gaussian law of low rank.

    Args:
        rest: u - m, a tensor [place].
        factor: B, a tensor [factor, place].
        nugget: d, a number above 0.

    Returns:
        A number.
    """
    ### BEGIN SOLUTION
    r, n = factor.shape
    inner = torch.eye(r, dtype=rest.dtype) + factor @ factor.T / nugget
    w = factor @ rest / nugget
    squares = rest @ rest / nugget - w @ torch.linalg.solve(inner, w)
    log_det = torch.logdet(inner) + n * np.log(nugget)
    return -(squares + log_det + n * np.log(2 * np.pi)) / 2
    ### END SOLUTION


# %%
check.ex_14_2(log_density)

# %% [markdown] tags=["solution"]
# Both lines say the same thing twice: what happens outside the $r$ directions of the factors is plain
# noise of variance $d$, and what happens inside is a small problem. This is why one pass of a network
# can answer with a whole law on any grid.

# %% [markdown] exercise="ex_14_3" difficulty=3 minutes=20
# ## Four moments, and not the law
#
# A network that answers with a mean and a covariance cannot see two peaks. Would two more moments
# help? Give `impostor`, 10 to 10,000 numbers that have the first four moments of the standard normal
# law,
#
# $$\overline{x} = 0, \quad \overline{x^2} = 1, \quad \overline{x^3} = 0, \quad \overline{x^4} = 3$$
#
# (the first three to 0.01, the fourth to 0.1), and of which *none* lies between -0.75 and 0.75, where
# the normal law has more than half of its mass.

# %%
### BEGIN SOLUTION
rare = 0.06  # the share of the outer values; their squares are to have mean 1 and variance 2
outer = (1 + (2 * (1 - rare) / rare) ** 0.5) ** 0.5
inside = (1 - (2 * rare / (1 - rare)) ** 0.5) ** 0.5
impostor = np.repeat([inside, -inside, outer, -outer], [470, 470, 30, 30])
### END SOLUTION

# %%
check.ex_14_3(impostor)

# %% [markdown] tags=["solution"]
# By symmetry the odd moments are 0. What is left is a law of $x^2$ with mean 1 and mean square 3, that
# is, with variance 2: two values will do, one slightly below 1 and often, one far above 1 and seldom.
# A few far values pay for the empty middle. Moments tell of tails; the *shape* is told by a score that
# looks at all of the law, such as the CRPS.
