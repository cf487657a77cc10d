"""The byte parser of ASC files: sample lines become numbers, other lines an index.

`parse_lines` walks over whole lines of text. A line that starts with a digit is a sample and is
read in place; any other line is only recognised by its first letters and noted in an index for
Python, which knows what the rare lines mean. Since a START, SAMPLES, EVENTS or END line changes
how the next samples are to be read, the kernel returns after each of those.

Loops run to a line end without looking at the text's length: the caller guarantees that the
text ends with a newline, and no loop below steps over one. Positions in the text are unsigned,
which spares numba its check for negative indices in every byte (a quarter of the time).
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from gazelive.compilation import kernel
from gazelive.gaze.samples import N_TARGET_FLAGS, TARGET_STATUS_SHIFT
from gazelive.recordings.asc_columns import EYE_WORDS, STATUS_WORD

Bytes = npt.NDArray[np.uint8]
Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float32]
Position = np.uint64

# why parse_lines returned
DONE = 0
STRUCTURE = 1
INDEX_FULL = 2
ROWS_FULL = 3

# places in `state`, which lives on from call to call
POSITION = 0
LINE = 1
N_ROWS = 2
N_INDEXED = 3
N_FAULTS = 4
IN_BLOCK = 5
HAS_COLUMNS = 6
MESSAGE_OPEN = 7  # the line before was a message, so an indented line continues it
LAST_TIME_US = 8
LAST_WRITTEN_TIME_US = 9
TIMES_REPEAT = 10  # a repeated time is half a millisecond later (2000 Hz)
PARTS_SEEN = 11  # the optional parts that the block's last sample had
OUT_OF_ORDER = 12  # some time was not later than the one before
STATE_SIZE = 13

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
START_EVENT = 12
END_EVENT = 13
INPUT = 14
BUTTON = 15

# what is wrong with a line
NO_FAULT = 0
OUTSIDE_BLOCK = 1
WRONG_COLUMNS = 2
TIME_ORDER = 3
UNKNOWN_LINE = 4
MISPLACED_LINE = 5

TAB, NEWLINE, RETURN, SPACE = b"\t\n\r "
MINUS, POINT, ZERO, LETTER_A, LETTER_Z = b"-.0AZ"
HASH, SLASH, SEMICOLON, ARROW = b"#/;>"
TWO_STARS = int.from_bytes(b"**", "big")

ONE = Position(1)
DAMAGED = Position(0)
"""No token ends at the first byte, so this position is free to mean: cannot be read."""
MAX_TIME_DIGITS = 13
MAX_NUMBER_DIGITS = 18
MISSING_CODE = -32768.0
MISSING_WORD = np.frombuffer(b"MISSING_DATA", np.uint8)
POWERS_OF_TEN = np.array([10.0**power for power in range(MAX_NUMBER_DIGITS + 1)])
MAX_TARGET_FLAGS = N_TARGET_FLAGS + 4
"""With two eyes the last four flags, of the eye near an edge, come twice."""
LEFT_PUPIL_WORD, RIGHT_PUPIL_WORD = EYE_WORDS["L"][2], EYE_WORDS["R"][2]


inlined = numba.njit(inline="always")
"""For what `parse_lines` is made of: as calls, each would count references to its arrays."""


def _keywords(kinds: dict[bytes, int]) -> tuple[Integers, Integers]:
    letters = [int.from_bytes(keyword, "big") for keyword in kinds]
    return np.array(letters, np.int64), np.array(list(kinds.values()), np.int64)


KEYWORDS, KEYWORD_KINDS = _keywords(
    {
        b"MSG ": MESSAGE,
        b"SFIX": START_EVENT,
        b"EFIX": END_EVENT,
        b"SSAC": START_EVENT,
        b"ESAC": END_EVENT,
        b"SBLI": START_EVENT,
        b"EBLI": END_EVENT,
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


@inlined
def _ends_token(byte: Any) -> Any:
    return byte in (TAB, SPACE, NEWLINE, RETURN)


@inlined
def _is_blank(byte: Any) -> Any:
    return byte in (TAB, SPACE, RETURN)


@inlined
def _skip_blanks(text: Bytes, at: Position) -> Position:
    while _is_blank(text[at]):
        at += ONE
    return at


@inlined
def _skip_line(text: Bytes, at: Position) -> Position:
    """Return the position after the line's newline."""
    while text[at] != NEWLINE:
        at += ONE
    return at + ONE


