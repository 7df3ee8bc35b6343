"""Lemma 5.1 against automatic differentiation, and how loose its square root is."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from grokkit.errors import SettingError
from grokkit.theory import (
    cross_entropy,
    mlp_lipschitz,
    output_gradient_bounds,
    pooled_jacobian,
    pooled_jacobian_relu,
    relu_attention,
    score_gradient_bound,
    score_gradient_bound_by_position,
    score_gradient_bound_linear,
    softmax,
)
from tests.theory.inputs import seeds


class Network:
    """One random attention layer with a two-layer ReLU MLP, for one example."""

    def __init__(self, seed, unit=True, length=5, embed=4, classes=3):
        rng = np.random.default_rng(seed)
        self.scores = rng.normal(size=length)
        self.embedding = rng.normal(size=(length, embed))
        if unit:
            self.embedding /= np.linalg.norm(self.embedding, axis=1, keepdims=True)
        self.w_v = rng.normal(size=(embed, embed))
        self.w_in, self.w_out = rng.normal(size=(8, embed)), rng.normal(size=(classes, 8))
        self.target = int(rng.integers(classes))
        self.values = self.embedding @ self.w_v.T
        self.lipschitz = mlp_lipschitz(self.w_in, self.w_out)
        self.value_matrix_norm = float(np.linalg.norm(self.w_v, 2))

    def loss_and_gradient(self, kind="softmax", scale=1.0):
        """The loss, and its gradient at the scores, by torch in float64."""
        scores = torch.tensor(self.scores, requires_grad=True)
        attention = scores.softmax(0) if kind == "softmax" else scores.relu() / scores.relu().sum()
        h = attention @ torch.tensor(self.values)
        logits = (h @ torch.tensor(self.w_in).T).relu() @ (torch.tensor(self.w_out) * scale).T
        # Through log1p, as the usual float64 formula stops at 1e-16.
        others = torch.cat([logits[: self.target], logits[self.target + 1 :]])
        loss = (others - logits[self.target]).logsumexp(0).exp().log1p()
        (gradient,) = torch.autograd.grad(loss, scores)
        return loss.item(), gradient.numpy(), logits.detach().numpy()


@given(seed=seeds)
def test_lemma_5_1_bounds_the_score_gradient(seed):
    net = Network(seed)
    loss, gradient, logits = net.loss_and_gradient()
    assert cross_entropy(logits, net.target) == pytest.approx(loss)
    bound = score_gradient_bound(loss, net.lipschitz, net.value_matrix_norm)
    assert (np.abs(gradient) <= bound).all()


@given(seed=seeds)
def test_the_forms_of_lemma_5_1_are_ordered(seed):
    net = Network(seed)
    loss, gradient, _ = net.loss_and_gradient()
    jacobian = pooled_jacobian(softmax(net.scores), net.values)
    linear = score_gradient_bound_linear(loss, net.lipschitz, jacobian)
    by_position = score_gradient_bound_by_position(loss, net.lipschitz, jacobian)
    papers = score_gradient_bound(loss, net.lipschitz, net.value_matrix_norm)
    assert (np.abs(gradient) <= linear * (1 + 1e-9)).all()
    assert (linear <= by_position).all()
    assert (by_position <= papers).all()


@given(seed=seeds)
def test_embeddings_that_are_not_of_norm_one_enter_as_a_factor(seed):
    net = Network(seed, unit=False)
    loss, gradient, _ = net.loss_and_gradient()
    longest = float(np.linalg.norm(net.embedding, axis=1).max())
    bound = score_gradient_bound(loss, net.lipschitz, net.value_matrix_norm, longest)
    assert (np.abs(gradient) <= bound).all()


@given(seed=seeds)
def test_equation_32_is_the_derivative_of_what_is_pooled(seed):
    net = Network(seed)
    net.scores[0] = abs(net.scores[0]) + 0.1
    values = torch.tensor(net.values)

    def through_softmax(scores):
        return scores.softmax(0) @ values

    def through_relu(scores):
        return (scores.relu() / scores.relu().sum()) @ values

    for function, own in (
        (through_softmax, pooled_jacobian(softmax(net.scores), net.values)),
        (through_relu, pooled_jacobian_relu(net.scores, net.values)),
    ):
        jacobian = torch.autograd.functional.jacobian(function, torch.tensor(net.scores))
        np.testing.assert_allclose(own, jacobian.numpy().T, atol=1e-12)


@given(seed=seeds)
def test_equation_29_the_pinsker_chain(seed):
    rng = np.random.default_rng(seed)
    logits = rng.normal(size=rng.integers(2, 6)) * rng.choice([0.1, 1, 10])
    target = int(rng.integers(len(logits)))
    loss = cross_entropy(logits, target)
    error = softmax(logits) - np.eye(len(logits))[target]
    linear, total_variation, pinsker = output_gradient_bounds(loss)
    assert np.linalg.norm(error) <= linear * (1 + 1e-9)
    assert np.abs(error).sum() == pytest.approx(total_variation)
    assert linear <= total_variation <= pinsker


def test_the_linear_form_is_attained_with_two_classes():
    logits = np.array([2.0, -1.0])
    error = softmax(logits) - np.array([1.0, 0.0])
    linear = output_gradient_bounds(cross_entropy(logits, 0)).linear
    assert np.linalg.norm(error) == pytest.approx(linear)


def memorising_losses():
    """One network whose output is scaled up, as an MLP that memorises does."""
    net = Network(3)
    net.target = int(np.argmax(net.loss_and_gradient()[2]))
    rows = []
    for scale in (3.0, 6.0, 12.0, 24.0):
        loss, gradient, _ = net.loss_and_gradient(scale=scale)
        bound = score_gradient_bound(loss, net.lipschitz * scale, net.value_matrix_norm)
        rows.append((loss, np.abs(gradient).max() / scale, bound / scale))
    return np.array(rows).T


def test_starvation_is_linear_in_the_loss_and_not_its_square_root():
    loss, gradient, bound = memorising_losses()
    assert loss.max() / loss.min() > 1e6
    # Per unit of output scale: gradient / loss is constant, and bound / gradient grows
    # without end, as the inverse root of the loss.
    np.testing.assert_allclose(gradient[1:] / loss[1:], (gradient / loss)[-1], rtol=0.05)
    slack = bound / gradient
    np.testing.assert_allclose(slack[1:] * np.sqrt(loss[1:]), (slack * loss**0.5)[-1], rtol=0.05)
    assert slack[-1] > 1e3 * slack[0]


def test_a_tiny_loss_keeps_its_digits():
    logits = np.array([[80.0, 0.0, 0.0], [0.0, 80.0, 0.0]])
    loss = cross_entropy(logits, np.array([0, 0]))
    np.testing.assert_allclose(loss, [2 * np.exp(-80.0), 80.0], rtol=1e-14)
    assert output_gradient_bounds(1e-20).linear == pytest.approx(np.sqrt(2) * 1e-20)
    assert output_gradient_bounds(0.0) == (0, 0, 0)


def test_equation_4_fails_for_normalised_relu_attention_and_the_corrected_form_holds():
    net = Network(0)
    net.scores = np.array([0.002, 0.003, -1.0, -1.0, -1.0])  # a small sum, a large weight
    loss, gradient, _ = net.loss_and_gradient("relu")
    papers = score_gradient_bound(loss, net.lipschitz, net.value_matrix_norm)
    jacobian = pooled_jacobian_relu(net.scores, net.values)
    corrected = score_gradient_bound_linear(loss, net.lipschitz, jacobian)
    assert np.abs(gradient).max() > papers
    assert (np.abs(gradient) <= corrected * (1 + 1e-9)).all()
    assert (gradient[2:] == 0).all()
    np.testing.assert_allclose(relu_attention(net.scores)[:2], [0.4, 0.6])


def test_a_position_without_attention_is_starved_whatever_the_loss():
    attention = np.array([0.0, 0.5, 0.5])
    jacobian = pooled_jacobian(attention, np.eye(3))
    assert score_gradient_bound_by_position(100.0, 10.0, jacobian)[0] == 0


def test_equal_values_leave_nothing_to_learn_by_moving_attention():
    jacobian = pooled_jacobian(np.array([0.2, 0.3, 0.5]), np.ones((3, 2)))
    np.testing.assert_allclose(score_gradient_bound_linear(1.0, 1.0, jacobian), 0, atol=1e-15)


def test_bounds_take_a_whole_history_at_once():
    losses = np.array([1.0, 1e-3, 1e-9])
    assert np.shape(score_gradient_bound(losses, np.array([1.0, 2.0, 3.0]), 1.0)) == (3,)
    jacobian = np.ones((3, 5, 4))
    assert score_gradient_bound_linear(losses, 1.0, jacobian).shape == (3, 5)


@given(loss=st.floats(max_value=-1e-9, allow_nan=False))
def test_a_negative_loss_is_refused(loss):
    with pytest.raises(SettingError, match="loss"):
        output_gradient_bounds(loss)


def test_other_settings_outside_the_lemma_are_refused():
    with pytest.raises(SettingError, match="lipschitz"):
        score_gradient_bound(1.0, -1.0, 1.0)
    with pytest.raises(SettingError, match="scores"):
        pooled_jacobian_relu(np.array([-1.0, 0.0]), np.eye(2))
