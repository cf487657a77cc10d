"""The byte parser of ASC files: samples and events become numbers, other lines an index.

`parse_lines` walks over whole lines of text. A line that starts with a digit is a sample and is
read in place, and so are the tracker's events, of which there are many; any other line is only
recognised by its first letters and noted in an index for Python, which knows what the rare lines
mean. Since a START, SAMPLES, EVENTS or END line changes how the next samples are to be read, the
kernel returns after each of those.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gazelive.compilation import kernel
from gazelive.gaze.samples import N_TARGET_FLAGS, TARGET_STATUS_SHIFT
from gazelive.recordings.asc_columns import EYE_WORDS, STATUS_WORD
from gazelive.recordings.asc_token_kernels import (
    DAMAGED,
    MAX_TARGET_FLAGS,
    NEWLINE,
    ONE,
    RETURN,
    SPACE,
    TAB,
    ZERO,
    Bytes,
    Position,
    read_eye,
    read_flags,
    read_number,
    read_time_us,
    skip_blanks,
    skip_line,
    skip_token,
)
from gazelive.recordings.asc_word_kernels import (
    EIGHT,
    inlined,
    no_flag_is_set,
    read_usual_number,
    read_usual_time,
    usual_time_length,
)

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]
Words = npt.NDArray[np.uint32]

# why parse_lines returned
DONE = 0
STRUCTURE = 1
FULL = 2

# places in `state`, which lives on from call to call
POSITION = 0
LINE = 1
N_ROWS = 2
N_INDEXED = 3
N_EVENTS = 4
N_FAULTS = 5
IN_BLOCK = 6
HAS_COLUMNS = 7
MESSAGE_OPEN = 8  # the line before was a message, so an indented line continues it
LAST_TIME_US = 9
LAST_WRITTEN_TIME_US = 10
TIMES_REPEAT = 11  # a repeated time is half a millisecond later (2000 Hz)
PARTS_SEEN = 12  # the optional parts that the block's last sample had
OUT_OF_ORDER = 13  # some time was not later than the one before
OPEN_EVENTS = 14  # from here on: the line on which an event began that goes on, by kind and eye
STATE_SIZE = 20

HAS_FLAGS = 1
HAS_TARGET = 2

# places in `layout`, which Python fills for each block; what starts and stops are words of a row
N_FLAGS = 0
EYE_FLAG_SHIFT = 1
ABSENT_START = 2
ABSENT_STOP = 3
TARGET_START = 4
TARGET_STOP = 5
DESTINATIONS = 6  # from here on: the word that each number before the flags goes to

# columns of the index, and the kinds of lines in it; START to END change the reading
INDEX_START = 0
INDEX_STOP = 1
INDEX_LINE = 2
INDEX_KIND = 3
INDEX_WIDTH = 4
UNKNOWN = 0
IGNORED = 1
MESSAGE = 2
CONTINUATION = 3
HEADER = 4
START = 5
SAMPLES = 6
EVENTS = 7
END = 8
PUPIL = 9
PRESCALER = 10
VELOCITY_PRESCALER = 11
INPUT = 12
BUTTON = 13

# the kinds of lines that are events, and the columns of their heads
START_SACCADE = 14
START_FIXATION = 15
START_BLINK = 16
END_SACCADE = 17
END_FIXATION = 18
END_BLINK = 19
EVENT_KIND = 0
EVENT_EYE = 1
EVENT_START_US = 2
EVENT_END_US = 3
EVENT_WIDTH = 4
SACCADE_NUMBERS = (0, 6)  # start x y, end x y, amplitude, peak velocity
FIXATION_NUMBERS = (6, 9)  # x y, pupil
BLINK_NUMBERS = (9, 9)
N_EVENT_NUMBERS = 9

# what is wrong with a line
NO_FAULT = 0
OUTSIDE_BLOCK = 1
WRONG_COLUMNS = 2
TIME_ORDER = 3
UNKNOWN_LINE = 4
MISPLACED_LINE = 5
UNREADABLE_EVENT = 6
UNENDED_EVENT = 7

NUMBER_SIGN, SLASH, SEMICOLON, ARROW = b"#/;>"
TWO_STARS = int.from_bytes(b"**", "big")
MISSING_FROM = 1e8
"""What the tracker's library writes where an event has no position."""
IS_PUPIL = np.array([word in (EYE_WORDS["L"][2], EYE_WORDS["R"][2]) for word in range(32)])
"""Of each word of a row; no row is longer."""


