# %% [markdown]
# # 11 · Inductive bias: does the architecture choose?
#
# Two networks. The same sums, the same optimizer, the same seed. In one of them a LayerNorm stands in front of
# the MLP, in the other it does not. Both know their training sums by heart at about the same time. One of them
# answers the unseen sums long before the other.
#
# A second account of grokking (arXiv 2602.06702) starts from this. It says that an architecture has an **inductive
# bias**: it makes some solutions easy to reach and others hard. The wait is the time that a network takes to leave an
# easy solution that does not generalise. The authors put the LayerNorm in several places, and the wait changed with
# the place.
#
# You try the places, too, and ask two things. **Does the architecture choose how long the wait is? And when somebody
# says "this setting is quicker", what else did they change?**
#
# *You need lessons 01 and 05. Reading takes 20 minutes; the code takes {{time 11}} of one core. [Evidence
# 11](evidence/11_inductive_bias.ipynb) has the probes for length, evenness and compressible features, and says what is
# weak about each.*

# %%
import itertools

import torch
from torch.nn import functional
from tqdm.auto import tqdm

from grokkit import experiments, viz, widgets
from grokkit.classroom import beside
from grokkit.engine import Trainer
from grokkit.runtime.history import to_history
from grokkit.viz.rows.present import Present
from grokkit.viz.rows.strips import strip_figure

# %% [markdown]
# ## 1. What a LayerNorm takes away
#
# A **LayerNorm**, LN for short, takes a vector, subtracts the mean of its coordinates and divides by their standard
# deviation. So it takes the *length* away: $x$ and $2x$ leave it as the same vector.

