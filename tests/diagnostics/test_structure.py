"""Where attention looks, against sums written out in Python."""

import math

import pytest
import torch

from grokkit.diagnostics import (
    attention_kl,
    distributed_share,
    head_entropy,
    map_entropy,
    min_informative_mass,
    summed_head_mass,
)
from grokkit.diagnostics.structure import attention_entropy, attention_mass, informative_mass
from grokkit.errors import SettingError

RUNS, EXAMPLES, LENGTH, HEADS = 2, 4, 5, 3


@pytest.fixture
def attention() -> torch.Tensor:
    generator = torch.Generator().manual_seed(0)
    scores = torch.randn(RUNS, EXAMPLES, LENGTH, HEADS, generator=generator, dtype=torch.float64)
    return (3 * scores).softmax(dim=2)


@pytest.fixture
def informative() -> torch.Tensor:
    """Two positions, others in each sequence."""
    generator = torch.Generator().manual_seed(1)
    chance = torch.rand(RUNS, EXAMPLES, LENGTH, generator=generator)
    places = chance.argsort(dim=2)[..., :2]
    return torch.zeros(RUNS, EXAMPLES, LENGTH, dtype=torch.bool).scatter(2, places, True)


def test_mass_is_the_mean_over_examples_and_sums_to_one(attention):
    mass = attention_mass(attention)
    assert mass.shape == (RUNS, HEADS, LENGTH)
    torch.testing.assert_close(mass.sum(dim=2), torch.ones(RUNS, HEADS, dtype=torch.float64))
    by_hand = sum(attention[1, e, 3, 2].item() for e in range(EXAMPLES)) / EXAMPLES
    assert mass[1, 2, 3].item() == pytest.approx(by_hand, rel=1e-14)


def test_the_least_informative_mass_is_the_least_over_examples_and_positions(
    attention, informative
):
    for run in range(RUNS):
        masses = [
            sum(attention[run, e, j, h].item() for h in range(HEADS)) / HEADS
            for e in range(EXAMPLES)
            for j in range(LENGTH)
            if informative[run, e, j]
        ]
        least = min_informative_mass(attention, informative)[run].item()
        assert least == pytest.approx(min(masses), rel=1e-14)


def test_informative_mass_is_what_all_of_them_get_together(attention, informative):
    for run in range(RUNS):
        total = sum(
            attention[run, e, j, h].item()
            for e in range(EXAMPLES)
            for j in range(LENGTH)
            for h in range(HEADS)
            if informative[run, e, j]
        )
        ours = informative_mass(attention, informative)[run].item()
        assert ours == pytest.approx(total / EXAMPLES / HEADS, rel=1e-14)


def test_kl_is_the_sum_over_informative_positions(attention, informative):
    divergence = attention_kl(attention, informative.double() / 2)
    for run in range(RUNS):
        for e in range(EXAMPLES):
            for h in range(HEADS):
                by_hand = sum(
                    0.5 * math.log(0.5 / attention[run, e, j, h].item())
                    for j in range(LENGTH)
                    if informative[run, e, j]
                )
                assert divergence[run, e, h].item() == pytest.approx(by_hand, rel=1e-13)


def test_kl_is_zero_for_the_oracle_and_finite_for_its_opposite(informative):
    oracle = informative.float() / 2
    assert not attention_kl(oracle.unsqueeze(-1), oracle).any()
    opposite = ((~informative).float() / 3).unsqueeze(-1)
    divergence = attention_kl(opposite, oracle)
    assert divergence.isfinite().all() and (divergence > 80).all()


def test_entropy_goes_from_zero_to_log_length(attention):
    by_hand = [
        -sum(a * math.log(a) for a in attention[run].flatten().tolist()) / EXAMPLES / HEADS
        for run in range(RUNS)
    ]
    assert attention_entropy(attention).tolist() == pytest.approx(by_hand, rel=1e-13)
    one = torch.zeros(1, 2, LENGTH, 1)
    one[:, :, 2] = 1
    assert attention_entropy(one).item() == 0
    uniform = torch.full((1, 2, LENGTH, 1), 1 / LENGTH)
    assert attention_entropy(uniform).item() == pytest.approx(math.log(LENGTH), rel=1e-6)


