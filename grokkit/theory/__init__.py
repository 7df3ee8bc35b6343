"""The theory as functions of numbers and arrays: every statement, and where each stops.

No training happens here and nothing is random. Each function computes one statement of
arXiv 2605.15787, "Grokking as Structural Inference: Transformers Need Bayesian Lottery
Tickets", in float64; its docstring has the formula. Where a statement fails, both it
and what holds instead are here, under names that say which ("claimed" is the paper's).

=========================  =======================================================================
Statement                  Functions
=========================  =======================================================================
Definition 3.1             is_sparse_task, class_distinct_pairs
Section 3.2 (9, 10, 38)    bilinear_scores, softmax, relu_attention, pooled, split_pooled
Definition 3.2 (1, 39)     contraction_rate, contracted_norm_bound
Proposition B.1 (22)       norm_growth
Proposition B.2            norm_growth, norm_floor, adamw_update_bound, muon_update_bound,
                           sign_update_bound
(5, 40)                    plateau_length_claimed
corrected (5)              plateau_bracket
Definition 4.1 (2)         structural_condition
Definition 4.2             norm_condition
(12)                       common_rescaling
(13)                       rest_centroid
(14)                       pooled_difference
(16, 24)                   gap_upper_bound, value_spread, spread_from_radius
(17)                       pooled_difference_rearranged
(18)                       gap_lower_bound
(19)                       squared_gap_terms
(20, 21)                   gap_lower_bound_squared
counter to (18, 28)        collision
Theorem 4.3                gamma_threshold, mlp_lipschitz
(25)                       output_gap_from_margin
(27)                       pair_mass_required, pair_condition
counter to Theorem 4.3     parity
Corollary 4.5 (3)          oracle_attention, kl_divergence, delta_necessary
corrected converse of 4.5  delta_sufficient
counter to 4.5             low_divergence
Lemma 5.1 (4)              cross_entropy, score_gradient_bound, batch_mean_root_loss
(29)                       output_gradient_bounds
(32)                       pooled_jacobian
(33, 34)                   score_gradient_bound_by_position
corrected (4)              score_gradient_bound_linear, pooled_jacobian_relu
(6)                        penalised_loss
(45)                       kl_score_gradient, kl_score_gradient_relu
(47)                       kl_flow
(48)                       divergence_velocity
(49)                       quadratic_divergence
(50)                       pl_constant_claimed
(51, 52)                   divergence_claimed
(7, 53)                    time_claimed
corrected (50)             pl_constant, squared_gap_bound, kappa_guaranteed, kappa_uniform
corrected (51, 52)         late_rate, sparse_divergence, late_divergence
corrected (7, 53)          sparse_time
Conjecture E.1             logit_variance, logit_variance_bound
Conjecture E.2 (54, 55)    multi_head_pooled, multi_head_gap_bound, distributed_condition
counter to E.2             cancelling_heads
=========================  =======================================================================

The same table as data is ``grokkit.theory.statements.STATEMENTS``. Modules, in reading order:
``attention``, ``sparse_task``, ``contraction``, ``geometry``, ``decoupling``,
``counterexamples``, ``starvation``, ``kl_acceleration``, ``sparse_rate``, ``variance``, ``heads``.
"""

