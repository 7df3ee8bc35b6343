"""Labels, by brute force: every target recomputed from the tokens in plain Python."""

from itertools import permutations, product

import pytest
import torch

from grokkit.tasks import (
    KOperandAddition,
    MarkedAddition,
    ModularAddition,
    ModularDivision,
    ModularMultiplication,
    ModularQuadratic,
    ModularSubtraction,
    PermutationComposition,
    PrimeField,
    SparseParity,
    TaskData,
)
from tests.tasks.reference import marked_operands, operands, rows


def labelled(data: TaskData, positions: tuple[int, ...]) -> dict[tuple[int, ...], int]:
    """The target of each tuple of operands, train and test together."""
    return {
        inputs: target
        for sequences in (data.train, data.test)
        for inputs, target in zip(
            operands(sequences, positions), sequences.targets.tolist(), strict=True
        )
    }


@pytest.mark.parametrize("p", [2, 5, 6, 12, 31])
@pytest.mark.parametrize(("length", "positions"), [(3, (0, 1)), (5, (0, 2)), (6, (4, 1))])
@pytest.mark.parametrize(
    ("kind", "rule"),
    [
        (ModularAddition, lambda a, b: a + b),
        (ModularSubtraction, lambda a, b: a - b),
        (ModularMultiplication, lambda a, b: a * b),
        (ModularQuadratic, lambda a, b: a**2 + a * b + b**2),
    ],
)
def test_modular_tasks_label_the_whole_table(kind, rule, p, length, positions) -> None:
    task = kind(p=p, length=length, positions=positions, train_fraction=0.5)
    expected = {(a, b): rule(a, b) % p for a, b in product(range(p), repeat=2)}
    assert labelled(task.build(seed=0), positions) == expected


@pytest.mark.parametrize("p", [2, 3, 7, 31])
@pytest.mark.parametrize(
    ("function", "rule"),
    [
        ("x+y", lambda x, y: x + y),
        ("x-y", lambda x, y: x - y),
        ("xy", lambda x, y: x * y),
        ("x^2+y^2", lambda x, y: x * x + y * y),
        ("x^2+xy+y^2", lambda x, y: x * x + x * y + y * y),
        ("x^3+y^3", lambda x, y: x * x * x + y * y * y),
        ("x^3+xy+y^3", lambda x, y: x * x * x + x * y + y * y * y),
    ],
)
def test_functions_over_a_prime_field_label_the_whole_table(function, rule, p: int) -> None:
    task = PrimeField(function, p=p, train_fraction=0.5)
    expected = {(x, y): rule(x, y) % p for x, y in product(range(p), repeat=2)}
    assert labelled(task.build(seed=0), (0, 1)) == expected
    assert task.commutes == all(expected[x, y] == expected[y, x] for x, y in expected) or p == 2


def test_the_largest_numbers_do_not_overflow() -> None:
    (label,) = PrimeField("x^3+xy+y^3", p=997).label(torch.tensor([[996, 995]]))
    assert label == (996**3 + 996 * 995 + 995**3) % 997


@pytest.mark.parametrize(
    ("function", "task"),
    [
        ("x+y", ModularAddition),
        ("x-y", ModularSubtraction),
        ("xy", ModularMultiplication),
        ("x^2+xy+y^2", ModularQuadratic),
    ],
)
def test_a_function_with_a_task_of_its_own_is_that_task(function, task) -> None:
    same = task(p=11, length=3, distractors="constant")
    ours, theirs = PrimeField(function, p=11).build(seed=3), same.build(seed=3)
    for one, other in ((ours.train, theirs.train), (ours.test, theirs.test)):
        assert rows(one) == rows(other)
    assert ours.vocabulary == theirs.vocabulary == (*map(str, range(11)), "=")


@pytest.mark.parametrize("p", [2, 3, 7, 31])
def test_division_solves_b_times_c_is_a(p: int) -> None:
    labels = labelled(ModularDivision(p=p, train_fraction=0.5).build(seed=0), (0, 2))
    assert set(labels) == {(a, b) for a in range(p) for b in range(1, p)}
    assert all(b * c % p == a for (a, b), c in labels.items())


