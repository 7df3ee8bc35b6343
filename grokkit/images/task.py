"""Images of several glyphs, to be summed: grokking away from tokens (arXiv 2504.03162).

An image is a grid of cells with a glyph in each, and its class is the sum of the numbers
that they stand for. The data set is every image there is: alphabet^cells of them. So an
image is known by its glyphs alone, and is put together from tiles when it is looked at;
14,641 images of 224 pixels need the memory of eleven glyphs.

Beware of mirror images. A sum does not ask where its glyphs stand, and four glyphs can stand
in up to 24 orders: in the setting of the paper 97 % of the test images have the same glyphs
as some train image. A network may answer these by ignoring places, without a notion of
number. ``split="unordered"`` leaves none; otherwise the accuracies are recorded apart.

Axis names: ``example`` (an image), ``cell`` (a place in its grid, row by row), ``glyph`` (a
place in the alphabet), ``channel`` (one: brightness), ``row`` and ``column`` (of pixels).
"""

from dataclasses import dataclass
from typing import ClassVar

import torch
from jaxtyping import Bool, Float, Int, UInt8
from torch import Tensor

from grokkit.errors import check_int, refuse
from grokkit.images.glyphs import SIDES, WHITE, tiles
from grokkit.tasks.base import change_arrays, tuples_for_lists
from grokkit.tasks.split import SplitKind, check_split, decode, split_operands

MAX_IMAGES = 1_000_000
MAX_PIXELS = 1024


@dataclass(frozen=True, eq=False)
class ImageSet:
    """Some images with their classes.

    Attributes:
        glyphs: which glyph of the alphabet stands in each cell.
        targets: the sum of their sides.
    """

    glyphs: Int[Tensor, "example cell"]
    targets: Int[Tensor, " example"]

    def __len__(self) -> int:
        return len(self.targets)

    def __getitem__(self, rows: Tensor | slice) -> "ImageSet":
        return change_arrays(self, lambda part: part[rows])


@dataclass(frozen=True, eq=False)
class ImageData:
    """Train and test images over one alphabet. Train and test share none.

    Attributes:
        train: the images that are trained on.
        test: all others.
        tiles: the picture of each glyph, 0 (black) to 255 (white).
        n_classes: 1 + the largest sum there could be.
        mirrored: which test images have the same glyphs, in other cells, as a train image:
            these have the same class, and a network that pools over places may take one for
            the other.
    """

    train: ImageSet
    test: ImageSet
    tiles: UInt8[Tensor, "glyph row column"]
    n_classes: int
    mirrored: Bool[Tensor, " example"]

    @property
    def mirror_rate(self) -> float:
        """The fraction of test images that are mirrored."""
        return self.mirrored.double().mean().item()

    @property
    def answerable(self) -> float:
        """The fraction of test images whose class some train image has.

        No network can do better: the extreme sums have one image each, (0, 0, ...) and
        (12, 12, ...), and where that is not trained on, its class is never seen.
        """
        return torch.isin(self.test.targets, self.train.targets).double().mean().item()


@dataclass(frozen=True)
class GlyphSum:
    """The sum of the sides of all glyphs in an image.

    Attributes:
        grid_rows: the rows of cells.
        grid_columns: the columns of cells.
        alphabet: the glyphs by their number of sides: 0 is blank, and 3..12.
        cell_size: the height and the width of a cell, in pixels, 4 or more.
        train_fraction: the fraction of the images that are trained on.
        split: ``"pair"``: by image; ``"unordered"``: images with the same glyphs in other
            cells stay on the same side.

    >>> data = GlyphSum(grid_rows=2, cell_size=112, train_fraction=0.25).build(seed=0)
    >>> len(data.train), len(data.test), data.n_classes
    (3660, 10981, 49)
    """

    grid_rows: int = 1
    grid_columns: int = 2
    alphabet: tuple[int, ...] = SIDES
    cell_size: int = 16
    train_fraction: float = 0.5
    split: SplitKind = "pair"

    kind: ClassVar[str] = "glyph_sum"

    def __post_init__(self) -> None:
        tuples_for_lists(self, "alphabet")
        good = (
            isinstance(self.alphabet, tuple)
            and all(type(sides) is int and sides in SIDES for sides in self.alphabet)
            and len(set(self.alphabet)) == len(self.alphabet) >= 2
        )
        if not good:
            refuse("alphabet", self.alphabet, f"2 or more distinct ones of {SIDES}")
        check_int("cell_size", self.cell_size, 4, MAX_PIXELS)
        for name in ("grid_rows", "grid_columns"):
            check_int(name, getattr(self, name), 1, MAX_PIXELS // self.cell_size)
        # Compared as powers of two first: the number itself may have thousands of digits.
        if self.cells > 20 or self.n_inputs > MAX_IMAGES:
            allowed = f"so few cells that alphabet^cells is at most {MAX_IMAGES}"
            refuse("grid_columns", self.grid_columns, allowed)
        check_split(self.train_fraction, self.n_inputs, self.split)

    @property
    def cells(self) -> int:
        """The number of cells of an image."""
        return self.grid_rows * self.grid_columns

    @property
    def n_inputs(self) -> int:
        """The number of images in train and test together: alphabet^cells."""
        return len(self.alphabet) ** self.cells

    @property
    def n_classes(self) -> int:
        """1 + the largest sum; not every smaller one need occur."""
        return 1 + self.cells * max(self.alphabet)

    def build(self, seed: int) -> ImageData:
        """The data of this task for one seed, 0 or more: which images are trained on."""
        check_int("seed", seed, 0)
        base = len(self.alphabet)
        glyphs = decode(torch.arange(self.n_inputs), base, self.cells)
        train, flags = split_operands(
            glyphs, base, self.split, self.train_fraction, seed, commutes=True
        )
        assert flags is not None, "a sum commutes"
        everything = ImageSet(glyphs, torch.tensor(self.alphabet)[glyphs].sum(dim=1))
        return ImageData(
            train=everything[train],
            test=everything[~train],
            tiles=tiles(self.alphabet, self.cell_size),
            n_classes=self.n_classes,
            mirrored=flags,
        )

    def draw(
        self, tiles: UInt8[Tensor, "glyph row column"], glyphs: Int[Tensor, "example cell"]
    ) -> Float[Tensor, "example channel height width"]:
        """The images of some examples, as a network sees them: 0 is white, 1 is black."""
        size = tiles.shape[1]
        ink = 1 - tiles[glyphs].to(torch.float32) / WHITE
        grid = ink.unflatten(1, (self.grid_rows, self.grid_columns))
        # From [example, grid row, grid column, row, column] to rows of pixels.
        grid = grid.transpose(2, 3)
        return grid.reshape(-1, 1, self.grid_rows * size, self.grid_columns * size)
