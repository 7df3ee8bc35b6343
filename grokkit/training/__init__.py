"""From a RunSpec to a History: objective, optimizers, engine."""

from grokkit.training.checkpoint import CheckpointError
from grokkit.training.history import load_history, save_history, specs_of, thin
from grokkit.training.keys import spec_key
from grokkit.training.optimizers import AdamW, Optimizer, OptimizerSpec, register_optimizer
from grokkit.training.presets import presets
from grokkit.training.priors import (
    EntropyPrior,
    KLPrior,
    Prior,
    ScheduledPrior,
    SparsityPrior,
    TeacherPrior,
    register_prior,
)
from grokkit.training.run import RunsFailed, train
from grokkit.training.spec import RunSpec, grid
from grokkit.training.store import RunStore
from grokkit.training.sweep import load_sweep, sweep
from grokkit.training.trainer import Trainer
from grokkit.training.weights import WeightsError, load_weights, save_weights

__all__ = [
    "AdamW",
    "CheckpointError",
    "EntropyPrior",
    "KLPrior",
    "Optimizer",
    "OptimizerSpec",
    "Prior",
    "RunSpec",
    "RunStore",
    "RunsFailed",
    "ScheduledPrior",
    "SparsityPrior",
    "TeacherPrior",
    "Trainer",
    "WeightsError",
    "grid",
    "load_history",
    "load_sweep",
    "load_weights",
    "presets",
    "register_optimizer",
    "register_prior",
    "save_history",
    "save_weights",
    "spec_key",
    "specs_of",
    "sweep",
    "thin",
    "train",
]
