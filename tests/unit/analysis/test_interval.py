import numpy as np
import pytest

from gazelive.analysis.grid import even_gaze
from gazelive.analysis.interval import analyse_gaze
from gazelive.detection.result import Outcome

RATE_HZ = 1000.0


def test_gaps_in_time_become_lost_samples():
    times = np.array([0, 1000, 2000, 6000, 7000])
    gaze = even_gaze(times, {"R": (np.arange(5.0), np.arange(5.0))}, RATE_HZ)
    assert gaze.times_us.tolist() == list(range(0, 8000, 1000))
    x, y = gaze.eyes["R"]
    np.testing.assert_array_equal(x, [0, 1, 2, np.nan, np.nan, np.nan, 3, 4])
    np.testing.assert_array_equal(x, y)


def test_a_gap_of_an_hour_does_not_fill_the_memory():
    times = np.array([0, 1000, 3_600_000_000, 3_600_001_000])
    gaze = even_gaze(times, {"R": (np.zeros(4), np.zeros(4))}, RATE_HZ)
    assert len(gaze.times_us) == 1005  # a second of it, and the sample before its end
    assert (np.diff(gaze.times_us) > 0).all()


def test_even_times_stay_as_they_are(eye_steps):
    times, x, y = eye_steps
    gaze = even_gaze(times, {"L": (x, y)}, RATE_HZ)
    assert gaze.eye == "L"
    np.testing.assert_array_equal(gaze.times_us, times)
    np.testing.assert_array_equal(gaze.positions[0], x)


@pytest.mark.parametrize("method", ["settled", "online", "engbert-kliegl"])
@pytest.mark.parametrize("eyes", ["R", "LR"])
def test_every_method_finds_the_jumps_of_one_eye_and_of_both(method, eyes, eye_steps):
    times, x, y = eye_steps
    rng = np.random.default_rng(5)
    both = {eye: (x + rng.normal(0, 0.01, len(x)), y) for eye in eyes}
    analysed = analyse_gaze(even_gaze(times, both, RATE_HZ), method)
    assert analysed.detection.method == method
    assert analysed.detection.eye == ("both" if eyes == "LR" else "R")
    amplitude = analysed.features.kinematics[:, 0]
    large = amplitude > 3
    assert large.sum() == 6
    assert amplitude[large] == pytest.approx(5, abs=0.3)
    assert set(analysed.features.turn[large][1:]) == {3}


def test_times_with_a_gap_give_the_same_saccades_as_lost_samples(eye_steps):
    times, x, y = eye_steps
    lost = (times >= 500_000) & (times < 530_000)
    with_nan = analyse_gaze(
        even_gaze(times, {"R": (np.where(lost, np.nan, x), np.where(lost, np.nan, y))}, RATE_HZ)
    )
    with_gap = analyse_gaze(even_gaze(times[~lost], {"R": (x[~lost], y[~lost])}, RATE_HZ))
    assert with_gap.detection.saccades == with_nan.detection.saccades
    np.testing.assert_array_equal(with_gap.features.movement, with_nan.features.movement)


@pytest.mark.parametrize(
    ("x", "outcome"),
    [
        (np.full(500, np.nan), Outcome.NO_GAZE),
        (np.zeros(500), Outcome.CONSTANT_GAZE),
        (np.array([0.0, 1.0]), Outcome.TOO_SHORT),
    ],
)
@pytest.mark.parametrize("method", ["settled", "online", "engbert-kliegl"])
def test_an_unusable_interval_has_a_reason_and_no_rows(x, outcome, method):
    times = np.arange(len(x)) * 1000
    analysed = analyse_gaze(even_gaze(times, {"R": (x, x.copy())}, RATE_HZ), method)
    assert analysed.detection.outcome is outcome
    assert len(analysed.features) == 0
