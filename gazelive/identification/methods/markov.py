"""The Markov models `markov` and `markov-dynamics` as identifiers.

S. Makowski et al., "Discriminative viewer identification using generative models of eye gaze",
KES 2020: each viewer has densities of their own, shrunken a little towards the pooled ones.
Evidence is the log likelihood ratio to the pooled model, times one cross-validated temperature
(the raw ratio is far too confident).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from scipy import special

from gazelive.features import FeatureSet, Scanpath
from gazelive.gaze import Flags, Floats, Integers
from gazelive.identification.calibration import fit_temperature, held_out_loss
from gazelive.identification.comparison.linear import (
    BlockWeights,
    LinearFit,
    LinearIdentifier,
    linear_fitted,
)
from gazelive.identification.contract import Arrays, State
from gazelive.identification.fitted import (
    Fitted,
    Options,
    accuracy_by_images,
    accuracy_of_units,
)
from gazelive.identification.hyperparameters import N_SEARCH_FOLDS, Grid, Hyperparameters
from gazelive.identification.learning import Linear, Machine
from gazelive.identification.scores import (
    Representation,
    TrainingUnits,
    gradient_block,
    scanpath_units,
    training_units,
)
from gazelive.identification.training_data import TrainingSet, fit_vigor_rate_deg
from gazelive.identification.units import n_units
from gazelive.models import (
    MarkovModel,
    markov_dynamics_features,
    markov_features,
    markov_of_statistics,
    scanpath_statistics,
    typed_density_kernels as kernels,
)

GRID = Grid({"prior_values": (0.5, 2.0, 8.0, 32.0, 128.0)}, {"prior_values": 8.0})
"""Values of each feature and type, distributed as the pooled density says, that are added to a
viewer's own."""
PRIOR_VALUES_OF_0_1 = 2.0
"""Of models that do not say."""
DEFAULT_TEMPERATURE = 0.5
"""Temperature of the log likelihood ratio if it cannot be cross-validated."""


@dataclass(frozen=True, eq=False)
class MarkovIdentifier(LinearIdentifier):
    """A linear identifier whose weights are each viewer's natural parameters."""

    prior_values: float = PRIOR_VALUES_OF_0_1
    """For enrolment."""

    def state(self) -> State:
        """Return everything as JSON and arrays."""
        state = super().state()
        if self.prior_values == PRIOR_VALUES_OF_0_1:
            return state
        return replace(state, content=state.content | {"prior_values": self.prior_values})

    @classmethod
    def from_state(cls, method: str, viewer_ids: tuple[str, ...], state: State) -> Self:
        """Return the identifier of a state."""
        prior_values = PRIOR_VALUES_OF_0_1
        if "prior_values" in state.content:
            prior_values = state.number("prior_values", least=0)
        return replace(super().from_state(method, viewer_ids, state), prior_values=prior_values)

    def viewer_arrays(self, scanpaths: Sequence[Scanpath], n_sessions: int = 1) -> Arrays:
        """Fit the densities of one more viewer."""
        del n_sessions
        assert self.machine is not None
        block = self.weights[0].block
        pooled = MarkovModel(
            block.features,
            block.shares,
            block.cells[:, :, kernels.SHAPE].copy(),
            1 / block.cells[:, :, kernels.INVERSE],
        )
        total = sum(scanpath_statistics(block.features, path) for path in scanpaths)
        own = markov_of_statistics(
            block.features, np.asarray(total), towards=pooled, n_prior=self.prior_values
        )
        weights = likelihood_ratio_weights(pooled, [own], self.machine.factor)
        scores, _, _ = scanpath_units(scanpaths, self.representation)
        nothing = Linear(np.zeros((0, 1)), np.zeros(1))
        return {
            **({} if self.plda is None else self.plda.viewer_arrays(scores)),
            **self.machine.viewer_arrays(np.zeros((len(scores), 0)), nothing),
            "weights0_values": weights.values,
            "weights0_types": weights.types,
            "constant": np.zeros(1),
        }


def fit_markov(method: str, training: TrainingSet, options: Options, *, dynamics: bool) -> Fitted:
    """Fit `markov` or `markov-dynamics`."""
    features = method_features(training, dynamics=dynamics)
    fit = _fit(training, features, search=options.search)
    fitted = linear_fitted(MarkovIdentifier, method, training, options, fit)
    assert isinstance(fitted.identifier, MarkovIdentifier)
    identifier = replace(fitted.identifier, prior_values=fit.hyperparameters["prior_values"])
    return replace(fitted, identifier=identifier)


