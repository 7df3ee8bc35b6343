# %% [markdown]
# # 05 · Exercises: the wait
#
# Exercises on [lesson 05](../course/05_the_wait.ipynb): how fast pure decay is, how to hold a
# norm, an optimizer that is contractive and grows, and a prediction of the wait that you then put to
# the test. Here $\eta$ (`eta`) is the learning rate, $w$ the weight-decay setting, and $a = \eta w$ the
# share that each weight loses at a step (in lesson 05: $\lambda$). `check.ex_5_1.hint()` gives a hint, called again the next one.

# %%
import math

import torch

from grokkit.classroom import check

# %% [markdown] exercise="ex_5_1" difficulty=1 minutes=5
# ## If decay were alone
#
# At each step decoupled weight decay multiplies all weights with $1 - a$. Suppose that the
# optimizer does nothing else. After how many whole steps is a norm of `norm0` down to `r_max` or
# less? Compare it with equation (5), $\tfrac2a \log\frac{\text{norm0}}{r_{\max}}$.


# %%
def steps_of_pure_decay(norm0, r_max, eta, w):
    """The number of steps after which the norm is r_max or less, if there is only decay.

    Args:
        norm0: the norm at first.
        r_max: the norm to reach.
        eta: the learning rate.
        w: the weight-decay setting; eta * w is between 0 and 1.

    Returns:
        A whole number; 0 if the norm is there already.
    """
    ### BEGIN SOLUTION
    if norm0 <= r_max:
        return 0
    return math.ceil(math.log(r_max / norm0) / math.log(1 - eta * w))
    ### END SOLUTION


# %%
check.ex_5_1(steps_of_pure_decay)

# %% [markdown]
# The live preset's numbers. What would you say to somebody who reads (5) as the *least* that the
# wait can be?

# %%
if check.ex_5_1.solved:
    for decay in (0.5, 1.0, 2.0):
        steps = steps_of_pure_decay(40, 25, 0.005, decay)
        print(f"decay {decay}: {steps} steps; (5): {2 / (0.005 * decay) * math.log(40 / 25):.0f}")

# %% [markdown] tags=["solution"]
# After $t$ steps the norm is $(1 - a)^t$ times what it was. Take logarithms, divide, round up.
# As $\log(1 - a) \approx -a$ it is half of (5), which lets only the *square* of the norm lose the
# share $a$. A least wait that a plain decay undercuts by half is none.

# %% [markdown] exercise="ex_5_2" difficulty=2 minutes=15
# ## Hold a norm
#
# Lesson 03 held the norm of the MLP at one value, by a projection after every step: all of its
# parameters *together*, $\theta_{\mathrm{MLP}}$, are scaled to the radius. Write the projection.
# Nothing but the length of $\theta_{\mathrm{MLP}}$ may change, and no other parameter.


# %%
def hold_norm(weights, names, radius):
    """The weights with some of them scaled, together, to a norm.

    Args:
        weights: all parameters by name, a dict of float tensors of any shape.
        names: the names of those that are held, whose joint Frobenius norm is to be `radius`.
        radius: the norm, above 0.

    Returns:
        A dict with the same names. Where all held parameters are 0 they stay so.
    """
    ### BEGIN SOLUTION
    norm = torch.stack([weights[name].norm() for name in names]).norm()
    scale = radius / norm if norm > 0 else 1.0
    return {name: part * scale if name in names else part for name, part in weights.items()}
    ### END SOLUTION


# %%
check.ex_5_2(hold_norm)

# %% [markdown]
# grokkit has it built in, as `mlp_radius`. Once yours is right, both train the same network:

# %%
if check.ex_5_2.solved:
    import grokkit
    from grokkit.engine import Trainer
    from grokkit.model import MLP_WEIGHTS

    def hold_by_hand(trainer):
        now = {name: trainer.weights[name].detach() for name in trainer.weights}
        for name, held in hold_norm(now, MLP_WEIGHTS, 15.0).items():
            now[name].copy_(held)

    spec = grokkit.presets["live"].with_(p=13, epochs=20)
    by_hand, built_in = Trainer([spec]), Trainer([spec.with_(mlp_radius=15.0)])
    by_hand.advance(on_epoch=hold_by_hand)
    built_in.advance()
    apart = (by_hand.weights.flat - built_in.weights.flat).norm().item()
    print(f"after {spec.epochs} epochs the two are {apart:.1g} apart")

