"""The core's tasks, recounted one sequence at a time in plain Python."""

import re
from itertools import product

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from grokkit import core
from grokkit.core.common import stream
from grokkit.core.distractors import DISTRACTORS
from grokkit.core.task import RULES, distinct

settings_of_a_task = st.fixed_dictionaries(
    {
        "rule": st.sampled_from(sorted(RULES)),
        "p": st.integers(3, 9),
        "length": st.integers(3, 7),
        "positions": st.sampled_from([None, (1, 0)]),
        "distractors": st.sampled_from(sorted(DISTRACTORS)),
        "alphabet": st.integers(1, 30),
        "draws": st.integers(1, 3),
        "train_fraction": st.floats(0.3, 0.8),
        "split": st.sampled_from(["pair", "unordered"]),
    }
)


def rows(examples: core.Examples) -> list[list[int]]:
    return examples.tokens.tolist()


@given(settings_of_a_task, st.integers(0, 10**6))
@settings(max_examples=50)
def test_every_pair_is_there_on_one_side_and_has_the_class_of_its_rule(chosen, seed):
    task = core.Task(**chosen)
    data = task.build(seed)
    a_at, b_at = task.informative
    rule = re.sub(r"ab$|ab(?=\+)", "a*b", task.rule.replace("^", "**"))
    pairs = []
    for examples in (data.train, data.test):
        for tokens, target in zip(rows(examples), examples.targets.tolist(), strict=True):
            a, b = tokens[a_at], tokens[b_at]
            assert target == eval(rule, {"a": a, "b": b}) % task.p
            assert data.symbols[tokens[-1]] == "="
        pairs.append([(tokens[a_at], tokens[b_at]) for tokens in rows(examples)])
    train, test = pairs
    everything = sorted(product(range(task.p), repeat=2))
    assert sorted(train + test) == [pair for pair in everything for _ in range(task.draws)]
    assert not set(train) & set(test)
    if task.split == "unordered":
        assert not {(b, a) for a, b in train} & set(test)
    wanted = round(task.train_fraction * task.p**2) * task.draws
    assert abs(len(train) - wanted) <= (task.draws if task.split == "unordered" else 0)
    if RULES[task.rule].commutes:
        expected = [(b, a) in set(train) for a, b in test]
        assert data.mirrored is not None and data.mirrored.tolist() == expected
    else:
        assert data.mirrored is None


@given(settings_of_a_task, st.integers(0, 10**6))
@settings(max_examples=30)
def test_distractors_stand_in_the_gaps_and_are_of_their_kind(chosen, seed):
    task = core.Task(**chosen)
    data = task.build(seed)
    gap_tokens = data.train.tokens[:, task.gaps]
    names = {data.symbols[token] for token in gap_tokens.flatten().tolist()}
    if task.distractors == "random":
        assert names <= set(map(str, range(task.p)))
    elif task.distractors == "constant":
        assert names == {f"·{gap}" for gap in task.gaps}
        assert (gap_tokens == gap_tokens[0]).all()
    else:
        assert all(re.fullmatch(r"[A-Z]1?", name) for name in names)
    assert not data.train.informative[:, task.gaps].any()


@given(settings_of_a_task)
@settings(max_examples=20)
def test_the_oracle_is_a_half_on_each_operand_and_its_adversary_elsewhere(chosen):
    task = core.Task(**chosen)
    train = task.build(0).train
    expected = torch.zeros(task.length, dtype=torch.float64)
    expected[list(task.informative)] = 0.5
    assert (train.oracle == expected).all()
    if task.gaps:
        expected = torch.zeros(task.length, dtype=torch.float64)
        expected[task.gaps] = 1 / len(task.gaps)
        assert (train.adversary == expected).all()
    else:
        with pytest.raises(ValueError, match=r"^target: got 'adversarial'"):
            _ = train.adversary


@pytest.mark.parametrize("task", [core.Parity(8, 3, examples=200), core.Parity(30, 2, (7, 29))])
def test_parity_is_the_xor_of_its_bits(task):
    data = task.build(3)
    strings = rows(data.train) + rows(data.test)
    assert len({tuple(string) for string in strings}) == len(strings) == task.examples
    for examples in (data.train, data.test):
        for tokens, target in zip(rows(examples), examples.targets.tolist(), strict=True):
            assert target == sum(tokens[i] for i in task.informative) % 2
            assert tokens[-1] == 2 and set(tokens[:-1]) <= {0, 1}


def test_distinct_numbers_are_distinct_and_evenly_spread():
    for total in (50, 2**40):
        found = distinct(total, 40, stream(0, "inputs"))
        assert len(found.unique()) == 40 and found.equal(found.sort().values)
        assert int(found.min()) >= 0 and int(found.max()) < total
        assert 0.3 < found.double().mean() / total < 0.7


def test_other_distractors_leave_the_split_and_the_shared_weights_as_they_are():
    """Arms that differ in their distractors are paired by their seed (one stream for each)."""
    one, other = (core.Task(p=7, distractors=kind) for kind in ("constant", "random"))
    first, second = one.build(4), other.build(4)
    assert first.train.tokens[:, [0, 2]].equal(second.train.tokens[:, [0, 2]])
    nets = [
        core.Transformer(core.Model(d_model=8), len(data.symbols), length, 7, seed=4)
        for data, length in ((first, 5), (second, 9))
    ]
    for name in ("W_Q", "W_V", "W_1", "W_2"):
        assert nets[0].get_parameter(name).equal(nets[1].get_parameter(name))
    short, long = (net.position_embedding for net in nets)
    assert short[-1].equal(long[-1]) and short[:4].equal(long[:4])
    assert nets[0].token_embedding[:8].equal(nets[1].token_embedding)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: core.Task(rule="a/b"), "rule: got 'a/b'; allowed: a+b"),
        (lambda: core.Task(distractors="none"), "distractors: got 'none'; allowed: constant"),
        (lambda: core.Task(length=2), "length: got 2; allowed: 3 or more"),
        (lambda: core.Task(p=3, train_fraction=0.99).build(0), "train_fraction: got 0.99"),
        (lambda: core.Parity(5, examples=33).build(0), "examples: got 33; allowed: 2..32"),
        (lambda: core.Model(heads=3), "heads: got 3; allowed: a divisor of d_model = 64"),
        (lambda: core.Model(attention="hard"), "attention: got 'hard'"),
        (lambda: core.Prior("l1"), "kind: got 'l1'; allowed: kl, entropy, sparsity"),
        (lambda: core.Prior(schedule="late"), "schedule_epochs: got None"),
        (lambda: core.prune({}, sparsity=1.0), "sparsity: got 1.0"),
        (
            lambda: core.Run(prior=core.Prior(strength=1.0), model=core.Model(attention="oracle")),
            "strength: got 1.0",
        ),
    ],
)
def test_what_makes_no_sense_is_refused_by_name(make, message):
    with pytest.raises(ValueError, match="^" + re.escape(message)):
        make()
