# %% [markdown]
# # 04 · Gradient starvation
#
# A network learns from its errors. The network of lesson 01 soon knows its training sums by heart: each right
# answer gets a probability near 1, and the loss is near 0. But its attention is not right yet. Hardly an error is
# left from which it could learn where to look. The paper says that this is why the network waits: **attention
# starves**.
#
# Lesson 02: attention is right only long after memorising. **Is it so late because its gradient is tiny?** You measure
# three things from memorising on: the gradient of attention, the gradient of the MLP, and the step that attention then
# takes.
#
# *You need:* [lesson 02](02_attention_as_a_posterior.ipynb); the chain rule. *Time:* half an hour.

# %%
import numpy as np
import torch

import grokkit
from grokkit import experiments, viz, widgets
from grokkit.classroom import beside

live = grokkit.presets["live"]

# %% [markdown]
# ## 1. What reaches attention
#
# The **gradient** of a score says how much the loss $L$ changes when the score changes. Training moves against
# it. A small gradient means: there is little to learn from.
#
# In words: a score $\ell_j$ changes what is pooled, $h$; this changes the logits $z$; and these change the loss.
# So the gradient of a score is a product of three factors. In symbols:
#
# $$\frac{\partial L}{\partial \ell_j} \;=\;
#   \underbrace{\frac{\partial L}{\partial z}}_{\text{how wrong is the answer?}} \cdot
#   \underbrace{\frac{\partial z}{\partial h}}_{\text{what does the MLP pass on?}} \cdot
#   \underbrace{\frac{\partial h}{\partial \ell_j}}_{\text{what would more attention change?}}$$
#
# If one factor is tiny, and the others are not large, the gradient is tiny. Look at the first one. It is the vector of
# the 43 probabilities, minus the vector that has a 1 at the right answer and 0 elsewhere. How long is this vector when
# the loss is small?

# %%
right = torch.tensor([3.0, 6.0, 9.0, 12.0])  # by how much the right one of 43 logits is ahead
logits = torch.zeros(4, 43)
logits[:, 0] = right
belief, truth = logits.softmax(dim=1), torch.eye(43)[0]
print("loss L    length of the first factor    root of 2L")
for one in belief:
    loss = -one[0].log()
    print(f"{loss:.5f}   {(one - truth).norm():.5f}                       {(2 * loss).sqrt():.5f}")

# %% [markdown]
# It goes down with the loss, and for a small loss in proportion to it (the last two rows). So a small loss leaves
# little gradient, unless the other two factors grow.
#
# The paper says this with a bound, its Lemma 5.1. If the product of the two other factors is at most $C$, then
#
# $$\Bigl|\frac{\partial L}{\partial \ell_j}\Bigr| \;\le\; C\sqrt{2L}.$$
#
# The bound is true. But it is an upper limit. For a small loss the true value lies far below it: compare the last two
# columns. The paper also reads the bound as a law: the gradient *does* fall with the square
# root of the loss. This can be measured.
#
# ## 2. The gradient, measured
#
# **Your prediction.** *After memorising, let the training loss fall by a factor of 100. By what factor does the
# gradient of the scores fall?* In proportion to the loss it would be 100. With its square root it would be 10.

# %%
my_factor = None

# %% [markdown]
# We train one network without weight decay, so that the loss goes on falling.

# %% tags=["hide-output", "nbval-ignore-output"]
print("The result:")
run = grokkit.train(live.with_(weight_decay=0.0, epochs=1500)).isel(run=0)
late = run.isel(epoch=(run.train_accuracy >= 0.99).values)  # from memorising on
loss, gradient = late.train_loss.values, late.score_gradient.values
triangles = {"linestyle": "", "markevery": 1}
in_proportion, root = gradient[0] * loss / loss[0], gradient[0] * (loss / loss[0]) ** 0.5
viz.lines(
    [
        viz.Line(loss, gradient, "gradient of the scores", "gradient", triangles),
        viz.Line(loss, in_proportion, "in proportion to the loss", "train", {"marker": None}),
        viz.Line(loss, root, "with the root of the loss", "norm"),
    ],
    title="The gradient of the scores, as the loss falls",
    below="one live run without decay, from memorising on; time runs from right to left",
    x="training loss (nats, log scale)",
    y="gradient (log scale)",
    log="xy",
)

