# %% [markdown]
# # 03 · Exercises: the decoupling theorem
#
# Exercises on [lesson 03](../course/03_the_decoupling_theorem.ipynb): the geometry of two
# pooled vectors, two bounds that do not hold, and a small study in which you measure the theorem's
# threshold on a network of your own. `check.ex_3_1.hint()` gives a hint, called again the next one.

# %%
import math

import torch

from grokkit.classroom import check

# %% [markdown] exercise="ex_3_1" difficulty=1 minutes=10
# ## Exchange one token
#
# A sequence has been pooled to $h$. Now its token $i$ is exchanged for another one. Which $h'$
# comes out? You know $h$, the share and the value of the old token, and the share and the value
# that the new one will have; nothing about the other tokens. Section 1 of lesson 03 says that this
# is enough.


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
    ### BEGIN SOLUTION
    centroid = (h - share * value) / (1 - share)
    return new_share * new_value + (1 - new_share) * centroid
    ### END SOLUTION


# %%
check.ex_3_1(exchange)

# %% [markdown] tags=["solution"]
# $h$ is a mixture of the old token, with its share, and the centroid $m$ of the rest, with all
# that is left. So $m$ can be got back out of $h$; and since the others keep their proportions, the
# same $m$ is mixed with the new token. Subtract the two and you have (14).

# %% [markdown] exercise="ex_3_2" difficulty=2 minutes=15
# ## A bound that does not hold
#
# "If both sequences have a share of at least $\gamma$ on the token that differs, and the two values
# are at least $\xi$ apart, then
#
# $$\|h - h'\| \;\ge\; \gamma\,\xi$$
#
# and the MLP can tell them apart." It sounds right, and the bound (18), in the evidence of lesson 03,
# says something like it. Refute it: for any $\gamma$ below one half and any $\xi$ give two sequences that satisfy the condition and
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
    ### BEGIN SOLUTION
    share, new_share = gamma, 1.5 * gamma
    new_value = torch.tensor([4.0 * separation, 0.0])
    value = new_share / share * new_value
    return share, new_share, value, new_value, torch.zeros(2)
    ### END SOLUTION


# %%
check.ex_3_2(meet)

# %% [markdown] tags=["solution"]
# By (14) they meet where $\alpha_i (v_i - m) = \alpha'_i (v'_i - m)$: seen from the centroid both
# values lie in the same direction, and the one that is further away gets less attention. With
# equal shares it cannot be done, for then $h - h' = \alpha_i (v_i - v'_i)$. That is the term which
# (18) subtracts, $\Delta\,|\alpha_i - \alpha'_i|$, and the bound above has forgotten.

# %% [markdown] exercise="ex_3_3" difficulty=2 minutes=20
# ## One number for all shares
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
    ### BEGIN SOLUTION
    return -torch.tensor(k * gamma, dtype=torch.float64).log()
    ### END SOLUTION


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
    ### BEGIN SOLUTION
    low = max(gamma / 2, 2 * gamma - 1 / k)
    attention = torch.zeros(length, dtype=torch.float64)
    attention[0] = low
    attention[1:k] = (1 - low) / (k - 1)
    return attention
    ### END SOLUTION


# %%
check.ex_3_3(most_kl, false_alarm)

# %% [markdown] tags=["solution"]
# Each of the $k$ terms $\tfrac1k \log\frac{1/k}{\alpha_j}$ is largest where $\alpha_j$ is smallest,
# so all of them at $\gamma$ give the most: $\log\frac{1}{k\gamma}$. For the converse let one share
# fall a little short, and give all that is left to the other informative ones: their terms then
# more than make up for it. A mean does not see its smallest part. How little? Near the oracle the
# KL is of second order in the shares and the bound of first order, so the share may fall short of
# $\gamma$ by as much as $\gamma$ falls short of $1/k$, but not by a fixed part of $\gamma$.
#
# There is a smaller number that does work, `grokkit.theory.delta_sufficient(k, gamma)`.

