"""Widget 4: choose a run, train it before your eyes, stop and change it."""

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, get_args

import ipywidgets

from grokkit import runs
from grokkit.engine import RunSpec, Trainer, presets
from grokkit.errors import SettingDropped
from grokkit.runtime.history import specs_of, to_history
from grokkit.tasks import DistractorKind, tasks
from grokkit.viz.interactive import live_curves
from grokkit.viz.style import Picture, png
from grokkit.widgets.background import Background
from grokkit.widgets.base import PictureWidget
from grokkit.widgets.cells import when_its_cell_runs_again
from grokkit.widgets.controls import WIDTH, chosen, label, row, steps

if TYPE_CHECKING:
    import xarray as xr

BETAS = (0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3)
DECAYS = (0, 0.1, 0.25, 0.5, 1, 2, 4)
RATES = (3e-4, 1e-3, 2e-3, 3e-3, 5e-3, 1e-2)
SEEDS = 10

LOOKS: dict[str, Any] = {"style": label("95px"), "layout": {"width": WIDTH, "height": "30px"}}
"""All controls alike, so that they stand in columns and rows."""


class LiveTraining(PictureWidget):
    """A run that is trained in the background while its curves grow.

    The kernel stays free: other cells run, and other LiveTrainings too. The training pauses
    when its picture is no longer on any page (its cell was deleted, or run again), and ends
    when the cell that made it is run again. A change of a setting begins a new run; the
    one before stays as pale curves. A task that you have registered is in the menu.

    The picture is :func:`grokkit.viz.live_curves`.

    Args:
        base: all settings that have no control, and where the controls begin; None for the
            live preset.

    Attributes:
        task, distractors, beta, decay, rate, seed: the settings.
        buttons: start, pause, step and reset, by name.
        history: the History so far; None before the first record.
        spec: the run that the controls describe.
    """

    spoken = False  # five times a second

    # Here already, for Python closes a widget that could not be made, too.
    _worker: Background | None = None
    _forget_cell: Callable[[], None] = staticmethod(lambda: None)

    def __init__(self, base: RunSpec | None = None) -> None:
        self.base = presets["live"] if base is None else base
        begin = self.base.settings()
        self.task = ipywidgets.Dropdown(
            options=_task_menu(), value=begin["task"], description="task", **LOOKS
        )
        self.distractors = ipywidgets.Dropdown(
            options=get_args(DistractorKind),
            value=begin.get("distractors", "alphabet"),
            description="distractors",
            **LOOKS,
        )
        self.beta = steps("KL strength β", BETAS, begin.get("kl_strength", 0), **LOOKS)
        self.decay = steps("weight decay", DECAYS, begin["weight_decay"], **LOOKS)
        self.rate = steps("learning rate", RATES, begin["learning_rate"], **LOOKS)
        self.seed = ipywidgets.IntSlider(
            begin["seed"], 0, max(SEEDS - 1, begin["seed"]), description="seed", **LOOKS
        )
        self.buttons = {
            name: ipywidgets.Button(
                description=name.capitalize(), icon=icon, tooltip=tip, layout={"width": "90px"}
            )
            for name, icon, tip in (
                ("start", "play", "Train until the end, or until paused"),
                ("pause", "pause", "Stop after the epoch under way"),
                ("step", "step-forward", "Train to the next record"),
                ("reset", "undo", "Back to the initial weights"),
            )
        }
        self.history: xr.Dataset | None = None
        self._before: xr.Dataset | None = None
        self._error: Exception | None = None
        self._disable_what_is_unknown()
        settings = [self.task, self.distractors, self.beta, self.decay, self.rate, self.seed]
        # A menu is a little wider than a slider of the same width: columns, not rows.
        columns = [ipywidgets.VBox(settings[i : i + 2]) for i in range(0, len(settings), 2)]
        super().__init__([row(*columns), row(*self.buttons.values())], [])
        for control in settings:
            control.observe(self._changed, "value")
        acts = {"start": self.start, "pause": self.pause, "step": self.step, "reset": self.reset}
        for name, act in acts.items():
            self.buttons[name].on_click(lambda _, act=act: act())
        self._forget_cell = when_its_cell_runs_again(self.close)
        # From 0 on, the browser counts the places in which this widget is to be seen.
        self._view_count = 0
        self.observe(self._seen, "_view_count")

    @property
    def spec(self) -> RunSpec:
        """The run that the controls describe.

        Raises:
            SettingError: the settings make no sense together.
        """
        with warnings.catch_warnings():
            # Settings that a task lacks are greyed out below.
            warnings.simplefilter("ignore", SettingDropped)
            spec = self.base.with_(task=chosen(self.task))
        settings = {
            "distractors": self.distractors.value,
            "kl_strength": self.beta.value,
            "weight_decay": self.decay.value,
            "learning_rate": self.rate.value,
            "seed": self.seed.value,
        }
        known = spec.settings()
        return spec.with_(**{name: value for name, value in settings.items() if name in known})

    @property
    def running(self) -> bool:
        """Whether it is being trained now."""
        return self._worker is not None and self._worker.running

    def start(self) -> None:
        """Train in the background, until the end or until :meth:`pause`."""
        with self.errors_shown():
            self._ready().start()

    def pause(self) -> None:
        """Stop after the epoch under way; :meth:`start` goes on from there."""
        with self.errors_shown():
            if self._worker is not None:
                self._worker.stop()
            self._raise_error()

    def step(self) -> None:
        """Train until there is one record more."""
        with self.errors_shown():
            worker = self._ready()
            worker.stop()
            trainer = worker.trainer
            records = len(trainer.records.epochs)
            while len(trainer.records.epochs) == records and not trainer.done:
                trainer.advance(1)
            self._report()

    def reset(self) -> None:
        """Back to the initial weights; the run so far stays as pale curves."""
        with self.errors_shown():
            self._discard()
            self.task.options = _task_menu()
        self.redraw()

    def wait(self, seconds: float | int | None = None) -> None:
        """Wait until the run has ended, but not longer than some seconds.

        Raises what the training has raised.
        """
        with self.errors_shown():
            if self._worker is not None:
                self._worker.wait(seconds)
            self._raise_error()

    def close(self) -> None:
        """End the training for good, and take the widget off all pages."""
        self._forget_cell()
        if self._worker is not None:
            self._worker.stop()
        super().close()

    def picture(self) -> Picture:
        """The curves so far."""
        spec = self.spec if self._worker is None else self._worker.trainer.specs[0]
        words = [_in_words(spec)]
        if self._worker is not None:
            trainer = self._worker.trainer
            state = "done" if trainer.done else "training" if self.running else "paused"
            words += [f"{state}: epoch {trainer.epoch:,} of {spec.epochs:,}"]
            if trainer.seconds > 0:
                words[-1] += f", {trainer.epoch / trainer.seconds:,.0f} a second"
        if self._before is not None:
            words += ["pale: the run before"]
        return live_curves(self.history, spec.epochs, "; ".join(words), self._before)

    def static_picture(self) -> bytes:
        """The recorded run of these settings, where there is one and none was trained here."""
        if self.history is None and self.spec == presets["live"]:
            recorded = runs.load("live")
            if specs_of(recorded) == [self.spec]:
                words = f"{_in_words(self.spec)}; recorded: run this cell to train it yourself"
                return png(live_curves(recorded, self.spec.epochs, words), quick=True)
        return super().static_picture()

    def _ready(self) -> Background:
        """The worker, made if there is none; what its thread has raised is raised here."""
        self._raise_error()
        if self._worker is None:
            self._worker = Background(Trainer([self.spec]), self._report, self._fail)
        return self._worker

    def _discard(self) -> None:
        if self._worker is not None:
            self._worker.stop()
            self._before = self.history if self.history is not None else self._before
        self._worker = self.history = self._error = None

    def _report(self) -> None:
        """Show how far it is; called from the worker's thread, too."""
        assert self._worker is not None
        if self._worker.trainer.records.epochs:
            self.history = to_history(self._worker.trainer)
        self.show(self.picture())

    def _fail(self, error: Exception) -> None:
        """Show what the thread has raised, and keep it for whoever calls next."""
        self._error = error
        self.complain(error)

    def _raise_error(self) -> None:
        if self._error is not None:
            raise self._error

    def _changed(self, change: Any) -> None:
        with self.errors_shown():
            self._discard()
            self._disable_what_is_unknown()
        self.redraw()

    def _disable_what_is_unknown(self) -> None:
        known = self.spec.settings()
        self.distractors.disabled = "distractors" not in known
        self.beta.disabled = "kl_strength" not in known

    def _seen(self, change: Any) -> None:
        """Pause when the last page that showed it is gone."""
        if not change["new"] and self.running:
            self.pause()


def _in_words(spec: RunSpec) -> str:
    """The settings that have a control."""
    settings = spec.settings()
    names = {"kl_strength": "β", "weight_decay": "weight decay", "learning_rate": "learning rate"}
    words = [f"{word} {settings[name]:g}" for name, word in names.items() if name in settings]
    kind = f"{settings['distractors']} distractors, " if "distractors" in settings else ""
    return f"{settings['task'].replace('_', ' ')}, {kind}{', '.join(words)}, seed {spec.seed}"


def _task_menu() -> list[tuple[str, str]]:
    """Every task that is registered now, in words and by name."""
    return [(kind.replace("_", " "), kind) for kind in sorted(tasks)]
