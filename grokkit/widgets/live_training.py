"""Widget 4: choose a run, train it before your eyes, stop and change it.

The training has a thread of its own, so that the kernel stays free, and ends with its cell.
"""

import atexit
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, get_args

from IPython.core.getipython import get_ipython

from grokkit import runs
from grokkit.engine import RunSpec, Trainer, presets
from grokkit.errors import SettingDropped, SettingError
from grokkit.runtime.history import specs_of, to_history
from grokkit.tasks import DistractorKind, tasks
from grokkit.viz.one_run import headline
from grokkit.viz.scene import Scene, axis, curve, epochs_axis, menu, numbers, panel, slider, still
from grokkit.viz.style import Picture
from grokkit.widgets.base import SceneWidget

if TYPE_CHECKING:
    import xarray as xr

BETAS = (0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3)
DECAYS = (0, 0.1, 0.25, 0.5, 1, 2, 4)
RATES = (3e-4, 1e-3, 2e-3, 3e-3, 5e-3, 1e-2)
SEEDS = 10

SETTINGS = {
    "kl_strength": ("KL strength β", BETAS),
    "weight_decay": ("weight decay", DECAYS),
    "learning_rate": ("learning rate", RATES),
    "seed": ("seed", range(SEEDS)),
}
"""What has a slider: the name of each setting, its label and values."""

ACTS = {
    "start": "Train until the end, or until paused",
    "pause": "Stop after the epoch under way",
    "step": "Train to the next record",
    "reset": "Back to the initial weights",
}
"""What the buttons do."""

SHOWN = {
    "What it gets right": ("share of right answers", ("train_accuracy", "test_accuracy")),
    "How far from the oracle it looks": ("nats", ("kl",)),
    "The norm of the MLP": ("Frobenius norm", ("mlp_norm",)),
}


# --- the thread ---------------------------------------------------------------------------

SECONDS = 0.2
"""The least time from one report to the next: at most five a second."""

PATIENCE = 15
"""How many times as long as a report took is trained until the next: they cost a sixteenth."""


