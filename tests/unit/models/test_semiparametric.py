"""The semiparametric model contains the Markov model, and its evidence finds how viewers differ."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import special, stats

from gazelive.features.scanpath import Scanpath
from gazelive.models.gamma import gamma_log_density
from gazelive.models.gp_density import LEAST_MASS, bin_edges, gamma_log_masses, log_density
from gazelive.models.gp_density_kernels import N_BINS
from gazelive.models.markov import (
    MarkovModel,
    markov_dynamics_features,
    markov_features,
    markov_of_statistics,
    scanpath_statistics,
)
from gazelive.models.semiparametric import Population, Saccades, ViewerPrior

from ...support.people import people

SETS = {"markov": markov_features(), "markov-dynamics": markov_dynamics_features(6.0)}
MARKOV_CONCENTRATION = 4.0
"""Saccades that `markov` adds to a viewer's, distributed as the pooled shares."""
N_VIEWERS = 3


def looks_of(viewer: int, n: int = 40) -> Scanpath:
    parts = [people(N_VIEWERS)[viewer].looks("samples", 15, seed).saccades for seed in range(n)]
    return Scanpath(np.concatenate(parts), np.empty((0, 3)), 0.0)


def saccades_of(features, paths) -> Saccades:
    viewers = np.repeat(np.arange(len(paths)), [path.n_saccades for path in paths])
    rows = np.concatenate([path.saccades for path in paths])
    return Saccades.of_rows(features, rows, viewers, len(paths))[0]


@pytest.fixture(scope="module", params=SETS)
def case(request):
    """Features, the saccades of three viewers, the pooled gammas on bins, and the viewers' own."""
    features = SETS[request.param]
    paths = [looks_of(viewer) for viewer in range(N_VIEWERS)]
    saccades = saccades_of(features, paths)
    bins = saccades.fit_bins(features.n_types)
    population = Population.fit(features, saccades, bins, only_gammas=True)
    own = [
        markov_of_statistics(
            features, scanpath_statistics(features, path), towards=population.gammas
        )
        for path in paths
    ]
    return features, saccades, population, own


def no_variance(population: Population, n_features: int) -> ViewerPrior:
    return ViewerPrior(population, np.zeros(n_features), np.ones(n_features), MARKOV_CONCENTRATION)


class TestMarkovIsALimit:
    """With each viewer's gamma as base and no variance it is `markov`."""

    def test_the_pooled_gammas_are_those_of_markov(self, case):
        features, _, population, _ = case
        paths = [looks_of(viewer) for viewer in range(N_VIEWERS)]
        total = sum(scanpath_statistics(features, path) for path in paths)
        expected = markov_of_statistics(features, total)
        np.testing.assert_allclose(population.gammas.parameters(), expected.parameters())

    def test_without_bins_to_rounding(self, case):
        features, saccades, population, own = case
        prior = no_variance(population, len(features.features))
        log_shares = prior.log_shares(saccades.type_counts(features.n_types))
        probe = people(9)[5].looks("samples", 200, 77)
        seen = saccades_of(features, [probe])
        for viewer, model in enumerate(own):
            total = log_shares[viewer, seen.types].sum()
            for u, f in np.ndindex(*population.bins.shape[:2]):
                x = seen.values[seen.types == u, f]
                x = x[np.isfinite(x)]
                cell = population.bins[u, f]
                flat = np.zeros(N_BINS)
                total += log_density(x, cell, model.shape[u, f], model.scale[u, f], flat).sum()
            assert total == pytest.approx(model.log_likelihood(probe), rel=1e-12, abs=1e-9)

    def test_with_bins_to_what_the_ratio_changes_within_them(self, case):
        """A ratio of masses is a mean of the ratio of densities over the bin.

        ln of that ratio is Δα·ln x − Δ(1/β)·x + constant, so for a bin of width w (in ln x) from a
        to b the error of a value is at most |Δα|·w + |Δ(1/β)|·(b − a). There is no such bound in
        the end bins, which go on beyond their edges, and in bins that a gamma all but excludes.
        """
        features, saccades, population, own = case
        gammas, bins = population.gammas, population.bins
        prior = no_variance(population, len(features.features))
        log_base = np.stack([gamma_log_masses(bins, m.shape, m.scale) for m in own])
        of_values, of_types = prior.log_ratios(saccades, log_base)
        seen = saccades_of(features, [people(9)[5].looks("samples", 300, 78)])
        binned = seen.binned(bins)
        i, f = np.nonzero((binned > 0) & (binned < N_BINS - 1))
        u, at, x = seen.types[i], binned[i, f], seen.values[i, f]
        edges = bin_edges(bins)
        low, high = edges[u, f, at], edges[u, f, at + 1]
        for viewer, model in enumerate(own):
            exact = np.log(model.shares / gammas.shares)
            np.testing.assert_allclose(of_types[:, viewer], exact, atol=1e-12)
            expected = gamma_log_density(x, model.shape[u, f], model.scale[u, f])
            expected -= gamma_log_density(x, gammas.shape[u, f], gammas.scale[u, f])
            errors = np.abs(of_values[u, f, at, viewer] - expected)
            more_shape = np.abs(model.shape - gammas.shape)[u, f]
            more_rate = np.abs(1 / model.scale - 1 / gammas.scale)[u, f]
            bounds = more_shape * (high - low) + more_rate * (np.exp(high) - np.exp(low))
            possible = log_base[viewer, u, f, at] > np.log(1.01 * LEAST_MASS)
            assert possible.mean() > 0.95
            assert (errors <= bounds + 1e-6)[possible].all()
            assert errors[possible].mean() < 0.05


