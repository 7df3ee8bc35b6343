"""Training one residual network on images: minibatches, an optimizer, records.

Smaller than :mod:`grokkit.engine.trainer`, and usual: one network at a time, autograd,
torch's own Adam. On a CPU it computes with one thread, so the same spec gives the same bits.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn import functional as F

from grokkit.engine.interrupts import interrupts_held
from grokkit.engine.minibatches import Minibatches
from grokkit.engine.trainer import GROKKED, one_thread
from grokkit.images.resnet import ResNet18
from grokkit.images.spec import ImageSpec
from grokkit.images.task import ImageSet
from grokkit.seeding import generator

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


class ImageTrainer:
    """One run on images, in training.

    Args:
        spec: the run.
        device: where it is trained.

    Raises:
        SettingError: the batch size is above the number of train images.
    """

    def __init__(self, spec: ImageSpec, device: torch.device | str = "cpu") -> None:
        self.spec = spec
        self.device = torch.device(device)
        self.data = spec.task.build(spec.seed)
        self.train, self.test = (one.to(self.device) for one in (self.data.train, self.data.test))
        self.tiles = self.data.tiles.to(self.device)
        self.mirrored = self.data.mirrored.to(self.device)
        height, width = (
            n * spec.task.cell_size for n in (spec.task.grid_rows, spec.task.grid_columns)
        )
        # Born on the CPU, so that a run starts from the same numbers on every device.
        network = ResNet18(
            self.data.n_classes,
            spec.network.width,
            spec.network.stem_for(min(height, width)),
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
        self.epoch = 0
        self.epochs: list[int] = []
        self.records: dict[str, list[float]] = {name: [] for name in MEANING}
        self.message = ""
        self.seconds = 0.0

    @property
    def done(self) -> bool:
        """Whether the run has ended."""
        return self.message != "" or (
            self.epoch == self.spec.epochs and self.epochs[-1:] == [self.epoch]
        )

    def advance(
        self,
        epochs: int | None = None,
        on_epoch: "Callable[[ImageTrainer], None] | None" = None,
    ) -> None:
        """Train until the end, or for a number of epochs.

        Args:
            epochs: how many epochs at most; None: all that are left.
            on_epoch: called after each whole epoch with this trainer; may stop it by raising
                KeyboardInterrupt. The records made until then stay.
        """
        last = self.spec.epochs
        stop = last if epochs is None else min(last, self.epoch + epochs)
        started = time.perf_counter()
        try:
            with one_thread(self.device), _same_bits():
                # At the last epoch of all once more, for the record that ends the run.
                while not self.done and (self.epoch < stop or stop == last):
                    due = self.epoch % self.spec.record_every == 0 or self.epoch == last
                    # After an interrupt this epoch may be on record already.
                    if due and self.epochs[-1:] != [self.epoch]:
                        self._record()
                    if self.done:
                        break
                    self._train()
                    self.epoch += 1
                    if on_epoch is not None:
                        on_epoch(self)
        finally:
            self.seconds += time.perf_counter() - started

    def _train(self) -> None:
        """One epoch's optimizer steps."""
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
    def _record(self) -> None:
        self.network.eval()
        train_loss, train_right = self._look(self.train)
        test_loss, test_right = self._look(self.test)
        squares = [weight.square().sum() for weight in self.network.parameters()]
        record = {
            "train_loss": train_loss.mean(),
            "test_loss": test_loss.mean(),
            "train_accuracy": _share(train_right),
            "test_accuracy": _share(test_right),
            "mirrored_accuracy": _share(test_right[self.mirrored]),
            "unmirrored_accuracy": _share(test_right[~self.mirrored]),
            "weight_norm": torch.stack(squares).sum().sqrt(),
        }
        values = {name: value.item() for name, value in record.items()}
        with interrupts_held():
            self.epochs.append(self.epoch)
            for name, value in values.items():
                self.records[name].append(value)
        if not record["train_loss"].isfinite():
            self.message = f"seed {self.spec.seed}: loss not finite at epoch {self.epoch}; stopped"
        elif self._held():
            self.message = f"stopped at epoch {self.epoch}: test accuracy held {GROKKED}"

    def _look(self, images: ImageSet) -> tuple[Float[Tensor, " example"], Bool[Tensor, " example"]]:
        """The loss of each image, and whether it is right."""
        logits = torch.cat(
            [self._logits(images[i : i + CHUNK]) for i in range(0, len(images), CHUNK)]
        )
        loss = F.cross_entropy(logits.double(), images.targets, reduction="none")
        return loss, logits.argmax(dim=1) == images.targets

    def _held(self) -> bool:
        """Whether the run has been grokked for ``stop_after`` epochs."""
        wait = self.spec.stop_after
        if wait is None or self.epoch < wait:
            return False
        accuracy = self.records["test_accuracy"]
        since = [a for e, a in zip(self.epochs, accuracy, strict=True) if e >= self.epoch - wait]
        return min(since) >= GROKKED


def _share(right: Bool[Tensor, " example"]) -> Float[Tensor, ""]:
    """The share of right answers, count / images in double precision; nan for 0 / 0."""
    return right.sum().double() / len(right)


@contextmanager
def _same_bits() -> Iterator[None]:
    """On a GPU, let cuDNN choose algorithms that give the same bits every time."""
    with torch.backends.cudnn.flags(enabled=True, benchmark=False, deterministic=True):
        yield