class Background:
    """Trains epoch by epoch until it is told to stop, and reports a few times a second.

    Reports come from the thread. However long one takes, many times as long is trained until
    the next, so that pictures cost the training less than a tenth of its epochs.

    Args:
        trainer: what is trained; nobody else may touch it while the thread runs.
        report: called after some epochs, and once more at the end.
        fail: called with what the training or a report has raised, which ends the thread.
    """

    def __init__(
        self, trainer: Trainer, report: Callable[[], None], fail: Callable[[Exception], None]
    ) -> None:
        self.trainer = trainer
        self._report, self._fail = report, fail
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def running(self) -> bool:
        """Whether the thread is at work and has not been told to stop."""
        return self._alive and not self._stop.is_set()

    @property
    def _alive(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def start(self) -> None:
        """Go on training; nothing happens if it is, or if the run has ended."""
        if self.running or self.trainer.done:
            return
        self.stop()
        self._stop.clear()
        self._thread = threading.Thread(target=self._work, name="grokkit training", daemon=True)
        # A daemon is cut off in the middle of an operation when Python ends.
        atexit.register(self.stop)
        self._thread.start()

    def stop(self) -> None:
        """Stop after the epoch that is under way, and wait for that."""
        self._stop.set()
        if threading.current_thread() is not self._thread:
            self.wait()

    def wait(self, seconds: float | int | None = None) -> None:
        """Wait until the run has ended, but not longer than some seconds."""
        if self._thread is not None:
            self._thread.join(seconds)

    def _work(self) -> None:
        try:
            pause, reported = SECONDS, time.perf_counter()
            while not self._stop.is_set() and not self.trainer.done:
                self.trainer.advance(1)
                if time.perf_counter() - reported >= pause:
                    started = time.perf_counter()
                    self._report()
                    reported = time.perf_counter()
                    took = reported - started
                    pause = max(SECONDS - took, PATIENCE * took)
            # From here on it is not running any more, which is what the last report says.
            self._stop.set()
            self._report()
        except Exception as error:
            self._stop.set()
            self._fail(error)
        finally:
            atexit.unregister(self.stop)


def when_its_cell_runs_again(act: Callable[[], None]) -> Callable[[], None]:
    """Call a function when the notebook cell that is running now is run once more.

    Args:
        act: what to call, right before the cell runs.

    Returns:
        What takes this back; it may be called more than once. Outside of a notebook, or in
        one that does not name its cells, nothing is ever called.
    """
    shell = get_ipython()
    parent = getattr(shell, "get_parent", dict)()
    cell = parent.get("metadata", {}).get("cellId")
    if shell is None or cell is None:
        return lambda: None

    def look(info: Any) -> None:
        if getattr(info, "cell_id", None) == cell:
            act()

    def forget() -> None:
        if look in shell.events.callbacks["pre_run_cell"]:
            shell.events.unregister("pre_run_cell", look)

    shell.events.register("pre_run_cell", look)
    return forget


# --- the widget ----------------------------------------------------------------------------


class LiveTraining(SceneWidget):
    """A run that is trained in the background while its curves grow.

    The kernel stays free: other cells run, and other LiveTrainings too. The training pauses
    when its picture is no longer on any page (its cell was deleted, or run again), and ends
    when the cell that made it is run again. A change of a setting begins a new run; the
    one before stays as pale curves. A task that you have registered is in the menu.

    Args:
        base: all settings that have no control, and where the controls begin; None for the
            live preset.

    Attributes:
        history: the History so far; None before the first record.
        spec: the run that the controls describe.
    """

    # Here already, for Python closes a widget that could not be made, too.
    _worker: Background | None = None
    _forget_cell: Callable[[], None] = staticmethod(lambda: None)

    def __init__(self, base: RunSpec | None = None) -> None:
        self.base = presets["live"] if base is None else base
        self.history: xr.Dataset | None = None
        self._before: xr.Dataset | None = None
        self._error: Exception | None = None
        super().__init__(controls=_controls(self.base))
        self.draw()
        self.observe(self._changed, "state")
        self.on_msg(self._pressed)
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
        read = self.read
        with warnings.catch_warnings():
            # Settings that a task lacks are greyed out.
            warnings.simplefilter("ignore", SettingDropped)
            spec = self.base.with_(task=_name(read.label("task")))
        settings = {"distractors": read.label("distractors")}
        settings |= {name: read.value(name) for name in SETTINGS}
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
            self.draw()

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

    def draw(self) -> None:
        """Send the curves so far."""
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
        known = self.spec.settings()
        controls: list[dict[str, Any]] = [
            one | {"disabled": one["name"] in ("distractors", "kl_strength")
                   and one["name"] not in known}
            | ({"labels": _task_names()} if one["name"] == "task" else {})
            for one in self.scene["controls"]  # pyright: ignore[reportIndexIssue]: a trait
        ]  # fmt: skip
        scene = curves(self.history, spec.epochs, "; ".join(words), self._before)
        self.scene = {"controls": controls, **scene}

    def resting_scene(self) -> Scene:
        """The recorded run of these settings, where there is one and none was trained here."""
        if self.history is None and self.spec == presets["live"]:
            recorded = runs.load("live")
            if specs_of(recorded) == [self.spec]:
                words = f"{_in_words(self.spec)}; recorded: with a kernel, you train it yourself"
                scene = curves(recorded, self.spec.epochs, words)
                return {"controls": self.scene["controls"], **scene}
        return super().resting_scene()

    def picture(self) -> Picture:
        """The still of :meth:`resting_scene`."""
        return still(self.resting_scene(), self.state)

    @contextmanager
    def errors_shown(self) -> Iterator[None]:
        """Show what a block raises in the widget, and let it through.

        A callback has no cell under which its error could appear: JupyterLab writes it to
        a log that nobody opens. Swallowed, it could not fail a test either.
        """
        # Not at the end: by then a thread that the block has started may have failed.
        self.message = ""
        try:
            yield
        except Exception as error:
            self._complain(error)
            raise

    def _complain(self, error: Exception) -> None:
        """Show an error to the learner: a refused setting in one line, others with their way."""
        refused = isinstance(error, SettingError)
        line = str(error) if refused else f"{type(error).__name__}: {error}"
        trace = "" if refused else "\n\n" + "".join(traceback.format_exception(error))
        self.message = line + trace

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
        self.draw()

    def _fail(self, error: Exception) -> None:
        """Show what the thread has raised, and keep it for whoever calls next."""
        self._error = error
        self._complain(error)

    def _raise_error(self) -> None:
        if self._error is not None:
            raise self._error

    def _changed(self, change: Any) -> None:
        """Begin a new run when a setting was changed."""
        with self.errors_shown():
            self._discard()
            self.draw()

    def _pressed(self, widget: Any, content: Any, buffers: Any) -> None:
        """Do what a button says."""
        if content.get("press") in ACTS:
            getattr(self, content["press"])()

    def _seen(self, change: Any) -> None:
        """Pause when the last page that showed it is gone."""
        if not change["new"] and self.running:
            self.pause()


def _controls(base: RunSpec) -> list[Scene]:
    begin, names, kinds = base.settings(), _task_names(), list(get_args(DistractorKind))
    live = {"live": True}  # of no use without a kernel
    controls = [
        menu("task", "task", names, names.index(begin["task"].replace("_", " ")), **live),
        menu("distractors", "distractors", kinds,
             kinds.index(begin.get("distractors", "alphabet")), **live),
    ]  # fmt: skip
    for name, (label, values) in SETTINGS.items():
        kind = int if name == "seed" else float
        allowed = sorted({*map(kind, values), kind(begin.get(name, 0))})
        labels = [f"{one:g}" for one in allowed]
        controls.append(
            slider(name, label, allowed, allowed.index(begin.get(name, 0)), labels=labels, **live)
        )
    for name, tip in ACTS.items():
        button = {"name": name, "kind": "button", "label": name.capitalize(), "tip": tip}
        controls.append(button | live)
    return controls


def curves(
    history: "xr.Dataset | None",
    epochs: int,
    below: str,
    before: "xr.Dataset | None" = None,
) -> Scene:
    """What a run gets right, where it looks and how large its MLP is, as far as it is.

    Args:
        history: one run so far; None before its first record.
        epochs: where the axis of epochs ends: the length of the whole run.
        below: the line under the headline: which run this is, and how fast.
        before: another run, drawn pale to compare with.
    """

    def line(one: "xr.Dataset | None", name: str, **change: Any) -> Any:
        if one is None:
            return None
        return curve(name, one.epoch.values.tolist(), numbers(one[name].values[0]), **change)

    def draw(title: str, unit: str, names: tuple[str, ...]) -> Scene:
        pale = {"width": 1, "opacity": 0.4, "label": None}
        marks = [line(before, name, **pale) for name in names]
        marks += [line(history, name) for name in names]
        every = [v for one in marks if one for v in one["y"] if v is not None]
        top = 1.04 if unit.startswith("share") else 1.08 * max(every, default=0) or 1
        up = axis(unit, -0.02 * top, numbers(top))
        return panel(title, epochs_axis([0, epochs]), up, marks, height=200)

    words = "Nothing trained yet: press Start" if history is None else headline(history)
    rows = [[draw(title, *of) for title, of in SHOWN.items()]]
    return {"headline": words, "below": below, "rows": rows, "spoken": False}


def _in_words(spec: RunSpec) -> str:
    """The settings that have a control."""
    settings = spec.settings()
    names = {"kl_strength": "β", "weight_decay": "weight decay", "learning_rate": "learning rate"}
    words = [f"{word} {settings[name]:g}" for name, word in names.items() if name in settings]
    kind = f"{settings['distractors']} distractors, " if "distractors" in settings else ""
    return f"{settings['task'].replace('_', ' ')}, {kind}{', '.join(words)}, seed {spec.seed}"


def _task_names() -> list[str]:
    """Every task that is registered now, in words."""
    return [kind.replace("_", " ") for kind in sorted(tasks)]


def _name(words: str) -> str:
    """The task of these words."""
    return next(kind for kind in tasks if kind.replace("_", " ") == words)
