# %% [markdown]
# # Evidence 08 · Loosening the assumptions
#
# What stands behind [lesson 08](../08_loosening_the_assumptions.ipynb): six rows of recorded experiments with their verdicts, how attention knows its
# places, four heads taken apart, a bound on how unequal scores can be, and the other optimizers.
#
# *You need lesson 08. The code takes {{time 08}} of one core. Results stand open below.*

# %%
import textwrap

import numpy as np
import torch

import grokkit
from grokkit import experiments, runs, theory, viz
from grokkit.diagnostics import distributed_share, phase_borders, summed_head_mass
from grokkit.engine import Trainer, load_weights
from grokkit.model import Transformer
from grokkit.tasks import PermutationComposition

live = grokkit.presets["live"]


# %% [markdown]
# The recorded rows have five seeds an arm. Their figures count to 99 % of the unseen, the paper's line; most
# claims ask at 95 % too.


# %%
def recorded(row):
    """The figure of a recorded row."""
    return viz.row_figure(row, experiments.recorded(row))


def verdicts(row):
    """The claims of a row and what became of them; ``experiments.claims(row)`` says why."""
    for result in experiments.claims(row):
        words = f"[{result.verdict}] {result.claim.says}"
        if result.claim.afterwards:
            words += f" (after its runs: {result.claim.afterwards})"
        print(textwrap.fill(words, 90, subsequent_indent="    "))


# %% [markdown]
# ## 1. Who may be the teacher?
#
# The prior of lesson 06 knows the oracle. Who has an oracle? Here are four things that one could tell a
# network, each in words and as what is added to the loss:
#
# | prior | says | adds |
# | --- | --- | --- |
# | KL to the oracle | look *there* | $\beta \sum_j \alpha^*_j \log (\alpha^*_j / \alpha_j)$ |
# | teacher | look where this trained network looks | the same with $\alpha^*$ := the teacher's attention |
# | entropy | look at few things | $-\beta \sum_j \alpha_j \log \alpha_j$ |
# | sparsity | the same, gentler | $\beta\,(1 - \sum_j \alpha_j^2)$ |
#
# The last two never say *where*. In code, here are three ways to look at five tokens of which
# the first and the third matter:

# %%
oracle = np.array([0.5, 0, 0.5, 0, 0])
looks = {
    "everywhere": np.full(5, 0.2),
    "at the right two": np.array([0.485, 0.01, 0.485, 0.01, 0.01]),
    "at one distractor": np.array([0.01, 0.96, 0.01, 0.01, 0.01]),
}
for where, alpha in looks.items():
    kl = np.sum(oracle[oracle > 0] * np.log(oracle[oracle > 0] / alpha[oracle > 0]))
    entropy = -np.sum(alpha * np.log(alpha))
    print(f"{where:17} KL {kl:.2f}   entropy {entropy:.2f}   sparsity {1 - np.sum(alpha**2):.2f}")

# %% [markdown]
# To entropy and sparsity the *best* place is the distractor: one thing is fewer than two. They can help
# only if the loss has already pointed the right way, and harm if it has not.
#
# *Five networks each. Order them from the first to grok to the last: `"kl"`, `"teacher"`,
# `"entropy"`, `"nothing"`.*

# %%
recorded("priors")

# %%
verdicts("priors")

# %%
names = {"kl": "KL 1", "teacher": "teacher", "entropy": "entropy", "nothing": "baseline"}
evidence = experiments.row("priors").evidence(experiments.recorded("priors"))
times = {short: evidence.grokked(arm, 0.95) for short, arm in names.items()}
order = sorted(times, key=lambda short: times[short].median)  # that of "never" is infinite
for short in order:
    print(f"{short:8} 95 % at {times[short]}")
for accuracy in (0.95, 0.99):
    teacher, oracles = (evidence.grokked(arm, accuracy) for arm in ("teacher", "KL 1"))
    count = teacher.sooner(oracles).count(True)
    print(f"teacher no later than the oracle, to {accuracy:.0%}: {count} of 5 seeds")

# %% [markdown]
# Priors that say *where* bring every seed to 95 % sooner than decay alone. To 99 % only the teacher
# does; the oracle does not, in enough seeds, and so that claim is "partly".
#
# **Priors that only ask for sharp attention fail**, though the paper reports that they help. With them
# the network memorises later than with none, and not one of ten networks gets to 99 %. Sharp is not
# the same as right. Two of the ten come to 95 %. What was their least mass then?

