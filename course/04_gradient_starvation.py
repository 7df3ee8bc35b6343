# %% [markdown]
# # 04 · Gradient starvation
#
# A network learns from its errors. The network of lesson 01 soon knows its training sums by heart: each right answer
# gets a probability near 1, and the loss is near 0. But its attention is not right yet, and hardly an error is left from
# which it could learn where to look. The paper says that this is why the network waits: **attention starves**.
#
# **Why doesn't attention just learn where to look?** You work out how much of an error reaches it, measure this, and
# then ask whether attention is the only part that starves.
#
# *You need:* [lesson 02](02_attention_as_a_posterior.ipynb); the chain rule. *Time:* half an hour.

# %%
from textwrap import fill

import numpy as np
import torch

import grokkit
from grokkit import experiments, viz, widgets
from grokkit.classroom import beside
from grokkit.experiments.quantities import fall

live = grokkit.presets["live"]

# %% [markdown]
# ## 1. What reaches attention
#
# The **gradient** of a weight or a score says how much the loss $L$ would change with it. Gradient descent moves each
# weight against its gradient, and in proportion to it. A score $\ell_j$ changes what is pooled, $h$; this changes the
# logits $z$; and these change the loss. So the gradient of a score is a product of three factors:
#
# $$\frac{\partial L}{\partial \ell_j} \;=\;
#   \underbrace{\frac{\partial L}{\partial z}}_{\text{how wrong is the answer?}} \cdot
#   \underbrace{\frac{\partial z}{\partial h}}_{\text{what does the MLP pass on?}} \cdot
#   \underbrace{\frac{\partial h}{\partial \ell_j}}_{\text{what would more attention change?}}$$
#
# If one of them is tiny, so is the gradient. The first one is simple: it is the vector of the 43
# probabilities, minus the vector that has a 1 at the right answer and 0 elsewhere. If the right answer has the
# probability $q$, then the loss is $L = -\log q$, and the length of this vector is at most $\sqrt2\,(1 - q)$. For a
# small loss, $1 - q$ is nearly $L$. Try it:

# %%
right = torch.tensor([3.0, 6.0, 12.0])  # by how much the right one of 43 logits is ahead
logits = torch.zeros(3, 43)
logits[:, 0] = right
belief, truth = logits.softmax(dim=1), torch.eye(43)[0]
for one, loss in zip(belief, -belief[:, 0].log(), strict=True):
    print(
        f"loss {loss:.4f}   first factor {(one - truth).norm():.4f}   bound {2**0.5 * (1 - one[0]):.4f}"
    )

# %% [markdown]
# The third factor is $\alpha_j\,(v_j - h)$, where $v_j$ is the value of the token (lesson 02): a token that has little
# attention gets a small gradient, whatever the loss. Let $C$ be the most that the second and the third factor can be
# together. Then the gradient of a score is at most $C$ times the first factor, and so, for a small loss, at most in
# proportion to the loss. The paper has this as Lemma 5.1, with a square root instead:
#
# $$\Bigl|\frac{\partial L}{\partial \ell_j}\Bigr| \;\le\; C\,\sqrt2\,L\quad\text{(ours, for a small loss)},
#   \qquad \le\; C\sqrt{2L}\quad\text{(the paper)}$$
#
# Both are true: each says how large the gradient *may* be. How large is it?
#
# **Your prediction.** *After memorising, let the training loss fall by a factor of 100. By what factor does the
# gradient of the scores fall?* In proportion to the loss it would be 100. With the square root it would be 10.

# %%
my_factor = None

# %% [markdown]
# We train without weight decay, so that the loss goes on falling.

# %% tags=["hide-output", "nbval-ignore-output"]
print("The result:")
run = grokkit.train(live.with_(weight_decay=0.0, epochs=1500, updates=True)).isel(run=0)
late = run.isel(epoch=(run.train_accuracy >= 0.99).values)  # from memorising on
loss, gradient = late.train_loss.values, late.score_gradient_max.values
line = gradient[0] * loss / loss[0]
viz.lines(
    [
        viz.Line(
            loss,
            gradient,
            "largest gradient of a score",
            "gradient",
            {"linestyle": "", "markevery": 1},
        ),
        viz.Line(loss, line, "in proportion to the loss", "train", {"marker": None}),
        viz.Line(loss, gradient[0] * (loss / loss[0]) ** 0.5, "with its square root", "norm"),
    ],
    title="The gradient of the scores, as the loss falls",
    below="one live run without decay; each triangle a record; time runs from right to left",
    x="training loss (nats)",
    y="gradient",
    log="xy",
)

