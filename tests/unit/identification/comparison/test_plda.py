"""Viewers against strangers: the ratio by plain multivariate normals, thresholds by drawing."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.stats import multivariate_normal

from gazelive.identification.comparison.plda import (
    best_matches,
    fit_plda,
    fit_strangers,
    left_out_strangers,
)
from gazelive.identification.contract import Match, Terms
from gazelive.identification.shipped.strangers import shipped_genuine

N_DIMENSIONS = 4


def drawn(n_viewers, n_units, seed=0):
    """Return scores of people, who are drawn from one Gaussian and their units around them."""
    rng = np.random.default_rng(seed)
    turn, _ = np.linalg.qr(rng.normal(size=(N_DIMENSIONS, N_DIMENSIONS)))
    means = rng.normal(0, (3.0, 2.0, 1.0, 0.5), (n_viewers, N_DIMENSIONS))
    viewers = np.repeat(np.arange(n_viewers), n_units)
    return (means[viewers] + rng.normal(size=(len(viewers), N_DIMENSIONS))) @ turn + 3.0, viewers


@settings(max_examples=20)
@given(seed=st.integers(0, 1000), n=st.integers(1, 30), viewer=st.integers(0, 5))
def test_the_ratio_is_that_of_joint_normal_densities(seed, n, viewer):
    scores, viewers = drawn(6, 8, seed)
    model = fit_plda(scores, viewers, 6)
    back = np.linalg.inv(model.projection)
    within, between = back.T @ back, back.T @ np.diag(model.between) @ back
    middle = -model.offset @ back
    probe = scores[np.random.default_rng(seed).integers(len(scores))]
    enrolled = scores[viewers == viewer].mean(axis=0)
    of_probe, of_enrolled = between + within / n, between + within / 8
    joint = np.block([[of_probe, between], [between, of_enrolled]])
    expected = (
        multivariate_normal.logpdf(
            np.concatenate((probe, enrolled)), np.concatenate((middle, middle)), joint
        )
        - multivariate_normal.logpdf(probe, middle, of_probe)
        - multivariate_normal.logpdf(enrolled, middle, of_enrolled)
    )
    found = model.log_ratio(probe, n, viewer)
    assert found == pytest.approx(expected, rel=1e-5, abs=1e-4)


def test_the_best_match_is_the_largest_ratio():
    scores, viewers = drawn(7, 9, 1)
    model = fit_plda(scores, viewers, 7)
    for n in (1, 4.5, 100):
        expected = [max(model.log_ratio(x, n, v) for v in range(7)) for x in scores[:10]]
        np.testing.assert_allclose(best_matches(model, scores[:10], n), expected, atol=1e-8)


def test_a_viewer_who_comes_later_is_known_as_if_from_the_first():
    scores, viewers = drawn(5, 12, 2)
    model = fit_plda(scores, viewers, 5)
    for viewer in range(5):
        [mean], [variance] = model.viewer_arrays(scores[viewers == viewer]).values()
        np.testing.assert_allclose(mean, model.means[viewer], atol=1e-9)
        np.testing.assert_allclose(variance, model.variances[viewer], atol=1e-12)


def test_the_population_is_recovered():
    scores, viewers = drawn(400, 20, 3)
    model = fit_plda(scores, viewers, 400)
    z = scores @ model.projection + model.offset
    own = np.array([z[viewers == v].mean(axis=0) for v in range(400)])
    np.testing.assert_allclose((z - own[viewers]).var(axis=0), 1, atol=0.2)  # shrunken
    np.testing.assert_allclose(own.mean(axis=0), 0, atol=1e-9)
    ratios = [
        [model.log_ratio(scores[20 * i], 1, v) for v in range(400)] for i in range(0, 400, 10)
    ]
    own_ratio = [row[10 * i] for i, row in enumerate(ratios)]
    assert np.mean(own_ratio) > 1
    assert np.mean(ratios) < -1


def test_a_constant_direction_does_not_decide():
    scores, viewers = drawn(6, 10, 4)
    scores = np.column_stack((scores, np.full(len(scores), -0.3)))
    model = fit_plda(scores, viewers, 6)
    probe = scores[0].copy()
    before = model.log_ratio(probe, 5, 0)
    probe[-1] += 100
    assert model.log_ratio(probe, 5, 0) == pytest.approx(before)


@pytest.mark.parametrize("rate", [0.02, 0.1])
def test_few_strangers_are_accepted_and_more_viewers(rate):
    n_enrolled, n_all = 30, 130
    genuine, once = shipped_genuine("markov"), Terms(repeated=False)
    passed, accepted = [], []
    for seed in range(6):
        scores, viewers = drawn(n_all, 30, seed)
        known = (viewers < n_enrolled) & (np.arange(len(viewers)) % 30 < 20)
        own = scores[known], viewers[known], n_enrolled
        strangers, model = left_out_strangers(*own, rate, genuine), fit_plda(*own)
        for n in (1, 5, 10):
            probes = np.array([scores[30 * v + 20 :][:n].mean(axis=0) for v in range(n_all)])
            matches = [Match(m, n) for m in best_matches(model, probes, n)]
            is_accepted = np.array([strangers.judge(m, once).accepted for m in matches])
            passed.append(np.mean(is_accepted[n_enrolled:]))
            accepted.append(np.mean(is_accepted[:n_enrolled]))
    assert 0 < np.mean(passed) < 2 * rate
    assert np.mean(accepted) > 2 * np.mean(passed)


@pytest.mark.parametrize("n_viewers", [1, 2, 3])
def test_too_few_viewers_give_no_stranger_model(n_viewers):
    scores, viewers = drawn(n_viewers, 10)
    model, strangers = fit_strangers(scores, viewers, n_viewers, 0.01, shipped_genuine("markov"))
    assert model is None
    assert strangers.judge(Match(1e9, 50), Terms()).log_unknown is None
    assert "too few" in strangers.source
