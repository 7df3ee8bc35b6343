"""Widget 1: put mass on positions, and see two sequences be pooled together or apart."""

from typing import Any

import numpy as np
from jaxtyping import Bool, Float

from grokkit import theory
from grokkit.viz.scene import Scene, axis, mark, menu, numbers, slider, still
from grokkit.viz.style import GREY, INK, LOOKS, Picture
from grokkit.widgets.base import SceneWidget

GREEN = LOOKS["structure"].color
LEAST, MOST, STEP, BEGIN = 0.05, 1.0, 0.05, 0.2

# The weights of x, and that of the other token in x'.
EXAMPLES: dict[str, tuple[tuple[float, ...], float]] = {
    "attention is uniform": ((0.2, 0.2, 0.2, 0.2, 0.2), 0.2),
    "nearly the oracle": ((1.0, 0.05, 1.0, 0.05, 0.05), 1.0),
    "Bᵧ holds, yet h and h′ meet": ((0.3, 0.2, 0.6, 0.2, 0.2), 0.8),
    "Bᵧ is broken, yet they are apart": ((0.05, 0.05, 0.3, 0.05, 0.05), 0.7),
}


# The example: values are points of a plane, so that they can be drawn; x and x' differ at the first
# of five tokens such as "17 A 5 C =".
VALUES: Float[np.ndarray, "pos embed"] = np.array(
    [[-1.6, 1.1], [-0.9, -1.2], [1.5, 0.9], [0.6, -1.3], [1.9, -0.4]]
)
OTHER_VALUE: Float[np.ndarray, " embed"] = np.array([-0.4, 0.55])
INFORMATIVE: Bool[np.ndarray, " pos"] = np.array([True, False, True, False, False])
POSITION = 0
GAMMA = 0.15
"""The threshold of B_gamma, c_margin / (L_f Delta_emb)."""


def routing(weights: Float[np.ndarray, " pos"], other_weight: float) -> dict[str, Any]:
    """What two sequences x and x' that differ in one token are pooled to (Appendix A.3).

    Scores are local, so the two share every weight but one. Nothing is drawn here: the browser
    computes the same.

    Args:
        weights: exp(l_j) of every position of x: attention is this, normalised.
        other_weight: exp(l_i) of the other token, in x'.

    Returns:
        All that the panels show, by the names that scene.js gives it. ``alpha`` and ``beta``, the
        attention of x and x'; ``m``, what the rest of either is pooled to (13); ``h`` and ``h2``;
        ``distance`` between these by the closed form (14), and ``upper``, its bound (16), with
        the distance of the further of v_i and v'_i from m as Delta_emb; whether B_gamma holds.
    """
    i, other, theirs = POSITION, weights.copy(), VALUES.copy()
    other[i], theirs[i] = other_weight, OTHER_VALUE
    attention = theory.softmax(np.log(np.stack([weights, other])))
    m = theory.rest_centroid(attention[0], VALUES, i)
    h, h2 = theory.pooled(attention, np.stack([VALUES, theirs]))
    a, b = (float(mass) for mass in attention[:, i])
    pair = VALUES[i], OTHER_VALUE
    spread = theory.value_spread(np.stack(pair), m[None])
    upper = float(theory.gap_upper_bound(a, b, spread))
    distance = float(np.linalg.norm(theory.pooled_difference(a, b, *pair, m)))
    holds = theory.structural_condition(attention, INFORMATIVE, GAMMA)
    in_x, in_other = ("holds" if one else "is broken" for one in holds)
    found = {"alpha": attention[0], "beta": attention[1], "h": h, "h2": h2, "m": m}
    for name, values in (("h", [h, h2]), ("m", [m]), ("way_", [m, pair[0]]),
                         ("way2_", [m, pair[1]])):  # fmt: skip
        found |= {f"{name}{along}": np.array(values)[:, j] for j, along in enumerate("xy")}
    found |= {"bars": np.array([distance, upper])}
    return {
        **{name: values.tolist() for name, values in found.items()},
        **{f"share{j}": float(mass) for j, mass in enumerate(attention[0])},
        "share_other": b, "distance": distance, "upper": upper,
        "in_x": in_x, "in_other": in_other,
    }  # fmt: skip


class RoutingPlayground(SceneWidget):
    """Two sequences that differ in one token, and the attention that pools them.

    The sliders are exp(score) of every position, shared by the two sequences but for the one
    token in which they differ; attention is these weights, each divided by their sum, which
    is shown beside each.
    """

    def __init__(self) -> None:
        super().__init__(**_scene())

    @property
    def outputs(self) -> dict[str, Any]:
        """What :func:`routing` says of the sliders as they are."""
        weights = np.array([self.read.value(f"w{j}") for j in range(len(VALUES))], dtype=float)
        return routing(weights, float(self.read.value("other")))

    def picture(self) -> Picture:
        """The still: the scene in the present state, drawn by matplotlib."""
        return still(self.scene, self.state, self.outputs)


