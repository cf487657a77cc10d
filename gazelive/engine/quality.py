"""How good the samples are: counted as they come, told once per second of samples.

Whatever is wrong with data is told and never raised. What happens a thousand times in a second is
told once when it happens first, and once more when the second is over.
"""

from __future__ import annotations

import math
from collections import deque
from typing import Literal

import numpy as np
import numpy.typing as npt

from gazelive.detection.online_state import GAP_INTERVALS
from gazelive.engine.time_order import Accepted
from gazelive.engine.traces import TracePieces
from gazelive.gaze.documents import Quality, QualitySummary
from gazelive.gaze.samples import Samples, missing_mask
from gazelive.gaze.stream import StreamDescription
from gazelive.recordings.time_order_kernels import step_range

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Kind = Literal["lost_samples", "time_gap", "time_order", "rate", "duplicate", "eye"]

RATE_TOLERANCE = 0.05
"""A rate that is further from the one that was promised is told."""
DRIFT_WINDOW_S = 10.0
DRIFT_WINDOWS = 30
MOST_DRIFT_PPM = 1000.0
"""No clock drifts more; a replay that is faster than life does."""

_SENTENCES: dict[Kind, str] = {
    "time_gap": "samples are missing for {value:g} ms: taken as lost",
    "time_order": "a sample is older than the one before: left out",
    "duplicate": "a sample has the time of the one before: left out",
}
_AGAIN: dict[Kind, str] = {
    "time_gap": "{n} gaps in the last second of samples",
    "time_order": "{n} samples out of order in the last second of samples",
    "duplicate": "{n} samples with the time of the one before in the last second of samples",
}


