"""Norms, layers, the causal mask and the readout scale: against one sequence at a time."""

from typing import Any, get_args

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from grokkit.errors import SettingError
from grokkit.model import (
    Activations,
    Batch,
    ModelSpec,
    Parameters,
    Transformer,
    attend,
    cross_entropy,
    of_layer,
)
from grokkit.model.block import after_mlp, unembed
from grokkit.model.norm import IN_ATTENTION, NormPlacement
from grokkit.model.stack import Stack
from tests.model.cases import NEXT_TOKEN, TASKS, block, group
from tests.model.plain import plain_forward

PLACES = get_args(NormPlacement)


ONE_LAYER: dict[str, ModelSpec] = {
    **{norm: block(norm) for norm in PLACES},
    **{
        f"{norm}, rms, W_O": block(norm, norm_kind="rms", output_projection=True)
        for norm in PLACES[1:]
    },
    **{f"{norm}, classifier": block(norm, readout="classifier") for norm in IN_ATTENTION},
    "no affine, eps 0": block("M+A*", norm_affine=False, norm_eps=0.0, heads=4),
    "large eps, scale": block("peri", norm_eps=0.5, readout_scale=0.25, heads=1),
    "relu, scale, W_O": block("A^v", attention="relu", readout_scale=3.0, output_projection=True),
    "scaled classifier, W_O": block(
        "A*", readout="classifier", readout_scale=2.0, output_projection=True, heads=3
    ),
    "causal": block("post", causal=True),
}
LAYERED: dict[str, ModelSpec] = {
    **{f"{norm}, 2 layers": block(norm, layers=2) for norm in PLACES},
    **{f"{norm}, 3 layers, causal": block(norm, layers=3, causal=True) for norm in PLACES[::3]},
    "W_O, rms, causal": block(
        "peri", layers=2, causal=True, norm_kind="rms", output_projection=True, heads=4
    ),
    "relu": block("A*", layers=2, attention="relu", heads=3),
    "relu, causal": block("M", layers=2, attention="relu", causal=True, readout_scale=0.5),
}
TASK_OF = ("no distractors", "alphabet", "marked", "longer")


def plain_run(
    model: ModelSpec, batch: Batch, weights: Parameters, run: int
) -> tuple[list[Tensor], dict[str, Tensor]]:
    """Scores, attention, logits and final of every sequence; leaves for their gradients."""
    own = {name: weights[name][run].detach().clone().requires_grad_() for name in weights}
    queries = batch.query_position[run].tolist()
    seen = [
        plain_forward(model, own, tokens, query)
        for tokens, query in zip(batch.tokens[run], queries, strict=True)
    ]
    return [torch.stack(part) for part in zip(*seen, strict=True)], own


def check_against_plain(
    model: ModelSpec, batch: Batch, weights: Parameters, seen: Activations
) -> None:
    """Everything that the query saw, and every gradient, of the second run."""
    run = 1
    (scores, attention, logits, final), own = plain_run(model, batch, weights, run)
    shown = seen.scores[run].isfinite()
    assert_close(seen.scores[run][shown], scores[shown], rtol=1e-10, atol=1e-10)
    for ours, theirs in ((seen.attention, attention), (seen.logits, logits), (seen.final, final)):
        assert ours is not None
        assert_close(ours[run], theirs, rtol=1e-10, atol=1e-10)
    loss = cross_entropy(seen.logits, batch.targets).mean(dim=1).sum()
    names = list(weights)
    ours = torch.autograd.grad(
        loss, [weights[n] for n in names], retain_graph=True, materialize_grads=True
    )
    usual = torch.nn.functional.cross_entropy(logits, batch.targets[run])
    theirs = torch.autograd.grad(usual, list(own.values()), materialize_grads=True)
    for name, one, other in zip(names, ours, theirs, strict=True):
        assert_close(one[run], other, rtol=1e-10, atol=1e-10, msg=lambda m, n=name: f"{n}: {m}")


@pytest.mark.parametrize(("number", "name"), list(enumerate(ONE_LAYER)))
def test_one_layer_is_the_plain_models(number, name):
    model = ONE_LAYER[name]
    batch, weights = group(TASKS[TASK_OF[number % 3]], model)
    check_against_plain(model, batch, weights, Transformer(model, batch)(weights))


@pytest.mark.parametrize(("number", "name"), list(enumerate(LAYERED)))
def test_several_layers_are_the_plain_models(number, name):
    model = LAYERED[name]
    batch, weights = group(TASKS[TASK_OF[number % 3]], model)
    seen = Transformer(model, batch)(weights)
    assert seen.attention.shape[-1] == model.layers * model.heads
    check_against_plain(model, batch, weights, seen)


