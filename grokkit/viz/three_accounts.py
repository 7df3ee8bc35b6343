"""All signals of one run on one scale: how much of its way each has made."""

from typing import TYPE_CHECKING

import numpy as np

from grokkit.diagnostics import arrival, grok_epoch, memorise_epoch, way
from grokkit.errors import refuse
from grokkit.experiments.signals import SIGNALS
from grokkit.viz.rows.three_accounts import LINES
from grokkit.viz.style import INK, Picture, curve, epoch_axis, picture, style, titles

if TYPE_CHECKING:
    import xarray as xr


def signals_of_a_run(one: "xr.Dataset", share: float = 0.5, lasting: bool = True) -> Picture:
    """The accuracies of a run, and below them every signal as a share of its way.

    0 is where memorising left a signal, 1 where it ends; a mark shows where it arrives.

    Args:
        one: a single run, with features recorded.
        share: of the way, at which a signal arrives.
        lasting: whether it must stay there.

    Returns:
        A picture 9 inches wide at 100 dots each.

    Raises:
        SettingError: there are several runs; or this one has not both memorised and reached a
            test accuracy of 0.95.
    """
    if "run" in one.dims:
        refuse("one", f"{one.sizes['run']} runs", "one run, such as history.isel(run=0)")
    one = one.isel(epoch=one.train_loss.notnull().values)
    start, grokked = (float(of) for of in (memorise_epoch(one), grok_epoch(one, 0.95)))
    if np.isnan(start) or np.isnan(grokked):
        refuse("one", "a run that has not grokked", "one that reached a test accuracy of 0.95")
    epochs = one.epoch.values
    after = epochs >= start
    with style():
        figure = picture(9, 6.2)
        above, below = figure.subplots(2, 1, sharex=True, height_ratios=(1, 2.1))
        for name in ("train_accuracy", "mirrored_accuracy", "unmirrored_accuracy"):
            curve(above, name, epochs, one[name].values)
        above.set(ylim=(-0.03, 1.05), ylabel="share right")
        above.legend(loc="center left", fontsize=8)
        for name, signal in SIGNALS.items():
            values = signal.of(one)
            along = way(epochs, values, start)
            look = {"linewidth": 1.6, **LINES[name]}
            marker = look.pop("marker")
            below.plot(epochs[after], along.share(values[after]), label=name, **look)
            when = arrival(epochs, values, along, share, lasting)
            if not np.isnan(when):
                height = along.share(values[epochs == when])[0]
                below.plot(when, height, marker=marker, color=look["color"], markersize=8,
                           markeredgecolor=INK, zorder=4)  # fmt: skip
        below.axhline(share, color=INK, linewidth=0.9, linestyle=(0, (4, 3)), zorder=1)
        below.set(ylim=(-0.55, 1.55), ylabel="share of its way")
        below.legend(loc="upper left", ncols=2, fontsize=8)
        epoch_axis(below, float(start), float(epochs[-1]), "log")
        below.set_xlim(0.8 * start, epochs[-1])
        below.set_xlabel("epoch (log scale)")
        seed = f"seed {int(one.seed)}; " if "seed" in one.coords else ""
        words = f"{seed}0: when memorised, 1: at the end; a mark is where {share:.0%} is done"
        titles(figure, "Every signal on the same scale", words + (" for good" if lasting else ""))
    return figure
