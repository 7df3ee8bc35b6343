# %% [markdown]
# # 08 · Exercises: loosening the assumptions
#
# Exercises on [lesson 08](../course/08_loosening_the_assumptions.ipynb): what a prior without
# an oracle does to a score, a condition that a mean can hide, heads that cancel, and a prior of
# your own, which is not in the book. `check.ex_8_1.hint()` gives a hint, called again the next one.

# %%
import torch

from grokkit.classroom import check

# %% [markdown] exercise="ex_8_1" difficulty=1 minutes=10
# ## Sharp, and nothing else
#
# The entropy prior adds $\beta H$ to the loss, with $H = -\sum_j \alpha_j \log \alpha_j$. It has no
# oracle. Derive its gradient with respect to a score, as you did for KL, and write it down. (You
# need $\partial \alpha_i / \partial \ell_j = \alpha_i ([i = j] - \alpha_j)$.) Which positions does it push
# up, and which down?


# %%
def pull_of_entropy(attention, beta):
    """The gradient of beta * H with respect to every score of one example.

    Args:
        attention: alpha, every entry above 0, a float tensor [pos].
        beta: the strength.

    Returns:
        [pos].
    """
    ### BEGIN SOLUTION
    log = attention.log()
    entropy = -(attention * log).sum()
    return -beta * attention * (log + entropy)
    ### END SOLUTION


# %%
check.ex_8_1(pull_of_entropy)

# %% [markdown]
# Follow it downhill from attention that leans a little towards the wrong place (two numbers, three
# letters; the first letter leads by a hair):

# %%
if check.ex_8_1.solved:
    scores = torch.tensor([0.0, 0.1, 0.0, 0.0, 0.0])
    for step in range(41):
        if step % 10 == 0:
            print(f"step {step:2}:", " ".join(f"{one:.2f}" for one in scores.softmax(dim=0)))
        scores = scores - pull_of_entropy(scores.softmax(dim=0), 1.0)

# %% [markdown] tags=["solution"]
# The gradient is $-\beta\,\alpha_j (\log \alpha_j + H)$: a position is pushed up (downhill is minus the
# gradient) if its $\log \alpha_j$ is above the mean of all, which is $-H$. The rich get richer.
# A uniform attention feels nothing, and the slightest lead decides. Whoever forgets $H$ has the
# derivative with respect to the attention, and its entries do not sum to 0.

# %% [markdown] exercise="ex_8_2" difficulty=1 minutes=10
# ## What a mean can hide
#
# With several heads the paper asks (55) for a *summed* mass, in every single sequence:
# $\sum_h \alpha^h_j \ge \gamma$ for every informative $j$. Evidence 08 has four heads that meet it on
# the average and not in each sequence. Write both numbers: the mean, and the share of sequences
# that do meet it.


# %%
def mean_and_share(attention, informative, gamma):
    """The mean summed mass of an informative position, and how many sequences meet (55).

    Args:
        attention: alpha, a float tensor [example, pos, head].
        informative: true on I*, which may differ from sequence to sequence, [example, pos].
        gamma: the threshold.

    Returns:
        Two numbers: the mean of the summed mass over all informative positions of all
        sequences; the share of the sequences in which none of them is below gamma.
    """
    ### BEGIN SOLUTION
    summed = attention.sum(dim=2)
    least = summed.masked_fill(~informative, torch.inf).amin(dim=1)
    return summed[informative].mean(), (least >= gamma).float().mean()
    ### END SOLUTION


# %%
check.ex_8_2(mean_and_share)

# %% [markdown] tags=["solution"]
# The order is what counts: sum over heads, then the least over the informative positions, then
# compare, and the mean over sequences last. A mean that is taken before the comparison lets one
# sequence pay for another.

# %% [markdown] exercise="ex_8_3" difficulty=2 minutes=20
# ## Heads that cancel
#
# "Every head has a large share on the token that differs, in both sequences the same, and every
# head's value changes by at least $\xi$. So the pooled vectors differ." For a single head that is
# true: $h - h' = \alpha_i (v_i - v'_i)$. Refute it for two heads or more, whatever their shares.


# %%
def cancelling_values(shares, separation):
    """What each head reads at the token that differs, such that the pooled vectors agree.

    Args:
        shares: alpha_i of each head, above 0, the same in both sequences, a float tensor [head],
            two heads or more.
        separation: xi, above 0: every head's two values are at least so far apart.

    Returns:
        v_i and v'_i of every head, two tensors [head, embed], in as many dimensions as you like.
        All other tokens have the same values and shares in both sequences.
    """
    ### BEGIN SOLUTION
    sign = torch.ones_like(shares)
    sign[0] = 1 - len(shares)
    change = (separation * shares.max() / shares * sign)[:, None]
    return change, torch.zeros_like(change)
    ### END SOLUTION


# %%
check.ex_8_3(cancelling_values)

# %% [markdown] tags=["solution"]
# $h - h' = \sum_h \alpha^h_i (v^h_i - v'^h_i)$. Each head's change is divided by its share, so that all
# weigh the same; then the first head is given minus what all others have together. The factor
# $\max \alpha$ keeps every change as long as $\xi$ at least. With two heads that is plus and minus;
# with three, minus two, plus one, plus one.
#
# So (55) is necessary (what no head sees is lost) and not sufficient.

