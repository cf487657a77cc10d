"""A drake and his family close by, reeds, a willow, a park beyond."""

from __future__ import annotations

import numpy as np

from scenery.creatures import duck, person
from scenery.ground import Floats, Rng, height_of, level, places, terrain
from scenery.materials import Kind, Palette, Texture
from scenery.mesh import cylinder, revolved, tube
from scenery.noise_kernels import noise_at
from scenery.plants import bark, broadleaf_tree, flowers, grass, leaf_colours
from scenery.render import Scene, daylight


def compose(rng: Rng) -> Scene:
    """Return the scene."""
    palette = Palette()

    def height(x: Floats, y: Floats) -> Floats:
        shore = y - 17 - 2.2 * noise_at(x / 8, 1.0) - 0.03 * x**2
        return (
            0.7 * np.tanh(shore / 3)
            + 0.4 * noise_at(x / 10, y / 10)
            + np.clip(y - 25, 0, 60) * 0.03
            - 0.1
        )

    lawn = palette((0.27, 0.44, 0.13), (0.34, 0.48, 0.17), texture=Texture.MOTTLED, scale=4)
    scene = Scene(
        palette,
        daylight(110, 38, cloud_cover=0.4, cloud_phase=101.0, haze=0.002),
        (0, 0, 1.0),
        (0.2, 9, 0.62),
        40,
    )
    scene.add(terrain(height, lawn, near=4, far=160, half_width=1.2, n_across=260, n_deep=280))
    scene.add(level(palette((0.07, 0.14, 0.1), kind=Kind.WATER, scale=0.55, bump=0.035), 0.0, 200))
    for x, y, turn, drake, size in (
        (-0.75, 3.6, 25, True, 1.25),
        (0.95, 4.6, 200, False, 1.15),
        (2.3, 8.5, 150, True, 1.2),
        (-3.3, 7.6, 20, False, 1.2),
    ):
        scene.add(duck(palette, drake).scaled(size).turned(turn).moved(x, y, 0.0))
    for k in range(5):
        scene.add(
            duck(palette, False)
            .scaled(0.48)
            .turned(195 + 10 * k)
            .moved(1.45 + 0.27 * k, 4.5 + 0.08 * (-1) ** k, 0.0)
        )
    reed = leaf_colours(palette, [(0.35, 0.48, 0.16), (0.45, 0.52, 0.2), (0.28, 0.42, 0.14)])
    head = palette((0.3, 0.17, 0.08), bump=0.3, scale=0.02)
    for x0, y0, n in ((-4.6, 7.0, 520), (5.2, 9.0, 520), (-7.5, 13, 420), (2.2, 14.5, 200)):
        spots = np.column_stack([rng.normal(x0, 0.55, n), rng.normal(y0, 0.45, n), np.zeros(n)])
        scene.add(grass(rng, spots, 1.5, reed))
        for spot in spots[:16]:
            scene.add(
                tube(
                    spot + np.array([(0, 0, 0), (0.05, 0, 1.3), (0.08, 0, 1.6)]),
                    [0.008, 0.007, 0.006],
                    reed[0],
                    5,
                )
            )
            scene.add(cylinder(0.028, 0.2, head, 10).moved(spot[0] + 0.06, spot[1], 1.4))
    willow_leaf = leaf_colours(palette, [(0.5, 0.6, 0.2), (0.42, 0.55, 0.18), (0.58, 0.66, 0.28)])
    willow = broadleaf_tree(
        rng, 9, bark(palette), willow_leaf, n_leaves=22000, leaf_size=0.1, spread=50, bare=0.2
    )
    scene.add(willow.moved(-8.5, 24, height_of(height, -8.5, 24.0)))
    green = leaf_colours(palette, [(0.2, 0.38, 0.11), (0.28, 0.46, 0.15)])
    red = leaf_colours(palette, [(0.6, 0.18, 0.12), (0.7, 0.28, 0.14)])
    for k, place in enumerate(places(rng, 44, (-60, 60), (34, 100), height)):
        tree = broadleaf_tree(
            rng,
            float(rng.uniform(6, 12)),
            bark(palette),
            red if k % 7 == 0 else green,
            n_leaves=3500,
            leaf_size=0.22,
            spread=44,
        )
        scene.add(tree.moved(*place))
    for x, y, shirt, turn in ((3.6, 24, (0.85, 0.2, 0.2), 20), (4.4, 24.4, (0.2, 0.4, 0.7), -30)):
        scene.add(
            person(rng, palette, shirt=shirt).turned(turn).moved(x, y, height_of(height, x, y))
        )
    pad = palette((0.22, 0.42, 0.16))
    lily = leaf_colours(palette, [(0.97, 0.95, 0.95), (0.96, 0.85, 0.3)])
    for x, y in zip(rng.normal(-1.6, 1.2, 26), rng.uniform(6, 12, 26), strict=True):
        scene.add(
            revolved([(0.001, 0.005), (float(rng.uniform(0.1, 0.22)), 0.012)], pad, 18).moved(
                x, y, 0
            )
        )
        if rng.random() < 0.3:
            scene.add(
                flowers(
                    rng, np.array([[x, y, 0.0]]), 0.05, 0.1, lily, palette((0.95, 0.75, 0.1)), pad
                )
            )
    return scene
