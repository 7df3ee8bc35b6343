# %% [markdown]
# # 14 · What if there is no right answer?
#
# *An elective. No lesson needs it.*
#
# Put a marble on the ridge between two valleys, and let the wind blow. Half of the time it ends on the
# left, half of the time on the right. Now ask a network where it will be. It has seen a thousand
# marbles and where each of them ended. What does it answer?
#
# All lessons so far had one right answer for each input. Here there is none: the same input has many
# ends, and each is right. The authors of the paper that this course began with have a second one about
# it, on **Martingale Neural Operators**. We know its abstract and not its code, so what follows is our
# own construction, on systems that we can solve ourselves.
#
# *You need:* lessons 01 and 04. *Time:* 20 minutes; the code runs in under half a minute. Results are
# folded away below your guesses: running a cell opens its result.

# %%
import numpy as np
import torch
from tqdm.auto import trange

from grokkit import viz
from grokkit.classroom import beside
from grokkit.core.common import stream as generator
from grokkit.operators import TRAINED as OPERATORS
from grokkit.operators import Data, GaussianLaw, System, crps, energy_score, fitted, wasserstein

# %% [markdown]
# ## 1. One beginning, many ends
#
# Our marble is a whole field $u(x)$ on a circle. Three things move it. *It diffuses*, so that
# neighbours become alike; *it is drawn towards $-1$ or $+1$*, the two valleys; and *noise pushes it*:
#
# $$du = \bigl(\nu\, u_{xx} + a\,(u - u^3)\bigr)\,dt + s\,dW.$$
#
# Physicists call this $\phi^4$. We write $u_0$ for the field at the beginning and $u_T$ for the end.
# Here is one beginning near the ridge, and 40 of its ends.

# %%
data = Data(System("phi4").build(seed=0))  # 1,024 beginnings to train on, 8 to ask about
ridge = int(data.law.mean(dim=(1, 2)).abs().argmin())  # the one nearest to the ridge
x = np.arange(32) / 32
ends = data.law[ridge]
GREY = {"color": "#8C8C8C", "linestyle": "-", "linewidth": 0.7}
viz.lines(
    [
        *(viz.Line(x, end, "", "norm", GREY) for end in ends[:40].numpy()),
        viz.Line(x, data.tests[ridge].numpy(), "the beginning", "train"),
    ],
    title="One beginning, forty ends",
    below="each thin line is one run of the same equation with other noise",
    x="place x",
    y="u, in standard deviations of all ends",
)

# %% [markdown]
# Nearly all ends lie in one of the valleys, and hardly any in between.
#
# The training set has 1,024 beginnings **with one end each**. No beginning occurs twice, so nobody
# is ever shown that one beginning has several ends.
#
# ## 2. Your prediction
#
# A network is trained to make the *squared error* small: the mean of (its answer − the end)².
# It is a Fourier neural operator (FNO), the usual network for fields: it mixes the lowest waves of
# the field, so it can be used on any grid. We ask it about the beginning above.
#
# *What will it answer at x = 0.5: `"left"` (about −1), `"right"` (about +1) or `"ridge"` (about 0)?*

# %%
my_answer = None

# %% tags=["hide-output", "nbval-ignore-output"]


def train(rival, data, steps=400, rate=5e-3):
    """Adam on minibatches of 64; the step size falls as a cosine."""
    optimizer, draw = torch.optim.Adam(rival.parameters(), lr=rate), generator(0, "lesson")
    for step in trange(steps, leave=False):
        optimizer.param_groups[0]["lr"] = rate * (1 + np.cos(np.pi * step / steps)) / 2
        rows = torch.randint(len(data.inputs), (64,), generator=draw)
        loss = rival.loss(data.inputs[rows], data.targets[rows], draw)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return rival


def answer(rival, data, draws=256):
    """Samples of what a trained network takes for u_T: [beginning, sample, place]."""
    with torch.no_grad():
        return rival.sample(data.tests, draws, generator(1, "lesson"))


fno = train(OPERATORS["fno"](16, 8, generator(0, "fno")), data)
said = answer(fno, data, 1)[ridge, 0]
word = "ridge" if said[16].abs() < 0.5 else "left" if said[16] < 0 else "right"
beside("14 the answer on the ridge", my_answer, word)

# %% tags=["hide-output", "nbval-ignore-output"]
viz.lines(
    [
        *(viz.Line(x, end, "", "norm", GREY) for end in ends[:40].numpy()),
        viz.Line(x, said.numpy(), "what the network answers", "test"),
    ],
    title="The answer is a field that hardly ever occurs",
    below="grey: forty ends; the network was trained with the squared error",
    x="place x",
    y="u, in standard deviations of all ends",
)

