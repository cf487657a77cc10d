"""Striped fish over corals in sunlit blue water."""

from __future__ import annotations

import numpy as np

from scenery.creatures import fish
from scenery.ground import Floats, Rng, places, terrain
from scenery.materials import Colour, Kind, Palette, Texture, shaded
from scenery.mesh import sphere, tube
from scenery.noise_kernels import noise_at
from scenery.plants import broadleaf_tree, grass, leaf_colours, stone
from scenery.render import Scene, daylight


def compose(rng: Rng) -> Scene:
    """Return the scene."""
    palette = Palette()

    def height(x: Floats, y: Floats) -> Floats:
        return 0.5 * noise_at(x / 3, y / 3, octaves=5) + 0.16 * np.clip(y - 5, 0, 12) * (
            0.6 + noise_at(x / 4, y / 4, 8.0)
        )

    sand = palette(
        (0.78, 0.72, 0.55), (0.62, 0.56, 0.42), texture=Texture.MOTTLED, scale=0.5, bump=0.3
    )
    scene = Scene(
        palette,
        daylight(
            20,
            68,
            sun=(0.75, 0.95, 1.0),
            sun_strength=3.0,
            sun_radius_deg=4,
            zenith=(0.45, 0.85, 0.95),
            horizon=(0.04, 0.3, 0.5),
            ground=(0.03, 0.18, 0.3),
            haze=0.075,
            haze_colour=(0.04, 0.34, 0.56),
            glow=0.4,
        ),
        (0, -1.6, 1.5),
        (0, 5, 1.3),
        46,
        exposure=1.25,
    )
    scene.add(terrain(height, sand, near=-5, far=36, half_width=1.2, n_across=240, n_deep=260))
    coral: list[Colour] = [
        (0.9, 0.3, 0.25),
        (0.92, 0.55, 0.2),
        (0.75, 0.3, 0.6),
        (0.9, 0.75, 0.3),
        (0.5, 0.3, 0.65),
        (0.85, 0.45, 0.5),
    ]
    for k, place in enumerate(places(rng, 60, (-7, 7), (1.6, 13), height)):
        colour = coral[int(rng.integers(6))]
        skin = palette(colour, shaded(colour, 0.6), texture=Texture.MOTTLED, scale=0.12, bump=0.6)
        if k % 3 == 0:
            bare = broadleaf_tree(rng, float(rng.uniform(0.6, 1.3)), skin, [], spread=48, bare=0.1)
            scene.add(bare.scaled(1.1, 1.1, 0.8).moved(*place))
        elif k % 3 == 1:
            shift = rng.uniform(0, 50, 3)
            lump = sphere(1, skin, 40).displaced(
                lambda p, shift=shift: 0.22 * noise_at(*(3.2 * p + shift).T, octaves=3)
            )
            scene.add(lump.scaled(*(rng.uniform(0.25, 0.7, 3) * [1, 1, 0.8])).moved(*place))
        else:
            for _ in range(7):
                tall = float(rng.uniform(0.3, 0.9))
                lean = rng.normal(0, 0.2, 2)
                path = [(0, 0, 0), (*lean, 0.6 * tall), (*(1.3 * lean), tall)]
                scene.add(tube(path, [0.09, 0.075, 0.085], skin, 12).moved(*place))
    weed = leaf_colours(palette, [(0.2, 0.5, 0.2), (0.35, 0.55, 0.15), (0.15, 0.4, 0.25)])
    for place in places(rng, 50, (-7, 7), (2, 14), height):
        tufts = place + rng.normal(0, 0.12, (16, 3)) * [1, 1, 0]
        scene.add(grass(rng, tufts, float(rng.uniform(0.7, 1.6)), weed))
    grey = palette(
        (0.4, 0.38, 0.36), (0.28, 0.3, 0.3), texture=Texture.MOTTLED, scale=0.4, bump=0.6
    )
    for place in places(rng, 16, (-7, 7), (1.5, 13), height):
        scene.add(stone(rng, float(rng.uniform(0.2, 0.7)), grey).moved(*place))
    kinds: list[tuple[Colour, Colour]] = [
        ((0.98, 0.45, 0.08), (0.96, 0.95, 0.92)),
        ((0.97, 0.85, 0.12), (0.1, 0.1, 0.12)),
        ((0.15, 0.35, 0.9), (0.98, 0.85, 0.15)),
        ((0.85, 0.15, 0.2), (0.95, 0.9, 0.85)),
    ]
    hero = (
        (-0.75, 1.1, 1.6, 0.62, 0, 15),
        (0.95, 1.7, 1.45, 0.6, 1, 190),
        (0.1, 2.6, 2.0, 0.6, 2, 170),
        (-1.9, 3.4, 2.3, 0.6, 3, 30),
        (2.2, 3.1, 2.2, 0.65, 0, 205),
    )
    for x, y, z, size, k, turn in hero:
        scene.add(fish(palette, size, *kinds[k]).turned(turn).moved(x, y, z))
    for _ in range(34):
        swim = fish(palette, float(rng.uniform(0.16, 0.28)), *kinds[2]).turned(
            float(rng.normal(165, 14))
        )
        scene.add(
            swim.moved(
                float(rng.normal(1.0, 1.6)), float(rng.uniform(6, 9)), float(rng.normal(3.0, 0.5))
            )
        )
    bubble = palette((0.9, 0.97, 1.0), kind=Kind.GLASS)
    for k in range(36):
        scene.add(
            sphere(float(rng.uniform(0.012, 0.04)), bubble, 12).moved(
                -2.7 + float(rng.normal(0, 0.08)), 3.2 + float(rng.normal(0, 0.08)), 0.6 + 0.07 * k
            )
        )
    return scene
