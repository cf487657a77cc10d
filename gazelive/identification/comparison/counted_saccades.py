"""Which saccades of a recording `gazelive` counts, and how it names their features."""

from __future__ import annotations

import math

import numpy as np

from gazelive.features import MOVEMENT_AT, Column, Movement, Rows

LEAST_AMPLITUDE_DEG = 0.3
_MOVED = MOVEMENT_AT + Movement.AMPLITUDE
"""A column that is masked where a saccade has no dynamics."""
_GROUPS = {"movement_": "saccade", "after_": "just after", "texture_": "fixation before"}
"""Groups of features by the beginning of their columns' names."""


def counts(row: Rows, least_amplitude_deg: float = LEAST_AMPLITUDE_DEG) -> bool:
    """Return whether a saccade counts: large enough, and no loss beside it."""
    return bool(row[Column.AMPLITUDE_DEG] >= least_amplitude_deg and not math.isnan(row[_MOVED]))


def counted_rows(rows: Rows, least_amplitude_deg: float = LEAST_AMPLITUDE_DEG) -> Rows:
    """Return the rows of the saccades that count."""
    large = rows[:, Column.AMPLITUDE_DEG] >= least_amplitude_deg
    counted: Rows = rows[large & np.isfinite(rows[:, _MOVED])]
    return counted


def plain_name(name: str) -> str:
    """Return a column's name as a person reads it: `saccade: vigor y`."""
    for prefix, group in _GROUPS.items():
        if name.startswith(prefix):
            return f"{group}: {name.removeprefix(prefix)}".replace("_", " ")
    return name
