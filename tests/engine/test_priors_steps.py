"""Which code computes the gradient under a prior, and that both compute the same."""

from collections.abc import Sequence

import numpy as np
import pytest
import torch

from grokkit.engine import KLPrior, Prior, RunSpec, Trainer
from grokkit.engine.analytic_step import AnalyticStep
from grokkit.engine.autograd_step import AutogradStep
from grokkit.runtime import train
from tests.engine.small import SMALL
from tests.engine.test_no_synchronisation import Faker
from tests.model.cases import MODELS, SEEDS, TASKS, group


def specs_for(task: str, model: str, each: Sequence[Prior]) -> list[RunSpec]:
    return [
        RunSpec(task=TASKS[task], model=MODELS[model], prior=prior, seed=seed)
        for prior, seed in zip(each, SEEDS, strict=True)
    ]


ANALYTIC = {
    "oracle": dict(target="oracle"),
    "adversarial": dict(target="adversarial"),
    "summed": dict(head_reduction="summed"),
    "adversarial, summed": dict(target="adversarial", head_reduction="summed"),
    "annealed": dict(schedule="annealed", schedule_epochs=4),
    "early, summed": dict(schedule="early", schedule_epochs=3, head_reduction="summed"),
    "late, adversarial": dict(schedule="late", schedule_epochs=3, target="adversarial"),
}


@pytest.mark.parametrize("settings", ANALYTIC.values(), ids=ANALYTIC)
@pytest.mark.parametrize("task", ["alphabet", "marked"])
def test_the_handwritten_gradient_is_autograds(task, settings):
    model = "3 heads softmax classifier W_O" if "head_reduction" in settings else None
    model = model or "1 heads softmax classifier"
    each = [KLPrior(beta, **settings) for beta in (0.1, 0.4, 3.7)]
    specs = specs_for(task, model, each)
    batch, weights = group(TASKS[task], MODELS[model])
    penalty = each[0].start(specs, batch)
    steps = [step(MODELS[model], batch, weights, penalty) for step in (AnalyticStep, AutogradStep)]
    seen = []
    for epoch in (0, 2, 3, 9):
        found = []
        for step in steps:
            step(epoch)
            found.append(weights.flat_grad.clone())
        assert (found[0] - found[1]).abs().max() <= 1e-14
        seen.append(found[0])
    assert ("schedule" in settings) == any(not torch.equal(seen[0], one) for one in seen)
    rows = torch.tensor([[0, 3, 1], [2, 1, 0], [4, 2, 5]])
    for step in steps:
        step.take(rows)(2)
        found.append(weights.flat_grad.clone())
    assert (found[-1] - found[-2]).abs().max() <= 1e-14


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        (dict(), "analytic"),
        (dict(target="adversarial", kl_strength=1.0), "analytic"),
        (dict(heads=2, head_reduction="summed", kl_strength=1.0), "analytic"),
        (dict(schedule="early", schedule_epochs=5, kl_strength=1.0), "analytic"),
        (dict(kl_strength=1.0, penalty_gradient="noise"), "autograd"),
        (dict(kl_strength=1.0, penalty_gradient="shuffled"), "autograd"),
        (dict(prior="entropy"), "autograd"),
        (dict(prior="sparsity"), "autograd"),
        (dict(attention="relu", kl_strength=1.0), "autograd"),
        (dict(attention="oracle"), "autograd"),
        (dict(readout="residual", kl_strength=1.0), "autograd"),
    ],
)
def test_the_history_says_which_code(changes, path):
    history = train(SMALL.with_(epochs=2, record_every=1, **changes))
    assert history.attrs["gradient"] == path
    assert all(np.isfinite(history[name]).all() for name in ("train_loss", "kl", "W_K_gradient"))


@pytest.mark.parametrize(
    "changes",
    [
        dict(heads=2, head_reduction="summed", schedule="annealed", schedule_epochs=9),
        dict(target="adversarial", schedule="late", schedule_epochs=9),
        dict(penalty_gradient="noise", schedule="early", schedule_epochs=9),
        dict(penalty_gradient="shuffled"),
    ],
)
def test_no_prior_waits_for_the_device(changes):
    """Under fake tensors whatever asks for a value raises."""
    trainer = Trainer([SMALL.with_(kl_strength=beta, **changes) for beta in (0.1, 1.0)])
    fake = Faker()
    step = fake(trainer.step)
    with fake.mode:
        for epoch in (0, 12):
            step(epoch, record=True)
