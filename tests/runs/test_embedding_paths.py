"""The embeddings of a run over epochs: followed, kept in a small file, and made again."""

import numpy as np
import pytest
import torch

from grokkit import experiments, runs
from grokkit.diagnostics.uniformity import token_uniformity
from grokkit.engine import RunSpec, presets
from grokkit.errors import SettingError
from grokkit.runs import embedding_paths
from grokkit.runs.embedding_paths import EmbeddingsError, along_the_curve, follow, load, save
from grokkit.runtime import specs_of, train
from grokkit.tasks import PrimeField, SparseParity

SMALL = presets["uniformity"].with_(
    task=PrimeField("x+y", p=7, train_fraction=0.5),
    d_model=8,
    heads=2,
    d_mlp=16,
    epochs=40,
    record_every=5,
    features=True,
)


@pytest.fixture(scope="module")
def path() -> embedding_paths.EmbeddingPath:
    return follow(SMALL, keep=6)


def test_what_is_followed_is_what_a_history_of_the_same_run_measured(path):
    history = train(SMALL, progress=False).isel(run=0).sel(epoch=path.epochs.tolist())
    assert len(path.epochs) <= 6 and path.epochs[0] == 0 and path.epochs[-1] == 40
    np.testing.assert_array_equal(path.test_accuracy, history.test_accuracy.astype("float32"))
    np.testing.assert_allclose(path.med, history.med.sel(order="natural"), rtol=1e-6)
    assert path.table.shape == (len(path.epochs), 7, 8)


def test_a_file_gives_back_the_spec_and_the_embeddings_to_half_a_step(path, tmp_path):
    back = load(save(path, tmp_path / "mine.safetensors"))
    assert back.spec == path.spec
    for name in ("epochs", "test_accuracy", "med"):
        assert torch.equal(getattr(back, name), getattr(path, name))
    step = path.table.abs().amax(dim=(1, 2)) / 127
    off = (back.table - path.table).abs().amax(dim=(1, 2))
    assert bool((off <= 0.501 * step).all()) and bool((off > 0).any())


def test_a_damaged_file_and_one_of_another_kind_are_refused_in_one_line(path, tmp_path):
    file = save(path, tmp_path / "mine.safetensors")
    data = bytearray(file.read_bytes())
    data[-1] ^= 1
    file.write_bytes(data)
    with pytest.raises(EmbeddingsError, match="damaged"):
        load(file)
    with pytest.raises(EmbeddingsError, match="no embeddings of grokkit"):
        load(runs.folder() / "weights" / "baseline.safetensors")
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "none.safetensors")


@pytest.mark.parametrize("count", [2, 5, 9, 50])
def test_records_lie_evenly_along_the_curve_with_both_ends_and_each_once(count):
    epochs = np.arange(0, 1050, 50)
    values = np.clip((epochs - 500) / 200, 0, 1)
    kept = along_the_curve(epochs, values, count)
    assert kept == sorted(set(kept)) and len(kept) <= count
    assert kept[0] == 0 and kept[-1] == len(epochs) - 1
    if count == 9:  # the rise is a fifth of the epochs, and gets more than a third of the places
        rise = [i for i in kept if 500 <= epochs[i] <= 700]
        assert 3 * len(rise) >= len(kept)


def test_a_task_without_numbers_is_refused():
    with pytest.raises(SettingError, match="task: got 'SparseParity'"):
        follow(RunSpec(task=SparseParity()))
    with pytest.raises(SettingError, match="keep: got 1"):
        follow(SMALL, keep=1)


# --- those that come with the package -----------------------------------------------------


@pytest.mark.parametrize("name", sorted(embedding_paths.RECIPES))
def test_a_recording_is_small_and_of_the_spec_that_its_recipe_names(name):
    file = runs.folder() / "embeddings" / f"{name}.safetensors"
    assert file.stat().st_size < 200_000
    path = load(name)
    function = {"sum": "x+y", "product": "xy"}[name]
    own = experiments.row("med-tracking").arms()[function][0]
    assert path.spec == embedding_paths.RECIPES[name]() == own
    assert path.epochs[0] == 0 and path.epochs[-1] <= own.epochs
    assert 20 <= len(path.epochs) <= embedding_paths.KEEP
    assert path.test_accuracy[-1] > 0.99


@pytest.mark.parametrize("name", sorted(embedding_paths.RECIPES))
def test_the_med_of_a_recording_is_that_of_the_training_to_a_thousandth(name):
    path = load(name)
    again = token_uniformity(path.table, shuffles=1).med
    np.testing.assert_allclose(again, path.med, rtol=1e-3)


@pytest.mark.parametrize("name", sorted(embedding_paths.RECIPES))
def test_its_med_is_that_of_the_recorded_history_at_the_epochs_that_both_have(name):
    history = experiments.recorded("med-tracking")
    if history is None:
        pytest.skip("med-tracking is still to be recorded")
    path = load(name)
    one = history.isel(run=specs_of(history).index(path.spec)).sel(order="natural")
    both = np.intersect1d(path.epochs, one.epoch[one.med.notnull()])
    assert len(both) >= 8
    kept = torch.isin(path.epochs, torch.from_numpy(both))
    again = token_uniformity(path.table[kept], shuffles=1).med
    np.testing.assert_allclose(again, one.med.sel(epoch=both), rtol=2e-3)  # it has 10 bits


def test_a_recording_can_be_made_again(monkeypatch, tmp_path):
    monkeypatch.setattr(embedding_paths, "RECIPES", {"sum": lambda: SMALL})
    made = embedding_paths.record("sum", into=tmp_path)
    assert made == tmp_path / "sum.safetensors" and load(made).spec == SMALL
    with pytest.raises(SettingError, match="name: got 'product'; allowed: sum"):
        embedding_paths.record("product", into=tmp_path)
