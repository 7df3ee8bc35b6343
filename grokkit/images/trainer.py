"""Training one residual network on images: minibatches, an optimizer, records.

Smaller than :mod:`grokkit.engine.trainer`, and usual: one network at a time, autograd,
torch's own Adam. On a CPU it computes with one thread, so the same spec gives the same bits.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn import functional as F

from grokkit.core.common import stream as generator
from grokkit.core.measures import share
from grokkit.engine.group import GroupTrainer
from grokkit.engine.minibatches import Minibatches
from grokkit.engine.precision import one_thread
from grokkit.engine.spec_kinds import register_trainer
from grokkit.errors import refuse
from grokkit.images.resnet import ResNet18
from grokkit.images.spec import KIND, ImageSpec
from grokkit.images.task import ImageSet
from grokkit.tasks.base import change_arrays

MEANING: Mapping[str, str] = {
    "train_loss": "mean cross-entropy over the train set; nats",
    "test_loss": "mean cross-entropy over the test set; nats",
    "train_accuracy": "correct train images / train images",
    "test_accuracy": "correct test images / test images",
    "mirrored_accuracy": "the same over test images whose glyphs are trained on in other cells",
    "unmirrored_accuracy": "the same over all other test images",
    "weight_norm": "Frobenius norm of all parameters",
}
"""What each record is, and its unit; goes into the History.

