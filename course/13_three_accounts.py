# %% [markdown]
# # 13 · Three accounts, one network
#
# Three papers have looked at networks that grok, and each has an account of it.
#
# - **Structure** (lessons 01 to 08): the network groks when its *attention* finds the tokens that matter.
# - **Features** (lesson 11): it groks when what it computes becomes *compressible*.
# - **Uniformity** (lesson 12): it groks when the *embeddings* of the numbers come to lie evenly on a closed curve.
#
# Each paper watched networks of its own with measures of its own, and saw its own signal move before the test
# accuracy did. That is what all three take for evidence: *my signal comes first.*
#
# Here one network is watched with the measures of all three. **Which signal comes first? And what does being first
# prove?** You date each signal by one rule, then test the winner in networks that never grok, and at last change one
# thing and see what follows.
#
# *You need lessons 05, 06, 09, and of 11 and 12 one sentence each, given below. Reading takes 20 minutes; the code
# takes {{time 13}} of one core. How sure the order is, six other rules, another network, and six rules of ours on
# fresh seeds: [evidence 13](evidence/13_three_accounts.ipynb).*

# %%
import numpy as np

from grokkit import experiments, viz
from grokkit.classroom import beside
from grokkit.diagnostics import midranks
from grokkit.experiments.signals import SIGNALS, arrivals, gone

# %% [markdown]
# ## 1. Seven signals, one rule
#
# | account | signal | what it measures |
# | --- | --- | --- |
# | structure | **KL** | how far attention is from the [oracle](glossary.md): half on each number, nothing elsewhere |
# | features | **entropy** | how evenly attention is spread over the five tokens |
# | | **effective rank** | how many directions the features use: the vectors that the readout gets |
# | | **alpha** | whether a few of these directions are far stronger than the others: then it is low (the exponent of a power law) |
# | uniformity | **relative MED** | how near neighbours are in the embedding, at the best step (lesson 12); 1: no order |
# | none of the three | **Fourier** | whether the dimensions of the embedding share a few frequencies (lesson 09) |
# | | **norm** | how large the weights of the MLP are (lesson 05) |
#
# An eighth signal is the answer itself, **unseen pairs**: the accuracy on pairs whose mirror image is unseen, too.
#
# A signal moves for thousands of epochs. At which epoch shall we say that it has moved? One rule for all, in words: *a
# signal is half-way when half of its change is done, and stays done up to the end.* Its change runs from its value
# when the training sums are memorised to its last value. With $t_0$ the epoch of memorising, $T$ the last one, and
# $s(t)$ the signal at epoch $t$:
#
# $$t_{1/2} = \min\Big\{t :\; \frac{s(t') - s(t_0)}{s(T) - s(t_0)} \ge \tfrac12
#   \;\text{ for all } t' \ge t\Big\}.$$
#
# (Training stops 500 epochs after 99 % of the unseen pairs are right.)


# %%
def half_way(epochs, values, since):
    """The epoch from which on half of a signal's change is done, up to the end."""
    start, end = values[epochs == since].item(), values[-1]
    done = (values - start) / (end - start)
    beyond = np.logical_and.accumulate((done >= 0.5)[::-1])[::-1]  # "up to the end": from behind
    return epochs[beyond.argmax()]


# %%
history = experiments.recorded("three-accounts")
evidence = experiments.row("three-accounts").evidence(history)
runs = evidence.runs("baseline")
since = evidence.memorised("baseline").values
names = list(SIGNALS)
signals = [name for name in names if name != "unseen pairs"]
dates = {
    name: np.array(
        [
            half_way(one.epoch.values, SIGNALS[name].of(one), start)
            for one, start in zip(runs, since, strict=True)
        ]
    )
    for name in names
}
print(f"{len(names)} signals dated in {len(runs)} seeds: {', '.join(names)}")

# %% [markdown]
# ## 2. Your prediction
#
# *Of the seven signals in the table, which is half-way first, and which last?* (In each seed the signals get places
# from 1, the earliest, to 8. What counts is the mean place over five seeds.) *And which are half-way before the
# unseen pairs are, in at least four of five seeds?*

