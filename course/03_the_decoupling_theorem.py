# %% [markdown]
# # 03 · The decoupling theorem
#
# Here are two sums. They differ in one token:
#
# > 17 A 5 C =   →   22
# >
# > 18 A 5 C =   →   23
#
# The network must answer them differently. But its MLP sees only $h$, the vector that attention has pooled. If
# attention hardly looks at the first place, the two sequences have nearly the same $h$. A function that does
# not change steeply cannot give them different answers.
#
# **How much attention does it need, and on what?** The paper has a theorem. In this lesson you check the part
# of it that can be drawn, and then try to break the rest.
#
# *You need:* [lesson 02](02_attention_as_a_posterior.ipynb). *Time:* 25 minutes.

# %%
from textwrap import fill

import numpy as np
import torch
from tqdm.auto import tqdm

import grokkit
from grokkit import experiments, viz, widgets
from grokkit.classroom import beside
from grokkit.engine import Trainer
from grokkit.experiments.quantities import found

# %% [markdown]
# ## 1. No attention, no distance
#
# Take two sequences that differ in one token, at place $i$. Each token has its value, $v_j = W_V e_j$ (lesson 02).
# What is pooled is a mixture of two points: the value $v_i$ of the token at $i$, and $m$, the mean of the values
# of all other tokens, weighted with their shares. With the share $\alpha_i$ of attention,
#
# $$h = m + \alpha_i\,(v_i - m).$$
#
# The other tokens are the same in both sequences, their scores too, and so is $m$. A prime marks what belongs to
# the second sequence: $h' = m + \alpha'_i\,(v'_i - m)$. So $h$ and $h'$ each differ from $m$ by a term that has a
# share of attention as a factor. If neither value is further than $\Delta$ (Delta) from $m$, then
#
# $$\|h - h'\| \;\le\; (\alpha_i + \alpha'_i)\,\Delta. \qquad (16)$$
#
# (The number is the paper's.) In words: **the less attention the differing token gets, the closer together the
# two pooled vectors must lie.** Let us see this on a network, when it has memorised and later.

# %% tags=["nbval-ignore-output"]
live = grokkit.presets["live"]
trainer, x = Trainer([live]), live.task.build(seed=0).train.tokens
other = x.clone()
other[:, 0] = (x[:, 0] + 1) % 43  # in every sequence, the first number is exchanged for the next
pairs = {}
for name, until in (("memorised", 100), ("later", 1200)):
    with tqdm(total=until - trainer.epoch, desc=name, unit="epoch") as bar:
        trainer.advance(bar.total, on_epoch=lambda _, bar=bar: bar.update())
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
# Each dot is a pair of sequences, and none lies above the line. Most lie far below: the line is the worst case. On
# the left, some numbers get less attention than others, and their pairs lie closer together. On the right the first
# number gets about half of the attention in either sequence, so each pair stands near 1.
#
# ## 2. What the theorem says
#
# The paper's Theorem 4.3 names two conditions for answering every sum:
#
# - $B_\gamma$: in each sequence each informative token gets at least the share $\gamma$ (gamma) of attention;
# - $N$: the norm of the MLP (the root of the sum of the squares of its weights) is neither too small nor too large.
#
# The first is about attention alone, the second about the MLP alone, and either can hold without the other. Hence
# the name: the two are *decoupled*.
#
# Look closely at the first one. It does not ask for much attention in the mean. It asks that **no informative token
# gets too little**. In a trained network the **least mass** of lesson 02 measures this.
#
# Move the weights of attention yourself. The sequences x and x′ differ in the token at position 0, positions 0 and 2
# are informative (green), and γ is 0.15. First bring h and h′ as far apart as the MLP needs (dashed: $\gamma\Delta$,
# which the theorem asks for). Then keep every green share above γ. Can h and h′ still meet?

# %% tags=["nbval-ignore-output"]
widgets.RoutingPlayground()

# %% [markdown]
# They can: give more attention to the one of $v_0$ and $v'_0$ that is nearer to $m$. So $B_\gamma$ alone does not
# keep the two apart. (The bars show the distance (14) and its bounds (16) and (18), numbered as in the paper. The
# evidence explains (18).)
#
# ## 3. Pulled away
#
# Now we train networks whose attention is pulled *away* from the numbers: a term in their loss draws it to the
# distractors. This **adversary** is used at two strengths, 0.1 (weak) and 0.3 (strong). The norm of
# the MLP is held at one value in both, so that only attention differs. Ten seeds each.
#
# **Your prediction.** *Looking everywhere alike gives the two numbers a mass of 0.4. Both pulled networks have less
# at the end. In how many of ten seeds does the weakly pulled network come to 95 % of the unseen sums? And the strongly
# pulled one?*

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
print("The result:")
print(beside("03 seeds that grok, weak pull", my_weak_count, counts["weak pull"], "of 10"))
print(beside("03 seeds that grok, strong pull", my_strong_count, counts["strong pull"], "of 10"))

# %% [markdown]
# What is different *inside*? Here are the three measures of lesson 02, at the epoch of 95 % (or at the end, where
# that was never reached). *Free* networks are not pulled; *told* ones are drawn to the oracle (lesson 06).

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
# ## 4. The twist: the least mass is needed
#
# **Most weakly pulled networks answer the unseen sums, although they look at the numbers less than a network that
# looks everywhere alike.** Network by network:

# %%
weak_groks = np.isfinite(row.grokked(arms["weak pull"], 0.95).values)
print("weak pull, those that grok:")
for words, uniform in (("mass", 0.4), ("KL", np.log(2.5))):
    groks = np.sort(measured["weak pull", words][weak_groks])
    print(f"  {words:4}", *(f"{one:.2f}" for one in groks), f" (everywhere alike: {uniform:.2f})")
