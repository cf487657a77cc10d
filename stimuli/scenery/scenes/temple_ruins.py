"""Columns of an old temple on a hill above the sea, cypresses, fallen drums."""

from __future__ import annotations

import numpy as np

from scenery.buildings import bench, column
from scenery.creatures import person
from scenery.ground import Floats, Rng, height_of, level, places, terrain
from scenery.materials import Kind, Palette, Texture
from scenery.mesh import box, cylinder, flat
from scenery.noise_kernels import noise_at
from scenery.plants import bark, broadleaf_tree, flowers, grass, leaf_colours, leaves, stone
from scenery.render import Scene, daylight


def compose(rng: Rng) -> Scene:
    """Return the scene."""
    palette = Palette()

    def height(x: Floats, y: Floats) -> Floats:
        return (
            0.35 * noise_at(x / 6, y / 6, octaves=4)
            - 0.0016 * np.clip(y - 34, 0, None) ** 2
            - 0.02 * np.clip(np.abs(x) - 24, 0, None) ** 1.5
        )

    dry = palette(
        (0.62, 0.54, 0.34), (0.48, 0.46, 0.28), texture=Texture.MOTTLED, scale=2.5, bump=0.4
    )
    scene = Scene(
        palette,
        daylight(
            -62,
            28,
            sun=(1, 0.85, 0.64),
            sun_strength=3.4,
            cloud_cover=0.4,
            cloud_phase=151.0,
            haze=0.0005,
            zenith=(0.14, 0.36, 0.76),
        ),
        (-3.4, -7.5, 2.0),
        (0.4, 14, 3.6),
        46,
    )
    scene.add(terrain(height, dry, near=-14, far=150, half_width=1.2, n_across=260, n_deep=300))
    scene.add(level(palette((0.03, 0.16, 0.26), kind=Kind.WATER, scale=3, bump=0.06), -19, 8000))
    marble = palette(
        (0.84, 0.78, 0.66), (0.66, 0.58, 0.46), texture=Texture.MOTTLED, scale=0.7, bump=0.3
    )
    for k in range(3):
        scene.add(box((15.5 - 0.9 * k, 23 - 0.9 * k, 0.35), marble, (2, 15, -0.1 + 0.35 * k)))
    for x in (-3.6, -1.35, 0.9, 3.15, 5.4, 7.6):
        for y in (6.0, 24.0):
            broken = (x, y) in {(5.4, 6.0), (-1.35, 24.0)}
            scene.add(
                column(2.6 if broken else 6.4, marble)
                .scaled(1.7 if broken else 1.0, 1.7 if broken else 1.0, 1)
                .moved(x, y, 0.95)
            )
    for y in (9.6, 13.2, 16.8, 20.4):
        for x in (-3.6, 7.6):
            if (x, y) != (7.6, 9.6):
                scene.add(column(6.4, marble).moved(x, y, 0.95))
    scene.add(
        box((7.2, 1.1, 0.9), marble, (-0.2, 6, 7.35)),
        box((1.1, 15, 0.9), marble, (-3.6, 14, 7.35)),
        box((1.1, 8, 0.9), marble, (7.6, 20, 7.35)),
        box((11.5, 1.1, 0.9), marble, (2.4, 24, 7.35)),
    )
    scene.add(
        flat(
            [
                (-3.9, 5.5, 8.25),
                (3.4, 5.5, 8.25),
                (1.2, 5.5, 9.6),
                (-3.9, 6.5, 8.25),
                (3.4, 6.5, 8.25),
                (1.2, 6.5, 9.6),
            ],
            [[0, 1, 2], [3, 5, 4], [0, 2, 5], [0, 5, 3], [1, 4, 5], [1, 5, 2]],
            marble,
        )
    )
    for x, y, turn in (
        (-5.6, 0.5, 25),
        (-4.0, -1.2, 70),
        (6.6, 1.6, -30),
        (8.4, 2.6, 50),
        (3.6, -0.4, 10),
    ):
        drum = cylinder(0.5, float(rng.uniform(0.7, 1.3)), marble, 20).turned(90, "y").turned(turn)
        scene.add(drum.moved(x, y, height_of(height, x, y) + 0.45))
    for place in places(rng, 40, (-12, 14), (-4, 6), height):
        scene.add(stone(rng, float(rng.uniform(0.08, 0.3)), marble).moved(*place))
    green = leaf_colours(palette, [(0.13, 0.24, 0.11), (0.17, 0.3, 0.13)])
    for x, y, tall in ((-9.5, 15, 9), (-12, 22, 11), (13.5, 17, 10), (16.5, 26, 12), (-15, 12, 8)):
        n = 5200
        t = rng.random(n)
        radius = (
            0.13
            * tall
            * np.sin(np.pi * np.clip(t * 0.92 + 0.06, 0, 1)) ** 0.7
            * np.sqrt(rng.uniform(0.5, 1, n))
        )
        a = rng.uniform(0, 2 * np.pi, n)
        shell = np.column_stack(
            [radius * np.cos(a), radius * np.sin(a), 0.06 * tall + 0.94 * tall * t]
        )
        scene.add(leaves(rng, shell, 0.16, green).moved(x, y, height_of(height, x, y)))
    olive = leaf_colours(palette, [(0.45, 0.5, 0.34), (0.52, 0.56, 0.4), (0.38, 0.44, 0.28)])
    scene.add(
        broadleaf_tree(
            rng,
            4.5,
            bark(palette, (0.45, 0.4, 0.34)),
            olive,
            n_leaves=9000,
            leaf_size=0.06,
            spread=50,
            bare=0.18,
        ).moved(9.8, 6.5, 0.1)
    )
    blades = leaf_colours(palette, [(0.66, 0.6, 0.34), (0.55, 0.55, 0.28), (0.4, 0.46, 0.2)])
    tufts = places(rng, 9000, (-14, 14), (-6.5, 12), height, denser_near=1.6)
    scene.add(grass(rng, tufts, 0.28, blades))
    poppy = leaf_colours(palette, [(0.85, 0.12, 0.06)])
    scene.add(
        flowers(
            rng,
            places(rng, 150, (-9, 7), (-5.5, 3), height),
            0.3,
            0.05,
            poppy,
            palette((0.1, 0.06, 0.06)),
            blades[2],
        )
    )
    for x, y, shirt, turn in (
        (0.6, 1.2, (0.9, 0.3, 0.2), 170),
        (1.5, 1.5, (0.25, 0.5, 0.7), 200),
        (4.4, 14, (0.95, 0.9, 0.8), 40),
    ):
        z = 0.95 if y > 4 else height_of(height, x, y)
        scene.add(
            person(rng, palette, shirt=shirt, trousers=(0.7, 0.64, 0.5)).turned(turn).moved(x, y, z)
        )
    scene.add(bench(palette, marble).turned(180).moved(-8.0, 6.0, height_of(height, -8.0, 6.0)))
    return scene
