"""The tracker's desk: the one thread that makes every call to the device while it records.

The experiment's thread lives by the screen's frames and must never wait for a tracker, so it
leaves its wishes here and says when they were true. What comes from the tracker goes to disk,
then to the engine, then to the fixation gate. Between blocks the device can be lent to the
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
from gazelive.devices.protocol import (
    CrossStimulus,
    GazeDevice,
    HasHostMenu,
    HostRequest,
    ImageStimulus,
    SeesStimulus,
    SendsMessages,
)
from gazelive.devices.recorder import ChunkSink, Recorder
from gazelive.errors import DeviceError
from gazelive.experiment.gate import FixationGate
from gazelive.gaze.stream import Chunk, Message, StreamDescription
from gazelive.recordings.session_folder import SessionWriter

T = TypeVar("T")

READING_S = 0.004
"""How long a wish may have to wait for the tracker's samples."""
IDLE_S = 0.02
PATIENCE_S = 30.0
"""How long a tracker may take to start or stop before it is given up."""


class Sender(Protocol):
    """What carries chunks to the engine (`engine.transport.ChunkSender`)."""

    def __call__(self, chunk: Chunk, stream: StreamDescription) -> None:
        """Send a chunk that is on disk."""
        ...

    def end_block(self) -> None:
        """Say that the device has stopped and all it had was sent."""
        ...

    def end_run(self, reason: str) -> None:
        """Say that the session is closed."""
        ...


class Server(Protocol):
    """What answers the requests of dashboards (`engine.device_control.DeviceControl`)."""

    is_stopped: bool

    def serve(self) -> None:
        """Answer what has been asked; never waits."""
        ...


class Desk:
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
    ) -> None:
        self.device = device
        self._sender = sender
        self._server = server
        self._clock = clock
        sinks: list[ChunkSink] = [self._watch] if sender is None else [sender, self._watch]
        self._recorder = Recorder(device, writer, sinks, clock=clock)
        self._wishes: queue.SimpleQueue[tuple[Callable[[], object], Future[object]]] = (
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
        """True once a dashboard asked for the end."""
        return self._server is not None and self._server.is_stopped

    def take_host_request(self) -> HostRequest | None:
        """Return once what somebody chose at the tracker's own computer."""
        request, self._host_request = self._host_request, None
        return request

    def start_block(self) -> None:
        """Begin to record; returns once the tracker does."""
        self._do(self._start_block)

    def stop_block(self, *last_words: str) -> None:
        """Stop recording, save and send what is left; `last_words` are said after it."""
        self._do(lambda: self._stop_block(last_words))

    def say(self, text: str, at_s: float | None = None) -> None:
        """Send a message that is true of now, or of `at_s` on the host's clock; never waits."""
        when_s = self._clock.now_s() if at_s is None else at_s
        self._wish(lambda: self._say(text, when_s))

    def note(self, message: Message) -> None:
        """Put a message into the session that the tracker's own file has already."""
        self._wish(lambda: self._recorder.note(message))

    def show(self, stimulus: CrossStimulus | ImageStimulus) -> None:
        """Tell a simulated viewer what is on the screen; never waits."""
        device = self.device
        if isinstance(device, SeesStimulus):
            self._wish(lambda: device.show(stimulus))

    def hide(self) -> None:
        """Tell a simulated viewer that the screen is blank; never waits."""
        device = self.device
        if isinstance(device, SeesStimulus):
            self._wish(device.hide)

    def watch(self, gate: FixationGate) -> None:
        """Let a gate see all samples from now on; never waits."""

        def begin() -> None:
            gate.from_us = self.device.tracker_time_us()
            self._gate = gate

        self._wish(begin)

    def lend(self, use: Callable[[], T]) -> T:
        """Let the calling thread use the device, which must not be recording."""
        if self._thread is None:
            return use()
        returned = threading.Event()
        lent = threading.Event()

        def wait() -> None:
            lent.set()
            returned.wait()

        waiting = self._wish(wait)
        try:
            while not lent.wait(IDLE_S):
                self.check()
            return use()
        finally:
            returned.set()
            waiting.result(PATIENCE_S)

    def close(self, reason: str) -> None:
        """Stop, save everything, say why it ended; also after a failure, and twice is fine."""
        if self._closing:
            return
        self._closing = True
        if self._thread is not None:
            self._thread.join(PATIENCE_S)
            if self._thread.is_alive():
                raise DeviceError("the tracker does not answer any more: switch it off and on")
        with ExitStack() as steps:  # the last one first, and each whatever became of the others
            if self._sender is not None:
                steps.callback(self._sender.end_run, reason)
            steps.callback(self._recorder.finish, reason)
            steps.callback(self._recorder.rescue)  # after an orderly end there is nothing left
            if self._failure is None:
                self._wind_up()

    def _wind_up(self) -> None:
        if self._recording:
            self._stop_block(())
        self._run_wishes()
        if self._started:
            self._recorder.drain()

    # the tracker's side

    def turn(self) -> None:
        """Do what is wished, then take what the tracker has."""
        self._run_wishes()
        if self._recording:
            self._recorder.step(READING_S)
            if self._menu is not None:
                self._host_request = self._menu.take_host_request() or self._host_request
            self.has_finished = self.device.finished
        elif self._started:
            self._recorder.drain()
        if self._server is not None:
            self._server.serve()

    def _work(self) -> None:
        try:
            while not self._closing:
                self.turn()
                if not self._recording and self._wishes.empty():
                    self._clock.sleep_until_s(self._clock.now_s() + IDLE_S)
        except BaseException as error:
            self._failure = error
            self._refuse_wishes(error)

    def _wish(self, wish: Callable[[], T]) -> Future[T]:
        self.check()
        future: Future[T] = Future()
        self._wishes.put((wish, future))  # type: ignore[arg-type]
        if self._failure is not None:  # meanwhile, so that nobody looks at wishes any more
            self._refuse_wishes(self._failure)
        return future

    def _do(self, wish: Callable[[], T]) -> T:
        """Wish for something and wait for it."""
        future = self._wish(wish)
        if self._thread is None:
            self._run_wishes()
        try:
            return future.result(PATIENCE_S)
        except TimeoutError:
            self.check()
            raise DeviceError("the tracker does not answer: look at its own screen") from None

    def _run_wishes(self) -> None:
        while not self._wishes.empty():
            wish, future = self._wishes.get()
            try:
                future.set_result(wish())
            except BaseException as error:
                future.set_exception(error)
                raise

    def _refuse_wishes(self, error: BaseException) -> None:
        while not self._wishes.empty():
            _, future = self._wishes.get()
            future.set_exception(error)

    def _start_block(self) -> None:
        self.device.start()
        self._started = self._recording = True

    def _stop_block(self, last_words: tuple[str, ...]) -> None:
        self.device.stop()
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
        """Look at what is on disk and sent."""
        del stream
        gate = self._gate
        if gate is not None:
            gate.push(chunk.samples)
        times_us = [message.tracker_time_us for message in chunk.messages]
        if len(chunk.samples):
            times_us.append(int(chunk.samples["tracker_time_us"][-1]))
        self.reached_us = max([self.reached_us, *times_us])
