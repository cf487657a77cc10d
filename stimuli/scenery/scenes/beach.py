"""Sand and surf, palms, sunshades, bathers and a sail on the sea."""

from __future__ import annotations

import numpy as np

from scenery.boats import sail_boat
from scenery.creatures import person
from scenery.furniture import soft_box
from scenery.ground import Floats, Rng, height_of, level, terrain
from scenery.materials import Kind, Palette, Texture
from scenery.mesh import tube
from scenery.noise_kernels import noise_at
from scenery.plants import bark, leaf_colours, palm
from scenery.playthings import beach_ball, umbrella
from scenery.render import Scene, daylight


def compose(rng: Rng) -> Scene:
    """Return the scene."""
    palette = Palette()

    def height(x: Floats, y: Floats) -> Floats:
        waterline = 11 + 3.5 * np.sin(x / 16 + 0.6) - 0.3 * x
        slope = (waterline - y) * np.where(y < waterline, 0.055, 0.12)
        return np.clip(slope, -6, 1.6) + 0.07 * noise_at(x / 1.6, y / 1.6, octaves=4)

    sand = palette(
        (0.87, 0.77, 0.58),
        (0.58, 0.48, 0.35),
        texture=Texture.SHORE,
        scale=0.25,
        detail=0.02,
        bump=0.05,
    )
    scene = Scene(
        palette,
        daylight(
            -140, 48, cloud_cover=0.42, cloud_phase=61.3, haze=0.0004, zenith=(0.12, 0.38, 0.8)
        ),
        (0, -5, 3.6),
        (0.5, 20, 2.3),
        46,
        exposure=0.8,
    )
    scene.add(terrain(height, sand, near=-14, far=120, half_width=1.1, n_across=420, n_deep=420))
    sea = palette((0.02, 0.32, 0.36), kind=Kind.WATER, scale=1.4, bump=0.1)
    scene.add(level(sea))
    foam = palette((0.95, 0.97, 0.97), (0.85, 0.93, 0.93), texture=Texture.MOTTLED, scale=0.5)
    along = np.linspace(-60, 60, 500)
    for offset, wide, seed in ((0.2, 0.5, 1.0), (4.2, 0.45, 2.0), (9.5, 0.4, 3.0)):
        line = (
            11
            + 3.5 * np.sin(along / 16 + 0.6)
            - 0.3 * along
            + offset
            + 1.1 * noise_at(along / 5, seed, octaves=4)
        )
        width = wide * np.clip(0.9 + 2.2 * noise_at(along / 3, seed + 9, octaves=3), 0.02, 2)
        path = np.column_stack([along, line, np.full_like(along, 0.02)])
        scene.add(tube(path, width, foam, 8).scaled(1, 1, 0.16))
    trunk = bark(palette, (0.5, 0.42, 0.33))
    fronds = leaf_colours(palette, [(0.22, 0.42, 0.12), (0.3, 0.5, 0.15), (0.42, 0.52, 0.2)])
    for x, y, tall, turn in ((-7.5, 11, 7.0, 10), (-12.5, 15, 7.5, 150), (-10, 10, 5.5, 60)):
        scene.add(palm(rng, tall, trunk, fronds).turned(turn).moved(x, y, height_of(height, x, y)))
    for x, y, colours in (
        (-3.6, 6.0, [(0.85, 0.12, 0.1), (0.95, 0.94, 0.9)]),
        (3.0, 4.6, [(0.1, 0.35, 0.75), (0.97, 0.85, 0.2)]),
    ):
        z = height_of(height, x, y)
        scene.add(umbrella(palette, 1.35, 2.2, colours).turned(9, "y").moved(x, y, z))
        towel = palette(colours[0], (0.95, 0.94, 0.9), texture=Texture.STRIPED, scale=0.35)
        scene.add(soft_box((0.8, 1.8, 0.04), towel, (x + 0.5, y - 0.9, z)))
    scene.add(beach_ball(palette, 0.28).moved(0.4, 2.6, height_of(height, 0.4, 2.6)))
    for x, y, shirt, turn in (
        (-1.6, 11.0, (0.9, 0.2, 0.3), 150),
        (-0.4, 11.6, (0.1, 0.5, 0.7), 200),
        (5.6, 7.4, (0.95, 0.7, 0.1), 60),
    ):
        z = height_of(height, x, y)
        scene.add(
            person(rng, palette, shirt=shirt, trousers=(0.82, 0.62, 0.5))
            .turned(turn)
            .moved(x, y, z)
        )
    scene.add(sail_boat(palette, 8, (0.9, 0.9, 0.88)).turned(20).moved(16, 75, 0))
    scene.add(
        sail_boat(palette, 9, (0.15, 0.2, 0.4), (0.85, 0.2, 0.15)).turned(160).moved(-38, 120, 0)
    )
    return scene
