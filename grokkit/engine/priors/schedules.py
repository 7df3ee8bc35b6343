"""When a prior acts: always, less and less, at first only, or from some epoch on.

With t the number of whole epochs that came before, and T the setting ``schedule_epochs``,
the strength is multiplied by

    constant    1
    annealed    max(0, 1 - t / T)
    early       1 while t < T, then 0
    late        0 while t < T, then 1

A schedule is a function of the epoch alone and keeps no state, so a resumed run needs none.
"""

from collections.abc import Sequence
from typing import Literal, get_args

import torch
from jaxtyping import Float
from torch import Tensor

from grokkit.errors import check_choice, check_int, refuse

ScheduleKind = Literal["constant", "annealed", "early", "late"]
SCHEDULES: tuple[str, ...] = get_args(ScheduleKind)


def check_schedule(schedule: object, schedule_epochs: object) -> None:
    """Refuse a schedule without its epoch, and an epoch without a schedule that has one.

    Raises:
        SettingError: naming ``schedule`` or ``schedule_epochs``.
    """
    check_choice("schedule", schedule, SCHEDULES)
    if schedule == "constant":
        if schedule_epochs is not None:
            refuse("schedule_epochs", schedule_epochs, "None with schedule = 'constant'")
    elif schedule_epochs is None:
        allowed = f"a whole number, 1 or more, with schedule = {schedule!r}"
        refuse("schedule_epochs", schedule_epochs, allowed)
    else:
        check_int("schedule_epochs", schedule_epochs, 1)


class ScheduledStrength:
    """The strength of each run's prior at an epoch; nothing in it waits for the device.

    Args:
        schedule: the schedule of all runs.
        strengths: the strength of each run, before the schedule.
        epochs: ``schedule_epochs`` of each run.
        device: where the runs are trained.
    """

    def __init__(
        self,
        schedule: ScheduleKind,
        strengths: Sequence[float],
        epochs: Sequence[int | None],
        device: torch.device,
    ) -> None:
        self.schedule = schedule
        self.strength = torch.tensor(strengths, dtype=torch.float64, device=device)
        turn = [1 if epoch is None else epoch for epoch in epochs]
        self.turn = torch.tensor(turn, dtype=torch.float64, device=device)

    def __call__(self, epoch: int) -> Float[Tensor, " run"]:
        """Strength times factor, in double precision."""
        if self.schedule == "constant":
            return self.strength
        if self.schedule == "annealed":
            return self.strength * (1 - epoch / self.turn).clamp(min=0)
        on = self.turn > epoch if self.schedule == "early" else self.turn <= epoch
        return self.strength * on
