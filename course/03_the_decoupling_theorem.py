# %% [markdown]
# # 03 · The decoupling theorem
#
# Here are two sums. They differ in one token:
#
# > 17 A 5 C =   →   22
# >
# > 18 A 5 C =   →   23
#
# The network must answer them differently. But its MLP sees one vector $h$, what attention has pooled. If
# attention hardly looks at the first place, the two vectors are nearly the same. No reasonable function
# turns nearly the same into two different answers.
#
# **How much attention does it need, and on what?** The paper has a theorem. In this lesson you check the part
# of it that can be drawn, and then try to break the rest.
#
# *You need:* [lesson 02](02_attention_as_a_posterior.ipynb). *Time:* 25 minutes.

# %%
import numpy as np
import torch

import grokkit
from grokkit import experiments, viz, widgets
from grokkit.classroom import beside
from grokkit.engine import Trainer

# %% [markdown]
# ## 1. No attention, no distance
#
# Take two sequences that differ in one token, at place $i$. What is pooled is a mixture of two points: the
# value $v_i$ of this token, and $m$, the mean of all the others. With the share $\alpha_i$ of attention,
#
# $$h = m + \alpha_i\,(v_i - m).$$
#
# The other tokens are the same in both sequences, and so is $m$ (the evidence shows why). So all that can tell
# the two apart is multiplied by a share of attention. If no value is further than $\Delta$ from $m$, then
#
# $$\|h - h'\| \;\le\; (\alpha_i + \alpha'_i)\,\Delta, \qquad (16)$$
#
# where a prime marks the second sequence. In words: **two pooled vectors are no further apart than the attention
# on the token that differs allows.** Let us see this on a network, when it has memorised and later.

# %% tags=["nbval-ignore-output"]
live = grokkit.presets["live"]
trainer, x = Trainer([live]), live.task.build(seed=0).train.tokens
other = x.clone()
other[:, 0] = (x[:, 0] + 1) % 43  # in every sequence, the first number is exchanged for the next
pairs = {}
for name, until in (("memorised", 100), ("later", 1200)):
    trainer.advance(until - trainer.epoch)
    w = {key: value[0].detach().double() for key, value in trainer.weights.items()}
    shares, pooled, values = [], [], []
    for tokens in (x, other):
        e = w["token_embedding"][tokens] + w["position_embedding"]
        alpha = (e @ w["W_K"] @ (e[0, -1] @ w["W_Q"]) / 8).softmax(-1)  # 8 is the root of d = 64
        v = e @ w["W_V"]
        shares.append(alpha[:, 0])
        values.append(v[:, 0])
        pooled.append((alpha.unsqueeze(2) * v).sum(1))
    rest = (pooled[0] - shares[0].unsqueeze(1) * values[0]) / (1 - shares[0]).unsqueeze(1)  # m
    longest = torch.cat([one - rest for one in values]).norm(dim=1).max()  # Delta
    pairs[name] = (shares[0] + shares[1], (pooled[0] - pooled[1]).norm(dim=1), longest)
    together, apart, _ = pairs[name]
    print(
        f"{name}: the bound holds for all {len(x)} pairs:",
        bool((apart <= together * longest).all()),
    )

# %% tags=["hide-input", "nbval-ignore-output"]
from grokkit.viz.style import picture, style, titles

with style():
    figure = picture(9.5, 3.8)
    both = figure.subplots(1, 2, sharex=True, sharey=True)
    for ax, (name, (together, apart, longest)) in zip(both, pairs.items(), strict=True):
        ax.plot(together, apart, "o", markersize=3, alpha=0.4, color=viz.LOOKS["structure"].color)
        ax.plot([0, 1.6], [0, 1.6 * longest], color="#262626", label="at most this")
        ax.set(title=name, xlabel="attention on the token that differs, in both together")
        ax.set(xlim=(0, 1.6), ylim=(0, 16))
    figure.axes[0].set_ylabel("how far apart")
    figure.axes[0].legend(loc="upper left")
    titles(figure, "No attention, no distance", "each dot: two sequences that differ in one number")
