"""Tokens of ASC text, read byte by byte: numbers, times, flags.

The functions are inlined into `asc_kernels.parse_lines`: as calls, each would count references
to its arrays. They run to a token's or a line's end without looking at the text's length: the
text ends with a newline, and none steps over one. Positions are unsigned, which spares numba its
check for negative indices in every byte (a quarter of the time).
"""

from __future__ import annotations

import numba
import numpy as np
import numpy.typing as npt

from gazelive.gaze.samples import N_TARGET_FLAGS

Bytes = npt.NDArray[np.uint8]
Position = np.uint64

ONE = Position(1)
DAMAGED = Position(0)
"""No token ends at the first byte, so this position is free to mean: cannot be read."""

TAB, NEWLINE, RETURN, SPACE = b"\t\n\r "
MINUS, POINT, ZERO = b"-.0"
LETTER_L, LETTER_R = b"LR"

MAX_TIME_DIGITS = 13
MAX_NUMBER_DIGITS = 18
MAX_TARGET_FLAGS = N_TARGET_FLAGS + 4
"""With two eyes the last four flags, of the eye near an edge, come twice."""
MISSING_CODE = -32768.0
MISSING_WORD = np.frombuffer(b"MISSING_DATA", np.uint8)
POWERS_OF_TEN = np.array([10.0**power for power in range(MAX_NUMBER_DIGITS + 1)])


def bytes_among(members: bytes) -> npt.NDArray[np.bool_]:
    """Return a table that says of each byte whether it is among `members`."""
    table = np.zeros(256, np.bool_)
    table[list(members)] = True
    return table


BLANK = bytes_among(b"\t\r ")
ENDS_TOKEN = bytes_among(b"\t\r \n")
FLAG = bytes_among(b".ABCDEFGHIJKLMNOPQRSTUVWXYZ")

inlined = numba.njit(inline="always")


@inlined
def skip_blanks(text: Bytes, at: Position) -> Position:
    """Return the position of the next token, or of the line's end."""
    while BLANK[text[at]]:
        at += ONE
    return at


@inlined
def skip_token(text: Bytes, at: Position) -> Position:
    """Return the position after blanks and a token."""
    at = skip_blanks(text, at)
    while not ENDS_TOKEN[text[at]]:
        at += ONE
    return at


@inlined
def skip_line(text: Bytes, at: Position) -> Position:
    """Return the position after the line's newline."""
    while text[at] != NEWLINE:
        at += ONE
    return at + ONE


@inlined
def read_number(text: Bytes, at: Position) -> tuple[float, Position]:
    """Read one number after blanks: its value (NaN if missing) and where it ends, or DAMAGED.

    The digits are gathered as one integer and divided once by a power of ten, which rounds
    correctly for up to 15 digits.
    """
    at = skip_blanks(text, at)
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
            if missing:
                at += ONE
            k += 1
    n_digits += n_decimals
    value = mantissa / POWERS_OF_TEN[min(n_decimals, MAX_NUMBER_DIGITS)]
    if negative:
        value = -value
    if missing or value == MISSING_CODE:
        value = np.nan
    whole = missing != (0 < n_digits <= MAX_NUMBER_DIGITS) and not (missing and negative)
    return value, at if whole and ENDS_TOKEN[text[at]] else DAMAGED


@inlined
def read_time_us(text: Bytes, at: Position) -> tuple[np.int64, Position]:
    """Read a time in ms, to the microsecond, after blanks: and where it ends, or DAMAGED."""
    at = skip_blanks(text, at)
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
    whole = 0 < n_digits <= MAX_TIME_DIGITS
    return time_us, at if whole and ENDS_TOKEN[text[at]] else DAMAGED


@inlined
def read_flags(text: Bytes, at: Position) -> tuple[int, int, Position]:
    """Read flags after blanks: a bit for each letter, their number, and where they end."""
    at = skip_blanks(text, at)
    bits = 0
    n = 0
    while not ENDS_TOKEN[text[at]]:
        byte = text[at]
        if byte != POINT:
            bits |= 1 << min(n, MAX_TARGET_FLAGS)
        # whatever is neither point nor letter makes the token too long to be flags
        n += 1 if FLAG[byte] else MAX_TARGET_FLAGS + 1
        at += ONE
    return bits, n, at


@inlined
def read_eye(text: Bytes, at: Position) -> tuple[int, Position]:
    """Read L (0) or R (1) after blanks: and where it ends, or DAMAGED."""
    at = skip_blanks(text, at)
    eye = 1 if text[at] == LETTER_R else 0
    known = eye == 1 or text[at] == LETTER_L
    if known:
        at += ONE
    return eye, at if known and ENDS_TOKEN[text[at]] else DAMAGED
