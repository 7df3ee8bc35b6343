"""What is recorded of a group of runs, every ``record_every`` epochs.

One record is a dictionary of small tensors with a leading run axis, made from what the
training step has computed anyway, plus one forward pass over the test sequences. Nothing
here asks for a value; a GPU is waited for once all the same, by the singular values of
:mod:`grokkit.diagnostics.capacity`, whose solver reports its success to the host.
"""

from collections.abc import Callable, Mapping, Sequence

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from grokkit.core.loss import loss_and_gradient
from grokkit.diagnostics import capacity, starvation, structure
from grokkit.diagnostics.capacity import logit_margins, value_radius
from grokkit.diagnostics.collapse import softmax_collapse
from grokkit.diagnostics.queries import per_query
from grokkit.diagnostics.starvation import starvation_bounds, starvation_exponent
from grokkit.diagnostics.variance import score_variance
from grokkit.engine import update_probes
from grokkit.engine.autograd_step import StepOutput
from grokkit.model import Batch, ModelSpec, Parameters, Transformer
from grokkit.model.attention import Activations

DIMS: dict[str, tuple[str, ...]] = {
    "attention_mass": ("head", "pos"),
    "score_variance": ("head",),
    "score_variance_bound": ("head",),
}
"""The axes after (run, epoch) of those records that have more."""

MEANING: Mapping[str, str] = {
    "train_loss": "mean cross-entropy over the train set, without any prior; nats",
    "test_loss": "mean cross-entropy over the test set; nats",
    "train_accuracy": "correct train examples / train examples",
    "test_accuracy": "correct test examples / test examples",
    "mirrored_accuracy": "the same over test examples whose mirror image is trained on",
    "unmirrored_accuracy": "the same over all other test examples",
    "extra_accuracy": "the same over each further test set",
    "extra_mirrored_accuracy": "the same over those whose mirror image is trained on",
    "extra_unmirrored_accuracy": "the same over all others of each further test set",
    "extra_loss": "mean cross-entropy over each further test set; nats",
    "attention_mass": "attention on each position, mean over train examples",
    "informative_mass": "attention on I*, mean over train examples and heads",
    "min_informative_mass": "least attention of any train example on a position of I*",
    "kl": "KL(oracle || attention), mean over train examples and heads; nats",
    "attention_entropy": "entropy of attention, mean over train examples and heads; nats",
    "mlp_norm": "Frobenius norm of all MLP parameters",
    "lipschitz": "upper bound on the Lipschitz constant of the readout",
    "gradient_norm": "norm of the objective's whole gradient, before clipping",
    "score_gradient": "norm of dCE_i/dscores, mean over train examples i",
    "score_gradient_max": "largest abs(dCE_i/dl_j) of an example, mean over train examples i",
    "starvation_bound": "what (4) of Lemma 5.1 allows it to be",
    "starvation_bound_position": "what (33, 34), its form by position, allows",
    "starvation_bound_linear": "what its linear form allows",
    "starvation_worst": "largest score gradient / (4) of any train example",
    "starvation_worst_linear": "largest score gradient / linear form of any train example",
    "starvation_exponent": "power of the loss with which score gradients vary over examples",
    "score_variance": "variance of scores over positions, mean over train examples",
    "score_variance_bound": "what the norms of W_Q W_K^T and the embeddings allow it to be",
    "logit_margin": "least right logit minus best other of any train example",
    "value_radius": "largest norm of a value vector; 2R bounds Delta_emb",
    "collapsed": "share of train examples whose usual float32 cross-entropy is 0, the exact not",
    "W_Q_gradient": "norm of the cross-entropy's gradient with respect to W_Q",
    "W_K_gradient": "norm of the cross-entropy's gradient with respect to W_K",
    "W_QK_gradient": "norm of the cross-entropy's gradient with respect to W_Q W_K^T",
    "query_loss": "mean cross-entropy over train examples with the query there; nats",
    "query_accuracy": "correct train examples / train examples, with the query there",
    "query_entropy": "entropy of attention, over train examples with the query there; nats",
    "query_kl": "KL(oracle || attention), over train examples with the query there; nats",
    "query_score_gradient": "norm of dCE_i/dscores, over train examples with the query there",
    **update_probes.MEANING,
}
"""What each record is, and its unit; goes into the History.

Train examples without informative positions, such as the next random bit, are no train
examples here, except in ``gradient_norm`` and the records by query.

With several layers, whatever is said of heads is said of the heads of all layers, those of
the first layer first, and of the query's attention in each; norms of W_Q, W_K and the MLP are
over all layers. Where a formula does not hold for a model, its record is not a number:

    a norm in the readout     ``lipschitz`` is inf (a norm divides by the size of what it is
                              given), and ``starvation_bound`` and its forms are nan
    several layers            these, too; and ``score_variance_bound``, ``value_radius`` and
                              ``W_QK_gradient`` are nan: what an upper layer reads is no
                              function of the slot
"""

# Of the sets beside the test set, and of the queries, by their names.
DIMS |= {name: (of,) for name in MEANING for of in ("extra", "query") if name.startswith(of)}


