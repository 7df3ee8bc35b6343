"""Figure 3: how the grok epoch falls with the strength of the prior; and the controls."""

import numpy as np
from matplotlib.axes import Axes

from grokkit.diagnostics import fit_inverse
from grokkit.experiments import Row, Times
from grokkit.viz.rows.censored import later
from grokkit.viz.rows.curves import missing_panel, powers_only
from grokkit.viz.rows.present import Present
from grokkit.viz.rows.strips import dotted, draw_strips, handles, median_words
from grokkit.viz.style import INK, LOOKS, Picture, picture, style, titles

ACCURACY = 0.95
"""The test accuracy that both panels count epochs to, as the claims of this row do."""
ENOUGH = 1000
"""Arms with fewer epochs than this are there for another purpose than to grok."""
COLOR = LOOKS["structure"].color


def kl_acceleration_figure(row: Row, evidence: Present) -> Picture:
    """Grok epoch against 1/beta with a fit for each seed; beside it the arms that control it."""
    strengths = {
        name: specs[0].settings()["kl_strength"]
        for name, specs in evidence.arms.items()
        if name.startswith("KL ") and "," not in name
    }
    others = [
        name
        for name, specs in evidence.arms.items()
        if strengths.get(name, 1) == 1 and specs[0].epochs >= ENOUGH
    ]
    with style():
        figure = picture(10, max(4.6, 2.1 + 0.4 * len(others)))
        law, rest = figure.subplots(1, 2, width_ratios=(1.25, 1))
        _law(law, evidence, strengths)
        draw_strips(rest, evidence, others, ACCURACY)
        powers_only(rest)
        rest.set_title("Controls and rivals")
        figure.legend(handles=handles(ACCURACY), loc="outside lower right", ncols=2)
        words = f"{evidence.about()}; one mark (left) or line (right) a seed"
        titles(figure, row.question, words + dotted(evidence, others))
    return figure


def _law(ax: Axes, evidence: Present, strengths: dict[str, float]) -> None:
    ax.set_title("Grok epoch against 1/beta")
    if not strengths:
        missing_panel(ax, "not run: KL")
        return
    inverse = {name: 1 / beta for name, beta in strengths.items()}
    times = {name: evidence.grokked(name, ACCURACY) for name in strengths}
    for name, at in times.items():
        _marks(ax, inverse[name], at)
    fits = _fits(evidence, strengths, times)
    x = np.geomspace(min(inverse.values()), max(inverse.values()), 200)
    for fit in fits:
        ax.plot(x, fit.floor + fit.slope * x, color=COLOR, linewidth=0.9, alpha=0.8)
    if fits:
        ax.plot([], [], color=COLOR, linewidth=0.9, label="floor + slope/beta, a fit for each seed")
        slope, floor, r2 = (np.array(one) for one in zip(*[fit[:3] for fit in fits], strict=True))
        ax.axhline(float(np.median(floor)), color=COLOR, linestyle=":", linewidth=1.6,
                   label=f"floor {_range(floor)} epochs")  # fmt: skip
        ax.plot([], [], " ", label=f"slope {_range(slope)} epochs")
        ax.plot([], [], " ", label=f"R² {_range(r2, '.2f')}")
    if "baseline" in evidence.arms:
        base = evidence.grokked("baseline", ACCURACY)
        known = base.values[np.isfinite(base.values)]
        if len(known):
            ax.axhspan(known.min(), known.max(), color=INK, alpha=0.1, linewidth=0)
            ax.axhline(float(np.median(known)), color=INK, linestyle="--", linewidth=1.2,
                       label=f"no prior: {median_words(base)} (band: all seeds)")  # fmt: skip
    ax.set(xscale="log", xlabel="1/beta (log scale)", ylim=(0, None))
    ax.set_ylabel(f"epoch of test accuracy {ACCURACY:g}")
    ax.set_xticks([], [], minor=True)
    ticks = sorted(inverse.values())
    ax.set_xticks(ticks, [f"{float(f'{one:.2g}'):g}" for one in ticks])
    ax.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    ax.set_ylim(0, 1.5 * ax.get_ylim()[1])  # room for the legend
    if ax.get_legend_handles_labels()[0]:
        ax.legend(loc="upper left")


def _marks(ax: Axes, x: float, times: Times) -> None:
    n = len(times.values)
    places = x * np.geomspace(0.9, 1.11, n) if n > 1 else np.array([x])
    reached = np.isfinite(times.values)
    ax.plot(places[reached], times.values[reached], linestyle="", marker="o", color=COLOR,
            markersize=4.5)  # fmt: skip
    ax.plot(places[~reached], times.last[~reached], **later("o", COLOR))
    if not reached.all():
        ax.annotate(f"{int(reached.sum())}/{n}", (x, times.last.max()), (0, 12), size=8,
                    textcoords="offset points", ha="center")  # fmt: skip


def _fits(evidence: Present, strengths: dict[str, float], times: dict[str, Times]) -> list:
    """The fit of each seed over the strengths at which it grokked, if there are four."""
    by_seed: dict[int, list[tuple[float, float]]] = {}
    for name, at in times.items():
        for spec, epoch in zip(evidence.arms[name], at.values, strict=True):
            if np.isfinite(epoch):
                by_seed.setdefault(spec.seed, []).append((strengths[name], float(epoch)))
    pairs = [zip(*points, strict=True) for points in by_seed.values() if len(points) >= 4]
    return [fit_inverse(*map(np.array, pair)) for pair in pairs]


def _range(values: np.ndarray, text: str = ",.0f") -> str:
    middle, low, high = (format(float(f(values)), text) for f in (np.median, np.min, np.max))
    return middle if low == high else f"{middle} [{low} to {high}]"
