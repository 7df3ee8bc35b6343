# %% [markdown]
# # 02 · Attention as a posterior
#
# You are given five words and one minute. Two of the words matter, and nobody tells you which. How you
# share out your minute says what you *believe* about where the answer is to be found.
#
# The network of lesson 01 shares out something, too, at every sum: its attention. **Where does it look, and what makes
# it look there?** You take one step of attention apart. Then you change the tokens that do not matter, and see where
# the network looks, and how many epochs it needs.
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
# Each token becomes a vector $e_j$: one vector for what the token is, plus one for the place $j$ where it
# stands. Then, in words:
#
# 1. The last token, "=", asks a question, $W_Q e_{=}$. Each token offers a key, $W_K e_j$.
# 2. The **score** $\ell_j$ says how well key and question fit.
# 3. Softmax turns the scores into **shares** $\alpha_j$, which are positive and sum to 1.
# 4. Each token has a value, $W_V e_j$. The values are mixed in these shares, or **pooled**, into $h$.
#
# In symbols:
#
# $$\ell_j = \frac{(W_Q e_{=}) \cdot (W_K e_j)}{\sqrt d}, \qquad
#   \alpha_j = \frac{\exp(\ell_j)}{\sum_i \exp(\ell_i)}, \qquad h = \sum_j \alpha_j\, W_V e_j$$
#
# Here $d$ is how many numbers a vector has (64), and the matrices $W_Q, W_K, W_V$ are learned. In the code vectors are
# rows, so $W_K e_j$ is `e[j] @ W_K`. (In this lesson networks add modulo $p = 31$, and train on 70 % of the pairs. This
# one is not trained yet.)

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
# Before training, the network looks everywhere about alike. The MLP sees $h$ and nothing else.
#
# The question comes from "=" in the last place, and is the same in *every* sequence. So the score of "17 in
# the first place" is one number, whatever the other tokens are. Attention is a **table**: one score for each
# token in each place. What stands in the third place does not change the score of the first.
#
# ## 2. Why "posterior"?
#
# Suppose that one of the two informative tokens is picked, and you are to say in which place it stands. Before reading,
# all five places seem equally likely: this is your **prior**. Then each token makes its own place more or less likely:
# this is **evidence**. Bayes' rule gives what you believe afterwards, the **posterior**: prior times evidence, divided
# by the sum. That is softmax, with the evidence $\exp(\ell_j)$. Someone who knows the task gives each of the two
# informative places one half: this is the oracle.
#
# *A score rises by $\log 2$, which is about 0.69. By what factor do the odds of its place against another one
# grow? (The odds of two places are the ratio of their shares.)*

# %%
my_factor = None

# %% tags=["hide-output"]
raised = (scores + torch.tensor([0.6931, 0, 0, 0, 0])).softmax(dim=0)
odds = (raised[0] / raised[1]) / (shares[0] / shares[1])
print("The result:")
beside("02 odds after a score rises by log 2", my_factor, round(odds.item(), 1), "times")

# %% [markdown]
# So a score is the logarithm of evidence. This is a way of reading the formula. It does not make the network
# a good reasoner: in section 4 you meet one that looks in the wrong places.
#
# ## 3. Three ways to measure a look
#
# The **oracle** $\alpha^*$ of lesson 01 gives half to each informative token. How far from it is an
# attention $\alpha$?
#
# - **Mass**: the sum of the shares on the two informative tokens, in the mean over the training examples.
# - **Least mass**: the smallest share that any informative token gets, in any training example.
# - **KL divergence**, $\mathrm{KL}(\alpha^* \| \alpha) = \sum_{j \in I^*} \frac12 \log \frac{1/2}{\alpha_j}$:
#   divide what the oracle gives a token by what $\alpha$ gives it, take the logarithm, and average over the
#   two tokens. It is 0 for the oracle. The logarithm is natural; the unit is then called the **nat**.

# %%
fair = torch.tensor([0.40, 0.07, 0.40, 0.07, 0.06])
blinkered = torch.tensor([0.79, 0.07, 0.01, 0.07, 0.06])
for name, one in (("fair", fair), ("blinkered", blinkered)):
    numbers = one[[0, 2]]
    kl = (0.5 / numbers).log().mean()
    print(f"{name:10} mass {numbers.sum():.2f}   least {numbers.min():.2f}   KL {kl:.2f} nats")

# %% [markdown]
# The mass is the same. But the second one hardly looks at one of the two numbers. Mass does not show this. Least
# mass and KL do.
#
# ## 4. What are the other tokens?
#
# The paper calls the tokens that do not matter **distractors**, and does not say much about what they are.
# They could be:

# %%
kinds = {kind: spec.with_(distractors=kind) for kind in ("constant", "alphabet", "random")}
for kind, one in kinds.items():
    some = one.task.build(seed=0)
    print(f"{kind:9}", " | ".join(some.spell(some.train.tokens[row]) for row in (20, 300, 600)))

# %% [markdown]
# *Constant*: the same two signs in every sequence. *Alphabet*: each is one of four letters, drawn at random.
# *Random*: each is a number, drawn at random.
#
# They have nothing to do with the answer. But a network can learn by heart which answer came with which distractors.
# How many of the training sums could be answered so, without looking at the numbers?

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
# mass on the two numbers at the end, from 0 to 1?* (A network that looks everywhere alike has 0.4.)