# %% [markdown] tags=["solution"]
# The joint norm is the norm of the norms. All parts get *one* factor, so their proportions, and the
# direction of $\theta_{\mathrm{MLP}}$, stay. Scaling each part to the radius would hold something
# else, and a norm of $\sqrt4$ times the radius in all.
#
# It is a projection in both directions: a norm that is too small is scaled up.

# %% [markdown] exercise="ex_5_3" difficulty=2 minutes=15
# ## Contractive, and it grows
#
# The paper calls an optimizer *norm-contractive* (Definition 3.2) if after each step
# $\|W'\|^2 \le (1 - a)\|W\|^2 + \rho$ with a bounded $\rho$. "Definition 3.2 holds at every step, so the
# norm shrinks." Refute it: for any weights give a step $U$ after which
#
# $$W' = (1 - a)\,W - \eta\,U$$
#
# is longer than $W$. (With $\rho = \tfrac{\eta}{w}\|U\|^2$ Definition 3.2 holds for *every* $U$, so
# you need not care about it.) And because a long step would be cheap: let $U$ be at most a tenth
# longer than it has to be.


# %%
def growing_step(W, eta, w):
    """A step after which the norm is larger, hardly longer than necessary.

    Args:
        W: the weights, a float tensor [out, in], not all 0.
        eta: the learning rate.
        w: the weight-decay setting; eta * w is between 0 and 1.

    Returns:
        U, of the shape of W.
    """
    ### BEGIN SOLUTION
    return -1.05 * w * W
    ### END SOLUTION


# %%
check.ex_5_3(growing_step)

# %% [markdown] tags=["solution"]
# The cheapest way to grow is straight outward, $U = -c\,W/\|W\|$, and then
# $\|W'\| = (1 - a)\|W\| + \eta c$. It is above $\|W\|$ if $c > w\,\|W\|$. So an optimizer whose steps
# have the length $\|U\|$ can grow up to the norm $\|U\|/w$, the *floor* in the evidence of lesson
# 05, and above that never. Lion's steps are all of the same length, and that is what its norm does.

# %% [markdown] exercise="ex_5_4" difficulty=3 minutes=35
# ## Predict, then measure
#
# A network has memorised with norm `norm0`; when will it be down to `r_max`? Write down what theory
# says, then measure. If no step is longer than $B$, then with the floor $f = B / w$ the norm $n$
# becomes, in one step, at least $(1 - a)\,n - a f$ and at most $(1 - a)\,n + a f$.
#
# 1. `predict`: three numbers of steps (not rounded). (5) as claimed; the *earliest*, with steps that
#    help throughout; the *latest*, with steps that oppose throughout, or `math.inf` if such steps
#    need never let it get there. Hint: how does the distance of $n$ from $-f$, or from $f$, change in
#    one step?
# 2. `first_at`: at which step of a measured trajectory was the norm there for the first time?


# %%
def predict(norm0, r_max, eta, w, longest_step):
    """How many steps it takes until the norm is r_max: (5), and the bracket.

    Args:
        norm0: the norm at first, above r_max.
        r_max: the norm to reach.
        eta: the learning rate.
        w: the weight-decay setting.
        longest_step: B, the largest norm of U.

    Returns:
        Three numbers: claimed, earliest, latest.
    """
    ### BEGIN SOLUTION
    a, floor = eta * w, longest_step / w
    claimed = 2 / a * math.log(norm0 / r_max)
    earliest = math.log((r_max + floor) / (norm0 + floor)) / math.log(1 - a)
    latest = math.inf
    if floor < r_max:
        latest = math.log((r_max - floor) / (norm0 - floor)) / math.log(1 - a)
    return claimed, earliest, latest
    ### END SOLUTION


# %%
def first_at(norms, r_max):
    """The first step at which the norm is r_max or less.

    Args:
        norms: the norm before the first step, after it, and so on, a list of numbers.
        r_max: the norm to reach.

    Returns:
        The number of steps taken until then; math.inf if the norm never gets there.
    """
    ### BEGIN SOLUTION
    return next((step for step, norm in enumerate(norms) if norm <= r_max), math.inf)
    ### END SOLUTION


# %%
check.ex_5_4(predict, first_at)

