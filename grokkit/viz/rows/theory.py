"""Theorem 5.2: the ideal flow of attention to the oracle, against what is claimed of it."""

import numpy as np

from grokkit import theory
from grokkit.experiments import SEEDS, Row
from grokkit.viz.style import INK, LOOKS, Picture, picture, style, titles

LENGTH, K = 5, 2
"""The default task: two informative positions of five."""
TIMES = np.geomspace(1e-2, 1e4, 200)


def theory_figure(row: Row) -> Picture:
    """The divergence from a sparse oracle over time: the flow, and the laws for it.

    With the rate 1; times the rate is all that counts.
    """
    informative = np.arange(LENGTH) < K
    oracle = theory.oracle_attention(informative)
    start = float(theory.kl_divergence(oracle, np.full(LENGTH, 1 / LENGTH)))
    uniform = theory.kl_flow(np.zeros(LENGTH), oracle, 1.0, TIMES).divergence
    claimed = theory.divergence_claimed(TIMES, start, oracle, 1.0)
    guaranteed = theory.sparse_divergence(TIMES, start, theory.kappa_guaranteed(LENGTH, K), 1.0)
    late = theory.late_divergence(TIMES, LENGTH, K, 1.0)
    color = LOOKS["structure"].color
    with style():
        figure = picture(9, 5.4)
        ax = figure.subplots()
        for seed in SEEDS:
            scores = np.random.default_rng(seed).normal(size=LENGTH)
            flow = theory.kl_flow(scores, oracle, 1.0, TIMES).divergence
            label = "the same from random scores" if seed == SEEDS[0] else None
            ax.plot(TIMES, flow, color=color, linewidth=0.7, alpha=0.7, label=label)
        ax.plot(
            TIMES, uniform, color=color, linewidth=2.4, label="the flow, from uniform attention"
        )
        ax.plot(TIMES, guaranteed, color=INK, linestyle=(0, (6, 1.5, 1, 1.5)),
                label="guaranteed to lie above it")  # fmt: skip
        ax.plot(TIMES, late, color=INK, linestyle=":", label="k(T - k)/(T t): what it becomes")
        ax.plot(TIMES, claimed, color=LOOKS["test"].color, linestyle="--", linewidth=2,
                label="claimed to lie above it: D₀ exp(-2μt), (52)")  # fmt: skip
        ax.set(xscale="log", yscale="log", ylim=(uniform.min() / 3, 3 * start))
        ax.set_xlabel("rate × time (log scale)")
        ax.set_ylabel("D = KL(oracle ‖ attention) (nats, log scale)")
        ax.legend(loc="lower left")
        ratio = uniform[-1] * TIMES[-1]
        words = (
            f"no training; T = {LENGTH}, k = {K}, one start uniform, {len(SEEDS)} random; "
            f"at the end t D = {ratio:.4g}, the 1/t law has {late[-1] * TIMES[-1]:.4g}"
        )
        titles(figure, "Does a prior draw attention to a sparse oracle exponentially?", words)
    return figure
