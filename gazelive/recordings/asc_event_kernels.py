"""Events in ASC files: one line starts each, another ends it and has its numbers."""

from __future__ import annotations

import numpy as np

from gazelive.compilation import kernel
from gazelive.recordings import asc_state as asc
from gazelive.recordings.asc_state import Doubles, Integers
from gazelive.recordings.asc_token_kernels import (
    DAMAGED,
    Bytes,
    Position,
    read_eye,
    read_number,
    read_time_us,
    skip_token,
)

MISSING_FROM = 1e8
"""What the tracker's library writes where an event has no position."""


@kernel
def note_fault(fault: int, line: int, found: int, faults: Integers, state: Integers) -> None:
    """Note what is wrong with `line`, as far as there is room, and count it."""
    n = state[asc.N_FAULTS]
    if n < faults.shape[0]:
        faults[n, asc.FAULT_LINE] = line
        faults[n, asc.FAULT_WHAT] = fault
        faults[n, asc.FAULT_FOUND] = found
    state[asc.N_FAULTS] = n + 1


@kernel
def _begin_event(kind: int, eye: int, faults: Integers, state: Integers) -> None:
    """Remember where an event began; the one of its kind before it has no end, if it is open."""
    slot = 2 * (kind - asc.START_SACCADE) + eye
    line = state[asc.OPEN_EVENTS + slot]
    if line == asc.UNTOUCHED:
        state[asc.FIRST_BEGUN + slot] = state[asc.LINE]
    elif line > 0:
        note_fault(asc.UNENDED_EVENT, line, state[asc.LINE], faults, state)
    state[asc.OPEN_EVENTS + slot] = state[asc.LINE]


@kernel
def _end_event(
    text: Bytes,
    at: Position,
    kind: int,
    eye: int,
    start_us: np.int64,
    heads: Integers,
    numbers: Doubles,
    state: Integers,
) -> int:
    """Read the rest of an event's last line into the next row; return what is wrong with it."""
    row = state[asc.N_EVENTS]
    end_us, at = read_time_us(text, at)
    first, stop = asc.BLINK_NUMBERS
    if kind == asc.END_SACCADE:
        first, stop = asc.SACCADE_NUMBERS
    elif kind == asc.END_FIXATION:
        first, stop = asc.FIXATION_NUMBERS
    if kind != asc.END_BLINK and at != DAMAGED:
        at = skip_token(text, at)  # the duration
    for k in range(asc.N_EVENT_NUMBERS):
        value = np.nan
        if first <= k < stop and at != DAMAGED:
            value, at = read_number(text, at)
        numbers[row, k] = np.nan if abs(value) >= MISSING_FROM else value
    fault = asc.UNREADABLE_EVENT
    if at != DAMAGED and end_us >= start_us:
        fault = asc.NO_FAULT
        heads[row, asc.EVENT_KIND] = kind
        heads[row, asc.EVENT_EYE] = eye
        heads[row, asc.EVENT_START_US] = start_us
        heads[row, asc.EVENT_END_US] = end_us
        state[asc.N_EVENTS] = row + 1
        state[asc.OPEN_EVENTS + 2 * (kind - asc.END_SACCADE) + eye] = 0
    return fault


@kernel
def take_event(
    text: Bytes,
    at: Position,
    kind: int,
    heads: Integers,
    numbers: Doubles,
    faults: Integers,
    state: Integers,
) -> int:
    """Read a line that starts or ends an event; return what is wrong with it."""
    fault = asc.UNREADABLE_EVENT
    eye, at = read_eye(text, skip_token(text, at))
    if at != DAMAGED:
        start_us, at = read_time_us(text, at)
        if at != DAMAGED:
            fault = asc.NO_FAULT
            if kind <= asc.START_BLINK:
                _begin_event(kind, eye, faults, state)
            else:
                fault = _end_event(text, at, kind, eye, start_us, heads, numbers, state)
    return fault
