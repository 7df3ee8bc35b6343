# %% [markdown]
# # 12 · Token uniformity: do embeddings or data decide?
#
# In arithmetic 7 and 8 are neighbours, and modulo 47 so are 46 and 0. In a network each number is a vector, its
# **embedding**. Are 7 and 8 neighbours there, too? A third account of grokking (arXiv 2504.03162) says yes, and that
# this is what the wait is for. Once the numbers lie **evenly** along a closed curve, the network can work out an unseen
# sum from sums nearby that it was trained on. The paper measures how evenly they lie, and says that its measure falls
# long before the test loss does.
#
# You test this account in three steps. **Does the measure show order, or something else? Does a network generalise
# when its numbers are in order, and only then? And what else could give it the right answers?**
#
# *You need lesson 01 (mirror images) and [09](09_what_did_it_learn.ipynb) (waves). Reading takes 20 minutes; the
# code takes {{time 12}} of one core.*

# %%
import math
from dataclasses import replace

import numpy as np
import torch
from torch.nn import functional
from tqdm.auto import tqdm

import grokkit
from grokkit import experiments, viz, widgets
from grokkit.classroom import beside
from grokkit.diagnostics.uniformity import token_uniformity
from grokkit.engine import Trainer
from grokkit.runtime.history import to_history
from grokkit.tasks import PrimeField
from grokkit.viz.alt import tell
from grokkit.viz.style import picture, titles

p = 47

# %% [markdown]
# ## 1. How far is it to the next number?
#
# The measure is called **MED**. Walk from 0 to 1 to 2 and so on through all numbers and home again. MED is the mean
# length of a step. With $\phi(i)$ the embedding of the number $i$ and $\phi(p) = \phi(0)$,
#
# $$\mathrm{MED} = \frac1p \sum_{i=0}^{p-1} \lVert \phi(i+1) - \phi(i) \rVert .$$
#
# A low MED is meant to say that neighbours are near. Lesson 09 found circles in networks that add; the numbers went
# round them $k$ times, for some frequencies $k$. So try MED on two circles, and on numbers without any order.


# %%
def med(phi):
    """The mean length of a step through the numbers; phi is [number, embed]."""
    step = phi.roll(-1, dims=0) - phi
    return float(step.norm(dim=1).mean())


def circle(k):
    """The numbers evenly on a circle that is gone round k times."""
    angle = 2 * math.pi * k / p * torch.arange(p, dtype=torch.float64)
    return torch.stack([angle.cos(), angle.sin()], dim=1)


noise = torch.randn(p, 128, generator=torch.Generator().manual_seed(0))
examples = {
    "a circle, once round": circle(1),
    "the same circle, 20 times round": circle(20),
    "no order at all, and small": 0.005 * noise,
}
for words, phi in examples.items():
    print(f"{words:32} MED {med(phi):.2f}")

# %% [markdown]
# MED has two flaws.
#
# - **It depends on the frequency.** The second circle has the same places as the first. But the next number is
#   nearly half-way round, so each step is long. (Nothing says that a network must go round once.)
# - **It depends on the size.** The third embedding has no order, and the lowest MED, because it is small. You know
#   something that makes all weights smaller: weight decay.
#
# Each flaw has a remedy.
#
# - Against size: divide MED by the mean distance of all pairs of numbers. This is the **relative MED**. It is about 1
#   where the order means nothing.
# - Against frequency: walk in steps of $s$, from 0 to $s$ to $2s$ and so on. On the second circle steps of 7 are short:
#   $7 \cdot 20 = 140$ is nearly three rounds of 47. So try each $s$ from 1 to 23 (24 is 23 backwards), and take the
#   lowest relative MED. We call this lowest value the **best step**.
#
# But the shortest of 23 walks is below 1 even where there is no order. How short by luck? Give the numbers a random
# order and take the best step of that; do this 20 times. We call an embedding **even** if its best step is below all
# 20. (An embedding without order passes this test by luck once in 21 times.)

# %%
print(f"{'':32}{'MED':>6}{'relative':>10}{'best step':>11}{'lowest of 20 shuffled':>23}")
for words, phi in examples.items():
    seen = token_uniformity(phi[None], shuffles=20)
    print(f"{words:32}{float(seen.med):6.2f}{float(seen.relative):10.2f}{float(seen.best):11.2f}"
          f"{float(seen.best_null.min()):23.2f}")  # fmt: skip

