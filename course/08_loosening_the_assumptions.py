# %% [markdown]
# # 08 · Loosening the assumptions
#
# Nearly all evidence so far comes from one small world: five tokens, two numbers in the same two places, one
# attention head, one optimizer, addition. In this world lessons 02 to 06 found: *the network memorises, then it has
# to find where to look, then it learns to add. A prior that says where to look makes the search short.*
#
# **Does this still hold when the world changes?** You change one thing at a time and ask three questions. Does the
# prior still help? Does it help on longer sequences? And must it know the answer, or is it enough that it makes
# attention sharp?
#
# *You need lessons 02, 03 and 06. Reading takes 20 minutes; the code takes {{time 08}} of one core. All runs, the
# teacher, the heads taken apart and other optimizers: [evidence 08](evidence/08_loosening_the_assumptions.ipynb).*

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
from grokkit.viz.alt import tell
from grokkit.viz.style import picture, titles

live = grokkit.presets["live"]


def told(spec):
    """The same run with the KL prior to the oracle, at strength 1 (lesson 06)."""
    return spec.with_(prior="kl", kl_strength=1.0)


# %% [markdown]
# ## 1. Other worlds: does the prior still help?
#
# Pick one of six worlds. In each, the name says what is new:
#
# | name | so far | in this world |
# | --- | --- | --- |
# | `"moving"` | the numbers have fixed places | they stand anywhere, each marked by a star |
# | `"random"` | distractors are letters | distractors are random numbers |
# | `"heads"` | one head; a + b is b + a | two heads, and a task in which the order matters: doing one permutation after another |
# | `"product"` | addition | multiplication modulo 43 |
# | `"optimizer"` | AdamW | Muon (lesson 06) |
# | `"next token"` | one answer, at the end | each token is predicted from those before it |
#
# You train two networks in your world, without the prior and with it. *Does the prior bring the network to 95 % of
# the unseen examples in at most 0.8 of the epochs?* (Where the runs end too early to tell, the answer is
# "undecided".)

# %%
my_assumption = None  # one of the six names; None: "moving"
my_bet = None  # True or False

# %% tags=["hide-input"]
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
print(f"three examples of the world {name!r}:")
for row in (0, 100, 200):
    print("   ", data.spell(data.train.tokens[row]))

# %% tags=["hide-output", "nbval-ignore-output"]
pair = {"as it is": grokkit.train(without), "told where to look": grokkit.train(given)}
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

# %% tags=["hide-output", "nbval-ignore-output"]
# A run that did not come to 95 % takes longer than its epochs, and nobody knows how much longer.
slow, fast = (grok_epoch(h, 0.95).fillna(np.inf).item() for h in pair.values())
in_time = bool(fast <= 0.8 * min(slow, without.epochs))
undecided = np.isinf(slow) and not in_time
beside(f"08 the prior helps, {name}", my_bet, "undecided" if undecided else in_time)

# %% [markdown]
# One run proves little. Here are five recorded seeds in each world (`"heads"` is the row *permutations*,
# `"optimizer"` is *Muon*), and two worlds more: a sum of three numbers, and addition with four heads. Each dot is a
# network, at the epoch of 95 %. A triangle is one that had not come there when training stopped (some cover others).
# Compare green with orange in each row.

