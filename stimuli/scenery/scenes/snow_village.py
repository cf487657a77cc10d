"""Lit cottages in the snow at dusk, firs, a snowman, a church."""

from __future__ import annotations

import numpy as np

from scenery.buildings import fence, house, street_lamp
from scenery.creatures import person
from scenery.ground import Floats, Rng, height_of, places, terrain
from scenery.materials import Colour, Palette, Texture, shaded
from scenery.mesh import box, cylinder, merged, revolved, sphere, tube
from scenery.noise_kernels import noise_at
from scenery.plants import bark, conifer, leaf_colours
from scenery.render import Scene, daylight


def compose(rng: Rng) -> Scene:
    """Return the scene."""
    palette = Palette()

    def height(x: Floats, y: Floats) -> Floats:
        hills = (
            70
            * np.clip((y - 75) / 260, 0, 1)
            * (0.7 + 0.9 * noise_at(x / 140, y / 140, 4.0, octaves=5))
        )
        return 0.9 * noise_at(x / 16, y / 16, 2.0, octaves=4) + hills

    snow = palette(
        (0.9, 0.92, 0.97), (0.82, 0.86, 0.94), texture=Texture.MOTTLED, scale=3, bump=0.06
    )
    scene = Scene(
        palette,
        daylight(
            60,
            9,
            sun=(1.0, 0.7, 0.6),
            sun_strength=0.35,
            zenith=(0.2, 0.3, 0.52),
            horizon=(0.8, 0.68, 0.66),
            sky_strength=0.62,
            cloud_cover=0.35,
            cloud_phase=140.0,
            cloud_light=(0.95, 0.68, 0.68),
            cloud_shade=(0.4, 0.4, 0.55),
            stars=0.25,
            haze=0.0022,
            haze_colour=(0.52, 0.54, 0.66),
        ),
        (0, -3, 2.4),
        (0, 30, 3.6),
        42,
        exposure=1.35,
    )
    scene.add(terrain(height, snow, near=-8, far=700, half_width=1.1, n_across=280, n_deep=360))
    roof = palette((0.93, 0.95, 0.99))
    timber: list[Colour] = [
        (0.42, 0.25, 0.15),
        (0.5, 0.16, 0.12),
        (0.62, 0.5, 0.34),
        (0.34, 0.26, 0.22),
    ]
    spots = (
        (-8.5, 18, 20),
        (7.5, 22, -25),
        (-15, 34, 30),
        (2.5, 38, 5),
        (17, 40, -20),
        (-5, 54, 12),
        (11, 58, -8),
        (-24, 56, 25),
        (27, 62, -25),
    )
    for k, (x, y, turn) in enumerate(spots):
        wall = palette(timber[k % 4], shaded(timber[k % 4], 0.7), texture=Texture.PLANKS, scale=0.3)
        home = house(
            rng,
            palette,
            width=7,
            depth=6,
            n_floors=1 + k % 2,
            wall=wall,
            roof=roof,
            roof_rise=3.2,
            lit=3.2,
            gable_front=k % 3 == 0,
        )
        z = height_of(height, x, y) - 0.35
        scene.add(home.turned(turn).moved(x, y, z))
        if k < 4:
            ahead = np.radians(turn)
            porch_x, porch_y = x + 1.1 * np.sin(ahead), y - 1.1 * np.cos(ahead)
            scene.add_lamp(
                (porch_x - 0.2, porch_y - 0.2, z + 2.9),
                (0, 0.4, 0),
                (0.4, 0, 0),
                (1, 0.75, 0.42),
                40,
            )
    z = height_of(height, -12.0, 82.0) - 0.5
    white = palette((0.82, 0.8, 0.78))
    scene.add(
        box((5, 5, 14), white, (-12, 82, z)),
        revolved([(3.7, 14), (0.05, 26)], roof, 4).turned(45).moved(-12, 82, z),
    )
    scene.add(
        house(
            rng,
            palette,
            width=8,
            depth=14,
            n_floors=2,
            wall=white,
            roof=roof,
            roof_rise=4,
            lit=3.0,
            gable_front=True,
        ).moved(-5.4, 80, z)
    )
    needles = leaf_colours(
        palette, [(0.1, 0.2, 0.14), (0.13, 0.25, 0.17), (0.85, 0.88, 0.95), (0.75, 0.8, 0.9)]
    )
    kinds = [conifer(rng, 1.0, bark(palette), needles, n_whorls=15, detail=9) for _ in range(4)]
    for place in places(rng, 260, (-120, 120), (30, 260), height):
        scene.add(kinds[int(rng.integers(4))].scaled(float(rng.uniform(7, 14))).moved(*place))
    for x, y, tall in ((-4.3, 12, 5.5), (12.5, 17, 7.5), (-13.5, 21, 8.5), (3.9, 27, 6)):
        scene.add(
            conifer(rng, tall, bark(palette), needles, n_whorls=20, detail=26).moved(
                x, y, height_of(height, x, y) - 0.1
            )
        )
    ball, coal, carrot = (
        palette((0.93, 0.95, 0.98)),
        palette((0.06, 0.06, 0.07)),
        palette((0.95, 0.45, 0.08)),
    )
    scarf, hat = palette((0.78, 0.1, 0.12)), palette((0.1, 0.1, 0.12))
    angle = np.linspace(0, 2 * np.pi, 24)
    snowman = merged(
        [
            sphere(0.55, ball).moved(z=0.45),
            sphere(0.4, ball).moved(z=1.15),
            sphere(0.28, ball).moved(z=1.68),
            *[sphere(0.035, coal, 10).moved(s * 0.1, -0.25, 1.75) for s in (-1, 1)],
            *[sphere(0.04, coal, 10).moved(0, -0.4, zz) for zz in (1.0, 1.2)],
            revolved([(0.045, 0), (0.001, 0.3)], carrot, 12).turned(90, "x").moved(0, -0.25, 1.67),
            tube(
                np.column_stack([0.27 * np.cos(angle), 0.27 * np.sin(angle), np.full(24, 1.43)]),
                np.full(24, 0.07),
                scarf,
                8,
            ),
            box((0.14, 0.06, 0.5), scarf, (0.16, -0.32, 0.98)),
            cylinder(0.32, 0.03, hat).moved(z=1.9),
            cylinder(0.2, 0.32, hat).moved(z=1.92),
            tube(
                [(0.38, 0, 1.2), (0.75, -0.05, 1.5), (0.95, -0.05, 1.75)],
                [0.03, 0.02, 0.01],
                bark(palette),
                6,
            ),
            tube(
                [(-0.38, 0, 1.2), (-0.72, -0.05, 1.42), (-0.95, 0, 1.4)],
                [0.03, 0.02, 0.01],
                bark(palette),
                6,
            ),
        ]
    )
    scene.add(snowman.moved(1.6, 7.5, height_of(height, 1.6, 7.5)))
    z = height_of(height, -2.0, 13.0)
    scene.add(street_lamp(palette, 6.0).moved(-2.0, 13, z))
    scene.add_lamp((-2.15, 12.85, z + 3.38), (0, 0.3, 0), (0.3, 0, 0), (1, 0.8, 0.5), 60)
    scene.add(fence(palette, 12).turned(14).moved(-12, 11.5, height_of(height, -8.0, 12.0) - 0.2))
    for x, y, shirt in ((3.0, 9.4, (0.8, 0.15, 0.15)), (-0.6, 15.5, (0.2, 0.35, 0.65))):
        scene.add(person(rng, palette, shirt=shirt).turned(30).moved(x, y, height_of(height, x, y)))
    return scene
