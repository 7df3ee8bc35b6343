"""Waves: the Fourier picture of a network that adds modulo p.

A network that has understood a + b modulo p turns each number into a few waves,
cos(w_k a) and sin(w_k a) with w_k = 2 pi k / p, and its logits are waves of a + b. A network
that has memorised has no preferred frequency. Frequencies run from 0, the constant, to
p // 2; all power is in an orthonormal basis, so it sums to the squared norm.

embedding_power        how the token embeddings of the numbers spread over frequencies
fourier_concentration  whether the dimensions of the embedding share their frequencies
logit_table            the logits over all (a, b), centred over classes
sum_power              the part of it in waves of a + b
key_frequencies        the few frequencies that carry most of a spectrum
restricted_loss        the loss with the constant and the key waves of a + b alone
excluded_loss          the loss without the key waves of a + b

A number that is added to all classes of an example changes no probability; yet a wave of such
numbers has power. The table of logits is therefore centred: from the logits of every pair
their mean over classes is taken away. What is given to ``sum_power`` from
elsewhere has to be centred first.

The logits are those of the data set's own sequences, train and test together
(:func:`all_sequences`): each pair is seen with the distractors that the data gives it. With
several draws a pair's place in the table holds their mean; the excluded loss is still
taken over the single sequences. Operands are read at the informative positions from left
to right, so any p, width, length and positions will do, and marked operands too.

Source: arXiv 2301.05217, "Progress measures for grokking via mechanistic interpretability",
sections 4 and 5.1. There the key frequencies are picked by hand; the rule here is ours. The
concentration: arXiv 2602.06702.
"""

from collections.abc import Mapping

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from grokkit.errors import check_fraction, check_int, refuse
from grokkit.model import Batch, cross_entropy


def all_sequences(train: Batch, test: Batch) -> Batch:
    """Train and test sequences in one batch, the train sequences first.

    Raises:
        SettingError: a query is not the last position of its sequence.
    """
    if train.query is not None or test.query is not None:
        refuse("query", "a query before the end", "sequences that are read out at their end")
    names = ("tokens", "targets", "informative", "oracle")
    return Batch(*(torch.cat((getattr(train, n), getattr(test, n)), dim=1) for n in names))


def embedding_power(weights: Mapping[str, Tensor], p: int) -> Float[Tensor, "run frequency"]:
    """The power of the embeddings of tokens 0..p-1 at each frequency 0..p // 2.

    Args:
        weights: the weights of the group.
        p: the modulus; token i must be the number i, as in every modular task here.
    """
    table = weights["token_embedding"].detach().double()
    check_int("p", p, 2, table.shape[1])
    return _folded(torch.fft.rfft(table[:, :p], dim=1, norm="ortho"), p)


def fourier_concentration(weights: Mapping[str, Tensor], p: int) -> Float[Tensor, " run"]:
    """C_F, whether the dimensions of the embedding share their frequencies.

        C_F = Var_f(m_f) / mean_{f,d} (F[f, d] - m_f)^2,   m_f = mean_d F[f, d]

    F[f, d] is the magnitude of frequency f in dimension d. A random embedding of many dimensions
    d has about 1 / d, one circle in a plane at random nearly pi / (4 - pi) = 3.7; the paper
    calls 1 and more structured. It is free of scale, and not of basis: turned into two of
    the d dimensions the same circle has 2 (1 - 1 / (p // 2)) / (d - 2), p odd. ``nan``
    for an embedding of 0. Frequency 0 does not count, as it does in the code of the paper: it is
    the mean embedding, and a vector common to all numbers would look like structure.

    Args:
        weights: the weights of the group.
        p: the modulus; token i must be the number i.
    """
    table = weights["token_embedding"].detach().double()
    check_int("p", p, 3, table.shape[1])
    size = torch.fft.rfft(table[:, :p], dim=1).abs()[:, 1:]
    mean = size.mean(dim=2, keepdim=True)
    within = (size - mean).square().mean(dim=(1, 2))
    return mean.squeeze(2).var(dim=1, correction=0) / within


def logit_table(
    logits: Float[Tensor, "run example class"], batch: Batch, p: int
) -> Float[Tensor, "run a b class"]:
    """The centred logits of every pair of operands, the mean over its distractor draws.

    Their sum over classes is 0 at every pair: of all logits with the same softmax those with
    the least power.

    Args:
        logits: class scores of every example of ``batch``.
        batch: all sequences of the task, see :func:`all_sequences`.
        p: the modulus.

    Raises:
        SettingError: the sequences have no two operands 0..p-1, or some pair is missing.
    """
    check_int("p", p, 2)
    runs, _, classes = logits.shape
    a, b = operands(batch, p).unbind(dim=2)
    place = (a * p + b) + p * p * torch.arange(runs, device=a.device).unsqueeze(1)
    table = logits.new_zeros((runs * p * p, classes), dtype=torch.float64)
    seen = logits.detach().double()
    seen = seen - seen.mean(dim=2, keepdim=True)
    table.index_add_(0, place.flatten(), seen.flatten(0, 1))
    count = torch.bincount(place.flatten(), minlength=len(table))
    if bool((count == 0).any()):
        refuse("batch", f"{int((count > 0).sum())} pairs", f"all {p * p} pairs of each run")
    return (table / count.unsqueeze(1)).view(runs, p, p, classes)


