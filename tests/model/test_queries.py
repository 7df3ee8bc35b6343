"""Queries that differ, and the causal mask: each prefix is a sequence of the core's."""

import pytest
import torch
from torch.testing import assert_close

from grokkit import core
from grokkit.core.loss import cross_entropy
from grokkit.diagnostics import attention_kl
from grokkit.errors import SettingError
from grokkit.model import Batch, ModelSpec, Parameters, Transformer, attend
from grokkit.model.attention import AttentionKind
from grokkit.tasks import AutoregressiveParity, Sequences
from tests.model.cases import (
    MODELS,
    NEXT_TOKEN,
    TASKS,
    assert_gradients,
    core_of,
    group,
    objective,
    seen_by,
)

KL_STRENGTH = 0.7
PAIRS = [(task, model) for i, task in enumerate(NEXT_TOKEN) for model in list(MODELS)[i % 3 :: 3]]
SOFTMAX = [name for name in MODELS if "softmax" in name]


def strings_of(batch: Batch, run: int) -> torch.Tensor:
    """Each string once: as the batch has them, one after the other, T examples each."""
    return batch.tokens[run, :: batch.length]


def prefixes(twin: core.Transformer, batch: Batch, run: int) -> list[core.Seen]:
    """What the core computes of all prefixes of one length, for every length."""
    strings, places = strings_of(batch, run), range(batch.length)
    return [seen_by(twin, strings[:, : at + 1], places[: at + 1]) for at in places]


