# %% [markdown]
# # grokkit: the course
#
# A network learns its training examples by heart. It gets most other examples wrong. A thousand training steps
# later, with no new data, it gets them right. This is called **grokking**.
#
# **Why does the network wait, and what ends the wait?** You train such networks yourself, on an ordinary laptop.
# In each lesson you guess, run an experiment, and compare. An experiment takes from a few seconds to about a
# minute.
#
# Run the cells of this page first. They check your installation, and say how fast your machine is.

# %%
import grokkit
from grokkit.classroom import check_installation

# %% tags=["nbval-ignore-output"]
check_installation()

# %% [markdown]
# ## A first run
#
# A network with one layer learns sums modulo 31: add two numbers, divide by 31, keep the remainder. It is trained
# for 500 steps on some of the pairs of numbers. The other pairs it never sees.

# %% tags=["nbval-ignore-output"]
spec = grokkit.presets["live"].with_(p=31, epochs=500)
history = grokkit.train(spec)

# %%
accuracy = history.isel(run=0, epoch=-1)
print(f"training sums right: {float(accuracy.train_accuracy):.0%}")
print(f"unseen sums right:   {float(accuracy.test_accuracy):.0%}")

# %% [markdown]
# It knows all the sums that it was trained on, and far fewer of the others. Lesson 01 trains longer, and more happens.
#
# `train` returns everything that was measured, for each run and each **epoch** (here, one training step). It is a
# dataset of the [xarray](https://docs.xarray.dev) library. Each variable says what it means. You need not know
# these words yet: lesson 02 explains `kl`, and lesson 03 `mlp_norm`.

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
# | [12 Token uniformity](12_token_uniformity.ipynb) | Do embeddings or data decide? | {{time 12}} | {{memory 12}} |
# | [13 Three accounts, one network](13_three_accounts.ipynb) | Which signal comes first? | {{time 13}} | {{memory 13}} |
# | [14 Random targets](14_random_targets.ipynb), an elective | What if there is no right answer? | {{time 14}} | {{memory 14}} |
#
# Each lesson takes 15 to 30 minutes to read, and has its [exercises](../exercises/01_sparse_tasks.ipynb). Time and
# memory were measured on one core, and are rounded up. To run all lessons, one after the other, takes {{time all}}.
#
# ## How a lesson works
#
# - **You guess first.** Before most results there is a cell for your guess. The result is folded away, and opens
#   when you run its cell. Your guess is then shown beside the measurement, and kept for lesson 10. You may leave
#   it empty. (*Run All* opens all results. A click on the bar left of an output folds it again.)
# - **The lesson tells the story.** All seeds, all claims and the doubts stand in the *evidence* notebook of the
#   same number. You do not need it to go on.
# - **Bold** marks a new term where it is explained (most are in the [glossary](glossary.md) as well). A whole
#   sentence in bold is a main result.
# - **The end of a lesson is its case file:** what we know, what we doubt or do not know, what would change our minds.
#   Below it stands the map: what is said, what we measured, and the verdict.
#
# ## How a verdict is read
#
# You can skip this now, and come back when you meet the first verdict.
#
# A **claim** is a sentence with a bound in it, such as "with this method the network needs at most two thirds of
# the epochs". It is written down before its runs. The runs are then repeated with several **seeds** (a seed fixes
# all random choices of a run).
#
# The result is written like this: *0.53 [0.36 to 0.69]*. The median of the seeds is 0.53: about half of the epochs.
# The numbers in brackets are an interval for it: about 95 of 100 such intervals hold the true median. (With five seeds
# the interval goes from the least to the greatest.)
#
# The verdict compares the interval with the bound. Here the bound is two thirds, or 0.67, and 1 means "no
# effect":
#
# | if the interval were | the verdict would be | because |
# | --- | --- | --- |
# | 0.36 to 0.60 | reproduced | all of it is within the bound |
# | 0.36 to 0.69 | undecided | it reaches past the bound |
# | 0.70 to 0.90 | not reproduced: missed | there is an effect, but it is too small |
# | 0.70 to 1.20 | not reproduced: not shown | there may be no effect at all |
# | 1.10 to 1.50 | not reproduced: refuted | the effect goes the other way |
#
# Other claims ask each seed for a yes or no, such as "sooner in at least four of five seeds". Lesson 10 has their rule.
#
# A claim with bounds on both sides, such as "between 0.4 and 0.6", is *refuted* where the whole interval lies outside.
# *Partly* means that some parts of a claim hold and others do not; the bracket behind it says what became of
# those. *Fragile* means that one seed, or a bound moved by a quarter, would change the verdict.
#
# What was found, in short: [FINDINGS.md](../FINDINGS.md); claim by claim: [RESULTS.md](../RESULTS.md).
#
# ## If something goes wrong
#
# *Kernel → Restart Kernel and Run All Cells* brings a lesson back to its start. *On Google Colab:* run the last
# cell of a notebook first. It is folded, and installs the course.
