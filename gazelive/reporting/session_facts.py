"""Facts of one session, gathered once for terminal, JSON and page."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from gazelive.analysis import Analysis, analyse
from gazelive.errors import GazeliveError, RecordingError
from gazelive.gaze import ScreenGeometry
from gazelive.recordings import (
    GeometryFlags,
    Recording,
    SessionManifest,
    read_manifest,
    read_session,
    screen_in_corpus,
)
from gazelive.reporting.calibration_history import Check, checks_of, last_validation
from gazelive.reporting.engine_findings import (
    EngineFindings,
    identified_as,
    read_findings,
)
from gazelive.reporting.notes import Note, notes_of
from gazelive.reporting.trial_facts import (
    TrialFacts,
    count_lost,
    session_start_us,
    trial_facts,
)

Progress = Callable[[float], None]
"""Called with the fraction done."""


@dataclass(frozen=True)
class SessionFacts:
    """A session with its events, quality, calibrations and engine findings."""

    folder: Path
    manifest: SessionManifest
    recording: Recording
    analysis: Analysis | None
    why_no_events: str | None
    """Reason for the missing analysis."""
    trials: tuple[TrialFacts, ...]
    checks: tuple[Check, ...]
    findings: EngineFindings | None
    notes: tuple[Note, ...]

    @property
    def n_lost_samples(self) -> int:
        """Number of samples within blocks that never arrived."""
        return sum(
            count_lost(block.samples["tracker_time_us"], block.stream.sample_interval_us)
            for block in self.recording.blocks
        )

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings of the analysis, or the reason why there is none."""
        if self.analysis is not None:
            return self.analysis.warnings
        return () if self.why_no_events is None else (self.why_no_events,)

    @property
    def clock_drift_ppm(self) -> float | None:
        """Drift of the tracker's clock relative to the host's; positive is faster."""
        fit = self.manifest.clock_fit
        return None if fit is None else fit.tracker_us_per_host_s - 1e6

    def as_json(self) -> dict[str, Any]:
        """Return the facts as plain values."""
        manifest, recording = self.manifest, self.recording
        validation = last_validation(self.checks)
        return {
            "folder": str(self.folder),
            "viewer": manifest.viewer,
            "session": manifest.session,
            "mode": manifest.purpose,
            "device": manifest.device,
            "started_at": manifest.started_at,
            "finished_at": manifest.finished_at,
            "stop_reason": manifest.stop_reason,
            "duration_s": recording.duration_s,
            "n_samples": recording.n_samples,
            "missing_fraction": recording.missing_fraction,
            "n_lost_samples": self.n_lost_samples,
            "n_saccades": None if self.analysis is None else self.analysis.n_saccades,
            "clock_drift_ppm": self.clock_drift_ppm,
            "validation_mean_deg": None if validation is None else validation[0],
            "validation_max_deg": None if validation is None else validation[1],
            "trials": msgspec.to_builtins(self.trials),
            "checks": msgspec.to_builtins(self.checks),
            "identification": None
            if self.findings is None or self.findings.course is None
            else self.findings.summary.as_json(),
            "said_to_be": None if self.findings is None else identified_as(self.findings.summary),
            "notes": msgspec.to_builtins(self.notes),
            "problems": [problem.text for problem in recording.problems],
        }


def gather(
    folder: Path, flags: GeometryFlags | None = None, progress: Progress | None = None
) -> SessionFacts:
    """Read a session and detect its events (`settled`, as live); writes nothing.

    If events cannot be detected (no geometry, no samples), the other facts are still returned.
    """

    def reading(fraction: float) -> None:
        if progress is not None:
            progress(0.4 * fraction)

    def detecting(fraction: float) -> None:
        if progress is not None:
            progress(0.4 + 0.6 * fraction)

    manifest = read_manifest(folder)
    recording = read_session(folder, progress=reading)
    analysis, why_no_events = None, None
    try:
        analysis = analyse(
            recording, flags=flags, corpus_screen=_corpus_screen(folder), progress=detecting
        )
    except RecordingError as error:
        why_no_events = str(error)
    trials = trial_facts(recording, analysis)
    first_us = session_start_us(recording)
    findings = read_findings(folder)
    return SessionFacts(
        folder=folder,
        manifest=manifest,
        recording=recording,
        analysis=analysis,
        why_no_events=why_no_events,
        trials=trials,
        checks=checks_of(recording, first_us),
        findings=findings,
        notes=notes_of(recording, trials, findings, first_us),
    )


def _corpus_screen(folder: Path) -> ScreenGeometry | None:
    """Return the screen of a corpus around the session; None without a readable corpus."""
    try:
        return screen_in_corpus(folder)
    except GazeliveError:
        return None
