"""The device's thread: makes every call to the tracker while it records.

The experiment's thread is bound to the screen's frames and must never wait for a tracker, so it
submits tasks here, with the times they refer to. Data from the tracker go to disk, then to the
triggers, the engine and the fixation gate. Between blocks the device can be lent to the
experiment's thread, which owns the window that a calibration needs.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import ExitStack
from typing import Protocol, TypeVar

from gazelive.clock import Clock
from gazelive.devices import (
    ChunkSink,
    ControlsPlayback,
    CrossStimulus,
    GazeDevice,
    HasHostMenu,
    HostRequest,
    ImageStimulus,
    Recorder,
    SeesStimulus,
    SendsMessages,
)
from gazelive.errors import DeviceError
from gazelive.experiment.protocol.gate import FixationGate
from gazelive.gaze import Chunk, Message, StreamDescription
from gazelive.recordings import SessionWriter
from gazelive.system import get_logger
from gazelive.triggers import Triggers

T = TypeVar("T")
log = get_logger(__name__)

READING_S, TRIGGER_READING_S = 0.004, 0.001
"""Longest wait for the tracker's samples, and so of a task; with triggers every sample counts."""
SILENCE_S = 1.0
"""A tracker that records and sends no sample for so long is reported."""
IDLE_S = 0.02
PATIENCE_S = 30.0
"""Longest start or stop of a tracker."""


class Sender(Protocol):
    """Sends chunks to the engine (`ChunkSender`)."""

    def __call__(self, chunk: Chunk, stream: StreamDescription) -> None:
        """Send a chunk that is on disk."""
        ...

    def end_block(self) -> None:
        """Mark the end of a block."""
        ...

    def end_run(self, reason: str) -> None:
        """Mark the end of the run."""
        ...


class Server(Protocol):
    """Answers the requests of dashboards (`OwnerLines`)."""

    @property
    def is_stopped(self) -> bool:
        """True after a request to end the session."""
        ...

    def serve(self) -> None:
        """Answer the requests that have come; never wait."""
        ...

    def take_calibration_request(self) -> bool:
        """Return, once and in any thread, whether a calibration was requested."""
        ...


