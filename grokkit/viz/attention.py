"""Where attention looks, position by position."""

from typing import Any

import numpy as np
from matplotlib.patches import Patch

from grokkit.errors import refuse
from grokkit.viz.alt import number, tell
from grokkit.viz.style import INK, LOOKS, Picture, picture, style, titles

_INFORMATIVE: dict[str, Any] = {
    "facecolor": LOOKS["structure"].color,
    "hatch": "//",
    "edgecolor": "white",
    "label": "informative (I*)",
}
_OTHER: dict[str, Any] = {
    "facecolor": "#BDBDBD",
    "edgecolor": INK,
    "linewidth": 0.5,
    "label": "other positions",
}


def mass_bars(mass: Any, informative: Any, *, title: str = "Where it looks") -> Picture:
    """The attention on each position as a bar, the informative positions marked.

    Args:
        mass: the attention on each position, the query last: ``[pos]``, a tensor or array.
        informative: true at the positions of I*: ``[pos]``.
        title: the headline.

    Returns:
        A picture of 5.5 x 3.2 inches at 100 dots each.
    """
    mass, informative = np.asarray(mass, dtype=float), np.asarray(informative, dtype=bool)
    if mass.ndim != 1 or mass.shape != informative.shape:
        refuse("informative", informative.shape, f"one value for each mass, {mass.shape}")
    with style():
        figure = picture(5.5, 3.2)
        ax = figure.subplots()
        positions = np.arange(len(mass))
        for chosen, look in ((informative, _INFORMATIVE), (~informative, _OTHER)):
            ax.bar(positions[chosen], mass[chosen], width=0.75, **look)
        ax.set(xlabel="position", ylabel="share of attention", ylim=(0, 1))
        query = len(mass) - 1
        shown = positions if query < 10 else [*range(0, query, 5), query]
        ax.set_xticks(shown, ["=" if at == query else f"{at}" for at in shown])
        each = ", ".join(f"{number(one)} at {at}" for at, one in enumerate(mass))
        on = ", ".join(map(str, positions[informative]))
        total = number(mass[informative].sum())
        tell(ax, f"On I*, positions {on}: {total} in all. By position: {each}")
        handles = [Patch(**look) for look in (_INFORMATIVE, _OTHER)]
        figure.legend(handles=handles, loc="outside lower left", ncols=3)
        share = mass[informative].sum()
        titles(figure, title, f"{share:.0%} of the attention lies on informative positions")
    return figure
