"""Sheep on green hills behind a stone wall, a hawthorn, rain clouds going."""

from __future__ import annotations

import numpy as np

from scenery.buildings import dry_stone_wall, house
from scenery.creatures import sheep
from scenery.ground import Floats, Rng, fan_places, height_of, places, terrain
from scenery.materials import Palette, Texture
from scenery.noise_kernels import noise_at
from scenery.plants import bark, broadleaf_tree, grass, leaf_colours
from scenery.render import Scene, daylight


def compose(rng: Rng) -> Scene:
    """Return the scene."""
    palette = Palette()

    def height(x: Floats, y: Floats) -> Floats:
        far = (
            75
            * np.clip((y - 60) / 420, 0, 1) ** 1.2
            * (0.75 + 0.9 * noise_at(x / 210, y / 210, 3.0, octaves=5))
        )
        return 1.6 * noise_at(x / 28, y / 28, 8.0, octaves=3) + far - 0.3

    turf = palette((0.24, 0.4, 0.12), (0.4, 0.42, 0.2), texture=Texture.MOTTLED, scale=16)
    scene = Scene(
        palette,
        daylight(
            55,
            35,
            cloud_cover=0.8,
            cloud_phase=33.0,
            cloud_shade=(0.5, 0.53, 0.6),
            haze=0.0007,
            haze_colour=(0.68, 0.76, 0.85),
        ),
        (0, 0, 1.9),
        (0, 20, 2.2),
        40,
    )
    scene.add(terrain(height, turf, near=-4, far=900, half_width=1.1, n_across=280, n_deep=360))
    blades = leaf_colours(palette, [(0.26, 0.46, 0.12), (0.36, 0.52, 0.16), (0.2, 0.38, 0.1)])
    scene.add(grass(rng, fan_places(rng, 90000, 1.2, 40, 0.85, height), 0.16, blades))
    for x, y in (
        (-2.6, 7.5),
        (1.6, 9.5),
        (4.6, 12.5),
        (-5.8, 14),
        (0.2, 16),
        (-1.5, 22),
        (8.5, 21),
        (5, 26),
        (-10, 27),
        (13, 36),
        (-4, 36),
        (-16, 42),
    ):
        z = height_of(height, x, y)
        scene.add(
            sheep(rng, palette, dark_face=bool(rng.random() < 0.7))
            .turned(rng.uniform(0, 360))
            .moved(x, y, z)
        )
    for k in range(14):
        x = -42 + 6 * k
        y = 44 + 0.12 * x
        z = height_of(height, x + 3.0, y) - 0.25
        scene.add(dry_stone_wall(rng, palette, 6.1).turned(7).moved(x, y, z))
    leaf = leaf_colours(palette, [(0.2, 0.36, 0.12), (0.28, 0.42, 0.15), (0.92, 0.92, 0.86)])
    thorn = broadleaf_tree(
        rng, 6.5, bark(palette), leaf, n_leaves=11000, leaf_size=0.085, spread=50, bare=0.14
    )
    scene.add(thorn.moved(-9.5, 30, height_of(height, -9.5, 30.0)))
    green = leaf_colours(palette, [(0.16, 0.3, 0.1), (0.22, 0.36, 0.12)])
    tree = broadleaf_tree(rng, 1.0, bark(palette), green, n_leaves=1500, leaf_size=0.036, spread=42)
    for place in places(rng, 70, (-240, 240), (120, 420), height):
        scene.add(tree.turned(rng.uniform(0, 360)).scaled(rng.uniform(6, 12)).moved(*place))
    white = palette((0.9, 0.89, 0.85))
    slate = palette((0.3, 0.32, 0.36), (0.22, 0.24, 0.27), texture=Texture.SHINGLES)
    scene.add(
        house(rng, palette, width=12, depth=7, n_floors=2, wall=white, roof=slate)
        .turned(-12)
        .moved(48, 120, height_of(height, 48.0, 120.0) - 0.6)
    )
    return scene
