import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

from gazelive.dashboard.state.posteriors import (
    MOST_BOUNDARIES,
    MOST_POINTS,
    ROWS,
    UNKNOWN,
    PosteriorHistory,
    ranking,
    viewer_name,
)
from gazelive.gaze.documents import Posterior

from .sent import model, posterior


def over_all(log_weights, log_unknown, leading):
    log_p = np.array(log_weights) - np.logaddexp.reduce(log_weights)
    order = np.argsort(-log_p)[:leading]
    return Posterior(
        tracker_time_us=0,
        leading=tuple(order.tolist()),
        log_probabilities=tuple(log_p[order].tolist()),
        log_unknown=log_unknown,
        n_saccades=1,
        n_images=1,
        seconds=1.0,
        settled=False,
    )


@given(
    st.lists(st.floats(-40, 0), min_size=1, max_size=60),
    st.none() | st.floats(-30, 0),
    st.integers(1, 30),
)
def test_the_ranking_has_the_most_probable_viewers_and_sums_to_one(weights, log_unknown, leading):
    found = ranking(over_all(weights, log_unknown, leading), model(len(weights)))
    shown = [c.probability for c in found.candidates]
    assert sum(shown) == pytest.approx(1, abs=1e-9)
    ranked = [c.probability for c in found.candidates if c.kind != "others"]
    assert ranked[:-1] == sorted(ranked[:-1], reverse=True)
    assert len(ranked) <= ROWS
    assert ("unknown" in [c.kind for c in found.candidates]) == (log_unknown is not None)


def test_a_viewer_is_shown_as_p_times_one_minus_unknown():
    found = ranking(posterior({0: 0.7, 1: 0.2, 2: 0.1}, unknown=0.5), model(3))
    assert [(c.name, round(c.probability, 3)) for c in found.candidates] == [
        ("Unknown viewer", 0.5),
        ("Ada", 0.35),
        ("Bea", 0.1),
        ("Cleo", 0.05),
    ]
    assert found.leader is not None
    assert found.leader.name == "Ada"


@pytest.mark.parametrize(
    ("accepted", "unknown", "status", "leader"),
    [
        (True, 0.01, "accepted", "Ada"),
        (False, 0.3, "undecided", "Ada"),
        (False, 0.7, "stranger", "Unknown viewer"),
        (None, None, "undetectable", "Ada"),
    ],
)
def test_the_headline_is_the_verdict(accepted, unknown, status, leader):
    more_s = None if accepted else 12.0
    sent = posterior({0: 0.9, 1: 0.1}, unknown=unknown, accepted=accepted, more_s=more_s)
    found = ranking(sent, model(3, false_acceptance_rate=0.01))
    assert found.verdict.status == status
    assert found.leader is not None
    assert found.leader.name == leader
    assert found.leader.probability == pytest.approx(found.verdict.probability)
    assert ("unknown" in [c.kind for c in found.candidates]) == (unknown is not None)


def test_strangers_who_cannot_be_detected_have_no_line():
    history = PosteriorHistory()
    history.add(posterior({0: 0.9, 1: 0.1}, unknown=None))
    assert history.leading(5) == [0, 1]


def test_the_unknown_viewer_has_a_row_however_improbable():
    shares = dict.fromkeys(range(10), 0.1)
    found = ranking(posterior(shares, unknown=1e-6), model(10))
    assert [c.kind for c in found.candidates].count("unknown") == 1
    assert found.candidates[ROWS - 1].kind == "unknown"


def test_ten_thousand_viewers_have_a_few_rows_and_one_for_the_rest():
    shares = dict.fromkeys(range(20), 0.02)
    found = ranking(posterior(shares, unknown=0.2), model(10_000))
    assert len(found.candidates) == ROWS + 1
    others = found.candidates[-1]
    assert others.name == "9,993 others"
    assert others.probability == pytest.approx(1 - 0.2 - 7 * 0.02 * 0.8)


def test_without_a_model_viewers_have_numbers():
    assert viewer_name(4, None) == "viewer no. 5"
    assert viewer_name(99, model(3)) == "viewer no. 100"
    assert viewer_name(UNKNOWN, None) == "Unknown viewer"
    assert ranking(posterior(), None).n_enrolled is None


def test_nan_probabilities_count_as_zero():
    broken = over_all([0.0, -1.0], None, 2)
    broken = Posterior(
        **{
            name: getattr(broken, name)
            for name in ("tracker_time_us", "leading", "n_saccades", "n_images", "seconds")
        },
        settled=True,
        log_probabilities=(math.nan, -math.inf),
    )
    assert [c.probability for c in ranking(broken, model(2)).candidates] == [0, 0]


def test_running_lines_start_from_the_settled_point_before():
    history = PosteriorHistory()
    for n, settled in ((1, False), (2, False), (3, True), (4, False), (5, False)):
        history.add(posterior({0: n / 10}, unknown=None, time_ms=n, n_saccades=n, settled=settled))
    line = history.line(0, "saccades")
    assert line.settled_x == [3]
    assert line.settled_p == pytest.approx([0.3])
    np.testing.assert_array_equal(line.running_x, [1, 2, math.nan, 3, 4, 5])


def test_a_line_has_gaps_where_the_viewer_was_not_leading():
    history = PosteriorHistory()
    history.add(posterior({0: 0.9}, time_ms=1))
    history.add(posterior({1: 0.9}, time_ms=2))
    np.testing.assert_allclose(history.line(1, "seconds").running_p, [math.nan, 0.81])


def test_old_posteriors_are_ignored():
    history = PosteriorHistory()
    assert history.add(posterior(time_ms=10))
    assert not history.add(posterior(time_ms=10))
    assert not history.add(posterior(time_ms=5))
    assert history.add(posterior(time_ms=9, settled=True)), "settled: sent after the running one"
    assert not history.add(posterior(time_ms=9, settled=True))
    assert len(history.points) == 2


def test_a_long_session_keeps_its_shape_in_bounded_memory():
    history = PosteriorHistory()
    n = 10 * MOST_POINTS
    for i in range(n):
        history.add(posterior(time_ms=i, n_saccades=i, settled=i % 20 == 19))
        if i % 20 == 0:
            history.begin_image(f"image {i}")
    assert len(history.points) <= MOST_POINTS
    assert len(history.boundaries) <= MOST_BOUNDARIES
    saccades = [point.n_saccades for point in history.points]
    assert saccades == sorted(saccades)
    assert saccades[0] < 0.02 * n
    assert saccades[-1] == n - 1
    assert max(np.diff(saccades)) < 0.05 * n


def test_an_image_without_evidence_has_no_boundary():
    history = PosteriorHistory()
    history.begin_image("one")
    history.begin_image("two")
    history.add(posterior(time_ms=1, n_saccades=3))
    history.begin_image("three")
    assert [(b.ordinal, b.label, b.n_saccades) for b in history.boundaries] == [
        (2, "two", 0),
        (3, "three", 3),
    ]


def test_leaders_and_the_unknown_viewer_have_lines():
    history = PosteriorHistory()
    assert history.leading(3) == []
    history.add(posterior({4: 0.5, 2: 0.3, 7: 0.15, 1: 0.05}, unknown=0.001))
    assert history.leading(3) == [4, 2, UNKNOWN]
