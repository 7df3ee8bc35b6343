# %% [markdown]
# # Evidence 05 · The wait
#
# For those who doubt [lesson 05](../05_the_wait.ipynb): what decay takes and what three optimizers put back, the 1/decay law seed by seed, equation (5), and whether the loss rises.
# Nothing here is needed to follow the course. Claims that were not written down before their runs say
# "after its runs"; the words for verdicts are explained in [RESULTS.md](../../RESULTS.md).

# %%
import numpy as np

import grokkit
from grokkit import experiments, runs, theory, viz
from grokkit.diagnostics import grok_epoch, memorise_epoch, phase_borders, plateau_lengths
from grokkit.engine import Trainer
from grokkit.model import MLP_WEIGHTS
from grokkit.runtime.history import to_history

live = grokkit.presets["live"]

# %% [markdown]
# ## 1. A force that does not fade
#
# A step of an optimizer with **decoupled** weight decay does two things. First it multiplies
# every weight by a number just below 1; then it adds a step of its own:
#
# $$W' = (1 - a)\,W - \eta\,U, \qquad a = \eta\,w.$$
#
# Here $\eta$ (eta) is the learning rate, $w$ the weight-decay setting, and $U$ whatever the
# optimizer makes of the gradient. The share $a$ that is lost at each step is their *product*.
# If $U$ were 0, weights would halve every $\log 2 / a$ steps:

# %%
eta, w = live.optimizer.learning_rate, live.optimizer.weight_decay
a = eta * w
print(
    f"each step takes {a:.1%} off every weight; alone it would halve them in {np.log(2) / a:.0f} steps"
)

# %% [markdown]
# But $U$ is not 0. The paper asks only that an optimizer be **norm-contractive** (Definition
# 3.2). In words: *after a step, the squared norm of the weights is at most what the decay
# leaves of it, plus a growth that stays bounded.* In symbols, with $\lambda = a$:
#
# $$\lVert W' \rVert^2 \;\le\; (1 - \lambda)\,\lVert W \rVert^2 + \rho.$$
#
# Appendix B says how large $\rho$ (rho) may have to be: $\rho = (\eta / w)\,\lVert U \rVert^2$. In
# code, these are the books of one step: what decay takes, what the step puts back, and how
# much it may put back by this rule.


# %%
def books(before, after, eta, w):
    """Of the squared norm: what decay takes, what the step puts back, what it may put back."""
    a = eta * w
    step = ((1 - a) * before - after) / eta  # U, read off the weights around the step
    taken = a * before.square().sum()
    put_back = after.square().sum() - (1 - a) * before.square().sum()
    rho = eta / w * step.square().sum()
    return [float(taken), float(put_back), float(rho)]


# %% [markdown]
# If `put_back` is at most `rho`, Definition 3.2 holds for this step. If it is less than `taken`,
# the norm falls. Two different questions!
#
# We keep these books for the MLP of a real run, at every single step.


# %%
def train_with_books(spec):
    """Train one run; its History, and the books of its MLP at every step."""
    trainer, kept = Trainer([spec]), []
    mlp = trainer.weights.columns(MLP_WEIGHTS)
    for _ in range(spec.epochs):
        before = trainer.weights.flat[0, mlp].double()
        trainer.advance(1)  # one epoch is one step
        after = trainer.weights.flat[0, mlp].double()
        kept.append(
            books(before, after, trainer.optimizer.rate.item(), spec.optimizer.weight_decay)
        )
    return to_history(trainer), np.array(kept).T


# %% tags=["nbval-ignore-output"]
adamw, (taken, put_back, rho) = train_with_books(live.with_(epochs=1300))
epochs = np.arange(len(taken))
viz.lines(
    [
        viz.Line(epochs, rho, "most that it may put back (ρ)", "gradient", {"marker": None}),
        viz.Line(epochs, taken, "what decay takes", "norm"),
        viz.Line(epochs, put_back, "what the step puts back", "train", {"linestyle": "-"}),
    ],
    title="What decay takes off the MLP, and what AdamW puts back",
    below=f"one live run, {viz.headline(adamw).lower()}",
    x="epoch",
    y="squared norm, per step",
    log="y",
    ylim=(1, 200),
)

# %% [markdown]
# Definition 3.2 holds at every step: the blue line stays below the purple one. And blue is close to amber:
# the step puts back most of what decay takes.
#
# ## 2. Three optimizers
#
# Muon makes the singular values of each step alike; Lion takes the *sign* of every entry, so that its $U$ is
# always as long as it can be.