# %%
my_first = None
my_last = None
my_leaders = None  # a set of names, such as {"KL", "norm"}

# %% tags=["hide-output"]
ordered = midranks(np.stack([dates[name] for name in names], axis=1)).mean(axis=0)
mean_place = dict(zip(names, ordered, strict=True))
leaders = {name for name in signals if (dates[name] < dates["unseen pairs"]).sum() >= 4}
print(
    f"{'half-way at epoch':18}" + "".join(f"  seed {seed}" for seed in range(5)) + "   mean place"
)
for name in sorted(names, key=mean_place.get):
    print(f"{name:18}" + "".join(f"{epoch:8,.0f}" for epoch in dates[name]), end="")
    print(f"   {mean_place[name]:10.1f}")
beside("13 first of the signals", my_first, min(signals, key=mean_place.get))

# %% tags=["hide-output"]
beside("13 last of the signals", my_last, max(signals, key=mean_place.get))

# %% tags=["hide-output"]
beside("13 half-way before the unseen pairs", my_leaders and sorted(my_leaders), sorted(leaders))

# %% [markdown]
# Here is one seed. Above are the accuracies. Below is each signal, as the share of its change that is done: 0 when
# memorised, 1 at the end. Its mark stands where it is half-way. The colours are the accounts'. (Alpha leaves the
# picture for a while.)

# %% tags=["hide-output"]
viz.signals_of_a_run(runs[0])

# %% [markdown]
# <details><summary><b>What the five seeds show</b> (open after your guess)</summary>
#
# While the accuracy on unseen pairs stands still, most of the signals move. The **effective rank** is half-way first in
# every seed, then attention (KL, entropy). Alpha comes last.
#
# </details>
#
# Look at the *direction* of the effective rank, too. The account of features says that features become compressible, so
# it should fall:

# %%
print("effective rank (epoch), for each seed: memorised, greatest, at the end")
for one, start in zip(runs, since, strict=True):
    values, epochs = SIGNALS["effective rank"].of(one), one.epoch.values
    three = (np.flatnonzero(epochs == start)[0], values.argmax(), -1)
    print("   ", "   ".join(f"{values[i]:4.1f} ({epochs[i]:5,.0f})" for i in three))

# %% [markdown]
# From memorising to the end the effective rank *rises* in every seed. But it rises to a peak and then falls, and the
# peak comes before the unseen pairs are half-way. So the fall is there, but late.
#
# So a paper could stop here: *my signal comes before the grok, in every seed.*
#
# ## 3. The twist: one more signal
#
# One more signal is made without a network. When is it half-way, by the same rule?

# %%
without_network = [
    half_way(one.epoch.values, one.epoch.values.astype(float), start)
    for one, start in zip(runs, since, strict=True)
]
print("half-way, this signal:    ", "".join(f"{epoch:8,.0f}" for epoch in without_network))
print("half-way, unseen pairs:   ", "".join(f"{epoch:8,.0f}" for epoch in dates["unseen pairs"]))
ahead = np.sum(np.array(without_network) < dates["unseen pairs"])
print(f"ahead in {ahead} of {len(runs)} seeds")

# %% [markdown]
# It is the **number of the epoch**. It is half-way when half of the time is over, and the unseen pairs come later
# than that. So whatever grows or shrinks steadily, for whatever reason, is "ahead" of them. **Coming before is not
# evidence.** Then what is?
#
# ## 4. A network that never groks
#
# If a signal shows that a network generalises, it must not move in networks that do not. We have two kinds that
# memorise and never grok. In one the **weight decay is 0** (lesson 05). In the other, the **trap** of lesson 02, the
# distractors are random numbers.
#
# How much does each signal change there, from memorising to the end? The table divides its change by that in the
# network of the same seed that groks: 1 means as much, 0 not at all, and below 0 the other way.

# %%
controls = ("no decay", "random distractors")
print(f"{'median [least to greatest]':28}" + "".join(f"{arm:>24}" for arm in controls))
for name in signals:
    cells = [gone(evidence, name, arm) for arm in controls]
    shown = [f"{np.median(one):.1f} [{one.min():.1f} to {one.max():.1f}]" for one in cells]
    print(f"{name:28}" + "".join(f"{cell:>24}" for cell in shown))