# %%
for arm in ("entropy", "sparsity"):
    reached = evidence.grokked(arm, 0.95)
    came = np.isfinite(reached.values)
    then = evidence.at(arm, "min_informative_mass", reached)[came]
    ends, right = (evidence.final(arm, n) for n in ("min_informative_mass", "test_accuracy"))
    print(f"{arm}: {came.sum()} of 5 networks come to 95 %; least mass at that epoch "
          f"{then.max():.2f}; right at the end {right[came].max():.2f}")  # fmt: skip
    print(f"    of the others, {(ends[~came] > 0.05).sum()} end with a least mass above 0.05")

# %% [markdown]
# More than the 0.20 of uniform attention. And two others end with a least mass above 0.05 without ever coming to
# 95 %: enough attention is needed, and not enough.
#
# A surprise is the **teacher**, an ordinary trained network of another seed. It is at least as good as
# the oracle in every seed, at both lines. Nobody claimed that; the claim asks only that it be nearly
# as good. What does an imperfect teacher know that the perfect oracle does not? Our guess is that it
# does not insist on exactly one half and exactly nothing. It is a guess, and lesson 10 is for those.
#
# And **when**? A prior at the beginning that is then taken away does nearly as well as one that stays.
# A late one, begun on the plateau, does not beat decay alone: that claim fails. (That late is worth
# less than early is "partly": so it is to 95 %, in every seed; to 99 % it is not, in enough.)
#
# (This list is the short form. `experiments.claims("priors")` shows every part of every claim with
# what was seen, as for the next row.)
#
# ## 2. By token or by place?
#
# How does attention know where to look? For a query that is always the same, the "=" at the end,
# the score of a position is a sum of two parts. In words: *what the token there says, plus what the
# place says.* In symbols, with $q$ the query and $E$ and $P$ the embeddings of tokens and places,
#
# $$\ell_j = \frac{q \cdot W_K (E_{x_j} + P_j)}{\sqrt d}
#         = \underbrace{\frac{q \cdot W_K E_{x_j}}{\sqrt d}}_{\text{token}}
#         + \underbrace{\frac{q \cdot W_K P_j}{\sqrt d}}_{\text{place}} .$$


# %%
def token_and_place(spec, weights, query):
    """What every token adds to a score, and what every place does; a query's token is given."""
    w = {name: value[0].detach().double() for name, value in weights.items()}
    own = w["token_embedding"][query] + w["position_embedding"][-1]  # "=" has the last place
    q = own @ w["W_Q"] / spec.model.d_model**0.5
    return w["token_embedding"] @ w["W_K"] @ q, w["position_embedding"] @ w["W_K"] @ q


# %%
for network in ("baseline", "kl"):
    spec, weights = load_weights(f"recorded:weights/{network}.safetensors")
    token, place = token_and_place(spec, weights, query=43)
    print(f"{network}: numbers {token[:43].mean():.1f}, spread {token[:43].std():.1g}")
    print("    distractors", " ".join(f"{one:.1f}" for one in token[44:]), end=";   ")
    print("places", " ".join(f"{one:.1f}" for one in place))

# %% [markdown]
# To attention all 43 numbers are the *same* thing: "a number". The
# distractors are another. And the places of the two numbers stand out from the three others. This
# network knows where to look twice over, by token and by place.
#
# Now make the sequence longer. Old tokens come in new places, of which the network has learned nothing. The lesson
# trains two networks live, and shows that it is not the *length* that breaks a network. It is how attention has
# learned to know its places.
#
# The paper reports that on longer sequences the prior keeps more of the accuracy. Here are five
# seeds of both kinds, with and without the prior; the lower half of the figure has the tasks in which
# the numbers move, too.

# %%
recorded("routing")

# %%
experiments.claims("routing")

# %% [markdown]
# Where the numbers *move*, the account holds: the prior shortens the wait, and with numbers as
# distractors only the prior leads out of the trap.
#
# On *longer* sequences the paper's claim is **not reproduced** in a single seed, for two opposite
# reasons. With alphabet distractors nothing is lost, prior or no prior, so there is nothing to keep. With random ones a
# network without the prior never learned anything that it could lose; one with the prior has learned
# six tokens, and at 24 that is worth next to nothing.
#
# ## 3. More than one head
#
# With several heads the paper asks for a *summed* mass (Conjecture E.2): each informative position
# must be seen by the heads together, not by each one. In symbols, (55),
#
# $$\sum_h \alpha^h_j \ge \gamma \quad\text{for every } j \in I^* .$$
#
# As a *necessary* condition it is right: what no head looks at is lost. Is it enough? Two heads, each with nine
# tenths of its mass on the position in which two sequences differ:

# %%
alpha, values = theory.counterexamples.cancelling_heads()
print(f"summed mass on the position that differs: {alpha[:, 0].sum():.1f} of 2")
pooled = np.einsum("hp,nhpe->ne", alpha, values)  # h = sum over heads and positions, (54)
for n, word in enumerate(("first", "second")):
    print(f"{word} sequence: head 1 sees {values[n, 0, 0]}, head 2 {values[n, 1, 0]}", end="; ")
    print(f"together {pooled[n]}")

# %% [markdown]
# Both look hard at the right place, and one says the opposite of the other. **Heads can cancel.** So
# enough summed mass does not guarantee anything by itself. (No trained network has to be so
# perverse. But a theorem must not rely on that.)
#
# On the other hand one even head is not enough for every task. In the group of permutations the order
# matters: ab is not ba. A head that looks at both factors equally pools the sum of their values. And a
# sum does not know its order:

# %%
composing = PermutationComposition(n=4)
every_pair = torch.cartesian_prod(torch.arange(24), torch.arange(24))
both_ways = composing.label(every_pair), composing.label(every_pair.flip(1))
print(f"order matters for {(both_ways[0] != both_ways[1]).sum()} of {len(every_pair)} pairs")

value = torch.randn(24, 8, generator=torch.Generator().manual_seed(0))  # any value vectors
of_first, of_second = value, value.flip(1)  # two heads: each has value vectors of its own
a, b = 5, 17
one_head = [0.5 * value[x] + 0.5 * value[y] for x, y in ((a, b), (b, a))]
two_heads = [of_first[x] + of_second[y] for x, y in ((a, b), (b, a))]
print("one head tells ab from ba: ", not torch.allclose(*one_head))
print("two heads tell ab from ba: ", not torch.allclose(*two_heads))

# %% [markdown]
# So here the oracle of one head, half and half, forbids what is to be learned: a prior can be *wrong*
# even though it names the right positions. With two heads, and a prior that only asks for the right
# summed mass, one head may take the first factor and the other the second. The row `tasks` has
# this, and four other tasks.

# %%
recorded("tasks")

# %%
verdicts("tasks")

# %% [markdown]
# Is it only addition? The bound on the gradient holds everywhere, as a theorem should. The rest of
# the story does not carry over whole. For multiplication the prior is no clear help by our rule, and
# for a sum of three it is none. Parity is not even a case of grokking here: in every seed it is known
# on the unseen strings about as soon as on the trained ones. And permutations are the starkest case:
# memorised and never understood without the prior; understood with it, but not by enough seeds.
#
# Now heads and widths, for addition. Four heads share a network as wide as before.

# %%
recorded("geometry")

# %%
verdicts("geometry")

# %%
evidence = experiments.row("geometry").evidence(experiments.recorded("geometry"))
grokked = sum(evidence.grokked("4 heads", 0.95).reached)

# %% [markdown]
# None: one head finds the structure by itself, and four do not. (Width alone does nothing as clear:
# every width groks, and "the larger, the sooner" is not reproduced.) And yet the row says that the heads
# meet the condition together! Look at how it asks: *in the mean over sequences*. But (55) is a condition
# on every single one. A mean can hide a lot, so let us look inside one such network, sum by sum.

# %% tags=["nbval-ignore-output"]
trainer = Trainer([live.with_(heads=4, epochs=700)])
trainer.advance()
with torch.no_grad():
    model = Transformer(trainer.specs[0].model, trainer.train, trainer.weights.layout.length)
    attention = model(trainer.weights).attention
together = summed_head_mass(attention, trainer.train.informative)
print("summed mass on a number, at most 4:")
print(f"    mean over all train sums   {together.mean[0, [0, 2]].min():.2f}")
print(f"    the least of any train sum {together.least[0, [0, 2]].min():.2f}")
for gamma in (0.1, 0.5, 1.0):
    share = distributed_share(attention, trainer.train.informative, gamma).item()
    print(f"    both numbers have {gamma} or more in {share:.0%} of the train sums")