# %% tags=["nbval-ignore-output"]
start, _, end = phase_borders(adamw).values[0].astype(int)
share = float(np.median(put_back[start:end] / taken[start:end]))
print(f"of what decay takes on the plateau, the step puts back {share:.0%} (median)")

# %% tags=["nbval-ignore-output"]
lion_spec = live.with_(optimizer="lion", learning_rate=1e-3, weight_decay=3.0, epochs=900)
muon, muon_books = train_with_books(live.with_(optimizer="muon", learning_rate=eta, epochs=950))
lion, lion_books = train_with_books(lion_spec)
looks = {"AdamW": ("norm", {}), "Muon": ("gradient", {}), "Lion": ("train", {"linestyle": "-"})}
three = {"AdamW": adamw, "Muon": muon, "Lion": lion}
viz.lines(
    [viz.Line(h.epoch, h.mlp_norm[0], name, *looks[name]) for name, h in three.items()],
    title="The norm of the MLP under three optimizers",
    below="one live run each; AdamW and Muon with decay 1, Lion with decay 3",
    x="epoch",
    y="norm of the MLP (Frobenius)",
    height=3.6,
)

# %% tags=["nbval-ignore-output"]
all_books = {"AdamW": (taken, put_back, rho), "Muon": muon_books, "Lion": lion_books}
print("       Definition 3.2 held   memorised   then the norm fell   95 % of the unseen")
for name, (takes, puts, may) in all_books.items():
    begin = int(memorise_epoch(three[name]).item())
    understood = grok_epoch(three[name], 0.95).item()
    when = "never" if np.isnan(understood) else f"at {understood:.0f}"
    held, fell = np.mean(puts <= may), np.mean(puts[begin:] < takes[begin:])
    print(
        f"{name:6} at {held:.0%} of the steps {f'at {begin}':>11}   at {fell:>4.0%} of them      {when}"
    )

# %% [markdown]
# All three are norm-contractive at every step, and yet the norm of one of them goes up at nearly every
# step. There is no contradiction. The inequality allows growth of up to $\rho$, and with
# $\rho = (\eta/w)\lVert U\rVert^2$ it forces the norm down only while
#
# $$\lVert W \rVert > \frac{\lVert U \rVert}{w}.$$
#
# Below that **floor** the definition promises nothing. For Lion, the floor is known beforehand,
# since every entry of $U$ is $\pm 1$. And for AdamW we have measured it:

# %% tags=["nbval-ignore-output"]
size = len(Trainer([lion_spec]).weights.columns(MLP_WEIGHTS))
floor = theory.norm_floor(theory.sign_update_bound(size), lion_spec.optimizer.weight_decay)
print(f"Lion:  the floor is {floor:.0f}, the norm at the end {lion.mlp_norm[0, -1].item():.0f}")
middle = (start + end) // 2
measured = np.sqrt(rho[middle] * w / eta) / w
print(
    f"AdamW: the floor is {measured:.0f} in mid-plateau, the norm {np.sqrt(taken[middle] / a):.0f}"
)
worst = theory.norm_floor(theory.adamw_update_bound(size), w)
print(f"AdamW: the floor that can be known beforehand is {worst:,.0f}")

# %% [markdown]
# Lion's weights climb towards their floor from below. AdamW's stand about at theirs in mid-plateau. (The picture of
# section 1 shows that $\rho$ falls over the plateau, and with it this floor.)
#
# ## 3. 1/decay, seed by seed

# %% [markdown]
# A run that has not understood by its last epoch is *censored*: it counts as later than all others. Slopes
# are of log wait over log decay; $-1$ is the 1/decay law.


# %%
def slope(decays, waits):
    """Of the straight line through log wait over log decay; -1 is the 1/decay law."""
    return np.polyfit(np.log(decays), np.log(waits), 1)[0]


# %%
recorded = experiments.recorded("four-phases")
medians = {}
for decay in (0.5, 1.0, 2.0, 4.0):
    arm = recorded.isel(run=(recorded.arm == f"decay {decay:g}").values)
    wait = (grok_epoch(arm, 0.95) - memorise_epoch(arm)).fillna(np.inf)
    medians[decay] = float(wait.median())
    print(
        f"decay {decay:3g}: median wait {medians[decay]:6,.0f} epochs, "
        f"{np.isfinite(wait).sum().item()} of 5 there; wait x decay {medians[decay] * decay:6,.0f}"
    )
print(f"slope of the medians {slope(list(medians), list(medians.values())):.1f}")

# %%
viz.row_figure("four-phases", recorded)

