"""Scanpaths: one viewing interval as models read it, from samples or from a fixation table.

A scanpath has one row per saccade (`Column`) and one per fixation. Rows are float32: that is far
finer than any tracker measures, and a model can keep them all. NaN is masked: the feature says
nothing of that saccade. A saccade beside a loss that is too long to be bridged keeps its place in
the chain and its amplitude, but none of its dynamics.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gazelive.features.fixation_kernels import write_onsets_and_returns
from gazelive.features.identity_kernels import After, Movement, Texture
from gazelive.features.kinematics_kernels import Kinematics
from gazelive.features.saccades import AnalysedGaze
from gazelive.features.schema import AFTER, MOVEMENT, TEXTURE
from gazelive.features.stream import SaccadeRow
from gazelive.features.turns import turns
from gazelive.gaze import Floats, Integers

Rows = npt.NDArray[np.float32]


class Column(enum.IntEnum):
    """The columns of a saccade's row; the identification features follow in blocks."""

    TURN = 0
    """`turns.Turn`, −1 for the first of a chain."""
    ORDINAL = 1
    """0 for the first saccade of the interval."""
    ONSET_S = 2
    """Since the interval began."""
    DX_DEG = 3
    DY_DEG = 4
    AMPLITUDE_DEG = 5
    PREVIOUS_FIXATION_S = 6
    NEXT_FIXATION_S = 7
    """Masked for the last saccade: the fixation was cut by the interval's end."""
    PREVIOUS_DX_DEG = 8
    PREVIOUS_DY_DEG = 9
    """Displacement of the saccade before in the same chain."""
    BACK_DEG = 10
    """Distance of the landing point from the fixation before the one it starts from."""
    NEAREST_DEG = 11
    """Distance of the landing point from the nearest fixation before the one it starts from."""
    MEAN_VELOCITY_DEG_S = 12
    MEAN_ACCELERATION_DEG_S2 = 13
    PEAK_VELOCITY_DEG_S = 14
    PEAK_VELOCITY_X_DEG_S = 15
    PEAK_VELOCITY_Y_DEG_S = 16
    RATIO_X = 17
    RATIO_Y = 18


_DYNAMICS = {
    Column.MEAN_VELOCITY_DEG_S: Kinematics.MEAN_VELOCITY_DEG_S,
    Column.MEAN_ACCELERATION_DEG_S2: Kinematics.MEAN_ACCELERATION_DEG_S2,
    Column.PEAK_VELOCITY_DEG_S: Kinematics.PEAK_VELOCITY_DEG_S,
    Column.PEAK_VELOCITY_X_DEG_S: Kinematics.PEAK_VELOCITY_X_DEG_S,
    Column.PEAK_VELOCITY_Y_DEG_S: Kinematics.PEAK_VELOCITY_Y_DEG_S,
    Column.RATIO_X: Kinematics.RATIO_X,
    Column.RATIO_Y: Kinematics.RATIO_Y,
}
_FROM = np.array(list(_DYNAMICS.values()))
_TO = np.array(list(_DYNAMICS))
_PLACE = {
    Column.DX_DEG: Kinematics.DX_DEG,
    Column.DY_DEG: Kinematics.DY_DEG,
    Column.AMPLITUDE_DEG: Kinematics.AMPLITUDE_DEG,
}

N_OWN = len(Column)
MOVEMENT_AT: int = N_OWN
AFTER_AT: int = MOVEMENT_AT + len(Movement)
TEXTURE_AT: int = AFTER_AT + len(After)
N_COLUMNS: int = TEXTURE_AT + len(Texture)
LATE_COLUMN = Column.NEXT_FIXATION_S
"""The one column that is known only when the next saccade is."""

COLUMN_NAMES = tuple(column.name.lower() for column in Column) + tuple(
    feature.name for feature in (*MOVEMENT, *AFTER, *TEXTURE)
)
"""The names of the columns in models."""


@dataclass(frozen=True, eq=False)
class Scanpath:
    """One viewing interval."""

    saccades: Rows
    """(n, N_COLUMNS), in the order of time."""
    fixations: Floats
    """(m, 3): x and y in degrees (y downwards) and duration in seconds."""
    seconds: float
    """Viewing time."""
    image: str | None = None
    sampling_rate_hz: float | None = None
    """None where it comes from a fixation table."""

    @property
    def n_saccades(self) -> int:
        """Number of saccades."""
        return len(self.saccades)


def scanpath_of(gaze: AnalysedGaze, image: str | None = None) -> Scanpath:
    """Return the scanpath of an analysed interval."""
    features, detection = gaze.features, gaze.detection
    rate_hz = features.sampling_rate_hz
    n = len(features)
    rows = np.full((n, N_COLUMNS), np.nan, np.float32)
    rows[:, Column.TURN] = features.turn
    rows[:, Column.ORDINAL] = np.arange(n)
    rows[:, Column.ONSET_S] = features.onset / rate_hz
    for column, kinematic in _PLACE.items():
        rows[:, column] = features.kinematics[:, kinematic]
    rows[:, Column.PREVIOUS_FIXATION_S] = features.previous_fixation_ms / 1000
    rows[:, Column.NEXT_FIXATION_S] = features.next_fixation_ms / 1000
    chained = np.flatnonzero(features.follows_previous)
    rows[chained, Column.PREVIOUS_DX_DEG] = rows[chained - 1, Column.DX_DEG]
    rows[chained, Column.PREVIOUS_DY_DEG] = rows[chained - 1, Column.DY_DEG]
    lost = features.lost_before
    if detection.method != "online":  # which cannot know of a loss to come
        lost = lost | features.lost_after
    clean = ~(lost & np.array([saccade.near_loss for saccade in detection.saccades], bool))
    rows[np.ix_(clean, _TO)] = features.kinematics[np.ix_(clean, _FROM)]
    rows[clean, MOVEMENT_AT:AFTER_AT] = features.movement[clean]
    rows[clean, AFTER_AT:TEXTURE_AT] = features.after[clean]
    rows[:, TEXTURE_AT:] = features.texture
    sample_s = 1 / rate_hz
    fixations = np.array(
        [(f.x_deg, f.y_deg, (f.offset_us - f.onset_us) / 1e6 + sample_s) for f in detection.rests],
        np.float64,
    ).reshape(-1, 3)
    return Scanpath(rows, fixations, len(gaze.times_us) / rate_hz, image, rate_hz)


