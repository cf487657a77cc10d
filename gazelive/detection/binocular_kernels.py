"""One gaze from two eyes, without jumps where an eye comes or goes."""

from __future__ import annotations

import math

import numpy as np

from gazelive.compilation import kernel

CYCLOPEAN = np.dtype(
    [
        ("x_deg", "f8"),
        ("y_deg", "f8"),
        ("left_x_deg", "f8"),
        ("left_y_deg", "f8"),
        ("right_x_deg", "f8"),
        ("right_y_deg", "f8"),
        ("leak", "f8"),
    ],
    align=True,
)
"""The newest cyclopean position and each eye's own; NaN where there is none."""


@kernel
def follow_both_eyes(
    state: np.ndarray,
    left_x: np.ndarray,
    left_y: np.ndarray,
    right_x: np.ndarray,
    right_y: np.ndarray,
    x_deg: np.ndarray,
    y_deg: np.ndarray,
) -> None:
    """Write the cyclopean position of each sample; everything in degrees.

    It moves by the mean movement of the eyes that were seen in this sample and in the one
    before, and is drawn towards the mean position with a time constant of `1 / leak` samples. So
    it *is* the mean while both eyes are seen, and half the distance between the eyes is no
    movement when one of them is lost or found. Where no eye carries over, the sample is lost.
    """
    s = state[0]
    for i in range(len(left_x)):
        left = math.isfinite(left_x[i]) and math.isfinite(left_y[i])
        right = math.isfinite(right_x[i]) and math.isfinite(right_y[i])
        if not (left or right):
            x = y = np.nan
        else:
            n = float(left) + float(right)
            mean_x = ((left_x[i] if left else 0.0) + (right_x[i] if right else 0.0)) / n
            mean_y = ((left_y[i] if left else 0.0) + (right_y[i] if right else 0.0)) / n
            left_carries = left and not math.isnan(s.left_x_deg)
            right_carries = right and not math.isnan(s.right_x_deg)
            if left_carries or right_carries:
                moved_x = moved_y = 0.0
                if left_carries:
                    moved_x += left_x[i] - s.left_x_deg
                    moved_y += left_y[i] - s.left_y_deg
                if right_carries:
                    moved_x += right_x[i] - s.right_x_deg
                    moved_y += right_y[i] - s.right_y_deg
                n = float(left_carries) + float(right_carries)
                x = s.x_deg + moved_x / n
                y = s.y_deg + moved_y / n
                x += s.leak * (mean_x - x)
                y += s.leak * (mean_y - y)
            else:
                # seen before, but by the other eye: a jump that is no movement
                jumps = not (math.isnan(s.left_x_deg) and math.isnan(s.right_x_deg))
                x = np.nan if jumps else mean_x
                y = np.nan if jumps else mean_y
        s.x_deg = x
        s.y_deg = y
        s.left_x_deg = left_x[i] if left and not math.isnan(x) else np.nan
        s.left_y_deg = left_y[i] if left and not math.isnan(x) else np.nan
        s.right_x_deg = right_x[i] if right and not math.isnan(x) else np.nan
        s.right_y_deg = right_y[i] if right and not math.isnan(x) else np.nan
        x_deg[i] = x
        y_deg[i] = y