# %%
for less, more in ((0.5, 1.0), (1.0, 2.0), (2.0, 4.0)):
    slow, fast = (
        recorded.isel(run=(recorded.arm == f"decay {decay:g}").values) for decay in (less, more)
    )
    there = grok_epoch(slow, 0.95)
    wait = there.fillna(slow.ended) - memorise_epoch(slow)  # censored: at least this long
    times = (wait.values / (grok_epoch(fast, 0.95) - memorise_epoch(fast)).values).round(1)
    said = ", ".join(
        f"{'' if known else 'more than '}{value}"
        for value, known in zip(times, there.notnull().values, strict=True)
    )
    print(f"decay {less:g} waits, times decay {more:g}: {said}")

# %%
law = ("inverse-decay", "product")
experiments.Table([one for one in experiments.claims("four-phases") if one.claim.id.endswith(law)])

# %% [markdown]
# The same product of rate and decay, made in two ways:

# %%
for more_decay, larger_rate in (("decay 1", "rate x2, decay 0.5"), ("decay 2", "rate x2")):
    one, other = (
        recorded.isel(run=(recorded.arm == arm).values) for arm in (more_decay, larger_rate)
    )
    ratio = [
        float((grok_epoch(arm, 0.95) - memorise_epoch(arm)).fillna(np.inf).median())
        for arm in (other, one)
    ]
    print(f"{larger_rate} waits {ratio[0] / ratio[1]:.2f} times as long as {more_decay}")

# %% [markdown]
# Where the same product is made with a larger learning rate, the wait is shorter.
#
# ## 4. Equation (5)
#
# Here is the formula itself. In words: *the wait is the time that the norm needs to fall from
# where memorising left it to where the network can generalise; a share $\lambda$ of its square
# is lost at each step.*
#
# $$t \approx \frac{2}{\lambda} \log \frac{\lVert\theta_{\text{mem}}\rVert}{r_{\max}}. \qquad (5)$$
#
# The paper reads it as the least that the wait can be. But Definition 3.2 bounds the norm from above, and
# from "at most this" nobody can conclude "and so it takes at least that long". Three toy trajectories:


# %%
def toy_norms(push, a=0.001, norm=10.0, steps=2600):
    """Decay, and a step straight outward (push above 0) or inward, as long as it may be."""
    norms = [norm]
    for _ in range(steps):
        norms.append((1 - a) * norms[-1] + a * push)
    return np.array(norms)


toys = {"steps that help": -4.5, "pure decay": 0.0, "steps that oppose": 4.5}
claimed = theory.plateau_length_claimed(10, 5, 0.001)
for name, push in toys.items():
    print(
        f"{name}: down to 5 after {np.argmax(toy_norms(push) <= 5)} steps; (5) says {claimed:.0f}"
    )

# %%
colors = ("structure", "norm", "gradient")
viz.lines(
    [
        viz.Line(np.arange(2601), toy_norms(push), name, color)
        for (name, push), color in zip(toys.items(), colors, strict=True)
    ],
    title="Three waits that equation (5) takes for one",
    below="all obey Definition 3.2; the goal is a norm of 5",
    x="steps",
    y="norm",
    marks={"(5)": claimed},
    ylim=(0, 10.5),
    height=3.6,
)

# %% [markdown]
# A real run, with (5) told in hindsight the norm at which each run came to understand:

# %%
baseline = runs.load("classroom")  # the five recorded runs of lesson 01
lengths = plateau_lengths(baseline)
for run, seed in enumerate(baseline.seed.values):
    norm0, r_max = lengths.norm0[run].item(), lengths.r_max[run].item()
    print(
        f"seed {seed}: norm {norm0:.0f} to {r_max:.0f}; "
        f"(5) says {lengths.claimed[run]:.0f} epochs, it took {lengths.measured[run]:,.0f}: "
        f"off by {lengths.measured[run] / lengths.claimed[run]:.0f} times"
    )

# %% [markdown]
# And five runs at the size of the paper (modulus 113):

# %%
experiments.Table(
    [one for one in experiments.claims("four-phases", "paper") if one.claim.id.endswith("length")]
)

# %% tags=["nbval-ignore-output"]
norm0 = adamw.mlp_norm.sel(epoch=start).item()
after = np.arange(start, len(taken))
viz.lines(
    [
        viz.Line(after, norm0 * (1 - a) ** (after - start), "if decay were alone", "train"),
        viz.Line(adamw.epoch, adamw.mlp_norm[0], "the real norm", "norm"),
    ],
    title="The norm does not fall freely",
    below="the live run of section 1; dashed blue: decay alone from memorising on",
    x="epoch",
    y="norm of the MLP (Frobenius)",
    marks={"memorised": start, "border 3|4": end},
    ylim=(0, 65),
    height=3.6,
)

