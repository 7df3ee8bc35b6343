# %% [markdown]
# # 07 · Exercises: tickets
#
# Four exercises on [lesson 07](../course/07_tickets.ipynb): cut a mask that keeps its word, rewind a
# network and build the control, train under a mask without the optimizer noticing what is gone,
# and show that a small weight need not be an unimportant one. `check.ex_7_1.hint()` gives a hint,
# called again the next one.

# %%
import torch

from grokkit.classroom import check


# %% [markdown]
# ## 7.1 · A mask that keeps its word
#
# *●○○ easy · about 10 minutes*
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
    raise NotImplementedError("your code here")


# %%
check.ex_7_1(keep_largest)


# %% [markdown]
# ## 7.2 · Rewind, and the control
#
# *●●○ medium · about 15 minutes*
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
    raise NotImplementedError("your code here")


# %%
def random_mask(kept, seed):
    """A mask that is as sparse as another one, matrix by matrix.

    Args:
        kept: bool tensors by name.
        seed: names the places: another seed, other places.

    Returns:
        Bool tensors by name, of the same shapes.
    """
    raise NotImplementedError("your code here")


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


# %% [markdown]
# ## 7.3 · Train under a mask
#
# *●●○ medium · about 15 minutes*
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
    raise NotImplementedError("your code here")


# %%
check.ex_7_3(masked_step)


# %% [markdown]
# ## 7.4 · Small is not unimportant
#
# *●●● hard · about 20 minutes*
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
    raise NotImplementedError("your code here")


# %%
check.ex_7_4(same_network)
