"""One viewing interval, analysed: its gaze, the events in it, the features of its saccades.

The live engine calls this when an interval has ended, offline analysis calls it for a whole
recording; so both settle on the same events and numbers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from gazelive.detection import (
    Detection,
    DetectorParameters,
    EngbertKlieglParameters,
    Method,
    NoiseMemory,
    cyclopean,
    detect_engbert_kliegl,
    detect_engbert_kliegl_binocular,
    detect_online,
    detect_settled,
)
from gazelive.detection.online_state import GAP_INTERVALS, LONGEST_FILLED_S
from gazelive.features.ends import between_ends
from gazelive.features.saccade_features import SaccadeFeatures, saccade_features
from gazelive.gaze.events import EventEye

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Positions = tuple[Floats, Floats]
"""x and y in degrees, y downwards, NaN where lost; shapes (n,)."""
Parameters = DetectorParameters | EngbertKlieglParameters


@dataclass(frozen=True)
class Gaze:
    """Gaze on an even grid of times: where samples were missing, there are lost ones."""

    times_us: Integers
    eyes: dict[EventEye, Positions]
    """`L` or `R`, or both of them."""
    sampling_rate_hz: float
    recorded: npt.NDArray[np.bool_] | None = None
    """Which samples were recorded (None: all); the others are in the place of missing ones."""

    @property
    def eye(self) -> EventEye:
        """Whose gaze `positions` are."""
        return "both" if len(self.eyes) > 1 else next(iter(self.eyes))

    @property
    def positions(self) -> Positions:
        """The one eye's gaze, or the cyclopean gaze of two."""
        if len(self.eyes) == 1:
            return next(iter(self.eyes.values()))
        return cyclopean(*self.eyes["L"], *self.eyes["R"], self.sampling_rate_hz)


@dataclass(frozen=True)
class AnalysedGaze:
    """What was found in a stretch of gaze."""

    times_us: Integers
    x_deg: Floats
    y_deg: Floats
    detection: Detection
    features: SaccadeFeatures


def even_gaze(times_us: Integers, eyes: dict[EventEye, Positions], sampling_rate_hz: float) -> Gaze:
    """Put lost samples where the times have gaps, so that index and time go together.

    They come at the nominal interval, as the online detector puts them in. Of a long gap only the
    beginning is filled, and the sample before its end.
    """
    interval_us = 1e6 / sampling_rate_hz
    steps = times_us[1:] - times_us[:-1]
    if not len(steps) or steps.max() <= GAP_INTERVALS * interval_us:
        return Gaze(np.ascontiguousarray(times_us), eyes, sampling_rate_hz)
    gaps = np.flatnonzero(steps > GAP_INTERVALS * interval_us)
    most = round(LONGEST_FILLED_S * sampling_rate_hz)
    n_missing = np.ceil(steps[gaps] / interval_us - GAP_INTERVALS).astype(np.int64)
    steps_us = np.rint(np.arange(1, most + 1) * interval_us).astype(np.int64)
    filled_us = []
    for gap, n in zip(gaps, n_missing, strict=True):
        filled = times_us[gap] + steps_us[:n]
        if n > most:
            filled = np.append(filled, times_us[gap + 1] - round(interval_us))
        filled_us.append(filled)
    before = np.repeat(gaps, [len(filled) for filled in filled_us])

    def with_losses(values: Floats) -> Floats:
        return np.insert(values, before + 1, np.nan)

    return Gaze(
        np.insert(times_us, before + 1, np.concatenate(filled_us)),
        {eye: (with_losses(x), with_losses(y)) for eye, (x, y) in eyes.items()},
        sampling_rate_hz,
        np.insert(np.ones(len(times_us), bool), before + 1, False),
    )


def analyse_gaze(
    gaze: Gaze,
    method: Method = "settled",
    parameters: Parameters | None = None,
    memory: NoiseMemory | None = None,
) -> AnalysedGaze:
    """Find the events of a whole stretch of gaze and the features of its saccades.

    `memory` is the noise that `online` begins with and goes on to learn.
    """
    x, y = gaze.positions
    detection = _detect(gaze, x, y, method, parameters, memory)
    onset, offset = detection.saccade_samples.T
    features = saccade_features(x, y, onset, offset, gaze.sampling_rate_hz)
    return AnalysedGaze(gaze.times_us, x, y, detection, between_ends(features, detection.saccades))


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
        return detect_settled(gaze.times_us, x, y, rate, parameters, eye=gaze.eye)
    # live nobody fills the gaps beforehand, so that delays are those until a sample came
    came = slice(None) if gaze.recorded is None else gaze.recorded
    found = detect_online(
        gaze.times_us[came], x[came], y[came], rate, parameters, eye=gaze.eye, memory=memory
    )
    ends_us = [(saccade.onset_us, saccade.offset_us) for saccade in found.saccades]
    at = np.searchsorted(gaze.times_us, np.array(ends_us, np.int64).reshape(-1, 2))
    return replace(found, saccade_samples=at.astype(np.int64))
