"""Calibration history: every calibration, validation and drift check, in order of time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec

from gazelive.recordings import Recording


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """One result of one eye; None is unknown."""

    kind: Literal["calibration", "validation", "drift check"]
    at_s: float
    """Relative to the session's first sample; earlier results are negative."""
    before_trial: str | None
    """The trial that followed."""
    eye: Literal["L", "R"]
    model: str | None = None
    """The target pattern, such as HV9."""
    result: str | None = None
    """The tracker's verdict, such as GOOD."""
    mean_error_deg: float | None = None
    """For a drift check, its offset."""
    max_error_deg: float | None = None


def checks_of(recording: Recording, first_us: int) -> tuple[Check, ...]:
    """Return the history; times count from `first_us`."""
    checks = [
        (
            each.tracker_time_us,
            Check(
                kind=each.kind,
                at_s=(each.tracker_time_us - first_us) / 1e6,
                before_trial=_next_trial(recording, each.tracker_time_us),
                eye=each.eye,
                model=each.model,
                result=each.result,
                mean_error_deg=each.mean_error_deg,
                max_error_deg=each.max_error_deg,
            ),
        )
        for each in recording.calibrations
    ]
    checks += [
        (
            each.tracker_time_us,
            Check(
                kind="drift check",
                at_s=(each.tracker_time_us - first_us) / 1e6,
                before_trial=_next_trial(recording, each.tracker_time_us),
                eye=each.eye,
                mean_error_deg=each.offset_deg,
            ),
        )
        for each in recording.drift_corrections
    ]
    return tuple(check for _, check in sorted(checks, key=lambda timed: timed[0]))


def last_validation(checks: Sequence[Check]) -> tuple[float, float | None] | None:
    """Return mean and maximum error of the last validation, of the worse eye."""
    found = [c for c in checks if c.kind == "validation" and c.mean_error_deg is not None]
    if not found:
        return None
    latest = {check.eye: check for check in found}.values()
    largest = [check.max_error_deg for check in latest if check.max_error_deg is not None]
    mean_deg = max(check.mean_error_deg or 0.0 for check in latest)
    return mean_deg, max(largest, default=None)


def _next_trial(recording: Recording, time_us: int) -> str | None:
    """Return the trial that runs at a time, else the next one."""
    return next((t.name for t in recording.trials if t.end_us > time_us), None)