# %% tags=["hide-output", "nbval-ignore-output"]
there = int((loss <= loss[0] / 100).argmax())
print("The result:")
beside(
    "04 gradient falls by, loss by 100", my_factor, round(gradient[0] / gradient[there]), "times"
)

# %% [markdown]
# The triangles stay nearer to "in proportion" than to the square root. Five recorded networks, with decay: with which
# power of the loss does the gradient fall? (1: in proportion. 0.5: with the square root.)

# %%
row = experiments.row("starvation-bound").evidence(experiments.recorded("starvation-bound"))
for seed, one in enumerate(row.runs("baseline")):
    after = one.isel(epoch=(one.train_accuracy >= 0.99).values)
    power = np.polyfit(np.log(after.train_loss), np.log(after.score_gradient_max), 1)[0]
    print(f"seed {seed}: power {power:.2f}")

# %% [markdown]
# A loss that is 100 times smaller leaves about 50 times less gradient in the live run, and about 150 times less in the
# recorded ones (100 to the power 1.08 to 1.11). So attention starves. Drag the epoch of a recorded run, and watch the
# gradient in the right panel (purple). The three grey lines are bounds: (4) is the paper's lemma; (34) is its form for
# one token, with $\alpha_j$; "linear form" is ours.

# %% tags=["nbval-ignore-output"]
widgets.RunScrubber()

# %% [markdown]
# ## 2. The twist: who else starves?
#
# Here is a question that the paper does not ask. The MLP learns from the same errors. **Is it only attention that
# starves?**
#
# We measure how far a gradient falls: from its largest value before memorising to its smallest after it. In twenty
# networks, on seeds that nobody had seen, the gradient of attention ($W_Q$ and $W_K$) falls more than a hundred-fold,
# in the median. *How many times further does it fall than the gradient of the MLP? (1: just as far.)*

# %%
my_times_further = None

# %% tags=["hide-output"]
fresh = experiments.row("headlines").evidence(experiments.recorded("headlines"))
falls = {
    name: fall("baseline", variable)(fresh).low
    for name, variable in {
        "gradient of attention": "attention_pull",
        "gradient of the MLP": "readout_pull",
        "AdamW's step of attention": "attention_move",
    }.items()
}
print("The result:")
for name in ("gradient of attention", "gradient of the MLP"):
    values = falls[name]
    print(
        f"{name:22} falls {np.median(values):.0f}-fold (from {values.min():.0f} to {values.max():.0f})"
    )
further = np.median(falls["gradient of attention"] / falls["gradient of the MLP"])
beside(
    "04 attention falls further than the MLP", my_times_further, round(float(further), 1), "times"
)

# %% tags=["hide-input", "hide-output"]
one = fresh.runs("baseline")[0]
at = one.epoch.values[1:]
memorised = one.epoch.values[(one.train_accuracy >= 0.99).values][0]
print("The result:")
viz.lines(
    [
        viz.Line(at, one[name].values[1:], words, look, change)
        for name, words, look, change in (
            (
                "attention_pull",
                "gradient of attention",
                "gradient",
                {"linestyle": "-", "markevery": 5},
            ),
            (
                "readout_pull",
                "gradient of the MLP",
                "gradient",
                {"color": "#8C6BB1", "marker": None},
            ),
            (
                "attention_move",
                "AdamW's step of attention",
                "gradient",
                {"color": "#262626", "linestyle": "--", "marker": None},
            ),
        )
    ],
    title="Attention and the MLP starve; the steps do not fall as far",
    below="one recorded run with weight decay",
    x="epoch (log scale)",
    y="norm of a gradient or of a step",
    log="xy",
    marks={"memorised": memorised},
)

# %% [markdown]
# **The MLP starves, too.** By this measure attention starves 2.5 times as far. (Compare medians in place of extremes, and
# the MLP's gradient falls further: [FINDINGS.md](../FINDINGS.md).) So starvation alone does not say why attention is late.
#
# The usual optimizer, AdamW, does not take steps of the gradient's size. It divides each gradient by a running mean of
# its size, over about the last 1,000 steps. So we had claimed that its steps fall at most ten-fold. *By what factor do
# the steps of attention fall, measured in the same way?*

# %%
my_step_factor = None

