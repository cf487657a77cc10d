"""The paper's Markov models as identifiers: generative, and as Fisher SVMs.

Generative: each viewer's own densities, shrunken a little towards everybody's; the evidence is
the log likelihood ratio to the pooled model, times one temperature that cross-validation finds
(the raw one is far too sure of itself).

Fisher SVM: scores under the pooled model, whitened by the regularised empirical information, a
one-vs-rest linear SVM, and a multinomial logistic regression on cross-validated decisions, whose
log posteriors (minus the log prior of training) add up over scanpaths.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import special

from gazelive.features.feature_set import FeatureSet
from gazelive.features.scanpath import Column, Rows, Scanpath
from gazelive.features.vigor import mean_rate_deg
from gazelive.identification.fitted import Accuracy, Machine, MachineKind, accuracy_of_units
from gazelive.identification.folds import shares_saccades, unit_folds
from gazelive.identification.linear import BlockWeights, Closing, score_weights
from gazelive.identification.machines import (
    MOST_CLASSES_FOR_LOGISTIC,
    Linear,
    cross_validated,
    fit_calibration,
    fit_svm,
    fit_temperature,
    fit_whitening,
)
from gazelive.identification.representation import Representation, gradient_block
from gazelive.identification.training_set import TrainingSet
from gazelive.identification.units import n_units
from gazelive.models.markov import (
    MarkovModel,
    markov_dynamics_features,
    markov_features,
    markov_of_statistics,
    scanpath_statistics,
)

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

DEFAULT_TEMPERATURE = 0.5
"""Of the generative models' log likelihood ratio, where it cannot be cross-validated."""
RIDGE = 0.1
"""Of the empirical information, in units of its mean eigenvalue."""
SVM_COST = 0.1
"""C of the SVM in the whitened space; anything from 0.01 to 1 does as well."""


@dataclass(frozen=True, eq=False)
class LinearFit:
    """What training a linear method gives."""

    weights: tuple[BlockWeights, ...]
    constant: Floats
    accuracy: Accuracy | None
    calibration: str
    """How it was calibrated, in words."""
    raw_scores: Floats
    """(units, dimensions): plain scores, which tell strangers."""
    machine: Machine
    usual_saccades: float
    """Mean number of saccades of a unit."""
    closing: Closing | None = None
    closing_weights: Floats | None = None


def method_features(training: TrainingSet, *, dynamics: bool) -> FeatureSet:
    """Return the paper's features; with dynamics the vigor's rate b* is fitted."""
    if not dynamics:
        return markov_features()
    return markov_dynamics_features(fit_vigor_rate_deg(training))


def fit_vigor_rate_deg(training: TrainingSet) -> float:
    """Return b*: the mean over viewers of each one's least-squares rate."""
    amplitude, velocity = Column.AMPLITUDE_DEG, Column.PEAK_VELOCITY_DEG_S
    people = []
    for viewer in range(training.n_viewers):
        rows = _stacked([path.saccades for path in training.of_viewer(viewer)])
        people.append((rows[:, amplitude], rows[:, velocity]))
    return mean_rate_deg(people)


def known_vigor_rate_deg(training: TrainingSet) -> float | None:
    """Return b* where there are recordings to fit it to."""
    return fit_vigor_rate_deg(training) if training.kind == "samples" else None


def fit_generative(training: TrainingSet, *, dynamics: bool) -> LinearFit:
    """Fit `markov` or `markov-dynamics`."""
    features = method_features(training, dynamics=dynamics)
    n_viewers = training.n_viewers
    pieces = [
        (number, Scanpath(rows, path.fixations, 0.0))
        for number, path in enumerate(training.scanpaths)
        for rows in np.array_split(path.saccades, round(n_units(path.n_saccades)))
    ]
    where = np.array([number for number, _ in pieces], np.int64)
    viewers = training.viewers[where]
    statistics = np.array([scanpath_statistics(features, piece) for _, piece in pieces])
    folds = unit_folds([training.scanpaths[i].image for i in where], where, viewers)
    ratios = np.zeros((len(pieces), n_viewers))
    held_out = np.zeros(len(pieces), bool)
    for fold in np.unique(folds):
        out = folds == fold
        if np.isin(viewers[out], viewers[~out]).all():
            pooled, own = _viewer_models(features, statistics[~out], viewers[~out], n_viewers)
            natural = np.stack([m.natural_parameters() - pooled.natural_parameters() for m in own])
            ratios[out] = np.einsum("nts,kts->nk", statistics[out], natural)
            held_out |= out
    temperature, how = DEFAULT_TEMPERATURE, "one temperature, the default (too few scanpaths)"
    if held_out.any() and n_viewers > 1:
        temperature = fit_temperature(ratios[held_out], viewers[held_out])
        how = "one temperature by cross-validation over scanpaths"
    pooled, own = _viewer_models(features, statistics, viewers, n_viewers)
    representation = Representation((gradient_block(pooled),))
    units = training_units(training, representation)
    return LinearFit(
        (likelihood_ratio_weights(pooled, own, temperature),),
        np.zeros(n_viewers),
        accuracy_of_units(ratios, viewers, where, folds, held_out),
        f"{how}: {temperature:.3g}",
        units.scores,
        units.machine("likelihood", temperature, nothing_whitened(representation), n_viewers),
        units.usual_saccades,
    )


