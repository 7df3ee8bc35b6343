"""Kinds of one's own: what is missing or does nothing is said in one line."""

from dataclasses import dataclass

import pytest
import torch

from grokkit.engine import (
    Accelerator,
    AcceleratorSpec,
    OptimizerSpec,
    Prior,
    ScheduledPrior,
    Trainer,
    register_accelerator,
    register_optimizer,
    register_prior,
)
from grokkit.engine.priors import priors
from grokkit.errors import SettingError
from grokkit.tasks import ModularTask, Task, register_task, tasks
from tests.engine.small import SMALL
from tests.kinds import forgotten


@pytest.mark.parametrize(
    ("base", "register", "missing"),
    [
        (Task, register_task, "needs build, as every task does"),
        (ModularTask, register_task, "needs label, as every task does"),
        (OptimizerSpec, register_optimizer, "needs start, as every optimizer does"),
        (AcceleratorSpec, register_accelerator, "needs start, as every accelerator does"),
    ],
)
def test_a_missing_method_is_named_where_the_class_is_registered(base, register, missing):
    @dataclass(frozen=True)
    class Mine(base):
        pass

    with pytest.raises(TypeError, match=f"^Mine: {missing}$"):
        register("mine")(Mine)
    assert "mine" not in tasks


def test_an_accelerator_without_a_call_cannot_be_made():
    class Mine(Accelerator):
        pass

    with pytest.raises(TypeError, match=r"abstract method '?__call__"):
        Mine([], None)  # type: ignore[abstract]


PENALTIES = {
    "vector": (lambda seen: seen.attention.mean(dim=(0, 2, 3)), r"got 'shape \(\d+,\)'"),
    "float": (lambda seen: 1.0, "got 1.0"),
    "detached": (lambda seen: seen.attention.detach().mean(), "got 'a number without a gradient'"),
}


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("case", PENALTIES)
@pytest.mark.parametrize("base", [Prior, ScheduledPrior])
def test_a_penalty_that_cannot_be_trained_on_is_refused(base, case):
    made, message = PENALTIES[case]
    with forgotten(priors):

        @register_prior("mine")
        @dataclass(frozen=True)
        class Mine(base):
            def penalty(self, seen, batch):
                return made(seen)

        with pytest.raises(SettingError, match=rf"^Mine\.penalty: {message}"):
            Trainer([SMALL.with_(prior=Mine())]).advance(1)


def test_a_penalty_of_zero_needs_no_gradient():
    with forgotten(priors):

        @register_prior("mine")
        @dataclass(frozen=True)
        class Mine(Prior):
            def penalty(self, seen, batch):
                return torch.zeros(())

        Trainer([SMALL.with_(prior=Mine())]).advance(1)


@pytest.mark.parametrize("base", [Prior, ScheduledPrior])
def test_a_prior_without_a_penalty_says_what_it_needs(base):
    with forgotten(priors):

        @register_prior("mine")
        @dataclass(frozen=True)
        class Mine(base):
            strength_name = "weight"
            weight: float = 1.0

        with pytest.raises(NotImplementedError, match=r"^Mine: a prior needs a method .*penalty\("):
            Trainer([SMALL.with_(prior=Mine())]).advance(1)
