"""Tea, eggs, bread, jam and flowers on a checked cloth by the window."""

from __future__ import annotations

import numpy as np

from scenery.food import cup, teapot, vase
from scenery.furniture import chair, table
from scenery.ground import Rng
from scenery.materials import Kind, Palette, Texture
from scenery.mesh import Mesh, box, cylinder, merged, quad, revolved, sphere, surface_grid, tube
from scenery.noise_kernels import noise_at
from scenery.plants import flowers, leaf_colours, leaves, pot_plant
from scenery.render import Scene, daylight


def _cloth(size: tuple[float, float], z: float, drop: float, material: int, seed: float) -> Mesh:
    """Return a table cloth with its hanging folds, centred on the origin."""
    n = 140
    u = np.linspace(-1, 1, n)
    a, b = np.meshgrid(u, u)
    reach_x, reach_y = size[0] / 2 + drop, size[1] / 2 + drop
    x, y = a * reach_x, b * reach_y
    over_x, over_y = (
        np.clip(np.abs(x) - size[0] / 2, 0, None),
        np.clip(np.abs(y) - size[1] / 2, 0, None),
    )
    over = np.maximum(over_x, over_y)
    fold = 0.07 * over / drop * (np.sin(13 * (x + y) + 3 * noise_at(x * 2, y * 2, seed)) + 0.3)
    x = np.clip(x, -size[0] / 2, size[0] / 2) * (1 + 0.01) + np.sign(x) * (over_x > 0) * (
        0.02 + 0.06 * over_x + np.where(over_x >= over_y, fold, 0)
    )
    y = np.clip(y, -size[1] / 2, size[1] / 2) * (1 + 0.01) + np.sign(y) * (over_y > 0) * (
        0.02 + 0.06 * over_y + np.where(over_y > over_x, fold, 0)
    )
    height = z + 0.003 + 0.003 * noise_at(x * 5, y * 5, seed) - over
    return surface_grid(x, y, height, material)