def likelihood_ratio_weights(
    pooled: MarkovModel, own: list[MarkovModel], temperature: float
) -> BlockWeights:
    """Return the weights under which a saccade's statistics give ln p(own) − ln p(pooled)."""
    block = gradient_block(pooled)
    shape, scale = (
        np.stack([getattr(m, name) for m in own], axis=-1) for name in ("shape", "scale")
    )
    pooled_shape, pooled_scale = pooled.shape[..., None], pooled.scale[..., None]
    log_centre = special.digamma(pooled_shape) + np.log(pooled_scale)
    more_shape = shape - pooled_shape
    less_rate = 1 / pooled_scale - 1 / scale
    normaliser = special.gammaln(shape) + shape * np.log(scale)
    pooled_normaliser = special.gammaln(pooled_shape) + pooled_shape * np.log(pooled_scale)
    # with t = (ln x − centre, (x/β − α)/β) of the pooled densities: x = β·(β·t₂ + α)
    values = np.stack(
        (
            more_shape,
            less_rate * pooled_scale**2,
            more_shape * log_centre
            + less_rate * pooled_scale * pooled_shape
            - (normaliser - pooled_normaliser),
        ),
        axis=2,
    )
    types = np.log(np.stack([m.shares for m in own], axis=-1) / pooled.shares[:, None])
    return BlockWeights(block, temperature * values, temperature * types)


def fit_fisher_svm(training: TrainingSet, *, dynamics: bool) -> LinearFit:
    """Fit `fisher-markov` or `fisher-markov-dynamics`."""
    features = method_features(training, dynamics=dynamics)
    statistics = sum(scanpath_statistics(features, path) for path in training.scanpaths)
    pooled = markov_of_statistics(features, np.asarray(statistics))
    representation = Representation((gradient_block(pooled),))
    units = training_units(training, representation)
    whitening = fit_whitening(units.scores, RIDGE)
    whitened = whitening(units.scores)
    n_viewers = training.n_viewers
    fit = fit_svm(SVM_COST)
    decisions, held_out = cross_validated(whitened, units.viewers, units.folds, n_viewers, fit)
    calibration = fit_calibration(decisions[held_out], units.viewers[held_out])
    log_prior = units.log_prior(n_viewers)
    logits = calibration.after(fit(whitened, units.viewers, n_viewers)).minus(log_prior)
    machine = logits.after(whitening)
    factor = float(np.mean(np.diag(calibration.weights)))
    return LinearFit(
        score_weights(representation, machine.weights),
        machine.bias,
        units.accuracy(decisions, held_out),
        _how_calibrated(units.viewers[held_out], n_viewers),
        units.scores,
        Machine("svm", factor, whitening, whitened.astype(np.float32), units.viewers, logits),
        units.usual_saccades,
    )


def _how_calibrated(held_out: Integers, n_viewers: int) -> str:
    n_held_out = len(np.unique(held_out))
    if n_viewers > 1 and n_held_out < 2:
        return "one factor, the default (too few scanpaths)"
    if n_viewers > MOST_CLASSES_FOR_LOGISTIC or n_held_out < n_viewers:
        return "one temperature for all viewers by cross-validation over scanpaths"
    return "multinomial logistic regression on decisions cross-validated over scanpaths"


@dataclass(frozen=True, eq=False)
class TrainingUnits:
    """The units of all scanpaths, one after the other."""

    scores: Floats
    n_saccades: Integers
    viewers: Integers
    scanpaths: Integers
    folds: Integers

    def log_prior(self, n_viewers: int) -> Floats:
        """Return how common each viewer's units are."""
        counts = np.bincount(self.viewers, minlength=n_viewers)
        return np.asarray(np.log(np.maximum(counts, 0.5) / counts.sum()), np.float64)

    @property
    def usual_saccades(self) -> float:
        """Mean number of saccades of a unit."""
        return float(self.n_saccades.mean())

    def machine(
        self, kind: MachineKind, factor: float, whitening: Linear, n_viewers: int
    ) -> Machine:
        """Return a machine that keeps no scores: likelihoods need none."""
        empty = np.zeros((len(self.viewers), whitening.weights.shape[1]), np.float32)
        logits = Linear(np.zeros((empty.shape[1], n_viewers)), np.zeros(n_viewers))
        return Machine(kind, factor, whitening, empty, self.viewers, logits)

    def accuracy(self, evidence: Floats, held_out: Flags) -> Accuracy | None:
        """Return how often cross-validated evidence (units, viewers) is for the right viewer."""
        judged = held_out & ~shares_saccades(self.scanpaths, self.folds)
        return accuracy_of_units(evidence, self.viewers, self.scanpaths, self.folds, judged)


def training_units(training: TrainingSet, representation: Representation) -> TrainingUnits:
    """Return the summed scores of the units of all scanpaths."""
    made = [representation.unit_scores(path) for path in training.scanpaths]
    counts = np.array([len(n) for _, n in made], np.int64)
    where = np.repeat(np.arange(len(made)), counts)
    viewers = training.viewers[where]
    images = [training.scanpaths[i].image for i in where]
    return TrainingUnits(
        np.concatenate([scores for scores, _ in made]),
        np.concatenate([n for _, n in made]),
        viewers,
        where,
        unit_folds(images, where, viewers),
    )


def nothing_whitened(representation: Representation) -> Linear:
    """Return the map to no dimension at all."""
    return Linear(np.zeros((representation.n_dimensions, 0)), np.zeros(0))


def _viewer_models(
    features: FeatureSet, statistics: Floats, viewers: Integers, n_viewers: int
) -> tuple[MarkovModel, list[MarkovModel]]:
    pooled = markov_of_statistics(features, statistics.sum(axis=0))
    own = [
        markov_of_statistics(features, statistics[viewers == v].sum(axis=0), towards=pooled)
        for v in range(n_viewers)
    ]
    return pooled, own


def _stacked(parts: list[Rows]) -> Floats:
    return np.concatenate(parts).astype(np.float64)
