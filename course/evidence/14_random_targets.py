# %% [markdown]
# # Evidence 14 · Random targets
#
# What stands behind [lesson 14](../14_random_targets.ipynb): why the mean of the law has a loss of its own, how the
# MNO is trained in the recorded runs, and all claims with their verdicts.
#
# *You need lesson 14. The code takes {{time 14}} of one core. Results stand open below.*

# %%
import numpy as np
import torch

from grokkit import experiments, viz
from grokkit.core.common import stream as generator
from grokkit.operators import TRAINED as OPERATORS
from grokkit.operators import Data, System

# %% [markdown]
# ## 1. Why the mean has a loss of its own
#
# In lesson 14 the squared error trains the mean of the law, and the likelihood trains its factors and its nugget. But
# minus the log-likelihood is least at the right mean, too. So here is a second MNO, trained by this loss alone. Its
# nugget falls faster: its steps are ten times as large as the weights', in place of three times.


# %%
def train(network, data, loss, faster, steps=400, rate=5e-3):
    """Adam on minibatches of 64, as in the lesson; the nugget's steps are ``faster`` times as large."""
    groups = [
        {"params": [weights], "times": faster if name == "nugget" else 1}
        for name, weights in network.named_parameters()
    ]
    optimizer, draw = torch.optim.Adam(groups, lr=rate), generator(0, "lesson")
    for step in range(steps):
        for group in optimizer.param_groups:
            group["lr"] = group["times"] * rate * (1 + np.cos(np.pi * step / steps)) / 2
        rows = torch.randint(len(data.inputs), (64,), generator=draw)
        optimizer.zero_grad()
        loss(data.inputs[rows], data.targets[rows], draw).backward()
        optimizer.step()
    with torch.no_grad():
        return network.law(data.tests)


data = Data(System("phi4").build(seed=0))
mno, early = (OPERATORS["mno_8"](16, 8, generator(0, "mno")) for _ in range(2))
laws = {
    "squared error": train(mno, data, mno.loss, 3),
    "likelihood": train(early, data, lambda u, end, _: early.likelihood(early.law(u), end), 10),
}
for words, law in laws.items():
    error = law.mean - data.law.mean(dim=1)
    print(f"the mean trained by the {words:13} has the error {error.square().mean().sqrt():.2f}; "
          f"the nugget ends at {law.variance[0, 0]:.4f}")  # fmt: skip
nothing = data.law.mean(dim=1).square().mean().sqrt()
print(f"a mean that is always 0 has the error {nothing:.2f}")

# %% [markdown]
# The mean that the likelihood alone has trained is no better than one that is always 0.
#
# The gradient of this loss in the mean $m$ is $C^{-1}(m - u)$: the error over the variance *in its direction*. Where
# the factors give a direction the variance 0.5, an error of 1 is pulled back with 1 / 0.5 = 2. Where no factor covers
# it, the variance is the nugget. With a nugget of 0.0015 the pull is 1 / 0.0015 = 667. How is it for the error that
# this mean has?

# %%
covariance = law.factor.mT @ law.factor + torch.diag_embed(law.variance)
pull = torch.linalg.solve(covariance, error[..., None])[..., 0] * law.variance
print(
    f"pull on this error, over what it would be without factors: {pull.norm() / error.norm():.1%}"
)

# %% [markdown]
# Our reading: the nugget falls first, while the mean is still wrong. The factors explain the errors of the mean as
# spread. In their directions the variance is large, so the pull is small. Adam divides all pulls by the size of the
# large ones, and beside these the small pull hardly moves the weights. So the network takes the error of its mean for
# noise, and stops correcting it. (The runs show the error, and not its cause. Compare
# [lesson 04](../04_gradient_starvation.ipynb), where memorising takes the gradient from attention.)
#
# Is it so in recorded runs, and is it the speed of the nugget?

# %%
claim = next(c for c in experiments.claims("operators") if c.claim.id == "operators/early-nugget")
for words, part in zip(("the squared error's", "a slower nugget's"), claim.parts, strict=True):
    print(f"phi4, the error of the early MNO's mean over {words:19}: {part.effect}")
print("claimed: 3 times or more, and 2 times or more ->", claim.label)

# %% [markdown]
# It is. In the second line both networks have the likelihood alone, and only the nugget's speed differs.
#
# ## 2. The claims
#
# We chose how the MNO is trained after ten earlier seeds. On five of them the nugget had no time to fall. On the other
# five it fell too early, and several claims failed for that reason. These are the verdicts on five fresh seeds:

# %%
viz.row_figure("operators", experiments.recorded("operators"))

# %%
experiments.claims("operators")

# %% [markdown]
# ## Sources
#
# arXiv 2605.15806 (Martingale Neural Operators, the abstract); 2203.09168 (means that a likelihood starves).
