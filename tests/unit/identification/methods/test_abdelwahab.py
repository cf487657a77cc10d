"""The semiparametric model as an identifier; what all identifiers do is in the contract suite."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gazelive.errors import ModelError
from gazelive.features.scanpath import LATE_COLUMN, Column
from gazelive.identification import Options, fit_method
from gazelive.identification.methods.abdelwahab import (
    DENSITIES,
    GROUP,
    MOST_VIEWERS,
    SHARES,
    AbdelwahabIdentifier,
    _grouped,
    _Units,
)
from gazelive.models.gp_density import gamma_log_masses
from gazelive.models.gp_density_kernels import bin_number

from ....support.people import identified, people, training_of

METHODS = ("abdelwahab", "abdelwahab-literal", "abdelwahab-dynamics")
TRAINING = training_of(people(5), "samples", 10, 15)
every_method = pytest.mark.parametrize("method", METHODS)


@pytest.fixture(scope="module")
def fitted():
    return {method: fit_method(method, TRAINING) for method in METHODS}


def with_holes(path, seed):
    rng = np.random.default_rng(seed)
    rows = path.saccades.copy()
    hidden = rng.random(rows.shape) < 0.2
    hidden[:, : Column.DX_DEG] = False
    rows[hidden] = np.nan
    return replace(path, saccades=rows)


@every_method
class TestEvidence:
    def test_it_is_the_sum_of_one_table_row_per_value(self, method, fitted):
        identifier = fitted[method].identifier
        assert isinstance(identifier, AbdelwahabIdentifier)
        path = with_holes(people(9)[7].looks("samples", 40, 3), 4)
        (weights,) = identifier.weights
        features, bins = weights.block.features, weights.bins
        expected = np.zeros(5)
        values = features.values(path.saccades)
        for i, u in enumerate(features.types(path.saccades)):
            if u < 0:
                continue
            expected += weights.types[u]
            for f, x in enumerate(values[i]):
                if np.isfinite(x):
                    expected += weights.values[u, f, bin_number(x, bins[u, f])]
        np.testing.assert_allclose(identifier.evidence(path), expected, atol=1e-9)

    def test_saccade_by_saccade_is_the_whole(self, method, fitted):
        identifier = fitted[method].identifier
        path = with_holes(people(9)[7].looks("samples", 25, 3), 5)
        live = identifier.probe()
        live.begin(None)
        for row in path.saccades:
            known = row.copy()
            known[LATE_COLUMN] = np.nan
            live.add_saccade(known)
            live.complete_saccade(row)
        np.testing.assert_allclose(
            live.estimate().log_probabilities,
            identified(identifier, [path]).log_probabilities,
            atol=1e-9,
        )

    def test_the_temperature_is_a_factor(self, method, fitted):
        identifier = fitted[method].identifier
        of_values, _ = identifier.prior.log_ratios(
            _saccades(identifier, list(TRAINING.of_viewer(2)))
        )
        np.testing.assert_allclose(
            identifier.weights[0].values[..., 2],
            identifier.temperature * of_values[..., 0],
            atol=1e-6,
        )

    def test_a_feature_in_no_saccade_says_nothing(self, method, fitted):
        path = people(9)[7].looks("samples", 30, 6)
        names = dict(fitted[method].identifier.contributions([path]))
        rows = path.saccades.copy()
        rows[:, Column.NEXT_FIXATION_S] = np.nan
        masked = dict(fitted[method].identifier.contributions([replace(path, saccades=rows)]))
        assert names["duration"].any()
        assert not masked["duration"].any()
        np.testing.assert_array_equal(names["amplitude"], masked["amplitude"])


def _saccades(identifier, paths):
    from gazelive.models import Saccades

    rows = np.concatenate([path.saccades for path in paths])
    features = identifier.prior.population.gammas.features
    return Saccades.of_rows(features, rows, np.zeros(len(rows), np.int64), 1)[0]


@every_method
class TestEnrolment:
    def test_the_same_person_gets_the_same_arrays(self, method, fitted):
        identifier = fitted[method].identifier
        state = identifier.state()
        again = identifier.viewer_arrays(tuple(TRAINING.of_viewer(3)))
        assert set(again) == set(state.viewers())
        for name, axis in state.viewer_axis.items():
            own = np.take(state.arrays[name], [3], axis)
            np.testing.assert_allclose(again[name], own, atol=1e-6, err_msg=name)

    def test_without_a_turn_it_is_refused(self, method, fitted):
        path = people(9)[8].looks("samples", 1, 1)
        rows = path.saccades.copy()
        rows[:, Column.TURN] = -1
        with pytest.raises(ModelError, match="turn"):
            fitted[method].identifier.viewer_arrays([replace(path, saccades=rows)])


@every_method
class TestHyperparameters:
    def test_they_are_of_the_grid_and_reported(self, method, fitted):
        found = dict(fitted[method].hyperparameters)
        assert found.pop("concentration") in SHARES.values["concentration"]
        prior = fitted[method].identifier.prior
        for f, feature in enumerate(prior.population.gammas.features.features):
            for name in ("deviation", "length"):
                value = found.pop(f"{name} of {feature.name}")
                assert value in DENSITIES.values[name]
                assert value == getattr(prior, name)[f]
        assert not found

    def test_a_search_changes_nothing(self, method, fitted):
        searched = fit_method(method, TRAINING, Options(search=True))
        assert searched.hyperparameters == fitted[method].hyperparameters


def test_the_defaults_are_on_the_grid():
    for grid in (DENSITIES, SHARES):
        for name, value in grid.defaults.items():
            assert value in grid.values[name]


def test_the_literal_base_is_the_pooled_gamma(fitted):
    for method, is_gamma in (("abdelwahab-literal", True), ("abdelwahab", False)):
        population = fitted[method].identifier.prior.population
        gammas = population.gammas
        expected = gamma_log_masses(population.bins, gammas.shape, gammas.scale)
        assert np.allclose(population.log_base, expected) == is_gamma


def test_a_feature_can_be_left_out():
    made = fit_method("abdelwahab", TRAINING, Options(without=frozenset({"duration"})))
    path = people(9)[7].looks("samples", 30, 6)
    rows = path.saccades.copy()
    rows[:, Column.NEXT_FIXATION_S] *= 3
    a, b = (identified(made.identifier, [replace(path, saccades=r)]) for r in (path.saccades, rows))
    np.testing.assert_array_equal(a.log_probabilities, b.log_probabilities)
    assert not any("duration" in name for name in made.hyperparameters)


def test_hyperparameters_are_chosen_on_some_of_many_viewers():
    n = MOST_VIEWERS + 20
    made = fit_method("abdelwahab", training_of(people(n), "fixations", 2, 8))
    assert len(made.identifier.viewer_ids) == n
    assert made.identifier.weights[0].values.shape[-1] == n


def test_long_recordings_are_tested_on_parts():
    training = training_of(people(4), "samples", 1, 200)
    made = fit_method("abdelwahab", training)
    assert "cross-validation" in made.calibration
    assert made.accuracy is not None
    assert "parts of each session" in made.accuracy.protocol
    assert made.identifier.correlation > 0


def test_the_temperature_is_that_of_groups_of_one_viewer_and_fold():
    viewers = np.array([0] * 7 + [1] * 3)
    folds = np.array([0, 1, 0, 0, 0, 0, 0, 2, 2, 2])
    held_out = np.arange(10) != 9
    units = _Units(np.arange(10), viewers, np.arange(10), folds)
    summed, of_groups = _grouped(np.eye(10)[:, :2] + np.arange(10)[:, None], units, held_out)
    np.testing.assert_array_equal(of_groups, [0, 0, 0, 1])
    assert GROUP == 5
    np.testing.assert_array_equal(summed[:, 0], [0 + 2 + 3 + 4 + 5 + 1, 6, 1, 7 + 8])


def test_too_few_scanpaths_have_the_default_temperature():
    made_up = training_of(people(3), "fixations", 1, 12)
    made = fit_method("abdelwahab", made_up)
    assert "default" in made.calibration
    assert 0 < made.identifier.correlation < 0.1
    same = fit_method("abdelwahab", made_up, Options(same_session=True))
    assert same.identifier.correlation == 0
