"""From the EyeLink's queue to our samples, every one of them.

The queue is emptied item by item; pylink's `getNewestSample` would leave out whatever came
between two looks.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from gazelive.devices.protocol import MAX_CHUNK_SAMPLES
from gazelive.gaze.samples import (
    N_TARGET_FLAGS,
    SAMPLE_DTYPE,
    TARGET_STATUS_SHIFT,
    Samples,
    SampleStatus,
)

_HALF_MS_FLAG = 0x0002
"""Set in a sample's flags where half a millisecond is to be added (2000 Hz)."""
_FAST_HZ = 1500.0
_NO_EYE = (math.nan, math.nan, math.nan)


@dataclass(frozen=True, slots=True)
class Drained:
    """What was in the queue."""

    samples: Samples
    losses_us: tuple[int, ...]
    """Where in time the link told that it lost something."""


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
        """Get ready for samples of a new block."""
        self._is_fast = sampling_rate_hz > _FAST_HZ
        self._last_us = -1
        self._status_of: dict[int, int] = {}

    def drain(self) -> Drained:
        """Take what is there, at most `MAX_CHUNK_SAMPLES`; the queue is empty if fewer came."""
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
                # its own time is not told in the manuals, so it stands behind the last sample
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
        """Return gaze and pupil; without a pupil there is no gaze, whatever the numbers say."""
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
