"""The semiparametric model `abdelwahab`: the Markov model with Gaussian-process densities.

A. Abdelwahab, R. Kliegl and N. Landwehr, "A semiparametric model for Bayesian reader
identification", EMNLP 2016 (arXiv:1607.05271): densities of saccade amplitudes and fixation
durations "are inferred under a Gaussian process prior centered at a parametric distribution
family". Our reading differs from the paper, which is about reading text: types are the turns of
`markov`, the family is its gamma, densities are binned and fitted by Laplace's method
(`models.gp_density`), and the kernel is our choice. Viewers' densities deviate from

    abdelwahab           the pooled density: a gamma and a wide Gaussian process
    abdelwahab-literal   the pooled gamma
    abdelwahab-dynamics  as the first; the eight features of `markov-dynamics` (not in the paper)

Evidence is the log ratio to the pooled density, times one temperature. Since values are binned,
it is linear in counts, and a saccade adds one row of a table per value.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from gazelive.errors import ModelError, ModelFormatError
from gazelive.features import FeatureSet, Rows, Scanpath
from gazelive.gaze import Flags, Floats, Integers
from gazelive.identification.calibration import fit_temperature, session_correlation
from gazelive.identification.comparison.linear import BlockWeights, LinearIdentifier
from gazelive.identification.comparison.plda import fit_strangers
from gazelive.identification.contract import Arrays, Contributions, State
from gazelive.identification.fitted import Fitted, Options, accuracy_of_units
from gazelive.identification.hyperparameters import N_SEARCH_FOLDS, Grid, Hyperparameters
from gazelive.identification.methods import abdelwahab_kernels as kernels
from gazelive.identification.methods.markov import method_features
from gazelive.identification.scores import Block, Representation, gradient_block, scanpath_units
from gazelive.identification.shipped.strangers import shipped_genuine
from gazelive.identification.training_data import TrainingSet
from gazelive.identification.units import n_units, unit_folds
from gazelive.models import (
    N_BINS,
    MarkovModel,
    Population,
    Saccades,
    StoredArrays,
    ViewerPrior,
    typed_density_kernels,
)

DENSITIES = Grid(
    {"deviation": (0.05, 0.1, 0.2, 0.35, 0.6, 1.0), "length": (0.25, 0.5, 1.0)},
    {"deviation": 0.6, "length": 1.0},
)
"""σ and ℓ of each feature's Gaussian process."""
SHARES = Grid({"concentration": (10.0, 30.0, 100.0, 300.0, 1000.0)}, {"concentration": 300.0})
"""Strength of the Dirichlet prior of the types, in saccades."""
MOST_VIEWERS = 100
"""The evidence of at most this many viewers chooses the hyper-parameters."""
GROUP = 5
"""The temperature is fitted to held-out groups of up to this many units. The errors of a viewer's
densities are common to all their units: fitted to single units, it would be too high for sums."""
DEFAULT_TEMPERATURE = 0.5
"""Temperature of the log ratio if it cannot be cross-validated."""


@dataclass(frozen=True, eq=False)
class TableWeights(BlockWeights):
    """Evidence of each bin for each viewer: `values` is (types, features, bins, viewers)."""

    bins: Floats
    """(types, features, 3)"""

    def add(self, row: Rows, part: int, scratch: Floats, evidence: Floats) -> bool:
        """Add the evidence of a saccade; return whether it has any."""
        return bool(kernels.add_row_evidence(row, part, *self._tables, scratch, evidence))

    def add_all(self, rows: Rows, scratch: Floats, evidence: Floats) -> bool:
        """Add the evidence of a scanpath; return whether any saccade has some."""
        return bool(kernels.add_scanpath_evidence(rows, *self._tables, scratch, evidence))

    def contributions(self, rows: Rows) -> Contributions:
        """Return what each feature, and the type, of some saccades add for each viewer."""
        features = self.block.features
        saccades, _ = Saccades.of_rows(features, rows, np.zeros(len(rows), np.int64), 1)
        counts = saccades.counts(self.bins)[0]
        found = [
            (feature.name, np.einsum("ub,ubk->k", counts[:, f], self.values[:, f]))
            for f, feature in enumerate(features.features)
        ]
        of_types = saccades.type_counts(features.n_types)[0] @ self.types
        return [*found, (self.block.type_name, of_types)]

    @cached_property
    def _tables(self) -> tuple[Any, Any, Any, Floats, Floats, Floats]:
        """Arguments of the kernels, in their order."""
        features = self.block.features
        return (
            features.compiled_types,
            features.compiled,
            features.late,
            self.bins,
            self.values,
            self.types,
        )


