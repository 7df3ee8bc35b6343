"""How colours are seen: their contrast, and their distance for every kind of eye."""

import numpy as np
from matplotlib.colors import to_rgb

# Machado, Oliveira and Fernandes 2009, severity 1, on linear RGB.
VISION = {
    "usual": np.eye(3),
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}


def lab(linear: np.ndarray) -> np.ndarray:
    """CIELAB of a linear sRGB colour."""
    to_xyz = np.array(
        [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    )
    xyz = to_xyz @ np.clip(linear, 0, 1) / [0.9505, 1, 1.089]
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def linear_of(color: str) -> np.ndarray:
    """The linear RGB of a hex colour."""
    srgb = np.array(to_rgb(color))
    return np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)


def contrast(color: str, behind: str = "#ffffff") -> float:
    """The contrast ratio of WCAG 2.2, from 1 to 21."""
    light = [float(linear_of(one) @ [0.2126, 0.7152, 0.0722]) + 0.05 for one in (color, behind)]
    return max(light) / min(light)
