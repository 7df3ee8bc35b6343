"""Widget 5: choose beta, and see its runs and its place on the 1/beta line."""

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from grokkit.diagnostics import InverseFit, fit_inverse, grok_epoch, kl_times
from grokkit.errors import refuse
from grokkit.runtime.history import specs_of
from grokkit.viz.curves import fill_gaps
from grokkit.viz.scene import Scene, axis, by, epochs_axis, get, looks, mark, numbers, slider
from grokkit.viz.style import GREY, INK, LOOKS, VARIABLES
from grokkit.widgets.base import SceneWidget

if TYPE_CHECKING:
    import xarray as xr

ACCURACY = 0.95
"""The test accuracy at which a run of a sweep counts as grokked."""

SHARE = 0.8
"""The attention has arrived when every informative position has this share of its 1/k."""

# What may differ between the runs of a sweep.
_FREE = ("seed", "kl_strength")


class BetaSweep(NamedTuple):
    """The runs of a History that differ in nothing but their seed and the strength.

    Attributes:
        history: those runs.
        left_out: how many others there were.
        betas: the strengths, in order; 0 for runs without a prior.
    """

    history: "xr.Dataset"
    left_out: int
    betas: tuple[float, ...]


def find_sweep(history: "xr.Dataset") -> BetaSweep:
    """The largest sweep of the KL prior's strength in a History.

    Args:
        history: the runs; those whose other settings are not those of most are left out.

    Raises:
        SettingError: there is no such sweep: fewer than two strengths above 0.
    """
    settings = [spec.settings() for spec in specs_of(history)]
    keys = [repr({n: v for n, v in one.items() if n not in _FREE}) for one in settings]
    with_strength = [key for key, one in zip(keys, settings, strict=True) if "kl_strength" in one]
    most = Counter(with_strength).most_common(1)
    runs = [run for run, key in enumerate(keys) if most and key == most[0][0]]
    betas = tuple(sorted({float(settings[run]["kl_strength"]) for run in runs}))
    if sum(beta > 0 for beta in betas) < 2:
        found = f"runs with kl_strength {', '.join(f'{beta:g}' for beta in betas) or 'nowhere'}"
        refuse("history", found, "runs that differ in kl_strength, two or more of it above 0")
    return BetaSweep(history.isel(run=runs), len(keys) - len(runs), betas)


def inverse_law(sweep: BetaSweep) -> InverseFit:
    """The line floor + slope / beta through the grok epochs of a sweep's runs with a prior."""
    prior = sweep.history.kl_strength.values > 0
    epochs = grok_epoch(sweep.history, ACCURACY).values
    return fit_inverse(sweep.history.kl_strength.values[prior], epochs[prior])


def arrival_times(sweep: BetaSweep) -> "xr.Dataset":
    """When attention arrives in each run, and what (7) says, in epochs.

    Arrived means KL <= log(1 / 0.8), 80 % of the oracle on every informative position. (7)
    needs beta~, which is known up to a factor only: beta~ = factor * learning rate * beta
    with one factor for all runs, the one that makes (7) right for the weakest prior.

    Returns:
        ``measured`` and ``claimed`` over run, ``nan`` where there is no prior; ``delta`` in
        nats; and the ``factor``.
    """
    spec = specs_of(sweep.history)[0]
    k = int(spec.task.build(spec.seed).train.informative[0].sum())
    times = kl_times(sweep.history, k, SHARE / k)
    ratio = (times.claimed / times.measured).where(times.measured > 0)
    weakest = times.kl_strength.where(ratio.notnull()).min()
    factor = ratio.where(times.kl_strength == weakest).median()
    claimed = (times.claimed / factor).assign_attrs(meaning="(7), with one factor for all runs")
    return times[["measured", "delta"]].assign(claimed=claimed, factor=factor)