class QualityWatch:
    """Watches the samples of one block after the other."""

    def __init__(self) -> None:
        self.n_lost = 0
        """Samples that never arrived, since the run began."""
        self._drift = ClockDrift()
        self._begin_second()

    def begin_block(self, stream: StreamDescription) -> None:
        """Go on with another stream."""
        self._stream = stream
        self._interval_us = stream.sample_interval_us
        self._per_second = max(1, round(stream.sampling_rate_hz))
        self._last_us: int | None = None
        self._begin_second()

    def _begin_second(self) -> None:
        self._n_received = 0
        self._n_missing = 0
        self._n_other_eye = 0
        self._elapsed_us = 0.0
        self._step_sum = 0.0
        self._n_steps = 0
        self._told: dict[Kind, int] = {}

    @property
    def n_until_summary(self) -> int:
        """How many samples the running second lacks."""
        return self._per_second - self._n_received

    def arrived(self, arrival_s: float, last_us: int) -> None:
        """Take note of when the host had a chunk whose last sample is of `last_us`."""
        self._drift.add(arrival_s, last_us)

    def take_order(self, accepted: Accepted, time_us: int) -> list[Quality]:
        """Tell of samples that did not go on in time."""
        documents = self._tell("duplicate", time_us, accepted.n_duplicate)
        documents += self._tell("time_order", time_us, accepted.n_backward)
        if accepted.was_set_back:
            text = "the tracker's clock was set back: time goes on from there"
            documents.append(Quality(tracker_time_us=time_us, kind="time_order", text=text))
            self._last_us = None
        return documents

    def take(self, samples: Samples) -> list[Quality | QualitySummary]:
        """Take samples that go on in time, no more than `n_until_summary`; tell what is wrong."""
        documents: list[Quality | QualitySummary] = []
        times_us = samples["tracker_time_us"]
        last_us = int(times_us[-1])
        if self._last_us is None:
            self._last_us = int(times_us[0]) - round(self._interval_us)
        documents += self._tell_gaps(times_us, self._last_us)
        self._elapsed_us += last_us - self._last_us
        self._last_us = last_us
        self._n_received += len(samples)
        missing = missing_mask(samples, self._stream.eyes)
        self._n_missing += int(missing.sum())
        if self._stream.eyes != "LR" and missing.any():
            other: Literal["L", "R"] = "R" if self._stream.eyes == "L" else "L"
            self._n_other_eye += int((~missing_mask(samples[missing], other)).sum())
        if self._n_received >= self._per_second:
            documents += self._summary(last_us)
        return documents

    def _tell_gaps(self, times_us: Integers, before_us: int) -> list[Quality]:
        longest_us = GAP_INTERVALS * self._interval_us
        if times_us[0] - before_us <= longest_us and step_range(times_us)[1] <= longest_us:
            return []
        steps = np.diff(times_us, prepend=before_us)
        documents = []
        for at in np.flatnonzero(steps > longest_us).tolist():
            step_us = int(steps[at])
            self.n_lost += round(step_us / self._interval_us) - 1
            gap_ms = (step_us - self._interval_us) / 1000.0
            documents += self._tell("time_gap", int(times_us[at]), 1, gap_ms)
        return documents

    def take_traces(self, traces: list[TracePieces], threshold_deg_s: float) -> None:
        """Take gaze with its speed; steps of an eye at rest tell the precision."""
        for pieces in traces:
            at_rest = pieces.speed_deg_s < threshold_deg_s  # False where it is not known
            pairs = at_rest[:, 1:] & at_rest[:, :-1]
            squares = np.diff(pieces.x_deg) ** 2 + np.diff(pieces.y_deg) ** 2
            # piece by piece: however many come at once, the sums are the same
            sums = np.where(pairs, squares, 0.0).sum(axis=1)
            for sum_of_piece in sums.tolist():
                self._step_sum += sum_of_piece
            self._n_steps += int(np.count_nonzero(pairs))

    def _tell(self, kind: Kind, time_us: int, n: int, value: float | None = None) -> list[Quality]:
        if not n:
            return []
        n_told = self._told.get(kind, 0)
        self._told[kind] = n_told + n
        if n_told:
            return []
        text = _SENTENCES[kind].format(value=value)
        return [Quality(tracker_time_us=time_us, kind=kind, text=text, value=value)]

    def _summary(self, time_us: int) -> list[Quality | QualitySummary]:
        documents: list[Quality | QualitySummary] = [
            Quality(
                tracker_time_us=time_us, kind=kind, text=_AGAIN[kind].format(n=n), value=float(n)
            )
            for kind, n in self._told.items()
            if n > 1
        ]
        asked_hz = self._stream.sampling_rate_hz
        received_hz = self._n_received / (self._elapsed_us / 1e6)
        if abs(received_hz - asked_hz) > RATE_TOLERANCE * asked_hz:
            text = f"{received_hz:.0f} samples per second arrive, {asked_hz:g} were promised"
            documents.append(
                Quality(tracker_time_us=time_us, kind="rate", text=text, value=received_hz)
            )
        if self._n_missing == self._n_received:
            text = "no gaze for a second"
            if 2 * self._n_other_eye > self._n_received:
                text += ": the other eye is seen, is the right one recorded?"
            documents.append(Quality(tracker_time_us=time_us, kind="eye", text=text))
        rms_deg = math.sqrt(self._step_sum / self._n_steps) if self._n_steps else None
        documents.append(
            QualitySummary(
                tracker_time_us=time_us,
                rate_asked_hz=asked_hz,
                rate_received_hz=received_hz,
                n_lost_samples=self.n_lost,
                missing_fraction=self._n_missing / self._n_received,
                rms_s2s_deg=rms_deg,
                clock_drift_ppm=self._drift.ppm,
            )
        )
        self._begin_second()
        return documents


class ClockDrift:
    """How much faster the tracker's clock runs than the host's, told from arrivals.

    A sample arrives late by some transport, never early; so of every ten seconds the quickest
    arrival counts, and the slope through the last five minutes of them.
    """

    def __init__(self) -> None:
        self._windows: deque[tuple[float, float]] = deque(maxlen=DRIFT_WINDOWS)
        """Host time and how far the host's clock was ahead of the tracker's, both in seconds."""
        self._best: tuple[float, float] | None = None
        self._window_ends_s = -math.inf
        self.ppm: float | None = None
        """None before it is known."""

    def add(self, arrival_s: float, tracker_us: int) -> None:
        """Take the arrival of a sample."""
        ahead_s = arrival_s - tracker_us / 1e6
        if arrival_s >= self._window_ends_s:
            if self._best is not None:
                self._windows.append(self._best)
                self._fit()
            self._best = None
            self._window_ends_s = arrival_s + DRIFT_WINDOW_S
        if self._best is None or ahead_s < self._best[1]:
            self._best = arrival_s, ahead_s

    def _fit(self) -> None:
        if len(self._windows) < 3:
            return
        host_s, ahead_s = np.array(self._windows).T
        host_s = host_s - host_s.mean()
        slope = float(host_s @ (ahead_s - ahead_s.mean()) / (host_s @ host_s))
        ppm = -1e6 * slope
        self.ppm = ppm if abs(ppm) <= MOST_DRIFT_PPM else None
