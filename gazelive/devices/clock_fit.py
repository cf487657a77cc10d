"""The tracker's clock against the host's: offset and drift from repeated queries.

Two quartzes differ by some ten parts in a million, a millisecond every minute or two, so an
offset that was measured once does not hold for a session.
"""

from __future__ import annotations

import numpy as np

from gazelive.clock import Clock
from gazelive.devices.protocol import GazeDevice
from gazelive.recordings.session_folder import ClockFit

QUERY_INTERVAL_S = 1.0
BEST_QUERY_S = 20e-6
"""No query is trusted to be better than this."""


class ClockQueries:
    """Asks a device for its time now and then, and fits a line through the answers."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._host_s: list[float] = []
        self._tracker_us: list[int] = []
        self._doubt_s: list[float] = []

    def ask(self, device: GazeDevice) -> None:
        """Ask for the device's time, if the last answer is `QUERY_INTERVAL_S` old."""
        before_s = self._clock.now_s()
        if self._host_s and before_s < self._host_s[-1] + QUERY_INTERVAL_S:
            return
        tracker_us = device.tracker_time_us()
        after_s = self._clock.now_s()
        self._host_s.append((before_s + after_s) / 2)
        self._tracker_us.append(tracker_us)
        self._doubt_s.append(max((after_s - before_s) / 2, BEST_QUERY_S))

    def fit(self) -> ClockFit | None:
        """Return the line that the answers lie on; quick answers count more. None if too few."""
        n = len(self._host_s)
        if n < 2:
            return None
        host_reference_s, tracker_reference_us = self._host_s[0], self._tracker_us[0]
        host_s = np.array(self._host_s) - host_reference_s
        tracker_us = np.array(self._tracker_us, np.int64) - tracker_reference_us
        weights = 1.0 / np.array(self._doubt_s)
        line = np.polynomial.Polynomial.fit(host_s, tracker_us, 1, w=weights)
        at_start_us, at_end_us = line(0.0), line(host_s[-1])
        return ClockFit(
            host_reference_s=host_reference_s,
            tracker_reference_us=float(tracker_reference_us + at_start_us),
            tracker_us_per_host_s=float((at_end_us - at_start_us) / host_s[-1]),
            residual_us=float(np.sqrt(np.mean((line(host_s) - tracker_us) ** 2))),
            n_queries=n,
        )
