# %% [markdown]
# # 13 · Three accounts, one network
#
# Three papers have looked at networks that grok, and each has an account of it.
#
# - **Structure** (lessons 01 to 08): the network groks when its *attention* finds the tokens that matter.
# - **Features** (the paper of lesson 11): it groks when what it computes becomes *compressible*, when few directions
#   are enough to hold it.
# - **Uniformity** (lesson 12): it groks when the *embeddings* of the numbers come to lie evenly on a closed curve.
#
# Each paper watched its own networks with its own measures, and saw its own signal move before the test accuracy
# did. That is what all three take for evidence: *my signal comes first.*
#
# Here one network is watched with the measures of all three. **Which signal comes first? And what does being first
# prove?** You date each signal by one rule, look at it in networks that do not grok, and change one thing.
#
# *You need lessons 02, 05 and 06, and of 09, 11 and 12 one sentence each, given below. Reading takes 20 minutes; the
# code takes {{time 13}} of one core.*

# %%
import numpy as np

from grokkit import experiments, viz
from grokkit.classroom import beside
from grokkit.diagnostics import midranks
from grokkit.experiments.signals import SIGNALS, arrivals
from grokkit.viz.alt import tell
from grokkit.viz.style import SIGNAL_LOOKS, picture, titles

# %% [markdown]
# ## 1. Seven signals, one rule
#
# The network learns sums modulo 43 from sequences with two distractors, as in lesson 01. Seven signals were recorded
# in five seeds:
#
# | account | signal | what it measures |
# | --- | --- | --- |
# | structure | **KL** | how far attention is from the oracle (lesson 02) |
# | features | **entropy** | how evenly attention is spread over the five tokens (it is of the paper of lesson 11, but it measures attention) |
# | | **effective rank** | features are the vectors that the readout gets; how many directions do they use? (lesson 11) |
# | | **alpha** | how evenly strength is spread over these directions (low: a few are far stronger) |
# | uniformity | **best step** | walk round the numbers, k at a time: how near are neighbours, for the k that brings them nearest? (lesson 12) |
# | none of the three | **Fourier** | whether the dimensions of the embedding share a few frequencies (lesson 09) |
# | | **norm** | how large the weights of the MLP are (lesson 05) |
#
# The answer itself is an eighth signal, **unseen pairs**: the accuracy on pairs whose mirror image is unseen, too.
#
# A signal moves for thousands of epochs. At which epoch shall we say that it has moved? Take its whole change, from
# memorising to the last epoch (about 500 epochs after 99 % of all test pairs are right). The rule: a signal is
# **half-way** at the epoch from which on one half or more of this change is done, and stays done.


# %%
def done(epochs, values, since):
    """The share of a signal's change that is done, at each epoch."""
    start, end = values[epochs == since].item(), values[-1]
    return (values - start) / (end - start)


def half_way(epochs, values, since):
    """The epoch from which on half of a signal's change is done, up to the end."""
    enough = done(epochs, values, since) >= 0.5
    stays = np.logical_and.accumulate(enough[::-1])[::-1]  # "up to the end": from behind
    return epochs[stays.argmax()]


# %% [markdown]
# For example, the unseen pairs of one network:

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
epochs, right = runs[0].epoch.values, SIGNALS["unseen pairs"].of(runs[0])
after = epochs >= since[0]
viz.lines(
    [viz.Line(epochs[after], done(epochs, right, since[0])[after], "unseen pairs")],
    title=f"The unseen pairs are half-way at epoch {dates['unseen pairs'][0]:,.0f}",
    below="seed 0, from memorising to the end",
    x="epoch",
    y="share of the change done",
    marks={"half-way": float(dates["unseen pairs"][0])},
    ylim=(-0.05, 1.05),
    height=3,
)

# %% [markdown]
# ## 2. Your prediction
#
# *Of the seven signals in the table, which is half-way first, and which last, on average over five seeds? (In each seed
# they get places from 1 on, and we take the mean place.) And which are half-way before the unseen pairs are, in at
# least four seeds?*

# %%
my_first = None
my_last = None
my_leaders = None  # a set of names, such as {"KL", "norm"}