# %% [markdown]
# ## 5. Does the loss rise before the turn?
#
# Our rule: between memorising and border 2|3, where attention moves, the training loss gets to at least 1.5
# times its least value so far.

# %%
viz.seed_curves(
    baseline, ["train_loss", "kl"], title="The train loss, while attention finds its way"
)


# %%
def largest_rises(history):
    """For each run: the train loss over its least so far, at most, from border 1|2 to 2|3."""
    found = []
    for run, (first, turn, _) in enumerate(phase_borders(history).values):
        one = history.train_loss[run]
        plateau = one.where((one.epoch >= first) & (one.epoch <= turn)).dropna("epoch").values
        found.append(float((plateau / np.minimum.accumulate(plateau)).max()))
    return found


rise = float(np.median(largest_rises(baseline)))
print(f"largest rise, median of five seeds: {rise:.1f} times")

# %% [markdown]
# It does not rise, in the median: by then decay and steps balance, and the loss falls slowly.
#
# ## 6. The other claims

# %%
experiments.Table(
    [one for one in experiments.claims("four-phases") if not one.claim.id.endswith(law)]
)

# %% [markdown]
# - Everything here is one task of one size: sums modulo 43. Without decay five networks of p 113 were
#   trained, too: they memorise, and none comes to 95 % in 10,000 epochs (the row at the size of the paper).
# - $r_{\max}$, the norm at which generalising becomes possible, is known in hindsight only. A formula
#   that needs it cannot predict a wait.
#
# ## 7. What the field found in other networks
#
# Three accounts of the wait come from other networks. We asked them of this one: p 31, seeds that nobody
# had looked at, claims written before the runs.
#
# The **initial norm** (Liu et al., Lyu et al.): the wait is that of weights which were too large at the start.

# %%
experiments.claims("initial-norm")

# %% [markdown]
# Here it is the other way round: from half of every initial weight one of five networks groks in 600
# epochs; from twice of each all five do, in the median sooner. A learning rate that goes with the weights does not
# change that. So the account does not hold for this network under AdamW and cross-entropy.
#
# The **amount of data** (Varma et al.): below a critical size a network memorises and never groks.

# %%
experiments.claims("data-size")

# %% [markdown]
# This holds, also where no mirror image of a train pair is asked (there one network fell back, and the
# verdict hangs on it).
#
# **Ungrokking** (the same authors): a network that has grokked, trained on with fewer pairs, forgets the rule.

# %%
experiments.claims("ungrokking")

# %% [markdown]
# It forgets a part, the more the fewer the pairs, and stays far above a new network with as many. It forgets
# without weight decay, too: so the decay is not what makes it forget here. Most is lost in the first records.
#
# **From lazy to rich** (Kumar et al.): a network memorises with the tangent kernel it began with, and groks
# when the kernel turns. The *turn* is an angle between the kernel now and at the start.

# %%
experiments.claims("lazy-to-rich")

# %% [markdown]
# The kernel turns as far in a network that never groks. So its turn does not tell the two apart: the control
# takes the account away, at least for this measure and this network.
#
# ## Sources
#
# - *Grokking as Structural Inference: Transformers Need Bayesian Lottery Tickets*,
#   arXiv 2605.15787: Definition 3.2, Propositions B.1 and B.2 (contraction), section 5.1 and
#   equation (5) (phases and plateau), Figure 1.
# - I. Loshchilov, F. Hutter, *Decoupled Weight Decay Regularization*, arXiv 1711.05101 (AdamW);
#   X. Chen et al., *Symbolic Discovery of Optimization Algorithms*, arXiv 2302.06675 (Lion);
#   K. Jordan et al., *Muon: an optimizer for hidden layers in neural networks* (2024).
# - Z. Liu et al., *Omnigrok*, arXiv 2210.01117; K. Lyu et al., arXiv 2311.18817 (initial norm); V. Varma et
#   al., arXiv 2309.02390 (critical size); T. Kumar et al., arXiv 2310.06110 (lazy to rich).
# - Code: [`theory/contraction.py`](../../grokkit/theory/contraction.py) (the bounds, the bracket),
#   [`engine/contraction.py`](../../grokkit/engine/contraction.py) (the books, for any run),
#   [`diagnostics/phases.py`](../../grokkit/diagnostics/phases.py) (the rule),
#   [`experiments/four_phases.py`](../../grokkit/experiments/four_phases.py) (the claims).
