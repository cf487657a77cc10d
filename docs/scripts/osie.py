"""The OSIE fixations: 15 viewers × 500 images × 3 s, as scanpaths in degrees.

J. Xu, M. Jiang, S. Wang, M. Kankanhalli, Q. Zhao, "Predicting human gaze beyond pixels", Journal
of Vision 2014. The table leaves out the fixation during which the image appeared.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt
from pyarrow import csv

from gazelive.features.turns import turns
from gazelive.gaze.arrays import Floats
from gazelive.models.scenewalk.equations import ImageGrid
from gazelive.stimuli.saliency import empirical_density

Ints = npt.NDArray[np.int64]

SIZE_PX = (800, 600)
SIZE_DEG = (33.7, 25.3)


@dataclass(frozen=True)
class Fixations:
    """All fixations, in the order of viewer, image and time; one row each."""

    viewer: Ints
    image: Ints
    x_deg: Floats
    y_deg: Floats
    duration_s: Floats

    @property
    def n_viewers(self) -> int:
        """Number of viewers."""
        return int(self.viewer.max()) + 1

    @property
    def n_images(self) -> int:
        """Number of images."""
        return int(self.image.max()) + 1

    @cached_property
    def is_first(self) -> npt.NDArray[np.bool_]:
        """True if a fixation begins its scanpath."""
        first = np.ones(len(self.viewer), bool)
        first[1:] = (np.diff(self.viewer) != 0) | (np.diff(self.image) != 0)
        return first

    @property
    def is_last(self) -> npt.NDArray[np.bool_]:
        """True if the end of the image cut the fixation."""
        return np.append(self.is_first[1:], True)

    @cached_property
    def scanpaths(self) -> list[slice]:
        """Rows of each scanpath."""
        starts = np.flatnonzero(self.is_first)
        stops = np.append(starts[1:], len(self.viewer))
        return [slice(a, b) for a, b in zip(starts.tolist(), stops.tolist(), strict=True)]

    @cached_property
    def saccades(self) -> tuple[Floats, npt.NDArray[np.int8]]:
        """Amplitude and turn of the saccade that led to each fixation (NaN, none for the first)."""
        dx, dy = np.diff(self.x_deg, prepend=np.nan), np.diff(self.y_deg, prepend=np.nan)
        dx[self.is_first] = np.nan
        dy[self.is_first] = np.nan
        amplitude = np.hypot(dx, dy)
        amplitude[amplitude == 0] = np.nan
        return amplitude, turns(dx, dy, ~self.is_first)


def grid(shape: tuple[int, int]) -> ImageGrid:
    """Return the cells of an OSIE image."""
    return ImageGrid(_angles(shape[1], SIZE_DEG[0]), _angles(shape[0], SIZE_DEG[1]))


def read_osie(path: Path) -> Fixations:
    """Read `osie_fixations.csv.gz`."""
    table = csv.read_csv(path).sort_by(
        [("viewer", "ascending"), ("image", "ascending"), ("fixation", "ascending")]
    )
    columns = {name: table[name].to_numpy() for name in table.column_names}
    angles = [
        np.degrees(np.arctan((columns[name] / size_px - 0.5) * 2 * np.tan(np.radians(deg / 2))))
        for name, size_px, deg in zip(("x_px", "y_px"), SIZE_PX, SIZE_DEG, strict=True)
    ]
    return Fixations(
        viewer=np.unique(columns["viewer"], return_inverse=True)[1],
        image=np.unique(columns["image"], return_inverse=True)[1],
        x_deg=angles[0],
        y_deg=angles[1],
        duration_s=columns["duration_ms"] / 1000,
    )


def relative_positions(fixations: Fixations) -> tuple[Floats, Floats]:
    """Return x and y of each fixation in image widths and heights."""
    x, y = (
        0.5 + np.tan(np.radians(angle)) / (2 * np.tan(np.radians(deg / 2)))
        for angle, deg in zip((fixations.x_deg, fixations.y_deg), SIZE_DEG, strict=True)
    )
    return x, y


def density_without(
    fixations: Fixations, image: int, viewer: int | None, shape: tuple[int, int]
) -> Floats:
    """Return where everybody but `viewer` looked in `image`."""
    x, y = relative_positions(fixations)
    use = fixations.image == image
    if viewer is not None:
        use &= fixations.viewer != viewer
    return empirical_density(x[use], y[use], shape=shape).density


def _angles(n_cells: int, size_deg: float) -> Floats:
    across = np.arange(n_cells + 1) / n_cells - 0.5
    return np.asarray(np.degrees(np.arctan(2 * across * np.tan(np.radians(size_deg / 2)))))
