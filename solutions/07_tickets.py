# %% [markdown]
# # 07 · Exercises: tickets
#
# Exercises on [lesson 07](../course/07_tickets.ipynb): cut a mask that keeps its word, rewind a
# network and build the control, train under a mask without the optimizer noticing what is gone,
# and show that a small weight need not be an unimportant one. `check.ex_7_1.hint()` gives a hint,
# called again the next one.

# %%
import torch

from grokkit.classroom import check

# %% [markdown] exercise="ex_7_1" difficulty=1 minutes=10
# ## A mask that keeps its word
#
# Lesson 07 cut at a *value*: what is at least as large as it stays. That goes wrong when many weights
# are equal. Prune a network that has been pruned before, with half of its weights at 0, by
# another 30 %: the limit is 0, and everything stays. Write a mask that keeps its word. Of every
# matrix exactly $s\,n$ entries go, rounded to a whole number, the smallest by absolute value; of
# equal ones it does not matter which.
#
# Only matrices are pruned, those whose names begin with `W_`: embeddings and biases are not.


# %%
def keep_largest(weights, sparsity):
    """Which entries of each matrix survive.

    Args:
        weights: all parameters by name, a dict of float tensors.
        sparsity: s, the share of each matrix that goes, from 0 to 1.

    Returns:
        For each name that begins with `W_` a bool tensor of the matrix's shape.
    """
    ### BEGIN SOLUTION
    kept = {}
    for name, weight in weights.items():
        if name.startswith("W_"):
            mask = torch.ones(weight.numel(), dtype=torch.bool)
            smallest = weight.abs().flatten().argsort()[: round(sparsity * weight.numel())]
            mask[smallest] = False
            kept[name] = mask.view(weight.shape)
    return kept
    ### END SOLUTION


# %%
check.ex_7_1(keep_largest)

# %% [markdown] tags=["solution"]
# Sorting *places* instead of values decides between equal ones, and so the number is always right.
# A limit over all matrices together would be another setting (`scope="global"` in grokkit): then a
# matrix whose weights are small as a whole may lose all of them.

# %% [markdown] exercise="ex_7_2" difficulty=2 minutes=15
# ## Rewind, and the control
#
# A mask is worth something only if it is better than *any* mask as sparse. Write
#
# - `rewind`: initial weights under a mask. What the mask does not name begins as it was.
# - `random_mask`: the control. Each matrix keeps as many entries as under the ticket, at random
#   places. What has to be equal is the sparsity of *every* matrix, and nothing else may be.


# %%
def rewind(initial, kept):
    """Initial weights under a mask.

    Args:
        initial: all parameters by name, a dict of float tensors.
        kept: bool tensors for some of them.

    Returns:
        All parameters by name; pruned entries are 0.
    """
    ### BEGIN SOLUTION
    return {name: one * kept[name] if name in kept else one for name, one in initial.items()}
    ### END SOLUTION


# %%
def random_mask(kept, seed):
    """A mask that is as sparse as another one, matrix by matrix.

    Args:
        kept: bool tensors by name.
        seed: names the places: another seed, other places.

    Returns:
        Bool tensors by name, of the same shapes.
    """
    ### BEGIN SOLUTION
    random = torch.Generator().manual_seed(seed)
    shuffled = {}
    for name, mask in kept.items():
        order = torch.randperm(mask.numel(), generator=random)
        shuffled[name] = mask.flatten()[order].view(mask.shape)
    return shuffled
    ### END SOLUTION


# %%
check.ex_7_2(rewind, random_mask)

# %% [markdown]
# A ticket of your own: a network that adds modulo 13, half of each matrix pruned by your functions
# of 7.1 and 7.2. *Which of the three memorises first: the ticket with its own initial weights, as
# the hypothesis was first put; the same mask on the weights of another seed; or a random mask?*

# %%
if check.ex_7_1.solved and check.ex_7_2.solved:
    import tempfile

    import grokkit
    from grokkit.engine import Trainer
    from grokkit.tickets import Ticket, save_ticket

    spec = grokkit.presets["live"].with_(p=13, train_fraction=0.7, epochs=150)
    trainer = Trainer([spec])
    own = {name: one[0].detach().clone() for name, one in trainer.weights.items()}
    other = {name: one[0].detach() for name, one in Trainer([spec.with_(seed=1)]).weights.items()}
    trainer.advance()
    trained = {name: one[0].detach() for name, one in trainer.weights.items()}

    mask = keep_largest(trained, 0.5)
    masks = {"rewound": (mask, own), "another's": (mask, other)}
    masks["random"] = (random_mask(mask, 0), own)
    folder = tempfile.mkdtemp()
    for name, (kept, start) in masks.items():
        ticket = Ticket(kept, rewind(start, kept))
        path = str(save_ticket(ticket, f"{folder}/{ticket.digest}.safetensors"))
        run = grokkit.train(spec.with_(ticket=path, epochs=100, record_every=5), progress=False)
        known = run.epoch.where(run.train_accuracy[0] >= 0.99).min().item()
        print(f"{name:10} known at {known:.0f}, train loss at 100 {run.train_loss[0, -1]:.2g}")

# %% [markdown] tags=["solution"]
# Shuffling the mask itself cannot lose an entry; tossing a coin for each would keep the sparsity
# on average only, and a random mask that is a little denser has an advantage that is none of its
# own.
#
# What the run says is one seed of one small task: an anecdote, and a good question for lesson 10.

