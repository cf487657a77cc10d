"""Documents such as an engine sends, made from a recording; the posteriors are made up."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gazelive.analysis.recording import AnalysedInterval, Analysis
from gazelive.gaze.documents import (
    Document,
    GazeTrace,
    MainSequence,
    ModelLoaded,
    Notice,
    Posterior,
    QualitySummary,
    RunStarted,
    SaccadeOnset,
    TrialStarted,
    TrialStopped,
    Validated,
)
from gazelive.gaze.events import Saccade
from gazelive.recordings.recording import Recording

TRACE_US = 33_000
SENT_AFTER_US = 12_000
"""Delay between an event's last sample and its document."""
AMPLITUDES_DEG = np.geomspace(0.4, 30.0, 24)


def made_up_model(n_viewers: int) -> ModelLoaded:
    """Return a model with a population that people's saccades fit in."""
    median = 560 * (1 - np.exp(-AMPLITUDES_DEG / 7.5)) + 12
    return ModelLoaded(
        model="population.gazelive-model",
        method="Fisher-SVM",
        viewer_ids=tuple(f"v{number:03d}" for number in range(n_viewers)),
        main_sequence=MainSequence(
            amplitude_deg=tuple(AMPLITUDES_DEG.tolist()),
            low_deg_s=tuple((0.7 * median).tolist()),
            median_deg_s=tuple(median.tolist()),
            high_deg_s=tuple((1.38 * median).tolist()),
        ),
    )


class Suspicion:
    """Evidence that leans towards one viewer with every saccade, as a real one would."""

    def __init__(self, n_viewers: int, viewer: int, seed: int = 4) -> None:
        self._rng = np.random.default_rng(seed)
        self._evidence = self._rng.normal(0, 0.3, n_viewers)
        self._viewer = viewer
        self._rival = (viewer + 4) % n_viewers
        self._unknown = 0.6
        self.n_saccades = 0
        self.n_images = 0

    def hear(self) -> None:
        """Take one saccade."""
        step = self._rng.normal(-0.02, 0.24, len(self._evidence))
        step[self._viewer] += 0.17
        step[self._rival] += 0.07
        self._evidence += step
        self._unknown -= 0.045 + self._rng.normal(0, 0.12)
        self.n_saccades += 1

    def posterior(
        self, time_us: int, seconds: float, *, settled: bool, most: int = 12
    ) -> Posterior:
        """Return who it may be now."""
        log_p = self._evidence - np.logaddexp.reduce(self._evidence)
        order = np.argsort(-log_p)[:most]
        return Posterior(
            tracker_time_us=time_us,
            leading=tuple(int(i) for i in order),
            log_probabilities=tuple(float(log_p[i]) for i in order),
            log_unknown=-float(np.logaddexp(0, -self._unknown)),
            n_saccades=self.n_saccades,
            n_images=self.n_images,
            seconds=seconds,
            settled=settled,
        )


def recorded_documents(
    analysis: Analysis,
    *,
    n_viewers: int = 24,
    viewer: int = 5,
    image_rectangle_px: tuple[float, float, float, float] | None = None,
    folder: str | None = None,
) -> Iterator[tuple[int, Document]]:
    """Yield documents with the tracker time (µs) at which each is sent."""
    recording = analysis.recording
    start_us = analysis.intervals[0].interval.start_us
    yield start_us, _run(recording, folder)
    yield start_us, made_up_model(n_viewers)
    for result in recording.calibrations:
        if result.kind == "validation" and result.mean_error_deg and result.max_error_deg:
            yield (
                start_us,
                Validated(
                    eye=result.eye,
                    mean_error_deg=result.mean_error_deg,
                    max_error_deg=result.max_error_deg,
                ),
            )
    for warning in analysis.warnings:
        yield start_us, Notice(level="warning", text=warning)
    suspicion = Suspicion(n_viewers, viewer)
    seconds = 0.0
    for number, analysed in enumerate(analysis.intervals, 1):
        interval = analysed.interval
        yield (
            interval.start_us,
            TrialStarted(
                trial=interval.trial or str(number),
                tracker_time_us=interval.start_us,
                image=interval.image,
                image_rectangle_px=image_rectangle_px,
                index=number,
                n_trials=len(analysis.intervals),
            ),
        )
        suspicion.n_images = number
        yield from _interval(analysed, suspicion, seconds)
        seconds += (interval.end_us - interval.start_us) / 1e6
        yield (
            interval.end_us,
            TrialStopped(trial=interval.trial or str(number), tracker_time_us=interval.end_us),
        )
        yield interval.end_us, suspicion.posterior(interval.end_us, seconds, settled=True)