# %% tags=["hide-input"]
compared = {
    "moving": ("routing", "moving", "moving, KL 1"),
    "random": ("routing", "longer, random", "longer, random, KL 1"),
    "four heads": ("geometry", "4 heads", "4 heads, KL 1 each"),
    "next token": ("autoregressive", "next token", "next token, KL 1"),
    "permutations": ("tasks", "S_4", "S_4, KL 1"),
    "product": ("tasks", "multiplication", "multiplication, KL 1"),
    "sum of three": ("tasks", "3 operands", "3 operands, KL 1"),
    "Muon": ("controls", "Muon", "Muon, KL 1"),
}
evidence = {
    row: experiments.row(row).evidence(experiments.recorded(row))
    for row in ("routing", "tasks", "geometry", "controls", "autoregressive", "priors")
}
with viz.style():
    figure = picture(9, 4.6)
    titles(figure, "Told where to look, in eight worlds", "five seeds each; a dot a network")
    ax = figure.subplots()
    says, beside_axis = [], {"transform": ax.get_yaxis_transform(), "size": 9}
    for place, (words, (row, *arms)) in enumerate(compared.items()):
        before, after = (evidence[row].grokked(arm, 0.95) for arm in arms)
        for times, color, up in zip((before, after), colors.values(), (-0.18, 0.18), strict=True):
            came, level = np.isfinite(times.values), np.full(5, place + up)
            ax.plot(times.values[came], level[came], "o", color=color)
            ax.plot(times.last[~came], level[~came], ">", color=color, mfc="white")
        count = after.sooner(before, 0.8).count(True)
        ax.axhline(place + 0.5, color="#DDDDDD", linewidth=0.8, zorder=0)
        ax.text(1.01, place, f"{count} of 5 seeds", va="center", **beside_axis)
        says.append(f"{words}: as it is {before}, told {after}, 0.8 or less in {count} of 5 seeds")
    ax.text(1.01, -0.75, "0.8 or less", style="italic", **beside_axis)
    ax.set(xscale="log", xlabel="epoch of 95 % of the unseen (log scale)", ylim=(7.5, -0.5))
    ax.set_yticks(range(8), compared)
    ax.set_xticks([100, 300, 1000, 3000], ["100", "300", "1,000", "3,000"])
    ax.grid(visible=False, axis="y")
    marks = [ax.plot([], [], "o", color=color, label=words)[0] for words, color in colors.items()]
    marks += ax.plot([], [], ">", color="#262626", mfc="white", label="not by the last epoch")
    figure.legend(handles=marks, loc="outside lower left", ncols=3)
    tell(ax, "; ".join(says))
figure

# %% [markdown]
# The right column counts the seeds in which the prior takes at most 0.8 of the epochs. We ask for four of five (lesson
# 10 has the rule). In the four upper worlds the prior passes: where the numbers move, with random numbers as
# distractors, with four heads, and for the next token. In the four lower ones it does not pass, and least of all under
# **Muon**.
#
# ## 2. Longer sequences: known by token, or by place?
#
# The paper reports that a network with the prior keeps its accuracy on sequences *longer* than those of training. So
# train two networks on six tokens, both with the prior, and test them on up to 24. In one the distractors are
# letters, in the other random numbers.
#
# *With random numbers as distractors, what share of the unseen sums is right at 24 tokens, from 0 to 1?*

# %%
my_share_at_24_tokens = None

# %% tags=["hide-output", "nbval-ignore-output"]
lengths = [6, 8, 12, 16, 24]
looks = {"letters": ("structure", {"markevery": 1}), "random numbers": ("test", {"marker": "o"})}
curves, weights = [], {}
for kind, (look, change) in looks.items():
    distractors = "alphabet" if kind == "letters" else "random"
    task = LongerAddition(p=43, train_fraction=0.5, distractors=distractors)
    spec = told(live.with_(task=task, epochs=800, record_every=200, stop_after=0))
    trainer = Trainer([spec])
    with tqdm(total=spec.epochs, desc=kind) as bar:
        trainer.advance(on_epoch=lambda _, bar=bar: bar.update())
    h = to_history(trainer)
    right = [h.test_accuracy[0, -1].item(), *h.extra_accuracy[0, -1].values]
    curves.append(viz.Line(lengths, right, f"{kind} as distractors", look, change))
    weights[kind] = trainer.weights
figure = viz.lines(
    curves,
    title="With letters nothing is lost on longer sequences, with numbers most is",
    below="one live run each, trained on 6 tokens with the prior",
    x="tokens in the test sequences",
    y="share of unseen sums right",
    ylim=(-0.02, 1.02),
    height=3.4,
)
figure.axes[0].set_xticks(lengths)
figure

# %% tags=["hide-output", "nbval-ignore-output"]
beside("08 right at 24 tokens, random numbers", my_share_at_24_tokens, round(right[-1], 2))

