"""Coloured houses along a quay, boats, a wooden pier with a fisherman."""

from __future__ import annotations

import numpy as np

from scenery.boats import rowing_boat, sail_boat
from scenery.buildings import house, street_lamp
from scenery.creatures import person
from scenery.ground import Rng, level
from scenery.materials import Colour, Kind, Palette, Texture, shaded
from scenery.mesh import box, cylinder, tube
from scenery.render import Scene, daylight


def compose(rng: Rng) -> Scene:
    """Return the scene."""
    palette = Palette()
    scene = Scene(
        palette,
        daylight(
            150,
            32,
            sun=(1, 0.9, 0.74),
            sun_strength=3.0,
            cloud_cover=0.5,
            cloud_phase=70.2,
            haze=0.0009,
        ),
        (0, -7, 3.0),
        (-1, 30, 3.8),
        42,
    )
    scene.add(level(palette((0.03, 0.16, 0.2), kind=Kind.WATER, scale=1.1, bump=0.06)))
    quay = palette((0.5, 0.48, 0.45), (0.36, 0.34, 0.32), texture=Texture.BRICK, scale=0.9)
    paving = palette((0.55, 0.52, 0.48), (0.35, 0.33, 0.31), texture=Texture.COBBLES, scale=0.4)
    scene.add(box((200, 40, 1.5), quay, (0, 62, 0)), box((200, 40, 0.02), paving, (0, 62, 1.5)))
    walls: list[Colour] = [
        (0.82, 0.3, 0.2),
        (0.93, 0.75, 0.3),
        (0.35, 0.55, 0.68),
        (0.9, 0.86, 0.76),
        (0.55, 0.68, 0.42),
        (0.88, 0.55, 0.42),
        (0.72, 0.4, 0.5),
        (0.4, 0.45, 0.6),
    ]
    x = -47.0
    for k in range(16):
        wide = float(rng.uniform(5, 7.5))
        colour = walls[(3 * k) % 8]
        wall = palette(
            colour,
            shaded(colour, 0.86),
            texture=Texture.PLANKS if k % 3 == 0 else Texture.MOTTLED,
            scale=0.35 if k % 3 == 0 else 2.0,
        )
        roof = (
            palette((0.55, 0.26, 0.18), (0.42, 0.2, 0.14), texture=Texture.SHINGLES)
            if k % 2
            else palette((0.32, 0.33, 0.36), (0.24, 0.25, 0.28), texture=Texture.SHINGLES)
        )
        scene.add(
            house(
                rng,
                palette,
                width=wide,
                depth=8,
                n_floors=int(rng.integers(2, 5)),
                wall=wall,
                roof=roof,
                gable_front=bool(k % 2),
                roof_rise=3,
            ).moved(x + wide / 2, 47, 1.5)
        )
        x += wide + 0.1
    for x in range(-40, 41, 10):
        scene.add(street_lamp(palette).moved(x, 43.2, 1.5))
    for k in range(9):
        scene.add(
            person(rng, palette, shirt=walls[k % 8])
            .turned(float(rng.uniform(0, 360)))
            .moved(float(rng.uniform(-24, 24)), float(rng.uniform(43.5, 45.5)), 1.5)
        )
    hulls: list[Colour] = [
        (0.9, 0.9, 0.88),
        (0.75, 0.12, 0.1),
        (0.1, 0.25, 0.5),
        (0.1, 0.4, 0.3),
        (0.92, 0.7, 0.15),
    ]
    for k, (x, y) in enumerate(((-17, 34), (-8.5, 37), (2, 36), (10, 34), (19, 37), (27, 35))):
        boat = sail_boat(palette, 8, hulls[k % 5])
        scene.add(boat.turned(float(rng.normal(80, 12))).moved(x, y, 0))
    for k, (x, y, turn) in enumerate(
        ((-6, 11, 20), (-9.5, 17, -35), (-1.5, 19, 60), (9.5, 22, 10))
    ):
        scene.add(rowing_boat(palette, 4.6, hulls[(k + 1) % 5]).turned(turn).moved(x, y, 0.08))
    wood = palette((0.52, 0.42, 0.32), (0.38, 0.3, 0.22), texture=Texture.PLANKS, scale=0.22)
    post = palette(
        (0.3, 0.24, 0.18), (0.2, 0.16, 0.12), texture=Texture.MOTTLED, scale=0.2, bump=0.4
    )
    scene.add(box((2.4, 34, 0.14), wood, (5.2, 8, 0.95)))
    for y in range(-6, 26, 4):
        for side in (-1, 1):
            scene.add(cylinder(0.14, 2.9, post, 12).moved(5.2 + 1.15 * side, y, -1.2))
    scene.add(
        person(rng, palette, shirt=(0.95, 0.8, 0.1), trousers=(0.2, 0.3, 0.4), stride=0.02)
        .turned(70)
        .moved(4.6, 13.5, 1.09)
    )
    scene.add(tube([(4.3, 13.3, 2.1), (2.2, 12.8, 3.4)], [0.02, 0.008], post, 5))
    crate = palette((0.6, 0.42, 0.22), (0.45, 0.3, 0.15), texture=Texture.PLANKS, scale=0.15)
    scene.add(
        box((0.8, 0.6, 0.5), crate, (5.7, 6.2, 1.09)),
        box((0.6, 0.6, 0.45), crate, (5.9, 6.3, 1.59)).turned(0),
    )
    ring = palette((0.9, 0.3, 0.1))
    angle = np.linspace(0, 2 * np.pi, 28)
    scene.add(
        tube(
            np.column_stack(
                [6.32 + 0 * angle, 2.0 + 0.3 * np.cos(angle), 1.4 + 0.3 * np.sin(angle)]
            ),
            np.full(28, 0.07),
            ring,
            8,
        )
    )
    return scene
