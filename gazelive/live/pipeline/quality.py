"""Quality of the samples, summarised once per second of samples.

Faults in the data are reported and never raised. Those of single samples are reported at their
first occurrence, and as a count at the end of the second; those of all samples at its end.
"""

from __future__ import annotations

import math
from collections import deque
from typing import Literal

import numpy as np

from gazelive.analysis import Accepted, has_gap
from gazelive.gaze import (
    EYE_FIELDS,
    Eyes,
    Integers,
    Quality,
    QualitySummary,
    Samples,
    StreamDescription,
    find_gaps,
    missing_mask,
)
from gazelive.live.pipeline.traces import TracePieces

Kind = Literal["time_gap", "time_order", "duplicate", "impossible"]

SHORTEST_S, LONGEST_S = 0.4, 2.1
"""Limits of a second of samples; beyond them the rate is not as promised, and their number is
doubled or halved."""
RATE_TOLERANCE = 0.05
"""A larger relative deviation from the promised rate is reported."""
DRIFT_WINDOW_S = 10.0
DRIFT_WINDOWS = 30
MOST_DRIFT_PPM = 1000.0
"""No clock drifts more, but a replay faster than real time does."""

MOST_DROPOUTS = 20
"""Losses of gaze in a second; blinks are fewer."""
FARTHEST_DEG = 60.0
"""No eye turns farther, and no screen is seen there."""
WORST_RMS_DEG = 0.5
"""Largest step from sample to sample with which saccades can be found."""
LEAST_AT_REST = 0.2
"""Gaze is slower than the threshold for saccades for a larger share of the time."""

_FIRST: dict[Kind, str] = {
    "impossible": "a sample has a time that no tracker has: left out",
    "time_gap": "samples are missing for {value:g} ms: taken as lost",
    "time_order": "a sample is older than the one before: left out",
    "duplicate": "a sample has the time of the one before: left out",
}
_COUNTED: dict[Kind, str] = {
    "impossible": "{n} samples with impossible times in the last second of samples",
    "time_gap": "{n} gaps in the last second of samples",
    "time_order": "{n} samples out of order in the last second of samples",
    "duplicate": "{n} samples with the time of the one before in the last second of samples",
}


