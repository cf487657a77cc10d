"""CEM-B: features of a scanpath, windows of a long one, and the grid against exact values."""

from dataclasses import replace

import numpy as np
import pytest

from gazelive.features.scanpath import Column, scanpath_of_fixations
from gazelive.identification.comparison.similarity import Unit, units_of
from gazelive.identification.comparison.similarity_training import training_units
from gazelive.identification.fitted import Options
from gazelive.identification.methods.cem_b import ExactComparison, GridComparison
from gazelive.identification.methods.cem_b_features import FeatureValues, feature_names
from gazelive.identification.registry import fit_method

from ....support.people import identified, people, training_of


def unit(path):
    return Unit(path.saccades, path.fixations)


def test_features_of_a_table():
    path = scanpath_of_fixations(
        np.array([1.0, 4.0, 4.0, 1.0]),
        np.array([2.0, 2.0, 6.0, 6.0]),
        np.array([0.2, 0.3, 0.25, 0.4]),
    )
    training = training_of(people(2), "fixations")
    names = feature_names(training, Options(), dynamics=False)
    found = dict(zip(names, FeatureValues(names, 7.0).of(unit(path)), strict=True))
    expected = {
        "fixation start": [0, 0.2, 0.5],
        "fixation duration": [0.2, 0.3, 0.25],  # the last is cut by the end
        "fixation x": [1, 4, 4, 1],
        "fixation y": [2, 2, 6, 6],
        "saccade start": [0.2, 0.5, 0.75],
        "saccade dx": [3, 0, -3],
        "saccade dy": [0, 4, 0],
        "amplitude": [3, 4, 3],
    }
    assert list(found) == list(expected)
    for name, values in expected.items():
        np.testing.assert_allclose(found[name], values, atol=1e-6, err_msg=name)


@pytest.mark.parametrize(
    ("dynamics", "without", "n"),
    [(False, (), 10), (True, (), 16), (True, ("positions",), 14), (True, ("start-times",), 14)],
)
def test_number_of_features(dynamics, without, n):
    training = training_of(people(2), "samples")
    options = Options(without=frozenset((*without, "a group of another method")))
    assert len(feature_names(training, options, dynamics=dynamics)) == n


def test_a_group_that_is_left_out_says_nothing():
    training = training_of(people(4), "fixations")
    without = Options(without=frozenset({"positions"}))
    identifier = fit_method("cem-b", training, without).identifier
    path = people(1)[0].looks("fixations", 20, 77)
    moved = replace(path, fixations=path.fixations + np.array([5.0, -3.0, 0.0]))
    first, second = identified(identifier, [path]), identified(identifier, [moved])
    np.testing.assert_array_equal(first.log_probabilities, second.log_probabilities)


def test_long_intervals_are_cut_into_windows():
    path = people(1)[0].looks("samples", 300, 1)
    rows = path.saccades.copy()
    rows[:, Column.ONSET_S] = np.linspace(0.2, 72.0, 300)
    units = units_of(rows, path.fixations)
    assert len(units) == 4
    assert sum(len(u.saccades) for u in units) == 300
    assert sum(len(u.fixations) for u in units) == 301
    for number, own in enumerate(units):
        onset_s = own.saccades[:, Column.ONSET_S]
        assert onset_s.min() >= 20 * number
        assert onset_s.max() < 20 * (number + 1)
    assert len(units_of(rows[:100], path.fixations[:101])) == 1  # 24 s


def test_the_grid_is_near_exact_values():
    training = training_of(people(6), "samples", 10, 20)
    names = feature_names(training, Options(), dynamics=True)
    values = FeatureValues(names, 7.0)
    units = training_units(training)
    found = {}
    for comparison in (GridComparison.fit(values, units.units), ExactComparison(values)):
        described = [comparison.describe(own) for own in units.units]
        profiles = [
            comparison.pool([d for d, v in zip(described, units.viewers, strict=True) if v == who])
            for who in range(6)
        ]
        probe = comparison.pool(described[:3])
        distances = comparison.distances(probe, comparison.gallery(profiles))
        found[comparison.kind] = distances.reshape(6, len(names), -1)[:, :, 0]
    np.testing.assert_allclose(found["histograms"], found["values"], atol=0.08)


def test_the_ridge_is_searched():
    training = training_of(people(4), "fixations")
    assert fit_method("cem-b", training).hyperparameters == {"ridge": 0.1}
    searched = fit_method("cem-b", training, Options(search=True)).hyperparameters
    assert searched["ridge"] in (0.1, 0.5, 2.0)


def test_two_sessions_teach_how_people_change():
    sessions = training_of(people(5), "samples", 4, 15, sessions=("1", "2"))
    fitted = fit_method("cem-b-dynamics", sessions)
    assert "across sessions" in fitted.calibration
    assert "sessions that were held out" in str(fitted.accuracy)
    assert fitted.identifier.fusion.floor == 0
    one = fit_method("cem-b-dynamics", training_of(people(5), "samples", 4, 15))
    assert "within sessions" in one.calibration
    assert one.identifier.fusion.floor > 0
