# %% [markdown]
# # 10 · Exercises: your own experiment
#
# Exercises on [lesson 10](../course/10_your_own_experiment.ipynb): what two runs that may have
# been stopped too early say about each other, a verdict from the outcomes of single seeds, an
# experiment with its controls, and what becomes of the rule if one looks too often.
# `check.ex_10_1.hint()` gives a hint, called again the next one.

# %%
import math

from grokkit.classroom import check

# %% [markdown] exercise="ex_10_1" difficulty=1 minutes=15
# ## Stopped too early
#
# Had this run grokked by $f$ times the other one's epoch, $t \le f\,t'$? Easy if both did grok. A run
# that has not by its last epoch is *censored*: its epoch is `nan`, and all that is known is that it
# lies beyond the last one, if it comes at all. Answer `True` or `False` (NumPy's will do, 1 and 0
# will not) where that is certain, and `None` where it is not.


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
    ### BEGIN SOLUTION
    if math.isnan(mine) and math.isnan(its):
        return None
    if math.isnan(its):
        return True if mine <= factor * its_last else None
    if math.isnan(mine):
        return False if my_last >= factor * its else None
    return mine <= factor * its
    ### END SOLUTION


# %%
check.ex_10_1(came_sooner)

# %% [markdown] tags=["solution"]
# A censored run is a bound, and a bound can decide in one direction only. If the other one is
# censored, a yes may be certain and a no never; if this one is, it is the other way round. To drop such
# runs would be to leave out the slowest; to count them at their last epoch would invent a number.

# %% [markdown] exercise="ex_10_2" difficulty=2 minutes=15
# ## The verdict
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
    ### BEGIN SOLUTION
    holds, fails = 0, 0
    for outcomes in parts:
        needed = math.ceil(4 / 5 * len(outcomes))
        yes, unknown = outcomes.count(True), outcomes.count(None)
        holds += yes >= needed
        fails += yes + unknown < needed
    if holds == len(parts):
        return "reproduced"
    if fails:
        return "partly" if holds else "not reproduced"
    return "undecided"
    ### END SOLUTION


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

# %% [markdown] tags=["solution"]
# The two counts do it all: what holds now, and what could still hold. "Undecided" is what is left, and
# it is no polite word for "no": more epochs might turn it into either.

# %% [markdown] exercise="ex_10_3" difficulty=2 minutes=15
# ## An experiment with its controls
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
    ### BEGIN SOLUTION
    told = base.with_(prior="kl", kl_strength=strength, penalty_gradient="true")
    arms = {
        "baseline": told.with_(kl_strength=0.0),
        "prior": told,
        "noise": told.with_(penalty_gradient="noise"),
        "shuffled": told.with_(penalty_gradient="shuffled"),
    }
    return {name: [spec.with_(seed=seed) for seed in seeds] for name, spec in arms.items()}
    ### END SOLUTION


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

# %% [markdown] tags=["solution"]
# The controls have the prior at its full strength: what stands in for its gradient takes its size from
# there. A control of strength 0 would be a second baseline, and it would "prove" whatever one likes.
# And all arms have the same seeds: each seed is a pair of runs with the same data and the same
# initial weights, which differ in one thing.

# %% [markdown] exercise="ex_10_4" difficulty=3 minutes=25
# ## Break the rule: just one more seed
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
    ### BEGIN SOLUTION
    stopped, going = 0.0, {0: 1.0}  # the chance of every number of yes so far
    for n in range(1, looks[-1] + 1):
        after = {}
        for yes, chance in going.items():
            after[yes + 1] = after.get(yes + 1, 0.0) + chance * share
            after[yes] = after.get(yes, 0.0) + chance * (1 - share)
        enough = math.ceil(4 / 5 * n) if n in looks else math.inf
        stopped += sum(chance for yes, chance in after.items() if yes >= enough)
        going = {yes: chance for yes, chance in after.items() if yes < enough}
    return stopped
    ### END SOLUTION


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

# %% [markdown] tags=["solution"]
# The plan is no safer than five seeds alone, and even a little worse: the first look takes all the
# luck that five seeds have, and whoever stops there never gets to the ten that would have caught
# it. What ten seeds protect from, they protect only those who do not look before. Whoever looks
# from the first seed on is lost at once: one yes of one is four fifths.
#
# The plan is not forbidden. It finds more of what is there, too. It has a price, and now you can
# say which, *before* you begin: that is what a seal is for. (An effect size is the better
# protection, as lesson 10 has shown.)

# %% [markdown] exercise="ex_10_5" difficulty=3 minutes=35
# ## Looking early without paying for it
#
# Exercise 10.4 showed what it costs to look early under the rule of four fifths. Make a rule that may
# look early and keeps its word: choose for every look how many yes are needed, before the first run,
# such that
#
# - by luck (every seed says yes with 1/2) the claim holds at *some* look with a chance of at most
#   `luck`,
# - an effect in nine of ten seeds is found, at some look, with a chance of at least 0.8,
# - and such an effect is found *before the last look* with a chance of at least 0.5.


# %%
def needed_at(looks, luck):
    """How many yes are needed at each look.

    Args:
        looks: the numbers of seeds at which one looks, an ascending list.
        luck: the most that the chance of a yes by luck may be.

    Returns:
        A list of whole numbers, one for each look. A number above that of the seeds: no look.
    """
    ### BEGIN SOLUTION
    spent, chances, needed = 0.0, {0: 1.0}, []
    for n in range(1, looks[-1] + 1):
        tossed = {}
        for yes, chance in chances.items():
            for more in (0, 1):
                tossed[yes + more] = tossed.get(yes + more, 0.0) + chance / 2
        chances = tossed
        if n in looks:
            border = n + 1
            while border > 0 and spent + chances.get(border - 1, 0.0) <= luck:
                border -= 1
                spent += chances.pop(border, 0.0)
            needed.append(border)
    return needed
    ### END SOLUTION


# %%
check.ex_10_5(needed_at)

# %% [markdown] tags=["solution"]
# There is a budget of luck, and every look spends some of it. Go through the seeds as in 10.4, and at each
# look lower the border as far as the budget allows; whoever has said yes is out, and does not
# spend twice. To spend all that one can at the first look is only one way (medicine has others, with
# names: Pocock's, O'Brien and Fleming's); all that matters is that the plan was made *before*.
