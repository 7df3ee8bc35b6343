"""From a RunSpec to a History: objective, optimizers, engine."""

from grokkit.training.history import load_history, save_history, specs_of, thin
from grokkit.training.optimizers import AdamW, Optimizer, OptimizerSpec, register_optimizer
from grokkit.training.priors import KLPrior, Prior, register_prior
from grokkit.training.run import train
from grokkit.training.spec import RunSpec, grid
from grokkit.training.trainer import Trainer

__all__ = [
    "AdamW",
    "KLPrior",
    "Optimizer",
    "OptimizerSpec",
    "Prior",
    "RunSpec",
    "Trainer",
    "grid",
    "load_history",
    "register_optimizer",
    "register_prior",
    "save_history",
    "specs_of",
    "thin",
    "train",
]
