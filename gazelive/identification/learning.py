"""Linear machines on scores: whitening, support vector machines, logistic regression.

scikit-learn does the fitting; the results are matrices. A `Machine` keeps the whitened scores of
all units, against which one more viewer can be fitted later.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

import msgspec
import numpy as np
from scipy import special
from scipy.optimize import minimize

from gazelive.gaze import Flags, Floats, Integers, SingleFloats
from gazelive.identification.contract import Arrays, State
from gazelive.models import StoredArrays, stored_number

MachineKind = Literal["likelihood", "svm", "logistic"]
COSTS: dict[MachineKind, float] = {"svm": 0.3, "logistic": 0.05}
"""Prior variance of a new viewer's weights in the whitened space, by the kind of the others."""

MOST_KNOWN_UNITS = 10_000
"""Units of the others that a new viewer is fitted against; of more, evenly spaced ones."""
MOST_LOGITS = 10_000_000
"""Numbers (units × viewers) that are computed at once."""


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
        """Return the composition: `first`, then this."""
        return Linear(first.weights @ self.weights, self(first.bias))


@dataclass(frozen=True, eq=False)
class Machine:
    """Whitened scores of all units and the weights on them, for enrolling one more viewer.

    Generative models (`likelihood`) keep no scores: whitened ones have 0 dimensions.
    """

    kind: MachineKind
    factor: float
    """Factor from a likelihood ratio or an SVM's decision to log evidence."""
    whitening: Linear
    scores: SingleFloats
    """(units, whitened)"""
    viewers: Integers
    """(units,): position of each unit's viewer."""
    logits: Linear
    """Map from whitened scores to the log evidence of each viewer."""

    def add_to(self, state: State) -> State:
        """Return the state of an identifier with the machine in it."""
        return State(
            state.content | {"machine": {"kind": self.kind, "factor": self.factor}},
            state.arrays
            | {
                "machine/whitening": self.whitening.weights,
                "machine/whitening_bias": self.whitening.bias,
                "machine/scores": self.scores,
                "machine/viewers": self.viewers,
                "machine/logits": self.logits.weights,
                "machine/logits_bias": self.logits.bias,
            },
            {**state.viewer_axis, "machine/logits": 1, "machine/logits_bias": 0},
            {**state.unit_arrays, "machine/viewers": ("machine/scores",)},
        )

    @classmethod
    def from_state(cls, state: State, arrays: StoredArrays) -> Machine | None:
        """Return the machine in a state; None if there is none."""
        content = state.content.get("machine")
        if content is None:
            return None
        last = float(len(arrays.take("machine/logits_bias", "viewers")) - 1)
        return cls(
            msgspec.convert(content["kind"], MachineKind),
            stored_number(content, "factor"),
            Linear(
                arrays.take("machine/whitening", "machine dimensions", "whitened"),
                arrays.take("machine/whitening_bias", "whitened"),
            ),
            arrays.take("machine/scores", "units", "whitened"),
            arrays.take("machine/viewers", "units", least=0, most=last, whole=True),
            Linear(
                arrays.take("machine/logits", "whitened", "viewers"),
                arrays.take("machine/logits_bias", "viewers"),
            ),
        )

    def fit_viewer(self, scores: Floats) -> tuple[Linear, Arrays]:
        """Fit one more viewer to their scores (units, dimensions), all others unchanged.

        Return the map from scores to their log evidence, and what they add to the machine.
        """
        whitened = self.whitening(scores)
        logits = self._fit_logits(whitened)
        return logits.after(self.whitening), self.viewer_arrays(whitened, logits)

    def viewer_arrays(self, whitened: Floats, logits: Linear) -> Arrays:
        """Return what a viewer adds to the machine."""
        return {
            "machine/scores": whitened.astype(np.float32),
            "machine/viewers": np.zeros(len(whitened), np.int64),
            "machine/logits": logits.weights,
            "machine/logits_bias": logits.bias,
        }

    def _fit_logits(self, whitened: Floats) -> Linear:
        """Fit the new viewer's weights, those of the others fixed.

        The result is calibrated against the others. A new support vector machine would need a
        calibration of its own, from a few units.
        """
        cost = COSTS[self.kind]
        known = self.scores[:: -(-len(self.scores) // MOST_KNOWN_UNITS) or 1]
        scores = np.concatenate((known.astype(np.float64), whitened))
        is_new = np.arange(len(scores)) >= len(known)
        others = self._log_sum(scores)
        balance = len(self.scores) / max(len(self.logits.bias), 1) / len(whitened)
        weight = np.where(is_new, balance, len(self.scores) / max(len(known), 1))

        def loss(packed: Floats) -> tuple[float, Floats]:
            logit = scores @ packed[:-1] + packed[-1]
            margin = logit - others
            value = weight @ np.where(is_new, np.logaddexp(0, -margin), np.logaddexp(0, margin))
            slope = weight * (special.expit(margin) - is_new)
            ridge = packed[:-1] / cost
            gradient = np.append(scores.T @ slope + ridge, slope.sum())
            return float(value + 0.5 * packed[:-1] @ ridge), gradient

        start = np.zeros(scores.shape[1] + 1)
        found = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 200}).x
        return Linear(found[:-1, None], found[-1:])

    def _log_sum(self, scores: Floats) -> Floats:
        """Return ln Σ exp(logit) over all viewers (units,), in parts of bounded size."""
        n_units = max(1, MOST_LOGITS // max(1, len(self.logits.bias)))
        parts = [
            special.logsumexp(self.logits(scores[first : first + n_units]), axis=1)
            for first in range(0, len(scores), n_units)
        ]
        return np.concatenate(parts)


Fit = Callable[[Floats, Integers, int], Linear]
"""Fits a map from scores (n, dimensions), labels (n,) and the number of viewers to decisions."""


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

    An entry that is constant in training (a type of saccade that did not occur) must not decide
    when it first varies.
    """
    spread = scores.std(axis=0)
    varies = spread > 1e-9 * np.abs(scores).max(axis=0, initial=0.0)
    return np.where(varies, spread, np.inf)


def fit_svm(cost: float) -> Fit:
    """Return the fit of one-vs-rest linear support vector machines."""

    def fit(scores: Floats, labels: Integers, n_viewers: int) -> Linear:
        from sklearn.svm import LinearSVC

        if n_viewers == 1:
            return _nothing(scores, 1)
        machine = LinearSVC(C=cost, dual=False, max_iter=1000, random_state=0)
        with _quiet():
            machine.fit(scores, labels)
        return _of_sklearn(machine.coef_, machine.intercept_, machine.classes_, n_viewers)

    return fit


def fit_multinomial(cost: float, max_iterations: int = 300) -> Fit:
    """Return the fit of a multinomial logistic regression with a ridge."""

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
    """Return the fit of two multinomial logistic regressions, with an empirical Bayes prior.

    The prior covariance of the second is `learned` times the covariance of the viewers' weights in
    the first, and the rest even.
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
    scores: Floats,
    labels: Integers,
    folds: Integers,
    n_viewers: int,
    fit: Fit,
    most_folds: int | None = None,
) -> tuple[Floats, Flags]:
    """Return (n, viewers) decisions on held-out scores, and which scores were held out.

    A fold is skipped if one of its viewers is in no other fold, or if only one viewer remains:
    with few scanpaths that may be every fold. Only the first `most_folds` are held out.
    """
    decisions = np.zeros((len(scores), n_viewers))
    held_out = np.zeros(len(scores), bool)
    for fold in np.unique(folds)[:most_folds]:
        out = folds == fold
        rest = labels[~out]
        if n_viewers > 1 and (len(np.unique(rest)) < 2 or not np.isin(labels[out], rest).all()):
            continue
        decisions[out] = fit(scores[~out], rest, n_viewers)(scores[out])
        held_out |= out
    return decisions, held_out


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence warnings of scikit-learn that do not matter here."""
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings():
        # a machine that is nearly converged decides like a converged one
        warnings.simplefilter("ignore", ConvergenceWarning)
        # many viewers with few scanpaths each are still classes
        warnings.filterwarnings("ignore", message="The number of unique classes")
        yield


def _nothing(scores: Floats, n_viewers: int) -> Linear:
    return Linear(np.zeros((scores.shape[1], n_viewers)), np.zeros(n_viewers))


def _of_sklearn(
    coefficients: Floats, intercept: Floats, classes: Integers, n_viewers: int
) -> Linear:
    """Return the map for all viewers; of two classes scikit-learn keeps only the second."""
    if len(classes) == 2:
        coefficients = np.concatenate((-coefficients, coefficients)) / 2
        intercept = np.concatenate((-intercept, intercept)) / 2
    weights = np.zeros((coefficients.shape[1], n_viewers))
    bias = np.full(n_viewers, float(np.min(intercept)))
    weights[:, classes], bias[classes] = coefficients.T, intercept
    return Linear(weights, bias)
