"""Frames: their times, dropped frames, and pacing without a synchronised screen."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

import msgspec
import numpy as np

from gazelive.clock import Clock

DROPPED_FRAMES = 1.5
"""An interval longer than this many frames contains a dropped frame."""
SAME_RATE = 0.1
"""Tolerance of the measured rate relative to a known one."""


class FrameSummary(msgspec.Struct, frozen=True, kw_only=True):
    """Regularity of frames."""

    n: int
    """Number of intervals between frames."""
    dropped: int
    """Number of intervals longer than 1.5 frames."""
    worst_ms: float
    """The longest interval; 0 without intervals."""
    median_ms: float
    """The median interval; 0 without intervals."""


class FrameLog:
    """Collects the times of flips during trials, and summarises them.

    Only intervals within a trial count: between trials the window may pause.
    """

    def __init__(self, frame_s: float) -> None:
        if not frame_s > 0:
            raise ValueError(f"the duration of a frame must be positive, not {frame_s} s")
        self._frame_s = frame_s
        self._last_s: float | None = None
        self._trial_s: list[float] = []
        self._session_s = array("d")
        """A quarter of a list's memory: an hour has 216,000 frames."""
        self._runs = False

    def start_trial(self) -> None:
        """Start a trial; end the one before if necessary."""
        self.stop_trial()
        self._trial_s = []
        self._runs = True

    def add(self, flip_s: float) -> None:
        """Add the time of a flip; ignored outside trials."""
        if not self._runs:
            return
        if self._last_s is not None:
            self._trial_s.append(flip_s - self._last_s)
        self._last_s = flip_s

    def stop_trial(self) -> FrameSummary:
        """End the trial and return its summary; may be called again."""
        if self._runs:
            self._session_s.extend(self._trial_s)
        self._runs = False
        self._last_s = None
        return self.trial

    @property
    def trial(self) -> FrameSummary:
        """Summary of the current or last trial."""
        return summarise_intervals(self._trial_s, self._frame_s)

    @property
    def session(self) -> FrameSummary:
        """Summary of all trials, including the current one."""
        running = self._trial_s if self._runs else []
        return summarise_intervals([*self._session_s, *running], self._frame_s)


def summarise_intervals(intervals_s: Sequence[float], frame_s: float) -> FrameSummary:
    """Summarise intervals between frames of nominal duration `frame_s`."""
    if not intervals_s:
        return FrameSummary(n=0, dropped=0, worst_ms=0.0, median_ms=0.0)
    intervals = np.asarray(intervals_s, np.float64)
    return FrameSummary(
        n=len(intervals),
        dropped=int(np.count_nonzero(intervals > DROPPED_FRAMES * frame_s)),
        worst_ms=float(intervals.max()) * 1e3,
        median_ms=float(np.median(intervals)) * 1e3,
    )


def measured_frame_s(flips_s: Sequence[float], known_rates_hz: Sequence[float]) -> float | None:
    """Return the measured duration of a frame; None if flips do not wait for the screen.

    Flips that wait come at a known rate (from the configuration or the system); a virtual screen
    flips as fast as the processor draws.
    """
    if len(flips_s) < 2:
        return None
    frame_s = float(np.median(np.diff(flips_s)))
    if frame_s <= 0:
        return None
    if any(abs(frame_s * rate_hz - 1) <= SAME_RATE for rate_hz in known_rates_hz if rate_hz > 0):
        return frame_s
    return None


class FramePacer:
    """Paces flips by the clock if the screen does not.

    Frames lie on a fixed grid of times, so the rate does not drift; a late caller gets the next
    frame on the grid, as on a real screen.
    """

    def __init__(self, frame_s: float, clock: Clock) -> None:
        self._frame_s = frame_s
        self._clock = clock
        self._origin_s = clock.now_s()
        self._frame = 0

    def wait(self) -> None:
        """Return when the next frame is due."""
        passed = int((self._clock.now_s() - self._origin_s) / self._frame_s)
        self._frame = max(self._frame, passed) + 1
        self._clock.sleep_until_s(self._origin_s + self._frame * self._frame_s)
