"""Sample lines of ASC files: each becomes a row of numbers."""

from __future__ import annotations

import numpy as np

from gazelive.compilation import kernel
from gazelive.gaze.samples import N_TARGET_FLAGS, TARGET_STATUS_SHIFT
from gazelive.recordings import asc_state as asc
from gazelive.recordings.asc_columns import EYE_WORDS, STATUS_WORD
from gazelive.recordings.asc_state import Floats, Integers, Words
from gazelive.recordings.asc_token_kernels import (
    DAMAGED,
    MAX_TARGET_FLAGS,
    NEWLINE,
    ONE,
    RETURN,
    TAB,
    ZERO,
    Bytes,
    Position,
    read_flags,
    read_number,
    read_time_us,
    skip_blanks,
    skip_line,
)
from gazelive.recordings.asc_word_kernels import (
    EIGHT,
    inlined,
    no_flag_is_set,
    read_usual_number,
    read_usual_time,
    usual_time_length,
)

IS_PUPIL = np.array([word in (EYE_WORDS["L"][2], EYE_WORDS["R"][2]) for word in range(32)])
"""Of each word of a row; no row is longer."""


@kernel
def _numbers(text: Bytes, at: Position, row: int, layout: Integers, numbers: Floats) -> Position:
    """Read the numbers before the flags into `row`; return where they end, or DAMAGED."""
    k = asc.DESTINATIONS
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
    for word in range(layout[asc.ABSENT_START], layout[asc.ABSENT_STOP]):
        numbers[row, word] = np.nan
    for word in range(layout[asc.TARGET_START], layout[asc.TARGET_STOP]):
        numbers[row, word] = np.nan
    n_values = Position(layout.size - asc.DESTINATIONS)
    fields = at + n_time_digits
    flags = fields + EIGHT * n_values
    end = flags + Position(layout[asc.N_FLAGS]) + ONE
    time = np.int64(0)
    if n_time_digits > DAMAGED and end + EIGHT < Position(text.size):
        time, usual = read_usual_time(text, at, n_time_digits)
        usual = usual and text[fields] == TAB and no_flag_is_set(text, flags, layout[asc.N_FLAGS])
        if text[end] == RETURN:
            end += ONE
        usual = usual and text[end] == NEWLINE
        for k in range(asc.DESTINATIONS, layout.size):
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
    for word in range(layout[asc.TARGET_START], layout[asc.TARGET_STOP]):
        value = np.nan
        if at != DAMAGED:
            value, at = read_number(text, at)
        numbers[row, word] = value
    if at != DAMAGED:
        flags, n_flags, at = read_flags(text, at)
        at = skip_blanks(text, at)
    announced = layout[asc.TARGET_START] < layout[asc.TARGET_STOP]
    whole = announced and N_TARGET_FLAGS <= n_flags <= MAX_TARGET_FLAGS
    return flags, at if whole and text[at] == NEWLINE else DAMAGED


@kernel
def _ending(
    text: Bytes, at: Position, row: int, layout: Integers, numbers: Floats
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
    n_time_digits = Position(0)
    fault = asc.NO_FAULT
    while (
        fault == asc.NO_FAULT
        and at < stop
        and np.uint8(text[at] - ZERO) < 10
        and row < numbers.shape[0]
    ):
        status = 0
        parts = asc.HAS_FLAGS
        time_ms, end = _usual_sample(text, at, n_time_digits, row, layout, numbers)
        time_us = 1000 * time_ms
        if end == DAMAGED:
            time_us, status, parts, time_end, end = _unusual_sample(text, at, row, layout, numbers)
            n_time_digits = usual_time_length(at, time_end)
        # a line that ends earlier than the block's others was cut off
        if end == DAMAGED or parts < parts_seen:
            fault = asc.WRONG_COLUMNS
            at = skip_line(text, at)
        else:
            written_us = time_us
            if state[asc.TIMES_REPEAT] and written_us == last_written_us:
                time_us += 500
            if time_us <= last_us:
                fault = asc.TIME_ORDER
                state[asc.OUT_OF_ORDER] = 1
            bits[row, 0] = time_us & 0xFFFFFFFF
            bits[row, 1] = time_us >> 32
            bits[row, STATUS_WORD] = status
            parts_seen = parts
            last_us = time_us
            last_written_us = written_us
            row += 1
            at = end + ONE
        n_lines += 1
    state[asc.N_ROWS] = row
    state[asc.LINE] += n_lines
    state[asc.LAST_TIME_US] = last_us
    state[asc.LAST_WRITTEN_TIME_US] = last_written_us
    state[asc.PARTS_SEEN] = parts_seen
    return fault, at