@pytest.mark.parametrize("name", ["M+A*, rms, W_O", "A^v, classifier"])
def test_so_is_one_layer_that_is_asked_at_every_position(name):
    batch, weights = group(NEXT_TOKEN["two bits"], ONE_LAYER[name])
    model = ONE_LAYER[name]
    causal = ModelSpec(**{**vars(model), "causal": True})  # what the plain model must be told
    check_against_plain(causal, batch, weights, Transformer(model, batch)(weights))


def test_and_so_are_several():
    model = block("M+A*", layers=2, causal=True)
    batch, weights = group(NEXT_TOKEN["five bits"], model)
    check_against_plain(model, batch, weights, Transformer(model, batch)(weights))
    with pytest.raises(SettingError, match=r"^causal: got False; allowed: True with several"):
        Transformer(block(layers=2), batch)


@pytest.mark.parametrize("task", [*TASK_OF, "five bits"])
@pytest.mark.parametrize("name", [n for n in ONE_LAYER if ONE_LAYER[n].readout == "residual"])
def test_the_path_over_slots_and_the_general_path_agree(task, name):
    model = ONE_LAYER[name]
    batch, weights = group((TASKS | NEXT_TOKEN)[task], model)
    fast = Transformer(model, batch, weights.layout.length)
    general = Stack(model, batch, fast.slots)
    results = []
    for seen in (fast(weights), general(weights, fast.embed(weights))):
        loss = cross_entropy(seen.logits, batch.targets).mean(dim=1).sum()
        slope = seen.score_gradient(loss)
        leaves = [weights[name] for name in weights]
        grads = torch.autograd.grad(loss, leaves, materialize_grads=True)
        parts = [seen.scores, seen.attention, seen.hidden, seen.logits, seen.final, seen.middle]
        results.append([*parts, slope, *grads])
    for one, other in zip(*results, strict=True):
        assert_close(one, other, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("layer", [0, 1])
@pytest.mark.parametrize("norm", PLACES)
def test_the_score_gradient_of_a_layer_is_a_difference_quotient(norm, layer, monkeypatch):
    """Of the query's own scores, with all that the layers above make of them."""
    model = block(norm, layers=2)
    batch, weights = group(TASKS["no distractors"], model)
    forward = Transformer(model, batch)
    seen = forward(weights)
    slope = seen.score_gradient(cross_entropy(seen.logits, batch.targets).sum())
    assert slope.shape == seen.scores.shape
    usual = Stack.attend

    def nudged(step: float) -> float:
        """The loss where the scores of the query, in one layer, are 1 + step times as large."""
        below = iter(range(model.layers))

        def attend(self: Stack, query: Tensor, key: Tensor, value: Tensor) -> Any:
            factor = torch.ones(query.shape[2], 1, dtype=query.dtype)
            factor[-1] += step if next(below) == layer else 0
            return usual(self, query * factor, key, value)

        monkeypatch.setattr(Stack, "attend", attend)
        with torch.no_grad():
            return cross_entropy(forward(weights).logits, batch.targets).sum().item()

    quotient = (nudged(1e-5) - nudged(-1e-5)) / 2e-5
    heads = slice(layer * model.heads, (layer + 1) * model.heads)
    expected = (slope * seen.scores)[..., heads].sum().item()
    assert expected == pytest.approx(quotient, rel=1e-5, abs=1e-7)


@pytest.mark.parametrize("projection", [False, True])
@pytest.mark.parametrize("task", ["alphabet", "five bits"])
@torch.no_grad()
def test_without_norms_the_block_costs_no_bit(task, projection):
    """The residual readout as it was written before there were norms and layers."""
    model = block(output_projection=projection)
    batch, weights = group((TASKS | NEXT_TOKEN)[task], model, torch.float32)
    ours = Transformer(model, batch)
    embedding = ours.embed(weights)
    attention = attend(ours.look_up(ours.slot_scores(weights, embedding)))
    stream = ours.pool(attention, ours.slot_values(weights, embedding))
    stream = stream + ours.query_embedding(embedding)
    hidden = torch.baddbmm(weights["b_1"].unsqueeze(1), stream, weights["W_1"]).relu()
    stream = stream + torch.baddbmm(weights["b_2"].unsqueeze(1), hidden, weights["W_2"])
    assert torch.equal(ours(weights).logits, stream @ weights["W_U"])


@pytest.mark.parametrize("layers", [1, 2])
def test_a_causal_mask_matters_from_the_second_layer_on(layers):
    open_, causal = (block("M", layers=layers, causal=causal) for causal in (False, True))
    batch, weights = group(TASKS["alphabet"], open_)
    one, other = (Transformer(model, batch)(weights).logits for model in (open_, causal))
    assert torch.equal(one, other) == (layers == 1)


@pytest.mark.parametrize("model", [block("M+A*"), block("post", layers=2)], ids=["one", "two"])
def test_a_run_in_a_group_and_a_minibatch_are_the_run_alone(model):
    batch, weights = group(TASKS["longer"], model)
    whole = Transformer(model, batch, weights.layout.length)
    rows = torch.tensor([[3, 1], [0, 0], [2, 4]])
    together, some = whole(weights), whole.take(rows)(weights)
    for run in range(3):
        alone = Transformer(model, batch.run(run), weights.layout.length)(weights.run(run))
        assert_close(alone.logits[0], together.logits[run], rtol=1e-12, atol=1e-12)
        assert_close(some.logits[run], together.logits[run, rows[run]], rtol=1e-12, atol=1e-12)
        assert together.final is not None and together.middle is not None
        one = together.run(run)
        assert one.final is not None
        assert torch.equal(one.final[0], together.final[run])


def test_the_rest_of_the_block_can_be_run_from_the_stream():
    """What probes of the MLP need: y, and the way from y to the logits."""
    for model in (block("M"), block("peri", layers=2)):
        batch, weights = group(TASKS["alphabet"], model)
        seen = Transformer(model, batch)(weights)
        assert seen.middle is not None
        own = of_layer(weights, model.layers - 1)
        hidden, final = after_mlp(model, own, seen.middle)
        assert seen.final is not None
        assert torch.equal(hidden, seen.hidden) and torch.equal(final, seen.final)
        assert torch.equal(unembed(model, weights, final), seen.logits)
        _, shrunk = after_mlp(model, own, seen.middle, read=0 * seen.middle + 1)
        assert not torch.allclose(shrunk, final)


@pytest.mark.parametrize("layers", [1, 2])
def test_the_general_path_can_be_transformed(layers):
    """By torch.func, for tangent kernels: the gradients of several logits at once."""
    model = block("M+A*", layers=layers)
    batch, group_weights = group(TASKS["no distractors"], model)
    one = batch.run(0)
    weights = {name: value[:1].detach() for name, value in group_weights.items()}
    forward = Transformer(model, one)
    stack = Stack(model, one, forward.slots)

    def logits(weights: dict[str, Tensor]) -> Tensor:
        return stack(weights, forward.embed(weights)).logits[0, :4, 2]

    jacobian = torch.func.jacrev(logits)(weights)
    leaves = {name: value.clone().requires_grad_() for name, value in weights.items()}
    for row, value in enumerate(logits(leaves)):
        grads = torch.autograd.grad(value, list(leaves.values()), retain_graph=True)
        for name, grad in zip(leaves, grads, strict=True):
            assert_close(jacobian[name][row], grad, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize(
    ("settings", "line"),
    [
        (
            {"norm": "M", "readout": "classifier"},
            "norm: got 'M'; allowed: none, A*, A^qk, A^v; others",
        ),
        ({"layers": 2, "readout": "classifier"}, "layers: got 2; allowed: 1 with readout"),
        ({"layers": 2, "attention": "oracle"}, "attention: got 'oracle'; allowed: softmax, relu"),
        ({"norm": "A*", "d_model": 1, "heads": 1}, "d_model: got 1; allowed: 2 or more"),
        ({"layers": 0}, "layers: got 0; allowed: a whole number, 1 or more"),
        ({"norm_eps": -1e-9}, "norm_eps: got "),
        ({"readout_scale": 0.0}, "readout_scale: got 0.0; allowed: a finite number, above 0"),
        ({"toeplitz_length": -1.0}, "toeplitz_length: got -1.0"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(settings, line):
    with pytest.raises(SettingError) as refused:
        block(**settings)
    assert str(refused.value).startswith(line) and "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("field", "value"),
    [("norm", "B*"), ("norm_kind", "batch"), ("init", "zeros"), ("causal", 1), ("norm_affine", 0)],
)
def test_choices_that_do_not_exist_are_refused_by_name(field, value, unchecked):
    with pytest.raises(SettingError, match=f"^{field}: got "):
        ModelSpec(**{field: value})
