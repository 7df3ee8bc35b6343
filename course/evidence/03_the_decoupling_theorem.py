# %% [markdown]
# # Evidence 03 · The decoupling theorem
#
# For those who doubt [lesson 03](../03_the_decoupling_theorem.ipynb): the geometry step by step, the threshold gamma, the 3 × 3 of norm and attention, and two counterexamples.
# Nothing here is needed to follow the course. Claims that were not written down before their runs say
# "after its runs"; the words for verdicts are explained in [RESULTS.md](../../RESULTS.md).

# %%
from itertools import combinations

import torch

from grokkit import experiments, runs, theory, viz
from grokkit.diagnostics import hindsight_conditions
from grokkit.engine import load_weights
from grokkit.viz.style import picture, style, titles
from grokkit.widgets import ConditionPlane

# %% [markdown]
# ## 1. Two sequences, one difference
#
# Measured on a recorded network of lesson 01, which the package brings along twice: stopped when it had
# memorised, and at its end, when nearly all of the unseen sums are right. Every training sequence gets a partner that differs in the first number.

# %%
networks = {}
for name, file in (("memorised", "memorised"), ("later", "baseline")):
    spec, weights = load_weights(f"recorded:weights/{file}.safetensors")
    networks[name] = {key: value[0].detach().double() for key, value in weights.items()}
train = spec.task.build(spec.seed).train

x = train.tokens
other = x.clone()
other[:, 0] = (x[:, 0] + 1) % 43  # in every sequence, the first number is exchanged for the next

# %% [markdown]
# **Step 1, everybody else shrinks alike.** A score belongs to its own token (lesson 02). So the other
# tokens keep theirs, and all their shares are multiplied with one factor (12): $\alpha'_j = c\,\alpha_j$.
#
# **Step 2, the rest has a centre.** So what they pool among themselves is the same point in both
# sequences, their centroid (13): $m = \sum_{j \ne i} \alpha_j v_j \,/\, (1 - \alpha_i)$.
#
# **Step 3, the difference.** Each pooled vector is a mixture of two points, the token that
# differs and the centre of the rest: $h = m + \alpha_i (v_i - m)$. So, (14):
#
# $$h - h' = \alpha_i\,(v_i - m) - \alpha'_i\,(v'_i - m)$$


# %%
def attend(w, tokens):
    """Attention and values of every sequence, as in lesson 02."""
    e = w["token_embedding"][tokens] + w["position_embedding"]
    scores = e @ w["W_K"] @ (e[0, -1] @ w["W_Q"]) / w["W_Q"].shape[1] ** 0.5
    return scores.softmax(-1), e @ w["W_V"]


def parts(w):
    """Of every pair: the two shares of the token that differs, its two values, and m."""
    (alpha, v), (alpha_, v_) = attend(w, x), attend(w, other)  # underscore: the changed sequence
    a, b = alpha[:, 0, None], alpha_[:, 0, None]
    m = (alpha[:, 1:, None] * v[:, 1:]).sum(1) / (1 - a)
    return a, b, v[:, 0], v_[:, 0], m


w = networks["memorised"]
h, h_ = ((share[..., None] * v).sum(1) for share, v in (attend(w, x), attend(w, other)))
a, b, v, v_, m = parts(w)
print(f"(14), for {len(x)} pairs:", torch.allclose(h - h_, a * (v - m) - b * (v_ - m)))

# %% [markdown]
# Everything that could tell the two apart is multiplied by a share of attention. Let $\Delta$ be the
# longest that any $v - m$ gets. Then we have the **bottleneck**, (16):
#
# $$\|h - h'\| \;\le\; (\alpha_i + \alpha'_i)\,\Delta$$
#
# In words: *the two pooled vectors are no further apart than the attention on the token that
# differs allows.* The other way round is weaker. With $\xi$ for the least distance of two values,
# from (14), sorted anew (17), follows (18):
#
# $$h - h' = \alpha_i (v_i - v'_i) + (\alpha_i - \alpha'_i)(v'_i - m)
#   \quad\Rightarrow\quad \|h - h'\| \ge \max(\alpha_i, \alpha'_i)\,\xi - |\alpha_i - \alpha'_i|\,\Delta$$
#
# It says something only where the two tokens get *about the same* attention.


