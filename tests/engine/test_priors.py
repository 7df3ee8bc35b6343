"""What each prior adds to the loss, which code serves it, and what is refused."""

import dataclasses
import math
from typing import Any

import pytest
import torch

from grokkit.engine import (
    EntropyPrior,
    KLPrior,
    Prior,
    RunSpec,
    ScheduledPrior,
    SparsityPrior,
    Trainer,
    grid,
    register_prior,
)
from grokkit.engine.priors import Penalty, priors
from grokkit.errors import SettingError
from grokkit.model import Activations, Batch, Transformer
from grokkit.runtime import specs_of, train
from tests.engine.small import SMALL, same
from tests.model.cases import MODELS, TASKS, group

ONE = MODELS["1 heads softmax classifier"]
THREE = MODELS["3 heads softmax classifier W_O"]


def penalty_of(prior: Prior, attention: torch.Tensor, batch: Batch, epoch: int = 0) -> float:
    """The penalty of one run with this attention, ``[example, pos, head]``."""
    heads = attention.shape[2]
    spec = RunSpec().with_(heads=heads, prior=prior)
    nothing = attention.new_zeros(1, len(attention), 1)
    seen = Activations(attention[None], attention[None], nothing, nothing)
    return prior.start([spec], batch)(seen, epoch).item()


def seen_with(scores: torch.Tensor) -> Activations:
    """Softmax attention with these scores, ``[run, example, pos, head]``, and nothing else."""
    nothing = scores.detach().new_zeros(1, 1, 1)
    return Activations(scores, scores.softmax(dim=2), nothing, nothing)


def batch_of(informative: list[list[int]], query: list[int] | None = None) -> Batch:
    mask = torch.tensor([informative], dtype=torch.bool)
    oracle = mask.double() / mask.sum(dim=2, keepdim=True).clamp_min(1)
    tokens = torch.zeros(mask.shape, dtype=torch.long)
    at = None if query is None else torch.tensor([query])
    return Batch(tokens, tokens[..., 0], mask, oracle, at)


UNEVEN = torch.tensor([0.5, 0.25, 0.125, 0.0625, 0.0625], dtype=torch.float64).view(1, 5, 1)
TWO_OF_FIVE = batch_of([[1, 0, 1, 0, 0]])


# --- the numbers --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("prior", "expected"),
    [
        (KLPrior(2.0), 2 * 0.5 * (math.log(0.5 / 0.5) + math.log(0.5 / 0.125))),
        # The distractors are 1 and 3; 4 is the query.
        (
            KLPrior(2.0, target="adversarial"),
            math.log(0.5 / 0.25) + math.log(0.5 / 0.0625),
        ),
        (EntropyPrior(3.0), 3 * 1.875 * math.log(2)),
        (SparsityPrior(3.0), 3 * (1 - 0.25 - 0.0625 - 0.015625 - 2 * 0.00390625)),
    ],
)
def test_a_penalty_by_hand(prior, expected):
    assert penalty_of(prior, UNEVEN, TWO_OF_FIVE) == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize("prior", [EntropyPrior(1.0), SparsityPrior(1.0)])
def test_undirected_priors_are_least_on_one_position_and_most_on_all(prior):
    corner = torch.zeros(1, 5, 1, dtype=torch.float64)
    corner[0, 3] = 1
    uniform = torch.full((1, 5, 1), 0.2, dtype=torch.float64)
    most = math.log(5) if isinstance(prior, EntropyPrior) else 0.8
    assert penalty_of(prior, corner, TWO_OF_FIVE) == 0
    assert penalty_of(prior, uniform, TWO_OF_FIVE) == pytest.approx(most, rel=1e-14)
    oracle = TWO_OF_FIVE.oracle[0, :, :, None]
    assert 0 < penalty_of(prior, oracle, TWO_OF_FIVE) < most


def test_heads_each_or_their_summed_mass():
    shared = torch.zeros(1, 5, 2, dtype=torch.float64)
    shared[0, :, 0] = torch.tensor([0.98, 0.005, 0.005, 0.005, 0.005]).double()
    shared[0, :, 1] = torch.tensor([0.005, 0.005, 0.98, 0.005, 0.005]).double()
    each = penalty_of(KLPrior(1.0), shared, TWO_OF_FIVE)
    summed = penalty_of(KLPrior(1.0, head_reduction="summed"), shared, TWO_OF_FIVE)
    assert each == pytest.approx(0.5 * math.log(0.5 / 0.98) + 0.5 * math.log(0.5 / 0.005))
    # Each head has found one of the two positions, and together they have them both.
    assert summed == pytest.approx(math.log(0.5 / 0.4925), rel=1e-5)


