"""Figure 3 and Theorem 5.2: a prior on attention shortens the wait; is it for what it says?"""

import numpy as np
from jaxtyping import Bool, Float

from grokkit.diagnostics.inverse_fit import fit_inverse
from grokkit.engine import RunSpec
from grokkit.experiments.judges import (
    Epochs,
    Judge,
    compared,
    falls_with,
    no_sooner,
    part,
    sooner,
    spread,
)
from grokkit.experiments.quantities import grok, takes
from grokkit.experiments.row import Arms, Bounds, Claim, Evidence, Part, Row, Size
from grokkit.experiments.settings import kl, slow, unordered

BETAS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
"""The strengths, log-spaced; 0 is the baseline."""

TOO_NEAR = 0.01
"""Two R^2 that differ by less say nothing."""

SMALL_KL = 0.1
"""Nats; a divergence that attention on the informative tokens has fallen below."""


def setup(size: Size) -> Arms:
    """The strengths; what stands in for the penalty; the rivals; the split."""
    base = slow(size)
    fast = base.with_(learning_rate=5 * base.optimizer.learning_rate)
    together = unordered(base)
    # The unordered split comes with a larger train set; this one is as large, split by pair.
    as_many = base.with_(train_fraction=together.settings()["train_fraction"])
    return {
        "baseline": base,
        **{f"KL {beta:g}": kl(base, beta) for beta in BETAS},
        "noise 1": kl(base).with_(penalty_gradient="noise"),
        "shuffled 1": kl(base).with_(penalty_gradient="shuffled"),
        "baseline, rate x5": fast,
        "KL 1, rate x5": kl(fast),
        "Grokfast": base.with_(accelerator="grokfast"),
        "orthogonal gradient": base.with_(accelerator="orthogonal"),
        "Muon": base.with_(optimizer="muon", learning_rate=0.02, update_scale="spectral"),
        "baseline, unordered split": together,
        "KL 1, unordered split": kl(together),
        "baseline, as many pairs": as_many,
        "KL 1, as many pairs": kl(as_many),
        # Attention moves within a few dozen epochs: records of each of them.
        "KL 1, first epochs": kl(base).with_(epochs=400, record_every=1, stop_after=None),
        **(larger(base) if size == "paper" else {}),
    }


def larger(base: RunSpec) -> dict[str, RunSpec]:
    """The controls of ``controls/content`` at p 113, on every array that the penalty moves.

    Signs shuffled, the penalty's gradient has its own size, entry by entry; noise has its norm.
    The slowest run with the prior needs 3,700 epochs: 4,650 are a quarter more.
    """
    short = kl(base).with_(epochs=4650)
    return {
        "shuffled on all": short.with_(penalty_gradient="shuffled-all"),
        "noise on all": short.with_(penalty_gradient="noise-all"),
    }


def inverse_law(evidence: Evidence) -> list[Part]:
    """The line floor + slope / beta, fitted for each seed over the strengths that grok."""
    epochs = np.stack([evidence.grokked(_arm(beta), 0.95).values for beta in BETAS])
    fits = [fit_inverse(BETAS, one) for one in epochs.T]
    # A line through three points or fewer says little.
    outcomes = [
        # Nor is a line that falls with 1/beta the law, however straight.
        None if fit.used < 4 else fit.slope > 0 and fit.r_squared >= 0.9
        for fit in fits
    ]
    seen = (
        f"R^2 {spread((fit.r_squared for fit in fits), '.3g')}, "
        f"slope {spread((fit.slope for fit in fits), '.3g')} epochs, "
        f"floor {spread((fit.floor for fit in fits), '.4g')} epochs, "
        f"{sum(fit.censored for fit in fits)} runs censored"
    )
    return [part("R^2 of epoch on 1/beta at least 0.9", outcomes, seen)]


def exponential(evidence: Evidence) -> list[Part]:
    """Whether the divergence falls like exp(-t) or like a power of t, in a real run."""
    outcomes, better = [], []
    for one in evidence.runs("KL 1, first epochs"):
        fall = one.isel(epoch=falling(one.kl.values) & (one.epoch.values > 0))
        if fall.sizes["epoch"] < 4:
            outcomes.append(None)
            continue
        log_kl, epoch = np.log(fall.kl.values.astype(float)), fall.epoch.values.astype(float)
        straight = [_r_squared(x, log_kl) for x in (epoch, np.log(epoch))]
        better.append(straight[0] - straight[1])
        near = abs(better[-1]) < TOO_NEAR
        outcomes.append(None if near else better[-1] > 0)
    says = "log KL is straighter in t than in log t, from a half to a hundredth of its start"
    return [part(says, outcomes, f"R^2 differs by {spread(better)}")]


def falling(kl: Float[np.ndarray, " epoch"]) -> Bool[np.ndarray, " epoch"]:
    """The records below half of the first value, until one is down to a hundredth of it."""
    through = np.logical_or.accumulate(kl <= kl[0] / 100)
    return (kl < kl[0] / 2) & ~through


def _arm(beta: float) -> str:
    return f"KL {beta:g}" if beta else "baseline"