print("strong pull, none of which groks:")
for words in ("mass", "KL"):
    print(f"  {words:4}", *(f"{one:.2f}" for one in np.sort(measured["strong pull", words])))

# %% [markdown]
# By mass and by KL each of these networks is worse than uniform. The two groups overlap in both measures, so neither
# tells which networks grok. Now the least mass (marks at the left edge stand for 0.001 or less):

# %% tags=["hide-input"]
with style():
    figure = picture(8, 3.4)
    ax = figure.subplots()
    looks = {"free": "o", "told where to look": "s", "weak pull": "^", "strong pull": "X"}
    for at, (name, mark) in enumerate(looks.items()):
        groks = np.isfinite(row.grokked(arms[name], 0.95).values)
        least = np.maximum(measured[name, "least mass"], 1e-3)
        heights = at + np.linspace(-0.25, 0.25, 10)
        for which, look in ((groks, "structure"), (~groks, "gradient")):
            if which.any():
                words = f"{name}: {which.sum()} {'grok' if look == 'structure' else 'do not'}"
                color = viz.LOOKS[look].color
                ax.plot(least[which], heights[which], mark, color=color, label=words)
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
print(f"least mass of the {len(there)} networks that grokked: {there.min():.3f} or more")
print(f"of the {len(strong)} strongly pulled ones:         {strong.max():.3f} or less")
not_weak = measured["weak pull", "least mass"][~weak_groks]
print("of the weakly pulled that did not grok:", *(f"{one:.3f}" for one in not_weak))
for claim in ("structure/least-mass", "structure/not-kl"):
    (one,) = [one for one in experiments.claims("structure") if one.claim.id == claim]
    print(f"\n{fill(one.claim.says, 90)}\n    -> {one.label}")

# %% [markdown]
# These claims were written before the runs, on seeds that nobody had seen. (Before that we had judged the theorem by
# the *mean* mass, and said that it fails. The mistake was ours: the theorem speaks of the least.)
#
# In lesson 02 we called attention *right* from a least mass of 0.25 on. Did these networks ever get there?

# %%
for name, arm in arms.items():
    print(f"{name:18} least mass 0.25 from epoch: {found(arm)(row)}")

# %% [markdown]
# The weakly pulled ones did not, in runs of 2,925 to 6,000 epochs, and nine of the ten grok. So "right" is a yardstick
# for undisturbed networks. **What a network needs is less**: each network that grokked had 0.09 or more, and with 0.04
# or less none did. (The weakly pulled network that does not grok ends at 0.091.)
#
# Is it also enough? Take a control: a penalty on $W_Q$ and $W_K$ keeps attention uniform, so the least mass stays at
# 0.2. *What share of the unseen sums without a mirror image is right at the end, from 0 to 1?*

# %%
my_uniform_accuracy = None

# %% tags=["hide-output"]
controls = experiments.row("controls").evidence(experiments.recorded("controls"))
uniform = "L2 on W_Q, W_K"
right = sorted(controls.final(uniform, "unmirrored_accuracy").tolist())
print("The result:")
print("least mass, by seed:", controls.final(uniform, "min_informative_mass").round(2).tolist())
print("right, seed by seed:", [f"{one:.2f}" for one in right])
print(
    beside("03 unmirrored sums right, uniform attention", my_uniform_accuracy, round(right[2], 2))
)
for words, arm in (("uniform", uniform), ("free", "baseline")):
    print(f"{words:8} epochs to 95 % of all unseen sums: {controls.grokked(arm, 0.95)}")

# %% [markdown]
# These networks answer most of them in each seed. Three of five come to 95 % of all unseen sums, later than free
# ones; two do not. So the least mass is needed, but 0.2 is not always enough in these runs. And a network can grok
# without more attention on the numbers than elsewhere.
#
# ## 5. And the other half?
#
# The second condition, $N$, asks for a norm of the MLP in the right range. Here are the norms when 95 % of the unseen
# sums are right, under three optimizers:

# %%
assumed = experiments.row("assumptions").evidence(experiments.recorded("assumptions"))
for arm in ("AdamW", "Muon", "SGD"):
    norms = assumed.at(arm, "mlp_norm", assumed.grokked(arm, 0.95))
    print(f"{arm:6} norm of the MLP at 95 %, median of {len(norms)} seeds: {np.median(norms):.0f}")

# %% [markdown]
# They differ by more than a factor of two: one norm does not fit all. And the theorem proves less than it says. That
# its two conditions *suffice* is an assumption. What is proved follows from section 1: the attention on the differing
# token, *in the two sequences together*, must not be too small. (More is in the evidence.)
#
# ## Case file
#
# - **We know:** no attention, no distance (proved, and checked). Of these trained networks none groks with a least mass
#   below 0.05. Mass and KL do not decide: nine networks grok with less mass than uniform attention. Ten fresh seeds
#   of each kind.
# - **We doubt:** that a large enough least mass suffices; and that there is one right norm of the MLP.
# - **It would change our minds:** a trained network that groks on this task with a least mass near 0.
#
# **The map so far:** what is said, what was measured, and the verdict.

# %%
viz.claims_map(upto=3)

# %% [markdown]
# **More:** [the evidence](evidence/03_the_decoupling_theorem.ipynb) ·
# [exercises](../exercises/03_the_decoupling_theorem.ipynb)
#
# **Next:** [04 · Gradient starvation](04_gradient_starvation.ipynb): after its early jump, attention is slow. Why
# doesn't it just learn where to look?
#
# *Sources:* arXiv 2605.15787, section 4, Theorem 4.3, appendix A.3. The two strengths of the adversary are ours.
