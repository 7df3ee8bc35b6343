"""Where attention looks, position by position."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from grokkit.diagnostics.phases import phase_borders
from grokkit.errors import refuse
from grokkit.runtime.history import specs_of
from grokkit.viz.alt import number, tell
from grokkit.viz.one_run import describe, one_run
from grokkit.viz.style import INK, LOOKS, Picture, picture, style, titles

if TYPE_CHECKING:
    import xarray as xr

MOST_PANELS = 6

_INFORMATIVE: dict[str, Any] = {
    "facecolor": LOOKS["structure"].color,
    "hatch": "//",
    "edgecolor": "white",
}
_OTHER: dict[str, Any] = {"facecolor": "#BDBDBD", "edgecolor": INK, "linewidth": 0.5}


def mass_bars(mass: Any, informative: Any, *, title: str = "Where it looks") -> Picture:
    """The attention on each position as a bar, the informative positions marked.

    Args:
        mass: the attention on each position, the query last: ``[pos]``, a tensor or array.
        informative: true at the positions of I*: ``[pos]``.
        title: the headline.

    Returns:
        A picture of 5.5 x 3.2 inches at 100 dots each.

    Raises:
        SettingError: the two are not of one length.
    """
    mass, informative = np.asarray(mass, dtype=float), np.asarray(informative, dtype=bool)
    if mass.ndim != 1 or mass.shape != informative.shape:
        refuse("informative", informative.shape, f"one value for each mass, {mass.shape}")
    with style():
        figure = picture(5.5, 3.2)
        ax = figure.subplots()
        draw_bars(ax, mass, informative)
        ax.set_ylabel("share of attention")
        _legend(figure, oracle=False)
        share = mass[informative].sum()
        titles(figure, title, f"{share:.0%} of the attention lies on informative positions")
    return figure


def attention_bars(
    history: "xr.Dataset", run: int = 0, epochs: Sequence[int | float] | None = None
) -> Picture:
    """The mean attention on each position at a few epochs, with the oracle's beside it.

    Args:
        history: the History.
        run: which of its runs, by position.
        epochs: which epochs, at most 6; each is moved to the nearest record. None: the
            first, those at which phases 2 and 4 begin, and the last.

    Returns:
        A picture, one panel for each epoch.

    Raises:
        SettingError: there is no such run, or no or too many epochs.
    """
    one = one_run(history, run)
    if epochs is None:
        borders = phase_borders(one).sel(border=["1|2", "3|4"]).values
        epochs = [one.epoch.values[0], *borders[~np.isnan(borders)], one.epoch.values[-1]]
    if not 1 <= len(epochs) <= MOST_PANELS:
        refuse("epochs", list(epochs), f"1 to {MOST_PANELS} epochs")
    nearest = one.epoch.sel(epoch=list(epochs), method="nearest").values
    records = [one.sel(epoch=at) for at in np.unique(nearest)]
    with style():
        figure = picture(max(5.5, 2.3 * len(records)), 3.6)
        axes = figure.subplots(1, len(records), sharey=True, squeeze=False)[0]
        for ax, record in zip(axes, records, strict=True):
            draw_mean_attention(ax, record)
            ax.set_title(f"epoch {int(record.epoch):,}")
        axes[0].set_ylabel("share of attention")
        _legend(figure, oracle=True)
        heads = one.sizes["head"]
        over = "train sequences" + (f" and {heads} heads" if heads > 1 else "")
        titles(figure, f"Where it looks, mean over {over}", describe(one))
    return figure


def draw_mean_attention(ax: Axes, record: "xr.Dataset") -> None:
    """Draw the attention of one record, mean over heads, with the oracle's.

    Args:
        ax: where.
        record: one run at one epoch.
    """
    spec = specs_of(record)[0]
    oracle = spec.task.build(spec.seed).train.oracle.double().mean(dim=0).numpy()
    # A run joined to longer ones is padded.
    mass = record.attention_mass.mean("head").values[: len(oracle)]
    draw_bars(ax, mass, oracle > 0, oracle)


def draw_bars(ax: Axes, mass: np.ndarray, informative: np.ndarray, oracle: Any = None) -> None:
    """Draw the attention on each position as a bar, with the oracle's as a line where given.

    Args:
        ax: where.
        mass: ``[pos]``.
        informative: ``[pos]``, true on I*.
        oracle: ``[pos]``, or None.
    """
    positions = np.arange(len(mass))
    for chosen, look in ((informative, _INFORMATIVE), (~informative, _OTHER)):
        ax.bar(positions[chosen], mass[chosen], width=0.75, **look)
    if oracle is not None:
        marks = {"linestyle": "", "marker": "_", "markersize": 15, "markeredgewidth": 2}
        ax.plot(positions[oracle > 0], oracle[oracle > 0], color=INK, **marks)
    ax.set(xlabel="position", ylim=(0, 1))
    query = len(mass) - 1
    shown = positions if query < 10 else [*range(0, query, 5), query]
    ax.set_xticks(shown, ["=" if at == query else f"{at}" for at in shown])
    each = ", ".join(f"{number(one)} at {at}" for at, one in enumerate(mass))
    tell(ax, f"On I*, positions {', '.join(map(str, positions[informative]))}: "
         f"{number(mass[informative].sum())} in all. By position: {each}")  # fmt: skip


def _legend(figure: Picture, oracle: bool) -> None:
    handles: list[Any] = [
        Patch(label="informative (I*)", **_INFORMATIVE),
        Patch(label="other positions", **_OTHER),
    ]
    if oracle:
        handles.append(Line2D([], [], color=INK, linewidth=2, label="oracle"))
    figure.legend(handles=handles, loc="outside lower left", ncols=3)
