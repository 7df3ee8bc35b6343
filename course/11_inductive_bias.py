# %% [markdown]
# # 11 · Does the architecture choose?
#
# Two networks. The same sums, the same optimizer, the same seed. In one of them a LayerNorm stands in front of
# the MLP, in the other it does not. Both know their training sums by heart at about the same time. One of them
# understands long before the other.
#
# Nobody changed the data. A second account of grokking starts from this: an
# architecture has an **inductive bias**. It makes some solutions easy to reach and others hard. The wait is the
# time that a network takes to leave an easy solution that does not generalise. The authors of this account
# put the LayerNorm in several places of a block, and the wait changed with the place.
#
# **Does the architecture choose? And when somebody says "this setting is quicker", what else did they change?**
#
# *You need lessons 01 and 05. Reading takes 20 minutes; the code takes {{time 11}} of one core. The probes for
# length, evenness and compressible features, and what is weak about each:
# [evidence 11](evidence/11_inductive_bias.ipynb).*

# %%
import itertools

import torch
from torch.nn import functional
from tqdm.auto import tqdm

from grokkit import experiments, viz, widgets
from grokkit.classroom import beside
from grokkit.engine import Trainer
from grokkit.runtime.history import to_history

# %% [markdown]
# ## 1. What a LayerNorm takes away
#
# A **LayerNorm**, LN for short, takes a vector, subtracts the mean of its coordinates and divides by their
# standard deviation. So it takes the *length* away: of a vector $x$ and the vector $2x$ it makes the same. On the
# way back the gradient is divided by that standard deviation, too. So a longer vector gets a smaller gradient.

# %%
draw = torch.Generator().manual_seed(0)
x = torch.randn(8, dtype=torch.float64, generator=draw)
pull = torch.randn(8, dtype=torch.float64, generator=draw)  # a gradient at the output


def arrives(x):
    """What of the gradient at the output of a LayerNorm arrives at its input."""
    x = x.clone().requires_grad_()
    (functional.layer_norm(x, (8,), eps=0) * pull).sum().backward()
    return x.grad


def norm(x):
    return functional.layer_norm(x, (8,), eps=0)


print("2x reads as x does:", bool(torch.allclose(norm(2 * x), norm(x))))
print(f"the gradient at 2x is {arrives(2 * x).norm() / arrives(x).norm():.2f} of that at x")

# %% [markdown]
# A Transformer **block** is attention and then an MLP, and each *adds* what it computes to the vectors that it got.
# So with $x$ the vectors that come into the block, attention makes $y = x + \mathrm{attention}(x)$. (In lesson 02 the
# MLP read the mixture alone.) Three parts read. The **scores** (queries and keys) and the **values**
# read $x$; the **MLP** reads $y$. Before each of the three an LN may stand:
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
# Here the sequence is [a, b, =], without distractors. There is hardly anything to search. So this account is
# about the second part of the wait, learning to add, more than about the first.
#
# ## 2. Bet on an order
#
# The authors' account goes like this. Without an LN the network can memorise *by length*: it tells examples
# apart whose vectors have one direction and different lengths. An LN in front of the MLP closes that way. Then
# the network has to change directions, and this is what understanding needs.
#
# *Four placements: `"none"`, `"A*"`, `"M"`, `"M+A*"`. Order them, the first to answer 95 % of the unseen sums
# first.*

# %%
my_order = None  # such as ("none", "A*", "M", "M+A*")

# %% [markdown]
# Two of them train live on a smaller table, too short for 95 %. Then come five recorded seeds of
# all six.

# %% tags=["nbval-ignore-output", "hide-output"]
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
recorded = experiments.recorded("ln-placement")
evidence = row.evidence(recorded)
viz.row_figure("ln-placement", recorded)

# %% tags=["hide-output"]
grokked = {name: evidence.grokked(name, 0.95) for name in evidence.arms}
order = sorted(("none", "A*", "M", "M+A*"), key=lambda name: grokked[name].median)
for name in sorted(grokked, key=lambda name: grokked[name].median):
    print(f"{name:5} 95 % at {grokked[name]}")
for first, second in itertools.pairwise(order):
    count = grokked[first].sooner(grokked[second]).count(True)
    print(f"{first} no later than {second}: {count} of 5 seeds")
beside("11 order of four placements", my_order, tuple(order))

# %% [markdown]
# <details><summary><b>What five seeds say</b> (open after your guess)</summary>
#
# In the medians of the epoch of 95 % the order is the published one. Seed by seed one end of it is sure: **an LN in
# front of the MLP alone** brings the grok to less than half of the epochs, in every seed. The rest is not: one network
# with M+A* does not come to 95 %, and A* is no later than no norm in three seeds of five. To 99 % M+A* is no later
# than A* in two seeds of five (RESULTS).
#
# (The right half of the figure shows how evenly attention looks when the sums are memorised. The evidence asks
# what that has to do with grokking.)
#
# </details>
#
# ## 3. Attention taken apart
#
# Move the slider to choose a placement. The drawing shows what reads through a norm ("+" adds, and the "stream" is
# $x$ or $y$). The grey lines ("test, no norm") are the five networks without one, in every plot. Compare A^v, A^qk and A*, which is both of them together. (The two curves on the right are
# probes that the evidence explains.)

