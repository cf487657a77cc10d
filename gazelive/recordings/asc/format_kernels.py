"""Formatting of samples as ASC sample lines, byte by byte.

Numbers have EDF2ASC's format: one decimal, seven characters wide, a point after three blanks for
missing values, and 0.0 for a missing pupil.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from gazelive.gaze import TARGET_STATUS_SHIFT, Bytes, Integers, SingleFloats
from gazelive.recordings.asc.columns import EYE_WORDS, STATUS_WORD
from gazelive.system import kernel

# places in `layout`
TIME_DECIMALS = 0
TIME_UNIT_US = 1
N_FLAGS = 2
EYE_FLAG_SHIFT = 3
N_TARGET_FLAGS = 4  # 0 without a head target
TARGET_START = 5  # where among the words the head target starts
WORDS = 6  # from here on: the words of the row that are numbers, in the order of the line

TAB, NEWLINE, SPACE, MINUS, POINT, ZERO = b"\t\n -.0"
REFLECTION_LETTERS = np.frombuffer(b"ICRCR", np.uint8)
TARGET_LETTERS = np.frombuffer(b"MANCFTBLRTBLRTBLR", np.uint8)
LEFT_PUPIL_WORD, RIGHT_PUPIL_WORD = EYE_WORDS["L"][2], EYE_WORDS["R"][2]
NUMBER_WIDTH = 7
MISSING_WIDTH = 4
LARGEST_NUMBER = 1e12
LONGEST_NUMBER = 16
LONGEST_TIME = 24

inlined = numba.njit(inline="always")


@inlined
def _put_digits(out: Bytes, at: int, value: Any, n_decimals: int) -> int:
    """Write a number that is not negative, given in units of its last decimal."""
    n = 1
    limit = 10
    while value >= limit:
        n += 1
        limit *= 10
    n = max(n, n_decimals + 1)
    end = at + n + (1 if n_decimals > 0 else 0)
    place = end - 1
    for k in range(n):
        if n_decimals > 0 and k == n_decimals:
            out[place] = POINT
            place -= 1
        out[place] = ZERO + value % 10
        value //= 10
        place -= 1
    return end


@inlined
def _put_number(out: Bytes, at: int, value: float) -> int:
    """Write a tab and the number, right-aligned."""
    out[at] = TAB
    at += 1
    if not abs(value) < LARGEST_NUMBER:
        for _ in range(MISSING_WIDTH - 1):
            out[at] = SPACE
            at += 1
        out[at] = POINT
        return at + 1
    tenths = np.int64(np.rint(value * 10.0))
    negative = tenths < 0
    tenths = abs(tenths)
    width = 4 if negative else 3  # the shortest: -0.1
    limit = 100
    while tenths >= limit:
        width += 1
        limit *= 10
    for _ in range(width, NUMBER_WIDTH):
        out[at] = SPACE
        at += 1
    if negative:
        out[at] = MINUS
        at += 1
    return _put_digits(out, at, tenths, 1)


@inlined
def _put_flags(out: Bytes, at: int, flags: Any, letters: Bytes, n: Any) -> int:
    """Write a letter for each of the `n` lowest bits that is set, else a point."""
    for k in range(n):
        out[at] = letters[k] if flags >> k & 1 else POINT
        at += 1
    return at


@kernel
def format_samples(
    numbers: SingleFloats,
    bits: npt.NDArray[np.uint32],
    first: int,
    stop: int,
    layout: Integers,
    out: Bytes,
) -> int:
    """Write the lines of rows `first` to `stop` to `out`; return the number of bytes.

    `numbers` and `bits` are two views of the same samples and extras, shape (n, 9 + k); `out`
    has room for the longest lines that there can be.
    """
    at = 0
    for row in range(first, stop):
        time_us = np.int64(bits[row, 0]) | (np.int64(bits[row, 1]) << 32)
        at = _put_digits(out, at, time_us // layout[TIME_UNIT_US], layout[TIME_DECIMALS])
        for k in range(WORDS, layout[TARGET_START]):
            word = layout[k]
            value = np.float64(numbers[row, word])
            if np.isnan(value) and word in (LEFT_PUPIL_WORD, RIGHT_PUPIL_WORD):
                value = np.float64(0.0)
            at = _put_number(out, at, value)
        status = np.int64(bits[row, STATUS_WORD])
        out[at] = TAB
        eye_flags = (status & 1) | ((status >> layout[EYE_FLAG_SHIFT]) << 1)
        at = _put_flags(out, at + 1, eye_flags, REFLECTION_LETTERS, layout[N_FLAGS])
        if layout[N_TARGET_FLAGS] > 0:
            out[at] = SPACE
            at += 1
            for k in range(layout[TARGET_START], layout.size):
                at = _put_number(out, at, np.float64(numbers[row, layout[k]]))
            out[at] = SPACE
            target_flags = status >> TARGET_STATUS_SHIFT
            at = _put_flags(out, at + 1, target_flags, TARGET_LETTERS, layout[N_TARGET_FLAGS])
        out[at] = NEWLINE
        at += 1
    return at
