# %% [markdown]
# # 08 · Loosening the assumptions
#
# All evidence so far comes from one small world. Five tokens, and the two numbers always in the same two
# places. One attention head. One optimizer. Addition. And the prior of
# [lesson 06](06_kl_acceleration.ipynb) was told the answer to "where should I look?".
#
# The account of lessons 03 to 06, in one sentence: *the network memorises; its gradient starves; it has to
# find where to look, and then learn to add; a prior that says where to look makes the search short.*
# Here you loosen one assumption at a time and ask **what of this sentence survives**.
#
# *You need lessons 02, 03 and 06. Reading takes 20 minutes; the code takes {{time 08}} of one core. All
# six rows of experiments, the teacher, the heads taken apart and the other optimizers:
# [evidence 08](evidence/08_loosening_the_assumptions.ipynb).*

# %%
import numpy as np
from tqdm.auto import tqdm

import grokkit
from grokkit import experiments, theory, viz
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
# | `"moving"` | the numbers have fixed places | they are marked, and stand anywhere |
# | `"longer"` | distractors from a small alphabet | distractors are random numbers; later also longer sequences |
# | `"heads"` | one head; order does not matter | two heads compose permutations, where ab is not ba |
# | `"product"` | addition | multiplication modulo 43 |
# | `"optimizer"` | AdamW | Muon |
# | `"next token"` | one answer at the end | every token is predicted from those before it |
#
# You will train two networks in the world that you pick: one as it is, one with the prior. *Does the prior
# bring the network to 95 % of the unseen examples in at most 0.8 of the epochs?*

# %%
my_assumption = None  # one of the six names; None: "moving"
my_bet = None  # True or False