class Probes:
    """The instruments of one group of runs.

    Args:
        spec: the model.
        train: the train sequences.
        test: the test sequences.
        extra: further test sets by name.
        mirrored: which test sequences have a mirror image in the train set, where any
            could.
        extra_mirrored: the same of each further test set; empty where it is not known.
        weights: the weights of the group, read at each record.
    """

    def __init__(
        self,
        spec: ModelSpec,
        train: Batch,
        test: Batch,
        extra: Mapping[str, Batch],
        mirrored: Bool[Tensor, "run example"] | None,
        extra_mirrored: Sequence[Bool[Tensor, "run _"]],
        weights: Parameters,
    ) -> None:
        self.spec = spec
        self.everything = train
        self.train = train if train.graded is None else train.take(train.graded)
        self.train_model = Transformer(spec, self.train, weights.layout.length)
        self.test_models = [
            Transformer(spec, batch, weights.layout.length) for batch in (test, *extra.values())
        ]
        self.mirrored = mirrored
        self.extra_mirrored = list(extra_mirrored)
        self.weights = weights

    @torch.no_grad()
    def __call__(
        self, step: StepOutput, further: Callable[[Activations], dict[str, Tensor]] | None = None
    ) -> dict[str, Tensor]:
        """One record of every run: name -> ``[run, ...]``."""
        assert step.score_gradient is not None, "a recorded step keeps its score gradient"
        assert step.log_attention is not None, "a recorded step keeps its log attention"
        queries: dict[str, Tensor] = {}
        if self.everything.future is not None:
            queries = per_query(
                self.everything,
                step.loss,
                step.logits,
                step.attention,
                step.log_attention,
                step.score_gradient,
            )
        if self.everything.graded is not None:
            step = step.take(self.everything.graded)
            assert step.score_gradient is not None and step.log_attention is not None
        weights, train, attention = self.weights, self.train, step.attention
        record = {
            "train_loss": step.loss.mean(dim=1),
            "train_accuracy": _share(step.logits.argmax(dim=-1) == train.targets),
            "attention_mass": structure.attention_mass(attention),
            "informative_mass": structure.informative_mass(attention, train.informative),
            "min_informative_mass": structure.min_informative_mass(attention, train.informative),
            "kl": structure.attention_kl(attention, train.oracle, step.log_attention).mean((1, 2)),
            "attention_entropy": structure.attention_entropy(attention),
            "mlp_norm": capacity.mlp_norm(weights),
            "lipschitz": capacity.lipschitz(self.spec, weights),
            "gradient_norm": torch.linalg.vector_norm(weights.flat_grad, dim=1),
            "score_gradient": starvation.score_gradient_norm(step.score_gradient),
            **starvation.attention_gradient(self.train_model, weights, step.score_gradient),
            **queries,
        }
        lost = softmax_collapse(step.logits, train.targets, step.loss)
        more = {
            **starvation_bounds(
                self.train_model,
                weights,
                step.loss,
                attention,
                step.score_gradient,
                l_f=record["lipschitz"],
            ),
            "starvation_exponent": starvation_exponent(step.loss, step.score_gradient),
            **score_variance(self.train_model, weights),
            "logit_margin": logit_margins(step.logits, train.targets).amin(dim=1),
            "value_radius": value_radius(self.train_model, weights),
            "collapsed": lost / train.examples,
        }
        record |= {name: value.to(attention.dtype) for name, value in more.items()}
        test = self.test_models[0](weights)
        losses, corrects = [], []
        for model in self.test_models:
            logits = test.logits if model is self.test_models[0] else model(weights).logits
            targets = model.batch.targets
            losses.append(loss_and_gradient(logits, targets.unsqueeze(-1))[0].mean(dim=1))
            corrects.append(logits.argmax(dim=-1) == targets)
        record |= {"test_loss": losses[0], "test_accuracy": _share(corrects[0])}
        if self.mirrored is not None:
            record["mirrored_accuracy"] = _share(corrects[0], self.mirrored)
            record["unmirrored_accuracy"] = _share(corrects[0], ~self.mirrored)
        if len(losses) > 1:
            record["extra_loss"] = torch.stack(losses[1:], dim=1)
            record["extra_accuracy"] = torch.stack([_share(c) for c in corrects[1:]], dim=1)
        if self.extra_mirrored:
            flagged = list(zip(corrects[1:], self.extra_mirrored, strict=True))
            for name, sets in (
                ("mirrored", [_share(correct, flags) for correct, flags in flagged]),
                ("unmirrored", [_share(correct, ~flags) for correct, flags in flagged]),
            ):
                record[f"extra_{name}_accuracy"] = torch.stack(sets, dim=1)
        return record if further is None else record | further(test)


def _share(
    correct: Bool[Tensor, "run example"], among: Bool[Tensor, "run example"] | None = None
) -> Float[Tensor, " run"]:
    """The share of right answers, count / examples in double precision; nan for 0 / 0."""
    if among is None:
        return correct.sum(dim=1).double() / correct.shape[1]
    return (correct & among).sum(dim=1).double() / among.sum(dim=1)
