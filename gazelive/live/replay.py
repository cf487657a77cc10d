"""Replay: a recording played through the live path, with this process as the owner of the device.

Everything else is as in the lab: the session folder on disk, the engine, the dashboard.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from gazelive.clock import Clock, MonotonicClock
from gazelive.detection import check_rate
from gazelive.devices import PATIENCE_S, GazeDevice, Recorder, ReplayDevice
from gazelive.errors import RecordingError, TransportError
from gazelive.gaze import ScreenGeometry
from gazelive.identification import Manifest as ModelManifest
from gazelive.live.engine.documents_file import read_documents
from gazelive.live.session import MOST_STARTS, LiveSession
from gazelive.live.settings import LiveSettings
from gazelive.live.summary import RunSummary, summarise
from gazelive.live.wire.owner import OwnerLines
from gazelive.live.wire.runs import Run
from gazelive.observer import Observer
from gazelive.recordings import (
    DOCUMENTS_NAME,
    GeometryFlags,
    Recording,
    SessionManifest,
    SessionWriter,
    damage,
    find_geometry,
    manifest_of,
    new_session_id,
    read_recording,
    screen_in_corpus,
    sentences,
    trials_not_found,
    with_one_resolution,
)
from gazelive.system import killed_in_order

CATCH_UP_S = 3600.0
"""Longest wait for an engine that is slower than the replay."""


@dataclass(frozen=True)
class Replayed:
    """Outcome of a replay."""

    folder: Path
    summary: RunSummary
    recorded_s: float
    played_s: float
    """Time from the first sample to the end of the analysis."""
    elapsed_s: float
    """With the start of the engine."""
    was_interrupted: bool = False

    @property
    def documents(self) -> Path:
        """The file of the engine's documents."""
        return self.folder / DOCUMENTS_NAME

    def as_json(self) -> dict[str, Any]:
        """Return it as plain values."""
        return self.summary.as_json() | {
            "folder": str(self.folder),
            "documents": str(self.documents),
            "recorded_s": self.recorded_s,
            "played_s": self.played_s,
            "elapsed_s": self.elapsed_s,
        }


def replay_recording(
    path: Path,
    settings: LiveSettings,
    *,
    speed: float | None,
    model: ModelManifest | None,
    observer: Observer,
) -> Replayed:
    """Play the recording at `path`; `speed` is times real time, None as fast as possible.

    `model` describes the model file of the settings, which only the engine loads. Nothing is
    written if the recording cannot be analysed. An interrupt ends the session in order.
    """
    settings.check()
    with observer.progress(f"Reading {path.name}") as report:
        recording = read_recording(path, trial_patterns=settings.patterns, progress=report)
    for sentence in sentences(damage(recording)):
        observer.warn(sentence)
    no_trials = trials_not_found(recording, settings.patterns)
    if no_trials is not None:
        observer.warn(f"{recording.path}: {no_trials}")
    geometry = _checked_geometry(recording, path, settings.geometry, model, observer)
    settings = msgspec.structs.replace(settings, geometry=geometry)
    started_s = time.monotonic()
    timer = _Timer()
    was_interrupted = False
    try:
        _play(with_one_resolution(recording), settings, speed, timer, observer)
    except KeyboardInterrupt:
        if not (settings.folder / DOCUMENTS_NAME).is_file():
            raise
        was_interrupted = True
    return Replayed(
        folder=settings.folder,
        summary=summarise(read_documents(settings.folder / DOCUMENTS_NAME)),
        recorded_s=recording.duration_s,
        played_s=timer.seconds(),
        elapsed_s=time.monotonic() - started_s,
        was_interrupted=was_interrupted,
    )


