"""Conjecture E.1's measured variance and its bound."""

import dataclasses

import numpy as np
import pytest
import torch

from grokkit.diagnostics.variance import interaction_norm, score_variance
from grokkit.model import Transformer
from tests.model.cases import MODELS, TASKS, group

CASES = [
    ("alphabet", "1 heads softmax classifier"),
    ("marked", "3 heads softmax residual"),
    ("parity", "4 heads relu classifier W_O"),
]


@pytest.mark.parametrize(("task", "name"), CASES)
def test_variance_and_bound_from_the_formulas_head_by_head(task, name):
    model = MODELS[name]
    batch, weights = group(TASKS[task], model)
    forward = Transformer(model, batch, weights.layout.length)
    measured, bounds = score_variance(forward, weights).values()
    d_head = model.d_model // model.heads
    for run in range(batch.runs):
        e = forward.embed(weights)[run].detach().numpy()
        rows = e[forward.slots.index[run].numpy()]
        query = e[forward.slots.query]
        for head in range(model.heads):
            place = slice(head * d_head, (head + 1) * d_head)
            w_q, w_k = (weights[n][run].detach().numpy()[:, place] for n in ("W_Q", "W_K"))
            scores = rows @ w_k @ (query @ w_q) / np.sqrt(d_head)
            variance = ((scores - scores.mean(axis=1, keepdims=True)) ** 2).mean(axis=1)
            m = w_q @ w_k.T
            largest = (rows**2).sum(axis=-1).max()
            bound = (m**2).sum() * (query @ query) * largest / d_head
            assert measured[run, head].item() == pytest.approx(variance.mean(), rel=1e-9)
            assert variance.max() <= bound
            assert bounds[run, head].item() == pytest.approx(bound, rel=1e-9)
            frobenius = interaction_norm(weights, model.heads)[run, head].item()
            assert frobenius == pytest.approx(np.linalg.norm(m), rel=1e-9)


def test_equal_scores_have_no_variance():
    model = MODELS["1 heads softmax classifier"]
    batch, weights = group(TASKS["alphabet"], model)
    with torch.no_grad():
        weights["W_Q"].zero_()
    found = score_variance(Transformer(model, batch, weights.layout.length), weights)
    assert all((value == 0).all() for value in found.values())


def test_positions_after_the_query_do_not_count():
    model = MODELS["2 heads softmax classifier"]
    batch, weights = group(TASKS["alphabet"], model)
    query = torch.arange(batch.examples).expand(batch.runs, -1) % batch.tokens.shape[2]
    seeing = dataclasses.replace(batch, query=query)
    forward = Transformer(model, seeing, weights.layout.length)
    measured, bounds = score_variance(forward, weights).values()
    scores = forward.look_up(forward.slot_scores(weights, forward.embed(weights))).detach()
    for run in range(batch.runs):
        for head in range(model.heads):
            each = [
                scores[run, example, : int(query[run, example]) + 1, head].var(correction=0).item()
                for example in range(batch.examples)
            ]
            assert measured[run, head].item() == pytest.approx(np.mean(each), rel=1e-9)
            assert max(each) <= bounds[run, head].item()
