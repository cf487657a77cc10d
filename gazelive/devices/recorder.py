"""Recorder: from a device to disk, and only then to other consumers of the chunks.

It also asks the tracker for its time now and then. Two quartz clocks differ by some ten parts in a
million, a millisecond every minute or two, so an offset measured once does not hold for a session.
"""

from __future__ import annotations

import contextlib
from array import array
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from gazelive.clock import Clock
from gazelive.devices.protocol import ControlsPlayback, GazeDevice
from gazelive.errors import GazeliveError
from gazelive.gaze import (
    Chunk,
    Kind,
    Message,
    StreamDescription,
    empty_samples,
    in_time_order,
    quality_message,
)
from gazelive.recordings import ClockFit, Notes, SessionWriter

QUERY_INTERVAL_S = 1.0
BEST_QUERY_S = 20e-6
"""Least uncertainty of a query."""
N_RECENT = 5
"""Within so many queries the clocks drift apart by less than the uncertainty of one."""
JUMP_S = 0.5
"""A larger step of one clock against the other is no drift: a computer slept, or was set."""
STALL_S = 1.0
"""A disk that takes longer for a chunk is reported."""


class ClockQueries:
    """Queries a device's time periodically, and fits a line through the answers."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        # arrays: a day has 86,400 answers, and as lists they would take 10 MB
        self._host_s = array("d")
        self._tracker_us = array("d")
        self._uncertainty_s = array("d")

    def ask(self, device: GazeDevice) -> float:
        """Query the device's time if the last answer is `QUERY_INTERVAL_S` old.

        Return by how much the clocks have jumped apart since then, 0 if they have not. The line
        begins anew there.
        """
        before_s = self._clock.now_s()
        if self._host_s and before_s < self._host_s[-1] + QUERY_INTERVAL_S:
            return 0.0
        tracker_us = device.tracker_time_us()
        after_s = self._clock.now_s()
        host_s = (before_s + after_s) / 2
        uncertainty_s = max((after_s - before_s) / 2, BEST_QUERY_S)
        expected_s = self.host_time_s(tracker_us)
        jump_s = 0.0 if expected_s is None else abs(host_s - expected_s)
        if jump_s <= JUMP_S + uncertainty_s:
            jump_s = 0.0
        else:
            for answers in (self._host_s, self._tracker_us, self._uncertainty_s):
                del answers[:]
        self._host_s.append(host_s)
        self._tracker_us.append(tracker_us)
        self._uncertainty_s.append(uncertainty_s)
        return jump_s

    def host_time_s(self, tracker_us: int) -> float | None:
        """Return the host's time of a tracker time, by the surest of the last answers."""
        recent = range(max(0, len(self._host_s) - N_RECENT), len(self._host_s))
        if not recent:
            return None
        best = min(recent, key=self._uncertainty_s.__getitem__)
        return self._host_s[best] + (tracker_us - self._tracker_us[best]) / 1e6

    def fit(self) -> ClockFit | None:
        """Return the line through the answers; quick answers weigh more. None if too few."""
        n = len(self._host_s)
        if n < 2:
            return None
        host_reference_s, tracker_reference_us = self._host_s[0], self._tracker_us[0]
        host_s = np.array(self._host_s) - host_reference_s
        tracker_us = np.array(self._tracker_us, np.int64) - tracker_reference_us
        weights = 1.0 / np.array(self._uncertainty_s)
        line = np.polynomial.Polynomial.fit(host_s, tracker_us, 1, w=weights)
        at_start_us, at_end_us = line(0.0), line(host_s[-1])
        return ClockFit(
            host_reference_s=host_reference_s,
            tracker_reference_us=float(tracker_reference_us + at_start_us),
            tracker_us_per_host_s=float((at_end_us - at_start_us) / host_s[-1]),
            residual_us=float(np.sqrt(np.mean((line(host_s) - tracker_us) ** 2))),
            n_queries=n,
        )


ChunkSink = Callable[[Chunk, StreamDescription], None]
"""Takes a chunk that is on disk and the description of its block; must not block for long."""

PATIENCE_S = 0.1
"""Longest time for which a device may keep the loop from stopping."""


class Recorder:
    """Moves chunks from a device into a session folder and then on to the sinks.

    `step` is one turn of its owner's loop. Chunks and blocks are numbered for the session, also if
    it is resumed.
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
        # a playback has a time, but no clock that could drift
        self._queries = None if isinstance(device, ControlsPlayback) else ClockQueries(clock)

    def step(self, timeout_s: float) -> Chunk | None:
        """Store what comes within `timeout_s`; return it as written, or None."""
        chunk = self._save(timeout_s)
        if chunk is not None:
            for sink in self._sinks:
                sink(chunk, self._stream)
        if self._queries is not None:
            self._compare_clocks(self._queries)
        return chunk

    def _compare_clocks(self, queries: ClockQueries) -> None:
        jump_s = queries.ask(self._device)
        if jump_s:
            text = (
                f"the clocks of computer and tracker have jumped apart by {jump_s:.1f} s: "
                "did one of them sleep or start again?"
            )
            self.report("clock", text)

    def host_time_s(self, tracker_us: int) -> float | None:
        """Return the host's time of a recent tracker time; None if the clocks are not compared."""
        return None if self._queries is None else self._queries.host_time_s(tracker_us)

    def note(self, message: Message) -> None:
        """Add a message, which the tracker's own file has already, to the session and the sinks.

        It goes with the next chunk, or with a separate one at the next `drain`.
        """
        self._notes.append(message)

    def report(self, kind: Kind, text: str, at_us: int | None = None) -> None:
        """Add a report on the data to the session and the sinks (`quality_message`)."""
        time_us = self._device.tracker_time_us() if at_us is None else at_us
        self.note(quality_message(time_us, kind, text))

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
        """Write notes in a separate chunk, unless no block has started: then they wait."""
        if not self._notes or self._device_block is None:
            return None
        return self._write(Chunk(0, self._block, empty_samples(0), (), self._clock.now_s()))

    def _write(self, chunk: Chunk) -> Chunk:
        messages = chunk.messages
        if self._notes:
            both = (*messages, *self._notes)
            messages = tuple(in_time_order(both))
            self._notes.clear()
        chunk = replace(chunk, number=self._writer.next_chunk, block=self._block, messages=messages)
        began_s = self._clock.now_s()
        self._writer.append(chunk)
        self._watch_disk(chunk, self._clock.now_s() - began_s)
        return chunk

    def _watch_disk(self, chunk: Chunk, took_s: float) -> None:
        if took_s > STALL_S and len(chunk.samples):
            text = f"the disk took {took_s:.1f} s for a chunk: the tracker's queue had to wait"
            self.report("disk", text, int(chunk.samples["tracker_time_us"][-1]))

    def drain(self) -> None:
        """Store what is left after the device was stopped."""
        while self.step(0.0) is not None:
            pass

    def finish(self, reason: str) -> None:
        """Store the clock fit and close the session, for `reason`."""
        if self._notes:  # no block has started that could have taken them
            self._writer.append_notes(Notes(messages=tuple(self._notes)))
            self._notes.clear()
        try:
            self._store_clock_fit()
        finally:
            self._writer.close(reason)

    def rescue(self) -> None:
        """Stop the device after an error and save what can be saved, without the sinks.

        It raises no `GazeliveError`: failures here follow from the original error, which is the
        one to report. The caller closes the session.
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