# %% [markdown]
# The best step finds both circles even, and equally so. It does not find the third embedding even.
#
# ## 2. One network, live
#
# *A network learns sums modulo 47 until it answers nearly all of the unseen ones. What will its MED be at the end, as
# a multiple of what it was at the start? (Below 1: it has fallen.)*

# %%
my_med_at_the_end = None

# %% tags=["nbval-ignore-output", "hide-output"]
block = grokkit.presets["uniformity"].with_(learning_rate=2e-3, init="lecun")
spec = block.with_(task=PrimeField("x+y", p=p, train_fraction=0.6), epochs=800, record_every=50)
trainer, tables = Trainer([spec]), []
with tqdm(total=spec.epochs, desc="training", unit="epoch") as bar:

    def keep(now):
        """Keep the embeddings of the numbers at each record."""
        tables.append(now.weights["token_embedding"][0, :p].detach().clone())
        bar.update(now.epoch - bar.n)

    trainer.advance(on_record=keep)
live, table = to_history(trainer).isel(run=0), torch.stack(tables)
seen = token_uniformity(table, shuffles=20)
size = table.flatten(1).norm(dim=1)
print("The result:")
print(f"unseen sums right at the end: {float(live.test_accuracy[-1]):.0%}")
beside("12 MED at the end, over its start", my_med_at_the_end,
       round(float(seen.med[-1] / seen.med[0]), 2))  # fmt: skip

# %% tags=["nbval-ignore-output", "hide-output"]
print("The result:")
with viz.style():
    figure = picture(9, 3.6)
    titles(
        figure,
        "MED, the size of the embedding and the unseen sums (left), the best step (right)",
        "sums modulo 47, one live run, seed 0",
    )
    left, right = figure.subplots(1, 2)
    thin = {"color": "#262626", "linewidth": 1}
    null = {"color": "#757575", "linestyle": (0, (4, 2))}
    look, lowest = viz.LOOKS, seen.best_null.amin(dim=1)
    left.plot(live.epoch, seen.med / seen.med[0], **look["norm"].line, label="MED")
    left.plot(live.epoch, size / size[0], **thin, label="size of the embedding")
    left.plot(live.epoch, live.test_accuracy, **look["test"].line, label="unseen sums right")
    left.set(xlabel="epoch", ylabel="multiple of its start; share right", ylim=(0, 2.4))
    right.plot(live.epoch, seen.best, **look["structure"].line, label="best step")
    right.plot(live.epoch, lowest, **null, label="lowest of 20 shuffled orders")
    right.set(xlabel="epoch", ylabel="relative MED (1: no order)", ylim=(0.8, 1.06))
    for ax in (left, right):
        ax.legend(loc="upper right", fontsize=8)
figure

# %% [markdown]
# <details><summary><b>What the curves show</b> (open after your guess)</summary>
#
# On the left: the embedding first *grows*, and MED grows with it. Then both fall slowly, MED less than the size. At the
# end nearly all unseen sums are right, and MED is *above* its start. On the right: the best step sinks below the
# shuffled orders. So an order is there, and MED does not show it.
#
# The paper says that MED falls before the unseen pairs are answered. In five recorded seeds of $x + y$ it ends above
# its start, as here. (With two blocks, that is attention and MLP twice, it falls, and so does the size of the
# embedding: [evidence 12](evidence/12_token_uniformity.ipynb).)
#
# </details>
#
# Here is such an order, in a recorded network: all numbers in the plane of its strongest frequency, as in lesson 09.
# Lines join those that follow each other round the circle. *Play the epochs: the circle forms, and the solid green
# line, the best step, falls: slowly at first, and steeply only when most of the unseen sums are right.* (The network
# has several such circles. The shortest walk, in steps of 13, belongs to another one.)

# %% tags=["nbval-ignore-output"]
widgets.EmbeddingCircle()

# %% [markdown]
# ## 3. Is order enough? Is it needed?
#
# Take three functions of two numbers $x$ and $y$, and five seeds of each. (A run has at most 8,000 epochs, and stops
# some time after it has generalised.) A network *generalises* if 95 % of the unseen pairs are right at any recorded
# epoch. Is its embedding *even* at the end? The last two columns are medians.

