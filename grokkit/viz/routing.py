"""Two sequences, what attention pools of each, and how far apart that keeps them."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Bool, Float
from matplotlib.axes import Axes

from grokkit import theory
from grokkit.errors import check_int, refuse
from grokkit.viz.alt import number, tell
from grokkit.viz.style import GREY, INK, LOOKS, Picture, fixed_picture, style, titles

GREEN = LOOKS["structure"].color


def _values() -> Float[np.ndarray, "pos embed"]:
    return np.array([[-1.6, 1.1], [-0.9, -1.2], [1.5, 0.9], [0.6, -1.3], [1.9, -0.4]])


@dataclass(frozen=True, eq=False)
class Routing:
    """Sequences x and x' that differ in one token, as Appendix A.3 has them.

    Scores are local, so the two share every weight but one. The defaults are five tokens
    such as "17 A 5 C =", of which the first is exchanged; values are points of a plane,
    so that they can be drawn.

    Attributes:
        weights: exp(l_j) of every position of x: attention is this, normalised.
        other_weight: exp(l_i) of the other token, in x'.
        values: v_j of x.
        other_value: v'_i.
        informative: true on I*.
        position: i, the position at which x and x' differ; one of I*.
        gamma: the threshold of B_gamma, c_margin / (L_f Delta_emb).

    Raises:
        SettingError: a weight is not above 0, or i is not informative.
    """

    weights: Float[np.ndarray, " pos"] = field(default_factory=lambda: np.full(5, 0.2))
    other_weight: float = 0.2
    values: Float[np.ndarray, "pos embed"] = field(default_factory=_values)
    other_value: Float[np.ndarray, " embed"] = field(default_factory=lambda: np.array([-0.4, 0.55]))
    informative: Bool[np.ndarray, " pos"] = field(
        default_factory=lambda: np.array([True, False, True, False, False])
    )
    position: int = 0
    gamma: float = 0.15

    def __post_init__(self) -> None:
        for weight in [*self.weights, self.other_weight]:
            if not 0 < weight < np.inf:
                refuse("weights", float(weight), "finite numbers above 0, as exp(score) is")
        check_int("position", self.position, 0, len(self.weights) - 1)
        if not self.informative[self.position]:
            allowed = ", ".join(map(str, np.flatnonzero(self.informative)))
            refuse("position", self.position, f"an informative position: {allowed}")

    @cached_property
    def attention(self) -> Float[np.ndarray, "2 pos"]:
        """Alpha of x, and of x'."""
        other = self.weights.copy()
        other[self.position] = self.other_weight
        return theory.softmax(np.log(np.stack([self.weights, other])))

    @property
    def masses(self) -> tuple[float, float]:
        """alpha_i and alpha'_i."""
        a, b = self.attention[:, self.position]
        return float(a), float(b)

    @cached_property
    def centroid(self) -> Float[np.ndarray, " embed"]:
        """m, what the rest of either sequence is pooled to. Equation (13)."""
        return theory.rest_centroid(self.attention[0], self.values, self.position)

    @cached_property
    def pooled(self) -> Float[np.ndarray, "2 embed"]:
        """H and h'."""
        other = self.values.copy()
        other[self.position] = self.other_value
        return theory.pooled(self.attention, np.stack([self.values, other]))

    @property
    def pair(self) -> tuple[np.ndarray, np.ndarray]:
        """v_i and v'_i."""
        return self.values[self.position], self.other_value

    @property
    def distance(self) -> float:
        """norm(h - h'), by the closed form (14)."""
        return float(
            np.linalg.norm(theory.pooled_difference(*self.masses, *self.pair, self.centroid))
        )

    @property
    def spread(self) -> float:
        """Delta_emb for every attention: m can be no further off than the furthest v_j."""
        rest = np.delete(self.values, self.position, axis=0)
        return theory.value_spread(np.stack(self.pair), rest)

    @property
    def bounds(self) -> tuple[float, float]:
        """The lower bound (18), 0 where it says nothing, and the upper bound (16)."""
        separation = float(np.linalg.norm(self.pair[0] - self.pair[1]))
        lower = theory.gap_lower_bound(*self.masses, separation, self.spread)
        return max(float(lower), 0.0), float(theory.gap_upper_bound(*self.masses, self.spread))

    @property
    def needed(self) -> float:
        """c_margin / L_f = gamma Delta_emb, the distance that the MLP needs. Theorem 4.3."""
        return self.gamma * self.spread

    @property
    def divergence(self) -> Float[np.ndarray, " 2"]:
        """KL(alpha* || alpha) of x and of x', in nats."""
        return theory.kl_divergence(theory.oracle_attention(self.informative), self.attention)

    @property
    def structural(self) -> Bool[np.ndarray, " 2"]:
        """Whether B_gamma holds in x, and in x'."""
        return theory.structural_condition(self.attention, self.informative, self.gamma)