# %% [markdown]
# It is not a weakness of the network. Of all constants, the one with the least squared error is
# *the mean of what it is compared with*:
#
# $$\mathbb{E}\,(c - u)^2 = (c - \mathbb{E}u)^2 + \mathrm{Var}\,u .$$
#
# The second term does not depend on $c$, so nothing is learned about it. See it in the ends above:

# %%
at_half = ends[:, 16]
tries = torch.linspace(-1.5, 1.5, 301)
errors = (tries[:, None] - at_half).square().mean(dim=1)
print(f"best constant {tries[errors.argmin()]:.2f}, mean of the ends {at_half.mean():.2f}")
print(f"its squared error {errors.min():.2f}, variance of the ends {at_half.var():.2f}")

# %% [markdown]
# **A loss that rewards the mean starves whatever the mean does not need.** This is lesson 04 once
# more. There, a loss near zero had no gradient left for attention; here, no gradient ever asks for
# the spread.
#
# ## 3. Answer with a law
#
# So let the network answer with more. The *Doob-Meyer* theorem says how a random path can be split:
# into a **drift**, which is known beforehand, and a **martingale**, noise whose mean is zero at any
# time. The operator of the paper answers with both at once: a mean $m(u_0)$, and $r$ further fields
# $B(u_0)$, its **factors**, by which independent normal numbers $z$ are spread over the circle:
#
# $$u_T = m + B^\top z + \sqrt{d}\,e, \qquad \text{so its covariance is}\quad C = B^\top B + d\,I .$$
#
# $C$ is a proper covariance whatever $B$ is. And the loss becomes the *likelihood*: how probable was
# the end that occurred, under the law that was answered? For $r$ factors on $N$ places this takes an
# $r \times r$ matrix only ($\log\det C = \log\det(I + BB^\top/d) + N \log d$). Check it:

# %%
draw = generator(0, "check")
m, B, u = (
    torch.randn(shape, generator=draw).double() for shape in ((1, 32), (1, 8, 32), (1, 1, 32))
)
law = GaussianLaw(m, B, torch.full_like(m, 0.3))
small = torch.linalg.slogdet(torch.eye(8) + B[0] @ B[0].T / 0.3)[1] + 32 * np.log(0.3)
dense = torch.distributions.MultivariateNormal(m[0], law.covariance()[0])
assert torch.allclose(small, torch.linalg.slogdet(law.covariance()[0])[1])
assert torch.allclose(law.log_density(u)[0, 0], dense.log_prob(u[0, 0]))
print("an 8 x 8 matrix tells what the 32 x 32 one does")

# %% [markdown]
# The same data, the same size, the same number of steps. Only the answer and the loss differ. The
# *marginal* at a place is the law of $u_T$ there.
#
# **A question before you look.** The network now answers with a Gaussian. The ends have two peaks at
# x = 0.5. *How will its marginal look there: two peaks, one broad peak, or one narrow one?*

# %% tags=["hide-output", "nbval-ignore-output"]
mno = train(OPERATORS["mno_8"](16, 8, generator(0, "mno")), data)
drawn = answer(mno, data)
edges = np.linspace(-2.2, 2.2, 23)


def density(samples):
    """A histogram as a line: the share of samples in each bin over its width."""
    return np.histogram(samples.numpy(), edges, density=True)[0]


middle = (edges[1:] + edges[:-1]) / 2
viz.lines(
    [
        viz.Line(middle, density(at_half), "the truth", "norm", GREY | {"linewidth": 3}),
        viz.Line(middle, density(drawn[ridge, :, 16]), "mean and factors (MNO)", "test"),
    ],
    title="The spread is back, and the two peaks are not",
    below="the law of the end at x = 0.5, for the beginning on the ridge; 256 samples each",
    x="u at x = 0.5, in standard deviations of all ends",
    y="density",
    marks={"the squared error's answer": float(said[16])},
)

# %% [markdown]
# One broad peak. The network now knows *that* it does not know; it does not know that the ends avoid
# the middle. No Gaussian can say so, however well it is trained.
#
# ## 4. How good is a law?
#
# Three scores, all "less is better", averaged over the 8 beginnings that nobody trained on. The
# **Wasserstein distance** is how far the samples at a place must be moved to become the true ones. The
# **CRPS** does the same fairly for few samples, and for one answer it is the absolute error. The
# **energy score** is the CRPS of whole fields, so it asks how places move together.
#
# And one more rival, which the abstract does not name: the network with the *squared error*, and
# **one covariance**, measured once on what it gets wrong in the training set, for all fields alike.

