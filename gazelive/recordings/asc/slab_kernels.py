"""Byte parser of ASC files: samples and events become numbers, other lines an index.

`parse_lines` goes through whole lines of text. A line that starts with a digit is a sample and is
read in place, and so are the tracker's frequent events; any other line is only recognised by its
first letters and noted in an index for Python, which interprets the rare lines. The kernel assumes
what a START, SAMPLES or END line means for the lines after it (see `parser_state`), and `batches`
finds where the assumption was wrong.
"""

from __future__ import annotations

import numpy as np

from gazelive.gaze import Bytes, Floats, Integers
from gazelive.recordings.asc import parser_state as asc
from gazelive.recordings.asc.parser_state import Words
from gazelive.recordings.asc.sample_kernels import take_samples
from gazelive.recordings.asc.token_kernels import (
    DAMAGED,
    NEWLINE,
    ONE,
    SPACE,
    ZERO,
    Position,
    inlined,
    read_event_number,
    read_eye,
    read_time_us,
    skip_blanks,
    skip_line,
    skip_token,
)
from gazelive.system import kernel

MISSING_FROM = 1e8
"""Smallest value that means "no position" in the tracker's events."""


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
    numbers: Floats,
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
            value, at = read_event_number(text, at)
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
    numbers: Floats,
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


NUMBER_SIGN, SLASH, SEMICOLON, ARROW = b"#/;>"
TWO_STARS = int.from_bytes(b"**", "big")


def _keywords(kinds: dict[bytes, int]) -> tuple[Integers, Integers]:
    letters = [int.from_bytes(keyword, "big") for keyword in kinds]
    return np.array(letters, np.int64), np.array(list(kinds.values()), np.int64)


KEYWORDS, KEYWORD_KINDS = _keywords(
    {
        b"MSG ": asc.MESSAGE,
        b"SFIX": asc.START_FIXATION,
        b"EFIX": asc.END_FIXATION,
        b"SSAC": asc.START_SACCADE,
        b"ESAC": asc.END_SACCADE,
        b"SBLI": asc.START_BLINK,
        b"EBLI": asc.END_BLINK,
        b"INPU": asc.INPUT,
        b"BUTT": asc.BUTTON,
        b"STAR": asc.START,
        b"SAMP": asc.SAMPLES,
        b"EVEN": asc.EVENTS,
        b"END ": asc.END,
        b"PUPI": asc.PUPIL,
        b"PRES": asc.PRESCALER,
        b"VPRE": asc.VELOCITY_PRESCALER,
    }
)
"""The first four bytes of each keyword as one number, the frequent ones first."""


@kernel
def _kind(text: Bytes, at: Position) -> int:
    """Recognise a line by its first letters."""
    first = text[at]
    letters = np.int64(first)
    kind = asc.UNKNOWN
    if first == NEWLINE or first in (NUMBER_SIGN, SLASH, SEMICOLON):
        kind = asc.IGNORED
    elif first == ARROW:  # the heading of a calibration message
        kind = asc.CONTINUATION
    elif first <= SPACE:
        kind = asc.IGNORED if text[skip_blanks(text, at)] == NEWLINE else asc.CONTINUATION
    else:
        for _ in range(3):
            if text[at] != NEWLINE:
                at += ONE
            letters = (letters << 8) | np.int64(text[at])
        if text[at] <= SPACE:
            letters = (letters & ~0xFF) | SPACE
        if letters >> 16 == TWO_STARS:
            kind = asc.HEADER
        for k in range(KEYWORDS.size):
            if letters == KEYWORDS[k]:
                kind = KEYWORD_KINDS[k]
                break
    return kind


@kernel
def _misplacement(kind: int, state: Integers) -> int:
    """Return the error code of a line of this kind at this place."""
    fault = asc.NO_FAULT
    if kind == asc.UNKNOWN or (kind == asc.CONTINUATION and not state[asc.MESSAGE_OPEN]):
        fault = asc.UNKNOWN_LINE
    elif asc.SAMPLES <= kind <= asc.VELOCITY_PRESCALER and not state[asc.IN_BLOCK]:
        fault = asc.MISPLACED_LINE
    return fault


@inlined
def _note_line(kind: int, at: Position, end: Position, index: Integers, state: Integers) -> None:
    n = state[asc.N_INDEXED]
    index[n, asc.INDEX_START] = np.int64(at)
    index[n, asc.INDEX_STOP] = np.int64(end)
    index[n, asc.INDEX_LINE] = state[asc.LINE]
    index[n, asc.INDEX_KIND] = kind
    state[asc.N_INDEXED] = n + 1


