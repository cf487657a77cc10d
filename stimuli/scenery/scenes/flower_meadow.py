"""Poppies, daisies and cornflowers before a lone oak and far hills."""

from __future__ import annotations

import numpy as np

from scenery.ground import Floats, Rng, fan_places, height_of, places, terrain
from scenery.materials import Palette, Texture
from scenery.noise_kernels import noise_at
from scenery.plants import bark, broadleaf_tree, flowers, grass, leaf_colours
from scenery.render import Scene, daylight


def compose(rng: Rng) -> Scene:
    """Return the scene."""
    palette = Palette()

    def height(x: Floats, y: Floats) -> Floats:
        hills = (
            60 * np.clip((y - 180) / 500, 0, 1) * (0.5 + noise_at(x / 260, y / 260, 5.0, octaves=5))
        )
        return 0.5 * noise_at(x / 18, y / 18, octaves=4) + hills

    green = palette((0.2, 0.36, 0.1), (0.3, 0.42, 0.14), texture=Texture.MOTTLED, scale=12)
    scene = Scene(
        palette,
        daylight(
            -50, 44, cloud_cover=0.5, cloud_phase=8.4, haze=0.0009, haze_colour=(0.7, 0.8, 0.92)
        ),
        (0, 0, 1.15),
        (0, 20, 2.9),
        42,
    )
    scene.add(terrain(height, green, near=-3, far=1100, half_width=1.1, n_across=240, n_deep=320))
    blades = leaf_colours(palette, [(0.22, 0.45, 0.1), (0.32, 0.52, 0.15), (0.42, 0.55, 0.2)])
    scene.add(grass(rng, fan_places(rng, 90000, 1.0, 45, 0.85, height), 0.42, blades))
    stem = blades[0]
    for colours, heart, n, size in (
        ([(0.85, 0.08, 0.05), (0.92, 0.16, 0.06)], (0.08, 0.05, 0.06), 1000, 0.05),
        ([(0.96, 0.95, 0.92)], (0.95, 0.75, 0.1), 900, 0.034),
        ([(0.2, 0.25, 0.8), (0.35, 0.3, 0.85)], (0.3, 0.1, 0.4), 600, 0.036),
    ):
        petals = leaf_colours(palette, colours)
        clump = fan_places(rng, 4 * n, 1.5, 40, 0.8, height)
        clump = clump[noise_at(clump[:, 0] / 3, clump[:, 1] / 3, float(n)) > 0.02][:n]
        scene.add(flowers(rng, clump, 0.5, size, petals, palette(heart), stem))
    oak_leaves = leaf_colours(palette, [(0.3, 0.5, 0.12), (0.38, 0.56, 0.16), (0.24, 0.42, 0.1)])
    oak = broadleaf_tree(
        rng, 13, bark(palette), oak_leaves, n_leaves=34000, leaf_size=0.17, spread=48, bare=0.14
    )
    scene.add(oak.moved(9, 42, height_of(height, 9.0, 42.0)))
    small = broadleaf_tree(
        rng, 1.0, bark(palette), oak_leaves, n_leaves=1500, leaf_size=0.035, spread=42
    )
    for place in places(rng, 90, (-260, 260), (150, 420), height):
        scene.add(small.turned(rng.uniform(0, 360)).scaled(rng.uniform(7, 14)).moved(*place))
    return scene
