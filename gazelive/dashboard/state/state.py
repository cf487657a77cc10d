"""State of the dashboard, built from documents, without Qt and in bounded memory.

Each part counts its own `revision`; a panel repaints only if it has changed.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from typing import Literal

from gazelive.dashboard.state.bands import Bands
from gazelive.dashboard.state.connection import Connection, Playback, with_engine, without_engine
from gazelive.dashboard.state.gauges import Gauge, gauges
from gazelive.dashboard.state.gaze_scene import GazeScene, ScreenView
from gazelive.dashboard.state.main_sequence import MainSequenceRecord
from gazelive.dashboard.state.notices import NoticeLog
from gazelive.dashboard.state.posteriors import (
    N_SLOTS,
    PosteriorHistory,
    Ranking,
    ViewerSlots,
    ranking,
)
from gazelive.dashboard.state.trace_ring import TraceRing
from gazelive.errors import TransportError
from gazelive.gaze import (
    PROTOCOL_VERSION,
    Blink,
    Document,
    Fixation,
    GazeTrace,
    IntervalSettled,
    ModelLoaded,
    Notice,
    Posterior,
    Quality,
    QualitySummary,
    Retraction,
    RunStarted,
    RunStopped,
    Saccade,
    SaccadeOnset,
    TrialStarted,
    TrialStopped,
    Validated,
)

SUMMARIES = 10
"""Seconds of data that a quality level covers: one blink does not make it poor."""


class DashboardState:
    """Applies documents and holds what the panels show."""

    run: RunStarted | None
    stopped: str | None
    """Reason for the end of the run; None while it lasts."""
    model: ModelLoaded | None
    trial: TrialStarted | None
    trial_open: bool
    posterior: Posterior | None
    summaries: deque[QualitySummary]
    """Quality summaries of the last seconds."""
    validations: dict[str, Validated]
    """The last validation of each eye."""
    threshold_deg_s: float | None
    _first_us: int | None
    _latest_us: int | None

    def __init__(self, source: str = "") -> None:
        self.source = source
        self.traces = TraceRing()
        self.bands = Bands()
        self.scene = GazeScene()
        self.main_sequence = MainSequenceRecord()
        self.history = PosteriorHistory()
        self.slots = ViewerSlots()
        self.log = NoticeLog()
        self.screen = ScreenView.of(None)
        self.connected = False
        self.catching_up = False
        """True if the engine is reading what was recorded before it started."""
        self.playback: Playback | None = None
        self.takes: frozenset[str] = frozenset()
        """Requests, besides markers and playback, that the owner of the device takes now."""
        self.run = None
        self.model = None
        self.posterior_revision = 0
        self._was_connected = False
        self._now_s = 0.0
        self._last_document_s = 0.0
        self._forget_run()

    # -- input --------------------------------------------------------------------------------

    def apply_all(self, documents: Iterable[Document]) -> None:
        """Apply documents in order."""
        for document in documents:
            self.apply(document)

    def apply(self, document: Document) -> None:
        """Apply one document."""
        self._last_document_s = self._now_s
        match document:
            case GazeTrace():
                self._take_trace(document)
            case Saccade():
                self.bands.add_saccade(document)
                self.scene.add_saccade(document)
                self.main_sequence.add(document)
            case SaccadeOnset():
                self.bands.begin(document)
            case Fixation():
                self.scene.add_fixation(document)
            case Blink():
                self.bands.add_blink(document)
                self.scene.add_blink(document)
            case Retraction():
                for part in (self.bands, self.scene, self.main_sequence):
                    part.retract(document.onset_us)
            case IntervalSettled():
                self._settle(document)
            case Posterior():
                self._take_posterior(document)
            case QualitySummary():
                self.summaries.append(document)
            case _:
                self._take_rare(document)

    def fill(self, snapshot: Sequence[Document], since: Sequence[Document] = ()) -> None:
        """Apply a snapshot of what was sent before; `since` is what arrived after its request.

        Everything shown of the run is rebuilt from both, except the traces and the notices of
        this run that are already logged.
        """
        runs = [document for document in snapshot if isinstance(document, RunStarted)]
        if not runs or any(isinstance(d, RunStarted) and d != runs[-1] for d in since):
            return  # no run, or one that has ended by now
        known = runs[-1] == self.run
        traces, bands = self.traces, self.bands
        self.traces, self.bands = TraceRing(), Bands()
        self._begin_run(runs[-1])
        self.traces, self.bands = traces, bands
        sent = set(snapshot)
        missed = [document for document in since if document not in sent]
        for document in (*snapshot, *missed):
            logged = known and isinstance(document, Notice | Quality)
            if not (logged or isinstance(document, RunStarted | GazeTrace)):
                self.apply(document)
        if self.traces.newest_us is not None:
            self._see_time(self.traces.newest_us)
        for part in (self.traces, self.bands):
            part.revision += 1

    def set_connection(self, connected: bool, now_s: float) -> None:
        """Set whether an engine is connected, and the current time."""
        self._now_s = now_s
        if connected != self.connected:
            self.connected = connected
            self._was_connected |= connected
            if not connected and self.stopped is None:
                self._note("warning", "Engine lost")
            elif connected and self.run is not None:
                self._note("info", "Engine reconnected")

    def set_playback(self, playback: Playback | None) -> None:
        """Set the progress of the replay; None if the session is not a replay."""
        was_paused = self.playback is not None and self.playback.paused
        self.playback = playback
        if playback is not None and playback.paused and not was_paused:
            self._note("info", "Paused")

    # -- output -------------------------------------------------------------------------------

    @property
    def ranking(self) -> Ranking | None:
        """The most probable viewers."""
        return None if self.posterior is None else ranking(self.posterior, self.model)

    @property
    def unit(self) -> Literal["image", "trial"]:
        """What the evidence is counted in: a recording may have trials without images."""
        return "trial" if self.trial is not None and self.trial.image is None else "image"

    @property
    def gauges(self) -> tuple[Gauge, ...]:
        """Gauges of data quality."""
        rate = self.summaries[-1].rate_asked_hz if self.summaries else 0.0
        return gauges(self.summaries, self.validations, self.elapsed_s * rate)

    @property
    def elapsed_s(self) -> float:
        """Tracker time since the first sample or event of this run seen here."""
        if self._first_us is None or self._latest_us is None:
            return 0.0
        return (self._latest_us - self._first_us) / 1e6

    @property
    def connection(self) -> Connection:
        """State of the connection to the engine."""
        if not self.connected and self.stopped is None:
            return without_engine(self._was_connected, self.source)
        return with_engine(
            has_run=self.run is not None,
            catching_up=self.catching_up,
            stopped=self.stopped,
            playback=self.playback,
            silent_s=self._now_s - self._last_document_s,
        )

    # -- documents ----------------------------------------------------------------------------

    def _take_trace(self, trace: GazeTrace) -> None:
        try:
            self.traces.append(trace)
        except TransportError as error:
            self._note("error", str(error))
            return
        self.threshold_deg_s = trace.threshold_deg_s
        newest_us = self.traces.newest_us
        self._see_time(trace.first_us if newest_us is None else newest_us, trace.first_us)

    def _take_posterior(self, posterior: Posterior) -> None:
        if not self.history.add(posterior):
            return  # older than the last one, or the same
        self.posterior = posterior
        self.slots.lead(posterior.leading[:N_SLOTS])
        self.posterior_revision += 1
        self._see_time(posterior.tracker_time_us)

    def _settle(self, settled: IntervalSettled) -> None:
        self.bands.settle(settled)
        self.main_sequence.settle(settled)
        if self.trial is not None and self.trial.trial == settled.trial:
            self.scene.settle(settled.fixations, settled.saccades, settled.blinks)

    def _take_rare(self, document: Document) -> None:
        match document:
            case RunStarted():
                self._take_run(document)
            case RunStopped():
                self.stopped = document.reason
                self.trial_open = False
                self._note("info", f"Run ended: {document.reason}")
            case ModelLoaded():
                self.model = document
                self.posterior_revision += 1
                self.history.revision += 1
                self.main_sequence.revision += 1
            case TrialStarted():
                self._take_trial(document)
            case TrialStopped():
                self.trial_open = False
            case Validated():
                self.validations = {**self.validations, document.eye: document}
            case Quality():
                level: Literal["info", "warning"] = (
                    "info" if document.kind == "summary" else "warning"
                )
                self._note(level, document.text)
            case Notice():
                self._note(document.level, document.text)

    def _take_run(self, run: RunStarted) -> None:
        if run == self.run and self.stopped is None:
            self._note("info", "The engine has restarted; the session continues")
            return
        self._begin_run(run)
        self._note("info", f"Run started: {run.session}")
        if run.protocol_version != PROTOCOL_VERSION:
            self._note(
                "error",
                f"The engine uses protocol version {run.protocol_version}, this dashboard "
                f"{PROTOCOL_VERSION}: use the same gazelive version for both",
            )

    def _begin_run(self, run: RunStarted) -> None:
        self._forget_run()
        self.run = run
        self.screen = ScreenView.of(run.stream)
        self.scene.revision += 1

    def _take_trial(self, trial: TrialStarted) -> None:
        before = self.trial
        if before is not None and self.trial_open and trial.trial == before.trial:
            self._learn_of_trial(trial)
            return
        if before is not None and trial.tracker_time_us < before.tracker_time_us:
            self._forget_evidence()  # the replay went back
        self.trial = trial
        self.trial_open = True
        self.scene.clear()
        self.main_sequence.begin_image(trial.tracker_time_us)
        self.history.begin_image(trial.image or trial.trial, trial.index)
        self._see_time(trial.tracker_time_us)

    def _learn_of_trial(self, trial: TrialStarted) -> None:
        """Update the current trial."""
        if trial != self.trial:
            self.trial = trial
            self.scene.begin_at(trial.tracker_time_us)
            self.main_sequence.begin_image(trial.tracker_time_us)

    def _forget_run(self) -> None:
        self.stopped = None
        self.summaries = deque(maxlen=SUMMARIES)
        self.validations = {}
        self._forget_evidence()

    def _forget_evidence(self) -> None:
        self.trial = None
        self.trial_open = False
        self.posterior = None
        self.threshold_deg_s = None
        self._first_us = None
        self._latest_us = None
        for part in (self.traces, self.bands, self.scene, self.main_sequence, self.history):
            part.clear()
        self.slots.clear()
        self.posterior_revision += 1

    def _see_time(self, tracker_time_us: int, first_us: int | None = None) -> None:
        first = tracker_time_us if first_us is None else first_us
        self._first_us = first if self._first_us is None else min(self._first_us, first)
        self._latest_us = max(self._latest_us or tracker_time_us, tracker_time_us)

    def _note(self, level: Literal["info", "warning", "error"], text: str) -> None:
        elapsed_s = None if self._first_us is None else self.elapsed_s
        self.log.add(level, text, elapsed_s)
