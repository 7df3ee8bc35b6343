"""What is recorded where a spec asks for features: the diagnostics, tied to the right tensors."""

import numpy as np
import pytest
import torch
import xarray as xr

from grokkit.diagnostics import fourier_concentration
from grokkit.diagnostics.features import feature_spectrum, ranks
from grokkit.diagnostics.uniformity import logarithm_order, token_uniformity
from grokkit.engine import RunSpec, Trainer
from grokkit.engine.feature_probes import DIMS, LABELS, MEANING
from grokkit.errors import SettingError
from grokkit.model import Transformer
from grokkit.runtime import load_history, save_history, thin, train
from grokkit.runtime.history import join, split, to_history
from grokkit.tasks import KOperandAddition, SparseParity

BLOCK = RunSpec().with_(
    p=7,
    length=3,
    train_fraction=0.5,
    d_model=8,
    heads=2,
    d_mlp=12,
    readout="residual",
    output_projection=True,
    epochs=8,
    record_every=4,
    features=True,
)


def trained(spec: RunSpec) -> Trainer:
    trainer = Trainer([spec, spec.with_(seed=1)])
    trainer.advance()
    return trainer


@pytest.mark.parametrize("norm", ["none", "A*", "M", "M+A*", "post", "peri"])
@pytest.mark.parametrize("layers", [1, 2])
def test_the_last_record_is_that_of_the_final_weights(norm: str, layers: int):
    trainer = trained(BLOCK.with_(norm=norm, layers=layers))
    last = to_history(trainer).isel(epoch=-1)
    model, weights = trainer.probes.train_model, trainer.weights
    seen = model(weights)
    assert seen.final is not None
    rank = ranks(feature_spectrum(seen.final))["effective_rank"]
    np.testing.assert_allclose(last.effective_rank.sel(feature_set="train"), rank, rtol=1e-5)
    table = weights["token_embedding"]
    for name, order in zip(LABELS["order"], (torch.arange(7), logarithm_order(7)), strict=True):
        best = token_uniformity(table, order).best
        np.testing.assert_allclose(last.best_med.sel(order=name), best, rtol=1e-5)
    np.testing.assert_allclose(
        last.fourier_concentration, fourier_concentration(weights, 7), rtol=1e-5
    )


@pytest.mark.parametrize("norm", ["M", "M+A*", "peri"])
def test_a_norm_before_the_mlp_has_taken_the_length_away_already(norm: str):
    spec = BLOCK.with_(norm=norm, norm_eps=0.0, precision="float64")
    history = to_history(trained(spec))
    np.testing.assert_allclose(history.shortcut_loss, history.train_loss, rtol=1e-6)


@pytest.mark.parametrize("norm", ["none", "A*", "A^v"])
def test_without_one_the_probe_changes_the_loss(norm: str):
    history = to_history(trained(BLOCK.with_(norm=norm)))
    assert (np.abs(history.shortcut_loss - history.train_loss) > 1e-4).all()


def test_the_probe_is_the_loss_of_a_network_that_is_given_the_direction_of_y_alone():
    trainer = trained(BLOCK.with_(precision="float64"))
    weights, model = trainer.weights, trainer.probes.train_model
    y = model(weights).middle
    assert y is not None
    unit = y / y.norm(dim=2, keepdim=True)
    hidden = (unit @ weights["W_1"] + weights["b_1"].unsqueeze(1)).relu()
    logits = (y + hidden @ weights["W_2"] + weights["b_2"].unsqueeze(1)) @ weights["W_U"]
    flat, targets = logits.flatten(0, 1), model.batch.targets.flatten()
    loss = torch.nn.functional.cross_entropy(flat, targets, reduction="none").view(2, -1).mean(1)
    last = to_history(trainer).shortcut_loss.isel(epoch=-1)
    np.testing.assert_allclose(last, loss.detach(), rtol=1e-9)


def test_asking_for_features_changes_no_other_number():
    with_, without = (train(BLOCK.with_(features=on)) for on in (True, False))
    for name, values in without.data_vars.items():
        np.testing.assert_array_equal(with_[name], values, err_msg=str(name))
    assert set(with_.data_vars) - set(without.data_vars) == set(MEANING)


def test_they_have_their_axes_their_meaning_and_survive_files(tmp_path):
    history = train([BLOCK, BLOCK.with_(seed=1, norm="M")], progress=False)
    assert history.feature_set.values.tolist() == LABELS["feature_set"]
    assert history.order.values.tolist() == LABELS["order"]
    for name, axes in DIMS.items():
        assert history[name].dims == ("run", "epoch", *axes)
    for name, meaning in MEANING.items():
        assert history[name].attrs["meaning"] == meaning
        assert np.isfinite(history[name]).all(), name
    again = load_history(save_history(history, tmp_path / "run.nc"))
    joined = load_history(save_history(join(split(again)), tmp_path / "two.nc"))
    xr.testing.assert_equal(again, joined)
    assert set(thin(history, 2).data_vars) == set(history.data_vars)


def test_runs_with_and_without_features_are_groups_of_their_own_and_can_be_joined():
    with pytest.raises(SettingError, match="specs"):
        Trainer([BLOCK, BLOCK.with_(features=False)])
    history = train([BLOCK, BLOCK.with_(features=False, seed=1)], progress=False)
    assert history.effective_rank.isnull().all(("epoch", "feature_set")).values.tolist() == [
        False,
        True,
    ]


def test_a_modulus_that_is_not_prime_has_no_logarithms():
    last = train(BLOCK.with_(p=6)).isel(run=0, epoch=-1)
    assert np.isfinite(last.relative_med.sel(order="natural"))
    assert np.isnan(last.relative_med.sel(order="logarithm"))


@pytest.mark.parametrize("task", [SparseParity(bits=5, k=2), KOperandAddition(p=5)])
def test_other_tasks_are_measured_as_far_as_they_have_numbers(task):
    history = train(BLOCK.with_(task=task, heads=2))
    assert ("med" in history) == hasattr(task, "p")
    assert np.isfinite(history.effective_rank).all()


def test_the_classifier_readout_has_no_stream_to_probe():
    spec = BLOCK.with_(readout="classifier", output_projection=False)
    history = train(spec)
    assert history.shortcut_loss.isnull().all() and np.isfinite(history.effective_rank).all()


def test_a_record_passes_each_set_through_the_model_once(monkeypatch: pytest.MonkeyPatch):
    """Beside the pass of the step that trains, which keeps less."""
    passed, forward = [], Transformer.__call__

    def counted(self: Transformer, weights: object) -> object:
        passed.append(self)
        return forward(self, weights)  # type: ignore[arg-type]

    monkeypatch.setattr(Transformer, "__call__", counted)
    trainer = Trainer([BLOCK])
    trainer.advance(1)
    probes = trainer.probes
    assert [passed.count(model) for model in (probes.train_model, *probes.test_models)] == [1, 1]
    assert Trainer([BLOCK.with_(features=False)]).feature_probes is None