figure

# %% [markdown]
# Each dot is a pair, and none lies above the line. On the left, some numbers get less attention than others, and their
# pairs lie closer together. On the right the network has found the numbers, and each pair gets about 1.
#
# ## 2. What the theorem says
#
# Theorem 4.3 names two conditions for answering every sum, and says that they have nothing to do with each
# other:
#
# - $B_\gamma$: in each sequence each informative token gets at least the share $\gamma$ (gamma);
# - $N$: the norm of the MLP is neither too small nor too large.
#
# Look closely at the first one. It does not ask for much attention in the mean. It asks that **none of the
# informative tokens is starved**. That is the **least mass** of lesson 02.
#
# Move the shares of attention yourself. In x and x′ the first number differs; γ is set to 0.15. Can you keep every
# share of an informative token above γ, and still let the two pooled vectors meet?

# %% tags=["nbval-ignore-output"]
widgets.RoutingPlayground()

# %% [markdown]
# (The gray bar "at least", (18), is derived in the evidence, and so is the answer to the question: yes, you can.)
#
# ## 3. Pulled away
#
# Now we build networks whose attention is pulled *away* from the numbers while they learn. The same kind of
# pull is used at two strengths, 0.1 and 0.3, and the norm of the MLP is held the same in both. Ten seeds each.
#
# **Your prediction.** *Looking everywhere alike gives the two numbers a mass of 0.4. A pulled network has less at
# the end. In how many of ten seeds does the weakly pulled network come to 95 % of the unseen sums? And the
# strongly pulled one?*

# %%
my_weak_count = None
my_strong_count = None

# %% tags=["hide-output"]
row = experiments.row("structure").evidence(experiments.recorded("structure"))
arms = {
    "free": "baseline",
    "told where to look": "KL 1",
    "weak pull": "weak adversary",
    "strong pull": "strong adversary",
}
counts = {name: int(np.isfinite(row.grokked(arm, 0.95).values).sum()) for name, arm in arms.items()}
print(beside("03 seeds that grok, weak pull", my_weak_count, counts["weak pull"], "of 10"))
print(beside("03 seeds that grok, strong pull", my_strong_count, counts["strong pull"], "of 10"))

# %% [markdown]
# A small difference of strength, and all the difference in the answers. What is different *inside*? Three ways
# to measure a look, at the epoch of 95 % (or at the end, where it never came):

# %%
measures = {"mass": "informative_mass", "KL": "kl", "least mass": "min_informative_mass"}
measured = {}
for name, arm in arms.items():
    grokked = row.grokked(arm, 0.95)
    for words, variable in measures.items():
        then, end = row.at(arm, variable, grokked), row.final(arm, variable)
        measured[name, words] = np.where(np.isnan(then), end, then)
print("median of ten seeds".ljust(22), *(f"{words:>12}" for words in measures))
for name in arms:
    medians = (np.median(measured[name, words]) for words in measures)
    print(f"{name:22}", *(f"{one:12.2f}" for one in medians))
print(f"{'everywhere alike':22}", *(f"{one:12.2f}" for one in (0.4, np.log(2.5), 0.2)))

# %% [markdown]
# ## 4. The twist: structure is the least mass
#
# **The weakly pulled networks understand, and look at the numbers less than a network does that looks everywhere
# alike.** By mass and by KL they are worse than knowing nothing. So neither of the two is what the network
# needs. The last column is different. (Marks at the left edge stand for 0.001 or less.)

