# %% [markdown]
# # 08 · Loosening the assumptions
#
# Nearly all evidence so far comes from one small world. Five tokens, and the two numbers always in the same two
# places. One attention head. One optimizer. Addition. And the prior of
# [lesson 06](06_kl_acceleration.ipynb) was told the answer to "where should I look?".
#
# The account of lessons 03 to 06, in one sentence: *the network memorises; its gradient starves; it has to
# find where to look, and then learn to add; a prior that says where to look makes the search short.*
# Here you loosen these assumptions, one at a time where that can be done, and ask **what of this account
# still holds**.
#
# *You need lessons 02, 03 and 06. Reading takes 20 minutes; the code takes {{time 08}} of one core. All
# six rows of experiments, the teacher, the heads taken apart and the other optimizers:
# [evidence 08](evidence/08_loosening_the_assumptions.ipynb).*

# %%
import numpy as np
from tqdm.auto import tqdm

import grokkit
from grokkit import experiments, viz
from grokkit.classroom import beside
from grokkit.diagnostics import grok_epoch
from grokkit.engine import Trainer
from grokkit.runtime.history import to_history
from grokkit.tasks import (
    AutoregressiveParity,
    LongerAddition,
    MarkedAddition,
    ModularMultiplication,
    PermutationComposition,
)

live = grokkit.presets["live"]


def told(spec):
    """The same run with the KL prior to the oracle, at strength 1 (lesson 06)."""
    return spec.with_(prior="kl", kl_strength=1.0)


# %% [markdown]
# ## 1. Pick one, and bet
#
# | name | what was fixed | what is new |
# | --- | --- | --- |
# | `"moving"` | the numbers have fixed places | they stand anywhere, and a star marks them |
# | `"random"` | distractors are letters | distractors are random numbers |
# | `"heads"` | one head; a + b is b + a | two changes: two heads, and a task in which the order matters, composing permutations |
# | `"product"` | addition | multiplication modulo 43 |
# | `"optimizer"` | AdamW | Muon, an optimizer whose every step is equally large in all directions of a matrix |
# | `"next token"` | one answer at the end | every token is predicted from those before it |
#
# You will train two networks in the world that you pick: one as it is, one with the prior. *Does the prior
# bring the network to 95 % of the unseen examples in at most 0.8 of the epochs?* (Where the runs end too early
# to tell, the answer is "undecided".)

# %%
my_assumption = None  # one of the six names; None: "moving"
my_bet = None  # True or False

# %%
worlds = {
    "moving": live.with_(task=MarkedAddition(p=43, train_fraction=0.6)),
    "random": live.with_(task=LongerAddition(p=43, train_fraction=0.5, distractors="random")),
    "heads": live.with_(task=PermutationComposition(n=4, train_fraction=0.8), heads=2),
    "product": live.with_(task=ModularMultiplication(p=43, train_fraction=0.5)),
    "optimizer": live.with_(optimizer="muon", learning_rate=5e-3, update_scale="spectral"),
    "next token": live.with_(
        task=AutoregressiveParity(bits=10, k=3, examples=600), batch_size=512,
        learning_rate=2e-3, weight_decay=0.1, epochs=300, record_every=2,
    ),
}  # fmt: skip
name = my_assumption or "moving"
without = worlds[name].with_(stop_after=0, epochs=min(worlds[name].epochs, 1400))
given = told(without)
if name == "heads":
    given = given.with_(head_reduction="summed")  # both heads together should match the oracle
data = without.task.build(0)
for row in (0, 100, 200):
    print(data.spell(data.train.tokens[row]))

# %% tags=["nbval-ignore-output", "hide-output"]
pair = {"as it is": grokkit.train(without), "told where to look": grokkit.train(given)}
slow, fast = (grok_epoch(h, 0.95).fillna(np.inf).item() for h in pair.values())
colors = {"as it is": "#B04500", "told where to look": "#008F68"}
viz.lines(
    [
        viz.Line(h.epoch, h.test_accuracy[0], words, "test", {"color": colors[words]})
        for words, h in pair.items()
    ],
    title=f"Loosened: {name}",
    below="unseen examples; one live run each, same data, same initial weights",
    x="epoch",
    y="share of unseen examples right",
    ylim=(-0.02, 1.02),
    height=3.4,
)

# %% tags=["nbval-ignore-output", "hide-output"]
# A run that did not come to 95 % takes longer than its epochs, and nobody knows how much longer.
in_time = bool(fast <= 0.8 * min(slow, without.epochs))
undecided = np.isinf(slow) and not in_time
beside(f"08 the prior helps, {name}", my_bet, "undecided" if undecided else in_time)

# %% [markdown]
# One run of one seed is an anecdote. Here are five recorded seeds in each world, and two worlds more: a sum
# of three numbers, and addition with four heads. Each line has the median epoch, the soonest and the latest
# seed, and how many of five came to 95 % before training stopped. The last column counts the seeds in which
# the prior takes at most 0.8 of the epochs. We ask for four of five; lesson 10 says why.