class DeviceThread:
    """Owns a device for as long as a session lasts.

    `turn` is one round of its loop; `open` runs the loop in a thread of its own (tests, which
    have a manual clock, call `turn` themselves).
    """

    def __init__(
        self,
        device: GazeDevice,
        writer: SessionWriter,
        *,
        clock: Clock,
        sender: Sender | None = None,
        server: Server | None = None,
        triggers: Triggers | None = None,
    ) -> None:
        self.device = device
        self._triggers = triggers
        self._reading_s = READING_S if triggers is None else TRIGGER_READING_S
        self._sender = sender
        self._server = server
        self._clock = clock
        sinks: list[ChunkSink | None] = [
            None if triggers is None else triggers.take,
            sender,
            self._watch,
        ]
        given = [sink for sink in sinks if sink is not None]
        self._recorder = Recorder(device, writer, given, clock=clock)
        if triggers is not None:
            triggers.host_time_s = self._recorder.host_time_s
        self._tasks: queue.SimpleQueue[tuple[Callable[[], object], Future[object]]] = (
            queue.SimpleQueue()
        )
        self._gate: FixationGate | None = None
        self.reached_us = 0
        """The tracker's time of the newest sample or message that has come."""
        self.has_finished = False
        """True once the device has no more, as a replay at its end."""
        self._menu = device if isinstance(device, HasHostMenu) else None
        self._host_request: HostRequest | None = None
        self._started = self._recording = False
        self._heard_s = 0.0
        """When the last sample came, or the block began."""
        self._heard_us: int | None = None
        """The tracker's time of that sample."""
        self._is_silent = False
        self._thread: threading.Thread | None = None
        self._failure: BaseException | None = None
        self._closing = False

    # the experiment's side

    def open(self) -> None:
        """Begin to work in a thread of its own."""
        self._thread = threading.Thread(target=self._work, name="tracker", daemon=True)
        self._thread.start()

    def check(self) -> None:
        """Raise what went wrong in the tracker's thread, if anything did."""
        if self._failure is not None:
            raise self._failure

    @property
    def is_stop_wanted(self) -> bool:
        """True after a dashboard's request to stop."""
        return self._server is not None and self._server.is_stopped

    def take_calibration_request(self) -> bool:
        """Return, once, whether a dashboard asks for a calibration."""
        return self._server is not None and self._server.take_calibration_request()

    def take_host_request(self) -> HostRequest | None:
        """Return, once, the choice made at the tracker's own computer."""
        request, self._host_request = self._host_request, None
        return request

    def start_block(self) -> None:
        """Begin to record; returns once the tracker does."""
        self._call(self._start_block)

    def stop_block(self, *last_words: str) -> None:
        """Stop recording, save and send the rest; then send the messages `last_words`."""
        self._call(lambda: self._stop_block(last_words))

    def say(self, text: str, at_s: float | None = None) -> None:
        """Send a message that is true of now, or of `at_s` on the host's clock; never waits."""
        when_s = self._clock.now_s() if at_s is None else at_s
        self._submit(lambda: self._say(text, when_s))

    def note(self, message: Message) -> None:
        """Put a message into the session that the tracker's own file has already."""
        self._submit(lambda: self._recorder.note(message))

    def show(self, stimulus: CrossStimulus | ImageStimulus) -> None:
        """Show a stimulus to a simulated viewer; never wait."""
        device = self.device
        if isinstance(device, SeesStimulus):
            self._submit(lambda: device.show(stimulus))

    def hide(self) -> None:
        """Blank the screen of a simulated viewer; never wait."""
        device = self.device
        if isinstance(device, SeesStimulus):
            self._submit(device.hide)

    def watch(self, gate: FixationGate) -> None:
        """Pass all samples from now on to a gate; never waits."""

        def begin() -> None:
            gate.from_us = self.device.tracker_time_us()
            self._gate = gate

        self._submit(begin)

    def lend(self, use: Callable[[], T]) -> T:
        """Run `use` in the calling thread; the device must not be recording."""
        if self._thread is None:
            return use()
        returned = threading.Event()
        lent = threading.Event()

        def wait() -> None:
            lent.set()
            returned.wait()

        waiting = self._submit(wait)
        try:
            while not lent.wait(IDLE_S):
                self.check()
            return use()
        finally:
            returned.set()
            waiting.result(PATIENCE_S)

    def close(self, reason: str) -> None:
        """Stop, save everything and write why it ended; a second call does nothing."""
        if self._closing:
            return
        self._closing = True
        if self._thread is not None:
            self._join(self._thread)
        with ExitStack() as steps:  # the last one first, and each whatever became of the others
            if self._sender is not None:
                steps.callback(self._sender.end_run, reason)
            steps.callback(self._recorder.finish, reason)
            steps.callback(self._recorder.rescue)  # after an orderly end there is nothing left
            if self._failure is None:
                self._wind_up()

    def _join(self, thread: threading.Thread) -> None:
        thread.join(PATIENCE_S)
        if thread.is_alive():
            raise DeviceError("the tracker no longer answers: switch it off and on")

    def _wind_up(self) -> None:
        if self._recording:
            self._stop_block(())
        self._run_tasks()
        if self._started:
            self._recorder.drain()

    # the tracker's side

    def turn(self) -> None:
        """Run the submitted tasks, then read the tracker."""
        self._run_tasks()
        if self._recording:
            self._listen(self._recorder.step(self._reading_s))
            if self._menu is not None:
                self._host_request = self._menu.take_host_request() or self._host_request
            self.has_finished = self.device.finished
        elif self._started:
            self._recorder.drain()
        if self._server is not None:
            self._server.serve()

    def _listen(self, chunk: Chunk | None) -> None:
        """Report once if no samples come; a playback may be paused."""
        now_s = self._clock.now_s()
        if isinstance(self.device, ControlsPlayback):
            return
        if chunk is not None and len(chunk.samples):
            self._heard_s, self._is_silent = now_s, False
            self._heard_us = int(chunk.samples["tracker_time_us"][-1])
        elif not self._is_silent and now_s > self._heard_s + SILENCE_S:
            self._is_silent = True
            text = f"no samples for {SILENCE_S:g} s: look at the tracker's screen and its cable"
            self._recorder.report("lost_samples", text, self._heard_us)

    def _work(self) -> None:
        try:
            while not self._closing:
                self.turn()
                is_idle = not self._recording or self.has_finished
                if is_idle and self._tasks.empty():
                    self._clock.sleep_until_s(self._clock.now_s() + IDLE_S)
        except BaseException as error:
            log.exception("the device failed")
            self._failure = error
            self._fail_tasks(error)
            if self._triggers is not None:
                self._triggers.close()  # who waits for one learns of the failure

    def _submit(self, task: Callable[[], T]) -> Future[T]:
        self.check()
        future: Future[T] = Future()
        self._tasks.put((task, future))  # type: ignore[arg-type]
        if self._failure is not None:  # meanwhile: the thread no longer runs tasks
            self._fail_tasks(self._failure)
        return future

    def _call(self, task: Callable[[], T]) -> T:
        """Submit a task and wait for its result."""
        future = self._submit(task)
        if self._thread is None:
            self._run_tasks()
        return self._result(future)

    def _result(self, future: Future[T]) -> T:
        try:
            return future.result(PATIENCE_S)
        except TimeoutError:
            self.check()
            raise DeviceError("the tracker does not answer: look at its own screen") from None

    def _run_tasks(self) -> None:
        while not self._tasks.empty():
            task, future = self._tasks.get()
            try:
                future.set_result(task())
            except BaseException as error:
                if self._thread is not None:
                    self._failure = error  # before the caller gets the exception
                future.set_exception(error)
                raise

    def _fail_tasks(self, error: BaseException) -> None:
        while not self._tasks.empty():
            _, future = self._tasks.get()
            future.set_exception(error)

    def _start_block(self) -> None:
        self.device.start()
        self._heard_s, self._heard_us, self._is_silent = self._clock.now_s(), None, False
        log.info("recording starts")
        self._started = self._recording = True

    def _stop_block(self, last_words: tuple[str, ...]) -> None:
        self.device.stop()
        log.info("recording stops")
        self._recording = False
        self._gate = None
        for text in last_words:
            self._say(text, self._clock.now_s())
        self._recorder.drain()
        if self._sender is not None:
            self._sender.end_block()

    def _say(self, text: str, at_s: float) -> None:
        if isinstance(self.device, SendsMessages):
            self.device.send_message(text, at_s)

    def _watch(self, chunk: Chunk, stream: StreamDescription) -> None:
        """Pass a chunk, stored and sent already, to the gate."""
        del stream
        gate = self._gate
        if gate is not None:
            gate.push(chunk.samples)
        times_us = [message.tracker_time_us for message in chunk.messages]
        if len(chunk.samples):
            times_us.append(int(chunk.samples["tracker_time_us"][-1]))
        self.reached_us = max([self.reached_us, *times_us])
