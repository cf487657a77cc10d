"""What is learned on scores: whitening, linear machines, calibration. Training only.

scikit-learn does the fitting; what is kept is matrices.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import special
from scipy.optimize import minimize, minimize_scalar

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

MOST_CLASSES_FOR_LOGISTIC = 100
"""With more viewers than this one temperature calibrates them all: a matrix would have too many
numbers to be learned, and take too long."""
MATRIX_RIDGE, BIAS_RIDGE = 30.0, 0.3
"""Of the calibration, for decisions of standard deviation 1."""
TEMPERATURES = (1e-3, 1e3)
DEFAULT_FACTOR = 1.0
"""From decisions to log odds where nothing could be held out: cautious."""


@dataclass(frozen=True, eq=False)
class Linear:
    """decisions = scores @ weights + bias"""

    weights: Floats
    """(dimensions, viewers)"""
    bias: Floats
    """(viewers,)"""

    def __call__(self, scores: Floats) -> Floats:
        """Return (n, viewers) decisions."""
        return np.asarray(scores @ self.weights + self.bias, np.float64)

    def minus(self, offset: Floats) -> Linear:
        """Return the map less a constant."""
        return Linear(self.weights, self.bias - offset)

    def after(self, first: Linear) -> Linear:
        """Return the map that does `first` and then this."""
        return Linear(first.weights @ self.weights, self(first.bias))


Fit = Callable[[Floats, Integers, int], Linear]
"""Fits a map from scores (n, dimensions) and labels (n,) to decisions of so many viewers."""


def fit_whitening(scores: Floats, ridge: float = 1e-3) -> Linear:
    """Return the map to centred scores whose empirical information is (almost) the identity.

    Entries are brought to one scale first; then `ridge` times the mean eigenvalue is added to
    each. Directions in which nothing varies are left out.
    """
    mean, scale = scores.mean(axis=0), spread_of(scores)
    scaled = (scores - mean) / scale
    eigenvalues, vectors = np.linalg.eigh(scaled.T @ scaled / len(scaled))
    kept = eigenvalues > 1e-8
    if not kept.any():
        return Linear(np.zeros((len(mean), 1)), np.zeros(1))
    reach = np.sqrt(eigenvalues[kept] + ridge * eigenvalues.mean())
    matrix = vectors[:, kept] / reach / scale[:, None]
    return Linear(matrix, -mean @ matrix)


def spread_of(scores: Floats) -> Floats:
    """Return the standard deviation of each entry; infinite where it does not vary.

    What never varied in training (a type of saccade that nobody made) must not decide when it
    first occurs.
    """
    spread = scores.std(axis=0)
    varies = spread > 1e-9 * np.abs(scores).max(axis=0, initial=0.0)
    return np.where(varies, spread, np.inf)


def fit_svm(cost: float) -> Fit:
    """Return how to fit one-vs-rest linear support vector machines."""

    def fit(scores: Floats, labels: Integers, n_viewers: int) -> Linear:
        from sklearn.svm import LinearSVC

        if n_viewers == 1:
            return _nothing(scores, 1)
        machine = LinearSVC(C=cost, dual="auto", max_iter=1000, random_state=0)
        with _quiet():
            machine.fit(scores, labels)
        return _of_sklearn(machine.coef_, machine.intercept_, machine.classes_, n_viewers)

    return fit


def fit_multinomial(cost: float, max_iterations: int = 300) -> Fit:
    """Return how to fit a multinomial logistic regression with a ridge."""

    def fit(scores: Floats, labels: Integers, n_viewers: int) -> Linear:
        from sklearn.linear_model import LogisticRegression

        if n_viewers == 1:
            return _nothing(scores, 1)
        machine = LogisticRegression(C=cost, max_iter=max_iterations)
        with _quiet():
            machine.fit(scores, labels)
        return _of_sklearn(machine.coef_, machine.intercept_, machine.classes_, n_viewers)

    return fit


def fit_learned_prior(cost: float, cost_again: float, learned: float) -> Fit:
    """Return how to fit a multinomial logistic regression twice, learning where people differ.

    The first fit shows along which directions the viewers' weights vary. The second may vary more
    along these: its prior covariance is `learned` times the covariance found, and the rest even
    (empirical Bayes).
    """
    first, second = fit_multinomial(cost), fit_multinomial(cost_again)

    def fit(scores: Floats, labels: Integers, n_viewers: int) -> Linear:
        found = first(scores, labels, n_viewers)
        if n_viewers <= 2:
            return found
        varied = found.weights - found.weights.mean(axis=1, keepdims=True)
        covariance = varied @ varied.T
        covariance *= len(covariance) / max(float(np.trace(covariance)), 1e-300)
        eigenvalues, vectors = np.linalg.eigh(covariance)
        reach = np.sqrt(learned * np.maximum(eigenvalues, 0) + 1 - learned)
        stretched = vectors * reach
        again = second(scores @ stretched, labels, n_viewers)
        return Linear(stretched @ again.weights, again.bias)

    return fit


def cross_validated(
    scores: Floats, labels: Integers, folds: Integers, n_viewers: int, fit: Fit
) -> tuple[Floats, Flags]:
    """Return (n, viewers) decisions on scores that the machine did not see, and where there are.

    A fold is passed over if somebody in it is in no other, or if one viewer is all that is left:
    with few scanpaths that may be every fold.
    """
    decisions = np.zeros((len(scores), n_viewers))
    held_out = np.zeros(len(scores), bool)
    for fold in np.unique(folds):
        out = folds == fold
        rest = labels[~out]
        if n_viewers > 1 and (len(np.unique(rest)) < 2 or not np.isin(labels[out], rest).all()):
            continue
        decisions[out] = fit(scores[~out], rest, n_viewers)(scores[out])
        held_out |= out
    return decisions, held_out


def fit_calibration(decisions: Floats, labels: Integers) -> Linear:
    """Return the map from decisions to logits, fitted on cross-validated decisions.

    logits = a·d + d·M + b: a temperature, and with not too many viewers, all of whom were held
    out, what one viewer's machine says about another, M, which a ridge keeps small.
    """
    n, n_viewers = decisions.shape
    if n_viewers == 1:
        return Linear(np.zeros((1, 1)), np.zeros(1))
    if len(np.unique(labels)) < 2:
        return Linear(np.eye(n_viewers) * DEFAULT_FACTOR, np.zeros(n_viewers))
    scale = float(decisions.std()) or 1.0
    scaled = decisions / scale
    if n_viewers > MOST_CLASSES_FOR_LOGISTIC or len(np.unique(labels)) < n_viewers:
        temperature = fit_temperature(scaled, labels)
        return Linear(np.eye(n_viewers) * (temperature / scale), np.zeros(n_viewers))
    truth = np.eye(n_viewers)[labels]

    def loss(packed: Floats) -> tuple[float, Floats]:
        factor, bias, matrix = packed[0], packed[1 : 1 + n_viewers], packed[1 + n_viewers :]
        matrix = matrix.reshape(n_viewers, n_viewers)
        logits = special.log_softmax(factor * scaled + scaled @ matrix + bias, axis=1)
        residual = np.exp(logits) - truth
        value = -float(np.sum(logits[np.arange(n), labels]))
        value += MATRIX_RIDGE / 2 * float(np.sum(matrix**2)) + BIAS_RIDGE / 2 * float(bias @ bias)
        slope = np.concatenate(
            (
                [np.sum(residual * scaled)],
                residual.sum(axis=0) + BIAS_RIDGE * bias,
                (scaled.T @ residual + MATRIX_RIDGE * matrix).ravel(),
            )
        )
        return value / n, slope / n

    start = np.concatenate(([1.0], np.zeros(n_viewers + n_viewers**2)))
    bounds = [(0.0, None)] + [(None, None)] * (n_viewers + n_viewers**2)  # d never counts against
    found = minimize(
        loss, start, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": 300}
    ).x
    matrix = found[1 + n_viewers :].reshape(n_viewers, n_viewers)
    return Linear((found[0] * np.eye(n_viewers) + matrix) / scale, found[1 : 1 + n_viewers])


def fit_temperature(decisions: Floats, labels: Integers) -> float:
    """Return the factor under which decisions are the best log odds."""
    own = decisions[np.arange(len(labels)), labels]

    def loss(log_factor: float) -> float:
        factor = np.exp(log_factor)
        return float(np.mean(special.logsumexp(factor * decisions, axis=1) - factor * own))

    bounds = tuple(np.log(TEMPERATURES))
    return float(np.exp(minimize_scalar(loss, bounds=bounds, method="bounded").x))


@contextmanager
def _quiet() -> Iterator[None]:
    """Let scikit-learn fit without warnings that are no use here."""
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings():
        # a machine that is nearly converged decides as a converged one does
        warnings.simplefilter("ignore", ConvergenceWarning)
        # many viewers with few scanpaths each are still no regression
        warnings.filterwarnings("ignore", message="The number of unique classes")
        yield


def _nothing(scores: Floats, n_viewers: int) -> Linear:
    return Linear(np.zeros((scores.shape[1], n_viewers)), np.zeros(n_viewers))


def _of_sklearn(
    coefficients: Floats, intercept: Floats, classes: Integers, n_viewers: int
) -> Linear:
    """Return the map for all viewers; of two classes scikit-learn keeps the second's only."""
    if len(classes) == 2:
        coefficients = np.concatenate((-coefficients, coefficients)) / 2
        intercept = np.concatenate((-intercept, intercept)) / 2
    weights = np.zeros((coefficients.shape[1], n_viewers))
    bias = np.full(n_viewers, float(np.min(intercept)))
    weights[:, classes], bias[classes] = coefficients.T, intercept
    return Linear(weights, bias)
