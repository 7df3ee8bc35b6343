# %% [markdown]
# # Evidence 10 · Your own experiment
#
# HEADER

# %%
import hashlib
import itertools
import math
import tempfile

import numpy as np

import grokkit
from grokkit import experiments, runs, viz
from grokkit.diagnostics import grok_epoch
from grokkit.engine import grid
from grokkit.experiments import Claim, Part, Row
from grokkit.runtime import sweep
from grokkit.viz.rows.present import Present
from grokkit.viz.rows.strips import strip_figure

# %% [markdown]
# ## 1. How good are your guesses?
#
# Whatever you predicted in this course was kept, with your *first* answer, whatever you wrote
# later. Here it is beside what came out:


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
# Look for a pattern rather than for a score. Do you take things to be faster than they are? More
# alike? Most people expect an effect wherever somebody has named a cause. That is the habit
# against which all of the following is built.
#
# ## 2. What makes a claim
#
# "Attention matters for grokking" is no claim. Nothing that a run could do would contradict it.
# Compare this one, which was in the package's code before its runs were made:

# %%
example = experiments.row("kl-acceleration").claims[0]
print(example.says)
print("said by:", example.source)

# %% [markdown]
# A claim needs five things. Take the hunch "more distractors make it harder":
#
# | it needs | the hunch lacks it | made good |
# | --- | --- | --- |
# | something measured | "harder" | the epoch at which 90 % of the unseen pairs are right |
# | a direction | | *later* |
# | an effect size | how much is "more"? | later by a factor of 1.25 at least |
# | a comparison that differs in one thing | than what? | the same network, data and seeds, with 6 distractors instead of 3 |
# | a rule that can say no | | 4 of 5 seeds, paired; decided by code |
#
# How have the others fared that were written down like this, the paper's and ours? (Where a claim was
# added or changed once runs had been seen, [RESULTS.md](../../RESULTS.md) says so.)

# %% tags=["nbval-ignore-output"]
print(experiments.count(experiments.claims()))

# %% [markdown]
# ## 3. The rule, and how often it is wrong
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
# ## 4. The claim, before the runs
#
# Here is a whole experiment. **The next three cells are yours to change**; as they stand they hold
# an example of ours, so that the lesson runs.
#
# First the arms: settings that differ in what their name says and in nothing else. Here: a baseline,
# a change, and the same pair once more as a *control*.
#
# Our example is the hunch of section 2. *More distractors make the network wait longer*, because
# there is more to look away from. If that is the reason, then a network that is *told* where to
# look (lesson 06) should not care how many distractors there are. That is the control, and it
# could say no: if six distractors hurt even then, the reason was another one.

# %%
base = grokkit.presets["live"].with_(p=31, train_fraction=0.6, epochs=1300, stop_after=0)
told = base.with_(prior="kl", kl_strength=1.0, epochs=600)  # it needs fewer
my_arms = {
    "3 distractors": base,
    "6 distractors": base.with_(length=8),
    "3 distractors, told": told,
    "6 distractors, told": told.with_(length=8),
}
for name, spec in my_arms.items():
    print(f"{name:20} {spec.task.build(0).spell(spec.task.build(0).train.tokens[0])}")

# %% [markdown]
# (A modulus of 31 keeps this within a minute of a slow core; its table is small, so we ask for 90
# % of
# the unseen pairs and let the last few be. `stop_after=0` ends a run that has reached 99 %.)
#
# **A confession:** the 90 % was set after a first look. We had run these arms with these seeds, and
# knew their epochs at 90, 95 and 99 %, when we chose it (and the modulus, the share of train pairs
# and the number of epochs). At 95 %, which the other lessons ask for, the control would have
# been undecided. Therefore the two verdicts below are an illustration, and no evidence. Yours can be
# evidence, if you set every number first; a number set later is owned up to in
# `Claim(..., afterwards="...")`, and is shown beside the verdict.
#
# Second, the claims: a sentence, who says it, and a function that turns the runs into parts.
# `evidence.grokked(arm, accuracy)` is the epoch of every seed, `.sooner(other, factor)` the paired
# comparison: `True`, `False`, or `None` where neither run came far enough to tell.


# %%
def waits_less(arm, other, factor):
    """A judge: ``arm`` has 90 % of the unseen pairs by ``factor`` times the epoch of ``other``."""

    def judge(evidence):
        mine, its = evidence.grokked(arm, 0.9), evidence.grokked(other, 0.9)
        says = f"{arm} by {factor} of the epoch of {other}"
        return [Part(says, tuple(mine.sooner(its, factor)), f"{mine} against {its}")]

    return judge