@kernel
def _end_segment(kind: int, layout: Integers, snapshots: Integers, state: Integers) -> None:
    """Take a snapshot after a line of this kind, and assume what the line means."""
    n = state[asc.N_SNAPSHOTS]
    state[asc.N_SNAPSHOTS] = n + 1
    for k in range(asc.STATE_SIZE):
        snapshots[n, asc.BEFORE, k] = state[k]
    state[asc.OUT_OF_ORDER] = 0
    for slot in range(asc.N_EVENT_SLOTS):
        state[asc.OPEN_EVENTS + slot] = asc.UNTOUCHED
        state[asc.FIRST_BEGUN + slot] = 0
    if kind == asc.SAMPLES:
        state[asc.COLUMNS] = (
            asc.KNOWN_COLUMNS if layout.size > asc.DESTINATIONS else asc.UNKNOWN_COLUMNS
        )
    elif kind in (asc.START, asc.END):
        state[asc.IN_BLOCK] = kind == asc.START
        state[asc.COLUMNS] = asc.UNKNOWN_COLUMNS if kind == asc.START else asc.NO_COLUMNS
        state[asc.LAST_TIME_US] = asc.NO_TIME_US
        state[asc.LAST_WRITTEN_TIME_US] = asc.NO_TIME_US
        state[asc.PARTS_SEEN] = 0
    for k in range(asc.STATE_SIZE):
        snapshots[n, asc.AFTER, k] = state[k]


@kernel
def parse_lines(
    text: Bytes,
    stop: Position,
    layout: Integers,
    numbers: Floats,
    bits: Words,
    index: Integers,
    event_heads: Integers,
    event_numbers: Floats,
    faults: Integers,
    snapshots: Integers,
    state: Integers,
) -> int:
    """Parse the lines in ``text[state[POSITION]:stop]`` until something needs Python.

    `numbers` and `bits` are two flat views of the same rows, each of which is 9 words of a sample
    and then its extras. `index` gets a row for each line that Python must read,
    `event_heads` and `event_numbers` a row for each event that ended; `faults` gets a row
    (line, what, found on) for each damaged line as far as there is room, and N_FAULTS counts them
    all; `snapshots` gets the state at each line that changes the reading. Returns DONE at `stop`,
    FULL where one of the arrays is, COLUMNS_UNKNOWN before a sample with unknown columns.
    """
    at = Position(state[asc.POSITION])
    reason = asc.DONE
    while reason == asc.DONE and at < stop:
        fault = asc.NO_FAULT
        kind = asc.UNKNOWN
        is_sample = np.uint8(text[at] - ZERO) < 10
        if (
            (state[asc.N_ROWS] + 1) * layout[asc.TARGET_STOP] > numbers.size
            or state[asc.N_INDEXED] == index.shape[0]
            or state[asc.N_EVENTS] == event_heads.shape[0]
            or state[asc.N_SNAPSHOTS] == snapshots.shape[0]
        ):
            reason = asc.FULL
        elif is_sample and state[asc.COLUMNS] == asc.UNKNOWN_COLUMNS:
            reason = asc.COLUMNS_UNKNOWN
        elif is_sample and state[asc.COLUMNS] == asc.NO_COLUMNS:
            state[asc.MESSAGE_OPEN] = 0
            fault = asc.OUTSIDE_BLOCK
            at = skip_line(text, at)
            state[asc.LINE] += 1
        elif is_sample:
            state[asc.MESSAGE_OPEN] = 0
            fault, at = take_samples(text, at, stop, layout, numbers, bits, state)
        else:
            kind = _kind(text, at)
            end = skip_line(text, at)
            if kind >= asc.START_SACCADE:
                fault = take_event(text, at, kind, event_heads, event_numbers, faults, state)
            elif kind != asc.IGNORED:
                fault = _misplacement(kind, state)
                if fault == asc.NO_FAULT:
                    _note_line(kind, at, end - ONE, index, state)
            if kind != asc.IGNORED:
                state[asc.MESSAGE_OPEN] = (
                    fault == asc.NO_FAULT and asc.MESSAGE <= kind <= asc.CONTINUATION
                )
            at = end
            state[asc.LINE] += 1
        if fault != asc.NO_FAULT:
            note_fault(fault, state[asc.LINE] - 1, state[asc.LINE] - 1, faults, state)
        state[asc.POSITION] = np.int64(at)
        if asc.START <= kind <= asc.PRESCALER and fault == asc.NO_FAULT:
            _end_segment(kind, layout, snapshots, state)
    return reason
