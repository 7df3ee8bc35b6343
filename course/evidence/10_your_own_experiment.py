# %% [markdown]
# # Evidence 10 · Your own experiment
#
# What stands behind [lesson 10](../10_your_own_experiment.ipynb): the rule for verdicts against the package's own, what luck finds without an effect
# size, what five seeds miss, and sweeps that survive an interruption.
#
# *You need lesson 10. The code takes {{time 10}} of one core. Results stand open below.*

# %%
import itertools
import math
import tempfile
from pathlib import Path

import numpy as np

import grokkit
from grokkit import experiments, runs, viz
from grokkit.diagnostics import grok_epoch
from grokkit.engine import grid
from grokkit.experiments import Part
from grokkit.runtime import sweep

# %% [markdown]
# ## 1. The rule, and how often it is wrong
#
# Each claim has *parts*, and each part is asked of every seed: the run with the change against
# the run of the same seed without it. In words: *a part holds if it holds for four seeds of five;
# it fails if it no longer could; a seed of which neither run had arrived by its last epoch says
# nothing.* In symbols, with $y$ seeds that say yes and $u$ that say nothing, of $n$:
#
# $$\text{holds} \iff y \ge \lceil \tfrac45 n \rceil, \qquad
#   \text{fails} \iff y + u < \lceil \tfrac45 n \rceil .$$


# %%
def holds(outcomes):
    """True, False, or None for undecided; from one True, False or None for each seed."""
    yes, open_ = outcomes.count(True), outcomes.count(None)
    needed = math.ceil(4 / 5 * len(outcomes))
    if yes >= needed:
        return True
    return False if yes + open_ < needed else None


every = list(itertools.product([True, False, None], repeat=5))
same = sum(holds(one) == Part("", one, "").holds for one in every)
print(f"the package's own rule agrees in {same} of {len(every)} cases")

# %% [markdown]
# Four of five sounds strict. Is it? Suppose that two settings do not differ at all.

# %%
luck = np.mean([bool(holds(one)) for one in itertools.product([True, False], repeat=5)])

# %% [markdown]
# Nearly one in five! Ask twenty such questions about nothing, and four will be "reproduced". So a
# direction is not enough: this is what the **effect size** is for. We can see it at work on real
# runs. Take the five recorded seeds of lesson 01, and let them compete *against each other*: draw
# five of them for one side, five for the other, all from the same setting, and ask whether the
# first side is sooner by a factor. It is called an A/A test: whatever it finds is luck.


# %%
def found_by_luck(epochs, factor, draws=20_000):
    """How often 4 of 5 runs come by ``factor`` times the epoch of 5 others of the same kind."""
    random = np.random.default_rng(0)
    one, other = random.choice(epochs, (2, draws, 5))
    random_tie = random.random((draws, 5)) < 0.5  # the same run on both sides: a coin
    outcomes = np.where(one == other, random_tie & (factor == 1), one <= factor * other)
    return float((outcomes.sum(axis=1) >= 4).mean())


epochs = grok_epoch(runs.load("classroom"), 0.95).values
factors = np.array([1, 0.99, 0.97, 0.95, 0.93, 0.9, 0.85, 0.8, 0.7])
false_alarms = [found_by_luck(epochs, factor) for factor in factors]
viz.lines(
    [viz.Line(factors, false_alarms, "", "test", {"marker": "o", "markevery": 1})],
    title="An effect size protects against luck",
    below="both sides drawn from the same five recorded runs: every yes is a false one",
    x="asked for: sooner by this factor",
    y="share of false yeses",
    ylim=(0, None),
    height=3.4,
)

# %%
for factor in (1, 0.95, 0.8):
    print(f"sooner by a factor of {factor}: {found_by_luck(epochs, factor):.1g} of all draws")

# %% [markdown]
# With a factor of 0.8, which most claims of this course use, luck has hardly a chance, as long as
# seeds are as alike as these five. Where seeds scatter more it has. When you choose your factor,
# think of the scatter you have seen.
#
# ## 2. A list of runs, and a sweep that survives
#
# A row makes its own list of runs. You can make one by hand, too: `grid` makes every combination of some settings.
# `sweep` trains such a list into a folder, each run a file of its own. What is there already is read and not trained
# again.

# %% tags=["nbval-ignore-output"]
base = grokkit.presets["live"].with_(p=23, epochs=40, record_every=20)
specs = grid(base, length=[5, 8], seed=range(2))
with tempfile.TemporaryDirectory() as folder:
    first = sweep(specs[:2], folder, workers=1, progress=False)
    print(f"{first.sizes['run']} runs are there")
    everything = sweep(specs, folder, workers=1, progress=False)
    print(f"{everything.sizes['run']} runs are there, {len(list(Path(folder).glob('*.nc')))} files")

# %% [markdown]
# ## 3. What code can check of a claim
#
# That a claim was sealed before its runs no code can see. Some other things it can:


# %%
def ready(row):
    """What a sealed experiment still lacks, by what can be checked without running it."""
    arms = row.arms()
    lacks = []
    if len(arms) < 2:
        lacks.append("a second arm to compare with")
    if any(len(specs) < 5 for specs in arms.values()):
        lacks.append("five seeds in every arm")
    if len(row.claims) < 2:
        lacks.append("a control: a claim that could speak against the first")
    for claim in row.claims:
        if not any(word in claim.says for word in ("at least", "within", "by a", "at most", "%")):
            lacks.append(f"an effect size in the words of {claim.id}")
    for one, other in itertools.combinations(arms, 2):
        if arms[one][0].settings() == arms[other][0].settings():
            lacks.append(f"a difference between {one} and {other}")
    return lacks


for name in ("kl-acceleration", "headlines", "tickets"):
    print(f"{name}: " + ("; ".join(ready(experiments.row(name))) or "nothing that code can see"))

# %% [markdown]
# The first row was written early in this course, and its sentences name no size: "shortens the wait". The row
# `headlines` asks the same again on fresh seeds, with the size in the sentence.
# (The check knows a few phrases only, and "to a factor of two" is not among them.)
#
# ## 4. Where this is weak
#
# - Five seeds are few. How often does the rule of section 1 find an effect that is really there, but
#   not in every seed?

# %%
for share in (0.9, 0.8, 0.7):
    found = sum(math.comb(5, yes) * share**yes * (1 - share) ** (5 - yes) for yes in (4, 5))
    print(f"there in {share:.0%} of all seeds: found by {found:.0%} of all experiments")

# %% [markdown]
# - "Undecided" and "not reproduced" are not the same, and neither says that there is no effect.
# - A seal keeps you from changing the claim. It does not keep you from running ten and showing one.
#   Only you can do that.
# - A rule that you found *by looking* fits the seeds that you looked at. Test it: make it a
#   claim of `dataclasses.replace(my_row, name="again", seeds=(5, 6, 7, 8, 9), claims=...)`, and then run
#   that. Lesson 13 does so with six rules of ours.
#
# **A common misconception.** "A null result is a failed experiment." An experiment fails when
# nothing that came out could have changed anybody's mind.
#
# ## Sources
#
# - *Grokking as Structural Inference: Transformers Need Bayesian Lottery Tickets*,
#   arXiv 2605.15787: the claims that were tested in this course.
# - B. Nosek et al., *The preregistration revolution*, PNAS 115 (2018): why to seal a claim.
# - Code: [`grokkit/experiments/claims.py`](../../grokkit/experiments/claims.py) (the rule),
#   [`grokkit/experiments/times.py`](../../grokkit/experiments/times.py) (censoring),
#   [`grokkit/runtime/sweep.py`](../../grokkit/runtime/sweep.py).
