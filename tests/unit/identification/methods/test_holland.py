"""Holland and Komogortsev 2011: aggregates of simple scanpaths, and the shape of a scanpath."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.spatial import ConvexHull

from gazelive.features.scanpath import scanpath_of_fixations
from gazelive.identification.comparison.similarity import Unit, empty_unit
from gazelive.identification.methods import holland_kernels as kernels
from gazelive.identification.methods.holland import literal_distance
from gazelive.identification.methods.holland_aggregates import (
    LITERAL_WEIGHTS,
    Aggregated,
    aggregate_names,
    learned_form,
    line,
    literal_form,
)


def aggregated(x, y, durations_s):
    path = scanpath_of_fixations(np.array(x), np.array(y), np.array(durations_s))
    return Aggregated.of(Unit(path.saccades, path.fixations))


SQUARE = aggregated([0.0, 3.0, 3.0, 0.0, 0.2], [0.0, 0.0, 3.0, 3.0, 0.1], [0.2, 0.3, 0.2, 0.3, 0.5])


def test_aggregates_of_a_square():
    found = learned_form(SQUARE)
    assert found["fixation rate"] == pytest.approx(4 / 1.0)
    assert found["fixation duration"] == pytest.approx(np.log(0.25))
    assert found["scanpath area"] == pytest.approx(3.0)
    assert found["regions of interest"] == pytest.approx(4 / 5)
    assert found["inflections"] == pytest.approx(1 / 3)
    assert np.isnan(found["peak velocity"])


def test_the_papers_numbers_of_a_square():
    found = literal_form(SQUARE)
    assert list(found) == list(LITERAL_WEIGHTS)
    assert found["fixation count"] == 5
    assert found["mean fixation duration"] == pytest.approx(0.3)
    assert found["mean |dx|"] == pytest.approx(3)  # smaller ones do not count
    assert found["scanpath length"] == pytest.approx(9 + np.hypot(0.2, 2.9))
    assert found["scanpath area"] == pytest.approx(9)
    assert found["regions of interest"] >= 1


def test_nothing_has_no_aggregates():
    nothing = Aggregated.of(empty_unit())
    for form in (learned_form, literal_form):
        known = {name for name, value in form(nothing).items() if np.isfinite(value)}
        assert known <= {"inflections", "scanpath length"}


def test_number_of_aggregates():
    assert len(aggregate_names("learned", of_table=False)) == 16
    assert len(aggregate_names("learned", of_table=True)) == 9
    assert len(aggregate_names("literal", of_table=False)) == 14


def test_a_line_is_found():
    x = np.array([1.0, 2.0, 3.0, 5.0, np.nan])
    assert line(x, 2 * x - 1) == pytest.approx((2, -1))
    assert np.isnan(line(x[:3], x[:3])).all()
    assert np.isnan(line(np.ones(9), np.arange(9.0))).all()


def test_the_papers_similarity():
    distances = literal_distance(np.array([0.0, 1.0, -1.0, 9.0]))
    np.testing.assert_allclose(distances, [0, 0.682689, 0.682689, 1], atol=1e-6)


@given(seed=st.integers(0, 2**31), n=st.integers(4, 60), decimals=st.sampled_from([0, 1, 6]))
def test_the_hull_is_scipys(seed, n, decimals):
    x, y = np.random.default_rng(seed).normal(0, 3, (2, n)).round(decimals)
    if np.linalg.matrix_rank(np.stack((x - x[0], y - y[0]))) < 2:
        assert kernels.hull_area(x, y) == pytest.approx(0)
        return
    expected = ConvexHull(np.stack((x, y), axis=1)).volume
    assert kernels.hull_area(x, y) == pytest.approx(expected)


@pytest.mark.parametrize("count", [kernels.greedy_regions, None])
def test_regions_of_separate_clusters(count):
    rng = np.random.default_rng(0)
    centres = np.array([[0, 0], [20, 0], [0, 20]])[rng.integers(0, 3, 40)]
    x, y = (centres + rng.normal(0, 0.2, (40, 2))).T.copy()
    found = kernels.mean_shift_regions(x, y, 2.0, 100) if count is None else count(x, y, 2.0)
    assert found == 3
