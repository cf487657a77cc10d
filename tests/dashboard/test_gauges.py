import math

import pytest

from gazelive.dashboard.state.gauges import (
    Level,
    Verdict,
    advice,
    averaged,
    below,
    gauges,
    verdicts,
)
from gazelive.recordings.messages import validation_verdict

from .sent import summary, validated


def levels(summaries, validations=None, expected=10_000.0):
    return {g.name: g.level for g in gauges(summaries, validations or {}, expected)}


def test_without_measurements_all_levels_are_unknown():
    rows = gauges((), {}, 0)
    assert {row.level for row in rows} == {Level.UNKNOWN}
    assert [one.level for one in verdicts(rows)] == [Level.UNKNOWN]
    assert advice(rows) == ""


def test_good_data_are_good_in_every_row():
    rows = gauges([summary()], {"R": validated()}, 60_000)
    assert {row.level for row in rows} == {Level.GOOD}
    good = [Verdict(Level.GOOD, "Data good"), Verdict(Level.GOOD, "Computer good")]
    assert list(verdicts(rows)) == list(verdicts(rows, "stopped")) == good
    assert advice(rows) == ""
    for gone in ("lost", "silent"):  # an old green sign would be a lie
        assert verdicts(rows, gone) == (Verdict(Level.UNKNOWN, "No new data"),)


@pytest.mark.parametrize(
    ("name", "changes", "level"),
    [
        ("Rate", {"rate_received_hz": 970.0}, Level.FAIR),
        ("Rate", {"rate_received_hz": 1100.0}, Level.POOR),
        ("Lost samples", {"n_lost_samples": 5}, Level.FAIR),
        ("Lost samples", {"n_lost_samples": 500}, Level.POOR),
        ("Missing gaze", {"missing_fraction": 0.1}, Level.FAIR),
        ("Missing gaze", {"missing_fraction": 0.5}, Level.POOR),
        ("Precision", {"rms_s2s_deg": 0.08}, Level.FAIR),
        ("Precision", {"rms_s2s_deg": None}, Level.UNKNOWN),
        ("Latency", {"latency_ms": 15.0}, Level.FAIR),
        ("Latency", {"latency_ms": None}, Level.UNKNOWN),
        ("Clock drift", {"clock_drift_ppm": -800.0}, Level.POOR),
        ("Clock drift", {"clock_drift_ppm": None}, Level.UNKNOWN),
        ("Rate", {"rate_asked_hz": 0.0}, Level.UNKNOWN),
    ],
)
def test_levels_of_worse_values(name, changes, level):
    assert levels([summary(**changes)], {"R": validated()})[name] is level


def test_the_level_of_a_validation_uses_mean_and_maximum_of_both_eyes():
    assert levels([], {"R": validated(mean=0.4, most=1.7)})["Validation"] is Level.FAIR
    both = {"L": validated("L", 0.3, 0.5), "R": validated("R", 1.6, 1.7)}
    rows = {row.name: row for row in gauges([], both, 0)}
    assert rows["Validation"].level is Level.POOR
    assert rows["Validation"].value.split("\n") == ["L 0.30°, max 0.50°", "R 1.60°, max 1.70°"]


@pytest.mark.parametrize(("mean", "most"), [(0.99, 1.49), (1.0, 1.2), (0.2, 1.5), (1.5, 1.9)])
def test_a_validation_has_the_level_that_the_tracker_calls_it(mean, most):
    found = levels([], {"R": validated(mean=mean, most=most)})["Validation"]
    assert found.name == validation_verdict(mean, most)


def test_one_blink_does_not_make_the_data_poor():
    seconds = [summary(missing_fraction=0.0) for _ in range(9)]
    assert levels([*seconds, summary(missing_fraction=0.3)])["Missing gaze"] is Level.GOOD


def test_averages_over_several_seconds():
    found = averaged(
        [
            summary(rms_s2s_deg=0.03, latency_ms=9.0, n_lost_samples=1, rate_received_hz=990.0),
            summary(rms_s2s_deg=None, latency_ms=None, n_lost_samples=4, rate_received_hz=1000.0),
            summary(rms_s2s_deg=0.04, latency_ms=2.0, n_lost_samples=4, rate_received_hz=1010.0),
        ]
    )
    assert found is not None
    assert found.rms_s2s_deg == pytest.approx(math.sqrt((0.03**2 + 0.04**2) / 2))
    assert (found.latency_ms, found.n_lost_samples, found.rate_received_hz) == (9.0, 4, 1000.0)


def test_a_slow_computer_says_nothing_about_the_data():
    rows = gauges([summary(latency_ms=15.0)], {"R": validated()}, 0)
    assert [one.text for one in verdicts(rows)] == ["Data good", "Computer slow"]
    assert "recording is not affected" in advice(rows)
    far_too_slow = gauges([summary(latency_ms=99.0)], {}, 0)
    assert verdicts(far_too_slow)[1] == Verdict(Level.POOR, "Computer too slow")


def test_the_advice_is_for_the_data_first():
    rows = gauges([summary(missing_fraction=0.1, latency_ms=50.0)], {}, 0)
    assert [one.level for one in verdicts(rows)] == [Level.FAIR, Level.POOR]
    assert advice(rows).startswith("Missing gaze: aim the camera")
    assert len({level.sign for level in Level}) == 4


def test_every_gauge_says_what_to_do():
    assert all(row.advice.endswith(".") for row in gauges((), {}, 0))


def test_nan_is_unknown():
    assert below(math.nan, 1, 2) is Level.UNKNOWN
