# %% [markdown]
# # 01 · Sparse tasks, and the puzzle
#
# A network is trained on 924 sums. Soon it answers each of them correctly: its training accuracy is
# 100 %. Of the sums that it has not seen, it gets most wrong.
#
# It has learned its answers by heart, and nothing is left to learn, it seems. We go on training all the
# same, on the same 924 sums, several times as long. Then it answers the *unseen* sums as well.
#
# This is **grokking**. **Why would a network that already knows all its answers go on to understand?** In
# this lesson you build such a network in plain PyTorch, and watch what it knows and where it looks. Then you ask what
# the unseen sums test.
#
# *You need:* Python, and to have trained a small network once. *Time:* half an hour. New words in bold
# are in the [glossary](glossary.md). Results are folded away below your guesses: running a cell
# opens its result.

# %%
import time

import torch
from torch.nn.functional import cross_entropy
from tqdm.auto import trange

import grokkit
from grokkit import experiments, runs, viz, widgets
from grokkit.classroom import beside
from grokkit.diagnostics import grok_epoch, memorise_epoch

# %% [markdown]
# ## 1. A task in which two tokens matter
#
# Here are three of the training examples. The network sees five **tokens** and gives one of 43 answers.

# %%
spec = grokkit.presets["live"].with_(learning_rate=0.01, epochs=700)
data = spec.task.build(seed=0)
for row in (160, 420, 900):
    print(data.spell(data.train.tokens[row]), "  ->  ", data.train.targets[row].item())
print(len(data.train.targets), "sums to learn,", len(data.test.targets), "unseen sums to ask about")

# %% [markdown]
# Two tokens are numbers, and the answer is their sum modulo 43: divide by 43, keep the remainder.
# The letters are drawn at random and say nothing. The network answers from the last token, "=".
#
# A task like this is a **sparse task**: the answer is a function of the tokens in a few places and of
# nothing else. These places are called $I^*$; here $I^* = \{0, 2\}$. The tokens that stand there are
# the **informative tokens**, and the others are the **distractors**.
#
# A network has to find out *where to look*. We know the best way: half of the attention on each
# number, none elsewhere. This is the **oracle**. The network is not told of it.
#
# All random choices of a run follow from one number, its **seed**: which sums are trained on, the
# letters, the initial weights. The same seed gives the same run.
#
# ## 2. Forty lines of PyTorch
#
# The network has one layer of **attention**. It gives each of the five tokens a score, turns the scores
# into shares that sum to 1, and mixes the tokens in these shares. An MLP (two linear layers with a ReLU
# between them) reads the mixture and gives the answer.
#
# **Your turn.** Two lines are missing. Write them in place of the dots.


# %%
def attend(scores):
    """Turn scores, [example, token], into shares: positive, with sum 1 over the tokens."""
    ...


def accuracy(logits, targets):
    """The share of examples, [example], whose largest logit, [example, class], is the target's."""
    ...


# %% [markdown]
# Stuck? The next cell is folded. It fills in what you left empty, and says what it filled in.

# %% tags=["hide-input"]
if attend(torch.zeros(1, 5)) is None:
    print("attend: ours is used")

    def attend(scores):
        """Softmax: exponentiate, divide by the sum."""
        return scores.softmax(dim=-1)


if accuracy(torch.eye(2), torch.arange(2)) is None:
    print("accuracy: ours is used")

    def accuracy(logits, targets):
        """The largest logit is the answer."""
        return (logits.argmax(dim=1) == targets).float().mean().item()


# %% [markdown]
# The rest is here: the network, then its training on all sums at once. One step on all of them is one **epoch**. Two
# tables of embeddings make vectors of tokens and of places. `W_Q`, `W_K` and `W_V` are the matrices of attention, which
# lesson 02 takes apart. The other weights are the MLP's. (We take the package's initial weights, so that we can compare
# later.)

# %%
start = grokkit.engine.Trainer([spec]).weights
w = {name: value[0].detach().clone().requires_grad_() for name, value in start.items()}


def network(tokens):
    """The logits, [example, class], and the attention, [example, token]."""
    e = w["token_embedding"][tokens] + w["position_embedding"]  # 64 numbers for each token
    query = e[0, -1] @ w["W_Q"]  # the question that "=" asks
    shares = attend(e @ w["W_K"] @ query / 64**0.5)  # how well each token answers it
    mixed = (shares.unsqueeze(2) * (e @ w["W_V"])).sum(dim=1)
    hidden = (mixed @ w["W_1"] + w["b_1"]).relu()
    return hidden @ w["W_2"] + w["b_2"], shares