@pytest.mark.parametrize(("task", "model"), PAIRS)
@torch.no_grad()
def test_every_prefix_is_the_cores_sequence(task, model):
    batch, weights = group(NEXT_TOKEN[task], MODELS[model])
    ours = Transformer(MODELS[model], batch)
    assert len(ours.slots.queries) > 1
    seen = ours(weights)
    pooled = ours.pool(seen.attention, ours.slot_values(weights, ours.embed(weights)))
    for run in range(batch.runs):
        twin = core_of(MODELS[model], weights, run)
        for at, theirs in enumerate(prefixes(twin, batch, run)):
            rows, visible = slice(at, None, batch.length), slice(at + 1)
            for mine, other in (
                (seen.scores[run, rows, visible], theirs.scores.transpose(1, 2)),
                (seen.attention[run, rows, visible], theirs.attention.transpose(1, 2)),
                (seen.log_attention[run, rows, visible], theirs.log_attention.transpose(1, 2)),
                (pooled[run, rows], theirs.pooled),
                (seen.logits[run, rows], theirs.logits),
            ):
                assert_close(mine, other, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(("task", "model"), PAIRS)
def test_gradients_are_the_cores(task, model):
    batch, weights = group(NEXT_TOKEN[task], MODELS[model])
    seen = Transformer(MODELS[model], batch)(weights)
    loss = cross_entropy(seen.logits, batch.targets).mean(dim=1)
    divergence = attention_kl(seen.attention, batch.oracle, seen.log_attention).mean(dim=(1, 2))
    names = list(weights)
    total = (loss + KL_STRENGTH * divergence).sum()
    for name, grad in zip(
        names, torch.autograd.grad(total, [weights[name] for name in names]), strict=True
    ):
        weights.gradient[name].copy_(grad)
    for run in range(batch.runs):
        twin = core_of(MODELS[model], weights, run)
        each, length = prefixes(twin, batch, run), batch.length
        targets = batch.targets[run].view(-1, length)
        losses = [objective(one, targets[:, at]) for at, one in enumerate(each)]
        # The answers alone have an oracle.
        answer = core.divergence(batch.oracle[run, length - 1 :: length], each[-1].log_attention)
        (sum(losses[1:], losses[0]) + KL_STRENGTH * answer.mean()).div(length).backward()
        assert_gradients(weights, twin, run, 1e-10)


@pytest.mark.parametrize("readout", ["classifier", "residual"])
def test_one_query_position_with_several_tokens_needs_no_mask(readout):
    """A task whose last token asks one question or another."""
    model = ModelSpec(d_model=12, d_mlp=10, heads=2, readout=readout)
    batch, weights = group(TASKS["marked"], model)
    tokens = batch.tokens.clone()
    tokens[:, ::3, -1] = 1
    batch = Batch(tokens, batch.targets, batch.informative, batch.oracle)
    ours = Transformer(model, batch)
    assert len(ours.slots.queries) == 2 and ours.slots.future is None
    seen = ours(weights)
    for run in range(batch.runs):
        theirs = seen_by(core_of(model, weights, run), batch.tokens[run])
        assert_close(seen.logits[run], theirs.logits, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("model", ["3 heads softmax residual W_O", "2 heads relu classifier"])
def test_nothing_after_its_query_ever_reaches_an_example(model):
    batch, weights = group(NEXT_TOKEN["nine bits"], MODELS[model])
    ours = Transformer(MODELS[model], batch)
    seen = ours(weights)
    assert batch.future is not None
    assert (seen.attention[batch.future] == 0).all()
    assert_close(seen.attention.sum(dim=2), torch.ones_like(seen.attention[:, :, 0]))

    # Not by the embedding of a later position, exactly.
    early = batch.query_position < 4
    (slope,) = torch.autograd.grad(
        seen.logits[early].sum(), weights["position_embedding"], retain_graph=True
    )
    assert (slope[:, 4:] == 0).all() and (slope[:, :4] != 0).any()

    # And not by other tokens there.
    tokens = torch.where(batch.future & (batch.tokens < 2), 1 - batch.tokens, batch.tokens)
    query = batch.query
    other = Batch(tokens, batch.targets, batch.informative, batch.oracle, query)
    changed = Transformer(MODELS[model], other)(weights)
    assert_close(changed.logits, seen.logits, rtol=1e-13, atol=1e-13)


def test_scores_of_the_future_have_no_gradient_and_make_no_nan():
    scores = torch.tensor([0.5, -2.0, -torch.inf]).view(1, 1, 3, 1).requires_grad_()
    kinds: tuple[tuple[AttentionKind, list[float] | None], ...]
    kinds = (("softmax", None), ("relu", [1.0, 0.0, 0.0]))
    for kind, expected in kinds:
        attention = attend(scores, kind)
        assert attention.flatten()[2] == 0
        if expected:
            assert attention.flatten().tolist() == expected
        (slope,) = torch.autograd.grad(attention.flatten()[:2].square().sum(), scores)
        assert slope.isfinite().all() and slope.flatten()[2] == 0
    dead = torch.tensor([-1.0, -2.0, -torch.inf]).view(1, 1, 3, 1)
    assert attend(dead, "relu").flatten().tolist() == [0.5, 0.5, 0.0]


@pytest.mark.parametrize("model", SOFTMAX[::3])
@torch.no_grad()
def test_a_minibatch_is_some_rows_of_the_whole(model):
    batch, weights = group(NEXT_TOKEN["five bits"], MODELS[model])
    whole = Transformer(MODELS[model], batch)
    stream = torch.Generator().manual_seed(0)
    rows = torch.stack([torch.randperm(batch.examples, generator=stream)[:7] for _ in range(3)])
    some = whole.take(rows)
    assert some.slots.queries is whole.slots.queries
    seen, part = whole(weights), some(weights)
    for run in range(3):
        assert torch.equal(some.batch.tokens[run], batch.tokens[run, rows[run]])
        assert torch.equal(some.batch.targets[run], batch.targets[run, rows[run]])
        assert torch.equal(part.scores[run], seen.scores[run, rows[run]])
        assert_close(part.logits[run], seen.logits[run, rows[run]], rtol=1e-13, atol=1e-13)


@torch.no_grad()
def test_a_minibatch_of_a_fixed_query_stays_one():
    model = MODELS["2 heads softmax classifier"]
    batch, weights = group(TASKS["longer"], model)
    whole = Transformer(model, batch, weights.layout.length)
    rows = torch.tensor([[3, 1], [0, 0], [2, 4]])
    some = whole.take(rows)
    assert some.batch.fixed_query and some.batch.query is None and some.slots.query_index is None
    run = torch.arange(3)[:, None]
    assert_close(some(weights).logits, whole(weights).logits[run, rows], rtol=1e-13, atol=1e-13)


def one_query_forward(
    model: ModelSpec, ours: Transformer, weights: Parameters
) -> tuple[torch.Tensor, torch.Tensor]:
    """Scores and logits of the classifier by the formulas for one query alone."""
    heads, q = model.heads, ours.slots.query
    embedding = ours.embed(weights)
    query = embedding[:, q : q + 1] @ weights["W_Q"]
    by_head = (query * (embedding @ weights["W_K"])).unflatten(-1, (heads, -1)).sum(-1)
    table = by_head / (model.d_model // heads) ** 0.5
    scores = table.flatten()[ours.readers.index].view(*ours.slots.index.shape, -1)
    value = embedding @ weights["W_V"]
    cells = ours.through(value, weights["W_1"])
    hidden = (ours.pool(scores.softmax(dim=2), cells) + weights["b_1"].unsqueeze(1)).relu()
    return scores, torch.baddbmm(weights["b_2"].unsqueeze(1), hidden, weights["W_2"])


@pytest.mark.parametrize("heads", [1, 4])
@pytest.mark.parametrize("task", ["alphabet", "marked", "parity"])
@torch.no_grad()
def test_a_fixed_query_costs_no_bit(task, heads):
    model = MODELS[f"{heads} heads softmax classifier"]
    batch, weights = group(TASKS[task], model, torch.float32)
    ours = Transformer(model, batch)
    assert ours.slots.query_index is None and ours.slots.future is None
    assert ours.readers.pair is ours.readers.index
    seen = ours(weights)
    scores, logits = one_query_forward(model, ours, weights)
    assert torch.equal(seen.scores, scores) and torch.equal(seen.logits, logits)


def test_the_runs_of_a_batch_keep_their_queries():
    batch, _ = group(NEXT_TOKEN["five bits"], MODELS["1 heads softmax classifier"])
    one = batch.run(1)
    assert batch.query is not None and one.query is not None
    assert torch.equal(one.query, batch.query[1:2])
    assert not batch.fixed_query
    assert batch.graded is not None
    answers = batch.take(batch.graded)
    assert answers.fixed_query and answers.graded is None and answers.future is None
    assert torch.equal(answers.oracle.sum(dim=2), torch.ones(3, answers.examples).double())


def test_queries_and_informative_positions_out_of_range_are_refused():
    train = AutoregressiveParity(bits=3, k=1).build(0).train
    assert train.query is not None

    def changed(**parts: torch.Tensor) -> Sequences:
        whole = {"query": train.query, "informative": train.informative} | parts
        return Sequences(train.tokens, train.targets, group=train.group, **whole)

    with pytest.raises(SettingError, match=r"^query: .*positions 0\.\.3$"):
        Batch.of([changed(query=train.query + 1)])
    late = train.informative.clone()
    late[0, 1] = True
    with pytest.raises(SettingError, match=r"^informative: got 'a position after the query'"):
        Batch.of([changed(informative=late)])


def test_runs_must_have_as_many_graded_examples():
    batch = Batch.of([AutoregressiveParity(bits=3, k=1).build(0).train] * 2)
    uneven = batch.informative.clone()
    uneven[0, 3] = False
    with pytest.raises(SettingError, match=r"^informative: got "):
        _ = Batch(batch.tokens, batch.targets, uneven, batch.oracle, batch.query).graded
