"""A device_thread with lamp, globe, books and a model ship before full shelves."""

from __future__ import annotations

import numpy as np

from scenery.boats import sail_boat
from scenery.food import apple, cup
from scenery.furniture import book, book_row, table
from scenery.ground import Rng
from scenery.materials import Kind, Palette, Texture
from scenery.mesh import box, cylinder, merged, quad, revolved, sphere, surface_grid, tube
from scenery.plants import pot_plant
from scenery.render import Scene, daylight


def compose(rng: Rng) -> Scene:
    """Return the scene."""
    palette = Palette()
    scene = Scene(
        palette,
        daylight(
            sun_strength=0.0, sky_strength=0.16, zenith=(0.5, 0.5, 0.6), horizon=(0.4, 0.35, 0.3)
        ),
        (-0.15, -1.95, 1.5),
        (0.0, 0.6, 1.06),
        40,
        lens_radius=0.004,
        exposure=1.25,
        n_bounces=3,
        n_samples=9,
    )
    oak = palette(
        (0.42, 0.26, 0.15),
        (0.3, 0.18, 0.1),
        texture=Texture.WOOD,
        scale=0.25,
        shine=0.35,
        roughness=0.18,
    )
    wall = palette((0.2, 0.28, 0.24))
    scene.add(
        quad([(-4, 1.75, 0), (4, 1.75, 0), (4, 1.75, 4), (-4, 1.75, 4)], wall),
        table(2.2, 0.95, 0.78, oak),
    )
    for x in (-2.0, -1.0, 0.0, 1.0, 2.0):
        scene.add(box((0.035, 0.32, 3), oak, (x, 1.55, 0)))
    for z in (0.3, 0.72, 1.14, 1.56, 1.98, 2.4):
        scene.add(box((4.1, 0.32, 0.03), oak, (0, 1.55, z)))
        for x in (-1.98, -0.98, 0.02, 1.02):
            row = book_row(rng, palette, float(rng.uniform(0.5, 0.95)), 0.38)
            scene.add(row.moved(x + 0.01, 1.5, z + 0.03))
    sea, land = (0.2, 0.4, 0.55), (0.75, 0.68, 0.4)
    ball = sphere(
        0.16, palette(sea, land, texture=Texture.MOTTLED, scale=0.17, shine=0.7, roughness=0.1), 56
    )
    brass = palette((0.8, 0.62, 0.3), kind=Kind.METAL, roughness=0.12)
    a = np.linspace(-1.45, 1.75, 30)
    globe = [
        ball.turned(23, "y").moved(z=0.24),
        tube(
            np.column_stack([0.185 * np.cos(a), 0 * a, 0.24 + 0.185 * np.sin(a)]),
            np.full(30, 0.008),
            brass,
            8,
        ),
        cylinder(0.09, 0.025, oak, 32),
        cylinder(0.012, 0.06, brass, 12),
    ]
    scene.add(merged(globe).turned(-20).moved(-0.68, 0.2, 0.78))
    shade = palette((0.1, 0.35, 0.22), shine=0.9, roughness=0.06)
    lamp = [cylinder(0.1, 0.025, brass, 32), cylinder(0.012, 0.38, brass, 12)]
    t = np.linspace(0, np.pi, 18)
    lamp.append(
        surface_grid(
            np.linspace(-0.17, 0.17, 2)[:, None] + 0 * t,
            0.085 * np.cos(t)[None, :] + 0 * np.zeros((2, 1)),
            0.37 + 0.075 * np.sin(t)[None, :] + np.zeros((2, 1)),
            shade,
        )
    )
    scene.add(merged(lamp).turned(-15).moved(0.52, 0.25, 0.78))
    scene.add_lamp((0.38, 0.2, 1.13), (0, 0.1, 0), (0.26, 0, 0), (1, 0.84, 0.56), 60)
    paper = palette((0.93, 0.9, 0.82))
    u, v = np.meshgrid(np.linspace(-1, 1, 50), np.linspace(-1, 1, 4))
    pages = surface_grid(
        0.2 * u, 0.14 * v, 0.012 + 0.022 * np.sqrt(np.abs(u)) * (1 - 0.65 * np.abs(u)), paper
    )
    scene.add(
        merged([pages, box((0.42, 0.29, 0.008), palette((0.45, 0.12, 0.1)))])
        .turned(8)
        .moved(0.02, -0.16, 0.78)
    )
    ink = palette((0.2, 0.18, 0.2))
    for k in range(9):
        for side in (-1, 1):
            length = float(rng.uniform(0.1, 0.15))
            scene.add(
                box(
                    (length, 0.004, 0.001),
                    ink,
                    (side * 0.1 - (0.15 - length) / 2, 0.1 - 0.024 * k, 0.031),
                )
                .turned(8)
                .moved(0.02, -0.16, 0.781)
            )
    scene.add(
        tube(
            [(0.18, -0.28, 0.815), (0.3, -0.1, 0.83)],
            [0.006, 0.006],
            palette((0.75, 0.1, 0.1), shine=0.8),
            10,
        )
    )
    for k, colour in enumerate(((0.15, 0.3, 0.45), (0.6, 0.15, 0.12), (0.75, 0.6, 0.3))):
        scene.add(
            book(rng, palette, 0.045, 0.26 - 0.02 * k, 0.2, colour)
            .turned(90, "y")
            .turned(9 * k - 8)
            .moved(-0.42, -0.2, 0.8 + 0.046 * k)
        )
    scene.add(apple(palette, 0.042, (0.65, 0.1, 0.07), (0.85, 0.7, 0.2)).moved(-0.38, -0.2, 0.92))
    scene.add(cup(palette, 0.042, (0.25, 0.35, 0.5)).turned(30).moved(0.45, -0.16, 0.78))
    scene.add(
        sail_boat(palette, 0.34, (0.35, 0.16, 0.1), (0.9, 0.84, 0.7))
        .moved(0, 0, 0.035)
        .moved(-0.1, 0.28, 0.78),
        box((0.2, 0.07, 0.02), oak, (-0.1, 0.28, 0.78)),
    )
    scene.add(pot_plant(rng, palette, 0.42, (0.7, 0.4, 0.28)).moved(0.92, 0.25, 0.78))
    holder = palette((0.3, 0.3, 0.34), shine=0.6)
    scene.add(
        revolved(
            [(0.001, 0), (0.036, 0), (0.038, 0.1), (0.033, 0.1), (0.001, 0.02)], holder, 24
        ).moved(0.28, 0.12, 0.78)
    )
    for k, colour in enumerate(
        ((0.9, 0.7, 0.1), (0.8, 0.2, 0.15), (0.2, 0.45, 0.7), (0.2, 0.55, 0.3))
    ):
        lean = rng.normal(0, 0.018, 2)
        scene.add(
            tube(
                [
                    (0.28 + lean[0] * 0.3, 0.12 + lean[1] * 0.3, 0.8),
                    (0.28 + lean[0] * 1.6, 0.12 + lean[1] * 1.6, 0.97 + 0.01 * k),
                ],
                [0.005, 0.005],
                palette(colour),
                6,
            )
        )
    scene.add_lamp((-2.8, -2.2, 1.4), (0.2, 2.2, 0), (0.3, 0, 1.6), (0.85, 0.9, 1.0), 11.0)
    return scene