# %% [markdown] exercise="ex_3_4" difficulty=3 minutes=40
# ## A small study: does it wait for the threshold?
#
# This is (27), which the evidence of lesson 03 proves: *if two sequences have different answers and
# differ in the token at position $i$ only, then the two shares of this token sum to $\gamma$ or more,*
#
# $$\alpha_i + \alpha'_i \;\ge\; \gamma .$$
#
# Measure it on a network, while it trains. Two numbers are to be compared.
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
    ### BEGIN SOLUTION
    own = targets[:, None]
    others = logits.scatter(1, own, -torch.inf).amax(dim=1)
    margin = (logits.gather(1, own)[:, 0] - others).min().clamp(min=0)
    lipschitz = torch.linalg.matrix_norm(W_1, 2) * torch.linalg.matrix_norm(W_2, 2)
    return 2**0.5 * margin / (lipschitz * spread)
    ### END SOLUTION


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
    ### BEGIN SOLUTION
    everywhere = torch.arange(tokens.shape[1])
    least = torch.inf
    for token in tokens[:, position].unique():
        changed = tokens.clone()
        changed[:, position] = token
        both = sum(table[everywhere, x].softmax(dim=1)[:, position] for x in (tokens, changed))
        both = both[tokens[:, position] != token]
        least = min(least, both.min().item())
    return least
    ### END SOLUTION


# %%
check.ex_3_4(gamma_of, least_pair_mass)

# %% [markdown]
# Now the study. *Write down first: will a network that has only memorised be above the threshold or
# below? And where is parity, the network built by hand in the evidence of lesson 03, whose least single
# share is below $10^{-13}$?*

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

# %% [markdown] tags=["solution"]
# The network is above the threshold as soon as it has memorised, by a wide margin, and goes on
# being so: $L_f$ is a worst case over all directions, so $\gamma$ comes out small. What it waits for
# is not this threshold. Parity shows why (27) is about two sequences together: of two that differ
# in one bit, one has a 1 there and looks at it.
#
# Two traps: `torch.linalg.matrix_norm(W)` without its 2 is the Frobenius norm, which is larger, and
# a $\gamma$ made of it is too small. And the margin is about the *right* class: the best logit
# minus the second best is never negative, so it hides the errors.

# %% [markdown] exercise="ex_3_5" difficulty=3 minutes=30
# ## Hardly ever looking
#
# (27) asks for the *sum* of two shares, $\alpha_i + \alpha'_i \ge \gamma$; $B_\gamma$ asks for each
# of them, and is more than (27) needs. Show it: sequences of `length` bits and a "=" (token 2), of
# which the first $k$ bits are informative. Give a table of scores with which
#
# - for every sequence, and every informative bit that is turned in it, (27) holds with $\gamma$;
# - yet in some sequence some informative share is below `tiny`.


# %%
def seldom_looks(k, length, gamma, tiny):
    """A table of scores that satisfies (27) for every pair and breaks B_gamma by far.

    Args:
        k: how many bits are informative, the first k.
        length: how many bits there are, k or more; one more position holds the "=".
        gamma: what the two shares must have together, below 1/k.
        tiny: below this some informative share must be, above 0.

    Returns:
        The score of every token at every position, a float tensor [length + 1, 3].
    """
    ### BEGIN SOLUTION
    loud = math.log(100 * length / (tiny * (1 / gamma - k)))
    table = torch.zeros(length + 1, 3, dtype=torch.float64)
    table[:k, 1], table[:k, 0] = loud, -loud
    return table
    ### END SOLUTION


# %%
check.ex_3_5(seldom_looks)

# %% [markdown] tags=["solution"]
# Let a 1 be loud and a 0 be silent. A bit that is turned is a 1 in one of the two sequences, and
# there it shares the attention with at most $k - 1$ other ones: it has nearly $1/k$. In the other
# sequence it may have nothing. So attention that looks at ones alone is enough to tell every pair
# apart, and its least share is as small as one likes. That is how the parity network works.