def _keywords(kinds: dict[bytes, int]) -> tuple[Integers, Integers]:
    letters = [int.from_bytes(keyword, "big") for keyword in kinds]
    return np.array(letters, np.int64), np.array(list(kinds.values()), np.int64)


KEYWORDS, KEYWORD_KINDS = _keywords(
    {
        b"MSG ": MESSAGE,
        b"SFIX": START_FIXATION,
        b"EFIX": END_FIXATION,
        b"SSAC": START_SACCADE,
        b"ESAC": END_SACCADE,
        b"SBLI": START_BLINK,
        b"EBLI": END_BLINK,
        b"INPU": INPUT,
        b"BUTT": BUTTON,
        b"STAR": START,
        b"SAMP": SAMPLES,
        b"EVEN": EVENTS,
        b"END ": END,
        b"PUPI": PUPIL,
        b"PRES": PRESCALER,
        b"VPRE": VELOCITY_PRESCALER,
    }
)
"""The first four bytes of each keyword as one number, the frequent ones first."""


@kernel
def _numbers(text: Bytes, at: Position, row: int, layout: Integers, numbers: Floats) -> Position:
    """Read the numbers before the flags into `row`; return where they end, or DAMAGED."""
    k = DESTINATIONS
    while at != DAMAGED and k < layout.size:
        value, at = read_number(text, at)
        word = layout[k]
        if value == 0.0 and IS_PUPIL[word]:
            value = np.nan  # no pupil was seen
        numbers[row, word] = value
        k += 1
    return at


@inlined
def _usual_sample(
    text: Bytes, at: Position, n_time_digits: Position, row: int, layout: Integers, numbers: Floats
) -> tuple[np.int64, Position]:
    """Read a sample line in which every field has its usual width; its time, and its end.

    DAMAGED where the line is not so; but the row's absent eye and target are set to missing.
    """
    for word in range(layout[ABSENT_START], layout[ABSENT_STOP]):
        numbers[row, word] = np.nan
    for word in range(layout[TARGET_START], layout[TARGET_STOP]):
        numbers[row, word] = np.nan
    n_values = Position(layout.size - DESTINATIONS)
    fields = at + n_time_digits
    flags = fields + EIGHT * n_values
    end = flags + Position(layout[N_FLAGS]) + ONE
    time = np.int64(0)
    if n_time_digits > DAMAGED and end + EIGHT < Position(text.size):
        time, usual = read_usual_time(text, at, n_time_digits)
        usual = usual and text[fields] == TAB and no_flag_is_set(text, flags, layout[N_FLAGS])
        if text[end] == RETURN:
            end += ONE
        usual = usual and text[end] == NEWLINE
        for k in range(DESTINATIONS, layout.size):
            tenths, is_number = read_usual_number(text, fields + ONE)
            usual = usual and is_number
            word = layout[k]
            is_no_pupil = tenths == 0 and IS_PUPIL[word]
            numbers[row, word] = np.nan if is_no_pupil else tenths / 10.0
            fields += EIGHT
        if not usual:
            end = DAMAGED
    else:
        end = DAMAGED
    return time, end


@kernel
def _target(
    text: Bytes, at: Position, row: int, layout: Integers, numbers: Floats
) -> tuple[int, Position]:
    """Read the head target and its flags: the flags, and the line's end, or DAMAGED."""
    flags = 0
    n_flags = 0
    for word in range(layout[TARGET_START], layout[TARGET_STOP]):
        value = np.nan
        if at != DAMAGED:
            value, at = read_number(text, at)
        numbers[row, word] = value
    if at != DAMAGED:
        flags, n_flags, at = read_flags(text, at)
        at = skip_blanks(text, at)
    announced = layout[TARGET_START] < layout[TARGET_STOP]
    whole = announced and N_TARGET_FLAGS <= n_flags <= MAX_TARGET_FLAGS
    return flags, at if whole and text[at] == NEWLINE else DAMAGED


@kernel
def _ending(
    text: Bytes, at: Position, row: int, layout: Integers, numbers: Floats
) -> tuple[int, int, Position]:
    """Read flags and head target: the status, which of them there are, and the line's end."""
    parts = 0
    flags, n_flags, at = read_flags(text, at)
    status = (flags & 1) | ((flags >> 1) << layout[EYE_FLAG_SHIFT])
    if n_flags > 0:
        parts = HAS_FLAGS
        at = skip_blanks(text, at) if n_flags == layout[N_FLAGS] else DAMAGED
    if at != DAMAGED and text[at] != NEWLINE:
        parts |= HAS_TARGET
        flags, at = _target(text, at, row, layout, numbers)
        status |= flags << TARGET_STATUS_SHIFT
    return status, parts, at