# %%
x = torch.randn(8, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
same = torch.allclose(
    functional.layer_norm(2 * x, (8,), eps=0), functional.layer_norm(x, (8,), eps=0)
)
print("LN(2x) is LN(x):", same)

# %% [markdown]
# Where can it stand? A Transformer **block** is attention and then an MLP. Each *adds* what it computes to the
# vectors that it got. So with $x$ the vectors that come into the block, attention makes
# $y = x + \mathrm{attention}(x)$. (In lesson 02 the MLP read the mixture alone.)
#
# Three parts read these vectors: the **scores** (queries and keys) and the **values** read $x$, the **MLP** reads $y$.
# Before each of the three an LN may stand. Six placements have names:
#
# | name | scores read | values read | MLP reads |
# | --- | --- | --- | --- |
# | none | $x$ | $x$ | $y$ |
# | A^qk | $\mathrm{LN}(x)$ | $x$ | $y$ |
# | A^v | $x$ | $\mathrm{LN}(x)$ | $y$ |
# | A* | $\mathrm{LN}(x)$ | $\mathrm{LN}(x)$ | $y$ |
# | M | $x$ | $x$ | $\mathrm{LN}(y)$ |
# | M+A* | $\mathrm{LN}(x)$ | $\mathrm{LN}(x)$ | $\mathrm{LN}(y)$ |
#
# Here the sequence is [a, b, =], without distractors, so there is hardly anything to search. This account is about the
# second part of the wait, learning to add.
#
# ## 2. Bet on an order
#
# The authors' account goes like this. Without an LN the network can memorise *by length*: it tells apart examples
# whose vectors differ only in length. Behind an LN such vectors are equal. So the network must change their
# directions. Directions, they say, generalise; lengths do not.
#
# *Four placements: `"none"`, `"A*"`, `"M"`, `"M+A*"`. Order them, the first to answer 95 % of the unseen sums
# first.*

# %%
my_order = None  # such as ("none", "A*", "M", "M+A*")

# %% [markdown]
# Two of them train live, on fewer sums, and stop before 95 %. Then come five recorded seeds of all six.

# %% tags=["nbval-ignore-output", "hide-output"]
print("The result:")
row = experiments.row("ln-placement")
small = {"p": 31, "train_fraction": 0.5, "learning_rate": 2e-3, "epochs": 500, "stop_after": None}
curves = []
for name, color, width in (("none", "#262626", 3.5), ("M", "#B04500", 1.6)):
    trainer = Trainer([row.arms(seeds=[5])[name][0].with_(**small)])
    with tqdm(total=small["epochs"], desc=name) as bar:
        trainer.advance(on_record=lambda one, bar=bar: bar.update(one.epoch - bar.n))
    h = to_history(trainer)
    look = {"color": color, "linewidth": width}
    for data in ("train", "test"):
        curves.append(viz.Line(h.epoch, h[f"{data}_accuracy"][0], f"{name}, {data}", data, look))
viz.lines(
    curves,
    title="A LayerNorm in front of the MLP, and nothing else",
    below="one live run each, modulo 31; the same data",
    x="epoch",
    y="share of right answers",
    ylim=(-0.02, 1.04),
    height=3.2,
)

# %% tags=["hide-output"]
print("The result:")
recorded = experiments.recorded("ln-placement")
evidence = row.evidence(recorded)
strip_figure(row, Present(row, recorded), accuracy=0.95, scale="linear")

# %% tags=["hide-output"]
print("The result:")
grokked = {name: evidence.grokked(name, 0.95) for name in evidence.arms}
order = sorted(("none", "A*", "M", "M+A*"), key=lambda name: grokked[name].median)
for first, second in itertools.pairwise(order):
    count = grokked[first].sooner(grokked[second]).count(True)
    print(f"{first} no later than {second}: {count} of 5 seeds")
half = grokked["M"].sooner(grokked["none"], 0.5).count(True)
print(f"M in at most half of the epochs of none: {half} of 5 seeds")
beside("11 order of four placements", my_order, tuple(order))

# %% [markdown]
# <details><summary><b>What five seeds say</b> (open after your guess)</summary>
#
# The medians have the published order (M, M+A*, A*, none). One part of it holds in every seed: **an LN in front of the
# MLP alone** (M) comes first, and needs less than half of the epochs of `none`. The rest does not hold in every seed:
# one network with M+A* does not come to 95 % in 10,000 epochs, and A* is no later than `none` in three seeds of five.
#
# </details>
#
# ## 3. Attention taken apart
#
# A* is two changes at once: A^v and A^qk. The slider rests at M. Move it to see A^v and A^qk alone.
#
# - *The block* shows what reads through a LayerNorm ("stream" means $x$ or $y$).
# - *What it answers*: the coloured lines are the placement, the grey ones the five networks without a LayerNorm. When
#   do the coloured lines rise for A^v, and when for A^qk?
#
# The other two panels are for later. *How evenly it looks* is the **entropy** of attention: it is greatest, 1.1 nats,
# if all three tokens get equal shares. *How many directions its features use* is the **effective rank** of the vectors
# that the readout gets. (The readout is the last matrix, which makes the logits.) The paper says that a network groks
# when few directions are enough, when its features are *compressible*. Lesson 13 tests this.

# %% tags=["nbval-ignore-output"]
widgets.PathwayPicker(recorded)

# %% [markdown]
# A* hardly changes the median, but its two halves do, in opposite directions. An LN in front of the **values** alone
# (A^v) helps: its median is about a third of that of `none`. An LN in front of the **scores** alone (A^qk) does harm:
# no network comes to 95 % in 10,000 epochs. **So here the placement does decide how long the wait is.**
#
# What else does it decide? A network that answers $(a, b)$ and $(b, a)$ alike gets the [mirror images](glossary.md) of
# the training sums for free. So take the unseen sums apart, into those whose mirror image is trained on and the
# others. When is half of each right?

# %%
print(f"{'half right at epoch':20}{'mirror image trained on':>32}{'mirror image unseen':>32}")
for name in grokked:
    arm = evidence.arm(name)
    both = [
        evidence.times(name, arm.epoch.where(arm[f"{kind}_accuracy"] >= 0.5).min("epoch"))
        for kind in ("mirrored", "unmirrored")
    ]
    print(f"{name:20}{both[0]!s:>32}{both[1]!s:>32}")

# %% [markdown]
# Each entry is a median of five seeds, the soonest and the latest seed, and how many come to one half.
#
# **The two quickest placements have their mirror images early.** With M and A^v half of them are right by epoch 100,
# in every seed. With `none` and A* most seeds take thousands of epochs to get even those. So one thing that the
# placement decides is how soon the network answers mirror images alike. The other sums come sooner, too.
#
# ## 4. The twist: what else was changed?
#
# The same paper has a second setting with which a network groks sooner: a small **readout**. The logits are
# multiplied by a constant $r$ (the paper calls it $a$). With a smaller $r$ the wait is shorter, the paper finds.
#
# Look at how it was tried. With $r$ the learning rate was changed, too, from $\eta$ to $\eta / r^2$. With AdamW each
# step takes away the share *learning rate × weight decay* of each weight. So:

# %%
optimizer = row.arms()["none"][0].optimizer
for r in (0.5, 1.0, 1.5):
    taken = optimizer.learning_rate / r**2 * optimizer.weight_decay
    print(f"r = {r}: each step takes {taken:.2%} of each weight away")

# %% [markdown]
# With a small readout each step takes away much more. [Lesson 05](05_the_wait.ipynb) says what that does: the wait
# goes about as 1 / (learning rate × decay); the exact power is undecided. So here is a control: the same three
# readouts, with *one* learning rate.
#
# *In how many of five seeds does the smallest readout (0.5) then come to 95 % no later than the largest (1.5)?*

# %%
my_seeds_with_one_rate = None

# %% tags=["hide-output"]
print("The result:")
readout = experiments.row("readout-scale").evidence(experiments.recorded("readout-scale"))
scales = (0.5, 1.0, 1.5)
for words, end in (("learning rate / r²", ", rate / a^2"), ("one learning rate", "")):
    print(words)
    times = [readout.grokked("a 1" if r == 1 else f"a {r:g}{end}", 0.95) for r in scales]
    for r, one in zip(scales, times, strict=True):
        print(f"    r = {r}: 95 % at {one}")
    smaller = times[0].sooner(times[-1]).count(True)
    print(f"    r = {scales[0]} no later than r = {scales[-1]}: {smaller} of 5 seeds")
beside("11 seeds in which the small readout is sooner, one rate", my_seeds_with_one_rate, smaller)

# %% [markdown]
# <details><summary><b>What the control shows</b> (open after your guess)</summary>
#
# With the learning rate $\eta / r^2$ the smallest readout is sooner than the largest in every seed. With one learning
# rate it is sooner in none: the order reverses. **The smaller readout was not what helped.** What helped
# came with it: a larger learning rate, and so more decay at each step.
#
# </details>
#
# And is it the rate alone, or the *product* of rate and decay? Make the rate ten times as large and the decay a tenth,
# so that the product stays. Compare the last row of the picture with the row `decay 1`, which has the same product:

# %%
product = experiments.row("lr-and-decay")
pace = Present(product, experiments.recorded("lr-and-decay"))
strip_figure(product, pace, accuracy=0.95, scale="linear")

# %% [markdown]
# A tenfold rate changes the median by about a tenth if the decay makes up for it. In this one comparison it is the
# product that matters, and not the rate alone.
#
# The map after this lesson:

# %%
viz.claims_map(upto=11)

# %% [markdown]
# ## Case file
#
# - **We know:** an LN before the MLP alone, or before the values alone, brings the median epoch of 95 % to less than
#   half; with one before the scores alone no network comes there in 10,000 epochs. A small readout does not help by
#   itself.
# - **We do not know:** why. With A^v the MLP reads $y$ without a LayerNorm, so the network could memorise by length. By
#   the authors' account it should be slow, and it is quick (evidence 11).
# - **It would change our minds:** another order under another optimizer, such as Muon (lesson 05).
#
# **A common misconception.** "This setting groks sooner." Sooner than what, and what else was changed? Ask first
# for the product of learning rate and decay.
#
# **Exercises:** [11 · Inductive bias](../exercises/11_inductive_bias.ipynb). **Next:**
# [12 · Token uniformity](12_token_uniformity.ipynb). A third account looks neither at attention nor at norms, but
# at how the numbers lie.
