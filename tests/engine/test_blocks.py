"""Training with norms and several layers: records, checkpoints, controls, and what is not."""

import math

import pytest
import torch
from torch.testing import assert_close

from grokkit.diagnostics import lipschitz
from grokkit.engine import RunSpec, Trainer, load_weights, presets, save_weights
from grokkit.engine.optimizers import hidden_matrices
from grokkit.model import MLP_WEIGHTS, QK_WEIGHTS, of_kinds
from grokkit.runtime import spec_key, train
from grokkit.runtime.checkpoint import load_checkpoint, save_checkpoint
from grokkit.runtime.history import to_history
from grokkit.tasks import ModularAddition
from grokkit.tickets import Pruning, prune
from grokkit.tickets.pruning import prunable
from tests.engine.small import same
from tests.model.plain import plain_forward

SMALL = RunSpec(task=ModularAddition(p=5, length=3, train_fraction=0.5), epochs=8).with_(
    d_model=12, d_mlp=10, heads=2, readout="residual", record_every=4, learning_rate=0.02
)
KINDS = {
    "A*": SMALL.with_(norm="A*"),
    "A^qk, rms": SMALL.with_(norm="A^qk", norm_kind="rms", output_projection=True),
    "A^v, classifier": SMALL.with_(norm="A^v", readout="classifier", readout_scale=0.5),
    "M": SMALL.with_(norm="M"),
    "post": SMALL.with_(norm="post"),
    "2 layers": SMALL.with_(layers=2),
    "3 layers, peri, causal": SMALL.with_(layers=3, norm="peri", causal=True),
}
BOUNDED = ("A*", "A^qk, rms", "A^v, classifier")


def trained(name: str) -> Trainer:
    spec = KINDS[name].with_(precision="float64")
    trainer = Trainer([spec.with_(seed=seed) for seed in (0, 3)])
    trainer.advance()
    return trainer


@pytest.mark.parametrize("name", KINDS)
def test_every_record_is_what_the_plain_model_says(name):
    trainer = trained(name)
    last = {name: values[-1] for name, values in trainer.records.values.items()}
    spec, run = trainer.specs[0].model, 1
    leaves = {
        name: trainer.weights[name][run].detach().clone().requires_grad_()
        for name in trainer.weights
    }
    seen = [plain_forward(spec, leaves, tokens) for tokens in trainer.train.tokens[run]]
    logits = torch.stack([one.logits for one in seen])
    attention = torch.stack([one.attention for one in seen])
    scores = torch.stack([one.scores for one in seen])
    loss = torch.nn.functional.cross_entropy(logits, trainer.train.targets[run])
    assert last["train_loss"][run].item() == pytest.approx(loss.item(), rel=1e-9)
    assert_close(last["attention_mass"][run], attention.mean(dim=0).T.detach())
    entropy = -(attention * attention.log()).sum(dim=1).mean()
    assert last["attention_entropy"][run].item() == pytest.approx(entropy.item(), rel=1e-9)
    assert_close(last["score_variance"][run], scores.var(dim=1, unbiased=False).mean(0).detach())
    for kind in ("W_Q", "W_K"):
        names = of_kinds(leaves, [kind])
        slopes = torch.autograd.grad(loss, [leaves[n] for n in names], retain_graph=True)
        norm = math.sqrt(sum(slope.square().sum().item() for slope in slopes))
        assert last[f"{kind}_gradient"][run].item() == pytest.approx(norm, rel=1e-8)
    mlp = sum(leaves[n].square().sum().item() for n in of_kinds(leaves, MLP_WEIGHTS))
    assert last["mlp_norm"][run].item() == pytest.approx(math.sqrt(mlp))


@pytest.mark.parametrize("name", KINDS)
def test_bounds_hold_or_say_that_there_is_none(name):
    trainer = trained(name)
    last = {name: values[-1] for name, values in trainer.records.values.items()}
    bounds = [name for name in last if name.startswith("starvation_") and "exponent" not in name]
    assert len(bounds) == 5
    if name in BOUNDED:
        assert last["lipschitz"].isfinite().all()
        for worst in ("starvation_worst", "starvation_worst_linear"):
            assert (last[worst] > 0).all() and (last[worst] <= 1 + 1e-9).all()
        assert (last["score_variance"] <= last["score_variance_bound"]).all()
    else:
        assert (last["lipschitz"] == math.inf).all()
        assert all(last[name].isnan().all() for name in bounds)
    several = trainer.specs[0].model.layers > 1
    for record in ("W_QK_gradient", "value_radius", "score_variance_bound"):
        assert last[record].isnan().all() == several, record
    for record in ("score_gradient", "score_gradient_max", "logit_margin", "starvation_exponent"):
        assert last[record].isfinite().all(), record


