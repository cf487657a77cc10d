"""Table of all features: unit, definition, and delay until they are known.

One table serves the code, the docs (`docs/features.md` is `markdown_table()`) and the manifests of
models, which name the features they were made from.
"""

from __future__ import annotations

import enum
from typing import NamedTuple

from gazelive.features.identity_kernels import After, Movement, Texture
from gazelive.features.kinematics_kernels import Kinematics


class Feature(NamedTuple):
    """Definition of one column of a feature row."""

    name: str
    unit: str
    lookahead_ms: float
    """Delay after the last sample of the saccade until the value is known, at 1000 Hz."""
    signed: bool
    """True if values below zero have a meaning (else they are positive or masked)."""
    definition: str


KINEMATICS_LOOKAHEAD_MS = 5.0
MOVEMENT_LOOKAHEAD_MS = 21.0
AFTER_LOOKAHEAD_MS = 49.0

_Rows = list[tuple[enum.IntEnum, str, bool, str]]


def _columns(prefix: str, lookahead_ms: float, rows: _Rows) -> tuple[Feature, ...]:
    assert [row[0] for row in rows] == list(type(rows[0][0])), "a column without a description"
    return tuple(
        Feature(prefix + column.name.lower(), unit, lookahead_ms, signed, definition)
        for column, unit, signed, definition in rows
    )


_K = Kinematics
KINEMATICS = _columns(
    "",
    KINEMATICS_LOOKAHEAD_MS,
    [
        (_K.AMPLITUDE_DEG, "°", False, "distance from the first to the last sample"),
        (_K.DURATION_MS, "ms", False, "last minus first sample plus one sample"),
        (_K.DIRECTION_DEG, "°", True, "0 is right, 90 is up"),
        (_K.DX_DEG, "°", True, "horizontal displacement, right is positive"),
        (_K.DY_DEG, "°", True, "vertical displacement, down is positive"),
        (_K.PEAK_VELOCITY_DEG_S, "°/s", False, "highest speed"),
        (_K.MEAN_VELOCITY_DEG_S, "°/s", False, "mean speed"),
        (_K.MEAN_ACCELERATION_DEG_S2, "°/s²", False, "mean absolute change of speed"),
        (
            _K.PEAK_ACCELERATION_DEG_S2,
            "°/s²",
            False,
            "highest acceleration along the saccade's direction",
        ),
        (
            _K.PEAK_DECELERATION_DEG_S2,
            "°/s²",
            False,
            "highest deceleration along the saccade's direction",
        ),
        (
            _K.PEAK_VELOCITY_X_DEG_S,
            "°/s",
            False,
            "highest horizontal velocity; masked below 0.5° of horizontal amplitude",
        ),
        (_K.PEAK_VELOCITY_Y_DEG_S, "°/s", False, "the same vertically"),
        (
            _K.RATIO_X,
            "1",
            False,
            "horizontal peak acceleration over peak deceleration; masked below 0.5°",
        ),
        (_K.RATIO_Y, "1", False, "the same vertically"),
        (
            _K.VELOCITY_SKEWNESS,
            "1",
            True,
            "skewness of the speed profile read as a density over time",
        ),
        (
            _K.CURVATURE,
            "1",
            True,
            "largest distance from the straight line over the amplitude; clockwise is positive",
        ),
    ],
)

_M = Movement
MOVEMENT = _columns(
    "movement_",
    MOVEMENT_LOOKAHEAD_MS,
    [
        (_M.AMPLITUDE, "°", False, "distance from the first to the last sample"),
        (_M.DURATION, "s", False, "number of samples over the rate"),
        (_M.PEAK_VELOCITY, "°/s", False, "highest speed"),
        (_M.MEAN_VELOCITY, "°/s", False, "mean speed"),
        (_M.PEAK_ACCELERATION, "°/s²", False, "highest acceleration along the saccade"),
        (_M.PEAK_DECELERATION, "°/s²", False, "highest deceleration along the saccade"),
        (_M.PEAK_TO_MEAN_VELOCITY, "1", False, "peak over mean speed"),
        (_M.TIME_TO_PEAK, "1", False, "acceleration time over both times"),
        (_M.ACCELERATION_RATIO, "1", False, "peak acceleration over peak deceleration"),
        (_M.MEAN_ACCELERATION, "°/s²", False, "mean absolute change of speed over 8 ms"),
        (_M.ACCELERATION_TIME, "s", False, "onset to peak velocity, plus 4 ms"),
        (_M.DECELERATION_TIME, "s", False, "peak velocity to offset, plus 4 ms"),
        (_M.PEAK_JERK, "°/s³", False, "largest change of acceleration over 4 ms"),
        (_M.AMPLITUDE_X, "°", False, "horizontal amplitude; masked below 0.5°"),
        (_M.AMPLITUDE_Y, "°", False, "vertical amplitude; masked below 0.5°"),
        (_M.PEAK_VELOCITY_X, "°/s", False, "highest horizontal velocity; masked below 0.5°"),
        (_M.PEAK_VELOCITY_Y, "°/s", False, "highest vertical velocity; masked below 0.5°"),
        (_M.PEAK_ACCELERATION_X, "°/s²", False, "horizontal peak acceleration"),
        (_M.PEAK_ACCELERATION_Y, "°/s²", False, "vertical peak acceleration"),
        (_M.PEAK_DECELERATION_X, "°/s²", False, "horizontal peak deceleration"),
        (_M.PEAK_DECELERATION_Y, "°/s²", False, "vertical peak deceleration"),
        (_M.VIGOR_X, "°/s", False, "horizontal vigor with b = 7°"),
        (_M.VIGOR_Y, "°/s", False, "vertical vigor with b = 7°"),
        (_M.RATIO_X, "1", False, "horizontal peak acceleration over peak deceleration"),
        (_M.RATIO_Y, "1", False, "vertical peak acceleration over peak deceleration"),
        (_M.CURVATURE, "1", True, "largest distance from the straight line over the amplitude"),
        (_M.INITIAL_DIRECTION, "rad", True, "direction of the first third from the whole's"),
        (_M.FINAL_DIRECTION, "rad", True, "direction of the last third from the whole's"),
        (_M.SKEWNESS, "1", True, "skewness of the speed profile over time"),
        (_M.KURTOSIS, "1", True, "kurtosis of the speed profile over time"),
        (
            _M.PERPENDICULAR_VELOCITY,
            "1",
            True,
            "SD of the velocity across the saccade over its peak velocity",
        ),
    ],
)

