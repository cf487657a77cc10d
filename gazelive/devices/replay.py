"""Replay of a recording as a device: in real time, faster, or all at once."""

from __future__ import annotations

import math

from gazelive.clock import Clock
from gazelive.devices.lifecycle import Lifecycle
from gazelive.devices.pacing import Pace
from gazelive.devices.protocol import MAX_CHUNK_SAMPLES, Playback
from gazelive.devices.timeline import Cursor, Due, lay_out
from gazelive.errors import ConfigError, DeviceError
from gazelive.gaze import Chunk, Message, StreamDescription, empty_samples, in_time_order
from gazelive.recordings import Recording


class ReplayDevice:
    """Plays any recording once, or in a loop.

    Samples and messages keep the recording's own times; a loop shifts them from lap to lap, so time
    continues. Each sample arrives at its own target on the clock, counted from the start (or the
    last change of speed), so errors do not accumulate. Unless a short timeout requests less, the
    device returns `chunk_s` of host time at once.

    Blocks follow one another as recorded. Pauses between them are kept, since an experiment sends
    messages there; but breaks longer than `longest_gap_s` (coffee, calibration) play in that time.
    0 skips them all, infinity keeps them.

    `stop` and `start` continue as a new block.
    """

    def __init__(
        self,
        recording: Recording,
        *,
        clock: Clock,
        speed: float | None = 1.0,
        loop: bool = False,
        chunk_s: float = 0.01,
        longest_gap_s: float = 5.0,
    ) -> None:
        self._life = Lifecycle(f"the replay of {recording.path.name}")
        if not recording.n_samples:
            raise DeviceError(f"{recording.path}: has no samples to replay")
        for name, value in (("chunk_s", chunk_s), ("longest_gap_s", longest_gap_s)):
            if not value >= 0:
                raise ConfigError(f"must be 0 or more, not {value}", key=name)
        self._streams = [block.stream for block in recording.blocks if len(block.samples)]
        self._timeline = lay_out(recording, longest_gap_s)
        self._cursor = Cursor(self._timeline, loop=loop)
        self._loop = loop
        self._clock = clock
        self._pace = Pace(clock)
        self._speed = _checked(speed)
        self._paused = False
        self._chunk_us = chunk_s * 1e6
        self._sent: list[Message] = []
        self._n_chunks = 0
        self._n_starts = 0
        self._block = -1
        self._source: tuple[int, int, int] | None = None
        """Start, lap and recorded block of the current block."""

    def describe(self) -> StreamDescription:
        """Return the recording's description of the current block."""
        return self._streams[self._source[2] if self._source else 0]

    def start(self) -> None:
        """Play from the start, or from where it was stopped."""
        self._life.require_open()
        if self._cursor.at_end:
            raise DeviceError("the recording has been played to its end: start a new replay")
        self._life.start()
        self._n_starts += 1
        self._run()

    def read_chunk(self, timeout_s: float) -> Chunk | None:
        """Return what is due; if less than `chunk_s` is, wait up to `timeout_s`."""
        self._life.require_started()
        due_us = self._position_us
        if self._is_running and self._speed is None:
            due_us = math.inf
        elif self._life.recording and not self._cursor.at_end:
            target_us = self._cursor.next_us(self._chunk_us * (self._speed or 1.0))
            due_us = self._wait_for(target_us, max(timeout_s, 0.0))
        due = self._cursor.take(due_us, MAX_CHUNK_SAMPLES)
        if due is None and not self._sent:
            return None
        return self._chunk(due)

    def _wait_for(self, target_us: float, timeout_s: float) -> float:
        """Sleep until the target or the timeout; return the position reached."""
        target_s = self._pace.reached_s(target_us)
        self._clock.sleep_until_s(min(target_s, self._clock.now_s() + timeout_s))
        # a target that was waited for is reached, whatever the rounding
        return max(self._position_us, target_us if self._clock.now_s() >= target_s else 0.0)

    def _chunk(self, due: Due | None) -> Chunk:
        messages = tuple(self._sent)
        self._sent.clear()
        if due is None:
            samples = empty_samples(0)
        else:
            samples = due.samples
            both = (*due.messages, *messages)
            messages = tuple(in_time_order(both))
            source = (self._n_starts, due.lap, due.block)
            if len(samples) and source != self._source:
                self._source = source
                self._block += 1
        number = self._n_chunks
        self._n_chunks += 1
        return Chunk(number, max(self._block, 0), samples, messages, self._clock.now_s())

    @property
    def finished(self) -> bool:
        """True once all was read, or after `close`."""
        return self._life.closed or (self._cursor.at_end and not self._sent)

    def tracker_time_us(self) -> int:
        """Return the recording's time that is playing now."""
        return self._cursor.tracker_time_us(self._position_us)

    def send_message(self, text: str, at_s: float | None = None) -> None:
        """Add a message, such as a mark, to what was recorded."""
        self._life.require_open()
        position_us = self._position_us if at_s is None else self._pace.position_us(at_s)
        self._sent.append(Message(self._cursor.tracker_time_us(position_us), text))

    def stop(self) -> None:
        """Stop playing; what was due by now can still be read."""
        if self._life.stop():
            self._run()

    def close(self) -> None:
        """Close the replay."""
        self._life.close()

    def pause(self) -> None:
        """Stop the recording's time."""
        self._paused = True
        self._run()

    def resume(self) -> None:
        """Continue after a pause."""
        self._paused = False
        self._run()

    def set_speed(self, speed: float | None) -> None:
        """Play at `speed` times real time from here on; None: as fast as possible."""
        self._speed = _checked(speed)
        self._run()

    def playback(self) -> Playback:
        """Return the state of the playback; breaks count with the time they play."""
        duration_us = self._timeline.playing_us
        position_us = self._position_us
        position_us = position_us % duration_us if self._loop else min(position_us, duration_us)
        return Playback(
            position_s=position_us / 1e6,
            duration_s=duration_us / 1e6,
            speed=self._speed,
            paused=self._paused,
        )

    @property
    def _is_running(self) -> bool:
        return self._life.recording and not self._paused

    @property
    def _position_us(self) -> float:
        # the pace stands still while everything is returned at once
        return max(self._pace.position_us(), self._cursor.taken_us)

    def _run(self) -> None:
        """Run time from here according to speed, pause and stop."""
        self._pace.run((self._speed or 0.0) if self._is_running else 0.0, self._position_us)


def _checked(speed: float | None) -> float | None:
    if speed is not None and not 0 < speed < math.inf:
        raise ConfigError(f"must be more than 0 (None: all at once), not {speed}", key="speed")
    return speed
