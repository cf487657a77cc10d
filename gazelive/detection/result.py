"""Result of offline detection: the events, how they were found, and why there are none."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from gazelive.detection.parameters import DetectorParameters, EngbertKlieglParameters
from gazelive.errors import RecordingError
from gazelive.gaze import Blink, EventEye, Fixation, Floats, Integers, Pursuit, Saccade


class Outcome(enum.StrEnum):
    """Outcome of a detection; all but the first two explain why there are no saccades."""

    FOUND = "found"
    NOTHING_FOUND = "nothing_found"
    TOO_SHORT = "too_short"
    NO_GAZE = "no_gaze"
    CONSTANT_GAZE = "constant_gaze"
    ONE_EYE_MISSING = "one_eye_missing"

    @property
    def sentence(self) -> str:
        """The outcome in words for the user."""
        return _SENTENCES[self]


_SENTENCES = {
    Outcome.FOUND: "Saccades were found.",
    Outcome.NOTHING_FOUND: "The gaze moved, but no movement was a saccade.",
    Outcome.TOO_SHORT: "No stretch without loss is as long as one velocity window.",
    Outcome.NO_GAZE: "Every sample is lost: was the eye tracked?",
    Outcome.CONSTANT_GAZE: "The gaze, or one axis of it, never changes: is it the right column?",
    Outcome.ONE_EYE_MISSING: (
        "One eye was never seen, so there are no binocular saccades: choose the other eye."
    ),
}


def checked_samples(
    times_us: npt.ArrayLike, x_deg: npt.ArrayLike, y_deg: npt.ArrayLike
) -> tuple[Integers, Floats, Floats]:
    """Return samples as contiguous arrays, NaN for lost ones; raise where they are invalid."""
    times = np.ascontiguousarray(times_us, np.int64)
    x = np.array(x_deg, np.float64, ndmin=1)
    y = np.array(y_deg, np.float64, ndmin=1)
    if times.ndim != 1 or times.shape != x.shape or times.shape != y.shape:
        raise RecordingError(
            f"times, x and y must be of one length, not {times.shape}, {x.shape}, {y.shape}"
        )
    steps = np.diff(times)
    if steps.size and steps.min() <= 0:
        at = int(np.argmax(steps <= 0)) + 1
        raise RecordingError(
            f"time does not increase at sample {at} ({times[at - 1]} to {times[at]} µs); "
            "sort the samples, or cut them into blocks"
        )
    seen = np.isfinite(x) & np.isfinite(y)
    if not seen.all():
        x[~seen] = y[~seen] = np.nan
    return times, x, y


def outcome_before_search(x_deg: Floats, y_deg: Floats, window: int) -> Outcome | None:
    """Return why the samples cannot be searched, or None.

    `window` is the number of samples without loss that a velocity needs.
    """
    valid = np.isfinite(x_deg) & np.isfinite(y_deg)
    if len(valid) < window:
        return Outcome.TOO_SHORT
    if not valid.any():
        return Outcome.NO_GAZE
    if not valid.all():
        edges = np.flatnonzero(np.diff(np.concatenate(([0], valid.view(np.int8), [0]))))
        if (edges[1::2] - edges[::2]).max() < window:
            return Outcome.TOO_SHORT
        x_deg, y_deg = x_deg[valid], y_deg[valid]
    if (x_deg == x_deg[0]).all() and (y_deg == y_deg[0]).all():
        return Outcome.CONSTANT_GAZE
    return None


Method = Literal["settled", "online", "engbert-kliegl"]


@dataclass(frozen=True)
class Detection:
    """The events of one stretch of samples of one eye (or of both together)."""

    method: Method
    eye: EventEye
    outcome: Outcome
    sampling_rate_hz: float
    parameters: DetectorParameters | EngbertKlieglParameters
    thresholds_deg_s: tuple[float, float] | None
    """Velocity thresholds of x and y (None where nothing could be searched)."""
    saccades: tuple[Saccade, ...]
    fixations: tuple[Fixation, ...]
    blinks: tuple[Blink, ...]
    """Blinks and other losses."""
    saccade_samples: Integers
    """First and last sample of each saccade as indices into the samples, shape (n, 2)."""
    artefacts: tuple[Saccade, ...] = ()
    """Rapid movements of gaze that are none of the eye; see their `kind`."""
    pursuits: tuple[Pursuit, ...] = ()
    """Found by `settled` only; elsewhere pursuit counts as fixation."""
    rests: tuple[Fixation, ...] = ()
    """Stretches between saccades and losses: fixations, before pursuit is taken out of them."""
