"""Diagnostics query by query, against plain loops and PyTorch's own backward pass."""

import pytest
import torch
from torch.testing import assert_close

from grokkit.core.loss import cross_entropy
from grokkit.diagnostics import attention_kl, starvation
from grokkit.diagnostics.queries import mean_by_query, per_query
from grokkit.errors import SettingError
from grokkit.model import Transformer
from tests.model.cases import MODELS, NEXT_TOKEN, group


def test_every_query_has_its_own_means():
    model = MODELS["2 heads softmax residual"]
    batch, weights = group(NEXT_TOKEN["five bits"], model)
    seen = Transformer(model, batch)(weights)
    loss = cross_entropy(seen.logits, batch.targets)
    (slope,) = torch.autograd.grad(loss.sum(), seen.scores)
    with torch.no_grad():
        found = per_query(batch, loss, seen.logits, seen.attention, seen.log_attention, slope)
    divergence = attention_kl(seen.attention, batch.oracle)
    for run in range(batch.runs):
        for query in range(batch.length):
            rows = (batch.query_position[run] == query).nonzero().flatten().tolist()
            assert len(rows) == batch.examples / batch.length
            entropies, norms, right = [], [], []
            for row in rows:
                visible = seen.attention[run, row, : query + 1]
                entropies.append(-(visible * visible.log()).sum() / model.heads)
                norms.append(slope[run, row].norm())
                right.append(float(seen.logits[run, row].argmax() == batch.targets[run, row]))
            expected = {
                "query_loss": loss[run, rows].mean(),
                "query_accuracy": torch.tensor(sum(right) / len(rows)).double(),
                "query_entropy": sum(entropies) / torch.tensor(len(rows)).double(),
                "query_score_gradient": sum(norms) / torch.tensor(len(rows)).double(),
            }
            for name, value in expected.items():
                assert_close(found[name][run, query], value, check_dtype=False, msg=name)
        answers = batch.query_position[run] == batch.length - 1
        assert found["query_kl"][run, :-1].isnan().all()
        assert_close(found["query_kl"][run, -1], divergence[run, answers].mean())


def test_a_query_that_nobody_asks_has_no_mean():
    value, query = torch.tensor([[1.0, 3.0, 5.0]]), torch.tensor([[2, 0, 2]])
    assert_close(
        mean_by_query(value, query, 4),
        torch.tensor([[3.0, torch.nan, 3.0, torch.nan]]),
        equal_nan=True,
    )
    # One that does not count cannot spoil the mean of others.
    spoilt = torch.tensor([[torch.nan, 3.0, 5.0]])
    among = torch.tensor([[False, True, True]])
    assert mean_by_query(spoilt, query, 3, among)[0, 2] == 5


def test_the_query_is_not_defined_where_there_are_several():
    model = MODELS["1 heads softmax classifier"]
    batch, _ = group(NEXT_TOKEN["two bits"], model)
    with pytest.raises(SettingError, match=r"^query: got '5 different queries'"):
        _ = Transformer(model, batch).slots.query


def test_the_attention_gradient_of_many_queries_is_autograds():
    model = MODELS["2 heads softmax classifier"]
    batch, weights = group(NEXT_TOKEN["five bits"], model)
    forward = Transformer(model, batch)
    seen = forward(weights)
    loss = cross_entropy(seen.logits, batch.targets)
    names = ("W_Q", "W_K")
    slope, *direct = torch.autograd.grad(
        loss.sum(), [seen.scores, *(weights[name] for name in names)]
    )
    found = starvation.attention_gradient(forward, weights, slope)
    for name, gradient in zip(names, direct, strict=True):
        expected = gradient.flatten(1).norm(dim=1) / batch.examples
        assert_close(found[f"{name}_gradient"], expected)
