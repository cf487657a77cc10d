"""Snowy peaks mirrored in a lake, firs on its shore, a red cabin and a boat."""

from __future__ import annotations

import numpy as np

from scenery.boats import rowing_boat
from scenery.buildings import house
from scenery.ground import Floats, Rng, height_of, level, places, terrain
from scenery.materials import Kind, Palette, Texture
from scenery.noise_kernels import noise_at
from scenery.plants import bark, conifer, leaf_colours
from scenery.render import Scene, daylight


def compose(rng: Rng) -> Scene:
    """Return the scene."""
    palette = Palette()
    rock = palette(
        (0.24, 0.31, 0.16),
        (0.42, 0.39, 0.37),
        texture=Texture.TERRAIN,
        scale=42,
        detail=330,
        bump=0.6,
    )

    def height(x: Floats, y: Floats) -> Floats:
        back = y - 300 - 90 * noise_at(x / 260, 2.2)
        rise = np.clip(back / 1500, -0.05, 1)
        peaks = 620 * noise_at(x / 700 + 4.1, y / 700, 0.3, octaves=8, ridged=True)
        foothills = 26 * noise_at(x / 120, y / 120, 1.0, octaves=5) * np.clip(back / 150, 0, 1)
        point = 17 * np.exp(-(((x + 46) / 26) ** 2) - ((y - 135) / 30) ** 2)
        slope = np.sign(rise) * np.abs(rise) ** 0.8 * (peaks + 60) - 9
        return np.maximum(slope, -10) + foothills + point

    scene = Scene(
        palette,
        daylight(
            -115, 34, cloud_cover=0.42, cloud_phase=3.1, haze=0.00022, haze_colour=(0.66, 0.76, 0.9)
        ),
        (0, 0, 6),
        (0, 400, 46),
        36,
        exposure=1.05,
    )
    scene.add(terrain(height, rock, near=-10, far=2600, half_width=1.0, n_across=520, n_deep=620))
    scene.add(level(palette((0.03, 0.1, 0.12), kind=Kind.WATER, scale=2.2, bump=0.035)))
    needles = leaf_colours(palette, [(0.08, 0.2, 0.1), (0.1, 0.25, 0.12), (0.06, 0.16, 0.1)])
    kinds = [conifer(rng, 1.0, bark(palette), needles, n_whorls=14, detail=8) for _ in range(5)]
    stands = places(rng, 4000, (-420, 420), (55, 800), height)
    for place in stands[(stands[:, 2] > 0.6) & (stands[:, 2] < 150)][:1000]:
        scene.add(kinds[int(rng.integers(5))].scaled(rng.uniform(11, 22)).moved(*place))
    cabin = house(
        rng,
        palette,
        width=8,
        depth=6,
        n_floors=1,
        wall=palette((0.62, 0.12, 0.09), (0.4, 0.07, 0.06), texture=Texture.PLANKS, scale=0.3),
        roof=palette((0.25, 0.22, 0.2)),
        lit=1.2,
    )
    scene.add(cabin.turned(18).moved(-37, 121, height_of(height, -37.0, 122.0) - 0.5))
    scene.add(rowing_boat(palette, 5.5, (0.85, 0.55, 0.1)).turned(-25).moved(13, 48, 0.1))
    return scene
