# %% [markdown]
# # 06 · Exercises: KL acceleration
#
# Exercises on [lesson 06](../course/06_kl_acceleration.ipynb): derive what the prior does to
# the scores of a whole batch, build the two controls that must not work as well as it does, break
# the inequality behind the exponential theorem, and measure two laws in a small study.
# `check.ex_6_1.hint()` gives a hint, called again the next one.

# %%
import numpy as np
import torch

from grokkit.classroom import check

# %% [markdown] exercise="ex_6_1" difficulty=1 minutes=10
# ## The pull on a score
#
# Section 1 of lesson 06 has the gradient of the KL prior for one example. A run has $N$ of them, each with
# an oracle of its own, and the penalty is their mean:
#
# $$\frac{\beta}{N} \sum_{n=1}^{N} \mathrm{KL}(\alpha^{*n} \,\|\, \alpha^n).$$
#
# What is the derivative with respect to one score $\ell^n_j$? Derive it on paper before you look there
# again, and write it down without autograd. (What is $\log \alpha_j$ as a function of the
# scores? And its derivative?)


# %%
def pull_of_kl(scores, oracle, beta):
    """The gradient of the penalty with respect to every score.

    Args:
        scores: l, of which attention is the softmax, a float tensor [example, pos].
        oracle: alpha*, in every row a distribution, [example, pos].
        beta: the strength.

    Returns:
        [example, pos].
    """
    ### BEGIN SOLUTION
    excess = scores.softmax(dim=1) - oracle
    return beta * excess / len(scores)
    ### END SOLUTION


# %%
check.ex_6_1(pull_of_kl)

# %% [markdown] tags=["solution"]
# Write $\log \alpha_i = \ell_i - \log \sum_m e^{\ell_m}$. Its derivative with respect to $\ell_j$ is
# $[i = j] - \alpha_j$. So $-\sum_i \alpha^*_i \log \alpha_i$ has the derivative
# $-\alpha^*_j + \alpha_j \sum_i \alpha^*_i$, and the sum is 1. The mean brings $1/N$: with twice as
# many examples each score feels half the pull, and the weights that they share feel the same.
#
# Each row of the result sums to 0. A pull that did not would move all scores together, which
# attention does not notice.

# %% [markdown] exercise="ex_6_2" difficulty=2 minutes=20
# ## Two controls
#
# "The prior helps because under AdamW any gradient helps that does not vanish." To find out, replace the
# penalty's gradient by one that is as large and says nothing. Write both controls of lesson 06:
#
# - `noise_for`: at every step a fresh random direction. What must be equal is the *length*: each
#   matrix gets noise with the Frobenius norm that its own gradient has. (Where that is 0, so is the
#   noise.)
# - `shuffled_for`: the gradient itself, each entry with a random sign. What must be equal is the
#   *size of each entry*; and the signs are drawn once for a run, so that the direction lasts.


# %%
def noise_for(gradients, step):
    """Gaussian noise as long as the gradient, matrix by matrix.

    Args:
        gradients: by name, a dict of float tensors.
        step: the number of the step: another step, another noise; the same step, the same.

    Returns:
        A dict with the same names and shapes.
    """
    ### BEGIN SOLUTION
    random = torch.Generator().manual_seed(step)
    noise = {name: torch.randn(one.shape, generator=random) for name, one in gradients.items()}
    return {name: noise[name] * one.norm() / noise[name].norm() for name, one in gradients.items()}
    ### END SOLUTION


# %%
def shuffled_for(gradients, seed):
    """The gradient with random signs that stay the same for a whole run.

    Args:
        gradients: by name, a dict of float tensors; each step brings other ones.
        seed: of the run: another run, other signs.

    Returns:
        A dict with the same names and shapes.
    """
    ### BEGIN SOLUTION
    random = torch.Generator().manual_seed(seed)
    signs = {
        name: 2 * torch.randint(2, one.shape, generator=random) - 1
        for name, one in gradients.items()
    }
    return {name: signs[name] * one for name, one in gradients.items()}
    ### END SOLUTION


# %%
check.ex_6_2(noise_for, shuffled_for)

# %% [markdown]
# What AdamW makes of them. Here it gets the same gradient a hundred times over, true or replaced; its
# steps are added up:

# %%
if check.ex_6_2.solved:
    true = {"W_Q": torch.randn(40, 40, generator=torch.Generator().manual_seed(1))}
    stand_ins = {
        "true": lambda step: true,
        "noise": lambda step: noise_for(true, step),
        "shuffled": lambda step: shuffled_for(true, 0),
    }
    for name, stand_in in stand_ins.items():
        weight = torch.zeros(40, 40, requires_grad=True)
        adam = torch.optim.AdamW([weight], lr=1e-3, weight_decay=0.0)
        for step in range(100):
            weight.grad = stand_in(step)["W_Q"].clone()
            adam.step()
        along = -(weight.detach() * true["W_Q"].sign()).mean() / 0.1
        moved = weight.detach().abs().mean() / 0.1
        print(f"{name:9} moved {moved:.2f} of the longest way, {along:+.2f} against the gradient")

