# %% [markdown]
# # 13 · Exercises: three accounts, one network
#
# Four exercises on [lesson 13](../course/13_three_accounts.ipynb): when something slow "happens",
# how signals are ranked, whether five seeds agree by more than luck, and how a control unmasks a
# signal that is none. `check.ex_13_1.hint()` gives a hint, called again the next one.

# %%
import itertools

import numpy as np

from grokkit.classroom import check


# %% [markdown]
# ## 13.1 · When does it happen?
#
# *●○○ easy · about 10 minutes*
#
# A signal moves for thousands of epochs. Lesson 13 dates it by one rule. Its *way* goes from its value
# at the epoch `since` (when the train set was memorised) to its last value; its *mark* is half-way.
# It *arrives* at the first record from which it is at its mark or beyond, **and stays there** to the
# last record. Some signals rise and some fall.

# %%
def half_way(epochs, values, since):
    """The epoch at which a signal has gone half of its way, for good.

    Args:
        epochs: of the records, an array [record]; one of them is ``since``.
        values: of the signal, an array [record].
        since: the epoch at which the way begins.

    Returns:
        A number; nan for a signal that ends where it began.
    """
    raise NotImplementedError("your code here")


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


# %% [markdown]
# ## 13.2 · Who was first?
#
# *●○○ easy · about 10 minutes*
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
    raise NotImplementedError("your code here")


# %%
check.ex_13_2(rank_signals)


# %% [markdown]
# ## 13.3 · Do five seeds agree?
#
# *●●● hard · about 30 minutes*
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
    raise NotImplementedError("your code here")


# %%
def by_luck(ranks):
    """The chance of a W as large or larger if every seed orders its signals blindly.

    Args:
        ranks: an array [seed, signal] of the ranks 1, 2, ... in each seed.

    Returns:
        A number from 0 to 1.
    """
    raise NotImplementedError("your code here")


# %%
check.ex_13_3(agreement, by_luck)


# %% [markdown]
# ## 13.4 · A signal that is none
#
# *●●● hard · about 30 minutes*
#
# "It is half-way before the unseen pairs are, in every seed: so it predicts the grok." Break it.
#
# 1. `impostor`: a "signal" made from the epochs alone, without a look at any network, that is half-way
#    (by 13.1) *before* the unseen pairs are. In the checks memorising is at epoch 100, and the unseen
#    pairs are half-way some time after 60 % of the epochs.
# 2. `verdict`: unmask it with a control, a run of the same seed that memorises and never groks. For
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
    raise NotImplementedError("your code here")


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
    raise NotImplementedError("your code here")


# %%
check.ex_13_4(impostor, verdict)
