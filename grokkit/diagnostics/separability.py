"""Theorem 4.3 on the real network: xi, Delta_emb, the margin, and what gamma comes out.

The paper states its threshold gamma = c_margin / (L_max Delta_emb) and never measures it.
Here every factor is measured, over *substitutions*: a sequence x of the batch, one of its
informative positions i, and every other token that stands at i in the batch as an
informative one. Scores are local, so the mass and the value that the substitute x' would
have follow from its slot, without another forward pass.

A substitution is taken to change the class, as it does in addition, subtraction, division,
parity and the symmetric groups. Where some do not (multiplication by 0), xi and the pair
mass are minima over a few pairs too many: lower bounds of what the theorem asks about.

With several heads masses are summed over heads and Delta_emb is the largest of the heads
(Conjecture E.2), so gamma is a threshold for the summed mass.

Source: arXiv 2605.15787, Definition 4.1, Theorem 4.3, (11), (16), (23), (25), (27).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from grokkit.diagnostics._arrays import to_numpy, to_tensor
from grokkit.diagnostics.capacity import lipschitz
from grokkit.diagnostics.structure import min_informative_mass
from grokkit.errors import refuse
from grokkit.model import Parameters, Transformer
from grokkit.model.norm import IN_ATTENTION, PLACEMENTS


@dataclass(frozen=True, eq=False)
class Separability:
    """The factors of Theorem 4.3 for one network and one batch.

    Attributes:
        separation: xi, the least norm(v_i - v'_i) over two tokens of one informative position,
            for each head; ``inf`` where no position has two tokens.
        spread: Delta_emb, the largest norm(v_i - m) and norm(v'_i - m) of any substitution, m
            the centroid of the rest of x, for each head.
        logit_margin: the least margin, right logit minus the best other, of any example.
        c_margin: sqrt(2) logit_margin, the least norm(f - f') that it forces, (25); ``nan``
            where some example has no positive margin, and so for all that follows from it.
        lipschitz: L_f, the upper bound of :func:`grokkit.diagnostics.lipschitz`.
        gamma: c_margin / (L_max Delta_emb).
        pair_mass_required: c_margin / (L_f Delta_emb), what (27) asks of alpha_i + alpha'_i.
        least_mass: the least alpha_i of any example and informative position.
        least_pair_mass: the least alpha_i + alpha'_i of any substitution.
        structural: whether B_gamma holds: least_mass >= gamma. False where gamma is nan.
        necessary: whether (27) holds: least_pair_mass >= pair_mass_required, likewise.
    """

    separation: Float[Tensor, "run head"]
    spread: Float[Tensor, "run head"]
    logit_margin: Float[Tensor, " run"]
    c_margin: Float[Tensor, " run"]
    lipschitz: Float[Tensor, " run"]
    gamma: Float[Tensor, " run"]
    pair_mass_required: Float[Tensor, " run"]
    least_mass: Float[Tensor, " run"]
    least_pair_mass: Float[Tensor, " run"]
    structural: Bool[Tensor, " run"]
    necessary: Bool[Tensor, " run"]


@torch.no_grad()
def separability(
    model: Transformer, weights: Parameters, lipschitz_max: Float[Tensor, " run"] | None = None
) -> Separability:
    """Measure every factor of gamma, and whether B_gamma and (27) hold.

    (27) is a theorem for pairs whose two members both have the margin. A substitute need
    not be in the batch, so a network that errs on it can break (27) as measured here.

    Args:
        model: the forward pass of the batch: the train set, or all sequences.
        weights: the weights of the group.
        lipschitz_max: L_max, the largest L_f that N allows, such as the largest over the
            epochs of a run; None for the network's own L_f.
    """
    from grokkit import theory

    if model.spec.layers > 1:
        refuse("layers", model.spec.layers, "1: with more, the readout has no Lipschitz bound")
    if PLACEMENTS[model.spec.norm].in_readout:
        allowed = f"{', '.join(IN_ATTENTION)}: else the readout has no Lipschitz bound"
        refuse("norm", model.spec.norm, allowed)
    if model.spec.attention == "oracle":
        refuse("attention", model.spec.attention, "softmax, relu")
    _ = model.slots.query  # refuses several queries: a substitution would have no one score
    l_f = lipschitz(model.spec, weights).double()
    l_max = l_f if lipschitz_max is None else lipschitz_max.double()
    if bool((l_max < l_f * (1 - 1e-6)).any()):
        refuse("lipschitz_max", l_max.tolist(), f"at least the L_f at hand, {l_f.tolist()}")
    seen = model(weights)
    margin = logit_margins(seen.logits, model.batch.targets).amin(dim=1).double()
    separation, spread, least_pair_mass = _substitutions(model, weights)
    heads = model.spec.heads
    least_mass = heads * min_informative_mass(seen.attention, model.batch.informative).double()

    # The theory refuses what is not positive: ask it about the runs that have a margin.
    widest = spread.amax(dim=1)
    defined = to_numpy((margin > 0) & (widest > 0)).astype(bool)
    c_margin, gamma, required = (np.full(len(defined), np.nan) for _ in range(3))
    c_margin[defined] = theory.output_gap_from_margin(to_numpy(margin)[defined])
    factors = [c_margin[defined], to_numpy(widest)[defined]]
    gamma[defined] = theory.gamma_threshold(factors[0], to_numpy(l_max)[defined], factors[1])
    required[defined] = theory.pair_mass_required(factors[0], to_numpy(l_f)[defined], factors[1])
    c, g, r = (to_tensor(array, margin) for array in (c_margin, gamma, required))
    return Separability(
        separation=separation,
        spread=spread,
        logit_margin=margin,
        c_margin=c,
        lipschitz=l_f,
        gamma=g,
        pair_mass_required=r,
        least_mass=least_mass,
        least_pair_mass=least_pair_mass,
        structural=least_mass >= g,
        necessary=least_pair_mass >= r,
    )


def logit_margins(
    logits: Float[Tensor, "run example class"], targets: Int[Tensor, "run example"]
) -> Float[Tensor, "run example"]:
    """The right class's logit minus the largest other, of every example."""
    own = targets.unsqueeze(-1)
    others = logits.scatter(-1, own, -torch.inf).amax(dim=-1)
    return logits.gather(-1, own).squeeze(-1) - others


@torch.no_grad()
def value_radius(model: Transformer, weights: Mapping[str, Tensor]) -> Float[Tensor, " run"]:
    """R, the largest norm(v_j) of any slot and head: Delta_emb is at most 2R. Equation (24).

    Many times cheaper than measuring Delta_emb, so it can be recorded all along: a gamma
    with 2R for Delta_emb is smaller, by the factor that the two differ in. ``nan`` with
    several layers, whose values are no functions of the slot.
    """
    if model.spec.layers > 1:
        return weights["W_V"].new_full((len(weights["W_V"]),), torch.nan)
    values = model.slot_values(weights, model.embed(weights))
    return (
        torch.linalg.vector_norm(values, dim=3).amax(dim=2).where(model.slots.used, 0).amax(dim=1)
    )


class _Found(NamedTuple):
    separation: Float[Tensor, "run head"]
    spread: Float[Tensor, "run head"]
    pair_mass: Float[Tensor, " run"]


def _substitutions(model: Transformer, weights: Parameters) -> _Found:
    """xi, Delta_emb and the least pair mass, position by position."""
    batch, slots, heads = model.batch, model.slots, model.spec.heads
    embedding = model.embed(weights)
    values = model.slot_values(weights, embedding).double().transpose(1, 2)
    scores = model.slot_scores(weights, embedding).squeeze(1).double().transpose(1, 2)
    separation = values.new_full((batch.runs, heads), torch.inf)
    spread = values.new_zeros((batch.runs, heads))
    pair_mass = values.new_full((batch.runs,), torch.inf)
    for run in range(batch.runs):
        informative, index = batch.informative[run], slots.index[run]
        for position in informative.any(dim=0).nonzero().flatten().tolist():
            at = index[informative[:, position]]
            own = at[:, position]
            tokens = own.unique()
            rest = torch.cat((at[:, :position], at[:, position + 1 :]), dim=1)
            share, mass, alone = _without(
                model.spec.attention, scores[run][:, rest], scores[run][:, tokens]
            )
            centroid = torch.einsum("hep,hepd->hed", share, values[run][:, rest])
            value = values[run][:, tokens]
            # The largest distances keep their digits in this fast form; the least would not.
            reach = torch.cdist(centroid, value, compute_mode="use_mm_for_euclid_dist")
            reach = torch.where(alone.unsqueeze(-1), 0, reach)
            spread[run] = torch.maximum(spread[run], reach.amax(dim=(1, 2)))
            if len(tokens) > 1:
                gaps = torch.stack([torch.pdist(of_head).min() for of_head in value])
                separation[run] = torch.minimum(separation[run], gaps)
            mass = mass.sum(dim=0)
            same = own.unsqueeze(1) == tokens
            before = mass[same].unsqueeze(1)
            pairs = torch.where(same, torch.inf, before + mass)
            pair_mass[run] = torch.minimum(pair_mass[run], pairs.min())
    return _Found(separation, spread, pair_mass)


class _Rest(NamedTuple):
    share: Float[Tensor, "head example rest"]
    mass: Float[Tensor, "head example token"]
    alone: Bool[Tensor, "head example"]


def _without(
    kind: str, rest: Float[Tensor, "head example rest"], tokens: Float[Tensor, "head token"]
) -> _Rest:
    """How the rest of each sequence shares its attention, and what each token would leave it.

    Returns:
        The shares of the rest, which sum to 1; alpha_i for each token in position i; and
        where the rest has no attention to share, so that it has no centroid.
    """
    if kind == "softmax":
        against = torch.logsumexp(rest, dim=2).unsqueeze(-1)
        mass = torch.sigmoid(tokens.unsqueeze(1) - against)
        return _Rest(rest.softmax(dim=2), mass, torch.zeros_like(rest[..., 0], dtype=torch.bool))
    weight, own = rest.relu(), tokens.relu().unsqueeze(1)
    total = weight.sum(dim=2, keepdim=True)
    # Where no score is positive at all, attention is uniform.
    mass = torch.where(own + total > 0, own / (own + total), 1 / (rest.shape[2] + 1))
    alone = total == 0
    return _Rest(weight / torch.where(alone, 1, total), mass, alone.squeeze(2))
