"""Calibration of the simulated tracker: what its viewer's gaze misses the targets by.

The tracker is as good as its calibration left it (each simulated session has its own error), so
validation has something to measure: the viewer looks at each target, and the median of the
samples is compared with it. The verdicts are EyeLink's.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gazelive.errors import CalibrationError
from gazelive.gaze.samples import EYE_FIELDS, Eye, Samples
from gazelive.gaze.screen import ScreenGeometry
from gazelive.recordings.recording import Calibration
from gazelive.recordings.tracker_messages import validation_verdict

SETTLING_S = 0.8
"""Time for the viewer to find a target."""
MEASURING_S = 0.5
_AREA = (0.88, 0.83)
"""Part of the screen's width and height that the targets span."""


@dataclass(frozen=True, slots=True)
class Miss:
    """How far from a target the gaze was: to the right and down in pixels, and as an angle."""

    x_px: float
    y_px: float
    deg: float


def calibration_targets_px(screen: ScreenGeometry) -> list[tuple[float, float]]:
    """Return the nine targets of the pattern HV9."""
    columns_px, rows_px = (
        [(size_px - 1) / 2 * (1 + side * area) for side in (-1, 0, 1)]
        for size_px, area in zip((screen.width_px, screen.height_px), _AREA, strict=True)
    )
    return [(x_px, y_px) for y_px, x_px in itertools.product(rows_px, columns_px)]


def measure_miss(
    look: Samples, eye: Eye, target_px: tuple[float, float], screen: ScreenGeometry
) -> Miss:
    """Compare the median gaze of an eye with the target that it looked at."""
    x, y, _ = EYE_FIELDS[eye]
    seen = np.isfinite(look[x]) & np.isfinite(look[y])
    if not seen.any():
        raise CalibrationError(f"eye {eye} was not seen while it looked at the target: try again")
    x_px, y_px = float(np.median(look[x][seen])), float(np.median(look[y][seen]))
    (gaze_x_deg, target_x_deg), (gaze_y_deg, target_y_deg) = screen.px_to_deg(
        [x_px, target_px[0]], [y_px, target_px[1]]
    )
    return Miss(
        x_px=x_px - target_px[0],
        y_px=y_px - target_px[1],
        deg=math.hypot(gaze_x_deg - target_x_deg, gaze_y_deg - target_y_deg),
    )


def calibration_results(
    tracker_time_us: int, eye: Eye, errors_deg: Sequence[float]
) -> list[Calibration]:
    """Return what EyeLink would say of an eye that missed the targets by `errors_deg`."""
    mean_deg, max_deg = float(np.mean(errors_deg)), max(errors_deg)
    verdict = validation_verdict(mean_deg, max_deg)
    return [
        Calibration(
            tracker_time_us=tracker_time_us,
            kind="calibration",
            eye=eye,
            model="HV9",
            result=verdict,
        ),
        Calibration(
            tracker_time_us=tracker_time_us,
            kind="validation",
            eye=eye,
            model="HV9",
            result=verdict,
            mean_error_deg=mean_deg,
            max_error_deg=max_deg,
        ),
    ]
