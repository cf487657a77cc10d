"""Arrow arrays of columns. `pyarrow.array` does the same, but imports pandas if it is installed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from gazelive.gaze import Flags, Floats


def text_array(values: Sequence[str | None]) -> Any:
    """Return texts, null where there is none."""
    builder = pa.lib.StringBuilder()
    builder.append_values(values)
    return builder.finish()


def number_array(values: Floats) -> Any:
    """Return numbers, null where they are NaN."""
    known = ~np.isnan(values)
    bits = None if known.all() else _bits(known)
    return pa.Array.from_buffers(pa.float64(), len(values), [bits, pa.py_buffer(values)])


def flag_array(values: Sequence[bool]) -> Any:
    """Return flags."""
    return pa.Array.from_buffers(pa.bool_(), len(values), [None, _bits(np.array(values, bool))])


def _bits(flags: Flags) -> Any:
    return pa.py_buffer(np.packbits(flags, bitorder="little"))
