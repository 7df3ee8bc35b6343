"""The model equals the textbook's, in values; its gradients are tested with the steps."""

import pytest
import torch
from torch.testing import assert_close

from grokkit.model import Batch, Transformer
from tests.model.cases import MODELS, TASKS, group, textbook_of

DEFAULT = "1 heads softmax classifier"
PAIRS = [(task, model) for task in TASKS for model in MODELS]


@pytest.mark.parametrize(("task", "model"), PAIRS[::7] + [(task, DEFAULT) for task in TASKS])
@torch.no_grad()
def test_scores_attention_and_logits_are_the_textbooks(task, model):
    batch, weights = group(TASKS[task], MODELS[model])
    ours = Transformer(MODELS[model], batch, weights.layout.length)
    seen, pooled = ours(weights), ours.pooled(weights)
    for run in range(batch.runs):
        theirs = textbook_of(MODELS[model], weights, run)(batch.tokens[run])
        for mine, other in (
            (seen.scores[run].transpose(1, 2), theirs.scores[:, :, -1]),
            (seen.attention[run].transpose(1, 2), theirs.attention[:, :, -1]),
            (pooled[run], theirs.pooled[:, -1]),
            (seen.logits[run], theirs.logits[:, -1]),
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
        theirs = textbook_of(model, weights, 1)(batch.tokens[0])
        assert_close(ours(one).logits[0], theirs.logits[:, -1], rtol=1e-12, atol=1e-12)
        queries.append(ours.embed(one)[0, ours.slots.query])
    assert queries[0].equal(queries[1]) and queries[0].equal(queries[2])


@torch.no_grad()
def test_the_textbook_may_read_out_the_last_position_alone():
    model = MODELS["2 heads softmax classifier W_O"]
    batch, weights = group(TASKS["alphabet"], model)
    twin = textbook_of(model, weights, 0)
    all_of_them = twin(batch.tokens[0]).logits
    twin.last_only = True
    assert_close(twin(batch.tokens[0]).logits, all_of_them[:, -1:])