@pytest.mark.parametrize("p", [4, 6, 9, 111, 121])
def test_division_refuses_a_modulus_that_is_not_prime(p: int) -> None:
    with pytest.raises(ValueError, match=f"^p: got {p}; allowed: a prime number"):
        ModularDivision(p=p)


@pytest.mark.parametrize(("p", "k", "length"), [(2, 5, 6), (3, 4, 8), (5, 3, 7)])
def test_k_operands_label_the_whole_table(p: int, k: int, length: int) -> None:
    task = KOperandAddition(p=p, k=k, length=length)
    expected = {summands: sum(summands) % p for summands in product(range(p), repeat=k)}
    assert labelled(task.build(seed=0), task.informative) == expected


def test_k_operands_of_a_huge_table_are_distinct_and_spread() -> None:
    task = KOperandAddition(p=113, k=9, length=12, examples=500)
    labels = labelled(task.build(seed=0), task.informative)
    assert len(labels) == 500
    assert all(sum(summands) % 113 == target for summands, target in labels.items())
    # Not the small codes only: the first operand takes its large values as well.
    assert 40 < sum(summands[0] for summands in labels) / 500 < 72


@pytest.mark.parametrize("n", [3, 4])
def test_permutations_apply_the_second_operand_first(n: int) -> None:
    task = PermutationComposition(n=n)
    elements = list(permutations(range(n)))
    data = task.build(seed=0)
    labels = labelled(data, (0, 2))
    assert len(labels) == len(elements) ** 2
    for (a, b), c in labels.items():
        assert elements[c] == tuple(elements[a][elements[b][i]] for i in range(n))
    assert any(labels[a, b] != labels[b, a] for a, b in labels)
    assert data.vocabulary[0] == "0123"[:n]


def test_the_group_of_five_things_has_120_elements_and_an_identity() -> None:
    data = PermutationComposition(n=5).build(seed=0)
    assert data.n_classes == 120
    assert all(c == b for (a, b), c in labelled(data, (0, 2)).items() if a == 0)


@pytest.mark.parametrize(
    ("bits", "k", "positions"), [(6, 6, None), (9, 3, (8, 0, 4)), (40, 2, None)]
)
def test_parity_counts_the_informative_bits(bits, k, positions) -> None:
    data = SparseParity(bits=bits, k=k, positions=positions, examples=60).build(seed=0)
    labels = labelled(data, tuple(range(bits)))
    assert len(labels) == 60
    for string, target in labels.items():
        assert sum(string[i] for i in positions or range(k)) % 2 == target


def test_parity_of_few_bits_takes_all_strings() -> None:
    data = SparseParity(bits=5, k=2).build(seed=0)
    assert set(labelled(data, tuple(range(5)))) == set(product((0, 1), repeat=5))


@pytest.mark.parametrize("distractors", ["alphabet", "random"])
def test_marked_operands_are_the_informative_tokens(distractors) -> None:
    data = MarkedAddition(p=7, length=7, distractors=distractors, draws=3).build(seed=0)
    for sequences in (data.train, data.test):
        pairs = marked_operands(sequences)
        codes = sequences.group.tolist()
        assert [7 * a + b for a, b in pairs] == codes
        assert [(a + b) % 7 for a, b in pairs] == sequences.targets.tolist()
        for tokens, mask in zip(sequences.tokens, sequences.informative, strict=True):
            names = [data.vocabulary[token] for token in tokens]
            assert [name.endswith("*") for name in names] == mask.tolist()


def test_groups_are_the_codes_of_the_operands() -> None:
    data = ModularAddition(p=6, draws=2).build(seed=0)
    for sequences in (data.train, data.test):
        assert [6 * a + b for a, b in operands(sequences, (0, 2))] == sequences.group.tolist()