_A = After
AFTER = _columns(
    "after_",
    AFTER_LOOKAHEAD_MS,
    [
        (_A.OSCILLATION_RANGE, "°", False, "range along the saccade in the 32 ms after it"),
        (_A.REVERSE_VELOCITY, "°/s", False, "highest velocity backwards, 4 to 36 ms after"),
        (_A.SECOND_VELOCITY, "°/s", False, "highest velocity forwards after that"),
        (_A.GLISSADE, "°", False, "from the offset to the mean of 32 to 48 ms after it"),
        (_A.OVERSHOOT, "1", True, "furthest point minus that mean, over the amplitude"),
    ],
)

_T = Texture
TEXTURE = _columns(
    "texture_",
    0.0,
    [
        (_T.DURATION, "s", False, "time between the saccade before and this one"),
        (_T.SD_X, "°", False, "SD of the horizontal position"),
        (_T.SD_Y, "°", False, "SD of the vertical position"),
        (_T.DETRENDED_SD_X, "°", False, "the same after a straight line was taken out"),
        (_T.DETRENDED_SD_Y, "°", False, "the same vertically"),
        (_T.DRIFT_SPEED, "°/s", False, "length of the straight line's slope"),
        (_T.SLOPE_X, "°/s", True, "horizontal slope"),
        (_T.SLOPE_Y, "°/s", True, "vertical slope, down is positive"),
        (_T.MEAN_SPEED, "°/s", False, "mean speed (five points of 4 ms)"),
        (_T.SPEED_95, "°/s", False, "95th percentile of the speed"),
        (_T.VELOCITY_SD_X, "°/s", False, "SD of the horizontal velocity"),
        (_T.VELOCITY_SD_Y, "°/s", False, "SD of the vertical velocity"),
        (_T.VELOCITY_SKEW_X, "1", True, "skewness of the horizontal velocity"),
        (_T.VELOCITY_SKEW_Y, "1", True, "skewness of the vertical velocity"),
        (_T.VELOCITY_LOG_KURTOSIS_X, "1", True, "ln kurtosis of the horizontal velocity"),
        (_T.VELOCITY_LOG_KURTOSIS_Y, "1", True, "ln kurtosis of the vertical velocity"),
        (_T.SECOND_DIFFERENCE_SD_X, "°", False, "SD of horizontal second differences of 4 ms"),
        (_T.SECOND_DIFFERENCE_SD_Y, "°", False, "the same vertically"),
        (_T.MEDIAN_STEP_X, "°", False, "median absolute horizontal step of 4 ms"),
        (_T.MEDIAN_STEP_Y, "°", False, "the same vertically"),
        (_T.STEP_AUTOCORRELATION_1, "1", True, "correlation of successive steps, both axes"),
        (_T.STEP_AUTOCORRELATION_2, "1", True, "the same two steps apart"),
        (_T.STEP_CORRELATION_XY, "1", True, "correlation of horizontal and vertical steps"),
    ],
)

GROUPS = {
    "Kinematics (short filter, 9 ms at 1000 Hz): reported": KINEMATICS,
    "Movement (28 ms filter): for identification only": MOVEMENT,
    "After the saccade (28 ms filter): for identification only": AFTER,
    "Texture of the fixation before (4 ms steps): for identification only": TEXTURE,
}


def markdown_table() -> str:
    """Return the table of all features as it stands in the docs."""
    lines = []
    for title, features in GROUPS.items():
        lines += [f"## {title}", "", "| feature | unit | known after | definition |"]
        lines += ["|---|---|---|---|"]
        for feature in features:
            wait = f"{feature.lookahead_ms:g} ms" if feature.lookahead_ms else "its onset"
            lines.append(f"| `{feature.name}` | {feature.unit} | {wait} | {feature.definition} |")
        lines.append("")
    return "\n".join(lines)
