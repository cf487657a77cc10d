"""Dunes in low light, saguaros, boulders and a tent."""

from __future__ import annotations

import numpy as np

from scenery.creatures import person
from scenery.ground import Floats, Rng, height_of, terrain
from scenery.materials import Palette, Texture
from scenery.mesh import flat, merged, tube
from scenery.noise_kernels import noise_at
from scenery.plants import cactus, stone
from scenery.render import Scene, daylight


def compose(rng: Rng) -> Scene:
    """Return the scene."""
    palette = Palette()

    def height(x: Floats, y: Floats) -> Floats:
        warp = 30 * noise_at(x / 70, y / 70, 2.0, octaves=3)
        wave = (y + 0.8 * x + warp) / 52
        saw = wave - np.floor(wave)
        crest = np.where(saw < 0.7, (saw / 0.7) ** 1.5, ((1 - saw) / 0.3) ** 1.2)
        big = (
            13
            * crest
            * np.clip((y - 14) / 50, 0.08, 1)
            * (0.8 + 0.9 * noise_at(x / 110, y / 110, 9.0))
        )
        lines = (y + 0.5 * x + 2.2 * noise_at(x / 5, y / 5, 1.0, octaves=3)) * 2 * np.pi / 0.55
        return (
            big
            + 1.4 * noise_at(x / 30, y / 30, 4.0, octaves=3)
            + 0.022 * np.sin(lines) * np.exp(-y / 30)
        )

    sand = palette(
        (0.85, 0.61, 0.39), (0.81, 0.56, 0.34), texture=Texture.MOTTLED, scale=5, bump=0.05
    )
    scene = Scene(
        palette,
        daylight(
            -78,
            19,
            sun=(1, 0.84, 0.62),
            sun_strength=3.6,
            zenith=(0.16, 0.36, 0.72),
            horizon=(0.86, 0.82, 0.76),
            haze=0.0009,
            haze_colour=(0.95, 0.75, 0.56),
        ),
        (0, -4, 3.4),
        (0, 30, 3.6),
        40,
        exposure=0.95,
    )
    scene.add(terrain(height, sand, near=-10, far=900, half_width=1.1, n_across=700, n_deep=900))
    green = palette(
        (0.24, 0.4, 0.2), (0.34, 0.48, 0.26), texture=Texture.STRIPED, scale=0.12, bump=0.2
    )
    for x, y, tall in ((6.2, 17, 4.4), (-13, 36, 5.5), (11, 30, 3.4), (23, 55, 6.0)):
        z = height_of(height, x, y) - 0.1
        scene.add(cactus(tall, green).turned(rng.uniform(-40, 40)).moved(x, y, z))
    grey = palette(
        (0.55, 0.42, 0.34), (0.42, 0.3, 0.24), texture=Texture.MOTTLED, scale=0.8, bump=0.6
    )
    for x, y, r in ((-5.2, 13, 0.9), (-4.1, 12.2, 0.5), (2.5, 10.5, 0.35), (13, 24, 1.2)):
        scene.add(stone(rng, r, grey).moved(x, y, height_of(height, x, y) + 0.2 * r))
    cloth = palette((0.9, 0.88, 0.8), (0.7, 0.15, 0.12), texture=Texture.STRIPED, scale=0.9)
    x, y = -4.5, 26.0
    z = height_of(height, x, y) - 0.1
    tent = [tube([(0, 0, 0), (0, 0, 2.9)], [0.05, 0.05], palette((0.3, 0.2, 0.1)))]
    ring = [(2.4 * np.cos(a), 2.4 * np.sin(a), 0) for a in np.arange(6) * np.pi / 3 + 0.3]
    tent.append(
        flat([*ring, (0, 0, 2.8)], [[k, (k + 1) % 6, 6] for k in range(6) if k != 4], cloth)
    )
    scene.add(merged(tent).moved(x, y, z))
    scene.add(
        person(rng, palette, shirt=(0.15, 0.3, 0.65), trousers=(0.15, 0.3, 0.65)).moved(
            -1.2, 24, height_of(height, -1.2, 24.0)
        )
    )
    return scene
