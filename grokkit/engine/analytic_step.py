"""One training step of the default model, with its backward pass written by hand.

The loss is the penalised loss (6), per run:

    L = mean over examples of  [ CE(logits, y)  +  beta * mean over heads of KL(target || alpha) ]

Read it downwards for the forward pass; the backward pass is the same chain, upwards. With
x the embedding of a slot (S of them), alpha the attention, N the number of examples:

    forward                                   backward, given g = dL/d(left-hand side)
    q      = x_q W_Q                          dW_Q  = x_q^T g            dx_q += g W_Q^T
    K      = x W_K                            dW_K  = x^T g              dx   += g W_K^T
    l      = K . q / sqrt(d_head)             dK    = g q / sqrt(d_head) dq = sum_s g_s K_s / sqrt
    alpha  = softmax(l)                       dl_j  = alpha_j (g_j - sum_i alpha_i g_i)
    V      = x W_V                            dW_V  = x^T g              dx   += g W_V^T
    C      = V W_1 + b_1 / heads              dV    = g W_1^T            dW_1  = V^T g
    hidden = relu(sum_j alpha_j C_j)          dC_s  = sum over readers of alpha g 1[hidden > 0]
                                              dalpha_j = C_j . g 1[hidden > 0]
    logits = hidden W_2 + b_2                 dW_2  = hidden^T g         dhidden = g W_2^T
    loss   = CE(logits, y)                    dlogits = (softmax - onehot) / N

Three facts make it fast. K, V and C live on slots, so only alpha, ``hidden`` and ``logits``
have as many rows as there are examples. The bias can ride on C, for attention sums to 1.
And the logits and the large gradients, dlogits and dhidden, are buffers made once: on a
CPU, asking for 4 MB of fresh memory at every step costs as much as a matrix product.

The KL penalty adds beta (alpha_j - target_j) / (N heads) to dl_j, equation (45). On the
heads' summed mass, with m_j the mean of alpha_j over heads, it adds in every head

    beta alpha_j (sum_i alpha_i r_i - r_j) / (N heads),      r_j = target_j / m_j

which is the former where all heads agree. Every other model and prior goes through
autograd (:mod:`grokkit.engine.autograd_step`).
"""

import copy
import math

import torch
from jaxtyping import Int
from torch import Tensor
from torch.nn.functional import embedding_bag

from grokkit.core.loss import loss_and_gradient
from grokkit.engine.autograd_step import StepOutput
from grokkit.engine.precision import rounded_product
from grokkit.engine.priors import KLPrior, ScheduledPenalty
from grokkit.model import Batch, Parameters, Transformer
from grokkit.model.attention import Attention, Scores, log_attention
from grokkit.model.spec import ModelSpec


