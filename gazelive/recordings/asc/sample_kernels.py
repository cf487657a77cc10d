"""Sample lines of ASC files: each becomes a row of numbers.

The rows are one flat array, seen as floats (`numbers`) and as words (`bits`); a `cell` is where a
row begins.
"""

from __future__ import annotations

import numpy as np

from gazelive.gaze import N_TARGET_FLAGS, TARGET_STATUS_SHIFT, Bytes, Floats, Integers
from gazelive.recordings.asc import parser_state as asc
from gazelive.recordings.asc.columns import EYE_WORDS, STATUS_WORD
from gazelive.recordings.asc.parser_state import Words
from gazelive.recordings.asc.token_kernels import (
    DAMAGED,
    MAX_TARGET_FLAGS,
    NEWLINE,
    ONE,
    ZERO,
    Position,
    read_flags,
    read_number,
    read_time_us,
    skip_blanks,
    skip_line,
)
from gazelive.recordings.asc.word_kernels import (
    HALF_MS_US,
    take_usual_samples,
)
from gazelive.system import kernel

IS_PUPIL = np.array([word in (EYE_WORDS["L"][2], EYE_WORDS["R"][2]) for word in range(32)])
"""True for the words of a row that are pupils; no row is longer."""


@kernel
def _numbers(text: Bytes, at: Position, cell: int, layout: Integers, numbers: Floats) -> Position:
    """Read the numbers before the flags into the row; return where they end, or DAMAGED."""
    k = asc.DESTINATIONS
    while at != DAMAGED and k < layout.size:
        value, at = read_number(text, at)
        word = layout[k]
        if value == 0.0 and IS_PUPIL[word]:
            value = np.nan  # no pupil was seen
        numbers[cell + word] = value
        k += 1
    return at


@kernel
def _target(
    text: Bytes, at: Position, cell: int, layout: Integers, numbers: Floats
) -> tuple[int, Position]:
    """Read the head target and its flags: the flags, and the line's end, or DAMAGED."""
    flags = 0
    n_flags = 0
    for word in range(layout[asc.TARGET_START], layout[asc.TARGET_STOP]):
        value = np.nan
        if at != DAMAGED:
            value, at = read_number(text, at)
        numbers[cell + word] = value
    if at != DAMAGED:
        flags, n_flags, at = read_flags(text, at)
        at = skip_blanks(text, at)
    announced = layout[asc.TARGET_START] < layout[asc.TARGET_STOP]
    whole = announced and N_TARGET_FLAGS <= n_flags <= MAX_TARGET_FLAGS
    return flags, at if whole and text[at] == NEWLINE else DAMAGED


@kernel
def _ending(
    text: Bytes, at: Position, cell: int, layout: Integers, numbers: Floats
) -> tuple[int, int, Position]:
    """Read flags and head target: the status, which of them there are, and the line's end."""
    parts = 0
    flags, n_flags, at = read_flags(text, at)
    status = (flags & 1) | ((flags >> 1) << layout[asc.EYE_FLAG_SHIFT])
    if n_flags > 0:
        parts = asc.HAS_FLAGS
        at = skip_blanks(text, at) if n_flags == layout[asc.N_FLAGS] else DAMAGED
    if at != DAMAGED and text[at] != NEWLINE:
        parts |= asc.HAS_TARGET
        flags, at = _target(text, at, cell, layout, numbers)
        status |= flags << TARGET_STATUS_SHIFT
    return status, parts, at


@kernel
def _any_sample(
    text: Bytes, at: Position, cell: int, layout: Integers, numbers: Floats
) -> tuple[np.int64, int, int, Position]:
    """Read any sample line: its time, status, optional parts and end."""
    for word in range(layout[asc.ABSENT_START], layout[asc.ABSENT_STOP]):
        numbers[cell + word] = np.nan
    for word in range(layout[asc.TARGET_START], layout[asc.TARGET_STOP]):
        numbers[cell + word] = np.nan
    status = 0
    parts = 0
    time_us, end = read_time_us(text, at)
    end = _numbers(text, end, cell, layout, numbers)
    if end != DAMAGED:
        status, parts, end = _ending(text, end, cell, layout, numbers)
    return time_us, status, parts, end


@kernel
def take_samples(
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
    row = state[asc.N_ROWS]
    n_lines = 0
    last_us = state[asc.LAST_TIME_US]
    last_written_us = state[asc.LAST_WRITTEN_TIME_US]
    parts_seen = state[asc.PARTS_SEEN]
    times_repeat = state[asc.TIMES_REPEAT]
    n_words = layout[asc.TARGET_STOP]
    fault = asc.NO_FAULT
    goes_on = True
    while goes_on:
        first = row
        if at < stop and parts_seen <= asc.HAS_FLAGS:
            at, row, last_us, last_written_us = take_usual_samples(
                text, at, stop, layout, numbers, bits, row, last_us, last_written_us, times_repeat
            )
        if row > first:
            n_lines += row - first
            parts_seen = asc.HAS_FLAGS
        cell = row * n_words
        goes_on = bool(
            at < stop and np.uint8(text[at] - ZERO) < 10 and cell + n_words <= numbers.size
        )
        if goes_on:
            time_us, status, parts, end = _any_sample(text, at, cell, layout, numbers)
            n_lines += 1
            # a line that ends earlier than the block's others was cut off
            if end == DAMAGED or parts < parts_seen:
                fault = asc.WRONG_COLUMNS
                at = skip_line(text, at)
            else:
                written_us = time_us
                if times_repeat and written_us == last_written_us:
                    time_us += HALF_MS_US
                if time_us <= last_us:
                    fault = asc.TIME_ORDER
                    state[asc.OUT_OF_ORDER] = 1
                bits[cell] = time_us & 0xFFFFFFFF
                bits[cell + 1] = time_us >> 32
                bits[cell + STATUS_WORD] = status
                parts_seen = parts
                last_us = time_us
                last_written_us = written_us
                row += 1
                at = end + ONE
            goes_on = fault == asc.NO_FAULT
    state[asc.N_ROWS] = row
    state[asc.LINE] += n_lines
    state[asc.LAST_TIME_US] = last_us
    state[asc.LAST_WRITTEN_TIME_US] = last_written_us
    state[asc.PARTS_SEEN] = parts_seen
    return fault, at
