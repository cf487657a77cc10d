"""Conditional logit: weights that made the data are found, and what is missing says nothing."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import special

from gazelive.identification.comparison.conditional_logit import (
    Fusion,
    Pairs,
    Weights,
    fit_weights,
    held_out_scores,
    mean_loss,
)

TRUE = np.array([2.0, 0.5, 0.0, 1.0])


def drawn(n_probes=3000, n_viewers=8, seed=0, weights=TRUE):
    """Return pairs whose owners are drawn by the logit of the weights."""
    rng = np.random.default_rng(seed)
    distances = rng.gamma(2.0, 1.0, (n_probes, n_viewers, len(weights)))
    shares = special.softmax(-distances @ weights, axis=1)
    owners = np.array([rng.choice(n_viewers, p=p) for p in shares])
    return Pairs(distances, distances.mean(axis=1), owners, np.arange(n_probes) % 3)


def test_the_weights_are_found():
    found = fit_weights(drawn(), np.ones(4), 0.5)
    np.testing.assert_allclose(found.weights, TRUE, atol=0.15)


def test_only_the_scale_is_fitted_without_a_ridge():
    found = fit_weights(drawn(), 0.1 * TRUE, None)
    np.testing.assert_allclose(found.weights / found.weights[0], TRUE / TRUE[0])
    assert found.weights[0] == pytest.approx(TRUE[0], abs=0.15)


def test_a_strong_ridge_keeps_the_proportions():
    centre = np.array([1.0, 1.0, 1.0, 1.0])
    found = fit_weights(drawn(500), centre, 1e6)
    assert np.ptp(found.weights) < 0.01 * found.weights.mean()


def test_few_separable_pairs_keep_a_finite_scale():
    distances = np.tile(1 - np.eye(2)[:, :, None], (2, 1, 3))
    pairs = Pairs(distances, np.ones((4, 3)), np.array([0, 1, 0, 1]), np.arange(4))
    assert fit_weights(pairs, np.ones(3), 0.5).weights.max() < 100


@settings(max_examples=20)
@given(seed=st.integers(0, 1000))
def test_a_missing_distance_is_neutral(seed):
    rng = np.random.default_rng(seed)
    weights = Weights(rng.random(3), rng.random(3), np.zeros(2))
    distances = rng.random((4, 3))
    distances[1, 2] = np.nan
    usual = distances.copy()
    usual[1, 2] = weights.usual[2]
    np.testing.assert_allclose(weights.scores(distances), weights.scores(usual), atol=1e-12)
    np.testing.assert_allclose(weights.parts(distances).sum(axis=1), weights.scores(distances))


def test_probes_of_unknown_viewers_are_scored_by_the_others():
    pairs = drawn(60)
    pairs.distances[:, 3] = np.nan
    pairs.owners[pairs.owners == 3] = 0
    scores = held_out_scores(pairs, np.ones(4), 0.5)
    assert np.isneginf(scores[:, 3]).all()
    assert np.isfinite(mean_loss(scores, pairs.owners))


def fusion(**changes):
    return Fusion(
        np.array([1.0, 4.0, 16.0]),
        np.array([[1.0, 0.0], [2.0, 1.0], [6.0, 1.0]]),
        np.array([[0.5, 0.5], [0.3, 0.3], [0.2, 0.2]]),
        np.array([[0.0, 1.0], [1.0, 0.8], [2.0, 0.6]]),
        **changes,
    )


@pytest.mark.parametrize(
    ("size", "weights"),
    [(0.1, (1, 0)), (1, (1, 0)), (2, (1.5, 0.5)), (4, (2, 1)), (8, (4, 1)), (100, (6, 1))],
)
def test_weights_are_linear_in_the_logarithm_of_the_size(size, weights):
    np.testing.assert_allclose(fusion().at(size).weights, weights)


def test_larger_sizes_grow_as_those_of_another_fusion():
    small = fusion()
    own = Fusion(small.sizes[:1], 3 * small.weights[:1], small.usual[:1], small.background[:1])
    grown = own.grown(small)
    np.testing.assert_allclose(grown.sizes, small.sizes)
    np.testing.assert_allclose(grown.weights.sum(axis=1), 3 * small.weights.sum(axis=1))


def test_the_floor_bounds_the_odds():
    scores = np.array([0.0, -50.0, -100.0])
    mixed = fusion(floor=0.1).evidence(scores, -5.0)
    assert mixed[0] - mixed[1] == pytest.approx(np.log(0.9 / 0.1 * np.exp(5) + 1))
    assert mixed[1] == pytest.approx(mixed[2])
    np.testing.assert_array_equal(fusion(temperature=0.5).evidence(scores, 0.0), 0.5 * scores)


def test_the_background_is_what_others_score():
    pairs = drawn(400)
    found = fit_weights(pairs, np.ones(4), 0.5)
    scores = found.scores(pairs.distances)
    others = np.ones(scores.shape, bool)
    others[np.arange(400), pairs.owners] = False
    mean = special.logsumexp(np.where(others, scores, -np.inf), axis=1) - np.log(7)
    assert np.mean(found.background_score(pairs.of_population) - mean) == pytest.approx(0, abs=0.01)


@given(correlation=st.floats(0, 0.5), size=st.sampled_from([1.0, 4.0, 16.0]))
def test_many_units_of_another_session_count_as_fewer(correlation, size):
    within, across = fusion().at(size), fusion().across_sessions(correlation).at(size)
    scale = 1 / (1 + (size - 1) * correlation)
    np.testing.assert_allclose(across.weights, scale * within.weights)
    distances = np.array([0.7, 0.1])
    expected = scale * within.background_score(distances)  # the odds of all shrink alike
    assert across.background_score(distances) == pytest.approx(expected)
