"""Figures in which every run is a mark: when it grokked, against what it is asked about."""

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from grokkit.diagnostics import InverseFit, fit_inverse
from grokkit.experiments import Row, Times
from grokkit.experiments.compressibility import arrives
from grokkit.experiments.judges import spread as in_words
from grokkit.experiments.operators import scores
from grokkit.operators import RIVALS
from grokkit.viz.alt import tell
from grokkit.viz.rows.marks import (
    LATE,
    READ_OFF,
    ROOM,
    arrow_handle,
    draw_times,
    later,
    median_words,
    reached,
    spread,
)
from grokkit.viz.rows.present import Present
from grokkit.viz.rows.strips import dotted, draw_strips, handles
from grokkit.viz.style import (
    INK,
    LOOKS,
    Picture,
    log_epochs,
    missing_panel,
    picture,
    powers_only,
    style,
    titles,
)

ACCURACY = 0.95
"""The test accuracy that epochs are counted to, as the claims of these rows do."""

MARKS: Mapping[str, tuple[str, str]] = {
    "none": ("o", INK),
    "A*": ("s", LOOKS["structure"].color),
    "A^qk": ("v", LOOKS["gradient"].color),
    "A^v": ("P", LOOKS["norm"].color),
    "M": ("^", LOOKS["test"].color),
    "M+A*": ("D", LOOKS["train"].color),
}
"""Marker and colour of every placement of the LayerNorm."""

PLACEMENT_EPOCHS: Mapping[str, float | int] = {
    "none": 7763, "A*": 7126, "A^qk": np.inf, "A^v": 1700, "M": 954, "M+A*": 3297,
}  # fmt: skip
"""Epochs in arXiv 2602.06702, modulus 113; that of A^v is read off a plot, inf: not by 10,000."""


def _medians(times: Mapping[str, Times]) -> str:
    """The median of each arm and how many came there, in a sentence."""
    each = (f"{name} {median_words(one)} ({reached(one)})" for name, one in times.items())
    return f"Median epoch of test accuracy {ACCURACY:g}: {'; '.join(each)}"


def _mark(marker: str, color: str, label: str) -> Line2D:
    return Line2D([], [], marker=marker, linestyle="", color=color, label=label)


# --- kl-acceleration: against 1/beta ------------------------------------------------------


def _strengths(evidence: Present) -> dict[str, float]:
    """The arms that differ in the strength of the prior alone."""
    return {
        name: specs[0].settings()["kl_strength"]
        for name, specs in evidence.arms.items()
        if name.startswith("KL ") and "," not in name
    }


def kl_acceleration_figure(row: Row, evidence: Present) -> Picture:
    """Figure 3: grok epoch against 1/beta; beside it the strips of the arms that control it."""
    strengths = _strengths(evidence)
    others = [
        name
        for name, specs in evidence.arms.items()
        if strengths.get(name, 1) == 1 and specs[0].epochs >= 1000  # others are not to grok
    ]
    with style():
        figure = picture(10, max(4.6, 2.1 + 0.4 * len(others)))
        law, rest = figure.subplots(1, 2, width_ratios=(1.25, 1))
        draw_inverse_law(law, evidence)
        draw_strips(rest, evidence, others, ACCURACY)
        powers_only(rest)
        rest.set_title("Controls and rivals")
        figure.legend(handles=handles(ACCURACY), loc="outside lower right", ncols=2)
        words = f"{evidence.about()}; one mark (left) or line (right) a seed"
        titles(figure, row.question, words + dotted(evidence, others))
    return figure


