# %% [markdown]
# # 10 · Your own experiment
#
# For nine lessons you followed an investigation that others began. You saw claims that held, claims that failed, and
# claims that nobody could decide. Now it is your turn.
#
# **What do you believe about these networks, and what would change your mind?** If you cannot answer the second half,
# you have no claim yet. So you write a claim down, with the rule that judges it, *before* its runs. Then you train
# both sides on five seeds and let code give the verdict.
#
# Whether it comes out "reproduced" does not matter. A **null result** ("no effect found"), honestly asked for, gets
# full marks.
#
# *You need lessons 01, 02 and 06. Reading takes 20 minutes; the code takes {{time 10}} of one core; your own
# experiment takes as long as it needs. More on the rule, on luck and on sweeps:
# [evidence 10](evidence/10_your_own_experiment.ipynb).*

# %%
import hashlib
import itertools
import math
import tempfile

import numpy as np

import grokkit
from grokkit import experiments, runs, viz
from grokkit.classroom import beside, kept
from grokkit.diagnostics import grok_epoch
from grokkit.experiments import Claim, Part, Row
from grokkit.runtime import sweep
from grokkit.viz.rows.present import Present
from grokkit.viz.rows.strips import strip_figure

# %% [markdown]
# ## 1. How good are your guesses?
#
# Every guess that you made in this course was kept, with your *first* answer. Here it stands beside what came
# out. Look for a pattern rather than for a score. Do you take things to be faster than they are? More alike?


# %% tags=["nbval-ignore-output"]
def look_back(predictions):
    """Every kept prediction, and how many of the numbers were right within a factor of 2."""
    close, numbers = 0, 0
    for question, entry in predictions.items():
        said, came = entry["first"], entry["measured"]
        print(f"{question:60} you said {said}; measured {came}")
        if all(isinstance(value, int | float) and value > 0 for value in (said, came)):
            numbers += 1
            close += 0.5 <= said / came <= 2
    if not predictions:
        print("no predictions kept yet: fill in the cells called my_... in any lesson")
    elif numbers:
        print(f"within a factor of 2: {close} of {numbers} numbers")


look_back(kept())

# %% [markdown]
# ## 2. What makes a claim
#
# "More distractors make it harder" is a hunch. Nothing that a run could do would contradict it. A claim needs
# five things:
#
# | it needs | the hunch made into a claim |
# | --- | --- |
# | something measured | the epoch at which 90 % of the unseen pairs are right |
# | a direction | later |
# | an effect size | by a factor of 1.25 at least |
# | a comparison that differs in one thing | same network, data and seeds, with 5 distractors instead of 2 |
# | a rule that can say no | 4 of 5 seeds, paired; decided by code |
#
# ## 3. The rule, and how often luck passes it
#
# A claim has one or more *parts*. A part is one comparison, made for each seed: the run with the change against the
# run of the same seed without it. A seed says yes or no. It is *silent* if its runs ended too
# early to tell.
#
# The rule in words: *a part holds if four fifths of the seeds (rounded up) say yes. It fails if it would not hold even
# with every silent seed counted as a yes. Otherwise it is undecided.* (Lesson 00 has the course's other rule, for
# claims about a number.) In symbols, with $y$ yeses and $u$ silent ones among $n$ seeds:
#
# $$\text{holds} \iff y \ge \lceil \tfrac45 n \rceil, \qquad
#   \text{fails} \iff y + u < \lceil \tfrac45 n \rceil .$$
#
# And in code:


# %%
def holds(outcomes):
    """True, False, or None for undecided; from one True, False or None for each seed."""
    yes, silent = outcomes.count(True), outcomes.count(None)
    needed = math.ceil(4 / 5 * len(outcomes))
    if yes >= needed:
        return True
    return False if yes + silent < needed else None


every = list(itertools.product([True, False, None], repeat=5))
same = sum(holds(one) == Part("", one, "").holds for one in every)
print(f"the package's own rule agrees in {same} of {len(every)} cases")

# %% [markdown]
# Four of five sounds strict. Suppose that two settings do not differ at all. *How often will "the first one is
# sooner" hold by this rule, by luck alone? A number from 0 to 1.*

# %%
my_share_of_luck = None

# %% tags=["hide-output"]
print("The result:")
luck = np.mean([bool(holds(one)) for one in itertools.product([True, False], repeat=5)])
beside("10 four of five by luck", my_share_of_luck, round(float(luck), 2))

# %% [markdown]
# A direction is not enough: luck passes it too often. This is what the **effect size** is for.
#
# Take five recorded runs of one setting. Draw five of them for one side and five for the other (the same run may come
# twice). Pair by pair, ask whether the first side needs at most, say, 0.8 of the epochs of the
# second. If four of the five pairs say yes, the claim "holds". Both sides are the same setting, so it holds by luck.