# %% [markdown]
# Why? In lesson 02 the vector of a token was a sum: what the token is, $E_{x_j}$, plus the place $j$ where it stands,
# $P_j$. The question is always $q = W_Q e_{=}$. So the score $\ell_j$ has two parts, too:
#
# $$\ell_j = \underbrace{\frac{q \cdot W_K E_{x_j}}{\sqrt d}}_{\text{token}}
#         + \underbrace{\frac{q \cdot W_K P_j}{\sqrt d}}_{\text{place}} .$$
#
# Take the two networks, and compute both parts:


# %% tags=["nbval-ignore-output"]
def token_and_place(w, d=64):
    """What each token adds to a score, and what each place does."""
    w = {name: value[0].detach().double() for name, value in w.items()}
    asks = (
        w["token_embedding"][43] + w["position_embedding"][-1]
    )  # "=" is token 43, in the last place
    q = asks @ w["W_Q"] / d**0.5
    return w["token_embedding"] @ w["W_K"] @ q, w["position_embedding"] @ w["W_K"] @ q


print(f"{'distractors':16}{'token part':^20}   {'place part':^30}")
print(
    f"{'':16}{'number':>8}{'distractor':>12}   {'numbers (0, 2)':>16}{'others':>7}{'new places':>12}"
)
for kind in looks:
    token, place = token_and_place(weights[kind], live.model.d_model)
    others = token[44:] if kind == "letters" else token[:43]
    print(f"{kind:16}{token[:43].mean():8.1f}{others.mean():12.1f}   {place[[0, 2]].mean():16.1f}"
          f"{place[[1, 3, 4]].mean():7.1f}{place[5:-1].abs().max():12.1f}")  # fmt: skip

# %% [markdown]
# The last column is the reason. In training nothing ever stood in the new places. They got no gradient, and weight
# decay brought their part to 0. So a distractor in a new place is not turned away by its place. A letter is turned
# away by its *token* part, which is low. A random number is not: as a token it looks like the two numbers that
# matter, and so it takes a share of their attention.
#
# Does the prior help at 24 tokens, in five recorded seeds? We had asked for a gain of 0.05.

# %%
routing = evidence["routing"]
print(f"{'share right at 24 tokens, median':34}{'no prior':>10}{'with the prior':>16}")
for words, arm in (("letters", "longer"), ("random numbers", "longer, random")):
    plain, prior = (
        np.median([float(one.extra_accuracy[-1, -1]) for one in routing.runs(which)])
        for which in (arm, f"{arm}, KL 1")
    )
    print(f"{words:34}{plain:10.2f}{prior:16.2f}")
claim = next(one for one in experiments.claims("routing") if one.claim.id == "routing/longer")
print(f"a gain of 0.05 at 24 tokens, with letters and with random numbers: {claim.verdict}")

# %% [markdown]
# There is no such gain. With letters nearly all sums are right without the prior. With random numbers they are
# mostly wrong with it and without it. (We judged only the longest sequences. On 8 tokens, in the picture, most sums
# are right.)
#
# ## 3. The twist: right on average, and wrong
#
# Must a prior know the oracle? Two others only ask attention to be *sharp*: to have few large shares. They
# never say where. With $\beta$ the strength and $\alpha_j$ the share of place $j$, the **entropy** prior adds
# $-\beta \sum_j \alpha_j \log \alpha_j$ to the loss, and the **sparsity** prior adds $\beta\,(1 - \sum_j \alpha_j^2)$.
# Both are 0 if one token has all the attention. The paper reports that both help.
#
# Look at the end of each run, in two measures of lesson 02. The **mean mass** is the attention on the two numbers
# together, averaged over the training sums. The **least mass** is the smallest share that any number gets in any sum.