def test_the_entropy_of_each_head_and_of_the_map_averaged_over_heads(attention):
    for run in range(RUNS):
        for h in range(HEADS):
            flat = attention[run, :, :, h].flatten().tolist()
            by_hand = -sum(a * math.log(a) for a in flat) / EXAMPLES
            assert head_entropy(attention)[run, h].item() == pytest.approx(by_hand, rel=1e-13)
        average = (attention[run].sum(dim=2) / HEADS).flatten().tolist()
        by_hand = -sum(a * math.log(a) for a in average) / EXAMPLES
        assert map_entropy(attention)[run].item() == pytest.approx(by_hand, rel=1e-13)
    torch.testing.assert_close(head_entropy(attention).mean(dim=1), attention_entropy(attention))
    # Heads that agree lose nothing by the average; those that differ only gain.
    assert (map_entropy(attention) > attention_entropy(attention)).all()
    alike = attention[..., :1].expand_as(attention)
    torch.testing.assert_close(map_entropy(alike), attention_entropy(alike))


def test_heads_that_look_at_one_position_each_have_no_entropy_and_their_map_has():
    apart = torch.eye(LENGTH).view(1, 1, LENGTH, LENGTH)
    assert not head_entropy(apart).any()
    assert map_entropy(apart).item() == pytest.approx(math.log(LENGTH), rel=1e-6)


# Two heads, each on one of the two informative positions; the second example blurs them.
ATTENTION = torch.tensor(
    [[[[0.9, 0.1], [0.1, 0.9], [0.0, 0.0]], [[0.4, 0.2], [0.2, 0.4], [0.4, 0.4]]]]
)
INFORMATIVE = torch.tensor([[[True, True, False], [True, True, False]]])  # fmt: skip


def test_heads_that_share_the_work_are_counted_together():
    mass = summed_head_mass(ATTENTION, INFORMATIVE)
    assert mass.mean[0, :2].tolist() == pytest.approx([0.8, 0.8])
    assert mass.least[0, :2].tolist() == pytest.approx([0.6, 0.6])
    for values in (mass.mean, mass.least):
        assert values[0, 2].isnan()


def test_positions_count_only_where_they_are_informative():
    informative = torch.tensor([[[True, False, False], [False, True, False]]])
    mass = summed_head_mass(ATTENTION, informative)
    assert mass.mean[0, :2].tolist() == pytest.approx([1.0, 0.6])
    assert mass.least[0, :2].tolist() == pytest.approx([1.0, 0.6])


def test_one_head_is_the_structural_condition_itself():
    generator = torch.Generator().manual_seed(1)
    attention = torch.rand(3, 7, 4, 1, generator=generator).softmax(dim=2)
    informative = torch.rand(3, 7, 4, generator=generator) < 0.5
    informative[:, :, 0] = True
    least = summed_head_mass(attention, informative).least.nan_to_num(torch.inf).amin(dim=1)
    torch.testing.assert_close(least, min_informative_mass(attention, informative))


def test_the_share_of_examples_over_a_pooled_threshold():
    assert distributed_share(ATTENTION, INFORMATIVE, 0.55).item() == 1.0
    assert distributed_share(ATTENTION, INFORMATIVE, 0.7).item() == 0.5
    assert distributed_share(ATTENTION, INFORMATIVE, 1.5).item() == 0.0
    # Neither head alone would do: each looks past one of the positions.
    for head in range(2):
        assert distributed_share(ATTENTION[..., head : head + 1], INFORMATIVE, 0.55).item() == 0.0
    with pytest.raises(SettingError, match="gamma"):
        distributed_share(ATTENTION, INFORMATIVE, 0.0)
