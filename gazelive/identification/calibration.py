"""Probability calibration: from a machine's decisions to log odds, from units to a session."""

from __future__ import annotations

import numpy as np
from scipy import special
from scipy.optimize import minimize, minimize_scalar

from gazelive.gaze import Floats, Integers
from gazelive.identification.learning import Fit, Linear, MachineKind, cross_validated
from gazelive.identification.units import shares_saccades

MOST_CLASSES_FOR_LOGISTIC = 100
"""With more viewers one temperature calibrates all: a matrix would have too many parameters."""
MATRIX_RIDGE, BIAS_RIDGE = 30.0, 0.3
"""For decisions of standard deviation 1."""
FEWEST_TO_CENTRE = 30
"""Viewers from which decisions are centred first: one-vs-rest machines of many viewers decide
around −1 with a small spread, and the fit would not converge; fewer are calibrated as in 0.1."""
TEMPERATURES = (1e-3, 1e3)
DEFAULT_FACTOR = 1.0
"""Factor from decisions to log odds if no unit could be held out; cautious."""
SESSION_SHIFT: dict[MachineKind, float] = {
    "likelihood": 0.0056,
    "svm": 0.0107,
    "logistic": 0.0056,
}
"""Variance that the units of one session share, in units of one saccade's own: ρ = 0.1 and 0.18 for
units of 20 saccades. Across the sessions of BioEye 2015 likelihoods have this (logistic ones are
taken to be alike), and Fisher SVMs twice this, which is too cautious for many short images."""


def fit_calibration(decisions: Floats, labels: Integers) -> Linear:
    """Return the map from decisions to logits, fitted on cross-validated decisions.

    logits = a·d + d·M + b with a temperature a. M, the weight of one viewer's machine for another
    viewer, is 0 with many viewers or where some were not held out, and else kept small by a ridge.
    """
    n, n_viewers = decisions.shape
    if n_viewers == 1:
        return Linear(np.zeros((1, 1)), np.zeros(1))
    if len(np.unique(labels)) < 2:
        return Linear(np.eye(n_viewers) * DEFAULT_FACTOR, np.zeros(n_viewers))
    scale = float(decisions.std()) or 1.0
    if n_viewers > MOST_CLASSES_FOR_LOGISTIC or len(np.unique(labels)) < n_viewers:
        temperature = fit_temperature(decisions / scale, labels)
        return Linear(np.eye(n_viewers) * (temperature / scale), np.zeros(n_viewers))
    centre = np.zeros(n_viewers)
    if n_viewers >= FEWEST_TO_CENTRE:
        centre = decisions.mean(axis=0)
    scaled = (decisions - centre) / scale
    every = np.arange(n)
    products = np.empty_like(scaled)  # arrays of this size are slow to get

    def loss(packed: Floats) -> tuple[float, Floats]:
        factor, bias, matrix = packed[0], packed[1 : 1 + n_viewers], packed[1 + n_viewers :]
        matrix = matrix.reshape(n_viewers, n_viewers)
        logits = scaled @ matrix
        logits += np.multiply(scaled, factor, out=products)
        logits += bias
        logits -= logits.max(axis=1, keepdims=True)
        logits -= np.log(np.exp(logits, out=products).sum(axis=1, keepdims=True))
        value = -float(np.sum(logits[every, labels]))
        residual = np.exp(logits, out=logits)
        residual[every, labels] -= 1
        value += MATRIX_RIDGE / 2 * float(np.sum(matrix**2)) + BIAS_RIDGE / 2 * float(bias @ bias)
        slope = np.concatenate(
            (
                [np.sum(np.multiply(residual, scaled, out=products))],
                residual.sum(axis=0) + BIAS_RIDGE * bias,
                (scaled.T @ residual + MATRIX_RIDGE * matrix).ravel(),
            )
        )
        return value / n, slope / n

    start = np.concatenate(([1.0], np.zeros(n_viewers + n_viewers**2)))
    bounds = [(0.0, None)] + [(None, None)] * (n_viewers + n_viewers**2)  # a ≥ 0
    found = minimize(
        loss, start, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": 300}
    ).x
    matrix = found[1 + n_viewers :].reshape(n_viewers, n_viewers)
    weights = (found[0] * np.eye(n_viewers) + matrix) / scale
    return Linear(weights, found[1 : 1 + n_viewers] - centre @ weights)


def fit_temperature(decisions: Floats, labels: Integers) -> float:
    """Return the factor of maximum likelihood from decisions to log odds."""
    return _temperature(decisions, labels)[0]


def held_out_loss(decisions: Floats, labels: Integers) -> float:
    """Return the mean of −ln p(right viewer) of held-out decisions, for a search (`Loss`).

    One temperature is fitted to them first: the scale of decisions is calibrated after a search.
    """
    if decisions.shape[1] < 2 or not len(labels):
        return np.inf
    return _temperature(decisions, labels)[1]


def cross_validated_loss(
    scores: Floats,
    labels: Integers,
    scanpaths: Integers,
    folds: Integers,
    n_viewers: int,
    fit: Fit,
) -> float:
    """Return the held-out loss of a machine on units, given the scanpath and fold of each."""
    decisions, held_out = cross_validated(scores, labels, folds, n_viewers, fit)
    judged = held_out & ~shares_saccades(scanpaths, folds)
    return held_out_loss(decisions[judged], labels[judged])


def _temperature(decisions: Floats, labels: Integers) -> tuple[float, float]:
    """Return the factor of maximum likelihood, and the mean of −ln p at it."""
    own = decisions[np.arange(len(labels)), labels]

    def loss(log_factor: float) -> float:
        factor = np.exp(log_factor)
        return float(np.mean(special.logsumexp(factor * decisions, axis=1) - factor * own))

    bounds = tuple(np.log(TEMPERATURES))
    found = minimize_scalar(loss, bounds=bounds, method="bounded")
    return float(np.exp(found.x)), float(found.fun)


def session_correlation(kind: MachineKind, usual_saccades: float, *, same: bool) -> float:
    """Return ρ, how alike units of so many saccades err within one session.

    It is 0 for probes of the `same` session as the training, in which a person has not changed.
    """
    shift = 0.0 if same else SESSION_SHIFT[kind] * usual_saccades
    return shift / (1 + shift)


def evidence_scale(units: float, correlation: float) -> float:
    """Return the weight of the summed evidence of several units of one session.

    They count as their effective number, n / (1 + (n − 1)·ρ): the design effect of cluster
    samples.
    """
    return 1 / (1 + max(units - 1, 0.0) * correlation)