def draw_inverse_law(ax: Axes, evidence: Present) -> None:
    """Grok epoch against 1/beta, with the line floor + slope/beta of each seed."""
    strengths, color = _strengths(evidence), LOOKS["structure"].color
    ax.set_title("Grok epoch against 1/beta")
    if not strengths:
        return missing_panel(ax, "not run: KL")
    times = {name: evidence.grokked(name, ACCURACY) for name in strengths}
    inverse = {name: 1 / beta for name, beta in strengths.items()}
    for name, one in times.items():
        n = len(one.values)
        draw_times(ax, inverse[name] * np.exp(spread(n, 0.105)), one, "o", color, 4.5)
        if not all(one.reached):
            ax.annotate(reached(one), (inverse[name], one.last.max()), (0, 12), size=8,
                        textcoords="offset points", ha="center")  # fmt: skip
    x = np.geomspace(min(inverse.values()), max(inverse.values()), 200)
    fits = _fit_each_seed(evidence, strengths, times)
    for fit in fits:
        ax.plot(x, fit.floor + fit.slope * x, color=color, linewidth=0.9, alpha=0.8)
    if fits:
        ax.plot([], [], color=color, linewidth=0.9, label="floor + slope/beta, a fit for each seed")
        slope, floor, r2 = (np.array(one) for one in zip(*[fit[:3] for fit in fits], strict=True))
        ax.axhline(float(np.median(floor)), color=color, linestyle=":", linewidth=1.6,
                   label=f"floor {in_words(floor, ',.0f')} epochs")  # fmt: skip
        ax.plot([], [], " ", label=f"slope {in_words(slope, ',.0f')} epochs")
        ax.plot([], [], " ", label=f"R² {in_words(r2, '.2f')}")
    if "baseline" in evidence.arms:
        base = evidence.grokked("baseline", ACCURACY)
        known = base.values[np.isfinite(base.values)]
        if len(known):
            ax.axhspan(known.min(), known.max(), color=INK, alpha=0.1, linewidth=0)
            ax.axhline(float(np.median(known)), color=INK, linestyle="--", linewidth=1.2,
                       label=f"no prior: {median_words(base)} (band: all seeds)")  # fmt: skip
    tell(ax, _medians(times))
    ax.set(xscale="log", xlabel="1/beta (log scale)", ylim=(0, None))
    ax.set_ylabel(f"epoch of test accuracy {ACCURACY:g}")
    ax.set_xticks([], [], minor=True)
    ticks = sorted(inverse.values())
    ax.set_xticks(ticks, [f"{float(f'{one:.2g}'):g}" for one in ticks])
    ax.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    ax.set_ylim(0, 1.5 * ax.get_ylim()[1])  # room for the legend
    if ax.get_legend_handles_labels()[0]:
        ax.legend(loc="upper left")


def _fit_each_seed(
    evidence: Present, strengths: Mapping[str, float], times: Mapping[str, Times]
) -> list[InverseFit]:
    """The fit of each seed over the strengths at which it grokked, if there are four."""
    by_seed: dict[int, list[tuple[float, float]]] = {}
    for name, at in times.items():
        for spec, epoch in zip(evidence.arms[name], at.values, strict=True):
            if np.isfinite(epoch):
                by_seed.setdefault(spec.seed, []).append((strengths[name], float(epoch)))
    pairs = [zip(*points, strict=True) for points in by_seed.values() if len(points) >= 4]
    return [fit_inverse(*map(np.array, pair)) for pair in pairs]


# --- ln-placement: against the entropy when memorised -------------------------------------


def ln_placement_figure(row: Row, evidence: Present) -> Picture:
    """Strips of all placements; beside them grok epoch against entropy, a mark for each run."""
    names = list(evidence.arms)
    with style():
        figure = picture(10, max(4.4, 2.3 + 0.42 * len(names)))
        strips, entropy = figure.subplots(1, 2, width_ratios=(1.3, 1))
        draw_strips(strips, evidence, names, ACCURACY, published=PLACEMENT_EPOCHS)
        powers_only(strips)
        strips.set_title("When it memorises and when it groks")
        draw_entropies(entropy, evidence)
        marks = handles(ACCURACY, PLACEMENT_EPOCHS)
        figure.legend(handles=marks, loc="outside lower left", ncols=5)
        words = f"{evidence.about()}; one line (left) or mark (right) a seed"
        titles(figure, row.question, words + dotted(evidence, names))
    return figure


