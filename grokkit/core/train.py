"""The loop: everything above, put together, for one run.

    for each epoch
        record, if it is time to
        for each batch (the whole train set, unless there is a batch_size)
            loss      = mean cross-entropy + penalty of the prior         equation (6)
            gradient  = autograd
            weights   = one step of the optimizer

An epoch is one pass over the train set: a single step, unless there is a batch_size.
Epoch 0 is the network before the first step.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass, field

import torch
from torch import Tensor

from grokkit.core.common import refuse, stream
from grokkit.core.loss import cross_entropy
from grokkit.core.measures import GROKKED, Record, first_epoch, record
from grokkit.core.model import Model, Transformer
from grokkit.core.optimizers import AdamW, Optimizer, Stepper
from grokkit.core.priors import Prior, penalty
from grokkit.core.task import Examples, Parity, Task
from grokkit.core.tickets import Ticket, begin, mask_gradient, mask_weights


@dataclass(frozen=True)
class Run:
    """Everything that decides a run. Equal settings and equal seeds give equal runs.

    Attributes:
        task: what is learned.
        model: the network.
        optimizer: how it is trained.
        prior: what is added to the loss.
        seed: names the split, the distractors, the initial weights and the batches.
        epochs: the number of passes over the train set.
        batch_size: the number of examples of a step; None: all of them.
        record_every: the number of epochs between two records.
        stop_after: stop when the test accuracy has been 0.99 or more for this many epochs; None:
            never.
        ticket: the mask of chapter 7; None: none.
        mlp_radius: a control: |theta_MLP|_F is put back to this after every step; None: not.
        qk_penalty: a control: this times |W_Q|^2 + |W_K|^2 is added to the loss. It shrinks W_Q
            and W_K, as a prior also does, without telling them where to look.
        dtype: the precision of all weights.
    """

    task: Task | Parity = field(default_factory=Task)
    model: Model = field(default_factory=Model)
    optimizer: Optimizer = field(default_factory=AdamW)
    prior: Prior = field(default_factory=Prior)
    seed: int = 0
    epochs: int = 10_000
    batch_size: int | None = None
    record_every: int = 25
    stop_after: int | None = None
    ticket: Ticket | None = None
    mlp_radius: float | None = None
    qk_penalty: float = 0.0
    dtype: torch.dtype = torch.float32

    def __post_init__(self) -> None:
        if self.prior.strength > 0 and self.model.attention == "oracle":
            refuse("strength", self.prior.strength, "0 with attention 'oracle', which is frozen")


LIVE = Run(task=Task(p=43, train_fraction=0.5), optimizer=AdamW(learning_rate=5e-3), epochs=3000)
"""A run to watch: it memorises and groks within a minute."""


@dataclass(eq=False)
class Result:
    """What a run leaves behind.

    Attributes:
        run: its settings.
        net: the network as it was at the end.
        epochs: the epoch of each record.
        records: what was recorded; see :func:`grokkit.core.measures.record`.
        seconds: how long it took.
    """

    run: Run
    net: Transformer
    epochs: list[int] = field(default_factory=list)
    records: list[Record] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def memorised(self) -> int | None:
        """The first recorded epoch with train accuracy 0.99 or more."""
        return first_epoch(self.epochs, self.records, "train_accuracy")

    @property
    def grokked(self) -> int | None:
        """The first recorded epoch with test accuracy 0.99 or more."""
        return first_epoch(self.epochs, self.records, "test_accuracy")

    def curve(self, name: str) -> list[float]:
        """One measure over the records."""
        return [one[name] for one in self.records]


def train(run: Run) -> Result:
    """Train one run from beginning to end.

    >>> result = train(Run(Task(p=7, train_fraction=0.5), epochs=100))
    >>> result.epochs, round(result.records[0]["train_accuracy"], 2)
    ([0, 25, 50, 75, 100], 0.08)

    Raises:
        FloatingPointError: the loss is not finite.
    """
    data = run.task.build(run.seed)
    n_tokens, length = len(data.symbols), data.train.tokens.shape[1]
    net = Transformer(run.model, n_tokens, length, data.n_classes, run.seed).to(run.dtype)
    if run.ticket is not None:
        begin(run.ticket, net)
    stepper = Stepper(run.optimizer, net)
    result = Result(run, net)
    started = time.perf_counter()
    for epoch in range(run.epochs + 1):
        if epoch % run.record_every == 0 or epoch == run.epochs:
            result.epochs.append(epoch)
            result.records.append(record(net, data))
            if epoch == run.epochs or stays_grokked(result):
                break
        for rows in batches(run, len(data.train), epoch):
            examples = data.train if rows is None else data.train[rows]
            differentiate(run, net, examples, epoch)
            stepper.step()
            if run.ticket is not None:
                mask_weights(run.ticket, net)
            if run.mlp_radius is not None:
                put_on_sphere(net, run.mlp_radius)
    result.seconds = time.perf_counter() - started
    return result


def differentiate(run: Run, net: Transformer, examples: Examples, epoch: int) -> Tensor:
    """Fill the gradient of all weights; returns the loss without prior, a scalar.

    Args:
        run: the settings.
        net: the network, whose gradient is replaced.
        examples: the batch.
        epoch: the number of whole epochs so far.
    """
    seen = net(examples.tokens, examples.oracle)
    loss = cross_entropy(seen.logits, examples.targets).mean()
    if not loss.isfinite():
        raise FloatingPointError(f"loss not finite at epoch {epoch}")
    objective = loss + penalty(run.prior, seen, examples, epoch)
    if run.qk_penalty > 0:
        objective = objective + run.qk_penalty * (net.W_Q.square().sum() + net.W_K.square().sum())
    for W in net.parameters():
        W.grad = torch.zeros_like(W)
    objective.backward()
    if run.ticket is not None:
        mask_gradient(run.ticket, net)
    return loss.detach()


def batches(run: Run, examples: int, epoch: int) -> Iterator[Tensor | None]:
    """The examples of each step of an epoch: a random order, cut into pieces; None: all."""
    if run.batch_size is None:
        yield None
        return
    order = torch.randperm(examples, generator=stream(run.seed, f"batches/{epoch}"))
    yield from order.split(run.batch_size)


@torch.no_grad()
def put_on_sphere(net: Transformer, radius: float) -> None:
    """Scale theta_MLP to a Frobenius norm, so that only its direction is trained (Figure 2)."""
    parts = (net.W_1, net.b_1, net.W_2, net.b_2)
    norm = torch.stack([W.norm() for W in parts]).norm()
    for W in parts:
        W *= radius / norm


def stays_grokked(result: Result) -> bool:
    """Whether the test accuracy was 0.99 or more at every record of the last epochs."""
    wait, now = result.run.stop_after, result.epochs[-1]
    if wait is None or now < wait:
        return False
    accuracy = result.curve("test_accuracy")
    start = max(i for i, epoch in enumerate(result.epochs) if epoch <= now - wait)
    return all(one >= GROKKED for one in accuracy[start:])