# %% tags=["hide-output"]
def found_by_luck(epochs, factor, draws=20_000):
    """How often 4 of 5 runs come by ``factor`` times the epoch of 5 others of the same kind."""
    random = np.random.default_rng(0)
    one, other = random.choice(epochs, (2, draws, 5))
    random_tie = random.random((draws, 5)) < 0.5  # the same run on both sides: a coin
    outcomes = np.where(one == other, random_tie & (factor == 1), one <= factor * other)
    return float((outcomes.sum(axis=1) >= 4).mean())


epochs = grok_epoch(runs.load("classroom"), 0.95).values
print("The result: the five runs come to 95 % at", ", ".join(f"{one:,.0f}" for one in epochs))
factors = np.array([1, 0.99, 0.97, 0.95, 0.93, 0.9, 0.85, 0.8, 0.7])
false_alarms = [found_by_luck(epochs, factor) for factor in factors]
for factor in (1, 0.8):
    by_luck = false_alarms[list(factors).index(factor)]
    print(f"asked for at most {factor:g} of the epochs: yes in {by_luck:.1%} of the draws")
viz.lines(
    [viz.Line(factors, false_alarms, "", "test", {"marker": "o", "markevery": 1})],
    title="An effect size protects against luck",
    below="both sides drawn from the same five recorded runs: every yes is a false one",
    x="asked for: at most this share of the other side's epochs (smaller is stricter)",
    y="share of draws that say yes",
    ylim=(0, None),
    height=3.2,
)

# %% [markdown]
# Read the curve from right to left: the stricter the claim, the less often luck passes it. A factor
# of 0.8 leaves luck hardly a chance, if seeds differ no more than these. If they differ more, ask for a smaller
# factor, or run more seeds.
#
# ## 4. The claim, before the runs
#
# **The next cell is yours to change**: the names of two *arms*, the change that makes the second one, and the factor of
# the claim. The rest follows. As it stands it holds an example, so that the lesson runs. The hunch: with 5 distractors
# there is more to search than with 2, so the network takes longer.
#
# Arms differ in what their names say and in nothing else.

# %%
first, second = "2 distractors", "5 distractors"
change = {"length": 8}  # five distractors, two numbers and "="
factor = 0.8  # the first takes at most this share of the second's epochs

# %%
base = grokkit.presets["live"].with_(
    p=31, train_fraction=0.7, learning_rate=0.02, epochs=360, record_every=10, stop_after=0
)
my_arms = {first: base, second: base.with_(**change)}
my_seeds = (5, 6, 7, 8, 9)
for name, spec in my_arms.items():
    data = spec.task.build(0)
    print(f"{name:14} {data.spell(data.train.tokens[0])}")

# %% [markdown]
# (Seeds 100 and 101, and a first try on seeds 0 to 4, helped us to choose the modulus, the learning rate and the 90 %.
# So they cannot judge the claims. Seeds 5 to 9 do; nobody had looked at them.)
#
# Then the claim, and a *control*: a second claim that could speak against the first. If the reason is the longer
# search, then *memorising*, which needs no search, should not take longer.
#
# Each claim has a *judge*, a function that makes parts from runs. (The next cell has two. You can keep them as they
# are.) In them, `evidence.grokked(arm, accuracy)` is the epoch of each seed, and `.sooner(other, factor)` is each
# seed's yes, no or silence. ("The other takes at least 1.25 times as long" is the same as "this takes at most 0.8 of
# it".)


# %% tags=["hide-input"]
def waits_less(arm, other, factor):
    """A judge: ``arm`` has 90 % of the unseen pairs by ``factor`` times the epoch of ``other``."""

    def judge(evidence):
        mine, its = evidence.grokked(arm, 0.9), evidence.grokked(other, 0.9)
        says = f"{arm} by {factor} of the epoch of {other}"
        return [Part(says, tuple(mine.sooner(its, factor)), f"{mine} against {its}")]

    return judge


def memorises_alike(arm, other, factor):
    """A judge: neither of two arms has memorised sooner than the other by ``factor``."""

    def judge(evidence):
        mine, its = evidence.memorised(arm), evidence.memorised(other)
        alike = mine.ratio_within(its, factor, 1 / factor)
        says = f"memorising: {arm} over {other} from {factor} to {1 / factor}"
        return [Part(says, tuple(alike), f"{mine} against {its}")]

    return judge


# %%
my_claims = (
    Claim(
        "mine/takes-longer",
        f"To 90 % the network takes at least {1 / factor:g} times as long with {second} as with {first}.",
        "an example",
        waits_less(first, second, factor),
    ),
    Claim(
        "mine/memorises-alike",
        f"It memorises as fast with {second} as with {first}, within a quarter.",
        "its control",
        memorises_alike(first, second, 0.8),
    ),
)
for claim in my_claims:
    print(claim.says)

# %% [markdown]
# Now **seal** them. A *row* holds arms, seeds and claims. Its fingerprint is made of all settings and all
# sentences: change a word, and it is another one. Send it to somebody before you run. (The code of the judges
# is not in it. Send that along.)
#
# *And bet: what will the two verdicts be?* A claim whose parts hold is "reproduced", one whose parts fail is "not
# reproduced"; else it is "undecided". (*Refuted*, in the table: four of five seeds or more say no.)

