"""What is recorded too where a spec asks for it: what two other accounts of grokking look at.

By inductive bias (arXiv 2602.06702): the map of attention, the shortcut probe, and how
compressible the features are that the last matrix reads, of train and of test examples. By
token uniformity (arXiv 2504.03162): how evenly the embeddings of the numbers lie, in their
natural order and in that of the discrete logarithm, each beside its null.

These records cost as much as some epochs, so they are made only where ``RunSpec.features``
is on.
"""

import contextlib
from collections.abc import Callable, Mapping

import torch
from torch import Tensor

from grokkit.diagnostics import structure
from grokkit.diagnostics.features import compressibility
from grokkit.diagnostics.fourier import fourier_concentration
from grokkit.diagnostics.shortcut import shortcut_loss
from grokkit.diagnostics.uniformity import Uniformity, logarithm_order, token_uniformity
from grokkit.errors import SettingError
from grokkit.model import Parameters, Transformer
from grokkit.model.block import after_mlp, unembed
from grokkit.model.parameters import of_layer
from grokkit.model.transformer import Activations

RANKS = ("effective_rank", "numerical_rank", "stable_rank", "norm_ratio", "alpha")
"""What is recorded of the spectrum of features."""

MED_RECORDS: Mapping[str, Callable[[Uniformity], Tensor]] = {
    "med": lambda found: found.med,
    "relative_med": lambda found: found.relative,
    "relative_med_null": lambda found: found.null.amin(dim=1),
    "best_med": lambda found: found.best,
    "best_med_null": lambda found: found.best_null.amin(dim=1),
}
"""What is recorded of the embeddings in each order."""

DIMS: Mapping[str, tuple[str, ...]] = {
    "head_entropy": ("head",),
    **dict.fromkeys(RANKS, ("feature_set",)),
    **dict.fromkeys(MED_RECORDS, ("order",)),
}
"""The axes after (run, epoch) of those records that have more."""

LABELS: Mapping[str, list[str]] = {
    "feature_set": ["train", "test"],
    "order": ["natural", "logarithm"],
}
"""The names along the axes that have names: whose features are measured, and the orders in which
the numbers are walked, that of sums and that of products."""

MEANING: Mapping[str, str] = {
    "map_entropy": "entropy of the attention map averaged over heads, mean over examples; nats",
    "head_entropy": "entropy of each head's attention, mean over train examples; nats",
    "shortcut_loss": "train loss with y / norm(y) in place of the MLP's input y; nats",
    "fourier_concentration": "C_F: 1 and more if dimensions of the embedding share frequencies",
    "effective_rank": "exp of the entropy of the features' normalised spectrum",
    "numerical_rank": "eigenvalues of the features' Z that are more than rounding",
    "stable_rank": "norm(h)_F^2 / norm(h)_2^2 of the features",
    "norm_ratio": "norm(Z)_F / norm(Z)_2 of the features",
    "alpha": "exponent of a power law through the features' spectrum; low is a heavy tail",
    "med": "mean distance of neighbouring numbers' embeddings, once round the order",
    "relative_med": "the same over the mean distance of all pairs; 1 for an order without meaning",
    "relative_med_null": "the least of that over shuffled orders",
    "best_med": "the least relative MED over all steps",
    "best_med_null": "the least of that over shuffled orders",
}
"""What each record is, and its unit."""

SHUFFLES = 50
"""How many shuffled orders a null is the least of."""


class FeatureProbes:
    """The further instruments of one group of runs.

    Args:
        train: the model on the train sequences.
        weights: the weights of the group, read at each record.
        p: how many numbers there are, tokens 0..p-1; None: tokens are no numbers, and what is
            measured of embeddings is left out.
    """

    def __init__(self, train: Transformer, weights: Parameters, p: int | None) -> None:
        self.train = train
        self.weights = weights
        self.p = p
        if p is not None:
            self.orders: list[Tensor | None] = [torch.arange(p), None]
            with contextlib.suppress(SettingError):  # only primes above 2 have logarithms
                self.orders[1] = logarithm_order(p)

    @torch.no_grad()
    def __call__(self, test: Activations) -> dict[str, Tensor]:
        """One record of every run: name -> ``[run, ...]``."""
        # Anew: the step that trains keeps of the train sequences only what all records need.
        train = self.train(self.weights)
        attention = train.attention
        record = {
            "map_entropy": structure.map_entropy(attention),
            "head_entropy": structure.head_entropy(attention),
            "shortcut_loss": self._shortcut(train),
        }
        spectra = [compressibility(one.final) for one in (train, test) if one.final is not None]
        for name in RANKS:
            record[name] = torch.stack([one[name] for one in spectra], dim=1)
        if self.p is not None:
            record["fourier_concentration"] = fourier_concentration(self.weights, self.p)
            record |= self._uniformity()
        return {name: value.to(attention.dtype) for name, value in record.items()}

    def _shortcut(self, seen: Activations) -> Tensor:
        """The shortcut probe; ``nan`` for the classifier readout, which has no stream y."""
        model = self.train
        if seen.middle is None:
            return torch.full_like(seen.logits[:, 0, 0], torch.nan)
        last, stream = of_layer(self.weights, model.spec.layers - 1), seen.middle

        def readout(y: Tensor) -> Tensor:
            # The MLP alone is given y without its length; the stream beside it stays as it is.
            _, final = after_mlp(model.spec, last, stream, read=y)
            return unembed(model.spec, self.weights, final)

        return shortcut_loss(stream, readout, model.batch.targets)

    def _uniformity(self) -> dict[str, Tensor]:
        table = self.weights["token_embedding"]
        blank = torch.full((len(table),), torch.nan, device=table.device, dtype=torch.float64)
        columns: dict[str, list[Tensor]] = {name: [] for name in MED_RECORDS}
        for order in self.orders:
            found = None if order is None else token_uniformity(table, order, SHUFFLES)
            for name, of in MED_RECORDS.items():
                columns[name].append(blank if found is None else of(found))
        return {name: torch.stack(values, dim=1) for name, values in columns.items()}
