"""Training of `gazelive` on fixation tables: richer Fisher scores, one regularised linear machine.

Beyond the paper's features: absolute directions, both adjacent durations, distance to earlier
fixations, histograms of amplitudes and durations, the first saccades apart from later ones, and
the number of saccades of a whole interval. No absolute position. Scores are plain sums over an
interval; the machine is a multinomial logistic regression with an empirical Bayes prior, which
needs no further calibration.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from gazelive.features import (
    ALL_ALIKE,
    COLUMN_NAMES,
    DIRECTIONS,
    EIGHT_DIRECTIONS,
    TURNS,
    Feature,
    FeatureSet,
    Rows,
    TypeRule,
)
from gazelive.gaze import Floats
from gazelive.identification.calibration import cross_validated_loss
from gazelive.identification.comparison.linear import (
    Closing,
    LinearFit,
    LinearIdentifier,
    linear_fitted,
    score_weights,
)
from gazelive.identification.fitted import Fitted, Options
from gazelive.identification.hyperparameters import N_SEARCH_FOLDS, Grid, Hyperparameters
from gazelive.identification.learning import (
    Fit,
    Machine,
    cross_validated,
    fit_learned_prior,
    fit_multinomial,
    fit_whitening,
)
from gazelive.identification.scores import (
    Block,
    Representation,
    TrainingUnits,
    robust_block,
    training_units,
)
from gazelive.identification.training_data import TrainingSet

GRID = Grid(
    {"ridge": (0.3, 1.0, 3.0, 10.0), "cost": (0.02, 0.05, 0.12, 0.3)}, {"ridge": 0.3, "cost": 0.3}
)
GRID_AGAIN = Grid({"cost_again": (0.004, 0.01, 0.025, 0.06)}, {"cost_again": 0.01})
"""`ridge` of the whitening, in units of the mean eigenvalue; prior variances of the weights in the
first and second pass, of which the second is searched once the first is chosen."""
LEARNED = 0.5
"""Share of the prior of the second pass that the first one tells."""
FEWEST_TO_LEARN_FROM = 5
"""With fewer viewers the prior cannot be learned."""
START_TIMES = "start-times"
"""Group of features that `Options.without` may name."""
LARGE, FOLDS_OF_LARGE = 10_000, 2
"""With so many units, the accuracy is measured on two folds only."""
N_BINS = 8
SIZES = TypeRule(kind="edges", column="amplitude_deg", edges=(1.5, 6.0))
ORDINALS = TypeRule(kind="edges", column="ordinal", edges=(1.0, 2.0, 4.0))
LARGEST_TIME_SPREAD = 0.2
"""Intervals are scored as wholes only if their durations vary less than this (SD over mean)."""
CLOSING_REACH = 0.3
"""Largest relative difference in length to the intervals of training that is scored."""

AMPLITUDE = Feature(name="amplitude", a="amplitude_deg")
BEFORE = Feature(name="duration before", a="previous_fixation_s")
AFTER = Feature(name="duration after", a="next_fixation_s")
DURATION_RATIO = Feature(
    name="duration ratio", a="next_fixation_s", b="previous_fixation_s", operation="ratio"
)
AMPLITUDE_RATIO = Feature(
    name="amplitude ratio", a="dx_deg", b="previous_dx_deg", operation="length_ratio"
)
BACK = Feature(name="distance back", a="back_deg")
NEAREST = Feature(name="distance to the nearest earlier fixation", a="nearest_deg")
SINCE_ONSET = Feature(name="time since onset", a="onset_s")


def fixation_representation(rows: Rows, *, start_times: bool = True) -> Representation:
    """Fit the pooled densities of all blocks to the rows of training."""

    def of_features(types: TypeRule, *features: Feature) -> Block:
        return robust_block(FeatureSet(types, features), rows, frequencies=False)

    def of_locations(types: TypeRule, *features: Feature) -> Block:
        chosen = FeatureSet(types, features)
        return robust_block(chosen, rows, family="log-gaussian", entries=1, frequencies=False)

    return Representation(
        (
            robust_block(FeatureSet(EIGHT_DIRECTIONS), rows),
            robust_block(FeatureSet(TURNS), rows),
            robust_block(_bins("previous_fixation_s", rows), rows),
            robust_block(_bins("amplitude_deg", rows), rows),
            of_features(DIRECTIONS, AMPLITUDE, BEFORE),
            of_features(SIZES, BEFORE, BACK, NEAREST),
            of_features(ALL_ALIKE, AFTER, DURATION_RATIO, AMPLITUDE_RATIO),
            of_locations(ORDINALS, AMPLITUDE, BEFORE),
            *([of_locations(DIRECTIONS, SINCE_ONSET)] if start_times else []),
        )
    )


def fit_gazelive_fixations(method: str, training: TrainingSet, options: Options) -> Fitted:
    """Fit `gazelive` to a training set made from fixations."""
    fit = _fit(training, options)
    return linear_fitted(LinearIdentifier, method, training, options, fit)


def _fit(training: TrainingSet, options: Options) -> LinearFit:
    start_times = START_TIMES not in options.without
    representation = fixation_representation(training.rows(), start_times=start_times)
    units = training_units(training, representation)
    closing = _fit_closing(training)
    of_closing = np.zeros((len(units.scores), 4))
    if closing is not None:
        of_closing = closing.unit_scores(training.scanpaths, units.scanpaths)
    scores = np.concatenate((units.scores, of_closing), axis=1)
    chosen = _choose(scores, units, training, search=options.search)
    whitening = fit_whitening(scores, chosen["ridge"])
    whitened = whitening(scores)
    n_viewers = training.n_viewers
    fit = _machine_fit(chosen, n_viewers)
    log_prior = units.log_prior(n_viewers)
    logits = fit(whitened, units.viewers, n_viewers).minus(log_prior)
    machine = logits.after(whitening)
    most_folds = FOLDS_OF_LARGE if len(whitened) > LARGE else None
    decisions, held_out = cross_validated(
        whitened, units.viewers, units.folds, n_viewers, fit, most_folds
    )
    n_dimensions = representation.n_dimensions
    return LinearFit(
        score_weights(representation, machine.weights[:n_dimensions]),
        machine.bias,
        units.accuracy(decisions - log_prior, held_out),
        "a regularised multinomial logistic regression, calibrated as it stands",
        units.scores,
        Machine("logistic", 1.0, whitening, whitened.astype(np.float32), units.viewers, logits),
        units.usual_saccades,
        closing,
        machine.weights[n_dimensions:],
        chosen,
        units.accuracy_by_images(decisions - log_prior, held_out),
    )


def _choose(
    scores: Floats, units: TrainingUnits, training: TrainingSet, *, search: bool
) -> Hyperparameters:
    n_viewers = training.n_viewers
    folds = training.folds(units.scanpaths, N_SEARCH_FOLDS)

    @cache
    def whitened(ridge: float) -> Floats:
        return fit_whitening(scores, ridge)(scores)

    def loss(ridge: float, fit: Fit) -> float:
        return cross_validated_loss(
            whitened(ridge), units.viewers, units.scanpaths, folds, n_viewers, fit
        )

    first = GRID.choose(lambda at: loss(at["ridge"], fit_multinomial(at["cost"])), search=search)
    again = GRID_AGAIN.choose(
        lambda at: loss(first["ridge"], _machine_fit(first | at, n_viewers)), search=search
    )
    return first | again


def _machine_fit(chosen: Hyperparameters, n_viewers: int) -> Fit:
    if n_viewers < FEWEST_TO_LEARN_FROM:
        return fit_multinomial(chosen["cost"])
    return fit_learned_prior(chosen["cost"], chosen["cost_again"], LEARNED)


def _fit_closing(training: TrainingSet) -> Closing | None:
    """Fit the scores of whole intervals, if they are about equally long."""
    seconds = np.array([path.seconds for path in training.scanpaths])
    if len(seconds) < 2 or seconds.std() > LARGEST_TIME_SPREAD * seconds.mean():
        return None
    n_saccades = np.array([path.n_saccades for path in training.scanpaths], np.float64)
    values = np.stack((n_saccades, seconds), axis=1)
    middle = float(np.median(seconds))
    return Closing(
        values.mean(axis=0),
        values.std(axis=0) + 1e-9,
        (middle * (1 - CLOSING_REACH), middle * (1 + CLOSING_REACH)),
    )


def _bins(column: str, rows: Rows) -> FeatureSet:
    """Return the typing by octiles of a column."""
    values = rows[:, COLUMN_NAMES.index(column)].astype(np.float64)
    values = values[np.isfinite(values)]
    shares = np.arange(1, N_BINS) / N_BINS
    edges = np.unique(np.quantile(values, shares)) if len(values) else np.empty(0)
    return FeatureSet(TypeRule(kind="edges", column=column, edges=tuple(map(float, edges))))
