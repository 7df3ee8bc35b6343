"""What to measure on a model in training, one module a concept.

structure          where attention looks: mass, KL from the oracle, entropy (B_gamma)
head_mass          the same for several heads together (Conjecture E.2)
capacity           how large the MLP is: norm and Lipschitz bound (N)
separability       xi, Delta_emb, the margin, and the gamma that follows (Theorem 4.3)
starvation         what is left of the gradient that would teach attention
starvation_bounds  how far it stays under its bounds (Lemma 5.1)
collapse           what the usual cross-entropy would have rounded away
variance           how unequal scores are, and could be (Conjecture E.1)
contraction        whether a step shrinks the weights (Definition 3.2)
fourier            which waves a network adds with
phases             when a run memorised, waited, and grokked, read off its History
plateau            how long the waits should have been, likewise (5), (7)
conditions         the thresholds of B_gamma and N that a run turned out to have
inverse_fit        how grok epochs fall with the strength of a prior
"""

from grokkit.diagnostics.capacity import lipschitz, mlp_norm
from grokkit.diagnostics.collapse import Collapse, softmax_collapse
from grokkit.diagnostics.conditions import hindsight_conditions
from grokkit.diagnostics.contraction import Contraction, contraction_slack, step_contraction
from grokkit.diagnostics.fourier import (
    all_sequences,
    embedding_power,
    excluded_loss,
    key_frequencies,
    logit_power,
    logit_table,
    restricted_loss,
    sum_power,
)
from grokkit.diagnostics.head_mass import HeadMass, distributed_share, summed_head_mass
from grokkit.diagnostics.inverse_fit import InverseFit, fit_inverse
from grokkit.diagnostics.phases import (
    BORDERS,
    PHASES,
    grok_epoch,
    memorise_epoch,
    phase_borders,
    phase_labels,
)
from grokkit.diagnostics.plateau import kl_times, plateau_lengths
from grokkit.diagnostics.separability import (
    Separability,
    logit_margins,
    separability,
    value_radius,
)
from grokkit.diagnostics.starvation import (
    AttentionGradient,
    attention_gradient,
    score_gradient_norm,
)
from grokkit.diagnostics.starvation_bounds import (
    StarvationBounds,
    score_gradients,
    starvation_bounds,
    starvation_exponent,
)
from grokkit.diagnostics.structure import (
    attention_entropy,
    attention_kl,
    attention_mass,
    informative_mass,
    min_informative_mass,
)
from grokkit.diagnostics.variance import ScoreVariance, score_variance

__all__ = [
    "BORDERS",
    "PHASES",
    "AttentionGradient",
    "Collapse",
    "Contraction",
    "HeadMass",
    "InverseFit",
    "ScoreVariance",
    "Separability",
    "StarvationBounds",
    "all_sequences",
    "attention_entropy",
    "attention_gradient",
    "attention_kl",
    "attention_mass",
    "contraction_slack",
    "distributed_share",
    "embedding_power",
    "excluded_loss",
    "fit_inverse",
    "grok_epoch",
    "hindsight_conditions",
    "informative_mass",
    "key_frequencies",
    "kl_times",
    "lipschitz",
    "logit_margins",
    "logit_power",
    "logit_table",
    "memorise_epoch",
    "min_informative_mass",
    "mlp_norm",
    "phase_borders",
    "phase_labels",
    "plateau_lengths",
    "restricted_loss",
    "score_gradient_norm",
    "score_gradients",
    "score_variance",
    "separability",
    "softmax_collapse",
    "starvation_bounds",
    "starvation_exponent",
    "step_contraction",
    "sum_power",
    "summed_head_mass",
    "value_radius",
]
