"""Widgets 2, 3 and 6: recorded runs at any of their epochs."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from grokkit import runs
from grokkit.diagnostics.phases import BORDERS, PHASES, phase_borders, phase_labels
from grokkit.diagnostics.plateau import hindsight_conditions
from grokkit.runtime.history import specs_of
from grokkit.viz.one_run import describe, one_run
from grokkit.viz.scene import (
    Scene,
    at,
    axis,
    by,
    curve,
    epochs_axis,
    get,
    mark,
    menu,
    numbers,
    panel,
    slider,
)  # fmt: skip
from grokkit.viz.style import GREY, INK, LOOKS, VARIABLES
from grokkit.widgets.base import SceneWidget

if TYPE_CHECKING:
    import xarray as xr

_TELLING = ("arm", "kl_strength", "weight_decay", "learning_rate", "seed")
"""Settings by which runs of one History may be told apart."""


class _Runs:
    """Some runs, and what the scenes of all three widgets have in common."""

    def __init__(self, history: "xr.Dataset | None") -> None:
        self.history = runs.load("classroom") if history is None else history
        count = range(self.history.sizes.get("run", 1))
        self.every = [one_run(self.history, number) for number in count]
        self.epochs = self.each(lambda one: one.epoch.values.tolist())
        self.last = self.each(lambda one: int(one.epoch.values[-1]))
        self.ends = self.each(lambda one: [0, max(int(one.epoch.values[-1]), 1)])
        self.words = self.each(lambda one: describe(one, end=False))

    def each(self, of: "Callable[[xr.Dataset], Any]") -> dict[str, Any]:
        """Something of the run that is chosen."""
        return by("run", map(of, self.every))

    def now(self, of: "Callable[[xr.Dataset], Iterable[Any]]") -> dict[str, Any]:
        """Something of the run that is chosen, at the epoch that is."""
        return self.each(lambda one: by("epoch", of(one)))

    def form(self, name: str, form: str) -> dict[str, Any]:
        """A variable at the epoch that is chosen, as text."""
        return self.now(lambda one: (form.format(v) for v in one[name].values.tolist()))

    def curve(self, name: str, **change: Any) -> Scene:
        """A variable over the epochs; a log axis has no place for what is not above 0."""
        least = 0 if name not in VARIABLES or VARIABLES[name].log else -np.inf
        values = self.each(lambda one: numbers(one[name].where(one[name] > least)))
        if name in VARIABLES:
            return curve(name, get("epochs"), values, **change)
        return mark("line", x=get("epochs"), y=values, **change)

    def top(self, name: str) -> dict[str, Any]:
        """An axis from 0 that fits a variable."""
        return self.each(lambda one: [0, numbers(max(1.05 * float(one[name].max()), 1e-3))])

    def menu(self, **more: Any) -> Scene:
        """The menu of runs, not to be seen where there is only one."""
        return menu("run", "run", self._names(), hidden=len(self.every) == 1, **more)

    def slider(self, name: str, label: str, epoch: float, **more: Any) -> Scene:
        """A slider over the records of the run that is chosen; first near an epoch."""
        records = self.every[0].epoch.values
        return slider(name, label, self.epochs, int(np.abs(records - epoch).argmin()), **more)

    def scrubber(self) -> list[Scene]:
        """The menu and a slider that begins where the run has memorised."""
        memorised = np.nan_to_num(phase_borders(self.every[0]).values[0])
        return [self.menu(), self.slider("epoch", "epoch", float(memorised), play=True)]

    def accuracy(self) -> Scene:
        """A panel: what the run gets right, with the epoch marked."""
        lines = [self.curve(f"{part}_accuracy") for part in ("train", "test")]
        marks = [*lines, mark("cursor", x=at("epoch"))]
        across, up = epochs_axis(self.ends), axis("share of right answers", -0.02, 1.04)
        return panel("What it gets right", across, up, marks)

    def _names(self) -> list[str]:
        known = {
            name: self.history[name].values for name in _TELLING if name in self.history.coords
        }
        known = {n: v.tolist() for n, v in known.items() if v.ndim and len(set(v.tolist())) > 1}
        if "arm" in known:  # an arm's name says what else is different
            known = {name: values for name, values in known.items() if name in ("arm", "seed")}

        def words(name: str, value: Any) -> str:
            plain = {"kl_strength": "β"}.get(name, name.replace("_", " "))
            return value if name == "arm" else f"{plain} {value:g}"

        return [
            ", ".join(words(n, v[number]) for n, v in known.items()) or f"run {number}"
            for number in range(len(self.every))
        ]


# --- widget 3: the run at one epoch -------------------------------------------------------

BOUND = "starvation_bound"
"""The bound of Lemma 5.1, (4), which is drawn beside the gradient where it was recorded."""


class RunScrubber(SceneWidget):
    """A run at any of its epochs: attention, accuracy, score gradient and its bound.

    Args:
        history: the runs; None for the recorded five of the classroom preset.
    """

    def __init__(self, history: "xr.Dataset | None" = None) -> None:
        some = _Runs(history)
        self.history = some.history
        bounded = BOUND in self.history
        measured = "score_gradient_max" if "score_gradient_max" in self.history else ""
        measured = measured or "score_gradient"  # what a recording without bounds has instead
        gradient = "score gradient {gradient}, its bound not recorded"
        if bounded:
            gradient = "largest score gradient {gradient}, Lemma 5.1 allows {bound}"
        words = {
            "phase": some.now(
                lambda one: (f"{p:.0f} ({PHASES[int(p)]})" for p in phase_labels(one).values)
            ),
            "train": some.form("train_accuracy", "{:.0%}"),
            "test": some.form("test_accuracy", "{:.0%}"),
            "kl": some.form("kl", "{:.2f}"),
            "gradient": some.form(measured, "{:.2g}"),
            "which": some.words,
        }
        if bounded:
            words["bound"] = some.now(
                lambda one: (f"{b:,.0f}" if b >= 10 else f"{b:.2g}" for b in one[BOUND].values)
            )
        super().__init__(
            controls=some.scrubber(),
            data={"epochs": some.epochs},
            headline="Epoch {epoch}, phase {phase}: {train} of the train answers right, {test} of "
            "the unseen",
            below=f"{gradient}; {{which}}",
            words=words,
            rows=[[_attention(some), some.accuracy(), _gradient(some, measured)]],
        )


def _attention(some: _Runs) -> Scene:
    def oracle(one: "xr.Dataset") -> np.ndarray:
        spec = specs_of(one)[0]
        return spec.task.build(spec.seed).train.oracle.double().mean(dim=0).numpy()

    each = [oracle(one) for one in some.every]
    # A run joined to longer ones is padded.
    mean = [one.attention_mass.mean("head").values for one in some.every]
    masses = [mass[:, : len(o)] for mass, o in zip(mean, each, strict=True)]
    colors = [[LOOKS["structure"].color if share > 0 else GREY for share in o] for o in each]
    names = [[[j, "=" if j == len(o) - 1 else str(j)] for j in range(len(o))] for o in each]
    marks = [
        mark("bars", x=by("run", (list(range(len(o))) for o in each)), width=0.75,
             y=by("run", (by("epoch", numbers(m, 3)) for m in masses)), color=by("run", colors)),
        mark("dash", x=by("run", (np.flatnonzero(o > 0).tolist() for o in each)), half=0.42,
             y=by("run", (numbers(o[o > 0]) for o in each)), width=3, color=INK,
             label="oracle (green: informative)"),
        mark("words", x=by("run", (len(o) - 0.5 for o in each)), y=0.96, anchor="end",
             text="KL {kl} nats"),
    ]  # fmt: skip
    positions = by("run", ([-0.6, len(o) - 0.4] for o in each))
    across = axis("position", positions, ticks=by("run", names))
    said = "KL {kl} nats; the informative positions are green"
    up = axis("share of attention", 0, 1)
    return panel("Where it looks", across, up, marks, says=said, grow=0.85)


def _gradient(some: _Runs, measured: str) -> Scene:
    bounds = [name for name in (BOUND,) if name in some.history]
    lines = [some.curve(n, label="at most (Lemma 5.1)", width=1.2, color=INK) for n in bounds]
    look = {"color": LOOKS["gradient"].color, "width": 2.2, "label": "measured", "dash": None}
    values = some.curve(measured, **look)

    def ends(one: "xr.Dataset") -> list[float | int]:
        every = np.concatenate([one[name].values.ravel() for name in (*bounds, measured)])
        every = every[np.isfinite(every) & (every > 0)]
        return numbers([0.7 * every.min(), 1.5 * every.max()])

    up = axis("largest gradient of a score (log)", some.each(ends), scale="log")
    marks = [*lines, values, mark("cursor", x=at("epoch"))]
    return panel("Gradient of the scores", epochs_axis(some.ends), up, marks)


# --- widget 2: the plane of Theorem 4.3 ---------------------------------------------------

LEAST_MASS = 1e-4
"""The least mass that the plane shows; what is smaller is drawn at its lower edge."""


class ConditionPlane(SceneWidget):
    """The plane of norm and least mass, with a run's way through it up to some epoch.

    The thresholds of B_gamma and N are what each run turned out to have when it grokked, by
    :func:`grokkit.diagnostics.hindsight_conditions`. A condition whose threshold is not known, as
    the run has not grokked, is not drawn, and the line above says so.

    Args:
        history: the runs; None for the recorded five of the classroom preset.
    """

    def __init__(self, history: "xr.Dataset | None" = None) -> None:
        some = _Runs(history)
        self.history = some.history
        whole = hindsight_conditions(self.history)
        count = range(len(some.every))
        seen = [whole.isel(run=number) if "run" in whole.dims else whole for number in count]
        known = [(float(one.gamma), float(one.r_max)) for one in seen]
        verdicts = map(_verdicts, some.every, known)
        super().__init__(
            controls=some.scrubber(),
            data={
                "epochs": some.epochs,
                "norm": some.each(lambda one: numbers(one.mlp_norm)),
                "mass": some.each(
                    lambda one: numbers(np.maximum(one.min_informative_mass, LEAST_MASS))
                ),
            },
            headline="Epoch {epoch}: {holds}; {test} of the unseen answers right",
            below="{origin}; {which}",
            words={
                "holds": by("run", (by("epoch", each) for each in verdicts)),
                "test": some.form("test_accuracy", "{:.0%}"),
                "origin": by("run", map(_where_from, seen)),
                "which": some.words,
            },
            rows=[[_plane(some, known), some.accuracy()]],
        )


def _verdicts(one: "xr.Dataset", known: tuple[float, float]) -> list[str]:
    """Which of the two conditions hold at each epoch, as far as their thresholds are known."""

    def words(name: str, holds: bool, threshold: float) -> str:
        seen = "holds" if holds else "does not hold"
        return f"{name} {'is not known' if np.isnan(threshold) else seen}"

    gamma, r_max = known
    names = ("min_informative_mass", "mlp_norm")
    pairs = zip(*(one[name].values.tolist() for name in names), strict=True)
    return [
        f"{words('B', mass >= gamma, gamma)}, {words('N', norm <= r_max, r_max)}"
        for mass, norm in pairs
    ]


def _where_from(seen: "xr.Dataset") -> str:
    """Where the thresholds come from."""
    if np.isnan(seen.epoch):
        return "γ and r_max can be measured on a run that groks only"
    when = f"as measured when phase 4 began, at {int(seen.epoch):,}"
    return f"r_max {when}, γ not on record" if np.isnan(seen.gamma) else f"γ and r_max {when}"


def _plane(some: _Runs, known: list[tuple[float, float]]) -> Scene:
    def threshold(
        place: int, side: str, way: str, color: str, label: str, dash: Any
    ) -> list[Scene]:
        """The region of a condition and its border, for the runs whose threshold is known."""
        limits = by("run", (numbers(one[place]) for one in known))
        marks = [
            mark("area", **{side: limits}, color=color, opacity=0.15),
            mark("rule", **{way: limits}, color=color, label=label, dash=dash),
        ]
        there = [not np.isnan(one[place]) for one in known]
        return [by("run", (one if here else None for here in there)) for one in marks]

    walk = {"x": get("norm"), "y": get("mass"), "color": INK}
    start = {
        name: some.each(lambda one, of=of: numbers(one[of][:1]))
        for name, of in (("x", "mlp_norm"), ("y", "min_informative_mass"))
    }
    marks = [
        *threshold(0, "y0", "y", LOOKS["structure"].color, "B: γ or more", None),
        *threshold(1, "x1", "x", LOOKS["norm"].color, "N: r_max or less", [6, 3]),
        mark("line", **walk, width=1, opacity=0.35),
        mark("line", **walk, width=2, upto="epoch"),
        mark("dots", **start, color=INK, fill="white", label="start"),
        mark("dots", x=get("norm", "epoch"), y=get("mass", "epoch"), size=7, label="this epoch",
             color=LOOKS["test"].color),
    ]  # fmt: skip
    rights = by("run", (
        [0, numbers(1.08 * np.nanmax([float(one.mlp_norm.max()), r]))]
        for one, (_, r) in zip(some.every, known, strict=True)
    ))  # fmt: skip
    up = axis("least mass on I* (log)", LEAST_MASS, 1.3, "log")
    across, said = axis(VARIABLES["mlp_norm"].label, rights), "at epoch {epoch}: {holds}"
    return panel("Where the run is", across, up, marks, says=said, grow=1.4, height=260)


# --- widget 6: the borders of the phases, by eye ------------------------------------------

LABELS = {2: "2 plateau begins", 3: "3 resurgence begins", 4: "4 grokking begins"}


class PhaseFinder(SceneWidget):
    """Three borders to be moved over an unlabelled run, and a button that shows the rule's.

    A border that is moved past another takes it along; another run hides the rule's again.

    Args:
        history: the runs; None for the recorded five of the classroom preset.
    """

    def __init__(self, history: "xr.Dataset | None" = None) -> None:
        some = _Runs(history)
        self.history = some.history
        # A quarter, a half and three quarters of the way along the picture's log axis.
        records = some.every[0].epoch.values
        places = np.expm1(np.quantile(np.log1p(records), [0.25, 0.5, 0.75]))
        rules = np.array([phase_borders(one).values for one in some.every])
        button = {
            "name": "reveal", "kind": "toggle", "label": "Show the rule's", "index": 0,
            "labels": ["hidden", "shown"], "tip": "Compare with grokkit.diagnostics.phase_borders",
        }  # fmt: skip
        compared = "; ".join(
            f"{border}: {{rule{phase}}}, you said {{border{phase}}}"
            for border, phase in zip(BORDERS, LABELS, strict=True)
        )
        when = np.where(np.isnan(rules), "not reached", np.char.mod("%d", np.nan_to_num(rules)))
        super().__init__(
            controls=[
                some.menu(sets=[{"reveal": 0}] * len(some.every)),
                button,
                *(
                    some.slider(f"border{phase}", label, place)
                    for (phase, label), place in zip(LABELS.items(), places, strict=True)
                ),
            ],
            ordered=[f"border{phase}" for phase in LABELS],
            data={"epochs": some.epochs},
            headline=by("reveal", ["Where do plateau, resurgence and grokking begin?",
                                   "The borders of the rule (dotted) and yours (solid)"]),
            below=by("reveal", ["move the three borders, then compare; {which}", compared]),
            words={
                "which": some.words,
                **{f"rule{p}": by("run", when[:, p - 2].tolist()) for p in LABELS},
            },
            rows=_phase_rows(some, rules),
        )  # fmt: skip


def _phase_rows(some: _Runs, rules: np.ndarray) -> list[list[Scene]]:
    first = some.each(lambda one: int(one.epoch.values[one.epoch.values > 0].min(initial=10**9)))
    epochs = epochs_axis(some.ends, first)
    hidden = epochs | {"label": "", "ticks": []}
    yours = [0, *(at(f"border{phase}") for phase in LABELS), some.last]
    ends = np.array([one.epoch.values[-1] for one in some.every])
    known = np.where(np.isnan(rules), ends[:, None], rules)
    theirs = [0, *(by("run", column.tolist()) for column in known.T), some.last]

    def strip(edges: list[Any], low: int) -> list[Scene]:
        shade = (LOOKS["train"].color, GREY)
        return [
            mark("area", x0=edges[p - 1], x1=edges[p], y0=low, y1=low + 0.9, opacity=0.25,
                 color=shade[p % 2], text=f"{p} {PHASES[p]}")
            for p in PHASES
        ]  # fmt: skip

    def rule(place: int) -> dict[str, Any]:
        """The rule's border where it is revealed and the run has reached it."""
        lines = (mark("rule", x=x, dash=[2, 3], color=INK) for x in rules[:, place].tolist())
        there = (None if np.isnan(one["x"]) else one for one in lines)
        return by("reveal", [None, by("run", there)])

    borders = [mark("rule", x=edge, color=INK) for edge in yours[1:-1]]
    borders += [rule(place) for place in range(len(LABELS))]
    shown = [by("reveal", [None, one]) for one in strip(theirs, 0)]
    question = by("reveal", [mark("words", x=some.last, y=0.45, text="?", shift=[-12, 0]), None])
    who = axis("", 0, 2, ticks=[[0.45, "rule"], [1.45, "you"]])
    yours_said = "you: {border2}, {border3}, {border4}"
    said = by("reveal", [yours_said, yours_said + "; the rule: {rule2}, {rule3}, {rule4}"])
    right = [some.curve("train_accuracy"), some.curve("test_accuracy")]
    if "unmirrored_accuracy" in some.history:
        right.append(some.curve("unmirrored_accuracy", dash=[7, 3, 2, 3]))
    return [
        [panel("Phases", hidden, who, [*strip(yours, 1), question, *shown], says=said, height=92)],
        [panel("What it gets right", hidden, axis("right answers", -0.02, 1.06),
               [*right, *borders], height=190)],
        [panel("How far from the oracle it looks", hidden, axis("nats", some.top("kl")),
               [some.curve("kl"), *borders], height=110)],
        [panel("The norm of the MLP", epochs, axis("norm", some.top("mlp_norm")),
               [some.curve("mlp_norm"), *borders], height=140)],
    ]  # fmt: skip
