"""Linear evidence is what plain numpy makes of a scanpath's statistics."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from gazelive.errors import ModelError
from gazelive.features.feature_set import (
    ALL_ALIKE,
    DIRECTIONS,
    DIRECTIONS_AND_SIZES,
    EIGHT_DIRECTIONS,
    TURNS,
    Feature,
    FeatureSet,
    TypeRule,
)
from gazelive.features.scanpath import Column
from gazelive.identification.calibration import evidence_scale
from gazelive.identification.comparison.linear import (
    CLOSING_REACH_SD,
    Closing,
    LinearIdentifier,
    score_weights,
)
from gazelive.identification.methods.markov import likelihood_ratio_weights
from gazelive.identification.open_set import NO_STRANGERS
from gazelive.identification.scores import Representation, gradient_block, robust_block
from gazelive.identification.units import n_units
from gazelive.models.markov import (
    MarkovModel,
    markov_dynamics_features,
    markov_features,
)

from ....support.markov_models import fit_markov
from ....support.people import Person, identified, people

SETS = {"markov": markov_features(), "markov-dynamics": markov_dynamics_features(6.0)}
NAMES = ("anna", "ben", "cleo")
RATIO = Feature(name="ratio", a="next_fixation_s", b="previous_fixation_s", operation="ratio")
NEXT = Feature(name="next", a="next_fixation_s")
DX = Feature(name="dx", a="dx_deg", operation="copy", signed=True)


def random_model(features, seed):
    rng = np.random.default_rng(seed)
    cells = (features.n_types, len(features.features))
    return MarkovModel(
        features,
        rng.dirichlet(np.full(cells[0], 3.0)),
        rng.uniform(0.6, 12, cells),
        np.exp(rng.normal(0, 1, cells)),
    )


def with_holes(path, seed, share=0.2):
    rng = np.random.default_rng(seed)
    rows = path.saccades.copy()
    hidden = rng.random(rows.shape) < share
    hidden[:, : Column.DX_DEG] = False
    rows[hidden] = np.nan
    rows[rng.random(len(rows)) < share, Column.TURN] = -1
    return replace(path, saccades=rows)


def identifier(weights, constant, **more):
    return LinearIdentifier("x", NAMES, weights, constant, 12.0, NO_STRANGERS, **more)


@pytest.fixture(scope="module")
def representation():
    """Blocks of every typing, with features that are signed, that come late, or none."""
    rows = np.concatenate(
        [p.looks("samples", 60, s).saccades for p in people(4) for s in range(10)]
    )
    markov = fit_markov(markov_features(), [p.looks("samples", 60, 1) for p in people(4)])
    edges = TypeRule(kind="edges", column="amplitude_deg", edges=(1.0, 3.0))
    return Representation(
        (
            gradient_block(markov),
            robust_block(FeatureSet(EIGHT_DIRECTIONS), rows),
            robust_block(FeatureSet(DIRECTIONS_AND_SIZES, [NEXT, DX]), rows, entries=1),
            robust_block(FeatureSet(ALL_ALIKE, [RATIO, DX]), rows, frequencies=False),
            robust_block(FeatureSet(DIRECTIONS, [NEXT, RATIO]), rows, family="log-gaussian"),
            robust_block(FeatureSet(edges, [DX]), rows),
            robust_block(FeatureSet(TURNS, [NEXT]), rows[:30]),  # too few values for a density
        )
    )


@pytest.mark.parametrize("name", SETS)
@settings(max_examples=20)
@given(seed=st.integers(0, 2**31), n=st.integers(0, 70), temperature=st.floats(0.01, 2))
def test_generative_evidence_is_the_tempered_log_likelihood_ratio(name, seed, n, temperature):
    pooled, *own = (random_model(SETS[name], seed + i) for i in range(4))
    weights = (likelihood_ratio_weights(pooled, own, temperature),)
    made = identifier(weights, np.zeros(3))
    path = with_holes(Person(seed % 50).looks("samples", n, seed), seed)
    reference = pooled.log_likelihood(path)
    expected = [temperature * (m.log_likelihood(path) - reference) for m in own]
    np.testing.assert_allclose(made.evidence(path), expected, rtol=1e-9, atol=1e-8)


class TestMachinesOnScores:
    @settings(max_examples=30)
    @given(seed=st.integers(0, 2**31), n=st.integers(0, 70))
    def test_evidence_is_the_machine_on_summed_scores(self, representation, seed, n):
        rng = np.random.default_rng(seed)
        machine = rng.normal(size=(representation.n_dimensions, 3))
        constant = rng.normal(size=3)
        made = identifier(score_weights(representation, machine), constant)
        path = with_holes(Person(seed % 50).looks("samples", n, seed), seed)
        summed = representation.row_scores(path.saccades).sum(axis=0)
        expected = summed @ machine + (n_units(n) * constant if n else 0)
        np.testing.assert_allclose(made.evidence(path), expected, rtol=1e-9, atol=1e-8)

    @settings(max_examples=20)
    @given(seed=st.integers(0, 2**31), n=st.integers(1, 40))
    def test_a_saccade_at_first_and_its_late_part_are_the_whole(self, representation, seed, n):
        machine = np.random.default_rng(seed).normal(size=(representation.n_dimensions, 3))
        made = identifier(score_weights(representation, machine), np.zeros(3))
        path = with_holes(Person(seed % 50).looks("samples", n, seed), seed)
        probe = made.probe()
        probe.begin(None)
        for row in path.saccades:
            probe.add_saccade(row)
            probe.complete_saccade(row)
        expected = identified(made, [path]).log_probabilities
        np.testing.assert_allclose(probe.estimate().log_probabilities, expected, atol=1e-7)

    def test_late_features_are_missing_at_first(self, representation):
        machine = np.random.default_rng(0).normal(size=(representation.n_dimensions, 3))
        made = identifier(score_weights(representation, machine), np.zeros(3))
        row = people(1)[0].looks("samples", 5, 1).saccades[2]
        without = row.copy()
        without[Column.NEXT_FIXATION_S] = np.nan
        a, b = made.probe(), made.probe()
        for probe, first in ((a, row), (b, without)):
            probe.begin(None)
            probe.add_saccade(first)
        np.testing.assert_array_equal(
            a.estimate().log_probabilities, b.estimate().log_probabilities
        )
        a.complete_saccade(row)
        assert (a.estimate().log_probabilities != b.estimate().log_probabilities).any()

    def test_the_constant_grows_during_an_open_interval(self, representation):
        zero = np.zeros((representation.n_dimensions, 3))
        zero[0, 0] = 1e-12  # says something, however little
        constant = np.array([0.0, 1.0, 2.0])
        made = identifier(score_weights(representation, zero), constant)
        path = people(1)[0].looks("samples", 26, 1)
        probe = made.probe()
        probe.begin(None)
        grown = []
        for row in path.saccades:
            probe.add_saccade(row)
            logs = probe.estimate().log_probabilities
            grown.append(logs[2] - logs[0])
        assert grown[:3] == sorted(grown[:3])
        assert grown[5] == pytest.approx(2 * 6 / 12)
        assert grown[-1] == pytest.approx(2)

    def test_a_machine_for_other_scores_is_refused(self, representation):
        with pytest.raises(ModelError, match="machines for 3 dimensions"):
            score_weights(representation, np.zeros((3, 2)))


def test_units_of_one_session_that_err_alike_count_less():
    pooled, *own = (random_model(SETS["markov"], i) for i in range(4))
    weights = (likelihood_ratio_weights(pooled, own, 0.1),)
    paths = [people(1)[0].looks("samples", 15, s) for s in range(4)]
    plain, alike = (identifier(weights, np.zeros(3), correlation=rho) for rho in (0.0, 0.5))
    assert evidence_scale(1, alike.correlation) == 1
    np.testing.assert_array_equal(
        identified(plain, paths[:1]).log_probabilities,
        identified(alike, paths[:1]).log_probabilities,
    )
    for n in (2, 4):
        a, b = (identified(made, paths[:n]).log_probabilities for made in (plain, alike))
        scale = 1 / (1 + (n - 1) * 0.5)
        np.testing.assert_allclose((b - b[0]), (a - a[0]) * scale, atol=1e-9)


class TestClosing:
    closing = Closing(np.array([10.0, 3.0]), np.array([2.0, 0.1]), (2.1, 3.9))

    def test_scores_of_a_usual_interval(self):
        scores = self.closing.scores(12, 3.1)
        np.testing.assert_allclose(scores, [1, 1, 0, 0], atol=1e-9)

    @pytest.mark.parametrize("seconds", [0.0, 2.0, 4.0, 60.0])
    def test_an_interval_of_another_length_is_not_judged(self, seconds):
        assert not self.closing.scores(12, seconds).any()

    def test_no_interval_counts_for_more_than_so_much(self):
        z = CLOSING_REACH_SD
        np.testing.assert_allclose(self.closing.scores(1000, 2.2)[:2], [z, -z])

    def test_it_is_added_once_the_interval_has_ended(self, representation):
        zero = np.zeros((representation.n_dimensions, 3))
        weights = np.array([[1.0, 0, 0], [0] * 3, [0] * 3, [0] * 3])
        zero[0, 0] = 1e-12
        made = identifier(
            score_weights(representation, zero),
            np.zeros(3),
            closing=self.closing,
            closing_weights=weights,
        )
        path = replace(people(1)[0].looks("samples", 14, 1), seconds=3.0)
        probe = made.probe()
        probe.begin(None)
        for row in path.saccades:
            probe.add_saccade(row)
        np.testing.assert_allclose(probe.estimate().log_probabilities, -np.log(3), atol=1e-6)
        probe.settle(path)
        logs = probe.estimate().log_probabilities
        assert logs[0] - logs[1] == pytest.approx(2.0, abs=1e-6)