def _scene() -> Scene:
    names = [f"position {j}" for j in range(len(VALUES) - 1)] + ["position ="]
    names[POSITION] += ", token of x"
    sliders = [_weight(f"w{j}", name, f"share{j}") for j, name in enumerate(names)]
    other = _weight("other", f"position {POSITION}, token of x′", "share_other")
    sliders.insert(POSITION + 1, other)
    places = [
        {f"w{j}": other["values"].index(w) for j, w in enumerate(weights)}
        | {"other": other["values"].index(last)}
        for weights, last in EXAMPLES.values()
    ]
    return {
        "controls": [
            menu("examples", "examples", ["choose …", *EXAMPLES], sets=[{}, *places]),
            *sliders,
        ],
        "compute": "routing",
        "data": {
            "values": VALUES.tolist(),
            "other_value": OTHER_VALUE.tolist(),
            "informative": INFORMATIVE.tolist(),
            "position": POSITION,
            "gamma": GAMMA,
        },
        "headline": "h and h′ are {distance} apart",
        "below": "α, the share: a weight divided by the sum of the weights. Green bars: the "
        f"informative positions. With γ = {GAMMA:g}, Bᵧ {{in_x}} in x and {{in_other}} in x′",
        "rows": [[_plane(), _attention(), _bounds()]],
    }


def _weight(name: str, label: str, share: str) -> Scene:
    values = [numbers(step) for step in np.arange(LEAST, MOST + STEP / 2, STEP)]
    labels = [f"{one:.2f}" for one in values]
    readout = f"{{{name}}} → α {{{share}}}"
    return slider(name, label, values, values.index(BEGIN), labels=labels, readout=readout)


def _out(name: str) -> dict[str, str]:
    return {"out": name}


def _plane() -> Scene:
    i, everything = POSITION, np.vstack([VALUES, OTHER_VALUE])
    low, high = everything.min(axis=0) - 0.45, everything.max(axis=0) + 0.45
    names = [*(f"v{_subscript(j)}" for j in range(len(VALUES) - 1)), "v₌"]
    (vx, vy), (ox, oy) = VALUES.T.tolist(), OTHER_VALUE.tolist()
    dotted = {"color": GREY, "width": 1, "dash": [2, 3]}
    return {
        "title": f"Pooled: h is α{_subscript(i)} of the way from m to v{_subscript(i)}",
        "x": axis("first coordinate", *numbers([low[0], high[0]])),
        "y": axis("second coordinate", *numbers([low[1], high[1]])),
        "equal": True, "height": 290, "grow": 1.25,
        "says": "h and h′ are {distance} apart",
        "marks": [
            # h lies on the line from m to v_i, at alpha_i of it.
            mark("line", x=_out("way_x"), y=_out("way_y"), **dotted),
            mark("line", x=_out("way2_x"), y=_out("way2_y"), **dotted),
            mark("dots", x=vx, y=vy, shape="s", color=GREY),
            mark("dots", x=[ox], y=[oy], shape="s", color=GREY, fill="white"),
            mark("dots", x=_out("mx"), y=_out("my"), shape="x", color=INK, size=4),
            mark("line", x=_out("hx"), y=_out("hy"), color=GREEN, width=2.5),
            mark("dots", x=_out("hx"), y=_out("hy"), color=GREEN, size=6),
            mark("words", x=vx, y=vy, text=names, shift=[0, -13]),
            mark("words", x=ox, y=oy, text=f"v′{_subscript(i)}", shift=[0, -13]),
            mark("words", x=_out("mx"), y=_out("my"), text="m", shift=[13, 10]),
            *(mark("words", x=_out("hx"), y=_out("hy"), text=text, shift=shift, color="#00563F")
              for text, shift in ((["h", ""], [-9, 16]), (["", "h′"], [9, -12]))),
        ],
    }  # fmt: skip


def _attention() -> Scene:
    positions, on = np.arange(len(VALUES)), INFORMATIVE
    oracle = theory.oracle_attention(on)
    colors = [GREEN if one else GREY for one in on]
    ends = positions[on]
    return {
        "title": "Attention in x (filled) and x′ (open)",
        "x": axis("position", -0.6, len(positions) - 0.4,
                  ticks=[[j, str(j)] for j in positions[:-1].tolist()]
                  + [[len(positions) - 1, "="]]),
        "y": axis("share of attention", 0, 1),
        "height": 290,
        "says": f"share of the position that differs: {{share{POSITION}}} in x, "
        "{share_other} in x′",
        "marks": [
            mark("bars", x=(positions - 0.19).tolist(), y=_out("alpha"), width=0.34, color=colors),
            mark("bars", x=(positions + 0.19).tolist(), y=_out("beta"), width=0.34, color=colors,
                 fill="white"),
            mark("dash", x=ends.tolist(), y=numbers(oracle[on]), half=0.45, width=2.5, color=INK,
                 label="oracle"),
            mark("dash", x=ends.tolist(), y=[GAMMA] * len(ends), half=0.45, dash=[4, 3],
                 color=INK, label="γ"),
        ],
    }  # fmt: skip


def _bounds() -> Scene:
    # m lies among the other values, and no share comes near to 1.
    rest = np.delete(VALUES, POSITION, axis=0)
    end = numbers(2 * theory.value_spread(np.stack([VALUES[POSITION], OTHER_VALUE]), rest))
    names = ["distance of h and h′", "at most, by (16)"]
    return {
        "title": "How far apart",
        "x": axis("distance", 0, end),
        "y": axis("", -0.6, 1.6, ticks=[]),
        "height": 290,
        "says": "is {distance}, at most {upper}",
        "marks": [
            mark("bars", x=[0, 1], y=_out("bars"), width=0.4, across=True, color=[GREEN, GREY]),
            *(mark("words", x=0.02 * end, y=row + 0.28, text=f"{name}: {{{value}}}",
                   anchor="start")
              for row, (name, value) in enumerate(zip(names, ("distance", "upper"),
                                                      strict=True))),
        ],
    }  # fmt: skip


def _subscript(number: int) -> str:
    return str(number).translate(str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉"))
