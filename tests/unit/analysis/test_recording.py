"""A whole recording, interval by interval."""

from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np
import pytest

from gazelive.analysis.recording import analyse
from gazelive.detection import OnlineDetector
from gazelive.gaze.events import Saccade
from gazelive.gaze.samples import Coordinates, empty_samples
from gazelive.gaze.stream import StreamDescription
from gazelive.recordings.geometry import GeometryFlags
from gazelive.recordings.recording import Block, Calibration, Recording, Trial


@pytest.fixture
def recording(eye_steps):
    """Three trials, with a calibration before the last."""
    times_us, x, y = eye_steps
    samples = empty_samples(len(times_us))
    samples["tracker_time_us"] = times_us
    noise = np.random.default_rng(0).normal(0, 0.03, (2, len(times_us)))
    samples["right_x"], samples["right_y"] = x + noise[0], y + noise[1]
    stream = StreamDescription(
        device="test", sampling_rate_hz=1000.0, eyes="R", coordinates=Coordinates.DEGREES
    )
    third = int(times_us[-1]) // 3
    trials = tuple(
        Trial(name=str(k), start_us=k * third, end_us=(k + 1) * third, block=0) for k in range(3)
    )
    calibrations = (
        Calibration(tracker_time_us=-10, kind="calibration", eye="R"),
        Calibration(tracker_time_us=third - 5, kind="validation", eye="R"),
        Calibration(tracker_time_us=2 * third - 5, kind="calibration", eye="R"),
    )
    return Recording(
        path=Path("x"),
        format="table",
        blocks=(Block(stream, samples, 0, int(times_us[-1])),),
        trials=trials,
        calibrations=calibrations,
    )


def test_online_carries_the_noise_until_a_calibration_as_it_does_live(recording):
    analysis = analyse(recording, method="online")
    detector = OnlineDetector(sampling_rate_hz=1000.0, eye="R")
    block = recording.blocks[0].samples
    for number, analysed in enumerate(analysis.intervals):
        if number == 2:
            detector.reset()
        interval = analysed.interval
        times_us = block["tracker_time_us"]
        part = block[(times_us >= interval.start_us) & (times_us < interval.end_us)]
        outputs = detector.push(part["tracker_time_us"], part["right_x"], part["right_y"])
        outputs += detector.flush()
        found = analysed.gaze.detection
        assert [o for o in outputs if isinstance(o, Saccade)] == list(found.saccades)
        assert found.thresholds_deg_s == detector.thresholds_deg_s
    fresh = analyse(recording, method="online", carry_noise=False)
    same = [
        one.gaze.detection.thresholds_deg_s == other.gaze.detection.thresholds_deg_s
        for one, other in zip(analysis.intervals, fresh.intervals, strict=True)
    ]
    assert same == [True, False, True]
    assert analysis.carries_noise
    assert not fresh.carries_noise


def test_settled_needs_no_other_interval(recording):
    analysis = analyse(recording)
    assert not analysis.carries_noise
    alone = analyse(recording, carry_noise=False)
    for one, other in zip(analysis.intervals, alone.intervals, strict=True):
        assert one.gaze.detection.saccades == other.gaze.detection.saccades


def test_an_eye_without_data_is_reported(recording):
    (block,) = recording.blocks
    both = replace(block, stream=msgspec.structs.replace(block.stream, eyes="LR"))
    two_eyes = replace(recording, blocks=(both,))
    assert analyse(two_eyes).warnings == (
        "eye L was never seen in block 1: there the other eye counts alone",
    )
    assert analyse(two_eyes, eye="R").warnings == ()
    assert analyse(recording).warnings == ()
    # the outcome says it already
    assert analyse(two_eyes, method="engbert-kliegl").warnings == ()
    both.samples["right_x"] = both.samples["right_y"] = np.nan
    assert analyse(two_eyes).warnings == ()


def test_trials_of_another_clock_are_reported(recording):
    far = tuple(msgspec.structs.replace(trial, block=None) for trial in recording.trials)
    analysis = analyse(replace(recording, trials=far))
    (warning,) = analysis.warnings
    assert "no sample lies within the trials" in warning
    assert len(analysis.intervals) == 1
    assert analyse(replace(recording, trials=far), whole_blocks=True).warnings == ()


def test_a_screen_for_degrees_is_reported(recording):
    flags = GeometryFlags((1920, 1080), (535.0, 301.0), 600.0)
    (warning,) = analyse(recording, flags=flags).warnings
    assert "angles already" in warning


@pytest.mark.parametrize(
    ("size_mm", "distance_mm", "says"),
    [((53.5, 30.1), 600.0, "5° wide"), ((535.0, 301.0), 60.0, "155° wide")],
)
def test_a_screen_in_two_units_is_reported(recording, size_mm, distance_mm, says):
    (block,) = recording.blocks
    stream = msgspec.structs.replace(block.stream, coordinates=Coordinates.SCREEN_PX)
    pixels = replace(recording, blocks=(replace(block, stream=stream),))
    flags = GeometryFlags((1920, 1080), size_mm, distance_mm)
    (warning,) = analyse(pixels, flags=flags).warnings
    assert says in warning


def test_jittering_times_are_reported(recording):
    (block,) = recording.blocks
    times_us = block.samples["tracker_time_us"]
    times_us[10:-10:20] -= 550  # early, and nothing is missing
    (warning,) = analyse(recording, whole_blocks=True).warnings
    assert "the times of block 1 jitter" in warning
    assert analyse(without(recording, 20), whole_blocks=True).warnings == ()


def without(recording, every):
    (block,) = recording.blocks
    block.samples["tracker_time_us"][10:-10:20] += 550
    kept = np.ones(len(block.samples), bool)
    kept[10:-10:every] = False
    return replace(recording, blocks=(replace(block, samples=block.samples[kept]),))
