"""Columns of a sample table: their names, types and meaning."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from gazelive.errors import RecordingError
from gazelive.gaze import Coordinates, Eye
from gazelive.recordings.tables.column_names import describe_names

SIDES: dict[Eye, str] = {"L": "left", "R": "right"}
UNITS = {"deg": Coordinates.DEGREES, "px": Coordinates.SCREEN_PX}
"""Degrees first: if a table has both, they need no geometry."""
EYE_WORDS: dict[str, Eye] = {"l": "L", "left": "L", "r": "R", "right": "R"}

_number, _text = pa.float32(), pa.string()
COLUMN_TYPES = {
    "t_ms": pa.float64(),
    "block": pa.int64(),
    "eye": _text,
    "valid": pa.bool_(),
    "trial": _text,
    "image": _text,
    "pupil": _number,
    **{f"{side}_pupil": _number for side in SIDES.values()},
    **{f"{axis}_{unit}": _number for axis in "xy" for unit in UNITS},
    **{
        f"{side}_{axis}_{unit}": _number
        for side in SIDES.values()
        for axis in "xy"
        for unit in UNITS
    },
}
"""Every known column of a sample table, with its Arrow type."""


@dataclass(frozen=True)
class EyeColumns:
    """Column names of one eye."""

    x: str
    y: str
    pupil: str | None


@dataclass(frozen=True)
class TableLayout:
    """Meaning of a table's columns: either `one_eye`, or `two_eyes` by name."""

    coordinates: Coordinates
    one_eye: EyeColumns | None
    two_eyes: dict[Eye, EyeColumns]
    ignored: tuple[str, ...]


def position_names(unit: str, side: str | None = None) -> tuple[str, str]:
    """Return the names of the two columns of a position."""
    prefix = f"{side}_" if side else ""
    return f"{prefix}x_{unit}", f"{prefix}y_{unit}"


def recognise_columns(names: Sequence[str], path: Path) -> TableLayout:
    """Return what the columns mean, or raise if they make no sample table."""
    if len(set(names)) < len(names):
        raise RecordingError("two columns of this table have the same name", path=path)
    if "t_ms" in names:
        for unit, coordinates in UNITS.items():
            both = {
                eye: _eye_columns(names, unit, side)
                for eye, side in SIDES.items()
                if set(position_names(unit, side)) <= set(names)
            }
            one = _eye_columns(names, unit) if set(position_names(unit)) <= set(names) else None
            if both or one:
                used = {"t_ms", "block", "eye", "valid", "trial", "image"}
                for columns in both.values() if both else (one,):
                    assert columns is not None
                    used |= {columns.x, columns.y, columns.pupil or columns.x}
                ignored = tuple(name for name in names if name not in used)
                return TableLayout(coordinates, None if both else one, both, ignored)
    raise RecordingError(
        f"a sample table needs t_ms and x_px,y_px or x_deg,y_deg (two eyes: left_x_px,left_y_px,"
        f"right_x_px,right_y_px or the same in _deg), and this one has {describe_names(names)}",
        path=path,
    )


def _eye_columns(names: Sequence[str], unit: str, side: str | None = None) -> EyeColumns:
    pupil = f"{side}_pupil" if side else "pupil"
    return EyeColumns(*position_names(unit, side), pupil if pupil in names else None)
