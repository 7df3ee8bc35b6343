"""Operators that answer with a law: the elective on arXiv 2605.15806.

A target that is random has no right answer. A network with a squared error answers with the
mean, and loses everything else; one with a likelihood answers with a mean and a covariance. Here
both, and their rivals, are trained on random fields whose law is known::

    import grokkit
    from grokkit.operators import contest_presets

    history = grokkit.train(contest_presets["heat"])
    history.wasserstein.isel(run=0, epoch=-1).to_series()      # of every rival

One more kind of run: a contest is trained, swept, checkpointed and stored as any other.
"""

from grokkit.operators.contest import MEANING, PACE, RIVALS, Contest, Data, seconds_per_epoch
from grokkit.operators.laws import (
    GaussianLaw,
    covariance_error,
    coverage,
    crps,
    energy_score,
    fitted,
    wasserstein,
)
from grokkit.operators.networks import (
    TRAINED,
    DiffusionOperator,
    FourierOperator,
    GaussianOperator,
    MeanOperator,
    Rival,
    denoise,
)
from grokkit.operators.spec import ContestSpec, OperatorSize, contest_presets
from grokkit.operators.systems import (
    PHYSICS,
    SYSTEMS,
    Fields,
    System,
    heat_covariance,
    heat_mean,
    places,
    rough_covariance,
    rough_path,
    solve,
)