class Bundle:
    """Runs of several groups over common epochs, few enough of them to be sent to a browser.

    Args:
        history: the runs.
        groups: their positions, for each index of a control.
        most: how many epochs at most; those that are kept lie evenly on an axis by logarithm.
    """

    def __init__(self, history: "xr.Dataset", groups: list[np.ndarray], most: int = 120) -> None:
        epochs = history.epoch.values
        places = np.linspace(0, np.log1p(epochs[-1]), most)
        kept = np.unique(np.abs(np.log1p(epochs)[:, None] - places).argmin(axis=0))
        self.groups, self._history, self._kept = groups, history, kept
        self.epochs = epochs[kept].tolist()
        self.axis = epochs_axis([0, int(epochs[-1])], int(epochs[epochs > 0].min()))

    def lines(self, values: "xr.DataArray", control: str, look: dict[str, Any]) -> list[Any]:
        """Every run of the chosen group as a thin line to its own end, and their median.

        A run that has stopped counts on with its last value: leaving it out would make the
        median that of the runs that are late.

        Args:
            values: dims (run, epoch).
            control: by which the group is chosen.
            look: fields of the median's line.
        """
        runs = values.transpose("run", "epoch").values.astype(float)
        epochs = self._history.epoch.values
        filled = fill_gaps(epochs, runs)
        ends = [epochs[~np.isnan(one)].max(initial=-1) for one in runs]
        own = np.where(epochs <= np.array(ends)[:, None], filled, np.nan)
        middles = [np.median(filled[group], axis=0)[self._kept] for group in self.groups]
        thin = {"color": look["color"], "width": 0.7, "opacity": 0.5}
        most = max(map(len, self.groups))
        each = [
            by(control, (mark("line", x=get("epochs"), y=numbers(own[group[i]][self._kept]), **thin)
                         if 1 < len(group) > i else None for group in self.groups))
            for i in range(most)
        ]  # fmt: skip
        return [*each, mark("line", x=get("epochs"), y=by(control, map(numbers, middles)), **look)]


class KLExplorer(SceneWidget):
    """The recorded runs of one strength, and the law over all strengths.

    Args:
        history: a sweep of the KL prior's strength; runs whose other settings are not
            those of most are left out, and the line above says how many.

    Attributes:
        sweep: the runs that are shown.

    Raises:
        SettingError: the History holds no sweep.
    """

    def __init__(self, history: "xr.Dataset") -> None:
        self.sweep = find_sweep(history)
        super().__init__(**_scene(self.sweep))


def _scene(sweep: BetaSweep) -> Scene:
    betas, history = sweep.betas, sweep.history
    times, fit = arrival_times(sweep), inverse_law(sweep)
    groups = [np.flatnonzero(history.kl_strength.values == beta) for beta in betas]
    bundle = Bundle(history, groups)
    heads = [_headline(history.isel(run=g), fit, b) for g, b in zip(groups, betas, strict=True)]
    shown = {name: VARIABLES[name].label for name in ("test_accuracy", "kl")}

    def panel(name: str, label: str, top: float, marks: list[Any]) -> Scene:
        lines = bundle.lines(history[name], "beta", {**looks(name), "label": "median"})
        title = shown[name][0].upper() + shown[name][1:]
        return {"title": title, "x": bundle.axis, "y": axis(label, [min(0, -0.02 * top), top]),
                "marks": [*lines, *marks]}  # fmt: skip

    return {
        "controls": [
            slider("beta", "β, strength of the KL prior", betas, len(betas) // 2,
                   labels=[f"{beta:g}" for beta in betas])
        ],
        "data": {"epochs": bundle.epochs},
        "headline": by("beta", heads),
        "below": _below(sweep, fit, times),
        "rows": [
            [
                panel("test_accuracy", "share of right answers", 1.04, []),
                panel("kl", "nats", 1.05 * float(history.kl.max()), _arrivals(times, groups)),
                _law(sweep, times, fit, groups),
            ]
        ],
    }  # fmt: skip


def _headline(some: "xr.Dataset", fit: InverseFit, beta: float) -> str:
    epochs = grok_epoch(some, ACCURACY).values
    come = int(np.isfinite(epochs).sum())
    middle = float(np.median(np.nan_to_num(epochs, nan=np.inf)))
    when = f"at {middle:,.0f}" if np.isfinite(middle) else "not within the runs"
    words = f"β = {beta:g}: groks {when} (median; {come} of {len(epochs)} runs do)"
    line = f"; the line says {fit.at(beta):,.0f}" if beta > 0 and np.isfinite(fit.slope) else ""
    return words + line


