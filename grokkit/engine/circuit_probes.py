"""What is recorded too where a spec asks for it: how the kernel turns, and how sums are made.

The kernel says whether the features that a network began with have moved
(:mod:`grokkit.diagnostics.kernel`); gradient symmetry and distance irrelevance by which circuit
it adds (:mod:`grokkit.diagnostics.clock`); and the patched accuracies what is left of its
answers where its attention is replaced by the oracle's, the same on both operands. One record
costs about as much as 25 epochs of a small network; ``RunSpec.circuits`` turns it on.
"""

from collections.abc import Mapping
from dataclasses import replace

import torch
from torch import Tensor

from grokkit.diagnostics.clock import distance_irrelevance, gradient_symmetry
from grokkit.diagnostics.fourier import all_sequences, logit_table, operands
from grokkit.diagnostics.kernel import (
    evenly_spaced,
    kernel_drift,
    kernel_turn,
    network_logits,
    tangent_kernel,
)
from grokkit.model import Batch, ModelSpec, Parameters, Transformer

MEANING: Mapping[str, str] = {
    "kernel_drift": "norm(K_t - K_0) / norm(K_0): kernel of 6 train examples, every 8th class",
    "kernel_turn": "1 - cos(K_t, K_0) of the same kernels; free of their scale",
    "gradient_symmetry": "cos(dQ_c/dE_a, dQ_c/dE_b), mean over 12 pairs, each with one class c",
    "distance_irrelevance": "mean over d of std_a(Q_{a,a+d}) / std(Q), Q the right class's logit",
    "patched_train_accuracy": "the train accuracy with the oracle's attention instead",
    "patched_test_accuracy": "the test accuracy with the oracle's attention instead",
}
"""What each record is."""

KERNEL_EXAMPLES, KERNEL_CLASSES, SYMMETRY_EXAMPLES = 6, slice(None, None, 8), 12
"""A kernel of all examples and classes would cost as much as the training."""


class CircuitProbes:
    """The further instruments of one group of runs.

    Args:
        spec: the model.
        train: the train sequences.
        test: the test sequences.
        weights: the weights of the group, read at each record; now the initial ones.
    """

    def __init__(self, spec: ModelSpec, train: Batch, test: Batch, weights: Parameters) -> None:
        self.weights = weights
        self.trained = train.examples
        length, every = weights.layout.length, all_sequences(train, test)
        self.model = Transformer(spec, every, length)
        self.logits = network_logits(self.model)
        self.patched = Transformer(replace(spec, attention="oracle"), every, length)
        self.p = weights.layout.n_classes
        device = every.tokens.device
        self.of_kernel = evenly_spaced(train.examples, min(KERNEL_EXAMPLES, train.examples))
        self.of_kernel = self.of_kernel.to(device)
        self.rows = evenly_spaced(every.examples, min(SYMMETRY_EXAMPLES, every.examples))
        self.rows = self.rows.to(device)
        self.pairs, self.classes = operands(every, self.p)[:, self.rows], 7 * self.rows % self.p
        number = torch.arange(self.p, device=device)
        self.answers = ((number.unsqueeze(1) + number) % self.p).view(1, self.p, self.p, 1)
        self.start = self._kernel()

    def _kernel(self) -> Tensor:
        def some(weights: Mapping[str, Tensor], rows: Tensor) -> Tensor:
            return self.logits(weights, rows)[..., KERNEL_CLASSES]

        return tangent_kernel(some, self.weights, self.of_kernel)

    def __call__(self) -> dict[str, Tensor]:
        """One record of every run: name -> ``[run]``."""
        now, weights, batch = self._kernel(), self.weights, self.model.batch
        symmetry = gradient_symmetry(self.logits, weights, self.rows, self.pairs, self.classes)
        with torch.no_grad():
            table = logit_table(self.model(weights).logits, batch, self.p)
            right = table.gather(3, self.answers.expand(len(table), -1, -1, -1)).squeeze(3)
            correct = (self.patched(weights).logits.argmax(dim=-1) == batch.targets).double()
        return {
            "kernel_drift": kernel_drift(now, self.start),
            "kernel_turn": kernel_turn(now, self.start),
            "gradient_symmetry": symmetry,
            "distance_irrelevance": distance_irrelevance(right),
            "patched_train_accuracy": correct[:, : self.trained].mean(dim=1),
            "patched_test_accuracy": correct[:, self.trained :].mean(dim=1),
        }
