"""A red arched bridge over a pond, cherry trees in bloom, a stone lantern, ducks."""

from __future__ import annotations

import numpy as np

from scenery.creatures import duck
from scenery.ground import Floats, Rng, fan_places, height_of, level, places, terrain
from scenery.materials import Kind, Palette, Texture
from scenery.mesh import Mesh, box, cylinder, merged, revolved, sphere, tube
from scenery.noise_kernels import noise_at
from scenery.plants import bark, broadleaf_tree, bush, flowers, grass, leaf_colours, stone
from scenery.render import Scene, daylight


def compose(rng: Rng) -> Scene:
    """Return the scene."""
    palette = Palette()

    def height(x: Floats, y: Floats) -> Floats:
        shore = np.hypot(x / 8.5, (y - 13) / 7.5) + 0.22 * noise_at(x / 5, y / 5, 3.0)
        return (
            1.5 * np.clip(shore - 1, -0.9, 0.4)
            + 0.5 * noise_at(x / 12, y / 12, 6.0)
            + np.clip(y - 28, 0, 40) * 0.1
        )

    moss = palette(
        (0.3, 0.44, 0.14), (0.38, 0.46, 0.2), texture=Texture.MOTTLED, scale=1.5, bump=0.4
    )
    scene = Scene(
        palette,
        daylight(
            -55, 46, cloud_cover=0.35, cloud_phase=92.0, haze=0.0035, haze_colour=(0.85, 0.86, 0.88)
        ),
        (0, -1.5, 2.7),
        (0.3, 14, 1.7),
        46,
    )
    scene.add(terrain(height, moss, near=-9, far=120, half_width=1.1, n_across=280, n_deep=320))
    scene.add(level(palette((0.05, 0.14, 0.1), kind=Kind.WATER, scale=0.9, bump=0.02), -0.28, 60))
    red = palette((0.72, 0.08, 0.06), shine=0.4, roughness=0.2)
    black = palette((0.08, 0.06, 0.06))
    t = np.linspace(-1, 1, 41)
    arch = np.column_stack([7.6 * t, 0 * t, 1.9 * (1 - t**2) + 0.25])
    parts: list[Mesh] = []
    for k in range(40):
        middle = (arch[k] + arch[k + 1]) / 2
        parts.append(box((0.37, 1.9, 0.08), red, tuple(middle)))
    for side in (-0.95, 0.95):
        parts += [
            tube(arch, np.full(41, 0.05), red, 8).moved(y=side, z=lift) for lift in (0.55, 0.95)
        ]
        for k in range(0, 41, 4):
            parts.append(cylinder(0.07, 1.15, red, 12).moved(*(arch[k] + [0, side, 0])))
            parts.append(sphere(0.1, black, 14).moved(*(arch[k] + [0, side, 1.2])))
        parts.append(tube(arch, np.full(41, 0.12), black, 8).moved(y=side, z=-0.08))
    scene.add(merged(parts).turned(10).moved(0.6, 16.5, 0))
    pink = leaf_colours(palette, [(0.95, 0.68, 0.76), (0.97, 0.8, 0.85), (0.9, 0.55, 0.66)])
    trunk = bark(palette, (0.26, 0.18, 0.16))
    for x, y, tall in (
        (-8.5, 19, 7.5),
        (9.5, 22, 8.5),
        (-14, 27, 9),
        (3.5, 31, 8),
        (17, 33, 9.5),
        (-5, 36, 8.5),
    ):
        tree = broadleaf_tree(
            rng, tall, trunk, pink, n_leaves=15000, leaf_size=0.085, spread=52, bare=0.16
        )
        scene.add(tree.moved(x, y, height_of(height, x, y) - 0.1))
    green = leaf_colours(palette, [(0.16, 0.33, 0.12), (0.22, 0.42, 0.15)])
    for place in places(rng, 34, (-24, 24), (24, 45), height):
        scene.add(bush(rng, float(rng.uniform(0.8, 1.8)), green, 700).moved(*place))
    grey = palette(
        (0.55, 0.55, 0.53), (0.36, 0.38, 0.35), texture=Texture.MOTTLED, scale=0.25, bump=0.5
    )
    lantern = merged(
        [
            cylinder(0.38, 0.22, grey, 6),
            cylinder(0.15, 0.75, grey, 16).moved(z=0.2),
            cylinder(0.36, 0.16, grey, 6).moved(z=0.9),
            cylinder(0.22, 0.35, palette((1.0, 0.8, 0.45), kind=Kind.GLOW, glow=1.3), 6).moved(
                z=1.05
            ),
            revolved([(0.58, 1.38), (0.3, 1.62), (0.1, 1.72), (0.12, 1.8), (0.001, 1.95)], grey, 6),
        ]
    )
    scene.add(lantern.moved(-4.6, 5.4, height_of(height, -4.6, 5.4)))
    edge = places(rng, 900, (-11, 11), (3, 24), height)
    for place in edge[np.abs(edge[:, 2] + 0.15) < 0.12][:46]:
        scene.add(stone(rng, float(rng.uniform(0.22, 0.6)), grey).moved(*place))
    pad = palette((0.2, 0.42, 0.16))
    lily = leaf_colours(palette, [(0.97, 0.92, 0.95), (0.95, 0.6, 0.72)])
    pads = places(rng, 220, (-6, 6), (6.5, 14), height)
    for place in pads[pads[:, 2] < -0.6][:38]:
        radius = float(rng.uniform(0.16, 0.34))
        scene.add(
            revolved([(0.001, 0.0), (radius, 0.012)], pad, 20).moved(place[0], place[1], -0.27)
        )
        if rng.random() < 0.35:
            spot = np.array([[place[0], place[1], -0.3]])
            scene.add(flowers(rng, spot, 0.08, 0.16, lily, palette((0.95, 0.8, 0.2)), pad))
    for x, y, turn in ((-0.5, 7.2, 20), (1.2, 8.4, 160), (2.4, 7.0, 70)):
        scene.add(duck(palette, drake=turn != 70).turned(turn).moved(x, y, -0.26))
    blades = leaf_colours(palette, [(0.32, 0.48, 0.14), (0.4, 0.55, 0.18)])
    tufts = fan_places(rng, 30000, 1.5, 30, 0.9, height) - [0, 2.5, 0]
    tufts[:, 2] = height(tufts[:, 0], tufts[:, 1])
    scene.add(grass(rng, tufts[tufts[:, 2] > -0.2], 0.14, blades))
    return scene
