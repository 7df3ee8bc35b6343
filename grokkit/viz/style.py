"""The one style of every picture: the same five looks for the same five quantities.

==========  ================================  =========================
look        quantity                          drawn as
==========  ================================  =========================
train       accuracy and loss on train data   blue, dashed
test        accuracy and loss on unseen data  vermilion, solid, thick; its two parts,
                                              mirrored and not, in light and dark
structure   KL(oracle || attention), mass     green, solid; round marks
norm        norms of the parameters           amber, dash-dotted
gradient    norms of the gradient             purple, dotted; triangles
==========  ================================  =========================

Every colour has a contrast of 3 or more with white and with the shade of a phase (WCAG 2.2,
1.4.11), and every colour of a text 4.5 or more (1.4.3). The five can be told apart by people
with any of the common colour-vision deficiencies, and the lines still can on a grey print.
"""

import base64
import io
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from grokkit.errors import check_choice
from grokkit.viz.alt import alt_text

EpochScale = Literal["linear", "log"]
"""How epochs are spaced: evenly, or by their logarithm (epoch 0 stands at the left edge)."""


@dataclass(frozen=True)
class Look:
    """How one of the five quantities is drawn.

    Attributes:
        color: a hex colour.
        linestyle: in matplotlib's terms.
        marker: in matplotlib's terms; empty for none.
        linewidth: in points.
    """

    color: str
    linestyle: str | tuple[int, tuple[int | float, ...]]
    marker: str = ""
    linewidth: int | float = 1.8

    @property
    def line(self) -> dict[str, Any]:
        """The keywords for ``Axes.plot``, without markers."""
        return {"color": self.color, "linestyle": self.linestyle, "linewidth": self.linewidth}

    @property
    def marks(self) -> dict[str, Any]:
        """The keywords for ``Axes.plot`` that set a few markers along a line."""
        # A float spaces markers evenly in the picture, whatever the axis.
        return {"marker": self.marker or None, "markevery": 0.13, "markersize": 5}


LOOKS: Mapping[str, Look] = {
    "train": Look("#0069A6", (0, (5, 2))),
    "test": Look("#B04500", "-", linewidth=2.4),
    "structure": Look("#008F68", "-", "o"),
    "norm": Look("#BD8000", (0, (6, 1.5, 1, 1.5)), linewidth=2.2),
    "gradient": Look("#43156B", (0, (1, 1)), "^"),
}
"""The looks of the five quantities."""


@dataclass(frozen=True)
class Shown:
    """How one variable of a History is shown.

    Attributes:
        look: the name of its quantity in :data:`LOOKS`.
        label: its name in a legend.
        unit: what its axis counts.
        log: whether its axis is logarithmic.
        change: what differs from the look, where a picture shows several variables of one
            quantity: keywords for ``Axes.plot``.
    """

    look: str
    label: str
    unit: str
    log: bool = False
    change: Mapping[str, Any] = field(default_factory=dict)

    @property
    def line(self) -> dict[str, Any]:
        """The keywords for ``Axes.plot``: the look's line and marks, and what differs."""
        look = LOOKS[self.look]
        return {**look.line, **look.marks, **self.change}


_SHARE, _LOSS, _MASS = "share of right answers", "cross-entropy (nats)", "share of attention"
_GRADIENT, _RELATIVE = "norm of the gradient", "MED / mean distance of all pairs"

_TABLE: Sequence[tuple[str, str, str, str, Mapping[str, Any]]] = [
    ("train_accuracy", "train", "train", _SHARE, {}),
    ("test_accuracy", "test", "test (unseen)", _SHARE, {}),
    ("mirrored_accuracy", "test", "test, mirror image trained on", _SHARE,
     {"color": "#DC7845", "linestyle": (0, (4, 1.5))}),
    ("unmirrored_accuracy", "test", "test, no mirror image", _SHARE,
     {"color": "#6E2800", "marker": "D"}),
    ("train_loss", "train", "train", _LOSS, {}),
    ("test_loss", "test", "test (unseen)", _LOSS, {}),
    ("kl", "structure", "KL(oracle ‖ attention)", "nats", {}),
    ("attention_entropy", "structure", "entropy of attention", "nats",
     {"marker": "D", "linestyle": ":"}),
    ("informative_mass", "structure", "mass on I*", _MASS,
     {"marker": "s", "linestyle": (0, (4, 1.5))}),
    ("min_informative_mass", "structure", "least mass on a position of I*", _MASS,
     {"marker": "v", "linestyle": (0, (2, 1))}),
    ("mlp_norm", "norm", "norm of the MLP", "Frobenius norm", {}),
    ("lipschitz", "norm", "Lipschitz bound", "logits per unit of pooled input", {}),
    ("score_gradient", "gradient", "of the scores", _GRADIENT, {}),
    ("W_QK_gradient", "gradient", "of W_Q W_Kᵀ", _GRADIENT,
     {"marker": "v", "linestyle": (0, (3, 1, 1, 1))}),
    ("W_Q_gradient", "gradient", "of W_Q", _GRADIENT, {"marker": "<", "linestyle": "--"}),
    ("W_K_gradient", "gradient", "of W_K", _GRADIENT, {"marker": ">", "linestyle": "-"}),
    ("gradient_norm", "gradient", "of all parameters", _GRADIENT, {"marker": "s"}),
    ("med", "norm", "MED", "MED (units of the embedding)", {}),
    ("relative_med", "structure", "step 1", _RELATIVE, {"marker": "P", "linestyle": (0, (1, 1))}),
    ("best_med", "structure", "best step", _RELATIVE, {"marker": "X"}),
    ("best_med_null", "structure", "best step, shuffled", _RELATIVE,
     {"color": "#757575", "marker": None, "linestyle": (0, (4, 2))}),
]  # fmt: skip