# %% [markdown] tags=["solution"]
# Noise of the right length gets nowhere much: AdamW's running mean averages it away. So it is a weak
# control on its own, and that is why there are two. The shuffled one moves as far as the true
# gradient does, in a direction that lasts, and only the meaning is lost.
#
# Three slips. Noise scaled for all matrices together gives $W_Q$ what belongs to $W_K$. A
# permutation of the entries keeps the norm, but not the size of each. And signs that are drawn
# anew at each step would be a second kind of noise.

# %% [markdown] exercise="ex_6_3" difficulty=2 minutes=20
# ## Where the inequality ends
#
# The exponential rate of Theorem 5.2 stands on (50): with $\delta = \alpha - \alpha^*$, $\mu$ the least
# *positive* entry of $\alpha^*$ and $D$ the divergence,
#
# $$\|\delta\|^2 \;\ge\; 2\mu\,D .$$
#
# Such an inequality, with any constant, is named after Polyak and Łojasiewicz (PL). Break it twice:
#
# 1. **Near a sparse oracle there is no constant at all.** Write `near`: for any constant $c > 0$, and
#    as near as one likes, an attention with $\|\delta\|^2 < c\,D$.
# 2. **For a full oracle** (every entry positive) it is right in a neighbourhood only. Write `far`:
#    for any full oracle an attention with $\|\delta\|^2 < 2\mu\,D$.
#
# Attention is a softmax: every entry is above 0.


# %%
def near(k, length, constant, within):
    """An attention near a sparse oracle that breaks |delta|^2 >= constant * D.

    Args:
        k: how many positions are informative, the first k; the oracle gives 1/k to each.
        length: the number of positions, above k.
        constant: c, above 0.
        within: how near: D is at most this, in nats.

    Returns:
        alpha, a float tensor [pos] with sum 1.
    """
    ### BEGIN SOLUTION
    spread = 1 / k + 1 / (length - k)
    left = 0.5 * min(constant / spread, within, 0.5)
    attention = torch.empty(length, dtype=torch.float64)
    attention[:k] = (1 - left) / k
    attention[k:] = left / (length - k)
    return attention
    ### END SOLUTION


# %%
def far(oracle):
    """An attention that breaks |delta|^2 >= 2 mu D for a full oracle.

    Args:
        oracle: alpha*, each entry 0.1 or more, a float tensor [pos].

    Returns:
        alpha, [pos], with sum 1.
    """
    ### BEGIN SOLUTION
    attention = torch.full_like(oracle, 1e-30)
    attention[oracle.argmin()] = 1.0
    return attention
    ### END SOLUTION


# %%
check.ex_6_3(near, far)

# %% [markdown] tags=["solution"]
# 1\. Leave $\varepsilon$ on the distractors, evenly. Then $D = -\log(1 - \varepsilon) \ge \varepsilon$,
# and $\|\delta\|^2 = \varepsilon^2\,(\tfrac1k + \tfrac1{T-k})$: the square of something that is
# small. Any $\varepsilon$ below $c$ over the bracket will do. Moving mass about *inside* $I^*$ does
# not help, for there both sides are of second order.
#
# 2\. $\|\delta\|^2$ is never more than 2, and $D$ has no upper end: let attention be nearly 0 where
# the oracle is not.
#
# What does hold everywhere is $\|\delta\|^2 \ge 2 \min_j \min(\alpha_j, \alpha^*_j)\,D$
# (`grokkit.theory.pl_constant`), and for a sparse oracle that constant is 0.

# %% [markdown] exercise="ex_6_4" difficulty=3 minutes=40
# ## A small study: two laws and how to see them
#
# Let the scores follow the prior's gradient and nothing else: $d\ell/dt = -\beta\,(\alpha - \alpha^*)$. The
# evidence of lesson 06 shows two laws of this *flow*, with $D = \mathrm{KL}(\alpha^* \| \alpha)$: in the end
# $D$ falls like $1/t$, and the time that it needs goes as $1/\beta$. Write a function that measures each,
# then use both on a network.
#
# 1. `late_power`: if $D = C\,t^{-r}$ from some time on, what is $r$?
# 2. `inverse_law`: the straight line of least squares for epochs = floor + slope / β, with its $R^2$:
#    1 minus the squares of what the line misses over the squares of what the mean misses.


# %%
def late_power(times, divergence, since):
    """The power r in D = C / t^r, from a time on.

    Args:
        times: t, above 0, an array [time].
        divergence: D, above 0, [time].
        since: only records at this time or later count.

    Returns:
        r, by least squares in logarithms; above 0 where D falls.
    """
    ### BEGIN SOLUTION
    late = times >= since
    return -np.polyfit(np.log(times[late]), np.log(divergence[late]), 1)[0]
    ### END SOLUTION


# %%
def inverse_law(betas, epochs):
    """Floor, slope and R^2 of epochs = floor + slope / beta.

    Args:
        betas: the strengths, an array [arm].
        epochs: the epoch at which each arm was there, [arm].

    Returns:
        Three numbers: floor, slope, R^2.
    """
    ### BEGIN SOLUTION
    slope, floor = np.polyfit(1 / betas, epochs, 1)
    missed = epochs - (floor + slope / betas)
    return floor, slope, 1 - (missed**2).sum() / ((epochs - epochs.mean()) ** 2).sum()
    ### END SOLUTION


