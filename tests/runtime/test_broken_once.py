"""What somebody broke on purpose, and what must hold since: one test for each kind."""

import json
from dataclasses import dataclass

import pytest

from grokkit.engine import RunSpec, Trainer, grid
from grokkit.engine.weights import WeightsError, load_weights, save_weights
from grokkit.errors import SettingError, check_number
from grokkit.runtime import RunsFailed, load_history, sweep, train
from grokkit.runtime.checkpoint import CheckpointError, Keeper, load_checkpoint, save_checkpoint
from grokkit.tasks import ModularTask
from tests.engine.small import SMALL, same


@pytest.mark.parametrize("seed", [2**63, 2**64, 10**30])
def test_a_seed_that_no_array_can_hold_is_refused_before_the_training(seed):
    with pytest.raises(SettingError, match="seed: got"):
        SMALL.with_(seed=seed)
    assert train(SMALL.with_(seed=2**63 - 1, epochs=1)).seed.item() == 2**63 - 1


def test_a_number_that_no_float_can_hold_is_refused():
    with pytest.raises(SettingError, match="clip: got"):
        check_number("clip", 10**400, finite=False)


@pytest.mark.parametrize("axis", [1, "0..4", None])
def test_an_axis_that_is_one_value_is_refused_with_what_to_write(axis):
    with pytest.raises(SettingError, match=r"weight_decay: got .*; allowed: several values"):
        grid(SMALL, weight_decay=axis)


@pytest.mark.parametrize("name", ["self", "spec"])
def test_the_names_of_python_arguments_are_no_settings(name):
    with pytest.raises(SettingError, match=f"{name}: got"):
        SMALL.with_(**{name: 1})
    with pytest.raises(SettingError, match=f"{name}: got"):
        grid(SMALL, **{name: [1]})


def test_a_misspelt_setting_is_told_the_nearest():
    with pytest.raises(SettingError, match="nearest: weight_decay"):
        SMALL.with_(weight_decy=2)


@pytest.mark.parametrize(
    "plain", [[], 3, {"task": 3}, {"task": {"p": 3}}, {"model": None}, {"task": {"kind": []}}]
)
def test_json_that_is_no_spec_is_refused_in_one_line(plain):
    with pytest.raises(SettingError) as refused:
        RunSpec.from_json(json.dumps(plain))
    assert "\n" not in str(refused.value)


def test_a_task_that_is_not_registered_is_told_how():
    @dataclass(frozen=True)
    class Half(ModularTask):
        def label(self, operands):
            return operands[:, 0]

    with pytest.raises(SettingError, match="decorated with @register_task"):
        RunSpec(task=Half(p=5, train_fraction=0.5))


def test_labels_outside_of_the_classes_are_refused():
    @dataclass(frozen=True)
    class Wrong(ModularTask):
        def label(self, operands):
            return operands.sum(dim=1)

    with pytest.raises(SettingError, match=r"targets: got '0..8'; allowed: classes 0..4"):
        Wrong(p=5, train_fraction=0.9).build(seed=0)


def test_a_folder_of_runs_is_one_history(tmp_path):
    whole = sweep(grid(SMALL, seed=range(3)), tmp_path / "runs", workers=1, progress=False)
    opened = load_history(tmp_path / "runs")
    assert sorted(opened.seed.values) == [0, 1, 2]
    for seed in range(3):
        one, other = (h.isel(run=[list(h.seed.values).index(seed)]) for h in (whole, opened))
        assert same(one, other)
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileNotFoundError, match="no History"):
        load_history(tmp_path / "empty")


def flip(path, old: bytes, new: bytes) -> None:
    content = path.read_bytes()
    assert content.count(old) >= 1 and len(old) == len(new)
    path.write_bytes(content.replace(old, new, 1))


def test_a_changed_header_of_a_checkpoint_is_noticed(tmp_path):
    trainer = Trainer([SMALL])
    trainer.advance(10)
    path = save_checkpoint(trainer, tmp_path / "run.safetensors")
    flip(path, b'\\"epoch\\": 10', b'\\"epoch\\": 19')
    with pytest.raises(CheckpointError, match="checksum"):
        load_checkpoint(path)


def test_a_flipped_bit_in_weights_is_noticed(tmp_path):
    path = save_weights(Trainer([SMALL]), tmp_path / "weights.safetensors")
    content = bytearray(path.read_bytes())
    content[-5] ^= 1
    path.write_bytes(bytes(content))
    with pytest.raises(WeightsError, match="checksum"):
        load_weights(path)


def test_a_folder_that_another_sweep_has_tidied_away_is_made_again(tmp_path):
    path = tmp_path / "checkpoints" / "run.safetensors"
    Keeper(path).save(Trainer([SMALL]))
    assert path.exists()


def test_one_bad_job_costs_its_neighbours_nothing(tmp_path):
    specs = grid(SMALL, seed=range(3))
    train(specs[1], checkpoint=tmp_path, progress=False)
    (damaged,) = tmp_path.glob("*.safetensors")
    damaged.write_bytes(b"no checkpoint")
    with pytest.raises(RunsFailed, match="no checkpoint of grokkit") as failed:
        train(specs, checkpoint=tmp_path, workers=1, progress=False)
    history = failed.value.history
    assert history is not None and sorted(history.seed.values) == [0, 2]