# %%
compared = {
    "moving": ("routing", "moving", "moving, KL 1"),
    "random": ("routing", "longer, random", "longer, random, KL 1"),
    "permutations": ("tasks", "S_4", "S_4, KL 1"),
    "product": ("tasks", "multiplication", "multiplication, KL 1"),
    "sum of three": ("tasks", "3 operands", "3 operands, KL 1"),
    "four heads": ("geometry", "4 heads", "4 heads, KL 1 each"),
    "Muon": ("controls", "Muon", "Muon, KL 1"),
    "next token": ("autoregressive", "next token", "next token, KL 1"),
}
evidence = {
    row: experiments.row(row).evidence(experiments.recorded(row))
    for row in ("routing", "tasks", "geometry", "controls", "autoregressive", "priors")
}
print(f"{'epoch of 95 %':15}{'as it is':>38}{'told':>38}   told in 0.8 or less")
for words, (row, plain, prior) in compared.items():
    before, after = (evidence[row].grokked(arm, 0.95) for arm in (plain, prior))
    count = after.sooner(before, 0.8).count(True)
    print(f"{words:15}{before!s:>38}{after!s:>38}   {count} of 5 seeds")

# %% [markdown]
# In four worlds the prior passes: where the numbers *move*, with random numbers as distractors, with four
# heads, and for the next token. It does not pass for permutations, products or a sum of three, and least of all
# under **Muon**.
#
# ## 2. Longer sequences: by token or by place?
#
# The paper reports that the prior also keeps accuracy on sequences that are *longer* than those of training.
# How does attention know where to look? In lesson 02 a token's vector was a sum: what the token is, $E_{x_j}$,
# plus the place $j$ where it stands, $P_j$. The question $q = W_Q e_{=}$ is always asked by the "=" at the end.
# So the score $\ell_j$ has two parts as well (with $W_K$ the key matrix, and $d$ the length of the vectors):
#
# $$\ell_j = \underbrace{\frac{q \cdot W_K E_{x_j}}{\sqrt d}}_{\text{token}}
#         + \underbrace{\frac{q \cdot W_K P_j}{\sqrt d}}_{\text{place}} .$$
#
# We train two networks on six tokens, both with the prior. In one the distractors are letters: there the
# *token* can give a distractor a low score. In the other they are random numbers: there only the *place* can.


# %%
def token_and_place(spec, weights, query):
    """What every token adds to a score, and what every place does; a query's token is given."""
    w = {name: value[0].detach().double() for name, value in weights.items()}
    own = w["token_embedding"][query] + w["position_embedding"][-1]  # "=" has the last place
    q = own @ w["W_Q"] / spec.model.d_model**0.5
    return w["token_embedding"] @ w["W_K"] @ q, w["position_embedding"] @ w["W_K"] @ q


# %% tags=["nbval-ignore-output"]
lengths = [6, 8, 12, 16, 24]
print(f"{'score, part by part':20}{'number':>8}{'distractor':>12}   places 0 to 4, numbers at 0 and 2"
      f"{'new places':>13}")  # fmt: skip
looks = {"alphabet": ("structure", {"markevery": 1}), "random": ("test", {"marker": "o"})}
curves = []
for kind, (look, change) in looks.items():
    task = LongerAddition(p=43, train_fraction=0.5, distractors=kind)
    spec = told(live.with_(task=task, epochs=800, record_every=200, stop_after=0))
    trainer = Trainer([spec])
    with tqdm(total=spec.epochs, desc=kind) as bar:
        trainer.advance(on_epoch=lambda _, bar=bar: bar.update())
    h = to_history(trainer)
    right = [h.test_accuracy[0, -1].item(), *h.extra_accuracy[0, -1].values]
    words = {"alphabet": "letters as distractors", "random": "random numbers as distractors"}[kind]
    curves.append(viz.Line(lengths, right, words, look, change))
    token, place = token_and_place(spec, trainer.weights, query=43)
    distractor = token[44:] if kind == "alphabet" else token[:43]
    by_place = " ".join(f"{one:+.1f}" for one in place[:5])
    print(f"{kind + ' distractors':20}{token[:43].mean():+8.1f}{distractor.mean():+12.1f}   {by_place:34}"
          f"{place[5:-1].abs().max():13.1f}")  # fmt: skip
figure = viz.lines(
    curves,
    title="Longer sequences: known by token, or lost by place",
    below="one live run each, trained on 6 tokens with the prior",
    x="tokens in the test sequences",
    y="share of unseen sums right",
    ylim=(-0.02, 1.02),
    height=3.4,
)
figure.axes[0].set_xticks(lengths)
figure

