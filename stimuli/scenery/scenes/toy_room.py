"""Wooden blocks, a train, balls and a teddy bear on a nursery floor."""

from __future__ import annotations

import numpy as np

from scenery.furniture import book_row
from scenery.ground import Rng
from scenery.materials import Palette, Texture
from scenery.mesh import box, cylinder, merged, quad, revolved, sphere, tube
from scenery.plants import pot_plant
from scenery.playthings import beach_ball
from scenery.render import Scene, daylight


def compose(rng: Rng) -> Scene:
    """Return the scene."""
    palette = Palette()
    scene = Scene(
        palette,
        daylight(sun_strength=0.0, sky_strength=0.5),
        (0.1, -1.75, 0.95),
        (0.0, 0.35, 0.26),
        42,
        exposure=1.2,
        n_bounces=3,
        n_samples=9,
    )
    floor = palette(
        (0.76, 0.58, 0.38),
        (0.62, 0.45, 0.28),
        texture=Texture.PLANKS,
        scale=0.11,
        shine=0.3,
        roughness=0.2,
    )
    wall = palette((0.7, 0.82, 0.88), (0.93, 0.94, 0.92), texture=Texture.STRIPED, scale=0.3)
    scene.add(
        quad([(-4, -4, 0), (4, -4, 0), (4, 1.7, 0), (-4, 1.7, 0)], floor),
        quad([(-4, 1.7, 0), (4, 1.7, 0), (4, 1.7, 3), (-4, 1.7, 3)], wall),
        box((8, 0.03, 0.1), palette((0.94, 0.93, 0.9)), (0, 1.68, 0)),
    )
    rug = palette((0.3, 0.55, 0.5), (0.92, 0.85, 0.65), texture=Texture.PLAID, scale=0.36)
    scene.add(revolved([(0.001, 0.012), (1.15, 0.012), (1.16, 0.0)], rug, 64).moved(0.1, 0.35, 0))
    paint = [
        palette(colour, shine=0.5, roughness=0.12)
        for colour in (
            (0.85, 0.12, 0.1),
            (0.1, 0.35, 0.75),
            (0.97, 0.78, 0.1),
            (0.15, 0.55, 0.25),
            (0.95, 0.5, 0.1),
            (0.55, 0.25, 0.6),
        )
    ]
    for k, (x, y, z) in enumerate(
        (
            (0, 0, 0),
            (0.115, 0.01, 0),
            (0.235, 0, 0),
            (0.055, 0, 0.11),
            (0.175, 0.01, 0.11),
            (0.11, 0, 0.22),
            (-0.16, -0.12, 0),
            (0.4, -0.1, 0),
        )
    ):
        scene.add(
            box((0.108, 0.108, 0.108), paint[k % 6])
            .turned(float(rng.normal(0, 9)))
            .moved(-0.85 + x, 0.45 + y, 0.014 + z)
        )
    roof = revolved([(0.08, 0), (0.001, 0.12)], paint[0], 4).turned(45)
    scene.add(roof.moved(-0.74, 0.45, 0.344))
    engine_parts = [
        box((0.36, 0.13, 0.04), paint[1], (0, 0, 0.05)),
        cylinder(0.055, 0.2, paint[0], 24).turned(90, "y").moved(-0.17, 0, 0.145),
        box((0.12, 0.13, 0.15), paint[0], (0.1, 0, 0.09)),
        box((0.15, 0.16, 0.02), paint[2], (0.1, 0, 0.24)),
        cylinder(0.022, 0.08, paint[2], 16).moved(-0.12, 0, 0.19),
        sphere(0.025, paint[2], 16).moved(-0.03, 0, 0.205),
    ]
    wheel = merged(
        [cylinder(0.04, 0.025, paint[2], 24), cylinder(0.015, 0.03, paint[0], 12)]
    ).turned(90, "x")
    engine_parts += [wheel.moved(x, y, 0.042) for x in (-0.12, 0.0, 0.12) for y in (-0.065, 0.09)]
    wagons = []
    for k, colour in enumerate((paint[3], paint[4])):
        wagon = [
            box((0.26, 0.13, 0.09), colour, (0, 0, 0.05)),
            *[wheel.moved(x, y, 0.042) for x in (-0.08, 0.08) for y in (-0.065, 0.09)],
        ]
        wagon += [
            sphere(0.035, paint[int(rng.integers(6))], 18).moved(
                -0.08 + 0.055 * j, float(rng.uniform(-0.03, 0.03)), 0.16
            )
            for j in range(4)
        ]
        wagons.append(merged(wagon).moved(0.36 + 0.31 * k))
    scene.add(merged([merged(engine_parts), *wagons]).turned(-16).moved(-0.12, -0.28, 0.014))
    fur, snout, dark = (
        palette((0.6, 0.38, 0.2), (0.5, 0.3, 0.15), texture=Texture.MOTTLED, scale=0.02, bump=0.8),
        palette((0.88, 0.74, 0.55)),
        palette((0.06, 0.04, 0.03), shine=0.9),
    )
    bear = merged(
        [
            sphere(1, fur, 36).scaled(0.17, 0.15, 0.2).moved(z=0.2),
            sphere(1, snout, 28).scaled(0.11, 0.06, 0.13).moved(0, -0.11, 0.2),
            sphere(1, fur, 36).scaled(0.14, 0.125, 0.125).moved(0, -0.02, 0.48),
            sphere(1, snout, 24).scaled(0.065, 0.06, 0.05).moved(0, -0.13, 0.45),
            sphere(1, dark, 14).scaled(0.022, 0.016, 0.016).moved(0, -0.185, 0.475),
            *[sphere(0.015, dark, 14).moved(s * 0.05, -0.125, 0.52) for s in (-1, 1)],
            *[
                sphere(1, fur, 20).scaled(0.055, 0.03, 0.055).moved(s * 0.11, 0, 0.59)
                for s in (-1, 1)
            ],
            *[
                sphere(1, snout, 16).scaled(0.033, 0.02, 0.033).moved(s * 0.11, -0.02, 0.59)
                for s in (-1, 1)
            ],
            *[
                tube(
                    [(s * 0.13, -0.02, 0.33), (s * 0.22, -0.1, 0.22), (s * 0.2, -0.18, 0.17)],
                    [0.055, 0.055, 0.05],
                    fur,
                    14,
                )
                for s in (-1, 1)
            ],
            *[sphere(0.054, fur, 16).moved(s * 0.2, -0.19, 0.165) for s in (-1, 1)],
            *[
                tube([(s * 0.09, -0.05, 0.08), (s * 0.15, -0.26, 0.07)], [0.075, 0.065], fur, 16)
                for s in (-1, 1)
            ],
            *[
                sphere(1, snout, 20).scaled(0.062, 0.03, 0.068).moved(s * 0.152, -0.27, 0.07)
                for s in (-1, 1)
            ],
            box((0.09, 0.03, 0.05), paint[0], (0, -0.14, 0.345)),
        ]
    )
    scene.add(bear.scaled(1.15).turned(-12).moved(0.55, 0.75, 0.012))
    scene.add(
        beach_ball(palette, 0.2).moved(-0.35, 1.05, 0.0),
        sphere(0.09, paint[3], 32).moved(0.95, 0.1, 0.1),
        sphere(0.07, paint[4], 32).moved(-0.72, -0.1, 0.08),
        sphere(0.05, paint[5], 28).moved(0.6, -0.4, 0.06),
    )
    for k in range(5):
        angle = np.linspace(0, 2 * np.pi, 40)
        radius = 0.1 - 0.014 * k
        scene.add(
            tube(
                np.column_stack(
                    [radius * np.cos(angle), radius * np.sin(angle), np.full(40, 0.03 + 0.044 * k)]
                ),
                np.full(40, 0.024),
                paint[(k + 1) % 6],
                12,
            ).moved(1.1, 0.7, 0.0)
        )
    scene.add(
        cylinder(0.02, 0.28, floor, 12).moved(1.1, 0.7, 0),
        sphere(0.035, paint[0], 16).moved(1.1, 0.7, 0.27),
    )
    shelf = palette((0.93, 0.92, 0.9), shine=0.2)
    scene.add(
        box((1.5, 0.3, 0.03), shelf, (-1.15, 1.5, 0.75)),
        box((1.5, 0.3, 0.03), shelf, (-1.15, 1.5, 0.36)),
        *[box((0.03, 0.3, 0.78), shelf, (x, 1.5, 0)) for x in (-1.9, -0.4)],
    )
    scene.add(
        book_row(rng, palette, 0.8, 0.32).moved(-1.85, 1.48, 0.39),
        book_row(rng, palette, 0.5, 0.3).moved(-1.0, 1.48, 0.05),
    )
    scene.add(
        *[box((0.26, 0.24, 0.22), paint[k], (-1.65 + 0.34 * k, 1.5, 0.03)) for k in range(2)],
        pot_plant(rng, palette, 0.4, (0.9, 0.6, 0.3)).moved(-1.6, 1.48, 0.78),
        sphere(0.1, paint[2], 28).moved(-0.75, 1.45, 0.88),
    )
    for x, z, colour in ((0.1, 0.85, (0.95, 0.8, 0.3)), (0.75, 0.95, (0.85, 0.45, 0.4))):
        scene.add(
            box((0.46, 0.03, 0.36), shelf, (x, 1.68, z)),
            box(
                (0.4, 0.035, 0.3),
                palette(colour, (0.3, 0.5, 0.7), texture=Texture.MARBLED, scale=0.2),
                (x, 1.677, z + 0.03),
            ),
        )
    drum = [
        cylinder(0.17, 0.18, paint[0], 36),
        cylinder(0.173, 0.02, paint[2], 36),
        cylinder(0.173, 0.02, paint[2], 36).moved(z=0.165),
        cylinder(0.16, 0.188, palette((0.93, 0.9, 0.82)), 36),
    ]
    scene.add(merged(drum).moved(1.45, 1.1, 0))
    scene.add_lamp((-2.6, -1.8, 0.9), (0.1, 2.8, 0), (0.3, 0, 1.6), (1.0, 0.95, 0.88), 5.5)
    scene.add_lamp((-1.2, -1.5, 2.9), (0, 2.4, 0), (2.6, 0, 0), (0.95, 0.97, 1.0), 1.1)
    return scene