@kernel
def _unusual_sample(
    text: Bytes, at: Position, row: int, layout: Integers, numbers: Floats
) -> tuple[np.int64, int, int, Position, Position]:
    """Read any sample line: time, status, optional parts, the time's end and the line's end."""
    status = 0
    parts = 0
    time_us, time_end = read_time_us(text, at)
    end = _numbers(text, time_end, row, layout, numbers)
    if end != DAMAGED:
        status, parts, end = _ending(text, end, row, layout, numbers)
    return time_us, status, parts, time_end, end


@inlined
def _take_samples(
    text: Bytes,
    at: Position,
    stop: Position,
    layout: Integers,
    numbers: Floats,
    bits: Words,
    state: Integers,
) -> tuple[int, Position]:
    """Read sample lines as far as they go, or to one that is damaged.

    Returns what is wrong with the last of them, and where the next line starts.
    """
    row = state[N_ROWS]
    n_lines = 0
    last_us = state[LAST_TIME_US]
    last_written_us = state[LAST_WRITTEN_TIME_US]
    parts_seen = state[PARTS_SEEN]
    n_time_digits = Position(0)
    fault = NO_FAULT
    while (
        fault == NO_FAULT
        and at < stop
        and np.uint8(text[at] - ZERO) < 10
        and row < numbers.shape[0]
    ):
        status = 0
        parts = HAS_FLAGS
        time_ms, end = _usual_sample(text, at, n_time_digits, row, layout, numbers)
        time_us = 1000 * time_ms
        if end == DAMAGED:
            time_us, status, parts, time_end, end = _unusual_sample(text, at, row, layout, numbers)
            n_time_digits = usual_time_length(at, time_end)
        # a line that ends earlier than the block's others was cut off
        if end == DAMAGED or parts < parts_seen:
            fault = WRONG_COLUMNS
            at = skip_line(text, at)
        else:
            written_us = time_us
            if state[TIMES_REPEAT] and written_us == last_written_us:
                time_us += 500
            if time_us <= last_us:
                fault = TIME_ORDER
                state[OUT_OF_ORDER] = 1
            bits[row, 0] = time_us & 0xFFFFFFFF
            bits[row, 1] = time_us >> 32
            bits[row, STATUS_WORD] = status
            parts_seen = parts
            last_us = time_us
            last_written_us = written_us
            row += 1
            at = end + ONE
        n_lines += 1
    state[N_ROWS] = row
    state[LINE] += n_lines
    state[LAST_TIME_US] = last_us
    state[LAST_WRITTEN_TIME_US] = last_written_us
    state[PARTS_SEEN] = parts_seen
    return fault, at


@inlined
def _note_fault(fault: int, line: Any, faults: Integers, state: Integers) -> None:
    n = state[N_FAULTS]
    if n < faults.shape[0]:
        faults[n, 0] = line
        faults[n, 1] = fault
    state[N_FAULTS] = n + 1


@kernel
def _begin_event(kind: int, eye: int, faults: Integers, state: Integers) -> None:
    """Remember where an event began; the one of its kind before it has no end, if it is open."""
    slot = OPEN_EVENTS + 2 * (kind - START_SACCADE) + eye
    if state[slot]:
        _note_fault(UNENDED_EVENT, state[slot], faults, state)
    state[slot] = state[LINE]


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
    row = state[N_EVENTS]
    end_us, at = read_time_us(text, at)
    first, stop = BLINK_NUMBERS
    if kind == END_SACCADE:
        first, stop = SACCADE_NUMBERS
    elif kind == END_FIXATION:
        first, stop = FIXATION_NUMBERS
    if kind != END_BLINK and at != DAMAGED:
        at = skip_token(text, at)  # the duration
    for k in range(N_EVENT_NUMBERS):
        value = np.nan
        if first <= k < stop and at != DAMAGED:
            value, at = read_number(text, at)
        numbers[row, k] = np.nan if abs(value) >= MISSING_FROM else value
    fault = UNREADABLE_EVENT
    if at != DAMAGED and end_us >= start_us:
        fault = NO_FAULT
        heads[row, EVENT_KIND] = kind
        heads[row, EVENT_EYE] = eye
        heads[row, EVENT_START_US] = start_us
        heads[row, EVENT_END_US] = end_us
        state[N_EVENTS] = row + 1
        state[OPEN_EVENTS + 2 * (kind - END_SACCADE) + eye] = 0
    return fault


