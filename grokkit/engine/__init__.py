"""The engine: from a RunSpec to trained weights and records, fast and for many runs at once."""

from grokkit.engine.accelerators import (
    Accelerator,
    AcceleratorSpec,
    Grokfast,
    NoAccelerator,
    OrthogonalGradient,
    register_accelerator,
)
from grokkit.engine.contraction import measure_contraction
from grokkit.engine.controls import Controls
from grokkit.engine.optimizers import (
    SGD,
    Adam,
    AdamW,
    Lion,
    Muon,
    Optimizer,
    OptimizerSpec,
    register_optimizer,
)
from grokkit.engine.presets import presets
from grokkit.engine.priors import (
    EntropyPrior,
    KLPrior,
    Prior,
    ScheduledPrior,
    SparsityPrior,
    register_prior,
)
from grokkit.engine.spec import RunSpec, grid
from grokkit.engine.spec_kinds import Spec, register_spec
from grokkit.engine.teacher import TeacherPrior
from grokkit.engine.trainer import Trainer
from grokkit.engine.weights import WeightsError, load_weights, save_weights