# %% [markdown]
# Now on two trajectories: a network that AdamW trains, from when it has memorised; and weights of
# the same norm that are pushed at random, by steps of length 10. For the network, $B$ is the longest
# step that it took. *Will the measured waits be inside their brackets? Will they be near (5)?*

# %%
if check.ex_5_4.solved:
    from grokkit import presets
    from grokkit.engine import Trainer as Training
    from grokkit.engine.contraction import measure_contraction

    training = Training([presets["live"].with_(p=17, epochs=220)])
    training.advance(80)  # by then it has memorised
    seen = measure_contraction(training, 140).isel(run=0)
    adamw = seen.norm_before.values.tolist()

    pushed, generator = [adamw[0]], torch.Generator().manual_seed(0)
    W = torch.randn(1000, generator=generator)
    W *= adamw[0] / W.norm()
    for _ in range(140):
        U = torch.randn(1000, generator=generator)
        W = (1 - 0.005) * W - 0.005 * 10 * U / U.norm()
        pushed.append(W.norm().item())

    goal = 0.96 * adamw[0]
    for name, norms, B in (("AdamW", adamw, seen.update_norm.max().item()), ("random", pushed, 10)):
        claimed, earliest, latest = predict(norms[0], goal, 0.005, 1.0, B)
        print(f"{name}: (5) {claimed:.0f}, bracket {earliest:.0f} to {latest:.0f} steps, ", end="")
        print(f"measured {first_at(norms, goal)}")

# %% [markdown] tags=["solution"]
# With steps that help, $n + f$ loses the share $a$ at each step; with steps that oppose, $n - f$ does.
# So both ends are pure decays of a shifted norm. If the floor is not below the goal, opposing
# steps hold the norm above it for ever.
#
# Both measured waits lie in their brackets, as they must. Steps in random directions hardly matter:
# pure decay, half of (5), is nearly right. AdamW's steps have a direction, against the decay, and
# its wait is longer than (5) says; nothing in its bracket says by how much, for its steps *could*
# have opposed the decay altogether. What is missing in the theory is not a sharper inequality but
# the direction of the steps.

# %% [markdown] exercise="ex_5_5" difficulty=3 minutes=30
# ## The norm stands still, the network does not
#
# A plateau of the norm looks like a network that has stopped. Refute it: give steps
# $U_1, U_2, \dots$ with $W \leftarrow (1 - a)\,W - \eta\,U$ such that
#
# - after every step the norm is what it was at the beginning, to within a thousandth,
# - no step is longer than $B$, which is above $w\,\|W\|$ by a tenth or more,
# - at the end $W$ stands at a right angle to where it began (or beyond).


# %%
def turning_steps(W, eta, w, longest_step):
    """Steps that hold the norm and turn the weights by a right angle.

    Args:
        W: the weights, a float tensor [out, in] with two entries or more, not all 0.
        eta: the learning rate.
        w: the weight-decay setting; eta * w is at most 0.5.
        longest_step: B, at least 1.1 * w * |W|.

    Returns:
        The steps, a list of tensors of the shape of W, 100,000 at most.
    """
    ### BEGIN SOLUTION
    start, norm = W.double(), W.double().norm()
    side = torch.zeros_like(start).flatten()
    side[start.abs().argmin()] = 1.0
    side = side.view_as(start) - (side.view_as(start) * start).sum() / norm**2 * start
    side *= norm / side.norm()
    across = math.sqrt(longest_step**2 - (w * norm) ** 2) * eta / (2 * norm)
    count = math.ceil(math.pi / 2 / min(across, eta * w))
    at = [
        math.cos(x) * start + math.sin(x) * side
        for x in (torch.arange(count + 1) * math.pi / 2 / count).tolist()
    ]
    return [((1 - eta * w) * at[i] - at[i + 1]) / eta for i in range(count)]
    ### END SOLUTION


# %%
check.ex_5_5(turning_steps)

# %% [markdown] tags=["solution"]
# Choose the way first and the steps afterwards: let $W$ go along a circle, and solve
# $W_{t+1} = (1 - a) W_t - \eta U_t$ for $U_t$. Outwards a step has to give back what decay takes,
# $w\,\|W\|$; what is left of $B$ goes sideways, and the smaller the angle of a step, the more steps
# it takes. Nothing in the norm tells such a network from one at rest, so the end of a plateau need
# not be where the norm begins to fall.