def draw_entropies(ax: Axes, evidence: Present) -> None:
    """Grok epoch against the entropy of attention when memorised."""
    title = "Looking evenly, and grokking"
    every, marks, known = {}, [], []
    for name in evidence.arms:
        entropies = evidence.at(name, "map_entropy", evidence.memorised(name))
        every[name] = times = evidence.grokked(name, ACCURACY)
        marker, color = MARKS[name]
        draw_times(ax, entropies, times, marker, color, 6)
        late = later(marker, color)
        marks.append(
            _mark(marker, color, name) if any(times.reached) else Line2D([], [], **late, label=name)
        )
        known += entropies[np.isfinite(entropies)].tolist()
    if not known:
        ax.clear()
        missing_panel(ax, "nothing has been memorised")
        ax.set_title(title)
        return
    ax.set(title=title, xlabel="entropy of attention when memorised (nats)")
    ax.ticklabel_format(axis="x", useOffset=False)
    low, high = ax.get_xlim()
    ax.set_xticks([tick for tick in ax.get_xticks() if low <= tick <= high])
    log_epochs(ax, "y")
    ax.margins(y=ROOM)
    ax.set_ylabel(f"epoch of test accuracy {ACCURACY:g} (log scale)")
    tell(ax, f"Entropies from {min(known):.2f} to {max(known):.2f} nats. {_medians(every)}")
    late = arrow_handle(LATE.replace("last ", "last\n"))  # as narrow as the names
    ax.legend(handles=[*marks, late], loc="best", handlelength=1.2)


# --- readout-scale: strips ----------------------------------------------------------------

SCALE_EPOCHS: Mapping[str, float | int] = {
    "a 0.5, rate / a^2": 1800, "a 0.75, rate / a^2": 5300, "a 1": 7700,
}  # fmt: skip
"""Epochs in arXiv 2602.06702, modulus 113, read off a plot; larger scales: not by 10,000."""


# --- compressibility: against the epoch at which it arrives -------------------------------

MEASURES: Mapping[str, str] = {
    "effective_rank": "Effective rank",
    "alpha": "Exponent of the spectrum",
}

ARRIVAL_EPOCHS: Mapping[str, Mapping[str, float]] = {
    "effective_rank": {"M": 4400, "M+A*": 5200, "A*": 8000, "none": 8600},
    "alpha": {"M": 1000, "M+A*": 2400, "A*": 6800, "none": 8200},
}
"""Epochs within 10 % of the least in arXiv 2602.06702, modulus 113."""


def compressibility_figure(row: Row, evidence: Present) -> Picture:
    """A panel for each measure: its arrival against the grok epoch, a mark for each run."""
    with style():
        figure = picture(10, 4.9)
        axes = figure.subplots(1, 2, sharex=True, sharey=True)
        log_epochs(axes[0], "x")
        log_epochs(axes[0], "y")
        axes[0].margins(y=ROOM)
        axes[0].set_ylabel(f"epoch of test accuracy {ACCURACY:g} (log scale)")
        for ax, (variable, title) in zip(axes, MEASURES.items(), strict=True):
            come = _draw_arrivals(ax, evidence, variable)
            ax.set_xlabel("epoch at which it arrives (log scale)")
            ax.set_title(title if come else f"{title}: no run has grokked")
        across, up = axes[0].get_xlim(), axes[0].get_ylim()
        ends = np.array([min(*across, *up), max(*across, *up)])
        for ax in axes:  # shaded where a measure arrives before the network groks
            ax.plot(ends, ends, color=INK, linewidth=1, zorder=1)
            ax.fill_between(ends, ends, 10 * ends[1], color=INK, alpha=0.06, linewidth=0)
            for x, word, side in ((0.02, "it leads", "left"), (0.98, "it trails", "right")):
                ax.text(x, 0.03, word, transform=ax.transAxes, ha=side, size=9, style="italic")
        axes[0].set(xlim=across, ylim=(up[0] / 1.2, up[1]))  # room for the words
        marks = [_mark(*MARKS[name], name) for name in MARKS if name in evidence.arms]
        published = Line2D([], [], **READ_OFF, label="pale: published, modulus 113")
        handles = [*marks, arrow_handle(), published]
        figure.legend(handles=handles, loc="outside lower left", ncols=7)
        words = "arrived: within 10 % of its least since memorising (train examples)"
        never = [evidence.memorised(name).reached.count(False) for name in evidence.arms]
        if any(never):  # of these there is no mark
            words += f"; {sum(never)} never memorised"
        titles(figure, row.question, f"{evidence.about()}, one mark each; {words}")
    return figure


