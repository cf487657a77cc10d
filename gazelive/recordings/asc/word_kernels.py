"""Fast parser of the usual sample line, many bytes at a time.

EDF2ASC pads its numbers to seven characters with one decimal, so in most lines every field has
its place: ``1000123<tab>  512.3<tab>  384.1<tab> 1500.0<tab>...<newline>``. Each field is then
eight bytes (a 64-bit lane of a vector; the digits are combined by pairs, fours and eights as in
Lemire, "Quickly parsing eight digits", 2018), four fields are read at once, and the layout is
checked once per line. A line that deviates (a missing value, a flag, another width, a time that is
not later, the end of the text) is left to the byte parser, which reads the same lines to the same
numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import types
from numba.extending import intrinsic

from gazelive.gaze import Bytes, Floats, Integers
from gazelive.recordings.asc import parser_state as asc
from gazelive.recordings.asc.columns import STATUS_WORD, WORDS_PER_SAMPLE
from gazelive.recordings.asc.parser_state import Words
from gazelive.recordings.asc.token_kernels import ONE, RETURN, TAB, ZERO, Position, inlined
from gazelive.system import kernel

ONE_EYE, TWO_EYES, REST_OF_TWO_EYES, OTHERS = 0, 1, 2, 2
"""Lanes that count: OTHERS + n for n numbers that are no positions or pupils."""
_ALL = (1 << 64) - 1
LANES = np.array(
    [
        # a number must be here            it must not be 0 here: no pupil was seen
        *((_ALL, _ALL, _ALL, 0), (0, 0, _ALL, 0)),
        *((_ALL, _ALL, _ALL, _ALL), (0, 0, _ALL, 0)),
        *((_ALL, _ALL, 0, 0), (0, _ALL, 0, 0)),
        *((_ALL, 0, 0, 0), (0, 0, 0, 0)),
        *((_ALL, _ALL, 0, 0), (0, 0, 0, 0)),
        *((_ALL, _ALL, _ALL, 0), (0, 0, 0, 0)),
        *((_ALL, _ALL, _ALL, _ALL), (0, 0, 0, 0)),
    ],
    np.uint64,
)
_N_LANES = 4
_BLANK_BITS = 0x0000001010101010
"""Bits that distinguish a blank from a digit, in the five places before the point."""
_I16, _I32, _I64, _FLOAT = ir.IntType(16), ir.IntType(32), ir.IntType(64), ir.FloatType()


class _Builder:
    """Vector instructions with constants, by their signs."""

    def __init__(self, builder: Any) -> None:
        self._builder = builder

    def constant(self, like: Any, value: float) -> Any:
        return ir.Constant(like.type, [value] * like.type.count)

    def both(self, vector: Any, mask: int) -> Any:
        return self._builder.and_(vector, self.constant(vector, mask))

    def differ(self, vector: Any, pattern: int) -> Any:
        return self._builder.xor(vector, self.constant(vector, pattern))

    def down(self, vector: Any, n_bits: int) -> Any:
        return self._builder.lshr(vector, self.constant(vector, n_bits))

    def joined(self, vector: Any, bits: Any, base: int) -> Any:
        """Put the low and the high half of each element together, the low one counting more."""
        vector = self._builder.bitcast(vector, ir.VectorType(bits, 256 // bits.width))
        low = self.both(vector, (1 << bits.width // 2) - 1)
        low = self._builder.mul(low, self.constant(low, base))
        return self._builder.add(low, self.down(vector, bits.width // 2))


def _four_numbers(
    _typing_context: Any, text: Any, at: Any, numbers: Any, cell: Any, lanes: Any, case: Any
) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        def pointer(array: int, place: Any, element: Any) -> Any:
            made = context.make_array(signature.args[array])
            start = made(context, builder, arguments[array]).data
            vector = ir.VectorType(element, _N_LANES)
            return builder.bitcast(builder.gep(start, [place]), vector.as_pointer())

        vector = _Builder(builder)
        first = builder.mul(arguments[5], ir.Constant(_I64, 2 * _N_LANES))
        second = builder.add(first, ir.Constant(_I64, _N_LANES))
        counts = builder.load(pointer(4, first, _I64), align=8)
        is_pupil = builder.load(pointer(4, second, _I64), align=8)
        word = builder.load(pointer(0, arguments[1], _I64), align=1)
        digits = vector.differ(word, 0x3030303030303030)
        blanks = vector.both(digits, _BLANK_BITS)
        # blanks may only stand before digits, and one digit must stand before the point
        unusual = builder.and_(vector.down(blanks, 8), builder.not_(blanks))
        unusual = builder.or_(unusual, vector.both(blanks, 0x0000001000000000))
        point_and_tab = vector.both(word, 0xFF00FF0000000000)
        unusual = builder.or_(unusual, vector.differ(point_and_tab, 0x09002E0000000000))
        digits = builder.or_(
            vector.both(builder.xor(digits, blanks), 0x000000FFFFFFFFFF),
            vector.both(vector.down(digits, 8), 0x0000FF0000000000),
        )
        sums = builder.add(digits, vector.constant(digits, 0x0606060606060606))
        not_digits = vector.both(builder.or_(digits, sums), 0xF0F0F0F0F0F0F0F0)
        unusual = builder.or_(unusual, not_digits)
        digits = builder.shl(digits, vector.constant(digits, 16))
        pairs = vector.joined(digits, _I16, 10)
        fours = vector.joined(pairs, _I32, 100)
        tenths = vector.joined(fours, _I64, 10_000)
        is_zero = builder.icmp_unsigned("==", tenths, vector.constant(tenths, 0))
        no_pupil = builder.and_(builder.sext(is_zero, tenths.type), is_pupil)
        unusual = builder.and_(builder.or_(unusual, no_pupil), counts)
        tenths = builder.trunc(tenths, ir.VectorType(_I32, _N_LANES))
        values = builder.sitofp(tenths, ir.VectorType(_FLOAT, _N_LANES))
        values = builder.fdiv(values, vector.constant(values, 10.0))
        builder.store(values, pointer(2, arguments[3], _FLOAT), align=4)
        together = ir.IntType(256)
        unusual = builder.bitcast(unusual, together)
        return builder.zext(builder.icmp_unsigned("!=", unusual, ir.Constant(together, 0)), _I64)

    return types.uint64(text, at, numbers, cell, lanes, case), generate


four_numbers: Any = intrinsic(_four_numbers)
"""``four_numbers(text, at, numbers, cell, LANES, case)``: 32 bytes become four floats.

