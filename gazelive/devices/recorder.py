"""From a device to disk, and only then to whoever else wants the chunks."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import replace

from gazelive.clock import Clock
from gazelive.devices.clock_fit import ClockQueries
from gazelive.devices.protocol import ControlsPlayback, GazeDevice
from gazelive.errors import GazeliveError
from gazelive.gaze.samples import empty_samples
from gazelive.gaze.stream import Chunk, Message, StreamDescription
from gazelive.recordings.journal import Notes
from gazelive.recordings.session_folder import SessionWriter

ChunkSink = Callable[[Chunk, StreamDescription], None]
"""Takes a chunk that is on disk and the description of its block; must not block for long."""

PATIENCE_S = 0.1
"""How long a device may keep the loop from noticing that it should stop."""


class Recorder:
    """Moves chunks from a device into a session folder and then on to the sinks.

    For a loop that has more to do than recording; `record` is the loop that has not. Chunks and
    blocks are numbered as the session needs it, also where it is resumed.
    """

    def __init__(
        self,
        device: GazeDevice,
        writer: SessionWriter,
        sinks: Sequence[ChunkSink] = (),
        *,
        clock: Clock,
    ) -> None:
        self._device = device
        self._writer = writer
        self._sinks = sinks
        self._clock = clock
        self._notes: list[Message] = []
        self._device_block: int | None = None
        self._block = 0
        self._stream = device.describe()
        # what plays back has a time, but no clock that could drift
        self._queries = None if isinstance(device, ControlsPlayback) else ClockQueries(clock)

    def step(self, timeout_s: float) -> Chunk | None:
        """Move what comes within `timeout_s`; return it as it was written, or None."""
        chunk = self._save(timeout_s)
        if chunk is not None:
            for sink in self._sinks:
                sink(chunk, self._stream)
        if self._queries is not None:
            self._queries.ask(self._device)
        return chunk

    def note(self, message: Message) -> None:
        """Put a message into the session and to the sinks that the tracker's own file has already.

        It goes with the next chunk, or with one of its own at the next `drain`.
        """
        self._notes.append(message)

    def _save(self, timeout_s: float) -> Chunk | None:
        chunk = self._device.read_chunk(timeout_s)
        if chunk is None:
            return self._save_notes()
        if chunk.block != self._device_block:
            self._stream = self._device.describe()
            self._block = self._writer.start_block(self._stream)
            self._device_block = chunk.block
        return self._write(chunk)

    def _save_notes(self) -> Chunk | None:
        """Write notes by themselves, unless no block has begun: then they wait for the first."""
        if not self._notes or self._device_block is None:
            return None
        return self._write(Chunk(0, self._block, empty_samples(0), (), self._clock.now_s()))

    def _write(self, chunk: Chunk) -> Chunk:
        messages = chunk.messages
        if self._notes:
            both = (*messages, *self._notes)
            messages = tuple(sorted(both, key=lambda message: message.tracker_time_us))
            self._notes.clear()
        chunk = replace(chunk, number=self._writer.next_chunk, block=self._block, messages=messages)
        self._writer.append(chunk)
        return chunk

    def drain(self) -> None:
        """Move what is left after the device was stopped."""
        while self.step(0.0) is not None:
            pass

    def finish(self, reason: str) -> None:
        """Store how the clocks ran and close the session, for `reason`."""
        if self._notes:  # no block has ever begun that could have taken them
            self._writer.append_notes(Notes(messages=tuple(self._notes)))
            self._notes.clear()
        try:
            self._store_clock_fit()
        finally:
            self._writer.close(reason)

    def rescue(self) -> None:
        """Stop the device after an error and save what can be, without the sinks.

        It raises no `GazeliveError`: what fails now fails because of the error before, which is
        the one to tell. The session remains to be closed.
        """
        for save in (self._device.stop, self._save_rest, self._store_clock_fit):
            with contextlib.suppress(GazeliveError):
                save()

    def _save_rest(self) -> None:
        while self._save(0.0) is not None:
            pass

    def _store_clock_fit(self) -> None:
        fit = self._queries.fit() if self._queries is not None else None
        if fit is not None:
            self._writer.update(clock_fit=fit)


def record(
    device: GazeDevice,
    writer: SessionWriter,
    sinks: Sequence[ChunkSink] = (),
    *,
    clock: Clock,
    should_stop: Callable[[], bool] = lambda: False,
) -> str:
    """Record one run until the device has no more or `should_stop`; return why it ended.

    The device is stopped and the session closed with the reason, also when something fails:
    then with that failure as the reason, which is raised.
    """
    recorder = Recorder(device, writer, sinks, clock=clock)
    with writer:
        try:
            device.start()
            while not (device.finished or should_stop()):
                recorder.step(PATIENCE_S)
            reason = "the device had no more" if device.finished else "stopped"
            device.stop()
            recorder.drain()
        except BaseException:
            recorder.rescue()
            raise
        recorder.finish(reason)
    return reason
