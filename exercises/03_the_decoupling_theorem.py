# %% [markdown]
# # 03 · Exercises: the decoupling theorem
#
# Four exercises on [lesson 03](../course/03_the_decoupling_theorem.ipynb): the geometry of two
# pooled vectors, two bounds that do not hold, and a small study in which you measure the theorem's
# threshold on a network of your own. `check.ex_3_1.hint()` gives a hint, called again the next one.

# %%
import torch

from grokkit.classroom import check


# %% [markdown]
# ## 3.1 · Exchange one token
#
# *●○○ easy · about 10 minutes*
#
# A sequence has been pooled to $h$. Now its token $i$ is exchanged for another one. Which $h'$
# comes out? You know $h$, the share and the value of the old token, and the share and the value
# that the new one will have; nothing about the other tokens. Steps 1 to 3 of lesson 03, (12) to
# (14), say that this is enough.

# %%
def exchange(h, share, value, new_share, new_value):
    """The pooled vector after one token has been exchanged.

    Args:
        h: what was pooled, a float tensor [embed].
        share: alpha_i, the attention on the old token, below 1.
        value: v_i, its value, [embed].
        new_share: alpha'_i, the attention on the new token, below 1.
        new_value: v'_i, its value, [embed].

    Returns:
        h', [embed].
    """
    raise NotImplementedError("your code here")


# %%
check.ex_3_1(exchange)


# %% [markdown]
# ## 3.2 · A bound that does not hold
#
# *●●○ medium · about 15 minutes*
#
# "If both sequences have a share of at least $\gamma$ on the token that differs, and the two values
# are at least $\xi$ apart, then
#
# $$\|h - h'\| \;\ge\; \gamma\,\xi$$
#
# and the MLP can tell them apart." It sounds right, and (18) says something like it. Refute it:
# for any $\gamma$ below one half and any $\xi$ give two sequences that satisfy the condition and
# meet, $h = h'$.

# %%
def meet(gamma, separation):
    """Two sequences, differing in one token, whose pooled vectors are the same.

    Args:
        gamma: the least share that the token must have in both, above 0 and below 0.5.
        separation: xi, the least distance of the two values, above 0.

    Returns:
        alpha_i, alpha'_i, v_i, v'_i and the centroid m of all other tokens: two shares below 1
        and three tensors [embed], in as many dimensions as you like.
    """
    raise NotImplementedError("your code here")


# %%
check.ex_3_2(meet)


# %% [markdown]
# ## 3.3 · One number for all shares
#
# *●●○ medium · about 20 minutes*
#
# The structural condition $B_\gamma$ asks $k$ shares to be at least $\gamma$. A paper likes one
# number better, and the KL is one:
#
# 1. **Derive.** If $B_\gamma$ holds, how large can $\mathrm{KL}(\alpha^* \| \alpha)$ be at most?
#    Write it as `most_kl`. (It is Corollary 4.5, (3).)
# 2. **Break the converse.** "The KL is below that, so $B_\gamma$ holds." Write `false_alarm`, which
#    gives an attention that refutes this, whatever $k \ge 2$ and $\gamma < 1/k$.

# %%
def most_kl(k, gamma):
    """The largest KL(alpha* || alpha), in nats, if every informative share is at least gamma."""
    raise NotImplementedError("your code here")


# %%
def false_alarm(k, length, gamma):
    """An attention with a KL below most_kl(k, gamma) that breaks B_gamma.

    Args:
        k: how many positions are informative, 2 or more: the first k.
        length: T, the number of positions, more than k.
        gamma: the threshold, below 1/k.

    Returns:
        alpha, a float tensor [pos] with sum 1.
    """
    raise NotImplementedError("your code here")


# %%
check.ex_3_3(most_kl, false_alarm)


# %% [markdown]
# ## 3.4 · A small study: does it wait for the threshold?
#
# *●●● hard · about 40 minutes*
#
# Measure (27) on a network, while it trains. Two numbers are to be compared.
#
# 1. `gamma_of`, what is needed: $\gamma = c / (L_f \Delta)$, where $c$ is $\sqrt2$ times the least
#    margin of any example (the right logit minus the best wrong one), $L_f$ the product of the
#    largest singular values of the two matrices, and $\Delta$ is given. Where an example is
#    answered wrongly the theorem asks for nothing: then $\gamma$ is 0.
# 2. `least_pair_mass`, what is there: the least $\alpha_i + \alpha'_i$ over all pairs of a given
#    sequence $x$ and an $x'$ that has another token at position $i$: any of those that stand there
#    in some sequence. Scores come from a table, as in lesson 02.

# %%
def gamma_of(logits, targets, W_1, W_2, spread):
    """The threshold of (27), from measured factors.

    Args:
        logits: a float tensor [example, class].
        targets: the right classes, an int tensor [example].
        W_1: the MLP's first matrix, [embed, hidden].
        W_2: its second matrix, [hidden, class].
        spread: Delta, the longest v - m.

    Returns:
        gamma, a number; 0 if some example has no positive margin.
    """
    raise NotImplementedError("your code here")


# %%
def least_pair_mass(table, tokens, position):
    """The least attention on the differing token, in two sequences together.

    Args:
        table: the score of every token at every position, a float tensor [pos, token].
        tokens: the sequences, an int tensor [example, pos].
        position: i, where the two differ.

    Returns:
        The least alpha_i + alpha'_i, a number.
    """
    raise NotImplementedError("your code here")


# %%
check.ex_3_4(gamma_of, least_pair_mass)

# %% [markdown]
# Now the study. *Write down first: will a network that has only memorised be above the threshold or
# below? And where is parity, the counterexample of lesson 03, whose least single share is
# $10^{-13}$?*

# %%
if check.ex_3_4.solved:
    import grokkit
    from grokkit import theory
    from grokkit.engine import Trainer

    spec = grokkit.presets["live"].with_(p=13, train_fraction=0.7, epochs=200)
    data = spec.task.build(seed=0)
    tokens, targets = data.train.tokens, data.train.targets
    trainer = Trainer([spec])
    for _ in range(5):
        trainer.advance(40)
        w = {name: value[0].detach().double() for name, value in trainer.weights.items()}
        e = w["token_embedding"] + w["position_embedding"].unsqueeze(1)  # [pos, token, embed]
        table = e @ w["W_K"] @ (e[-1, tokens[0, -1]] @ w["W_Q"]) / len(w["W_Q"]) ** 0.5
        alpha = table[torch.arange(5), tokens].softmax(dim=1)
        v = e[torch.arange(5), tokens] @ w["W_V"]
        h = (alpha[..., None] * v).sum(dim=1)
        logits = (h @ w["W_1"] + w["b_1"]).relu() @ w["W_2"] + w["b_2"]
        spread = 2 * v.norm(dim=2).max()  # no v - m is longer than two values
        needed = gamma_of(logits, targets, w["W_1"], w["W_2"], spread)
        there = min(least_pair_mass(table, tokens, position) for position in (0, 2))
        right = (logits.argmax(dim=1) == targets).double().mean()
        print(f"epoch {trainer.epoch}: {right:.0%} known, needed {needed:.1g}, there {there:.2g}")

    net = theory.parity(k=3, distractors=2)
    bits = torch.tensor([[-30.0, 0.0, -30.0]] * 3 + [[-30.0, -30.0, -30.0]] * 2 + [[0.0] * 3])
    there = min(least_pair_mass(bits, torch.tensor(net.tokens), i) for i in range(3))
    needed = theory.pair_mass_required(net.c_margin, net.lipschitz, 1.0)
    print(f"parity: needed {needed:.2g}, there {there:.2g}")
