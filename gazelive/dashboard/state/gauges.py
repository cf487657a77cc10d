"""Gauges of data quality: each number with a level from good to poor.

The limits are those that labs use: the EyeLink's verdict on a validation, the precision of a video
tracker with a chin rest (RMS-S2S about 0.02°), and gazelive's own latency target.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

import msgspec

from gazelive.dashboard.state.connection import Phase
from gazelive.gaze import QualitySummary, Validated
from gazelive.recordings import VALIDATION_LIMITS_DEG, validation_verdict
from gazelive.wording import THIN, bounded_percent

Part = Literal["data", "computer"]
"""What a gauge judges: what is recorded, or how fast this computer analyses it."""
WORDS: dict[Part, tuple[str, str, str]] = {
    "data": ("good", "fair", "poor"),
    "computer": ("good", "slow", "too slow"),
}


class Level(enum.IntEnum):
    """Quality level; higher is worse."""

    UNKNOWN = -1
    GOOD = 0
    FAIR = 1
    POOR = 2

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
    advice: str
    """What to do if it is not good."""
    part: Part = "data"

    @property
    def word(self) -> str:
        """The level as a word."""
        return "unknown" if self.level is Level.UNKNOWN else WORDS[self.part][self.level]


@dataclass(frozen=True)
class Verdict:
    """Overall level of some gauges."""

    level: Level
    text: str


_UNKNOWN = "–", Level.UNKNOWN


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
        _drift(summary),
        _latency(summary),
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


def verdicts(rows: Iterable[Gauge], phase: Phase = "running") -> tuple[Verdict, ...]:
    """Return the worst level of the data, and that of the computer."""
    known = [row for row in rows if row.level is not Level.UNKNOWN]
    if not known:
        return (Verdict(Level.UNKNOWN, "No measurements yet"),)
    if phase in ("lost", "silent"):
        return (Verdict(Level.UNKNOWN, "No new data"),)
    found = []
    for part in WORDS:
        worst = max((row for row in known if row.part == part), key=_level, default=None)
        if worst is not None:
            found.append(Verdict(worst.level, f"{part.capitalize()} {worst.word}"))
    return tuple(found)


def advice(rows: Iterable[Gauge]) -> str:
    """Return what to do for the worst gauge, first of the data; empty if all is good."""
    wrong = [row for row in rows if row.level > Level.GOOD]
    worst = max(wrong, key=lambda row: (row.part == "data", row.level), default=None)
    return "" if worst is None else f"{worst.name}: {worst.advice}"


def _level(row: Gauge) -> Level:
    return row.level


def below(value: float, good: float, fair: float) -> Level:
    """Return the level of a number for which smaller is better; NaN is unknown."""
    if math.isnan(value):
        return Level.UNKNOWN
    return Level.GOOD if value <= good else Level.FAIR if value <= fair else Level.POOR


def _rate(summary: QualitySummary | None) -> Gauge:
    row = partial(
        Gauge,
        "Rate",
        meaning="Sampling rate over the last 10 s, received and requested. Good: at least 99 %.",
        advice="check the rate and the network cable at the Host PC.",
    )
    if summary is None or summary.rate_asked_hz <= 0:
        return row(*_UNKNOWN)
    short = 1 - summary.rate_received_hz / summary.rate_asked_hz
    value = f"{summary.rate_received_hz:.0f} of {summary.rate_asked_hz:.0f}{THIN}Hz"
    return row(value, below(abs(short), 0.01, 0.05))


def _lost(summary: QualitySummary | None, expected: float) -> Gauge:
    row = partial(
        Gauge,
        "Lost samples",
        meaning="Samples that never arrived since the start of the run. Good: none. "
        "Fair: to 0.1 %.",
        advice="the EDF has them. Use a direct cable to the Host PC.",
    )
    if summary is None:
        return row(*_UNKNOWN)
    n = summary.n_lost_samples
    share = n / max(expected, n, 1)
    value = f"{n:,} ({bounded_percent(share, THIN)})" if n else "none"
    return row(value, below(share, 0.0, 0.001))


def _missing(summary: QualitySummary | None) -> Gauge:
    row = partial(
        Gauge,
        "Missing gaze",
        meaning="Samples without gaze in the last 10 s (blinks, or the tracker lost the eye). "
        "Good: up to 5 %.",
        advice="aim the camera at the eye; mind glasses, lids and lashes.",
    )
    if summary is None:
        return row(*_UNKNOWN)
    fraction = summary.missing_fraction
    value = {0.0: "none", 1.0: "all"}.get(fraction, bounded_percent(fraction, THIN))
    return row(value, below(fraction, 0.05, 0.2))


def _precision(summary: QualitySummary | None) -> Gauge:
    row = partial(
        Gauge,
        "Precision",
        meaning="RMS of sample-to-sample steps outside saccades. Good: up to 0.05°. "
        "Fair: up to 0.1°.",
        advice="focus the camera, set the thresholds again, check the chin rest.",
    )
    if summary is None or summary.rms_s2s_deg is None:
        return row(*_UNKNOWN)
    return row(f"{summary.rms_s2s_deg:.3f}° RMS", below(summary.rms_s2s_deg, 0.05, 0.1))


def _validation(validations: Mapping[str, Validated]) -> Gauge:
    (good, good_max), (fair, fair_max) = (VALIDATION_LIMITS_DEG[word] for word in ("GOOD", "FAIR"))
    row = partial(
        Gauge,
        "Validation",
        meaning="Mean and maximum error of the last validation, judged as the EyeLink does. "
        f"Good: below {good:g}° and {good_max:g}°. Fair: below {fair:g}° and {fair_max:g}°.",
        advice="calibrate again before the next image.",
    )
    if not validations:
        return row(*_UNKNOWN)
    levels, texts = [], []
    for eye in sorted(validations):
        found = validations[eye]
        levels.append(Level[validation_verdict(found.mean_error_deg, found.max_error_deg)])
        texts.append(f"{eye} {found.mean_error_deg:.2f}°, max {found.max_error_deg:.2f}°")
    return row("\n".join(texts), max(levels))


def _drift(summary: QualitySummary | None) -> Gauge:
    row = partial(
        Gauge,
        "Clock drift",
        meaning="Drift of the tracker's clock relative to this computer's. Good: up to 100 ppm "
        "(0.36 s per hour). Fair: up to 500 ppm.",
        advice="let nothing set this computer's clock in a session.",
    )
    if summary is None or summary.clock_drift_ppm is None:
        return row(*_UNKNOWN)
    drift = summary.clock_drift_ppm
    value = f"{drift:+.0f}{THIN}ppm".replace("-", "−")
    return row(value, below(abs(drift), 100.0, 500.0))


def _latency(summary: QualitySummary | None) -> Gauge:
    row = partial(
        Gauge,
        "Latency",
        meaning="Time from the arrival of samples to the published results, 99th percentile. "
        "Good: up to 10 ms. Slow: up to 20 ms. The recording does not depend on it.",
        advice="the recording is not affected. Close other programs.",
        part="computer",
    )
    if summary is None or summary.latency_ms is None:
        return row(*_UNKNOWN)
    return row(f"{summary.latency_ms:.1f}{THIN}ms", below(summary.latency_ms, 10.0, 20.0))
