# %% [markdown]
# # Evidence 07 · Tickets
#
# What stands behind [lesson 07](../07_tickets.ipynb): how a mask is cut and what it does, who was given what,
# all seven arms of the recorded race, a random mask as the control, and every claim with its verdict.
#
# *You need lesson 07. The code takes {{time 07}} of one core. Results stand open below.*

# %%
import tempfile

import numpy as np
import torch

import grokkit
from grokkit import experiments, runs, viz
from grokkit.engine import Trainer, load_weights
from grokkit.model import Batch, Transformer
from grokkit.tickets import Pruning, Ticket, prunable, prune, save_ticket

live = grokkit.presets["live"]

# %% [markdown]
# ## 1. A ticket, cut by hand
#
# First we need a network that understands. One comes with the package: sums modulo 43, seed 100.

# %%
source = runs.folder() / "sources" / "source.safetensors"
spec, trained = load_weights(source)
unseen = Batch.of([spec.task.build(spec.seed).test])
with torch.no_grad():
    answers = Transformer(spec.model, unseen, trained.layout.length)(trained).logits.argmax(dim=-1)
right = (answers == unseen.targets).float().mean()
print(f"seed {spec.seed}: {right:.1%} of the unseen sums right")
for name in prunable(trained.layout):
    print(f"{name}: {' x '.join(str(size) for size in trained[name][0].shape)}")

# %% [markdown]
# **Prune.** In words: *of each matrix, set the smallest weights to zero for good, a share $s$ of
# them.* In symbols, with $q_s$ the value below which a share $s$ of the absolute weights lies, the
# mask is
#
# $$m_{ij} = 1 \;\text{ if } |W_{ij}| \ge q_s, \quad \text{else } 0.$$
#
# In code:


# %%
def keep_largest(weight, sparsity):
    """Which entries survive: all but the smallest share, by absolute value."""
    size = weight.abs()
    limit = size.flatten().sort().values[round(sparsity * weight.numel())]
    return size >= limit


kept = {name: keep_largest(trained[name][0], 0.8) for name in prunable(trained.layout)}

# %%
size = trained["W_1"][0].detach().abs().flatten().numpy()
cut = size[kept["W_1"].flatten().numpy()].min()
edges = np.geomspace(1e-4, 2, 60)
count, _ = np.histogram(size, edges)
viz.lines(
    [viz.Line(np.sqrt(edges[1:] * edges[:-1]), count, "", "norm", {"linestyle": "-"})],
    title="Most weights of the trained W_1 are small, and go",
    below="what lies to the left of the dashed line is pruned, four fifths of all",
    x="absolute value of a weight (log scale)",
    y="how many weights",
    marks={"cut": cut},
    log="x",
    height=3.2,
)

# %% [markdown]
# **Rewind.** *Multiply the initial weights with the mask, and train again; pruned weights stay
# zero.* The initial weights may be those of the network that was pruned (the classical ticket), or
# those of a *fresh* seed: then the mask alone is inherited, and this is what the paper's race is
# about.

# %%
fresh = Trainer([live.with_(seed=0)]).weights  # what seed 0 begins with
rewound = {name: fresh[name][0] * mask for name, mask in kept.items()}
zeros = sum(int((one == 0).sum()) for one in rewound.values())
print(f"{zeros / sum(one.numel() for one in rewound.values()):.0%} of these weights are now zero")

# %% [markdown]
# `grokkit.tickets` does the same, and keeps the mask in a file which a run names by
# `ticket=...`. During training it also hides pruned weights from the gradient, so that neither
# clipping nor the optimizer knows that they ever were. The two masks are alike to the last entry:

# %%
lottery = prune(spec, trained, Pruning(sparsity=0.8))
assert all(bool((lottery.kept[name] == kept[name]).all()) for name in kept)

folder = tempfile.mkdtemp()
mask = str(save_ticket(Ticket(kept), f"{folder}/by_hand.safetensors"))

# %% [markdown]
# ## 2. Who was given what?
#
# Before anyone is declared a winner, write down what each rival brings to the start:
#
# | rival | a mask from a trained network | where to look, from a trained network | where to look, from the oracle |
# | --- | --- | --- | --- |
# | dense | no | no | no |
# | lottery | **yes** | no | no |
# | Bayesian | no | no | **yes** |
#
# So the two differ in *two* ways: mask or no mask, oracle or no oracle. The oracle is the right
# answer to the very question that the network is slow to solve; and one of them was handed it.
# The race adds up what the oracle is worth and what the mask costs, and cannot say which *ticket* is
# better. There are two ways of making it fair:
#
# | fair rivals | mask | where to look, from a trained network | oracle |
# | --- | --- | --- | --- |
# | lottery, oracle | **yes** | no | **yes** |
# | Bayesian, teacher | no | **yes** | no |
#
# The last one is told to look where *the very network that the mask was cut from* looks. Both
# inherit from the same source now; one inherits its weights' places, and the other its attention.

# %% [markdown]
# Here are five fresh seeds of each, at a smaller learning rate and with five times as many epochs.
# They all inherit from the same source.

# %%
recorded = experiments.recorded("tickets")
viz.row_figure("tickets", recorded)

# %%
evidence = experiments.row("tickets").evidence(recorded)
print("median epoch [least to greatest] (how many of five came there)")
for name in evidence.arms:
    print(f"{name:24} 95 %: {evidence.grokked(name, 0.95)}")
    print(f"{'':24} 99 %: {evidence.grokked(name, 0.99)}")

