"""The residual network: its published size, its shapes, and its start."""

import pytest
import torch
from torch import nn

from grokkit.core.common import stream as generator
from grokkit.errors import SettingError
from grokkit.images import ImageSpec, ImageTrainer, ResNet18, ResNetSpec, image_presets
from grokkit.images.resnet import Block


def size(network: nn.Module) -> int:
    return sum(weight.numel() for weight in network.parameters())


def test_it_is_the_published_network():
    """He et al. give 18 layers of weights; of three colours and 1000 classes, 11.7 million."""
    network = ResNet18(1000, width=64, stem="7x7", channels=3)
    assert size(network) == 11_689_512
    on_the_way = [m for n, m in network.named_modules() if "shortcut" not in n]
    assert sum(isinstance(m, nn.Conv2d | nn.Linear) for m in on_the_way) == 18


@pytest.mark.parametrize("width", [1, 3, 8])
@pytest.mark.parametrize("stem", ["3x3", "7x7"])
def test_the_parameters_are_counted(width, stem):
    def block(i: int, o: int) -> int:
        shortcut = i * o + 2 * o if i != o else 0
        return 9 * i * o + 9 * o * o + 4 * o + shortcut

    w = width
    stages = sum(
        block(w * 2 ** max(0, s - 1), w * 2**s) + block(w * 2**s, w * 2**s) for s in range(4)
    )
    first = w * (9 if stem == "3x3" else 49) + 2 * w
    assert size(ResNet18(7, w, stem)) == first + stages + (8 * w + 1) * 7


@pytest.mark.parametrize(
    ("stem", "pixels", "expected"), [("3x3", (16, 32), (2, 4)), ("7x7", (64, 96), (2, 3))]
)
def test_three_stages_halve_the_image_and_the_large_stem_quarters_it(stem, pixels, expected):
    network = ResNet18(5, width=2, stem=stem).eval()
    images = torch.zeros(3, 1, *pixels)
    assert network.stages(network.stem(images)).shape == (3, 16, *expected)
    assert network(images).shape == (3, 5)


def test_the_full_size_of_the_paper_goes_through():
    spec = image_presets["paper"]
    data = spec.task.build(seed=0)
    images = spec.task.draw(data.tiles, data.train.glyphs[:2])
    assert images.shape == (2, 1, 224, 224)
    stem = spec.network.stem_for(224)
    network = ResNet18(data.n_classes, spec.network.width, stem).eval()
    with torch.no_grad():
        assert network(images).shape == (2, 49)
    # One channel for three and 49 classes for 1000: otherwise the published size.
    assert size(network) == 11_689_512 - 2 * 64 * 49 - (1000 - 49) * (512 + 1)
    assert (spec.batch_size, spec.optimizer, spec.learning_rate) == (200, "adam", 1e-3)
    assert (spec.weight_decay, stem, spec.network.width) == (1e-4, "7x7", 64)


def test_a_block_whose_f_is_zero_passes_on_what_comes_in():
    block = Block(4, 4, stride=1).eval()
    nn.init.zeros_(block.norm2.weight)
    x = torch.rand(2, 4, 6, 6)
    assert torch.equal(block(x), x)


def test_the_weights_begin_with_the_variance_of_he():
    network = ResNet18(10, width=32, generator=generator(0, "parameters"))
    for layer in network.modules():
        if isinstance(layer, nn.Conv2d) and layer.weight.numel() > 10_000:
            area = layer.kernel_size[0] * layer.kernel_size[1]
            expected = (2 / (area * layer.out_channels)) ** 0.5
            assert layer.weight.std().item() == pytest.approx(expected, rel=0.02)
            assert abs(layer.weight.mean().item()) < 0.05 * expected


def test_its_beginning_is_its_generator_s_alone():
    torch.manual_seed(1)
    first = ResNet18(5, 2, generator=generator(0, "parameters"))
    torch.manual_seed(2)
    again = ResNet18(5, 2, generator=generator(0, "parameters"))
    other = ResNet18(5, 2, generator=generator(1, "parameters"))
    pairs = zip(first.parameters(), again.parameters(), strict=True)
    assert all(torch.equal(one, two) for one, two in pairs)
    assert not torch.equal(first.readout.weight, other.readout.weight)


@pytest.mark.parametrize(("cell", "stem"), [(8, "3x3"), (64, "3x3"), (65, "7x7")])
def test_the_stem_goes_by_the_shorter_side(cell, stem):
    spec = image_presets["small"].with_(grid_rows=1, cell_size=cell, width=1, batch_size=None)

    def first(spec: ImageSpec) -> str:
        area = next(ImageTrainer([spec]).network.parameters()).shape[2:]
        return f"{area[0]}x{area[1]}"

    assert first(spec) == stem
    assert first(spec.with_(stem="7x7")) == "7x7"


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("field", "value"), [("width", 0), ("width", 257), ("width", 8.0), ("stem", "5x5")]
)
def test_a_bad_setting_is_refused_by_name(field, value):
    with pytest.raises(SettingError, match=rf"^{field}: got .*; allowed: "):
        ResNetSpec(**{field: value})
