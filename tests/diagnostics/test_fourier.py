"""Waves whose frequency is known, and tables that have none."""

import dataclasses
import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn import functional

from grokkit.diagnostics import (
    all_sequences,
    embedding_power,
    excluded_loss,
    fourier_concentration,
    key_frequencies,
    logit_table,
    restricted_loss,
    sum_power,
)
from grokkit.errors import SettingError
from grokkit.model import Batch
from grokkit.tasks import KOperandAddition, MarkedAddition, ModularAddition, Task

TASKS: list[Task] = [
    ModularAddition(p=11, length=5, train_fraction=0.4),
    ModularAddition(p=8, length=4, positions=(2, 1), distractors="random", draws=3),
    MarkedAddition(p=7, length=6, draws=2, train_fraction=0.5),
]


def whole(task: Task, seeds=(0, 4)) -> Batch:
    data = [task.build(seed) for seed in seeds]
    parts = ([one.train for one in data], [one.test for one in data])
    return all_sequences(*(Batch.of(part) for part in parts))


def waves(p: int, frequencies: dict[int, float]) -> torch.Tensor:
    """sum_k size_k cos(w_k (a + b - c)), for every a + b and c."""
    s, c = torch.arange(p).double()[:, None], torch.arange(p).double()
    angle = 2 * math.pi * (s - c) / p
    return sum((size * torch.cos(k * angle) for k, size in frequencies.items()), torch.zeros(p, p))


def logits_of(batch: Batch, by_sum: torch.Tensor) -> torch.Tensor:
    """Logits that are a function of a + b."""
    return by_sum[batch.targets]


