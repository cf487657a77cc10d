"""A lighthouse on a rocky point at sunset, gulls, breakers."""

from __future__ import annotations

import numpy as np

from scenery.boats import sail_boat
from scenery.buildings import house, lighthouse
from scenery.ground import Floats, Rng, height_of, level, places, terrain
from scenery.materials import Kind, Palette, Texture
from scenery.mesh import merged, quad, sphere
from scenery.noise_kernels import noise_at
from scenery.render import Scene, daylight


def compose(rng: Rng) -> Scene:
    """Return the scene."""
    palette = Palette()

    def height(x: Floats, y: Floats) -> Floats:
        land = np.exp(-(((x - 46) / 38) ** 2) - ((y - 105) / 34) ** 2)
        rock = 9 * (noise_at(x / 14, y / 14, 3.0, octaves=6, ridged=True) - 0.4) + 4 * noise_at(
            x / 30, y / 30, 8.0
        )
        top = 21 * np.clip(1.9 * land, 0, 1) - 4.2
        near = 4.5 * np.exp(-(((x + 13) / 9) ** 2) - ((y - 22) / 8) ** 2)
        return np.where(top > 14, top, top + np.clip(top + 4.2, 0, 8) / 8 * rock) + near * (
            0.6 + noise_at(x / 3, y / 3)
        )

    rock = palette(
        (0.34, 0.4, 0.2), (0.4, 0.35, 0.31), texture=Texture.TERRAIN, scale=6, detail=1e9, bump=0.7
    )
    scene = Scene(
        palette,
        daylight(
            -26,
            5.5,
            sun=(1, 0.55, 0.25),
            sun_strength=3.2,
            zenith=(0.2, 0.28, 0.55),
            horizon=(1.0, 0.62, 0.38),
            cloud_cover=0.56,
            cloud_phase=83.0,
            cloud_light=(1, 0.66, 0.48),
            cloud_shade=(0.42, 0.36, 0.48),
            haze=0.0022,
            haze_colour=(0.9, 0.6, 0.5),
            glow=1.5,
            sun_radius_deg=1.0,
            sky_strength=1.25,
        ),
        (0, -4, 8),
        (4, 90, 14),
        42,
    )
    scene.add(terrain(height, rock, near=-8, far=190, half_width=1.1, n_across=460, n_deep=460))
    scene.add(level(palette((0.05, 0.12, 0.17), kind=Kind.WATER, scale=2.6, bump=0.16)))
    z = height_of(height, 38.0, 100.0)
    scene.add(lighthouse(palette, 24).moved(38, 100, z - 0.5))
    white = palette((0.9, 0.88, 0.85))
    roof = palette((0.6, 0.2, 0.15), (0.5, 0.16, 0.12), texture=Texture.SHINGLES)
    scene.add(
        house(rng, palette, width=11, depth=7, n_floors=1, wall=white, roof=roof, lit=2.2)
        .turned(-12)
        .moved(53, 92, height_of(height, 53.0, 92.0) - 0.6)
    )
    foam = palette((0.96, 0.93, 0.9), (0.8, 0.76, 0.76), texture=Texture.MOTTLED, scale=0.8)
    spots = places(rng, 26000, (-40, 90), (8, 150), height)
    surf = spots[np.abs(spots[:, 2] + 0.12) < 0.16]
    for spot in surf[:420]:
        scene.add(
            sphere(1, foam, 8)
            .scaled(rng.uniform(0.2, 0.8), rng.uniform(0.2, 0.5), rng.uniform(0.05, 0.15))
            .moved(spot[0], spot[1], 0.03)
        )
    gull, tip = palette((0.93, 0.92, 0.9)), palette((0.15, 0.15, 0.16))
    for x, y, z, tilt in (
        (-9, 32, 13.5, 12),
        (-3, 40, 16.5, -18),
        (6.5, 36, 11.5, 25),
        (-17, 55, 15, -8),
        (-24, 60, 21, 15),
    ):
        wings = [
            quad([(0, -0.16, 0), (s * 0.6, -0.2, 0.24), (s * 0.55, 0.12, 0.24), (0, 0.18, 0)], gull)
            for s in (-1, 1)
        ]
        wings += [
            quad(
                [
                    (s * 0.6, -0.2, 0.24),
                    (s * 1.15, 0.1, 0.1),
                    (s * 1.1, 0.18, 0.1),
                    (s * 0.55, 0.12, 0.24),
                ],
                tip,
            )
            for s in (-1, 1)
        ]
        bird = merged([*wings, sphere(1, gull, 14).scaled(0.12, 0.38, 0.12)])
        scene.add(bird.turned(tilt, "y").turned(3 * tilt).moved(x, y, z))
    scene.add(sail_boat(palette, 9, (0.2, 0.15, 0.2)).turned(12).moved(-52, 190, 0))
    return scene
