"""Distillation of attention: the target is where a trained network looks.

The oracle knows I*, which is most of the task. A teacher had to find it: what it hands on
is knowledge that somebody paid for, and comparisons with networks that were given nothing
are fairer with it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import torch

from grokkit.engine.priors.base import register_prior
from grokkit.engine.priors.kinds import DivergencePrior
from grokkit.engine.weights import WeightsError, load_weights
from grokkit.errors import refuse
from grokkit.model import Batch, Parameters, Transformer
from grokkit.model.attention import Attention

MAY_DIFFER = ("train_fraction", "split", "draws")
"""The settings of a task in which a teacher may differ: what it was trained on."""


@register_prior("teacher")
@dataclass(frozen=True)
class TeacherPrior(DivergencePrior):
    """beta * KL(teacher's attention || alpha), averaged over examples.

    The teacher's attention is computed once, on the student's own sequences.

    Attributes:
        teacher: a file that :func:`grokkit.engine.save_weights` wrote. A run is known
            by the file's name, not by what is in it.
        kl_strength: beta, 0 or more.
    """

    teacher: str = ""
    kl_strength: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.teacher, str):
            refuse("teacher", self.teacher, "the name of a weights file")

    def aim(self, specs: Sequence[Any], batch: Batch) -> Attention:
        """The teacher's attention on each sequence, ``[run, example, pos, head]``.

        Raises:
            SettingError: there is no such file, or the teacher is of another shape or was
                trained on another task; the message names what differs.
        """
        try:
            taught, weights = load_weights(self.teacher)
        except (OSError, WeightsError) as problem:
            refuse("teacher", self.teacher, f"a weights file ({problem})")
        student = specs[0]
        self._compare("task", taught.task.kind, student.task.kind)
        for field in fields(student.task):  # pyright: ignore[reportArgumentType]
            if field.name not in MAY_DIFFER:
                name = field.name
                self._compare(name, getattr(taught.task, name), getattr(student.task, name))
        self._compare("heads", taught.model.heads, student.model.heads)
        self._compare("layers", taught.model.layers, student.model.layers)
        flat = weights.flat.expand(batch.runs, -1).to(batch.oracle)
        group = Parameters(weights.layout, flat.clone())
        with torch.no_grad():
            return Transformer(taught.model, batch, weights.layout.length)(group).attention

    def _compare(self, name: str, of_teacher: Any, of_student: Any) -> None:
        if of_teacher != of_student:
            allowed = f"a teacher with {name} = {of_student!r}, as here; its own is {of_teacher!r}"
            refuse("teacher", self.teacher, allowed)
