# %% [markdown]
# # 02 · Attention as a posterior
#
# You are given five words and one minute. Two of the words matter, and nobody tells you which. How you
# share out your minute says what you *believe* about where the answer is to be found.
#
# The network of lesson 01 is in this situation at every sum. So: **where does it look, and what makes it
# look there?** You take one step of attention apart. Then you change the three tokens that do not matter,
# and the wait changes with them.
#
# *You need:* [lesson 01](01_sparse_tasks.ipynb); what a matrix times a vector is. *Time:* half an hour.

# %%
from collections import Counter, defaultdict

import torch

import grokkit
from grokkit import experiments, viz, widgets
from grokkit.classroom import beside
from grokkit.engine import Trainer
from grokkit.experiments.quantities import found

# %% [markdown]
# ## 1. One step of attention, by hand
#
# Each token becomes a vector $e_j$: what the token is, plus the place $j$ where it stands. The last token,
# "=", asks a question; each token offers a key. The **score** $\ell_j$ says how well they fit, and
# softmax turns scores into **shares** $\alpha_j$:
#
# $$\ell_j = \frac{(W_Q e_{=}) \cdot (W_K e_j)}{\sqrt d}, \qquad
#   \alpha_j = \frac{e^{\ell_j}}{\sum_i e^{\ell_i}}, \qquad h = \sum_j \alpha_j\, W_V e_j$$
#
# Here $d$ is the length of the vectors, $W_Q, W_K, W_V$ are matrices that are learned, and $h$ is what is
# mixed, or **pooled**. In code, on a network that has not been trained:

# %%
spec = grokkit.presets["live"].with_(p=31, train_fraction=0.7)
w = {name: value[0].detach() for name, value in Trainer([spec]).weights.items()}
data = spec.task.build(seed=0)


def look(sequence):
    """The scores, the shares and the pooled vector of one sequence."""
    e = w["token_embedding"][sequence] + w["position_embedding"]
    scores = (e @ w["W_K"]) @ (e[-1] @ w["W_Q"]) / e.shape[1] ** 0.5
    shares = scores.softmax(dim=0)
    return scores, shares, shares @ (e @ w["W_V"])


scores, shares, h = look(data.train.tokens[300])
print(data.spell(data.train.tokens[300]), "  shares:", [f"{one:.2f}" for one in shares.tolist()])

# %% [markdown]
# Fresh from its initial numbers, the network looks everywhere about alike. All that comes after, the MLP and
# its answer, sees $h$ and nothing else.
#
# The question is asked by "=" in the last place, in *every* sequence. So the score of "17 in the first
# place" is one number, whatever else stands there. Attention is a **table**: one score for each token in
# each place. It cannot say "look here *because* a 17 stands there".
#
# ## 2. Why "posterior"?
#
# Suppose that one of the five places holds what matters. Before reading you find all places equally likely:
# that is your **prior**. Each token then gives **evidence** for its place. Bayes' rule says what you
# believe afterwards, the **posterior**: prior times evidence, divided by the sum. That is softmax, with
# the evidence $e^{\ell_j}$.
#
# *A score rises by $\log 2$, which is about 0.69. By what factor do the odds of its place against another one
# grow?*

# %%
my_factor = None

# %% tags=["hide-output"]
raised = (scores + torch.tensor([0.6931, 0, 0, 0, 0])).softmax(dim=0)
odds = (raised[0] / raised[1]) / (shares[0] / shares[1])
beside("02 odds after a score rises by log 2", my_factor, round(odds.item(), 1), "times")

# %% [markdown]
# So a score is the logarithm of evidence. This is a way of reading the formula. It does not make the network
# a good reasoner: you will meet one that is certain, and wrong.
#
# ## 3. Three ways to measure a look
#
# The **oracle** $\alpha^*$ of lesson 01 gives half to each informative token. How far from it is an
# attention $\alpha$?
#
# - **Mass**: the sum of the shares on the informative tokens.
# - **Least mass**: the smallest share that any informative token gets, in any training example.
# - **KL divergence**, $\mathrm{KL}(\alpha^* \| \alpha) = \sum_{j \in I^*} \frac12 \log \frac{1/2}{\alpha_j}$:
#   take, for each informative token, the logarithm of how many times too little it gets, and average. It
#   is 0 for the oracle. Its unit is the nat.

# %%
fair = torch.tensor([0.40, 0.07, 0.40, 0.07, 0.06])
blinkered = torch.tensor([0.79, 0.07, 0.01, 0.07, 0.06])
for name, one in (("fair", fair), ("blinkered", blinkered)):
    numbers = one[[0, 2]]
    kl = (0.5 / numbers).log().mean()
    print(f"{name:10} mass {numbers.sum():.2f}   least {numbers.min():.2f}   KL {kl:.2f} nats")

# %% [markdown]
# The same mass; but the second one hardly looks at one of the numbers, and nobody can add what he does not
# see. Mass forgives that. Least mass and KL do not.
#
# ## 4. What are the other tokens?
#
# The paper calls the tokens that do not matter **distractors**, and does not dwell on what they are. They
# could be:

# %%
kinds = {kind: spec.with_(distractors=kind) for kind in ("constant", "alphabet", "random")}
for kind, one in kinds.items():
    some = one.task.build(seed=0)
    print(f"{kind:9}", " | ".join(some.spell(some.train.tokens[row]) for row in (20, 300, 600)))

