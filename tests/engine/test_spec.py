"""RunSpec: one frozen value, each setting known by its own name."""

import dataclasses
import json
import math
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grokkit.engine import AdamW, KLPrior, RunSpec, grid, presets
from grokkit.engine.accelerators import NoAccelerator
from grokkit.engine.controls import Controls
from grokkit.engine.probes import MEANING
from grokkit.engine.spec import FAMILIES
from grokkit.errors import SettingDropped, SettingError
from grokkit.model import ModelSpec
from grokkit.runtime import spec_key
from grokkit.tasks import ModularAddition, SparseParity, tasks
from tests.kinds import grokkits

POSITIVE = st.floats(min_value=0, max_value=1e3, exclude_min=True, allow_subnormal=False)
SETTINGS = st.fixed_dictionaries(
    {
        "d_model": st.sampled_from([12, 24]),
        "d_mlp": st.integers(1, 512),
        "heads": st.sampled_from([1, 2, 3, 4]),
        "attention": st.sampled_from(["softmax", "relu"]),
        "readout": st.sampled_from(["classifier", "residual"]),
        "output_projection": st.booleans(),
        "init_scale": POSITIVE,
        "embedding_scale": POSITIVE,
        "norm": st.sampled_from(["A*", "A^v"]),
        "norm_kind": st.sampled_from(["layer", "rms"]),
        "norm_eps": st.just(0.0) | POSITIVE,
        "norm_affine": st.booleans(),
        "readout_scale": POSITIVE,
        "causal": st.booleans(),
        "init": st.sampled_from(["uniform", "lecun", "kaiming"]),
        "toeplitz_length": st.just(0.0) | POSITIVE,
        "learning_rate": POSITIVE,
        "weight_decay": POSITIVE,
        "warmup": st.integers(0, 100),
        "clip": st.one_of(POSITIVE, st.just(math.inf)),
        "beta1": st.floats(0, 0.99),
        "beta2": st.floats(0, 0.9999),
        "eps": POSITIVE,
        "kl_strength": POSITIVE,
        "seed": st.integers(0, 2**40),
        "epochs": st.integers(1, 10**6),
        "record_every": st.integers(1, 1000),
        "batch_size": st.one_of(st.none(), st.integers(1, 1000)),
        "mlp_radius": st.one_of(st.none(), POSITIVE),
        "qk_penalty": POSITIVE,
        "ticket": st.one_of(st.none(), st.just("lottery.safetensors")),
        "stop_after": st.one_of(st.none(), st.integers(0, 1000)),
        "precision": st.sampled_from(["float32", "float64"]),
    }
)
TASKS = st.one_of(
    st.sampled_from(sorted(tasks)).map(lambda kind: {"task": kind}),
    st.fixed_dictionaries(
        {
            "task": st.just("modular_addition"),
            "p": st.integers(5, 200),
            "length": st.integers(3, 9),
            "positions": st.sampled_from([(0, 1), (1, 0)]),
            "distractors": st.sampled_from(["constant", "random", "alphabet"]),
            "train_fraction": st.floats(0.2, 0.8),
            "split": st.sampled_from(["pair", "unordered"]),
        }
    ),
    st.fixed_dictionaries(
        {
            "task": st.just("sparse_parity"),
            "bits": st.integers(5, 62),
            "k": st.integers(1, 5),
        }
    ),
)


@given(SETTINGS, TASKS)
def test_json_and_back_is_the_same_spec(settings, task):
    spec = RunSpec().with_(**settings, **task)
    again = RunSpec.from_json(spec.to_json())
    assert again == spec and hash(again) == hash(spec)
    assert again.settings() == spec.settings()
    assert "\n" not in spec.to_json()
    assert json.loads(spec.to_json()) == json.loads(again.to_json())


@given(SETTINGS, TASKS)
def test_every_setting_can_be_put_back_by_its_name(settings, task):
    spec = RunSpec().with_(**settings, **task)
    everything = spec.settings()
    assert {**everything, **settings, **task} == everything
    kinds = {family: everything.pop(family) for family in FAMILIES}
    assert RunSpec().with_(**kinds).with_(**everything) == spec


def test_the_defaults_are_the_papers_and_ours():
    spec = RunSpec()
    assert (spec.task, spec.model, spec.optimizer, spec.prior, spec.accelerator) == (
        ModularAddition(p=113, train_fraction=0.3),
        ModelSpec(d_model=64, d_mlp=256, heads=1),
        AdamW(learning_rate=1e-3, weight_decay=1.0, warmup=10, clip=1.0),
        KLPrior(0.0),
        NoAccelerator(),
    )
    assert (spec.controls, spec.batch_size) == (Controls(None, 0.0), None)


