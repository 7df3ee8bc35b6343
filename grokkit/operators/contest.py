"""A contest: every rival on the same data, for the same time, and its scores.

Training goes in rounds. In each round every rival has so many optimizer steps (:data:`PACE`) that
take about as long. How long they did take is kept with the run (``train_seconds_fno``, ...),
and so is the time in which each draws its samples; both in seconds of the processor. Scores are
against samples of the true law at initial fields that nobody was trained on. Three rivals are not
trained:

    truth           as many samples again of the true law: what nobody can beat
    true_gaussian   the Gaussian with the mean and the covariance of these: what no Gaussian beats
    fno_covariance  the fno, and one covariance for all fields, of its residuals on the train set

A contest computes with one thread, so the same spec gives the same bits.
"""

import time
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from grokkit.core.common import stream as generator
from grokkit.engine.group import GroupTrainer
from grokkit.engine.spec_kinds import register_trainer
from grokkit.errors import refuse
from grokkit.operators import laws
from grokkit.operators.laws import GaussianLaw
from grokkit.operators.networks import MEMBERS, TRAINED, GaussianOperator, Rival
from grokkit.operators.spec import KIND, ContestSpec
from grokkit.operators.systems import Draws, Field, Fields, Samples

PACE: Mapping[str, float] = {
    "fno": 1.1,
    "ensemble": 0.9,
    "variance": 1.0,
    "mno_2": 1.0,
    "mno_8": 0.95,
    "mno_16": 0.9,
    "diffusion": 1.05,
}
"""The optimizer steps of a round over ``round_steps``, meant to take about the same time.

Set from one timing on a busy machine; the seconds that are kept with a run tell how equal it was.
"""

RIVALS = ("truth", "true_gaussian", "fno", "fno_covariance", *list(TRAINED)[1:])
"""Who is scored, in order."""

FINER = 4
"""How many times finer the grid of the transfer is."""

MEANING: Mapping[str, str] = {
    "train_loss": "mean squared error of the fno on the train set, in units of the targets",
    "train_accuracy": "nan: a random target has no right answer",
    "test_accuracy": "nan: a random target has no right answer",
    "mean_rmse": "root mean square of the mean's error, in standard deviations of the targets",
    "wasserstein": "Wasserstein-1 distance of the marginals, averaged over places; the same unit",
    "crps": "continuous ranked probability score of the marginals; the same unit",
    "energy": "energy score of whole fields; the same unit",
    "log_score": "negative log-density of the true samples; nats for each place",
    "covariance_error": "Frobenius distance of the covariances over the norm of the true one",
    "coverage": "share of true values within the model's central 90 % interval",
    "between": "share of samples at less than 0.3 of the wells from 0; of phi4 alone",
    "finer_rmse": "mean_rmse on a grid four times finer, with the same weights",
    "finer_crps": "crps on a grid four times finer, with the same weights",
}
"""What each record is, and its unit; goes into the History. All but the first have a rival."""

SCORES = tuple(MEANING)[3:]


class Data:
    """The fields of a contest in units of the train set, in single precision."""

    def __init__(self, fields: Fields) -> None:
        for name, values in vars(fields).items():
            if not values.isfinite().all():
                refuse(name, "nan or infinity", "finite fields; take more steps")
        self.centre, self.unit = float(fields.targets.mean()), float(fields.targets.std())
        self.scale = float(fields.inputs.std())
        if not (self.unit > 0 and self.scale > 0):
            refuse("fields", "all values the same", "fields that vary")
        self.inputs, self.tests = self.started(fields.inputs), self.started(fields.tests)
        self.targets, self.law = self.ended(fields.targets), self.ended(fields.law)
        self.again = self.ended(fields.again)

    def started(self, start: Tensor) -> Tensor:
        """Initial fields in their unit."""
        return (start / self.scale).float()

    def ended(self, end: Tensor) -> Tensor:
        """Final fields in theirs."""
        return ((end - self.centre) / self.unit).float()


