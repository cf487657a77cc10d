"""What surfaces are made of: kinds, textures, colours; kernels see them as arrays."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Colour = tuple[float, float, float]
"""Red, green, blue in 0 … 1 as on a screen (sRGB)."""


class Kind(enum.IntEnum):
    """How a surface treats light."""

    MATTE = 0
    """Scatters it; `shine` adds a clear coat."""
    METAL = 1
    WATER = 2
    """Mirrors by the angle of view and shows its own colour else; has waves."""
    GLASS = 3
    """Thin: mirrors by the angle of view and lets through else."""
    LEAF = 4
    """Scatters it to both sides."""
    GLOW = 5
    """Is a source of light, `glow` times its colour; with `shine` it is only seen, and what it
    lights is left to a lamp at the same place."""


class Texture(enum.IntEnum):
    """How the two colours of a material are laid over a surface."""

    PLAIN = 0
    MOTTLED = 1
    WOOD = 2
    BRICK = 3
    CHECKED = 4
    STRIPED = 5
    TERRAIN = 6
    """Colour on flat ground, second colour on steep, `detail` is the height of the snow line."""
    LIT_WINDOWS = 7
    """A facade at night: `detail` is the share of windows that shine with `glow`."""
    PEEL = 8
    """Streaks from the poles of the unit `detail` around the z axis, freckled."""
    PLANKS = 9
    COBBLES = 10
    PLAID = 11
    SHINGLES = 12
    ROAD = 13
    """Asphalt with a dashed line of the second colour along y at x = `detail`."""
    MARBLED = 14
    SHORE = 15
    """Colour above the height `detail`, the wet second colour below."""


@dataclass(frozen=True)
class Material:
    """A surface; `scale` is the size of the texture's pattern in metres."""

    colour: Colour
    second: Colour | None = None
    kind: Kind = Kind.MATTE
    texture: Texture = Texture.PLAIN
    scale: float = 1.0
    shine: float = 0.0
    glow: float = 0.0
    roughness: float = 0.3
    bump: float = 0.0
    detail: float = 0.0


class MaterialTable(NamedTuple):
    """Materials as arrays, one row each; colours (n, 3) in linear light."""

    kind: npt.NDArray[np.int64]
    texture: npt.NDArray[np.int64]
    colour: npt.NDArray[np.float64]
    second: npt.NDArray[np.float64]
    scale: npt.NDArray[np.float64]
    shine: npt.NDArray[np.float64]
    glow: npt.NDArray[np.float64]
    roughness: npt.NDArray[np.float64]
    bump: npt.NDArray[np.float64]
    detail: npt.NDArray[np.float64]


def to_linear(colour: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Return sRGB values as linear light."""
    c = np.asarray(colour, float)
    return np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)


def shaded(colour: Colour, factor: float = 0.75) -> Colour:
    """Return a darker tone of a colour."""
    return (factor * colour[0], factor * colour[1], factor * colour[2])


@dataclass
class Palette:
    """The materials of a scene; equal materials are one."""

    _materials: list[Material] = field(default_factory=list)

    def __call__(self, colour: Colour, second: Colour | None = None, **looks: object) -> int:
        """Return the number of the material with these looks (see `Material`)."""
        material = Material(colour, second, **looks)  # type: ignore[arg-type]
        if material not in self._materials:
            self._materials.append(material)
        return self._materials.index(material)

    def table(self) -> MaterialTable:
        """Return all materials as arrays."""
        rows = self._materials
        return MaterialTable(
            np.array([row.kind for row in rows], np.int64),
            np.array([row.texture for row in rows], np.int64),
            to_linear([row.colour for row in rows]),
            to_linear([row.second or row.colour for row in rows]),
            np.array([row.scale for row in rows], float),
            np.array([row.shine for row in rows], float),
            np.array([row.glow for row in rows], float),
            np.array([row.roughness for row in rows], float),
            np.array([row.bump for row in rows], float),
            np.array([row.detail for row in rows], float),
        )