def no_difference(arm, other, factor):
    """A judge: neither of two arms is ahead of the other by ``factor``."""

    def judge(evidence):
        mine, its = evidence.grokked(arm, 0.9), evidence.grokked(other, 0.9)
        alike = mine.ratio_within(its, factor, 1 / factor)
        says = f"epoch of {arm} over that of {other} from {factor} to {1 / factor}"
        return [Part(says, tuple(alike), f"{mine} against {its}")]

    return judge


my_claims = (
    Claim(
        "mine/more-to-ignore",
        "With 6 distractors the network waits longer than with 3, by a quarter at least.",
        "an example",
        waits_less("3 distractors", "6 distractors", 0.8),
        afterwards="the 90 % was set after a first look at such runs",
    ),
    Claim(
        "mine/told",
        "Told where to look, it is as fast with 6 distractors as with 3, within a quarter.",
        "its control",
        no_difference("3 distractors, told", "6 distractors, told", 0.8),
        afterwards="the 90 % was set after a first look at such runs",
    ),
)

# %% [markdown]
# There are ready-made judges in [`grokkit.experiments.judges`](../../grokkit/experiments/judges.py):
# `sooner`, `no_sooner`, `groks`, `never_groks`, `memorises`, `ends_below`.
#
# Third, your bet. *What will the two verdicts be?* The possible ones are

# %%
print(", ".join(experiments.VERDICTS))

# %% [markdown]
# Now it is sealed. A row holds arms and claims together; its fingerprint is a number made of every
# setting and every sentence. Send it to somebody *before* you run. If you change a word
# afterwards, it will not be the same. So the effect size belongs into the sentence, and so does the
# threshold: our 90 % stands in the judge alone, and this seal would not have noticed that it moved.

# %%
my_row = Row(
    name="mine",
    figure="my own",
    question="Do more distractors make the network wait longer?",
    setup=lambda size: my_arms,
    claims=my_claims,
)


def fingerprint(row):
    """Twelve letters that depend on every setting and on every claim's words."""
    settings = [spec.to_json() for spec in row.specs()]
    words = [f"{claim.id} {claim.says} {claim.source}" for claim in row.claims]
    return hashlib.sha256("\n".join(settings + words).encode()).hexdigest()[:12]


print(f"{len(my_row.specs())} runs, sealed as {fingerprint(my_row)}")

# %% [markdown]
# ## 5. The runs
#
# `my_row.specs()` is a list of all runs. You could have made it by hand: `grid` makes every
# combination of some settings.

# %%
by_hand = grid(base, length=[5, 8], seed=range(5)) + grid(told, length=[5, 8], seed=range(5))
print("the same runs as by hand:", set(by_hand) == set(my_row.specs()))

# %% [markdown]
# `sweep` trains such a list into a folder, each run a file of its own. What is there already is not
# trained again, so you can stop it, close the laptop, and go on tomorrow. Here are the first two
# arms:

# %% tags=["nbval-ignore-output"]
folder = tempfile.mkdtemp()  # for your own: "my_runs", a folder that stays
first = my_row.specs(only=["3 distractors", "6 distractors"])
print(f"{sweep(first, folder, workers=1, progress=False).sizes['run']} runs are there")

# %% [markdown]
# And now the whole list. The runs that are there are read, the others trained:

# %% tags=["nbval-ignore-output"]
history = my_row.label(sweep(my_row.specs(), folder, workers=1, progress=False))
print(f"{history.sizes['run']} runs are there")

# %% tags=["nbval-ignore-output"]
strip_figure(my_row, Present(my_row, history), accuracy=0.9, scale="linear")

# %% [markdown]
# Every run is a line: from memorising (the blue tick) to 90 % of the unseen pairs. An arrow is a run
# that had not come there by its last epoch. It is **censored**: we know that it takes longer than
# that, and no more. To leave such runs out would be to leave out the slowest.
#
# ## 6. The verdict

# %% tags=["nbval-ignore-output"]
verdicts = experiments.Table(my_row.judge(history))
verdicts

