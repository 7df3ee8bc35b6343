"""What holds for every task, whatever it computes."""

import dataclasses

import pytest
import torch

from grokkit.core.common import stream as generator
from grokkit.tasks import (
    AutoregressiveParity,
    KOperandAddition,
    LongerAddition,
    MarkedAddition,
    ModularAddition,
    ModularDivision,
    ModularMultiplication,
    ModularQuadratic,
    ModularSubtraction,
    PermutationComposition,
    PrimeField,
    Sequences,
    SparseParity,
    Task,
    tasks,
)
from tests.kinds import grokkits
from tests.tasks.reference import rows

EXAMPLES = [
    ModularAddition(p=7, train_fraction=0.5),
    ModularAddition(p=5, length=3),
    ModularAddition(p=6, length=9, positions=(7, 1), distractors="random", draws=3),
    ModularSubtraction(p=7, length=4, distractors="constant"),
    ModularMultiplication(p=6, alphabet=2, split="unordered"),
    ModularDivision(p=7, distractors="random"),
    ModularQuadratic(p=8, split="unordered", draws=2),
    KOperandAddition(p=4, k=3),
    KOperandAddition(p=97, k=5, length=8, examples=60, split="unordered", draws=2),
    PermutationComposition(n=3, draws=2),
    SparseParity(bits=7, k=2),
    SparseParity(bits=62, k=4, positions=(61, 3, 5, 0), examples=50),
    MarkedAddition(p=7, draws=2),
    MarkedAddition(p=6, length=3, split="unordered"),
    MarkedAddition(p=5, length=9, distractors="random"),
    LongerAddition(p=5, longer=(7, 12), draws=2),
    AutoregressiveParity(bits=6, k=2),
    AutoregressiveParity(bits=31, k=3, positions=(30, 2, 9), examples=40),
    AutoregressiveParity(bits=5, k=1, predict="answer"),
    PrimeField("x^2+y^2", p=7),
    PrimeField("x-y", p=11, hole="square", hole_edge=4),
    PrimeField("x^3+xy+y^3", p=11, hole="strip", hole_edge=2, split="unordered"),
    PrimeField(p=7, length=6, distractors="random", draws=2, hole="strip", hole_edge=2),
]


@pytest.fixture(params=EXAMPLES, ids=repr)
def task(request: pytest.FixtureRequest) -> Task:
    return request.param


def same(a: Sequences, b: Sequences) -> bool:
    pairs = [(getattr(a, f.name), getattr(b, f.name)) for f in dataclasses.fields(Sequences)]
    return all(x is y is None or torch.equal(x, y) for x, y in pairs)


def graded(sequences: Sequences) -> Sequences:
    """The examples with an answer: all of them, except in next-token prediction."""
    return sequences[sequences.informative.any(dim=1)]


def test_every_registered_task_is_exercised() -> None:
    assert {type(task).kind for task in EXAMPLES} == set(grokkits("task"))


@pytest.mark.parametrize("kind", list(grokkits("task")))
def test_every_task_builds_with_its_defaults(kind: str) -> None:
    data = tasks[kind]().build(seed=0)
    assert len(data.train) > 0
    assert len(data.test) > 0
    assert len(set(data.vocabulary)) == data.n_tokens


def test_no_group_is_in_train_and_in_test(task: Task) -> None:
    data = task.build(seed=3)
    assert not set(data.train.group.tolist()) & set(data.test.group.tolist())


def test_train_and_test_together_hold_every_input_equally_often(task: Task) -> None:
    data = task.build(seed=3)
    groups = graded(data.train).group.tolist() + data.test.group.tolist()
    draws = getattr(task, "draws", 1)
    assert len(set(groups)) == task.n_inputs  # type: ignore[attr-defined]
    assert all(groups.count(group) == draws for group in set(groups))


def test_a_group_has_one_target(task: Task) -> None:
    data = task.build(seed=3)
    target_of: dict[int, int] = {}
    for _, target, _, group in rows(graded(data.train)) + rows(data.test):
        assert target_of.setdefault(group, target) == target


def test_the_oracle_is_one_over_k_on_informative_positions(task: Task) -> None:
    data = task.build(seed=1)
    for sequences in (graded(data.train), data.test, *map(graded, data.extra.values())):
        k = sequences.informative.sum(dim=1, keepdim=True)
        assert (k == k[:1]).all()
        torch.testing.assert_close(sequences.oracle.sum(dim=1), torch.ones(len(sequences)))
        assert torch.equal(sequences.oracle, sequences.informative / k)


def test_the_query_is_last_the_same_and_never_informative(task: Task) -> None:
    data = task.build(seed=1)
    query = data.vocabulary.index("=")
    for sequences in (data.train, data.test, *data.extra.values()):
        assert (sequences.tokens[:, -1] == query).all()
        assert (graded(sequences).query_position == sequences.length - 1).all()
        assert not (sequences.tokens[:, :-1] == query).any()
        assert not sequences.informative[:, -1].any()


def test_tokens_and_targets_are_in_range(task: Task) -> None:
    data = task.build(seed=2)
    for sequences in (data.train, data.test, *data.extra.values()):
        assert sequences.tokens.min() >= 0
        assert sequences.tokens.max() < data.n_tokens
        assert sequences.targets.min() >= 0
        assert sequences.targets.max() < data.n_classes


def test_the_same_seed_gives_the_same_data(task: Task) -> None:
    first, again, other = task.build(seed=4), task.build(seed=4), task.build(seed=5)
    assert same(first.train, again.train)
    assert same(first.test, again.test)
    assert first.extra.keys() == again.extra.keys()
    assert all(same(first.extra[name], again.extra[name]) for name in first.extra)
    assert not same(first.train, other.train)


def test_no_two_purposes_share_a_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def recording(seed: int, purpose: str) -> torch.Generator:
        asked.append(purpose)
        return generator(seed, purpose)

    for module in ("arithmetic", "operands", "routing", "split"):
        monkeypatch.setattr(f"grokkit.tasks.{module}.generator", recording)
    monkeypatch.setattr("grokkit.core.task.stream", recording)
    for task in EXAMPLES:
        asked.clear()
        task.build(seed=0)
        assert len(asked) == len(set(asked)) >= 2
        assert "split" in asked


def test_a_task_can_be_hashed_compared_and_copied(task: Task) -> None:
    copy = dataclasses.replace(task)  # type: ignore[type-var]
    assert copy == task
    assert hash(copy) == hash(task)


@pytest.mark.usefixtures("unchecked")
def test_a_seed_must_be_a_whole_number(task: Task) -> None:
    for seed in (-1, 0.5, "0", None, True):
        with pytest.raises(ValueError, match=r"^seed: got .*; allowed: a whole number, 0 or more$"):
            task.build(seed)  # type: ignore[arg-type]