They are written from ``numbers[cell]`` on, whatever they are; 0 is returned if all those that count
in this case are usual numbers. Nothing looks at bounds.
"""


def _load_word(_typing_context: Any, text: Any, at: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        place = builder.gep(array.data, [arguments[1]])
        return builder.load(builder.bitcast(place, _I64.as_pointer()), align=1)

    return types.uint64(text, at), generate


load_word: Any = intrinsic(_load_word)
"""``load_word(text, at)``: eight bytes as one number, the first byte the lowest; no bounds."""


Word = np.uint64

TWO, THREE, FOUR, SIX, EIGHT = (Position(n) for n in (2, 3, 4, 6, 8))
NOWHERE = Position(0)
_VECTOR_BYTES = Position(32)
_NOTHING = Word(0)
_ASCII_ZEROS = Word(0x3030303030303030)
_SIXES = Word(0x0606060606060606)
_HIGH_NIBBLES = Word(0xF0F0F0F0F0F0F0F0)
_BYTE, _TWO_BYTES, _FOUR_BYTES, _WORD_BITS = Word(8), Word(16), Word(32), Word(64)
_ENDINGS = (b"\t...\n", b"\t...\r\n", b"\t.....\n", b"\t.....\r\n")
"""Line endings without flags, for one eye and for two."""
ENDING_WORDS = np.array([int.from_bytes(ending, "little") for ending in _ENDINGS], np.uint64)
ENDING_LENGTHS = np.array([len(ending) for ending in _ENDINGS], np.uint64)
_FLAGS_OF_ONE_EYE = 3
HALF_MS_US = 500


@inlined
def _not_digits(digits: Word) -> Word:
    """Return 0 if every byte is 0 to 9."""
    return (digits | (digits + _SIXES)) & _HIGH_NIBBLES


@inlined
def _from_digits(digits: Word) -> Word:
    """Put eight digits together, one in each byte, the first in the lowest."""
    pairs = (digits * Word(2561)) >> _BYTE & Word(0x00FF00FF00FF00FF)
    fours = (pairs * Word(6553601)) >> _TWO_BYTES & Word(0x0000FFFF0000FFFF)
    return (fours * Word(42949672960001)) >> _FOUR_BYTES


@inlined
def _time_length(text: Bytes, at: Position) -> Position:
    """Return the number of digits before a tab, or 0 where there are more than 8."""
    length = NOWHERE
    while length < EIGHT and np.uint8(text[at + length] - ZERO) < 10:
        length += ONE
    return length if text[at + length] == TAB else NOWHERE


@inlined
def _read_fields(
    text: Bytes,
    field: Position,
    numbers: Floats,
    cell: Position,
    eye_word: Position,
    n_eye_values: Position,
    n_others: Position,
) -> Any:
    """Read the numbers of a line into its row, and beyond; return 0 if all are usual."""
    if n_eye_values == THREE:
        unusual = four_numbers(text, field, numbers, cell + eye_word, LANES, Position(ONE_EYE))
    else:
        unusual = four_numbers(text, field, numbers, cell + eye_word, LANES, Position(TWO_EYES))
        unusual |= four_numbers(
            text,
            field + _VECTOR_BYTES,
            numbers,
            cell + eye_word + FOUR,
            LANES,
            Position(REST_OF_TWO_EYES),
        )
    field += EIGHT * n_eye_values
    cell += Position(WORDS_PER_SAMPLE)
    while n_others > NOWHERE:
        n = min(n_others, FOUR)
        unusual |= four_numbers(text, field, numbers, cell, LANES, Position(OTHERS) + n)
        field += EIGHT * n
        cell += n
        n_others -= n
    return unusual


@kernel
def take_usual_samples(
    text: Bytes,
    at: Position,
    stop: Position,
    layout: Integers,
    numbers: Floats,
    bits: Words,
    row: int,
    last_us: np.int64,
    last_written_us: np.int64,
    times_repeat: int,
) -> tuple[Position, int, np.int64, np.int64]:
    """Read lines as long as they are usual, and as the first of them is.

    Returns where the next line starts, the next row, the last time and how it was written.
    """
    has_one_eye = layout[asc.N_FLAGS] == _FLAGS_OF_ONE_EYE
    n_values = Position(layout.size - asc.DESTINATIONS)
    n_eye_values = THREE if has_one_eye else SIX
    eye_word = Position(layout[asc.DESTINATIONS])
    absent_word = Position(layout[asc.ABSENT_START])
    n_words = Position(layout[asc.TARGET_STOP])
    n_digits = _time_length(text, at)
    time_shift = _WORD_BITS - _BYTE * n_digits
    ending = 0 if has_one_eye else 2
    length = n_digits + EIGHT * n_values
    past_flags = at + length + ENDING_LENGTHS[ending] - ONE
    if past_flags < stop and text[past_flags] == RETURN:
        ending += 1
    ending_word = ENDING_WORDS[ending]
    ending_mask = ~_NOTHING >> (_WORD_BITS - _BYTE * ENDING_LENGTHS[ending])
    length += ENDING_LENGTHS[ending]
    # vectors must not reach beyond the text, nor beyond the rows
    past = NOWHERE
    if n_digits > NOWHERE and Position(text.size) > length + _VECTOR_BYTES:
        past = min(stop, Position(text.size) - length - _VECTOR_BYTES)
    cell = Position(row) * n_words
    last_cell = Position(max(numbers.size - 2 * layout[asc.TARGET_STOP], 0))
    unusual = _NOTHING
    while unusual == _NOTHING and at < past and cell < last_cell:
        digits = (load_word(text, at) ^ _ASCII_ZEROS) << time_shift
        written_us = np.int64(_from_digits(digits)) * 1000
        time_us = written_us
        if times_repeat and written_us == last_written_us:
            time_us += HALF_MS_US
        field = at + n_digits + ONE
        n_others = n_values - n_eye_values
        unusual = _not_digits(digits) | Word(text[field - ONE] ^ TAB) | Word(time_us <= last_us)
        unusual |= _read_fields(text, field, numbers, cell, eye_word, n_eye_values, n_others)
        at_ending = load_word(text, field + EIGHT * n_values - ONE)
        unusual |= (at_ending & ending_mask) ^ ending_word
        if unusual == _NOTHING:
            if has_one_eye:
                numbers[cell + absent_word] = np.nan
                numbers[cell + absent_word + ONE] = np.nan
                numbers[cell + absent_word + TWO] = np.nan
            for word in range(layout[asc.TARGET_START], layout[asc.TARGET_STOP]):
                numbers[cell + Position(word)] = np.nan
            bits[cell] = np.uint32(time_us & 0xFFFFFFFF)
            bits[cell + ONE] = np.uint32(time_us >> 32)
            bits[cell + Position(STATUS_WORD)] = 0
            last_us = time_us
            last_written_us = written_us
            cell += n_words
            row += 1
            at += length
    return at, row, last_us, last_written_us
