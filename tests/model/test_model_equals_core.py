"""The model equals the core's, in values; its gradients are tested with the steps."""

import pytest
import torch
from torch.testing import assert_close

from grokkit.model import Batch, Transformer
from tests.model.cases import MODELS, TASKS, core_of, group, seen_by

DEFAULT = "1 heads softmax classifier"
PAIRS = [(task, model) for task in TASKS for model in MODELS]


@pytest.mark.parametrize(("task", "model"), PAIRS[::7] + [(task, DEFAULT) for task in TASKS])
@torch.no_grad()
def test_scores_attention_and_logits_are_the_cores(task, model):
    batch, weights = group(TASKS[task], MODELS[model])
    ours = Transformer(MODELS[model], batch, weights.layout.length)
    seen = ours(weights)
    pooled = ours.pool(seen.attention, ours.slot_values(weights, ours.embed(weights)))
    for run in range(batch.runs):
        theirs = seen_by(core_of(MODELS[model], weights, run), batch.tokens[run])
        for mine, other in (
            (seen.scores[run].transpose(1, 2), theirs.scores),
            (seen.attention[run].transpose(1, 2), theirs.attention),
            (pooled[run], theirs.pooled),
            (seen.logits[run], theirs.logits),
        ):
            assert_close(mine, other, rtol=1e-12, atol=1e-12)


@torch.no_grad()
def test_longer_sequences_than_trained_on_have_the_same_query():
    model = MODELS["2 heads softmax residual"]
    data = TASKS["longer"].build(0)
    _, weights = group(TASKS["longer"], model)
    one = weights.run(1)
    queries = []
    for sequences in (data.train, data.extra["length 7"], data.extra["length 9"]):
        batch = Batch.of([sequences], dtype=torch.float64)
        ours = Transformer(model, batch, one.layout.length)
        theirs = seen_by(core_of(model, weights, 1), batch.tokens[0])
        assert_close(ours(one).logits[0], theirs.logits, rtol=1e-12, atol=1e-12)
        queries.append(ours.embed(one)[0, ours.slots.query])
    assert queries[0].equal(queries[1]) and queries[0].equal(queries[2])