# %%
evidence = experiments.row("med-tracking").evidence(experiments.recorded("med-tracking"))
ends = {
    name: [one.sel(order="natural").isel(epoch=-1) for one in evidence.runs(name)]
    for name in ("x+y", "x-y", "x^2+y^2")
}
print(f"{'':8} generalises     even at the end     best step     lowest shuffled")
for name, last in ends.items():
    even = sum(bool(one.best_med < one.best_med_null) for one in last)
    reached = sum(evidence.grokked(name, 0.95).reached)
    order = np.median([float(one.best_med) for one in last])
    luck = np.median([float(one.best_med_null) for one in last])
    print(f"{name:8} {reached} of 5 seeds {even:9} of 5 seeds {order:13.2f} {luck:15.2f}")

# %% [markdown]
# Look at $x - y$: all five networks are even, and only one generalises. **To be even was not enough.** Is it a matter
# of *how* even? Here are sums and differences, seed by seed:

# %%
for name in ("x+y", "x-y"):
    for one in sorted(ends[name], key=lambda one: float(one.best_med)):
        print(f"{name}: best step {float(one.best_med):.2f}, "
              f"unseen pairs right {float(one.test_accuracy):4.0%}")  # fmt: skip

# %% [markdown]
# In these ten a lower best step mostly goes with more right answers: seven have 0.76 or less, and at least 75 % right;
# three have 0.84 or more, and at most 33 %. But it is no border: the live network above had 98 % right at 0.84. (And we
# looked for this after the runs.)
#
# Now look at $x^2 + y^2$: all five generalise, and none is even. **Even embeddings were not needed**, by this measure.
# (The numbers could lie evenly in another order than 0, 1, 2, … and its steps. Why its lowest
# shuffled order is lower than the others', we do not know.)
#
# How can a network do without order? With squares there is another way to many answers. $i$ and $-i$ have the same
# square. So $(i, j)$ has the same answer as $(-i, j)$, $(j, i)$ and so on: it has up to seven such *relatives*. How
# many unseen pairs have a relative that was trained on?

# %% tags=["hide-input"]
for spec, one in zip(
    experiments.row("med-tracking").arms()["x^2+y^2"], evidence.runs("x^2+y^2"), strict=True
):
    pairs = spec.task.build(spec.seed)
    trained = {tuple(pair) for pair in pairs.train.tokens[:, :2].tolist()}
    related = [
        any(
            {(s * i % p, t * j % p), (t * j % p, s * i % p)} & trained
            for s in (1, -1)
            for t in (1, -1)
        )
        for i, j in pairs.test.tokens[:, :2].tolist()
    ]
    print(f"x^2+y^2, seed {spec.seed}: {np.mean(related):.0%} of the unseen pairs have a trained "
          f"relative; {float(one.test_accuracy[-1]):.0%} are right at the end")  # fmt: skip

# %% [markdown]
# A network that gives relatives the same answer is right on all these pairs, and needs no order. (Ours have a little
# more right than that, so relatives are not all.) You know one relative: the [mirror image](glossary.md) $(j, i)$ of
# lesson 01. With $x - y$ it is of no help: there $(j, i)$ has another answer.
#
# So ask whenever a network seems to understand: **what else would give the same answers?** The paper's last
# network makes a good example.
#
# ## 4. The twist: a network that reads images
#
# This network reads images. An image has four cells, and in each a **glyph**: a blank, or a polygon with spokes. The
# class of an image is the sum of all polygons' sides. A convolutional network (a ResNet) memorises some of the images,
# and later answers the others. Here are an unseen image and one that it was trained on. (Our images are smaller than
# the paper's.)

