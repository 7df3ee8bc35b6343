# %% [markdown]
# # 13 · Exercises: three accounts, one network
#
# Exercises on [lesson 13](../course/13_three_accounts.ipynb): when something slow "happens",
# how signals are ranked, whether five seeds agree by more than luck, and how a control tells a
# signal from one that only looks like it. `check.ex_13_1.hint()` gives a hint, called again the next one.

# %%
import itertools
import math

import numpy as np

from grokkit.classroom import check

# %% [markdown] exercise="ex_13_1" difficulty=1 minutes=10
# ## When does it happen?
#
# A signal moves for thousands of epochs. Lesson 13 has one rule for all signals. Take the signal's value
# at the epoch `since` (when the train set was memorised) and its last value; the value half-way between
# them is its *mark*. The signal *arrives* at the first record from which it is at its mark or beyond,
# **and stays there** to the last record. Some signals rise and some fall.


# %%
def half_way(epochs, values, since):
    """The epoch from which on half of a signal's change is done, up to the end.

    Args:
        epochs: of the records, an array [record]; one of them is ``since``.
        values: of the signal, an array [record].
        since: the epoch at which the change begins.

    Returns:
        A number; nan for a signal that ends where it began.
    """
    ### BEGIN SOLUTION
    begin, end = values[epochs == since][0], values[-1]
    if begin == end:
        return np.nan
    share_done = (values - begin) / (end - begin)
    behind = np.flatnonzero(share_done < 0.5)
    return epochs[behind[-1] + 1]
    ### END SOLUTION


# %%
check.ex_13_1(half_way)

# %% [markdown]
# Once it is right: a recorded run of lesson 01, and when attention and the norm were half-way.

# %%
if check.ex_13_1.solved:
    from grokkit import runs
    from grokkit.diagnostics import memorise_epoch

    recording = runs.load("classroom").isel(run=0)
    recording = recording.isel(epoch=recording.train_loss.notnull().values)  # its own records
    known = memorise_epoch(recording).item()
    for variable in ("kl", "mlp_norm", "unmirrored_accuracy"):
        when = half_way(recording.epoch.values, recording[variable].values, known)
        print(f"{variable:20} half-way at {when:,.0f}")

# %% [markdown] tags=["solution"]
# Dividing by the whole change makes rising and falling signals alike: both go from 0 to 1. The last
# record at which *less* than half is done is all that one needs; the next one is the answer.
#
# Two choices are hidden in it. "Half" is one, "up to the end" is the other, and a signal that swings to
# and fro is dated quite differently without it. And there is something that no choice mends: where
# half-way is, is known only when the run is over.

# %% [markdown] exercise="ex_13_2" difficulty=1 minutes=10
# ## Who was first?
#
# Epochs of different seeds cannot be compared: one seed is slow in everything. Ranks can. Each seed
# ranks its signals by their epochs, 1 for the first. Signals at the same epoch share the mean of
# their ranks (two that come first have 1.5 each), and those that never arrive, `nan`, share the last.


# %%
def rank_signals(epochs):
    """The ranks of the signals in each seed.

    Args:
        epochs: an array [seed, signal]; nan where a signal does not arrive.

    Returns:
        An array [seed, signal] of ranks from 1.
    """
    ### BEGIN SOLUTION
    late = np.where(np.isnan(epochs), np.inf, epochs)
    sooner = (late[:, None, :] < late[:, :, None]).sum(axis=2)
    alike = (late[:, None, :] == late[:, :, None]).sum(axis=2)
    return sooner + (alike + 1) / 2
    ### END SOLUTION


# %%
check.ex_13_2(rank_signals)

# %% [markdown] tags=["solution"]
# The rank of a signal is the number of signals that came sooner, plus the mean place among those that
# came with it (itself included). In every seed the ranks add up to the same sum, ties or not:
# that is what the mean is for.
#
# To call what never came "the last" is honest only if the run was long enough for it to come.

# %% [markdown] exercise="ex_13_3" difficulty=3 minutes=30
# ## Do five seeds agree?
#
# With $m$ seeds, $n$ signals, and $R_i$ the sum of the ranks of signal $i$ over the seeds,
#
# $$S = \sum_i \Big(R_i - \frac{m(n+1)}{2}\Big)^2, \qquad W = \frac{12\,S}{m^2 (n^3 - n)}.$$
#
# $W$ is 1 if all seeds have one order. (Without ties, that is; here there are none.)
#
# 1. `agreement`: W.
# 2. `by_luck`: if every seed ordered its signals blindly, all orders being equally likely, how often
#    would W be as large as it is, or larger? Exactly: no random numbers. (In the checks $n$ is at
#    most 4 and $m$ at most 4.)


# %%
def agreement(ranks):
    """Kendall's W.

    Args:
        ranks: an array [seed, signal] of the ranks 1, 2, ... in each seed.

    Returns:
        A number from 0 to 1.
    """
    ### BEGIN SOLUTION
    seeds, signals = ranks.shape
    spread = ((ranks.sum(axis=0) - seeds * (signals + 1) / 2) ** 2).sum()
    return 12 * spread / (seeds**2 * (signals**3 - signals))
    ### END SOLUTION


