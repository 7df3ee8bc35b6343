"""The images: which there are, what their class is, and how they are put together."""

from itertools import product

import pytest
import torch

from grokkit.errors import SettingError
from grokkit.images import SIDES, GlyphSum, glyph, image_presets

SMALL = GlyphSum(grid_rows=2, grid_columns=1, alphabet=(0, 3, 5, 12), cell_size=8)


def everything(data) -> list[tuple[int, ...]]:
    return [tuple(row) for part in (data.train, data.test) for row in part.glyphs.tolist()]


@pytest.mark.parametrize("cells", [(1, 1), (1, 2), (2, 2), (3, 1)])
def test_the_images_are_all_that_the_alphabet_gives(cells):
    task = GlyphSum(*cells, alphabet=(0, 3, 5), cell_size=8)
    data = task.build(seed=0)
    assert sorted(everything(data)) == sorted(product(range(3), repeat=cells[0] * cells[1]))
    assert len(data.train) == round(task.train_fraction * task.n_inputs)


def test_the_class_is_the_sum_of_the_sides():
    data = SMALL.build(seed=1)
    for part in (data.train, data.test):
        for glyphs, target in zip(part.glyphs.tolist(), part.targets.tolist(), strict=True):
            assert target == sum(SMALL.alphabet[one] for one in glyphs)
    assert data.n_classes == 2 * 12 + 1


def test_the_paper_s_task_has_14641_images_and_49_classes():
    data = image_presets["paper"].task.build(seed=0)
    assert (len(data.train), len(data.test), data.n_classes) == (3660, 10_981, 49)
    assert data.tiles.shape == (11, 112, 112)
    assert round(data.mirror_rate, 2) == 0.97


@pytest.mark.parametrize("seed", [0, 3])
def test_a_mirrored_image_has_the_glyphs_of_a_train_image_in_other_cells(seed):
    data = GlyphSum(2, 2, alphabet=(0, 3, 4), cell_size=8, train_fraction=0.3).build(seed)
    trained = {tuple(sorted(row)) for row in data.train.glyphs.tolist()}
    expected = [tuple(sorted(row)) in trained for row in data.test.glyphs.tolist()]
    assert data.mirrored.tolist() == expected
    assert data.mirror_rate == sum(expected) / len(expected)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_an_image_is_answerable_if_its_sum_is_trained_on(seed):
    data = GlyphSum(2, 2, alphabet=(0, 3, 12), cell_size=8, train_fraction=0.3).build(seed)
    known = set(data.train.targets.tolist())
    share = sum(target in known for target in data.test.targets.tolist()) / len(data.test)
    assert data.answerable == pytest.approx(share, rel=1e-12)
    assert share < 1


def test_an_unordered_split_leaks_no_mirror_image():
    data = GlyphSum(2, 2, alphabet=(0, 3, 4, 5), cell_size=8, split="unordered").build(seed=0)
    assert data.mirror_rate == 0


def test_the_same_seed_gives_the_same_split_and_another_another():
    first, again, other = (SMALL.build(seed) for seed in (2, 2, 3))
    assert torch.equal(first.train.glyphs, again.train.glyphs)
    assert torch.equal(first.tiles, again.tiles)
    assert not torch.equal(first.train.glyphs, other.train.glyphs)


def test_an_image_has_each_glyph_in_its_cell_row_by_row():
    task = GlyphSum(2, 3, alphabet=(0, 3, 4, 7, 9), cell_size=10, train_fraction=0.01)
    data = task.build(seed=0)
    glyphs = torch.tensor([[0, 1, 2, 3, 4, 1], [4, 4, 3, 2, 1, 0]])
    images = task.draw(data.tiles, glyphs)
    assert images.shape == (2, 1, 20, 30)
    for image, cells in zip(images, glyphs.tolist(), strict=True):
        for place, one in enumerate(cells):
            down, right = divmod(place, 3)
            cell = image[0, 10 * down : 10 * down + 10, 10 * right : 10 * right + 10]
            expected = 1 - glyph(task.alphabet[one], 10).to(torch.float32) / 255
            assert torch.equal(cell, expected)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("field", "value"),
    [
        *(("alphabet", value) for value in [(), (3,), (3, 3), (2, 3), (3, 13), (3, 4.0), "34", 3]),
        ("alphabet", (False, 3)),
        *(("grid_rows", value) for value in [0, 65, 1.0, True, None]),
        *(("grid_columns", value) for value in [0, 6, 64, None]),
        *(("cell_size", value) for value in [3, 1025, 16.0, None]),
        *(("train_fraction", value) for value in [0, 1, 1e-4, "0.5", None]),
        ("split", "halves"),
    ],
)
def test_a_bad_setting_is_refused_by_name(field, value):
    with pytest.raises(SettingError, match=rf"^{field}: got .*; allowed: "):
        GlyphSum(**{field: value})


@pytest.mark.usefixtures("unchecked")
def test_lists_become_tuples_and_seeds_are_whole_numbers():
    task = GlyphSum(alphabet=[0, 3])  # pyright: ignore[reportArgumentType]
    assert hash(task) == hash(GlyphSum(alphabet=(0, 3)))
    with pytest.raises(SettingError, match=r"^seed: "):
        task.build(0.5)  # pyright: ignore[reportArgumentType]
    assert GlyphSum().alphabet == SIDES