def test_names_are_different_in_all_parts_of_all_kinds():
    """Else a setting could not be known by its name alone."""

    def names(part) -> set[str]:
        return {field.name for field in dataclasses.fields(part)}

    families = [set().union(*map(names, family.values())) for family in FAMILIES.values()]
    everything = [*families, names(ModelSpec), names(Controls), names(RunSpec)]
    assert sum(map(len, everything)) == len(set().union(*everything))
    # A setting that varies is a coordinate of the History, beside its records.
    assert not set().union(*everything) & {*MEANING, "epoch", "head", "pos", "extra"}


def test_a_spec_is_frozen_and_a_key():
    spec = RunSpec()
    with pytest.raises(dataclasses.FrozenInstanceError):
        spec.seed = 3  # pyright: ignore[reportAttributeAccessIssue]
    assert {spec: 1}[RunSpec()] == 1
    assert len({RunSpec(), RunSpec(), RunSpec(seed=1)}) == 2


def test_with_changes_a_copy():
    spec = RunSpec()
    changed = spec.with_(p=43, heads=2, weight_decay=2.0, kl_strength=0.1, seed=5)
    assert spec == RunSpec()
    assert changed.task == ModularAddition(p=43)
    assert changed.model.heads == 2
    assert changed.optimizer.weight_decay == 2.0
    assert changed.settings()["kl_strength"] == 0.1
    assert changed.seed == 5
    assert spec.with_() == spec


def test_a_part_is_changed_as_a_whole_or_by_its_kind_with_settings_of_its_own():
    spec = RunSpec().with_(task=SparseParity(bits=8), k=2)
    assert spec.task == SparseParity(bits=8, k=2)
    assert RunSpec().with_(task="sparse_parity", bits=9).task == SparseParity(bits=9)
    assert RunSpec().with_(model=ModelSpec(heads=4), d_mlp=3).model == ModelSpec(heads=4, d_mlp=3)


def test_what_was_set_is_kept_by_every_kind_that_has_it():
    live = presets["live"]
    for family, registry in FAMILIES.items():
        for kind in grokkits(family):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                spec = live.with_(**{family: kind})
            old, new = getattr(live, family), getattr(spec, family)
            set_ = {f.name for f in dataclasses.fields(old) if getattr(old, f.name) != f.default}
            names = {f.name for f in dataclasses.fields(new)}
            for f in dataclasses.fields(new):
                expected = getattr(old, f.name) if f.name in set_ else f.default
                assert getattr(new, f.name) == expected, (kind, f.name)
            assert isinstance(new, registry[kind])
            assert [w.category for w in caught] == [SettingDropped] * bool(set_ - names)
            assert all(name in str(caught[0].message) for name in set_ - names)


def test_a_setting_of_another_kind_is_refused_and_says_of_which():
    with pytest.raises(SettingError, match=r"beta1: got 0.5; .* of optimizer adam, "):
        RunSpec().with_(optimizer="sgd", beta1=0.5)
    assert RunSpec().with_(optimizer="sgd").with_(optimizer="adamw", beta1=0.5)


@pytest.mark.parametrize("name", ["P", "weightdecay", "kind", "train", ""])
def test_an_unknown_name_is_refused_naming_it_and_the_known_ones(name):
    with pytest.raises(SettingError) as refused:
        RunSpec().with_(**{name: 1})
    assert refused.value.field == name
    assert "weight_decay" in str(refused.value) and "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("seed", -1),
        ("epochs", 0),
        ("record_every", 0),
        ("stop_after", -1),
        ("p", 1),
        ("heads", 3),
        ("weight_decay", -1.0),
        ("kl_strength", math.nan),
        ("kl_strength", -0.1),
        ("clip", 0.0),
        ("task", "no_such_task"),
        ("optimizer", "no_such_optimizer"),
        ("prior", "no_such_prior"),
    ],
)
def test_a_value_that_makes_no_sense_is_refused_by_name(name, value):
    with pytest.raises(SettingError) as refused:
        RunSpec().with_(**{name: value})
    assert refused.value.field == name and refused.value.value is value


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("seed", 1.0),
        ("epochs", True),
        ("epochs", "10"),
        ("stop_after", 1.5),
        ("precision", "bfloat16"),
        ("learning_rate", "fast"),
        ("kl_strength", None),
        ("task", 3),
        ("task", ModularAddition),
        ("model", "big"),
        ("optimizer", KLPrior()),
        ("prior", AdamW()),
    ],
)
def test_a_value_of_the_wrong_type_is_refused_by_name(name, value, unchecked):
    with pytest.raises(SettingError) as refused:
        RunSpec().with_(**{name: value})
    assert refused.value.field == name


