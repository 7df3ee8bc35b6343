"""LiveTraining: it trains what the package trains, and stops when it should."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest
from IPython.core.interactiveshell import InteractiveShell

from grokkit.engine import Trainer
from grokkit.errors import SettingError
from grokkit.runtime import train
from grokkit.tasks import ModularTask, register_task, tasks
from grokkit.widgets import LiveTraining
from grokkit.widgets.live_training import PATIENCE, Background, when_its_cell_runs_again
from tests.widgets.makers import SMALL


def until(what: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not what():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def press(live: LiveTraining, button: str) -> None:
    """Press a button, as the kernel comes to know of it."""
    content = {"data": {"method": "custom", "content": {"press": button}}}
    live._handle_msg({"content": content, "buffers": []})


def trained(live: LiveTraining) -> int:
    """The last record so far."""
    return -1 if live.history is None else int(live.history.epoch[-1])


# --- what it trains -----------------------------------------------------------------------


def test_it_trains_the_very_run_that_its_controls_describe(live: LiveTraining):
    live.move(kl_strength=0.1, seed=3)
    live.start()
    live.wait(60)
    assert live.history is not None and not live.running
    expected = train(SMALL.with_(kl_strength=0.1, seed=3), progress=False)
    for name in expected.data_vars:
        np.testing.assert_array_equal(live.history[name], expected[name], err_msg=str(name))
    assert "done: epoch 120 of 120" in live.headline


def test_a_run_paused_and_stepped_is_the_same_run(live: LiveTraining):
    live.step()
    live.step()
    assert trained(live) == SMALL.record_every
    live.start()
    live.pause()
    live.start()
    live.wait(60)
    assert live.history is not None
    np.testing.assert_array_equal(live.history.kl, train(SMALL, progress=False).kl)


def test_every_control_changes_the_setting_that_it_names(live: LiveTraining):
    live.move(task="modular subtraction", distractors="constant")
    live.move(kl_strength=0.3, weight_decay=2, learning_rate=0.001, seed=4)
    settings = live.spec.settings()
    wanted = {
        "task": "modular_subtraction",
        "distractors": "constant",
        "kl_strength": 0.3,
        "weight_decay": 2.0,
        "learning_rate": 0.001,
        "seed": 4,
        "p": 7,
        "d_mlp": 16,
    }
    assert {name: settings[name] for name in wanted} == wanted


def test_where_a_task_has_no_distractors_the_menu_is_off(live: LiveTraining):
    def disabled() -> bool:
        return live.read.controls["distractors"]["disabled"]

    assert not disabled()
    live.move(task="sparse parity")
    assert disabled() == ("distractors" not in live.spec.settings())
    live.move(task="modular addition")
    assert not disabled()


def test_a_task_of_ones_own_is_in_the_menu(live: LiveTraining):
    @register_task("modular_doubling")
    @dataclass(frozen=True)
    class ModularDoubling(ModularTask):
        def label(self, operands):
            return (2 * operands[:, 0] + operands[:, 1]) % self.p

    try:
        fresh = LiveTraining(SMALL)
        fresh.move(task="modular doubling")
        fresh.step()
        assert trained(fresh) == 0
        fresh.close()
        live.reset()  # one that was there before
        assert "modular doubling" in live.read.controls["task"]["labels"]
    finally:
        del tasks._members["modular_doubling"]


# --- start, pause, step, reset ------------------------------------------------------------


def test_the_buttons_do_what_they_say(endless: LiveTraining):
    assert not endless.running
    press(endless, "start")
    press(endless, "start")  # once more changes nothing
    assert sum("grokkit" in thread.name for thread in threading.enumerate()) == 1
    until(lambda: trained(endless) > 0)
    press(endless, "pause")
    assert not endless.running
    assert "paused: epoch" in endless.headline
    before = trained(endless)
    press(endless, "step")
    assert trained(endless) == before + SMALL.record_every
    press(endless, "reset")
    assert endless.history is None
    assert "Nothing trained yet" in endless.headline and "pale: the run before" in endless.headline


def test_a_change_of_a_setting_begins_a_new_run(endless: LiveTraining):
    endless.start()
    until(lambda: trained(endless) > 0)
    endless.move(weight_decay=0)
    assert not endless.running and endless.history is None
    endless.step()
    assert endless.history is not None
    assert endless.history.weight_decay.values == [0.0]


def test_two_can_run_at_once(live: LiveTraining):
    other = LiveTraining(SMALL.with_(seed=1))
    live.start()
    other.start()
    live.wait(60)
    other.wait(60)
    for one in (live, other):
        assert one.history is not None
        np.testing.assert_array_equal(one.history.kl, train(one.spec, progress=False).kl)
    other.close()


# --- when it stops by itself --------------------------------------------------------------


def test_it_pauses_when_it_is_on_no_page_any_more(endless: LiveTraining):
    endless._view_count = 1
    endless._view_count = 2
    endless.start()
    endless._view_count = 1  # still to be seen somewhere
    assert endless.running
    endless._view_count = 0
    assert not endless.running


def test_closing_ends_it(endless: LiveTraining):
    endless.start()
    endless.close()
    assert not endless.running
    assert [thread for thread in threading.enumerate() if "grokkit" in thread.name] == []


def test_running_its_cell_again_ends_it(monkeypatch: pytest.MonkeyPatch):
    shell = InteractiveShell()
    parent = {"metadata": {"cellId": "a"}}
    monkeypatch.setattr(shell, "get_parent", lambda: parent, raising=False)
    monkeypatch.setattr("grokkit.widgets.live_training.get_ipython", lambda: shell)
    calls = []
    forget = when_its_cell_runs_again(lambda: calls.append("again"))
    shell.events.trigger("pre_run_cell", SimpleNamespace(cell_id="b"))
    assert calls == []
    shell.events.trigger("pre_run_cell", SimpleNamespace(cell_id="a"))
    assert calls == ["again"]
    forget()
    forget()
    shell.events.trigger("pre_run_cell", SimpleNamespace(cell_id="a"))
    assert calls == ["again"]


# --- errors -------------------------------------------------------------------------------


def test_what_the_thread_raises_is_shown_at_once_and_raised_by_the_next_call(
    live: LiveTraining, monkeypatch: pytest.MonkeyPatch
):
    def broken(*_: object) -> None:
        raise FloatingPointError("planted")

    monkeypatch.setattr(Trainer, "advance", broken)
    live.start()
    until(lambda: live.message != "")
    assert "FloatingPointError: planted" in live.message
    for act in (live.wait, live.pause, live.step, live.start):
        with pytest.raises(FloatingPointError, match="planted"):
            act()
    monkeypatch.undo()
    live.reset()
    assert live.message == ""
    live.step()
    assert trained(live) == 0


def test_settings_that_make_no_sense_together_are_shown_in_one_line(live: LiveTraining):
    strange = LiveTraining(SMALL.with_(alphabet=3))
    with pytest.raises(SettingError, match="alphabet"):
        strange.move(distractors="random")
    assert "alphabet: got 3; allowed: None" in strange.message
    strange.move(distractors="alphabet")
    assert strange.message == ""
    strange.close()


# --- the pace -----------------------------------------------------------------------------


def test_however_slow_a_picture_is_it_takes_a_small_share_of_the_time():
    spent = {"training": 0.0, "pictures": 0.0}

    class Slow(Trainer):
        done = property(lambda _: False)

        def __init__(self) -> None:
            pass

        def advance(self, *_: object) -> None:
            started = time.perf_counter()
            time.sleep(0.005)
            spent["training"] += time.perf_counter() - started

    def report() -> None:
        started = time.perf_counter()
        time.sleep(0.02)
        spent["pictures"] += time.perf_counter() - started

    background = Background(Slow(), report, print)
    background.start()
    until(lambda: spent["pictures"] > 0.07)
    background.stop()
    # But after the last two: the one that was waited for, and the one on stopping. Half of it, as
    # a loaded machine spends time between the epochs, too.
    assert spent["training"] > PATIENCE * (spent["pictures"] - 2 * 0.02) / 4