def routing_plane(routing: Routing) -> Picture:
    """What attention pools of two sequences, and the distance between against its bounds.

    Args:
        routing: the two sequences and their attention.

    Returns:
        A picture of 9.6 x 4.6 inches at 100 dots each: the plane of values with h and h',
        the two attentions, and the distance with (14), (16) and (18).
    """
    distance, needed = routing.distance, routing.needed
    with style():
        figure = fixed_picture(9.6, 4.6)
        grid = figure.add_gridspec(2, 2, width_ratios=[1, 1.1], hspace=0.65, wspace=0.34)
        _plane(figure.add_subplot(grid[:, 0]), routing)
        _attention(figure.add_subplot(grid[0, 1]), routing)
        _bounds(figure.add_subplot(grid[1, 1]), routing)
        words = "Far enough apart" if distance >= needed else "Too close together"
        in_x, in_other = ("holds" if holds else "is broken" for holds in routing.structural)
        titles(
            figure,
            f"{words}: ‖h − h′‖ is {distance:.2f}, and the MLP needs {needed:.2f}",
            f"Bᵧ, a mass of γ = {routing.gamma:g} or more on every informative position, "
            f"{in_x} in x and {in_other} in x′",
        )
    return figure


def _plane(ax: Axes, routing: Routing) -> None:
    i, m = routing.position, routing.centroid
    everything = np.vstack([routing.values, routing.other_value])
    low, high = everything.min(axis=0) - 0.45, everything.max(axis=0) + 0.45
    ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), aspect="equal", anchor="NW")
    ax.set(title=f"Pooled: h is α{_subscript(i)} of the way from m to v{_subscript(i)}")
    ax.set(xlabel="first coordinate", ylabel="second coordinate")
    ax.set_xticks(range(-1, 3))
    ax.set_yticks(range(-1, 2))
    # h lies on the line from m to v_i, at alpha_i of it.
    for value, h, fill in zip(routing.pair, routing.pooled, (GREEN, "white"), strict=True):
        ax.plot(*np.stack([m, value]).T, color=GREY, linewidth=1, linestyle=":", zorder=1)
        ax.plot(*h, marker="o", markersize=11, color=GREEN, markerfacecolor=fill, zorder=4)
    ax.plot(*routing.pooled.T, color=GREEN, linewidth=2.5, zorder=3)
    ax.plot(*m, marker="x", color=INK, markersize=8, markeredgewidth=2, zorder=2)
    ax.plot(*routing.values.T, marker="s", linestyle="", color=GREY, markersize=7)
    ax.plot(*routing.other_value, marker="s", color=GREY, markersize=7, markerfacecolor="white")
    names = [*(f"v{_subscript(j)}" for j in range(len(routing.values) - 1)), "v₌"]
    for name, value in zip(names, routing.values, strict=True):
        _name(ax, name, value, (0, 9), color="#555555")
    _name(ax, f"v′{_subscript(i)}", routing.other_value, (0, 9), color="#555555")
    _name(ax, "m", m, (11, -12), color=INK)
    h, other = routing.pooled
    places = ((name, *map(number, at)) for name, at in (("h", h), ("h′", other), ("m", m)))
    tell(ax, "; ".join(f"{name} at ({x}, {y})" for name, x, y in places))
    gap = h - other
    along = gap / np.linalg.norm(gap) if gap.any() else np.array([-1.0, 0.0])
    up = np.array([-along[1], along[0]]) * (1 if along[0] >= 0 else -1)
    for name, point, side in (("h", h, 1), ("h′", other, -1)):
        dx, dy = 13 * up + 8 * side * along
        _name(ax, name, point, (dx, dy - 4), color="#00563F", size=12, weight="bold")


