"""The usual sample line, read eight bytes at a time.

EDF2ASC pads its numbers to seven characters with one decimal, so in most lines every field has
its place: ``1000123<tab>  512.3<tab>  384.1<tab> 1500.0<tab>...<newline>``. Each field is then
one 64-bit word, its digits are put together by three multiplications (Lemire, "Quickly parsing
eight digits", 2018), and no field waits for the one before. Whatever is not exactly so (a
missing value, a flag, another width, the end of the text) is left to the byte parser, which
reads the same lines to the same numbers.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import types
from numba.extending import intrinsic

from gazelive.recordings.asc_token_kernels import DAMAGED, Bytes, Position

Word = np.uint64

inlined = numba.njit(inline="always")
"""For what every line goes through: as calls, they would count references to the arrays."""

EIGHT = Position(8)
LONGEST_TIME = 8
_ASCII_ZEROS = Word(0x3030303030303030)
_SIXES = Word(0x0606060606060606)
_HIGH_NIBBLES = Word(0xF0F0F0F0F0F0F0F0)
_POINT_AND_TAB_MASK = Word(0xFF00FF0000000000)
_POINT_AND_TAB = Word(0x09002E0000000000)
_BLANK_BITS = Word(0x0000001010101010)
"""What distinguishes a blank from a digit, in the five places before the point."""
_LAST_PLACE = Word(0x0000001000000000)
_BEFORE_POINT = Word(0x000000FFFFFFFFFF)
_AFTER_POINT = Word(0x0000FF0000000000)
_BYTE, _TWO_BYTES, _FOUR_BYTES, _WORD_BITS = Word(8), Word(16), Word(32), Word(64)
_NO_FLAGS_OF_ONE_EYE = Word(int.from_bytes(b"\t...", "little"))
_ONE_EYE_MASK = Word(0x00000000FFFFFFFF)
_NO_FLAGS_OF_TWO_EYES = Word(int.from_bytes(b"\t.....", "little"))
_TWO_EYES_MASK = Word(0x0000FFFFFFFFFFFF)


def _load_word(_typing_context: Any, text: Any, at: Any) -> Any:
    """Tell numba how to load eight bytes that need not be aligned, without a look at bounds."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        place = builder.gep(array.data, [arguments[1]])
        return builder.load(builder.bitcast(place, ir.IntType(64).as_pointer()), align=1)

    return types.uint64(text, at), generate


load_word: Any = intrinsic(_load_word)
"""``load_word(text, at)``: eight bytes as one number, the first byte the lowest."""


@inlined
def _are_digits(digits: Word) -> Any:
    """Say whether every byte is 0 to 9."""
    return ((digits | (digits + _SIXES)) & _HIGH_NIBBLES) == Word(0)


@inlined
def _from_digits(digits: Word) -> np.int64:
    """Put eight digits together, one in each byte, the first in the lowest."""
    pairs = (digits * Word(2561)) >> _BYTE & Word(0x00FF00FF00FF00FF)
    fours = (pairs * Word(6553601)) >> _TWO_BYTES & Word(0x0000FFFF0000FFFF)
    return np.int64((fours * Word(42949672960001)) >> _FOUR_BYTES)


@inlined
def read_usual_number(text: Bytes, at: Position) -> tuple[np.int64, Any]:
    """Read seven characters of a number with one decimal and a tab: tenths, and if it is so."""
    word = load_word(text, at)
    digits = word ^ _ASCII_ZEROS
    blanks = digits & _BLANK_BITS
    # blanks may only stand before digits, and one digit must stand before the point
    leading = ((blanks >> _BYTE) & ~blanks) == Word(0) and (blanks & _LAST_PLACE) == Word(0)
    digits = ((digits ^ blanks) & _BEFORE_POINT) | ((digits >> _BYTE) & _AFTER_POINT)
    usual = (word & _POINT_AND_TAB_MASK) == _POINT_AND_TAB
    return _from_digits(digits << _TWO_BYTES), usual and leading and _are_digits(digits)


@inlined
def read_usual_time(text: Bytes, at: Position, n_digits: Position) -> tuple[np.int64, Any]:
    """Read a time of `n_digits` (1 to 8): its number, and if they are digits."""
    digits = (load_word(text, at) ^ _ASCII_ZEROS) << (_WORD_BITS - _BYTE * n_digits)
    return _from_digits(digits), _are_digits(digits)


@inlined
def no_flag_is_set(text: Bytes, at: Position, n_flags: int) -> Any:
    """Say whether there are a tab and as many points as flags."""
    word = load_word(text, at)
    if n_flags == 3:
        usual = (word & _ONE_EYE_MASK) == _NO_FLAGS_OF_ONE_EYE
    else:
        usual = (word & _TWO_EYES_MASK) == _NO_FLAGS_OF_TWO_EYES
    return usual


@inlined
def usual_time_length(at: Position, end: Position) -> Position:
    """Return the length of a time from `at` to `end`, or 0 where it is no usual one."""
    return end - at if end != DAMAGED and end - at <= EIGHT else DAMAGED
