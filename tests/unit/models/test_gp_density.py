"""Gaussian-process densities: limits, modes and evidence."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import integrate, special, stats

from gazelive.models.gp_density import (
    LEAST_MASS,
    bin_edges,
    fit_gp_densities,
    fit_log_bins,
    gamma_log_masses,
    gp_directions,
    log_density,
)
from gazelive.models.gp_density_kernels import N_BINS, RATE, bin_number, bin_numbers

SHAPE, SCALE = 2.5, 1.4
seeds = st.integers(0, 2**31)


def drawn(n: int, seed: int = 0, shape: float = SHAPE) -> np.ndarray:
    return np.random.default_rng(seed).gamma(shape, SCALE, n)


BINS = fit_log_bins(drawn(4000))
BASE = gamma_log_masses(BINS, SHAPE, SCALE)


def counted(values: np.ndarray) -> np.ndarray:
    return np.bincount(bin_numbers(values, BINS), minlength=N_BINS).astype(float)


class TestBins:
    def test_every_value_is_between_the_edges_of_its_bin(self):
        values = drawn(500, 1)
        at = bin_numbers(values, BINS)
        edges = bin_edges(BINS)
        inner = (at > 0) & (at < N_BINS - 1)
        assert inner.mean() > 0.99
        assert (edges[at[inner]] <= np.log(values[inner]) + 1e-12).all()
        assert (np.log(values[inner]) <= edges[at[inner] + 1] + 1e-12).all()

    @pytest.mark.parametrize(("x", "expected"), [(1e-300, 0), (1e300, N_BINS - 1), (5e-324, 0)])
    def test_the_end_bins_take_everything_beyond(self, x, expected):
        assert bin_number(x, BINS) == expected

    @pytest.mark.parametrize("values", [[], [2.0], [3.0, 3.0, 3.0]])
    def test_few_values_make_bins_of_some_width(self, values):
        assert 0 < fit_log_bins(np.array(values))[RATE] < 1e4


class TestGammaMasses:
    @given(shape=st.floats(0.3, 50), scale=st.floats(0.05, 20))
    def test_they_are_those_of_scipy(self, shape, scale):
        edges = np.exp(bin_edges(BINS))
        edges[0], edges[-1] = 0, np.inf
        theirs = np.diff(stats.gamma.cdf(edges, shape, scale=scale))
        ours = np.exp(gamma_log_masses(BINS, shape, scale))
        np.testing.assert_allclose(ours, np.maximum(theirs, LEAST_MASS), atol=1e-7)
        assert ours.sum() == pytest.approx(1, abs=1e-12)

    def test_cells_are_independent(self):
        bins = np.stack((BINS, fit_log_bins(drawn(300, 2, 9.0))))
        both = gamma_log_masses(bins, np.array([SHAPE, 9.0]), np.array([SCALE, SCALE]))
        np.testing.assert_array_equal(both[0], BASE)
        np.testing.assert_array_equal(both[1], gamma_log_masses(bins[1], 9.0, SCALE))


class TestFit:
    @settings(max_examples=25, deadline=None)
    @given(
        seed=seeds,
        n=st.sampled_from([0, 1, 30, 5000]),
        deviation=st.sampled_from([0.0, 0.05, 1.0, 3.0]),
        length=st.sampled_from([0.1, 0.25, 1.0]),
    )
    def test_masses_sum_to_one_and_the_slope_at_the_mode_is_zero(self, seed, n, deviation, length):
        rng = np.random.default_rng(seed)
        counts = rng.multinomial(n, rng.dirichlet(np.ones(N_BINS)), 3).astype(float)
        directions = gp_directions(BINS, BASE, deviation, length)
        found = fit_gp_densities(counts, BASE, directions)
        masses = np.exp(found.log_masses)
        np.testing.assert_allclose(masses.sum(axis=1), 1, atol=1e-12)
        slope = (counts - n * masses) @ directions - found.weights
        np.testing.assert_allclose(slope, 0, atol=1e-3)

    def test_without_variance_it_is_the_base(self):
        counts = counted(drawn(400, 3, 6.0))[None]
        found = fit_gp_densities(counts, BASE, gp_directions(BINS, BASE, 0.0, 0.5))
        np.testing.assert_allclose(found.log_masses[0], BASE, atol=1e-12)
        assert found.log_evidence[0] == pytest.approx(counts[0] @ BASE, abs=1e-9)

    def test_with_little_variance_it_is_near_the_base(self):
        counts = counted(drawn(400, 3, 6.0))[None]
        away = [
            np.abs(
                fit_gp_densities(counts, BASE, gp_directions(BINS, BASE, d, 0.5)).log_masses - BASE
            ).max()
            for d in (1e-2, 1e-3, 1e-4)
        ]
        assert away[0] > away[1] > away[2]
        assert away[2] < 1e-4

    def test_without_data_it_is_the_base(self):
        found = fit_gp_densities(np.zeros((1, N_BINS)), BASE, gp_directions(BINS, BASE, 1.0, 0.5))
        np.testing.assert_allclose(found.log_masses[0], BASE, atol=1e-12)
        assert found.log_evidence[0] == pytest.approx(0, abs=1e-12)

    def test_with_much_data_it_is_their_density(self):
        values = np.concatenate((drawn(30_000, 4), np.exp(0.1 * drawn(30_000, 5)) + 5))
        counts = counted(values)
        masses = np.exp(
            fit_gp_densities(counts[None], BASE, gp_directions(BINS, BASE, 2.0, 0.1)).log_masses[0]
        )
        seen = counts / counts.sum()
        assert special.rel_entr(seen, masses).sum() < 0.002
        assert special.rel_entr(seen, np.exp(BASE)).sum() > 0.2

    def test_each_density_is_as_if_it_were_alone(self):
        counts = np.stack([counted(drawn(n, n, 4.0)) for n in (5, 50, 800)])
        directions = gp_directions(BINS, BASE, 1.0, 0.5)
        together = fit_gp_densities(counts, BASE, directions)
        for i in range(3):
            alone = fit_gp_densities(counts[i : i + 1], BASE, directions)
            np.testing.assert_allclose(alone.log_masses[0], together.log_masses[i], atol=1e-6)
            assert alone.log_evidence[0] == pytest.approx(together.log_evidence[i], abs=1e-6)

    @pytest.mark.parametrize(("n", "shape"), [(376, 2.5), (420, 4.0), (463, 1.5)])
    def test_the_evidence_is_that_of_importance_sampling(self, n, shape):
        counts = counted(drawn(n, n, shape))
        directions = gp_directions(BINS, BASE, 0.6, 0.5)
        found = fit_gp_densities(counts[None], BASE, directions)
        masses = np.exp(found.log_masses[0])
        curvature = n * directions.T @ (np.diag(masses) - np.outer(masses, masses)) @ directions
        curvature += np.eye(len(curvature))
        root = np.linalg.inv(np.linalg.cholesky(curvature)).T
        normal = np.random.default_rng(6).standard_normal((20_000, len(root)))
        weights = found.weights[0] + normal @ root.T
        joint = special.log_softmax(BASE + weights @ directions.T, axis=1) @ counts
        joint -= 0.5 * (weights**2).sum(axis=1)
        of_proposal = np.linalg.slogdet(curvature)[1] / 2 - 0.5 * (normal**2).sum(axis=1)
        sampled = special.logsumexp(joint - of_proposal) - np.log(len(normal))
        assert found.log_evidence[0] == pytest.approx(sampled, abs=0.02)


class TestWithoutBins:
    def test_without_deviations_it_is_the_gamma(self):
        x = drawn(200, 7)
        theirs = stats.gamma.logpdf(x, SHAPE, scale=SCALE)
        np.testing.assert_allclose(log_density(x, BINS, SHAPE, SCALE), theirs, atol=1e-9)
        flat = np.full(N_BINS, 0.7)
        np.testing.assert_allclose(log_density(x, BINS, SHAPE, SCALE, flat), theirs, atol=1e-9)

    def test_each_bin_has_the_mass_of_the_table(self):
        counts = counted(drawn(600, 8, 5.0))[None]
        directions = gp_directions(BINS, BASE, 1.0, 0.5)
        found = fit_gp_densities(counts, BASE, directions)
        deviations = directions @ found.weights[0]

        def density(x: float) -> float:
            return float(np.exp(log_density(np.array([x]), BINS, SHAPE, SCALE, deviations))[0])

        edges = np.exp(bin_edges(BINS))
        for at in (5, 30, 50):
            mass, _ = integrate.quad(density, edges[at] + 1e-12, edges[at + 1] - 1e-12)
            assert mass == pytest.approx(np.exp(found.log_masses[0, at]), rel=1e-6)
