"""Detection and kinematics against what a simulated eye really did."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gazelive.analysis.recording import analyse
from gazelive.features.kinematics_kernels import Kinematics
from gazelive.recordings.trials import find_trials
from gazelive.simulation.lab_session import TrialImage, simulate_session
from gazelive.stimuli.saliency import generated_saliency

NAMES = [f"generated_{i:04}" for i in range(6)]


@pytest.fixture(scope="module")
def simulated():
    session = simulate_session(
        "v002",
        seed=0,
        session=1,
        images=[TrialImage(name, generated_saliency(name, 0)) for name in NAMES],
        seconds=8.0,
        sampling_rate_hz=1000.0,
        eyes="R",
        path=Path("simulated"),
    )
    recording = session.recording
    trials = find_trials(recording.messages, recording.blocks)
    return replace(session, recording=replace(recording, trials=trials))


def matched(simulated, method):
    """Return (kinematics row, event, true saccade) of each event that meets just one saccade."""
    pairs, n_true, n_found = [], 0, 0
    for analysed in analyse(simulated.recording, method=method).intervals:
        start_us, end_us = analysed.interval.start_us, analysed.interval.end_us
        true = [s for s in simulated.saccades if s.onset_us >= start_us and s.offset_us < end_us]
        n_true += sum(s.amplitude_deg > 0.7 and not s.lost for s in true)
        n_found += len(analysed.gaze.detection.saccades)
        for row, event in zip(
            analysed.gaze.features.kinematics, analysed.gaze.detection.saccades, strict=True
        ):
            met = [
                s for s in true if s.onset_us <= event.offset_us and s.offset_us >= event.onset_us
            ]
            if len(met) == 1:
                pairs.append((row, event, met[0]))
    return pairs, n_true, n_found


@pytest.mark.parametrize("method", ["settled", "online"])
def test_measured_saccades_match_the_truth(simulated, method):
    pairs, n_true, n_found = matched(simulated, method)
    assert n_true > 100
    assert len(pairs) > 0.95 * n_found  # hardly anything found that was not there
    assert len(pairs) > 0.9 * n_true  # hardly anything missed

    def median_error(measured, real, *, relative=False):
        error = np.abs(np.array(measured) - np.array(real))
        return np.nanmedian(error / np.array(real) if relative else error)

    rows, events, true = zip(*pairs, strict=True)
    amplitude = [row[Kinematics.AMPLITUDE_DEG] for row in rows]
    assert median_error(amplitude, [s.amplitude_deg for s in true]) < 0.1
    peak = [row[Kinematics.PEAK_VELOCITY_DEG_S] for row in rows]
    assert median_error(peak, [s.peak_velocity_deg_s for s in true], relative=True) < 0.05
    duration = [row[Kinematics.DURATION_MS] for row in rows]
    assert median_error(duration, [s.duration_ms for s in true]) < 3
    onset = [event.onset_us / 1000 for event in events]
    assert median_error(onset, [s.onset_us / 1000 for s in true]) < 2


def test_directions_are_as_seen(simulated):
    pairs, *_ = matched(simulated, "settled")
    for row, _event, true in pairs:
        if true.amplitude_deg > 3:
            difference = row[Kinematics.DIRECTION_DEG] - true.direction_deg
            assert abs((difference + 180) % 360 - 180) < 10