class QualityWatch:
    """Counts faults in the samples of one block after the other."""

    def __init__(self) -> None:
        self.n_lost = 0
        """Samples missing since the run began."""
        self._drift = ClockDrift()
        self._begin_second()

    def begin_block(self, stream: StreamDescription) -> None:
        """Continue with the stream of another block."""
        self._stream = stream
        self._interval_us = stream.sample_interval_us
        self._n_due = max(1, round(stream.sampling_rate_hz))
        self._last_us: int | None = None
        self._was_missing = False
        self._begin_second()

    def _begin_second(self) -> None:
        self._n_received = 0
        self._n_missing = 0
        self._n_other_eye = 0
        self._elapsed_us = 0.0
        self._step_sum = 0.0
        self._n_steps = self._n_traced = self._n_far = self._n_dropouts = self._n_infinite = (
            self._n_blinks
        ) = 0
        self._counts: dict[Kind, int] = {}

    @property
    def n_until_summary(self) -> int:
        """Number of samples until the next summary."""
        return self._n_due - self._n_received

    def arrived(self, arrival_s: float, last_us: int) -> None:
        """Note when a chunk whose last sample is at `last_us` arrived."""
        if math.isfinite(arrival_s):
            self._drift.add(arrival_s, last_us)

    def shows_blink(self) -> bool:
        """Take a blink; return whether it is one of the first of this second."""
        self._n_blinks += 1
        return self._n_blinks <= MOST_DROPOUTS

    def take_impossible(self, n: int) -> list[Quality]:
        """Report samples that were left out because no tracker has their times."""
        return self._report("impossible", self._last_us or 0, n)

    def take_order(self, accepted: Accepted, time_us: int) -> list[Quality]:
        """Report samples that were left out because of their times."""
        documents = self._report("duplicate", time_us, accepted.n_duplicate)
        documents += self._report("time_order", time_us, accepted.n_backward)
        if accepted.was_set_back:
            text = "the tracker's clock was set back: time goes on from there"
            documents.append(Quality(tracker_time_us=time_us, kind="time_order", text=text))
            self._last_us = None
        return documents

    def take(self, samples: Samples) -> list[Quality | QualitySummary]:
        """Take at most `n_until_summary` samples in the order of time; return reports on them."""
        documents: list[Quality | QualitySummary] = []
        times_us = samples["tracker_time_us"]
        last_us = int(times_us[-1])
        if self._last_us is None:
            self._last_us = int(times_us[0]) - round(self._interval_us)
        documents += self._report_gaps(times_us, self._last_us)
        self._elapsed_us += last_us - self._last_us
        self._last_us = last_us
        self._n_received += len(samples)
        missing = missing_mask(samples, self._stream.eyes)
        self._n_missing += int(missing.sum())
        if missing.any():
            self._n_dropouts += int(np.count_nonzero(missing[1:] & ~missing[:-1]))
            self._n_dropouts += bool(missing[0]) and not self._was_missing
            self._n_infinite += _count_infinite(samples[missing], self._stream.eyes)
        self._was_missing = bool(missing[-1])
        if self._stream.eyes != "LR" and missing.any():
            other: Literal["L", "R"] = "R" if self._stream.eyes == "L" else "L"
            self._n_other_eye += int((~missing_mask(samples[missing], other)).sum())
        if self._n_received >= self._n_due:
            if self._elapsed_us < SHORTEST_S * 1e6:
                self._n_due *= 2
            else:
                if self._elapsed_us > LONGEST_S * 1e6:
                    self._n_due = max(1, self._n_due // 2)
                documents += self._summary(last_us)
        return documents

    def _report_gaps(self, times_us: Integers, before_us: int) -> list[Quality]:
        rate_hz = self._stream.sampling_rate_hz
        documents: list[Quality] = []
        if not has_gap(times_us, rate_hz, before_us):
            return documents
        for at in find_gaps(times_us, rate_hz, before_us).tolist():
            step_us = int(times_us[at]) - (int(times_us[at - 1]) if at else before_us)
            self.n_lost += round(step_us / self._interval_us) - 1
            gap_ms = (step_us - self._interval_us) / 1000.0
            documents += self._report("time_gap", int(times_us[at]), 1, gap_ms)
        return documents

    def take_traces(self, traces: list[TracePieces], threshold_deg_s: float) -> None:
        """Take gaze with its speed; the steps of a resting eye give the precision."""
        for pieces in traces:
            self._n_traced += int(np.count_nonzero(np.isfinite(pieces.x_deg)))
            farthest = np.maximum(np.abs(pieces.x_deg), np.abs(pieces.y_deg))
            self._n_far += int(np.count_nonzero(farthest > FARTHEST_DEG))
            at_rest = pieces.speed_deg_s < threshold_deg_s  # False where it is not known
            pairs = at_rest[:, 1:] & at_rest[:, :-1]
            squares = np.diff(pieces.x_deg) ** 2 + np.diff(pieces.y_deg) ** 2
            # piece by piece: however many come at once, the sums are the same
            sums = np.where(pairs, squares, 0.0).sum(axis=1)
            for sum_of_piece in sums.tolist():
                self._step_sum += sum_of_piece
            self._n_steps += int(np.count_nonzero(pairs))

    def _report(
        self, kind: Kind, time_us: int, n: int, value: float | None = None
    ) -> list[Quality]:
        if not n:
            return []
        n_before = self._counts.get(kind, 0)
        self._counts[kind] = n_before + n
        if n_before:
            return []
        text = _FIRST[kind].format(value=value)
        return [Quality(tracker_time_us=time_us, kind=_KINDS[kind], text=text, value=value)]

    def _summary(self, time_us: int) -> list[Quality | QualitySummary]:
        documents: list[Quality | QualitySummary] = [
            Quality(
                tracker_time_us=time_us,
                kind=_KINDS[kind],
                text=_COUNTED[kind].format(n=n),
                value=float(n),
            )
            for kind, n in self._counts.items()
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
        documents += self._faults(time_us, rms_deg)
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

    def _faults(self, time_us: int, rms_deg: float | None) -> list[Quality]:
        """Return the faults of the second as a whole."""
        found: list[Quality] = []

        def add(kind: _Whole, text: str, value: float) -> None:
            found.append(Quality(tracker_time_us=time_us, kind=kind, text=text, value=value))

        lost = self._n_missing / self._n_received
        if self._n_dropouts > MOST_DROPOUTS:
            n = self._n_dropouts
            add("dropouts", f"gaze was lost {n} times in a second: is the eye in focus?", n)
        elif 0.5 < lost < 1:
            add("lost_samples", f"no gaze in {lost:.0%} of the last second of samples", lost)
        if self._n_infinite:
            n = self._n_infinite
            add("position", f"{n} positions are infinite: taken as lost", n)
        n_breaks = max(self._n_dropouts, self._counts.get("time_gap", 0))
        if n_breaks > MOST_DROPOUTS or self._n_traced < self._n_received / 2:
            return found
        far = self._n_far / self._n_traced
        if far > 0.5:
            text = "gaze is far off the screen: is the tracker calibrated for this screen?"
            add("off_screen", text, far)
        elif self._n_steps > self._n_traced / 2 and not self._step_sum:
            add("frozen", "gaze has not moved at all for a second: does the tracker still work?", 0)
        elif (rms_deg or 0) > WORST_RMS_DEG or self._n_steps < LEAST_AT_REST * self._n_traced:
            text = "gaze is too noisy for saccades: check focus, light and glasses"
            if rms_deg is not None:
                text = f"{text} ({rms_deg:.2g}° from sample to sample)"
            add("noise", text, rms_deg or 0)
        return found


_Whole = Literal["dropouts", "lost_samples", "position", "off_screen", "frozen", "noise"]
_KINDS: dict[Kind, Literal["time_gap", "time_order", "duplicate"]] = {
    "time_gap": "time_gap",
    "time_order": "time_order",
    "duplicate": "duplicate",
    "impossible": "time_order",
}


def _count_infinite(samples: Samples, eyes: Eyes) -> int:
    """Return how many samples have a position that is infinite."""
    infinite = np.zeros(len(samples), bool)
    for eye in eyes:
        x, y, _ = EYE_FIELDS[eye]
        infinite |= np.isinf(samples[x]) | np.isinf(samples[y])
    return int(infinite.sum())


class ClockDrift:
    """Drift of the tracker's clock against the host's, estimated from arrivals.

    Transport delays arrivals and never advances them: the drift is the slope through the quickest
    arrival of every ten seconds over the last five minutes.
    """

    def __init__(self) -> None:
        self._windows: deque[tuple[float, float]] = deque(maxlen=DRIFT_WINDOWS)
        """Host time and how far the host's clock was ahead of the tracker's, both in seconds."""
        self._best: tuple[float, float] | None = None
        self._window_ends_s = -math.inf
        self.ppm: float | None = None
        """Parts per million; None until enough time has passed."""

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
