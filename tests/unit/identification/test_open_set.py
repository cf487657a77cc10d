"""Strangers: their probability, the decision, and how much more evidence it takes."""

import math

import msgspec
import numpy as np
import pytest
from hypothesis import given, strategies as st

from gazelive.identification.contract import Match, Terms
from gazelive.identification.open_set import (
    NO_STRANGERS,
    Genuine,
    Strangers,
    strangers_of_matches,
    upper_spread,
)

GENUINE = Genuine(
    distance=2.0,
    per_log=0.7,
    amount=10.0,
    weight=0.9,
    changed=0.02,
    alike=0.004,
    once=1.0,
    repeated=1.3,
)
values = st.floats(-1e9, 1e9)
amounts = st.floats(1e-2, 1e6)
rates = st.floats(1e-6, 0.5)
priors = st.floats(1e-6, 1 - 1e-6)


def made_up(genuine=GENUINE, rate=0.01, n_strangers=400):
    rng = np.random.default_rng(0)
    seen = {10.0: rng.normal(1, 5, 4000), 100.0: rng.normal(-20, 15, 4000)}
    return strangers_of_matches(seen, rate, "made up", genuine, 200.0, n_strangers=n_strangers)


STRANGERS = made_up()


def judged(value, amount, **terms):
    return STRANGERS.judge(Match(value, amount), Terms(**terms))


@given(a=values, b=values, amount=amounts, prior=priors)
def test_the_better_the_match_the_less_a_stranger(a, b, amount, prior):
    worse, better = (judged(v, amount, stranger_prior=prior) for v in sorted((a, b)))
    assert worse.log_unknown >= better.log_unknown
    assert worse.accepted <= better.accepted
    assert all(math.isfinite(f.log_unknown) and f.log_unknown <= 0 for f in (worse, better))


@given(value=values, amount=amounts, prior=priors, other=priors)
def test_the_prior_moves_the_probability_and_not_the_decision(value, amount, prior, other):
    low, high = (judged(value, amount, stranger_prior=p) for p in sorted((prior, other)))
    assert low.log_unknown <= high.log_unknown + 1e-12
    assert low.accepted == high.accepted


@given(value=values, amount=amounts, rate=rates, other=rates)
def test_a_stricter_rate_accepts_no_more(value, amount, rate, other):
    strict, lax = (judged(value, amount, false_acceptance_rate=r) for r in sorted((rate, other)))
    assert strict.accepted <= lax.accepted
    assert strict.log_unknown == lax.log_unknown


@given(value=values, amount=amounts)
def test_asked_again_and_again_no_more_is_accepted(value, amount):
    assert (
        judged(value, amount, repeated=True).accepted
        <= judged(value, amount, repeated=False).accepted
    )


@given(n=st.integers(4, 500), value=values, amount=amounts)
def test_of_few_people_nobody_can_be_sure_that_all_stay_as_they_are(n, value, amount):
    finding = made_up(n_strangers=n).judge(Match(value, amount), Terms(stranger_prior=0.1))
    odds = 0.1 / 0.9 * (n + 1)
    assert np.exp(finding.log_unknown) <= odds / (1 + odds) + 1e-12


@given(value=values)
def test_little_evidence_leaves_the_prior(value):
    found = STRANGERS.judge(Match(value, 1e-3), Terms(stranger_prior=0.1))
    assert np.exp(found.log_unknown) == pytest.approx(0.1, abs=0.9)
    usual = STRANGERS.judge(Match(1.0, 1e-3), Terms(stranger_prior=0.1))
    assert np.exp(usual.log_unknown) == pytest.approx(0.1, abs=0.01)


@pytest.mark.parametrize("rate", [0.01, 0.05])
def test_the_rate_is_kept_where_strangers_are_normal(rate):
    fresh = np.random.default_rng(2).normal(-20, 15, 5000)
    passed = [judged(m, 100.0, false_acceptance_rate=rate, repeated=False).accepted for m in fresh]
    assert np.mean(passed) == pytest.approx(rate, rel=0.4)


@given(value=st.floats(-30, 30), amount=st.floats(1, 100))
def test_growing_so_much_an_enrolled_person_is_accepted(value, amount):
    found = judged(value, amount)
    if found.growth is None:
        return
    assert not found.accepted
    assert found.growth > 1
    standing = STRANGERS.standing(Match(value, amount))
    grown = (
        standing
        + GENUINE.distance_at(amount * found.growth, 200.0)
        - GENUINE.distance_at(amount, 200.0)
    )
    if GENUINE.distance_at(amount, 200.0) > 0.1:
        assert grown == pytest.approx(GENUINE.threshold(Terms(), 0.01), abs=1e-6)


def test_where_enrolment_is_too_short_no_time_is_promised():
    assert judged(-20.0, 100.0).growth is None
    assert judged(1.0, 10.0).growth is None
    assert judged(20.0, 30.0).growth is not None or judged(20.0, 30.0).accepted