# %% tags=["nbval-ignore-output"]
widgets.PathwayPicker(recorded)

# %% [markdown]
# A* hardly changes the median. It is two changes, and alone they have opposite effects. An LN in front of the **values**
# alone helps: the median of A^v is about a third of that of A*. An LN in front of the **scores** alone does harm:
# A^qk does not grok in 10,000 epochs, in any of five seeds. So yes, the architecture chooses.
#
# What comes first? A network that gives $a$ and $b$ the same attention may find it easy to treat $(a, b)$ and
# $(b, a)$ alike. Then it has the [mirror images](glossary.md) of the training sums for nothing. So take the unseen
# sums apart, into those whose mirror image is trained on and the others. When is half of each right?

# %%
print(f"{'half right at epoch':>22}: {'mirror image trained on':>34}{'mirror image unseen':>34}")
for name in grokked:
    arm = evidence.arm(name)
    both = [
        evidence.times(name, arm.epoch.where(arm[f"{kind}_accuracy"] >= 0.5).min("epoch"))
        for kind in ("mirrored", "unmirrored")
    ]
    print(f"{name:>22}: {both[0]!s:>34}{both[1]!s:>34}")

# %% [markdown]
# **The two quickest placements have their mirror images early.** With M and A^v half of them are right by epoch
# 100, in every seed. With `none` and A* most seeds take thousands of epochs to get even those. So one thing that
# the placement decides is how soon the network sees that $a + b = b + a$. That is not all, for the other sums come
# sooner as well. But part of what "95 % of the unseen" counts is this one symmetry.
#
# ## 4. The twist: what else was changed?
#
# The same paper has a second setting with which a network groks sooner: a small **readout**. The logits are
# multiplied by a constant, which the paper calls $a$ (here, then, $a$ is no longer the first number). With a
# smaller $a$ the network groks sooner, the paper finds.
#
# Look at how it was tried. With $a$ the learning rate $\eta$ was changed, too, to $\eta / a^2$. With AdamW every
# step takes the share $\eta \lambda$ of each weight away, where $\lambda$ is the weight decay. So:

# %%
optimizer = row.arms()["none"][0].optimizer
for a in (0.5, 1.0, 1.5):
    taken = optimizer.learning_rate / a**2 * optimizer.weight_decay
    print(f"a = {a}: every step takes {taken:.2%} of each weight away")

# %% [markdown]
# With a small readout each step takes away much more. [Lesson 05](05_the_wait.ipynb) says what that does: the wait
# goes about as 1 / (learning rate x decay). As a control, leave the learning rate alone:

# %%
readout = experiments.recorded("readout-scale")
of_scales = experiments.row("readout-scale").evidence(readout)
scales = (0.5, 1.0, 1.5)
for words, end in (("learning rate / a²", ", rate / a^2"), ("one learning rate", "")):
    print(words)
    times = [of_scales.grokked("a 1" if a == 1 else f"a {a:g}{end}", 0.95) for a in scales]
    for a, one in zip(scales, times, strict=True):
        print(f"    a = {a}: 95 % at {one}")
    smaller = times[0].sooner(times[-1]).count(True)
    print(f"    a = {scales[0]} no later than a = {scales[-1]}: {smaller} of 5 seeds")

# %% [markdown]
# With the learning rate $\eta / a^2$ the smallest readout is sooner than the largest in every seed. With one learning
# rate it is sooner in none. **The smaller readout was not what helped.** The learning rate that came with it was.
#
# And is it the rate alone, or the *product* of rate and decay? Make the rate ten times as large, and the decay a
# tenth, so that the product stays:

# %%
viz.row_figure("lr-and-decay", experiments.recorded("lr-and-decay"))

# %% [markdown]
# Compare the bottom line with `decay 1`, which has the same product. A tenfold rate changes the median by less than a
# factor of two if the decay makes up for it. In this one comparison the product matters more than the rate.
#
# What the map says after this lesson:

# %%
viz.claims_map(upto=11)

# %% [markdown]
# ## Case file
#
# - **We know:** an LN before the MLP, or before the values, brings the median grok to less than half of the epochs;
#   with one before the scores alone, no network grokked in 10,000 epochs.
# - **We do not know:** why. Memorising by length is open to A^v, too, and A^v is quick (the evidence).
# - **What would change it:** the same order under another optimizer, such as Muon (lesson 06).
#
# **A common misconception.** "This setting groks sooner." Sooner than what, and what else was changed? Ask first
# for the product of learning rate and decay.
#
# **Exercises:** [11 · Inductive bias](../exercises/11_inductive_bias.ipynb). **Next:**
# [12 · Token uniformity](12_token_uniformity.ipynb). A third account looks neither at attention nor at norms, but
# at how the numbers lie.