def operands(batch: Batch, p: int) -> Int[Tensor, "run example 2"]:
    """The tokens at the two informative positions of every sequence, from left to right."""
    if not bool((batch.informative.sum(dim=2) == 2).all()):
        refuse("batch", "another number of operands", "2 informative positions everywhere")
    found = batch.tokens[batch.informative].view(*batch.tokens.shape[:2], 2)
    if int(found.max()) >= p:
        refuse("p", p, f"{int(found.max()) + 1} or more, to hold every operand")
    return found


def sum_power(table: Float[Tensor, "run a b class"]) -> Float[Tensor, "run frequency"]:
    """The power in cos(w_k (a + b)) and sin(w_k (a + b)), for k = 0..p // 2, over all classes.

    The table is to be centred, as :func:`logit_table` gives it.

    Divide by ``table.square().sum(dim=(1, 2, 3))`` for the share that is a function of
    a + b; frequency 0 is the mean logit of each class.
    """
    p = table.shape[1]
    return p * _folded(torch.fft.rfft(_by_sum(table), dim=1, norm="ortho"), p)


def key_frequencies(
    power: Float[Tensor, "run frequency"], share: float = 0.9
) -> Bool[Tensor, "run frequency"]:
    """The fewest frequencies that together hold a share of the power; never the constant.

    A handful where a network has found waves; nearly a ``share`` of all of them where
    its spectrum is flat. Which share is our choice.

    Args:
        power: from :func:`embedding_power` or :func:`sum_power`.
        share: of all power but the constant's, between 0 and 1.
    """
    check_fraction("share", share)
    waves = power.clone()
    waves[:, 0] = 0
    ordered, order = waves.sort(dim=1, descending=True)
    before = ordered.cumsum(dim=1) - ordered
    needed = (before < share * waves.sum(dim=1, keepdim=True)) & (ordered > 0)
    return torch.zeros_like(needed).scatter(1, order, needed)


def restricted_loss(
    logits: Float[Tensor, "run example class"],
    batch: Batch,
    p: int,
    key: Bool[Tensor, "run frequency"],
    among: Bool[Tensor, "run example"] | None = None,
) -> Float[Tensor, " run"]:
    """The loss of the constant and the key waves of a + b alone, in nats.

    Small as soon as the waves are right, which is before the rest, that memorises, is
    gone: it falls ahead of the test loss.

    Args:
        logits: class scores of every example of ``batch``.
        batch: all sequences, see :func:`all_sequences`.
        p: the modulus.
        key: the key frequencies; for progress over time, those of the last epoch.
        among: which examples the mean is over; None for all.

    Raises:
        SettingError: see :func:`logit_table`; or ``key`` is not p // 2 + 1 wide.
    """
    table = logit_table(logits, batch, p)
    constant = table.mean(dim=(1, 2)).unsqueeze(1)
    return _mean_loss(constant + _key_waves(table, batch, key), batch, among)


def excluded_loss(
    logits: Float[Tensor, "run example class"],
    batch: Batch,
    p: int,
    key: Bool[Tensor, "run frequency"],
    among: Bool[Tensor, "run example"] | None = None,
) -> Float[Tensor, " run"]:
    """The loss without the key waves of a + b, in nats.

    The literature takes it on the train set (``among``): what memorising alone achieves.
    It rises as the network comes to rely on waves. Arguments as of :func:`restricted_loss`.
    """
    table = logit_table(logits, batch, p)
    return _mean_loss(logits.double() - _key_waves(table, batch, key), batch, among)


def _by_sum(table: Float[Tensor, "run a b class"]) -> Float[Tensor, "run sum class"]:
    """The mean over all pairs with the same a + b: the projection on functions of a + b."""
    p = table.shape[1]
    number = torch.arange(p, device=table.device)
    total = ((number.unsqueeze(1) + number) % p).flatten()
    summed = table.new_zeros(len(table), p, table.shape[3])
    return summed.index_add_(1, total, table.flatten(1, 2)) / p


def _key_waves(
    table: Float[Tensor, "run a b class"], batch: Batch, key: Bool[Tensor, "run frequency"]
) -> Float[Tensor, "run example class"]:
    """The key waves of a + b in the logits, at every example."""
    p = table.shape[1]
    if key.shape != (len(table), p // 2 + 1):
        refuse("key", tuple(key.shape), f"shape {(len(table), p // 2 + 1)}: run, frequency")
    kept = key.clone()
    kept[:, 0] = False
    spectrum = torch.fft.rfft(_by_sum(table), dim=1) * kept.unsqueeze(2)
    waves = torch.fft.irfft(spectrum, n=p, dim=1)
    total = operands(batch, p).sum(dim=2) % p
    return waves.gather(1, total.unsqueeze(2).expand(-1, -1, waves.shape[2]))


def _mean_loss(
    logits: Float[Tensor, "run example class"],
    batch: Batch,
    among: Bool[Tensor, "run example"] | None,
) -> Float[Tensor, " run"]:
    loss = cross_entropy(logits, batch.targets)
    if among is None:
        return loss.mean(dim=1)
    return (loss * among).sum(dim=1) / among.sum(dim=1)


def _folded(spectrum: Tensor, p: int) -> Float[Tensor, "run frequency"]:
    """The power at k and at -k together, summed over the last axis."""
    power = spectrum.abs().square().sum(dim=2)
    twice = torch.full((power.shape[1],), 2.0, dtype=power.dtype, device=power.device)
    twice[0] = 1
    if p % 2 == 0:
        twice[-1] = 1
    return power * twice