@pytest.mark.parametrize("match", [None, Match(1.0, 0.0)])
def test_nothing_seen_leaves_the_prior(match):
    found = STRANGERS.judge(match, Terms(stranger_prior=0.25))
    assert np.exp(found.log_unknown) == pytest.approx(0.25)
    assert found.accepted is False


def test_without_strangers_nothing_is_said():
    found = NO_STRANGERS.judge(Match(5.0, 20.0), Terms())
    assert (found.log_unknown, found.accepted, found.growth) == (None, None, None)
    few = strangers_of_matches({1.0: np.array([1.0, 2.0])}, 0.01, "", GENUINE, 1.0, n_strangers=2)
    assert few.log_amounts == ()


def test_the_spread_of_few_strangers_is_shrunken_towards_the_usual_one():
    usual = msgspec.structs.replace(GENUINE, spread=2.0, spread_power=0.5)
    alone = made_up().spreads[0]
    few, many = (made_up(usual, n_strangers=n).spreads[0] for n in (3, 3000))
    expected = 2.0 * 10**0.5
    assert abs(np.log(few / expected)) < abs(np.log(many / expected))
    assert many == pytest.approx(alone, rel=0.02)


@given(own=st.floats(1e-3, 500), amount=st.floats(1, 500), n=st.integers(4, 1000))
def test_without_a_usual_median_no_usual_spread_narrows_their_own(own, amount, n):
    usual = msgspec.structs.replace(GENUINE, spread=2.0, spread_power=0.5)
    assert usual.shrunken_spread(own, amount, n) >= own


USUAL = msgspec.structs.replace(
    GENUINE,
    spread=2.0,
    spread_power=0.5,
    middle=-4.0,
    middle_per_log=-0.5,
    per_log_viewers=1.2,
)


@given(own=st.floats(-500, 500), amount=st.floats(1, 500), n=st.integers(4, 1000))
def test_the_median_of_strangers_lies_between_own_and_usual(own, amount, n):
    found = USUAL.shrunken_middle(own, amount, n, n)
    usual = 2 * amount**0.5 * (-4 - 0.5 * math.log(amount) + 1.2 * math.log(n))
    assert min(own, usual) - 1e-9 <= found <= max(own, usual) + 1e-9
    assert abs(found - own) <= abs(usual - own) * 4 / n  # many people speak for themselves
    assert GENUINE.shrunken_middle(own, amount, n, n - 1) == own  # nothing usual is known


@given(own=st.floats(-500, 500), n=st.integers(4, 1000), share=st.floats(0.5, 0.9))
def test_who_was_compared_with_fewer_would_match_better_among_all(own, n, share):
    assert USUAL.shrunken_middle(own, 10, n, share * n) > USUAL.shrunken_middle(own, 10, n, n)


def test_few_strangers_make_the_threshold_careful():
    reach = [
        USUAL.shrunken_spread(USUAL.usual_spread(10.0), 10.0, n) / USUAL.usual_spread(10.0)
        for n in (4, 10, 40, 10_000)
    ]
    assert reach == sorted(reach, reverse=True)
    assert reach[0] > 1.5
    assert reach[-1] == pytest.approx(1, abs=1e-3)


def test_amounts_that_one_viewer_reaches_are_left_out():
    rng = np.random.default_rng(7)
    seen = {a: rng.normal(0.1, 0.05, 300) for a in (10.0, 20.0)}
    alone, with_one = (
        strangers_of_matches(s, 0.01, "", GENUINE, 100.0, n_strangers=30)
        for s in (seen, seen | {160.0: rng.normal(0.1, 0.001, 12)})
    )
    assert with_one == alone


def test_equal_matches_have_no_spread_and_stay_finite():
    same = strangers_of_matches(
        {1.0: np.ones(10), 2.0: np.ones(10)}, 0.01, "", GENUINE, 10.0, n_strangers=10
    )
    unknown = [same.judge(Match(v, 1.0), Terms()).log_unknown for v in (0.0, 1.0, 2.0)]
    assert np.isfinite(unknown).all()
    assert unknown == sorted(unknown, reverse=True)


def test_models_of_0_1_keep_their_threshold():
    old = {
        "threshold": {
            "false_acceptance_rate": 0.01,
            "log_amounts": [0.0, 2.0],
            "thresholds": [1.0, 3.0],
            "spreads": [0.2, 0.5],
            "source": "old",
        }
    }
    read = Strangers.from_content(old, msgspec.structs.replace(GENUINE, once=1.2))
    for log_amount, threshold in ((0.0, 1.0), (2.0, 3.0)):
        for off, accepted in ((1e-6, True), (-1e-6, False)):
            match = Match(threshold + off, math.exp(log_amount))
            assert read.judge(match, Terms(repeated=False)).accepted is accepted
    again = Strangers.from_content({"strangers": msgspec.to_builtins(read)}, GENUINE)
    assert again == read


def test_only_the_upper_half_spreads():
    normal = np.random.default_rng(4).normal(0, 1, 20_000)
    far = np.concatenate((normal, np.full(100, -1e6)))
    assert upper_spread(far) == pytest.approx(1, abs=0.03)
