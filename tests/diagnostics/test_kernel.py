"""Kernels by torch.func's full Jacobian, a linear model that cannot drift, and the network."""

from collections.abc import Mapping

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

import grokkit
from grokkit.diagnostics import evenly_spaced, kernel_drift, network_logits, tangent_kernel
from grokkit.engine import Trainer
from grokkit.errors import SettingError
from grokkit.model import Batch, Transformer

RUNS, EXAMPLES, WIDTH, HIDDEN, CLASSES = 2, 4, 3, 5, 3


def numbers(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def linear(weights: Mapping[str, Tensor], x: Tensor) -> Tensor:
    return x @ weights["W"]


def mlp(weights: Mapping[str, Tensor], x: Tensor) -> Tensor:
    return (x @ weights["W_1"]).relu() @ weights["W_2"]


def mlp_weights(seed: int = 0) -> dict[str, Tensor]:
    return {
        "W_1": numbers(RUNS, WIDTH, HIDDEN, seed=seed),
        "W_2": numbers(RUNS, HIDDEN, CLASSES, seed=seed + 1),
    }


def test_a_linear_model_has_the_gram_matrix_times_its_classes_and_never_drifts():
    x = numbers(EXAMPLES, WIDTH)
    start, now = (
        tangent_kernel(linear, {"W": numbers(RUNS, WIDTH, CLASSES, seed=s)}, x) for s in (1, 2)
    )
    torch.testing.assert_close(start, (CLASSES * x @ x.T).expand(RUNS, -1, -1))
    assert kernel_drift(now, start).tolist() == [0, 0]


def test_the_kernel_is_that_of_the_whole_jacobian():
    x, weights = numbers(EXAMPLES, WIDTH), mlp_weights()
    found = tangent_kernel(mlp, weights, x)
    for run in range(RUNS):
        own = {name: weight[run : run + 1] for name, weight in weights.items()}
        jacobian = torch.func.jacrev(lambda w: mlp(w, x)[0])(own)  # {name: [x, class, *shape]}
        flat = torch.cat([part.flatten(2) for part in jacobian.values()], dim=2)
        torch.testing.assert_close(found[run], torch.einsum("icw,jcw->ij", flat, flat))
    assert not found.requires_grad and not any(w.requires_grad for w in weights.values())


@given(st.integers(0, 2**10), st.floats(0.1, 3))
def test_a_network_of_two_layers_that_only_grows_drifts_by_its_growth(seed, r):
    """Both layers r times as large: r^2 times the kernel, with the same features."""
    x, weights = numbers(EXAMPLES, WIDTH), mlp_weights(seed)
    start = tangent_kernel(mlp, weights, x)
    now = tangent_kernel(mlp, {name: r * w for name, w in weights.items()}, x)
    growth = torch.full((RUNS,), abs(r**2 - 1)).double()
    torch.testing.assert_close(kernel_drift(now, start), growth, rtol=1e-6, atol=1e-9)
    # Inner products: symmetric, and no eigenvalue below 0.
    torch.testing.assert_close(now, now.transpose(1, 2))
    assert (torch.linalg.eigvalsh(now) > -1e-9 * now.amax()).all()


def test_a_common_logit_counts_unless_it_is_taken_away():
    """No softmax feels it; centre the logits for a kernel that does not either."""
    x = numbers(EXAMPLES, WIDTH)

    def with_common(weights: Mapping[str, Tensor], x: Tensor) -> Tensor:
        return mlp(weights, x) + 10 * (x @ weights["common"])

    def centred(weights: Mapping[str, Tensor], x: Tensor) -> Tensor:
        logits = with_common(weights, x)
        return logits - logits.mean(dim=2, keepdim=True)

    weights = {**mlp_weights(), "common": numbers(RUNS, WIDTH, 1, seed=5)}
    plain = tangent_kernel(centred, mlp_weights() | {"common": 0 * weights["common"]}, x)
    assert tangent_kernel(with_common, weights, x).diagonal(0, 1, 2).min() > plain.max()
    torch.testing.assert_close(tangent_kernel(centred, weights, x), plain)


def test_the_kernel_of_the_network_over_all_its_runs():
    """Against gradients of a single run by the model's own forward pass, two examples of it."""
    spec = grokkit.presets["live"].with_(p=5, d_model=8, d_mlp=12, train_fraction=0.6)
    trainer = Trainer([spec.with_(seed=seed) for seed in (0, 1)])
    batch = Batch.of([spec.task.build(seed).train for seed in (0, 1)])
    model = Transformer(spec.model, batch, trainer.weights.layout.length)
    rows = evenly_spaced(batch.examples, 4)
    found = tangent_kernel(network_logits(model), trainer.weights, rows)
    assert found.shape == (2, 4, 4)
    weights = trainer.weights.run(1)
    logits = Transformer(spec.model, batch.run(1), trainer.weights.layout.length)(weights).logits
    by_hand = 0.0
    for c in range(5):
        one, other = (
            torch.autograd.grad(logits[0, rows[i], c], list(weights.values()), retain_graph=True)
            for i in (1, 3)
        )
        by_hand += sum((a * b).sum().item() for a, b in zip(one, other, strict=True))
    assert found[1, 1, 3].item() == pytest.approx(by_hand, rel=1e-4)
    assert not any(view.grad is not None for view in trainer.weights.values())


def test_the_subsample_is_even_and_the_same_each_time():
    assert evenly_spaced(10, 4).tolist() == [0, 2, 5, 7]
    assert evenly_spaced(3, 3).tolist() == [0, 1, 2]
    assert len(evenly_spaced(1000, 64).unique()) == 64
    with pytest.raises(SettingError, match=r"size: got 11; allowed: a whole number, 1\.\.10"):
        evenly_spaced(10, 11)


def test_what_gives_no_logits_is_refused():
    x = numbers(EXAMPLES, WIDTH)
    with pytest.raises(SettingError, match=r"logits: got \(2, 3\); allowed: shape \(2, 1, class\)"):
        tangent_kernel(lambda w, x: mlp(w, x)[:, 0], mlp_weights(), x)