def scanpath_row(
    row: SaccadeRow,
    before: SaccadeRow | None,
    *,
    ordinal: int,
    sampling_rate_hz: float,
) -> Rows:
    """Return the row of one live saccade, as `scanpath_of` does for all, its late column masked.

    `ordinal` counts within the interval; `before` is the saccade before it.
    """
    out = np.full(N_COLUMNS, np.nan, np.float32)
    out[Column.TURN] = row.turn
    out[Column.ORDINAL] = ordinal
    out[Column.ONSET_S] = row.onset / sampling_rate_hz
    for column, kinematic in _PLACE.items():
        out[column] = row.kinematics[kinematic]
    out[Column.PREVIOUS_FIXATION_S] = row.previous_fixation_ms / 1000
    if before is not None and row.gap:
        out[Column.PREVIOUS_DX_DEG] = before.kinematics[Kinematics.DX_DEG]
        out[Column.PREVIOUS_DY_DEG] = before.kinematics[Kinematics.DY_DEG]
    if not (row.lost_before and row.saccade.near_loss):
        out[_TO] = row.kinematics[_FROM]
        out[MOVEMENT_AT:AFTER_AT] = row.movement
        out[AFTER_AT:TEXTURE_AT] = row.after
    out[TEXTURE_AT:] = row.texture
    return out


def scanpath_of_fixations(
    x_deg: Floats, y_deg: Floats, duration_s: Floats, image: str | None = None
) -> Scanpath:
    """Return the scanpath of fixations in their order, of which nothing else is known.

    The last fixation was cut by the end of the interval, so it has no duration as a feature.
    Two fixations at the same place have no saccade between them that could be measured: its
    amplitude and turn are masked.
    """
    starts = np.array([0, len(x_deg)])
    return scanpaths_of_fixations(x_deg, y_deg, duration_s, starts, [image])[0]


def scanpaths_of_fixations(
    x_deg: Floats,
    y_deg: Floats,
    duration_s: Floats,
    starts: Integers,
    images: Sequence[str | None],
) -> list[Scanpath]:
    """Return the scanpaths (`scanpath_of_fixations`) of many viewings, one after the other.

    `starts` are the positions of their first fixations, and the end; `images` are as many as
    scanpaths. All of them share one array of rows and one of fixations.
    """
    fixations = np.stack((x_deg, y_deg, duration_s), axis=1).astype(np.float64)
    n_fixations = np.diff(starts)
    is_last = np.zeros(len(fixations), bool)
    is_last[starts[1:][n_fixations > 0] - 1] = True
    before = np.flatnonzero(~is_last)  # the fixation that each saccade leaves
    n_saccades = np.maximum(n_fixations - 1, 0)
    ends = np.cumsum(n_saccades)
    rows = np.full((len(before), N_COLUMNS), np.nan, np.float32)
    dx, dy = np.diff(fixations[:, :2], axis=0)[before].T
    amplitude = np.hypot(dx, dy)
    ordinal = np.arange(len(before)) - np.repeat(ends - n_saccades, n_saccades)
    follows = ordinal > 0
    rows[:, Column.TURN] = turns(dx, dy, follows)
    rows[:, Column.ORDINAL] = ordinal
    rows[:, Column.DX_DEG], rows[:, Column.DY_DEG] = dx, dy
    rows[:, Column.AMPLITUDE_DEG] = np.where(amplitude > 0, amplitude, np.nan)
    rows[:, Column.PREVIOUS_FIXATION_S] = fixations[before, 2]
    whole = ~is_last[before + 1]
    rows[whole, Column.NEXT_FIXATION_S] = fixations[before[whole] + 1, 2]
    rows[1:, Column.PREVIOUS_DX_DEG] = np.where(follows[1:], dx[:-1], np.nan)
    rows[1:, Column.PREVIOUS_DY_DEG] = np.where(follows[1:], dy[:-1], np.nan)
    onset_s, back_deg, nearest_deg = np.full((3, len(before)), np.nan)
    x, y, seconds = np.ascontiguousarray(fixations.T)
    write_onsets_and_returns(x, y, seconds, starts, onset_s, back_deg, nearest_deg)
    rows[:, Column.ONSET_S] = onset_s
    rows[:, Column.BACK_DEG], rows[:, Column.NEAREST_DEG] = back_deg, nearest_deg
    made = []
    for number, image in enumerate(images):
        saccades = rows[ends[number] - n_saccades[number] : ends[number]]
        seen = fixations[starts[number] : starts[number + 1]]
        made.append(Scanpath(saccades, seen, math.fsum(seen[:, 2]), image))
    return made