# %% [markdown] exercise="ex_7_3" difficulty=2 minutes=15
# ## Train under a mask
#
# "Multiply with the mask after every step, and the pruned weights are gone." They are gone from the
# weights. Are they gone from the *optimizer*? Take SGD with decoupled decay and clipping,
#
# $$g \leftarrow g \cdot \min\!\left(1, \frac{c}{\|g\|}\right), \qquad
#   W' = (1 - \eta w)\,W - \eta\,g,$$
#
# where $\|g\|$ is the norm of *all* gradients together. A pruned weight has a gradient, too: it
# says how the loss would fall if the weight were there. Write a step in which pruned weights stay
# 0 and nobody knows that they ever were.


# %%
def masked_step(weights, gradients, kept, eta, w, longest):
    """One step of clipped SGD with decoupled decay, under a mask.

    Args:
        weights: all parameters by name, a dict of float tensors.
        gradients: theirs, by the same names.
        kept: bool tensors for some of them; parameters that it does not name are trained whole.
        eta: the learning rate.
        w: the weight-decay setting.
        longest: c, the norm to which a longer gradient is scaled.

    Returns:
        The new parameters by name.
    """
    ### BEGIN SOLUTION
    seen = {name: one * kept[name] if name in kept else one for name, one in gradients.items()}
    norm = torch.stack([one.norm() for one in seen.values()]).norm()
    clip = 1.0 if norm <= longest else longest / norm
    moved = {name: (1 - eta * w) * weights[name] - eta * clip * seen[name] for name in weights}
    return {name: one * kept[name] if name in kept else one for name, one in moved.items()}
    ### END SOLUTION


# %%
check.ex_7_3(masked_step)

# %% [markdown] tags=["solution"]
# The mask belongs on the *gradient*, before anything looks at it. Otherwise the living weights are
# clipped because of the dead ones: in an 80 % sparse matrix most of the norm may be theirs. What
# looks like a bad ticket would then be a smaller learning rate. (AdamW would keep averages of
# dead gradients, which harms nobody, but Muon mixes all entries of a matrix.)

# %% [markdown] exercise="ex_7_4" difficulty=3 minutes=20
# ## Small is not unimportant
#
# "Magnitude pruning removes what the network needs least." Refute it. Given are a two-layer network
#
# $$f(x) = \mathrm{relu}(x\,W_1 + b_1)\,W_2$$
#
# and one of its hidden units. Write the *same* network, equal for every input $x$, in such a way that
# this unit's incoming weights, its column of $W_1$, are smaller than all others in $W_1$. Whoever
# then prunes as few weights as the column has cuts this unit off from its input, however important
# it is.


# %%
def same_network(W_1, b_1, W_2, unit):
    """The same function, with weights that put one hidden unit first in line for pruning.

    Args:
        W_1: a float tensor [embed, hidden], no entry 0.
        b_1: [hidden].
        W_2: [hidden, class].
        unit: which hidden unit.

    Returns:
        New W_1, b_1 and W_2.
    """
    ### BEGIN SOLUTION
    others = W_1.abs().clone()
    others[:, unit] = torch.inf
    scale = torch.ones_like(b_1)
    scale[unit] = 0.5 * others.min() / W_1[:, unit].abs().max()
    return W_1 * scale, b_1 * scale, W_2 / scale[:, None]
    ### END SOLUTION


# %%
check.ex_7_4(same_network)

# %% [markdown] tags=["solution"]
# For every $s > 0$ it holds that $\mathrm{relu}(s z) = s\,\mathrm{relu}(z)$. So what goes into a unit
# can be scaled down, its bias with it, if what comes out is scaled up by as much. The function does
# not notice; a rule that looks at the size of weights does. A mask is thus a statement about
# *these* weights, not about the function that they compute.
#
# Why should it work at all, then? Weight decay does not let a network stay in such a disguise: of
# all ways to write a function it prefers that with the least squares, in which both sides of a
# unit are equally long.

# %% [markdown] exercise="ex_7_5" difficulty=3 minutes=25
# ## Any order you like
#
# Exercise 7.4 puts one unit first in line. Go further: given *any* order of the hidden units, write the
# same network so that magnitude pruning of $W_1$ takes whole units, in that order: every incoming
# weight of the first is smaller than every one of the second, and so on.


# %%
def pruned_in_this_order(W_1, b_1, W_2, order):
    """The same function, whose units are pruned one by one in a given order.

    Args:
        W_1: a float tensor [embed, hidden], no entry 0.
        b_1: [hidden].
        W_2: [hidden, class].
        order: the hidden units, the first to be pruned first, a list.

    Returns:
        New W_1, b_1 and W_2.
    """
    ### BEGIN SOLUTION
    factors, reached = torch.ones_like(b_1), 0.0
    for unit in order:
        column = W_1[:, unit].abs()
        factors[unit] = max(2 * reached / column.min(), 1 / column.max())
        reached = factors[unit] * column.max()
    return W_1 * factors, b_1 * factors, W_2 / factors[:, None]
    ### END SOLUTION


# %%
check.ex_7_5(pruned_in_this_order)

# %% [markdown] tags=["solution"]
# Each unit has a factor of its own, and may have any above 0. Go through the order and let the least
# entry of a column be above the largest of the one before. So a magnitude mask over units is no
# statement about the function at all: *every* order of pruning is that of some network that computes
# the same. What makes it one is the training, which chose this network among all of them.