# %%
def distances(w):
    """Of every pair: attention on the differing token in both, distance, (18); and Delta."""
    a, b, v, v_, m = parts(w)
    gap = (a * (v - m) - b * (v_ - m)).norm(dim=1)
    spread = torch.cat([v - m, v_ - m]).norm(dim=1).max()  # Delta
    separation = (v - v_).norm(dim=1).min()  # xi
    least = torch.maximum(a, b) * separation - (a - b).abs() * spread
    return (a + b)[:, 0], gap, least[:, 0], spread


for name, w in networks.items():
    together, gap, least, spread = distances(w)
    holds = (gap <= together * spread).all() and (gap >= least - 1e-12).all()
    print(f"{name}: (16) and (18) hold for every pair: {bool(holds)}")

# %% tags=["nbval-ignore-output"]
with style():
    figure = picture(9.5, 3.8)
    for ax, (name, w) in zip(
        figure.subplots(1, 2, sharex=True, sharey=True), networks.items(), strict=True
    ):
        together, gap, least, spread = distances(w)
        ax.plot(together, gap, "o", markersize=3, alpha=0.4, color=viz.LOOKS["structure"].color)
        ax.plot([0, 1.2], [0, 1.2 * spread], color="#262626", label="(16): at most this")
        ax.set(xlabel="attention on the token that differs, in both together")
        ax.set_title(f"{name}; (18) guarantees something for {(least > 0).double().mean():.0%}")
        ax.set(xlim=(0, 1.6), ylim=(0, 16))
    figure.axes[0].set_ylabel("‖h − h′‖, how far apart")
    figure.axes[0].legend(loc="upper left")
    titles(figure, "No attention, no distance: pairs of sequences that differ in one number",
           f"{len(x)} pairs; one network, when it has memorised (epoch 500) and later (at its end)")  # fmt: skip
figure

# %% [markdown]
# Every dot is a pair, and none can leave the wedge under the line. On the left some numbers get much
# attention and others little, and the distance goes with it. On the right the network has found
# where to look: a number gets about half in either sequence, so all pairs stand near 1, and are
# about equally far apart. In both, the dots keep well below the line: it is a worst case.
#
# ## 2. From distance to answers: the threshold γ
#
# Now the MLP. How far apart can it put two answers whose inputs are close? Its **Lipschitz
# constant** $L_f$ says it: outputs move at most $L_f$ times as far as inputs. For two matrices with
# a ReLU between them the product of their largest singular values will do.
#
# And how far apart *must* they be? If each sum has its own answer in front by a margin (right logit
# minus best wrong one), the logits of two answers differ by at least $c = \sqrt2$ times the margin,
# (25). Put together, for two sums with different answers that differ in token $i$:
#
# $$c \;\le\; \|f(h) - f(h')\| \;\le\; L_f\,\|h - h'\| \;\le\; L_f\,(\alpha_i + \alpha'_i)\,\Delta
#   \quad\Rightarrow\quad \alpha_i + \alpha'_i \;\ge\; \frac{c}{L_f\,\Delta} = \gamma \qquad (27)$$
#
# That is a theorem. The paper goes on to ask for more: *each* informative token of *each* sequence shall
# have a share of at least $\gamma$. This is the **structural condition** $B_\gamma$. The paper gives
# no number for $\gamma$. Here is one:

# %%
y = train.targets


def threshold(w):
    """The least share of attention, and gamma, over the train set."""
    alpha, v = attend(w, x)
    h = (alpha[..., None] * v).sum(1)
    logits = (h @ w["W_1"] + w["b_1"]).relu() @ w["W_2"] + w["b_2"]
    right = logits.gather(1, y[:, None])
    margin = (right - logits.scatter(1, y[:, None], -torch.inf).amax(1, keepdim=True)).min()
    lipschitz = torch.linalg.matrix_norm(w["W_1"], 2) * torch.linalg.matrix_norm(w["W_2"], 2)
    spread = distances(w)[3]
    gamma = theory.gamma_threshold(2**0.5 * margin.item(), lipschitz.item(), spread.item())
    return alpha[:, [0, 2]].min(), gamma


