# %% [markdown]
# # 09 · What did it learn?
#
# The network adds. Asked for 17 + 38 modulo 43, a pair that it has never seen, it says 12. But how? It has no
# digits, and nothing tells it that 18 comes after 17. To the network these are token 17 and token 18, two vectors
# that began as random numbers.
#
# So far you watched the network from outside. Now you open it. **By what method does it add? And how can you show
# that it uses this method?** You look for waves in its weights, find a clock, and then take the clock away.
#
# *You need lesson 01 and what a cosine is; for section 4 also lesson 02. Reading takes 20 minutes; the code takes
# {{time 09}} of one core. How each measure was checked, a lookup table that fools one of them, and the order of
# attention and waves over five seeds: [evidence 09](evidence/09_what_did_it_learn.ipynb).*

# %%
import numpy as np
import torch

from grokkit import experiments, viz
from grokkit.classroom import beside
from grokkit.diagnostics import (
    all_sequences,
    embedding_power,
    grok_epoch,
    key_frequencies,
    logit_table,
    memorise_epoch,
    sum_power,
)
from grokkit.engine import load_weights
from grokkit.model import Batch, Parameters, Transformer
from grokkit.viz.alt import tell
from grokkit.viz.style import picture, titles

p = 43

# %% [markdown]
# ## 1. An adder without digits
#
# Write the numbers 0 to 42 round a clock with 43 hours. To add $b$, turn the hand by $b$ hours; after 42
# comes 0. A clock *is* addition modulo 43.
#
# Let the hand go round $k$ times while you count to $p = 43$. This $k$ is the **frequency**, and
# $\omega_k = 2\pi k / p$ is the angle of one step. For each possible answer $c$, compare the angle of
# $a + b$ with that of $c$. The cosine of their difference is largest where they agree. So this is an adder:
#
# $$\text{logit}(c) = \sum_{k} \cos\!\big(\omega_k\,(a + b - c)\big).$$
#
# Its answers should be right by a wide **margin**: the logit of the right answer minus that of the best
# wrong one. Try it with one wave, and with several:

# %%
a, b, c = torch.meshgrid(*3 * [torch.arange(p)], indexing="ij")


def adder(frequencies):
    """Logits of every a, b and c, made of a few waves of a + b - c."""
    return sum(torch.cos(2 * torch.pi * k * (a + b - c) / p) for k in frequencies)


for frequencies in ([1], [7], [1, 7], [2, 7, 9, 16]):
    logits = adder(frequencies)
    right = (logits.argmax(dim=2) == (a + b)[..., 0] % p).float().mean()
    best = logits[0, 0].sort(descending=True).values
    print(f"waves {frequencies}: {right:.0%} of all sums right, margin {best[0] - best[1]:.2g}")

# %% [markdown]
# One wave is enough, but only just: some wrong answer has nearly the same cosine. Several frequencies help, because
# an answer that is nearly right on one clock is far off on another. (All single frequencies are equally good: 43 is
# prime.)
#
# ## 2. Does the network have such a clock?
#
# In the network, the number $n$ is the vector $E_n$, row $n$ of the token embedding. Does this vector go up and
# down in a wave as $n$ counts from 0 to 42? Multiply the vectors by the wave and sum them. If they follow the
# wave, the sum is large. If they do not, the terms cancel. The **power** at frequency $k$ is the squared length of
# this sum, for the cosine and for the sine:
#
# $$P_k = \tfrac{2}{p}\Big\lVert \sum_n \cos(\omega_k n)\,E_n \Big\rVert^2
#       + \tfrac{2}{p}\Big\lVert \sum_n \sin(\omega_k n)\,E_n \Big\rVert^2, \qquad k = 1, \dots, 21 .$$
#
# Power can be measured in two places:
#
# - in the **embedding**, as above;
# - in the **answers**: in place of $E_n$ take the mean logits of all pairs with the sum $n$. The fewest frequencies
#   that hold 90 % of the power of the answers are the network's **key frequencies**.
#
# The package has the weights of one network at two times: `memorised`, when it knew the training sums, and `grokked`,
# at the end. *How many key frequencies has each of them, from 1 to 21?*

# %%
my_number_when_grokked = None
my_number_when_memorised = None

# %% tags=["hide-input"]
networks = {
    "memorised": load_weights("recorded:weights/memorised.safetensors"),
    "grokked": load_weights("recorded:weights/baseline.safetensors"),
}


def all_sums(spec, weights):
    """The network's logits for every pair, the pairs, and which of them were trained on."""
    data = spec.task.build(spec.seed)
    pairs = all_sequences(Batch.of([data.train]), Batch.of([data.test]))
    with torch.no_grad():
        logits = Transformer(spec.model, pairs, weights.layout.length)(weights).logits
    return logits, pairs, torch.arange(pairs.examples)[None] < len(data.train)


