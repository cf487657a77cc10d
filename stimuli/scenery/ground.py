"""The ground: hills under a height function, water, and where on it things stand."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from scenery.mesh import Mesh, quad, surface_grid

Floats = npt.NDArray[np.float64]
Rng = np.random.Generator
HeightAt = Callable[[Floats, Floats], Floats]
"""The height above the point (x, y), all in metres."""


def height_of(height_at: HeightAt, x: float, y: float) -> float:
    """Return the height of the ground at one place."""
    return float(height_at(np.array(float(x)), np.array(float(y))))


def terrain(
    height_at: HeightAt,
    material: int,
    *,
    near: float,
    far: float,
    half_width: float = 1.1,
    n_across: int = 320,
    n_deep: int = 420,
) -> Mesh:
    """Return ground that widens away from the viewer, with finer triangles near by.

    It reaches from y = `near` to `far`; at distance d from just behind `near` it is
    2 · `half_width` · d wide.
    """
    step = np.geomspace(1.0, (far - near) / 6 + 1, n_deep) - 1
    y = (near + step / step[-1] * (far - near))[:, None]
    x = np.linspace(-1, 1, n_across) * half_width * (y - near + 12)
    y = np.broadcast_to(y, x.shape)
    return surface_grid(x, y, height_at(x, y), material)


def level(material: int, z: float = 0.0, reach: float = 4000.0) -> Mesh:
    """Return a level plane, such as water."""
    return quad(
        [(-reach, -reach, z), (reach, -reach, z), (reach, reach, z), (-reach, reach, z)], material
    )


def places(
    rng: Rng,
    n: int,
    x: tuple[float, float],
    y: tuple[float, float],
    height_at: HeightAt,
    *,
    denser_near: float = 1.0,
    sink: float = 0.0,
) -> Floats:
    """Return `n` points (n, 3) on the ground; `denser_near` above 1 crowds them to the near end."""
    px = rng.uniform(*x, n)
    py = y[0] + (y[1] - y[0]) * rng.random(n) ** denser_near
    return np.column_stack([px, py, height_at(px, py) - sink])


def fan_places(
    rng: Rng, n: int, near: float, far: float, half_width: float, height_at: HeightAt
) -> Floats:
    """Return `n` points (n, 3) spread evenly over the picture: the farther, the sparser."""
    y = near * (far / near) ** rng.random(n)
    x = rng.uniform(-1, 1, n) * half_width * (y + 1)
    return np.column_stack([x, y, height_at(x, y)])
