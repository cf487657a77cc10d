"""One viewing interval, analysed: its gaze, the events in it, the features of its saccades.

The live engine calls this when an interval has ended, offline analysis calls it for a whole
recording; so both settle on the same events and numbers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gazelive.detection import (
    Detection,
    DetectorParameters,
    EngbertKlieglParameters,
    Method,
    cyclopean,
    detect_engbert_kliegl,
    detect_engbert_kliegl_binocular,
    detect_online,
    detect_settled,
)
from gazelive.features.saccade_features import SaccadeFeatures, saccade_features
from gazelive.gaze.events import EventEye

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Positions = tuple[Floats, Floats]
"""x and y in degrees, y downwards, NaN where lost; shapes (n,)."""
Parameters = DetectorParameters | EngbertKlieglParameters

GAP_INTERVALS = 1.5
"""A step in time of more sample intervals than this lacks samples."""
LONGEST_FILLED_S = 1.0
"""A longer gap is filled with this much loss; nothing looks across more."""


@dataclass(frozen=True)
class Gaze:
    """Gaze on an even grid of times: where samples were missing, there are lost ones."""

    times_us: Integers
    eyes: dict[EventEye, Positions]
    """`L` or `R`, or both of them."""
    sampling_rate_hz: float

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
    """Put lost samples where the times have gaps, so that index and time go together."""
    interval_us = 1e6 / sampling_rate_hz
    steps = np.diff(times_us)
    gaps = np.flatnonzero(steps > GAP_INTERVALS * interval_us)
    if not len(gaps):
        return Gaze(np.ascontiguousarray(times_us), eyes, sampling_rate_hz)
    most = round(LONGEST_FILLED_S * sampling_rate_hz)
    n_missing = np.minimum(np.rint(steps[gaps] / interval_us).astype(np.int64) - 1, most)
    before = np.repeat(gaps, n_missing)
    ordinal = np.concatenate([np.arange(1, n + 1) for n in n_missing])
    filled_us = times_us[before] + np.rint(ordinal * interval_us).astype(np.int64)

    def with_losses(values: Floats) -> Floats:
        return np.insert(values, before + 1, np.nan)

    return Gaze(
        np.insert(times_us, before + 1, filled_us),
        {eye: (with_losses(x), with_losses(y)) for eye, (x, y) in eyes.items()},
        sampling_rate_hz,
    )


def analyse_gaze(
    gaze: Gaze, method: Method = "settled", parameters: Parameters | None = None
) -> AnalysedGaze:
    """Find the events of a whole stretch of gaze and the features of its saccades."""
    x, y = gaze.positions
    detection = _detect(gaze, x, y, method, parameters)
    onset, offset = detection.saccade_samples.T
    return AnalysedGaze(
        gaze.times_us,
        x,
        y,
        detection,
        saccade_features(x, y, onset, offset, gaze.sampling_rate_hz),
    )


def _detect(
    gaze: Gaze, x: Floats, y: Floats, method: Method, parameters: Parameters | None
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
    detect = detect_settled if method == "settled" else detect_online
    return detect(gaze.times_us, x, y, rate, parameters, eye=gaze.eye)
