"""Which function states what: the paper's statement numbers, and the corrections to them.

``STATEMENTS`` maps a number, as the paper (arXiv 2605.15787) has it, to the functions that
compute it. A key that starts with "corrected" holds what replaces a statement that fails;
"counter to" holds a constructed example on which a reading of it fails.

Not here, since no formula carries them: Assumption C.1 (B_gamma and N suffice), and the
four phases of Section 5.1, whose borders are a rule about measured curves.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from grokkit.theory import (
    attention,
    contraction,
    counterexamples,
    decoupling,
    geometry,
    heads,
    kl_acceleration,
    sparse_rate,
    sparse_task,
    starvation,
    variance,
)

STATEMENTS: Mapping[str, tuple[Callable[..., Any], ...]] = MappingProxyType(
    {
        "Definition 3.1": (sparse_task.is_sparse_task, sparse_task.class_distinct_pairs),
        "Section 3.2 (9, 10, 38)": (
            attention.bilinear_scores,
            attention.softmax,
            attention.relu_attention,
            attention.pooled,
            attention.split_pooled,
        ),
        "Definition 3.2 (1, 39)": (
            contraction.contraction_rate,
            contraction.contracted_norm_bound,
        ),
        "Proposition B.1 (22)": (contraction.norm_growth,),
        "Proposition B.2": (
            contraction.norm_growth,
            contraction.norm_floor,
            contraction.adamw_update_bound,
            contraction.muon_update_bound,
            contraction.sign_update_bound,
        ),
        "(5, 40)": (contraction.plateau_length_claimed,),
        "corrected (5)": (contraction.plateau_bracket,),
        "Definition 4.1 (2)": (decoupling.structural_condition,),
        "Definition 4.2": (decoupling.norm_condition,),
        "(12)": (geometry.common_rescaling,),
        "(13)": (geometry.rest_centroid,),
        "(14)": (geometry.pooled_difference,),
        "(16, 24)": (
            geometry.gap_upper_bound,
            geometry.value_spread,
            geometry.spread_from_radius,
        ),
        "(17)": (geometry.pooled_difference_rearranged,),
        "(18)": (geometry.gap_lower_bound,),
        "(19)": (geometry.squared_gap_terms,),
        "(20, 21)": (geometry.gap_lower_bound_squared,),
        "counter to (18, 28)": (counterexamples.collision,),
        "Theorem 4.3": (decoupling.gamma_threshold, decoupling.mlp_lipschitz),
        "(25)": (decoupling.output_gap_from_margin,),
        "(27)": (decoupling.pair_mass_required, decoupling.pair_condition),
        "counter to Theorem 4.3": (counterexamples.parity,),
        "Corollary 4.5 (3)": (
            attention.oracle_attention,
            attention.kl_divergence,
            decoupling.delta_necessary,
        ),
        "corrected converse of 4.5": (decoupling.delta_sufficient,),
        "counter to 4.5": (counterexamples.low_divergence,),
        "Lemma 5.1 (4)": (
            starvation.cross_entropy,
            starvation.score_gradient_bound,
            starvation.batch_mean_root_loss,
        ),
        "(29)": (starvation.output_gradient_bounds,),
        "(32)": (starvation.pooled_jacobian,),
        "(33, 34)": (starvation.score_gradient_bound_by_position,),
        "corrected (4)": (
            starvation.score_gradient_bound_linear,
            starvation.pooled_jacobian_relu,
        ),
        "(6)": (kl_acceleration.penalised_loss,),
        "(45)": (kl_acceleration.kl_score_gradient, kl_acceleration.kl_score_gradient_relu),
        "(47)": (kl_acceleration.kl_flow,),
        "(48)": (kl_acceleration.divergence_velocity,),
        "(49)": (kl_acceleration.quadratic_divergence,),
        "(50)": (kl_acceleration.pl_constant_claimed,),
        "(51, 52)": (kl_acceleration.divergence_claimed,),
        "(7, 53)": (kl_acceleration.time_claimed,),
        "corrected (50)": (
            kl_acceleration.pl_constant,
            sparse_rate.squared_gap_bound,
            sparse_rate.kappa_guaranteed,
            sparse_rate.kappa_uniform,
        ),
        "corrected (51, 52)": (
            kl_acceleration.late_rate,
            sparse_rate.sparse_divergence,
            sparse_rate.late_divergence,
        ),
        "corrected (7, 53)": (sparse_rate.sparse_time,),
        "Conjecture E.1": (variance.logit_variance, variance.logit_variance_bound),
        "Conjecture E.2 (54, 55)": (
            heads.multi_head_pooled,
            heads.multi_head_gap_bound,
            heads.distributed_condition,
        ),
        "counter to E.2": (counterexamples.cancelling_heads,),
    }
)
