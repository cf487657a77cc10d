"""Fruit, a bottle and a jug on a table with a cloth, in the light of one window."""

from __future__ import annotations

import numpy as np

from scenery.food import apple, banana, bottle, bowl, grapes, lemon, orange, pear, vase
from scenery.furniture import table
from scenery.ground import Rng
from scenery.materials import Kind, Palette, Texture
from scenery.mesh import box, cylinder, merged, quad, surface_grid, tube
from scenery.noise_kernels import noise_at
from scenery.render import Scene, daylight


def compose(rng: Rng) -> Scene:
    """Return the scene."""
    palette = Palette()
    scene = Scene(
        palette,
        daylight(
            sun_strength=0.0,
            sky_strength=0.3,
            zenith=(0.5, 0.5, 0.55),
            horizon=(0.6, 0.52, 0.45),
            ground=(0.4, 0.35, 0.3),
        ),
        (0.05, -1.55, 1.42),
        (0.0, 0.05, 0.93),
        32,
        lens_radius=0.006,
        exposure=1.15,
        n_bounces=3,
        n_samples=9,
    )
    wall = palette(
        (0.36, 0.33, 0.28), (0.28, 0.25, 0.21), texture=Texture.MOTTLED, scale=0.8, bump=0.1
    )
    scene.add(quad([(-4, 1.2, -1), (4, 1.2, -1), (4, 1.2, 4), (-4, 1.2, 4)], wall))
    wood = palette(
        (0.48, 0.29, 0.16),
        (0.3, 0.17, 0.09),
        texture=Texture.WOOD,
        scale=0.25,
        shine=0.5,
        roughness=0.15,
    )
    scene.add(table(2.2, 1.3, 0.8, wood))
    linen = palette((0.88, 0.85, 0.78), (0.78, 0.74, 0.66), texture=Texture.MOTTLED, scale=0.05)
    n = 90
    a, b = np.meshgrid(np.linspace(-0.55, 0.75, n), np.linspace(-0.72, 0.1, n))
    ridges = 0.02 * np.abs(noise_at(a * 3.2, b * 3.2 + 0.6 * a, 4.0, octaves=3)) * 2
    edge = np.where(b < -0.64, (b + 0.64) * 1.6, 0)
    scene.add(surface_grid(a, np.clip(b, -0.67, 1), 0.802 + ridges + edge, linen))
    china = palette(
        (0.86, 0.87, 0.9),
        (0.15, 0.25, 0.6),
        texture=Texture.MARBLED,
        scale=0.16,
        shine=1.0,
        roughness=0.06,
    )
    scene.add(bowl(palette, 0.27, china).moved(0.08, 0.1, 0.82))
    red, gold = (0.7, 0.07, 0.06), (0.92, 0.66, 0.16)
    inside = [
        (apple(palette, 0.075, red, gold), 0.0, 0.05, 0.92),
        (orange(palette, 0.078), 0.2, 0.12, 0.93),
        (apple(palette, 0.072, (0.5, 0.66, 0.16), (0.75, 0.75, 0.2)), 0.1, 0.23, 0.93),
        (pear(palette, 0.062), -0.05, 0.2, 0.94),
        (orange(palette, 0.075), 0.12, 0.02, 0.93),
        (apple(palette, 0.07, red, gold), 0.09, 0.12, 1.03),
    ]
    for item, x, y, z in inside:
        scene.add(item.turned(float(rng.uniform(0, 360))).moved(x, y, z))
    scene.add(grapes(rng, palette, 0.021, (0.3, 0.1, 0.24)).turned(-20).moved(0.3, -0.22, 0.82))
    scene.add(
        lemon(palette, 0.052).turned(30).moved(-0.22, -0.27, 0.825),
        lemon(palette, 0.05).turned(-50).moved(-0.34, -0.16, 0.815),
    )
    for k in range(3):
        scene.add(
            banana(palette, 0.26)
            .turned(14 * k, "x")
            .turned(200 + 9 * k)
            .moved(-0.5 + 0.02 * k, 0.14 + 0.06 * k, 0.82 + 0.015 * k)
        )
    scene.add(
        pear(palette, 0.064).turned(80, "y").turned(35).moved(0.56, -0.1, 0.865),
        apple(palette, 0.075, red, gold).turned(60).moved(-0.06, -0.36, 0.83),
    )
    scene.add(
        bottle(0.42, palette((0.05, 0.16, 0.08), shine=1.0, roughness=0.03)).moved(-0.36, 0.34, 0.8)
    )
    scene.add(cylinder(0.058, 0.14, palette((0.86, 0.8, 0.64)), 32).moved(-0.36, 0.34, 0.86))
    copper = palette((0.85, 0.52, 0.34), kind=Kind.METAL, roughness=0.12)
    jug = vase(0.36, copper)
    t = np.linspace(-1.2, 1.3, 16)
    scene.add(
        jug.moved(0.56, 0.32, 0.8),
        tube(
            np.column_stack([0.64 + 0.09 * np.cos(t), np.full(16, 0.32), 1.0 + 0.11 * np.sin(t)]),
            np.full(16, 0.012),
            copper,
            8,
        ),
    )
    blade = palette((0.8, 0.8, 0.82), kind=Kind.METAL, roughness=0.1)
    scene.add(
        merged(
            [
                box((0.18, 0.022, 0.003), blade),
                box((0.1, 0.026, 0.015), palette((0.12, 0.08, 0.06)), (0.14, 0, 0)),
            ]
        )
        .turned(-38)
        .moved(0.12, -0.5, 0.84)
    )
    scene.add_lamp((-2.6, -1.6, 1.2), (0.5, 2.2, 0), (0.3, 0, 1.5), (1.0, 0.93, 0.82), 11.0)
    return scene
