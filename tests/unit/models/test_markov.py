"""The Markov models: gradient = finite differences, fit recovers, likelihood = plain sum."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats

from gazelive.errors import ModelError
from gazelive.features.scanpath import N_COLUMNS, Column, Scanpath
from gazelive.models.markov import (
    MarkovModel,
    markov_dynamics_features,
    markov_features,
    markov_of_statistics,
)

from ...support.markov_models import fit_markov, sample, with_parameters

SETS = {"markov": markov_features(), "markov-dynamics": markov_dynamics_features(6.0)}


def random_model(name, seed):
    rng = np.random.default_rng(seed)
    features = SETS[name]
    cells = (features.n_types, len(features.features))
    return MarkovModel(
        features,
        rng.dirichlet(np.full(cells[0], 3.0)),
        rng.uniform(0.6, 12, cells),
        np.exp(rng.normal(0, 2, cells)),
    )


def with_holes(scanpath, seed, share=0.2):
    """Mask some values, take some types away."""
    rng = np.random.default_rng(seed)
    rows = scanpath.saccades.copy()
    hidden = rng.random(rows.shape) < share
    hidden[:, : Column.DX_DEG] = False
    rows[hidden] = np.nan
    rows[rng.random(len(rows)) < share, Column.TURN] = -1
    return Scanpath(rows, scanpath.fixations, scanpath.seconds)


def plain_log_likelihood(model, scanpath):
    """The corrected equations, term by term."""
    total = 0.0
    values = model.features.values(scanpath.saccades)
    for row, x in zip(scanpath.saccades, values, strict=True):
        u = int(row[Column.TURN])
        if u < 0:
            continue
        total += np.log(model.shares[u])
        for f, value in enumerate(x):
            if np.isfinite(value):
                total += stats.gamma.logpdf(value, model.shape[u, f], scale=model.scale[u, f])
    return total


@pytest.mark.parametrize("name", SETS)
@settings(max_examples=20)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(0, 30))
def test_likelihood_is_the_plain_sum(name, seed, n):
    model = random_model(name, seed)
    scanpath = with_holes(sample(model, n, np.random.default_rng(seed)), seed)
    expected = plain_log_likelihood(model, scanpath)
    assert model.log_likelihood(scanpath) == pytest.approx(expected, rel=1e-10, abs=1e-9)


@pytest.mark.parametrize("name", SETS)
@settings(max_examples=20)
@given(seed=st.integers(0, 2**32 - 1))
def test_score_is_the_numerical_gradient(name, seed):
    model = random_model(name, seed)
    scanpath = with_holes(sample(model, 25, np.random.default_rng(seed)), seed)
    score, at = model.fisher_score(scanpath), model.parameters()
    assert np.isfinite(score).all()
    for k in range(len(at)):
        step = 1e-4 * max(abs(at[k]), 1e-3)
        far = np.array([-2, -1, 1, 2]) * step
        values = [
            with_parameters(model, at + offset * (np.arange(len(at)) == k)).log_likelihood(scanpath)
            for offset in far
        ]
        slope = (values[0] - 8 * values[1] + 8 * values[2] - values[3]) / (12 * step)
        assert score[k] == pytest.approx(slope, rel=1e-6, abs=1e-6 * np.abs(score).max() + 1e-7)


@pytest.mark.parametrize("name", SETS)
def test_fit_recovers_the_sampled_model(name):
    model = random_model(name, 5)
    rng = np.random.default_rng(1)
    fitted = fit_markov(model.features, [sample(model, 50, rng) for _ in range(2000)])
    np.testing.assert_allclose(fitted.shares, model.shares, atol=0.01)
    np.testing.assert_allclose(fitted.shape, model.shape, rtol=0.06)
    np.testing.assert_allclose(fitted.shape * fitted.scale, model.shape * model.scale, rtol=0.03)


@pytest.mark.parametrize("name", SETS)
def test_the_mean_score_at_the_fit_is_zero(name):
    model = random_model(name, 7)
    rng = np.random.default_rng(2)
    paths = [sample(model, 30, rng) for _ in range(50)]
    fitted = fit_markov(model.features, paths)
    scores = np.array([fitted.fisher_score(path) for path in paths])
    spread = scores.std(axis=0)
    assert (np.abs(scores.mean(axis=0)) < 0.05 * spread + 1e-9).all()


def test_the_first_saccade_says_nothing():
    model = random_model("markov", 3)
    rows = np.full((1, N_COLUMNS), np.nan, np.float32)
    rows[0, [Column.TURN, Column.AMPLITUDE_DEG, Column.NEXT_FIXATION_S]] = -1, 3, 0.2
    path = Scanpath(rows, np.empty((0, 3)), 1.0)
    assert model.log_likelihood(path) == 0
    assert not model.fisher_score(path).any()


def test_nothing_cannot_be_fitted():
    empty = Scanpath(np.empty((0, N_COLUMNS), np.float32), np.empty((0, 3)), 0.0)
    with pytest.raises(ModelError, match="nothing to fit"):
        fit_markov(markov_features(), [empty])


def test_a_viewer_of_whom_little_is_known_is_near_the_population():
    model = random_model("markov-dynamics", 11)
    shape = (4, 1 + 3 * 8)
    shrunken = markov_of_statistics(model.features, np.zeros(shape), towards=model)
    np.testing.assert_allclose(shrunken.shares, model.shares)
    np.testing.assert_allclose(shrunken.shape, model.shape, rtol=1e-6)
    np.testing.assert_allclose(shrunken.scale, model.scale, rtol=1e-6)
