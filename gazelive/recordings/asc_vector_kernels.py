"""Four numbers of the usual width at once, for which numba has no words of its own.

A number is seven characters with one decimal and a tab, so it fills a 64-bit lane of a vector.
Whether it is one is found by arithmetic on all its bytes; its digits are put together by pairs,
fours and eights (Lemire, "Quickly parsing eight digits", 2018). LLVM makes of this what the
processor has.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import types
from numba.extending import intrinsic

ONE_EYE, TWO_EYES, REST_OF_TWO_EYES, OTHERS = 0, 1, 2, 2
"""Which lanes count: OTHERS + n for n numbers that are no positions or pupils."""
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
"""What distinguishes a blank from a digit, in the five places before the point."""
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
