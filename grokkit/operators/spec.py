"""ContestSpec: everything that decides a contest of operators, in one frozen value."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, ClassVar, Literal

from grokkit.engine.spec_kinds import Spec, register_spec
from grokkit.errors import check_choice, check_int, check_number, refuse
from grokkit.operators.systems import System
from grokkit.registry import Named

KIND = "operators"
"""The kind of these specs among others."""


@dataclass(frozen=True)
class OperatorSize:
    """The size of an operator; rivals are as large as each other.

    Attributes:
        width: the channels of a layer, even, 2..128.
        waves: how many waves a layer mixes, 1..64.

    Raises:
        SettingError: a setting makes no sense; the message names it.
    """

    width: int = 16
    waves: int = 8

    def __post_init__(self) -> None:
        if check_int("width", self.width, 2, 128) % 2:
            refuse("width", self.width, "an even number, 2..128")
        check_int("waves", self.waves, 1, 64)


@register_spec(KIND)
@dataclass(frozen=True)
class ContestSpec(Spec):
    """One contest: all rivals on the data of one system and seed, for the same time.

    Attributes:
        task: the system.
        network: the size of every operator.
        learning_rate: the first step size, above 0; it falls as a cosine to 0.
        batch_size: the number of examples that an optimizer step sees.
        seed: names the data, the first weights and the minibatches.
        nugget_rate: how much larger the steps of a nugget are than those of weights, above 0. It
            is the logarithm of a variance and one number, which Adam moves by at most about the
            learning rate a step: at 1 it hardly comes down in the steps of a contest.
        mean_loss: what trains the mean of a Gaussian rival: ``"squared error"``, or the
            ``"likelihood"``, which trains its covariance in any case.
        round_steps: about how many optimizer steps each rival has in a round; the slower ones
            have fewer (:data:`grokkit.operators.contest.PACE`).
        epochs: the number of rounds.
        record_every: the number of rounds between two records of the History.
        stop_after: None: a contest never stops early.

    Raises:
        SettingError: a setting makes no sense; the message names it.
    """

    PARTS: ClassVar[Mapping[str, type[Any]]] = MappingProxyType(
        {"task": System, "network": OperatorSize}
    )

    task: System = field(default_factory=System)
    network: OperatorSize = field(default_factory=OperatorSize)
    learning_rate: float = 5e-3
    batch_size: int = 64
    nugget_rate: float = 3.0
    mean_loss: Literal["squared error", "likelihood"] = "squared error"
    round_steps: int = 10
    seed: int = 0
    epochs: int = 40
    record_every: int = 10
    stop_after: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number("learning_rate", self.learning_rate, strict=True)
        check_int("batch_size", self.batch_size, 1)
        check_number("nugget_rate", self.nugget_rate, strict=True)
        check_choice("mean_loss", self.mean_loss, ("squared error", "likelihood"))
        check_int("round_steps", self.round_steps, 1)
        if self.stop_after is not None:
            refuse("stop_after", self.stop_after, "None: a contest never stops early")

    def check(self) -> None:
        """Refuse an operator whose layers mix more waves than the grid has."""
        if 2 * self.network.waves > self.task.grid:
            refuse("waves", self.network.waves, f"at most {self.task.grid // 2}, half the grid")

    def group_key(self) -> tuple[object, ...]:
        """The spec itself: one contest is held at a time."""
        return (self,)

    def epoch_seconds(self) -> float:
        """About the seconds of a round on one core, within a factor of three."""
        work = self.batch_size * self.task.grid * self.network.width**2
        return 7 * self.round_steps * (2e-3 + 3e-9 * work)


contest_presets: Mapping[str, ContestSpec] = Named(
    "preset",
    {
        "heat": ContestSpec(),
        "burgers": ContestSpec(System("burgers")),
        "burgers, weak noise": ContestSpec(System("burgers", noise=0.03)),
        "phi4": ContestSpec(System("phi4")),
        "phi4, likelihood": ContestSpec(System("phi4"), mean_loss="likelihood"),
        "phi4, early nugget": ContestSpec(System("phi4"), mean_loss="likelihood", nugget_rate=10.0),
        "rough": ContestSpec(System("rough")),
    },
)
"""A contest on each system, by name.

On phi4 also two in which the likelihood trains the mean, too: one like the others, and one whose
nuggets fall before the mean is learned.

The abstract names quasi-deterministic systems as a failure. With weak noise every law that was
trained on Burgers fails: in each recorded run its covariance is farther from the true one than no
spread at all would be. So no further system is built for it.
"""
