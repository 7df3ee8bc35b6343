"""What the field found elsewhere, asked of this network: norm, data, kernel, circuit.

The sources have networks of their own (an MLP on images, a block with a residual stream), squared
error or SGD; here it is the course's network with AdamW and cross-entropy, at a high learning
rate and decay, so that a run is short. What fails here is not refuted there. Every claim was
written before its runs, on seeds that nobody had looked at, and has a control that would come out
alike if the account were wrong. All runs of a row have the same number of optimizer steps.
"""

from collections.abc import Callable

import numpy as np

from grokkit.diagnostics import half_rise_epoch, measure_transition
from grokkit.engine import RunSpec, presets
from grokkit.experiments.estimates import Measured
from grokkit.experiments.judges import groks, memorises, never_groks, one_norm
from grokkit.experiments.quantities import (
    Epochs,
    Quantity,
    at_end,
    change,
    compare,
    exponent,
    gap,
    grok,
    lies,
    over,
    takes,
    wait,
)
from grokkit.experiments.row import Arms, Claim, Evidence, Row, Size, Times

FRESH = tuple(range(40, 45))
"""Seeds that no run of this course had before."""

KEPT = ("train_loss", "train_accuracy", "test_loss", "test_accuracy", "unmirrored_accuracy")
"""What a recording of these rows keeps, besides what a row asks for."""


def base(size: Size) -> RunSpec:
    """A small table at a high learning rate; or the paper's setting.

    Lesson 10's setting, for its cost. Of two runs at seed 40 with others the epoch at which they
    were stopped had been seen, and nothing else: a larger table, and this one at half the rate.
    """
    if size == "paper":
        return presets["paper"]
    return presets["live"].with_(
        p=31, train_fraction=0.7, learning_rate=0.02, epochs=600, record_every=10, stop_after=100
    )


def looked_into(size: Size) -> Arms:
    """The network, and the same without decay, which memorises and stays there."""
    plain = base(size).with_(circuits=True)
    return {"baseline": plain, "decay 0": plain.with_(weight_decay=0.0)}


def circuits(size: Size) -> Arms:
    """Those two, attention frozen at the oracle, and attention held uniform."""
    plain = base(size).with_(circuits=True)
    return {
        **looked_into(size),
        "frozen oracle": plain.with_(attention="oracle"),
        "uniform": plain.with_(qk_penalty=0.5),
    }


def outputs(size: Size) -> Arms:
    """Those two, and logits four times as large or as small for the same weights."""
    plain = base(size).with_(circuits=True)
    return {
        **looked_into(size),
        "output x4": plain.with_(readout_scale=4.0),
        "output x0.25": plain.with_(readout_scale=0.25),
    }


def norms(size: Size) -> Arms:
    """All initial weights times a factor; and with the learning rate times that factor, too.

    AdamW's step is about as large as its rate whatever the gradient: with the rate scaled as the
    weights a step changes them by the same share, and with the decay divided by that factor the
    product of rate and decay stays.
    """
    plain = base(size)
    rate, decay = plain.optimizer.learning_rate, plain.settings()["weight_decay"]

    def scaled(factor: float, weight_decay: float = decay, matched: bool = False) -> RunSpec:
        told = plain.with_(init_scale=factor, embedding_scale=factor, weight_decay=weight_decay)
        if not matched:
            return told
        return told.with_(learning_rate=factor * rate, weight_decay=weight_decay / factor)

    return {
        **looked_into(size),
        "norm x0.5": scaled(0.5),
        "norm x2": scaled(2.0),
        "norm x0.5, matched": scaled(0.5, matched=True),
        "norm x2, matched": scaled(2.0, matched=True),
        "norm x0.25, decay 0": scaled(0.25, 0.0),
        "norm x0.25, decay 0, matched": scaled(0.25, 0.0, matched=True),
    }


def amounts(size: Size) -> Arms:
    """Shares of all pairs; and, where mirror images are on one side of the split, two more."""
    plain = base(size)
    return {
        **looked_into(size),
        **{f"pairs {share:g}": plain.with_(train_fraction=share) for share in (0.3, 0.45, 0.9)},
        **{
            f"unordered {share:g}": plain.with_(split="unordered", train_fraction=share)
            for share in (0.5, 0.85)
        },
    }


def half_way(arm: str, variable: str) -> Epochs:
    """When a variable has gone half of its way from memorising to the end, for good."""

    def epochs(evidence: Evidence) -> Times:
        starts, found = evidence.memorised(arm).values, []
        for one, start in zip(evidence.runs(arm), starts, strict=True):
            when, values = one.epoch.values, one[variable].values.astype(float)
            way = None if np.isnan(start) else measure_transition(when, values, start)
            found.append(np.nan if way is None else half_rise_epoch(when, values, way, 0.5, True))
        return evidence.times(arm, evidence.arm(arm).seed.copy(data=np.array(found, dtype=float)))

    return epochs