# %% tags=["hide-input"]
with style():
    figure = picture(8, 3.4)
    ax = figure.subplots()
    looks = {"free": "o", "told where to look": "s", "weak pull": "^", "strong pull": "X"}
    for at, (name, mark) in enumerate(looks.items()):
        ax.plot(
            np.maximum(measured[name, "least mass"], 1e-3),
            at + np.linspace(-0.25, 0.25, 10),
            mark,
            color=viz.LOOKS["structure" if counts[name] else "gradient"].color,
            label=f"{name}: {counts[name]} of 10 grok",
        )
    ax.axvline(0.2, color="#262626", linestyle="--")
    ax.set(xscale="log", xlabel="least mass (log scale); dashed: looking everywhere alike")
    ax.set_yticks(range(4), list(looks))
    ax.invert_yaxis()
    figure.legend(loc="outside lower left", ncols=2)
    titles(figure, "The least attention on an informative token",
           "each mark a network: at 95 % of the unseen sums, or at its end")  # fmt: skip
figure

# %%
there = np.concatenate(
    [
        measured[name, "least mass"][np.isfinite(row.grokked(arm, 0.95).values)]
        for name, arm in arms.items()
    ]
)
strong = measured["strong pull", "least mass"]
print(f"least mass of the {len(there)} networks that groked: {there.min():.3f} or more")
print(f"of the {len(strong)} strongly pulled ones:        {strong.max():.3f} or less")
for claim in ("structure/least-mass", "structure/not-kl"):
    (one,) = [one for one in experiments.claims("structure") if one.claim.id == claim]
    print(f"\n{one.claim.says}\n    -> {one.label}")

# %% [markdown]
# This claim was written before these runs, on seeds that nobody had seen. We had first judged the theorem by the
# *mean* mass, and said that it fails. The mistake was ours: the theorem speaks of the least.
#
# So the network need not *single out* the numbers. It must not **starve** one of them. How far does this go?
# Keep attention uniform all the time, by a penalty on $W_Q$ and $W_K$. *What share of the unseen sums without a
# mirror image is right at the end, from 0 to 1?*

# %%
my_uniform_accuracy = None

# %% tags=["hide-output"]
controls = experiments.row("controls").evidence(experiments.recorded("controls"))
uniform = "L2 on W_Q, W_K"
right = sorted(controls.final(uniform, "unmirrored_accuracy").tolist())
print("mass, seed by seed: ", controls.final(uniform, "informative_mass").round(2).tolist())
print("right, seed by seed:", [f"{one:.2f}" for one in right])
print(
    beside("03 unmirrored sums right, uniform attention", my_uniform_accuracy, round(right[2], 2))
)

# %% [markdown]
# In the median, a network that looks everywhere alike answers most of them. Attention helps. It is no gate.
#
# ## 5. And the other half?
#
# The second condition, $N$, says that networks grok when the norm of the MLP is right. Under different weight
# decays and learning rates their norms at the grok lie close together. But they lie close together at *every*
# epoch, so this shows nothing. With other optimizers they differ:

# %%
for name in ("four-phases", "assumptions"):
    (one,) = [one for one in experiments.claims(name) if one.claim.id.endswith("/goldilocks")]
    print(f"{one.claim.says}\n    -> {one.label}\n")

# %% [markdown]
# And the theorem proves less than it says. That both conditions together *suffice* is assumed, not proved; and
# there is a network that solves parity without an error, with next to no attention on half of its informative
# tokens (both in the evidence). What is proved is the wedge of section 1: enough attention on the token that
# differs, *in the two sequences together*.
#
# ## Case file
#
# - **We know:** no attention, no distance (proved, and checked). No network here groks while some informative token
#   is starved; mass and KL do not decide. Ten fresh seeds of each kind.
# - **We doubt:** that there is one right norm of the MLP; nothing here measures one.
# - **It would change our minds:** a network that groks on this task with a least mass near 0.
#
# **The map so far:** what is said, what was measured, and the verdict.

# %%
viz.claims_map(upto=3)

# %% [markdown]
# **More:** [the evidence](evidence/03_the_decoupling_theorem.ipynb) ·
# [exercises](../exercises/03_the_decoupling_theorem.ipynb)
#
# **Next:** [04 · Gradient starvation](04_gradient_starvation.ipynb): the second half of the search is slow. Why
# doesn't attention just learn where to look?
#
# *Sources:* arXiv 2605.15787, section 4, Theorem 4.3, appendix A.3. The two pulls are ours.
