"""Columns of an ASC sample line, as named by a block's SAMPLES line.

In the order in which EDF2ASC writes them (EyeLink user manual, "Sample Line Format")::

    time | x y pupil per eye | x y velocity per eye | x y resolution | input port
         | flags of the corneal reflection | head target x y distance | flags of the target

A file may change them from block to block.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gazelive.gaze import EYE_FIELDS, SAMPLE_DTYPE, Coordinates, Eyes, Integers

WORDS_PER_SAMPLE = SAMPLE_DTYPE.itemsize // 4
"""A sample as 32-bit words for the kernels: two of time, six numbers, the status."""
STATUS_WORD = WORDS_PER_SAMPLE - 1
_OFFSETS = {name: place[1] for name, place in (SAMPLE_DTYPE.fields or {}).items()}
EYE_WORDS = {
    eye: tuple(_OFFSETS[field] // 4 for field in fields) for eye, fields in EYE_FIELDS.items()
}
"""Indices of x, y and pupil of each eye among these words."""

DATA_TYPES: dict[str, Coordinates] = {
    "GAZE": Coordinates.SCREEN_PX,
    "HREF": Coordinates.HREF,
    "PUPIL": Coordinates.RAW,
}
"""Units of position, by their names in a SAMPLES line."""

VELOCITY_NAMES = {
    "L": ("left_velocity_x_deg_s", "left_velocity_y_deg_s"),
    "R": ("right_velocity_x_deg_s", "right_velocity_y_deg_s"),
}
RESOLUTION_NAMES = ("resolution_x_units_per_deg", "resolution_y_units_per_deg")
INPUT_NAME = "input_port"
TARGET_NAMES = ("target_x_camera", "target_y_camera", "target_distance_mm")

_REFLECTION_FLAGS = {1: 3, 2: 5}
"""Number of flag characters by number of eyes."""


@dataclass(frozen=True)
class SampleColumns:
    """Columns of one block's sample lines."""

    eyes: Eyes
    coordinates: Coordinates = Coordinates.SCREEN_PX
    velocity: bool = False
    resolution: bool = False
    input_port: bool = False
    target: bool = False
    """Announced; EDF2ASC announces a head target in binocular files but does not write it."""

    @property
    def extra_names(self) -> tuple[str, ...]:
        """Names of the columns that become a block's extras, in the order of the line."""
        names: list[str] = []
        if self.velocity:
            for eye in self.eyes:
                names += VELOCITY_NAMES[eye]
        if self.resolution:
            names += RESOLUTION_NAMES
        if self.input_port:
            names.append(INPUT_NAME)
        if self.target:
            names += TARGET_NAMES
        return tuple(names)

    @property
    def n_reflection_flags(self) -> int:
        """Length of the corneal-reflection flags."""
        return _REFLECTION_FLAGS[len(self.eyes)]

    @property
    def eye_flag_shift(self) -> int:
        """Status bit of the first eye's first flag; a single right eye uses the right's bits."""
        return 3 if self.eyes == "R" else 1

    @property
    def n_row_words(self) -> int:
        """Length of a row: the words of a sample, then the extras."""
        return WORDS_PER_SAMPLE + len(self.extra_names)

    def kernel_layout(self) -> Integers:
        """Return the layout that `slab_kernels.parse_lines` needs."""
        n_target = len(TARGET_NAMES) if self.target else 0
        target_start = self.n_row_words - n_target
        absent = [eye for eye in EYE_FIELDS if eye not in self.eyes]
        absent_words = [word for eye in absent for word in EYE_WORDS[eye]] or [0, -1]
        return np.array(
            [
                self.n_reflection_flags,
                self.eye_flag_shift,
                absent_words[0],
                absent_words[-1] + 1,
                target_start,
                self.n_row_words,
                *(word for eye in self.eyes for word in EYE_WORDS[eye]),
                *range(WORDS_PER_SAMPLE, target_start),
            ],
            np.int64,
        )


def eyes_among(words: Sequence[str]) -> Eyes | None:
    """Return the eyes that a START, SAMPLES or EVENTS line names."""
    left, right = "LEFT" in words, "RIGHT" in words
    if left and right:
        return "LR"
    if left:
        return "L"
    return "R" if right else None


def columns_from_line(words: Sequence[str], eyes: Eyes | None) -> SampleColumns | None:
    """Parse a SAMPLES line; `eyes` is the fallback if it names none. None if eyes are unknown."""
    named = eyes_among(words) or eyes
    if named is None:
        return None
    data_type = next((word for word in words if word in DATA_TYPES), "GAZE")
    return SampleColumns(
        eyes=named,
        coordinates=DATA_TYPES[data_type],
        velocity="VEL" in words,
        resolution="RES" in words,
        input_port="INPUT" in words,
        target="HTARGET" in words,
    )