def when_memorised(arm: str, variable: str) -> Quantity:
    """A variable at the epoch of train accuracy 0.99."""
    return lambda evidence: Measured.of(evidence.at(arm, variable, evidence.memorised(arm)))


def turn_over(arm: str, other: str, when: Callable[[str, str], Quantity]) -> Quantity:
    """The kernel's turn in one arm over that in another."""
    return over(when(arm, "kernel_turn"), when(other, "kernel_turn"))


CIRCUITS = Row(
    name="clock-or-pizza",
    figure="arXiv 2306.17844: gradient symmetry and distance irrelevance",
    question="Does a network whose attention is the same on both numbers add as a Pizza?",
    setup=circuits,
    seeds=FRESH,
    variables=(
        *KEPT,
        *("gradient_symmetry", "distance_irrelevance", "kernel_turn", "kernel_drift"),
        *("patched_train_accuracy", "patched_test_accuracy", "attention_entropy", "mlp_norm"),
    ),
    claims=(
        Claim(
            "clock-or-pizza/learned",
            "With attention that it learned the network adds as a Pizza: gradients by the two "
            "numbers point the same way (0.9 or more), and the right logit depends on their "
            "distance (distance irrelevance 0.6 or less).",
            "arXiv 2306.17844: a Pizza has 0.99 and 0.17, a Clock 0.33 and 0.85",
            groks("baseline", accuracy=0.95),
            lies(at_end("baseline", "gradient_symmetry"), "gradient symmetry at the end {}", 0.9),
            lies(
                at_end("baseline", "distance_irrelevance"),
                "distance irrelevance at the end {}",
                at_most=0.6,
            ),
        ),
        Claim(
            "clock-or-pizza/frozen-and-uniform",
            "With attention frozen at the oracle, or held uniform, the right logit depends on the "
            "distance of the two numbers, too (distance irrelevance 0.6 or less). Gradient "
            "symmetry is 1 there by algebra and says nothing.",
            "arXiv 2306.17844: constant attention makes a Pizza",
            *(
                lies(
                    at_end(arm, "distance_irrelevance"),
                    f"{arm}: distance irrelevance at the end {{}}",
                    at_most=0.6,
                )
                for arm in ("frozen oracle", "uniform")
            ),
        ),
        Claim(
            "clock-or-pizza/not-memorising",
            "The two numbers tell how a network adds, and not that its attention is simple: where "
            "it only memorises, gradient symmetry is lower by 0.1 or more, and distance "
            "irrelevance higher by 0.2 or more.",
            "our control of clock-or-pizza/learned: a network without decay",
            never_groks("decay 0", accuracy=0.95),
            lies(
                gap("baseline", "decay 0", "gradient_symmetry"),
                "gradient symmetry of the baseline minus that without decay {}",
                0.1,
                null=0.0,
            ),
            lies(
                gap("decay 0", "baseline", "distance_irrelevance"),
                "distance irrelevance without decay minus that of the baseline {}",
                0.2,
                null=0.0,
            ),
        ),
        Claim(
            "clock-or-pizza/patched",
            "The network does not add by its attention: with its attention replaced by the same "
            "half on each number it still answers 90 % of the unseen pairs. One that memorised "
            "then answers at most half of its train pairs.",
            "arXiv 2306.17844; our control: the same patch in a network that memorised",
            lies(
                at_end("baseline", "patched_test_accuracy"),
                "baseline: test accuracy with the patch {}",
                0.9,
            ),
            lies(
                at_end("decay 0", "patched_train_accuracy"),
                "decay 0: train accuracy with the patch {}",
                at_most=0.5,
            ),
        ),
    ),
)

KERNEL = Row(
    name="lazy-to-rich",
    figure="arXiv 2310.06110: from lazy to rich training",
    question="Does the tangent kernel stay while the network memorises, and turn before it groks?",
    setup=outputs,
    seeds=FRESH,
    shares_recording_of=("clock-or-pizza",),
    variables=(*KEPT, "kernel_turn", "kernel_drift", "mlp_norm"),
    claims=(
        Claim(
            "lazy-to-rich/lazy-first",
            "The network memorises lazily: at the grok the tangent kernel has turned at least "
            "twice as far from the initial one as at memorising.",
            "arXiv 2310.06110",
            lies(
                change("baseline", "kernel_turn"),
                "turn of the kernel at the grok {} x that at memorising",
                2.0,
                null=1.0,
            ),
        ),
        Claim(
            "lazy-to-rich/before-the-grok",
            "The kernel moves before unseen pairs are answered: it is half-way from where it was "
            "at memorising to where it ends by 0.8 of the epochs to 95 %.",
            "arXiv 2310.06110",
            compare(
                half_way("baseline", "kernel_turn"),
                grok("baseline"),
                "turn of the kernel half-way by 0.8 of the grok's epoch",
                at_most=0.8,
            ),
        ),
        Claim(
            "lazy-to-rich/no-grok-no-turn",
            "A network that never groks keeps its kernel: without weight decay the kernel turns at "
            "most half as far in 600 epochs.",
            "arXiv 2310.06110; our control: a kernel that turns in any case would explain nothing",
            never_groks("decay 0", accuracy=0.95),
            lies(
                turn_over("decay 0", "baseline", at_end),
                "turn of the kernel at the end {} x that of the baseline",
                at_most=0.5,
                null=1.0,
            ),
        ),
        Claim(
            "lazy-to-rich/output-scale",
            "The larger the output for the same weights, the lazier the network and the longer it "
            "takes: logits 4 times as large take at least 1.25 times the epochs to 95 %, a quarter "
            "as large at most 0.8 times, and at memorising the kernel has turned at most half as "
            "far with the former as with the latter.",
            "arXiv 2310.06110, which scales the output's change under squared error",
            takes("output x4", "baseline", at_least=1.25),
            takes("output x0.25", "baseline", at_most=0.8),
            lies(
                turn_over("output x4", "output x0.25", when_memorised),
                "turn of the kernel at memorising, x4 over x0.25, {}",
                at_most=0.5,
                null=1.0,
            ),
        ),
    ),
)