# %%
def by_luck(ranks):
    """The chance of a W as large or larger if every seed orders its signals blindly.

    Args:
        ranks: an array [seed, signal] of the ranks 1, 2, ... in each seed.

    Returns:
        A number from 0 to 1.
    """
    ### BEGIN SOLUTION
    seen = agreement(ranks)
    every_order = list(itertools.permutations(ranks[0]))
    # Which signal is which does not matter, so the first seed may stay as it is.
    dealt = itertools.product([tuple(ranks[0])], *[every_order] * (len(ranks) - 1))
    return np.mean([agreement(np.array(one)) >= seen - 1e-9 for one in dealt])
    ### END SOLUTION


# %%
check.ex_13_3(agreement, by_luck)

# %% [markdown] tags=["solution"]
# Four seeds of four signals have $24^4 = 331{,}776$ orders; holding the first seed still leaves
# $24^3 = 13{,}824$, each equally likely, and changes no chance. `kendall_w` in
# [`grokkit/diagnostics/order.py`](../grokkit/diagnostics/order.py) goes further: only the
# *sums* of the ranks matter, and sorted sums are few.
#
# The 1e-9 is for sums that are equal and have been rounded differently.
#
# And what does a small chance show? That the seeds share an order. Not that the order means
# anything: five clocks agree, too.

# %% [markdown] exercise="ex_13_4" difficulty=3 minutes=30
# ## A signal that is none
#
# "It is half-way before the unseen pairs are, in every seed: so it predicts the grok." Break it.
#
# 1. `impostor`: a "signal" made from the epochs alone, without a look at any network, that is half-way
#    (by 13.1) *before* the unseen pairs are. In the checks memorising is at epoch 100, and the unseen
#    pairs are half-way some time after 60 % of the epochs.
# 2. `verdict`: test it with a control, a run of the same seed that memorises and never groks. For
#    each seed: how far does the signal go in the run, from its value at `since` to its last? And the
#    control, from *its* value at `since` to its last? The seed says yes if the control goes **less
#    than half** as far in the run's direction (the other way is fine). If four of five seeds say yes
#    the verdict is `"signal"`; if four of five say no it is `"no signal"`; else `"undecided"`.


# %%
def impostor(epochs):
    """A signal that knows nothing of the network.

    Args:
        epochs: of the records, an array [record].

    Returns:
        An array [record].
    """
    ### BEGIN SOLUTION
    return np.log(epochs + 1.0)
    ### END SOLUTION


# %%
def verdict(epochs, runs, controls, since):
    """Whether something is a signal of grokking, by a control.

    Args:
        epochs: of the records, an array [record].
        runs: the signal in runs that grok, an array [seed, record].
        controls: in runs of the same five seeds that do not, an array [seed, record].
        since: the epoch at which all had memorised.

    Returns:
        "signal", "no signal" or "undecided".
    """
    ### BEGIN SOLUTION
    start = np.flatnonzero(epochs == since)[0]
    distance = runs[:, -1] - runs[:, start]
    moved = controls[:, -1] - controls[:, start]
    says_yes = (moved / distance < 0.5).sum()
    return "signal" if says_yes >= 4 else "no signal" if says_yes <= 1 else "undecided"
    ### END SOLUTION


# %%
check.ex_13_4(impostor, verdict)

# %% [markdown] tags=["solution"]
# Any clock will do. It is half-way before most of what happens late, in every seed, with a W of 1.
# Nothing in the *order* of events can tell it from a cause. The control can: there the clock goes on
# just the same, and nobody understands.
#
# A control has its own blind spot. It tells you that the signal is not *only* time, or decay, or whatever
# run and control have in common. It does not tell you that the signal is the cause. For that one
# must take hold of it and move it, as lesson 06 does with attention.

# %% [markdown] exercise="ex_13_5" difficulty=3 minutes=20
# ## How many seeds must agree?
#
# Before an experiment one wants to know how many seeds it takes. $n$ signals; if all is luck every order is
# equally likely in every seed. What is the least number of seeds such that, by luck alone,
#
# 1. `seeds_for_an_order`: *all* seeds show one and the same order, whichever, with a chance of at most
#    `luck`;
# 2. `seeds_for_a_winner`: all seeds have the same signal first, whichever, with a chance of at most
#    `luck`?
#
# The numbers are to be right at the border, too: a chance of exactly `luck` is enough.


# %%
def seeds_for_an_order(n, luck):
    """How many seeds it takes until a common order is no luck.

    Args:
        n: how many signals, 2 or more.
        luck: the most that the chance may be, a fraction above 0 and below 1.

    Returns:
        A whole number of seeds.
    """
    ### BEGIN SOLUTION
    seeds = 1
    while math.factorial(n) ** (seeds - 1) < 1 / luck:
        seeds += 1
    return seeds
    ### END SOLUTION


# %%
def seeds_for_a_winner(n, luck):
    """How many seeds it takes until a common winner is no luck.

    Args:
        n: how many signals, 2 or more.
        luck: the most that the chance may be, a fraction above 0 and below 1.

    Returns:
        A whole number of seeds.
    """
    ### BEGIN SOLUTION
    seeds = 1
    while n ** (seeds - 1) < 1 / luck:
        seeds += 1
    return seeds
    ### END SOLUTION


# %%
check.ex_13_5(seeds_for_an_order, seeds_for_a_winner)

# %% [markdown] tags=["solution"]
# The first seed may show anything: it only says *which* order the others have to have. So the chance is
# $(1/n!)^{m-1}$ and not $(1/n!)^m$, and for a winner $(1/n)^{m-1}$. Whoever names the order, or the winner,
# *before* the first run needs one seed less: that is what a prediction is worth. With seven signals two
# seeds that agree in everything are rare enough; for a common winner it takes three.
