"""Gauges of data quality: each number with a level from good to poor.

The limits are those that labs use: the EyeLink's verdict on a validation, the precision of a video
tracker with a chin rest (RMS-S2S about 0.02°), and gazelive's own latency target.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import msgspec

from gazelive.dashboard.state.connection import Phase
from gazelive.gaze import QualitySummary, Validated
from gazelive.recordings import VALIDATION_LIMITS_DEG, validation_verdict
from gazelive.wording import THIN, bounded_percent


class Level(enum.IntEnum):
    """Quality level; higher is worse."""

    UNKNOWN = -1
    GOOD = 0
    FAIR = 1
    POOR = 2

    @property
    def word(self) -> str:
        """The level as a word."""
        return ("good", "fair", "poor", "unknown")[self]

    @property
    def sign(self) -> str:
        """A symbol that differs in shape, for readers who cannot tell the colours apart."""
        return ("✔", "▲", "✖", "–")[self]


@dataclass(frozen=True)
class Gauge:
    """One row: a quantity, its value and its level."""

    name: str
    value: str
    level: Level
    meaning: str
    """Definition of the number, and its limits."""


@dataclass(frozen=True)
class Verdict:
    """Overall level of all gauges."""

    level: Level
    text: str


def gauges(
    summaries: Sequence[QualitySummary],
    validations: Mapping[str, Validated],
    expected_samples: float,
) -> tuple[Gauge, ...]:
    """Return all rows from the summaries of the last seconds.

    `expected_samples` is the number of samples due since the start of the run.
    """
    summary = averaged(summaries)
    return (
        _rate(summary),
        _lost(summary, expected_samples),
        _missing(summary),
        _precision(summary),
        _validation(validations),
        _latency(summary),
        _drift(summary),
    )


def averaged(summaries: Sequence[QualitySummary]) -> QualitySummary | None:
    """Return one summary of several seconds: means, and the last value of each counter."""
    if not summaries:
        return None
    squares = [s.rms_s2s_deg * s.rms_s2s_deg for s in summaries if s.rms_s2s_deg is not None]
    return msgspec.structs.replace(
        summaries[-1],
        rate_received_hz=_mean([s.rate_received_hz for s in summaries]),
        missing_fraction=_mean([s.missing_fraction for s in summaries]),
        rms_s2s_deg=math.sqrt(_mean(squares)) if squares else None,
        latency_ms=max((s.latency_ms for s in summaries if s.latency_ms is not None), default=None),
    )


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def verdict(rows: Iterable[Gauge], phase: Phase = "running") -> Verdict:
    """Return the worst level and the gauges that have it; in the past tense without new data."""
    known = [row for row in rows if row.level is not Level.UNKNOWN]
    if not known:
        return Verdict(Level.UNKNOWN, "No measurements yet")
    worst = max(row.level for row in known)
    blamed = ", ".join(row.name.lower() for row in known if row.level is worst)
    quality = worst.word if worst is Level.GOOD else f"{worst.word}: {blamed}"
    if phase in ("lost", "silent"):
        return Verdict(Level.UNKNOWN, f"No data; quality was {quality}")
    return Verdict(worst, f"Quality {'was' if phase == 'stopped' else 'is'} {quality}")


def below(value: float, good: float, fair: float) -> Level:
    """Return the level of a number for which smaller is better; NaN is unknown."""
    if math.isnan(value):
        return Level.UNKNOWN
    return Level.GOOD if value <= good else Level.FAIR if value <= fair else Level.POOR


def _unknown(name: str, meaning: str) -> Gauge:
    return Gauge(name, "–", Level.UNKNOWN, meaning)


def _rate(summary: QualitySummary | None) -> Gauge:
    name, meaning = (
        "Rate",
        "Sampling rate over the last 10 s, received and requested. Good: at least 99 %.",
    )
    if summary is None or summary.rate_asked_hz <= 0:
        return _unknown(name, meaning)
    short = 1 - summary.rate_received_hz / summary.rate_asked_hz
    value = f"{summary.rate_received_hz:.0f} of {summary.rate_asked_hz:.0f}{THIN}Hz"
    return Gauge(name, value, below(abs(short), 0.01, 0.05), meaning)


def _lost(summary: QualitySummary | None, expected: float) -> Gauge:
    name = "Lost samples"
    meaning = "Samples that never arrived since the start of the run. Good: none. Fair: to 0.1 %."
    if summary is None:
        return _unknown(name, meaning)
    n = summary.n_lost_samples
    share = n / max(expected, n, 1)
    value = f"{n:,} ({bounded_percent(share, THIN)})" if n else "none"
    return Gauge(name, value, below(share, 0.0, 0.001), meaning)


def _missing(summary: QualitySummary | None) -> Gauge:
    name = "Missing gaze"
    meaning = (
        "Samples without gaze in the last 10 s (blinks, or the tracker lost the eye). "
        "Good: up to 5 %."
    )
    if summary is None:
        return _unknown(name, meaning)
    fraction = summary.missing_fraction
    value = {0.0: "none", 1.0: "all"}.get(fraction, bounded_percent(fraction, THIN))
    return Gauge(name, value, below(fraction, 0.05, 0.2), meaning)


def _precision(summary: QualitySummary | None) -> Gauge:
    name = "Precision"
    meaning = "RMS of sample-to-sample steps outside saccades. Good: up to 0.05°."
    if summary is None or summary.rms_s2s_deg is None:
        return _unknown(name, meaning)
    level = below(summary.rms_s2s_deg, 0.05, 0.1)
    return Gauge(name, f"{summary.rms_s2s_deg:.3f}° RMS", level, meaning)


def _validation(validations: Mapping[str, Validated]) -> Gauge:
    name = "Validation"
    (good, good_max), (fair, fair_max) = (VALIDATION_LIMITS_DEG[word] for word in ("GOOD", "FAIR"))
    meaning = (
        "Mean and maximum error of the last validation, judged as the EyeLink does. Good: below "
        f"{good:g}° and {good_max:g}°. Fair: below {fair:g}° and {fair_max:g}°."
    )
    if not validations:
        return _unknown(name, meaning)
    levels, texts = [], []
    for eye in sorted(validations):
        found = validations[eye]
        levels.append(Level[validation_verdict(found.mean_error_deg, found.max_error_deg)])
        texts.append(f"{eye} {found.mean_error_deg:.2f}° (max {found.max_error_deg:.2f}°)")
    return Gauge(name, "\n".join(texts), max(levels), meaning)


def _latency(summary: QualitySummary | None) -> Gauge:
    name = "Latency"
    meaning = (
        "Time from the arrival of samples to the published results, 99th percentile. "
        "Good: up to 10 ms."
    )
    if summary is None or summary.latency_ms is None:
        return _unknown(name, meaning)
    level = below(summary.latency_ms, 10.0, 20.0)
    return Gauge(name, f"{summary.latency_ms:.1f}{THIN}ms", level, meaning)


def _drift(summary: QualitySummary | None) -> Gauge:
    name = "Clock drift"
    meaning = (
        "Drift of the tracker's clock relative to this computer's. Good: up to 100 ppm "
        "(0.36 s per hour)."
    )
    if summary is None or summary.clock_drift_ppm is None:
        return _unknown(name, meaning)
    drift = summary.clock_drift_ppm
    value = f"{drift:+.0f}{THIN}ppm".replace("-", "−")
    return Gauge(name, value, below(abs(drift), 100.0, 500.0), meaning)