# %%
check.ex_6_4(late_power, inverse_law)

# %% [markdown]
# Now the study. *Write down first: which power will an oracle have that gives a little to every
# position? Will the flow's times to a divergence of 0.1 have a floor? And do the networks keep to
# the law better or worse when the weakest prior is taken out?*

# %%
if check.ex_6_4.solved:
    import grokkit
    from grokkit import experiments, theory
    from grokkit.diagnostics import grok_epoch

    times = np.geomspace(1, 1000, 61)
    for name, oracle in (
        ("sparse", np.array([0.5, 0, 0.5, 0, 0])),
        ("full", np.array([0.494, 0.004, 0.494, 0.004, 0.004])),
    ):
        flow = theory.kl_flow(np.zeros(5), oracle, 1.0, times)
        powers = [
            late_power(times[: end + 1], flow.divergence[: end + 1], times[begin])
            for begin, end in ((20, 40), (40, 60))  # from 10 to 100, and from 100 to 1000
        ]
        print(f"{name:6} oracle: power {powers[0]:.1f} up to t = 100, then {powers[1]:.1f}")

    run = grokkit.train(
        grokkit.presets["live"].with_(
            p=13, train_fraction=0.7, kl_strength=1.0, epochs=250, record_every=5
        ),
        progress=False,
    )
    kl = run.kl.values[0, 1:]
    print(f"a network: power {late_power(run.epoch.values[1:], kl, 50):.1f} from epoch 50 on")

    betas = np.array([0.01, 0.03, 0.1, 0.3, 1, 3])
    when = []
    for beta in betas:
        fine = np.geomspace(1, 3000, 500)
        flow = theory.kl_flow(np.zeros(5), np.array([0.5, 0, 0.5, 0, 0]), beta, fine)
        when.append(np.interp(-0.1, -flow.divergence, flow.times))
    print(
        "the flow:     floor {:.2f}, slope {:.1f}, R2 {:.3f}".format(
            *inverse_law(betas, np.array(when))
        )
    )

    recorded = experiments.recorded("kl-acceleration")
    if recorded is not None:
        arms = [recorded.isel(run=(recorded.arm == f"KL {beta:g}").values) for beta in betas]
        epochs = np.array([float(grok_epoch(a, 0.95).fillna(np.inf).median()) for a in arms])
        for name, kept in (("networks", slice(0, None)), ("without 0.01", slice(1, None))):
            law = inverse_law(betas[kept], epochs[kept])
            print("{:13} floor {:.0f}, slope {:.1f}, R2 {:.2f}".format(f"{name}:", *law))

# %% [markdown] tags=["solution"]
# The sparse oracle has the power 1 early and late. An oracle with a little everywhere has no power
# at all: the number grows with the window, which is how an exponential looks on such axes. The
# network's is not far from the sparse flow's, and nothing like an exponential.
#
# The flow depends on $\beta t$ alone, so its line goes through the origin. The networks' does not,
# and it is no line: the weakest prior stands far out on the axis of $1/\beta$, and without it the
# slope comes out quite different: the others lie closer to a line of their own, and $R^2$ rises. A fit whose slope
# hangs on one point has not been tested by the others. $R^2$ does not say which point that is;
# leaving points out does.

# %% [markdown] exercise="ex_6_5" difficulty=3 minutes=20
# ## A control that cannot help
#
# Noise may point the right way by chance, and signs that are shuffled may, too. Build a stand-in for
# the prior's pull on the *scores* that certainly says nothing of it. In every example it is
#
# - as long as the pull,
# - at a right angle to it,
# - a gradient through a softmax: its entries sum to 0,
# - and 0 where the pull is 0.
#
# (An example has three positions or more. Why would two not do?)


# %%
def blind_pull(pull):
    """A stand-in as long as the pull that does not have any of its direction.

    Args:
        pull: the gradient on the scores, each row with the sum 0, a float tensor [example, pos].

    Returns:
        [example, pos].
    """
    ### BEGIN SOLUTION
    corner = torch.zeros_like(pull)
    corner.scatter_(1, pull.abs().argmin(dim=1, keepdim=True), 1.0)
    corner -= corner.mean(dim=1, keepdim=True)
    length = pull.norm(dim=1, keepdim=True)
    along = pull / length.clamp_min(1e-30)
    corner -= (corner * along).sum(dim=1, keepdim=True) * along
    return corner / corner.norm(dim=1, keepdim=True) * length
    ### END SOLUTION


# %%
check.ex_6_5(blind_pull)

# %% [markdown] tags=["solution"]
# Take any direction, take the mean off (so that it sums to 0), take off what lies along the pull
# (Gram and Schmidt), and give it the length. Both can be done one after the other, for the pull sums
# to 0 itself. With two positions the vectors of sum 0 are a line, and nothing on it is at a right
# angle to the pull. To first order such a stand-in leaves the KL as it is: what it does to a run, the
# direction cannot have done.
