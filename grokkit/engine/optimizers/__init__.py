"""Optimizers for a group of runs, each run with its own settings.

One file for each kind. All share their frame (:mod:`grokkit.engine.optimizers.base`):
clip the gradient, find a direction U, decay the weights, take the step. They differ in U
and in whether U sees the decay:

==========  ===================================================  ==============
kind        U                                                    decay
==========  ===================================================  ==============
``adamw``   running mean / root of the running mean square       decoupled, B.2
``adam``    the same, of gradient + weight_decay * W             L2
``sgd``     momentum's sum of gradient + weight_decay * W        L2, B.1
``lion``    the sign of a running mean                           decoupled, B.2
``muon``    hidden matrices: momentum with all singular values   decoupled, B.2
            brought near 1; the rest: as AdamW
==========  ===================================================  ==============
"""

from grokkit.engine.optimizers.adam_l2 import Adam
from grokkit.engine.optimizers.adamw import AdamW
from grokkit.engine.optimizers.base import (
    Optimizer,
    OptimizerSpec,
    is_number,
    numbers,
    optimizers,
    register_optimizer,
)
from grokkit.engine.optimizers.lion import Lion
from grokkit.engine.optimizers.muon import Muon
from grokkit.engine.optimizers.sgd import SGD

__all__ = [
    "SGD",
    "Adam",
    "AdamW",
    "Lion",
    "Muon",
    "Optimizer",
    "OptimizerSpec",
    "is_number",
    "numbers",
    "optimizers",
    "register_optimizer",
]