@inlined
def _number(text: Bytes, at: Position) -> tuple[float, Position]:
    """Read one number after blanks: its value (NaN if missing) and where it ends, or DAMAGED.

    The digits are gathered as one integer and divided once by a power of ten, which rounds
    correctly for up to 15 digits.
    """
    at = _skip_blanks(text, at)
    negative = text[at] == MINUS
    if negative:
        at += ONE
    mantissa = np.int64(0)
    n_digits = 0
    n_decimals = 0
    digit = np.uint8(text[at] - ZERO)  # anything but a digit wraps around to 10 or more
    while digit < 10:
        mantissa = mantissa * 10 + np.int64(digit)
        n_digits += 1
        at += ONE
        digit = np.uint8(text[at] - ZERO)
    if text[at] == POINT:
        at += ONE
        digit = np.uint8(text[at] - ZERO)
        while digit < 10:
            mantissa = mantissa * 10 + np.int64(digit)
            n_decimals += 1
            at += ONE
            digit = np.uint8(text[at] - ZERO)
        missing = n_digits + n_decimals == 0  # a lone point
    else:
        missing = n_digits == 0
        k = 0
        while missing and k < MISSING_WORD.size:
            missing = text[at] == MISSING_WORD[k]
            at += ONE if missing else DAMAGED
            k += 1
    n_digits += n_decimals
    value = mantissa / POWERS_OF_TEN[min(n_decimals, MAX_NUMBER_DIGITS)]
    if negative:
        value = -value
    if missing or value == MISSING_CODE:
        value = np.nan
    ended = _ends_token(text[at])
    whole = missing != (0 < n_digits <= MAX_NUMBER_DIGITS) and not (missing and negative)
    return value, at if ended and whole else DAMAGED


@inlined
def _flags(text: Bytes, at: Position) -> tuple[int, int, Position]:
    """Read a token of flags: a bit for each letter, the token's length, and where it ends."""
    bits = 0
    n = 0
    while not _ends_token(text[at]):
        byte = text[at]
        if byte != POINT:
            bits |= 1 << min(n, MAX_TARGET_FLAGS)
        # whatever is neither point nor letter makes the token too long to be flags
        n += 1 if byte == POINT or LETTER_A <= byte <= LETTER_Z else MAX_TARGET_FLAGS + 1
        at += ONE
    return bits, n, at


@inlined
def _time_us(text: Bytes, at: Position) -> tuple[np.int64, Position]:
    """Read a time in milliseconds with up to three decimals, and where it ends, or DAMAGED."""
    time_us = np.int64(0)
    n_digits = 0
    digit = np.uint8(text[at] - ZERO)
    while digit < 10:
        time_us = time_us * 10 + np.int64(digit)
        n_digits += 1
        at += ONE
        digit = np.uint8(text[at] - ZERO)
    time_us *= 1000
    if text[at] == POINT:
        at += ONE
        scale = 100
        digit = np.uint8(text[at] - ZERO)
        while digit < 10:
            time_us += scale * np.int64(digit)
            scale //= 10
            at += ONE
            digit = np.uint8(text[at] - ZERO)
    ended = _ends_token(text[at])
    return time_us, at if ended and n_digits <= MAX_TIME_DIGITS else DAMAGED


@inlined
def _numbers(text: Bytes, at: Position, row: int, layout: Integers, numbers: Floats) -> Position:
    """Read the numbers before the flags into `row`; return where they end, or DAMAGED."""
    for word in range(layout[ABSENT_START], layout[ABSENT_STOP]):
        numbers[row, word] = np.nan
    k = DESTINATIONS
    while at != DAMAGED and k < layout.size:
        value, at = _number(text, at)
        word = layout[k]
        if value == 0.0 and word in (LEFT_PUPIL_WORD, RIGHT_PUPIL_WORD):
            value = np.nan  # no pupil was seen
        numbers[row, word] = value
        k += 1
    return at


@inlined
def _reflection(text: Bytes, at: Position, layout: Integers) -> tuple[int, int, Position]:
    """Read the corneal-reflection flags, if any: status bits, HAS_FLAGS or 0, where they end."""
    flags = 0
    n_flags = 0
    if at != DAMAGED:
        flags, n_flags, at = _flags(text, _skip_blanks(text, at))
    status = (flags & 1) | ((flags >> 1) << layout[EYE_FLAG_SHIFT])
    whole = n_flags in (0, layout[N_FLAGS])
    return status, HAS_FLAGS if n_flags > 0 else 0, at if whole else DAMAGED


@inlined
def _target(
    text: Bytes, at: Position, row: int, layout: Integers, numbers: Floats
) -> tuple[int, int, Position]:
    """Read the head target and its flags, if any: status bits, HAS_TARGET or 0, the line's end."""
    flags = 0
    n_flags = 0
    if at != DAMAGED:
        at = _skip_blanks(text, at)
    has_target = at != DAMAGED and text[at] != NEWLINE
    for word in range(layout[TARGET_START], layout[TARGET_STOP]):
        value = np.nan
        if has_target and at != DAMAGED:
            value, at = _number(text, at)
        numbers[row, word] = value
    if has_target and at != DAMAGED:
        flags, n_flags, at = _flags(text, _skip_blanks(text, at))
        at = _skip_blanks(text, at)
    whole = not has_target or N_TARGET_FLAGS <= n_flags <= MAX_TARGET_FLAGS
    ended = text[at] == NEWLINE
    return (
        flags << TARGET_STATUS_SHIFT,
        HAS_TARGET if has_target else 0,
        at if whole and ended else DAMAGED,
    )


