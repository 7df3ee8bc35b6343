"""Grokking away from tokens: a residual network that sums glyphs (arXiv 2504.03162).

An image is a grid of cells with a glyph in each, a blank or a polygon; its class is the sum
of their sides. A network that has memorised some of the images is tested on all others::

    import grokkit
    from grokkit.diagnostics import grok_epoch, memorise_epoch
    from grokkit.images import image_presets

    history = grokkit.train(image_presets["small"])
    memorise_epoch(history), grok_epoch(history, 0.95)

One more kind of run: its specs are trained, swept, checkpointed and stored as those of a
transformer are. Only the training itself is another, and a more usual one.
"""

from grokkit.images.glyphs import SIDES, glyph, tiles
from grokkit.images.resnet import ResNet18, ResNetSpec
from grokkit.images.spec import ImageSpec, image_presets
from grokkit.images.task import GlyphSum, ImageData, ImageSet
from grokkit.images.trainer import ImageTrainer, seconds_per_epoch