def _draw_arrivals(ax: Axes, evidence: Present, variable: str) -> int:
    """A mark for each run that has memorised; returns how many have grokked."""
    come, leads, every = 0, 0, {}
    for name in evidence.arms:
        arrival = arrives(evidence, name, variable).values
        every[name] = times = evidence.grokked(name, ACCURACY)
        known = np.isfinite(arrival) & (arrival > 0)  # a log axis has no place for 0
        marker, color = MARKS[name]
        draw_times(ax, np.where(known, arrival, np.nan), times, marker, color, 6)
        published = ARRIVAL_EPOCHS[variable][name], PLACEMENT_EPOCHS[name]
        ax.plot(*published, **{**READ_OFF, "marker": marker})
        there = known & (times.values > 0)
        come += int(there.sum())
        leads += int((arrival[there] < times.values[there]).sum())
    tell(ax, f"It leads in {leads} of the {come} runs that grok. {_medians(every)}")
    return come


# --- four-phases: the wait against weight decay -------------------------------------------

ONE = "decay 1"
"""The arm of four-phases of which one run is shown."""

WAITS = (
    (("decay 0.5", "decay 1", "decay 2", "decay 4"), ("o", LOOKS["norm"].color, 1)),
    (("rate x2, decay 0.5", "rate x2"), ("s", LOOKS["gradient"].color, -1)),
)
"""The arms whose waits are compared, by learning rate; marker, colour, and side of the words."""


def draw_waits(ax: Axes, evidence: Present) -> None:
    """Figure 1: the wait from memorising to grokking against learning rate x decay."""
    ax.set_title("The wait against weight decay")
    waits, products = {}, {}
    for arms, (marker, color, side) in WAITS:
        there = [name for name in arms if name in evidence.arms]
        for name in there:
            settings = evidence.arms[name][0].settings()
            products[name] = product = float(settings["learning_rate"] * settings["weight_decay"])
            waits[name] = wait = evidence.grokked(name, ACCURACY).after(evidence.memorised(name))
            draw_times(ax, product * np.exp(spread(len(wait.values), 0.0725)), wait, marker, color)
            if np.isfinite(wait.median):
                ax.plot([0.87 * product, 1.15 * product], [wait.median] * 2, color=INK, linewidth=2)
            y = wait.median if np.isfinite(wait.median) else max(wait.at_least, 1.0)
            look = {"ha": "left" if side > 0 else "right", "va": "center", "size": 8}
            ax.annotate(f"{median_words(wait)}\n{reached(wait)}", (product * 1.2**side, y), **look)
        if there:
            rates = {evidence.arms[name][0].settings()["learning_rate"] for name in there}
            label = f"learning rate {', '.join(f'{one:g}' for one in rates)}"
            ax.plot([], [], linestyle="", marker=marker, color=color, label=label)
    if not waits:
        return missing_panel(ax, "not run: other weight decays")
    places = sorted(set(products.values()))
    if ONE in waits and np.isfinite(waits[ONE].median) and len(places) > 1:
        x = np.array([0.35, 6.0]) * products[ONE]
        line = {"color": INK, "linestyle": "--", "linewidth": 1.2}
        y = waits[ONE].median * products[ONE] / x
        ax.plot(x, y, **line, label=f"slope -1 through {ONE}")
    ax.set(xscale="log", yscale="log")
    ax.set_xlabel("learning rate × weight decay (share lost a step)")
    ax.set_ylabel(f"epochs from memorising to test accuracy {ACCURACY:g}")
    ax.set_xticks([], [], minor=True)
    ax.set_xticks(places, [f"{product:g}" for product in places])
    ax.set_xlim(0.6 * places[0], 1.7 * places[-1])
    lengths = np.concatenate([[*wait.values, *wait.last] for wait in waits.values()])
    known = lengths[np.isfinite(lengths) & (lengths > 0)]
    log_epochs(ax, "y")
    ax.set_ylim(0.6 * known.min(initial=np.inf if len(known) else 1),
                1.6 * known.max(initial=0 if len(known) else 1))  # fmt: skip
    ax.legend(handles=[*ax.get_legend_handles_labels()[0], arrow_handle()], loc="lower left")
    words = "; ".join(f"{n} {median_words(w)} ({reached(w)})" for n, w in waits.items())
    if "decay 0" in evidence.arms:
        never = f"decay 0: {evidence.grokked('decay 0', ACCURACY)}"
        ax.text(0.98, 0.98, never, transform=ax.transAxes, ha="right", va="top", size=9)
        words += f"; {never}"
    tell(ax, f"Median wait: {words}")


