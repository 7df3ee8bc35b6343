"""Conjecture E.2: masses summed over heads."""

import pytest
import torch

from grokkit.diagnostics import distributed_share, min_informative_mass, summed_head_mass
from grokkit.errors import SettingError

# Two heads, each on one of the two informative positions; the second example blurs them.
ATTENTION = torch.tensor(
    [[[[0.9, 0.1], [0.1, 0.9], [0.0, 0.0]], [[0.4, 0.2], [0.2, 0.4], [0.4, 0.4]]]]
)
INFORMATIVE = torch.tensor([[[True, True, False], [True, True, False]]])  # fmt: skip


def test_heads_that_share_the_work_are_counted_together():
    mass = summed_head_mass(ATTENTION, INFORMATIVE)
    assert mass.mean[0, :2].tolist() == pytest.approx([0.8, 0.8])
    assert mass.least[0, :2].tolist() == pytest.approx([0.6, 0.6])
    assert mass.shared[0, :2].tolist() == pytest.approx([0.65 / 0.8] * 2)
    for values in (mass.mean, mass.least, mass.shared):
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
