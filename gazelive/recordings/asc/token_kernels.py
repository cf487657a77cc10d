"""Tokens of ASC text, read byte by byte: numbers, times, flags.

The functions run to a token's or a line's end without looking at the text's length: the text
ends with a newline, and none steps over one. Whatever is not above a space, as tabs and returns,
separates tokens. Positions are unsigned, which spares numba its check for negative indices in
every byte; and each function looks at the text last on its only way out, since with several
ways out numba counts references to it in every call.
"""

from __future__ import annotations

import numba
import numpy as np

from gazelive.gaze import N_TARGET_FLAGS, Bytes
from gazelive.system import kernel

Position = np.uint64

inlined = numba.njit(inline="always")
"""For what every line goes through: as calls, they would count references to the arrays."""

ONE = Position(1)
DAMAGED = Position(0)
"""No token ends at the first byte, so this position is free to mean: cannot be read."""

TAB, NEWLINE, RETURN, SPACE = b"\t\n\r "
MINUS, PLUS, POINT, ZERO = b"-+.0"
LETTER_A, LETTER_L, LETTER_R, LETTER_Z = b"ALRZ"
LETTER_E, LOWER_CASE = b"e "
"""The lower-case letter, and the bit that distinguishes it from the capital."""

MAX_TIME_DIGITS = 13
MAX_NUMBER_DIGITS = 18
MAX_EXPONENT = 999
MAX_TARGET_FLAGS = N_TARGET_FLAGS + 4
"""With two eyes the last four flags, of the eye near an edge, come twice."""
MISSING_CODE = -32768.0
MISSING_WORD = np.frombuffer(b"MISSING_DATA", np.uint8)
POWERS_OF_TEN = np.array([10.0**power for power in range(MAX_NUMBER_DIGITS + 1)])


@kernel
def skip_blanks(text: Bytes, at: Position) -> Position:
    """Return the position of the next token, or of the line's end."""
    while text[at] <= SPACE and text[at] != NEWLINE:
        at += ONE
    return at


@kernel
def skip_token(text: Bytes, at: Position) -> Position:
    """Return the position after blanks and a token."""
    at = skip_blanks(text, at)
    while text[at] > SPACE:
        at += ONE
    return at


@kernel
def skip_line(text: Bytes, at: Position) -> Position:
    """Return the position after the line's newline."""
    while text[at] != NEWLINE:
        at += ONE
    return at + ONE


@kernel
def _read_exponent(text: Bytes, at: Position, value: float) -> tuple[float, Position]:
    """Apply the exponent whose letter is at `at`; return that place if it is none."""
    letter = at
    at += ONE
    shrinks = text[at] == MINUS
    if shrinks or text[at] == PLUS:
        at += ONE
    first = at
    power = np.int64(0)
    digit = np.uint8(text[at] - ZERO)
    while digit < 10:
        power = min(power * 10 + np.int64(digit), np.int64(MAX_EXPONENT))
        at += ONE
        digit = np.uint8(text[at] - ZERO)
    value = value / 10.0**power if shrinks else value * 10.0**power
    return value, letter if at == first or abs(value) == np.inf else at


@inlined
def _number(text: Bytes, at: Position, exponents: bool) -> tuple[float, Position]:
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
    if exponents and n_digits > 0 and text[at] | LOWER_CASE == LETTER_E:
        value, at = _read_exponent(text, at, value)
    if negative:
        value = -value
    if missing or value == MISSING_CODE:
        value = np.nan
    ended = text[at] <= SPACE
    whole = missing != (0 < n_digits <= MAX_NUMBER_DIGITS) and not (missing and negative)
    return value, at if whole and ended else DAMAGED


@kernel
def read_number(text: Bytes, at: Position) -> tuple[float, Position]:
    """Read one number after blanks: its value (NaN if missing) and where it ends, or DAMAGED."""
    return _number(text, at, False)


@kernel
def read_event_number(text: Bytes, at: Position) -> tuple[float, Position]:
    """Read the same with an exponent: EDF2ASC writes large numbers of events as ``2.9e+006``.

    Samples never have one, and are read faster without looking for it.
    """
    return _number(text, at, True)


@kernel
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
    ended = text[at] <= SPACE
    return time_us, at if ended and 0 < n_digits <= MAX_TIME_DIGITS else DAMAGED


@kernel
def read_flags(text: Bytes, at: Position) -> tuple[int, int, Position]:
    """Read flags after blanks: a bit for each letter, their number, and where they end."""
    at = skip_blanks(text, at)
    bits = 0
    n = 0
    while text[at] > SPACE:
        byte = text[at]
        if byte != POINT:
            bits |= 1 << min(n, MAX_TARGET_FLAGS)
        # whatever is neither point nor letter makes the token too long to be flags
        n += 1 if byte == POINT or LETTER_A <= byte <= LETTER_Z else MAX_TARGET_FLAGS + 1
        at += ONE
    return bits, n, at


@kernel
def read_eye(text: Bytes, at: Position) -> tuple[int, Position]:
    """Read L (0) or R (1) after blanks: and where it ends, or DAMAGED."""
    at = skip_blanks(text, at)
    eye = 1 if text[at] == LETTER_R else 0
    known = eye == 1 or text[at] == LETTER_L
    if known:
        at += ONE
    ended = text[at] <= SPACE
    return eye, at if known and ended else DAMAGED
