"""Chapters 3 and 4. What is measured of a network, and when a run has memorised and grokked.

Theorem 4.3 of the paper: a network that is right on every sequence has attention on every
informative token, and an MLP of moderate norm. (That these two suffice is Assumption C.1.) One
number is measured for each:

    B_gamma (Definition 4.1)       alpha_j(x) >= gamma for every x and every informative j: it
                                   holds on the train set for gamma <= ``min_informative_mass``
    Goldilocks (Definition 4.2)    r_min <= |theta_MLP|_F <= r_max: theta_MLP is W_1, b_1, W_2, b_2;
                                   the paper gives no value of r_max

Explaining away (Lemma 5.1) is about the gradient of an example's own loss on its scores: for each
position of each head it is at most 2 L_f |W_V| sqrt(2 L_CE), so it starves as the loss falls. L_f
is the steepest slope of the readout f.

Accuracy on unseen pairs is also given with and without mirror images: a pair (a, b) whose (b, a)
was trained on is half-answered by knowing that order does not matter.

A *record* is a dictionary of such numbers, by the names below; ``nan`` where there are none.
"""

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from grokkit.core.loss import cross_entropy
from grokkit.core.model import Seen, Transformer
from grokkit.core.priors import divergence
from grokkit.core.task import Data, Examples

Record = dict[str, float]

GROKKED = 0.99
"""From this accuracy on a run has memorised its train set, or grokked: the paper's rule."""


def record(net: Transformer, data: Data) -> Record:
    """All measures of a network as it is now.

    ======================  ==================================================================
    train_loss, test_loss   mean cross-entropy in nats, without any prior
    train_accuracy          right train examples / train examples
    test_accuracy           the same of the test set
    mirrored_accuracy       of the test examples whose mirror image is trained on
    unmirrored_accuracy     of the others
    informative_mass        attention on all of I* together, mean over train examples and heads
    min_informative_mass    the smallest alpha_j over train examples and j in I*, alpha averaged
                            over heads first
    kl                      KL(alpha* || alpha), mean over train examples and heads; nats
    mlp_norm                |theta_MLP|_F
    score_gradient          norm of an example's dL_CE/dl over heads and positions, mean over
                            train examples
    ======================  ==================================================================

    Args:
        net: the network.
        data: its train and test set.
    """
    train = data.train
    seen = net(train.tokens, train.oracle)
    loss = cross_entropy(seen.logits, train.targets)
    # Each example has scores of its own, so the gradient of the sum is each one's own gradient.
    gradient = torch.zeros_like(seen.scores)
    if net.settings.attention != "oracle":
        (gradient,) = torch.autograd.grad(loss.sum(), seen.scores)
    with torch.no_grad():
        test_logits = net(data.test.tokens, data.test.oracle).logits
        right = test_logits.argmax(dim=-1) == data.test.targets
        mirrored = torch.zeros_like(right) if data.mirrored is None else data.mirrored
        numbers = {
            "train_loss": loss.mean(),
            "test_loss": cross_entropy(test_logits, data.test.targets).mean(),
            "train_accuracy": share(seen.logits.argmax(dim=-1) == train.targets),
            "test_accuracy": share(right),
            "mirrored_accuracy": share(right[mirrored]),
            "unmirrored_accuracy": share(right[~mirrored]),
            "informative_mass": informative_mass(seen, train),
            "min_informative_mass": min_informative_mass(seen, train),
            "kl": divergence(train.oracle.to(loss), seen.log_attention).mean(),
            "mlp_norm": mlp_norm(net),
            "score_gradient": gradient.flatten(1).norm(dim=1).mean(),
        }
    return {name: float(number) for name, number in numbers.items()}


def share(right: Tensor) -> Tensor:
    """The share of right answers, ``[example]`` to a scalar; ``nan`` of none."""
    return right.double().mean() if len(right) else torch.tensor(math.nan)


def informative_mass(seen: Seen, examples: Examples) -> Tensor:
    """The attention on all of I* together, mean over examples and heads: a scalar."""
    return (seen.attention * examples.informative.unsqueeze(1)).sum(dim=-1).mean()


def min_informative_mass(seen: Seen, examples: Examples) -> Tensor:
    """The largest gamma for which B_gamma holds, attention being the heads' mean: a scalar."""
    return seen.attention.mean(dim=1)[examples.informative].min()


def mlp_norm(net: Transformer) -> Tensor:
    """|theta_MLP|_F: a scalar."""
    return torch.stack([W.norm() for W in (net.W_1, net.b_1, net.W_2, net.b_2)]).norm()


def first_epoch(epochs: Sequence[int], records: Sequence[Record], name: str) -> int | None:
    """The first recorded epoch at which an accuracy is 0.99 or more; None: not yet.

    A run has *memorised* by its ``train_accuracy``, and *grokked* by its ``test_accuracy``.

    Args:
        epochs: the epoch of each record.
        records: what was recorded.
        name: of the accuracy.
    """
    pairs = zip(epochs, records, strict=True)
    return next((epoch for epoch, one in pairs if one[name] >= GROKKED), None)