# %% [markdown]
# Made fair, the race has the same winner, in every seed. With the oracle on both sides, the mask is a
# burden; and with the oracle on neither, a teacher's *attention* transfers to fresh weights and its
# *mask*, cut to a fifth, does not. As to what is worth inheriting, the paper's answer stands, and
# stands on better ground than its own experiment.
#
# ## 3. The control: is the mask any good?
#
# In the recorded runs nothing under a mask gets to 95 % without the oracle: not the lottery ticket, not one that
# leaves attention whole, and not a **random** mask as sparse. So whether the ticket is better than random stays
# open there. 80 % is our own choice, for the paper does not tell its sparsity; and the lesson shows that at
# 80 % the source itself is broken by its mask. So cut gently, and race against a random mask of one half: five
# fresh seeds, recorded for the second race of section 4.

# %%
again = experiments.recorded("tickets-again")
gentle = experiments.row("tickets-again").evidence(again)
rivals = {"dense": "#262626", "lottery 0.5": "#BD8000", "random 0.5": "#8C8C8C"}
viz.lines(
    [
        viz.Line(arm.epoch, arm.test_accuracy.median("run"), name, "test", {"color": color})
        for name, color in rivals.items()
        for arm in [gentle.arm(name)]
    ],
    title="A gentler cut, against a random mask",
    below="half of each matrix pruned; the median of five seeds",
    x="epoch",
    y="share of unseen pairs right",
    ylim=(-0.02, 1.02),
    height=3.6,
)

# %%
for name in rivals:
    ends = gentle.final(name, "test_accuracy")
    print(f"{name:12} 95 %: {gentle.grokked(name, 0.95)}; at its end {ends.min():.2f} to "
          f"{ends.max():.2f} of the unseen right")  # fmt: skip
for name in ("dense", "lottery 0.5"):
    sooner = gentle.grokked(name, 0.95).sooner(gentle.grokked("random 0.5", 0.95)).count(True)
    print(f"{name} sooner than random 0.5: {sooner} of 5 seeds")

# %% [markdown]
# Half of the weights are enough to learn the unseen sums, which a fifth was not. Whether the ticket is better than
# the random mask: see `tickets-again` below.
#
# ## 4. Where this is weak
#
# The claims were written down before the runs; the verdicts are computed from five seeds. They stand for masks
# of 80 %, under which the source itself gets fewer sums right (the lesson prints how many). So the rival was broken, and these
# verdicts do not say that a Bayesian ticket beats a good lottery ticket.

# %%
experiments.claims("tickets")

# %% [markdown]
# So the race was run again, with masks of 50, 60 and 70 %, under which the source still works, on five
# fresh seeds. These claims, too, were written before the runs.

# %%
experiments.claims("tickets-again")

# %% [markdown]
# - **Where is the finishing line?** At 95 % of the unseen sums the Bayesian ticket is well ahead of the
#   dense network; at 99 %, the paper's line and that of the figure, it is not, in the median. Only the
#   teacher's pupils keep their lead. (At half this learning rate, in lesson 06, the prior is ahead at
#   99 % as well.) A prior that is right to the last digit and never rests may be in the way of the
#   last few sums; nothing here says.
# - **One source.** All seeds of both races inherit from the same network. What holds for its mask need not hold for another's.
# - **One round of pruning.** Lottery tickets are usually found in many small rounds, and sometimes
#   rewound to an early epoch and not to the start. Ours is the crudest kind.
# - **A mask cut for one seed, worn by another.** The hypothesis, as it was first put, is about a
#   network's *own* initial weights. The paper says both: "across random initializations" in its text,
#   "re-initialized with the original weights" in its appendix. `Pruning(start="rewound")` lets you
#   try the second (exercise).
# - **"Undecided" is no "no".** Where both rivals are censored nothing was learned about them, and
#   the verdict says so.
#
# **A common misconception.** "The Bayesian ticket beat the lottery ticket, so structure beats
# sparsity." A race shows who is faster *given what each was given*. Here one of them was given
# the answer, and the other one a handicap; in the second race it had no handicap, and was later all the same.
#
# ## Case file
#
# | what we know | how sure | what would change it |
# | --- | --- | --- |
# | The Bayesian ticket groks sooner than the lottery ticket | to 95 %: five of five recorded seeds at 80 %, and five of five fresh ones at 50, 60 and 70 %; to 99 % undecided; one source | a lottery ticket that is cut in rounds |
# | It does so too when neither has the oracle | five of five seeds in each race, one source | a source whose mask helps |
# | Whether it does so when both have the oracle hangs on the cut | at 80 % five of five; at 50 % three of five, undecided | more seeds |
# | A trained network's attention transfers to fresh weights: told it, they grok sooner than the dense network | five of five recorded seeds, one teacher | a teacher that looks elsewhere |
# | At 80 % sparsity the mask does not transfer: it is worse than nothing | five of five recorded seeds | several sources |
# | No gentle mask is sooner than no mask; whether it beats a random one is undecided | five fresh seeds at 50, 60 and 70 % | another source |
#
# So it was wrong to think of the race as a test of two tickets. It was a test of one oracle and one
# mask, and each of them needed a race of its own.
#
# ## Sources
#
# - *Grokking as Structural Inference: Transformers Need Bayesian Lottery Tickets*,
#   arXiv 2605.15787: section 6, Figure 4.
# - J. Frankle, M. Carbin, *The Lottery Ticket Hypothesis: Finding Sparse, Trainable Neural
#   Networks*, arXiv 1803.03635: pruning, rewinding, and what a winning ticket is.
# - Code: [`tickets/pruning.py`](../../grokkit/tickets/pruning.py) (from weights to a mask),
#   [`engine/ticket.py`](../../grokkit/engine/ticket.py) (how a run wears a mask),
#   [`experiments/tickets.py`](../../grokkit/experiments/tickets.py) (the races and their claims).