# %% [markdown]
# On the average the heads share the work; in single sums they need not. Section 2 has an instrument for
# this: what does a number's *token* add to its score, in each head? Beside it, as a control, stands a
# network with one head that has memorised and not yet understood, either.

# %% tags=["nbval-ignore-output"]
w = {name: value[0].detach().double() for name, value in trainer.weights.items()}
query = w["token_embedding"][43] + w["position_embedding"][-1]
product = (w["token_embedding"][:43] @ w["W_K"]) * (query @ w["W_Q"])
token = product.unflatten(1, (4, -1)).sum(dim=2) / 16**0.5  # 16 dimensions a head
print("spread over the 43 numbers, head by head:", " ".join(f"{x:.1f}" for x in token.std(dim=0)))
spec, weights = load_weights("recorded:weights/memorised.safetensors")
alone, _ = token_and_place(spec, weights, query=43)
print(f"one head, recorded, memorised only:       {alone[:43].std():.1f}")

# %% [markdown]
# To the grokked head of section 2 all numbers were alike, and to one that has only memorised they are
# less so. To these four heads they are 43 different things, several nats apart. This is attention that
# has learned *which* numbers stand there, and is no longer a pointer to places. (One live network,
# trained for other epochs at another rate than the control; the recorded runs keep means only. That
# this is what keeps four heads from grokking is a guess.) With the prior, on each head or on their
# sum, all five networks grok.
#
# ## 4. Does attention smooth on the plateau?
#
# Conjecture E.1 goes one step further. Softmax does not feel it when all scores move together, only
# how *unequal* they are: their variance over the positions. And this is bounded by norms, which
# weight decay shrinks. In words: *the variance of the scores is at most the product of three squared
# norms, over the width of the head.* In symbols, with $M = W_Q W_K^\top$,
#
# $$\mathrm{Var}_j(\ell_j) \le \frac{\lVert M \rVert_F^2\,\lVert e_q \rVert^2\,
#   \max_j \lVert e_j \rVert^2}{d_{\text{head}}} .$$
#
# So much is a theorem. The conjecture is what should follow: on the plateau, decay makes attention
# *smoother*, nearer to uniform, until it is free to find the structure. In code, for the grokked
# network of lesson 09, and with the scores as they are:


# %%
def two_digits(x):
    """A number in two significant digits, without an exponent."""
    return f"{float(f'{float(x):.2g}'):g}"


spec, weights = load_weights("recorded:weights/baseline.safetensors")
token, place = token_and_place(spec, weights, query=43)
tokens = spec.task.build(spec.seed).train.tokens
scores = token[tokens] + place  # the sum of section 2, for every sequence
w = {name: values[0].detach().double() for name, values in weights.items()}
e = w["token_embedding"][tokens] + w["position_embedding"]
m = torch.linalg.matrix_norm(w["W_Q"] @ w["W_K"].T)
bound = (m * e[0, -1].norm() * e.norm(dim=2).max()).square() / spec.model.d_model
variance = scores.var(dim=1, correction=0).mean()
print(f"variance of the scores {two_digits(variance)}, bound {two_digits(bound)}")

# %%
five = runs.load("classroom")
borders = phase_borders(five).values
rises = 0
for run, (begin, end, _) in enumerate(borders):
    one = five.isel(run=run, head=0)
    first, last = one.sel(epoch=begin), one.sel(epoch=end)
    rises += bool(last.attention_entropy > first.attention_entropy)
    print(
        f"seed {run}: entropy {first.attention_entropy.item():.2f} to "
        f"{last.attention_entropy.item():.2f} nats; variance of the scores "
        f"{two_digits(first.score_variance)} to {two_digits(last.score_variance)}; bound "
        f"{two_digits(first.score_variance_bound)} to {two_digits(last.score_variance_bound)}"
    )
print(f"smoother in {rises} of {len(borders)} seeds")

# %% [markdown]
# **A common misconception**: "on the plateau the network first has to forget where it looked." It does
# not. Attention is *sharper* at the plateau's end than at its beginning, in every seed, and the scores
# vary more, not less. (The row `four-phases` has both as one claim: not reproduced.) The bound is not
# broken, and it is no help: it lies more than ten times above what it bounds. A true bound, and a
# conjecture drawn from it that fails here.
#
# ## 5. Other optimizers, and the next token
#
# Norms do not fall under every optimizer (evidence 05). Do all of them grok?

# %%
recorded("assumptions")

# %%
verdicts("assumptions")