# %% tags=["hide-output"]
print("The result:")
key = {}
for name, (spec, weights) in networks.items():
    logits, pairs, known = all_sums(spec, weights)
    key[name] = key_frequencies(sum_power(logit_table(logits, pairs, p)))[0]
    print(f"{name}: key frequencies {key[name].nonzero().flatten().tolist()}")
    numbers = pairs.tokens[0][pairs.informative[0]].view(-1, 2)
    asked = int((numbers == torch.tensor([17, 38])).all(dim=1).nonzero())
    seen = "trained on" if known[0, asked] else "never seen"
    print(f"    17 + 38, {seen}: it says {int(logits[0, asked].argmax())}")

# %% tags=["hide-output"]
print("The result:")
beside("09 frequencies used by the grokked network", my_number_when_grokked,
       int(key["grokked"].sum()))  # fmt: skip

# %% tags=["hide-output"]
print("The result:")
beside("09 frequencies used by the memorised network", my_number_when_memorised,
       int(key["memorised"].sum()))  # fmt: skip

# %% tags=["hide-output"]
print("The result:")
frequency = np.arange(1, p // 2 + 1)
dots = {"marker": "o", "markevery": 1, "linewidth": 1}
power = {name: embedding_power(one, p)[0, 1:] for name, (_, one) in networks.items()}
figure = viz.lines(
    [
        viz.Line(frequency, power[name] / power[name].sum(), name, look, dots)
        for name, look in (("memorised", "train"), ("grokked", "test"))
    ],
    title="The power of the token embedding at each frequency",
    below="seed 0 of the classroom preset, sums modulo 43",
    x="frequency k (times round the clock in 43 numbers)",
    y="share of the power",
    ylim=(0, None),
    height=3.4,
)
figure.axes[0].set_xticks(frequency)
figure

# %% [markdown]
# <details><summary><b>What the two networks show</b> (open after your guess)</summary>
#
# The answers of the memorised network have most of the frequencies, and its embedding has some of each. In the
# embedding of the grokked network four frequencies stand out. They are its key frequencies: the ones that hold
# 90 % of the waves in its answers.
#
# </details>
#
# The embedding has 64 dimensions, a picture has two. For a frequency $k$ the two sums in the formula, with the cosine
# and with the sine, are two vectors, and they span a plane. Here are the 43 numbers in the plane of the strongest
# frequency. Lines join them in the order in which a hand of this frequency meets them.


# %%
def clock(weights, k):
    """Each number's place in the plane of frequency k, and the order round the clock."""
    embedding = weights["token_embedding"][0, :p].detach().double()
    angle = 2 * torch.pi * k * torch.arange(p).double() / p
    plane, _ = torch.linalg.qr((torch.stack((angle.cos(), angle.sin())) @ embedding).T)
    order = [pow(k, -1, p) * step % p for step in range(p + 1)]  # k n = 0, 1, 2, ... modulo p
    place = (embedding - embedding.mean(dim=0)) @ plane
    return place / place.norm(dim=1).mean(), order


strongest = 1 + int(embedding_power(networks["grokked"][1], p)[0, 1:].argmax())
first = ", ".join(str(n) for n in clock(networks["grokked"][1], strongest)[1][:4])
with viz.style():
    figure = picture(9, 5)
    titles(
        figure,
        "A crowd becomes a clock",
        f"a dot a number; the hand meets {first}, …; these and every third dot are named",
    )
    for ax, (name, (_, weights)) in zip(figure.subplots(1, 2), networks.items(), strict=True):
        k = 1 + int(embedding_power(weights, p)[0, 1:].argmax())
        place, order = clock(weights, k)
        ax.plot(*place[order].T, "o-", color=viz.LOOKS["structure"].color, markersize=3, lw=0.7)
        for number in {*order[:4], *order[:-2:3]} if name == "grokked" else ():
            away = 1 + 0.16 / place[number].norm()  # outside
            ax.text(*(away * place[number]), str(number), ha="center", va="center", fontsize=8)
        ax.set(title=f"{name}, frequency {k}", xlim=(-1.8, 1.8), ylim=(-1.8, 1.8), aspect="equal")
        ax.set(xlabel="along the cosine", ylabel="along the sine")
        ax.grid(visible=False)
        off = place[order[:-1]].norm(dim=1)
        tell(ax, f"43 dots; distance from the centre {off.min():.2f} to {off.max():.2f} "
                     "times its mean")  # fmt: skip
figure

# %% [markdown]
# Nobody gave the network an order of the numbers. It found several, one for each key frequency. The
# right panel shows the strongest: it closes to a ring.
#
# ## 3. An ablation: take the clock away
#
# That there is a clock does not show that the network *uses* it. So do an **ablation**: take one thing out, leave
# everything else as it is, and count the right answers. Here the thing is the waves of the key frequencies in the
# embedding. (To remove a wave, subtract from the embeddings their part along its cosine and its sine.) There are two
# controls: remove other frequencies; or remove as much power from all frequencies alike.
#
# *Without its key frequencies, what share of the unseen sums does the grokked network still get right, from 0 to
# 1?*

# %%
my_share_without_the_clock = None


# %% tags=["hide-input"]
def without_waves(weights, frequencies, part=1.0):
    """The same weights, with a part of the waves of some frequencies taken out of the numbers."""
    cut = Parameters(weights.layout, weights.flat.detach().clone())
    n = torch.arange(p).double()
    with torch.no_grad():
        for k in frequencies:
            for wave in ((2 * torch.pi * k * n / p).cos(), (2 * torch.pi * k * n / p).sin()):
                wave = (wave / wave.norm()).to(cut.flat.dtype)
                numbers = cut["token_embedding"][0, :p]
                numbers -= part * torch.outer(wave, wave @ numbers)
    return cut


# %% tags=["hide-output"]
print("The result:")
spec, weights = networks["grokked"]
keys = key["grokked"].nonzero().flatten().tolist()
others = [k for k in range(1, p // 2 + 1) if k not in keys][: len(keys)]
rest = [k for k in range(1, p // 2 + 1) if k not in keys]
held = float(power["grokked"][np.array(keys) - 1].sum() / power["grokked"].sum())
for words, frequencies, part in (
    ("nothing removed", [], 1),
    (f"without its {len(keys)} key frequencies {keys}", keys, 1),
    (f"without {len(others)} others {others}", others, 1),
    (f"without all {len(rest)} others", rest, 1),
    ("all waves made smaller, as much power removed", [*keys, *rest], 1 - (1 - held) ** 0.5),
):
    logits, pairs, trained = all_sums(spec, without_waves(weights, frequencies, part))
    right = (logits.argmax(dim=2) == pairs.targets).double()
    if frequencies == keys:
        left = float(right[~trained].mean())
    print(f"{words}: {right[trained].mean():.2f} of the training sums right, "
          f"{right[~trained].mean():.2f} of the unseen")  # fmt: skip
print(
    f"(a guess is right in {1 / p:.2f}; the key frequencies hold {held:.0%} of the embedding's power)"
)

# %% tags=["hide-output"]
print("The result:")
beside("09 unseen sums right without the clock", my_share_without_the_clock, round(left, 2))

# %% [markdown]
# <details><summary><b>What the ablation shows</b> (open after your guess)</summary>
#
# Without its key frequencies the network loses most of its answers, of the unseen sums and of those that it was
# trained on. Without the other 17 together it still answers nearly all sums, and so it does if as much power is removed
# from all frequencies alike. So it is not the power that is missing. **This network adds
# with its waves.**
#
# </details>
#
# ## 4. When does the clock come?
#
# In [lesson 02](02_attention_as_a_posterior.ipynb) the epochs to 95 % had two parts, the search for where to look and
# [learning to add](glossary.md). Leave our network now, and look at the second part alone: in five other networks
# (seeds 10 to 14) attention was *frozen* at the oracle from the start.
#
# We follow one number, the **Fourier concentration**. It asks whether the 64 dimensions of the embedding share their
# frequencies: near 0 means that each dimension has frequencies of its own, about 1 or more that all share a few.
# (Take the mean power at each frequency, over the dimensions. How unequal are these means? Divide this by how far the
# single dimensions are from them.)

# %%
evidence = experiments.row("wait").evidence(experiments.recorded("wait"))
alone = evidence.runs("frozen oracle")
one = alone[0]
viz.lines(
    [
        viz.Line(one.epoch, one.train_accuracy, "train sums right", "train"),
        viz.Line(one.epoch, one.fourier_concentration, "Fourier concentration", "structure"),
        viz.Line(one.epoch, one.test_accuracy, "unseen sums right", "test"),
    ],
    title="Nothing left to search, and still a wait",
    below=f"attention frozen at the oracle, seed {int(one.seed)}",
    x="epoch (log scale)",
    y="share right; concentration",
    ylim=(-0.02, None),
    log="x",
    height=3.4,
)

# %%
for one in alone:
    start = memorise_epoch(one).item()
    at = one.fourier_concentration.sel(epoch=start).item()
    end = grok_epoch(one, 0.95).item()
    then = one.fourier_concentration.sel(epoch=end).item()
    print(f"seed {int(one.seed)}: concentration {at:.2f} when memorised (epoch {start:,.0f}), "
          f"{then:.2f} at 95 % of the unseen ({end:,.0f}): {then / at:.1f} times as much")  # fmt: skip

# %% [markdown]
# Read from left to right. The training sums are soon known by heart, and with them about half of the unseen ones (the
# [mirror images](glossary.md) of training sums, lesson 01). The concentration is then about half of what it will be at
# 95 %, or less, in each of the five seeds. It grows during the wait, and in this picture the other unseen sums come
# with it. **While it learns to add, the dimensions come to share a few frequencies.**
#
# ## 5. The twist: Clock or Pizza?
#
# So far "clock" meant the circle. There are two ways to add with a circle, called Clock and Pizza (Zhong et al.,
# 2023). Draw each number as a point on the circle of frequency $k$.
#
# - The **Clock** *multiplies* the waves of $a$ and $b$ and gets $\cos(\omega_k(a+b))$. How far apart $a$ and $b$ are
#   does not matter.
# - The **Pizza** takes the *mean* of the two points. The mean lies inside the circle, as a topping lies on a pizza. It
#   points along half the angle of $a + b$, or exactly the other way. Twice this angle is the sum either way. But its
#   length is $|\cos(\omega_k (a-b)/2)|$: long where the two points are near each other, 0 where they lie opposite. So
#   the network is surer at some distances $a - b$ than at others.
#
# Attention that gives each number one half *is* a mean. So we may expect a Pizza. The test: take the logit of the
# right answer for each pair, and its mean at each distance $a - b$. A Clock gives a flat line.

# %% tags=["hide-input"]
logits, pairs, _ = all_sums(spec, weights)
centred = logits[0] - logits[0].mean(dim=1, keepdim=True)  # a softmax does not see a constant
sure = centred.gather(1, pairs.targets[0][:, None])[:, 0].double()
numbers = pairs.tokens[0][pairs.informative[0]].view(-1, 2)
distance = (numbers[:, 0] - numbers[:, 1]) % p
by_distance = torch.stack([sure[distance == step].mean() for step in range(p)])
within = torch.stack([sure[distance == step].var(correction=0) for step in range(p)]).mean()
told = 1 - within / sure.var(correction=0)


def lengths_fitted(frequencies):
    """The Pizza's lengths at each distance, fitted to the curve; the share of it explained."""
    steps = torch.arange(p).double()
    columns = [(torch.pi * k * steps / p).cos().abs() for k in frequencies]
    table = torch.stack([*columns, torch.ones(p)], dim=1).double()
    curve = table @ torch.linalg.lstsq(table, by_distance).solution
    return curve, 1 - (by_distance - curve).var(correction=0) / by_distance.var(correction=0)


pizza, share = lengths_fitted(keys)
sets = [rest[i : i + len(keys)] for i in range(len(rest) - len(keys) + 1)]
control = max(lengths_fitted(one)[1] for one in sets)
bare = {"marker": "none"}

# %%
viz.lines(
    [
        viz.Line(range(p), by_distance, "the network", "test", {"marker": "o", "markevery": 1}),
        viz.Line(
            range(p), pizza, "a Pizza's lengths at its key frequencies, fitted", "structure", bare
        ),
    ],
    title="How sure the network is depends on the distance of the two numbers",
    below="grokked network, seed 0: mean logit at each distance; the axis does not begin at 0",
    x="distance a - b, modulo 43",
    y="logit of the right answer",
    height=3.4,
)

# %%
print(f"of the variance of this line, a Pizza with {keys} explains {share:.0%};")
print(
    f"    the best of {len(sets)} Pizzas with {len(keys)} frequencies in a row, none of them key, {control:.0%}"
)
print(f"of the variance of the logit over all pairs, the distance explains {told:.0%}")

# %% [markdown]
# The line is not flat: so this is no pure Clock. The lengths of a Pizza at the network's own key frequencies follow it
# closely; at the other sets of frequencies that we tried they do not.
#
# But the line shows only means. In a pure Pizza the logit of the right answer depends on the distance alone. Here the
# distance explains less than half of its variance over all *pairs* (last line). So the network is no pure Pizza
# either. What was measured is this: **the network adds by waves, and in the mean it is surer where a Pizza would be.**
#
# The map after this lesson:

# %%
viz.claims_map(upto=9)

# %% [markdown]
# ## Case file
#
# - **We know:** this network adds by a few waves of $a + b$, and loses most answers without them; in the mean it is
#   surer where a Pizza would be.
# - **We do not know:** how the MLP turns means into sums. We have not taken it apart.
# - **It would change our minds:** a grokked network that goes on answering without its key frequencies.
#
# **A common misconception.** "A picture of a circle shows that the network adds with it." The picture shows
# what is there. It takes an ablation to show what is used.
#
# **Exercises:** [09 · What did it learn?](../exercises/09_what_did_it_learn.ipynb). **Next:**
# [10 · Your own experiment](10_your_own_experiment.ipynb), in which you write the claim.