def _name(ax: Axes, words: str, point: np.ndarray, offset: Any, **looks: Any) -> None:
    where: dict[str, Any] = {"textcoords": "offset points", "ha": "center", "zorder": 5}
    ax.annotate(words, (point[0], point[1]), offset, **where, **looks)


def _attention(ax: Axes, routing: Routing) -> None:
    positions, at = np.arange(len(routing.weights)), routing.informative
    oracle = theory.oracle_attention(at)
    colors = np.where(at, GREEN, GREY)
    for mass, shift, fill in zip(routing.attention, (-0.19, 0.19), (colors, "white"), strict=True):
        looks: dict[str, Any] = {"color": fill, "edgecolor": colors, "linewidth": 1.6}
        ax.bar(positions + shift, mass, width=0.34, **looks)
    left, right = positions[at] - 0.45, positions[at] + 0.45
    ax.hlines(oracle[at], left, right, color=INK, linewidth=2)
    ax.hlines(np.full(len(left), routing.gamma), left, right, color=INK, linestyle=(0, (3, 2)))
    ax.text(right[0] + 0.05, routing.gamma, "γ", va="center", size=10)
    ax.text(right[0] + 0.05, oracle[at][0], "oracle", va="center", size=9)
    x, other = routing.divergence
    ax.set(title=f"KL {x:.2f} nats in x (filled), {other:.2f} in x′ (open)")
    rows = zip(("x", "x′"), routing.attention, strict=True)
    tell(ax, "; ".join(f"{name}: {', '.join(map(number, mass))}" for name, mass in rows))
    ax.set(ylim=(0, 1), ylabel="share of attention", xlabel="position")
    ax.set_xticks(positions, [*map(str, positions[:-1]), "="])


def _bounds(ax: Axes, routing: Routing) -> None:
    lower, upper = routing.bounds
    end = routing.spread
    bars = {
        "at least (18)": (lower, GREY, f"{lower:.2f}" if lower else "0: says nothing"),
        "‖h − h′‖ (14)": (routing.distance, GREEN, f"{routing.distance:.2f}"),
        "at most (16)": (min(upper, end), GREY, f"{upper:.2f}{' →' if upper > end else ''}"),
    }
    for row, (length, color, words) in enumerate(bars.values()):
        ax.barh(row, length, height=0.5, color=color)
        shift, side = (-0.01, "right") if length > 0.8 * end else (0.01, "left")
        box = {"facecolor": "white", "edgecolor": "none", "pad": 1}
        ax.text(length + shift * end, row, words, va="center", ha=side, size=9, bbox=box)
    tell(ax, "; ".join(f"{name}: {words}" for name, (_, _, words) in bars.items()))
    ax.axvline(routing.needed, color=INK, linestyle=(0, (3, 2)), linewidth=1.2)
    ax.text(routing.needed + 0.01 * end, 2.42, "needed: γ Δ", va="bottom", size=9)
    ax.set_yticks(range(3), list(bars))
    ax.set(title="The distance and its bounds", xlabel="distance", xlim=(0, end), ylim=(-0.45, 2.9))
    ax.grid(False)


def _subscript(number: int) -> str:
    return str(number).translate(str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉"))