# %% tags=["hide-output"]
print("The result:")
places = midranks(np.stack([dates[name] for name in names], axis=1)).mean(axis=0)
mean_place = dict(zip(names, places, strict=True))
order = sorted(names, key=mean_place.get)
leaders = {name for name in signals if (dates[name] < dates["unseen pairs"]).sum() >= 4}
ranked = sorted(signals, key=mean_place.get)
print(beside("13 first of the signals", my_first, ranked[0]))
print(beside("13 last of the signals", my_last, ranked[-1]))
beside("13 half-way before the unseen pairs", my_leaders and sorted(my_leaders), sorted(leaders))

# %% [markdown]
# Seeds differ in speed. So the picture divides each epoch by that of the unseen pairs of the *same* seed. Each row is
# a signal, and each dot a seed. Left of the line means: before the unseen pairs.

# %% tags=["hide-output"]
print("The result:")
with viz.style():
    figure = picture(9, 3.9)
    titles(
        figure,
        "When each signal is half-way",
        "five seeds; blue: features; norm and Fourier belong to none of the accounts",
    )
    ax = figure.subplots()
    for row, name in enumerate(order):
        ratio = dates[name] / dates["unseen pairs"]
        ax.scatter(ratio, np.full(len(ratio), row), s=55, color=SIGNAL_LOOKS[name]["color"])
    ax.axvline(1, color=SIGNAL_LOOKS["unseen pairs"]["color"], linewidth=1.5, zorder=0)
    owners = [SIGNALS[name].account for name in order]
    shown = ("structure", "features", "uniformity")
    labels = [
        f"{name} ({who})" if who in shown else name for name, who in zip(order, owners, strict=True)
    ]
    ax.set_yticks(range(len(order)), labels)
    ax.invert_yaxis()
    ax.set(xlim=(0, 1.3), xlabel="half-way, as a multiple of the unseen pairs' epoch")
    middle = [np.median(dates[name] / dates["unseen pairs"]) for name in order]
    told = zip(order, middle, strict=True)
    tell(ax, "Medians: " + "; ".join(f"{name} {value:.2f}" for name, value in told))
figure

# %% [markdown]
# Here is the signal that is first, in one seed:

# %% tags=["hide-output"]
print("The result:")
first, start = runs[0], since[0]
viz.lines(
    [
        viz.Line(
            first.epoch, SIGNALS[ranked[0]].of(first), ranked[0], "test", SIGNAL_LOOKS[ranked[0]]
        )
    ],
    title=f"The {ranked[0]} of one network",
    below="seed 0",
    x="epoch",
    y=ranked[0],
    marks={
        "memorised": float(start),
        "half-way": float(dates[ranked[0]][0]),
        "unseen pairs half-way": float(dates["unseen pairs"][0]),
    },
    height=3,
)

# %% [markdown]
# <details><summary><b>What the five seeds show</b> (open after your guess)</summary>
#
# The **effective rank** is half-way first in every seed, at less than half of the epochs that the unseen pairs take.
# Its account says that it *falls*. In the network drawn it rises for some 4,000 epochs from memorising on, and falls a
# little while the unseen pairs come right. Our rule dates the rise. KL and entropy, both of attention, come next, and
# alpha is last.
#
# </details>
#
# So two of the papers (structure, features) could stop here, if they asked only for a date: *my signal comes before
# the grok, in every seed.*
#
# ## 3. The twist: one more signal
#
# One more signal is made without a network. When is it half-way, by the same rule?

# %%
clock = np.array(
    [
        half_way(one.epoch.values, one.epoch.values.astype(float), start)
        for one, start in zip(runs, since, strict=True)
    ]
)
print("half-way, this signal:    ", "".join(f"{epoch:8,.0f}" for epoch in clock))
print("half-way, unseen pairs:   ", "".join(f"{epoch:8,.0f}" for epoch in dates["unseen pairs"]))
print(f"ahead in {np.sum(clock < dates['unseen pairs'])} of {len(runs)} seeds")

# %% [markdown]
# It is the **number of the epoch**. It is half-way when half of the time is over, and the unseen pairs come later than
# that. So whatever grows or shrinks at a constant rate, for whatever reason, is ahead of them. **Coming before is not
# evidence.** What is?
#
# ## 4. Networks that did not grok
#
# If a signal shows that a network generalises, it must not go half-way in networks that do not. We have two kinds that
# memorised, and had not grokked when we stopped. In one the **weight decay is 0** (lesson 05). The other sits in the
# **trap** of lesson 02: its distractors are random numbers.
#
# The picture shows where each signal *ends* there. Each dot is compared with the network of the same
# seed that groks: 0 is the value of that network when it memorised, 1 is its value at the end, and the dashed line is
# half-way. A dot left of 0 is farther from a grok than that network was when it memorised.
#
# *Which signals end left of half-way in both kinds? And does the one that came first?*

