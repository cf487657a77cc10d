"""Frames: when they came on the screen, how many were dropped, and their pace without a screen."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from gazelive.clock import Clock

DROPPED_FRAMES = 1.5
"""An interval longer than so many frames is a frame that came too late."""
SAME_RATE = 0.1
"""A screen keeps its rate where flips come within this part of it."""


class FrameSummary(msgspec.Struct, frozen=True, kw_only=True):
    """How regularly frames came."""

    n: int
    """Intervals between frames."""
    dropped: int
    """Intervals longer than one and a half frames."""
    worst_ms: float
    """The longest interval; 0 where there is none."""
    median_ms: float
    """The median interval; 0 where there is none."""


class FrameLog:
    """Collects the times of flips while a trial runs, and sums them up.

    Between trials a window may rest, so an interval counts only within a trial.
    """

    def __init__(self, frame_s: float) -> None:
        if not frame_s > 0:
            raise ValueError(f"a frame lasts longer than {frame_s} s")
        self._frame_s = frame_s
        self._last_s: float | None = None
        self._trial_s: list[float] = []
        self._session_s: list[float] = []
        self._runs = False

    def start_trial(self) -> None:
        """Begin a trial; one that still runs ends here."""
        self.stop_trial()
        self._trial_s = []
        self._runs = True

    def add(self, flip_s: float) -> None:
        """Take the time of a flip; outside of a trial it says nothing."""
        if not self._runs:
            return
        if self._last_s is not None:
            self._trial_s.append(flip_s - self._last_s)
        self._last_s = flip_s

    def stop_trial(self) -> FrameSummary:
        """End the trial and sum it up; a trial that has ended stays as it is."""
        if self._runs:
            self._session_s += self._trial_s
        self._runs = False
        self._last_s = None
        return self.trial

    @property
    def trial(self) -> FrameSummary:
        """The trial that runs, or the last one."""
        return summarise_intervals(self._trial_s, self._frame_s)

    @property
    def session(self) -> FrameSummary:
        """All trials, with the one that runs."""
        running = self._trial_s if self._runs else []
        return summarise_intervals(self._session_s + running, self._frame_s)


def summarise_intervals(intervals_s: Sequence[float], frame_s: float) -> FrameSummary:
    """Sum up intervals between frames that should be `frame_s` long."""
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
    """Return the length of a frame as flips show it, or None where no screen holds them back.

    Flips that a screen paces come at a rate that somebody knows of (the configuration, the
    system); a virtual screen flips as fast as the processor draws.
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
    """Holds flips to a rate where no screen does.

    Frames lie on a grid of times, so that their rate does not drift; who comes late gets the
    next frame that is still ahead, as on a real screen.
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
