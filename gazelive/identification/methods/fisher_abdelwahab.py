"""The Fisher SVM on Gaussian-process densities, in no paper: `fisher-abdelwahab`.

A density of `abdelwahab` is p(x) ∝ base(x)·exp(Φw) with w ~ N(0, 1). At the population, w = 0, the
gradient of a value's log density by w is its bin's row of Φ (whose mean under the base is 0), and
the Fisher scores of a scanpath are sums of these rows:

    fisher-abdelwahab            the features of `markov`
    fisher-abdelwahab-dynamics   the features of `markov-dynamics`

The linear SVMs work on these scores as they are, not whitened by the empirical information as in
`fisher-markov`: Φ already has the prior's variance, so that rough deviations weigh little. A score
depends on bins only, so a viewer's machine is a table, like a viewer of `abdelwahab`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Self

import numpy as np

from gazelive.errors import ModelError
from gazelive.features import FeatureSet, Rows, Scanpath
from gazelive.gaze import Floats
from gazelive.identification.comparison.linear import LinearIdentifier, linear_fitted
from gazelive.identification.contract import Arrays, State
from gazelive.identification.fitted import Fitted, Options
from gazelive.identification.hyperparameters import Grid, Hyperparameters
from gazelive.identification.learning import Linear
from gazelive.identification.methods.abdelwahab import (
    TableWeights,
    choose_prior,
    density_features,
    read_table,
)
from gazelive.identification.methods.fisher_svm import (
    choose_for_svm,
    fit_fisher_svm,
    svm_fit,
)
from gazelive.identification.scores import (
    Block,
    Representation,
    gradient_block,
    scanpath_units,
    training_units,
)
from gazelive.identification.training_data import TrainingSet
from gazelive.identification.units import unit_windows
from gazelive.models import N_BINS, Population, Saccades

GRID = Grid({"cost": (0.003, 0.01, 0.03, 0.1)}, {"cost": 0.01})
"""C of the SVMs on scores with a mean variance of 1."""


@dataclass(frozen=True, eq=False)
class DensityScores:
    """Gradients of a population's densities and shares."""

    features: FeatureSet
    shares: Floats
    """(types,)"""
    bins: Floats
    """(types, features, 3)"""
    directions: Floats
    """(types, features, bins, directions): Φ."""

    def row_scores(self, rows: Rows) -> Floats:
        """Return the score of each saccade (n, dimensions).

        First the (types, features, directions) of values, then the (types,) of shares, each
        divided by the root of its share: that is their information.
        """
        n_types, n_features, _, n_directions = self.directions.shape
        of_values = np.zeros((len(rows), n_types, n_features, n_directions))
        of_types = np.zeros((len(rows), n_types))
        viewers = np.zeros(len(rows), np.int64)
        saccades, typed = Saccades.of_rows(self.features, rows, viewers, 1)
        where, types, bins = np.flatnonzero(typed), saccades.types, saccades.binned(self.bins)
        for f in range(n_features):
            known = bins[:, f] >= 0
            found = self.directions[types[known], f, bins[known, f]]
            of_values[where[known], types[known], f] = found
        of_types[where] = -self.shares
        of_types[where, types] += 1
        of_types /= np.sqrt(self.shares)
        return np.concatenate((of_values.reshape(len(rows), -1), of_types), axis=1)

    def unit_scores(self, scanpaths: Sequence[Scanpath]) -> Floats:
        """Return the summed scores of all units of scanpaths (units, dimensions)."""
        summed = []
        for path in scanpaths:
            scores = self.row_scores(path.saccades)
            windows = unit_windows(path.n_saccades)
            summed += [scores[first:stop].sum(axis=0) for first, stop in windows]
        return np.array(summed)

    def table(self, block: Block, weights: Floats) -> TableWeights:
        """Return the tables of machines `weights` (dimensions, viewers) on these scores."""
        n_types, n_features, _, n_directions = self.directions.shape
        n_values = n_types * n_features * n_directions
        of_values = weights[:n_values].reshape(n_types, n_features, n_directions, -1)
        of_types = weights[n_values:] / np.sqrt(self.shares)[:, None]
        return TableWeights(
            block, self.directions @ of_values, of_types - self.shares @ of_types, self.bins
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class FisherAbdelwahabIdentifier(LinearIdentifier):
    """A linear identifier whose statistics are the bins that values fall into."""

    scoring: DensityScores

    def state(self) -> State:
        """Return everything as JSON and arrays."""
        state = super().state()
        arrays: Arrays = {"bins": self.scoring.bins, "directions": self.scoring.directions}
        return replace(state, arrays=state.arrays | arrays)

    @classmethod
    def from_state(cls, method: str, viewer_ids: tuple[str, ...], state: State) -> Self:
        """Return the identifier of a state."""
        linear = LinearIdentifier.from_state(method, viewer_ids, state)
        arrays = state.stored(viewer_ids)
        table = read_table(linear.weights[0], arrays)
        block = table.block
        n_types, n_features, _ = block.cells.shape
        directions = arrays.take("directions", n_types, n_features, N_BINS, "directions")
        arrays.take("machine/whitening", directions[:, :, 0].size + n_types, "whitened")
        scoring = DensityScores(block.features, block.shares, table.bins, directions)
        return cls(**linear.parts() | {"weights": (table,)}, scoring=scoring)

    def viewer_arrays(self, scanpaths: Sequence[Scanpath], n_sessions: int = 1) -> Arrays:
        """Fit the machine of one more viewer."""
        del n_sessions
        if self.machine is None:
            raise ModelError(f"{self.method} cannot enrol: train again")
        own, of_machine = self.machine.fit_viewer(self.scoring.unit_scores(scanpaths))
        weights = self.scoring.table(self.weights[0].block, own.weights)
        scores, _, _ = scanpath_units(scanpaths, self.representation)
        return {
            **({} if self.plda is None else self.plda.viewer_arrays(scores)),
            "weights0_values": weights.values,
            "weights0_types": weights.types,
            "constant": own.bias,
            **of_machine,
        }


def fit_fisher_abdelwahab(
    method: str, training: TrainingSet, options: Options, *, dynamics: bool = False
) -> Fitted:
    """Fit `fisher-abdelwahab` or `fisher-abdelwahab-dynamics`.

    The hyper-parameters of the densities are always searched, as in `abdelwahab`.
    """
    features = density_features(training, options, dynamics=dynamics)
    n_viewers = training.n_viewers
    viewers = np.repeat(training.viewers, [path.n_saccades for path in training.scanpaths])
    saccades, _ = Saccades.of_rows(features, training.rows(), viewers, n_viewers)
    bins = saccades.fit_bins(features.n_types)
    population = Population.fit(features, saccades, bins, only_gammas=False)
    prior, chosen = choose_prior(population, saccades)
    options.report(0.3)
    scoring = DensityScores(features, population.gammas.shares, bins, prior.directions())
    block = gradient_block(population.gammas)
    units = training_units(training, Representation((block,)))
    scores = scoring.unit_scores(training.scanpaths)
    chosen |= choose_for_svm(
        scores,
        training,
        units.scanpaths,
        search=options.search,
        grid=GRID,
        whitening=_of_the_prior,
    )
    svm = fit_fisher_svm(scores, units.viewers, units.folds, n_viewers, chosen, _of_the_prior)
    weights = (scoring.table(block, svm.evidence.weights),)
    fit = svm_fit(svm, weights, units, n_viewers, chosen)
    make = partial(FisherAbdelwahabIdentifier, scoring=scoring)
    return linear_fitted(make, method, training, options, fit)


def _of_the_prior(scores: Floats, _at: Hyperparameters) -> Linear:
    """Return the map that centres scores and gives them a mean variance of 1, nothing else."""
    mean, spread = scores.mean(axis=0), np.sqrt(scores.var(axis=0).mean())
    scale = 1 / spread if spread > 0 else 0.0
    return Linear(np.eye(len(mean)) * scale, -mean * scale)