@kernel
def _take_event(
    text: Bytes,
    at: Position,
    kind: int,
    heads: Integers,
    numbers: Doubles,
    faults: Integers,
    state: Integers,
) -> int:
    """Read a line that starts or ends an event; return what is wrong with it."""
    fault = UNREADABLE_EVENT
    eye, at = read_eye(text, skip_token(text, at))
    if at != DAMAGED:
        start_us, at = read_time_us(text, at)
        if at != DAMAGED:
            fault = NO_FAULT
            if kind <= START_BLINK:
                _begin_event(kind, eye, faults, state)
            else:
                fault = _end_event(text, at, kind, eye, start_us, heads, numbers, state)
    return fault


@kernel
def _kind(text: Bytes, at: Position) -> int:
    """Recognise a line by its first letters."""
    first = text[at]
    letters = np.int64(first)
    kind = UNKNOWN
    if first == NEWLINE or first in (NUMBER_SIGN, SLASH, SEMICOLON):
        kind = IGNORED
    elif first == ARROW:  # the heading of a calibration message
        kind = CONTINUATION
    elif first <= SPACE:
        kind = IGNORED if text[skip_blanks(text, at)] == NEWLINE else CONTINUATION
    else:
        for _ in range(3):
            if text[at] != NEWLINE:
                at += ONE
            letters = (letters << 8) | np.int64(text[at])
        if text[at] <= SPACE:
            letters = (letters & ~0xFF) | SPACE
        if letters >> 16 == TWO_STARS:
            kind = HEADER
        for k in range(KEYWORDS.size):
            if letters == KEYWORDS[k]:
                kind = KEYWORD_KINDS[k]
                break
    return kind


@kernel
def _misplacement(kind: int, state: Integers) -> int:
    """Say what is wrong with a line of this kind at this place."""
    fault = NO_FAULT
    if kind == UNKNOWN or (kind == CONTINUATION and not state[MESSAGE_OPEN]):
        fault = UNKNOWN_LINE
    elif SAMPLES <= kind <= VELOCITY_PRESCALER and not state[IN_BLOCK]:
        fault = MISPLACED_LINE
    return fault


@inlined
def _note_line(kind: int, at: Position, end: Position, index: Integers, state: Integers) -> None:
    n = state[N_INDEXED]
    index[n, INDEX_START] = np.int64(at)
    index[n, INDEX_STOP] = np.int64(end)
    index[n, INDEX_LINE] = state[LINE]
    index[n, INDEX_KIND] = kind
    state[N_INDEXED] = n + 1


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
    state: Integers,
) -> int:
    """Parse the lines in ``text[state[POSITION]:stop]`` until something needs Python.

    `numbers` and `bits` are two views of the same rows, shape (capacity, 9 or more): the words
    of a sample, then its extras. `index` gets a row for each line that Python must read,
    `event_heads` and `event_numbers` a row for each event that ended; `faults` gets a row
    (line, what) for each damaged line as far as there is room, and N_FAULTS counts them all.
    Returns DONE at `stop`, STRUCTURE after a line that changes the reading, FULL where one of
    the arrays is.
    """
    at = Position(state[POSITION])
    while at < stop:
        if (
            state[N_ROWS] == numbers.shape[0]
            or state[N_INDEXED] == index.shape[0]
            or state[N_EVENTS] == event_heads.shape[0]
        ):
            return FULL
        fault = NO_FAULT
        kind = UNKNOWN
        if np.uint8(text[at] - ZERO) < 10:
            state[MESSAGE_OPEN] = 0
            if state[HAS_COLUMNS]:
                fault, at = _take_samples(text, at, stop, layout, numbers, bits, state)
            else:
                fault = OUTSIDE_BLOCK
                at = skip_line(text, at)
                state[LINE] += 1
        else:
            kind = _kind(text, at)
            end = skip_line(text, at)
            if kind >= START_SACCADE:
                fault = _take_event(text, at, kind, event_heads, event_numbers, faults, state)
            elif kind != IGNORED:
                fault = _misplacement(kind, state)
                if fault == NO_FAULT:
                    _note_line(kind, at, end - ONE, index, state)
            if kind != IGNORED:
                state[MESSAGE_OPEN] = fault == NO_FAULT and MESSAGE <= kind <= CONTINUATION
            at = end
            state[LINE] += 1
        if fault != NO_FAULT:
            _note_fault(fault, state[LINE] - 1, faults, state)
        state[POSITION] = np.int64(at)
        if START <= kind <= END and fault == NO_FAULT:
            return STRUCTURE
    return DONE
