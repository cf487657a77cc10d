"""Events and features of a gaze while its samples arrive.

They equal what `interval.analyse_gaze` finds with the method `online` in the whole interval.
"""

from __future__ import annotations

from dataclasses import dataclass

from gazelive.analysis.grid import Positions, fill_gaps
from gazelive.detection import (
    CyclopeanGaze,
    DetectorOutput,
    DetectorParameters,
    OnlineDetector,
)
from gazelive.features import FeatureStream, SaccadeRow
from gazelive.gaze import EventEye, Floats, Integers, Quality, Retraction, Saccade

AT_ONCE_S = 0.2
"""Longer chunks are taken in parts: the features of a saccade need its samples in memory."""


@dataclass(frozen=True)
class Found:
    """Results of some samples."""

    x_deg: Floats
    y_deg: Floats
    """The gaze of these samples: of one eye, or cyclopean."""
    outputs: list[DetectorOutput]
    rows: list[SaccadeRow]
    """Features of the saccades that can no longer be retracted."""


class LiveGaze:
    """Turns the samples of one or two eyes into events and feature rows, in chunks of any size.

    It works on one stretch after the other; the noise it has learned carries over.
    """

    def __init__(
        self, sampling_rate_hz: float, eyes: str, parameters: DetectorParameters | None = None
    ) -> None:
        self._settings = sampling_rate_hz, eyes, parameters
        self._rate_hz = sampling_rate_hz
        eye: EventEye = "both" if eyes == "LR" else "L" if eyes == "L" else "R"
        self._cyclopean = CyclopeanGaze(sampling_rate_hz) if eyes == "LR" else None
        self._detector = OnlineDetector(parameters, sampling_rate_hz, eye=eye)
        self._features = FeatureStream(sampling_rate_hz)
        self._last_us: int | None = None
        self._most = max(1, round(AT_ONCE_S * sampling_rate_hz))

    def sibling(self) -> LiveGaze:
        """Return another one that has learned the same noise and has seen no samples."""
        sibling = LiveGaze(*self._settings)
        sibling._detector.take_noise_of(self._detector)
        return sibling

    @property
    def thresholds_deg_s(self) -> tuple[float, float]:
        """The current velocity thresholds of x and y."""
        return self._detector.thresholds_deg_s

    def push(self, times_us: Integers, eyes: dict[EventEye, Positions]) -> Found:
        """Take samples (n,) whose times increase (degrees, y downwards, NaN where lost)."""
        if self._cyclopean is None:
            ((x_deg, y_deg),) = eyes.values()
        else:
            x_deg, y_deg = self._cyclopean.push(*eyes["L"], *eyes["R"], times_us=times_us)
        outputs: list[DetectorOutput] = []
        rows: list[SaccadeRow] = []
        for start in range(0, len(times_us), self._most):
            part = slice(start, start + self._most)
            found = self._detector.push(times_us[part], x_deg[part], y_deg[part])
            rows += self._rows(times_us[part], x_deg[part], y_deg[part], found)
            outputs += found
        return Found(x_deg, y_deg, _events(outputs), rows)

    def flush(self) -> list[DetectorOutput]:
        """End the stretch; return the events that were still open."""
        outputs = self._detector.flush()
        self._features.reset()
        self._last_us = None
        if self._cyclopean is not None:
            self._cyclopean.reset()
        return _events(outputs)

    def _rows(
        self, times_us: Integers, x_deg: Floats, y_deg: Floats, found: list[DetectorOutput]
    ) -> list[SaccadeRow]:
        """Return the rows that are complete with these samples."""
        # before the samples: a retracted saccade must not get a row
        retracted = {output.onset_us for output in found if isinstance(output, Retraction)}
        for onset_us in retracted:
            self._features.retract_saccade(onset_us)
        even_us, (x_deg, y_deg), _ = fill_gaps(
            times_us, (x_deg, y_deg), self._rate_hz, self._last_us
        )
        self._last_us = int(times_us[-1])
        rows = self._features.add_samples(even_us, x_deg, y_deg)
        for output in found:
            if isinstance(output, Saccade) and output.onset_us not in retracted:
                rows += self._features.add_saccade(output)
        return rows


def _events(outputs: list[DetectorOutput]) -> list[DetectorOutput]:
    """Leave out what the detector says about time: the pipeline reports it once for all eyes."""
    return [output for output in outputs if not isinstance(output, Quality)]
