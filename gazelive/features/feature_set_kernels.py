"""Kernels that compute the type and the feature values of a scanpath row."""

from __future__ import annotations

import enum
import math

import numpy as np

from gazelive.gaze import Floats, Integers, SingleFloats
from gazelive.system import unchecked_kernel

Features = tuple[Integers, Integers, Integers, Floats]
"""Operations, columns a and b, constants: `FeatureSet.compiled`."""
TypeCode = tuple[int, int, Floats]
"""Typing, column, edges: `FeatureSet.compiled_types`."""


class Operation(enum.IntEnum):
    """Formula that makes a value from the columns a and b of a row."""

    COPY = 0
    """a"""
    POSITIVE = 1
    """a where it is above 0, else masked"""
    RATIO = 2
    """a / b, both above 0"""
    VIGOR = 3
    """a / (1 − exp(−|b| / rate)), the rate being the first constant"""
    LENGTH_RATIO = 4
    """√(a² + (a+1)²) / √(b² + (b+1)²)"""


class Typing(enum.IntEnum):
    """Criterion for a saccade's type."""

    TURN = 0
    """Maintain, right, left, reverse (the paper's)"""
    DIRECTION = 1
    """Right, down, left, up as seen on the screen, in quarters around the axes"""
    DIRECTION_AND_SIZE = 2
    """The same times amplitude below 1.5°, below 6°, above"""
    EIGHT_DIRECTIONS = 3
    """Eighths around right, down and right, down, …"""
    ONE = 4
    """All alike"""
    EDGES = 5
    """Between which edges the value of a column lies"""


SMALL_DEG, LARGE_DEG = 1.5, 6.0
N_CONSTANTS = 1

# the same numbers for the compiler, which takes them for constants
_COPY, _POSITIVE, _VIGOR, _LENGTH_RATIO = 0, 1, 3, 4
_TURN, _DIRECTION, _DIRECTION_AND_SIZE, _EIGHT_DIRECTIONS, _ONE = 0, 1, 2, 3, 4
_COLUMN_TURN, _COLUMN_DX, _COLUMN_DY = 0, 3, 4
_EIGHTH = math.tan(math.pi / 8)


@unchecked_kernel
def direction_type(dx: float, dy: float, typing: int) -> int:
    """Return the type of a displacement (y downwards)."""
    across, down = (0 if dx > 0 else 2), (1 if dy > 0 else 3)
    if typing == _EIGHT_DIRECTIONS:
        if abs(dy) <= _EIGHTH * abs(dx):
            return 2 * across
        if abs(dx) <= _EIGHTH * abs(dy):
            return 2 * down
        # clockwise from right: 1 down and right, 3 down and left, 5 up and left, 7 up and right
        return (1 if dx > 0 else 3) if dy > 0 else (7 if dx > 0 else 5)
    direction = across if abs(dx) >= abs(dy) else down
    if typing == _DIRECTION:
        return direction
    length = math.sqrt(dx * dx + dy * dy)
    return 3 * direction + (0 if length < SMALL_DEG else 1 if length < LARGE_DEG else 2)


@unchecked_kernel
def row_type(row: SingleFloats, typing: int, column: int, edges: Floats) -> int:
    """Return the type of a row, −1 where it has none."""
    if typing == _TURN:
        turn = row[_COLUMN_TURN]
        return int(turn) if turn >= 0 else -1
    if typing == _ONE:
        return 0
    if typing > _ONE:
        value = float(row[column])
        if math.isnan(value):
            return -1
        type_ = 0
        while type_ < len(edges) and value >= edges[type_]:
            type_ += 1
        return type_
    dx, dy = float(row[_COLUMN_DX]), float(row[_COLUMN_DY])
    if not dx * dx + dy * dy > 0:
        return -1
    return direction_type(dx, dy, typing)


@unchecked_kernel
def value_of_two(operation: int, a: float, b: float, constants: Floats) -> float:
    """Return what an operation makes of two columns, NaN where it is masked."""
    if operation == _VIGOR:
        saturation = 1 - math.exp(-abs(b) / constants[0])
        return a / saturation if a > 0 and saturation > 0 else np.nan
    return a / b if a > 0 and b > 0 else np.nan


@unchecked_kernel
def length_ratio(a_x: float, a_y: float, b_x: float, b_y: float) -> float:
    """Return how much longer one displacement is than another, NaN where one is nothing."""
    a_squared, b_squared = a_x * a_x + a_y * a_y, b_x * b_x + b_y * b_y
    if not (a_squared > 0 and b_squared > 0):
        return np.nan
    return math.sqrt(a_squared / b_squared)


@unchecked_kernel
def row_values(
    row: SingleFloats,
    operations: Integers,
    a_columns: Integers,
    b_columns: Integers,
    constants: Floats,
    out: Floats,
) -> None:
    """Write the value of each feature, NaN where it is masked."""
    for f in range(len(operations)):
        operation = operations[f]
        a = float(row[a_columns[f]])
        if operation == _COPY:
            out[f] = a
        elif operation == _POSITIVE:
            out[f] = a if a > 0 else np.nan
        elif operation < _LENGTH_RATIO:
            out[f] = value_of_two(operation, a, float(row[b_columns[f]]), constants[f])
        else:
            out[f] = length_ratio(
                a,
                float(row[a_columns[f] + 1]),
                float(row[b_columns[f]]),
                float(row[b_columns[f] + 1]),
            )


@unchecked_kernel
def all_types(rows: SingleFloats, typing: int, column: int, edges: Floats, out: Integers) -> None:
    """Write the type of each row."""
    for i in range(len(rows)):
        out[i] = row_type(rows[i], typing, column, edges)


@unchecked_kernel
def all_values(
    rows: SingleFloats,
    operations: Integers,
    a_columns: Integers,
    b_columns: Integers,
    constants: Floats,
    out: Floats,
) -> None:
    """Write the values of each row, shape (n, features)."""
    for i in range(len(rows)):
        row_values(rows[i], operations, a_columns, b_columns, constants, out[i])
