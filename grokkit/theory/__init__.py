"""The theory as functions of numbers and arrays: what is computed of it, and where it stops.

No training happens here and nothing is random. Each function computes one statement of
arXiv 2605.15787, "Grokking as Structural Inference: Transformers Need Bayesian Lottery
Tickets", in float64; its docstring has the formula. Where a statement fails, both it
and what holds instead are here, under names that say which ("claimed" is the paper's). A number
outside of a formula's domain is refused: the error names the argument and what is allowed.

{table}

The same table as data is ``grokkit.theory.STATEMENTS``. Modules, in reading order:
``attention``, ``contraction``, ``geometry``, ``decoupling``,
``counterexamples``, ``starvation``, ``kl_acceleration``, ``sparse_rate``, ``variance``, ``heads``.
"""

# In reading order: so the table has it.
# isort: off
from grokkit.theory.attention import (
    bilinear_scores,
    kl_divergence,
    log_softmax,
    oracle_attention,
    pooled,
    relu_attention,
    softmax,
)
from grokkit.theory.contraction import (
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
from grokkit.theory.geometry import (
    gap_lower_bound,
    gap_upper_bound,
    pooled_difference,
    pooled_difference_rearranged,
    rest_centroid,
    squared_gap_terms,
    value_spread,
)
from grokkit.theory.decoupling import (
    delta_necessary,
    delta_sufficient,
    gamma_threshold,
    mlp_lipschitz,
    output_gap_from_margin,
    pair_mass_required,
    structural_condition,
)
from grokkit.theory.counterexamples import cancelling_heads, collision, low_divergence, parity
from grokkit.theory.starvation import (
    cross_entropy,
    output_gradient_bounds,
    pooled_jacobian,
    pooled_jacobian_relu,
    score_gradient_bound,
    score_gradient_bound_by_position,
    score_gradient_bound_linear,
)
from grokkit.theory.kl_acceleration import (
    divergence_claimed,
    kl_flow,
    kl_score_gradient,
    pl_constant,
    pl_constant_claimed,
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
from grokkit.theory.variance import logit_variance, logit_variance_bound
from grokkit.theory.heads import multi_head_pooled
from grokkit.theory.statements import index, table
# isort: on

STATEMENTS = index()
"""Each statement of the paper and the functions that compute it."""

__doc__ = (__doc__ or "").replace("{table}", table(STATEMENTS))