VARIABLES: Mapping[str, Shown] = {
    name: Shown(look, label, unit, unit in (_LOSS, _GRADIENT) or name == "lipschitz", change)
    for name, look, label, unit, change in _TABLE
}
"""How the variables of a History are shown."""

SIGNAL_LOOKS: Mapping[str, Mapping[str, Any]] = {
    "KL": {"color": LOOKS["structure"].color, "marker": "o"},
    "entropy": {"color": "#2E8FC4", "marker": "v", "linestyle": (0, (1, 1))},
    "effective rank": {"color": "#2E8FC4", "marker": "s"},
    "alpha": {"color": "#2E8FC4", "marker": "D", "linestyle": (0, (5, 2))},
    "best step": {"color": "#7F4F24", "marker": "P"},
    "Fourier": {"color": "#C8669A", "marker": "X"},
    "norm": {"color": LOOKS["norm"].color, "marker": "d", "linestyle": (0, (6, 1.5, 1, 1.5))},
    "unseen pairs": {"color": LOOKS["test"].color, "marker": "o", "linewidth": 2.4},
}
"""How the signals of lesson 13 are drawn: a colour for each account, a marker for each signal."""

INK = "#262626"
"""Text, axes, and what is none of the five quantities."""

GREY = "#8C8C8C"
"""Lines and marks that stand behind others: the least contrast that a line may have."""

_KEPT = sorted(
    {"#FFFFFF", INK, GREY, *(shown.line["color"] for shown in VARIABLES.values())}
    | {look["color"] for look in SIGNAL_LOOKS.values()}
)
"""The colours that a PNG has exactly."""

SHADES: Mapping[int, str] = {1: "#F2F2F2", 2: "#FFFFFF", 3: "#F2F2F2", 4: "#FFFFFF"}
"""The backgrounds of the phases, so pale that every colour keeps its contrast with them."""

_RC: Mapping[str, Any] = {
    "axes.axisbelow": True,
    "axes.edgecolor": INK,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.labelcolor": INK,
    "axes.labelsize": 10,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "axes.titley": 1.0,  # where it comes to stand anyway, but found in no time
    "axes.titlesize": 11,
    "axes.titleweight": "bold",
    "figure.constrained_layout.use": True,
    "figure.dpi": 100,
    "figure.facecolor": "white",
    "font.family": "DejaVu Sans",
    "font.size": 10,
    "grid.color": "#CCCCCC",
    "grid.linewidth": 0.6,
    "legend.fontsize": 9,
    "legend.framealpha": 0.85,
    "legend.edgecolor": "none",
    "savefig.dpi": 100,
    "text.color": INK,
    "xtick.color": INK,
    "xtick.labelsize": 9,
    "ytick.color": INK,
    "ytick.labelsize": 9,
}


# Matplotlib's settings are those of the whole process: where two threads changed them in turn
# and set them back, the first one's would be taken for the user's.
_ONE_AT_A_TIME = threading.RLock()


@contextmanager
def style() -> Iterator[None]:
    """The house style, for a ``with``; afterwards matplotlib is as it was before.

    Threads draw one at a time.
    """
    settings: Any = {**matplotlib.rcParamsDefault, **_RC}
    # Setting it would choose one, and import pyplot.
    del settings["backend"]
    with _ONE_AT_A_TIME, matplotlib.rc_context(settings):
        yield


class Picture(Figure):
    """A figure that belongs to no window and shows itself in a notebook, in words too.

    A notebook stores three things: the PNG; the words of :attr:`alt` as ``text/plain``, for
    who reads without images; and the same words as the metadata ``image/png: alt``, from
    which nbconvert's classic template takes the alternative text of the image. JupyterLab
    4.6 gives its images none, wherever the words stand: there, ``print(figure.alt)``.
    """

    @property
    def alt(self) -> str:
        """What is drawn and its main numbers, in sentences; taken from what is drawn."""
        return alt_text(self)

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict[str, str], dict[str, Any]]:
        data = base64.b64encode(png(self)).decode("ascii")
        words = self.alt
        bundle = {"image/png": data, "text/plain": f"Picture. {words}"}
        return bundle, {"image/png": {"alt": words}}


def picture(width: int | float, height: int | float, layout: Any = None) -> Picture:
    """An empty picture; sizes in inches, at 100 dots each.

    With the layout ``"none"``, which matplotlib's types lack, its axes stand where they are put.
    """
    figure = Picture(figsize=(width, height), layout=layout)
    FigureCanvasAgg(figure)
    return figure


