"""The Markov model of scanpaths with Gaussian-process densities instead of gammas.

A. Abdelwahab, R. Kliegl and N. Landwehr, "A semiparametric model for Bayesian reader
identification", EMNLP 2016. A viewer's shares of the saccade types have a Dirichlet prior around
the pooled shares. Given the type, each feature has a density with a Gaussian-process prior around
the density of the population (`gp_density`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import special

from gazelive.features import FeatureSet, Rows
from gazelive.gaze import Flags, Floats, Integers
from gazelive.models import gp_density_kernels as kernels, typed_density_kernels
from gazelive.models.gp_density import (
    fit_gp_densities,
    fit_log_bins,
    gamma_log_masses,
    gp_directions,
)
from gazelive.models.gp_density_kernels import N_BINS
from gazelive.models.markov import MarkovModel, markov_of_statistics

POPULATION_DEVIATION, POPULATION_LENGTH = 1.0, 0.3
"""σ and ℓ of the population's own deviation from a gamma: wide, as it has everybody's values."""


@dataclass(frozen=True, eq=False)
class Saccades:
    """Saccades of several viewers that have a type."""

    types: Integers
    values: Floats
    """(saccades, features)"""
    viewers: Integers
    n_viewers: int

    @classmethod
    def of_rows(
        cls, features: FeatureSet, rows: Rows, viewers: Integers, n_viewers: int
    ) -> tuple[Saccades, Flags]:
        """Return the saccades with a type, and which of the rows these are."""
        types = features.types(rows)
        typed = types >= 0
        return cls(types, features.values(rows), viewers, n_viewers).select(typed), typed

    def select(self, chosen: Flags) -> Saccades:
        """Return some of the saccades."""
        return Saccades(
            self.types[chosen], self.values[chosen], self.viewers[chosen], self.n_viewers
        )

    def binned(self, bins: Floats) -> Integers:
        """Return the bin of each value, −1 where it is masked."""
        found = np.empty(self.values.shape, np.int64)
        kernels.bin_saccades(self.types, self.values, bins, found)
        return found

    def counts(self, bins: Floats) -> Floats:
        """Return how many values each viewer has in each bin (viewers, types, features, bins)."""
        counts = np.zeros((self.n_viewers, *bins.shape[:2], N_BINS))
        kernels.count_bins(self.types, self.binned(bins), self.viewers, counts)
        return counts

    def type_counts(self, n_types: int) -> Floats:
        """Return how many saccades each viewer has of each type (viewers, types)."""
        counts = np.zeros((self.n_viewers, n_types))
        np.add.at(counts, (self.viewers, self.types), 1)
        return counts

    def fit_bins(self, n_types: int) -> Floats:
        """Return bins (types, features, 3) for the values of each type and feature."""
        return np.array(
            [
                [fit_log_bins(x[np.isfinite(x)]) for x in self.values[self.types == u].T]
                for u in range(n_types)
            ]
        )


@dataclass(frozen=True, eq=False)
class Population:
    """Everybody's densities and shares: what viewers' deviate from."""

    gammas: MarkovModel
    """Pooled gamma densities and shares."""
    bins: Floats
    """(types, features, 3)"""
    log_base: Floats
    """(types, features, bins): ln of the mass of each bin."""

    @classmethod
    def fit(
        cls, features: FeatureSet, saccades: Saccades, bins: Floats, *, only_gammas: bool
    ) -> Population:
        """Fit gamma densities, and unless `only_gammas` a Gaussian process around them."""
        statistics = np.zeros((features.n_types, 1 + 3 * len(features.features)))
        typed_density_kernels.scanpath_statistics(saccades.types, saccades.values, statistics)
        gammas = markov_of_statistics(features, statistics)
        found = cls(gammas, bins, gamma_log_masses(bins, gammas.shape, gammas.scale))
        if only_gammas:
            return found
        everybody = saccades.counts(bins).sum(axis=0, keepdims=True)
        n_features = len(features.features)
        wide = ViewerPrior(
            found,
            np.full(n_features, POPULATION_DEVIATION),
            np.full(n_features, POPULATION_LENGTH),
            concentration=1.0,
        )
        return cls(gammas, bins, wide.log_masses(everybody)[0])

    def log_evidence(self, counts: Floats, feature: int, deviation: float, length: float) -> float:
        """Return ln p of viewers' counts of a feature under σ and ℓ, less what neither changes."""
        evidence = 0.0
        for u in range(len(self.bins)):
            directions = self.directions(u, feature, deviation, length)
            found = fit_gp_densities(counts[:, u, feature], self.log_base[u, feature], directions)
            evidence += float(found.log_evidence.sum())
        return evidence

    def log_evidence_of_shares(self, type_counts: Floats, concentration: float) -> float:
        """Return ln p of viewers' counts of types under a Dirichlet prior of that strength."""
        prior = concentration * self.gammas.shares
        of_types = special.gammaln(prior + type_counts) - special.gammaln(prior)
        of_all = special.gammaln(concentration) - special.gammaln(
            concentration + type_counts.sum(axis=1)
        )
        return float(of_types.sum() + of_all.sum())

    def directions(self, type_: int, feature: int, deviation: float, length: float) -> Floats:
        """Return the directions (bins, directions) in which a density deviates."""
        log_base = self.log_base[type_, feature]
        return gp_directions(self.bins[type_, feature], log_base, deviation, length)


