"""Rows of tulips that run to a windmill."""

from __future__ import annotations

import numpy as np

from scenery.buildings import house, windmill
from scenery.creatures import person
from scenery.ground import Floats, Rng, level, terrain
from scenery.materials import Palette, Texture
from scenery.noise_kernels import noise_at
from scenery.plants import bark, broadleaf_tree, flowers, grass, leaf_colours
from scenery.render import Scene, daylight


def compose(rng: Rng) -> Scene:
    """Return the scene."""
    palette = Palette()

    def height(x: Floats, y: Floats) -> Floats:
        return 0.0 * x + 0.1 * noise_at(x / 9, y / 9) - 0.12 * (np.abs((x / 1.7) % 1 - 0.5) > 0.36)

    soil = palette(
        (0.36, 0.26, 0.17), (0.25, 0.18, 0.12), texture=Texture.MOTTLED, scale=0.7, bump=0.4
    )
    scene = Scene(
        palette,
        daylight(-120, 38, cloud_cover=0.55, cloud_phase=21.7, haze=0.0012),
        (0.3, -1.5, 1.9),
        (2.0, 30, 3.5),
        44,
    )
    scene.add(terrain(height, soil, near=-6, far=60, half_width=1.2, n_across=500, n_deep=200))
    scene.add(
        level(
            palette((0.25, 0.42, 0.14), (0.33, 0.48, 0.18), texture=Texture.MOTTLED, scale=9), -0.25
        )
    )
    green = leaf_colours(palette, [(0.24, 0.42, 0.2), (0.3, 0.5, 0.26)])
    colours = [
        (0.85, 0.08, 0.1),
        (0.95, 0.78, 0.1),
        (0.9, 0.4, 0.6),
        (0.95, 0.93, 0.88),
        (0.5, 0.12, 0.5),
        (0.95, 0.5, 0.1),
    ]
    for row in range(-16, 17):
        n = 1500 if abs(row) < 6 else 800
        y = 0.3 + 57 * rng.random(n) ** 1.7
        x = 1.7 * (row + 0.5) + rng.uniform(-0.5, 0.5, n)
        spot = np.column_stack([x, y, height(x, y)])
        petals = leaf_colours(palette, [colours[row % 6]])
        scene.add(flowers(rng, spot, 0.42, 0.075, petals, petals[0], green[0]))
        scene.add(
            grass(
                rng,
                np.repeat(spot, 2, axis=0) + rng.normal(0, 0.05, (2 * n, 3)) * [1, 1, 0],
                0.3,
                green,
            )
        )
    scene.add(windmill(palette, 15).turned(-18).moved(11, 60, -0.2))
    roof = palette((0.6, 0.28, 0.18), (0.48, 0.2, 0.13), texture=Texture.SHINGLES, scale=0.8)
    brick = palette((0.6, 0.34, 0.25), (0.7, 0.65, 0.6), texture=Texture.BRICK, scale=0.5)
    scene.add(
        house(rng, palette, width=10, depth=8, n_floors=1, wall=brick, roof=roof, roof_rise=4)
        .turned(12)
        .moved(-13, 66, -0.2)
    )
    leaf = leaf_colours(palette, [(0.22, 0.38, 0.12), (0.3, 0.45, 0.16)])
    tree = broadleaf_tree(rng, 1.0, bark(palette), leaf, n_leaves=2600, leaf_size=0.028)
    for k in range(26):
        x = -70 + 5.6 * k + rng.normal(0, 1)
        scene.add(
            tree.turned(50 * k).scaled(rng.uniform(7, 11)).moved(x, 88 + rng.normal(0, 4), -0.3)
        )
    scene.add(person(rng, palette, shirt=(0.2, 0.45, 0.75)).turned(200).moved(-3.4, 20, 0))
    return scene
