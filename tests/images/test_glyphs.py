"""Glyphs: what is drawn, to the bit and by its shape."""

import math

import numpy as np
import pytest
import torch

from grokkit.errors import SettingError
from grokkit.images import SIDES, glyph, tiles


def test_a_blank_is_white_and_everything_else_is_not():
    assert (glyph(0, 16) == 255).all()
    for sides in SIDES[1:]:
        assert glyph(sides, 16).min() < 128


@pytest.mark.parametrize("size", [4, 8, 16, 33, 112])
def test_all_glyphs_differ_at_every_size(size):
    drawn = tiles(SIDES, size)
    assert drawn.shape == (11, size, size)
    assert drawn.dtype == torch.uint8
    assert len({one.numpy().tobytes() for one in drawn}) == 11


@pytest.mark.parametrize("sides", SIDES[1:])
def test_a_circle_inside_the_polygon_crosses_one_spoke_for_each_side(sides):
    """What a person counts: dark strokes on the way round."""
    size = 256
    ink = glyph(sides, size) < 128
    # Well inside the edge, which comes nearest to the middle half-way between two corners.
    radius = 0.6 * 0.44 * size * math.cos(math.pi / sides)
    turn = np.arange(4000) / 4000 * 2 * math.pi
    row = (size / 2 - radius * np.cos(turn)).astype(int)
    column = (size / 2 + radius * np.sin(turn)).astype(int)
    on = ink.numpy()[row, column]
    assert (on & ~np.roll(on, 1)).sum() == sides


@pytest.mark.parametrize("sides", SIDES[1:])
def test_a_glyph_is_its_own_mirror_image_and_stays_in_its_cell(sides):
    drawn = glyph(sides, 64).to(torch.float64)
    # Left and right differ by rounding alone: half a pixel here and there.
    assert (drawn - drawn.flip(1)).abs().mean() < 16
    frame = torch.cat([drawn[0], drawn[-1], drawn[:, 0], drawn[:, -1]])
    assert (frame == 255).all()


@pytest.mark.parametrize("sides", [3, 4, 7, 12])
def test_the_ink_is_where_a_ruler_would_put_it(sides):
    size, fine = 56, 8
    turn = 2 * np.pi * np.arange(sides) / sides
    corners = size * (0.5 + 0.44 * np.stack([np.sin(turn), -np.cos(turn)], axis=1))
    middle = np.full((sides, 2), size / 2)
    begin = np.concatenate([corners, middle])
    along = np.concatenate([np.roll(corners, -1, axis=0), corners]) - begin
    centre = (np.arange(size * fine) + 0.5) / fine
    points = np.stack(np.meshgrid(centre, centre), axis=-1)[:, :, None]
    share = ((points - begin) * along).sum(-1) / (along**2).sum(-1)
    nearest = begin + share.clip(0, 1)[..., None] * along
    far = np.linalg.norm(points - nearest, axis=-1).min(axis=2)
    ink = (far <= size / 28 / 2).reshape(size, fine, size, fine).mean(axis=(1, 3))
    drawn = 1 - glyph(sides, size).numpy() / 255
    assert np.abs(drawn - ink).mean() < 0.02
    assert drawn.mean() == pytest.approx(ink.mean(), rel=0.08)


def test_a_glyph_is_the_same_bits_when_it_is_drawn_again_and_in_an_alphabet():
    for place, sides in enumerate(SIDES):
        assert torch.equal(glyph(sides, 24), tiles(SIDES, 24)[place])


@pytest.mark.parametrize("sides", [1, 2, 13, -3, 3.0, "3", True, None])
@pytest.mark.usefixtures("unchecked")
def test_there_is_no_other_glyph(sides):
    with pytest.raises(SettingError, match=r"^sides: got .*; allowed: 0, 3, 4, "):
        glyph(sides, 16)


@pytest.mark.parametrize("size", [3, 1025, 16.0, None])
@pytest.mark.usefixtures("unchecked")
def test_there_is_no_other_size(size):
    with pytest.raises(SettingError, match=r"^size: got "):
        glyph(3, size)