# --- operators: the energy score of each rival ---------------------------------------------

RIVAL_NAMES = {
    "true_gaussian": "Gaussian of the true\nmean and covariance",
    "fno": "FNO, squared error",
    "fno_covariance": "FNO + one covariance",
    "ensemble": "ensemble of 4 FNOs",
    "variance": "variance at each place",
    "mno_2": "MNO, rank 2",
    "mno_8": "MNO, rank 8",
    "mno_16": "MNO, rank 16",
    "diffusion": "diffusion",
}
"""What each rival is called in the figure, from the top."""


def operators_figure(row: Row, evidence: Present) -> Picture:
    """A panel for each system: by how much the energy score lies above that of the truth."""
    with style():
        figure = picture(10, 4.6)
        axes = figure.subplots(1, len(evidence.arms), sharey=True, squeeze=False)[0]
        for ax, name in zip(axes, evidence.arms, strict=True):
            ax.set_title(name.replace(", ", ",\n"), fontsize=10)
            _draw_rivals(ax, evidence, name)
        axes[0].set_yticks(range(len(RIVAL_NAMES)), list(RIVAL_NAMES.values()))
        axes[0].set_ylim(len(RIVAL_NAMES) - 0.5, -0.5)
        words = "dot: one seed; bar: median; left is better, and 0 is as good as can be"
        titles(figure, row.question, f"{evidence.about()}; {words}")
        figure.supxlabel("energy score above that of the truth itself (%, linear below 1)", size=10)
    return figure


def _draw_rivals(ax: Axes, evidence: Present, name: str) -> None:
    truth = scores(evidence, name, "energy", RIVALS[0])
    medians = {}
    for height, rival in enumerate(RIVAL_NAMES):
        above = 100 * (scores(evidence, name, "energy", rival) / truth - 1)
        above = above[np.isfinite(above)]
        if not len(above):
            continue
        color = LOOKS["test"].color if rival.startswith("mno") else INK
        ax.plot(above, height + spread(len(above), 0.2), "o", color=color, markersize=4, alpha=0.7)
        medians[rival] = middle = float(np.median(above))
        ax.plot([middle, middle], [height - 0.33, height + 0.33], color=color, linewidth=2)
    if not medians:
        missing_panel(ax, "cut short")
        return
    ax.axvline(0, color=INK, linewidth=1)
    ax.set_xscale("symlog", linthresh=1)
    ax.set_xticks([0, 1, 10, 100], ["0", "1", "10", "100"])
    ax.set_xlim(min(-1.5, *medians.values()), 1.5 * max(100, *medians.values()))
    tell(ax, "; ".join(f"{rival} {value:.1f} %" for rival, value in medians.items()))
