"""Every record against brute force, on weights in mid-training."""

import math

import numpy as np
import pytest
import torch

from grokkit.engine import RunSpec, Trainer
from grokkit.engine.probes import MEANING
from grokkit.runtime.history import to_history
from grokkit.tasks import (
    LongerAddition,
    MarkedAddition,
    ModularAddition,
    ModularSubtraction,
    PrimeField,
)
from tests.model.cases import core_of, objective, seen_by

TASKS = {
    "addition": ModularAddition(p=7, train_fraction=0.5),
    "unordered": ModularAddition(p=7, train_fraction=0.5, split="unordered"),
    "subtraction": ModularSubtraction(p=7, train_fraction=0.5),
    "marked, draws": MarkedAddition(p=5, draws=2, train_fraction=0.5),
    "longer": LongerAddition(p=5, length=5, longer=(7, 9), train_fraction=0.5),
    "a square hole": PrimeField("x^2+y^2", p=7, hole="square", hole_edge=2),
    "a strip": PrimeField("xy", p=7, hole="strip", hole_edge=2),
    "a strip without mirrors": PrimeField("x-y", p=7, hole="strip", hole_edge=2),
}


def half_trained(task, **changes) -> Trainer:
    spec = RunSpec(task=task, precision="float64", epochs=12, record_every=6)
    spec = spec.with_(d_model=12, d_mlp=10, learning_rate=0.02, **changes)
    trainer = Trainer([spec.with_(seed=seed, kl_strength=seed / 2) for seed in (0, 3)])
    trainer.advance()
    return trainer


@pytest.mark.parametrize("heads", [1, 2])
@pytest.mark.parametrize("task", TASKS)
def test_every_record_is_what_a_plain_computation_says(task, heads):
    trainer = half_trained(TASKS[task], heads=heads, output_projection=heads == 2)
    last = {name: values[-1] for name, values in trainer.records.values.items()}
    model = trainer.specs[0].model
    for run, spec in enumerate(trainer.specs):
        data = spec.task.build(spec.seed)
        twin = core_of(model, trainer.weights, run)
        truth: dict[str, float] = {}
        for name, rows in (("train", data.train), ("test", data.test)):
            seen = seen_by(twin, rows.tokens)
            truth[f"{name}_loss"] = objective(seen, rows.targets).item()
            answers = seen.logits.argmax(dim=1).tolist()
            right = [a == t for a, t in zip(answers, rows.targets.tolist(), strict=True)]
            truth[f"{name}_accuracy"] = sum(right) / len(right)
        seen = seen_by(twin, data.train.tokens)
        attention = seen.attention
        mask = data.train.informative[:, None]
        truth["informative_mass"] = (attention * mask).sum(dim=2).mean().item()
        by_position = attention.mean(dim=1)
        truth["min_informative_mass"] = by_position[data.train.informative].min().item()
        k = int(data.train.informative[0].sum())
        truth["kl"] = -((attention.log() + math.log(k)) * mask).sum(dim=2).mean().item() / k
        truth["attention_entropy"] = -(attention * attention.log()).sum(dim=2).mean().item()
        mlp = [twin.W_1, twin.b_1, twin.W_2, twin.b_2]
        truth["mlp_norm"] = math.sqrt(sum(w.square().sum().item() for w in mlp))
        sigma = [torch.linalg.matrix_norm(w, ord=2).item() for w in (twin.W_1, twin.W_2)]
        truth["lipschitz"] = sigma[0] * sigma[1]
        loss = objective(seen, data.train.targets)
        for name, gradient in zip(
            ("W_Q", "W_K"),
            torch.autograd.grad(loss, (twin.W_Q, twin.W_K), retain_graph=True),
            strict=True,
        ):
            truth[f"{name}_gradient"] = gradient.norm().item()
        (slope,) = torch.autograd.grad(loss * len(data.train), seen.scores, retain_graph=True)
        truth["score_gradient"] = slope.flatten(1).norm(dim=1).mean().item()
        strength = spec.settings()["kl_strength"]
        whole = objective(seen, data.train.targets, data.train.oracle.double(), strength)
        gradients = torch.autograd.grad(whole, list(twin.parameters()))
        truth["gradient_norm"] = math.sqrt(sum(g.square().sum().item() for g in gradients))
        for name, value in truth.items():
            assert last[name][run].item() == pytest.approx(value, rel=1e-9), name
        torch.testing.assert_close(last["attention_mass"][run], attention.mean(dim=0).detach())
        if data.mirrored is not None:
            for name, among in (("mirrored", data.mirrored), ("unmirrored", ~data.mirrored)):
                share = [hit for hit, yes in zip(right, among.tolist(), strict=True) if yes]
                value = last[f"{name}_accuracy"][run].item()
                if share:
                    assert value == sum(share) / len(share)
                else:
                    assert math.isnan(value)
        for i, rows in enumerate(data.extra.values()):
            seen = seen_by(twin, rows.tokens)
            assert last["extra_loss"][run, i].item() == pytest.approx(
                objective(seen, rows.targets).item(), rel=1e-12
            )
            hits = (seen.logits.argmax(dim=1) == rows.targets).sum().item()
            assert last["extra_accuracy"][run, i].item() == hits / len(rows)
        assert ("extra_mirrored_accuracy" in last) == bool(data.extra_mirrored)
        for i, (name, flags) in enumerate(data.extra_mirrored.items()):
            rows = data.extra[name]
            hits = seen_by(twin, rows.tokens).logits.argmax(dim=1) == rows.targets
            for kind, among in (("mirrored", flags), ("unmirrored", ~flags)):
                value = last[f"extra_{kind}_accuracy"][run, i].item()
                if among.any():
                    assert value == (hits & among).sum().item() / among.sum().item()
                else:
                    assert math.isnan(value)


@pytest.mark.parametrize("task", TASKS)
def test_no_test_row_is_trained_on(task):
    trainer = half_trained(TASKS[task])
    test = trainer.probes.test_models[0].batch
    for run in range(2):
        trained = set(map(tuple, trainer.train.tokens[run].tolist()))
        held_out = set(map(tuple, test.tokens[run].tolist()))
        assert trained.isdisjoint(held_out)


@pytest.mark.parametrize("task", TASKS)
def test_every_record_says_what_it_is_and_accuracies_are_counts(task):
    trainer = half_trained(TASKS[task])
    history = to_history(trainer)
    for name, values in history.data_vars.items():
        assert values.attrs["meaning"] == MEANING[str(name)]
    for name, count in (("train_accuracy", "n_train"), ("test_accuracy", "n_test")):
        counts = np.round(history[name] * history[count])
        assert history[name].dtype == np.float64
        assert (history[name] == counts / history[count]).all()


def test_in_float32_accuracies_are_still_exact_counts():
    spec = RunSpec(task=ModularAddition(p=7, train_fraction=0.5), epochs=3, record_every=1)
    trainer = Trainer([spec.with_(d_model=8, d_mlp=8)])
    trainer.advance()
    accuracy = torch.stack(trainer.records.values["test_accuracy"]).numpy()
    assert (accuracy == np.round(25 * accuracy) / 25).all()