# %% tags=["hide-output", "nbval-ignore-output"]
there = int((loss <= loss[0] / 100).argmax())
print("The result:")
beside(
    "04 fall of the gradient, while the loss falls 100-fold",
    my_factor,
    round(gradient[0] / gradient[there]),
    "times",
)

# %% [markdown]
# The slope of the triangles is the *power* of the loss: 1 means in proportion, and 0.5 means with the square root. Here
# it is for this run, and for five recorded networks with weight decay:

# %% tags=["hide-output", "nbval-ignore-output"]
print("The result:")
row = experiments.row("starvation-bound").evidence(experiments.recorded("starvation-bound"))
print(f"live:   power {np.polyfit(np.log(loss), np.log(gradient), 1)[0]:.2f}")
for seed, one in enumerate(row.runs("baseline")):
    after = one.isel(epoch=(one.train_accuracy >= 0.99).values)
    power = np.polyfit(np.log(after.train_loss), np.log(after.score_gradient), 1)[0]
    print(f"seed {seed}: power {power:.2f}")

# %% [markdown]
# <details><summary><b>What the powers show</b></summary>
#
# **The gradient falls about in proportion to the loss**: a little less in the live run (first line), a little more in
# these five. So attention starves, and faster than the paper's square root says.
#
# </details>
#
# ## 3. The twist: who else starves?
#
# The paper compares attention with the whole network, and not with the MLP. The MLP learns from the same errors. **Is
# attention the only part that starves?**
#
# Section 2 took the gradient of the *scores*. The MLP has no scores, so now we take the length of the gradient of
# the *weights*: of $W_Q$ and $W_K$ for attention, of the two matrices for the MLP. We compare its value at memorising
# with its value when 95 % of the unseen sums are right, in twenty new networks.
#
# *Attention's gradient falls 17-fold in the median. How far does the MLP's fall?*

# %%
my_fall_of_the_mlp = None

# %% tags=["hide-output"]
fresh = experiments.row("headlines").evidence(experiments.recorded("headlines"))
names = {
    "gradient of attention": "attention_pull",
    "gradient of the MLP": "readout_pull",
    "AdamW's step of attention": "attention_move",
}
memorised, come = fresh.memorised("baseline"), fresh.grokked("baseline", 0.95)
falls = {
    words: (fresh.at("baseline", name, memorised) / fresh.at("baseline", name, come))
    for words, name in names.items()
}
print("The result:")
for words in list(names)[:2]:
    values = falls[words]
    print(f"{words} falls {np.median(values):.0f}-fold ({values.min():.1f} to {values.max():.0f})")
beside("04 fall of the gradient of the MLP", my_fall_of_the_mlp,
       round(float(np.median(falls["gradient of the MLP"]))), "times")  # fmt: skip

# %% [markdown]
# <details><summary><b>What the two numbers show</b> (open after your guess)</summary>
#
# **The MLP starves, too**: both gradients fall in each of the twenty, attention's in one of them by a factor of only
# 1.3. So starvation does not single attention out, and by itself it does not explain why attention is late.
#
# </details>
#
# ## 4. And the step?
#
# The optimizer, AdamW, does not take steps of the gradient's size. It divides each gradient by its own recent size.
# What weight decay takes off the weights comes on top of that, and is not counted here.
#
# *From memorising to 95 %, by what factor is attention's step multiplied? (0.1: it shrinks to a tenth; 1: it keeps its
# size; 2: it grows to twice its size.)*

# %%
my_step_factor = None

