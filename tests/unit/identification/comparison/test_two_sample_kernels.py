"""Two-sample statistics: the exact ones equal scipy's, and those on a grid are near."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats

from gazelive.identification.comparison.two_sample_kernels import (
    sample_distances,
    statistics_to_distances,
    two_sample_statistics,
)
from gazelive.identification.methods.cem_b_kernels import histogram_distances

seeds = st.integers(0, 2**31)
sizes = st.tuples(st.integers(1, 60), st.integers(2, 300))


def samples(seed, n, decimals=None):
    """Return two sorted samples; rounded ones have ties."""
    rng = np.random.default_rng(seed)
    x, y = rng.normal(0, 1, n[0]), rng.normal(rng.normal(0, 0.5), rng.uniform(0.5, 2), n[1])
    if decimals is not None:
        x, y = x.round(decimals), y.round(decimals)
    return np.sort(x), np.sort(y)


def statistics(x, y):
    out = np.empty(4)
    two_sample_statistics(x, y, out)
    return out


class TestExact:
    @given(seed=seeds, n=sizes, decimals=st.sampled_from([None, 2, 1, 0]))
    def test_kolmogorov_smirnov_and_mann_whitney_are_scipys(self, seed, n, decimals):
        x, y = samples(seed, n, decimals)
        found = statistics(x, y)
        assert found[0] == pytest.approx(stats.ks_2samp(x, y, method="asymp").statistic)
        assert found[2] == pytest.approx(stats.mannwhitneyu(x, y, method="asymptotic").statistic)

    @given(seed=seeds, n=sizes)
    def test_the_others_are_scipys_without_ties(self, seed, n):
        x, y = samples(seed, (max(n[0], 2), n[1]))
        found = statistics(x, y)
        cramer = stats.cramervonmises_2samp(x, y, method="asymptotic").statistic
        assert found[1] == pytest.approx(cramer, abs=1e-9)
        assert found[3] == pytest.approx(stats.ansari(x, y).statistic)

    @given(seed=seeds, n=sizes, decimals=st.sampled_from([None, 1]))
    def test_distances_do_not_depend_on_units_or_direction(self, seed, n, decimals):
        x, y = samples(seed, n, decimals)
        plain, turned = distances(x, y), distances(np.sort(-3 * x), np.sort(-3 * y))
        np.testing.assert_allclose(plain, turned, atol=1e-9)

    @given(seed=seeds, n=st.integers(2, 80), decimals=st.sampled_from([None, 1]))
    def test_a_sample_is_at_no_distance_from_itself(self, seed, n, decimals):
        x, _ = samples(seed, (n, 2), decimals)
        np.testing.assert_allclose(distances(x, x)[[0, 2, 3]], 0, atol=1e-9)

    def test_empty_samples_have_no_distance(self):
        values, ends = np.array([1.0, 2.0]), np.array([0, 2, 2])
        out = np.empty((1, 2, 4))
        sample_distances(values, ends, values, ends, out)
        assert np.isfinite(out[0, 0]).all()
        assert np.isnan(out[0, 1]).all()


def distances(x, y):
    out = statistics(x, y)
    statistics_to_distances(out, len(x), len(y))
    return out


class TestGrid:
    @given(seed=seeds, n=st.tuples(st.integers(5, 200), st.integers(200, 2000)))
    def test_it_is_near_the_exact_distances(self, seed, n):
        """On 64 quantiles, a distribution function is off by 1/64 at most."""
        x, y = samples(seed, n)
        edges = np.quantile(np.concatenate((x, y)), np.arange(1, 64) / 64)
        np.testing.assert_allclose(on_grid(x, y, edges), distances(x, y), atol=0.04)

    @given(seed=seeds, n=st.tuples(st.integers(2, 60), st.integers(2, 60)))
    def test_with_a_bin_for_each_value_it_is_exact(self, seed, n):
        x, y = samples(seed, n)
        found = on_grid(x, y, np.sort(np.concatenate((x, y)))[:-1])
        exact = distances(x, y)
        np.testing.assert_allclose(found[[0, 2]], exact[[0, 2]], atol=1e-6)

    def test_empty_histograms_have_no_distance(self):
        counts = np.array([[1.0, 2.0], [0.0, 0.0]])
        functions = np.array([[[0.5, 0.0], [1.0, 0.0]]] * 2, np.float32)
        out = np.empty((2, 2, 4))
        histogram_distances(counts, functions, np.array([[4.0, 0.0], [4.0, 4.0]]), out)
        assert np.isfinite(out[0, 0]).all()
        assert np.isnan(out[1]).all()
        assert np.isnan(out[:, 1]).all()


def on_grid(x, y, edges):
    n_bins = len(edges) + 1
    counts = np.bincount(np.searchsorted(edges, x), minlength=n_bins)
    others = np.bincount(np.searchsorted(edges, y), minlength=n_bins)
    functions = np.cumsum(others) / len(y)
    out = np.empty((1, 1, 4))
    histogram_distances(
        counts[None].astype(float),
        functions[None, :, None].astype(np.float32),
        np.array([[float(len(y))]]),
        out,
    )
    return out[0, 0]