def train(epochs, rate=0.01):
    """Train the network; every 25 epochs write down two accuracies and the attention."""
    optimizer = torch.optim.AdamW(w.values(), lr=rate, weight_decay=1.0)  # see section 4
    seen, records = data.train, []
    for epoch in trange(epochs + 1, desc="plain PyTorch"):
        logits, shares = network(seen.tokens)
        if epoch % 25 == 0:
            unseen = accuracy(network(data.test.tokens)[0].detach(), data.test.targets)
            looks = shares.detach().mean(dim=0).tolist()
            records.append((epoch, accuracy(logits.detach(), seen.targets), unseen, looks))
        optimizer.param_groups[0]["lr"] = rate * min(1, (epoch + 1) / 10)  # a gentle beginning
        optimizer.zero_grad()
        cross_entropy(logits, seen.targets).backward()
        torch.nn.utils.clip_grad_norm_(w.values(), 1.0)  # no step is too long
        optimizer.step()
    return records


# %% [markdown]
# ## 3. Your prediction
#
# We train for 700 epochs. *When will 99 % of the training sums be right? When will 95 % of the unseen
# ones?* Write epochs, or `"never"`. Nobody marks this. Without a guess there is no surprise.

# %%
my_memorise_epoch = None
my_grok_epoch = None

# %% tags=["hide-output", "nbval-ignore-output"]
began = time.process_time()
print("The result:")
records = train(700)
seconds = time.process_time() - began
epochs, known, unseen, looks = zip(*records, strict=True)
viz.lines(
    [viz.Line(epochs, known, "training sums", "train"), viz.Line(epochs, unseen, "unseen sums")],
    title="What your network gets right",
    below="the network that you have just built, seed 0",
    x="epoch",
    y="share of right answers",
    ylim=(-0.02, 1.04),
    height=3.4,
)


# %% tags=["hide-output", "nbval-ignore-output"]
def first(epochs, shares, enough):
    """The first epoch at which a share is enough; None if there is none."""
    return next((at for at, share in zip(epochs, shares, strict=True) if share >= enough), None)


print("The result:")
print(beside("01 memorised", my_memorise_epoch, first(epochs, known, 0.99), "epochs"))
print(beside("01 grokked", my_grok_epoch, first(epochs, unseen, 0.95), "epochs"))

# %% [markdown]
# The two curves are the puzzle of this course. **The wait** is the difference of the two numbers above: the epochs
# from *memorising* (99 % of the training sums right) to 95 % of the unseen sums. (The lower curve does not stay at
# the bottom and then jump. It climbs to one half and slows down there: section 6 says why.)
#
# `grokkit.train` does the same thing, faster. Here it trains from the same initial weights:

# %% tags=["nbval-ignore-output"]
began = time.process_time()
history = grokkit.train(spec)
faster = seconds / (time.process_time() - began)
theirs = history.test_accuracy.sel(epoch=list(epochs)).values[0]
print(f"grokkit.train takes 1/{faster:.0f} of the time")
viz.lines(
    [
        viz.Line(epochs, theirs, "grokkit.train", "test", {"color": "#262626", "linestyle": "--"}),
        viz.Line(epochs, unseen, "your forty lines"),
    ],
    title="The same training, twice",
    x="epoch",
    y="share of unseen sums right",
    ylim=(-0.02, 1.04),
    height=3,
)

# %% [markdown]
# The two programs round differently, and small differences grow over hundreds of steps. So the curves are close,
# but not equal.
#
# ## 4. Watch it, and change it
#
# Press *Start*. Then change one setting and start again: the run before stays as pale curves. Try the **weight decay**:
# at each step it takes the share *learning rate × decay* off every weight. Do the unseen sums come sooner or later with
# more of it? (Lesson 05 asks it of many seeds. Lessons 02 and 03 explain the other panels.)

# %% tags=["nbval-ignore-output"]
widgets.LiveTraining()

# %% [markdown]
# **A question on the way.** Five networks, with five seeds, were trained *without* weight decay, for 16,000 epochs
# each, at a learning rate of 0.001 (the widget begins with 0.005). *What share of the unseen sums is right at the end,
# from 0 to 1? (The median, the middle one of the five.)*

# %%
my_accuracy_without_decay = None

# %% tags=["hide-output"]
row = experiments.row("four-phases").evidence(experiments.recorded("four-phases"))
without = sorted(row.final("decay 0", "test_accuracy").tolist())
print("The result:")
print("without decay, at the end, each of five seeds:", [f"{one:.2f}" for one in without])
print("with decay 1, epochs to 95 %:", row.grokked("decay 1", 0.95))
beside("01 test accuracy without weight decay", my_accuracy_without_decay, round(without[2], 2))

# %% [markdown]
# <details><summary><b>What the five networks show</b> (open after your guess)</summary>
#
# With weight decay all five come to 95 % (median [least to greatest]); without it none does. Lesson 05
# asks why. (This is AdamW, the usual optimizer. Others may differ.)
#
# </details>
#
# ## 5. Where does it look?
#
# The paper that this course tests says: the network waits because its attention has not found the
# informative tokens. So watch the attention of your own network, over time.

