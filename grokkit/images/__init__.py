"""Grokking away from tokens: a residual network that sums glyphs (arXiv 2504.03162).

An image is a grid of cells with a glyph in each, a blank or a polygon; its class is the sum
of their sides. A network that has memorised some of the images is tested on all others::

    from grokkit.diagnostics import grok_epoch, memorise_epoch
    from grokkit.images import image_presets, train_images

    history = train_images(image_presets["small"])
    memorise_epoch(history), grok_epoch(history, 0.95)

Smaller and more usual than :mod:`grokkit.engine`: one network at a time, autograd, torch's
Adam. What comes out is the same kind of History.
"""

from grokkit.images.cost import seconds_per_epoch
from grokkit.images.glyphs import SIDES, glyph, tiles
from grokkit.images.history import image_specs_of, to_image_history
from grokkit.images.resnet import ResNet18, ResNetSpec
from grokkit.images.run import train_images
from grokkit.images.spec import ImageSpec, image_presets
from grokkit.images.sweep import sweep_images
from grokkit.images.task import GlyphSum, ImageData, ImageSet
from grokkit.images.trainer import ImageTrainer

__all__ = [
    "SIDES",
    "GlyphSum",
    "ImageData",
    "ImageSet",
    "ImageSpec",
    "ImageTrainer",
    "ResNet18",
    "ResNetSpec",
    "glyph",
    "image_presets",
    "image_specs_of",
    "seconds_per_epoch",
    "sweep_images",
    "tiles",
    "to_image_history",
    "train_images",
]
