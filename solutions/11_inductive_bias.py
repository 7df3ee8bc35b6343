# %% [markdown]
# # 11 · Exercises: inductive bias
#
# Exercises on [lesson 11](../course/11_inductive_bias.ipynb): put a LayerNorm into a pathway,
# build the two measures that the paper stands on, find the learning rate that leaves a network's pace
# alone, and take the word "predicts" apart. `check.ex_11_1.hint()` gives a hint, called again the next
# one.

# %%
import numpy as np

from grokkit import experiments
from grokkit.classroom import check
from grokkit.experiments.compressibility import arrives

# %% [markdown] exercise="ex_11_1" difficulty=1 minutes=10
# ## One norm, three pathways
#
# A LayerNorm (without gain and bias) takes a vector, subtracts the mean of its coordinates, and divides
# by their standard deviation:
#
# $$\mathrm{LN}(x)_i = \frac{x_i - \bar x}{\sqrt{\frac1d \sum_m (x_m - \bar x)^2 + \epsilon}}.$$
#
# A block reads the stream three times: the scores (queries and keys) read $x$, the values read $x$, and
# the MLP reads $y$, the stream after attention. A *placement* says which of the three read a norm
# instead: `"none"`, `"A*"` (scores and values), `"A^qk"` (scores), `"A^v"` (values), `"M"` (MLP),
# `"M+A*"` (all three).


# %%
def layer_norm(x, eps):
    """LN of every row.

    Args:
        x: an array [row, embed].
        eps: added to the variance.

    Returns:
        [row, embed].
    """
    ### BEGIN SOLUTION
    middle = x - x.mean(axis=1, keepdims=True)
    return middle / np.sqrt((middle**2).mean(axis=1, keepdims=True) + eps)
    ### END SOLUTION


# %%
def block_reads(x, y, placement):
    """What the three parts of a block read, with eps 0.

    Args:
        x: the stream into the block, [row, embed].
        y: the stream after attention, [row, embed].
        placement: one of the six names.

    Returns:
        A tuple of three arrays [row, embed]: what the scores read, the values, the MLP.
    """
    ### BEGIN SOLUTION
    scores = placement in ("A*", "A^qk", "M+A*")
    values = placement in ("A*", "A^v", "M+A*")
    mlp = placement in ("M", "M+A*")

    def read(stream, normed):
        if not normed:
            return stream.copy()
        centred = stream - stream.mean(axis=1, keepdims=True)
        return centred / centred.std(axis=1, keepdims=True)

    return read(x, scores), read(x, values), read(y, mlp)
    ### END SOLUTION


# %%
check.ex_11_1(layer_norm, block_reads)

# %% [markdown] tags=["solution"]
# Mean and variance are those of one row: in a LayerNorm no example knows of another. The variance is
# the mean of squares, divided by $d$ and not by $d - 1$.
#
# What a norm takes away is the *length* of what is read (and its mean). After it, a stream of twice the
# length says the same. A part that reads through a norm cannot tell examples apart by length, and that
# is what the shortcut probe of the lesson asks.

# %% [markdown] exercise="ex_11_2" difficulty=2 minutes=20
# ## Two measures, one formula
#
# For shares $p_i$ that sum to 1 the entropy is $-\sum_i p_i \log p_i$ in nats, with
# $0 \log 0 = 0$. The paper uses it twice:
#
# 1. **How evenly does attention look?** Average the attention of the heads, take the entropy of each
#    example's average, and the mean over examples.
# 2. **How many directions do the features use?** With the features $h$ of the examples in the rows of a
#    matrix, $Z = h^\top h$ has the eigenvalues $z_i$. Take $p_i = z_i / \sum_m z_m$; the *effective
#    rank* is $e$ to the power of their entropy. ($Z$ is not centred.)


# %%
def map_entropy(attention):
    """The entropy of the attention map that is averaged over heads.

    Args:
        attention: an array [example, head, pos], every row of positions sums to 1.

    Returns:
        A number, in nats.
    """
    ### BEGIN SOLUTION
    average = attention.mean(axis=1)
    logs = np.log(np.where(average > 0, average, 1))
    return -(average * logs).sum(axis=1).mean()
    ### END SOLUTION


# %%
def effective_rank(features):
    """How many directions features use.

    Args:
        features: h, an array [example, width].

    Returns:
        A number, 1 or more.
    """
    ### BEGIN SOLUTION
    strength = np.linalg.svd(features, compute_uv=False) ** 2
    share = strength / strength.sum()
    share = share[share > 0]
    return np.exp(-(share * np.log(share)).sum())
    ### END SOLUTION


# %%
check.ex_11_2(map_entropy, effective_rank)

# %% [markdown]
# Now deceive both of them. Four heads that each stare at a single position, and each at another one; and
# features of five directions, to which one and the same vector is added in every example:

