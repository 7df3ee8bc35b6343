"""What is timed: the textbook loop, grokkit, its parts, and the floor.

A contender is made once for a spec and then called for some epochs at a time. All work on
the same data, in one thread, and evaluate on the test set equally often.
"""

import math
from collections.abc import Callable, Mapping

import torch
from torch import Tensor
from torch.nn import functional

from grokkit import core
from grokkit.bench.core_run import core_run
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


class EveryQuery(core.Transformer):
    """The core's network as a language model runs it: every position asks and is read out.

    What it computes for the last position is what the core computes; the rest is never used.
    """

    def forward(self, tokens: Tensor, oracle: Tensor | None = None) -> core.Seen:
        """As in the core."""
        e = functional.embedding(tokens, self.token_embedding) + self.position_embedding
        query, key, value = (
            self.by_head(e @ W).transpose(1, 2) for W in (self.W_Q, self.W_K, self.W_V)
        )  # [example, head, pos, d_head]
        scores = query @ key.transpose(2, 3) / math.sqrt(query.shape[-1])
        goal = None if oracle is None else oracle.unsqueeze(1)
        attention, log_attention = core.attend(scores, self.settings.attention, goal)
        h = (attention @ value).transpose(1, 2).flatten(2)
        if self.settings.output_projection:
            h = h @ self.W_O
        if self.settings.readout == "classifier":
            logits = self.mlp(h)
        else:
            logits = (e + h + self.mlp(e + h)) @ self.W_U
        scores, attention, log_attention = (
            part[:, :, -1] for part in (scores, attention, log_attention)
        )
        return core.Seen(scores, attention, log_attention, h[:, -1], logits[:, -1])


def careful(
    spec: RunSpec, network: type[core.Transformer] = core.Transformer
) -> Callable[[int], None]:
    """The core's loop: autograd on every sequence, and the last position as the only query."""
    run = core_run(spec)
    data = run.task.build(run.seed)
    length = data.train.tokens.shape[1]
    net = network(run.model, len(data.symbols), length, data.n_classes, run.seed)
    stepper = core.Stepper(run.optimizer, net)

    def one_epoch() -> None:
        core.differentiate(run, net, data.train, stepper.steps)
        stepper.step()
        if stepper.steps % run.record_every == 0:
            with torch.no_grad():
                logits = net(data.test.tokens, data.test.oracle).logits
                core.cross_entropy(logits, data.test.targets).mean()
                (logits.argmax(-1) == data.test.targets).sum()

    return each(one_epoch)


def textbook(spec: RunSpec) -> Callable[[int], None]:
    """The core's loop with every position as a query, as in an ordinary Transformer."""
    return careful(spec, EveryQuery)


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


CONTENDERS: Mapping[str, tuple[str, Contender]] = {
    "textbook": ("textbook loop: every query, autograd, evaluated as rarely", textbook),
    "careful": ("the core: the same, the last position as the only query", careful),
    "ours": ("grokkit, all records included", ours),
    "step": ("  of it: loss and gradient", step),
    "autograd": ("    the same by autograd, as other models and priors are", autograd),
    "forward": ("    of that: forward", forward),
    "loss": ("    of that: exact loss and its gradient", loss),
    "optimizer": ("  of it: optimizer step", optimizer),
    "probes": ("  one record, made every {every} epochs", probes),
    "floor": ("floor: the three hidden-to-class products alone", floor),
}
"""Every contender by name: what the report calls it, and how it is made."""