class TestTables:
    def test_without_variance_there_is_no_evidence_of_values(self, case):
        features, saccades, population, _ = case
        of_values, of_types = no_variance(population, len(features.features)).log_ratios(saccades)
        np.testing.assert_allclose(of_values, 0, atol=1e-12)
        assert np.abs(of_types).max() > 0.1

    def test_densities_and_shares_sum_to_one(self, case):
        features, saccades, population, _ = case
        n_features = len(features.features)
        prior = ViewerPrior(population, np.full(n_features, 1.0), np.full(n_features, 0.5), 30.0)
        of_values, of_types = prior.log_ratios(saccades)
        masses = np.exp(of_values + population.log_base[..., None])
        np.testing.assert_allclose(masses.sum(axis=2), 1, atol=1e-9)
        shares = np.exp(of_types) * population.gammas.shares[:, None]
        np.testing.assert_allclose(shares.sum(axis=0), 1, atol=1e-12)

    def test_values_of_each_viewer_are_counted(self, case):
        _, saccades, population, _ = case
        counts = saccades.counts(population.bins)
        for viewer in range(N_VIEWERS):
            own = saccades.values[saccades.viewers == viewer]
            np.testing.assert_array_equal(
                counts[viewer].sum(axis=(0, 2)), np.isfinite(own).sum(axis=0)
            )

    def test_the_density_of_the_population_is_nearer_to_the_values_than_the_gamma(self, case):
        features, saccades, gammas, _ = case
        wide = Population.fit(features, saccades, gammas.bins, only_gammas=False)
        everybody = saccades.counts(gammas.bins).sum(axis=0)
        assert (everybody * wide.log_base).sum() > (everybody * gammas.log_base).sum() + 10


class TestEvidence:
    def test_of_shares_is_that_of_a_beta_binomial(self):
        features = SETS["markov"]
        gammas = MarkovModel(
            features, np.array([0.3, 0.7, 0.0, 0.0]) + 1e-12, np.ones((4, 2)), np.ones((4, 2))
        )
        population = Population(gammas, np.zeros((4, 2, 3)), np.zeros((4, 2, N_BINS)))
        counts = np.array([[12.0, 9.0, 0, 0], [3.0, 30.0, 0, 0]])
        n = counts.sum(axis=1)
        theirs = stats.betabinom.logpmf(counts[:, 0], n, 0.3 * 50, 0.7 * 50)
        theirs -= special.gammaln(n + 1) - special.gammaln(counts + 1).sum(axis=1)
        assert population.log_evidence_of_shares(counts, 50.0) == pytest.approx(
            theirs.sum(), abs=1e-6
        )

    @pytest.mark.parametrize(("differ", "more"), [(False, 0.05), (True, 0.6)])
    def test_viewers_who_differ_deviate(self, differ, more):
        """The evidence of σ is higher for 0.05 if all viewers are one, for 0.6 if they differ."""
        features = SETS["markov"]
        persons = people(8, spread=0.5)
        paths = [
            Scanpath(
                np.concatenate(
                    [
                        persons[v if differ else 0].looks("samples", 15, 100 * v + i).saccades
                        for i in range(20)
                    ]
                ),
                np.empty((0, 3)),
                0.0,
            )
            for v in range(8)
        ]
        saccades = saccades_of(features, paths)
        bins = saccades.fit_bins(features.n_types)
        population = Population.fit(features, saccades, bins, only_gammas=False)
        counts = saccades.counts(bins)
        evidence = {d: population.log_evidence(counts, 0, d, 1.0) for d in (0.05, 0.6)}
        assert max(evidence, key=evidence.__getitem__) == more


def test_selecting_keeps_what_belongs_together():
    features = SETS["markov"]
    saccades = saccades_of(features, [looks_of(0, 2), looks_of(1, 2)])
    chosen = saccades.viewers == 1
    part = saccades.select(chosen)
    assert (part.viewers == 1).all()
    np.testing.assert_array_equal(part.types, saccades.types[chosen])
    counts = part.type_counts(4)
    assert counts[0].sum() == 0
    assert counts[1].sum() == chosen.sum()
    assert replace(part, n_viewers=5).type_counts(4).shape == (5, 4)