@dataclass(frozen=True, eq=False)
class ViewerPrior:
    """The population, and how far viewers deviate from it."""

    population: Population
    deviation: Floats
    length: Floats
    """(features,): σ and ℓ."""
    concentration: float
    """Saccades that the prior of the shares counts for."""

    def log_masses(self, counts: Floats, log_base: Floats | None = None) -> Floats:
        """Return ln of the mass of each bin for viewers with these counts, of the same shape.

        `log_base` of that shape gives each viewer a base of their own.
        """
        population = self.population
        if log_base is None:
            log_base = np.broadcast_to(population.log_base, counts.shape)
        masses = np.empty(counts.shape)
        for u, f in np.ndindex(*population.bins.shape[:2]):
            deviation, length = float(self.deviation[f]), float(self.length[f])
            directions = population.directions(u, f, deviation, length)
            found = fit_gp_densities(counts[:, u, f], log_base[:, u, f], directions)
            masses[:, u, f] = found.log_masses
        return masses

    def directions(self) -> Floats:
        """Return Φ of every cell (types, features, bins, directions); columns to spare are 0."""
        population = self.population
        n_types, n_features = population.bins.shape[:2]
        of_cells = [
            population.directions(u, f, float(self.deviation[f]), float(self.length[f]))
            for u, f in np.ndindex(n_types, n_features)
        ]
        table = np.zeros((n_types, n_features, N_BINS, max(c.shape[1] for c in of_cells)))
        for (u, f), own in zip(np.ndindex(n_types, n_features), of_cells, strict=True):
            table[u, f, :, : own.shape[1]] = own
        return table

    def log_shares(self, type_counts: Floats) -> Floats:
        """Return ln of the expected share of each type (viewers, types)."""
        more = self.concentration * self.population.gammas.shares
        total = type_counts.sum(axis=1, keepdims=True) + self.concentration
        return np.asarray(np.log((type_counts + more) / total))

    def log_ratios(
        self, saccades: Saccades, log_base: Floats | None = None
    ) -> tuple[Floats, Floats]:
        """Return tables of ln p(viewer) − ln p(population) of viewers with these saccades.

        They are (types, features, bins, viewers) of values and (types, viewers) of types.
        """
        population = self.population
        masses = self.log_masses(saccades.counts(population.bins), log_base)
        shares = self.log_shares(saccades.type_counts(len(population.bins)))
        of_values = np.moveaxis(masses - population.log_base, 0, -1)
        of_types = (shares - np.log(population.gammas.shares)).T
        return np.ascontiguousarray(of_values), np.ascontiguousarray(of_types)