# %% [markdown]
# Read it part by part. What was asked, what was seen (the median, the least and the greatest, and how
# many of five came there at all), and for how many seeds it held. Nobody rounded up.
#
# On the machine that made this page both sentences held, and each by four seeds of five: one network
# with six distractors was *sooner* than its twin with three, and one was slower though it had been
# told. So the example is no law, and with a threshold set after a first look it is no evidence
# either. With other seeds, and every number set before, it would be a claim that has survived one
# attempt to refute it, at one size. That is what most knowledge looks like from near.
#
# ## 7. And if nothing comes out?
#
# Then you know something that you did not know. A course that marks only results which "worked"
# teaches its students to find them. So here is what earns marks, and what does not:
#
# | earns marks | does not matter |
# | --- | --- |
# | the claim was sealed before the runs | whether it held |
# | it says a direction and a size, and could have been false | whether it is surprising |
# | arms differ in one thing; seeds are paired | how many runs there are |
# | there is a control that could have said no, and it is reported | whether the control agreed |
# | runs that did not finish are counted as what they are | whether all finished |
# | all verdicts are reported, of all claims that were sealed | - |
# | what would change your mind is said, and it is an experiment | - |
#
# Some of these rows can be checked by code. The first cannot, and there our example would get no
# mark:


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
        if not any(word in claim.says for word in ("by a", "within", "at least", "at most", "%")):
            lacks.append(f"an effect size in the words of {claim.id}")
    for one, other in itertools.combinations(arms, 2):
        a, b = arms[one][0].settings(), arms[other][0].settings()
        if a == b:
            lacks.append(f"a difference between {one} and {other}")
    return lacks


print("still lacking:", ", ".join(ready(my_row)) or "nothing that code can see")

# %% [markdown]
# ## 8. Some questions that nobody has answered
#
# Each needs nothing but a spec and a claim. We do not know what comes out.
#
# - Is it the *number* of train pairs that shortens the wait, or the number of mirror images among
#   them? (`train_fraction`, `split`; look at `unmirrored_accuracy`)
# - Does a wider MLP memorise sooner and understand later? (`d_mlp`)
# - If weights start smaller, is there less to take away? (`init_scale`, `embedding_scale`)
# - Does a prior that is *wrong about one position* help or harm?
# - Does the clock of lesson 09 have fewer waves when there are more data?
#
# For an experiment that runs longer, put it into a file and leave it overnight: `grokkit sweep
# --help`. For your own task, prior or optimizer: `@register_task`, `@register_prior`,
# `@register_optimizer`, and everything in this course works with it.
#
# ## 9. Where this is weak
#
# - Five seeds are few. How often does the rule of section 3 find an effect that is really there, but
#   not in every seed?

# %%
for share in (0.9, 0.8, 0.7):
    found = sum(math.comb(5, yes) * share**yes * (1 - share) ** (5 - yes) for yes in (4, 5))
    print(f"there in {share:.0%} of all seeds: found by {found:.0%} of all experiments")

# %% [markdown]
# - "Undecided" and "not reproduced" are not the same, and neither says that there is no effect.
# - A seal keeps you from changing the claim. It does not keep you from running ten and showing one.
#   Only you can do that.
# - A rule that you found *by looking* fits the seeds that you looked at. Put it on trial: make it a
#   claim of `dataclasses.replace(my_row, name="again", seeds=(5, 6, 7, 8, 9), claims=...)`, and
# then run
#   that. Lesson 13 does so with six rules of ours.
#
# **A common misconception.** "A null result is a failed experiment." An experiment fails when
# nothing that came out could have changed anybody's mind.
#
# ## Case file
#
# The last one is yours.
#
# | what we know | how sure | what would change it |
# | --- | --- | --- |
# | four of five is right by luck in nearly one case of five, if no effect size is asked for | computed | nothing |
# | an effect size protects, if seeds are alike | five recorded runs against each other | a setting whose seeds scatter more |
# | ... | ... | ... |
#
# ## Sources
#
# - *Grokking as Structural Inference: Transformers Need Bayesian Lottery Tickets*,
#   arXiv 2605.15787: the claims that were tested in this course.
# - B. Nosek et al., *The preregistration revolution*, PNAS 115 (2018): why to seal a claim.
# - Code: [`grokkit/experiments/claims.py`](../../grokkit/experiments/claims.py) (the rule),
#   [`grokkit/experiments/times.py`](../../grokkit/experiments/times.py) (censoring),
#   [`grokkit/runtime/sweep.py`](../../grokkit/runtime/sweep.py).