# %%
spec = experiments.row("resnet-grokking").arms()["with twins"][0]
images = spec.task.build(spec.seed)
unseen = images.test.glyphs[images.mirrored][60]
alike = (images.train.glyphs.sort().values == unseen.sort().values).all(dim=1)
twin = images.train.glyphs[alike][0]
answer = images.train.targets[alike][0]
large = replace(spec.task, cell_size=72)
pixels = large.draw(large.build(spec.seed).tiles, torch.stack([unseen, twin]))
framed = functional.pad(pixels[:, 0], (4, 4, 4, 4), value=0.5)  # 0 is white, 1 is black
with viz.style():
    figure = picture(5, 2.9)
    titles(
        figure,
        "An unseen image and its twin",
        f"the same four glyphs in other cells; both have the class {answer}",
    )
    both = zip(figure.subplots(1, 2), framed, ("unseen", "trained on"), (unseen, twin), strict=True)
    for ax, one, words, glyphs in both:
        ax.imshow(1 - one.numpy(), cmap="gray", vmin=0, vmax=1)
        ax.set(title=words, xticks=[], yticks=[])
        ax.grid(visible=False)
        tell(ax, f"four cells with glyphs {glyphs.tolist()}")
figure

# %% [markdown]
# They are **twins**: the same glyphs in other cells, and so the same class. A network that ignores *where* a glyph
# stands gives both the same answer, and need not add anything.
#
# As a control, keep twins together: train on all of them or on none. The network and the number of training images stay
# the same. *Of the networks without twins, take each one's best epoch. What share of the unseen images is right there,
# from 0 to 1? (The median of five seeds.)*

# %%
my_share_without_twins = None

# %% tags=["hide-output"]
print("The result:")
pictured = experiments.row("resnet-grokking").evidence(experiments.recorded("resnet-grokking"))
print(f"unseen images with a twin that was trained on: {images.mirror_rate:.0%}")
held_back = [one.task.build(one.seed).test
             for one in experiments.row("resnet-grokking").arms()["without twins"]]  # fmt: skip
commonest = np.median([one.targets.bincount().max() / len(one) for one in held_back])
for name in ("with twins", "without twins"):
    best = np.median([float(one.test_accuracy.max()) for one in pictured.runs(name)])
    print(f"{name:14} 95 % of the unseen: {pictured.grokked(name, 0.95)}; best {best:.2f} (median)")
print(f"{'':14} always the commonest class of the unseen: {commonest:.2f} (median)")
paper = experiments.row("resnet-grokking").arms("paper")["with twins"][0]
print(f"at the paper's size, unseen images with a twin that was trained on: "
      f"{paper.task.build(paper.seed).mirror_rate:.0%}")  # fmt: skip
beside(
    "12 best share of unseen images without twins", my_share_without_twins, round(float(best), 2)
)

# %% tags=["hide-output"]
print("The result:")
viz.row_figure("resnet-grokking", experiments.recorded("resnet-grokking"))

# %% [markdown]
# <details><summary><b>What the control shows</b> (open after your guess)</summary>
#
# With twins (left) it looks like grokking: the training images are known early, the unseen ones much later. (Thin
# lines: single seeds. Dotted: the share of unseen images whose class occurs among the training images.) Without twins
# (right) the network memorises as soon. But in the median even its best epoch has fewer right than one would by always
# naming the commonest class. **In its 700 epochs this network needed the twins.**
#
# </details>
#
# The paper has no such control. In its setting, too, nearly every unseen image has a twin that was trained on. Whether
# its network found twins is open.
#
# The map after this lesson. (The runs of its last three lines are in the evidence.)

# %%
viz.claims_map(upto=12)

# %% [markdown]
# ## Case file
#
# Do the embeddings decide, or the data? **To be even was neither enough nor,
# by this measure, needed. For the images the data decided: the twins.**
#
# - **We know:** MED measures size and frequency as well as order. To be even was not enough for $x - y$ (8,000 epochs),
#   though how even they were seems to matter; and, by this measure, not needed for $x^2 + y^2$. Without twins the small
#   image network had fewer right at its best epoch than by naming the commonest class (0.12 and 0.20, medians).
# - **We do not know:** how far the networks of $x^2 + y^2$ answer by relatives, and how they answer the other pairs.
# - **It would change our minds:** the image network at the paper's size, with twins held back, that answers the unseen.
#
# **More:** [evidence 12](evidence/12_token_uniformity.ipynb): unseen pairs without trained pairs nearby (a **hole** in
# the table of all pairs), a head start, a second layer, and a function that is never understood.
#
# **Exercises:** [12 · Token uniformity](../exercises/12_token_uniformity.ipynb). **Next:**
# [13 · Three accounts](13_three_accounts.ipynb): one network, all instruments. Which signal comes first?
