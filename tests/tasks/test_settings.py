"""Settings that make no sense are refused by name, in one line."""

import dataclasses
import math
import pickle

import numpy as np
import pytest
import torch

from grokkit.errors import SettingError, refuse
from grokkit.tasks import (
    AutoregressiveParity,
    KOperandAddition,
    LongerAddition,
    MarkedAddition,
    ModularAddition,
    ModularDivision,
    ModularTask,
    PermutationComposition,
    PrimeField,
    SparseParity,
    register_task,
    tasks,
)

NOT_WHOLE = [True, 7.0, "7", None, math.nan, np.int64(7)]
NOT_FRACTIONS = [0, 1, 0.0, 1.0, -0.1, 1.5, math.nan, math.inf, "0.3", None, True]

REFUSED = [
    *((ModularAddition, "p", value) for value in [*NOT_WHOLE, 1, 0, -5, 1001]),
    *((ModularAddition, "length", value) for value in [*NOT_WHOLE, 2, 1025]),
    *((ModularAddition, "draws", value) for value in [*NOT_WHOLE, 0, 1001]),
    *((ModularAddition, "alphabet", value) for value in [*NOT_WHOLE[:3], 0, -1, 1001]),
    *((ModularAddition, "train_fraction", value) for value in NOT_FRACTIONS),
    (ModularAddition, "train_fraction", 1e-5),
    (ModularAddition, "train_fraction", 1 - 1e-5),
    *((ModularAddition, "distractors", value) for value in ["noise", "", None, 4, ["random"]]),
    *((ModularAddition, "split", value) for value in ["pairs", None, 1]),
    (ModularAddition, "positions", ()),
    (ModularAddition, "positions", (0,)),
    (ModularAddition, "positions", (0, 1, 2)),
    (ModularAddition, "positions", (1, 1)),
    (ModularAddition, "positions", (0, 4)),
    (ModularAddition, "positions", (-1, 0)),
    (ModularAddition, "positions", (0, 1.0)),
    (ModularAddition, "positions", (0, True)),
    (ModularAddition, "positions", "01"),
    (ModularAddition, "positions", 3),
    (ModularDivision, "p", 112),
    (KOperandAddition, "k", 1),
    (KOperandAddition, "k", 13),
    (KOperandAddition, "k", 10**9),
    (KOperandAddition, "k", 7.0),
    (KOperandAddition, "p", 1),
    (KOperandAddition, "examples", 1),
    (KOperandAddition, "examples", 31**3 + 1),
    (KOperandAddition, "examples", 0.5),
    (PermutationComposition, "n", 2),
    (PermutationComposition, "n", 6),
    (PermutationComposition, "n", 4.0),
    (SparseParity, "bits", 0),
    (SparseParity, "bits", 63),
    (SparseParity, "k", 0),
    (SparseParity, "k", 41),
    (SparseParity, "positions", (0, 1)),
    (SparseParity, "positions", (0, 1, 40)),
    (SparseParity, "examples", 1),
    (SparseParity, "examples", 10**7),
    (SparseParity, "train_fraction", math.nan),
    (AutoregressiveParity, "bits", 63),
    (AutoregressiveParity, "k", 21),
    *((AutoregressiveParity, "predict", value) for value in ["bits", None, True]),
    (MarkedAddition, "p", 1),
    (MarkedAddition, "length", 2),
    (MarkedAddition, "distractors", "constant"),
    (MarkedAddition, "draws", 0),
    (MarkedAddition, "train_fraction", 2.0),
    (MarkedAddition, "split", "triple"),
    (LongerAddition, "longer", ()),
    (LongerAddition, "longer", (6, 8)),
    (LongerAddition, "longer", (8, 8)),
    (LongerAddition, "longer", (12, 8)),
    (LongerAddition, "longer", (8, 12.0)),
    (LongerAddition, "longer", (8, 1025)),
    (LongerAddition, "longer", 8),
    (LongerAddition, "distractors", "constant"),
    (LongerAddition, "length", 3),
    *((PrimeField, "function", value) for value in ["x*y", "x^2", None, 2]),
    *((PrimeField, "p", value) for value in [True, 1, 91, 1000]),
    *((PrimeField, "hole", value) for value in ["circle", None, True]),
    (PrimeField, "hole_edge", 30),
]


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(("task", "field", "value"), REFUSED)
def test_a_bad_setting_is_refused_by_name(task, field, value) -> None:
    with pytest.raises(ValueError, match=rf"^{field}: got .*; allowed: ") as caught:
        task(**{field: value})
    assert isinstance(caught.value, SettingError)
    assert caught.value.field == field
    assert caught.value.value is value or caught.value.value == value
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("task", "settings", "field"),
    [
        (ModularAddition, {"distractors": "constant", "draws": 2}, "draws"),
        (ModularAddition, {"length": 3, "draws": 2}, "draws"),
        (ModularAddition, {"p": 997, "draws": 11}, "draws"),
        (ModularAddition, {"p": 997, "length": 60}, "length"),
        (LongerAddition, {"p": 997, "longer": (8, 100)}, "longer"),
        (MarkedAddition, {"p": 997, "length": 60}, "length"),
        (ModularAddition, {"distractors": "constant", "alphabet": 4}, "alphabet"),
        (ModularAddition, {"distractors": "random", "alphabet": 4}, "alphabet"),
        (ModularAddition, {"length": 3, "alphabet": 4}, "alphabet"),
        (ModularAddition, {"length": 4, "positions": (0, 3)}, "positions"),
        (ModularAddition, {"p": 2, "train_fraction": 0.1}, "train_fraction"),
        (KOperandAddition, {"k": 7}, "length"),
        (SparseParity, {"bits": 3, "k": 2, "examples": 9}, "examples"),
        (AutoregressiveParity, {"bits": 62, "examples": 20_000}, "examples"),
        (MarkedAddition, {"distractors": "random", "alphabet": 4}, "alphabet"),
        (MarkedAddition, {"length": 3, "draws": 2}, "draws"),
        (PrimeField, {"hole": "square"}, "hole_edge"),
        (PrimeField, {"hole": "square", "hole_edge": 96}, "hole_edge"),
        (PrimeField, {"hole": "strip", "hole_edge": -1}, "hole_edge"),
        (PrimeField, {"hole": "strip", "hole_edge": 67}, "train_fraction"),
        (PrimeField, {"hole": "square", "hole_edge": 81}, "train_fraction"),
        (
            PrimeField,
            {"hole": "strip", "hole_edge": 43, "split": "unordered"},
            "train_fraction",
        ),
    ],
)
def test_settings_that_do_not_fit_together_are_refused(task, settings, field) -> None:
    with pytest.raises(SettingError, match=rf"^{field}: got "):
        task(**settings)