def read_table(weights: BlockWeights, arrays: StoredArrays) -> TableWeights:
    """Return the weights of a state as a table of bins."""
    block = weights.block
    n_types, n_features, _ = block.cells.shape
    if not block.features.positive.all():
        raise ModelFormatError("bins are for features above 0")
    values = arrays.take("weights0_values", n_types, n_features, N_BINS, "viewers")
    bins = arrays.take("bins", n_types, n_features, 3)
    return TableWeights(block, values, weights.types, bins)


@dataclass(frozen=True, eq=False, kw_only=True)
class AbdelwahabIdentifier(LinearIdentifier):
    """A linear identifier whose statistics are the bins that values fall into."""

    prior: ViewerPrior
    temperature: float

    def state(self) -> State:
        """Return everything as JSON and arrays."""
        state, prior = super().state(), self.prior
        arrays: Arrays = {
            "bins": prior.population.bins,
            "log_base": prior.population.log_base,
            "deviation": prior.deviation,
            "length": prior.length,
        }
        content = {"concentration": prior.concentration, "temperature": self.temperature}
        return replace(state, content=state.content | content, arrays=state.arrays | arrays)

    @classmethod
    def from_state(cls, method: str, viewer_ids: tuple[str, ...], state: State) -> Self:
        """Return the identifier of a state."""
        linear = LinearIdentifier.from_state(method, viewer_ids, state)
        arrays = state.stored(viewer_ids)
        table = read_table(linear.weights[0], arrays)
        n_types, n_features, _ = table.block.cells.shape
        log_base = arrays.take("log_base", n_types, n_features, N_BINS)
        prior = ViewerPrior(
            Population(_gammas(table.block), table.bins, log_base),
            arrays.take("deviation", n_features, least=0),
            arrays.take("length", n_features, least=1e-9),
            state.number("concentration", least=0),
        )
        temperature = state.number("temperature", least=0)
        return cls(**linear.parts() | {"weights": (table,)}, prior=prior, temperature=temperature)

    def viewer_arrays(self, scanpaths: Sequence[Scanpath], n_sessions: int = 1) -> Arrays:
        """Fit the densities of one more viewer; hyper-parameters and population stay."""
        del n_sessions
        rows = np.concatenate([path.saccades for path in scanpaths])
        features = self.prior.population.gammas.features
        saccades, _ = Saccades.of_rows(features, rows, np.zeros(len(rows), np.int64), 1)
        if not len(saccades.types):
            raise ModelError("there is no saccade with a turn")
        weights = _weights(self.prior, saccades, self.temperature)
        scores, _, _ = scanpath_units(scanpaths, self.representation)
        return {
            **({} if self.plda is None else self.plda.viewer_arrays(scores)),
            "weights0_values": weights.values,
            "weights0_types": weights.types,
            "constant": np.zeros(1),
        }


def fit_abdelwahab(
    method: str,
    training: TrainingSet,
    options: Options,
    *,
    literal: bool = False,
    dynamics: bool = False,
) -> Fitted:
    """Fit `abdelwahab`, `abdelwahab-literal` or `abdelwahab-dynamics`.

    The hyper-parameters are always searched: their evidence needs no held-out data and takes a
    second, and values that do not fit the data cost up to ten points of accuracy.
    """
    features = density_features(training, options, dynamics=dynamics)
    units = _split(training)
    saccades, typed = Saccades.of_rows(
        features, training.rows(), units.viewers[units.of_rows], training.n_viewers
    )
    bins = saccades.fit_bins(features.n_types)
    population = Population.fit(features, saccades, bins, only_gammas=literal)
    prior, chosen = choose_prior(population, saccades)
    options.report(0.5)
    ratios, held_out = _held_out_ratios(
        prior, saccades, units.of_rows[typed], units, only_gammas=literal
    )
    temperature, how = DEFAULT_TEMPERATURE, "one temperature, the default (too few scanpaths)"
    if held_out.any() and training.n_viewers > 1:
        temperature = fit_temperature(*_grouped(ratios, units, held_out))
        how = "one temperature by cross-validation over scanpaths"
    options.report(0.7)
    weights = _weights(prior, saccades, temperature)
    scores, n_saccades, where = scanpath_units(training.scanpaths, Representation((weights.block,)))
    plda, strangers = fit_strangers(
        scores,
        training.viewers[where],
        training.n_viewers,
        options.false_acceptance_rate,
        shipped_genuine(method, training.kind),
    )
    usual_saccades = float(n_saccades.mean())
    identifier = AbdelwahabIdentifier(
        method,
        training.viewer_ids,
        (weights,),
        np.zeros(training.n_viewers),
        usual_saccades,
        strangers,
        plda,
        correlation=session_correlation("likelihood", usual_saccades, same=options.same_session),
        prior=prior,
        temperature=temperature,
    )
    return Fitted(
        identifier,
        f"{how}: {temperature:.3g}",
        accuracy_of_units(ratios, units.viewers, units.scanpaths, units.folds, held_out),
        hyperparameters=chosen,
    )