def attention_time(weak: float, strong: float) -> Judge:
    """How long attention itself takes, at two strengths a factor of ten apart."""

    def epochs(beta: float) -> Epochs:
        return lambda evidence: evidence.first(_arm(beta), evidence.arm(_arm(beta)).kl < SMALL_KL)

    says = f"KL below {SMALL_KL} takes 5 to 20 x as long at beta {weak:g} as at {strong:g}"
    return compared(epochs(weak), epochs(strong), says, Bounds(5.0, 20.0, null=1.0), "and")


def _r_squared(x: np.ndarray, y: np.ndarray) -> float:
    return float(np.corrcoef(x, y)[0, 1] ** 2)


ROW = Row(
    name="kl-acceleration",
    figure="Figure 3, (6), (7), Theorem 5.2",
    question="Does a KL prior on attention shorten the wait, and because of what it says?",
    setup=setup,
    claims=(
        Claim(
            "kl-acceleration/faster",
            "The KL prior shortens the wait.",
            "Figure 3",
            sooner("KL 1", "baseline", 2 / 3),
        ),
        Claim(
            "kl-acceleration/falls-with-beta",
            "The stronger the prior, the sooner the network groks.",
            "Figure 3",
            falls_with("beta", {_arm(beta): beta for beta in (0.0, *BETAS)}),
        ),
        Claim(
            "kl-acceleration/inverse-beta",
            "The grok epoch is a floor plus something that goes as 1/beta.",
            "Figure 3, (7)",
            inverse_law,
            afterwards="that the slope is above 0 is now asked, too",
        ),
        Claim(
            "kl-acceleration/attention-time",
            "The time that attention itself needs goes as 1/beta.",
            "(7), (53); AdamW divides a gradient by its own size: weak point 10",
            attention_time(0.01, 0.1),
            attention_time(0.1, 1.0),
        ),
        Claim(
            "kl-acceleration/exponential",
            "Attention's divergence from the oracle falls exponentially.",
            "(52); weak point 8: for a sparse oracle it goes as 1/t",
            exponential,
            afterwards="judged by runs with a record every epoch, added when the records of the "
            f"others lay too far apart; R^2 that differ by less than {TOO_NEAR} are left undecided "
            "since the verdict had turned with the rounding of the records; what comes after the "
            "fall (one run's divergence came back up) is no longer part of it",
        ),
        Claim(
            "kl-acceleration/no-plateau",
            "A strong prior removes the plateau entirely.",
            "section 5; weak point 7: there is a floor",
            compared(
                grok("KL 3"),
                lambda evidence: evidence.memorised("KL 3"),
                "KL 3 groks within twice the epochs of memorising",
                Bounds(at_most=2.0),
            ),
        ),
        Claim(
            "kl-acceleration/information",
            "It is the prior's content that helps: noise of the same norm on W_Q and W_K, or its "
            "gradient with shuffled signs, comes later.",
            "weak point 10; the penalty moves the embeddings, too, and these controls do not: see "
            "controls/content for controls like for like",
            sooner("KL 1", "noise 1", 0.8),
            sooner("KL 1", "shuffled 1", 0.8),
        ),
        Claim(
            "kl-acceleration/noise-is-no-help",
            "A live gradient without meaning does not shorten the wait.",
            "weak point 10",
            no_sooner("noise 1", "baseline"),
            no_sooner("shuffled 1", "baseline"),
        ),
        Claim(
            "kl-acceleration/matched-rate",
            "The gain is no larger step in disguise: it is there at five times the learning rate, "
            "too.",
            "our control",
            sooner("KL 1, rate x5", "baseline, rate x5", 2 / 3),
        ),
        Claim(
            "kl-acceleration/unordered",
            "The gain is not one in mirrored pairs: it is there when the split keeps (a, b) and "
            "(b, a) together.",
            "our control",
            sooner("KL 1, unordered split", "baseline, unordered split", 0.8),
        ),
        Claim(
            "kl-acceleration/as-many-pairs",
            "The gain is there with as many pairs to train on as in that control, split by pair.",
            "our control of the control",
            sooner("KL 1, as many pairs", "baseline, as many pairs", 0.8),
            afterwards="added when the unordered split had shown no gain",
        ),
        Claim(
            "kl-acceleration/rivals",
            "The prior is at least as fast as accelerators that know nothing of the task.",
            "weak point 11: no comparison in the paper; Muon's rate x decay is 20 times AdamW's: "
            "see controls/muon and controls/prior-beats-muon for matched products",
            sooner("KL 1", "Grokfast"),
            sooner("KL 1", "orthogonal gradient"),
            sooner("KL 1", "Muon"),
        ),
    ),
    paper_claims=(
        Claim(
            "kl-acceleration/content-at-p-113",
            "At p 113, too, the prior helps by what it says: it takes at most 0.8 of the epochs "
            "that its gradient with shuffled signs takes on every array that the penalty moves.",
            "weak point 10; our control, like for like",
            takes("KL 1", "shuffled on all", at_most=0.8),
            afterwards="the prior's own runs had been seen",
        ),
        Claim(
            "kl-acceleration/not-noise-at-p-113",
            "At p 113, too, a live gradient is not enough: the prior takes at most 0.8 of the "
            "epochs that noise of its norm takes on every array that the penalty moves.",
            "weak point 10; our control, like for like",
            takes("KL 1", "noise on all", at_most=0.8),
            afterwards="the prior's own runs and those with shuffled signs had been seen",
        ),
    ),
)
