"""Minibatches: one pass over the train set an epoch, the same whenever it is made."""

import pytest
import torch

from grokkit.core.loss import cross_entropy
from grokkit.engine import Trainer
from grokkit.engine.minibatches import Minibatches
from grokkit.errors import SettingError
from grokkit.model import Parameters, Transformer
from grokkit.runtime import train
from grokkit.runtime.checkpoint import load_checkpoint, save_checkpoint
from tests.engine.references import Reference
from tests.engine.small import SMALL, same

MODELS = {
    "analytic": SMALL.with_(kl_strength=0.3, heads=2),
    "autograd": SMALL.with_(attention="relu"),
    "residual": SMALL.with_(readout="residual", kl_strength=0.3),
}


def test_an_epoch_is_one_pass_over_a_permutation_of_its_own():
    batches = Minibatches(4, 14, seeds=[0, 1])
    orders = []
    for epoch in range(3):
        rows = list(batches(epoch))
        assert [part.shape for part in rows] == [(2, 4), (2, 4), (2, 4), (2, 2)]
        orders.append(torch.cat(rows, dim=1))
    assert all(order.sort(dim=1).values.equal(torch.arange(14).expand(2, 14)) for order in orders)
    rows = {tuple(row) for order in orders for row in order.tolist()}
    assert len(rows) == 6, "every run and every epoch has its own order"


def test_the_order_of_a_run_does_not_depend_on_its_group_or_on_when_it_is_asked_for():
    group, alone = Minibatches(5, 14, seeds=[3, 8]), Minibatches(5, 14, seeds=[8])
    list(group(0))
    for mine, its in zip(group(7), alone(7), strict=True):
        assert mine[1:].equal(its)


@pytest.mark.parametrize("spec", MODELS.values(), ids=MODELS)
def test_training_is_what_a_loop_over_minibatches_would_do(spec):
    spec = spec.with_(precision="float64", batch_size=5, epochs=4)
    specs = [spec, spec.with_(seed=1, weight_decay=0.5)]
    trainer = Trainer(specs)
    batch, layout = trainer.train, trainer.weights.layout
    theirs = [
        Reference(one.optimizer, layout, trainer.weights.flat[run]) for run, one in enumerate(specs)
    ]
    flat = trainer.weights.flat.clone()
    for epoch in range(4):
        for rows in Minibatches(5, batch.examples, [0, 1])(epoch):
            for run, reference in enumerate(theirs):
                part = batch.run(run).take(rows[run : run + 1])
                weights = Parameters(layout, flat[run : run + 1])
                seen = Transformer(spec.model, part, layout.length)(weights)
                loss = cross_entropy(seen.logits, part.targets).mean()
                if spec.prior.kl_strength:
                    ratio = part.oracle[..., None] / seen.attention
                    terms = part.oracle[..., None] * ratio.clamp_min(1e-300).log()
                    loss = loss + spec.prior.kl_strength * terms.sum(dim=2).mean()
                grads = torch.autograd.grad(loss, [weights[name] for name in weights])
                flat[run] = reference.step(torch.cat([grad.flatten() for grad in grads]))
        trainer.advance(1)
        assert (trainer.weights.flat - flat).abs().max() <= 1e-10, epoch
    assert trainer.optimizer.steps == 4 * -(-batch.examples // 5)


def test_records_see_the_whole_train_set():
    """The first record, before any step, is that of a run with full batches."""
    whole, parts = train(SMALL), train(SMALL.with_(batch_size=3))
    assert same(whole.isel(epoch=[0]), parts.isel(epoch=[0]))
    assert not same(whole, parts)
    assert parts.epoch.values.tolist() == whole.epoch.values.tolist()


def test_how_often_one_looks_changes_nothing():
    spec = SMALL.with_(batch_size=3, kl_strength=0.1)
    often, rarely = Trainer([spec.with_(record_every=1)]), Trainer([spec.with_(record_every=20)])
    often.advance()
    rarely.advance()
    assert often.weights.flat.equal(rarely.weights.flat)


@pytest.mark.parametrize("spec", MODELS.values(), ids=MODELS)
def test_a_resumed_run_is_the_run_that_was_never_stopped(spec, tmp_path):
    epoch, spec = 7, spec.with_(epochs=10, batch_size=4, accelerator="grokfast", mlp_radius=3.0)
    whole, stopped = Trainer([spec]), Trainer([spec])
    whole.advance()
    stopped.advance(epoch)
    resumed = load_checkpoint(save_checkpoint(stopped, tmp_path / "run.safetensors"))
    assert resumed.optimizer.steps == epoch * -(-resumed.train.examples // 4)
    resumed.advance()
    assert resumed.weights.flat.equal(whole.weights.flat)


def test_a_run_that_breaks_within_an_epoch_is_seen_to():
    spec = SMALL.with_(batch_size=3, learning_rate=1e30, clip=float("inf"), warmup=0)
    history = train(spec)
    assert "not finite at epoch 0" in str(history.message.values[0])


def test_a_batch_of_one_and_of_all_but_one():
    examples = Trainer([SMALL]).train.examples
    for size in (1, examples - 1):
        assert train(SMALL.with_(batch_size=size, epochs=3)).train_loss.notnull().all()


def test_a_minibatch_as_large_as_the_train_set_is_refused_as_what_it_is():
    examples = Trainer([SMALL]).train.examples
    for size in (examples, 512):
        with pytest.raises(SettingError, match=f"^batch_size: got {size}.*None") as refused:
            Trainer([SMALL.with_(batch_size=size)])
        assert refused.value.field == "batch_size"
    with pytest.raises(SettingError):
        SMALL.with_(batch_size=0)