# %% tags=["hide-output"]
steps = 1 / falls["AdamW's step of attention"]
print("The result:")
print(
    beside(
        "04 step at 95 % over step at memorising",
        my_step_factor,
        round(float(np.median(steps)), 1),
        "times",
    )
)
print(f"    from {steps.min():.1f} to {steps.max():.1f} in {len(steps)} networks")
kl = [np.median(fresh.at("baseline", "kl", when)) for when in (memorised, come)]
print(f"KL to the oracle: {kl[0]:.2f} at memorising, {kl[1]:.2f} at 95 % (medians)")

# %% [markdown]
# Here are all three in one run:

# %% tags=["hide-output"]
one = fresh.runs("baseline")[0]
at = one.epoch.values[1:]
changes = (
    {"linestyle": "-", "markevery": 5},
    {"color": "#0072B2", "marker": None},
    {"color": "#262626", "linestyle": "-", "marker": None},
)
print("The result:")
viz.lines(
    [
        viz.Line(at, one[name].values[1:], words, "gradient", change)
        for (words, name), change in zip(names.items(), changes, strict=True)
    ],
    title="Two gradients, and the step",
    below="one recorded run with weight decay; compare shapes, not heights",
    x="epoch (log scale)",
    y="norm of a gradient or of a step (log scale)",
    log="xy",
    marks={"memorised": memorised.values[0]},
)

# %% [markdown]
# <details><summary><b>What the three curves show</b> (open after your guess)</summary>
#
# Right of the vertical line the MLP's gradient falls steadily. Attention's drops, comes back, and then falls in
# zigzags. **After memorising, the step keeps about its size**: the black curve changes little. So with decay
# "the gradient is tiny, and therefore attention cannot move" is wrong: attention goes on to the oracle, as the KL
# shows. (Could the decay move it there? No. Decay alone shrinks $W_Q$ and $W_K$, and with them the differences between
# scores. That spreads attention over all five tokens, and the oracle uses two.)
#
# (In this run attention's gradient falls about 7-fold from its peak to the line, and the MLP's about 2-fold. So whoever
# counts from the peak finds another order of the two. Our claims on this, and on the step before memorising, are in the
# evidence.)
#
# </details>
#
# *See it in another run, with a smaller learning rate.* Drag the epoch, from memorising on. In the right panel the
# gradient (purple) becomes smaller and smaller, far below what the bound allows. In the left panel attention moves on
# all the same.

# %% tags=["nbval-ignore-output"]
widgets.RunScrubber()

# %% [markdown]
# Sections 3 and 4 were with weight decay. Lesson 05 asks what happens without it.
#
# ## Case file
#
# **Is attention late because its gradient is tiny? Not by itself: the MLP's gradient falls, too, and with decay
# attention's steps keep about their size.**
#
# - **We know:** after memorising, the gradient of the scores falls about in proportion to the loss (five seeds).
#   The MLP starves, too. At 95 % attention's step is 0.6 to 1.9 times as large as at memorising (twenty seeds).
# - **We doubt:** that a tiny gradient is what makes attention late. With decay, attention goes on moving. What does
#   make it late, we do not know.
# - **It would change our minds about this:** networks in which attention starves and the MLP does not, and attention is
#   late in these only.
#
# **The map so far:** what is said, what was measured, and the [verdict](00_index.ipynb). (The row on *Figure 1*
# counts from the peak before memorising, against the whole network, in five older runs. Attention's gradient then falls
# 1.8 times as far. The claim was twice: *missed*.)

# %%
viz.claims_map(upto=4)

# %% [markdown]
# **More:** [the evidence](evidence/04_gradient_starvation.ipynb) (three bounds, our claims, what rounding does, and
# where attention arrives with decay and without) · [exercises](../exercises/04_gradient_starvation.ipynb)
#
# **Next:** [05 · The wait](05_the_wait.ipynb): what does weight decay do?
#
# *Sources:* arXiv 2605.15787, Lemma 5.1, section 5.1, appendix D.1; M. Pezeshki et al., arXiv 2011.09468 (the
# name). The comparison with the MLP is ours.