# %%
print(f"{'median of five seeds':24}{'mean mass':>10}{'least mass':>12}   reach 95 % by epoch 6,000")
arms = [("priors", arm) for arm in ("baseline", "KL 1", "teacher", "entropy", "sparsity")]
for row, arm in [*arms, ("geometry", "4 heads"), ("geometry", "4 heads, KL 1 each")]:
    mean, least = (
        np.median(evidence[row].final(arm, which))
        for which in ("informative_mass", "min_informative_mass")
    )
    print(
        f"{arm:24}{mean:10.2f}{least:12.2f}   {sum(evidence[row].grokked(arm, 0.95).reached)} of 5"
    )

# %% [markdown]
# (`teacher` is the prior of lesson 07, towards a trained network's attention. With `each` the prior draws each head
# to the oracle. Attention is averaged over heads first.)
#
# Look at entropy and sparsity. By the mean they are perfect: all attention is on the two numbers. But the least mass
# is 0.00: in some sum, one of the two numbers gets next to nothing. One large share is sharper than two halves. But a
# sum needs both of its numbers. (Other sums can be right all the same.) With four heads and no prior the least mass is
# 0.00, too. Here is each network:

# %% tags=["hide-input"]
shown = {
    "baseline (no prior)": ("priors", "baseline", "#262626", "s"),
    "KL 1 (told where)": ("priors", "KL 1", "#008F68", "o"),
    "entropy (sharp)": ("priors", "entropy", "#B04500", "^"),
    "sparsity (sharp)": ("priors", "sparsity", "#43156B", "v"),
}
viz.lines(
    [
        viz.Line(
            evidence[row].final(arm, "min_informative_mass"),
            evidence[row].final(arm, "test_accuracy"),
            words,
            "test",
            {"color": color, "marker": marker, "linestyle": "", "markevery": 1, "markersize": 7},
        )
        for words, (row, arm, color, marker) in shown.items()
    ],
    title="Sharp attention that forgets one of the numbers does not add",
    below="the end of each run; five seeds each; in the median the mean mass of each kind is 0.99 or more",
    x="least mass (the oracle has 0.5, uniform attention 0.2)",
    y="share of unseen sums right",
    xlim=(-0.02, 0.55),
    ylim=(-0.02, 1.04),
    height=3.6,
)

# %%
for arm in ("entropy", "sparsity"):
    reached = evidence["priors"].grokked(arm, 0.95)
    then = evidence["priors"].at(arm, "min_informative_mass", reached)
    ends = evidence["priors"].final(arm, "min_informative_mass")
    right = evidence["priors"].final(arm, "test_accuracy")
    came = np.isfinite(reached.values)
    print(f"{arm}: {came.sum()} of 5 networks come to 95 %; least mass at that epoch "
          f"{then[came].max():.2f}; right at the end {right[came].max():.2f}")  # fmt: skip
    print(f"    of the others, {(ends[~came] > 0.05).sum()} end with a least mass above 0.05")

# %% [markdown]
# Two of these ten networks come to 95 %. At that epoch their least mass was above 0.20, the share of a token in
# uniform attention. (The picture shows the end; one of the two is below 95 % again.) **Sharp is not right.** As in
# [lesson 03](03_the_decoupling_theorem.ipynb), each informative token must keep some attention, and that alone is not
# enough: two networks end with a least mass above 0.05 and never come to 95 %. (Several heads can also look at the
# right tokens and cancel each other: see the evidence.)
#
# The map after this lesson (its last line is about other optimizers; the evidence has their runs):

# %%
viz.claims_map(upto=8)

# %% [markdown]
# ## Case file
#
# - **We know:** the prior helps in four of eight other worlds, and least under Muon. At 24 tokens it does not bring
#   the gain that we asked for. A prior that only makes attention sharp brings two of ten networks to 95 %.
# - **We do not know:** why a trained network's attention (`teacher`) serves about as well as the oracle.
# - **What would change it:** a setting in which a network with a least mass near 0 answers 95 %.
#
# **A common misconception.** "99 % of the attention is on the right tokens, so the network has found the
# structure." A mean hides the sums in which one number gets none.
#
# **Exercises:** [08 · Loosening the assumptions](../exercises/08_loosening_the_assumptions.ipynb).
# **Next:** [09 · What did it learn?](09_what_did_it_learn.ipynb), where the network is opened.