def compose(rng: Rng) -> Scene:
    """Return the scene."""
    palette = Palette()
    scene = Scene(
        palette,
        daylight(-70, 35, sun_strength=0.0, sky_strength=0.5),
        (0.1, -1.5, 1.62),
        (0.0, 0.12, 0.84),
        38,
        lens_radius=0.005,
        exposure=1.2,
        n_bounces=3,
        n_samples=9,
    )
    wall = palette((0.86, 0.8, 0.66), (0.82, 0.76, 0.62), texture=Texture.MOTTLED, scale=1.2)
    tile = palette(
        (0.9, 0.9, 0.88),
        (0.5, 0.65, 0.72),
        texture=Texture.CHECKED,
        scale=0.16,
        shine=0.6,
        roughness=0.1,
    )
    floor = palette((0.55, 0.38, 0.24), (0.42, 0.28, 0.17), texture=Texture.PLANKS, scale=0.14)
    scene.add(
        quad([(-3, 1.9, 0), (3, 1.9, 0), (3, 1.9, 1.2), (-3, 1.9, 1.2)], tile),
        quad([(-3, 1.9, 1.2), (3, 1.9, 1.2), (3, 1.9, 4), (-3, 1.9, 4)], wall),
        quad([(-4, -4, 0), (4, -4, 0), (4, 2, 0), (-4, 2, 0)], floor),
    )
    gingham = palette((0.94, 0.93, 0.9), (0.78, 0.12, 0.12), texture=Texture.PLAID, scale=0.11)
    wood = palette((0.6, 0.42, 0.26), (0.46, 0.3, 0.17), texture=Texture.WOOD, scale=0.2)
    scene.add(table(1.5, 1.0, 0.76, wood), _cloth((1.5, 1.0), 0.762, 0.25, gingham, 3.0))
    z = 0.768
    scene.add(
        teapot(palette, 0.105, (0.2, 0.4, 0.62)).turned(25).moved(-0.3, 0.18, z),
        cup(palette, 0.048, (0.92, 0.92, 0.9), (0.5, 0.22, 0.06))
        .turned(-60)
        .moved(-0.34, -0.26, z),
        cup(palette, 0.048, (0.92, 0.92, 0.9), (0.5, 0.22, 0.06)).turned(150).moved(0.45, 0.24, z),
    )
    china = palette((0.93, 0.93, 0.91), shine=0.9, roughness=0.07)
    plate = revolved(
        [(0.001, 0), (0.07, 0), (0.12, 0.012), (0.122, 0.016), (0.07, 0.006), (0.001, 0.006)],
        china,
        48,
    )
    crust, crumb = (
        palette((0.66, 0.4, 0.17), (0.5, 0.27, 0.1), texture=Texture.MOTTLED, scale=0.05, bump=0.4),
        palette(
            (0.93, 0.85, 0.66), (0.86, 0.74, 0.52), texture=Texture.MOTTLED, scale=0.01, bump=0.5
        ),
    )
    scene.add(plate.moved(0.02, -0.28, z), plate.moved(0.15, 0.3, z))
    t = np.linspace(-1, 1, 24)
    for x, y, turn, zz in ((0.0, -0.3, 20, 0.02), (0.04, -0.25, -30, 0.05)):
        bend = np.column_stack([0.075 * np.sin(1.5 * t), 0.05 * (1 - np.cos(1.5 * t)), 0 * t])
        ridge = 0.034 * np.sqrt(np.clip(1 - t**2, 0, 1)) * (1 + 0.16 * np.cos(14 * t)) + 0.004
        scene.add(tube(bend, ridge, crust, 16).turned(turn).moved(x, y, z + zz + 0.012))
    loaf = (
        sphere(1, crust, 40)
        .displaced(lambda p: 0.08 * noise_at(*(3 * p).T))
        .scaled(0.17, 0.085, 0.075)
    )
    board = palette((0.55, 0.36, 0.2), (0.42, 0.26, 0.14), texture=Texture.WOOD, scale=0.08)
    scene.add(
        box((0.42, 0.26, 0.02), board, (0.42, -0.16, z)).turned(0),
        loaf.turned(20).moved(0.38, -0.1, z + 0.085),
    )
    for k in range(2):
        slice_ = merged(
            [cylinder(0.066, 0.016, crust, 30), cylinder(0.061, 0.0165, crumb, 30)]
        ).scaled(1.2, 0.95, 1)
        scene.add(
            slice_.turned(10, "y")
            .turned(40 * k)
            .moved(0.5 - 0.07 * k, -0.24 - 0.02 * k, z + 0.024 + 0.014 * k)
        )
    egg = palette((0.9, 0.76, 0.62), shine=0.15)
    for x, y, colour in ((-0.12, -0.06, (0.95, 0.75, 0.2)), (0.24, 0.1, (0.35, 0.6, 0.5))):
        holder = revolved(
            [(0.001, 0), (0.028, 0), (0.012, 0.02), (0.027, 0.05), (0.025, 0.05), (0.001, 0.03)],
            palette(colour, shine=0.8, roughness=0.08),
            28,
        )
        scene.add(
            holder.moved(x, y, z), sphere(0.024, egg, 28).scaled(1, 1, 1.3).moved(x, y, z + 0.062)
        )
    jam = palette((0.6, 0.06, 0.08), shine=1.0, roughness=0.05)
    scene.add(
        cylinder(0.038, 0.075, jam, 32).moved(0.06, 0.02, z),
        cylinder(
            0.041,
            0.02,
            palette((0.92, 0.9, 0.84), (0.7, 0.15, 0.15), texture=Texture.PLAID, scale=0.02),
            32,
        ).moved(0.06, 0.02, z + 0.075),
    )
    juice = palette((0.98, 0.62, 0.08), shine=1.0, roughness=0.03)
    for x, y in ((-0.5, -0.05), (0.6, 0.02)):
        scene.add(
            revolved([(0.001, 0), (0.028, 0), (0.034, 0.12), (0.001, 0.12)], juice, 32).moved(
                x, y, z
            )
        )
    scene.add(
        vase(
            0.2,
            palette(
                (0.85, 0.88, 0.9),
                (0.3, 0.45, 0.6),
                texture=Texture.MARBLED,
                scale=0.1,
                shine=0.9,
                roughness=0.05,
            ),
        ).moved(-0.02, 0.36, z)
    )
    bloom = leaf_colours(palette, [(0.98, 0.85, 0.2), (0.95, 0.95, 0.92), (0.7, 0.4, 0.75)])
    green = leaf_colours(palette, [(0.24, 0.46, 0.18), (0.34, 0.55, 0.24)])
    stems = np.array([-0.02, 0.36, z + 0.19]) + rng.normal(0, 0.055, (38, 3)) * [1, 1, 0.3]
    scene.add(
        flowers(rng, stems, 0.15, 0.034, bloom, palette((0.95, 0.6, 0.1)), green[0]),
        leaves(rng, stems[:30] + np.array([0, 0, 0.04]), 0.028, green),
    )
    butter = palette((0.97, 0.88, 0.5), shine=0.2)
    scene.add(
        plate.scaled(0.7).moved(-0.14, 0.16, z),
        box((0.08, 0.045, 0.03), butter, (-0.14, 0.16, z + 0.006)),
    )
    steel = palette((0.82, 0.82, 0.84), kind=Kind.METAL, roughness=0.08)
    for x, y, turn in ((0.17, -0.3, 84), (-0.2, -0.32, 96)):
        scene.add(
            merged(
                [box((0.11, 0.016, 0.002), steel), box((0.08, 0.01, 0.006), steel, (0.09, 0, 0))]
            )
            .turned(turn)
            .moved(x, y, z + 0.004)
        )
    painted = palette((0.3, 0.5, 0.5))
    scene.add(
        chair(painted, painted).scaled(1.1).moved(-0.35, 0.85, 0),
        chair(painted, painted).scaled(1.1).turned(-12).moved(0.45, 0.9, 0),
    )
    scene.add(
        pot_plant(rng, palette, 0.5, (0.8, 0.45, 0.3)).moved(-0.95, 1.65, 0.9),
        box((2.4, 0.35, 0.04), wood, (-0.4, 1.72, 0.88)),
    )
    for k in range(5):
        scene.add(
            revolved(
                [(0.001, 0), (0.04, 0), (0.045, 0.1), (0.04, 0.1), (0.001, 0.02)],
                palette(
                    (
                        (0.85, 0.3, 0.2),
                        (0.3, 0.5, 0.6),
                        (0.92, 0.8, 0.4),
                        (0.9, 0.9, 0.88),
                        (0.4, 0.55, 0.35),
                    )[k],
                    shine=0.8,
                    roughness=0.1,
                ),
                24,
            ).moved(-0.35 + 0.2 * k, 1.7, 0.92)
        )
    scene.add_lamp((-2.6, -1.2, 1.0), (0, 2.6, 0), (0.2, 0, 1.6), (1.0, 0.95, 0.86), 6.0)
    scene.add_lamp((-1.0, -2.5, 3.2), (0, 2.2, 0), (2.5, 0, 0), (0.9, 0.95, 1.0), 0.9)
    return scene