# %%
my_good = None  # a set of names, such as {"KL", "norm"}


# %% tags=["hide-output"]
def ends(name, arm):
    """Where a signal ends in an arm, on the way of the network of the same seed that groks."""
    ways = []
    for grokked, start, one in zip(runs, since, evidence.runs(arm), strict=True):
        of = SIGNALS[name].of(grokked)
        zero = of[grokked.epoch.values == start].item()
        ways.append((SIGNALS[name].of(one)[-1] - zero) / (of[-1] - zero))
    return np.array(ways)


print("The result:")
controls = {"no decay": "no decay", "random distractors": "the trap"}
kinds = [name for name in order if name in signals]
with viz.style():
    figure = picture(9, 3.7)
    titles(figure, "Where each signal ends when nothing is understood", "five seeds each")
    for ax, (arm, words) in zip(figure.subplots(1, 2, sharey=True), controls.items(), strict=True):
        said = []
        for row, name in enumerate(kinds):
            places = ends(name, arm)
            level = row + np.linspace(-0.2, 0.2, len(places))
            ax.scatter(places, level, s=28, color=SIGNAL_LOOKS[name]["color"])
            said.append(
                f"{name} {np.median(places):.1f} [{places.min():.1f} to {places.max():.1f}]"
            )
        ax.axvline(0, color="#AAAAAA", linewidth=1, zorder=0)
        ax.axvline(0.5, color="#262626", linestyle="--", linewidth=1.5, zorder=0)
        right = np.median(evidence.final(arm, "unmirrored_accuracy"))
        ax.set_title(f"{words}: {right:.0%} of the unseen pairs right")
        ax.set(xlim=(-4.5, 1.2), xlabel="0: when memorised; 1: after a grok")
        ax.set_yticks(range(len(kinds)), kinds)
        tell(ax, "; ".join(said))
    ax.invert_yaxis()
figure

# %% tags=["hide-output"]
print("The result:")
there = {  # in how many seeds a signal comes half-way, and keeps to it up to the end
    (name, arm): np.isfinite(arrivals(evidence, name, arm).values).sum()
    for name in kinds
    for arm in (*controls, "KL 1")
}
good = {name for name in kinds if not any(there[name, arm] for arm in controls)}
print(
    f"{'medians':12}{'KL: when memorised':>20}{'at the end':>12}{'unseen right, most of five':>30}"
)
for arm, words in {"baseline": "groks", **controls}.items():
    starts = evidence.at(arm, "kl", evidence.memorised(arm))
    most = evidence.final(arm, "unmirrored_accuracy").max()
    print(
        f"{words:12}{np.median(starts):20.2g}{np.median(evidence.final(arm, 'kl')):12.2g}{most:30.0%}"
    )
beside("13 signals that end left of half-way", my_good and sorted(my_good), sorted(good))

# %% [markdown]
# All signals but one end left of half-way. The one is the **effective rank**: in the trap it ends past half-way in
# three of five networks (by a hair in one), and no more unseen pairs are right than by guessing (1 of 43). So the
# signal that came first does not show that a network generalises.
#
# (Without decay the norm could only end on the left, for the weights grow. In the trap it ended there as well. And KL
# in the trap? There attention begins much worse than in the network that groks. It improves a lot, and still ends far
# left. So our own claim, which had asked how much a signal *changes* there, failed for KL. To ask where it *ends* came
# afterwards; for KL it held on five fresh seeds: evidence 13.)
#
# ## 5. Change one thing, and see what follows
#
# To show a *cause*, change it and see what follows. With attention we can: the KL prior of lesson 06 tells the network
# where to look. If the other signals waited for attention, they must now come sooner.
#
# Take the value that each signal has when it is half-way without the prior. When does the network with the prior come
# to this value? In each row the open mark is without the prior and the filled one with it.