# %% [markdown] exercise="ex_8_4" difficulty=3 minutes=40
# ## A prior that is not in the book
#
# In lesson 08 a teacher's attention served at least as well as the oracle. A guess why: it does not
# insist on exactly one half and exactly nothing. Design a prior that knows $I^*$ and does not
# insist. Write its gradient on the scores of one example, whatever penalty you take. It is right if
#
# 1. it is exactly 0 where $B_\gamma$ holds: every informative share is $\gamma$ or more;
# 2. where $B_\gamma$ is broken, a small step downhill raises the *least* informative share;
# 3. it does not starve: as an informative share goes to 0 its pull stays above some number;
# 4. it is a gradient through a softmax: its entries sum to 0;
# 5. it does not care in which order the positions are.
#
# There is more than one answer. The KL prior of lesson 06 has four of the five.


# %%
def my_pull(attention, informative, gamma):
    """The gradient of a penalty on the scores of one example.

    Args:
        attention: alpha, every entry above 0, a float tensor [pos].
        informative: true on I*, a bool tensor [pos].
        gamma: the threshold, above 0 and below 1/k.

    Returns:
        The derivative with respect to every score, [pos].
    """
    ### BEGIN SOLUTION
    broken = informative & (attention < gamma)
    return broken.sum() * attention - broken.to(attention.dtype)
    ### END SOLUTION


# %%
check.ex_8_4(my_pull)

# %% [markdown]
# Now it trains. A prior for grokkit is a class with a penalty; this one makes the penalty of your
# gradient (its slope on the scores is what you wrote). Two numbers, $\gamma = 0.4$: where do the
# three end?

# %%
if check.ex_8_4.solved:
    from dataclasses import dataclass

    import grokkit
    from grokkit.engine.priors import Prior, register_prior

    @register_prior("mine")
    @dataclass(frozen=True)
    class Mine(Prior):
        strength: float = 1.0
        gamma: float = 0.4

        def penalty(self, seen, batch):
            alpha = seen.attention[0, :, :, 0].detach()
            rows = zip(alpha, batch.informative[0], strict=True)
            pull = torch.stack([my_pull(one, on, self.gamma) for one, on in rows])
            return self.strength * (seen.scores[0, :, :, 0] * pull).sum(dim=1).mean()

    base = grokkit.presets["live"].with_(p=11, train_fraction=0.7, epochs=120, record_every=40)
    for name, spec in {
        "no prior": base,
        "KL": base.with_(kl_strength=1.0),
        "mine": base.with_(prior="mine"),
    }.items():
        run = grokkit.train(spec, progress=False)
        mass = " ".join(f"{one:.2f}" for one in run.informative_mass[0].values.flatten())
        print(f"{name:8} mass on the two numbers at 0, 40, 80, 120: {mass}")

# %% [markdown] tags=["solution"]
# One answer is a hinge: the penalty $\sum_{j \in I^*} \max(0, \log \tfrac{\gamma}{\alpha_j})$. Each
# informative position that has less than $\gamma$ pulls like KL to that position, $\alpha - e_j$;
# one that has enough is silent. $\gamma - \alpha_j$ without the logarithm looks as good, and its
# gradient has the factor $\alpha_j$: it starves where it is needed most. Pulling *up* the least share
# alone does it as well.
#
# KL to the oracle breaks the first: it is silent at the oracle only.

# %% [markdown] exercise="ex_8_5" difficulty=3 minutes=25
# ## Everybody takes turns
#
# Averages over a data set are what one usually looks at. Build heads of which all averages lie: give
# the attention of $k$ heads in $k$ sequences, the first $k$ of whose `length` positions are
# informative, such that
#
# - in every sequence (55) holds: the summed mass of every informative position is 0.9 or more;
# - averaged over the sequences, every head gives the same to every informative position;
# - yet in no sequence does any head look at two of them: all but one have less than `tiny`.


# %%
def taking_turns(k, length, tiny):
    """Attention of k heads that share the work anew in every sequence.

    Args:
        k: how many positions are informative, the first k; and how many heads and sequences.
        length: how many positions, k or more.
        tiny: what a head may give to an informative position that is not its own, above 0.

    Returns:
        alpha, a float tensor [k sequences, length, k heads].
    """
    ### BEGIN SOLUTION
    crumb = min(tiny, 0.05) / (2 * length)
    attention = torch.full((k, length, k), crumb, dtype=torch.float64)
    for sequence in range(k):
        for head in range(k):
            attention[sequence, (sequence + head) % k, head] = 1 - (length - 1) * crumb
    return attention
    ### END SOLUTION


# %%
check.ex_8_5(taking_turns)

# %% [markdown] tags=["solution"]
# Let head $h$ take position $h + n$ (modulo $k$) in sequence $n$: in each sequence every position has
# its head, and each head has been everywhere in the end. Whoever averages the maps of a head over
# the data sees a head that looks evenly at all of $I^*$, and whoever looks at one sequence sees a
# head that stares. Neither is what the heads do. So look at (55) sequence by sequence, and summed.
