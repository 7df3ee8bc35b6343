"""Attention on the simplex, what is pooled through it, and its distance from the oracle."""

import numpy as np
import pytest
from hypothesis import given

from grokkit.errors import SettingError
from grokkit.theory import (
    bilinear_scores,
    kl_divergence,
    log_softmax,
    oracle_attention,
    relu_attention,
    softmax,
)
from tests.theory.inputs import lengths, seeds


@given(seed=seeds, length=lengths)
def test_attention_is_a_point_of_the_simplex(seed, length):
    scores = np.random.default_rng(seed).normal(size=(3, length)) * 5
    scores[:, 0] = np.abs(scores[:, 0]) + 0.1
    for attention in (softmax(scores), relu_attention(scores)):
        assert (attention >= 0).all()
        np.testing.assert_allclose(attention.sum(axis=-1), 1.0)


def test_softmax_ignores_a_common_shift_and_survives_large_scores():
    scores = np.array([1000.0, 999.0, -1000.0])
    np.testing.assert_allclose(softmax(scores), softmax(scores - 1000))
    assert log_softmax(scores)[2] == pytest.approx(-2000 - np.log1p(np.exp(-1)))


def test_equal_scores_give_equal_attention():
    np.testing.assert_array_equal(softmax(np.full(4, 2.5)), np.full(4, 0.25))


def test_relu_attention_without_a_positive_score_is_refused():
    with pytest.raises(SettingError, match=r"scores: got 0\.0; .*positive score"):
        relu_attention(np.array([[1.0, 2.0], [0.0, -1.0]]))


def test_equation_38_scores_depend_on_the_product_of_query_and_key_matrices(rng):
    w_q, w_k = rng.normal(size=(2, 3, 5))
    query, embedding = rng.normal(size=5), rng.normal(size=(4, 5))
    one_by_one = [(w_q @ query) @ (w_k @ e) / np.sqrt(3) for e in embedding]
    np.testing.assert_allclose(bilinear_scores(query, embedding, w_q, w_k), one_by_one)


def test_the_oracle_is_uniform_on_the_informative_positions():
    informative = np.array([[True, True, False], [False, True, False]])
    np.testing.assert_array_equal(oracle_attention(informative), [[0.5, 0.5, 0], [0, 1, 0]])
    with pytest.raises(SettingError, match="informative"):
        oracle_attention(np.array([False, False]))


@given(seed=seeds, length=lengths)
def test_divergence_from_the_oracle_is_zero_only_at_the_oracle(seed, length):
    rng = np.random.default_rng(seed)
    oracle = oracle_attention(np.arange(length) < rng.integers(1, length + 1))
    assert kl_divergence(oracle, oracle) == pytest.approx(0, abs=1e-15)
    assert kl_divergence(oracle, softmax(rng.normal(size=length))) > 0


def test_divergence_is_infinite_where_an_informative_position_has_no_attention():
    oracle = np.array([0.5, 0.5, 0.0])
    assert kl_divergence(oracle, np.array([1.0, 0.0, 0.0])) == np.inf
    assert kl_divergence(oracle, np.array([0.5, 0.25, 0.25])) == pytest.approx(np.log(2) / 2)


@pytest.fixture
def rng():
    return np.random.default_rng(0)