# %%
worlds = {
    "moving": live.with_(task=MarkedAddition(p=43, train_fraction=0.6)),
    "longer": live.with_(task=LongerAddition(p=43, train_fraction=0.5, distractors="random")),
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
beside(f"08 the prior helps, {name}", my_bet, bool(fast <= 0.8 * slow))

# %% [markdown]
# One run of one seed is an anecdote. The recorded rows have five seeds. Each line below compares the two
# networks in one world; an arm that has not come to 95 % by its last epoch counts as "never".

# %%
compared = {
    "moving": ("routing", "moving", "moving, KL 1"),
    "longer, random": ("routing", "longer, random", "longer, random, KL 1"),
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
print(f"{'epoch of 95 %':15}{'as it is':>38}{'told':>38}   told by 0.8 of it")
for words, (row, plain, prior) in compared.items():
    before, after = (evidence[row].grokked(arm, 0.95) for arm in (plain, prior))
    count = after.sooner(before, 0.8).count(True)
    print(f"{words:15}{before!s:>38}{after!s:>38}   {count} of 5 seeds")

# %% [markdown]
# The account travels, with limits. Where the numbers *move*, the prior still helps. With random numbers as
# distractors, or with four heads, no network gets there without it. But a sum of three is not helped in enough
# seeds, and under **Muon** the prior saves a fifth of the epochs in no seed.
#
# ## 2. Longer sequences: by token or by place?
#
# The paper reports that the prior also keeps accuracy on *longer* sequences than the network was trained
# on. To see why it might, ask how attention knows where to look. The query is always the "=" at the end.
# So the score $\ell_j$ of position $j$ is a sum: what the *token* there says, plus what the *place* says.
# With $q$ the query, $W_K$ the key matrix, $d$ the width, $E_{x_j}$ the embedding of the token and $P_j$
# that of the place:
#
# $$\ell_j = \underbrace{\frac{q \cdot W_K E_{x_j}}{\sqrt d}}_{\text{token}}
#         + \underbrace{\frac{q \cdot W_K P_j}{\sqrt d}}_{\text{place}} .$$
#
# We train two networks on six tokens, both with the prior. For one the distractors come from a small
# alphabet, so the token can say "not me". For the other they are random numbers, so only the place can.


# %%
def token_and_place(spec, weights, query):
    """What every token adds to a score, and what every place does; a query's token is given."""
    w = {name: value[0].detach().double() for name, value in weights.items()}
    own = w["token_embedding"][query] + w["position_embedding"][-1]  # "=" has the last place
    q = own @ w["W_Q"] / spec.model.d_model**0.5
    return w["token_embedding"] @ w["W_K"] @ q, w["position_embedding"] @ w["W_K"] @ q


# %% tags=["nbval-ignore-output"]
lengths = [6, 8, 12, 16, 24]
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
    curves.append(viz.Line(lengths, right, f"{kind} distractors", look, change))
    token, place = token_and_place(spec, trainer.weights, query=43)
    distractor = token[44:] if kind == "alphabet" else token[:43]
    print(f"{kind} distractors: score of a number {token[:43].mean():+.1f}, of a distractor "
          f"{distractor.mean():+.1f}; of places in training",
          " ".join(f"{one:+.1f}" for one in place[:5]),
          f"; of new places {place[5:-1].abs().max():.1f} at most")  # fmt: skip
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
# The new places say nothing: no train sequence ever stood there, so they got no gradient, and weight decay
# wiped them out. Where tokens say "not me", this is harmless. Where only places could say it, every new
# distractor takes a share of attention from the numbers.
#
# The oracle is the same in both runs. It says *where* to look in six tokens, and leaves open *by what
# sign*. So it is not the prior that decides. Over five seeds:

# %%
for result in experiments.claims("routing"):
    if result.claim.id in ("routing/longer", "routing/nothing-lost"):
        print(f"[{result.verdict}] {result.claim.says}")

# %% [markdown]
# The paper's claim fails for two opposite reasons. With alphabet distractors nothing is lost, prior or no
# prior. With random ones the network without a prior learned nothing that it could lose.
#
# ## 3. The twist: right on average, and wrong
#
# Must the prior know the oracle? Two gentler priors only ask attention to be *sharp*, and never say where:
# the **entropy** prior adds $-\beta \sum_j \alpha_j \log \alpha_j$ to the loss, the **sparsity** prior
# $\beta\,(1 - \sum_j \alpha_j^2)$, with $\beta$ the strength and $\alpha_j$ the attention on position $j$.
# The paper reports that both help.
#
# Look at two numbers at the end of each run. The **mean mass** is the attention on the two informative
# tokens, averaged over the train sums. The **least mass** is the smallest attention that *any* informative
# token gets in *any* train sum ([glossary](glossary.md)).

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
# Entropy and sparsity put all of the mean mass on the informative tokens, to two digits. By that measure they
# are perfect. But in most of these networks one of the two numbers gets next to nothing in some sum, for one
# sharp look is sharper than two. And one number does not tell a sum. Look closer, and at the exceptions:

# %%
for arm in ("entropy", "sparsity"):
    ends = evidence["priors"].final(arm, "min_informative_mass")
    print(
        f"{arm}: least mass below 0.05 at the end in {sum(one < 0.05 for one in ends)} of {len(ends)} seeds"
    )
    reached = evidence["priors"].grokked(arm, 0.95)
    then = evidence["priors"].at(arm, "min_informative_mass", reached)
    for seed, (epoch, least) in enumerate(zip(reached.values, then, strict=True)):
        if epoch == epoch:  # nan: it has not come to 95 %
            print(
                f"    seed {seed} answers 95 % at epoch {epoch:,.0f}, with least mass {least:.2f}"
            )

# %% [markdown]
# The few that come to 95 % had more least mass when they did than uniform attention gives, 0.20. **Sharp is
# not right. What counts is the least mass**, as in [lesson 03](03_the_decoupling_theorem.ipynb): attention
# need not single out the informative tokens, but it must not starve one of them.
#
# Four heads without a prior are the same case: much mass in the mean, next to none in the worst sum, and no
# network at 95 %. (With heads, both masses are those of the heads' average.) The paper asks of several heads that they have enough mass
# *together*. That is necessary, and not enough:

# %%
alpha, values = theory.counterexamples.cancelling_heads()
print(f"two heads put {alpha[:, 0].sum():.1f} of 2 on the position in which two sequences differ")
for row, word in enumerate(("first", "second")):
    seen = np.einsum("hp,hpe->e", alpha, values[row])  # sum over heads and positions
    print(f"{word} sequence: head 1 sees {values[row, 0, 0]}, head 2 {values[row, 1, 0]}: {seen}")

# %% [markdown]
# One head says the opposite of the other, so the network cannot tell the two sequences apart. **Heads can
# cancel.** No trained network has to do this. But a theorem must not rely on that.
#
# What the map says after this lesson:

# %%
viz.claims_map(upto=8)

# %% [markdown]
# ## Case file
#
# - **We know:** the prior helps where numbers move, where random distractors set a trap, and with four
#   heads; it does not help to stay right on longer sequences, nor under Muon.
# - **We do not know:** why a trained network's attention (`teacher`) serves at least as well as the oracle.
# - **What would change it:** a setting in which a network with a least mass near 0 answers 95 %.
#
# **A common misconception.** "Attention is on the right tokens in 99 % of the cases, so it has found the
# structure." The mean hides the sums that are still answered by heart.
#
# **Exercises:** [08 · Loosening the assumptions](../exercises/08_loosening_the_assumptions.ipynb).
# **Next:** [09 · What did it learn?](09_what_did_it_learn.ipynb), where the network is opened.
