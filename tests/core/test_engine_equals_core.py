"""The engine computes what the core computes, for every setting that the core knows."""

from dataclasses import replace
from typing import Any, get_args

import pytest
import torch
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from grokkit import core
from grokkit.bench.core_run import core_run
from grokkit.core.distractors import DISTRACTORS
from grokkit.engine import RunSpec, Trainer, presets
from grokkit.engine.optimizers import SGD, Adam, AdamW, Lion, Muon
from grokkit.engine.priors import EntropyPrior, KLPrior, SparsityPrior
from grokkit.model import ModelSpec
from grokkit.tasks import (
    DistractorKind,
    Distractors,
    ModularAddition,
    ModularMultiplication,
    ModularQuadratic,
    ModularSubtraction,
    PrimeField,
    SparseParity,
)

STEPS = 50

# Where normalised ReLU sees a single position, the gradient of its scores is 0 but for rounding,
# and Adam would divide that by its own size: with eps = 1e-8, 1e-16 becomes 1e-8.
EPS = 1e-4


def kind_of(*kinds: type, **settings: Any) -> st.SearchStrategy[tuple[type, dict[str, Any]]]:
    """A kind of setting, and plain values for its fields: built in the test, not here."""
    return st.tuples(st.sampled_from(kinds), st.fixed_dictionaries(settings))


tasks = st.one_of(
    kind_of(
        *(ModularAddition, ModularSubtraction, ModularMultiplication, ModularQuadratic),
        p=st.integers(5, 7),
        length=st.integers(3, 6),
        positions=st.sampled_from([None, None, (1, 0)]),
        distractors=st.sampled_from(get_args(DistractorKind)),
        draws=st.integers(1, 2),
        alphabet=st.sampled_from([None, 2]),
        train_fraction=st.floats(0.4, 0.7),
        split=st.sampled_from(["pair", "unordered"]),
    ),
    kind_of(
        PrimeField,
        function=st.sampled_from(["x^2+y^2", "x^3+y^3", "x^3+xy+y^3"]),
        p=st.just(5),
        train_fraction=st.just(0.6),
    ),
    kind_of(
        SparseParity,
        bits=st.sampled_from([5, 8, 23]),
        k=st.just(2),
        positions=st.sampled_from([None, (3, 0)]),
        examples=st.integers(20, 32),
    ),
)
models = st.fixed_dictionaries(
    {
        "d_model": st.just(12),
        "d_mlp": st.just(10),
        "heads": st.sampled_from([1, 2, 3]),
        "attention": st.sampled_from(["softmax", "softmax", "relu", "oracle"]),
        "readout": st.sampled_from(["classifier", "residual"]),
        "output_projection": st.booleans(),
        "init_scale": st.sampled_from([1.0, 2.5]),
        "embedding_scale": st.sampled_from([1.0, 2.0]),
    }
)
frame: dict[str, Any] = {
    "learning_rate": st.sampled_from([1e-3, 5e-3]),
    "weight_decay": st.sampled_from([0.0, 0.3, 1.0]),
    "warmup": st.sampled_from([0, 10]),
    "clip": st.sampled_from([0.05, 1.0, float("inf")]),
}
optimizers = st.one_of(
    kind_of(AdamW, Adam, **frame, beta2=st.sampled_from([0.98, 0.999]), eps=st.just(EPS)),
    kind_of(SGD, **frame, momentum=st.sampled_from([0.0, 0.9])),
    kind_of(Lion, **frame),
    kind_of(
        Muon,
        # Muon's long steps turn W_Q round once it is small: then a rounding error grows.
        **(frame | {"learning_rate": st.just(1e-3)}),
        eps=st.just(EPS),
        nesterov=st.booleans(),
        update_scale=st.sampled_from(["rms", "spectral"]),
        muon_readout=st.booleans(),
    ),
)
priors = kind_of(
    *(KLPrior, KLPrior, EntropyPrior, SparsityPrior),
    strength=st.sampled_from([0.0, 0.1, 1.0]),
    target=st.sampled_from(["oracle", "adversarial"]),
    head_reduction=st.sampled_from(["each", "summed"]),
    schedule=st.sampled_from(["constant", "annealed", "early", "late"]),
    schedule_epochs=st.integers(1, STEPS - 1),
)
others = st.fixed_dictionaries(
    {
        "seed": st.integers(0, 1000),
        "batch_size": st.sampled_from([None, None, 6]),
        "mlp_radius": st.sampled_from([None, None, 3.0]),
        "qk_penalty": st.sampled_from([0.0, 0.0, 0.5]),
    }
)


def spec_of(task: Any, model: Any, optimizer: Any, prior: Any, other: Any) -> RunSpec:
    """A small run, without those settings that would do nothing beside the others."""
    (task_kind, task), (optimizer_kind, optimizer), (prior_kind, prior) = (
        (kind, dict(settings)) for kind, settings in (task, optimizer, prior)
    )
    length = task.get("length", 3)
    if length == 3 or not DISTRACTORS[task.get("distractors", "constant")].has_alphabet:
        task.pop("alphabet", None)
    if length == 3 or not Distractors(task.get("distractors", "constant")).drawn_anew:
        task.pop("draws", None)
    prior[prior_kind.strength_name] = prior.pop("strength")
    if prior_kind is not KLPrior or (length == 3 and task_kind is not SparseParity):
        prior.pop("target")
    if prior_kind is not KLPrior or model["heads"] == 1:
        prior.pop("head_reduction")
    if prior["schedule"] == "constant":
        prior.pop("schedule_epochs")
    if optimizer_kind is Lion and model["attention"] == "relu":
        model = model | {"attention": "softmax"}  # the sign of a rounding error is anybody's guess
    if model["attention"] == "oracle" or prior[prior_kind.strength_name] == 0:
        prior = {prior_kind.strength_name: 0.0}
    parts = {"task": task_kind(**task), "optimizer": optimizer_kind(**optimizer)}
    spec = RunSpec(**parts, model=ModelSpec(**model), prior=prior_kind(**prior), epochs=STEPS)
    return spec.with_(precision="float64", **other)


