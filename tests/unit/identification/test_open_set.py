"""Probability that a probe is a stranger."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from gazelive.identification.open_set import (
    NOTHING_KNOWN,
    REACH,
    UsualStrangers,
    no_threshold,
    threshold_of_matches,
    upper_spread,
)

matches = st.floats(-1e12, 1e12)
amounts = st.floats(1e-3, 1e9)


@pytest.fixture(scope="module")
def threshold():
    rng = np.random.default_rng(0)
    seen = {10.0: rng.normal(0.1, 0.05, 400), 100.0: rng.normal(0.2, 0.04, 400)}
    return threshold_of_matches(seen, 0.01, "made up")


def test_it_is_a_half_at_the_threshold(threshold):
    for log_amount, value in zip(threshold.log_amounts, threshold.thresholds, strict=True):
        amount = float(np.exp(log_amount))
        assert threshold.log_unknown(value, amount) == pytest.approx(NOTHING_KNOWN)
    between = threshold.log_unknown(sum(threshold.thresholds) / 2, np.sqrt(1000.0))
    assert between == pytest.approx(NOTHING_KNOWN)


@given(a=matches, b=matches, amount=amounts)
def test_the_better_the_match_the_less_a_stranger(threshold, a, b, amount):
    worse, better = sorted((a, b))
    unknown = threshold.log_unknown(worse, amount), threshold.log_unknown(better, amount)
    assert unknown[0] >= unknown[1]
    assert all(np.isfinite(value) and value <= 0 for value in unknown)


def test_a_stricter_rate_asks_for_a_better_match():
    rng = np.random.default_rng(1)
    seen = {1.0: rng.normal(0, 1, 1000), 10.0: rng.normal(1, 1, 1000)}
    made = [threshold_of_matches(seen, rate, "") for rate in (0.2, 0.05, 0.01, 0.001)]
    values = [threshold.thresholds[0] for threshold in made]
    assert values == sorted(values)


def test_few_pass_at_the_threshold(threshold):
    fresh = np.random.default_rng(2).normal(0.2, 0.04, 5000)
    passed = np.mean([threshold.log_unknown(match, 100.0) < NOTHING_KNOWN for match in fresh])
    assert passed <= 0.02


@pytest.mark.parametrize("rate", [0.01, 0.05, 0.1])
def test_log_ratios_that_bend_with_the_amount_keep_the_rate(rate):
    amounts = (1.0, 2.0, 5.0, 10.0, 20.0, 50.0)
    passed = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        seen = {n: np.repeat(rng.normal(-2 * n, 2 + n, 20), 10) for n in amounts}
        threshold = threshold_of_matches(seen, rate, "")
        for n in amounts:
            fresh = rng.normal(-2 * n, 2 + n, 200)
            passed.append(np.mean([threshold.log_unknown(m, n) < NOTHING_KNOWN for m in fresh]))
    assert rate / 3 < np.mean(passed) < 1.5 * rate


@pytest.mark.parametrize("amount", [0.0, -1.0])
def test_nothing_seen_nothing_known(threshold, amount):
    assert threshold.log_unknown(1.0, amount) == NOTHING_KNOWN
    assert no_threshold("too few").log_unknown(5.0, 20.0) == NOTHING_KNOWN
    assert threshold_of_matches({1.0: np.array([1.0, 2.0])}, 0.01, "").log_amounts == ()


USUAL = UsualStrangers(spread=0.05, spread_per_log=0.0, n_strangers=20.0)


def test_few_strangers_are_shrunk_towards_the_default():
    near = {10.0: np.random.default_rng(5).normal(0.1, 0.01, 30)}
    alone, few, many = (
        threshold_of_matches(near, 0.01, "", n_strangers=n, usual=usual)
        for n, usual in ((3, None), (3, USUAL), (3000, USUAL))
    )
    assert alone.spreads[0] < many.spreads[0] < few.spreads[0] < 0.05
    assert many.spreads[0] == pytest.approx(alone.spreads[0], rel=0.2)
    assert few.thresholds[0] > alone.thresholds[0]
    more = threshold_of_matches(near, 0.01, "", n_strangers=3, usual=USUAL, growth=1.2)
    assert more.thresholds[0] - few.thresholds[0] == pytest.approx(0.02, abs=0.002)


def test_more_evidence_than_any_stranger_gave():
    rng = np.random.default_rng(6)
    seen = {a: rng.normal(0.1 * np.log(a), 0.02, 300) for a in (10.0, 20.0, 40.0)}
    threshold = threshold_of_matches(seen, 0.01, "", n_strangers=300, usual=USUAL)
    assert threshold.log_amounts[-1] == pytest.approx(np.log(40 * REACH))
    steps = np.diff(threshold.thresholds) / np.diff(threshold.log_amounts)
    assert np.ptp(steps) < 0.02  # one line


def test_one_viewers_matches_do_not_set_the_spread():
    rng = np.random.default_rng(7)
    seen = {a: rng.normal(0.1, 0.05, 300) for a in (10.0, 20.0, 40.0, 80.0)}
    alone = threshold_of_matches(seen, 0.01, "")
    with_one = threshold_of_matches(seen | {160.0: rng.normal(0.1, 0.001, 12)}, 0.01, "")
    assert with_one == alone


def test_equal_matches_have_no_spread_and_stay_finite():
    same = threshold_of_matches({1.0: np.ones(10), 2.0: np.ones(10)}, 0.01, "")
    assert np.isfinite(same.log_unknown(1.0, 1.0))
    assert same.log_unknown(2.0, 1.0) < same.log_unknown(0.0, 1.0)


def test_only_the_upper_half_spreads():
    values = np.concatenate((np.random.default_rng(4).normal(0, 1, 20_000), np.full(100, -1e6)))
    assert upper_spread(values) == pytest.approx(1, abs=0.05)
    assert upper_spread(np.ones(3)) == 0
