"""The engine's process: chunks in over PULL, documents out over PUB, requests answered.

It can be started before or after the experiment, and killed and started again: it reads missing
chunks from the session folder. All sockets take only the keys of the run file
(`gazelive.live.wire.runs`) and, for documents and requests, those of `--keys`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any, Literal

import zmq

from gazelive.clock import Clock, MonotonicClock
from gazelive.devices import ChunkSink
from gazelive.errors import GazeliveError, IncompleteError, RecordingError, TransportError
from gazelive.gaze import Notice, encode
from gazelive.live.engine.model import EngineModel, check_model_file, load_engine_model, warm_up
from gazelive.live.engine.session_run import SessionRun
from gazelive.live.engine.sinks import DocumentSink, NoticePrinter
from gazelive.live.settings import LiveSettings
from gazelive.live.wire.chunks import BlockEnded, RunEnded, WiredChunk
from gazelive.live.wire.control import ControlServer, Request, sentence
from gazelive.live.wire.device_control import DeviceLink
from gazelive.live.wire.keys import Context, Doorkeeper
from gazelive.live.wire.runs import Run, hold_run
from gazelive.live.wire.transport import FLOWING_MS, ChunkReceiver, DocumentPublisher
from gazelive.recordings import is_closed, is_session_folder, read_manifest
from gazelive.system import WriterLock, get_logger, log_to_file
from gazelive.wording import quoted

PATIENCE_MS = 50
"""Longest wait for a message in one turn of the loop."""
DISK_EVERY_S = 0.5
"""Interval of checks of the journal while all chunks arrive over the wire …"""
IDLE_DISK_EVERY_S = 0.1
"""… and while none arrive."""
MANIFEST_EVERY_S = 0.5
MOST_AT_ONCE = 200
"""Largest number of chunks received before requests are answered."""
FOR_THE_DEVICE = ("pause", "resume", "speed", "mark", "calibrate", "end")

State = Literal["waiting", "catching up", "live", "finished"]
Say = Callable[[str], None]
log = get_logger(__name__)


LOG_NAME = "engine.log"


class Engine:
    """Runs until the session is over or a request stops it."""

    def __init__(
        self,
        settings: LiveSettings,
        *,
        clock: Clock | None = None,
        load: Callable[[Path | None], EngineModel] | None = None,
        check_model: Callable[[Path], Path] = check_model_file,
        sinks: Sequence[DocumentSink] = (),
        chunk_sinks: Sequence[ChunkSink] = (),
        is_left_alone: Callable[[], bool] = lambda: False,
        say: Say = lambda _text: None,
    ) -> None:
        settings.check()
        self._settings = settings
        self._clock = clock or MonotonicClock()
        self._load = load or partial(
            load_engine_model, images=settings.images, terms=settings.terms
        )
        self._check_model = check_model
        self._sinks, self._chunk_sinks = sinks, chunk_sinks
        self._is_left_alone = is_left_alone
        self._say = say
        self._model = self._load(settings.model)
        warm_up(self._model)
        self._run: SessionRun | None = None
        self._stop_reason: str | None = None
        self._n_sent = 0
        """Chunks of the session according to the owner of the device, once it is over."""
        self._next_disk_s = self._next_manifest_s = self._next_requests_s = 0.0
        self._is_idle = True
        self._context: Context = zmq.Context()
        self._logging = ExitStack()
        self._doorkeeper: Doorkeeper | None = None
        self._holder = hold_run(settings.addresses, settings.folder, settings.keys)
        try:
            self._open_sockets()
        except BaseException:
            self._close()
            raise

    def _open_sockets(self) -> None:
        context, addresses, run = self._context, self._settings.addresses, self.run_info
        own, shared = run.binding, run.serving(self._settings.keys)
        for text in shared.damaged:
            self._say(f"warning: {text}")
        self._doorkeeper = Doorkeeper(context, own, shared)
        self._publisher = DocumentPublisher(context, addresses.documents, prepare=shared.secure)
        self._control = ControlServer(context, addresses.control, prepare=shared.secure)
        self._receiver = ChunkReceiver(context, addresses.chunks, prepare=own.secure)
        self._device = DeviceLink(context, addresses.device, prepare=run.recording.secure)
        self._poller = zmq.Poller()
        for socket in (self._control.socket, self._receiver.socket, self._device.socket):
            self._poller.register(socket, zmq.POLLIN)

    @property
    def run_info(self) -> Run:
        """Address, id and keys of the run."""
        return self._holder.run

    @property
    def state(self) -> State:
        """Its state."""
        if self._run is None:
            return "waiting"
        if self._run.is_finished:
            return "finished"
        return "live" if self._run.is_caught_up else "catching up"

    def run(self) -> str:
        """Run to the end; return why it ended.

        Raises `IncompleteError` if recorded samples were not analysed, or are still recorded.
        """
        self._say(f"Ready at {self._settings.address}.")
        try:
            while self._stop_reason is None:
                self.step(PATIENCE_MS)
                if self._is_left_alone() and not self._is_recorded():
                    self._stop_reason = "the process that started the engine is gone"
            if self._run is not None:
                self._run.finish(self._stop_reason, reads_on=False)
                self._check_complete(self._run, self._stop_reason)
            log.info("ended: %s", self._stop_reason)
            return self._stop_reason
        except BaseException as error:
            log.exception("failed")
            self._publish_end(error)
            raise
        finally:
            self._close()

    def step(self, patience_ms: int) -> None:
        """Process what has arrived, waiting for it at most `patience_ms`."""
        if self._run is None:
            # before answering: an engine that cannot analyse the session never reports ready
            self._look_for_session()
        flows = patience_ms > 0 and self._run is not None and not self._is_idle
        asked = not flows and self._is_asked(patience_ms)
        now_s = self._clock.now_s()
        if asked or now_s >= self._next_requests_s:
            self._next_requests_s = now_s + (FLOWING_MS if flows else PATIENCE_MS) / 1000
            self._answer_requests()
        if self._run is not None and not self._run.is_finished:
            self._receive(self._run, waits=flows)
            if not self._run.is_finished:
                self._read_disk(self._run)

    def _is_asked(self, patience_ms: int) -> bool:
        """Wait for any message; return whether it is a request or an answer."""
        ready = dict(self._poller.poll(patience_ms))
        return self._control.socket in ready or self._device.socket in ready

    # the session

    def _look_for_session(self) -> None:
        folder = self._settings.folder
        if not is_session_folder(folder):
            return
        self._say(f"Session {folder}.")
        self._logging.enter_context(log_to_file(folder / LOG_NAME))
        log.info("engine of %s with model %s", folder.name, self._settings.model)
        self._begin()

    def _begin(self) -> None:
        self._run = SessionRun(
            self._settings,
            self._model,
            sinks=(self._publisher, NoticePrinter(self._say), *self._sinks),
            chunk_sinks=self._chunk_sinks,
            clock=self._clock,
        )
        self._next_disk_s = 0.0

    def _check_complete(self, run: SessionRun, reason: str) -> None:
        """Raise if recorded chunks were not analysed, or more of them will come."""
        n_left = run.n_left()
        if n_left or run.next_chunk < self._n_sent or self._is_recorded():
            raise IncompleteError(
                f"{run.folder}: not all samples were analysed ({reason}): "
                f"analyse them with gazelive run --session {quoted(run.folder)}"
            )

    def _is_recorded(self) -> bool:
        """Return whether a process still records the session."""
        if self._run is None or is_closed(self._run.folder):
            return False
        try:
            WriterLock(self._run.folder).release()
        except RecordingError:
            return True
        return False

    def _receive(self, run: SessionRun, *, waits: bool) -> None:
        """Process received chunks; with `waits`, wait for the first."""
        self._is_idle = True
        for number in range(MOST_AT_ONCE):
            try:
                waiting = waits and number == 0
                wired = self._receiver.wait() if waiting else self._receiver.receive()
            except TransportError as error:
                notice = Notice(level="error", text=str(error))
                run.publish_once(type(error).__name__, notice)
                continue
            if wired is None:
                return
            self._is_idle = False
            if not run.is_of_session(wired):
                continue
            match wired:
                case WiredChunk():
                    run.take(wired)
                case BlockEnded():
                    run.end_block(wired)
                case RunEnded() if wired.next_chunk >= run.next_chunk:
                    self._n_sent = wired.next_chunk
                    self._finish(run, wired.reason)
                    return

    def _read_disk(self, run: SessionRun) -> None:
        now_s = self._clock.now_s()
        run.watch_disk()
        if now_s >= self._next_disk_s:
            was_caught_up = run.is_caught_up
            run.read_disk(self._meanwhile)
            if run.is_caught_up and not was_caught_up:
                self._say(f"Caught up with chunk {run.next_chunk}.")
            if self._stop_reason is not None or self._run is not run:
                return
            every_s = IDLE_DISK_EVERY_S if self._is_idle else DISK_EVERY_S
            self._next_disk_s = self._clock.now_s() + every_s
        if self._is_idle and now_s >= self._next_manifest_s:
            self._next_manifest_s = now_s + MANIFEST_EVERY_S
            manifest = read_manifest(run.folder)
            if manifest.finished_at is not None:
                self._finish(run, manifest.stop_reason or "finished")

    def _meanwhile(self) -> bool:
        """Answer requests now and then while the disk is read; return False to stop reading."""
        now_s = self._clock.now_s()
        if now_s >= self._next_requests_s:
            self._next_requests_s = now_s + PATIENCE_MS / 1000
            run = self._run
            self._answer_requests()
            return self._stop_reason is None and self._run is run
        return True

    def _finish(self, run: SessionRun, reason: str) -> None:
        run.finish(reason)
        run.close()
        self._say(f"The session is over: {reason}.")
        if not self._settings.stays:
            self._stop_reason = reason

    # requests

    def _answer_requests(self) -> None:
        for request in self._control.requests():
            try:
                self._answer(request)
            except (GazeliveError, OSError) as error:
                self._control.refuse(request, sentence(error))
        for request, answer in self._device.step(self._clock.now_s()):
            self._control.pass_on(request, answer)

    def _answer(self, request: Request) -> None:
        device = {key: self._device.status.get(key) for key in ("playback", "takes")}
        match request.command:
            case "status":
                self._control.answer(request, **self._status(), **device)
            case "snapshot":
                documents = [] if self._run is None else self._run.snapshot.documents
                encoded = [encode(document) for document in documents]
                self._control.answer(request, documents=encoded, **device)
            case "load model":
                self._load_model(request)
            case "stop":
                self._stop_reason = "stopped on request"
                self._control.answer(request)
            case command if command in FOR_THE_DEVICE:
                self._device.ask(request)
            case command:
                self._control.refuse(request, f"unknown request {command[:40]!r}")

    def _status(self) -> dict[str, Any]:
        run, model = self._run, self._model.running
        facts: dict[str, Any] = {
            "state": self.state,
            "process": os.getpid(),
            "folder": str(self._settings.folder),
            "model": None if model is None else model.name,
        }
        if run is not None:
            facts |= {
                "session": run.manifest.session,
                "next_chunk": run.next_chunk,
                "trial": run.pipeline.trial,
                "latency_p99_ms": run.latency_p99_ms,
            }
        return facts

    def _load_model(self, request: Request) -> None:
        path = request.arguments.get("model", "")
        if path is not None and (not isinstance(path, str) or "\0" in path or not path):
            raise TransportError("`load model` takes the path of a model, or null for none")
        if self._run is not None and self._run.is_finished:
            raise RecordingError("the session is over", path=self._run.folder)
        model = self._load(None if path is None else self._check_model(Path(path)))
        stream = None if self._run is None else self._run.stream
        if stream is not None and model.running is not None:
            model.running.check_rate(
                stream.sampling_rate_hz
            )  # a model that does not fit changes nothing
        warm_up(model)
        self._model = model
        if self._run is not None:
            # from the first chunk, so that the new model sees all of the session
            self._run.close()
            self._begin()
        self._control.answer(request)

    # the end

    def _publish_end(self, error: BaseException) -> None:
        """Publish why the engine ended."""
        reason = "stopped" if isinstance(error, KeyboardInterrupt) else str(error)
        if self._run is not None and isinstance(error, (Exception, KeyboardInterrupt)):
            level: Literal["info", "error"] = (
                "info" if isinstance(error, KeyboardInterrupt) else "error"
            )
            self._run.publish(Notice(level=level, text=f"The engine has ended: {reason}"))

    def _close(self) -> None:
        if self._run is not None:
            self._run.close()
        for name in ("_publisher", "_control", "_receiver", "_device"):
            part = getattr(self, name, None)
            if part is not None:
                part.close()
        if self._doorkeeper is not None:
            self._doorkeeper.close()
        self._context.term()
        self._holder.close()
        self._logging.close()
