"""A path through tall trees in autumn colours, a bench, a walker with a red coat."""

from __future__ import annotations

import numpy as np

from scenery.buildings import bench
from scenery.creatures import person
from scenery.ground import Floats, Rng, fan_places, places, terrain
from scenery.materials import Palette, Texture
from scenery.noise_kernels import noise_at
from scenery.plants import bark, broadleaf_tree, leaf_colours, leaves
from scenery.render import Scene, daylight


def compose(rng: Rng) -> Scene:
    """Return the scene."""
    palette = Palette()

    def height(x: Floats, y: Floats) -> Floats:
        return 0.5 * noise_at(x / 14, y / 14, octaves=4) + 0.16 * np.clip(
            np.abs(x - _bend(y)) - 1.6, 0, 4
        )

    def _bend(y: Floats) -> Floats:
        return 1.6 * np.sin(y / 17)

    litter = palette(
        (0.42, 0.24, 0.09), (0.2, 0.13, 0.07), texture=Texture.MOTTLED, scale=0.6, bump=0.5
    )
    scene = Scene(
        palette,
        daylight(
            25,
            38,
            sun=(1, 0.86, 0.62),
            sun_strength=4.2,
            horizon=(0.95, 0.88, 0.7),
            zenith=(0.6, 0.7, 0.8),
            haze=0.0065,
            haze_colour=(0.93, 0.82, 0.58),
            sun_radius_deg=1.2,
        ),
        (0.4, -2, 1.7),
        (1.2, 20, 3.1),
        46,
        exposure=1.15,
    )
    scene.add(terrain(height, litter, near=-8, far=140, half_width=1.0, n_across=200, n_deep=260))
    foliage = [
        leaf_colours(palette, [(0.85, 0.45, 0.06), (0.9, 0.6, 0.1), (0.75, 0.3, 0.05)]),
        leaf_colours(palette, [(0.8, 0.2, 0.06), (0.65, 0.14, 0.06), (0.88, 0.36, 0.08)]),
        leaf_colours(palette, [(0.92, 0.75, 0.15), (0.7, 0.65, 0.15), (0.85, 0.6, 0.1)]),
    ]
    trunk = bark(palette, (0.3, 0.25, 0.22))
    kinds = [
        broadleaf_tree(
            rng, 1.0, trunk, foliage[k % 3], n_leaves=11000, leaf_size=0.0105, spread=33, bare=0.38
        )
        for k in range(6)
    ]
    for place in places(rng, 130, (-34, 34), (4, 110), height):
        if abs(place[0] - _bend(place[1])) > 2.7:
            size = rng.uniform(13, 20)
            scene.add(
                kinds[int(rng.integers(6))].turned(rng.uniform(0, 360)).scaled(size).moved(*place)
            )
    fallen = fan_places(rng, 26000, 1.2, 60, 0.75, height) + np.array([0, -2.2, 0.02])
    scene.add(leaves(rng, fallen, 0.045, [m for tones in foliage for m in tones]))
    wood = palette((0.5, 0.33, 0.18), (0.35, 0.22, 0.12), texture=Texture.WOOD, scale=0.2)
    x, y = np.array(-2.2), np.array(9.0)
    scene.add(bench(palette, wood).turned(62).moved(-1.6, 9, float(height(x, y))))
    x, y = _bend(np.array(20.0)) - 0.3, np.array(20.0)
    scene.add(
        person(rng, palette, shirt=(0.75, 0.06, 0.08))
        .turned(10)
        .moved(float(x), 20, float(height(x, y)))
    )
    return scene
