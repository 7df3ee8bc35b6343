# %% [markdown]
# # grokkit: the course
#
# A network learns its training examples by heart. Of examples that it has not seen, it gets most wrong. A thousand
# training steps later, with no new data, it gets them right. This course asks why. You train the networks yourself,
# on an ordinary laptop; an experiment takes from a few seconds to about a minute.
#
# Run the cells of this page first: they check that your installation works, and time it.

# %%
import grokkit
from grokkit.classroom import check_installation

# %% tags=["nbval-ignore-output"]
check_installation()

# %% [markdown]
# ## A first run
#
# A Transformer with one layer learns sums modulo 31 (the remainder after a division by 31), in 500 steps:

# %% tags=["nbval-ignore-output"]
spec = grokkit.presets["live"].with_(p=31, epochs=500)
history = grokkit.train(spec)

# %%
accuracy = history.isel(run=0, epoch=-1)
print(f"training sums right: {float(accuracy.train_accuracy):.0%}")
print(f"unseen sums right:   {float(accuracy.test_accuracy):.0%}")

# %% [markdown]
# It knows the sums that it was trained on, and few others. This run ends too early for more; lesson 01 trains longer.
#
# What `train` returns is an [xarray](https://docs.xarray.dev) dataset: labelled arrays over runs and
# epochs (here an epoch is one step), with everything that was measured. (Lesson 02 explains `kl`,
# lesson 03 `mlp_norm`.)

# %%
for name in ("train_accuracy", "test_accuracy", "kl", "mlp_norm"):
    print(f"{name}: {history[name].attrs['meaning']}")
print(f"... and {len(history.data_vars) - 4} more: history.data_vars")

# %% [markdown]
# ## The lessons
#
# | lesson | question | time to run | memory |
# | --- | --- | --- | --- |
# | [01 Sparse tasks, and the puzzle](01_sparse_tasks.ipynb) | Why would a network that knows all its answers suddenly understand? | {{time 01}} | {{memory 01}} |
# | [02 Attention as a posterior](02_attention_as_a_posterior.ipynb) | Where does it look? | {{time 02}} | {{memory 02}} |
# | [03 The decoupling theorem](03_the_decoupling_theorem.ipynb) | What must be true for it to generalise? | {{time 03}} | {{memory 03}} |
# | [04 Gradient starvation](04_gradient_starvation.ipynb) | Why doesn't attention just learn? | {{time 04}} | {{memory 04}} |
# | [05 The wait](05_the_wait.ipynb) | Who ends the wait? | {{time 05}} | {{memory 05}} |
# | [06 KL acceleration](06_kl_acceleration.ipynb) | Can we tell it where to look? | {{time 06}} | {{memory 06}} |
# | [07 Tickets](07_tickets.ipynb) | What exactly is inherited? | {{time 07}} | {{memory 07}} |
# | [08 Loosening the assumptions](08_loosening_the_assumptions.ipynb) | Does it survive outside the toy? | {{time 08}} | {{memory 08}} |
# | [09 What did it learn?](09_what_did_it_learn.ipynb) | What is the answer it found? | {{time 09}} | {{memory 09}} |
# | [10 Your own experiment](10_your_own_experiment.ipynb) | What do you believe, and what would change your mind? | {{time 10}} | {{memory 10}} |
# | [11 Inductive bias](11_inductive_bias.ipynb) | Does the architecture choose? | {{time 11}} | {{memory 11}} |
# | [12 Token uniformity, and data](12_token_uniformity.ipynb) | Do embeddings or data decide? | {{time 12}} | {{memory 12}} |
# | [13 Three accounts, one network](13_three_accounts.ipynb) | Which signal comes first? | {{time 13}} | {{memory 13}} |
# | [14 Random targets](14_random_targets.ipynb), an elective | What if there is no right answer? | {{time 14}} | {{memory 14}} |
#
# Each takes about half an hour to read, and has its [exercises](../exercises). Time and memory were
# measured on one core when these notebooks were last built, and are rounded up; to run all of them, one
# after the other, takes {{time all}}.
#
# ## How a lesson works
#
# - **Predict first.** Before each result there is a cell for your guess. The result below it is folded
#   away, and opens when you run its cell. Leave the guess empty and everything runs all the same. Fill it
#   in, and it is shown beside the measurement (and kept in `predictions.json`, for lesson 10).
# - **A lesson tells one story.** What proves it, all seeds and all claims with their verdicts, stands in
#   the *evidence* notebook of the same number, for those who doubt.
# - **New terms** are in bold where they are explained, and most are in the [glossary](glossary.md). A whole
#   sentence in bold is a main result.
# - **A lesson ends with its case file:** what we know, what we doubt, and what would change our minds.
#   Below it is the map: what papers say, what we measured, and the verdict, as far as you have come.
#
# ## How a verdict is read
#
# A **claim** is a sentence with a bound in it, such as "in at most two thirds of the epochs". It is written down before
# its runs. The runs are repeated with several **seeds** (other random choices), and what they show is an effect with an
# interval. In *0.53 [0.36 to 0.69]*, 0.53 is the median of the seeds. The interval would hold the true median in 95 of
# 100 repetitions or more (with five seeds, in about 94). The verdict compares the interval with the bound:
#
# - *reproduced*: the whole interval lies within what was claimed;
# - *undecided*: it reaches past the bound, as 0.69 reaches past two thirds;
# - *not reproduced*, in three kinds. *Refuted*: the effect lies on the other side. *Missed*: it is there, but too
#   small. *Not shown*: there may be no effect at all;
# - *partly*: some parts of the claim hold and others do not;
# - *fragile*, added to one of these: one seed, or a bound moved by a quarter, would turn it.
#
# What was found, in short: [FINDINGS.md](../FINDINGS.md); claim by claim: [RESULTS.md](../RESULTS.md).
#
# Stuck? *Kernel → Restart Kernel and Run All Cells* always brings a lesson back to its start. *On Google
# Colab:* run the last cell of a notebook first; it is folded, and installs the course.
