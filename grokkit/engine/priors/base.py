"""What a prior is: a frozen dataclass of settings that adds a penalty to the loss.

The loss of a run is L_CE + penalty, equation (6). Two ways to write a prior:

    one run at a time    inherit from Prior or ScheduledPrior and write ``penalty``, a few
                         lines that a notebook cell can hold
    a group at once      inherit from ScheduledPrior, name the field that holds the
                         strength, and write ``amount``, which all of grokkit's own do

With ScheduledPrior come the schedules of :mod:`grokkit.core.priors`, and the controls of
:mod:`grokkit.engine.priors.controls`. A schedule is a function of the epoch alone and keeps no
state, so a resumed run needs none.
"""

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

import torch
from jaxtyping import Float, Int
from torch import Tensor

from grokkit.core.priors import SCHEDULES
from grokkit.engine.priors.controls import Control, PenaltyGradient
from grokkit.errors import check_choice, check_int, check_number, refuse
from grokkit.model import Activations, Batch
from grokkit.registry import Registry
from grokkit.settings import refuse_idle

ScheduleKind = Literal["constant", "annealed", "early", "late"]


class Prior:
    """The base of every prior. A ``spec`` here is a :class:`grokkit.engine.RunSpec`.

    A prior of your own is a frozen dataclass that inherits from this class and is
    decorated with :func:`register_prior`. Its numeric fields may differ between the runs
    of a group; nothing else may.
    """

    kind: ClassVar[str]

    def penalty(self, seen: Activations, batch: Batch) -> Float[Tensor, ""]:
        """What is added to the loss of one run, from its own activations (run axis 1)."""
        needed = "penalty(seen, batch)"
        raise NotImplementedError(f"{type(self).__name__}: a prior needs a method {needed}")

    def check(self, spec: Any) -> None:
        """Refuse what makes no sense together with the rest of a spec; called for each spec."""

    def start(self, specs: Sequence[Any], batch: Batch) -> "Penalty":
        """The penalty of a group of runs on their sequences.

        Raises:
            SettingError: this prior makes no sense on these sequences.
        """
        return Penalty([spec.prior for spec in specs], batch)


class Penalty:
    """The penalty of a group of runs on one batch, run after run."""

    control: Control | None = None
    """What stands in for the penalty's gradient; None: nothing does."""

    def __init__(self, each: Sequence[Prior], batch: Batch) -> None:
        self.each = list(each)
        self.batch = batch

    def take(self, rows: Int[Tensor, "run row"]) -> "Penalty":
        """The penalty on some examples of each run, such as a minibatch."""
        taken = copy.copy(self)
        taken.batch = self.batch.take(rows)
        return taken

    def __call__(self, seen: Activations, epoch: int) -> Float[Tensor, " run"]:
        """What is added to the loss of each run at this epoch."""
        runs = enumerate(self.each)
        return torch.stack(
            [_checked(prior, prior.penalty(seen.run(i), self.batch.run(i))) for i, prior in runs]
        )


def _checked(prior: Prior, value: object) -> Tensor:
    """What a prior's own ``penalty`` returned, if it can be trained on."""
    field = f"{type(prior).__name__}.penalty"
    if not isinstance(value, Tensor) or value.dim() > 0:
        got = f"shape {tuple(value.shape)}" if isinstance(value, Tensor) else value
        refuse(field, got, "a tensor of shape (): one number for the run, such as a mean")
    if torch.is_grad_enabled() and not value.requires_grad and bool(value != 0):
        refuse(field, "a number without a gradient", "one computed from seen, and not detached")
    return value


