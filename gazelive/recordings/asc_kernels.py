"""The byte parser of ASC files: samples and events become numbers, other lines an index.

`parse_lines` walks over whole lines of text. A line that starts with a digit is a sample and is
read in place, and so are the tracker's events, of which there are many; any other line is only
recognised by its first letters and noted in an index for Python, which knows what the rare lines
mean. What a START, SAMPLES or END line means for the lines after it, the kernel assumes;
`asc_state` tells how, and `asc_batches` finds out where the assumption was wrong.
"""

from __future__ import annotations

import numpy as np

from gazelive.compilation import kernel
from gazelive.recordings import asc_state as asc
from gazelive.recordings.asc_event_kernels import note_fault, take_event
from gazelive.recordings.asc_sample_kernels import take_samples
from gazelive.recordings.asc_state import Doubles, Floats, Integers, Words
from gazelive.recordings.asc_token_kernels import (
    NEWLINE,
    ONE,
    SPACE,
    ZERO,
    Bytes,
    Position,
    skip_blanks,
    skip_line,
)
from gazelive.recordings.asc_word_kernels import inlined

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
    """Say what is wrong with a line of this kind at this place."""
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
            asc.KNOWN_COLUMNS if layout.size > asc.DESTINATIONS else asc.UNTOLD_COLUMNS
        )
    elif kind in (asc.START, asc.END):
        state[asc.IN_BLOCK] = kind == asc.START
        state[asc.COLUMNS] = asc.UNTOLD_COLUMNS if kind == asc.START else asc.NO_COLUMNS
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
    event_numbers: Doubles,
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
    FULL where one of the arrays is, UNTOLD before a sample whose columns no line has told.
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
        elif is_sample and state[asc.COLUMNS] == asc.UNTOLD_COLUMNS:
            reason = asc.UNTOLD
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
