"""Logarithm and power of two that the compiler can turn into vector instructions.

The C library's `log` and `exp` are called one number at a time, some ten times slower than a
polynomial over a whole register; SceneWalk takes two of each per cell of a map and fixation.
There is no branch and no table. Errors: `log2` 2e-14 absolute, and relative near 1; `exp2` 4e-15
relative. The coefficients interpolate at Chebyshev nodes, in extended precision.

What calls these is compiled by `vectorised`; it lets sums be taken in any order and products be
fused with them. These two allow fusing only: `exp2` rounds by adding a large number, which must
not be simplified away.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic

F = TypeVar("F", bound=Callable[..., Any])

LEAST_EXP2 = -1000.0
"""Smallest argument of `exp2`; below it the exponent's bits would overflow."""

_SQRT_HALF_BITS = np.uint64(0x3FE6A09E667F3BCD)
_TO_MANTISSA = np.uint64(0x3FF0000000000000 - 0x3FE6A09E667F3BCD)
_MANTISSA = np.uint64(0x000FFFFFFFFFFFFF)
_MANTISSA_BITS = np.uint64(52)
_TWO_52_BITS = np.uint64(0x4330000000000000)
_TWO_52_AND_BIAS = 4503599627370496.0 + 1023.0
_ROUNDER = 6755399441055744.0
"""1.5 · 2^52: a double of this size has no room for a fraction."""


def vectorised(function: F) -> F:
    """Compile a part of a kernel so that its loops over cells become vector instructions.

    It is not cached by itself: the kernel that calls it keeps the machine code of both.
    """
    flags = {"contract", "reassoc", "nsz"}
    return cast("F", numba.njit(nogil=True, error_model="numpy", fastmath=flags)(function))


def row_loop(function: F) -> F:
    """Copy a loop over a row into the `vectorised` functions that call it: a call would cost."""
    return cast("F", numba.njit(nogil=True, error_model="numpy", inline="always")(function))


def _in_order(function: F) -> F:
    flags = {"contract"}
    return cast("F", numba.njit(nogil=True, error_model="numpy", fastmath=flags)(function))


def _bits_generator(_context: Any, number: Any) -> Any:
    def generate(_target: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.IntType(64))

    return types.uint64(types.float64), generate


def _number_generator(_context: Any, bits: Any) -> Any:
    def generate(_target: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.DoubleType())

    return types.float64(types.uint64), generate


_bits_of: Any = intrinsic(_bits_generator)
_number_of: Any = intrinsic(_number_generator)


@_in_order
def quotient(numerator: float, denominator: float) -> float:
    """Return a quotient that stays outside the loops: free to reorder, LLVM divides every cell."""
    return numerator / denominator


@_in_order
def log2(x: float) -> float:
    """Return the binary logarithm of a positive number that is not subnormal."""
    shifted = _bits_of(x) + _TO_MANTISSA
    exponent: float = _number_of((shifted >> _MANTISSA_BITS) | _TWO_52_BITS) - _TWO_52_AND_BIAS
    mantissa: float = _number_of((shifted & _MANTISSA) + _SQRT_HALF_BITS)  # √½ … √2
    s = (mantissa - 1.0) / (mantissa + 1.0)
    z = s * s
    p = 0.282885025942521
    p = p * z + 0.31990680356880147
    p = p * z + 0.41220922406866134
    p = p * z + 0.5770779426602087
    p = p * z + 0.9617966941122653
    p = p * z + 2.885390081777851
    return p * s + exponent


@_in_order
def exp2(y: float) -> float:
    """Return 2^y for `LEAST_EXP2` ≤ y ≤ 1000."""
    rounded = y + _ROUNDER
    t = y - (rounded - _ROUNDER)  # -½ … ½
    # 2^(t/2), squared: one multiplication less than 2^t
    p = 5.166176299160185e-09
    p = p * t + 1.19273848488686e-07
    p = p * t + 2.4068008969950437e-06
    p = p * t + 4.166734823005927e-05
    p = p * t + 0.0006011330692772632
    p = p * t + 0.006938013584559553
    p = p * t + 0.06005662673977423
    p = p * t + 0.34657359027994533
    p = p * t + 1.0
    p = p * p
    scaled: float = _number_of(_bits_of(p) + (_bits_of(rounded) << _MANTISSA_BITS))
    return scaled
