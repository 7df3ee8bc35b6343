"""What an epoch of a run on images takes on this machine, measured on a few images."""

import time

from grokkit.engine.trainer import one_thread
from grokkit.images.spec import ImageSpec
from grokkit.images.trainer import ImageTrainer

SAMPLE = 2**24
"""How much is measured: so many pixels times channels of the first stage."""

LOOK = 1 / 3
"""What looking at an image costs, beside training on it: a forward pass without a backward."""


def seconds_per_epoch(spec: ImageSpec) -> float:
    """An estimate of the seconds that an epoch takes on one core, with its share of a record.

    The time of one optimizer step on a part of a batch, the second one, times the number of
    images; a batch of the published network would itself take a minute.
    """
    trainer = ImageTrainer(spec)
    pixels = spec.task.cells * spec.task.cell_size**2
    fits = max(2, SAMPLE // (pixels * spec.network.width))
    batch = trainer.train[: min(spec.batch_size or len(trainer.train), fits)]
    with one_thread(trainer.device):
        trainer.step(batch)  # the first one pays for what is set up once
        start = time.perf_counter()
        trainer.step(batch)
        each = (time.perf_counter() - start) / len(batch)
    looks = spec.task.n_inputs * LOOK / spec.record_every
    return each * (len(trainer.train) + looks)
