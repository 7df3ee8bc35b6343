"""Structural priors: what is added to the cross-entropy to tell attention where to look.

A prior is a frozen dataclass of settings; the default one has strength 0 and adds nothing.

    kl          towards the oracle, or towards the distractors
    teacher     towards where a trained network looks (:mod:`grokkit.engine.teacher`)
    entropy     towards few positions, whichever they are
    sparsity    the same, by the squares of attention

Every one may be annealed, early or late, and may be replaced by a control.
"""

from grokkit.engine.priors.base import (
    Penalty,
    Prior,
    ScheduledPenalty,
    ScheduledPrior,
    priors,
    register_prior,
)
from grokkit.engine.priors.kinds import EntropyPrior, KLPrior, SparsityPrior