right = [np.median(evidence.final(arm, "unmirrored_accuracy")) for arm in controls]
print(f"{'unseen pairs right at end':28}" + "".join(f"{share:24.2f}" for share in right))

# %% [markdown]
# Begin with the winner. In the trap (right column) hardly any unseen pair is right, and the **effective rank**
# changes about as much as in a network that groks. So the signal that came first does not show that a network
# generalises. Relative MED and Fourier hardly change in either control: they pass.
#
# And KL? In the trap it changes more than in the network that groks! Has attention found the numbers there? Look at the
# values of KL themselves, when memorised and at the end, one pair for each seed:

# %%
for arm in ("baseline", "random distractors"):
    starts = evidence.memorised(arm).values
    kl = [
        (one.kl.values[one.epoch.values == start].item(), one.kl.values[-1])
        for one, start in zip(evidence.runs(arm), starts, strict=True)
    ]
    print(f"{arm:19}", "   ".join(f"{first:.2g} to {last:.2g}" for first, last in kl))
print(f"attention that looks everywhere alike has {np.log(5 / 2):.2g}")

# %% [markdown]
# In the trap KL falls from very high to high. At the end attention is still farther from the oracle than attention
# that looks everywhere alike. So ask two things of a signal in a control: how much it changes, and what its value is
# at the end. (Our own claim had asked only the first, and it failed: see the evidence.)
#
# ## 5. Change one thing, and see what follows
#
# A control shows what a signal does in a network that does not generalise. To show a *cause*, change it and see what
# follows. With attention we can: the KL prior of lesson 06 puts it where it should be. If the other signals waited
# for attention, they must now come sooner.
#
# Call the value that a signal has half-way without the prior its **mark**. When does the network of the same seed
# come to this mark with the prior, that is, *told* where to look? The table divides the two epochs, told by untold:
# below 1 is sooner.

# %%
told = {name: arrivals(evidence, name, "KL 1").values for name in names}
print(f"{'':16}{'epoch of the mark, told / untold':>34}   before the unseen pairs, told")
for name in names:
    ratio = told[name] / dates[name]
    came = int(np.isfinite(ratio).sum())
    middle = f"{np.median(ratio[np.isfinite(ratio)]):.2f} (median of {came} that come)"
    ahead = int((told[name] < told["unseen pairs"]).sum())
    print(f"{name:16}{middle:>34}   {ahead} of 5 seeds")

# %% [markdown]
# Even embeddings (relative MED), waves (Fourier) and the answer all come much sooner. So the search for where to look
# *was* in their way.
#
# The order changes as well: Fourier, which came together with the answer, is now ahead of it in every seed. So the
# order of section 2 is that of one setting. And the effective rank comes to its mark in one seed of five, though the
# networks grok. So a network can grok without a large effective rank (here), and have one without grokking (the
# trap).
#
# ## 6. They may all be right, at different times
#
# In this network each account saw something that is there. First attention turns to the numbers: the search, the
# first part of the wait. Embeddings become even about then or later, by the seed. Then waves come and the unseen pairs
# are answered: learning to add, the second part. The features move early (effective rank) and late
# (alpha). But *because* does not follow from *before*.
#
# The whole course on one map: what is said, what was measured, and the verdict.

# %%
viz.claims_map()

# %% [markdown]
# ## Case file
#
# - **We know:** in one setting five seeds nearly agree on the order of the five signals of the accounts; the number of
#   the epoch is early as well; the first signal moves also in the trap, where the network never understands.
# - **We do not know:** the order elsewhere. In the networks of lesson 11 the seeds do not share one (evidence 13).
# - **What would change it:** a signal that comes early, does not move in either control, and brings the grok with it
#   when it is moved.
#
# **A common misconception.** "It comes before, every time, so it predicts." Which epoch is half-way is known only
# when the run has ended.
#
# **Exercises:** [13 · Three accounts, one network](../exercises/13_three_accounts.ipynb). **Next:** your own claim,
# with the tools of [10 · Your own experiment](10_your_own_experiment.ipynb). Or an elective: what if there is no right
# answer? [14 · Random targets](14_random_targets.ipynb).