@pytest.mark.parametrize("name", ["A*", "A^qk, rms", "A^v, classifier"])
def test_the_gradient_of_the_product_is_that_of_what_it_multiplies(name):
    """dCE/dM with M = W_Q W_K^T in the place of both, for one head."""
    spec = KINDS[name].with_(precision="float64", heads=1)
    trainer = Trainer([spec])
    trainer.advance(5)
    step = trainer.step(0, record=True)
    record = trainer.probes(step)
    own = {n: trainer.weights[n][0].detach().clone() for n in trainer.weights}
    product = (own["W_Q"] @ own["W_K"].T).requires_grad_()
    own |= {"W_Q": product, "W_K": torch.eye(len(product), dtype=torch.float64)}
    logits = torch.stack(
        [plain_forward(spec.model, own, tokens).logits for tokens in trainer.train.tokens[0]]
    )
    loss = torch.nn.functional.cross_entropy(logits, trainer.train.targets[0])
    (slope,) = torch.autograd.grad(loss, product)
    assert record["W_QK_gradient"].item() == pytest.approx(slope.norm().item(), rel=1e-8)


def test_a_readout_scale_is_in_the_lipschitz_bound():
    trainer = trained("A^v, classifier")
    plain = trainer.specs[0].with_(readout_scale=1.0).model
    assert_close(
        2 * lipschitz(trainer.specs[0].model, trainer.weights), lipschitz(plain, trainer.weights)
    )


@pytest.mark.parametrize("name", ["M", "3 layers, peri, causal"])
def test_training_goes_on_from_a_checkpoint_bit_for_bit(name, tmp_path):
    whole, half = Trainer([KINDS[name]]), Trainer([KINDS[name]])
    whole.advance()
    half.advance(3)
    again = load_checkpoint(save_checkpoint(half, tmp_path / "half.safetensors"))
    again.advance()
    assert torch.equal(again.weights.flat, whole.weights.flat)
    assert same(to_history(again), to_history(whole))
    history = to_history(whole)
    model = KINDS[name].model
    assert history.sizes["head"] == model.layers * model.heads
    spec, weights = load_weights(save_weights(whole, tmp_path / "weights.safetensors"))
    assert spec == KINDS[name] and torch.equal(weights.flat, whole.weights.flat)


def test_minibatches_groups_and_priors_train_layers_too():
    spec = KINDS["3 layers, peri, causal"].with_(kl_strength=0.5, batch_size=5)
    together = train([spec, spec.with_(seed=3)], progress=False)
    assert together.train_loss.notnull().all()
    alone = train(spec.with_(seed=3), progress=False)
    assert_close(
        torch.tensor(together.isel(run=1).kl.values), torch.tensor(alone.isel(run=0).kl.values)
    )


def test_controls_pruning_and_muon_know_the_matrices_of_every_layer():
    spec = SMALL.with_(layers=2, norm="M+A*", optimizer="muon")
    trainer = Trainer([spec])
    layout = trainer.weights.layout
    assert {"W_1", "W_Q.2", "W_1.2"} <= set(hidden_matrices(layout))
    assert "W_U" not in hidden_matrices(layout)
    assert set(prunable(layout, "mlp")) == {"W_1", "W_2", "W_1.2", "W_2.2", "W_U"}
    assert not set(prunable(layout, "all_but_scores")) & set(of_kinds(layout.shapes, QK_WEIGHTS))
    assert not any(name.startswith(("gain", "bias")) for name in prunable(layout))
    kept = prune(spec, trainer.weights.run(0), Pruning(0.5)).kept
    assert kept["W_Q.2"].sum() == kept["W_Q.2"].numel() // 2

    held = Trainer([SMALL.with_(layers=2, mlp_radius=3.0)])
    held.advance()
    mlp = [held.weights[name].norm() for name in of_kinds(held.weights, MLP_WEIGHTS)]
    assert torch.stack(mlp).norm().item() == pytest.approx(3, rel=1e-5)
    free, penalised = (Trainer([SMALL.with_(layers=2, qk_penalty=q)]) for q in (0.0, 0.5))
    for trainer in (free, penalised):
        trainer.advance(1)
    before = Trainer([SMALL.with_(layers=2)]).weights
    changed = penalised.weights.gradient["W_K.2"] - free.weights.gradient["W_K.2"]
    assert changed.any() and before["W_K.2"].shape == changed.shape


def test_the_handwritten_step_serves_the_plain_classifier_alone():
    plain = RunSpec().with_(p=5, d_model=8, d_mlp=8)
    assert (
        Trainer([plain.with_(init="kaiming", toeplitz_length=2.0, causal=True)]).path == "analytic"
    )
    for changes in ({"norm": "A*"}, {"readout_scale": 0.5}):
        assert Trainer([plain.with_(**changes)]).path == "autograd"


def test_the_presets_of_the_other_accounts_are_small_sequences_in_the_usual_block():
    for name, p in (("inductive-bias", 113), ("uniformity", 97)):
        data = presets[name].task.build(0)
        assert data.vocabulary == (*map(str, range(p)), "=") and data.max_length == 3
        model = presets[name].model
        assert (model.d_model, model.heads, model.d_mlp) == (128, 4, 512)
        assert presets[name].with_(norm="M+A*", layers=2, p=7, d_model=8, d_mlp=8, epochs=2)
    assert presets["uniformity"].model.causal and presets["uniformity"].settings()["warmup"] == 10
    assert len({spec_key(preset) for preset in presets.values()}) == len(presets)