def test_a_spec_of_another_version_is_refused_naming_what_is_unknown():
    plain = RunSpec().to_dict()
    for change, field in (
        ({"colour": 1}, "colour"),
        ({"task": {"kind": "juggling"}}, "task"),
        ({"task": {"kind": "modular_addition", "balls": 3}}, "task.balls"),
        ({"optimizer": {"kind": "adamw", "beta3": 0.5}}, "optimizer.beta3"),
        ({"model": {"experts": 2}}, "model.experts"),
    ):
        with pytest.raises(SettingError) as refused:
            RunSpec.from_dict(plain | change)
        assert refused.value.field == field


def test_a_setting_that_was_saved_before_it_existed_has_its_default():
    plain = RunSpec(seed=3).to_dict()
    del plain["precision"], plain["model"]["readout"]
    assert RunSpec.from_dict(plain) == RunSpec(seed=3)


def test_a_grid_is_every_combination_the_last_axis_fastest():
    specs = grid(RunSpec(), weight_decay=[0.5, 2.0], seed=range(3))
    assert [(s.optimizer.weight_decay, s.seed) for s in specs] == [
        (0.5, 0),
        (0.5, 1),
        (0.5, 2),
        (2.0, 0),
        (2.0, 1),
        (2.0, 2),
    ]
    assert grid(RunSpec()) == [RunSpec()]
    kinds = grid(RunSpec(), task=["modular_addition", SparseParity()], seed=iter([4]))
    assert [s.task.kind for s in kinds] == ["modular_addition", "sparse_parity"]


def test_a_grid_refuses_an_unknown_axis_an_empty_one_and_a_bad_value():
    for axes, field in (
        ({"weight": [1.0]}, "weight"),
        ({"seed": []}, "seed"),
        ({"seed": [0, -1]}, "seed"),
    ):
        with pytest.raises(SettingError) as refused:
            grid(RunSpec(), **axes)
        assert refused.value.field == field


@pytest.mark.parametrize(
    ("family", "kind"), [(family, kind) for family in FAMILIES for kind in FAMILIES[family]]
)
def test_every_kind_survives_json_and_is_known_by_its_name(family, kind):
    spec = RunSpec().with_(**{family: kind})
    assert getattr(spec, family) == FAMILIES[family][kind]()
    assert spec.settings()[family] == kind
    assert RunSpec.from_json(spec.to_json()) == spec


def test_a_spec_that_was_saved_before_a_part_existed_has_its_default():
    plain = RunSpec(seed=3).to_dict()
    del plain["accelerator"], plain["controls"], plain["batch_size"]
    assert RunSpec.from_dict(plain) == RunSpec(seed=3)
    assert spec_key(RunSpec(seed=3)) != spec_key(RunSpec(seed=3).with_(qk_penalty=0.5))


def test_controls_are_changed_as_a_whole_or_each_by_its_name():
    spec = RunSpec().with_(controls=Controls(mlp_radius=3.0), qk_penalty=0.5)
    assert spec.controls == Controls(mlp_radius=3.0, qk_penalty=0.5)


IDLE = {
    "schedule": {"schedule": "annealed", "schedule_epochs": 5},
    "head_reduction": {"heads": 2, "head_reduction": "summed"},
    "target": {"target": "adversarial"},
    "norm_kind": {"norm_kind": "rms"},
    "norm_affine": {"norm_affine": False},
}


@pytest.mark.parametrize("name", IDLE)
def test_a_setting_that_did_nothing_is_read_from_a_file(name):
    useful = {"norm": "A*"} if name.startswith("norm") else {"kl_strength": 1.0}
    spec = RunSpec().with_(**IDLE[name], **useful)
    written = spec.to_dict()
    part, setting = ("model", "norm") if "norm" in useful else ("prior", "kl_strength")
    written[part][setting] = "none" if part == "model" else 0.0
    read = RunSpec.from_dict(written)
    assert read.settings()[name] == IDLE[name][name]
    assert read.to_dict()[part][name] == IDLE[name][name]