from grokkit.theory.attention import (
    bilinear_scores,
    kl_divergence,
    log_softmax,
    oracle_attention,
    pooled,
    relu_attention,
    softmax,
    split_pooled,
)
from grokkit.theory.contraction import (
    PlateauBracket,
    adamw_update_bound,
    contracted_norm_bound,
    contraction_rate,
    muon_update_bound,
    norm_floor,
    norm_growth,
    plateau_bracket,
    plateau_length_claimed,
    sign_update_bound,
)
from grokkit.theory.counterexamples import (
    Heads,
    LowDivergence,
    Pair,
    Parity,
    cancelling_heads,
    collision,
    low_divergence,
    parity,
)
from grokkit.theory.decoupling import (
    delta_necessary,
    delta_sufficient,
    gamma_threshold,
    mlp_lipschitz,
    norm_condition,
    output_gap_from_margin,
    pair_condition,
    pair_mass_required,
    structural_condition,
)
from grokkit.theory.geometry import (
    common_rescaling,
    gap_lower_bound,
    gap_lower_bound_squared,
    gap_upper_bound,
    pooled_difference,
    pooled_difference_rearranged,
    rest_centroid,
    spread_from_radius,
    squared_gap_terms,
    value_spread,
)
from grokkit.theory.heads import (
    distributed_condition,
    multi_head_gap_bound,
    multi_head_pooled,
)
from grokkit.theory.kl_acceleration import (
    KLFlow,
    divergence_claimed,
    divergence_velocity,
    kl_flow,
    kl_score_gradient,
    kl_score_gradient_relu,
    late_rate,
    penalised_loss,
    pl_constant,
    pl_constant_claimed,
    quadratic_divergence,
    time_claimed,
)
from grokkit.theory.sparse_rate import (
    kappa_guaranteed,
    kappa_uniform,
    late_divergence,
    sparse_divergence,
    sparse_time,
    squared_gap_bound,
)
from grokkit.theory.sparse_task import (
    class_distinct_pairs,
    is_sparse_task,
)
from grokkit.theory.starvation import (
    OutputGradientBounds,
    batch_mean_root_loss,
    cross_entropy,
    output_gradient_bounds,
    pooled_jacobian,
    pooled_jacobian_relu,
    score_gradient_bound,
    score_gradient_bound_by_position,
    score_gradient_bound_linear,
)
from grokkit.theory.statements import STATEMENTS
from grokkit.theory.variance import (
    logit_variance,
    logit_variance_bound,
)

__all__ = [
    "STATEMENTS",
    "Heads",
    "KLFlow",
    "LowDivergence",
    "OutputGradientBounds",
    "Pair",
    "Parity",
    "PlateauBracket",
    "adamw_update_bound",
    "batch_mean_root_loss",
    "bilinear_scores",
    "cancelling_heads",
    "class_distinct_pairs",
    "collision",
    "common_rescaling",
    "contracted_norm_bound",
    "contraction_rate",
    "cross_entropy",
    "delta_necessary",
    "delta_sufficient",
    "distributed_condition",
    "divergence_claimed",
    "divergence_velocity",
    "gamma_threshold",
    "gap_lower_bound",
    "gap_lower_bound_squared",
    "gap_upper_bound",
    "is_sparse_task",
    "kappa_guaranteed",
    "kappa_uniform",
    "kl_divergence",
    "kl_flow",
    "kl_score_gradient",
    "kl_score_gradient_relu",
    "late_divergence",
    "late_rate",
    "log_softmax",
    "logit_variance",
    "logit_variance_bound",
    "low_divergence",
    "mlp_lipschitz",
    "multi_head_gap_bound",
    "multi_head_pooled",
    "muon_update_bound",
    "norm_condition",
    "norm_floor",
    "norm_growth",
    "oracle_attention",
    "output_gap_from_margin",
    "output_gradient_bounds",
    "pair_condition",
    "pair_mass_required",
    "parity",
    "penalised_loss",
    "pl_constant",
    "pl_constant_claimed",
    "plateau_bracket",
    "plateau_length_claimed",
    "pooled",
    "pooled_difference",
    "pooled_difference_rearranged",
    "pooled_jacobian",
    "pooled_jacobian_relu",
    "quadratic_divergence",
    "relu_attention",
    "rest_centroid",
    "score_gradient_bound",
    "score_gradient_bound_by_position",
    "score_gradient_bound_linear",
    "sign_update_bound",
    "softmax",
    "sparse_divergence",
    "sparse_time",
    "split_pooled",
    "spread_from_radius",
    "squared_gap_bound",
    "squared_gap_terms",
    "structural_condition",
    "time_claimed",
    "value_spread",
]