def test_examples_without_an_oracle_are_left_out_and_the_future_is_no_distractor():
    # Next-token prediction: the query is inside, and the first example has no oracle.
    batch = batch_of([[0, 0, 0, 0, 0], [1, 0, 0, 0, 0]], query=[1, 2])
    attention = torch.tensor([[0.5, 0.5, 0, 0, 0], [0.5, 0.25, 0.25, 0, 0]])
    attention = attention.double().unsqueeze(-1)
    assert penalty_of(KLPrior(1.0), attention, batch) == pytest.approx(math.log(1 / 0.5))
    adversary = KLPrior(1.0, target="adversarial")
    assert penalty_of(adversary, attention, batch) == pytest.approx(math.log(1 / 0.25))
    alone = batch_of([[1, 0, 0, 0, 0]], query=[1])
    with pytest.raises(SettingError, match=r"^target: got 'adversarial'"):
        penalty_of(adversary, attention[:1], alone)


@pytest.mark.parametrize("prior", [KLPrior(1.0), EntropyPrior(1.0), SparsityPrior(1.0)])
def test_attention_that_is_exactly_0_gives_finite_gradients(prior):
    scores = torch.tensor([0.0, -2000.0, 3.0, -torch.inf]).view(1, 1, 4, 1).requires_grad_()
    batch = batch_of([[1, 1, 0, 0]], query=[2])
    seen = seen_with(scores)
    assert seen.attention[0, 0, 1] == 0
    prior.start([RunSpec(prior=prior)], batch)(seen, 0).sum().backward()
    assert scores.grad is not None and scores.grad.isfinite().all()


def test_the_sparsity_penalty_pulls_scores_as_its_module_says():
    scores = torch.randn(
        1, 1, 5, 1, dtype=torch.float64, generator=torch.Generator().manual_seed(0)
    )
    scores.requires_grad_()
    (slope,) = torch.autograd.grad(SparsityPrior().amount(seen_with(scores), None).sum(), scores)
    alpha = scores.detach().softmax(dim=2)
    torch.testing.assert_close(slope, 2 * alpha * (alpha.square().sum() - alpha))
    (slope,) = torch.autograd.grad(EntropyPrior().amount(seen_with(scores), None).sum(), scores)
    alpha = scores.detach().softmax(dim=2)
    entropy = -(alpha * alpha.log()).sum()
    torch.testing.assert_close(slope, -alpha * (alpha.log() + entropy))


# --- what a setting does ------------------------------------------------------------------

PLAIN = SMALL.with_(epochs=12, record_every=3)
BASE = PLAIN.with_(kl_strength=1.0)
EVERY_KIND: dict[str, dict[str, Any]] = {
    "target": dict(target="adversarial"),
    "schedule, schedule_epochs": dict(schedule="annealed", schedule_epochs=6),
    "schedule_epochs": dict(schedule="annealed", schedule_epochs=7),
    "early": dict(schedule="early", schedule_epochs=6),
    "late": dict(schedule="late", schedule_epochs=6),
    "penalty_gradient": dict(penalty_gradient="noise"),
    "shuffled": dict(penalty_gradient="shuffled"),
    "kl_strength": dict(kl_strength=0.5),
    "entropy": dict(prior=EntropyPrior()),
    "entropy_strength": dict(prior=EntropyPrior(1.0)),
    "sparsity": dict(prior=SparsityPrior()),
    "sparsity_strength": dict(prior=SparsityPrior(1.0)),
}


def test_every_setting_changes_the_run():
    runs = [train(BASE)] + [train(BASE.with_(**changes)) for changes in EVERY_KIND.values()]
    for i, one in enumerate(runs):
        assert not any(same(one, other) for other in runs[:i])
    heads = BASE.with_(heads=2)
    assert not same(train(heads), train(heads.with_(head_reduction="summed")))


def test_priors_move_attention_where_they_say():
    spec = BASE.with_(epochs=80, record_every=80)
    plain = train(spec.with_(kl_strength=0.0))
    oracle, adversary = train(spec), train(spec.with_(target="adversarial"))
    assert oracle.informative_mass[0, -1] > plain.informative_mass[0, -1] + 0.1
    assert adversary.informative_mass[0, -1] < plain.informative_mass[0, -1] - 0.1
    for prior in (EntropyPrior(1.0), SparsityPrior(1.0)):
        one = train(spec.with_(prior=prior))
        assert one.attention_entropy[0, -1] < plain.attention_entropy[0, -1] - 0.1


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        (dict(kl_strength=-0.1), "kl_strength"),
        (dict(prior="entropy", entropy_strength=-1e-9), "entropy_strength"),
        (dict(prior="sparsity", sparsity_strength=math.inf), "sparsity_strength"),
        (dict(prior="teacher", kl_strength=math.nan), "kl_strength"),
        (dict(schedule_epochs=5), "schedule_epochs"),
        (dict(schedule="early"), "schedule_epochs"),
        (dict(schedule="early", schedule_epochs=0), "schedule_epochs"),
        (dict(kl_strength=1.0, schedule="late", schedule_epochs=SMALL.epochs), "schedule_epochs"),
        (dict(schedule="sometimes"), "schedule"),
        (dict(target="query"), "target"),
        (dict(penalty_gradient="none"), "penalty_gradient"),
        (dict(head_reduction="mean", heads=2), "head_reduction"),
        (dict(head_reduction="summed"), "head_reduction"),
        (dict(attention="oracle", kl_strength=0.1), "kl_strength"),
        (dict(attention="oracle", prior="entropy"), "entropy_strength"),
    ],
)
def test_what_makes_no_sense_is_refused_when_the_spec_is_made(changes, field, unchecked):
    with pytest.raises(SettingError) as refused:
        SMALL.with_(**changes)
    assert refused.value.field == field and "\n" not in str(refused.value)


