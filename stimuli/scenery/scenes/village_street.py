"""A cobbled street of old houses with flower boxes, people and a parked car."""

from __future__ import annotations

import numpy as np

from scenery.buildings import house, street_lamp
from scenery.creatures import person
from scenery.ground import Rng
from scenery.materials import Colour, Palette, Texture, shaded
from scenery.mesh import box, cylinder, merged, quad, revolved
from scenery.plants import bush, flowers, leaf_colours
from scenery.playthings import car
from scenery.render import Scene, daylight


def compose(rng: Rng) -> Scene:
    """Return the scene."""
    palette = Palette()
    scene = Scene(
        palette,
        daylight(-160, 52, cloud_cover=0.45, cloud_phase=120.0, haze=0.002),
        (0.4, -4, 1.75),
        (-0.2, 20, 2.6),
        50,
    )
    cobbles = palette(
        (0.5, 0.47, 0.44), (0.3, 0.28, 0.26), texture=Texture.COBBLES, scale=0.16, bump=0.1
    )
    paving = palette((0.62, 0.6, 0.56), (0.5, 0.48, 0.45), texture=Texture.CHECKED, scale=0.6)
    scene.add(quad([(-40, -20, 0), (40, -20, 0), (40, 160, 0), (-40, 160, 0)], cobbles))
    for side in (-1, 1):
        scene.add(box((1.6, 180, 0.13), paving, (side * 4.3, 70, 0)))
    colours: list[Colour] = [
        (0.9, 0.82, 0.66),
        (0.78, 0.45, 0.35),
        (0.92, 0.9, 0.84),
        (0.62, 0.68, 0.6),
        (0.88, 0.7, 0.42),
        (0.7, 0.6, 0.62),
    ]
    doors: list[Colour] = [(0.15, 0.3, 0.2), (0.5, 0.1, 0.1), (0.12, 0.2, 0.4), (0.35, 0.2, 0.1)]
    green = leaf_colours(palette, [(0.2, 0.4, 0.14), (0.28, 0.48, 0.18)])
    blossom = [
        leaf_colours(palette, [colour])
        for colour in ((0.85, 0.1, 0.15), (0.92, 0.5, 0.65), (0.95, 0.85, 0.3))
    ]
    beam = palette((0.25, 0.17, 0.12))
    for side in (-1, 1):
        y = -2.0
        for k in range(12):
            wide = float(rng.uniform(5.5, 8))
            n_floors = int(rng.integers(2, 4))
            colour = colours[int(rng.integers(6))]
            wall = (
                palette((0.6, 0.33, 0.25), (0.72, 0.68, 0.62), texture=Texture.BRICK, scale=0.45)
                if k % 4 == 2
                else palette(
                    colour, shaded(colour, 0.88), texture=Texture.MOTTLED, scale=1.5, bump=0.08
                )
            )
            roof = palette(
                (0.55, 0.28, 0.2), (0.42, 0.2, 0.14), texture=Texture.SHINGLES, scale=0.8
            )
            home = [
                house(
                    rng,
                    palette,
                    width=wide,
                    depth=8,
                    n_floors=n_floors,
                    wall=wall,
                    roof=roof,
                    door=doors[k % 4],
                    gable_front=k % 3 != 1,
                    roof_rise=3.2,
                )
            ]
            if k % 4 == 1:
                rail = box((wide, 0.1, 0.18), beam, (0, -0.03, 0))
                home += [rail.moved(z=max(0.0, 2.9 * k - 0.18)) for k in range(n_floors + 1)]
                home += [
                    box((0.18, 0.1, 2.9 * n_floors), beam, (x, -0.03, 0))
                    for x in np.linspace(-wide / 2 + 0.1, wide / 2 - 0.1, 4)
                ]
            for x in np.linspace(-wide / 2 + 1.2, wide / 2 - 1.2, 3):
                spots = np.column_stack(
                    [
                        rng.uniform(x - 0.5, x + 0.5, 46),
                        rng.uniform(-0.36, -0.14, 46),
                        np.full(46, 3.62),
                    ]
                )
                home.append(box((1.1, 0.24, 0.18), beam, (x, -0.24, 3.46)))
                home.append(
                    flowers(
                        rng, spots, 0.24, 0.07, blossom[k % 3], palette((0.95, 0.8, 0.2)), green[0]
                    )
                )
                home.append(bush(rng, 0.4, green, 90).scaled(1.3, 0.4, 0.5).moved(x, -0.24, 3.58))
            scene.add(merged(home).turned(-90 * side).moved(5.1 * side, y + wide / 2, 0))
            y += wide
    for y in (3.0, 15.0, 27.0, 42.0):
        scene.add(
            street_lamp(palette).moved(3.7, y, 0.12), street_lamp(palette).moved(-3.7, y + 6, 0.12)
        )
    scene.add(
        car(palette, (0.72, 0.08, 0.07)).moved(-2.4, 9.5, 0),
        car(palette, (0.2, 0.4, 0.62)).turned(180).moved(2.3, 25, 0),
    )
    for x, y, shirt, turn in (
        (1.5, 7.5, (0.95, 0.75, 0.15), 170),
        (2.2, 8.0, (0.25, 0.5, 0.4), 185),
        (-4.2, 5.0, (0.6, 0.2, 0.5), 60),
        (0.2, 20, (0.9, 0.9, 0.9), 0),
        (4.3, 15, (0.2, 0.3, 0.6), 90),
        (-0.8, 34, (0.8, 0.3, 0.2), 0),
    ):
        scene.add(person(rng, palette, shirt=shirt).turned(turn).moved(x, y, 0.02))
    tower = palette((0.72, 0.68, 0.6), (0.58, 0.54, 0.48), texture=Texture.BRICK, scale=1.2)
    spire = palette((0.25, 0.38, 0.36))
    scene.add(
        box((7, 7, 24), tower, (1, 92, 0)),
        revolved([(5.2, 24), (0.05, 40)], spire, 4).turned(45).moved(1, 92, 0),
    )
    clock = palette((0.95, 0.94, 0.88))
    scene.add(
        cylinder(1.5, 0.1, clock, 32).turned(90, "x").moved(1, 88.4, 20),
        box((0.12, 0.1, 1.2), beam, (1, 88.2, 20)),
        box((0.9, 0.1, 0.12), beam, (1.4, 88.2, 20)),
    )
    return scene
