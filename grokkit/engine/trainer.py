"""The engine: a group of runs, trained together from epoch to epoch.

A group is a list of specs that differ only in what may vary along the run axis: the seed
and the numbers of the optimizer, the prior, the accelerator and the controls. A run's
result does not depend on the rest of its group: a run that ends early keeps the weights
that it had then, and its records end there.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from grokkit.engine import circuit_probes, feature_probes, probes
from grokkit.engine.analytic_step import AnalyticStep
from grokkit.engine.autograd_step import AutogradStep, StepOutput
from grokkit.engine.capture import Replay
from grokkit.engine.circuit_probes import CircuitProbes
from grokkit.engine.controls import MLPSphere, QKPenalty
from grokkit.engine.feature_probes import FeatureProbes
from grokkit.engine.group import GroupTrainer
from grokkit.engine.memory import check_memory
from grokkit.engine.minibatches import Minibatches
from grokkit.engine.precision import master_dtype
from grokkit.engine.priors import KLPrior, ScheduledPenalty
from grokkit.engine.probes import Probes
from grokkit.engine.spec import RunSpec
from grokkit.engine.spec_kinds import TRANSFORMER, register_trainer
from grokkit.engine.ticket import TicketMask
from grokkit.engine.update_probes import UpdateProbes
from grokkit.errors import refuse
from grokkit.model import Batch, Layout, Parameters, initialise

Step = AnalyticStep | AutogradStep
"""What computes the objective's gradient, of all examples or of a minibatch."""