NORM = Row(
    name="initial-norm",
    figure="arXiv 2210.01117 (Omnigrok) and 2311.18817: the initial norm",
    question="Is the wait that of weights which were too large at the start?",
    setup=norms,
    seeds=FRESH,
    shares_recording_of=("clock-or-pizza",),
    variables=(*KEPT, "mlp_norm"),
    claims=(
        Claim(
            "initial-norm/smaller-is-sooner",
            "The smaller the initial weights, the sooner the network groks: with half of every "
            "weight at most 0.8 of the epochs to 95 %, with twice of each at least 1.25 times.",
            "arXiv 2210.01117, 2311.18817",
            takes("norm x0.5", "baseline", at_most=0.8),
            takes("norm x2", "baseline", at_least=1.25),
        ),
        Claim(
            "initial-norm/matched-step",
            "It is the norm and not the relative step: where the learning rate goes with the "
            "weights, and the product of rate and decay stays, the same holds.",
            "our control of initial-norm/smaller-is-sooner",
            takes("norm x0.5, matched", "baseline", at_most=0.8),
            takes("norm x2, matched", "baseline", at_least=1.25),
        ),
        Claim(
            "initial-norm/without-decay",
            "Weight decay is needed only because the weights start large: with a quarter of every "
            "initial weight the network groks without it, at the same learning rate and at a "
            "quarter of it, and with all of them it does not.",
            "arXiv 2210.01117; our control: the learning rate matched",
            groks("norm x0.25, decay 0", accuracy=0.95),
            groks("norm x0.25, decay 0, matched", accuracy=0.95),
            memorises("decay 0"),
            never_groks("decay 0", accuracy=0.95),
        ),
        Claim(
            "initial-norm/one-norm",
            "Wherever they start, networks grok at one norm of the MLP.",
            "arXiv 2210.01117: the Goldilocks zone",
            one_norm("norm x0.5", "baseline", "norm x2"),
        ),
    ),
)

DATA = Row(
    name="data-size",
    figure="arXiv 2309.02390: the critical data size",
    question="Is there a size of the train set below which the network never groks?",
    setup=amounts,
    seeds=FRESH,
    shares_recording_of=("clock-or-pizza",),
    variables=(*KEPT, "mirrored_accuracy", "mlp_norm"),
    claims=(
        Claim(
            "data-size/critical",
            "There is a critical size: in the same number of steps the network groks with 0.7 of "
            "all pairs and only memorises with 0.3 of them.",
            "arXiv 2309.02390",
            groks("baseline", accuracy=0.95),
            memorises("pairs 0.3"),
            never_groks("pairs 0.3", accuracy=0.95),
        ),
        Claim(
            "data-size/not-mirror-images",
            "Mirror images of train pairs do not explain it: where (a, b) and (b, a) are on one "
            "side of the split, there is a critical size, too, between 0.5 and 0.85 of all pairs.",
            "our control of data-size/critical",
            groks("unordered 0.85", accuracy=0.95),
            memorises("unordered 0.5"),
            never_groks("unordered 0.5", accuracy=0.95),
        ),
        Claim(
            "data-size/wait",
            "Above the critical size the wait falls faster than the train set grows: from 0.7 to "
            "0.9 of all pairs its exponent in the size is -1.5 or less.",
            "arXiv 2309.02390",
            lies(
                exponent(wait("baseline"), wait("pairs 0.9"), 0.9 / 0.7),
                "exponent of the wait in the size of the train set {}",
                at_most=-1.5,
                null=0.0,
            ),
        ),
        Claim(
            "data-size/semi-grokking",
            "Near the critical size a network ends half-way: with 0.45 of all pairs it answers "
            "between a tenth and nine tenths of the unseen pairs whose mirror image is unseen, "
            "too.",
            "arXiv 2309.02390: semi-grokking",
            lies(
                at_end("pairs 0.45", "unmirrored_accuracy"),
                "unmirrored accuracy at the end {}",
                0.1,
                0.9,
            ),
        ),
    ),
)