# %% tags=["nbval-ignore-output"]


def with_one_covariance(fno, data, draws=256):
    """The answers of a network, and its residuals' covariance around each of them."""
    with torch.no_grad():
        residuals = data.targets - fno.sample(data.inputs, 1, torch.Generator())[:, 0]
    noise = torch.randn(len(data.tests), draws, 32, generator=generator(2, "lesson"))
    return answer(fno, data, 1) + noise @ fitted(residuals)


def table(fno, mno, data):
    """The three scores of four rivals."""
    one = answer(fno, data, 1)
    rivals = {
        "squared error": (one.expand_as(data.law), one),
        "squared error + one covariance": (with_one_covariance(fno, data),) * 2,
        "mean and factors (MNO)": (answer(mno, data),) * 2,
        "the truth, sampled again": (data.again,) * 2,
    }
    print(f"{'':32}Wasserstein   CRPS   energy")
    for name, (many, few) in rivals.items():
        far = wasserstein(many, data.law), crps(few, data.law), energy_score(few, data.law)
        print(f"{name:32}" + "   ".join(f"{value:8.3f}" for value in far))


table(fno, mno, data)

# %% [markdown]
# The CRPS and the energy score fall far below those of the squared error, as the abstract says. But
# look at the third line against the second. On the ridge the ends are far apart and in the valleys they
# are not, so we expected that a law *of its own for each beginning* beats one covariance for all. In
# this run it does not: one covariance, fitted afterwards, has the lower scores. One run cannot tell
# whether the factors need longer training, more beginnings, or a form that can have two peaks.
#
# ## 5. Is it the martingale?
#
# Now a system on which a Gaussian is right, and on which the noise does *not* depend on the field: the
# same equation without valleys, the **heat equation**. Its law is known exactly. It is Gaussian, and its covariance is the same for every
# beginning.
#
# *Which of the two will have the lower energy score: `"covariance"` (squared error + one covariance)
# or `"factors"` (MNO)?*

# %%
my_winner = None

# %% tags=["hide-output", "nbval-ignore-output"]
heat = Data(System("heat").build(seed=0))
fno_heat = train(OPERATORS["fno"](16, 8, generator(0, "fno")), heat)
mno_heat = train(OPERATORS["mno_8"](16, 8, generator(0, "mno")), heat)
scores = {
    "covariance": energy_score(with_one_covariance(fno_heat, heat), heat.law),
    "factors": energy_score(answer(mno_heat, heat), heat.law),
}
table(fno_heat, mno_heat, heat)
beside("14 the better law of the heat equation", my_winner, min(scores, key=scores.get))

# %% [markdown]
# Both leave the squared error far behind, and the matrix that was measured afterwards, without a
# likelihood, wins again. Against a deterministic operator *any* second moment is a large gain.
# To show that the martingale is what helps, the rival must have a second moment, too. The abstract's
# rivals are deterministic operators and a diffusion.
#
# One run of one seed, trained for 400 steps, proves little. The row `operators` has the claims of the
# abstract and our controls, written before any of its runs: five systems, and seven trained rivals of
# one size, an ensemble and a diffusion among them. [RESULTS](../RESULTS.md#operators) has its verdicts and
# every score: the gain over a deterministic operator was there and smaller than we had claimed, and on none
# of the five systems were the factors clearly better than one covariance, fitted afterwards.
# `grokkit reproduce operators` makes the runs again, in about a quarter of an hour of one core.
# Not in it: the paper's own code, turbulence, and Gray-Scott, for which Burgers with weak noise stands.
#
# ## Case file
#
# - **What we know.** A squared error answers with the mean, even where the mean never occurs; a
#   likelihood brings the spread back, and a Gaussian cannot bring back two peaks.
# - **How sure.** The first and the last are algebra. That one covariance does better than the factors
#   was seen on one seed of two systems, with short training.
# - **What would change it.** Five seeds, or longer training, in which the factors win where the noise
#   depends on the field.
#
# **Exercises:** [14 · Random targets](../exercises/14_random_targets.ipynb).
#
# Sources: Martingale Neural Operators, arXiv 2605.15806 (abstract); Z. Li et al., Fourier neural
# operator, arXiv 2010.08895; T. Gneiting and A. Raftery, Strictly proper scoring rules, *JASA* 102
# (2007). Code: [`grokkit/operators`](../grokkit/operators).
