"""Profiles: sums of saccades, ratios of normal densities, and what ships."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats

from gazelive.identification import Options, fit_method
from gazelive.identification.comparison.counted_saccades import counted_rows
from gazelive.identification.comparison.profile import ProfileIdentifier, ProfileSum
from gazelive.identification.shipped.profiles import PARTS, shipped_variation

from ....support.people import Person, people, training_of


@pytest.fixture(scope="module")
def training():
    return training_of(people(6), "samples", 4, 40)


@pytest.fixture(scope="module")
def identifier(training) -> ProfileIdentifier:
    made = fit_method("gazelive", training).identifier
    assert isinstance(made, ProfileIdentifier)
    return made


@settings(max_examples=40)
@given(n=st.integers(0, 70), seed=st.integers(0, 1000))
def test_a_growing_sum_is_that_of_the_whole(identifier, n, seed):
    rows = Person(seed % 20).looks("samples", n, seed).saccades
    growing = ProfileSum(identifier.space)
    for row in rows:
        growing.add(row)
    counted = counted_rows(rows)
    scores = identifier.space.block.row_scores(counted)
    tempered = np.sign(scores) * np.sqrt(np.abs(scores))
    expected = tempered.sum(axis=0) @ identifier.space.projection
    np.testing.assert_allclose(growing.summed, expected, atol=1e-9 * max(n, 1))
    assert growing.n == len(counted)


@settings(max_examples=25)
@given(seed=st.integers(0, 1000), n=st.floats(1, 500))
def test_the_match_is_a_ratio_of_normal_densities(identifier, seed, n):
    """Enrolment and probe share a person's mean, or they do not."""
    space = identifier.space
    z = np.random.default_rng(seed).normal(0, 1, len(space.between))
    summed = n * (z + space.centre @ space.projection)
    found = identifier.matches(summed, n)
    between, noise = space.between, space.session + 1 / n
    for viewer, profile in enumerate(identifier.profiles):
        own = space.session / identifier.n_sessions[viewer] + 1 / identifier.n_saccades[viewer]
        share = between / (between + own)
        same = stats.norm.logpdf(z, share * profile, np.sqrt(share * own + noise))
        other = stats.norm.logpdf(z, 0, np.sqrt(between + noise))
        assert found[viewer] == pytest.approx(np.sum(same - other), abs=1e-6)


def test_alpha_falls_slowly(identifier):
    alphas = [identifier.alpha(n) for n in (1, 3, 20, 200, 2000)]
    assert alphas == sorted(alphas, reverse=True)
    assert identifier.alpha(20) == identifier.temperature
    evidence = [n**0.5 * identifier.alpha(n) for n in (20, 200, 2000)]
    assert evidence == sorted(evidence)


def test_a_second_session_makes_a_viewer_better_known(training, identifier):
    paths = tuple(training.of_viewer(0))
    one, two = (identifier.viewer_arrays(paths, n_sessions=n) for n in (1, 2))
    np.testing.assert_array_equal(one["profiles"], two["profiles"])
    known = [
        replace(identifier, n_sessions=np.full(6, float(arrays["n_sessions"][0])))
        for arrays in (one, two)
    ]
    summed = known[0].sum_of(paths)
    matches = [k.matches(summed.summed, summed.n)[0] for k in known]
    assert matches[1] > matches[0]


def test_what_ships_are_covariances(identifier):
    names = identifier.space.block.dimension_names()
    variation = shipped_variation(names)
    for part in PARTS:
        covariance = getattr(variation, part)
        assert covariance.shape == (len(names), len(names))
        np.testing.assert_allclose(covariance, covariance.T, atol=1e-12)
        assert (np.linalg.eigvalsh(covariance).max()) > 0
    assert np.linalg.eigvalsh(variation.noise).min() > -0.05
    without = [n for n in names if not n.startswith("texture_")]
    assert shipped_variation(without).noise.shape == (len(without), len(without))


def test_it_works_without_what_ships(training):
    fitted = fit_method("gazelive", training, Options(shipped=False))
    assert "without shipped" in fitted.calibration
    assert fitted.accuracy is not None
    assert fitted.accuracy.estimate > 0.9
