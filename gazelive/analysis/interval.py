"""Events and features of a whole viewing interval.

The live pipeline calls this when an interval has ended, offline analysis for each interval of a
recording. Both therefore settle on the same events and numbers.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gazelive.analysis.grid import Gaze, Positions
from gazelive.detection import (
    Detection,
    DetectorParameters,
    EngbertKlieglParameters,
    Method,
    NoiseMemory,
    detect_engbert_kliegl,
    detect_engbert_kliegl_binocular,
    detect_online,
    detect_settled,
)
from gazelive.features import AnalysedGaze, between_ends, saccade_features
from gazelive.gaze import Floats, Integers

Parameters = DetectorParameters | EngbertKlieglParameters


def analyse_gaze(
    gaze: Gaze,
    method: Method = "settled",
    parameters: Parameters | None = None,
    memory: NoiseMemory | None = None,
) -> AnalysedGaze:
    """Find the events of a whole stretch of gaze and the features of its saccades.

    `memory` holds the noise that `online` starts with and updates.
    """
    x, y = gaze.positions
    detection = _detect(gaze, x, y, method, parameters, memory)
    onset, arrival = _ends_of_movement(gaze, detection).T
    clean_x, clean_y = _without_artefacts(gaze, detection, x, y)
    features = saccade_features(clean_x, clean_y, onset, arrival, gaze.sampling_rate_hz)
    return AnalysedGaze(gaze.times_us, x, y, detection, between_ends(features, detection.saccades))


def _without_artefacts(gaze: Gaze, detection: Detection, x: Floats, y: Floats) -> Positions:
    """Return the gaze with artefacts taken as lost: no feature may contain them."""
    if not detection.artefacts:
        return x, y
    x, y = x.copy(), y.copy()
    for artefact in detection.artefacts:
        ends_us = artefact.onset_us, artefact.offset_us + 1
        first, stop = np.searchsorted(gaze.times_us, ends_us)
        x[first:stop] = y[first:stop] = np.nan
    return x, y


def _ends_of_movement(gaze: Gaze, detection: Detection) -> Integers:
    """Return first and last sample of each saccade without its oscillation, shape (n, 2)."""
    ends_us = [(saccade.onset_us, saccade.arrival_us) for saccade in detection.saccades]
    return np.searchsorted(gaze.times_us, np.array(ends_us, np.int64).reshape(-1, 2))


def _detect(
    gaze: Gaze,
    x: Floats,
    y: Floats,
    method: Method,
    parameters: Parameters | None,
    memory: NoiseMemory | None,
) -> Detection:
    rate = gaze.sampling_rate_hz
    if method == "engbert-kliegl":
        assert parameters is None or isinstance(parameters, EngbertKlieglParameters)
        if gaze.eye == "both":
            return detect_engbert_kliegl_binocular(
                gaze.times_us, *gaze.eyes["L"], *gaze.eyes["R"], rate, parameters
            )
        return detect_engbert_kliegl(gaze.times_us, x, y, rate, parameters, eye=gaze.eye)
    assert parameters is None or isinstance(parameters, DetectorParameters)
    if method == "settled":
        return detect_settled(gaze.times_us, x, y, rate, parameters, eye=gaze.eye, eyes=gaze.traces)
    # as live, without the samples that fill gaps: delays count up to a recorded sample
    came = slice(None) if gaze.recorded is None else gaze.recorded
    found = detect_online(
        gaze.times_us[came], x[came], y[came], rate, parameters, eye=gaze.eye, memory=memory
    )
    ends_us = [(saccade.onset_us, saccade.offset_us) for saccade in found.saccades]
    at = np.searchsorted(gaze.times_us, np.array(ends_us, np.int64).reshape(-1, 2))
    return replace(found, saccade_samples=at.astype(np.int64))
