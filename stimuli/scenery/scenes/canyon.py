"""Layered red rock around a green river, a raft on it."""

from __future__ import annotations

import numpy as np

from scenery.boats import rowing_boat
from scenery.creatures import person
from scenery.ground import Floats, Rng, level, places, terrain
from scenery.materials import Kind, Palette, Texture
from scenery.noise_kernels import noise_at
from scenery.plants import bush, leaf_colours
from scenery.render import Scene, daylight


def compose(rng: Rng) -> Scene:
    """Return the scene."""
    palette = Palette()

    def height(x: Floats, y: Floats) -> Floats:
        bed = 26 * np.sin(y / 75 + 0.4) * np.clip(y / 60, 0, 1)
        away = np.abs(x - bed) + 15 * noise_at(x / 38, y / 38, 2.0, octaves=5)
        rise = np.clip((away - 15) / 62, 0, 1)
        steps = rise * 7
        stair = np.floor(steps) + np.clip((steps % 1 - 0.72) / 0.28, 0, 1)
        return 13.5 * stair + 8 * rise + 2.2 * noise_at(x / 9, y / 9, 5.0, octaves=5) - 1.5

    strata = palette(
        (0.76, 0.5, 0.34),
        (0.66, 0.38, 0.26),
        texture=Texture.TERRAIN,
        scale=16,
        detail=1e9,
        bump=0.7,
    )
    scene = Scene(
        palette,
        daylight(
            -125,
            40,
            sun=(1, 0.9, 0.75),
            sun_strength=3.2,
            cloud_cover=0.3,
            cloud_phase=41.0,
            haze=0.0006,
            haze_colour=(0.85, 0.75, 0.72),
        ),
        (1, -6, 7),
        (4, 80, 16),
        46,
    )
    scene.add(terrain(height, strata, near=-22, far=800, half_width=0.9, n_across=520, n_deep=760))
    scene.add(level(palette((0.1, 0.22, 0.16), kind=Kind.WATER, scale=1.2, bump=0.06)))
    green = leaf_colours(palette, [(0.25, 0.36, 0.14), (0.34, 0.42, 0.18)])
    shrub = bush(rng, 1.0, green, 500)
    spots = places(rng, 1500, (-70, 70), (8, 220), height)
    for place in spots[(spots[:, 2] > 0.2) & (spots[:, 2] < 30)][:150]:
        scene.add(shrub.scaled(rng.uniform(0.6, 1.7)).moved(*place))
    scene.add(rowing_boat(palette, 6.0, (0.95, 0.75, 0.1)).turned(70).moved(4.2, 27, 0.1))
    scene.add(person(rng, palette, shirt=(0.1, 0.45, 0.8)).moved(4.3, 27.6, 0.2))
    return scene