@inlined
def _accept(
    time_us: np.int64, status: int, parts: int, bits: npt.NDArray[np.uint32], state: Integers
) -> int:
    """Complete the row that was read and go on to the next; return what is wrong with it."""
    row = state[N_ROWS]
    written_us = time_us
    if state[TIMES_REPEAT] and written_us == state[LAST_WRITTEN_TIME_US]:
        time_us += 500
    fault = NO_FAULT
    if time_us <= state[LAST_TIME_US]:
        fault = TIME_ORDER
        state[OUT_OF_ORDER] = 1
    bits[row, 0] = time_us & 0xFFFFFFFF
    bits[row, 1] = time_us >> 32
    bits[row, STATUS_WORD] = status
    state[PARTS_SEEN] = parts
    state[LAST_WRITTEN_TIME_US] = written_us
    state[LAST_TIME_US] = time_us
    state[N_ROWS] = row + 1
    return fault


@inlined
def _kind(text: Bytes, at: Position) -> int:
    """Recognise a line by its first letters."""
    first = text[at]
    letters = np.int64(first)
    kind = UNKNOWN
    if first in (NEWLINE, HASH, SLASH, SEMICOLON):
        kind = IGNORED
    elif first == ARROW:  # the heading of a calibration message
        kind = CONTINUATION
    elif _is_blank(first):
        kind = IGNORED if text[_skip_blanks(text, at)] == NEWLINE else CONTINUATION
    else:
        for _ in range(3):
            if text[at] != NEWLINE:
                at += ONE
            letters = (letters << 8) | np.int64(text[at])
        if _ends_token(text[at]):
            letters = (letters & ~0xFF) | SPACE
        if letters >> 16 == TWO_STARS:
            kind = HEADER
        for k in range(KEYWORDS.size):
            if letters == KEYWORDS[k]:
                kind = KEYWORD_KINDS[k]
                break
    return kind


@inlined
def _line_fault(kind: int, state: Integers) -> int:
    """Say what is wrong with a line of this kind at this place."""
    fault = NO_FAULT
    if kind == UNKNOWN or (kind == CONTINUATION and not state[MESSAGE_OPEN]):
        fault = UNKNOWN_LINE
    elif SAMPLES <= kind <= VELOCITY_PRESCALER and not state[IN_BLOCK]:
        fault = MISPLACED_LINE
    return fault


@inlined
def _note_fault(fault: int, faults: Integers, state: Integers) -> None:
    n = state[N_FAULTS]
    if n < faults.shape[0]:
        faults[n, 0] = state[LINE]
        faults[n, 1] = fault
    state[N_FAULTS] = n + 1


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
    bits: npt.NDArray[np.uint32],
    index: Integers,
    faults: Integers,
    state: Integers,
) -> int:
    """Parse the lines in ``text[state[POSITION]:stop]`` until something needs Python.

    `numbers` and `bits` are two views of the same rows, shape (capacity, 9 or more): the words
    of a sample, then its extras. `index` gets a row for each line that Python must read;
    `faults` gets a row (line, what) for each damaged one as far as there is room, and N_FAULTS
    counts them all. Returns DONE at `stop`, else what must happen before the next call.
    """
    at = Position(state[POSITION])
    while at < stop:
        fault = NO_FAULT
        kind = UNKNOWN
        if np.uint8(text[at] - ZERO) < 10:
            end = DAMAGED
            if state[HAS_COLUMNS]:
                row = state[N_ROWS]
                if row == numbers.shape[0]:
                    return ROWS_FULL
                time_us, end = _time_us(text, at)
                end = _numbers(text, end, row, layout, numbers)
                eye_status, has_flags, end = _reflection(text, end, layout)
                target_status, has_target, end = _target(text, end, row, layout, numbers)
                parts = has_flags | has_target
                fault = WRONG_COLUMNS
                # a line that ends earlier than the block's others was cut off
                if end != DAMAGED and parts >= state[PARTS_SEEN]:
                    fault = _accept(time_us, eye_status | target_status, parts, bits, state)
            else:
                fault = OUTSIDE_BLOCK
            at = _skip_line(text, at if end == DAMAGED else end)
            state[MESSAGE_OPEN] = 0
        else:
            kind = _kind(text, at)
            end = _skip_line(text, at)
            fault = _line_fault(kind, state)
            if kind != IGNORED:
                if state[N_INDEXED] == index.shape[0]:
                    return INDEX_FULL
                if fault == NO_FAULT:
                    _note_line(kind, at, end - ONE, index, state)
                state[MESSAGE_OPEN] = fault == NO_FAULT and kind in (MESSAGE, CONTINUATION)
            at = end
        if fault != NO_FAULT:
            _note_fault(fault, faults, state)
        state[POSITION] = np.int64(at)
        state[LINE] += 1
        if START <= kind <= END and fault == NO_FAULT:
            return STRUCTURE
    return DONE
