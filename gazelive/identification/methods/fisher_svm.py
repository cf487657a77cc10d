"""The Fisher SVM: Fisher scores, whitening, a linear SVM per viewer, and a calibration.

S. Makowski et al., "Discriminative viewer identification using generative models of eye gaze",
KES 2020: scores under the pooled model, whitened by the regularised empirical information, a
one-vs-rest linear SVM, and a multinomial logistic regression on cross-validated decisions. Log
posteriors less the log prior of training add up over scanpaths.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Protocol

import numpy as np

from gazelive.gaze import Flags, Floats, Integers
from gazelive.identification.calibration import (
    MOST_CLASSES_FOR_LOGISTIC,
    cross_validated_loss,
    fit_calibration,
)
from gazelive.identification.comparison.linear import (
    BlockWeights,
    LinearFit,
    LinearIdentifier,
    linear_fitted,
    score_weights,
)
from gazelive.identification.fitted import Accuracy, Fitted, Options, accuracy_by_images
from gazelive.identification.hyperparameters import N_SEARCH_FOLDS, Grid, Hyperparameters
from gazelive.identification.learning import (
    Linear,
    Machine,
    cross_validated,
    fit_svm,
    fit_whitening,
)
from gazelive.identification.methods.markov import method_features
from gazelive.identification.scores import (
    Representation,
    TrainingUnits,
    gradient_block,
    log_shares,
    training_units,
)
from gazelive.identification.training_data import TrainingSet
from gazelive.models import markov_of_statistics, scanpath_statistics

GRID = Grid(
    {"ridge": (0.01, 0.1, 1.0, 10.0), "cost": (0.01, 0.1, 1.0)},
    {"ridge": 0.1, "cost": 0.1},
)
"""`ridge` of the empirical information, in units of its mean eigenvalue; `cost` is the C of the SVM
in the whitened space. The votes of docs/study.md for `ridge` are higher, but viewers enrolled into
such machines later are recognised worse."""


@dataclass(frozen=True, eq=False)
class FisherSvm:
    """A Fisher SVM on any scores."""

    machine: Machine
    evidence: Linear
    """Map from scores to log evidence; includes whitening and calibration."""
    decisions: Floats
    """(units, viewers): cross-validated, without the calibration that was fitted to them."""
    held_out: Flags
    """(units,): where there are such decisions."""

    folds: Integers

    def accuracy_by_images(self, scanpaths: Integers) -> dict[str, Accuracy]:
        """Return the cross-validated accuracy for 1, 10 and all images, given each unit's scanpath.

        Plain decisions do not add up over images: some machines decide higher than others. The
        calibration mends that, but was fitted to these units. So the decisions of each machine are
        standardised over the units that it judged.
        """
        standardised = np.zeros_like(self.decisions)
        for fold in np.unique(self.folds[self.held_out]):
            out = self.folds == fold
            own = self.decisions[out]
            spread = own.std(axis=0)
            standardised[out] = (own - own.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
        single, several = (
            accuracy_by_images(evidence, self.machine.viewers, scanpaths, self.folds, self.held_out)
            for evidence in (self.decisions, standardised)
        )
        return single | {name: found for name, found in several.items() if name != "1"}


class Whitening(Protocol):
    """The space in which the machines work: a map from scores, at a point of the grid."""

    def __call__(self, scores: Floats, at: Hyperparameters, /) -> Linear:
        """Return the map for scores (units, dimensions) of training."""
        ...


def by_information(scores: Floats, at: Hyperparameters) -> Linear:
    """Return the whitening by the empirical information, as in the paper."""
    return fit_whitening(scores, at["ridge"])


def choose_for_svm(
    scores: Floats,
    training: TrainingSet,
    scanpaths: Integers,
    *,
    search: bool,
    grid: Grid = GRID,
    whitening: Whitening = by_information,
) -> Hyperparameters:
    """Return the point of a grid for the scores (units, dimensions) of units of scanpaths."""
    viewers = training.viewers[scanpaths]
    folds = training.folds(scanpaths, N_SEARCH_FOLDS)

    @cache
    def whitened(but_cost: frozenset[tuple[str, float]]) -> Floats:
        return whitening(scores, dict(but_cost))(scores)

    def loss(at: Hyperparameters) -> float:
        return cross_validated_loss(
            whitened(frozenset(at.items() - {("cost", at["cost"])})),
            viewers,
            scanpaths,
            folds,
            training.n_viewers,
            fit_svm(at["cost"]),
        )

    return grid.choose(loss, search=search)


def fit_fisher_svm(
    scores: Floats,
    viewers: Integers,
    folds: Integers,
    n_viewers: int,
    chosen: Hyperparameters,
    whitening: Whitening = by_information,
) -> FisherSvm:
    """Fit to the scores (units, dimensions) of units with their viewers and folds."""
    to_machines = whitening(scores, chosen)
    whitened = to_machines(scores)
    fit = fit_svm(chosen["cost"])
    decisions, held_out = cross_validated(whitened, viewers, folds, n_viewers, fit)
    calibration = fit_calibration(decisions[held_out], viewers[held_out])
    log_prior = log_shares(viewers, n_viewers)
    logits = calibration.after(fit(whitened, viewers, n_viewers)).minus(log_prior)
    factor = float(np.mean(np.diag(calibration.weights)))
    machine = Machine("svm", factor, to_machines, whitened.astype(np.float32), viewers, logits)
    return FisherSvm(machine, logits.after(to_machines), decisions, held_out, folds)


def svm_fit(
    svm: FisherSvm,
    weights: tuple[BlockWeights, ...],
    units: TrainingUnits,
    n_viewers: int,
    chosen: Hyperparameters,
) -> LinearFit:
    """Return a Fisher SVM as a linear method with these weights, before strangers are known."""
    return LinearFit(
        weights,
        svm.evidence.bias,
        units.accuracy(svm.decisions, svm.held_out),
        _how_calibrated(units.viewers[svm.held_out], n_viewers),
        units.scores,
        svm.machine,
        units.usual_saccades,
        hyperparameters=chosen,
        accuracy_by_images=svm.accuracy_by_images(units.scanpaths),
    )


def fit_fisher_markov(
    method: str, training: TrainingSet, options: Options, *, dynamics: bool
) -> Fitted:
    """Fit `fisher-markov` or `fisher-markov-dynamics`."""
    features = method_features(training, dynamics=dynamics)
    statistics = sum(scanpath_statistics(features, path) for path in training.scanpaths)
    pooled = markov_of_statistics(features, np.asarray(statistics))
    representation = Representation((gradient_block(pooled),))
    units = training_units(training, representation)
    n_viewers = training.n_viewers
    chosen = choose_for_svm(units.scores, training, units.scanpaths, search=options.search)
    svm = fit_fisher_svm(units.scores, units.viewers, units.folds, n_viewers, chosen)
    weights = score_weights(representation, svm.evidence.weights)
    fit = svm_fit(svm, weights, units, n_viewers, chosen)
    return linear_fitted(LinearIdentifier, method, training, options, fit)


def _how_calibrated(held_out: Integers, n_viewers: int) -> str:
    n_held_out = len(np.unique(held_out))
    if n_viewers > 1 and n_held_out < 2:
        return "one factor, the default (too few scanpaths)"
    if n_viewers > MOST_CLASSES_FOR_LOGISTIC or n_held_out < n_viewers:
        return "one temperature for all viewers by cross-validation over scanpaths"
    return "multinomial logistic regression on decisions cross-validated over scanpaths"
