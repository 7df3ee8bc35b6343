"""Widgets 2, 3 and 6: recorded runs at any of their epochs."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from grokkit import runs
from grokkit.diagnostics.phases import BORDERS, PHASES, phase_borders, phase_labels
from grokkit.diagnostics.plateau import hindsight_conditions
from grokkit.errors import check_int, check_number
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
    slider,
)
from grokkit.viz.style import GREY, INK, LOOKS, VARIABLES
from grokkit.widgets.base import SceneWidget

if TYPE_CHECKING:
    import xarray as xr

_TELLING = ("arm", "kl_strength", "weight_decay", "learning_rate", "seed")
"""Settings by which runs of one History may be told apart."""


class _Runs:
    """Some runs, and what the scenes of all three widgets have in common."""

    def __init__(self, history: "xr.Dataset | None", run: int) -> None:
        self.history = runs.load("classroom") if history is None else history
        count = self.history.sizes.get("run", 1)
        check_int("run", run, 0, count - 1)
        self.first = run
        self.each = [one_run(self.history, number) for number in range(count)]
        self.ends = self.by_run(lambda one: [0, max(int(one.epoch.values[-1]), 1)])

    def by_run(self, of: "Callable[[xr.Dataset], Any]") -> dict[str, Any]:
        """Something of the run that is chosen."""
        return by("run", (of(one) for one in self.each))

    def variable(self, name: str, least: float | None = None) -> dict[str, Any]:
        """A variable of the run that is chosen, over its epochs; nothing below a least value."""
        return self.by_run(
            lambda one: numbers(one[name] if least is None else one[name].where(one[name] > least))
        )

    def menu(self, **more: Any) -> Scene:
        """The menu of runs, not to be seen where there is only one."""
        return menu("run", "run", self._names(), self.first, hidden=len(self.each) == 1, **more)

    def slider(self, name: str, label: str, epoch: float, **more: Any) -> Scene:
        """A slider over the records of the run that is chosen; first near an epoch."""
        records = self.each[self.first].epoch.values
        index = int(np.abs(records - epoch).argmin())
        epochs = self.by_run(lambda one: one.epoch.values.tolist())
        return slider(name, label, epochs, index, **more)

    def scrubber(self) -> list[Scene]:
        """The menu and the slider; it begins where the run has memorised."""
        memorised = phase_borders(self.each[self.first]).values[0]
        begin = 0.0 if memorised != memorised else float(memorised)
        return [self.menu(), self.slider("epoch", "epoch", begin, play=True)]

    def limits(self, *names: str, least: float = 0, room: float = 1.05) -> dict[str, Any]:
        """The ends of an axis that fits variables, for each run."""

        def ends(one: "xr.Dataset") -> list[float]:
            there = [one[name].values for name in names if name in one]
            high = np.nanmax(np.concatenate([part.ravel() for part in there]))
            return [least, max(room * float(high), least + 1e-3)]

        return self.by_run(ends)

    def _names(self) -> list[str]:
        history, count = self.history, len(self.each)
        telling = [
            name
            for name in _TELLING
            if count > 1 and name in history.coords and len(set(history[name].values.tolist())) > 1
        ]
        if "arm" in telling:  # an arm's name says what else is different
            telling = [name for name in telling if name in ("arm", "seed")]

        def words(number: int) -> str:
            values = [(name, history[name].values.tolist()[number]) for name in telling]
            parts = [
                str(value) if name == "arm" else f"{name.replace('_', ' ')} {value:g}"
                for name, value in values
            ]
            return ", ".join(parts).replace("kl strength", "β") or f"run {number}"

        return [words(number) for number in range(count)]


def _accuracy(some: _Runs) -> Scene:
    """What the run gets right, with the epoch marked."""
    lines = [
        curve(name, get("epochs"), some.variable(name))
        for name in ("train_accuracy", "test_accuracy")
    ]
    return {
        "title": "What it gets right",
        "x": epochs_axis(some.ends),
        "y": axis("share of right answers", -0.02, 1.04),
        "marks": [*lines, mark("cursor", x=at("epoch"))],
    }


# --- widget 3: the run at one epoch -------------------------------------------------------

BOUNDS = {
    "starvation_bound": ("bound (4)", None),
    "starvation_bound_position": ("by position (34)", [8, 4]),
    "starvation_bound_linear": ("linear form", [2, 3]),
}
"""The bounds of Lemma 5.1 that are drawn: their names and dashes."""


class RunScrubber(SceneWidget):
    """A run at any of its epochs: attention, accuracy, score gradient and its bounds.

    Args:
        history: the runs; None for the recorded five of the classroom preset.
        run: which of them first, by position.

    Raises:
        SettingError: there is no such run.
    """

    def __init__(self, history: "xr.Dataset | None" = None, run: int = 0) -> None:
        some = _Runs(history, run)
        self.history = some.history
        measured = "score_gradient_max" if "score_gradient_max" in self.history else ""
        measured = measured or "score_gradient"
        bounded = "starvation_bound" in self.history
        largest = "largest " if bounded else ""
        allows = ", where (4) allows {bound}" if bounded else ", its bounds not recorded"
        super().__init__(
            {
                "controls": some.scrubber(),
                "data": {"epochs": some.by_run(lambda one: one.epoch.values.tolist())},
                "headline": "Epoch {epoch}, phase {phase}: {train} of the train answers right, "
                "{test} of the unseen",
                "below": f"{largest}score gradient {{gradient}}{allows}; {{run_words}}",
                "words": {
                    "phase": some.by_run(
                        lambda one: by(
                            "epoch",
                            (f"{p} ({PHASES[p]})" for p in phase_labels(one).values.astype(int)),
                        )
                    ),
                    "train": _percent(some, "train_accuracy"),
                    "test": _percent(some, "test_accuracy"),
                    "kl": _short(some, "kl", "{:.2f}"),
                    "gradient": _short(some, measured, "{:.2g}"),
                    **({"bound": _short(some, "starvation_bound", "{:.2g}")} if bounded else {}),
                    "run_words": some.by_run(lambda one: describe(one, end=False)),
                },
                "rows": [[_attention(some), _accuracy(some), _gradient(some, measured)]],
            }
        )


def _percent(some: _Runs, name: str) -> dict[str, Any]:
    return some.by_run(lambda one: by("epoch", (f"{v:.0%}" for v in one[name].values)))


def _short(some: _Runs, name: str, form: str) -> dict[str, Any]:
    def words(value: float) -> str:
        return f"{value:,.0f}" if abs(value) >= 10 else form.format(value)

    return some.by_run(lambda one: by("epoch", map(words, one[name].values.tolist())))


def _attention(some: _Runs) -> Scene:
    def oracle(one: "xr.Dataset") -> np.ndarray:
        spec = specs_of(one)[0]
        return spec.task.build(spec.seed).train.oracle.double().mean(dim=0).numpy()

    each = [oracle(one) for one in some.each]  # a run joined to longer ones is padded
    masses = [
        one.attention_mass.mean("head").values[:, : len(o)]
        for one, o in zip(some.each, each, strict=True)
    ]
    on, off = LOOKS["structure"].color, GREY
    return {
        "title": "Where it looks",
        "x": axis(
            "position",
            by("run", ([-0.6, len(o) - 0.4] for o in each)),
            ticks=by("run", ([[j, str(j)] for j in range(len(o) - 1)] + [[len(o) - 1, "="]]
                             for o in each)),
        ),
        "y": axis("share of attention", 0, 1),
        "says": "KL {kl} nats; green: the informative positions",
        "grow": 0.85,
        "marks": [
            mark("bars", x=by("run", (list(range(len(o))) for o in each)), width=0.75,
                 y=by("run", (by("epoch", numbers(mass, 3)) for mass in masses)),
                 color=by("run", ([on if share > 0 else off for share in o] for o in each))),
            mark("dash", x=by("run", (np.flatnonzero(o > 0).tolist() for o in each)), half=0.42,
                 y=by("run", (numbers(o[o > 0]) for o in each)), width=3, color=INK,
                 label="oracle (green: informative)"),
            mark("words", x=by("run", (len(o) - 0.5 for o in each)), y=0.96, anchor="end",
                 text="KL {kl} nats"),
        ],
    }  # fmt: skip


def _gradient(some: _Runs, measured: str) -> Scene:
    names = [name for name in (*BOUNDS, measured) if name in some.history]
    lines = [
        mark("line", x=get("epochs"), y=some.variable(name, 0), label=BOUNDS[name][0], width=1.2,
             dash=BOUNDS[name][1], color=INK)
        for name in names[:-1]
    ]  # fmt: skip
    look = {"color": LOOKS["gradient"].color, "width": 2.2, "label": "measured"}
    lines.append(mark("line", x=get("epochs"), y=some.variable(measured, 0), **look))

    def ends(one: "xr.Dataset") -> list[float]:
        values = np.concatenate([one[name].values.ravel() for name in names])
        values = values[np.isfinite(values) & (values > 0)]
        return numbers([0.7 * values.min(), 1.5 * values.max()])

    return {
        "title": "What pulls at attention",
        "x": epochs_axis(some.ends),
        "y": axis("|∂L/∂l| (nats; log)", some.by_run(ends), scale="log"),
        "marks": [*lines, mark("cursor", x=at("epoch"))],
    }


# --- widget 2: the plane of Theorem 4.3 ---------------------------------------------------

LEAST_MASS = 1e-4
"""The least mass that the plane shows; what is smaller is drawn at its lower edge."""


class ConditionPlane(SceneWidget):
    """The plane of norm and least mass, with a run's way through it up to some epoch.

    A condition whose threshold is not known, as the run has not grokked, is not drawn, and the
    line above says so.

    Args:
        history: the runs; None for the recorded five of the classroom preset.
        run: which of them first, by position.
        gamma: the threshold of B_gamma; None: what each run turned out to have when it
            grokked, by :func:`grokkit.diagnostics.hindsight_conditions`.
        r_max: the largest norm that N allows; None: likewise.

    Raises:
        SettingError: there is no such run; gamma or r_max is not above 0.
    """

    def __init__(
        self,
        history: "xr.Dataset | None" = None,
        run: int = 0,
        *,
        gamma: float | None = None,
        r_max: float | int | None = None,
    ) -> None:
        for name, value in (("gamma", gamma), ("r_max", r_max)):
            if value is not None:
                check_number(name, float(value), strict=True)
        some = _Runs(history, run)
        self.history = some.history
        seen = [hindsight_conditions(one) for one in some.each]
        limits = [
            (float(s.gamma if gamma is None else gamma), float(s.r_max if r_max is None else r_max))
            for s in seen
        ]
        both = list(zip(some.each, limits, strict=True))
        super().__init__(
            {
                "controls": some.scrubber(),
                "data": {
                    "epochs": some.by_run(lambda one: one.epoch.values.tolist()),
                    "norm": some.variable("mlp_norm"),
                    "mass": some.by_run(
                        lambda one: numbers(np.maximum(one.min_informative_mass, LEAST_MASS))
                    ),
                },
                "headline": "Epoch {epoch}: {holds}; {test} of the unseen answers right",
                "below": "{origin}; {run_words}",
                "words": {
                    "holds": by(
                        "run", (by("epoch", _verdicts(one, *known)) for one, known in both)
                    ),
                    "test": _percent(some, "test_accuracy"),
                    "origin": by("run", (_where_from(gamma, r_max, one) for one in seen)),
                    "run_words": some.by_run(lambda one: describe(one, end=False)),
                },
                "rows": [[_plane(both), _accuracy(some)]],
            }
        )


def _verdicts(one: "xr.Dataset", gamma: float, r_max: float) -> list[str]:
    """Which of the two conditions hold at each epoch, as far as their thresholds are known."""

    def words(name: str, holds: bool, threshold: float) -> str:
        known = "holds" if holds else "does not hold"
        return f"{name} {'is not known' if np.isnan(threshold) else known}"

    pairs = zip(one.min_informative_mass.values, one.mlp_norm.values, strict=True)
    return [
        f"{words('B', mass >= gamma, gamma)}, {words('N', norm <= r_max, r_max)}"
        for mass, norm in pairs
    ]


def _where_from(gamma: float | None, r_max: float | int | None, seen: "xr.Dataset") -> str:
    """Where the thresholds come from."""
    names = [name for name, one in (("γ", gamma), ("r_max", r_max)) if one is None]
    if not names:
        return "γ and r_max as given"
    if np.isnan(seen.epoch):
        return f"{' and '.join(names)} can be measured on a run that groks only"
    words = f"{' and '.join(names)} as measured when phase 4 began, at {int(seen.epoch):,}"
    if "γ" in names and np.isnan(seen.gamma):
        words = words.replace("γ and r_max", "r_max") if "r_max" in names else "r_max as given"
        words += ", γ not on record"
    return words


def _plane(both: "list[tuple[xr.Dataset, tuple[float, float]]]") -> Scene:
    green, amber = LOOKS["structure"].color, LOOKS["norm"].color
    gammas, radii = (by("run", (numbers(one[i]) for _, one in both)) for i in (0, 1))

    def known(place: int, *marks: Any) -> list[dict[str, Any]]:
        """Marks of a threshold, for the runs that have one."""
        there = [not np.isnan(limits[place]) for _, limits in both]
        return [by("run", (one if here else None for here in there)) for one in marks]

    rights = [
        1.08 * max(float(one.mlp_norm.max()), 0.0 if np.isnan(r) else r) for one, (_, r) in both
    ]
    return {
        "title": "Where the run is",
        "x": axis(VARIABLES["mlp_norm"].label, by("run", ([0, numbers(r)] for r in rights))),
        "y": axis("least mass on I* (log)", LEAST_MASS, 1.3, "log"),
        "grow": 1.4,
        "height": 260,
        "says": "{holds} at epoch {epoch}",
        "marks": [
            *known(
                0,
                mark("area", y0=gammas, color=green, opacity=0.14),
                mark("rule", y=gammas, color=green, label="B: γ or more"),
            ),
            *known(
                1,
                mark("area", x1=radii, color=amber, opacity=0.16),
                mark("rule", x=radii, color=amber, dash=[6, 3], label="N: r_max or less"),
            ),
            mark("line", x=get("norm"), y=get("mass"), color=INK, width=1, opacity=0.35),
            mark("line", x=get("norm"), y=get("mass"), color=INK, width=2, upto="epoch"),
            mark("dots", x=by("run", (numbers(one.mlp_norm[:1]) for one, _ in both)),
                 y=by("run", (numbers(one.min_informative_mass[:1]) for one, _ in both)),
                 color=INK, fill="white", size=4, label="start"),
            mark("dots", x=by("run", (by("epoch", numbers(one.mlp_norm.values[:, None]))
                                      for one, _ in both)),
                 y=by("run", (by("epoch", numbers(np.maximum(one.min_informative_mass.values,
                                                             LEAST_MASS)[:, None]))
                              for one, _ in both)),
                 color=LOOKS["test"].color, size=7, label="this epoch"),
        ],
    }  # fmt: skip


# --- widget 6: the borders of the phases, by eye ------------------------------------------

LABELS = ("2 plateau begins", "3 resurgence begins", "4 grokking begins")


class PhaseFinder(SceneWidget):
    """Three borders to be moved over an unlabelled run, and a button that shows the rule's.

    A border that is moved past another takes it along; another run hides the rule's again.

    Args:
        history: the runs; None for the recorded five of the classroom preset.
        run: which of them first, by position.

    Raises:
        SettingError: there is no such run.
    """

    def __init__(self, history: "xr.Dataset | None" = None, run: int = 0) -> None:
        some = _Runs(history, run)
        self.history = some.history
        # A quarter, a half and three quarters of the way along the picture's log axis.
        records = some.each[run].epoch.values
        places = np.expm1(np.quantile(np.log1p(records), [0.25, 0.5, 0.75]))
        names = [f"border{number}" for number in (2, 3, 4)]
        rules = [phase_borders(one).values for one in some.each]
        compared = [
            f"{border}: {{rule{number}}}, you said {{border{number}}}"
            for border, number in zip(BORDERS, (2, 3, 4), strict=True)
        ]
        button = {"name": "reveal", "kind": "toggle", "label": "Show the rule's", "index": 0,
                  "labels": ["hidden", "shown"],
                  "tip": "Compare with grokkit.diagnostics.phase_borders"}  # fmt: skip
        super().__init__(
            {
                "controls": [
                    some.menu(sets=[{"reveal": 0}] * len(some.each)),
                    button,
                    *(
                        some.slider(name, label, float(place))
                        for name, label, place in zip(names, LABELS, places, strict=True)
                    ),
                ],
                "ordered": names,
                "data": {"epochs": some.by_run(lambda one: one.epoch.values.tolist())},
                "headline": by("reveal", ["Where do plateau, resurgence and grokking begin?",
                                          "The borders of the rule (dotted) and yours (solid)"]),
                "below": by("reveal", ["move the three borders, then compare; {run_words}",
                                       ";  ".join(compared)]),
                "words": {
                    "run_words": some.by_run(lambda one: describe(one, end=False)),
                    **{
                        f"rule{number}": by("run", ("not reached" if np.isnan(one[place])
                                                    else f"{one[place]:,.0f}" for one in rules))
                        for place, number in enumerate((2, 3, 4))
                    },
                },
                "rows": _phase_rows(some, names, rules),
            }
        )  # fmt: skip


def _phase_rows(some: _Runs, names: list[str], rules: list[np.ndarray]) -> list[list[Scene]]:
    first = some.by_run(lambda one: int(one.epoch.values[one.epoch.values > 0].min(initial=10**9)))
    epochs = epochs_axis(some.ends, first)
    hidden = epochs | {"label": "", "ticks": []}
    ends = [float(one.epoch.values[-1]) for one in some.each]
    yours = [0, *map(at, names), some.by_run(lambda one: float(one.epoch.values[-1]))]
    known = [
        [0.0, *np.where(np.isnan(rule), end, rule).tolist(), end]
        for rule, end in zip(rules, ends, strict=True)
    ]
    theirs = [by("run", (one[place] for one in known)) for place in range(5)]

    def strip(edges: list[Any], low: int) -> list[dict[str, Any]]:
        return [
            mark("area", x0=edges[phase - 1], x1=edges[phase], y0=low, y1=low + 0.9,
                 color=(LOOKS["train"].color, GREY)[phase % 2], opacity=0.25,
                 text=f"{phase} {PHASES[phase]}")
            for phase in PHASES
        ]  # fmt: skip

    shown = [by("reveal", [None, one]) for one in strip(theirs, 0)]
    question = by("reveal", [mark("words", x=yours[-1], y=0.45, text="?", shift=[-12, 0]), None])
    lines = [mark("rule", x=at(name), color=INK) for name in names]
    dotted = [
        by("reveal", [None, by("run", (None if np.isnan(rule[place]) else
                                       mark("rule", x=float(rule[place]), dash=[2, 3], color=INK)
                                       for rule in rules))])
        for place in range(3)
    ]  # fmt: skip
    accuracies = [
        name
        for name in ("train_accuracy", "test_accuracy", "unmirrored_accuracy")
        if name in some.history
    ]

    def over(title: str, label: str, domain: Any, height: int, *variables: str) -> Scene:
        curves = [curve(name, get("epochs"), some.variable(name)) for name in variables]
        last = title == "The norm of the MLP"
        return {"title": title, "x": epochs if last else hidden, "height": height,
                "y": axis(label, domain), "marks": [*curves, *lines, *dotted]}  # fmt: skip

    strips = {
        "title": "Phases",
        "x": hidden,
        "y": axis("", 0, 2, ticks=[[0.45, "rule"], [1.45, "you"]]),
        "height": 92,
        "says": by("reveal", ["you: {border2}, {border3}, {border4}", "; ".join(
            f"{who}: {', '.join(f'{{{name}{number}}}' for number in (2, 3, 4))}"
            for who, name in (("you", "border"), ("the rule", "rule")))]),
        "marks": [*strip(yours, 1), question, *shown],
    }  # fmt: skip
    return [
        [strips],
        [over("What it gets right", "right answers", [-0.02, 1.06], 190, *accuracies)],
        [over("How far from the oracle it looks", "nats", some.limits("kl"), 130, "kl")],
        [over("The norm of the MLP", "norm", some.limits("mlp_norm"), 150, "mlp_norm")],
    ]
