"""The gamma distribution against scipy's, and its fit against the score equations."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import special, stats

from gazelive.models.gamma import (
    LARGEST_SHAPE,
    fit_gamma,
    gamma_log_density,
    gamma_mean_log_density,
)

shapes = st.floats(0.05, 500)
scales = st.floats(1e-3, 1e3)


@given(shapes, scales)
def test_fit_solves_the_score_equations(shape: float, scale: float) -> None:
    mean = shape * scale
    mean_log = special.digamma(shape) + np.log(scale)
    fitted_shape, fitted_scale = fit_gamma(mean, mean_log)
    assert fitted_shape == pytest.approx(shape, rel=1e-6)
    assert fitted_scale == pytest.approx(scale, rel=1e-6)


def test_fit_of_a_sample_is_scipys_maximum() -> None:
    x = np.random.default_rng(1).gamma(1.7, 3.0, 400)
    shape, scale = fit_gamma(x.mean(), np.log(x).mean())
    theirs, _, their_scale = stats.gamma.fit(x, floc=0)
    assert shape == pytest.approx(theirs, rel=1e-4)
    assert scale == pytest.approx(their_scale, rel=1e-4)


def test_a_sample_that_does_not_vary_gets_a_finite_shape() -> None:
    shape, scale = fit_gamma(2.0, np.log(2.0))
    assert shape == LARGEST_SHAPE
    assert shape * scale == pytest.approx(2.0)


def test_fits_broadcast() -> None:
    mean = np.array([[1.0, 2.0], [3.0, 4.0]])
    shape, scale = fit_gamma(mean, np.log(mean) - 0.3)
    assert shape.shape == scale.shape == (2, 2)
    np.testing.assert_allclose(shape, shape[0, 0])
    np.testing.assert_allclose(shape * scale, mean)


@given(st.floats(1e-3, 1e3), shapes, scales)
def test_density_is_scipys(x: float, shape: float, scale: float) -> None:
    expected = stats.gamma.logpdf(x, shape, scale=scale)
    assert gamma_log_density(x, shape, scale) == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_means_are_enough_for_a_samples_likelihood() -> None:
    x = np.random.default_rng(2).gamma(2.0, 0.1, 50)
    mean_density = gamma_mean_log_density(x.mean(), np.log(x).mean(), 2.2, 0.09)
    assert mean_density == pytest.approx(float(gamma_log_density(x, 2.2, 0.09).mean()))
