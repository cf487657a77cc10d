"""Samples of the EyeLink's queue, every one of them, kept until they are read as chunks.

The queue is emptied item by item; pylink's `getNewestSample` would skip everything between two
calls.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass
from typing import Any

import numpy as np

from gazelive.devices.protocol import MAX_CHUNK_SAMPLES
from gazelive.gaze import (
    N_TARGET_FLAGS,
    SAMPLE_DTYPE,
    TARGET_STATUS_SHIFT,
    Chunk,
    Kind,
    Message,
    Samples,
    SampleStatus,
    empty_samples,
    in_time_order,
    quality_message,
)

_HALF_MS_FLAG = 0x0002
"""Set in a sample's flags if half a millisecond must be added (2000 Hz)."""
_FAST_HZ = 1500.0
_NO_EYE = (math.nan, math.nan, math.nan)


@dataclass(frozen=True, slots=True)
class Drained:
    """Contents of the queue."""

    samples: Samples
    losses_us: tuple[int, ...]
    """Times at which the link reported lost data."""


class SampleQueue:
    """Empties the queue of one tracker."""

    def __init__(self, pylink: Any, tracker: Any) -> None:
        self._tracker = tracker
        self._sample_type = pylink.SAMPLE_TYPE
        self._lost_type = pylink.LOSTDATAEVENT
        self._missing = pylink.MISSING_DATA
        self._warnings = _warnings(pylink)
        self._target_flags = _target_flags(pylink)
        self.begin_block(1000.0)

    def begin_block(self, sampling_rate_hz: float) -> None:
        """Prepare for samples of a new block."""
        self._is_fast = sampling_rate_hz > _FAST_HZ
        self._last_us = -1
        self._status_of: dict[int, int] = {}

    def drain(self) -> Drained:
        """Drain the queue, at most `MAX_CHUNK_SAMPLES`; the queue is empty if fewer came."""
        tracker = self._tracker
        rows: list[tuple[Any, ...]] = []
        losses_us: list[int] = []
        next_data, float_data = tracker.getNextData, tracker.getFloatData
        while len(rows) < MAX_CHUNK_SAMPLES:
            item = next_data()
            if item == self._sample_type:
                sample = float_data()
                if sample is not None:
                    rows.append(self._row(sample))
            elif item == self._lost_type:
                # the manuals do not define its time, so it gets that of the last sample
                losses_us.append(self._last_us)
            elif item == 0:
                break
        return Drained(np.array(rows, SAMPLE_DTYPE), tuple(losses_us))

    def _row(self, sample: Any) -> tuple[Any, ...]:
        left, right = sample.getLeftEye(), sample.getRightEye()
        return (
            self._time_us(sample),
            *(_NO_EYE if left is None else self._eye(left)),
            *(_NO_EYE if right is None else self._eye(right)),
            self._status(sample),
        )

    def _time_us(self, sample: Any) -> int:
        """Return the time; at 2000 Hz every other sample is half a millisecond later."""
        time_ms = sample.getTime()
        time_us = round(float(time_ms) * 1000)
        is_half = sample.getFlags() & _HALF_MS_FLAG or time_us == self._last_us
        if self._is_fast and time_us % 1000 == 0 and is_half:
            time_us += 500
        self._last_us = time_us
        return time_us

    def _eye(self, eye: Any) -> tuple[float, float, float]:
        """Return gaze and pupil; without a pupil there is no gaze, whatever the numbers."""
        x, y = eye.getGaze()
        pupil = eye.getPupilSize()
        if pupil == 0 or x <= self._missing or y <= self._missing:
            return _NO_EYE
        return x, y, math.nan if pupil <= self._missing else pupil

    def _status(self, sample: Any) -> int:
        word = sample.getStatus()
        status = self._status_of.get(word)
        if status is None:
            status = sum(flag for bit, flag in self._warnings if word & bit)
            self._status_of[word] = status
        if sample.isTarget():
            flags = int(sample.getTargetFlags())
            status |= sum(flag for bit, flag in self._target_flags if flags & bit)
        return status


