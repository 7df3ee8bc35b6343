"""What to measure on a model in training, one module a concept.

structure   where attention looks: mass, KL from the oracle, entropy (B_gamma)
capacity    how large the MLP is: norm and Lipschitz bound (N)
starvation  what is left of the gradient that would teach attention
phases      when a run memorised, waited, and grokked, read off its History
"""

from grokkit.diagnostics.capacity import lipschitz, mlp_norm
from grokkit.diagnostics.phases import (
    BORDERS,
    PHASES,
    grok_epoch,
    memorise_epoch,
    phase_borders,
    phase_labels,
)
from grokkit.diagnostics.starvation import attention_gradient, score_gradient_norm
from grokkit.diagnostics.structure import (
    attention_entropy,
    attention_kl,
    attention_mass,
    informative_mass,
    min_informative_mass,
)

__all__ = [
    "BORDERS",
    "PHASES",
    "attention_entropy",
    "attention_gradient",
    "attention_kl",
    "attention_mass",
    "grok_epoch",
    "informative_mass",
    "lipschitz",
    "memorise_epoch",
    "min_informative_mass",
    "mlp_norm",
    "phase_borders",
    "phase_labels",
    "score_gradient_norm",
]
