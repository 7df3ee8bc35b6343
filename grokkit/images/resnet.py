"""An 18-layer residual network with a width (He et al., arXiv 1512.03385, Table 1).

    stem     a 3x3 convolution, or, for large images, a 7x7 one that halves the image and a
             maximum over 3x3 that halves it again
    4 stages of 2 blocks, of w, 2w, 4w and 8w channels; all but the first halve the image
    a mean over the whole image, and a linear readout

A block is x + f(x) with two 3x3 convolutions in f, a BatchNorm after each: 1 + 16
convolutions and the readout are the 18 layers. Width 64 is the published network.

Axis names: ``example``, ``channel``, ``height``, ``width``, ``class``.
"""

from dataclasses import dataclass
from typing import Literal, get_args

import torch
from jaxtyping import Float
from torch import Tensor, nn

from grokkit.errors import check_choice, check_int

Stem = Literal["3x3", "7x7"]

LARGE = 64
"""Images whose shorter side has more pixels than this get the 7x7 stem, unless told."""


@dataclass(frozen=True)
class ResNetSpec:
    """The settings of the network.

    Attributes:
        width: w, the channels of the first stage, 1..256.
        stem: ``"3x3"`` or ``"7x7"``; None: by the size of the image.
    """

    width: int = 64
    stem: Stem | None = None

    def __post_init__(self) -> None:
        check_int("width", self.width, 1, 256)
        if self.stem is not None:
            check_choice("stem", self.stem, get_args(Stem))

    def stem_for(self, pixels: int) -> Stem:
        """The stem for images whose shorter side has so many pixels."""
        return self.stem or ("7x7" if pixels > LARGE else "3x3")


class Block(nn.Module):
    """x + f(x), and ReLU; where f changes the shape, x passes through a 1x1 convolution.

    Args:
        incoming: the channels of x.
        outgoing: the channels of f(x).
        stride: 2 halves the image.
    """

    def __init__(self, incoming: int, outgoing: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(incoming, outgoing, 3, stride, padding=1, bias=False)
        self.norm1 = nn.BatchNorm2d(outgoing)
        self.conv2 = nn.Conv2d(outgoing, outgoing, 3, padding=1, bias=False)
        self.norm2 = nn.BatchNorm2d(outgoing)
        self.shortcut = nn.Identity()
        if stride != 1 or incoming != outgoing:
            self.shortcut = nn.Sequential(
                nn.Conv2d(incoming, outgoing, 1, stride, bias=False), nn.BatchNorm2d(outgoing)
            )

    def forward(
        self, x: Float[Tensor, "example channel height width"]
    ) -> Float[Tensor, "example more_channels less_height less_width"]:
        """The output of the block."""
        inner = self.norm1(self.conv1(x)).relu()
        return (self.shortcut(x) + self.norm2(self.conv2(inner))).relu()


class ResNet18(nn.Module):
    """The network: images in, logits out.

    Args:
        n_classes: the number of classes.
        width: the channels of the first stage.
        stem: ``"3x3"`` or ``"7x7"``.
        channels: the channels of an image.
        generator: where the initial weights come from (He et al., arXiv 1502.01852: normal,
            of variance 2 / (kernel area * outgoing channels)); None for torch's own stream.
    """

    def __init__(
        self,
        n_classes: int,
        width: int = 64,
        stem: Stem = "7x7",
        channels: int = 1,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__()
        if stem == "7x7":
            first = nn.Conv2d(channels, width, 7, stride=2, padding=3, bias=False)
            after = nn.MaxPool2d(3, stride=2, padding=1)
        else:
            first = nn.Conv2d(channels, width, 3, padding=1, bias=False)
            after = nn.Identity()
        self.stem = nn.Sequential(first, nn.BatchNorm2d(width), nn.ReLU(), after)
        blocks, incoming = [], width
        for stage in range(4):
            outgoing = width * 2**stage
            blocks += [
                Block(incoming, outgoing, stride=1 if stage == 0 else 2),
                Block(outgoing, outgoing, stride=1),
            ]
            incoming = outgoing
        self.stages = nn.Sequential(*blocks)
        self.readout = nn.Linear(incoming, n_classes)
        self._initialise(generator)

    def forward(
        self, images: Float[Tensor, "example channel height width"]
    ) -> Float[Tensor, "example class"]:
        """The logits of some images."""
        features = self.stages(self.stem(images))
        return self.readout(features.mean(dim=(2, 3)))

    def _initialise(self, generator: torch.Generator | None) -> None:
        for layer in self.modules():
            if isinstance(layer, nn.Conv2d):
                nn.init.kaiming_normal_(
                    layer.weight, mode="fan_out", nonlinearity="relu", generator=generator
                )
        bound = self.readout.in_features**-0.5
        nn.init.uniform_(self.readout.weight, -bound, bound, generator=generator)
        nn.init.zeros_(self.readout.bias)