# %% tags=["nbval-ignore-output"]
grey = {"color": "#757575", "marker": None}
drawn = [
    viz.Line(epochs, [one[1] for one in looks], "first letter", "train", grey),
    viz.Line(epochs, [one[3] for one in looks], "second letter", "norm", grey),
    viz.Line(epochs, [one[0] for one in looks], "first number", "structure"),
    viz.Line(epochs, [one[2] for one in looks], "second number", "structure", {"marker": "s"}),
]
memorised = first(epochs, known, 0.99)
viz.lines(
    drawn,
    title="Where your network looks",
    below="mean over the training sums; the token = is left out; equal attention would be 0.2 for each",
    x="epoch",
    y="share of attention",
    marks={"99 % of the training sums": memorised} if memorised else {},
    ylim=(0, 0.55),
    height=3.4,
)

# %% [markdown]
# Look to the left of the dashed line. Attention makes an **early jump** towards the numbers, before the training sums
# are known. The rest of the way takes much longer. Is that so in other networks? Here are five recorded ones:

# %%
recorded = runs.load("classroom")  # five seeds, learning rate 0.001
print("attention on the two numbers, and the epoch in brackets")
for run, seed in enumerate(recorded.seed.values):
    one = recorded.isel(run=run)
    moments = (0, memorise_epoch(recorded)[run].item(), grok_epoch(recorded, 0.95)[run].item())
    shares = [float(one.informative_mass.sel(epoch=epoch)) for epoch in moments]
    print(
        f"seed {seed}: {shares[0]:.2f} at first, {shares[1]:.2f} when memorised ({moments[1]:.0f}), "
        f"{shares[2]:.2f} at 95 % unseen ({moments[2]:,.0f})"
    )

# %% [markdown]
# In each of these seeds the first move is the larger one, and thousands of epochs pass before the unseen
# sums are right. (Their
# learning rate is 0.001, yours was 0.01. Their wait is ten times as long or more.)
#
# So is the search for the numbers over when the wait begins? Not quite: these are means over all sums. Single numbers
# may still get little attention. Lessons 02 and 03 look at those.
#
# ## 6. The twist: what was the test testing?
#
# Look once more at your curve of the unseen sums. It begins to rise early, and rests at one half. Why?
#
# If 17 + 5 was trained on, then 5 + 17 may be among the unseen sums. The pair (5, 17) is the **mirror
# image** of (17, 5). A network that treats both orders alike can answer 5 + 17 without knowing how to add.

# %%
print(f"{data.mirror_rate:.0%} of the unseen sums have a mirror image that was trained on")

# %% [markdown]
# So some unseen sums are mirrored, and others are not. *Wait until half of the sums WITHOUT a mirror image are
# right. What share of the sums WITH one is right by then, from 0 to 1?*

# %%
my_mirrored_accuracy = None

# %% tags=["hide-output"]
print("The result:")
figure = viz.seed_curves(
    recorded,
    ["mirrored_accuracy", "unmirrored_accuracy"],
    title="The unseen sums in two parts (dashed: half are right)",
)
figure.axes[0].axhline(0.5, color="#262626", linestyle="--")
figure

# %% tags=["hide-output"]
half = recorded.epoch.where(recorded.unmirrored_accuracy >= 0.5).min("epoch")
mirrored = recorded.mirrored_accuracy.sel(epoch=half)
print("The result:")
print("seed by seed:", [f"{one:.2f}" for one in mirrored.values])
beside(
    "01 mirrored when half of the others", my_mirrored_accuracy, round(float(mirrored.median()), 2)
)

# %% [markdown]
# <details><summary><b>What the two parts show</b> (open after your guess)</summary>
#
# **The mirrored sums are right first.** For them it is enough that order does not matter. For the others the network
# must add. The usual curve of "test accuracy" mixes the two. About half of the unseen sums are mirrored. This fits
# your own curve, which rested at one half. If you report a *test accuracy*, say which pairs were unseen.
#
# </details>
#
# ## Case file
#
# - **We know:** the training sums are right long before the unseen ones: in your network, and in five
#   recorded ones. In the recorded ones mirror images come first, addition second.
# - **We doubt:** that attention is the only thing that the network waits for. In the mean, attention's largest move
#   comes before the wait begins.
# - **It would change our minds:** a network that groks with AdamW and no weight decay; or one that answers
#   the other sums before the mirrored ones.
#
# **The map so far:** what is said, what was measured, and the [verdict](00_index.ipynb). (*Divergence* says how far
# attention is from the oracle; lesson 02 defines it. The line says that attention comes *before* the unseen sums. It
# does not say that attention is all they wait for.)

# %%
viz.claims_map(upto=1)

# %% [markdown]
# **More:** [the evidence](evidence/01_sparse_tasks.ipynb) (every seed, the controls, the claims) ·
# [exercises](../exercises/01_sparse_tasks.ipynb)
#
# **Next:** [02 · Attention as a posterior](02_attention_as_a_posterior.ipynb). We take attention apart,
# and put other tokens in the place of the letters.
#
# *Sources:* arXiv 2605.15787 (the paper that this course tests), Definition 3.1 and Figure 1;
# A. Power et al., arXiv 2201.02177, who first saw grokking.