class AnalyticStep:
    """Loss and gradient for a group of runs on one batch.

    Args:
        spec: the model; softmax attention and the classifier readout.
        batch: what is trained on.
        weights: the weights of the group; their ``flat_grad`` is filled.
        penalty: that of KLPriors, or None for no prior.
        round_products: whether the products between the hidden layer and the classes take
            their factors in bfloat16.
    """

    def __init__(
        self,
        spec: ModelSpec,
        batch: Batch,
        weights: Parameters,
        penalty: ScheduledPenalty | None = None,
        round_products: bool = False,
    ) -> None:
        self.spec = spec
        self.weights = weights
        self.model = Transformer(spec, batch, weights.layout.length)
        self.query = self.model.slots.query
        self.penalty = penalty if penalty is not None and penalty.active else None
        self.round_products = round_products
        self._prepare()

    def _prepare(self) -> None:
        """The targets, and the buffers."""
        batch, new = self.model.batch, self.weights.flat.new_empty
        self.targets = batch.targets.unsqueeze(-1)
        runs, examples = batch.runs, batch.examples
        classes = self.weights["b_2"].shape[-1]
        self.logits = new(runs, examples, classes)
        self.d_logits = new(runs, examples, classes)
        self.d_hidden = new(runs, examples, self.spec.d_mlp)

    @property
    def steady(self) -> bool:
        """Whether the step is the same at every epoch."""
        return self.penalty is None or self.penalty.prior.schedule == "constant"

    def take(self, rows: Int[Tensor, "run row"]) -> "AnalyticStep":
        """The same step on some examples of each run, such as a minibatch."""
        taken = copy.copy(self)
        taken.model = self.model.take(rows)
        taken.penalty = None if self.penalty is None else self.penalty.take(rows)
        taken._prepare()
        return taken

    @torch.no_grad()
    def __call__(self, epoch: int, record: bool = False) -> StepOutput:
        """Fill ``weights.flat_grad`` and return what was computed on the way.

        The logits in the output are a buffer: read them before the next step.
        """
        w, g, model = self.weights, self.weights.gradient, self.model
        heads, readers = self.spec.heads, model.readers
        runs, examples = self.targets.shape[:2]
        scale = 1 / math.sqrt(self.spec.d_model // heads)

        # Forward, on slots.
        x = model.embed(w)
        x_q = x[:, self.query : self.query + 1]
        query = x_q @ w["W_Q"]
        key = x @ w["W_K"]
        table = (key * query).unflatten(-1, (heads, -1)).sum(-1) * scale
        value = x @ w["W_V"]
        into_hidden = w["W_O"] @ w["W_1"] if self.spec.output_projection else w["W_1"]
        bare = model.through(value, into_hidden)
        cells = bare + (w["b_1"] / heads)[:, None, None, :]

        # Forward, on examples.
        scores = model.look_up(table)
        attention = scores.softmax(dim=2)
        flat_attention = attention.view(runs * examples, -1)
        flat_cells = cells.flatten(0, 2)
        hidden = embedding_bag(
            readers.index, flat_cells, per_sample_weights=flat_attention, mode="sum"
        ).relu_()
        hidden = hidden.view(runs, examples, -1)
        if self.round_products:
            rounded_product(hidden, w["W_2"], self.logits).add_(w["b_2"].unsqueeze(1))
        else:
            torch.baddbmm(w["b_2"].unsqueeze(1), hidden, w["W_2"], out=self.logits)
        loss, _ = loss_and_gradient(
            self.logits, self.targets, out=self.d_logits, weight=1 / examples
        )

        # Backward, on examples.
        product = rounded_product if self.round_products else torch.bmm
        product(hidden.transpose(1, 2), self.d_logits, out=g["W_2"])
        torch.sum(self.d_logits, dim=1, out=g["b_2"])
        product(self.d_logits, w["W_2"].transpose(1, 2), out=self.d_hidden)
        torch.ops.aten.threshold_backward.grad_input(
            self.d_hidden, hidden, 0, grad_input=self.d_hidden
        )
        d_rows = self.d_hidden.flatten(0, 1)
        # Of the cells without the bias: it shifts every position alike, which cancels in
        # d_scores, but not in floating point, where a starved gradient would drown in it.
        d_attention = torch.ops.aten._embedding_bag_per_sample_weights_backward(
            d_rows,
            bare.flatten(0, 2),
            readers.index.flatten(),
            readers.row_starts,
            readers.row_of_entry,
            0,
        ).view_as(attention)
        d_cells = embedding_bag(
            readers.row,
            d_rows,
            readers.starts,
            per_sample_weights=flat_attention.flatten()[readers.order],
            mode="sum",
        ).view_as(cells)
        d_scores = d_attention.sub_((attention * d_attention).sum(2, keepdim=True)).mul_(attention)
        score_gradient = d_scores * examples if record else None
        log_alpha = log_attention(attention, scores, "softmax") if record else None
        if self.penalty is not None:
            d_scores += self._pull(self.penalty, attention, scores, epoch)

        # Backward, on slots.
        d_table = torch.zeros_like(table)
        d_table.view(-1).index_add_(0, readers.index.flatten(), d_scores.view(-1))
        d_table *= scale
        d_key = (query.unflatten(-1, (heads, -1)) * d_table.unsqueeze(-1)).flatten(2)
        d_query = (key.unflatten(-1, (heads, -1)) * d_table.unsqueeze(-1)).sum(1).flatten(1)
        d_query = d_query.unsqueeze(1)
        d_value, d_into_hidden = model.through_backward(value, into_hidden, d_cells)
        if self.spec.output_projection:
            torch.bmm(d_into_hidden, w["W_1"].transpose(1, 2), out=g["W_O"])
            torch.bmm(w["W_O"].transpose(1, 2), d_into_hidden, out=g["W_1"])
        else:
            g["W_1"].copy_(d_into_hidden)
        # Attention sums to 1 over positions in every head: heads * db_1 in all.
        torch.sum(d_cells.flatten(1, 2), dim=1, out=g["b_1"])
        g["b_1"] /= heads
        torch.bmm(x_q.transpose(1, 2), d_query, out=g["W_Q"])
        torch.bmm(x.transpose(1, 2), d_key, out=g["W_K"])
        torch.bmm(x.transpose(1, 2), d_value, out=g["W_V"])
        d_x = torch.baddbmm(d_key @ w["W_K"].transpose(1, 2), d_value, w["W_V"].transpose(1, 2))
        d_x[:, self.query] += (d_query @ w["W_Q"].transpose(1, 2)).squeeze(1)
        g["token_embedding"].zero_().index_add_(1, model.slots.token, d_x)
        g["position_embedding"].zero_().index_add_(1, model.slots.position, d_x)
        return StepOutput(loss, self.logits, attention, score_gradient, log_alpha)

    def _pull(
        self, penalty: ScheduledPenalty, attention: Attention, scores: Scores, epoch: int
    ) -> Tensor:
        """What the penalty adds to the gradient of each score: (45), or its summed form."""
        target = penalty.target
        assert target is not None and isinstance(penalty.prior, KLPrior)
        share = penalty.strength(epoch) / (self.targets.shape[1] * self.spec.heads)
        share = share.view(-1, 1, 1, 1).to(attention)
        if penalty.prior.head_reduction == "each":
            return share * (attention - target)
        mass = attention.mean(dim=3, keepdim=True)
        floor = torch.finfo(mass.dtype).tiny
        ratio = target / mass.clamp_min(floor)
        # alpha_j r_j, where alpha_j and m_j are too small to be divided: by their logarithms.
        heads = scores.log_softmax(dim=2).softmax(dim=3) * self.spec.heads
        drawn = torch.where(mass < floor, target * heads, attention * ratio)
        total = drawn.sum(dim=2, keepdim=True)
        exact = share * attention * (total - ratio)
        return torch.where(mass < floor, share * (attention * total - drawn), exact)
