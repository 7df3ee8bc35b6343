"""When a run memorised, waited, and grokked, read off its History (section 5.1).

The paper tells the story of a run in four phases and gives no rule for their borders. The
rule here is ours, see :func:`phase_borders`. It looks at a History and nothing else, so
it serves a recorded run as well as a live one.

Everything works on the axes it is given: a History of many runs, or one run of it.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Bool, Float, Num

from grokkit.core.measures import GROKKED

if TYPE_CHECKING:
    import xarray as xr

PHASES: Mapping[int, str] = {1: "memorisation", 2: "plateau", 3: "resurgence", 4: "grokking"}
"""The phases of section 5.1: number -> name."""

BORDERS = ("1|2", "2|3", "3|4")
"""The names of the borders between them."""

MEMORISED = GROKKED
"""The train accuracy at which a run has memorised."""

HOLD = 100
"""For how many epochs a change must last before a phase is said to have begun."""


def memorise_epoch(history: "xr.Dataset") -> "xr.DataArray":
    """The first recorded epoch with train accuracy 0.99 or more.

    Returns:
        An epoch for each run; ``nan`` where it is censored: not reached in the records.
    """
    return _first_epoch(history.train_accuracy >= MEMORISED, "first epoch with train accuracy 0.99")


def grok_epoch(history: "xr.Dataset", accuracy: float = 0.99) -> "xr.DataArray":
    """The first recorded epoch with a test accuracy of 0.99 or more (the paper's rule).

    Args:
        history: with ``test_accuracy`` over (..., epoch).
        accuracy: what must be reached; 0.95 shows whether the last few per cent decide.

    Returns:
        An epoch for each run; ``nan`` where it is censored: not reached in the records.
        A censored run has not grokked *yet*; never average it away, count it.
    """
    return _first_epoch(
        history.test_accuracy >= accuracy, f"first epoch with test accuracy {accuracy:g}"
    )


def phase_borders(history: "xr.Dataset") -> "xr.DataArray":
    """The epochs at which phases 2, 3 and 4 begin.

    The rule, for the phases of section 5.1:

    1|2  The first record with train accuracy 0.99 or more: the data is memorised.
    2|3  The first record from there on at which KL(alpha* || alpha) is down to half of
         what memorisation left of it, and is so at the next record and at all others
         within 100 epochs: attention has begun to move where it should.
         *What memorisation left* is the divergence at border 1|2, or that of the first
         record where this is less: a way back to uniform attention is no resurgence.
         Under a tenth of the first record's divergence, no halving is asked for: there
         is no structure left to be found, and phase 2 is empty.
    3|4  The first record from border 1|2 on at which accuracy on unseen examples has made
         half of its way from border 1|2 to 1 (or has reached 0.95), and keeps to it in the
         same way. An example whose mirror image (b, a) is trained on does not count as
         unseen, where the History tells such examples apart: answering it shows that
         order does not matter, not how to add.

    Borders never run backward. Where understanding comes first (a task can be solved
    without looking at all of I*), border 2|3 is moved down to 3|4, and phase 3 is empty.
    So the length of phase 2 is the wait for structure and that of phase 3 the wait after
    it: with constant distractors, or a strong prior, phase 2 is empty.

    Why so: levels are relative to the run, for memorising leaves a divergence from 0.04
    to 2.3 and a test accuracy from chance to 0.5 (mirrored pairs) depending on the task.
    Halves need no tuning. A change must last 100 epochs, not for ever, so that a late
    spike of the loss moves no border. A border is named only when these 100 epochs and the
    next record have been seen, so later records never change an earlier one.

    Args:
        history: with ``train_accuracy``, ``test_accuracy`` and ``kl`` over (..., epoch);
            ``unmirrored_accuracy`` is used where it is there.

    Returns:
        Epochs over (..., border), ``border`` being "1|2", "2|3" and "3|4"; ``nan`` where
        the records end before the border.
    """
    import xarray as xr

    unseen = history.get("unmirrored_accuracy", history.test_accuracy)
    borders = xr.apply_ufunc(
        _borders_of_run,
        history.epoch,
        history.train_accuracy,
        unseen.fillna(history.test_accuracy),
        history.kl,
        input_core_dims=[["epoch"]] * 4,
        output_core_dims=[["border"]],
        vectorize=True,
        output_dtypes=[float],
    )
    borders = borders.assign_coords(border=list(BORDERS))
    borders.attrs = {"meaning": "epoch at which the next phase begins"}
    return borders


def phase_labels(history: "xr.Dataset") -> "xr.DataArray":
    """The phase of every run at every recorded epoch, by the rule of :func:`phase_borders`.

    Returns:
        1 to 4 over (..., epoch), as named in :data:`PHASES`; ``nan`` after a run's end. A
        record at a border belongs to the later phase. Never falls along a run; numbers
        may be skipped, as a phase can be empty.
    """
    passed = history.epoch >= phase_borders(history)
    phase = (1 + passed.sum("border")).where(history.train_accuracy.notnull())
    phase = phase.transpose(*history.train_accuracy.dims)
    phase.attrs = {"meaning": "phase: " + ", ".join(f"{n} {name}" for n, name in PHASES.items())}
    return phase


def _first_epoch(reached: "xr.DataArray", meaning: str) -> "xr.DataArray":
    first = reached.epoch.where(reached).min("epoch")
    first.attrs = {"meaning": meaning + "; nan: not reached"}
    return first


def _borders_of_run(
    epoch: Num[np.ndarray, " epoch"],
    train_accuracy: Num[np.ndarray, " epoch"],
    unseen_accuracy: Num[np.ndarray, " epoch"],
    kl: Num[np.ndarray, " epoch"],
) -> Float[np.ndarray, " 3"]:
    memorised = np.flatnonzero(train_accuracy >= MEMORISED)
    if len(memorised) == 0:
        return np.full(3, np.nan)
    start = int(memorised[0])
    left = min(kl[start], kl[0])
    structure = kl <= max(left / 2, kl[0] / 10)
    understood = unseen_accuracy >= min((1 + unseen_accuracy[start]) / 2, 0.95)
    recorded = ~np.isnan(train_accuracy)
    three, four = (
        _first_lasting(epoch, reached | ~recorded, recorded, start)
        for reached in (structure, understood)
    )
    return np.array([epoch[start], np.fmin(three, four), four], dtype=float)


def _first_lasting(
    epoch: Num[np.ndarray, " epoch"],
    holds: Bool[np.ndarray, " epoch"],
    recorded: Bool[np.ndarray, " epoch"],
    start: int,
) -> Any:
    """The first epoch from ``start`` on at which something holds, and is seen to go on."""
    last = int(np.flatnonzero(recorded)[-1])
    for now in range(start, last):
        if epoch[last] < epoch[now] + HOLD:
            break  # whether it goes on is not known yet
        window = (epoch >= epoch[now]) & (epoch <= epoch[now] + HOLD)
        window[now + 1] = True
        if recorded[now] and holds[window].all():
            return epoch[now]
    return np.nan
