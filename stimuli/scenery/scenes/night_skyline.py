"""A city at night, mirrored in its river, under the moon."""

from __future__ import annotations

import numpy as np

from scenery.ground import Rng, level
from scenery.materials import Colour, Kind, Palette, Texture
from scenery.mesh import box, cylinder, sphere, tube
from scenery.render import Scene, daylight


def compose(rng: Rng) -> Scene:
    """Return the scene."""
    palette = Palette()
    scene = Scene(
        palette,
        daylight(
            -14,
            21,
            sun=(0.75, 0.82, 1.0),
            sun_strength=0.05,
            sun_radius_deg=1.1,
            glow=0.16,
            zenith=(0.05, 0.07, 0.17),
            horizon=(0.3, 0.24, 0.36),
            sky_strength=0.42,
            ground=(0.05, 0.05, 0.08),
            stars=0.5,
            haze=0.0005,
            haze_colour=(0.26, 0.2, 0.3),
        ),
        (0, 0, 7),
        (0, 400, 62),
        36,
        exposure=1.5,
        n_bounces=1,
    )
    scene.add(level(palette((0.03, 0.05, 0.09), kind=Kind.WATER, scale=2.4, bump=0.05)))
    walls: list[Colour] = [
        (0.14, 0.15, 0.2),
        (0.2, 0.17, 0.17),
        (0.1, 0.12, 0.16),
        (0.17, 0.18, 0.22),
    ]
    lights: list[Colour] = [(1.0, 0.8, 0.5), (1.0, 0.9, 0.72), (0.75, 0.88, 1.0)]
    for k in range(150):
        x, y = float(rng.uniform(-330, 330)), float(rng.uniform(330, 620))
        centre = np.exp(-(((x + 60) / 95) ** 2)) + 0.8 * np.exp(-(((x - 130) / 70) ** 2))
        tall = (
            float(rng.uniform(16, 44))
            + 115 * centre * float(rng.uniform(0.25, 1)) * (y - 250) / 300
        )
        facade = palette(
            walls[k % 4],
            lights[int(rng.integers(3))],
            texture=Texture.LIT_WINDOWS,
            scale=float(rng.uniform(2.6, 4.2)),
            detail=float(rng.uniform(0.2, 0.62)),
            glow=float(rng.uniform(0.9, 2.2)),
        )
        wide = float(rng.uniform(13, 30))
        scene.add(box((wide, wide, tall), facade, (x, y, 0)))
        if rng.random() < 0.35:
            scene.add(box((0.6 * wide, 0.6 * wide, 0.22 * tall), facade, (x, y, tall)))
        if tall > 95 and rng.random() < 0.6:
            beacon = palette((1.0, 0.15, 0.1), kind=Kind.GLOW, glow=5)
            scene.add(cylinder(0.7, 0.3 * tall, palette((0.2, 0.2, 0.22)), 8).moved(x, y, tall))
            scene.add(sphere(1.3, beacon, 10).moved(x, y, 1.3 * tall))
    scene.add(box((760, 20, 4), palette((0.16, 0.15, 0.16)), (0, 318, 0)))
    lamp = palette((1.0, 0.72, 0.36), kind=Kind.GLOW, glow=4)
    for x in np.arange(-300, 301, 17.0):
        scene.add(sphere(0.8, lamp, 10).moved(float(x), 309, 9.5))
    steel = palette((0.45, 0.5, 0.66), kind=Kind.GLOW, glow=0.16)
    deck = [box((420, 9, 2), steel, (170, 230, 13))]
    for x in (60.0, 230.0):
        deck += [
            box((4, 4, 62), steel, (x, 226, 0)),
            box((4, 4, 62), steel, (x, 234, 0)),
            box((4, 12, 3), steel, (x, 230, 50)),
        ]
    t = np.linspace(-1, 1, 41)
    for y in (226, 234):
        deck.append(
            tube(
                np.column_stack([145 + 85 * t, np.full(41, y), 20 + 41 * t**2]),
                np.full(41, 0.5),
                steel,
                6,
            )
        )
        deck.append(
            tube(
                np.column_stack(
                    [60 - 85 * (t + 1) / 2, np.full(41, y), 61 - 41 * (1 - (1 - (t + 1) / 2) ** 2)]
                ),
                np.full(41, 0.5),
                steel,
                6,
            )
        )
        for k in range(0, 41, 2):
            deck.append(
                tube(
                    [(145 + 85 * t[k], y, 14), (145 + 85 * t[k], y, 20 + 41 * t[k] ** 2)],
                    [0.22, 0.22],
                    steel,
                    4,
                )
            )
    scene.add(*deck)
    bulb = palette((0.7, 0.85, 1.0), kind=Kind.GLOW, glow=3)
    for k in range(0, 41, 2):
        scene.add(
            sphere(0.8, bulb, 8).moved(145 + 85 * float(t[k]), 225.4, 20 + 41 * float(t[k]) ** 2)
        )
    for x in np.arange(-30, 330, 12.0):
        scene.add(
            sphere(0.6, palette((0.85, 0.92, 1.0), kind=Kind.GLOW, glow=4), 8).moved(
                float(x), 225.5, 18.5
            )
        )
    hull, cabin = (
        palette((0.3, 0.3, 0.34), shine=0.3),
        palette(
            (0.2, 0.18, 0.2),
            (1.0, 0.82, 0.5),
            texture=Texture.LIT_WINDOWS,
            scale=1.7,
            detail=0.95,
            glow=2.4,
        ),
    )
    scene.add(
        box((26, 6, 1.6), hull, (-44, 150, 0)),
        box((20, 4.6, 3.2), cabin, (-45, 150, 1.6)),
        box((9, 4, 2.6), cabin, (-47, 150, 4.8)),
    )
    return scene
