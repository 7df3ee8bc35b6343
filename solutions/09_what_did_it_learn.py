# %% [markdown]
# # 09 · Exercises: what did it learn?
#
# Exercises on [lesson 09](../course/09_what_did_it_learn.ipynb): the spectrum of an embedding,
# the two losses, a network whose spectrum lies, and a small study of where the frequencies come
# from. `check.ex_9_1.hint()` gives a hint, called again the next one.

# %%
import itertools

import numpy as np
import torch

from grokkit.classroom import check

# %% [markdown] exercise="ex_9_1" difficulty=1 minutes=10
# ## A spectrum in which nothing is lost
#
# Lesson 09 has the power of an embedding at a frequency $k$ of $\omega_k = 2\pi k/p$,
#
# $$P_k = \tfrac2p\Big\lVert \sum_n \cos(\omega_k n)\,E_n \Big\rVert^2
#       + \tfrac2p\Big\lVert \sum_n \sin(\omega_k n)\,E_n \Big\rVert^2 .$$
#
# At $k = 0$, and at $k = p/2$ if $p$ is even, the sine is 0 at every number; the factor there is
# $1/p$. Write the powers at all frequencies from 0 to $p // 2$. If they are right, nothing is lost:
# their sum is the sum of the squares of all entries.


# %%
def spectrum(embedding):
    """The power of an embedding at each frequency.

    Args:
        embedding: row n is the number n, a float tensor [number, embed].

    Returns:
        The power at 0, 1, ..., p // 2, a tensor [frequency].
    """
    ### BEGIN SOLUTION
    p = len(embedding)
    k = torch.arange(p // 2 + 1, dtype=embedding.dtype)
    angle = 2 * torch.pi / p * k[:, None] * torch.arange(p, dtype=embedding.dtype)
    moved = [wave @ embedding for wave in (angle.cos(), angle.sin())]
    power = 2 / p * sum(one.square().sum(dim=1) for one in moved)
    power[(k == 0) | (2 * k == p)] /= 2
    return power
    ### END SOLUTION


# %% [markdown]
# This draws the spectrum of the grokked network of lesson 09, as your function gives it:

# %%
from grokkit import viz
from grokkit.engine import load_weights


def spectrum_figure(power_of):
    """The powers of the embedding of a grokked network, without the constant."""
    _, weights = load_weights("recorded:weights/baseline.safetensors")
    power = power_of(weights["token_embedding"][0, :43].detach().double())
    dots = {"marker": "o", "markevery": 1, "linewidth": 1}
    figure = viz.lines(
        [viz.Line(np.arange(1, 22), np.asarray(power)[1:], "", "test", dots)],
        title="A grokked network uses few frequencies",
        below="sums modulo 43, seed 0 of the classroom preset, at its end",
        x="frequency k (times round the clock in 43 numbers)",
        y="power",
        height=3.2,
    )
    figure.axes[0].set_xticks(range(1, 22, 2))
    return figure


# %% tags=["target"]
spectrum_figure(spectrum)

# %%
check.ex_9_1(spectrum)

# %%
spectrum_figure(spectrum) if check.ex_9_1.solved else "Here your own spectrum will stand."

# %% [markdown] tags=["solution"]
# Cosine and sine together see a wave wherever it begins, that is why both are needed. With these
# factors the waves are of length 1 and at right angles to each other: the spectrum is the
# embedding in other coordinates, and Pythagoras does the rest (here he is called Parseval).

# %% [markdown] exercise="ex_9_2" difficulty=2 minutes=25
# ## Two losses
#
# Given is a table of logits, one row of classes for every pair of numbers, and some key frequencies.
#
# 1. `key_waves`: the part of the table that is a key wave of $a + b$. Take the mean over all
#    pairs with the same sum, $m_s(c)$, for $s = (a + b) \bmod p$; its wave of frequency $k$ at $s$ is
#    $\tfrac2p \sum_{s'} \cos(\omega_k (s - s'))\,m_{s'}(c)$. The key waves are the sum over all key $k$.
# 2. `two_losses`: the **restricted** loss on the *unseen* pairs, with nothing left but the key waves
#    and the constant (the mean of every class over all pairs); and the **excluded** loss on the
#    *trained* pairs, with everything left but the key waves. Both are mean cross-entropies, in
#    nats, of the right answer $(a + b) \bmod p$.


# %%
def key_waves(table, key):
    """The key waves of a + b in a table of logits.

    Args:
        table: logits, a float tensor [a, b, class], with odd p.
        key: a list of frequencies, from 1 to p // 2.

    Returns:
        [a, b, class].
    """
    ### BEGIN SOLUTION
    p = len(table)
    number = torch.arange(p)
    total = (number[:, None] + number) % p
    mean = torch.stack([table[total == s].mean(dim=0) for s in range(p)])
    angle = 2 * torch.pi / p * (number[:, None] - number).to(table.dtype)
    kernel = 2 / p * sum(torch.cos(k * angle) for k in key)
    return (kernel @ mean)[total]
    ### END SOLUTION


# %%
def two_losses(table, key, trained):
    """Restricted and excluded loss.

    Args:
        table: logits, a float tensor [a, b, class].
        key: a list of frequencies.
        trained: which pairs were trained on, a bool tensor [a, b].

    Returns:
        Two numbers: the restricted loss on unseen pairs, the excluded loss on trained ones.
    """
    ### BEGIN SOLUTION
    number = torch.arange(len(table))
    answer = (number[:, None] + number) % len(table)
    waves = key_waves(table, key)

    def loss(logits, among):
        return torch.nn.functional.cross_entropy(logits[among], answer[among])

    return loss(waves + table.mean(dim=(0, 1)), ~trained), loss(table - waves, trained)
    ### END SOLUTION


# %%
check.ex_9_2(key_waves, two_losses)

# %% [markdown] tags=["solution"]
# The mean over equal sums is a projection: whatever is no function of $a + b$ averages out. It is
# also a leak: of the pairs with the same sum some were trained on, and their answer is in the mean.
# Evidence 09 has a lookup table that scores well by this leak.
#
# The constant belongs to the restricted logits and stays in the excluded ones. It is no wave, and a
# class that is likelier than others is likelier in both.

# %% [markdown] exercise="ex_9_3" difficulty=3 minutes=25
# ## A spectrum that lies
#
# "The key frequencies say what a network computes: those that hold 90 % of its waves of $a + b$." Break
# it: write a network with *the same answers, and as sure of them*, whose only key frequency is one
# that plays no part. Then find the cure.
#
# - `in_disguise`: a table with the same softmax at every pair, whose only key frequency by the rule
#   of 90 % is $k$. (The rule is applied to your table just as it is: `sum_power`, then
#   `key_frequencies`.)
# - `without_disguise`: of all tables with the same softmax the one with the least power, that is with
#   the least sum of squares.


# %%
def in_disguise(table, k):
    """Logits with the same softmax whose only key frequency is k.

    Args:
        table: logits, a float tensor [a, b, class], with odd p.
        k: a frequency, from 1 to p // 2.

    Returns:
        [a, b, class].
    """
    ### BEGIN SOLUTION
    number = torch.arange(len(table), dtype=table.dtype)
    wave = torch.cos(2 * torch.pi * k * (number[:, None] + number) / len(table))
    return table + 100 * table.abs().max() * wave[..., None]
    ### END SOLUTION


# %%
def without_disguise(table):
    """Logits with the same softmax and the least power.

    Args:
        table: logits, a float tensor [a, b, class].

    Returns:
        [a, b, class].
    """
    ### BEGIN SOLUTION
    return table - table.mean(dim=2, keepdim=True)
    ### END SOLUTION


# %%
check.ex_9_3(in_disguise, without_disguise)

# %% [markdown]
# Once it is right: what the instruments say about the grokked network of lesson 09, as it is, in
# disguise, and cured.

# %%
if check.ex_9_2.solved and check.ex_9_3.solved:
    from grokkit.diagnostics import all_sequences, key_frequencies, logit_table, sum_power
    from grokkit.model import Batch, Transformer

    spec, weights = load_weights("recorded:weights/baseline.safetensors")
    data = spec.task.build(spec.seed)
    pairs = all_sequences(Batch.of([data.train]), Batch.of([data.test]))
    with torch.no_grad():
        logits = Transformer(spec.model, pairs, weights.layout.length)(weights).logits
    table = logit_table(logits, pairs, 43)[0]
    trained = torch.zeros(43, 43, dtype=torch.bool)
    trained[tuple(data.train.tokens[data.train.informative].view(-1, 2).T)] = True
    for name, one in {
        "as it is": table,
        "in disguise": in_disguise(table, 3),
        "cured": without_disguise(in_disguise(table, 3)),
    }.items():
        key = key_frequencies(sum_power(one[None]))[0].nonzero().flatten().tolist()
        restricted, excluded = two_losses(one, key, trained)
        print(f"{name:11} key {key}: restricted {restricted:.2g}, excluded {excluded:.2g}")

# %% [markdown] tags=["solution"]
# A softmax does not feel a number that is added to all classes, a spectrum does. In disguise the
# restricted loss says "it guesses" and the excluded one "it does not need its waves", of a network
# that adds by waves and by nothing else. Nothing in the loss keeps a network from such a disguise;
# weight decay does. But an instrument should not depend on it.
#
# The cure takes the mean over the classes away at every pair. In general: let an instrument see
# only what the loss sees. `logit_table` takes it before anything else is measured, so no disguise gets
# as far as the spectra of lesson 09; here it was put on afterwards.

# %% [markdown] exercise="ex_9_4" difficulty=3 minutes=40
# ## A small study: an accident of what?
#
# In lesson 09 no single frequency was better than another. So *which* ones a network uses is an
# accident. An accident of what? If they are drawn anew in every training, two networks share no more
# of them than chance gives, whatever the two have in common. If they are laid down by the seed,
# before any training, two trainings of *one* seed share them. Write the instruments.
#
# 1. `key_set`: the fewest frequencies that hold a share of the power, never the constant (0), whose
#    power does not count either.
# 2. `shared`: how many frequencies two sets have in common, as a mean over all pairs of sets; and how
#    many they would if each were drawn blindly from the same $n$ frequencies.


# %%
def key_set(power, share):
    """The fewest frequencies that together hold a share of the power.

    Args:
        power: at the frequencies 0, 1, 2, ..., an array [frequency], no two equal.
        share: of the power of all frequencies but 0; exactly the share is enough.

    Returns:
        A list of frequencies, ascending.
    """
    ### BEGIN SOLUTION
    order = 1 + np.argsort(-power[1:])
    held = np.cumsum(power[order])
    needed = 1 + np.sum(held < share * held[-1])
    return sorted(order[:needed].tolist())
    ### END SOLUTION


# %%
def shared(sets, n):
    """How many frequencies two sets share, and how many by chance.

    Args:
        sets: lists of frequencies, two or more.
        n: from how many frequencies each was drawn.

    Returns:
        Two means over all pairs of different sets: what they share, what chance gives.
    """
    ### BEGIN SOLUTION
    couples = list(itertools.combinations(sets, 2))
    common = [len(set(one) & set(other)) for one, other in couples]
    chance = [len(one) * len(other) / n for one, other in couples]
    return sum(common) / len(couples), sum(chance) / len(couples)
    ### END SOLUTION


# %%
check.ex_9_4(key_set, shared)

# %% [markdown]
# Four seeds, sums modulo 23 (frequencies 1 to 11), each trained twice: with a prior of strength 1 and
# with one of 0.3. Different trainings, different weights in the end. *How many of their
# frequencies do two seeds share? And the two trainings of one seed? Write it down first.*

# %%
if check.ex_9_1.solved and check.ex_9_4.solved:
    import grokkit
    from grokkit.engine import Trainer

    base = grokkit.presets["live"].with_(
        p=23, train_fraction=0.7, prior="kl", epochs=300, record_every=300
    )
    trainer = Trainer([base.with_(seed=s, kl_strength=b) for s in range(4) for b in (1.0, 0.3)])
    trainer.advance()
    embeddings = trainer.weights["token_embedding"].detach().double()[:, :23]
    sets = [key_set(spectrum(one).numpy(), 0.6) for one in embeddings]
    for seed in range(4):
        print(f"seed {seed}: {sets[2 * seed]} and {sets[2 * seed + 1]}")
    print("two seeds share {:.1f}, by chance {:.1f}".format(*shared(sets[::2], 11)))
    twins = np.mean([shared(sets[2 * seed : 2 * seed + 2], 11) for seed in range(4)], axis=0)
    print("one seed, trained twice: {:.1f}, by chance {:.1f}".format(*twins))

# %% [markdown] tags=["solution"]
# Two seeds share no more than chance. Two trainings of one seed share nearly all: the frequencies are
# laid down before the training, in what the seed names. So it is an accident, and it happens
# early: the strength of the prior, the whole road to the end, hardly matters.
#
# Four seeds and one task; and a seed names both the initial weights and which pairs are trained on.
# To tell these apart, give one run the weights of another (`Ticket` takes initial weights): a
# question for lesson 10.
#
# Without the column of chance, 1.3 shared frequencies would look like a finding. Whoever counts
# agreement has to say how much of it costs nothing.

# %% [markdown] exercise="ex_9_5" difficulty=3 minutes=30
# ## Why more than one?
#
# For a prime $p$ one frequency is enough to add: with the logits
# $\sum_{k \in K} \cos(\omega_k (a + b - c))$ the right class $c = (a + b) \bmod p$ is always ahead.
# Why do networks use several?
#
# 1. `lead`: by how much is the right class ahead of the best wrong one?
# 2. `best_frequencies`: which $m$ frequencies have the largest lead? (Of several as good, any.)


# %%
def lead(p, frequencies):
    """The least margin of an adder by waves of height 1.

    Args:
        p: the modulus, a prime above 3.
        frequencies: K, a list of different numbers from 1 to p // 2.

    Returns:
        The right logit minus the best wrong one, a number.
    """
    ### BEGIN SOLUTION
    off = np.arange(1, p)
    waves = [np.cos(2 * np.pi * k * off / p) for k in frequencies]
    return len(waves) - np.sum(waves, axis=0).max()
    ### END SOLUTION


# %%
def best_frequencies(p, m):
    """The frequencies of the adder that is furthest ahead.

    Args:
        p: the modulus, a prime above 3, at most 43.
        m: how many frequencies, from 1 to 3.

    Returns:
        A list of m different numbers from 1 to p // 2.
    """
    ### BEGIN SOLUTION
    others = itertools.combinations(range(2, p // 2 + 1), m - 1)
    return max(([1, *rest] for rest in others), key=lambda some: lead(p, some))
    ### END SOLUTION


# %%
check.ex_9_5(lead, best_frequencies)

# %%
if check.ex_9_5.solved:
    for m in (1, 2, 3):
        print(
            f"{m} of modulo 43: {best_frequencies(43, m)}, {lead(43, best_frequencies(43, m)):.3f} ahead"
        )

# %% [markdown] tags=["solution"]
# The margin depends on $d = a + b - c$ alone, and is $\sum_k (1 - \cos \omega_k d)$. With one frequency it
# is $1 - \cos(2\pi/p)$ whichever it is, for multiplying all $d$ with $k$ only changes their order: next to
# nothing for a large $p$. A few frequencies that are not small multiples of each other never come
# near 0 at the same $d$. By the same renumbering one of the best may be taken to be 1, which leaves
# fewer to try. Weight decay makes a lead expensive, and several waves buy it cheaper than a high one.