def test_both_know_the_same_kinds_of_distractors():
    assert get_args(DistractorKind) == tuple(DISTRACTORS)


# Every drawn run is as small as any: shrinking would only take minutes.
@pytest.mark.sample
@given(tasks, models, optimizers, priors, others)
@settings(max_examples=6, phases=[Phase.generate])
def test_the_engine_equals_the_core(task, model, optimizer, prior, other):
    check_equal(task, model, optimizer, prior, other)


@pytest.mark.slow
@given(tasks, models, optimizers, priors, others)
@settings(max_examples=40, phases=[Phase.generate])
def test_and_so_it_does_for_many_settings(task, model, optimizer, prior, other):
    check_equal(task, model, optimizer, prior, other)


def check_equal(task: Any, model: Any, optimizer: Any, prior: Any, other: Any) -> None:
    """Data, initial weights, then losses, measures, gradient and weights after 50 epochs."""
    spec = spec_of(task, model, optimizer, prior, other)
    run, trainer = core_run(spec), Trainer([spec])
    data, theirs = run.task.build(run.seed), spec.task.build(spec.seed)
    assert data.symbols == theirs.vocabulary and data.n_classes == theirs.n_classes
    for name in ("train", "test"):
        ours, other = getattr(data, name), getattr(theirs, name)
        for part in ("tokens", "targets", "informative"):
            assert torch.equal(getattr(ours, part), getattr(other, part)), (name, part)
    if data.mirrored is None or theirs.mirrored is None:
        assert data.mirrored is theirs.mirrored is None
    else:
        assert torch.equal(data.mirrored, theirs.mirrored)

    begun = core.Transformer(
        run.model, len(data.symbols), data.train.tokens.shape[1], data.n_classes, run.seed
    )
    assert [name for name, _ in begun.named_parameters()] == list(trainer.weights)
    for name, W in begun.named_parameters():
        assert torch.equal(W.double(), trainer.weights[name][0]), name

    result = core.train(run)
    trainer.advance()
    try:
        compare(trainer, result, data.train)
    except AssertionError:
        # Where rounding alone grows to more than 1e-10 in 50 epochs, nobody can ask for less.
        assert not settles(run, result), spec


def compare(trainer: Trainer, result: core.Result, train: core.Examples) -> None:
    """Records, weights and gradient of the engine and the core, to 1e-10."""
    assert trainer.records.epochs == result.epochs
    for name in result.records[0]:
        if name in trainer.records.values:
            engine = torch.stack(trainer.records.values[name])[:, 0].double()
            ours = torch.tensor(result.curve(name), dtype=torch.float64)
            torch.testing.assert_close(engine, ours, rtol=1e-10, atol=1e-10, equal_nan=True)

    core.differentiate(result.run, result.net, train, STEPS)
    for name, W in result.net.named_parameters():
        assert close(trainer.weights[name][0], W), name
        assert W.grad is not None and close(trainer.weights.gradient[name][0], W.grad), name


def settles(run: core.Run, result: core.Result) -> bool:
    """Whether the core comes to the same with steps that differ by rounding, 1e-15."""
    rate = run.optimizer.learning_rate * (1 + 1e-15)
    nudged = core.train(replace(run, optimizer=replace(run.optimizer, learning_rate=rate)))
    return all(
        torch.allclose(
            torch.tensor(nudged.curve(name), dtype=torch.float64),
            torch.tensor(result.curve(name), dtype=torch.float64),
            rtol=0,
            atol=1e-11,
            equal_nan=True,
        )
        for name in result.records[0]
    )


def close(one: torch.Tensor, other: torch.Tensor) -> bool:
    return bool((one - other).abs().max() <= 1e-10)


# Runs that memorise and grok, each in another way, and without much chaos on the way there.
PARITY = RunSpec().with_(
    task="sparse_parity", bits=16, k=2, examples=400, learning_rate=3e-3, d_model=32, d_mlp=64
)
PRESETS = {
    "two heads": PARITY.with_(
        readout="residual",
        heads=2,
        output_projection=True,
        kl_strength=0.3,
        head_reduction="summed",
    ),
    "three bits": PARITY.with_(k=3, examples=800, kl_strength=0.3),
    "muon": PARITY.with_(optimizer="muon"),
    "live": presets["live"],
}


@pytest.mark.parametrize(
    "preset", [pytest.param(n, marks=[pytest.mark.slow] * (n != "muon")) for n in PRESETS]
)
def test_float32_runs_memorise_and_grok_at_the_same_record(preset):
    spec = PRESETS[preset].with_(epochs=2000, stop_after=0)
    result, trainer = core.train(core_run(spec)), Trainer([spec])
    trainer.advance()
    epochs = trainer.records.epochs
    for name, epoch in (("train_accuracy", result.memorised), ("test_accuracy", result.grokked)):
        assert epoch is not None and epoch > 0
        accuracy = torch.stack(trainer.records.values[name])[:, 0].tolist()
        reached = [at for at, value in zip(epochs, accuracy, strict=True) if value >= 0.99]
        assert abs(reached[0] - epoch) <= spec.record_every