def test_the_message_says_what_is_allowed() -> None:
    with pytest.raises(SettingError) as caught:
        ModularAddition(positions=(0, 7))
    assert str(caught.value) == (
        "positions: got (0, 7); allowed: 2 distinct positions 0..3 (the query is position 4)"
    )


def test_a_refusal_survives_pickling_and_stays_on_one_line() -> None:
    with pytest.raises(SettingError) as caught:
        refuse("weights", torch.zeros(3, 3), "none")
    assert "\n" not in str(caught.value)
    again = pickle.loads(pickle.dumps(SettingError("p", 4, "a prime")))
    assert (str(again), again.field) == ("p: got 4; allowed: a prime", "p")


@pytest.mark.usefixtures("unchecked")
def test_lists_become_tuples() -> None:
    task = ModularAddition(positions=[0, 3])  # type: ignore[arg-type]
    assert task == ModularAddition(positions=(0, 3))
    assert hash(task) == hash(ModularAddition(positions=(0, 3)))
    assert LongerAddition(longer=[9]).longer == (9,)  # type: ignore[arg-type]


def test_settings_can_be_replaced_one_at_a_time() -> None:
    # Defaults stay None inside, so that another kind or length can follow.
    task = dataclasses.replace(ModularAddition(), distractors="constant")
    assert dataclasses.replace(task, length=3).informative == (0, 1)


def test_the_settings_that_matter_come_first() -> None:
    assert ModularAddition(43, 6) == ModularAddition(p=43, length=6)
    assert KOperandAddition(5, 4, 100) == KOperandAddition(p=5, k=4, examples=100)
    assert PermutationComposition(5).n == 5


@pytest.mark.parametrize("length", [3, 4, 5, 9])
def test_default_positions_leave_room_where_there_is_some(length: int) -> None:
    expected = (0, 1) if length == 3 else (0, 2)
    assert ModularAddition(p=5, length=length).informative == expected


def test_a_task_of_ones_own_takes_a_label_and_nothing_else() -> None:
    @register_task("modular_cubes")
    @dataclasses.dataclass(frozen=True)
    class ModularCubes(ModularTask):
        def label(self, operands):
            return (operands**3).sum(dim=1) % self.p

    try:
        data = tasks["modular_cubes"](p=5).build(seed=0)  # type: ignore[call-arg]
        a, b = data.train.tokens[:, 0], data.train.tokens[:, 2]
        assert torch.equal(data.train.targets, (a**3 + b**3) % 5)
    finally:
        del tasks._members["modular_cubes"]


def test_only_frozen_dataclasses_are_registered() -> None:
    class Undecorated(ModularAddition):
        extra: int = 3

    with pytest.raises(TypeError, match="Undecorated: a task must be a frozen dataclass"):
        register_task("undecorated")(Undecorated)