@register_trainer(KIND)
class Contest(GroupTrainer):
    """One contest, in training.

    Args:
        specs: one contest.
        device: ``cpu``.
        first: the number of the run, for messages.

    Raises:
        SettingError: there are several contests, another device, or fields that are not finite.
    """

    meaning = MEANING
    axes = MappingProxyType({name: ("rival",) for name in SCORES})
    labels = MappingProxyType({"rival": list(RIVALS)})

    def __init__(
        self, specs: Sequence[ContestSpec], device: torch.device | str = "cpu", first: int = 0
    ) -> None:
        if len(specs) != 1:
            refuse("specs", f"{len(specs)} specs", "one ContestSpec")
        if torch.device(device).type != "cpu":
            refuse("device", str(device), "cpu, for which a contest is small enough")
        specs[0].check()
        super().__init__(specs, device, first)

    def _set_up(self) -> None:
        self.spec = spec = self.specs[0]
        self.data = Data(spec.task.build(spec.seed))
        self.per_run = self.costs = {}
        self.rivals: dict[str, Rival] = {}
        self.optimizers: dict[str, torch.optim.Adam] = {}
        for name, make in TRAINED.items():
            stream = generator(spec.seed, f"{name} weights")
            self.rivals[name] = rival = make(spec.network.width, spec.network.waves, stream)
            groups = _groups(rival, spec.nugget_rate)
            self.optimizers[name] = torch.optim.Adam(groups, lr=spec.learning_rate)
            self.costs[f"parameters_{name}"] = [sum(one.numel() for one in rival.parameters())]
            self.costs[f"train_seconds_{name}"] = [0.0]
            self.costs[f"sample_seconds_{name}"] = [0.0]
        self._finite = True

    def _train(self) -> None:
        for name in self.rivals:
            began = time.process_time()
            self._train_rival(name)
            self.costs[f"train_seconds_{name}"][0] += time.process_time() - began

    def _train_rival(self, name: str) -> None:
        """One round of one rival: its minibatches hang on the seed, its name and the round."""
        spec, rival, optimizer = self.spec, self.rivals[name], self.optimizers[name]
        stream = generator(spec.seed, f"{name} round {self.epoch}")
        for group in optimizer.param_groups:
            cosine = np.cos(np.pi * self.epoch / spec.epochs)
            group["lr"] = group["faster"] * spec.learning_rate * (1 + float(cosine)) / 2
        for _ in range(max(1, round(PACE[name] * spec.round_steps))):
            rows = torch.randint(len(self.data.inputs), (spec.batch_size,), generator=stream)
            start, end = self.data.inputs[rows], self.data.targets[rows]
            if spec.mean_loss == "likelihood" and isinstance(rival, GaussianOperator):
                loss = rival.likelihood(rival.law(start), end)
            else:
                loss = rival.loss(start, end, stream)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

    @torch.no_grad()
    def _look(self, recording: bool) -> dict[str, Tensor]:
        if not recording:
            return {}
        data, fno = self.data, self.rivals["fno"]
        residuals = data.targets - fno.sample(data.inputs, 1, torch.Generator())[:, 0]
        loss = residuals.double().square().mean().view(1)
        self._finite = bool(loss.isfinite())
        nothing = torch.full_like(loss, torch.nan)
        record = {"train_loss": loss, "train_accuracy": nothing, "test_accuracy": nothing}
        last = self.epoch == self.spec.epochs and self._finite
        found: dict[str, dict[str, Tensor]] = {name: {} for name in RIVALS}
        for name, scores in found.items():
            if last:
                scores.update(self._scores(name, residuals))
            elif name in self.rivals and name != "diffusion":  # whose mean costs many samples
                law = self.rivals[name].law(data.tests)
                ours = self.rivals[name].sample(data.tests, MEMBERS, torch.Generator())
                scores["mean_rmse"] = _mean_error(ours, law, data.law)
        if last:
            self._on_a_finer_grid(found)
        for score in SCORES:
            each = [found[name].get(score, torch.nan) for name in RIVALS]
            record[score] = torch.tensor([each], dtype=torch.float64)
        return record

    def _broken_at(self) -> list[int]:
        return [-1 if self._finite else self.epoch]

    def law_of(
        self, name: str, residuals: Field
    ) -> tuple[Float[Tensor, "test draw place"], GaussianLaw | None]:
        """Samples of a rival's law at the test fields; and that law, where it is Gaussian.

        Args:
            name: one of :data:`RIVALS`.
            residuals: those of the fno on the train set.
        """
        data, draws = self.data, self.data.law.shape[1]
        stream = generator(self.spec.seed, f"{name} samples")
        if name == "truth":
            return data.again, None
        if name in self.rivals:
            began = time.process_time()
            samples = self.rivals[name].sample(data.tests, draws, stream)
            self.costs[f"sample_seconds_{name}"] = [time.process_time() - began]
            return samples, self.rivals[name].law(data.tests)
        if name == "true_gaussian":
            mean, factor = data.again.mean(dim=1), torch.stack([*map(laws.fitted, data.again)])
        else:
            mean = self.rivals["fno"].sample(data.tests, 1, stream)[:, 0]
            factor = laws.fitted(residuals).expand(len(mean), -1, -1)
        law = GaussianLaw(mean, factor, torch.full_like(mean, 1e-4))
        return law.sample(draws, stream), law

    def _scores(self, name: str, residuals: Tensor) -> dict[str, Tensor]:
        """All scores of a rival on the grid that it was trained on."""
        truth = self.data.law
        ours, law = self.law_of(name, residuals)
        few = ours[:, :1] if name == "fno" else ours  # the fno's answers are all the same
        found = {
            "mean_rmse": _mean_error(ours, law, truth),
            "wasserstein": laws.wasserstein(ours, truth),
            "crps": laws.crps(few, truth),
            "energy": laws.energy_score(few, truth),
            "covariance_error": laws.covariance_error(ours, truth),
            "coverage": laws.coverage(ours, truth),
        }
        if law is not None:
            found["log_score"] = -law.log_density(truth).mean() / truth.shape[2]
        if self.spec.task.name == "phi4":
            found["between"] = ((ours * self.data.unit + self.data.centre).abs() < 0.3).double()
            found["between"] = found["between"].mean()
        return found

    def _on_a_finer_grid(self, found: Mapping[str, dict[str, Tensor]]) -> None:
        """Scores with the same weights on more places, at half of the test fields."""
        finer = self.spec.task.with_grid(FINER * self.spec.task.grid).build(self.spec.seed)
        tests, truth = self.data.started(finer.tests), self.data.ended(finer.law)
        laws_of: dict[str, tuple[Tensor, GaussianLaw | None]] = {}
        laws_of["truth"] = self.data.ended(finer.again), None
        for name, rival in self.rivals.items():
            stream = generator(self.spec.seed, f"{name} finer")
            laws_of[name] = rival.sample(tests, truth.shape[1], stream), rival.law(tests)
        for name, (ours, law) in laws_of.items():
            found[name]["finer_rmse"] = _mean_error(ours, law, truth)
            few = ours[:, :1] if name == "fno" else ours
            found[name]["finer_crps"] = laws.crps(few, truth)

    def state(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        """All that a resumed contest needs: plain values, for JSON, and tensors by name."""
        tensors = self.records.tensors()
        for name, rival in self.rivals.items():
            tensors |= {f"{name}/{key}": value for key, value in rival.state_dict().items()}
            for parameter, one in self.optimizers[name].state_dict()["state"].items():
                tensors |= {f"{name}/adam/{parameter}/{key}": one[key] for key in one}
        return self._facts() | {"costs": self.costs}, tensors

    def load_state(self, facts: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> None:
        """Become the trainer of the same spec whose :meth:`state` this was."""
        self._load_facts(facts, tensors)
        self.costs.update(facts["costs"])
        for name, rival in self.rivals.items():
            rival.load_state_dict({key: tensors[f"{name}/{key}"] for key in rival.state_dict()})
            memory: dict[int, dict[str, Tensor]] = {}
            for key in tensors:
                if key.startswith(f"{name}/adam/"):
                    parameter, what = key.split("/")[2:]
                    memory.setdefault(int(parameter), {})[what] = tensors[key]
            optimizer = self.optimizers[name]
            optimizer.load_state_dict({**optimizer.state_dict(), "state": memory})


def _groups(rival: Rival, nugget_rate: float) -> list[dict[str, Any]]:
    """The parameters of a rival for its optimizer, the nugget apart."""
    named = dict(rival.named_parameters())
    nugget = [named.pop("nugget")] if "nugget" in named else []
    groups: list[dict[str, Any]] = [{"params": [*named.values()], "faster": 1}]
    return [*groups, {"params": nugget, "faster": nugget_rate}] if nugget else groups


def _mean_error(ours: Draws, law: GaussianLaw | None, truth: Samples) -> Tensor:
    """The root mean square of a mean's error: of the law's mean, or of the samples'."""
    mean = ours.mean(dim=1) if law is None else law.mean
    return (mean - truth.mean(dim=1)).double().square().mean().sqrt()


def seconds_per_epoch(spec: ContestSpec) -> float:
    """The seconds that a round takes on one core of this machine, with its share of a record."""
    contest = Contest([spec.with_(epochs=spec.epochs, inputs=64, tests=1, samples=2)])
    contest.advance(1)  # the first one pays for what is set up once
    began = time.perf_counter()
    contest.advance(1)
    return time.perf_counter() - began