# %% tags=["hide-output"]
steps = falls["AdamW's step of attention"]
print("The result:")
print(f"from {steps.min():.0f} to {steps.max():.0f} in {len(steps)} seeds")
since = [
    float(one.attention_move[-1] / one.attention_move[(one.train_accuracy >= 0.99).values][0])
    for one in fresh.runs("baseline")
]
print(
    f"from memorising to the end of the run: times {np.median(since):.1f} in the median "
    f"({min(since):.1f} to {max(since):.1f})"
)
beside("04 fall of the steps of attention", my_step_factor, round(float(np.median(steps))), "times")

# %% [markdown]
# We were wrong: the steps fall further than ten-fold. But "the gradient is tiny, so attention cannot move" is wrong as
# well. The steps fall far less than the gradient, and they fall *before* the sums are memorised. From then on they stay
# about as they are.

# %%
for claim in ("headlines/starves-all", "headlines/steps-go-on"):
    (one,) = [one for one in experiments.claims("headlines") if one.claim.id == claim]
    print(f"{fill(one.claim.says, 90)}\n    -> {one.label}: {one.parts[-1].effect}\n")

# %% [markdown]
# "Undecided": the interval reaches past the bound that was claimed. "Refuted": it lies on the other side.
#
# These networks have weight decay. The live run of section 1 has none:

# %% tags=["nbval-ignore-output"]
for name, what in (("attention_pull", "gradient"), ("attention_move", "step")):
    early, after = run[name].where(run.train_accuracy < 0.99).max(), late[name]
    print(
        f"{what:8} of attention: at most {early:.1g} before memorising, then {after[0]:.1g}, ",
        end="",
    )
    print(f"at the end {after[-1]:.1g}: it falls {early / after[-1]:,.0f}-fold")

# %% [markdown]
# Without decay the steps nearly vanish, too. Our reading: the gradient falls faster than AdamW's running mean, which still
# holds the large gradients of the first epochs. So a step, the gradient over this mean, becomes tiny. With decay the
# gradient falls more slowly, and its mean falls with it. (Lesson 05 switches decay off and on.)
#
# ## 3. Does it move to the right place?
#
# Where does attention get to, without weight decay and with it? Here is the least mass in the recorded runs of lesson 01
# (uniform attention has 0.2, the oracle 0.5); and the least **margin**: by how much the right logit is ahead of the best
# other one, in the worst training sum.

# %%
decays = experiments.row("four-phases").evidence(experiments.recorded("four-phases"))
for name in ("decay 0", "decay 1"):
    known = decays.at(name, "min_informative_mass", decays.memorised(name))
    end = decays.final(name, "min_informative_mass")
    margin = decays.final(name, "logit_margin")
    print(
        f"{name}: least mass {known.min():.3f} to {known.max():.3f} when memorised, "
        f"{end.min():.3f} to {end.max():.3f} at the end, {len(end)} seeds\n"
        f"         least margin {margin.min():.1f} to {margin.max():.1f} at the end"
    )

# %% [markdown]
# When the sums are memorised, some number gets next to no attention, although the mean mass is high by then (lesson 01).
# Without decay it stays so in all five runs; their margins end twice as large. With decay each run ends well above 0.2.
# So in these runs it is decay that lets attention arrive. How it does so is the next lesson.
#
# The evidence has one more control. Beside a *frozen* MLP the errors stay large, but attention's gradient is smaller than
# in the free network: there the product of the two other factors is small.
#
# ## Case file
#
# - **We know:** after memorising, the gradient of the scores falls about in proportion to the loss (five seeds). The MLP
#   starves with attention (twenty fresh seeds).
# - **We doubt:** "the gradient is tiny, so attention cannot move". With decay, AdamW's steps shrink far less than the
#   gradient. Without decay they nearly vanish (one live run).
# - **It would change our minds:** a network in which attention starves and the MLP does not.
#
# **The map so far:** what is said, what was measured, and the verdict.

# %%
viz.claims_map(upto=4)

# %% [markdown]
# **More:** [the evidence](evidence/04_gradient_starvation.ipynb) (the bounds step by step, what rounding does, the frozen
# MLP) · [exercises](../exercises/04_gradient_starvation.ipynb)
#
# **Next:** [05 · The wait](05_the_wait.ipynb): who ends it?
#
# *Sources:* arXiv 2605.15787, Lemma 5.1, appendix D.1; M. Pezeshki et al., arXiv 2011.09468 (the name). The straight
# line and the comparison with the MLP are ours.
