"""Densities with a Gaussian-process prior around a base density, on bins even in ln x.

p(x) ∝ base(x)·exp(g(x)) with g ~ GP(0, k): the logistic Gaussian process of T. Leonard (1978,
"Density estimation, stochastic processes and prior information", JRSS B) and P. Lenk (1988, "The
logistic normal distribution for Bayesian, nonparametric, predictive densities", JASA). In a bin g
is constant, so a density is the mass of each of its `N_BINS` bins, and the data are counts. The
kernel is k = σ²·exp(−½(Δ ln x / ℓ)²) with ℓ in standard deviations of ln x. g = Φw with few columns
Φ and w ~ N(0, 1); the posterior of w is approximated by a Gaussian at its mode (Laplace).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import special

from gazelive.gaze import Floats
from gazelive.models.gamma import gamma_log_density
from gazelive.models.gp_density_kernels import LOW, N_BINS, RATE, SPREAD, bin_numbers

TAIL = 0.001
MARGIN_SD = 0.3
"""Bins span all values but this share at each end, and a margin; the end bins take the rest."""
LEAST_SPREAD = 0.05
"""Least SD of ln x: a few equal values must not make bins of no width."""
LEAST_MASS = 1e-9
"""Least mass of a bin under a gamma density: a value that it all but excludes can occur."""
LEAST_EIGENVALUE = 1e-4
"""Directions of g with a smaller share of the largest variance are left out."""
_MOST_STEPS, _MOST_HALVINGS, _CONVERGED = 40, 10, 1e-9


@dataclass(frozen=True, eq=False)
class Laplace:
    """Posterior modes of several densities with one prior."""

    weights: Floats
    """(densities, directions): w."""
    log_masses: Floats
    """(densities, bins): ln of the mass of each bin at the mode."""
    log_evidence: Floats
    """(densities,): ln p(counts), less the multinomial coefficient."""


def fit_log_bins(values: Floats) -> Floats:
    """Return bins (`LOW`, `RATE`, `SPREAD`) for positive values; without values any bins."""
    if not len(values):
        return np.array([0.0, 1.0, 1.0])
    logs = np.log(values)
    spread = max(float(logs.std()), LEAST_SPREAD)
    low, high = np.quantile(logs, (TAIL, 1 - TAIL)) + MARGIN_SD * spread * np.array([-1, 1])
    return np.array([low, N_BINS / (high - low), spread])


def bin_edges(bins: Floats) -> Floats:
    """Return the edges in ln x, (…, N_BINS + 1), of bins (…, 3)."""
    edges: Floats = bins[..., LOW, None] + np.arange(N_BINS + 1) / bins[..., RATE, None]
    return edges


def gamma_log_masses(bins: Floats, shape: npt.ArrayLike, scale: npt.ArrayLike) -> Floats:
    """Return ln of the mass of each bin (…, bins) under gamma densities; all of it is in bins."""
    shape, scale = np.asarray(shape)[..., None], np.asarray(scale)[..., None]
    inner = np.exp(bin_edges(bins)[..., 1:-1]) / scale
    below, above = special.gammainc(shape, inner), special.gammaincc(shape, inner)
    zero, one = np.zeros_like(below[..., :1]), np.ones_like(below[..., :1])
    below, above = np.concatenate((zero, below, one), -1), np.concatenate((one, above, zero), -1)
    # the difference of the smaller of both tails: 1 − 1 has no digits left
    is_low = below[..., 1:] < 0.5
    masses = np.where(is_low, np.diff(below, axis=-1), -np.diff(above, axis=-1))
    return np.asarray(special.log_softmax(np.log(np.maximum(masses, LEAST_MASS)), axis=-1))


def gp_directions(bins: Floats, log_base: Floats, deviation: float, length: float) -> Floats:
    """Return Φ (bins, directions) of one cell, for σ = `deviation` and ℓ = `length`.

    A constant in g changes nothing: g has mean 0 under the base.
    """
    middles = (np.arange(N_BINS) + 0.5) / bins[RATE] / bins[SPREAD]
    distances = (middles[:, None] - middles) / length
    covariance = deviation**2 * np.exp(-0.5 * distances**2)
    centring = np.eye(N_BINS) - np.exp(log_base)
    values, vectors = np.linalg.eigh(centring @ covariance @ centring.T)
    kept = values > LEAST_EIGENVALUE * max(float(values[-1]), 1e-12)
    directions: Floats = vectors[:, kept] * np.sqrt(values[kept])
    return directions


def fit_gp_densities(counts: Floats, log_base: Floats, directions: Floats) -> Laplace:
    """Fit densities to counts (densities, bins), around a `log_base` of all, or one of each.

    Newton's method on all at once; a step that would lose is halved.
    """
    n_densities, n_directions = len(counts), directions.shape[1]
    n = counts.sum(axis=1)
    products = (directions[:, :, None] * directions[:, None, :]).reshape(N_BINS, -1)

    def log_masses(weights: Floats) -> Floats:
        return np.asarray(special.log_softmax(log_base + weights @ directions.T, axis=1))

    def log_joint(weights: Floats, logs: Floats) -> Floats:
        joint: Floats = (counts * logs).sum(axis=1) - 0.5 * (weights**2).sum(axis=1)
        return joint

    def curvature(masses: Floats) -> Floats:
        mean = masses @ directions
        squares = (masses @ products).reshape(n_densities, n_directions, n_directions)
        spread = squares - mean[:, :, None] * mean[:, None, :]
        return np.asarray(n[:, None, None] * spread + np.eye(n_directions))

    weights = np.zeros((n_densities, n_directions))
    logs = log_masses(weights)
    value = log_joint(weights, logs)
    for _ in range(_MOST_STEPS):
        masses = np.exp(logs)
        slope = (counts - n[:, None] * masses) @ directions - weights
        step = np.linalg.solve(curvature(masses), slope[:, :, None])[:, :, 0]
        for _ in range(_MOST_HALVINGS):
            further = weights + step
            further_logs = log_masses(further)
            gained = log_joint(further, further_logs) - value
            loses = gained < -_CONVERGED
            if not loses.any():
                break
            step[loses] /= 2
        moves = ~loses  # what loses after all halvings is at its mode, to rounding
        weights[moves], logs[moves] = further[moves], further_logs[moves]
        value[moves] += gained[moves]
        if not (gained > _CONVERGED).any():
            break
    _, log_determinant = np.linalg.slogdet(curvature(np.exp(logs)))
    return Laplace(weights, logs, value - 0.5 * log_determinant)


def log_density(
    x: Floats, bins: Floats, shape: float, scale: float, deviations: Floats | None = None
) -> Floats:
    """Return ln p(x) of a gamma density times exp(g), not that of x's bin.

    `deviations` (bins,) is g, 0 by default: with it a bin has the mass that its table says, and
    within the bin the density is the gamma's.
    """
    logs = gamma_log_density(x, shape, scale)
    if deviations is None:
        return logs
    total = special.logsumexp(gamma_log_masses(bins, shape, scale) + deviations)
    at = bin_numbers(np.asarray(x, np.float64), bins)
    return np.asarray(logs + deviations[at] - total, np.float64)
