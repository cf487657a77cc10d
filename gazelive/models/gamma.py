"""The gamma distribution by shape and scale: density, fit and draws.

It is an exponential family with the sufficient statistics mean x and mean ln x, so that is all a
fit needs; the same pair gives the likelihood of a whole sample. Everything broadcasts.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy import special

from gazelive.gaze import Floats

LARGEST_SHAPE = 1e6
"""Shape of a sample that hardly varies; its maximum likelihood would be infinite."""
_N_STEPS = 8


def fit_gamma(mean: npt.ArrayLike, mean_log: npt.ArrayLike) -> tuple[Floats, Floats]:
    """Return the maximum-likelihood shape and scale for samples' means of x and of ln x.

    Newton's method on the inverse of the shape, which converges in four steps from the usual
    start (T. Minka, "Estimating a Gamma distribution", 2002).
    """
    mean = np.asarray(mean, np.float64)
    mean_log = np.asarray(mean_log, np.float64)
    # Jensen: never negative but by rounding, 0 for a sample that does not vary
    spread = np.maximum(np.log(mean) - mean_log, 0.5 / LARGEST_SHAPE)
    shape = (3 - spread + np.sqrt((spread - 3) ** 2 + 24 * spread)) / (12 * spread)
    for _ in range(_N_STEPS):
        error = np.log(shape) - special.digamma(shape) - spread
        slope = shape**2 * (1 / shape - special.polygamma(1, shape))
        shape = 1 / (1 / shape + error / slope)
    shape = np.minimum(shape, LARGEST_SHAPE)
    return shape, mean / shape


def gamma_log_density(x: npt.ArrayLike, shape: npt.ArrayLike, scale: npt.ArrayLike) -> Floats:
    """Return the natural logarithm of the density at `x` (positive)."""
    x = np.asarray(x, np.float64)
    return gamma_mean_log_density(x, np.log(x), shape, scale)


def gamma_mean_log_density(
    mean: npt.ArrayLike, mean_log: npt.ArrayLike, shape: npt.ArrayLike, scale: npt.ArrayLike
) -> Floats:
    """Return the mean log density of samples of which only the means of x and ln x are known."""
    mean, mean_log = np.asarray(mean, np.float64), np.asarray(mean_log, np.float64)
    shape, scale = np.asarray(shape, np.float64), np.asarray(scale, np.float64)
    log_normaliser = special.gammaln(shape) + shape * np.log(scale)
    return np.asarray((shape - 1) * mean_log - mean / scale - log_normaliser, np.float64)