@pytest.mark.parametrize("p", [10, 11])
def test_an_embedding_on_a_circle_has_all_its_power_at_that_frequency(p):
    angle = 2 * math.pi * torch.arange(p).double() / p
    for k in range(1, (p + 1) // 2):
        circle = torch.stack((torch.cos(k * angle), torch.sin(k * angle)), dim=1)
        # Rotated into 6 dimensions, on top of a constant, with two more tokens at the end.
        turned = circle @ torch.linalg.qr(torch.randn(6, 2, dtype=torch.float64)).Q.T + 2.0
        table = torch.cat((turned, torch.full((2, 6), 99.0)))[None]
        power = embedding_power({"token_embedding": table}, p)
        expected = torch.zeros(p // 2 + 1, dtype=torch.float64)
        expected[k], expected[0] = p, 6 * p * 4.0
        torch.testing.assert_close(power[0], expected, atol=1e-9, rtol=1e-12)
        assert key_frequencies(power)[0].nonzero().flatten().tolist() == [k]


@pytest.mark.parametrize("p", [2, 9, 12])
def test_the_power_of_an_embedding_sums_to_its_squared_norm(p):
    table = torch.randn(3, p, 5, dtype=torch.float64)
    power = embedding_power({"token_embedding": table}, p)
    assert power.shape == (3, p // 2 + 1)
    torch.testing.assert_close(power.sum(dim=1), table.square().sum(dim=(1, 2)))


def on_a_circle(p: int, k: int, radius: float, width: int) -> torch.Tensor:
    """The numbers on a circle in the first two of some dimensions, gone round k times."""
    angle = 2 * math.pi * k * torch.arange(p).double() / p
    table = torch.zeros(1, p, width, dtype=torch.float64)
    table[0, :, 0], table[0, :, 1] = radius * torch.cos(angle), radius * torch.sin(angle)
    return table


@pytest.mark.parametrize(("p", "k", "width"), [(11, 1, 5), (23, 7, 4), (43, 21, 32)])
def test_the_concentration_of_a_circle_in_two_of_the_dimensions(p, k, width):
    """F is R p / 2 in two dimensions at one frequency, so m is R p / width there."""
    table = on_a_circle(p, k, 3.0, width)
    expected = 2 * (1 - 1 / (p // 2)) / (width - 2)
    with_another = torch.cat((table, torch.full((1, 1, width), 9.0)), dim=1)
    found = fourier_concentration({"token_embedding": with_another}, p)
    assert found.item() == pytest.approx(expected, rel=1e-9)
    # The same circle in a plane at random: nearly Rayleigh over many dimensions.
    random = torch.randn(2048, 2, generator=torch.Generator().manual_seed(k)).double()
    turned = table[:, :, :2] @ torch.linalg.qr(random).Q.T
    found = fourier_concentration({"token_embedding": turned}, p)
    spread = math.pi / (4 - math.pi)
    assert found.item() == pytest.approx(spread * (1 - 1 / (p // 2)), rel=0.1)


def test_a_random_embedding_is_as_concentrated_as_one_over_its_dimensions():
    table = torch.randn(200, 43, 64, generator=torch.Generator().manual_seed(4)).double()
    found = fourier_concentration({"token_embedding": table}, 43)
    assert found.mean().item() == pytest.approx(1 / 64, rel=0.1)


@given(st.integers(0, 2**16), st.floats(0.01, 100.0))
def test_the_concentration_is_free_of_scale_and_of_a_common_vector(seed, scale):
    random = torch.Generator().manual_seed(seed)
    table = torch.randn(1, 11, 6, generator=random, dtype=torch.float64)
    plain, moved = (
        fourier_concentration({"token_embedding": one}, 11)
        for one in (table, scale * (table + torch.randn(6, generator=random)))
    )
    torch.testing.assert_close(moved, plain, rtol=1e-9, atol=0)


def test_a_common_vector_is_no_structure():
    """The constant does not count: with it, this table would have more than 1."""
    table = torch.randn(1, 43, 64, generator=torch.Generator().manual_seed(5)).double() + 1
    assert fourier_concentration({"token_embedding": table}, 43).item() < 0.05
    size = np.abs(np.fft.rfft(table[0].numpy(), axis=0))
    mean = size.mean(axis=1)
    assert mean.var() / ((size - mean[:, None]) ** 2).mean() > 1


def test_a_random_embedding_is_flat():
    table = torch.randn(1, 113, 64, generator=torch.Generator().manual_seed(0))
    key = key_frequencies(embedding_power({"token_embedding": table}, 113))
    assert 0.8 * 56 <= int(key.sum()) <= 56


@pytest.mark.parametrize("task", TASKS, ids=["alphabet", "draws", "marked"])
def test_the_table_is_the_mean_over_draws_at_its_operands(task):
    batch = whole(task)
    p = task.p  # type: ignore[attr-defined]
    logits = torch.randn(2, batch.examples, 3, generator=torch.Generator().manual_seed(2))
    table = logit_table(logits, batch, p)
    for run in range(2):
        for a, b in ((0, 0), (1, p - 1), (p - 1, 2)):
            chosen = [
                logits[run, i]
                for i in range(batch.examples)
                if batch.tokens[run, i][batch.informative[run, i]].tolist() == [a, b]
            ]
            assert len(chosen) == batch.examples // p**2
            mean = torch.stack(chosen).double().mean(dim=0)
            torch.testing.assert_close(table[run, a, b], mean - mean.mean())


@given(st.integers(0, 2**16), st.sampled_from(TASKS), st.floats(1.0, 1e3))
def test_a_number_added_to_all_logits_of_an_example_changes_nothing(seed, task, size):
    """No probability changes; nor may any measure, however large the wave of such numbers."""
    batch, p = whole(task), task.p  # type: ignore[attr-defined]
    random = torch.Generator().manual_seed(seed)
    logits = torch.randn(2, batch.examples, p, generator=random, dtype=torch.float64)
    own = torch.randn(2, batch.examples, 1, generator=random, dtype=torch.float64)
    wave = torch.cos(2 * math.pi * batch.targets.double() / p).unsqueeze(2)
    plain, shifted = logits, logits + size * (own + wave)
    tables = [logit_table(one, batch, p) for one in (plain, shifted)]
    torch.testing.assert_close(tables[1], tables[0], atol=1e-9, rtol=0)
    torch.testing.assert_close(tables[0].sum(dim=3), torch.zeros(2, p, p).double())
    powers = [sum_power(table) for table in tables]
    torch.testing.assert_close(powers[1], powers[0], atol=1e-9, rtol=1e-9)
    key = key_frequencies(powers[0])
    assert torch.equal(key_frequencies(powers[1]), key)
    for loss in (restricted_loss, excluded_loss):
        both = [loss(one, batch, p, key) for one in (plain, shifted)]
        torch.testing.assert_close(both[1], both[0], atol=1e-9, rtol=1e-9)


@pytest.mark.parametrize("task", TASKS, ids=["alphabet", "draws", "marked"])
def test_pure_waves_of_the_sum_are_seen_as_such_and_restricting_to_them_changes_nothing(task):
    batch = whole(task)
    p = task.p  # type: ignore[attr-defined]
    sizes = {1: 8.0, 3: 5.0}
    logits = logits_of(batch, waves(p, sizes))
    table = logit_table(logits, batch, p)
    power = sum_power(table)
    key = key_frequencies(power)
    assert key.nonzero()[:, 1].tolist() == [1, 3, 1, 3]
    torch.testing.assert_close(power.sum(dim=1), table.square().sum(dim=(1, 2, 3)))
    usual = functional.cross_entropy(logits.flatten(0, 1), batch.targets.flatten()).double()
    restricted = restricted_loss(logits, batch, p, key)
    torch.testing.assert_close(restricted, usual.expand(2), rtol=1e-6, atol=0)
    # Without them nothing is left: the loss of a guess.
    excluded = excluded_loss(logits, batch, p, key)
    torch.testing.assert_close(excluded, torch.full((2,), math.log(p)).double())
    # Without one of two waves the other remains.
    one = torch.zeros_like(key)
    one[:, 1] = True
    rest = excluded_loss(logits, batch, p, one)
    torch.testing.assert_close(rest, restricted_loss(logits, batch, p, key & ~one))
    # The constant is no wave: it stays, whether it is asked for or not.
    shifted = logits + torch.arange(p)
    asked = one.clone()
    asked[:, 0] = True
    for loss in (restricted_loss, excluded_loss):
        assert torch.equal(loss(shifted, batch, p, asked), loss(shifted, batch, p, one))


def test_memorising_by_heart_shows_no_frequency_and_needs_no_wave():
    """Right on a train set at random and arbitrary elsewhere: what a lookup table does."""
    task = ModularAddition(p=23, length=3, train_fraction=0.5)
    batch = whole(task, seeds=(0,))
    n_train = len(task.build(0).train)
    train = torch.arange(batch.examples)[None] < n_train
    generator = torch.Generator().manual_seed(3)
    guess = torch.randint(23, (1, batch.examples), generator=generator)
    answer = torch.where(train, batch.targets, guess)
    logits = 10 * functional.one_hot(answer, 23).double()
    table = logit_table(logits, batch, 23)
    # Random answers everywhere: a flat spectrum.
    noise = logit_table(10 * functional.one_hot(guess, 23).double(), batch, 23)
    assert int(key_frequencies(sum_power(noise)).sum()) > 0.7 * 11
    # The train half does answer by the sum; the excluded loss is then small on it, for
    # two of eleven waves are no loss to a table, and the restricted loss is large.
    key = torch.zeros(1, 12, dtype=torch.bool)
    key[0, 1:3] = True
    assert excluded_loss(logits, batch, 23, key, train).item() < 0.05
    assert restricted_loss(logits, batch, 23, key).item() > 1.0
    assert sum_power(table).sum() < 0.5 * table.square().sum()


def test_the_restricted_loss_is_a_least_squares_fit_of_the_key_waves():
    """Against an independent way: regress the table on 1, cos and sin of key frequencies."""
    task = TASKS[0]
    batch, p = whole(task, seeds=(5,)), 11
    logits = torch.randn(1, batch.examples, p, generator=torch.Generator().manual_seed(6)).double()
    key = torch.zeros(1, p // 2 + 1, dtype=torch.bool)
    key[0, [2, 5]] = True
    total = batch.targets[0].double()  # a + b modulo p
    columns = [torch.ones_like(total)]
    for k in (2, 5):
        angle = 2 * math.pi * k * total / p
        columns += [torch.cos(angle), torch.sin(angle)]
    design = torch.stack(columns, dim=1)
    fit = torch.linalg.lstsq(design, logits[0]).solution
    kept = functional.cross_entropy(design @ fit, batch.targets[0])
    gone = functional.cross_entropy(logits[0] - design[:, 1:] @ fit[1:], batch.targets[0])
    assert restricted_loss(logits, batch, p, key).item() == pytest.approx(kept.item(), rel=1e-9)
    assert excluded_loss(logits, batch, p, key).item() == pytest.approx(gone.item(), rel=1e-9)


def test_the_fewest_frequencies_and_never_the_constant():
    power = torch.tensor([[99.0, 1, 5, 0, 4], [0.0, 0, 0, 7, 0], [1.0, 0, 0, 0, 0]])
    key = key_frequencies(power, share=0.85)
    assert [row.nonzero().flatten().tolist() for row in key] == [[2, 4], [3], []]
    with pytest.raises(SettingError, match="share: got"):
        key_frequencies(power, share=1.5)


def test_what_has_no_table_is_refused():
    task = TASKS[0]
    data = task.build(0)
    logits = torch.zeros(1, len(data.train), 11)
    with pytest.raises(SettingError, match="batch: got '48 pairs'; allowed: all 121 pairs"):
        logit_table(logits, Batch.of([data.train]), 11)
    batch = whole(task, seeds=(0,))
    full = torch.zeros(1, batch.examples, 11)
    with pytest.raises(SettingError, match="p: got 7; allowed: 11 or more"):
        logit_table(full, batch, 7)
    with pytest.raises(SettingError, match="key: got"):
        restricted_loss(full, batch, 11, torch.zeros(1, 5, dtype=torch.bool))
    three = whole(KOperandAddition(p=3, k=3, length=7, train_fraction=0.5), seeds=(0,))
    with pytest.raises(SettingError, match="2 informative positions"):
        logit_table(torch.zeros(1, three.examples, 3), three, 3)
    with pytest.raises(SettingError, match="p: got 12"):
        embedding_power({"token_embedding": torch.zeros(1, 11, 2)}, 12)


def test_sequences_that_are_not_read_out_at_their_end_are_refused():
    batch = whole(TASKS[0], seeds=(0,))
    early = dataclasses.replace(batch, query=torch.full_like(batch.targets, 3))
    with pytest.raises(SettingError, match="query: got"):
        all_sequences(early, batch)