@register_trainer(TRANSFORMER)
class Trainer(GroupTrainer):
    """A group of runs in training.

    Args:
        specs: the runs, all with the same ``group_key``.
        device: where the group is trained.
        first: the number of the first run, for messages, where the group is part of a list.

    Raises:
        SettingError: the specs cannot be one group, or need more memory than there is.
    """

    specs: list[RunSpec]

    def __init__(
        self, specs: Sequence[RunSpec], device: torch.device | str = "cpu", first: int = 0
    ) -> None:
        if len({spec.group_key() for spec in specs}) != 1:
            refuse("specs", f"{len(specs)} specs", "specs that differ in seeds and numbers only")
        super().__init__(specs, device, first)

    def _set_up(self) -> None:
        specs, spec = self.specs, self.specs[0]
        dtype = master_dtype(spec.precision)
        data = [one.task.build(one.seed) for one in specs]
        shape = data[0]
        check_memory(spec, shape, len(specs), self.device)
        sizes = sorted({len(one.train) for one in data})
        if len(sizes) > 1:
            refuse("specs", f"train sets of {sizes} examples", "train sets of one size")
        self.train = Batch.of([one.train for one in data], self.device, dtype)
        test = Batch.of([one.test for one in data], self.device, dtype)
        extra = {
            name: Batch.of([one.extra[name] for one in data], self.device, dtype)
            for name in shape.extra
        }
        self.per_run: Mapping[str, Sequence[float]] = {
            "mirror_rate": [one.mirror_rate for one in data],
            "n_train": [len(one.train) for one in data],
            "n_test": [len(one.test) for one in data],
        }
        self.axes: Mapping[str, tuple[str, ...]] = {**probes.DIMS, **feature_probes.DIMS}
        self.meaning: Mapping[str, str] = {
            **probes.MEANING,
            **feature_probes.MEANING,
            **circuit_probes.MEANING,
        }
        self.labels: Mapping[str, list[str]] = {**feature_probes.LABELS, "extra": list(shape.extra)}
        layout = Layout.of(spec.model, shape.n_tokens, shape.max_length, shape.n_classes)
        seeds = [one.seed for one in specs]
        self.weights = initialise(layout, spec.model, seeds).to(self.device, dtype)
        ticket = spec.controls.ticket
        self._ticket = None if ticket is None else TicketMask(ticket, self.weights)
        self.optimizer = spec.optimizer.start([one.optimizer for one in specs], self.weights)
        self.accelerator = spec.accelerator.start([one.accelerator for one in specs], self.weights)
        controls = [one.controls for one in specs]
        # A group has either a radius for all of its runs or for none.
        radii = [one.mlp_radius for one in controls if one.mlp_radius is not None]
        self._sphere = MLPSphere(radii, self.weights) if radii else None
        penalised = any(one.qk_penalty > 0 for one in controls)
        self._qk_penalty = QKPenalty(controls, self.weights) if penalised else None
        self.batches = None
        if spec.batch_size is not None:
            self.batches = Minibatches(spec.batch_size, len(shape.train), seeds, self.device)
        self.step = choose_step(self.specs, self.train, self.weights)
        flags = [one.mirrored for one in data if one.mirrored is not None]
        mirrored = torch.stack(flags).to(self.device) if flags else None
        extra_mirrored = [
            torch.stack([one.extra_mirrored[name] for one in data]).to(self.device)
            for name in shape.extra_mirrored
        ]
        self.probes = Probes(
            spec.model, self.train, test, extra, mirrored, extra_mirrored, self.weights
        )
        self.feature_probes = None
        if spec.features:
            p = getattr(spec.task, "p", None)
            self.feature_probes = FeatureProbes(self.probes.train_model, self.weights, p)
        self.update_probes = UpdateProbes(self.weights, self.optimizer) if spec.updates else None
        self.circuit_probes = None
        if spec.circuits:  # here the weights are still the initial ones
            self.circuit_probes = CircuitProbes(spec.model, self.train, test, self.weights)
        self._final: dict[int, Tensor] = {}
        # The first epoch at which a run's loss was not finite; kept on the device, so that
        # looking at it every epoch costs no synchronisation.
        self._broken = torch.full((len(specs),), -1, device=self.device)
        # The epoch once more, where it can be read without asking Python.
        self._clock = torch.zeros((), dtype=torch.long, device=self.device)
        self.path = "analytic" if isinstance(self.step, AnalyticStep) else "autograd"
        steady = isinstance(self.step, AnalyticStep) and self.step.steady
        steady = steady and self.batches is None and self.accelerator is None
        steady = steady and self.update_probes is None
        # An optimizer of somebody's own may look at a value, which nothing captured can.
        steady = steady and type(spec.optimizer).__module__.startswith("grokkit.")
        self._replay = Replay(self.device, steady)

    def _whole_epoch(self) -> None:
        """One epoch without a record, as it is captured: no number here comes from Python."""
        self._differentiate(self.step)
        self._update()
        self._clock.add_(1)

    def _replayed(self, stop: int) -> bool:
        """On a GPU, train one epoch by replaying a captured one, where no record is due."""
        due = self.epoch % self.specs[0].record_every == 0 or self.epoch >= stop
        return not due and self._replay(self._whole_epoch)

    def _look(self, recording: bool) -> dict[str, Tensor]:
        if not recording and self.batches is not None:
            return {}
        # With full batches this is also the gradient of the step to come.
        output = self._differentiate(self.step, recording)
        if not recording:
            return {}
        record = self.probes(output, self.feature_probes)
        for more in (self.update_probes, self.circuit_probes):
            record |= {} if more is None else more()
        return record

    def _differentiate(self, step: Step, record: bool = False) -> StepOutput:
        """Fill the gradient of the whole objective at these weights."""
        output = step(self.epoch, record=record)
        if self._qk_penalty is not None:
            self._qk_penalty()
        if self._ticket is not None:
            self._ticket.mask_gradient()
        self._flag_nonfinite(output.loss)
        return output

    def _train(self) -> None:
        if self.batches is None:
            self._update()  # the gradient is there already
        else:
            for rows in self.batches(self.epoch):
                self._differentiate(self.step.take(rows))
                self._update()
        self._clock.add_(1)

    def _update(self) -> None:
        """One optimizer step with the gradient that is there."""
        if self.accelerator is not None:
            self.accelerator()
        spec, probes = self.specs[0], self.update_probes
        last = self.epoch + 1
        measured = last % spec.record_every == 0 or last == spec.epochs
        if probes is not None and measured:
            probes.before()
        self.optimizer.step()
        if probes is not None and measured:
            probes.after()
        if self._ticket is not None:
            self._ticket.mask_weights()
        if self._sphere is not None:
            self._sphere()

    def state(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        """All that a resumed group needs, the live tensors among it."""
        facts = self._facts() | {"steps": self.optimizer.steps}
        tensors = {"weights": self.weights.flat, "broken": self._broken}
        tensors |= {f"optimizer/{name}": value for name, value in self.optimizer.state().items()}
        tensors |= {f"accelerator/{name}": value for name, value in self._filter_state().items()}
        if self._ticket is not None:  # a resumed run keeps the mask that it began with
            tensors["pruned"] = self._ticket.pruned
        tensors |= self.records.tensors()
        if self.update_probes is not None:
            tensors["moved"] = self.update_probes.moved
        tensors |= {f"final/{run}": row for run, row in self._final.items()}
        return facts, tensors

    def load_state(self, facts: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> None:
        """Become the trainer of the same specs whose :meth:`state` this was."""
        self._load_facts(facts, tensors)
        self._clock.fill_(self.epoch)
        self.optimizer.steps = facts["steps"]
        with torch.no_grad():
            self.weights.flat.copy_(tensors["weights"])
            self._broken.copy_(tensors["broken"])
            for name, value in self.optimizer.state().items():
                value.copy_(tensors[f"optimizer/{name}"])
            for name, value in self._filter_state().items():
                value.copy_(tensors[f"accelerator/{name}"])
            if self._ticket is not None:
                self._ticket.pruned.copy_(tensors["pruned"])
            if self.update_probes is not None:
                self.update_probes.moved.copy_(tensors["moved"])
        self._final = {run: tensors[f"final/{run}"].to(self.device) for run in self.records.ended}

    def _filter_state(self) -> dict[str, Tensor]:
        return {} if self.accelerator is None else self.accelerator.state()

    def final_weights(self) -> Parameters:
        """The weights of every run as it ended, or as it is now."""
        flat = self.weights.flat.clone()
        for run, row in self._final.items():
            flat[run] = row
        return Parameters(self.weights.layout, flat)

    def _flag_nonfinite(self, loss: Tensor) -> None:
        bad = ~loss.mean(dim=1).isfinite() & (self._broken < 0)
        torch.where(bad, self._clock, self._broken, out=self._broken)

    def _broken_at(self) -> list[int]:
        return self._broken.tolist()

    def _end_runs(self) -> None:
        super()._end_runs()
        for run in self.records.ended.keys() - self._final.keys():
            self._final[run] = self.weights.flat[run].clone()


def choose_step(specs: Sequence[RunSpec], batch: Batch, weights: Parameters) -> Step:
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