# %% tags=["hide-input"]
with viz.style():
    figure = picture(9, 4.1)
    titles(
        figure,
        "When each signal comes, without the prior (open) and with it (filled)",
        "medians of five seeds; dashed: the unseen pairs, with the prior (left) and without it",
    )
    ax, said = figure.subplots(), []
    for row, name in enumerate(order):
        color, when = SIGNAL_LOOKS[name]["color"], []
        for arm, fill in (("baseline", "white"), ("KL 1", color)):
            times = arrivals(evidence, name, arm)
            when.append(times.median if np.isfinite(times.median) else np.nan)
            ax.plot(when[-1], row, "o", color=color, mfc=fill, markersize=9, zorder=3)
            come = np.isfinite(times.values).sum()
            if come < 5:
                ax.text(
                    80,
                    row,
                    f"with the prior it comes there in {come} of 5 seeds",
                    size=9,
                    va="center",
                )
            if name == "unseen pairs":
                ax.axvline(when[-1], color=color, linestyle="--", linewidth=1, zorder=0)
        ax.plot(when, [row, row], color=color, linewidth=1.5)
        said.append(f"{name}: {when[0]:,.0f} without, {when[1]:,.0f} with")
    ax.set(xscale="log", xlim=(60, 10000), xlabel="epoch (log scale)", ylim=(7.5, -0.5))
    ax.set_xticks([100, 300, 1000, 3000, 10000], ["100", "300", "1,000", "3,000", "10,000"])
    ax.set_yticks(range(len(order)), order)
    ax.grid(visible=False, axis="y")
    tell(ax, "; ".join(said))
figure

# %% [markdown]
# - All but one come much sooner, and so do the unseen pairs. (KL and entropy are what the prior moves; they are there by
#   the first record, at 80. The others are news.) So the search for where to look *was* in their way.
# - With the prior the effective rank comes to its level in one seed of five only, and the unseen pairs come to theirs
#   in all five. So this value was not needed.
#
# All tests side by side, in numbers of seeds:

# %% tags=["hide-input"]
heads = ("(1) unseen", "(2) no decay", "(3) trap", "(4) prior", "(5) mid-run")
print("Half-way: (1) before the unseen pairs, (2, 3) a control ends beyond it,")
print("(4) reached with the prior, (5) before mid-run, when half of the time is over")
print(" " * 16 + "".join(f"{head:>14}" for head in heads))
for name in kinds:
    counts = [(dates[name] < dates["unseen pairs"]).sum()]
    counts += [there[name, arm] for arm in (*controls, "KL 1")]
    counts += [(dates[name] < clock).sum()]
    print(f"{name:16}" + "".join(f"{f'{count} of 5':>14}" for count in counts))
print("wanted:         " + "".join(f"{good:>14}" for good in ("4 or 5", "0", "0", "5", "")))

# %% [markdown]
# The effective rank fails in the trap and with
# the prior. Alpha is half-way only after the unseen pairs are, so it is no good candidate. Fourier comes together with
# them, so its date says nothing either way. Four come through: KL and entropy, which both measure attention, the best
# step and the norm.
#
# Of these four only attention is earlier than mid-run in most seeds, and only attention was moved on purpose.
# (Without decay the norm moves, but much else moves with it.)
#
# ## 6. Three accounts, three times
#
# Each account saw something that is there, though not always what it said: in the network drawn, the effective rank
# rises first. Attention turns to the numbers at about two thirds of the way to the unseen pairs: the search. Then the
# embeddings become even and their waves gather: learning to add. Alpha comes last.
#
# The whole course on one map (the last line is our claim about this lesson's order: attention before the
# others; for the effective rank it was the other way round):

# %%
viz.claims_map()

# %% [markdown]
# ## Case file
#
# - **We know:** in one setting the effective rank comes first. But it ends past half-way in three of five networks of
#   the trap, where none generalised in its epochs. In both controls attention ends short of half-way to where the grokked network ends, and when it is
#   moved, the unseen pairs come sooner. The best step and the norm pass the same tests, but we have moved neither alone.
# - **We do not know:** the order elsewhere. In the networks of lesson 11 the seeds do not agree on one order
#   (evidence 13).
# - **It would change our minds:** another signal that passes all of this: it is early, it does not end past half-way in
#   a control, and when it is moved on purpose, the unseen pairs come sooner.
#
# **More:** [evidence 13](evidence/13_three_accounts.ipynb): the curves of one run, how sure the order is, other rules,
# another network, fresh seeds.
#
# **Exercises:** [13 · Three accounts, one network](../exercises/13_three_accounts.ipynb). **Next:** your own claim,
# with the tools of [10 · Your own experiment](10_your_own_experiment.ipynb). Or an elective: what if there is no right
# answer? [14 · Random targets](14_random_targets.ipynb).