# %% [markdown]
# Another optimizer is another story. Muon is quick here, at twenty times the product of learning rate and decay;
# at one product it takes about as long as AdamW (row `controls`). SGD gets to 95 % in every seed, AdamW with another
# β₂ not in enough of them, and Lion never, while its norm *rises* (lesson 05 saw it). Small batches
# grok, too. And at one norm? Lesson 03 says what became of that idea. Here are the norms at which they get to
# 95 %, and how much they differ at the grok and at memorising:

# %%
goldilocks = [
    one for one in experiments.claims("assumptions") if one.claim.id.endswith("goldilocks")
]
print(textwrap.fill(goldilocks[0].seen, 90))

# %% [markdown]
# Freezing attention at the oracle does not beat the prior that only draws it there. We had thought
# it must, if structure were all. With the structure given from the first step, the network still has to
# learn to add, and lesson 09 asks how.
#
# The last door: networks that are really used do not answer one question at the end of a line. They
# predict every next token from those before.

# %%
recorded("autoregressive")

# %%
verdicts("autoregressive")

# %% [markdown]
# For the next token the account holds in part. The prior brings every seed to the answer; without it
# most do not come there in the epochs that they have. But in no seed was the answer memorised first:
# where it came at all, it came for train and test strings together. As far as these runs go, it is a wait
# for structure, and not grokking.
#
# ## 6. Where this is weak
#
# How many of the claims of this lesson came to which verdict:

# %%
rows = ("priors", "routing", "geometry", "tasks", "assumptions", "autoregressive")
for row in rows:
    print(f"{row:15} {experiments.count(experiments.claims(row))}")

# %% [markdown]
# - A verdict is only as wide as its row: one size, mostly one learning rate, five seeds. Where a setting was
#   sought so that a network memorises at all (the optimizers, the next token), it was sought before
#   the row was run, and by hand.
# - "Longer" and "moving" are one way each of loosening the positions. A sequence in which the *number*
#   of informative tokens changes has not been tried.
# - Every oracle here was given by us. A teacher needs no oracle, but it needs to have been trained.
#
# **So which assumption does the story survive without?** Fixed places, cleanly. Small batches and some
# optimizers: they grok, though not at one norm. Several heads, with the prior only. Other tasks,
# in pieces. The next token: a wait, without grokking. Longer sequences: the prior has no part in it. And
# an oracle is not needed, as long as somebody says *where*.
#
# ## Case file
#
# | what we know | how sure | what would change it |
# | --- | --- | --- |
# | Told where, it is sooner at 95 %; told only to be sharp, it does not get to 99 % | five seeds each, `priors` | a size or strength at which sharpness helps |
# | To a grokked network all numbers look alike to attention; it looks by token *and* by place | two recorded networks, read off their weights | a network whose attention depends on *which* number |
# | On longer sequences it matters how attention knows its places | one live run of each kind; the accuracies have five seeds in `routing` | a network that goes by place and keeps its accuracy |
# | The prior does not help on longer sequences | ten pairs of runs, `routing` | places that are not learned one by one |
# | Enough summed mass does not suffice with several heads | a counterexample in four numbers | nothing: it is a proof |
# | Four heads without a prior do not grok | five seeds, `geometry` | a longer run; another width |
# | The attention of four heads depends on *which* numbers stand there | one live network | the same look at five |
# | Attention does not smooth on the plateau | five of five recorded seeds | a setting in which entropy rises there |
# | There is no one norm to grok at across optimizers and batch sizes | none of five seeds, `assumptions` | a measure of size that they share |
# | The rest | the verdicts above, each with its seeds | another size: `grokkit reproduce NAME --size paper` |
#
# So we were wrong about longer sequences, and about frozen attention.
#
# ## Sources
#
# - *Grokking as Structural Inference: Transformers Need Bayesian Lottery Tickets*,
#   arXiv 2605.15787: Figures 6 and 7 (priors), 8 (routing), 9 (geometry), 10 (tasks), 11
#   (assumptions), Conjectures E.1 and E.2, Appendix G (next-token prediction).
# - Code: [`grokkit/tasks`](../../grokkit/tasks/__init__.py), [`grokkit/engine/priors`](../../grokkit/engine/priors/__init__.py),
#   [`grokkit/theory/heads.py`](../../grokkit/theory/heads.py),
#   [`grokkit/theory/variance.py`](../../grokkit/theory/variance.py),
#   [`grokkit/experiments`](../../grokkit/experiments/__init__.py).
