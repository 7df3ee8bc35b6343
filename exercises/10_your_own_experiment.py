# %% [markdown]
# # 10 · Exercises: your own experiment
#
# Four exercises on [lesson 10](../course/10_your_own_experiment.ipynb): what two runs that may have
# been stopped too early say about each other, a verdict from the outcomes of single seeds, an
# experiment with its controls, and what becomes of the rule if one looks too often.
# `check.ex_10_1.hint()` gives a hint, called again the next one.

# %%
import math

from grokkit.classroom import check


# %% [markdown]
# ## 10.1 · Stopped too early
#
# *●○○ easy · about 15 minutes*
#
# Had this run grokked by $f$ times the other one's epoch, $t \le f\,t'$? Easy if both did grok. A run
# that has not by its last epoch is *censored*: its epoch is `nan`, and all that is known is that it
# lies beyond the last one, if it comes at all. Answer `True` or `False` where that is certain, and
# `None` where it is not.

# %%
def came_sooner(mine, my_last, its, its_last, factor):
    """Whether this run came by `factor` times the other's epoch.

    Args:
        mine: this run's epoch; nan if it was censored.
        my_last: this run's last epoch.
        its: the other run's epoch; nan if it was censored.
        its_last: the other run's last epoch.
        factor: f, above 0.

    Returns:
        True, False, or None where it cannot be told.
    """
    raise NotImplementedError("your code here")


# %%
check.ex_10_1(came_sooner)


# %% [markdown]
# ## 10.2 · The verdict
#
# *●●○ medium · about 15 minutes*
#
# A claim has parts, and each part an outcome for every seed: `True`, `False` or `None`. A part holds if
# it holds for four fifths of the seeds, rounded up; it fails if it no longer could, whatever the
# open ones would say. Then the claim is
#
# - `"reproduced"` if every part holds,
# - `"partly"` if some hold and some fail,
# - `"not reproduced"` if some fail and none holds,
# - `"undecided"` if none fails, and not all of them hold.

# %%
def verdict(parts):
    """The verdict on a claim.

    Args:
        parts: one list for each part, of True, False or None for each seed.

    Returns:
        One of the four words above.
    """
    raise NotImplementedError("your code here")


# %%
check.ex_10_2(verdict)

# %% [markdown]
# Judge a claim yourself, by your two functions, on recorded runs: "the prior brings a network to 95 %
# of the unseen by 0.8 of the epochs that it needs without".

# %%
if check.ex_10_1.solved and check.ex_10_2.solved:
    from grokkit import experiments
    from grokkit.diagnostics import grok_epoch

    recorded = experiments.recorded("kl-acceleration")
    if recorded is not None:
        told, alone = (
            recorded.isel(run=(recorded.arm == name).values) for name in ("KL 1", "baseline")
        )
        outcomes = [
            came_sooner(*row, 0.8)
            for row in zip(
                grok_epoch(told, 0.95).values.tolist(),
                told.ended.values.tolist(),
                grok_epoch(alone, 0.95).values.tolist(),
                alone.ended.values.tolist(),
                strict=True,
            )
        ]
        print(outcomes, verdict([outcomes]))


# %% [markdown]
# ## 10.3 · An experiment with its controls
#
# *●●○ medium · about 15 minutes*
#
# "The KL prior helps by what it says, and not because its gradient is alive." Write the experiment:
# four arms, each with the same seeds.
#
# | arm | prior | what stands in for its gradient |
# | --- | --- | --- |
# | `"baseline"` | KL to the oracle, at a strength of 0: that is none | - |
# | `"prior"` | KL to the oracle, at the given strength | `penalty_gradient="true"` |
# | `"noise"` | the same | `penalty_gradient="noise"` |
# | `"shuffled"` | the same | `penalty_gradient="shuffled"` |
#
# Everything else is as in `base`, whatever that is. (The settings are `prior`, `kl_strength`,
# `penalty_gradient` and `seed`.)

# %%
def experiment(base, strength, seeds):
    """The specs of an experiment.

    Args:
        base: a RunSpec, with the prior "kl" at some strength.
        strength: beta of the arms with a prior.
        seeds: a list of seeds.

    Returns:
        By the name of the arm a list of RunSpecs, one for each seed, in their order.
    """
    raise NotImplementedError("your code here")


# %%
check.ex_10_3(experiment)

# %% [markdown]
# What there would be to run (`sweep(specs, "my_runs")` from `grokkit.runtime` runs such a list, and
# goes on where it was stopped; these take a few minutes):

# %%
if check.ex_10_3.solved:
    import grokkit

    for name, specs in experiment(grokkit.presets["live"], 1.0, list(range(5))).items():
        print(f"{name}: {len(specs)} runs")


# %% [markdown]
# ## 10.4 · Break the rule: just one more seed
#
# *●●● hard · about 25 minutes*
#
# By luck alone, the rule of four fifths finds something in nothing in nearly one case of five with
# five seeds, and in about one of twenty with ten. So ten seeds are safer. Here is a plan that
# saves time: *run five. If the claim holds, good. If not, run another five, and look again at all
# ten.* Is it as safe as ten? And what if one looks after every single seed, from the first one on?
#
# Write the chance that the rule says yes at *some* look, if each seed says yes with a given chance:
# the exact one, no simulation. ($n$ seeds say yes $y$ times with a chance of
# $\binom{n}{y} s^y (1 - s)^{n - y}$, and there is a way that needs no binomial.)

# %%
def chance_of_a_yes(looks, share):
    """How often a claim holds at one look at least.

    Args:
        looks: the numbers of seeds at which one looks, an ascending list: [5, 10].
        share: the chance that a seed says yes, each seed by itself.

    Returns:
        A number from 0 to 1.
    """
    raise NotImplementedError("your code here")


# %%
check.ex_10_4(chance_of_a_yes)

# %%
if check.ex_10_4.solved:
    for name, looks in {
        "at 5": [5],
        "at 10": [10],
        "at 5, then at 10": [5, 10],
        "at every seed from 5 to 20": list(range(5, 21)),
        "at every seed from 1 to 20": list(range(1, 21)),
    }.items():
        luck, power = chance_of_a_yes(looks, 0.5), chance_of_a_yes(looks, 0.8)
        print(f"{name:27} by luck {luck:.2f}; an effect in 8 of 10 seeds {power:.2f}")
