"""What is timed: the textbook loop, grokkit, its parts, and the floor.

A contender is made once for a spec and then called for some epochs at a time. All work on
the same data, in one thread, and evaluate on the test set equally often.
"""

from collections.abc import Callable, Mapping

import torch
from torch import nn
from torch.nn import functional

from grokkit.bench.textbook import Textbook
from grokkit.core.loss import loss_and_gradient
from grokkit.engine import RunSpec, Trainer
from grokkit.engine.autograd_step import AutogradStep
from grokkit.model import Transformer

Contender = Callable[[RunSpec], Callable[[int], None]]
"""Makes, for a spec, a function that does some epochs' work."""


def each(one_epoch: Callable[[], object]) -> Callable[[int], None]:
    """Some epochs' work, from that of one epoch."""

    def work(epochs: int) -> None:
        for _ in range(epochs):
            one_epoch()

    return work


def textbook(spec: RunSpec, last_only: bool = False) -> Callable[[int], None]:
    """An ordinary training loop: every query of every sequence, autograd, torch's AdamW."""
    data = spec.task.build(spec.seed)
    train, test = data.train, data.test
    torch.manual_seed(spec.seed)
    net = Textbook(spec.model, data.n_tokens, data.max_length, data.n_classes, last_only=last_only)
    setting = spec.optimizer
    optimizer = torch.optim.AdamW(
        net.parameters(), lr=setting.learning_rate, weight_decay=setting.weight_decay
    )
    epoch = 0

    def one_epoch() -> None:
        nonlocal epoch
        loss = functional.cross_entropy(net(train.tokens).logits[:, -1], train.targets)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), setting.clip)
        optimizer.step()
        if epoch % spec.record_every == 0:
            with torch.no_grad():
                logits = net(test.tokens).logits[:, -1]
                functional.cross_entropy(logits, test.targets)
                (logits.argmax(-1) == test.targets).sum()
        epoch += 1

    return each(one_epoch)


def careful(spec: RunSpec) -> Callable[[int], None]:
    """The textbook loop with the MLP at the last position only."""
    return textbook(spec, last_only=True)


def ours(spec: RunSpec) -> Callable[[int], None]:
    """Grokkit's trainer, with all of its records."""
    trainer = Trainer([spec])
    return trainer.advance


def step(spec: RunSpec) -> Callable[[int], None]:
    """Grokkit's loss and gradient alone."""
    trainer = Trainer([spec])
    return each(lambda: trainer.step(0))


def autograd(spec: RunSpec) -> Callable[[int], None]:
    """The same loss and gradient by the general path."""
    trainer = Trainer([spec])
    penalty = spec.prior.start([spec], trainer.train)
    general = AutogradStep(spec.model, trainer.train, trainer.weights, penalty)
    return each(lambda: general(0))


def forward(spec: RunSpec) -> Callable[[int], None]:
    """Grokkit's forward pass over the train set alone."""
    trainer = Trainer([spec])
    model = Transformer(spec.model, trainer.train, trainer.weights.layout.length)

    def one_pass() -> None:
        with torch.no_grad():
            model(trainer.weights)

    return each(one_pass)


def loss(spec: RunSpec) -> Callable[[int], None]:
    """Grokkit's exact cross-entropy and its gradient alone."""
    trainer = Trainer([spec])
    logits = trainer.step(0).logits.clone()
    targets = trainer.train.targets.unsqueeze(-1)
    buffer = torch.empty_like(logits)
    return each(lambda: loss_and_gradient(logits, targets, out=buffer))


def optimizer(spec: RunSpec) -> Callable[[int], None]:
    """One optimizer step alone."""
    return each(Trainer([spec]).optimizer.step)


def probes(spec: RunSpec) -> Callable[[int], None]:
    """One record alone: it is made every ``record_every`` epochs."""
    trainer = Trainer([spec])
    output = trainer.step(0, record=True)
    return each(lambda: trainer.probes(output))


def floor(spec: RunSpec) -> Callable[[int], None]:
    """The three hidden-to-class products, which no exact full-batch step can do without."""
    data = spec.task.build(spec.seed)
    examples = len(data.train)
    stream = torch.Generator().manual_seed(0)
    hidden = torch.randn(examples, spec.model.d_mlp, generator=stream).relu()
    matrix = torch.randn(spec.model.d_mlp, data.n_classes, generator=stream)
    gradient = torch.randn(examples, data.n_classes, generator=stream)
    logits = torch.empty_like(gradient)
    d_hidden = torch.empty_like(hidden)
    d_matrix = torch.empty_like(matrix)

    def one_epoch() -> None:
        torch.mm(hidden, matrix, out=logits)
        torch.mm(hidden.T, gradient, out=d_matrix)
        torch.mm(gradient, matrix.T, out=d_hidden)

    return each(one_epoch)


CONTENDERS: Mapping[str, Contender] = {
    "textbook": textbook,
    "careful": careful,
    "ours": ours,
    "step": step,
    "autograd": autograd,
    "forward": forward,
    "loss": loss,
    "optimizer": optimizer,
    "probes": probes,
    "floor": floor,
}
"""Every contender by name."""
