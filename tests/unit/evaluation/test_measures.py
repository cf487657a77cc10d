"""Measures of a study."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from gazelive.evaluation import measures

scores = arrays(np.float64, st.integers(1, 40), elements=st.floats(-5, 5))


@given(scores, scores)
def test_the_equal_error_rate_is_a_rate_and_symmetric(genuine, impostor) -> None:
    rate = measures.equal_error_rate(genuine, impostor)
    assert 0 <= rate <= 1
    assert measures.equal_error_rate(genuine + 100, impostor) == 0
    assert measures.equal_error_rate(2 * genuine, 2 * impostor) == pytest.approx(rate)


def test_scores_of_equal_distributions_have_an_equal_error_rate_of_one_half() -> None:
    rng = np.random.default_rng(1)
    rate = measures.equal_error_rate(rng.normal(size=4000), rng.normal(size=4000))
    assert rate == pytest.approx(0.5, abs=0.03)


def test_calibration_error_of_honest_claims_is_small_and_of_boasts_large() -> None:
    rng = np.random.default_rng(2)
    confidence = rng.uniform(0.2, 1, 5000)
    honest = rng.random(5000) < confidence
    viewers = rng.integers(20, size=5000)
    assert measures.calibration_error(confidence, honest) < 0.03
    assert measures.calibration_error(np.full(5000, 0.99), honest) == pytest.approx(
        0.99 - honest.mean()
    )
    low, high = measures.calibration_interval(confidence, honest, viewers)
    assert low <= measures.calibration_error(confidence, honest) + 0.01
    assert high < 0.05


def test_the_interval_of_the_calibration_error_contains_it_if_viewers_are_alike() -> None:
    confidence, right = np.full(1000, 0.9), np.arange(1000) % 2 == 0
    viewers = np.arange(1000) // 10
    low, high = measures.calibration_interval(confidence, right, viewers)
    assert low == pytest.approx(0.4)
    assert high == pytest.approx(0.4)


@pytest.mark.parametrize("n", [6, 30])
def test_the_paired_test_agrees_with_scipy(n: int) -> None:
    differences = np.random.default_rng(n).normal(0.4, 1, n)
    expected = stats.permutation_test(
        (differences,),
        lambda d, axis: np.mean(d, axis=axis),
        permutation_type="samples",
        n_resamples=50_000 if n > 13 else np.inf,
        rng=np.random.default_rng(0),
    ).pvalue
    assert measures.paired_p_value(differences) == pytest.approx(expected, abs=0.012)


def test_no_difference_is_no_evidence() -> None:
    assert measures.paired_p_value(np.zeros(20)) == 1


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_keeps_the_order_and_never_lowers_p(p_values) -> None:
    corrected = measures.holm(p_values)
    assert all(c >= p for c, p in zip(corrected, p_values, strict=True))
    assert max(corrected) <= 1
    order = np.argsort(p_values, kind="stable")
    assert (np.diff(np.array(corrected)[order]) >= 0).all()


def test_holm_of_a_textbook_example() -> None:
    assert measures.holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


@given(scores, scores, st.integers(0, 9))
def test_errors_of_detection_trade_off(mated, non_mated, seed: int) -> None:
    right = np.random.default_rng(seed).random(len(mated)) < 0.8
    thresholds, fpir, fnir = measures.detection_errors(mated, right, non_mated)
    assert (np.diff(thresholds) > 0).all()
    assert (np.diff(fpir) <= 0).all()
    assert (np.diff(fnir) >= 0).all()
    assert fpir[-1] == 0
    assert fnir[-1] == 1
    assert fnir[0] == pytest.approx(1 - right.mean())
    assert measures.missed_at(fpir, fnir, 1.0) == pytest.approx(fnir[0])
