"""The race: arms that differ in one thing, labels, and what is refused."""

import numpy as np
import pytest

import grokkit
from grokkit.engine import KLPrior
from grokkit.errors import SettingError
from grokkit.runtime import load_history, save_history, train
from grokkit.tickets import ARMS, Pruning, bayesian, draw, load_ticket, matched
from tests.engine.small import SMALL

SEEDS = (0, 1)
SHORT = SMALL.with_(epochs=6, record_every=3)


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> str:
    spec = SHORT.with_(seed=9, kl_strength=0.5, epochs=4)
    return str(draw(spec, tmp_path_factory.mktemp("source") / "s.safetensors"))


@pytest.fixture
def race(source, tmp_path):
    return matched(source, SEEDS, tmp_path / "tickets", Pruning(0.5), kl_strength=2.0, spec=SHORT)


def test_arms_differ_in_ticket_and_prior_and_in_nothing_else(race, source):
    assert tuple(race.arms) == tuple(ARMS)
    for specs in race.arms.values():
        assert tuple(spec.seed for spec in specs) == SEEDS
        for spec in specs:
            assert spec.with_(prior=KLPrior(), ticket=None) == SHORT.with_(seed=spec.seed)
    assert race.arms["dense"] == tuple(SHORT.with_(seed=seed) for seed in SEEDS)

    def of(arm):
        priors = {
            (one.prior.kind, one.prior.strength, getattr(one.prior, "teacher", None))  # pyright: ignore
            for one in race.arms[arm]
        }
        (prior,) = priors
        return prior, [one.controls.ticket for one in race.arms[arm]]

    nothing, oracle, teacher = ("kl", 0.0, None), ("kl", 2.0, None), ("teacher", 2.0, source)
    lottery = of("lottery")[1]
    assert of("dense") == (nothing, [None, None])
    assert of("bayesian") == (oracle, [None, None])
    assert of("bayesian_teacher") == (teacher, [None, None])
    assert of("lottery")[0] == nothing and of("lottery_oracle") == (oracle, lottery)
    assert load_ticket(lottery[0]).digest == load_ticket(lottery[1]).digest == race.ticket.digest
    assert race.ticket.origin["spec"]["seed"] == 9
    random = of("random")
    assert random[0] == nothing
    digests = {load_ticket(path).digest for path in random[1]}
    assert len(digests | {race.ticket.digest}) == 3
    assert all(load_ticket(path).sparsity == race.ticket.sparsity for path in random[1])


def test_all_of_it_trains_and_the_history_knows_the_arm_of_each_run(race, tmp_path):
    history = race.label(train(race.specs))
    assert history.arm.values.tolist() == [arm for arm in ARMS for _ in SEEDS]
    assert history.train_loss.groupby("arm").mean("run").sizes["arm"] == len(ARMS)
    last = history.train_loss[:, -1].values
    assert len(np.unique(last)) == len(last)
    again = load_history(save_history(history, tmp_path / "h.nc"))
    assert again.arm.values.tolist() == history.arm.values.tolist()
    some = race.label(history.isel(run=[7, 0]))
    assert some.arm.values.tolist() == ["lottery_oracle", "dense"]
    with pytest.raises(SettingError, match=r"^history: got 'run 1, of no arm'"):
        race.label(train([SHORT, SHORT.with_(seed=5)]))


def test_a_name_never_comes_to_mean_another_ticket(race, source, tmp_path):
    again = matched(source, SEEDS, tmp_path / "tickets", Pruning(0.5), kl_strength=2.0, spec=SHORT)
    assert again.specs == race.specs
    other = matched(source, SEEDS, tmp_path / "tickets", Pruning(0.6))
    assert not {one.controls.ticket for one in other.arms["lottery"]} & {
        one.controls.ticket for one in race.specs
    }
    assert other.arms["dense"][0].epochs == 4, "by default the source's settings"
    assert other.arms["dense"][0].prior.strength == 0  # pyright: ignore


def test_the_bayesian_ticket_is_one_line():
    assert bayesian(SHORT.with_(ticket="some")) == SHORT.with_(kl_strength=1.0)
    assert grokkit.tickets.bayesian is bayesian


@pytest.mark.parametrize("seeds", [(), (0, 0), (0, 9)])
def test_seeds_must_be_fresh(source, tmp_path, seeds):
    with pytest.raises(SettingError, match=r"^seeds: .*the source's 9"):
        matched(source, seeds, tmp_path)


def test_other_refusals_name_the_field(source, tmp_path):
    with pytest.raises(SettingError, match=r"^kl_strength: "):
        matched(source, SEEDS, tmp_path, kl_strength=0.0)
    with pytest.raises(SettingError, match=r"^source: .*no such file") as refused:
        matched(tmp_path / "nowhere", SEEDS, tmp_path)
    assert "\n" not in str(refused.value)