# %% [markdown]
# *Constant*: the same two signs in every sequence. *Alphabet*: each one of four letters, drawn at random.
# *Random*: a random number each.
#
# They have nothing to do with the answer. But they can be *remembered*. How many of the training sums could
# be answered from the two distractors alone, without a look at the numbers?

# %%


def by_heart(data):
    """The share of training sums that the commonest answer to their distractors gets right."""
    answers = defaultdict(Counter)
    for sequence, target in zip(
        data.train.tokens.tolist(), data.train.targets.tolist(), strict=True
    ):
        answers[sequence[1], sequence[3]][target] += 1
    return sum(max(one.values()) for one in answers.values()) / len(data.train)


for kind, one in kinds.items():
    print(f"{kind:9} {by_heart(one.task.build(seed=0)):.0%}")

# %% [markdown]
# **Your prediction.** Networks are trained with each kind until they grok, or for 10,000 epochs. *What is the
# mass on the two numbers at the end, from 0 to 1?* (Looking everywhere alike is 0.4.)

# %%
my_mass_constant = None
my_mass_alphabet = None
my_mass_random = None

# %% tags=["hide-output"]
recorded = experiments.recorded("distractors")
row = experiments.row("distractors").evidence(recorded)
guesses = {"constant": my_mass_constant, "alphabet": my_mass_alphabet, "random": my_mass_random}
for kind, guess in guesses.items():
    at_end = sorted(row.final(kind, "informative_mass").tolist())
    print(beside(f"02 mass, {kind}", guess, round(at_end[2], 2)), "(median of five seeds)")

# %% [markdown]
# With random distractors the network looks *away* from the numbers: at the end they get less than at the
# beginning, when it knew nothing. And it can do without them:

# %%
for kind in guesses:
    known, unseen = (
        sorted(row.final(kind, f"{one}_accuracy").tolist())[2] for one in ("train", "test")
    )
    print(f"{kind:9} training sums right {known:.0%}, unseen sums right {unseen:.0%}")

# %% [markdown]
# It has learned the sums by heart from the distractors, and stays there. That is no plateau, it is a **trap**.
#
# ## 5. The twist: the wait has two parts
#
# In lesson 01 we asked why *the* network waits. Let us split the wait in two. We say that attention **is
# right** from the epoch on from which each informative token of each training example keeps at least half of
# the oracle's share, that is, a least mass of 0.25. Before that the network is **searching**. After that it
# is **learning to add**.
#
# *With alphabet distractors, how much of the way to 95 % is the search, from 0 to 1? And with constant ones?*

# %%
my_search_alphabet = None
my_search_constant = None

# %% tags=["hide-output"]
names = {
    "constant": "constant",
    "alphabet": "alphabet",
    "random": "random",
    "alphabet, KL 1": "alphabet, told where to look",
    "random, KL 1": "random, told where to look",
}
viz.wait_parts(
    {
        words: (found(arm)(row).median, row.grokked(arm, 0.95).median)
        for arm, words in names.items()
    },
    title="The wait: searching, then learning to add",
    below="five seeds each, medians; p 31, 70 % of the pairs, learning rate 0.001",
)


# %% tags=["hide-output"]
def search_share(arm):
    """The search as a share of the epochs to 95 %, median over the seeds."""
    return sorted((found(arm)(row).values / row.grokked(arm, 0.95).values).tolist())[2]


for kind, guess in (("alphabet", my_search_alphabet), ("constant", my_search_constant)):
    print(beside(f"02 share of the search, {kind}", guess, round(search_share(kind), 2)))

# %% [markdown]
# Constant distractors leave little to search for, and the network waits all the same: it has yet to learn to
# add. Random ones make a search that does not end in these runs. Who reports a wait should say what the
# distractors were.
#
# The two lowest bars belong to networks that are *told* where to look, by a method of lesson 06. Even out of
# the trap it leads. But it leaves the second part. **To know where to look is not yet to know how to add.**
# Keep this picture in mind: every lesson from here on is about one of its two colours.
#
# *Try:* choose another kind of distractors, and press *Start*.

# %% tags=["nbval-ignore-output"]
widgets.LiveTraining()

# %% [markdown]
# ## Case file
#
# - **We know:** the wait has two parts, searching and learning to add; the distractors decide how long the
#   first one is. With random ones it is a trap, in five of five seeds.
# - **We doubt:** that "how much can be learned by heart" foretells the search. A fourth kind of distractors
#   (in the evidence) breaks that rule.
# - **It would change our minds:** a network in the trap that gets out by itself, given longer or more decay.
#
# **The map so far:** what is said, what was measured, and the verdict.

# %%
viz.claims_map(upto=2)

# %% [markdown]
# **More:** [the evidence](evidence/02_attention_as_a_posterior.ipynb) ·
# [exercises](../exercises/02_attention_as_a_posterior.ipynb)
#
# **Next:** [03 · The decoupling theorem](03_the_decoupling_theorem.ipynb): how much attention does it *need*?
#
# *Sources:* arXiv 2605.15787, sections 3.2 and 4.1. The kinds of distractors and the two parts are ours.
