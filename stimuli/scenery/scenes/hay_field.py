"""A mown field with bales, a farm and poplars under a summer sky."""

from __future__ import annotations

import numpy as np

from scenery.buildings import fence, house
from scenery.ground import Floats, Rng, fan_places, height_of, places, terrain
from scenery.materials import Kind, Palette, Texture
from scenery.mesh import cylinder, merged, sphere
from scenery.noise_kernels import noise_at
from scenery.plants import bark, broadleaf_tree, grass, leaf_colours
from scenery.render import Scene, daylight


def compose(rng: Rng) -> Scene:
    """Return the scene."""
    palette = Palette()

    def height(x: Floats, y: Floats) -> Floats:
        return (
            5 * noise_at(x / 130, y / 130, 7.0, octaves=3) + np.clip(y - 120, 0, None) * 0.06 - 1.2
        )

    stubble = palette(
        (0.8, 0.66, 0.33), (0.68, 0.52, 0.24), texture=Texture.MOTTLED, scale=2.5, bump=0.3
    )
    scene = Scene(
        palette,
        daylight(
            70,
            26,
            sun=(1, 0.86, 0.64),
            sun_strength=3.4,
            cloud_cover=0.62,
            cloud_phase=14.2,
            cloud_scale=0.7,
            zenith=(0.16, 0.38, 0.78),
            haze=0.0008,
        ),
        (0, -3, 2.0),
        (0, 40, 3.4),
        40,
    )
    scene.add(terrain(height, stubble, near=-8, far=900, half_width=1.1, n_across=260, n_deep=360))
    straw = leaf_colours(palette, [(0.85, 0.7, 0.36), (0.75, 0.6, 0.3), (0.9, 0.78, 0.48)])
    scene.add(grass(rng, fan_places(rng, 60000, 1.0, 40, 0.9, height) - [0, 2, 0], 0.14, straw))
    side = palette(
        (0.78, 0.6, 0.28), (0.55, 0.38, 0.16), texture=Texture.MOTTLED, scale=0.12, bump=0.9
    )
    for x, y in (
        (-3.4, 9),
        (4.8, 15),
        (-8.5, 22),
        (1.5, 30),
        (11, 34),
        (-15, 45),
        (20, 60),
        (-4, 62),
        (7, 80),
        (-28, 85),
    ):
        bale = (
            cylinder(0.9, 1.4, side, 48)
            .displaced(lambda p: 0.04 * noise_at(*(9 * p).T))
            .turned(90, "x")
        )
        z = height_of(height, x, y) + 0.85
        scene.add(bale.turned(rng.uniform(-50, 50)).moved(x, y, z))
    green = leaf_colours(palette, [(0.2, 0.34, 0.1), (0.27, 0.42, 0.13), (0.15, 0.28, 0.09)])
    trunk = bark(palette)
    poplar = broadleaf_tree(
        rng, 1.0, trunk, green, n_leaves=3500, leaf_size=0.02, spread=20, bare=0.05
    )
    for k in range(9):
        x, y = 34 + 7.5 * k, 150 + 5 * k
        z = height_of(height, x, y)
        scene.add(poplar.turned(40 * k).scaled(rng.uniform(17, 22)).moved(x, y, z))
    round_tree = broadleaf_tree(rng, 1.0, trunk, green, n_leaves=2500, leaf_size=0.03, spread=44)
    for place in places(rng, 60, (-300, 300), (190, 420), height):
        scene.add(round_tree.turned(rng.uniform(0, 360)).scaled(rng.uniform(8, 14)).moved(*place))
    red = palette((0.55, 0.14, 0.1), (0.4, 0.1, 0.08), texture=Texture.PLANKS, scale=0.4)
    white = palette((0.88, 0.86, 0.8))
    roof = palette((0.35, 0.24, 0.2), (0.28, 0.18, 0.15), texture=Texture.SHINGLES, scale=1.0)
    z = height_of(height, -40.0, 130.0) - 0.5
    scene.add(
        house(
            rng,
            palette,
            width=18,
            depth=11,
            n_floors=2,
            wall=red,
            roof=roof,
            gable_front=True,
            roof_rise=5,
        )
        .turned(-20)
        .moved(-46, 130, z)
    )
    scene.add(
        house(rng, palette, width=11, depth=8, n_floors=2, wall=white, roof=roof)
        .turned(15)
        .moved(-22, 140, z + 0.4)
    )
    silo = palette((0.75, 0.76, 0.78), kind=Kind.METAL, roughness=0.3)
    scene.add(
        merged([cylinder(2.6, 12, silo, 32), sphere(2.6, silo).moved(z=12)]).moved(-60, 138, z)
    )
    scene.add(fence(palette, 60).turned(8).moved(-2, 110, height_of(height, 20.0, 112.0) - 0.6))
    return scene