def _warnings(pylink: Any) -> list[tuple[int, int]]:
    return [
        (pylink.INTERP_SAMPLE_WARNING, SampleStatus.INTERPOLATED),
        (pylink.CR_LOST_LEFT_WARNING, SampleStatus.LEFT_REFLECTION_MISSING),
        (pylink.CR_RECOV_LEFT_WARNING, SampleStatus.LEFT_REFLECTION_RECOVERING),
        (pylink.CR_LOST_RIGHT_WARNING, SampleStatus.RIGHT_REFLECTION_MISSING),
        (pylink.CR_RECOV_RIGHT_WARNING, SampleStatus.RIGHT_REFLECTION_RECOVERING),
    ]


def _target_flags(pylink: Any) -> list[tuple[int, int]]:
    """Return the head target's flags in the order in which an ASC file writes them."""
    names = ("MISSING", "ANGLE", "NEAREYE", "CLOSE", "FAR")
    sides = [f"{of}_{side}SIDE" for of in "TE" for side in "TBLR"]
    bits = [getattr(pylink, f"TFLAG_{name}") for name in (*names, *sides)]
    assert len(bits) == N_TARGET_FLAGS
    return [(bit, 1 << (TARGET_STATUS_SHIFT + place)) for place, bit in enumerate(bits)]


LOSS_REPORT_INTERVAL_US = 1_000_000
"""Interval of reports while the link keeps losing data; the gaps show in the samples' times."""
LOSS_TEXT = "the link lost data: the missing samples are in the EDF"


class PendingStream:
    """Keeps samples and messages until they are taken as chunks, which it numbers."""

    def __init__(self) -> None:
        self.problems: list[str] = []
        """Problems reported so far, each once."""
        self.n_unread = 0
        self._arrived: deque[tuple[int, Samples]] = deque()
        self._messages: list[Message] = []
        self._n_chunks = 0
        self._loss_us: int | None = None

    def __bool__(self) -> bool:
        return bool(self._arrived or self._messages)

    def put(self, block: int, drained: Drained, now_us: int) -> None:
        """Keep the queue's contents; `now_us` is the time of losses before the first sample."""
        if len(drained.samples):
            self._arrived.append((block, drained.samples))
            self.n_unread += len(drained.samples)
        if not drained.losses_us:
            return
        loss_us = drained.losses_us[0] if drained.losses_us[0] >= 0 else now_us
        if self._loss_us is None or loss_us >= self._loss_us + LOSS_REPORT_INTERVAL_US:
            self._loss_us = loss_us
            self.say(quality_message(loss_us, "lost_samples", LOSS_TEXT))
            self._remember(LOSS_TEXT)

    def say(self, message: Message) -> None:
        """Keep a message."""
        self._messages.append(message)

    def report_once(self, now_us: int, kind: Kind, text: str) -> None:
        """Report a problem, unless it was reported before."""
        if self._remember(text):
            self.say(quality_message(now_us, kind, text))

    def take(self, block: int, now_s: float) -> Chunk | None:
        """Return samples of the oldest block, up to one chunk, and all messages.

        Without samples, messages belong to `block`. None if there is nothing.
        """
        samples = empty_samples(0)
        if self._arrived:
            block, samples = self._take_samples()
        elif not self._messages:
            return None
        messages = tuple(in_time_order(self._messages))
        self._messages.clear()
        number, self._n_chunks = self._n_chunks, self._n_chunks + 1
        return Chunk(number, block, samples, messages, now_s)

    def _take_samples(self) -> tuple[int, Samples]:
        block, first = self._arrived.popleft()
        parts, n = [first], len(first)
        while self._arrived and self._arrived[0][0] == block:
            n += len(self._arrived[0][1])
            if n > MAX_CHUNK_SAMPLES:
                break
            parts.append(self._arrived.popleft()[1])
        samples = np.concatenate(parts)
        self.n_unread -= len(samples)
        return block, samples

    def _remember(self, text: str) -> bool:
        is_new = text not in self.problems
        if is_new:
            self.problems.append(text)
        return is_new