def choose_prior(population: Population, saccades: Saccades) -> tuple[ViewerPrior, Hyperparameters]:
    """Return the prior of highest evidence, and its hyper-parameters by name."""
    every = math.ceil(saccades.n_viewers / MOST_VIEWERS)
    counts = saccades.counts(population.bins)[::every]
    type_counts = saccades.type_counts(len(population.bins))[::every]

    def loss_of_shares(point: Hyperparameters) -> float:
        return -population.log_evidence_of_shares(type_counts, point["concentration"])

    chosen = SHARES.choose(loss_of_shares, search=True)
    deviation, length = [], []
    for f, feature in enumerate(population.gammas.features.features):

        def loss(point: Hyperparameters, feature: int = f) -> float:
            return -population.log_evidence(counts, feature, point["deviation"], point["length"])

        found = DENSITIES.choose(loss, search=True)
        deviation.append(found["deviation"])
        length.append(found["length"])
        chosen |= {f"{name} of {feature.name}": value for name, value in found.items()}
    prior = ViewerPrior(population, np.array(deviation), np.array(length), chosen["concentration"])
    return prior, chosen


@dataclass(frozen=True, eq=False)
class _Units:
    """Parts of scanpaths that do not overlap, for the temperature."""

    of_rows: Integers
    """(saccades,): the unit of each."""
    viewers: Integers
    scanpaths: Integers
    folds: Integers
    """(units,) each."""


def _split(training: TrainingSet) -> _Units:
    parts = [
        (number, len(part))
        for number, path in enumerate(training.scanpaths)
        for part in np.array_split(range(path.n_saccades), round(n_units(path.n_saccades)))
    ]
    scanpaths, sizes = np.array(parts, np.int64).T
    viewers = training.viewers[scanpaths]
    images = [training.scanpaths[i].image for i in scanpaths]
    folds = unit_folds(images, scanpaths, viewers, n_folds=N_SEARCH_FOLDS)
    return _Units(np.repeat(np.arange(len(parts)), sizes), viewers, scanpaths, folds)


def _held_out_ratios(
    prior: ViewerPrior, saccades: Saccades, where: Integers, units: _Units, *, only_gammas: bool
) -> tuple[Floats, Flags]:
    """Return (units, viewers) log ratios of held-out units, and which units were held out.

    `where` is the unit of each saccade. Bins and hyper-parameters are those of all data.
    """
    population = prior.population
    ratios = np.zeros((len(units.viewers), saccades.n_viewers))
    held_out = np.zeros(len(ratios), bool)
    for fold in np.unique(units.folds):
        out = units.folds == fold
        is_out = out[where]
        rest, tested = saccades.select(~is_out), saccades.select(is_out)
        if not np.isin(tested.viewers, rest.viewers).all() or not np.isfinite(rest.values).any():
            continue
        of_rest = Population.fit(
            population.gammas.features, rest, population.bins, only_gammas=only_gammas
        )
        kernels.add_binned_evidence(
            tested.types,
            tested.binned(population.bins),
            where[is_out],
            *replace(prior, population=of_rest).log_ratios(rest),
            ratios,
        )
        held_out |= out
    return ratios, held_out


def _grouped(ratios: Floats, units: _Units, held_out: Flags) -> tuple[Floats, Integers]:
    """Return summed ratios of groups of units of one viewer and fold, and each group's viewer."""
    summed, viewers = [], []
    for viewer, fold in np.ndindex(ratios.shape[1], N_SEARCH_FOLDS):
        own = held_out & (units.viewers == viewer) & (units.folds == fold)
        of_viewer = ratios[own]
        for start in range(0, len(of_viewer), GROUP):
            summed.append(of_viewer[start : start + GROUP].sum(axis=0))
            viewers.append(viewer)
    return np.array(summed), np.array(viewers)


def density_features(training: TrainingSet, options: Options, *, dynamics: bool) -> FeatureSet:
    """Return the features of `markov` or `markov-dynamics`, less those to leave out."""
    features = method_features(training, dynamics=dynamics)
    kept = [feature for feature in features.features if feature.name not in options.without]
    return FeatureSet(features.type_rule, kept)


def _weights(prior: ViewerPrior, saccades: Saccades, temperature: float) -> TableWeights:
    """Return the evidence for viewers with these saccades."""
    of_values, of_types = prior.log_ratios(saccades)
    block = gradient_block(prior.population.gammas)
    return TableWeights(
        block, temperature * of_values, temperature * of_types, prior.population.bins
    )


def _gammas(block: Block) -> MarkovModel:
    """Return the model whose gradient a block gives."""
    shape = block.cells[:, :, typed_density_kernels.SHAPE].copy()
    with np.errstate(divide="ignore"):
        scale = 1 / block.cells[:, :, typed_density_kernels.INVERSE]
    return MarkovModel(block.features, block.shares, shape, scale)