# %%
if check.ex_11_2.solved:
    sharp = np.eye(4)[None]  # [example, head, pos]
    each = np.mean([map_entropy(sharp[:, [head]]) for head in range(4)])
    print(f"sharp heads: entropy by head {each:.2f}, of the averaged map {map_entropy(sharp):.2f}")
    spread_out = np.random.default_rng(0).normal(size=(200, 5))
    for push in (0, 1, 10):
        print(
            f"a vector of length {push:2} added: rank {effective_rank(spread_out + push / 5**0.5):.1f}"
        )

# %% [markdown] tags=["solution"]
# The squared singular values of $h$ are the eigenvalues of $Z$, and safer to compute.
#
# Both are averages of a kind, and each has its blind spot. The map's entropy is largest when all heads
# look evenly, *and* when all are sharp in different ways. The effective rank falls when a network uses
# fewer directions, *and* when something that all examples have in common grows: a bias is enough. So a
# measure that falls need not mean what its name says.

# %% [markdown] exercise="ex_11_3" difficulty=2 minutes=20
# ## What the learning rate has to do with it
#
# A readout with the constant factor $a$: one logit is $z = a\,(w \cdot x)$. The loss pulls at it with
# the residual $r = \partial L / \partial z$. Under cross-entropy that is the probability minus 0 or 1:
# never more than 1 in size, whatever $a$ is.
#
# One step changes $w$, and so $z$, by
#
# - `"sgd"`: $w \leftarrow w - \eta\, g$, with $g = \partial L / \partial w$;
# - `"sign"`: $w \leftarrow w - \eta\, \mathrm{sign}(g)$, which is what Adam does when its running means
#   have no past yet.
#
# 1. `logit_step`: by how much does $z$ change?
# 2. `same_pace`: which learning rate has to go with the scale $a$, so that for the same $x$ and $r$ the
#    logit moves as it does at scale 1 and rate $\eta$?


# %%
def logit_step(a, rate, x, residual, optimizer):
    """By how much one step changes the logit.

    Args:
        a: the readout scale, above 0.
        rate: the learning rate.
        x: what the readout reads, an array [embed].
        residual: r, the derivative of the loss with respect to the logit.
        optimizer: "sgd" or "sign".

    Returns:
        The new logit minus the old one.
    """
    ### BEGIN SOLUTION
    gradient = a * residual * x
    direction = gradient if optimizer == "sgd" else np.sign(gradient)
    return a * (-rate * direction @ x)
    ### END SOLUTION


# %%
def same_pace(a, rate, optimizer):
    """The learning rate at scale a at which a logit moves as it does at scale 1.

    Args:
        a: the readout scale, above 0.
        rate: the learning rate at scale 1.
        optimizer: "sgd" or "sign".

    Returns:
        The learning rate at scale a.
    """
    ### BEGIN SOLUTION
    power = {"sgd": 2, "sign": 1}[optimizer]
    return rate * a**-power
    ### END SOLUTION


# %%
check.ex_11_3(logit_step, same_pace)

# %% [markdown]
# And weight decay? Each step of AdamW takes away the share η × decay of every weight. This is what the
# paper's rule, η / a², does to both when the optimizer is of the second kind:

# %%
if check.ex_11_3.solved:
    x, residual, rate, decay = np.array([0.6, -0.8, 0.3]), 0.5, 1e-3, 1.0
    pace = logit_step(1.0, rate, x, residual, "sign")
    for a in (0.5, 0.75, 1.0, 1.25, 1.5):
        ruled = rate / a**2
        moved = logit_step(a, ruled, x, residual, "sign") / pace
        print(f"a = {a:4}: logit moves {moved:.2f} times as far, decay {ruled * decay:.1e} a step")

# %% [markdown] tags=["solution"]
# SGD meets $a$ twice: in the gradient, and on the way from $w$ to $z$. So it needs $\eta / a^2$. (With the
# squared error there is a third place: the residual itself, $z - t$, grows with $a$.) Adam divides
# the first $a$ out, and $\eta / a$ would be enough.
#
# With $\eta / a^2$ under AdamW a small $a$ comes with a learning rate that is too large by $1/a$, and
# with a *weight decay* that is larger by $1/a^2$: at $a = 0.5$ four times. Whoever then sees small $a$
# grok soon has changed three things, and lesson 05 would have bet on the decay.

