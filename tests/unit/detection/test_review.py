"""Saccades, artefacts and movements that are no events, each on the smallest gaze that shows it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from msgspec import structs

from gazelive.analysis.grid import Gaze
from gazelive.analysis.interval import analyse_gaze
from gazelive.detection import DetectorParameters, EyeTrace, detect_settled
from gazelive.detection.settled.review import smallest_amplitude, typical_peak
from gazelive.features import overshoots

Make = Callable[..., Any]
RATE = 500.0


def kinds(detection: Any) -> list[str]:
    return [artefact.kind for artefact in detection.artefacts]


def still(seconds: float = 2.0, noise_deg: float = 0.005, rate_hz: float = RATE) -> list[Any]:
    """Times, x and y of an eye at rest."""
    random = np.random.default_rng(3)
    n = round(seconds * rate_hz)
    times_us = np.round(np.arange(n) * 1e6 / rate_hz).astype(np.int64)
    return [times_us, *random.normal(0, noise_deg, (2, n))]


def step(n: int, at: int, length: int, size_deg: float) -> np.ndarray:
    """A smooth step of `size_deg` that begins at a sample and takes `length` samples."""
    s = np.clip((np.arange(n) - at) / length, 0, 1)
    return size_deg * (10 * s**3 - 15 * s**4 + 6 * s**5)


@pytest.mark.parametrize("rate_hz", [250.0, 500.0, 1000.0])
def test_saccades_stay_saccades(make_trace: Make, rate_hz: float) -> None:
    trace = make_trace(rate_hz=rate_hz, amplitudes_deg=(0.6, 2.0, 5.0, 12.0), seconds=5.0)
    found = detect_settled(trace.times_us, trace.x_deg, trace.y_deg, rate_hz)
    assert len(found.saccades) == len(trace.saccades)
    assert {saccade.kind for saccade in found.saccades} == {"saccade"}
    assert not found.artefacts


def test_slow_swings_make_no_saccades() -> None:
    times_us, x, y = still(12.0)
    swing = np.sin(2 * np.pi * 2 * np.arange(1000) / RATE)
    x[4500:5500] += 3.0 * np.hanning(1000) * swing  # up to 38 °/s
    assert not detect_settled(times_us, x, y, RATE).saccades
    unreviewed = DetectorParameters(
        review_own_fraction=0.0,
        review_restless_fraction=99.0,
        review_slowest_fraction=0.0,
        review_slow_fraction=0.0,
    )
    assert detect_settled(times_us, x, y, RATE, unreviewed).saccades


def test_wobble_makes_no_saccades() -> None:
    times_us, x, y = still(3.0)
    wobbling = slice(500, 900)
    x[wobbling] += 0.4 * np.sin(2 * np.pi * 12 * times_us[wobbling] / 1e6)
    found = detect_settled(times_us, x, y, RATE)
    alone = DetectorParameters(review_wobble=0.0, review_restless_fraction=99.0)
    unreviewed = detect_settled(times_us, x, y, RATE, alone)
    assert len(found.saccades) <= 4, "at its ends one side is calm"
    assert len(unreviewed.saccades) >= 3 * len(found.saccades)


def test_restless_gaze_makes_no_saccades() -> None:
    times_us, x, y = still(6.0)
    jerks = np.random.default_rng(5).normal(0, 0.05, (2, 1000))
    restless = np.apply_along_axis(np.convolve, 1, jerks, np.hanning(15), "same")
    x[1000:2000] += restless[0]
    y[1000:2000] += restless[1]
    x += step(len(x), 2500, 15, 1.0)
    alone = DetectorParameters(review_wobble=0.0, review_own_fraction=0.0)
    off = structs.replace(alone, review_restless_fraction=99.0)
    assert len(detect_settled(times_us, x, y, RATE, alone).saccades) == 1, "the step"
    assert len(detect_settled(times_us, x, y, RATE, off).saccades) > 10


def test_a_catch_up_saccade_in_pursuit_is_one(make_trace: Make) -> None:
    times_us, x, y = still(2.0)
    x = x + 12 * times_us / 1e6 + step(len(x), 500, 15, 2.0)
    assert len(detect_settled(times_us, x, y, RATE).saccades) == 1


def partial_blink(pupil: bool) -> tuple[list[Any], EyeTrace]:
    """The lid covers part of the pupil for 120 ms: gaze goes up by 9° and returns, nothing lost."""
    times_us, x, y = still()
    n = len(x)
    y = y + step(n, 400, 25, 9.0) + step(n, 430, 30, -9.0)
    size = 1000.0 + step(n, 395, 28, -550.0) + step(n, 432, 30, 550.0)
    return [times_us, x, y], EyeTrace(x, y, size if pupil else None)


def test_a_partial_blink_is_an_artefact() -> None:
    gaze, eye = partial_blink(pupil=True)
    found = detect_settled(*gaze, RATE, eyes=[eye])
    assert not found.saccades
    assert set(kinds(found)) == {"blink_artefact"}
    assert len(detect_settled(*gaze, RATE, eyes=[partial_blink(pupil=False)[1]]).saccades) == 2


def test_a_slow_lid_is_an_artefact() -> None:
    """6° at about 100 °/s is below the main sequence, and the pupil grows from 5390 to 7020."""
    times_us, x, y = still()
    y = y + step(len(y), 400, 55, 6.0)
    size = 5390.0 + step(len(y), 400, 55, 1630.0)
    assert kinds(detect_settled(times_us, x, y, RATE, eyes=[EyeTrace(x, y, size)])) == [
        "blink_artefact"
    ]
    constant = EyeTrace(x, y, np.full(len(y), 5390.0))
    assert len(detect_settled(times_us, x, y, RATE, eyes=[constant]).saccades) == 1


def test_a_flip_between_two_places_is_an_artefact() -> None:
    times_us, x, y = still()
    x = x + step(len(x), 400, 5, 8.0) + step(len(x), 425, 5, -8.0)
    found = detect_settled(times_us, x, y, RATE)
    assert not found.saccades
    assert set(kinds(found)) == {"tracker_jump"}
    assert len(found.fixations) >= 2, "a jump ends a fixation"


def test_a_movement_faster_than_any_eye_is_an_artefact(make_trace: Make) -> None:
    trace = make_trace(rate_hz=RATE, seconds=4.0, amplitudes_deg=(5.0,))
    x = trace.x_deg + step(len(trace.x_deg), 1190, 4, 20.0)
    found = detect_settled(trace.times_us, x, trace.y_deg, RATE)
    assert kinds(found) == ["tracker_jump"]
    assert found.artefacts[0].peak_velocity_deg_s > 1000


def test_near_a_loss_it_is_the_lid(make_trace: Make) -> None:
    trace = make_trace(rate_hz=RATE, seconds=4.0, amplitudes_deg=(5.0,))
    x, y = trace.x_deg + step(len(trace.x_deg), 1190, 4, 20.0), trace.y_deg.copy()
    x[1130:1160] = y[1130:1160] = np.nan
    assert kinds(detect_settled(trace.times_us, x, y, RATE)) == ["blink_artefact"]


def test_where_all_saccades_are_too_fast_the_rate_is_wrong(make_trace: Make) -> None:
    """200 Hz stored as 500 Hz, as in two labelled recordings: the saccades stay."""
    trace = make_trace(rate_hz=200.0, seconds=6.0, amplitudes_deg=(12.0, 8.0))
    times_us = np.round(np.arange(len(trace.x_deg)) * 1e6 / RATE).astype(np.int64)
    found = detect_settled(times_us, trace.x_deg, trace.y_deg, RATE)
    assert max(s.peak_velocity_deg_s for s in found.saccades) > 1000
    assert not found.artefacts


def overshooting() -> tuple[list[Any], Gaze]:
    """8° out, 4 ms later 1.5° back."""
    times_us, x, y = still(rate_hz=1000.0)
    x = x + step(len(x), 800, 40, 8.0) + step(len(x), 838, 16, -1.5)
    return [times_us, x, y, 1000.0], Gaze(times_us, {"L": (x, y)}, 1000.0)


def test_an_overshoot_belongs_to_its_saccade() -> None:
    arguments, gaze = overshooting()
    assert len(detect_settled(*arguments).saccades) == 1
    analysed = analyse_gaze(gaze)
    assert overshoots(analysed) == pytest.approx([1.4], abs=0.15)


def test_an_overshoot_can_be_kept_apart() -> None:
    arguments, _ = overshooting()
    both = DetectorParameters(overshoot_ms=0.0, oscillation_peak_fraction=0.0)
    assert len(detect_settled(*arguments, both).saccades) == 2


def two_eyes(seconds: float = 2.0) -> tuple[np.ndarray, dict[Any, Any]]:
    times_us, x, y = still(seconds)
    return times_us, {"L": (x, y), "R": (x + 1.0, y.copy())}


def test_an_eye_that_returns_wild_makes_no_saccade() -> None:
    times_us, eyes = two_eyes()
    right_x, right_y = eyes["R"]
    right_x[300:400] = right_y[300:400] = np.nan
    right_x[400:420] += np.linspace(9.0, 0.0, 20)  # comes back wild
    found = analyse_gaze(Gaze(times_us, eyes, RATE)).detection
    assert not found.saccades
    assert not found.artefacts


def test_an_eye_that_jumps_alone_before_its_loss_is_an_artefact() -> None:
    times_us, eyes = two_eyes()
    right_x, right_y = eyes["R"]
    right_x[270:] += step(len(right_x), 270, 12, 6.0)[270:]
    right_x[300:500] = right_y[300:500] = np.nan
    found = analyse_gaze(Gaze(times_us, eyes, RATE)).detection
    assert not found.saccades
    assert kinds(found) == ["blink_artefact"]


def test_no_eye_moves_no_saccade() -> None:
    """The eyes are 20° apart, and one of them is lost and returns."""
    times_us, eyes = two_eyes()
    right_x, right_y = eyes["R"]
    right_x += 20.0
    right_x[300:600] = right_y[300:600] = np.nan
    found = analyse_gaze(Gaze(times_us, eyes, RATE)).detection
    assert not found.saccades
    assert not found.artefacts


def test_a_saccade_of_both_eyes_counts_also_while_one_is_lost() -> None:
    times_us, eyes = two_eyes()
    moved = step(len(times_us), 450, 15, 5.0)
    eyes = {eye: (x + moved, y) for eye, (x, y) in eyes.items()}
    eyes["R"][0][300:600] = np.nan
    (saccade,) = analyse_gaze(Gaze(times_us, eyes, RATE)).detection.saccades
    assert saccade.near_loss


def test_features_leave_artefacts_out(make_trace: Make) -> None:
    trace = make_trace(rate_hz=RATE, seconds=4.0, amplitudes_deg=(5.0,))
    x = trace.x_deg + step(len(trace.x_deg), 1190, 4, 20.0)
    gaze = analyse_gaze(Gaze(trace.times_us, {"L": (x, trace.y_deg)}, RATE))
    assert len(gaze.features) == len(gaze.detection.saccades) == len(trace.saccades)
    after = [s.onset_us > trace.times_us[1190] for s in gaze.detection.saccades].index(True)
    assert not gaze.features.follows_previous[after], "a fixation with a jump in it is not one"


def test_the_main_sequence_and_the_smallest_saccade() -> None:
    assert typical_peak(np.array([1.0, 10.0, 30.0])) == pytest.approx([91, 432, 499], abs=1)
    assert smallest_amplitude(15.0) == pytest.approx(0.23, abs=0.01)
    assert smallest_amplitude(60.0) == pytest.approx(0.99, abs=0.01)
