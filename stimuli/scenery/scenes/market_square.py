"""Stalls of fruit under striped awnings around a fountain."""

from __future__ import annotations

import numpy as np

from scenery.buildings import house
from scenery.creatures import person
from scenery.food import apple, lemon, orange
from scenery.ground import Rng
from scenery.materials import Colour, Kind, Palette, Texture, shaded
from scenery.mesh import Mesh, box, merged, quad, revolved, tube
from scenery.plants import bark, broadleaf_tree, leaf_colours
from scenery.render import Scene, daylight


def compose(rng: Rng) -> Scene:
    """Return the scene."""
    palette = Palette()
    scene = Scene(
        palette,
        daylight(-140, 46, cloud_cover=0.4, cloud_phase=131.0, haze=0.0015),
        (-0.4, -3.2, 2.15),
        (0.3, 9, 1.45),
        50,
    )
    paving = palette((0.66, 0.6, 0.52), (0.55, 0.5, 0.44), texture=Texture.CHECKED, scale=0.9)
    scene.add(quad([(-60, -20, 0), (60, -20, 0), (60, 90, 0), (-60, 90, 0)], paving))
    wood = palette((0.55, 0.38, 0.22), (0.4, 0.27, 0.15), texture=Texture.WOOD, scale=0.3)

    def stall(cloth: Colour, goods: list[Mesh]) -> Mesh:
        awning = palette(
            cloth, (0.95, 0.94, 0.9), texture=Texture.STRIPED, scale=0.5, kind=Kind.LEAF
        )
        parts = [
            box((3, 1.1, 0.06), wood, (0, 0, 0.85)),
            box((3, 0.05, 0.8), palette(shaded(cloth, 0.8)), (0, -0.5, 0.05)),
        ]
        parts += [box((0.07, 0.07, 2.1), wood, (x, -0.5, 0)) for x in (-1.45, 1.45)]
        parts += [box((0.07, 0.07, 2.5), wood, (x, 0.75, 0)) for x in (-1.45, 1.45)]
        parts.append(
            quad(
                [(-1.7, -1.0, 2.02), (1.7, -1.0, 2.02), (1.7, 0.9, 2.55), (-1.7, 0.9, 2.55)], awning
            )
        )
        parts.append(
            quad(
                [(-1.7, -1.0, 2.02), (1.7, -1.0, 2.02), (1.7, -1.02, 1.8), (-1.7, -1.02, 1.8)],
                awning,
            )
        )
        for k in range(5):
            x = -1.2 + 0.6 * k
            crate = merged(
                [box((0.52, 0.04, 0.16), wood, (0, y, 0)) for y in (-0.32, 0.32)]
                + [box((0.04, 0.64, 0.16), wood, (dx, 0, 0)) for dx in (-0.25, 0.25)]
            )
            parts.append(crate.turned(26, "x").moved(x, -0.05, 0.9))
            kind = goods[k % len(goods)]
            for _ in range(40):
                px, py = float(rng.uniform(-0.21, 0.21)), float(rng.uniform(-0.27, 0.27))
                heap = 0.1 * (1 - (px / 0.25) ** 2)
                slope = 0.99 + 0.5 * py + heap
                parts.append(
                    kind.turned(float(rng.uniform(0, 360))).moved(x + px, py - 0.05, slope)
                )
        return merged(parts)

    fruit = [
        apple(palette, 0.06, (0.75, 0.08, 0.06), (0.9, 0.65, 0.15)),
        orange(palette, 0.058),
        lemon(palette, 0.042),
        apple(palette, 0.055, (0.45, 0.65, 0.15), (0.6, 0.75, 0.25)),
        apple(palette, 0.04, (0.35, 0.1, 0.3), (0.5, 0.15, 0.35)),
        orange(palette, 0.05, (0.85, 0.12, 0.08)),
    ]
    scene.add(stall((0.8, 0.12, 0.1), fruit[:5]).turned(24).moved(-4.2, 3.6, 0))
    scene.add(
        stall((0.12, 0.42, 0.25), [fruit[3], fruit[5], fruit[1], fruit[4], fruit[2]])
        .turned(-26)
        .moved(4.3, 4.6, 0)
    )
    scene.add(
        stall((0.15, 0.3, 0.65), [fruit[1], fruit[0], fruit[3]]).turned(12).moved(-5.6, 12.5, 0)
    )
    scene.add(
        stall((0.9, 0.65, 0.12), [fruit[2], fruit[5], fruit[4]]).turned(-14).moved(6.4, 13.5, 0)
    )
    grey = palette(
        (0.62, 0.6, 0.56), (0.48, 0.47, 0.44), texture=Texture.MOTTLED, scale=0.4, bump=0.25
    )
    water = palette((0.1, 0.3, 0.35), kind=Kind.WATER, scale=0.3, bump=0.08)
    fountain = [
        revolved(
            [(2.2, 0), (2.3, 0.55), (2.45, 0.6), (2.4, 0.7), (2.1, 0.7), (2.05, 0.1), (0.001, 0.1)],
            grey,
            8,
        ),
        revolved([(2.08, 0.52), (0.001, 0.52)], water, 32),
        revolved(
            [
                (0.35, 0),
                (0.3, 0.5),
                (0.16, 0.8),
                (0.14, 1.5),
                (0.3, 1.65),
                (0.95, 1.85),
                (0.98, 1.95),
                (0.3, 1.8),
                (0.12, 1.9),
                (0.1, 2.5),
                (0.32, 2.65),
                (0.34, 2.72),
                (0.001, 2.66),
            ],
            grey,
            28,
        ),
    ]
    spray = palette((0.95, 0.98, 1.0), kind=Kind.GLASS)
    for k in range(14):
        a = k * 2 * np.pi / 14
        s = np.linspace(0, 1, 12)
        out = 0.34 + 0.9 * s
        fountain.append(
            tube(
                np.column_stack([out * np.cos(a), out * np.sin(a), 2.72 + 0.7 * s - 2.2 * s**2]),
                np.full(12, 0.016),
                spray,
                5,
            )
        )
    scene.add(merged(fountain).moved(0.4, 10.5, 0))
    shirts: list[Colour] = [
        (0.85, 0.2, 0.2),
        (0.2, 0.45, 0.75),
        (0.95, 0.8, 0.3),
        (0.9, 0.9, 0.88),
        (0.3, 0.55, 0.35),
        (0.6, 0.3, 0.6),
    ]
    crowd = (
        (-2.3, 3.0, 130),
        (2.4, 4.0, 215),
        (-4.9, 4.9, 20),
        (5.0, 6.0, -20),
        (-2.6, 9.5, 110),
        (3.6, 9.0, 250),
        (1.6, 14, 10),
        (-1.8, 15, 170),
        (4, 18, 60),
        (-6, 15, 30),
        (8, 16, 200),
    )
    for k, (x, y, turn) in enumerate(crowd):
        scene.add(person(rng, palette, shirt=shirts[k % 6]).turned(turn).moved(x, y, 0))
    walls: list[Colour] = [
        (0.88, 0.76, 0.55),
        (0.82, 0.55, 0.42),
        (0.9, 0.86, 0.78),
        (0.72, 0.74, 0.7),
    ]
    x = -34.0
    for k in range(8):
        wide = float(rng.uniform(7, 10))
        wall = palette(walls[k % 4], shaded(walls[k % 4], 0.88), texture=Texture.MOTTLED, scale=2.0)
        roof = palette((0.56, 0.3, 0.22), (0.44, 0.22, 0.16), texture=Texture.SHINGLES)
        scene.add(
            house(
                rng,
                palette,
                width=wide,
                depth=9,
                n_floors=3,
                wall=wall,
                roof=roof,
                gable_front=k % 2 == 0,
            ).moved(x + wide / 2, 27, 0)
        )
        x += wide
    green = leaf_colours(palette, [(0.24, 0.42, 0.13), (0.32, 0.5, 0.17)])
    for x in (-9.5, 10.5):
        scene.add(
            broadleaf_tree(
                rng, 7.5, bark(palette), green, n_leaves=12000, leaf_size=0.12, spread=44, bare=0.28
            ).moved(x, 20, 0)
        )
    return scene
