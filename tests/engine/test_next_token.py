"""Next-token prediction from a spec to a History."""

import numpy as np
import pytest
import torch

from grokkit.engine import RunSpec, Trainer
from grokkit.model import Batch
from grokkit.runtime import train
from grokkit.tasks import AutoregressiveParity
from tests.engine.small import same

TASK = AutoregressiveParity(bits=4, k=2)
SPEC = RunSpec(task=TASK, epochs=30, record_every=10).with_(d_model=8, d_mlp=12, learning_rate=0.01)


@pytest.mark.parametrize("attention", ["softmax", "relu"])
@pytest.mark.parametrize("readout", ["classifier", "residual"])
def test_every_record_is_finite_and_has_its_queries(attention, readout):
    strength = 0.5 if attention == "softmax" else 0.0
    spec = SPEC.with_(attention=attention, readout=readout, heads=2, kl_strength=strength)
    history = train([spec, spec.with_(seed=1)])
    assert history.attrs["gradient"] == "autograd"
    assert history.sizes["query"] == 5 and history["query"].values.tolist() == [0, 1, 2, 3, 4]
    for name, values in history.data_vars.items():
        finite = np.isfinite(values.values)
        if name == "query_kl":
            assert finite[..., -1].all() and not finite[..., :-1].any()
        elif name not in ("unmirrored_accuracy", "mirrored_accuracy"):
            assert finite.all(), name


def test_scalar_records_are_those_of_the_answers():
    history = train(SPEC.with_(kl_strength=0.3))
    answers = history.isel(query=-1)
    for scalar, query in (
        ("train_loss", "query_loss"),
        ("train_accuracy", "query_accuracy"),
        ("attention_entropy", "query_entropy"),
        ("kl", "query_kl"),
        ("score_gradient", "query_score_gradient"),
    ):
        np.testing.assert_allclose(answers[scalar], answers[query], rtol=1e-4, err_msg=scalar)
    assert history.extra.values.tolist() == ["next bit"]


def test_the_prior_pulls_the_answers_attention_and_no_other():
    trainers = [Trainer([SPEC.with_(kl_strength=beta)]) for beta in (0.0, 2.0)]
    for trainer in trainers:
        trainer.advance(30)
    first, second = (one.records.values["kl"][-1].item() for one in trainers)
    assert second < 0.3 * first
    batch = trainers[0].train
    assert batch.graded is not None
    unknown = torch.ones(batch.examples, dtype=torch.bool)
    unknown[batch.graded[0]] = False
    assert (batch.oracle[0, unknown] == 0).all()


def test_each_answer_alone_may_be_trained_by_hand():
    history = train(SPEC.with_(predict="answer"))
    assert history.attrs["gradient"] == "analytic"
    assert "query_loss" not in history and "extra_loss" not in history
    assert not same(history, train(SPEC)[list(history.data_vars)])


def test_a_run_does_not_depend_on_its_group():
    alone = train(SPEC.with_(seed=1))
    together = train([SPEC.with_(seed=s) for s in (0, 1)]).isel(run=[1])
    for name in ("train_loss", "query_loss", "extra_loss", "mlp_norm"):
        np.testing.assert_allclose(alone[name], together[name], rtol=1e-4)


def test_a_fixed_query_is_one():
    data = TASK.build(0)
    assert Batch.of([data.test]).fixed_query and not Batch.of([data.train]).fixed_query