def _below(sweep: BetaSweep, fit: InverseFit, times: "xr.Dataset") -> str:
    parts = []
    if np.isfinite(fit.slope):
        r_squared = "" if np.isnan(fit.r_squared) else f", R² {fit.r_squared:.2f}"
        censored = f", {fit.censored} not grokked left out" if fit.censored else ""
        parts.append(
            f"grok epoch = {fit.floor:,.0f} + {fit.slope:,.3g}/β{r_squared} "
            f"({fit.used} runs{censored})"
        )
    factor = float(times.factor)
    if np.isfinite(factor):
        shown = f"{factor:,.0f}" if factor >= 10 else f"{factor:.2g}"
        parts.append(f"(7) with β̃ = {shown} ηβ, fitted at the weakest β")
    if sweep.left_out:
        parts.append(f"{sweep.left_out} runs of other settings not shown")
    return "; ".join(parts)


def _arrivals(times: "xr.Dataset", groups: list[np.ndarray]) -> list[Any]:
    """When attention arrived, and when (7) says it does."""
    low = float(times.delta.max())
    words = f"{SHARE:.0%} of the oracle: {low:.2g} nats"
    marks: list[Any] = [mark("rule", y=numbers(low), width=1, dash=[6, 4], label=words, color=INK)]
    for name, words, dash in (("measured", "arrived", None), ("claimed", "says (7)", [2, 3])):
        whens = [times[name].values[group] for group in groups]
        whens = [w[np.isfinite(w)] for w in whens]
        marks.append(
            by("beta", (mark("rule", x=numbers(np.median(w)), dash=dash, color=INK,
                             label=f"{words}: {np.median(w):,.0f}") if len(w) else None
                        for w in whens))
        )  # fmt: skip
    return marks


def _law(sweep: BetaSweep, times: "xr.Dataset", fit: InverseFit, groups: list[np.ndarray]) -> Scene:
    strength = sweep.history.kl_strength.values
    prior = strength > 0
    x = 1 / strength[prior]
    right = 1.06 * x.max()
    epochs = grok_epoch(sweep.history, ACCURACY).values
    test, structure = LOOKS["test"].color, LOOKS["structure"].color
    marks: list[Any] = []
    for values, color, shape, words in (
        (epochs, test, "D", f"groks (test accuracy {ACCURACY:g})"),
        (times.measured.values, structure, "o", "attention has arrived"),
    ):
        looks = {"color": color, "shape": shape}
        marks.append(mark("dots", x=numbers(x), y=numbers(values[prior]), size=3, opacity=0.55,
                          label=words, **looks))  # fmt: skip
        here = [group[strength[group] > 0] for group in groups]
        marks.append(
            mark("dots", x=by("beta", (numbers(1 / strength[g]) for g in here)), size=6, edge=INK,
                 y=by("beta", (numbers(values[g]) for g in here)), **looks)
        )  # fmt: skip
    ends = [0.0, float(numbers(right))]
    if np.isfinite(fit.slope):
        marks.append(mark("line", x=ends, y=numbers([fit.floor + fit.slope * end for end in ends]),
                          color=test, label="floor + slope/β, all runs"))  # fmt: skip
    per_x = times.claimed.values[prior] / x
    if np.isfinite(per_x).any():
        marks.append(mark("line", x=ends, y=numbers([np.nanmedian(per_x) * end for end in ends]),
                          color=structure, dash=[2, 3], label="(7)"))  # fmt: skip
    lines = (mark("rule", x=1 / b, width=1, color=INK) if b > 0 else None for b in sweep.betas)
    marks.append(by("beta", lines))
    without = np.nan_to_num(epochs[~prior], nan=np.inf)
    if len(without) and np.isfinite(np.median(without)):
        marks.append(mark("rule", y=numbers(np.median(without)), color=GREY, dash=[8, 4],
                          label="no prior"))  # fmt: skip
    top = np.nanmax(np.concatenate([epochs, times.measured.values[prior]]))
    return {
        "title": "The 1/β law",
        "x": axis("1/β", ends),
        "y": axis("epoch", [0, numbers(1.08 * top)]),
        "marks": marks,
    }
