"""Samples of an eye tracker as rows of a structured array.

Positions are in the unit of the stream's `Coordinates` (screen pixels for gaze data). Missing
values are NaN, never 0 and never the tracker's own code.
"""

from __future__ import annotations

import enum
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from gazelive.gaze.arrays import Flags

Eye = Literal["L", "R"]
Eyes = Literal["L", "R", "LR"]
Samples = npt.NDArray[Any]
"""A one-dimensional array of `SAMPLE_DTYPE`."""

SAMPLE_DTYPE = np.dtype(
    [
        ("tracker_time_us", "<i8"),
        ("left_x", "<f4"),
        ("left_y", "<f4"),
        ("left_pupil", "<f4"),
        ("right_x", "<f4"),
        ("right_y", "<f4"),
        ("right_pupil", "<f4"),
        ("status", "<u4"),
    ]
)
EYE_FIELDS = {"L": ("left_x", "left_y", "left_pupil"), "R": ("right_x", "right_y", "right_pupil")}


class Coordinates(enum.StrEnum):
    """The unit of a stream's positions."""

    SCREEN_PX = "screen_px"
    """Gaze on the screen; integers are pixel centres, y grows downwards."""
    HREF = "href"
    """EyeLink's head-referenced angle: 15000 units from the eye to the plane."""
    RAW = "raw"
    """Pupil minus corneal reflection in camera units; not convertible to angles."""
    DEGREES = "deg"
    """Degrees of visual angle already; y grows downwards."""


class SampleStatus(enum.IntFlag):
    """The tracker's warnings about a sample (0: none).

    The low bits are the corneal-reflection flags of an ASC line in their order; bit
    8 + k is the k-th of the thirteen flags of the remote mode's head target.
    """

    INTERPOLATED = 1
    LEFT_REFLECTION_MISSING = 2
    LEFT_REFLECTION_RECOVERING = 4
    RIGHT_REFLECTION_MISSING = 8
    RIGHT_REFLECTION_RECOVERING = 16


TARGET_STATUS_SHIFT = 8
N_TARGET_FLAGS = 13


def each_eye(eyes: str) -> tuple[Eye, ...]:
    """Return the eyes of L, R or LR, one by one."""
    both: tuple[Eye, ...] = ("L", "R")
    return tuple(eye for eye in both if eye in eyes)


def empty_samples(n: int) -> Samples:
    """Return `n` samples at time 0 with all values missing."""
    samples = np.zeros(n, SAMPLE_DTYPE)
    for fields in EYE_FIELDS.values():
        for field in fields:
            samples[field] = np.nan
    return samples


def missing_mask(samples: Samples, eyes: Eyes) -> Flags:
    """Return for each sample whether no recorded eye has a position."""
    missing = np.ones(len(samples), dtype=bool)
    for eye in eyes:
        x, y, _ = EYE_FIELDS[eye]
        missing &= ~(np.isfinite(samples[x]) & np.isfinite(samples[y]))
    return missing