def test_an_adversary_needs_distractors():
    spec = SMALL.with_(length=3, target="adversarial", kl_strength=1.0)
    with pytest.raises(SettingError, match=r"^target: got 'adversarial'; allowed: 'oracle'"):
        train(spec)


# --- groups -------------------------------------------------------------------------------

GROUPS = [
    [BASE.with_(kl_strength=beta, seed=seed, schedule="annealed", schedule_epochs=turn)
     for beta, seed, turn in ((0.1, 0, 5), (0.5, 3, 9), (2.0, 1, 40))],
    [BASE.with_(kl_strength=beta, seed=seed, penalty_gradient="noise")
     for beta, seed in ((0.1, 0), (0.5, 3), (2.0, 1))],
    [PLAIN.with_(prior="entropy", entropy_strength=s, seed=seed, penalty_gradient="shuffled")
     for s, seed in ((0.1, 4), (0.5, 0))],
    [PLAIN.with_(prior="sparsity", sparsity_strength=s, seed=seed, schedule="late",
                schedule_epochs=turn) for s, seed, turn in ((0.1, 4, 3), (0.5, 0, 7))],
]  # fmt: skip


@pytest.mark.parametrize("specs", GROUPS)
def test_a_run_in_a_group_is_the_run_alone(specs):
    specs = [spec.with_(precision="float64", heads=2) for spec in specs]
    together = Trainer(specs)
    together.advance()
    for i, spec in enumerate(specs):
        alone = Trainer([spec])
        alone.advance()
        assert (alone.weights.flat[0] - together.weights.flat[i]).abs().max() < 1e-9


# --- one's own ----------------------------------------------------------------------------


@pytest.fixture
def registry_as_before():
    before = dict(priors._members)
    yield
    priors._members.clear()
    priors._members.update(before)


@pytest.mark.usefixtures("registry_as_before")
def test_a_prior_of_a_notebook_in_eight_lines():
    @register_prior("test_first")
    @dataclasses.dataclass(frozen=True)
    class First(ScheduledPrior):
        """Draws attention to the first position."""

        first_strength: float = 1.0

        def penalty(self, seen, batch):
            return -self.first_strength * seen.attention[:, :, 0].log().mean()

    base = SMALL.with_(prior="test_first", epochs=40, record_every=40)
    specs = grid(base, first_strength=[0.0, 5.0], seed=[0, 1])
    assert [RunSpec.from_json(spec.to_json()) for spec in specs] == specs
    history = train(specs)
    assert specs_of(history) == specs and history.attrs["gradient"] == "autograd"
    mass = history.attention_mass.sel(pos=0, head=0).isel(epoch=-1)
    assert (mass.values[2:] > mass.values[:2] + 0.1).all()
    # Schedules and controls come with it.
    short = specs[2].with_(epochs=10, record_every=10)
    plain = train(short)
    for changes in (dict(schedule="early", schedule_epochs=9), dict(penalty_gradient="noise")):
        assert not same(train(short.with_(**changes)), plain)
    with pytest.raises(SettingError, match=r"^schedule_epochs: "):
        base.with_(schedule="early")


def test_a_penalty_that_is_written_for_one_run_is_asked_run_by_run():
    class Mean(Prior):
        def penalty(self, seen, batch):
            assert seen.attention.shape[0] == batch.runs == 1
            return seen.attention[:, :, 0].mean()

    batch, weights = group(TASKS["alphabet"], THREE)
    seen = Transformer(THREE, batch)(weights)
    expected = seen.attention[:, :, 0].mean(dim=(1, 2))
    torch.testing.assert_close(Penalty([Mean()] * 3, batch)(seen, 0), expected)
    rows = torch.tensor([[1, 2]] * 3)
    part = Penalty([Mean()] * 3, batch).take(rows)
    few = Transformer(THREE, batch).take(rows)(weights)
    torch.testing.assert_close(part(few, 0), expected.new_tensor(
        [few.attention[run, :, 0].mean().item() for run in range(3)]
    ))  # fmt: skip


def test_the_defaults_of_every_kind_can_be_made_and_named():
    assert {"kl", "teacher", "entropy", "sparsity"} <= set(priors)
    for kind in ("kl", "teacher", "entropy", "sparsity"):
        spec = RunSpec().with_(prior=kind)
        assert RunSpec.from_json(spec.to_json()) == spec
        assert spec.settings()["prior"] == kind