Losses and accuracies are those of the network as it would be used: BatchNorm takes the
running means of training, not those of the images at hand.
"""

CHUNK = 512
"""How many images are looked at at once where no gradient is needed."""


@register_trainer(KIND)
class ImageTrainer(GroupTrainer):
    """One run on images, in training.

    Args:
        specs: one run; networks are trained one at a time.
        device: where it is trained.
        first: the number of the run, for messages.

    Raises:
        SettingError: there are several runs, or the batch size is not below the number of
            train images.
    """

    meaning = MEANING

    def __init__(
        self, specs: Sequence[ImageSpec], device: torch.device | str = "cpu", first: int = 0
    ) -> None:
        if len(specs) != 1:
            refuse("specs", f"{len(specs)} specs", "one ImageSpec")
        super().__init__(specs, device, first)

    @contextmanager
    def _settings(self) -> Iterator[None]:
        # On a GPU, let cuDNN choose algorithms that give the same bits every time.
        same_bits = torch.backends.cudnn.flags(enabled=True, benchmark=False, deterministic=True)
        with super()._settings(), same_bits:
            yield

    def _set_up(self) -> None:
        self.spec = spec = self.specs[0]
        self.data = spec.task.build(spec.seed)
        self.train, self.test = (
            change_arrays(one, lambda part: part.to(self.device))
            for one in (self.data.train, self.data.test)
        )
        self.tiles = self.data.tiles.to(self.device)
        self.mirrored = self.data.mirrored.to(self.device)
        side = spec.task.cell_size * min(spec.task.grid_rows, spec.task.grid_columns)
        # Born on the CPU, so that a run starts from the same numbers on every device.
        network = ResNet18(
            self.data.n_classes,
            spec.network.width,
            spec.network.stem_for(side),
            generator=generator(spec.seed, "parameters"),
        )
        self.network = network.to(self.device)
        kind = torch.optim.Adam if spec.optimizer == "adam" else torch.optim.AdamW
        self.optimizer = kind(
            self.network.parameters(), lr=spec.learning_rate, weight_decay=spec.weight_decay
        )
        self.batches = None
        if spec.batch_size is not None:
            self.batches = Minibatches(spec.batch_size, len(self.train), [spec.seed], self.device)
        self.per_run: Mapping[str, Sequence[float]] = {
            "mirror_rate": [self.data.mirror_rate],
            "answerable": [self.data.answerable],
            "n_train": [len(self.train)],
            "n_test": [len(self.test)],
        }
        self._finite = True

    def _train(self) -> None:
        self.network.train()
        for rows in self._batches():
            self.step(self.train if rows is None else self.train[rows])

    def step(self, batch: ImageSet) -> None:
        """One optimizer step on some train images."""
        loss = F.cross_entropy(self._logits(batch), batch.targets)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()

    def _batches(self) -> Iterator[Int[Tensor, " row"] | None]:
        if self.batches is None:
            yield None
            return
        for rows in self.batches(self.epoch):
            # A last batch of one image has no variance for a BatchNorm to divide by.
            if rows.shape[1] > 1:
                yield rows[0]

    def _logits(self, images: ImageSet) -> Float[Tensor, "example class"]:
        return self.network(self.spec.task.draw(self.tiles, images.glyphs))

    @torch.no_grad()
    def _look(self, recording: bool) -> dict[str, Tensor]:
        if not recording:
            return {}
        self.network.eval()
        train_loss, train_right = self._evaluate(self.train)
        test_loss, test_right = self._evaluate(self.test)
        squares = [weight.square().sum() for weight in self.network.parameters()]
        record = {
            "train_loss": train_loss.mean(),
            "test_loss": test_loss.mean(),
            "train_accuracy": share(train_right),
            "test_accuracy": share(test_right),
            "mirrored_accuracy": share(test_right[self.mirrored]),
            "unmirrored_accuracy": share(test_right[~self.mirrored]),
            "weight_norm": torch.stack(squares).sum().sqrt(),
        }
        self._finite = bool(record["train_loss"].isfinite())
        return {name: one.double().view(1) for name, one in record.items()}

    def _broken_at(self) -> list[int]:
        return [-1 if self._finite else self.epoch]

    def _evaluate(
        self, images: ImageSet
    ) -> tuple[Float[Tensor, " example"], Bool[Tensor, " example"]]:
        """The loss of each image, and whether it is right."""
        logits = torch.cat(
            [self._logits(images[i : i + CHUNK]) for i in range(0, len(images), CHUNK)]
        )
        loss = F.cross_entropy(logits.double(), images.targets, reduction="none")
        return loss, logits.argmax(dim=1) == images.targets

    def state(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        """All that a resumed run needs, the live tensors among it."""
        memory = self.optimizer.state_dict()["state"]
        names = [[parameter, name] for parameter, one in memory.items() for name in one]
        facts = self._facts() | {"memory": names}
        tensors = {f"network/{n}": value for n, value in self.network.state_dict().items()}
        for parameter, name in facts["memory"]:
            tensors[f"optimizer/{parameter}/{name}"] = memory[parameter][name]
        return facts, tensors | self.records.tensors()

    def load_state(self, facts: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> None:
        """Become the trainer of the same spec whose :meth:`state` this was."""
        self._load_facts(facts, tensors)
        network = self.network.state_dict()
        self.network.load_state_dict({name: tensors[f"network/{name}"] for name in network})
        memory: dict[int, dict[str, Tensor]] = {}
        for parameter, name in facts["memory"]:
            memory.setdefault(parameter, {})[name] = tensors[f"optimizer/{parameter}/{name}"]
        self.optimizer.load_state_dict({**self.optimizer.state_dict(), "state": memory})


SAMPLE = 2**24
"""How much is measured of an epoch: so many pixels times channels of the first stage."""

RECORD_SHARE = 1 / 3
"""What an image costs in a record, beside training on it: a forward pass without a backward."""


def seconds_per_epoch(spec: ImageSpec) -> float:
    """The seconds that an epoch takes on one core of this machine, with its share of a record.

    The time of one optimizer step on a part of a batch, the second one, times the number of
    images; a batch of the published network would itself take a minute.
    """
    trainer = ImageTrainer([spec])
    pixels = spec.task.cells * spec.task.cell_size**2
    fits = max(2, SAMPLE // (pixels * spec.network.width))
    batch = trainer.train[: min(spec.batch_size or len(trainer.train), fits)]
    with one_thread(trainer.device):
        trainer.step(batch)  # the first one pays for what is set up once
        start = time.perf_counter()
        trainer.step(batch)
        each = (time.perf_counter() - start) / len(batch)
    recorded = spec.task.n_inputs * RECORD_SHARE / spec.record_every
    return each * (len(trainer.train) + recorded)