# %% tags=["nbval-ignore-output"]
meets = {}
for name, w in networks.items():
    least, gamma = threshold(w)
    meets[name] = "yes" if least >= gamma else "no"
    print(f"{name}: least attention on a number {least:.2g}, gamma {gamma:.2g}")
print("the memorised network meets it:", meets["memorised"])

# %% [markdown]
# The theorem is true, and its threshold low: $L_f$ is a worst case over all directions, and $\Delta$ one
# over all tokens. $\gamma$ grows with the margin, which is small at first. So below it is taken in
# hindsight, from the margin that a recorded run had at border 3|4 of its phases. The amber line is the
# norm at that border: we defined it so, and the run crosses it there by construction.

# %% tags=["nbval-ignore-output"]
ConditionPlane()

# %%
classroom = runs.load("classroom")  # the five recorded runs of lesson 01
hindsight = hindsight_conditions(classroom)
for run, seed in enumerate(classroom.seed.values):
    one = classroom.isel(run=run)
    gamma, grokked = (float(hindsight[name][run]) for name in ("gamma", "epoch"))
    below = one.epoch.where(one.min_informative_mass < gamma).max().item()
    last = "never below it" if below != below else f"last below it at {below:,.0f}"
    print(f"seed {seed}: gamma {gamma:.2g}, {last}; half of the unmirrored pairs at {grokked:,.0f}")

# %% [markdown]
# One run never falls below its line, and one has half of the unmirrored unseen pairs right while it is
# below. That is no breach of (27), which speaks of two sequences together, but one of $B_\gamma$. Meeting
# $B_\gamma$ is not what ends the wait.
#
# ## 3. Norm against structure
#
# Nine settings, five seeds: attention free, drawn to the oracle, or drawn to the distractors; the decay 1,
# the decay 0, or the MLP's norm held.

# %%
recorded = experiments.recorded("norm-vs-structure")
viz.row_figure("norm-vs-structure", recorded)

# %%
evidence = experiments.row("norm-vs-structure").evidence(recorded)
weak, as_above, strong = (f"norm held, adversarial{end}" for end in (" 0.1", "", " 1"))
columns = {
    "by heart": "train_accuracy",
    "unseen": "test_accuracy",
    "mass": "informative_mass",
    "KL": "kl",
    "least": "min_informative_mass",
}


def median(arm, name):
    """The last record of a variable, median over the seeds of an arm."""
    return float(sorted(evidence.final(arm, name))[2])


print("at the end, median of five seeds; least: the least attention on a number in any sum")
print(" " * 16, *(f"{word:>9}" for word in columns))
for words, arm in (("weaker, 0.1", weak), ("as above, 0.3", as_above), ("stronger, 1", strong)):
    print(f"{words:16}", *(f"{median(arm, name):9.2f}" for name in columns.values()))

# %% [markdown]
# The least mass tells the weak adversary, whose networks answer most unseen sums, from the one of the 3 × 3.
# This was seen after these runs; the row `structure` asked it again on ten fresh seeds (lesson 03).
#
# ## 4. One norm?

# %%
evidence = experiments.row("assumptions").evidence(experiments.recorded("assumptions"))
at_grok = {}
for arm in ("AdamW", "Muon", "SGD", "batch 128", "batch 512"):
    norms_of_seeds = evidence.at(arm, "mlp_norm", evidence.grokked(arm, 0.95))
    at_grok[arm] = float(sorted(norms_of_seeds)[2])  # the median
    print(f"{arm:10} groks at a norm of {at_grok[arm]:.0f}")
ratio = max(at_grok.values()) / min(at_grok.values())
print(f"largest over least: {ratio:.1f} times")

# %%
for row in ("four-phases", "assumptions"):
    (one,) = [one for one in experiments.claims(row) if one.claim.id.endswith("/goldilocks")]
    print(f"{one.claim.says}\n    {one.label}")

# %% [markdown]
# Over the arms that differ in decay and learning rate the norms lie close together at *every* epoch, so a
# claim that they agree at the grok could hardly fail; the claims now compare with other epochs. Over
# optimizers and batches they do not agree. A norm at which networks grok is not something that was
# measured here.
#
# ## 5. Two counterexamples
#
# Of these two inputs one pays more attention to the token that differs, the other gives it a longer value,
# and both come to the same point.