def _checked_geometry(
    recording: Recording,
    path: Path,
    flags: GeometryFlags,
    model: ModelManifest | None,
    observer: Observer,
) -> GeometryFlags:
    """Raise if the recording cannot be analysed; return the screen's geometry as flags."""
    blocks = [block for block in recording.blocks if len(block.samples)]
    if not blocks:
        raise RecordingError("has no samples to replay", path=path)
    corpus_screen = screen_in_corpus(path)
    found = [find_geometry(block, recording, flags, corpus_screen) for block in blocks]
    warnings = {one.source: one.warning for one in reversed(found) if one.warning is not None}
    for warning in warnings.values():
        observer.warn(f"{path}: {warning}")
    for rate_hz in dict.fromkeys(block.stream.sampling_rate_hz for block in blocks):
        check_rate(rate_hz)
        if model is not None:
            model.check_rate(rate_hz)
    geometry = found[0].geometry
    if found[0].source == "corpus" and isinstance(geometry, ScreenGeometry):
        return GeometryFlags.of(geometry)
    return flags


class _Timer:
    """Seconds between `start` and `stop`, or until now."""

    def __init__(self) -> None:
        self._start_s: float | None = None
        self._stop_s: float | None = None

    def start(self) -> None:
        self._start_s = time.monotonic()

    def stop(self) -> None:
        self._stop_s = time.monotonic()

    def seconds(self) -> float:
        if self._start_s is None:
            return 0.0
        return (self._stop_s or time.monotonic()) - self._start_s


def _play(
    recording: Recording,
    settings: LiveSettings,
    speed: float | None,
    timer: _Timer,
    observer: Observer,
) -> None:
    """Play the recording to its end, then wait for the engine and for the dashboard's user."""
    clock = MonotonicClock()
    device = ReplayDevice(recording, clock=clock, speed=speed)
    with (
        killed_in_order(),
        SessionWriter.create(settings.folder, _manifest(recording)) as writer,
        LiveSession(settings, observer) as live,
    ):

        def keep_alive() -> None:
            if not live.keep_alive():
                raise TransportError(f"the engine died {MOST_STARTS} times: the replay was stopped")

        live.engine.wait_ready()
        observer.say(f"Playing to {settings.folder} (engine at {settings.address}).")
        timer.start()
        with observer.progress("Replaying") as report:

            def meanwhile() -> None:
                keep_alive()
                playback = device.playback()
                report(playback.position_s / max(playback.duration_s, 1e-9))

            run_device(device, writer, live.run, clock=clock, meanwhile=meanwhile)
        with observer.progress("Analysing") as report:
            if not live.settle(CATCH_UP_S, n_chunks=writer.next_chunk, report=report):
                keep_alive()
                raise TransportError("the engine does not come to an end")
        timer.stop()
        if settings.dashboard is not None:
            observer.say("The recording is over; close the dashboard to end.")
            live.wait_for_dashboard()


def _manifest(recording: Recording) -> SessionManifest:
    return msgspec.structs.replace(
        manifest_of(
            recording,
            started_at=datetime.now().astimezone().isoformat(timespec="seconds"),
            config={"replay_of": str(recording.path), "n_trials": len(recording.trials) or None},
        ),
        id=new_session_id(),
        mode="identify",
        calibrations=(),  # they come as messages, as in a live session
        drift_corrections=(),
    )


def run_device(
    device: GazeDevice,
    writer: SessionWriter,
    run: Run,
    *,
    clock: Clock,
    meanwhile: Callable[[], None] = lambda: None,
) -> str:
    """Record one run of a device until its end or a request to stop; return the reason.

    Every chunk is on disk before it is sent to the engine. `meanwhile` is called again and again.
    The device is stopped and the session closed with the reason also if something fails: then with
    the failure, which is raised.
    """
    lines = OwnerLines(run, device, writer.manifest.id)
    sender = lines.sender
    recorder = Recorder(device, writer, [sender], clock=clock)
    try:
        with writer:
            try:
                device.start()
                while not (device.finished or lines.is_stopped):
                    recorder.step(PATIENCE_S / 2)
                    lines.serve()
                    meanwhile()
                device.stop()
                recorder.drain()
            except BaseException:
                recorder.rescue()
                raise
            reason = "stopped on request" if lines.is_stopped else "end of the recording"
            recorder.finish(reason)
        sender.end_run(reason)
        return reason
    finally:
        lines.close()
