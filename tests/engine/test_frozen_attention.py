"""Attention that is frozen at the oracle: no scores, nothing for W_Q and W_K to learn."""

import pytest
import torch

from grokkit.diagnostics import phases
from grokkit.diagnostics.starvation import score_gradients, starvation_bounds
from grokkit.diagnostics.variance import score_variance
from grokkit.engine import Trainer
from grokkit.model import Transformer, attend
from grokkit.runtime import train
from tests.engine.small import SMALL


def test_frozen_attention_is_the_oracle_and_uniform_over_what_is_seen_without_one():
    scores = torch.randn(1, 2, 4, 3, generator=torch.Generator().manual_seed(0))
    scores[0, 1, 3] = -torch.inf
    oracle = torch.tensor([[[0.0, 0.5, 0.5, 0.0], [0.0, 0.0, 0.0, 0.0]]])
    attention = attend(scores, "oracle", oracle)
    for head in range(3):
        assert attention[0, 0, :, head].tolist() == [0, 0.5, 0.5, 0]
        assert attention[0, 1, :, head].tolist() == pytest.approx([1 / 3, 1 / 3, 1 / 3, 0])


@pytest.mark.parametrize("readout", ["classifier", "residual"])
def test_frozen_attention_is_the_oracle_and_teaches_w_q_and_w_k_nothing(readout):
    spec = SMALL.with_(attention="oracle", heads=2, readout=readout, weight_decay=0.0)
    trainer = Trainer([spec])
    before = {name: value.detach().clone() for name, value in trainer.weights.items()}
    trainer.advance()
    for name, value in trainer.weights.items():
        assert torch.equal(value, before[name]) == (name in ("W_Q", "W_K")), name
    history = train(spec)
    for name in ("kl", "score_gradient", "W_Q_gradient", "W_K_gradient", "W_QK_gradient"):
        assert (history[name] == 0).all(), name
    assert (history.min_informative_mass == 0.5).all() and (history.informative_mass == 1).all()
    assert history.train_loss[0, -1] < history.train_loss[0, 0]


def test_diagnostics_of_frozen_attention():
    trainer = Trainer([SMALL.with_(attention="oracle", epochs=120, record_every=20)])
    trainer.advance()
    weights = trainer.weights
    model = Transformer(trainer.specs[0].model, trainer.train, weights.layout.length)
    loss, attention, gradient = score_gradients(model, weights)
    bounds = starvation_bounds(model, weights, loss, attention, gradient)
    assert (
        bounds["score_gradient_max"].item() == 0 and bounds["starvation_bound_linear"].item() == 0
    )
    assert bounds["starvation_worst_linear"].isnan().all()
    assert score_variance(model, weights)["score_variance"].isfinite().all()
    history = train(SMALL.with_(attention="oracle", epochs=120, record_every=20))
    assert phases.memorise_epoch(history).dims == ("run",)