# %%
pair = theory.collision()
for name, shares, h in zip(("x ", "x'"), pair.attention, pair.pooled, strict=True):
    print(f"{name}: attention on the token that differs {shares[0]:.1f}, h = {h.round(2).tolist()}")

# %% [markdown]
# The same $h$, so the same answer from *any* MLP, though $B_\gamma$ holds with $\gamma = 0.2$. And parity:
# is the number of ones among three informative bits odd? This network looks at ones, and never at zeros.

# %%
net = theory.parity(k=3, distractors=2)
for row in (0, 4, 12, 28):
    bits, shares = net.tokens[row, :3].tolist(), net.attention[row, :3]
    looks = "  ".join(f"{share:.2f}" if share > 0.01 else f"{share:.0e}" for share in shares)
    print(f"bits {bits}, attention on them  {looks}, output {net.output[row]:+.0f}")
wrong = ((net.output > 0) != (net.targets == 1)).sum()
least = net.attention[:, net.informative].min()
print(
    f"{len(net.tokens)} inputs, {wrong} errors, least attention on an informative bit {least:.0e}"
)

needed = theory.pair_mass_required(net.c_margin, net.lipschitz, spread=1.0)
both = [
    net.attention[r, i] + net.attention[s, i]
    for r, s in combinations(range(len(net.tokens)), 2)
    for i in range(3)
    if (net.tokens[r] != net.tokens[s]).nonzero()[0].tolist() == [i]
]
print(
    f"(27) asks for {needed:.2g} in both together; the least over {len(both)} pairs: {min(both):.2g}"
)

# %% [markdown]
# No error, and yet half of all informative tokens get practically no attention: $B_\gamma$ fails. (27) does
# not, for it speaks of two sequences together.
#
# ## 6. What is proved, and what is assumed
#
# | part | status | what stands on the other side |
# | --- | --- | --- |
# | (14), (16), (18), the geometry | **proved**; you have checked it | – |
# | (27): enough attention on the token that differs, *in both sequences together* | **proved** | – |
# | $B_\gamma$: enough attention on each token of each sequence | **more than is proved** | the run of section 2 that groks below its line; parity |
# | $N$ is needed | **cited**, not derived | networks that grok at another norm, section 4 |
# | $B_\gamma$ and $N$ together suffice | **assumed** (Assumption C.1) | the collision |

# %% [markdown]
# ## 7. The claims
#
# (The recorded runs do not store $\Delta$, so we use the largest $\gamma$ that fits what they store. This
# makes the condition as hard to meet as possible. Every run still meets it.)

# %%
gamma_claim = [one for one in experiments.claims("starvation-bound") if "gamma" in one.claim.id]
asked = ("structure/least-mass", "structure/not-kl")  # on ten fresh seeds of each kind
fresh = [one for one in experiments.claims("structure") if one.claim.id in asked]
experiments.Table([*gamma_claim, *experiments.claims("norm-vs-structure"), *fresh])

# %% [markdown]
# - $\gamma$ is measured over the training sums. Over unseen ones the margin of a network that makes errors
#   is negative, and the theorem is silent.
# - The strength of the adversary in the 3 × 3 was chosen on one seed.
#
# ## Sources
#
# - *Grokking as Structural Inference: Transformers Need Bayesian Lottery Tickets*,
#   arXiv 2605.15787: Definitions 4.1 and 4.2, Theorem 4.3, appendix A.3 (12)–(18), appendix C (25),
#   (27), Assumption C.1, Figure 2. (In (18) it has the smaller of the two shares where we have the
#   larger; both are true.) What is measured, the other adversaries and both counterexamples are ours.
# - Code: [`grokkit/theory/geometry.py`](../../grokkit/theory/geometry.py),
#   [`grokkit/theory/decoupling.py`](../../grokkit/theory/decoupling.py),
#   [`grokkit/theory/counterexamples.py`](../../grokkit/theory/counterexamples.py),
#   [`grokkit/diagnostics/capacity.py`](../../grokkit/diagnostics/capacity.py) (norms,
#   margins, $L_f$), [`grokkit/experiments/norm_vs_structure.py`](../../grokkit/experiments/norm_vs_structure.py).