def png(figure: Figure) -> bytes:
    """A figure as the bytes of a PNG file, the same for the same figure.

    64 colours are plenty where none is a shade of a scale, and make the file, and so a
    notebook, four times smaller. Those of the quantities are kept as they are. The words of
    :attr:`Picture.alt` are the file's ``Description``.
    """
    buffer = io.BytesIO()
    with style():
        # Uncompressed: this one is only read back, a few lines below.
        figure.savefig(buffer, format="png", pil_kwargs={"compress_level": 0})
    info = PngInfo()
    info.add_itxt("Description", alt_text(figure), lang="en")
    kept = [round(255 * part) for color in _KEPT for part in to_rgb(color)]
    palette, small = Image.new("P", (1, 1)), io.BytesIO()
    with Image.open(buffer) as image:
        whole = image.convert("RGB")
        others = whole.quantize(64 - len(_KEPT), dither=Image.Dither.NONE)
        palette.putpalette(kept + (others.getpalette() or [])[: 3 * (64 - len(_KEPT))])
        few = whole.quantize(palette=palette, dither=Image.Dither.NONE)
        few.save(small, "PNG", optimize=True, pnginfo=info)
    return small.getvalue()


def curve(ax: Axes, name: str, epochs: np.ndarray, values: np.ndarray, words: str = "") -> None:
    """Draw one variable of a History in its look, and label its axis.

    Args:
        ax: where.
        name: the variable, one of :data:`VARIABLES`.
        epochs: ``[epoch]``.
        values: ``[epoch]``; what a log axis cannot show is left out.
        words: what to add to its name in the legend.
    """
    shown = VARIABLES[name]
    line = shown.line
    if shown.log:
        ax.set_yscale("log")
        values = np.where(values > 0, values, np.nan)
    if not np.isfinite(values).any():
        del line["markevery"]  # Markers cannot be spaced along a line of no length.
    ax.plot(epochs, values, label=shown.label + words, **line)
    ax.set_ylabel(shown.unit)


def titles(figure: Figure, headline: str, below: str) -> None:
    """A bold headline over a picture and a plain line under it, both at the left edge."""
    above = figure.suptitle(f"{headline}\n", x=0.01, ha="left", fontsize=12, fontweight="bold")
    height = figure.get_figheight()
    if figure.get_layout_engine() is None:
        above.set_y(1 - 0.06 / height)
    # Left alone, the layout leaves room for the headline; its second line is empty.
    figure.text(0.01, 1 - 0.28 / height, below, ha="left", va="top", fontsize=9.5)


def epoch_axis(ax: Axes, first: int | float, last: int | float, scale: EpochScale) -> None:
    """Set up an axis of epochs.

    Args:
        ax: whose horizontal axis.
        first: the first recorded epoch after 0; where a log axis begins to be one.
        last: the last recorded epoch.
        scale: ``"linear"`` or ``"log"``.
    """
    check_choice("scale", scale, ("linear", "log"))
    if scale == "log":
        ax.set_xscale("symlog", linthresh=max(first, 1), linscale=0.25)
        ticks = [step * 10**power for power in range(8) for step in (1, 3)]
        ax.set_xticks([0, *(tick for tick in ticks if max(first, 2) <= tick <= last)])
        ax.set_xticks([], minor=True)
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    ax.set_xlim(0, max(last, 1))


def record_axis(ax: Axes, epochs: np.ndarray) -> None:
    """Set up an axis of recorded epochs, ``[epoch]``, that says what it counts."""
    last = float(np.max(epochs, initial=0))
    epoch_axis(ax, float(np.min(epochs[epochs > 0], initial=max(last, 1))), last, "log")
    ax.set_xlabel(epoch_label("log"))


def epoch_label(scale: EpochScale) -> str:
    """What to write below an axis of epochs."""
    return "epoch (log scale)" if scale == "log" else "epoch"


def log_epochs(ax: Axes, which: Literal["x", "y"]) -> None:
    """Make an axis one of epochs by their logarithm, with ticks at 1, 2 and 5 of each power."""
    ax.set(**{f"{which}scale": "log"})
    axis = ax.xaxis if which == "x" else ax.yaxis

    def inside(value: float) -> bool:
        low, high = axis.get_view_interval()
        return bool(low <= value <= high)

    axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:,.0f}" if inside(float(v)) else ""))
    axis.set_minor_locator(NullLocator())


def powers_only(ax: Axes) -> None:
    """Leave only 0 and the powers of ten on a log axis of epochs: for a narrow panel."""
    ax.set_xticks([tick for tick in ax.get_xticks() if str(int(tick)).strip("0") in ("", "1")])


def missing_panel(ax: Axes, words: str) -> None:
    """Say in an empty panel why it is empty."""
    ax.text(0.5, 0.5, words, transform=ax.transAxes, ha="center", va="center", wrap=True, size=9)
    ax.grid(False)
    ax.tick_params(left=False, bottom=False, labelleft=False, labelbottom=False)
