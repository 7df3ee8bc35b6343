"""Which code computes the gradient of a group of runs."""

from collections.abc import Sequence

from grokkit.engine.analytic_step import AnalyticStep
from grokkit.engine.autograd_step import AutogradStep
from grokkit.engine.priors import KLPrior, ScheduledPenalty
from grokkit.engine.spec import RunSpec
from grokkit.errors import refuse
from grokkit.model import Batch, Parameters


def choose_step(
    specs: Sequence[RunSpec], batch: Batch, weights: Parameters
) -> AnalyticStep | AutogradStep:
    """The hand-written step where it serves, and autograd for everything else.

    It serves softmax attention, the plain classifier readout (no norm, readout scale 1), one
    query that is the same in every sequence, informative positions in all of them, and the
    KL prior itself: any target, schedule and head reduction, and its true gradient. A kind
    that is derived from KLPrior may mean something else, and goes through autograd.

    Args:
        specs: the runs of one group.
        batch: what they are trained on.
        weights: the weights of the group.

    Raises:
        SettingError: the prior makes no sense on these sequences, or bf16 was asked for
            where the hand-written step does not serve.
    """
    model, prior, precision = specs[0].model, specs[0].prior, specs[0].precision
    penalty = prior.start(specs, batch)
    if (
        model.attention == "softmax"
        and model.readout == "classifier"
        and model.norm == "none"
        and model.readout_scale == 1
        and batch.fixed_query
        and batch.graded is None
        and isinstance(penalty, ScheduledPenalty)
        and type(prior) is KLPrior
        and prior.penalty_gradient == "true"
    ):
        return AnalyticStep(model, batch, weights, penalty, round_products=precision == "bf16")
    if precision == "bf16":
        refuse("precision", precision, "float32, float64, tf32 for a run that needs autograd")
    return AutogradStep(model, batch, weights, penalty)