# %%
my_mass_constant = None
my_mass_alphabet = None
my_mass_random = None

# %% tags=["hide-output"]
recorded = experiments.recorded("distractors")
row = experiments.row("distractors").evidence(recorded)
guesses = {"constant": my_mass_constant, "alphabet": my_mass_alphabet, "random": my_mass_random}
print("The result:")
for kind, guess in guesses.items():
    at_end = sorted(row.final(kind, "informative_mass").tolist())
    print(beside(f"02 mass, {kind}", guess, round(at_end[2], 2)), "(median of five seeds)")

# %% [markdown]
# In all three cases, what does the network know at the end?

# %% tags=["hide-output"]
print("The result:")
for kind in guesses:
    known, unseen = (
        sorted(row.final(kind, f"{one}_accuracy").tolist())[2] for one in ("train", "test")
    )
    print(f"{kind:9} training sums right {known:.0%}, unseen sums right {unseen:.0%}")
places = [one.attention_mass.values[-1].reshape(-1, 5).mean(axis=0) for one in row.runs("random")]
on_distractors = sorted(float(one[1] + one[3]) for one in places)[2]
print(f"random: attention on the two distractors {on_distractors:.2f} (median of five seeds)")

# %% [markdown]
# <details><summary><b>What happens with random distractors</b> (open after your guess)</summary>
#
# The network looks *away* from the numbers: at the end they get less than the 0.4 of the beginning. It knows all of the
# training sums, and next to no unseen one. It looks mostly at the distractors: they alone could answer 74 % of the
# training sums, as you have counted. (How it knows the others, we have not measured.)
#
# </details>
#
# A network that looks away from the numbers and does not come back before its run ends is in a **trap**. (Here each
# pair always comes with the same distractors. Where it comes with four different ones, most networks generalise: see
# the evidence.)
#
# ## 5. The twist: the epochs to 95 % have two parts
#
# Is the way over when attention has found the numbers? We need three words:
#
# - Attention **is right** once each informative token of each training example gets a share of 0.25 or more (half of
#   the oracle's), and keeps it.
# - The **search** lasts from epoch 0 until attention is right.
# - **Learning to add** lasts from then on until 95 % of the unseen pairs are right.
#
# ```
# epoch 0      memorised           attention is right               95 %
# |---------------- search ----------------|---- learning to add ----|
#              |---------------------- the wait ---------------------|
# ```
#
# So *epochs to 95 % = search + learning to add*. The wait of lesson 01 is this sum minus the epochs to memorising.
#
# *With alphabet distractors, what share of the epochs to 95 % is the search, from 0 to 1? And with constant
# ones?*

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
print("The result:")
viz.wait_parts(
    {
        words: (found(arm)(row).median, row.grokked(arm, 0.95).median)
        for arm, words in names.items()
    },
    title="Epochs to 95 %: searching, then learning to add",
    below="five seeds each, medians; p 31, 70 % of the pairs, learning rate 0.001",
)


# %% tags=["hide-output"]
def search_share(arm):
    """The search as a share of the epochs to 95 %: the green part of the bar."""
    return float(found(arm)(row).median / row.grokked(arm, 0.95).median)


print("The result:")
for kind, guess in (("alphabet", my_search_alphabet), ("constant", my_search_constant)):
    print(beside(f"02 share of the search, {kind}", guess, round(search_share(kind), 2)))
    print(f"    memorised at {row.memorised(kind).median:,.0f}")

# %% [markdown]
# <details><summary><b>What the bars show</b> (open after your guess)</summary>
#
# Look at the first bar. With constant distractors attention is right about as soon as the sums are memorised. The wait
# comes all the same: the network has yet to learn to add. With alphabet distractors, the second bar, most of the
# epochs are search. With random ones the search does not end in these runs.
#
# The two lowest bars belong to networks that are *told* where to look from the start, by a method of lesson 06.
# It keeps them out of the trap. But learning to add remains. **To know where to look is not yet to know how to add.**
#
# </details>
#
# *Try:* choose *random* distractors, and press *Start*. Does the curve of the unseen sums rise? (The widget has the
# task and the learning rate of lesson 01.)

# %% tags=["nbval-ignore-output"]
widgets.LiveTraining()

# %% [markdown]
# ## Case file
#
# - **We know:** the epochs to 95 % have two parts, searching and learning to add. The search differs with the
#   distractors. With random ones it does not end in our runs: a trap.
# - **We doubt:** that a simple rule says how long the search is. "The more can be learned by heart from the
#   distractors, the longer" is broken by a fourth kind of distractors (in the evidence).
# - **It would change our minds:** a network in the trap that gets out without being told where to look, after
#   more epochs or with more decay.
#
# **The map so far:** what is said, what was measured, and the [verdict](00_index.ipynb).

# %%
viz.claims_map(upto=2)

# %% [markdown]
# **More:** [the evidence](evidence/02_attention_as_a_posterior.ipynb) ·
# [exercises](../exercises/02_attention_as_a_posterior.ipynb)
#
# **Next:** [03 · The decoupling theorem](03_the_decoupling_theorem.ipynb): how much attention does it *need*?
# Is "right" more than enough?
#
# *Sources:* arXiv 2605.15787, sections 3.2 and 4.1. The kinds of distractors and the two parts are ours.