# %% [markdown] exercise="ex_11_4" difficulty=3 minutes=25
# ## What would "predicts" have to mean?
#
# "Features that become compressible sooner predict a network that groks sooner." You are given two
# tables of epochs, one row a placement of the norm and one column a seed: when the measure arrived at
# its least (`arrived`), and when the network grokked (`grokked`). `nan`: it did not come.
#
# Two questions can be put to them. Is the *order* the same: in each seed, has the placement whose
# measure arrives first the first grok, too? And is the measure *ahead*: does it arrive before that very
# network groks?
#
# 1. `seeds_ahead`: in how many seeds is it ahead, for each placement?
# 2. `in_order_too_late`: epochs of arrival in the very same order as the groks in every seed, without
#    being ahead in a single run.
# 3. `early_out_of_order`: epochs of arrival that are ahead in every run, and in the opposite order.


# %%
def seeds_ahead(arrived, grokked, share=0.9):
    """In how many seeds a measure arrives by a share of the grok epoch.

    Args:
        arrived: epochs, an array [placement, seed]; nan: not within the run.
        grokked: epochs, [placement, seed]; nan: not within the run. Where one of the two did not
            come, the seed does not count.
        share: by which share of the grok epoch it must be there, that epoch included.

    Returns:
        A whole number for each placement.
    """
    ### BEGIN SOLUTION
    return (arrived <= share * grokked).sum(axis=1)
    ### END SOLUTION


# %%
def in_order_too_late(grokked):
    """Arrivals in the order of the groks, none of them ahead.

    Args:
        grokked: epochs above 0, all different within a seed, [placement, seed].

    Returns:
        arrived, [placement, seed].
    """
    ### BEGIN SOLUTION
    return 1.5 * grokked
    ### END SOLUTION


# %%
def early_out_of_order(grokked):
    """Arrivals above 0 that are all ahead, in the opposite order.

    Args:
        grokked: epochs above 0, all different within a seed, [placement, seed].

    Returns:
        arrived, [placement, seed].
    """
    ### BEGIN SOLUTION
    first = grokked.min(axis=0)
    return 0.8 * first * (first / grokked)
    ### END SOLUTION


# %%
check.ex_11_4(seeds_ahead, in_order_too_late, early_out_of_order)

# %% [markdown]
# And what does your instrument say of the recorded runs of lesson 11?

# %%
if check.ex_11_4.solved:
    evidence = experiments.row("compressibility").evidence(experiments.recorded("compressibility"))
    names = list(evidence.arms)
    when = np.stack([evidence.grokked(name, 0.95).values for name in names])
    for measure in ("effective_rank", "alpha"):
        there = np.stack([arrives(evidence, name, measure).values for name in names])
        print(measure, dict(zip(names, np.asarray(seeds_ahead(there, when)).tolist(), strict=True)))

# %% [markdown] tags=["solution"]
# Order and lead are independent: you have just built each without the other. A measure that trails the
# grok in the right order is another *symptom* of what made the network quick; nobody can foretell
# anything from it. And one that leads in the wrong order foretells of each network that something will
# come, and of two networks the wrong one.
#
# "Predicts" needs both, in runs that were not used to find the rule. Lesson 11 has claims for each half;
# look at what became of them before you use the word.

# %% [markdown] exercise="ex_11_5" difficulty=3 minutes=25
# ## How far can an average mislead?
#
# Exercise 11.2's map entropy averages the heads before it takes the entropy. If you are told how sharp
# each head is, how far can the map be from them?
#
# 1. `room`: for heads of one example with the attention given, the least and the most that the map's
#    entropy can be for *any* heads with the same entropies, whatever the number of positions.
# 2. `furthest`: reach the most. Give `heads` heads that look evenly at `spread` positions each.


# %%
def room(attention):
    """Between which bounds the entropy of the averaged map lies, from the heads' entropies alone.

    Args:
        attention: of one example, an array [head, pos], every row sums to 1.

    Returns:
        Two numbers in nats: least, most.
    """
    ### BEGIN SOLUTION
    logs = np.log(np.where(attention > 0, attention, 1))
    own = -(attention * logs).sum(axis=1).mean()
    return own, own + np.log(len(attention))
    ### END SOLUTION


# %%
def furthest(heads, spread, length):
    """Heads whose averaged map is as far from them as it can be.

    Args:
        heads: how many.
        spread: at how many positions each head looks, evenly.
        length: the number of positions, heads * spread or more.

    Returns:
        attention, an array [head, pos].
    """
    ### BEGIN SOLUTION
    attention = np.zeros((heads, length))
    for head in range(heads):
        attention[head, head * spread : (head + 1) * spread] = 1 / spread
    return attention
    ### END SOLUTION


# %%
check.ex_11_5(room, furthest)

# %% [markdown] tags=["solution"]
# Entropy is concave, so averaging cannot lower it: the least is the mean of the heads' entropies,
# which heads that agree reach. At most the map tells in addition *which* head it was, and that is
# $\log H$ nats: the most, which heads that share no position reach. So of eight heads a map entropy of
# two nats may mean that each head looks at one position, or that each looks at seven.