@dataclass(frozen=True, kw_only=True)
class ScheduledPrior(Prior):
    """A prior with a schedule, and with controls in the place of its gradient.

    Attributes:
        schedule: when the penalty acts. ``constant``: always; ``annealed``: its strength
            falls linearly to 0 at ``schedule_epochs``; ``early``: before that epoch only;
            ``late``: from that epoch on.
        schedule_epochs: the epoch that the schedule speaks of; None with ``constant``.
        penalty_gradient: what the weights get of the penalty. ``true``: its gradient.
            ``noise``: on W_Q and W_K, at every step, fresh Gaussian noise with the norm
            that the penalty's gradient has on that matrix. ``shuffled``: on W_Q and W_K,
            the penalty's gradient with the sign of every entry drawn once for the run.
            ``noise-all``, ``shuffled-all``: the same on every array that the penalty moves.
            ``true-qk``: the penalty's gradient on W_Q and W_K alone. All but the first are
            controls.
    """

    strength_name: ClassVar[str]
    """The field that holds the strength: ``"kl_strength"``."""

    schedule: ScheduleKind = "constant"
    schedule_epochs: int | None = None
    penalty_gradient: PenaltyGradient = "true"

    def __post_init__(self) -> None:
        check_choice("schedule", self.schedule, SCHEDULES)
        check_choice("penalty_gradient", self.penalty_gradient, get_args(PenaltyGradient))
        if self.schedule == "constant":
            if self.schedule_epochs is not None:
                refuse("schedule_epochs", self.schedule_epochs, "None with schedule = 'constant'")
        elif self.schedule_epochs is None:
            allowed = f"a whole number, 1 or more, with schedule = {self.schedule!r}"
            refuse("schedule_epochs", self.schedule_epochs, allowed)
        else:
            check_int("schedule_epochs", self.schedule_epochs, 1)
        if not self.own_penalty:
            check_number(self.strength_name, self.strength)

    @property
    def strength(self) -> float:
        """The number that the amount is multiplied by."""
        return getattr(self, self.strength_name)

    @property
    def own_penalty(self) -> bool:
        """Whether a class derived from a prior has brought a penalty of its own."""
        return type(self).penalty is not Prior.penalty

    def amount(self, seen: Activations, target: Tensor | None) -> Float[Tensor, "run example"]:
        """The penalty of each example at strength 1.

        Args:
            seen: what the network computed of the examples: ``seen.attention`` is alpha.
            target: what :meth:`aim` returned, if anything.
        """
        needed = "amount(seen, target), or penalty(seen, batch)"
        raise NotImplementedError(f"{type(self).__name__}: a prior needs a method {needed}")

    def aim(self, specs: Sequence[Any], batch: Batch) -> Float[Tensor, "run example pos _"] | None:
        """What attention is drawn to, the same for all heads or for each; None: nothing.

        An example whose target is 0 everywhere has none, and is not penalised. Computed
        once for a batch, before training; the arguments are those of :meth:`start`.
        """
        return None

    def check(self, spec: Any) -> None:
        """Refuse a schedule that never begins, and a penalty on attention that is frozen."""
        if not self.own_penalty and self.strength == 0:
            idle = ("schedule", "head_reduction", "target")
            refuse_idle(self, idle, f"with {self.strength_name} = 0")
        if self.schedule == "late" and self.schedule_epochs >= spec.epochs:  # pyright: ignore
            refuse("schedule_epochs", self.schedule_epochs, f"below epochs = {spec.epochs}")
        if spec.model.attention == "oracle" and not self.own_penalty and self.strength > 0:
            allowed = "0 with attention = 'oracle', which no penalty can change"
            refuse(self.strength_name, self.strength, allowed)

    def start(self, specs: Sequence[Any], batch: Batch) -> "ScheduledPenalty":
        """The penalty of a group of runs on their sequences."""
        return ScheduledPenalty(specs, batch)


class ScheduledPenalty(Penalty):
    """The penalty of a group of runs with ScheduledPriors, all runs at once.

    Attributes:
        prior: the prior of the first run; those of the others differ in numbers only.
        target: what attention is drawn to.
        active: whether any run has a strength above 0.
    """

    def __init__(self, specs: Sequence[Any], batch: Batch) -> None:
        each: list[Any] = [spec.prior for spec in specs]
        super().__init__(each, batch)
        self.prior: ScheduledPrior = each[0]
        own = self.prior.own_penalty
        # A penalty of one's own comes with its strength in it.
        strengths = [1.0 if own else prior.strength for prior in each]
        self.active = any(strength > 0 for strength in strengths)
        device = batch.tokens.device
        self._strengths = torch.tensor(strengths, dtype=torch.float64, device=device)
        self._turns = [prior.schedule_epochs for prior in each]
        if self.prior.penalty_gradient != "true":
            seeds = [spec.seed for spec in specs]
            self.control = Control(self.prior.penalty_gradient, seeds)
        self.target = None if own else self.prior.aim(specs, batch)

    def strength(self, epoch: int) -> Float[Tensor, " run"]:
        """The strength of each run at an epoch, in double precision; the device is not asked."""
        if self.prior.schedule == "constant":
            return self._strengths
        factor = SCHEDULES[self.prior.schedule]
        pairs = zip(self._strengths, self._turns, strict=True)
        return torch.stack([strength * factor(epoch, turn) for strength, turn in pairs])

    def take(self, rows: Int[Tensor, "run row"]) -> "ScheduledPenalty":
        """The penalty on some examples of each run, such as a minibatch."""
        taken = copy.copy(self)
        taken.batch = self.batch.take(rows)
        taken.control = None if self.control is None else self.control.take()
        if self.target is not None:
            run = torch.arange(len(rows), device=rows.device).unsqueeze(1)
            taken.target = self.target[run, rows]
        return taken

    def __call__(self, seen: Activations, epoch: int) -> Float[Tensor, " run"]:
        """What is added to the loss of each run at this epoch."""
        if not self.active:
            return seen.scores.new_zeros(len(self.each))
        if self.prior.own_penalty:
            amount = super().__call__(seen, epoch)
        else:
            amount = self._mean(self.prior.amount(seen, self.target))
        return self.strength(epoch).to(amount) * amount

    def _mean(self, amount: Float[Tensor, "run example"]) -> Float[Tensor, " run"]:
        """The mean over the examples that have a target; over all where none is needed."""
        if self.target is None:
            return amount.mean(dim=1)
        has = self.target.sum(dim=(2, 3)) > 0
        return (amount * has).sum(dim=1) / has.sum(dim=1).clamp_min(1)


priors: Registry[Prior] = Registry("prior")
"""The priors by name: ``priors["kl"]`` is :class:`KLPrior`."""

register_prior = priors.register
"""A class decorator, ``@register_prior("my_prior")``, that adds a prior to :data:`priors`."""