# %%
my_verdict_on_the_claim = None
my_verdict_on_the_control = None

# %%
my_row = Row(
    name="mine",
    figure="my own",
    question=f"How long is the way to 90 %: {first}, {second}?",
    setup=lambda size: my_arms,
    claims=my_claims,
    seeds=my_seeds,
)


def fingerprint(row):
    """Twelve characters that depend on every setting and on every claim's words."""
    settings = [spec.to_json() for spec in row.specs()]
    words = [f"{claim.id} {claim.says} {claim.source}" for claim in row.claims]
    return hashlib.sha256("\n".join(settings + words).encode()).hexdigest()[:12]


print(f"{len(my_row.specs())} runs, sealed as {fingerprint(my_row)}")

# %% [markdown]
# ## 5. The runs and the verdict
#
# `sweep` trains a list of runs into a folder. What is there already is not trained again, so you can stop it, and go
# on tomorrow. (For your own experiment name a folder that stays, such as `"my_runs"`.)

# %% tags=["nbval-ignore-output"]
folder = tempfile.mkdtemp()
begun = sweep(my_row.specs(only=[first]), folder, workers=1)
print(f"{begun.sizes['run']} runs are in the folder")

# %% tags=["nbval-ignore-output", "hide-output"]
print("The result:")
history = my_row.label(sweep(my_row.specs(), folder, workers=1))  # the other arm
strip_figure(my_row, Present(my_row, history), accuracy=0.9, scale="linear")

# %% tags=["nbval-ignore-output", "hide-output"]
print("The result:")
verdicts = experiments.Table(my_row.judge(history))
alike = grok_epoch(history.isel(run=(history.arm == first).values), 0.9).values
print(f"by luck the claim would hold in {found_by_luck(alike, factor):.1%} of the draws")
verdicts

# %% tags=["nbval-ignore-output", "hide-output"]
print("The result:")
beside("10 verdict on the claim", my_verdict_on_the_claim, verdicts[0].verdict)

# %% tags=["nbval-ignore-output", "hide-output"]
print("The result:")
beside("10 verdict on the control", my_verdict_on_the_control, verdicts[1].verdict)

# %% [markdown]
# **The picture.** Each run is a line, from memorising (the blue tick) to 90 % of the unseen pairs. An arrow (a
# triangle) is a run that had not come there by its last epoch. It is [censored](glossary.md): it takes longer than
# that, and nobody knows how much longer. Whoever leaves such runs out leaves out the slowest.
#
# **The table.** Look at the control before you look at the claim. Then read part by part: what was asked, what was seen
# (the median, the least and the greatest), and in how many seeds it held.
#
# <details><summary><b>What our example shows</b> (open after your bet)</summary>
#
# *The control* is not reproduced, and *refuted*: memorising takes longer, too, in every seed. So even if the claim had
# held, a longer search need not be the reason.
#
# *The claim:* three seeds say yes, and one says no. One is silent (the table calls it *undecided*): one of its runs was
# stopped too early to tell. Three are too few for "holds". With the silent one there might be four, too many for
# "fails". (What *fragile* means: [lesson 00](00_index.ipynb).)
#
# And could three or four have come by luck? The first line of the output takes the runs of the first arm for both
# sides, as in section 3. These seeds differ more than those, so luck has a better chance.
#
# </details>

# %% [markdown]
# ## 6. And if nothing comes out?
#
# Then you know something that you did not know. A course that gives marks only for what "worked" teaches its
# students to report only that. So these earn marks: the claim was sealed before the runs; it names a direction
# and a size; arms differ in one thing; a control could have said no; runs that did not finish are counted; all
# sealed claims are reported. Whether the claim held earns nothing.
#
# A seal does not keep you from running ten claims and showing one. Only you can do that.
#
# **A common misconception.** "A null result is a failed experiment." An experiment fails when no outcome could have
# changed anybody's mind.
#
# ## Questions that nobody has answered
#
# - Does a wider MLP memorise sooner and understand later? (`d_mlp`)
# - If weights start smaller, is there less to take away? (`init_scale`, `embedding_scale`)
# - Is there a mask with which fresh weights are sooner than dense ones in four of five seeds? (lesson 07)
# - Is a network without distractors more of a Clock than one with them? (lesson 09)

# %% [markdown]
# ## Case file
#
# - **We know:** four of five or more say yes by luck in nearly one case of five, if no effect size is asked for.
# - **We do not know:** this line is yours.
# - **It would change our minds:** and so is this one.
#
# **Exercises:** [10 · Your own experiment](../exercises/10_your_own_experiment.ipynb). **Next:** your own. A claim with
# its arms is a file of fifty lines in [`grokkit/experiments`](../grokkit/experiments/__init__.py). Lessons 11 to 13 try
# two other accounts of grokking: [11 · Inductive bias](11_inductive_bias.ipynb).