def method_features(training: TrainingSet, *, dynamics: bool) -> FeatureSet:
    """Return the paper's features; with dynamics the vigor's rate b* is fitted."""
    if not dynamics:
        return markov_features()
    return markov_dynamics_features(fit_vigor_rate_deg(training))


def _fit(training: TrainingSet, features: FeatureSet, *, search: bool) -> LinearFit:
    n_viewers = training.n_viewers
    pieces = [
        (number, Scanpath(rows, path.fixations, 0.0))
        for number, path in enumerate(training.scanpaths)
        for rows in np.array_split(path.saccades, round(n_units(path.n_saccades)))
    ]
    where = np.array([number for number, _ in pieces], np.int64)
    viewers = training.viewers[where]
    statistics = np.array([scanpath_statistics(features, piece) for _, piece in pieces])
    search_folds = training.folds(where, N_SEARCH_FOLDS)

    def held_out_ratios(folds: Integers, n_prior: float) -> tuple[Floats, Flags]:
        return _held_out_ratios(features, statistics, viewers, n_viewers, folds, n_prior)

    def loss(at: Hyperparameters) -> float:
        ratios, held_out = held_out_ratios(search_folds, at["prior_values"])
        return held_out_loss(ratios[held_out], viewers[held_out])

    chosen = GRID.choose(loss, search=search)
    folds = training.folds(where)
    ratios, held_out = held_out_ratios(folds, chosen["prior_values"])
    temperature, how = DEFAULT_TEMPERATURE, "one temperature, the default (too few scanpaths)"
    if held_out.any() and n_viewers > 1:
        temperature = fit_temperature(ratios[held_out], viewers[held_out])
        how = "one temperature by cross-validation over scanpaths"
    pooled, own = _viewer_models(features, statistics, viewers, n_viewers, chosen["prior_values"])
    units = training_units(training, Representation((gradient_block(pooled),)))
    return LinearFit(
        (likelihood_ratio_weights(pooled, own, temperature),),
        np.zeros(n_viewers),
        accuracy_of_units(ratios, viewers, where, folds, held_out),
        f"{how}: {temperature:.3g}",
        units.scores,
        _machine(units, temperature, n_viewers),
        units.usual_saccades,
        hyperparameters=chosen,
        accuracy_by_images=accuracy_by_images(ratios, viewers, where, folds, held_out),
    )


def _held_out_ratios(
    features: FeatureSet,
    statistics: Floats,
    viewers: Integers,
    n_viewers: int,
    folds: Integers,
    n_prior: float,
) -> tuple[Floats, Flags]:
    """Return log likelihood ratios (units, viewers) of held-out units, and which those are."""
    ratios = np.zeros((len(statistics), n_viewers))
    held_out = np.zeros(len(statistics), bool)
    for fold in np.unique(folds):
        out = folds == fold
        if np.isin(viewers[out], viewers[~out]).all():
            pooled, own = _viewer_models(
                features, statistics[~out], viewers[~out], n_viewers, n_prior
            )
            natural = np.stack([m.natural_parameters() - pooled.natural_parameters() for m in own])
            ratios[out] = np.einsum("nts,kts->nk", statistics[out], natural)
            held_out |= out
    return ratios, held_out


def _machine(units: TrainingUnits, temperature: float, n_viewers: int) -> Machine:
    """Return a machine that keeps no scores: a likelihood needs none."""
    whitening = Linear(np.zeros((units.scores.shape[1], 0)), np.zeros(0))
    empty = np.zeros((len(units.viewers), 0), np.float32)
    logits = Linear(np.zeros((0, n_viewers)), np.zeros(n_viewers))
    return Machine("likelihood", temperature, whitening, empty, units.viewers, logits)


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


def _viewer_models(
    features: FeatureSet, statistics: Floats, viewers: Integers, n_viewers: int, n_prior: float
) -> tuple[MarkovModel, list[MarkovModel]]:
    pooled = markov_of_statistics(features, statistics.sum(axis=0))
    own = [
        markov_of_statistics(features, statistics[viewers == v].sum(axis=0), pooled, n_prior)
        for v in range(n_viewers)
    ]
    return pooled, own
