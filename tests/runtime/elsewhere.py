"""Kinds that a learner keeps in a module of their own; used by test_executors.py."""

from dataclasses import dataclass
from typing import NoReturn

from grokkit.engine import KLPrior, register_prior
from grokkit.errors import refuse
from grokkit.tasks import ModularAddition, register_task


@register_prior("elsewhere")
@dataclass(frozen=True)
class Elsewhere(KLPrior):
    factor: float = 2.0


@register_task("unbuildable")
@dataclass(frozen=True)
class Unbuildable(ModularAddition):
    """Its settings make no sense, which is found out only when the data is built."""

    def build(self, seed: int) -> NoReturn:
        refuse("draws", (self.draws, "of none"), "something else")
