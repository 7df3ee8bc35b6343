"""From a RunSpec to a History: objective, optimizers, engine."""

from grokkit.training.accelerators import (
    Accelerator,
    AcceleratorSpec,
    Grokfast,
    NoAccelerator,
    OrthogonalGradient,
    register_accelerator,
)
from grokkit.training.checkpoint import CheckpointError
from grokkit.training.contraction import measure_contraction
from grokkit.training.controls import Controls, grokked_radius
from grokkit.training.history import any_specs_of, load_history, save_history, specs_of, thin
from grokkit.training.keys import spec_key
from grokkit.training.optimizers import (
    SGD,
    Adam,
    AdamW,
    Lion,
    Muon,
    Optimizer,
    OptimizerSpec,
    register_optimizer,
)
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
from grokkit.training.spec_kinds import Spec, register_spec
from grokkit.training.store import RunStore
from grokkit.training.sweep import load_sweep, sweep
from grokkit.training.trainer import Trainer
from grokkit.training.weights import WeightsError, load_weights, save_weights

__all__ = [
    "SGD",
    "Accelerator",
    "AcceleratorSpec",
    "Adam",
    "AdamW",
    "CheckpointError",
    "Controls",
    "EntropyPrior",
    "Grokfast",
    "KLPrior",
    "Lion",
    "Muon",
    "NoAccelerator",
    "Optimizer",
    "OptimizerSpec",
    "OrthogonalGradient",
    "Prior",
    "RunSpec",
    "RunStore",
    "RunsFailed",
    "ScheduledPrior",
    "SparsityPrior",
    "Spec",
    "TeacherPrior",
    "Trainer",
    "WeightsError",
    "any_specs_of",
    "grid",
    "grokked_radius",
    "load_history",
    "load_sweep",
    "load_weights",
    "measure_contraction",
    "presets",
    "register_accelerator",
    "register_optimizer",
    "register_prior",
    "register_spec",
    "save_history",
    "save_weights",
    "spec_key",
    "specs_of",
    "sweep",
    "thin",
    "train",
]
