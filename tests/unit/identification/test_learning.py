"""Learning on scores, compared with scikit-learn and with the truth of synthetic data."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import special
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from gazelive.identification.calibration import (
    DEFAULT_FACTOR,
    MOST_CLASSES_FOR_LOGISTIC,
    fit_calibration,
    fit_temperature,
)
from gazelive.identification.learning import (
    Linear,
    Machine,
    cross_validated,
    fit_learned_prior,
    fit_multinomial,
    fit_svm,
    fit_whitening,
    spread_of,
)


def clusters(n_viewers, n_each=30, n_dimensions=6, distance=1.0, seed=0):
    rng = np.random.default_rng(seed)
    centres = rng.normal(0, distance, (n_viewers, n_dimensions))
    labels = np.repeat(np.arange(n_viewers), n_each)
    return centres[labels] + rng.normal(0, 1, (len(labels), n_dimensions)), labels


def log_loss(logits, labels):
    return -np.mean(special.log_softmax(logits, axis=1)[np.arange(len(labels)), labels])


class TestOneMoreViewer:
    def machine(self, n_viewers, n_each):
        scores, labels = clusters(n_viewers, n_each, distance=2.0)
        nothing = Linear(np.eye(6), np.zeros(6))
        means = np.array([scores[labels == viewer].mean(axis=0) for viewer in range(n_viewers)])
        logits = Linear(means.T, -0.5 * np.sum(means**2, axis=1))
        return Machine("svm", 1.0, nothing, scores.astype(np.float32), labels, logits)

    def test_of_very_many_units_some_are_enough(self, monkeypatch):
        machine = self.machine(20, 100)
        new = np.random.default_rng(5).normal(2.0, 1.0, (40, 6))
        of_all, _ = machine.fit_viewer(new)
        monkeypatch.setattr("gazelive.identification.learning.MOST_KNOWN_UNITS", 500)
        of_some, _ = machine.fit_viewer(new)
        probes = np.concatenate((machine.scores, new))
        decisions = [
            (fit(probes) - machine.logits(probes).max(axis=1, keepdims=True)) > 0
            for fit in (of_all, of_some)
        ]
        assert np.mean(decisions[0] == decisions[1]) > 0.97
        assert of_some(new).mean() == pytest.approx(of_all(new).mean(), rel=0.2)

    def test_parts_of_the_units_give_the_same(self, monkeypatch):
        machine = self.machine(20, 10)
        new = np.random.default_rng(5).normal(2.0, 1.0, (8, 6))
        at_once, _ = machine.fit_viewer(new)
        monkeypatch.setattr("gazelive.identification.learning.MOST_LOGITS", 20 * 7)
        in_parts, _ = machine.fit_viewer(new)
        np.testing.assert_allclose(in_parts.weights, at_once.weights, rtol=1e-6)


class TestLinear:
    def test_one_map_after_another(self):
        rng = np.random.default_rng(0)
        first = Linear(rng.normal(size=(4, 3)), rng.normal(size=3))
        second = Linear(rng.normal(size=(3, 2)), rng.normal(size=2))
        x = rng.normal(size=(5, 4))
        np.testing.assert_allclose(second.after(first)(x), second(first(x)))
        offset = np.array([1.0, 2.0])
        np.testing.assert_allclose(second.minus(offset)(x[:, :3]), second(x[:, :3]) - offset)


class TestWhitening:
    @settings(max_examples=20)
    @given(seed=st.integers(0, 1000), n=st.integers(1, 8))
    def test_without_a_ridge_the_covariance_is_the_identity(self, seed, n):
        rng = np.random.default_rng(seed)
        mixed = rng.normal(size=(200, n)) @ rng.normal(size=(n, n)) * np.exp(rng.normal(0, 3, n))
        mixed += rng.normal(0, 50, n)
        white = fit_whitening(mixed, ridge=0)(mixed)
        assert white.shape[1] <= n
        np.testing.assert_allclose(white.T @ white / 200, np.eye(white.shape[1]), atol=1e-6)

    def test_it_is_centred(self):
        scores = np.random.default_rng(1).normal(5, 2, (100, 3))
        np.testing.assert_allclose(fit_whitening(scores)(scores).mean(axis=0), 0, atol=1e-12)

    def test_the_ridge_shrinks_the_least_variable_directions(self):
        rng = np.random.default_rng(2)
        common = rng.normal(size=(500, 1))
        scores = common + 0.1 * rng.normal(size=(500, 2))
        variances = np.sort(fit_whitening(scores, ridge=0.1)(scores).var(axis=0))
        assert variances[0] < 0.3
        assert 0.9 < variances[1] < 1

    def test_a_dependent_direction_is_left_out(self):
        x = np.random.default_rng(3).normal(size=(50, 2))
        white = fit_whitening(np.column_stack((x, x.sum(axis=1))), ridge=0)
        assert white.weights.shape == (3, 2)

    @pytest.mark.parametrize("constant", [0.0, -0.07, 1e6 / 3])
    def test_a_constant_direction_does_not_decide_when_it_varies_later(self, constant):
        x = np.random.default_rng(4).normal(size=(64, 2))
        scores = np.column_stack((x, np.full(64, constant)))
        map_ = fit_whitening(scores)
        surprise = np.array([[0.0, 0.0, constant + 1.0]])
        np.testing.assert_allclose(map_(surprise), map_(surprise - [0, 0, 1.0]))
        assert spread_of(scores)[2] == np.inf

    def test_nothing_varies(self):
        map_ = fit_whitening(np.ones((5, 3)))
        np.testing.assert_array_equal(map_(np.array([[9.0, 9, 9]])), [[0.0]])


class TestAgainstScikitLearn:
    @pytest.mark.parametrize("n_viewers", [2, 3, 7])
    def test_support_vector_machines(self, n_viewers):
        scores, labels = clusters(n_viewers)
        theirs = LinearSVC(C=0.1, dual="auto", max_iter=1000, random_state=0).fit(scores, labels)
        ours = fit_svm(0.1)(scores, labels, n_viewers)(scores)
        expected = theirs.decision_function(scores)
        if n_viewers == 2:
            ours = ours[:, 1] - ours[:, 0]
        np.testing.assert_allclose(ours, expected, atol=1e-12)

    @pytest.mark.parametrize("n_viewers", [2, 3, 7])
    def test_multinomial_regression(self, n_viewers):
        scores, labels = clusters(n_viewers)
        theirs = LogisticRegression(C=0.1, max_iter=300).fit(scores, labels)
        ours = fit_multinomial(0.1)(scores, labels, n_viewers)(scores)
        np.testing.assert_allclose(
            special.softmax(ours, axis=1), theirs.predict_proba(scores), atol=1e-9
        )

    @pytest.mark.parametrize("fit", [fit_svm(0.1), fit_multinomial(0.1)])
    @pytest.mark.parametrize("present", [[0, 2], [0, 1, 3]])
    def test_an_absent_viewer_is_never_the_best(self, fit, present):
        scores, labels = clusters(4)
        here = np.isin(labels, present)
        decisions = fit(scores[here], labels[here], 4)(scores[here])
        assert decisions.shape == (here.sum(), 4)
        assert set(decisions.argmax(axis=1)) <= set(present)
        assert np.mean(decisions.argmax(axis=1) == labels[here]) > 0.7

    @pytest.mark.parametrize(
        "fit", [fit_svm(0.1), fit_multinomial(0.1), fit_learned_prior(1, 1, 0.5)]
    )
    def test_one_viewer_needs_no_machine(self, fit):
        assert not fit(np.ones((5, 3)), np.zeros(5, np.int64), 1)(np.ones((2, 3))).any()


def test_a_learned_prior_helps_where_people_differ_along_few_directions():
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(20), 6)
    centres = np.zeros((20, 40))
    centres[:, :2] = rng.normal(0, 2, (20, 2))
    seen, unseen = (centres[labels] + rng.normal(0, 1, (120, 40)) for _ in range(2))
    plain = fit_multinomial(0.05)(seen, labels, 20)
    learned = fit_learned_prior(0.05, 0.05, 0.9)(seen, labels, 20)
    assert log_loss(learned(unseen), labels) < log_loss(plain(unseen), labels) - 0.05


class TestCrossValidation:
    def test_no_machine_is_tested_on_its_training_data(self):
        seen = []

        def fit(scores, labels, n_viewers):
            seen.append(set(scores[:, 0].tolist()))
            return Linear(np.zeros((1, n_viewers)), np.full(n_viewers, float(len(seen))))

        scores = np.arange(20.0)[:, None]
        labels, folds = np.arange(20) % 2, np.arange(20) // 4
        decisions, held_out = cross_validated(scores, labels, folds, 2, fit)
        assert held_out.all()
        for row, fold in zip(scores, folds, strict=True):
            assert row[0] not in seen[fold]
        np.testing.assert_array_equal(decisions[:, 0], folds + 1)

    def test_folds_that_hold_all_units_of_a_viewer_are_skipped(self):
        scores, labels = clusters(3, 5)
        folds = np.tile(np.arange(5), 3)
        folds[labels == 2] = 0  # all of the third viewer in one fold
        decisions, held_out = cross_validated(scores, labels, folds, 3, fit_svm(0.1))
        np.testing.assert_array_equal(held_out, folds != 0)
        assert not decisions[folds == 0].any()

    @pytest.mark.parametrize("folds", [[0, 0, 0], [0, 0, 1]])
    def test_too_little_to_hold_out(self, folds):
        labels = np.array([0, 1, 1])
        _, held_out = cross_validated(np.eye(3), labels, np.array(folds), 2, fit_svm(0.1))
        assert not held_out[0]


class TestCalibration:
    @pytest.mark.parametrize("n_viewers", [2, 5, MOST_CLASSES_FOR_LOGISTIC + 1])
    @pytest.mark.parametrize("factor", [0.05, 20.0])
    def test_it_mends_decisions_that_are_too_sure_or_too_shy(self, n_viewers, factor):
        rng = np.random.default_rng(n_viewers)
        logits = rng.normal(0, 1.5, (1500, n_viewers))
        labels = (logits + rng.gumbel(size=logits.shape)).argmax(axis=1)
        labels[:n_viewers] = np.arange(n_viewers)
        train, test = slice(0, 1000), slice(1000, None)
        map_ = fit_calibration(factor * logits[train], labels[train])
        loss = log_loss(map_(factor * logits[test]), labels[test])
        assert loss < log_loss(factor * logits[test], labels[test]) - 0.05
        assert loss < log_loss(logits[test], labels[test]) + 0.05

    def test_it_learns_cross_terms_between_machines(self):
        rng = np.random.default_rng(1)
        truth = rng.normal(0, 2, (3000, 3))
        labels = (truth + rng.gumbel(size=truth.shape)).argmax(axis=1)
        swapped = truth[:, [1, 0, 2]] + 0.5 * truth
        map_ = fit_calibration(swapped, labels)
        one = fit_temperature(swapped, labels)
        assert log_loss(map_(swapped), labels) < log_loss(one * swapped, labels) - 0.1

    def test_decisions_that_mislead_are_not_believed(self):
        decisions = np.random.default_rng(2).normal(size=(12, 3))
        labels = decisions.argmin(axis=1)
        labels[:3] = 0, 1, 2
        logits = fit_calibration(decisions, labels)(decisions)
        # from a dozen that is chance: nobody may become sure of the opposite
        assert special.softmax(logits, axis=1).max() < 0.7

    def test_a_viewer_never_held_out_gets_no_bias(self):
        rng = np.random.default_rng(3)
        decisions = rng.normal(size=(50, 4))
        decisions[np.arange(50), np.arange(50) % 3] += 2
        map_ = fit_calibration(decisions, np.arange(50) % 3)
        assert not map_.bias.any()
        assert np.count_nonzero(map_.weights) == 4

    @pytest.mark.parametrize("labels", [[], [1, 1, 1]])
    def test_with_nothing_to_learn_from_it_is_the_default(self, labels):
        map_ = fit_calibration(np.ones((len(labels), 3)), np.array(labels, np.int64))
        np.testing.assert_array_equal(map_.weights, DEFAULT_FACTOR * np.eye(3))

    def test_one_viewer(self):
        assert not fit_calibration(np.ones((4, 1)), np.zeros(4, np.int64))(np.ones((2, 1))).any()


class TestTemperature:
    @pytest.mark.parametrize("temperature", [0.02, 1.0, 48.0])
    @pytest.mark.parametrize("n_viewers", [2, 30])
    def test_it_is_recovered(self, temperature, n_viewers):
        rng = np.random.default_rng(7)
        logits = rng.normal(0, 2, (4000, n_viewers))
        labels = (logits + rng.gumbel(size=logits.shape)).argmax(axis=1)
        found = fit_temperature(logits / temperature, labels)
        assert found == pytest.approx(temperature, rel=0.1)

    def test_useless_and_perfect_decisions_stay_in_bounds(self):
        labels = np.arange(10) % 2
        never_wrong = np.eye(2)[labels]
        for decisions in (np.zeros((10, 2)), never_wrong, 1e6 * never_wrong, -1e6 * never_wrong):
            assert 1e-3 <= fit_temperature(decisions, labels) <= 1e3