def _run(recording: Recording, folder: str | None) -> RunStarted:
    return RunStarted(
        session=recording.session or recording.path.name,
        stream=recording.blocks[0].stream,
        viewer=recording.viewer,
        folder=folder,
    )


def _interval(
    analysed: AnalysedInterval, suspicion: Suspicion, seconds: float
) -> Iterator[tuple[int, Document]]:
    detection = analysed.gaze.detection
    sent: list[tuple[int, int, Document]] = []
    for trace in _traces(analysed):
        sent.append((trace.first_us + TRACE_US, len(sent), trace))
    for event in (*detection.saccades, *detection.fixations, *detection.blinks):
        sent.append((event.offset_us + SENT_AFTER_US, len(sent), event))
        if isinstance(event, Saccade):
            onset = SaccadeOnset(eye=event.eye, onset_us=event.onset_us, detection_delay_ms=9.0)
            sent.append((event.onset_us + 9_000, len(sent), onset))
    for summary in _qualities(analysed):
        sent.append((summary.tracker_time_us, len(sent), summary))
    for time_us, _order, document in sorted(sent, key=lambda row: row[:2]):
        yield time_us, document
        if isinstance(document, Saccade):
            suspicion.hear()
            now = seconds + (time_us - analysed.interval.start_us) / 1e6
            yield time_us, suspicion.posterior(time_us, now, settled=False)


def _traces(analysed: AnalysedInterval) -> Iterator[GazeTrace]:
    gaze = analysed.gaze
    rate = gaze.detection.sampling_rate_hz
    thresholds = gaze.detection.thresholds_deg_s
    half = max(round(0.004 * rate), 1)

    def velocity(positions: np.ndarray) -> np.ndarray:
        result = np.full(len(positions), np.nan)
        result[half:-half] = (positions[2 * half :] - positions[: -2 * half]) * rate / (2 * half)
        return result

    speed = np.hypot(velocity(gaze.x_deg), velocity(gaze.y_deg))
    piece = max(round(TRACE_US * rate / 1e6), 1)
    for first in range(0, len(speed), piece):
        part = slice(first, first + piece)
        yield GazeTrace(
            first_us=int(gaze.times_us[first]),
            interval_us=1e6 / rate,
            x_deg=gaze.x_deg[part].astype("<f4").tobytes(),
            y_deg=gaze.y_deg[part].astype("<f4").tobytes(),
            speed_deg_s=speed[part].astype("<f4").tobytes(),
            threshold_deg_s=None if thresholds is None else float(thresholds[0]),
        )


def _qualities(analysed: AnalysedInterval) -> Iterator[QualitySummary]:
    gaze = analysed.gaze
    rate = gaze.detection.sampling_rate_hz
    for time_us in range(int(gaze.times_us[0]) + 1_000_000, int(gaze.times_us[-1]), 1_000_000):
        inside = (gaze.times_us > time_us - 1_000_000) & (gaze.times_us <= time_us)
        x, y = gaze.x_deg[inside], gaze.y_deg[inside]
        steps = np.hypot(np.diff(x), np.diff(y))
        quiet = steps[np.isfinite(steps) & (steps < 20 / rate)]
        yield QualitySummary(
            tracker_time_us=time_us,
            rate_asked_hz=rate,
            rate_received_hz=float(inside.sum()),
            n_lost_samples=0,
            missing_fraction=float(np.isnan(x).mean()),
            rms_s2s_deg=float(np.sqrt(np.mean(quiet**2))) if len(quiet) else None,
            latency_ms=3.1,
            clock_drift_ppm=-12.0,
        )