# %% [markdown]
# In training nothing ever stood in the new places. So they got no gradient, and weight decay brought their
# part of the score to 0. With letters this does no harm, since a letter's token has a low score of its own.
# With random numbers nothing lowers the score of a new distractor, and each takes a share of attention from
# the two numbers.
#
# So the same prior can be obeyed by token or by place. Over five seeds:

# %%
result = next(one for one in experiments.claims("routing") if one.claim.id == "routing/longer")
print(f"[{result.verdict}] {result.claim.says}")
for part in result.parts:
    print(f"    {part.says}: {part.seen}")

# %% [markdown]
# ("KL" has the prior, "the baseline" has not; "longer" has letters, "longer, random" random numbers.) We asked
# for a gain of 0.05 at the longest, 24 tokens. It is not there, for two opposite reasons. With letters nearly
# all sums are right, with the prior or without it. With random numbers hardly any are right with the prior, and
# without it nothing had been learned. (Only the longest were judged. On 8 tokens, in the picture, most sums are
# still right.)
#
# ## 3. The twist: right on average, and wrong
#
# Must the prior know the oracle? Two other priors ask attention to be *sharp*, that is, to have few large
# shares, and never say where. With $\beta$ the strength of the prior and $\alpha_j$ the attention on position
# $j$, the **entropy** prior adds $-\beta \sum_j \alpha_j \log \alpha_j$ to the loss, and the **sparsity** prior
# adds $\beta\,(1 - \sum_j \alpha_j^2)$. Both are 0 where one token has all attention. The paper reports that
# both help.
#
# Look at two numbers at the end of each run. The **mean mass** is the attention on the two informative
# tokens together, averaged over the training sums. The **least mass** is the smallest share that *any*
# informative token gets in *any* training sum ([glossary](glossary.md)).

# %%
print(f"{'':20}{'mean mass':>10}{'least mass':>12}   epoch of 95 %")
arms = [("priors", arm) for arm in ("baseline", "KL 1", "teacher", "entropy", "sparsity")]
for row, arm in [*arms, ("geometry", "4 heads"), ("geometry", "4 heads, KL 1 each")]:
    mean, least = (
        np.median(evidence[row].final(arm, which))
        for which in ("informative_mass", "min_informative_mass")
    )
    print(f"{arm:20}{mean:10.2f}{least:12.2f}   {evidence[row].grokked(arm, 0.95)}")

# %% [markdown]
# (`teacher` is lesson 07's. The numbers are medians of five seeds. Attention is averaged over heads first.)
#
# With entropy and sparsity the median mean mass is 1.00: the network looks at the two numbers and at nothing
# else. But the median least mass is 0.00, as it is with four heads and no prior: in some sum, one of the two
# numbers gets next to nothing. One large share is sharper than two halves, and nobody can add from one number.
# Now seed by seed:

# %%
for arm in ("entropy", "sparsity"):
    reached = evidence["priors"].grokked(arm, 0.95)
    then = evidence["priors"].at(arm, "min_informative_mass", reached)
    ends = evidence["priors"].final(arm, "min_informative_mass")
    right = evidence["priors"].final(arm, "test_accuracy")
    for seed, (epoch, least) in enumerate(zip(reached.values, then, strict=True)):
        came = "never at 95 %"
        if epoch == epoch:  # nan: it has not come there
            came = f"at 95 % in epoch {epoch:,.0f}, with least mass {least:.2f}"
        print(f"{arm:9} seed {seed}: at the end least mass {ends[seed]:.2f}, "
              f"{right[seed]:.2f} of the unseen right; {came}")  # fmt: skip

# %% [markdown]
# Two of these ten networks come to 95 %. At that epoch their least mass was above 0.20, the share of a token
# in uniform attention. One of them loses it again, and falls below 95 %. **Sharp is not right.** As in
# [lesson 03](03_the_decoupling_theorem.ipynb), every informative token must keep some attention. That is not
# enough: two networks with a least mass above 0.05 at the end never come to 95 %. And several heads can look at
# the right tokens and cancel each other (two such heads are in the
# [evidence](evidence/08_loosening_the_assumptions.ipynb)).
#
# What the map says after this lesson (its last line is about other optimizers; the evidence has their runs):

# %%
viz.claims_map(upto=8)

# %% [markdown]
# ## Case file
#
# - **We know:** the prior shortens the way to 95 % where numbers move, with random distractors, with four heads
#   and for the next token. Under Muon it does not. At 24 tokens no more sums are right with it.
# - **We do not know:** why a trained network's attention (`teacher`) serves at least as well as the oracle.
# - **What would change it:** a setting in which a network with a least mass near 0 answers 95 %.
#
# **A common misconception.** "99 % of the attention is on the right tokens, so the network has found the
# structure." A mean hides the sums in which one number gets none.
#
# **Exercises:** [08 · Loosening the assumptions](../exercises/08_loosening_the_assumptions.ipynb).
# **Next:** [09 · What did it learn?](09_what_did_it_learn.ipynb), where the network is opened.
