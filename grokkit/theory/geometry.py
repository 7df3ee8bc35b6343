"""Appendix A.3: how far apart attention can keep two inputs.

Two sequences x and x' differ at one informative position i. Scores are local, so every
other score is the same, and the whole change of attention is one common factor. What is
pooled moves only through the masses a = alpha_i and b = alpha'_i, the two values v = v_i and
v' = v'_i, and the centroid m of all the rest, which x and x' share.

In code: ``mass`` is a, ``mass_other`` is b, ``value`` and ``value_other`` are v and v',
``centroid`` is m, ``spread`` is Delta_emb and ``separation`` is xi. Axis names: ``pos``, ``embed``.
All holds for softmax, and for normalised ReLU attention where it exists; a mass of
exactly 1 leaves no centroid and is refused.

Source: arXiv 2605.15787, Appendix A.3, equations (11) to (21), and (24).
"""

import numpy as np
from jaxtyping import Float

from grokkit.theory._checks import Number, Result, mass_below_one, non_negative, require
from grokkit.theory.statements import states


@states("eq. (13)")
def rest_centroid(
    attention: Float[np.ndarray, "*#batch pos"],
    values: Float[np.ndarray, "*#batch pos embed"],
    position: int,
) -> Float[np.ndarray, "*batch embed"]:
    """The centroid m = sum_{j != i} alpha_j v_j / (1 - alpha_i) of the rest. Equation (13).

    The same for x and x'. A convex combination of values, so no longer than the longest.

    Args:
        attention: alpha.
        values: v.
        position: i.
    """
    rest = np.delete(attention, position, axis=-1)
    # Summing the rest keeps digits that 1 - alpha_i would cancel when alpha_i is near 1.
    rest_mass = rest.sum(axis=-1, keepdims=True)
    require(rest_mass > 0, "attention[position]", 1 - rest_mass, "an attention mass below 1")
    return np.einsum("...p,...pe->...e", rest / rest_mass, np.delete(values, position, axis=-2))


@states("eq. (14)")
def pooled_difference(
    mass: Number,
    mass_other: Number,
    value: Float[np.ndarray, "*batch embed"],
    value_other: Float[np.ndarray, "*batch embed"],
    centroid: Float[np.ndarray, "*batch embed"],
) -> Float[np.ndarray, "*batch embed"]:
    """The closed form h - h' = alpha_i (v_i - m) - alpha'_i (v'_i - m). Equation (14)."""
    mass_below_one(mass=mass, mass_other=mass_other)
    return _column(mass) * (value - centroid) - _column(mass_other) * (value_other - centroid)


@states("eq. (17)")
def pooled_difference_rearranged(
    mass: Number,
    mass_other: Number,
    value: Float[np.ndarray, "*batch embed"],
    value_other: Float[np.ndarray, "*batch embed"],
    centroid: Float[np.ndarray, "*batch embed"],
) -> Float[np.ndarray, "*batch embed"]:
    """The same, as h - h' = alpha_i (v_i - v'_i) + (alpha_i - alpha'_i)(v'_i - m). (17)."""
    mass_below_one(mass=mass, mass_other=mass_other)
    change = np.subtract(mass, mass_other)
    return _column(mass) * (value - value_other) + _column(change) * (value_other - centroid)


@states("eqs. (16, 24)")
def value_spread(
    values: Float[np.ndarray, "item embed"], centroids: Float[np.ndarray, "row embed"]
) -> float:
    """Delta_emb as measured: the largest norm(v - m) over values and centroids. Eq. (16)."""
    gaps = np.linalg.norm(values[:, None, :] - centroids[None, :, :], axis=-1)
    return float(gaps.max())


@states("eqs. (16, 24)")
def gap_upper_bound(mass: Number, mass_other: Number, spread: Number) -> Result:
    """norm(h - h') <= (alpha_i + alpha'_i) * Delta_emb: the bottleneck. Equations (16), (24).

    Args:
        mass: alpha_i.
        mass_other: alpha'_i.
        spread: Delta_emb, at least norm(v_i - m) and norm(v'_i - m).
    """
    mass_below_one(mass=mass, mass_other=mass_other)
    non_negative(spread=spread)
    return np.add(mass, mass_other) * spread


@states("eq. (18)")
def gap_lower_bound(mass: Number, mass_other: Number, separation: Number, spread: Number) -> Result:
    """norm(h - h') >= max(alpha_i, alpha'_i) xi - Delta_emb abs(alpha_i - alpha'_i). Eq. (18).

    The paper writes min for max; both hold, as (17) can be written from either side, and
    max is the better. Where it is negative it says nothing: B_gamma alone does not keep h
    and h' apart, see ``counterexamples.collision``.

    Args:
        mass: alpha_i.
        mass_other: alpha'_i.
        separation: xi, at most norm(v_i - v'_i), equation (11).
        spread: Delta_emb.
    """
    mass_below_one(mass=mass, mass_other=mass_other)
    non_negative(separation=separation, spread=spread)
    change = np.abs(np.subtract(mass, mass_other))
    return np.maximum(mass, mass_other) * separation - change * spread


@states("eq. (19)")
def squared_gap_terms(
    mass: Number,
    mass_other: Number,
    value: Float[np.ndarray, "*batch embed"],
    value_other: Float[np.ndarray, "*batch embed"],
    centroid: Float[np.ndarray, "*batch embed"],
) -> tuple[Float[np.ndarray, "*batch"], Float[np.ndarray, "*batch"]]:
    """The two terms whose sum is norm(h - h')^2 exactly. Equation (19).

    With u = v - m and w = v' - m: a b norm(u - w)^2 and (a - b)(a norm(u)^2 - b norm(w)^2). The
    second is negative when the input with the larger mass has the smaller a norm(u)^2.
    """
    mass_below_one(mass=mass, mass_other=mass_other)
    u, w = value - centroid, value_other - centroid
    moments = np.multiply(mass, (u * u).sum(-1)) - np.multiply(mass_other, (w * w).sum(-1))
    first = np.multiply(mass, mass_other) * ((u - w) ** 2).sum(-1)
    return np.asarray(first), np.asarray(np.subtract(mass, mass_other) * moments)


def _column(number: Number) -> np.ndarray:
    """A number per example as a factor of its vector."""
    return np.asarray(number)[..., None]
