"""Glyphs: a blank, or a regular polygon with a spoke to each of its corners.

A glyph stands for a number, its count of sides: 0 for the blank, 3 for the triangle, up to
12. To read it a network must count, or know each of them by sight.

Axis names: ``glyph`` (a place in an alphabet), ``row`` and ``column`` (of pixels).
"""

import math
from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import UInt8
from PIL import Image, ImageDraw
from torch import Tensor

from grokkit.errors import check_int, refuse

BLANK = 0
"""The number of sides of the empty cell."""

SIDES = (BLANK, *range(3, 13))
"""The glyphs of arXiv 2504.03162: the blank and the polygons of 3 to 12 sides."""

WHITE = 255

_FINER = 8
"""Pillow draws without shades of grey: so draw this much larger, and take means."""

_RADIUS = 0.44
"""From the middle of the cell to a corner, as a share of the cell."""

_STROKE = 1 / 28
"""The width of a stroke, as a share of the cell; but a pixel at least."""


def glyph(sides: int, size: int) -> UInt8[Tensor, "row column"]:
    """One glyph, black on white, a corner at the top.

    The same bits for the same numbers, with one version of Pillow.

    Returns:
        Brightness, 0 (black) to 255 (white).
    """
    if type(sides) is not int or sides not in SIDES:
        refuse("sides", sides, ", ".join(map(str, SIDES)))
    check_int("size", size, 4, 1024)
    fine = size * _FINER
    canvas = Image.new("L", (fine, fine), WHITE)
    if sides != BLANK:
        pen = ImageDraw.Draw(canvas)
        width = round(max(1, _STROKE * size) * _FINER)
        middle = (fine // 2, fine // 2)
        turns = [2 * math.pi * corner / sides for corner in range(sides)]
        # Whole numbers: the last bit of a sine may differ between machines.
        corners = [
            (
                round(fine / 2 + _RADIUS * fine * math.sin(turn)),
                round(fine / 2 - _RADIUS * fine * math.cos(turn)),
            )
            for turn in turns
        ]
        pen.line([*corners, corners[0], corners[1]], fill=0, width=width, joint="curve")
        for corner in corners:
            pen.line([middle, corner], fill=0, width=width)
    return torch.from_numpy(np.array(canvas.reduce(_FINER)))


def tiles(alphabet: Sequence[int], size: int) -> UInt8[Tensor, "glyph row column"]:
    """All glyphs of an alphabet."""
    return torch.stack([glyph(sides, size) for sides in alphabet])
