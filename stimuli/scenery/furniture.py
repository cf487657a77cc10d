"""Furniture and books."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from scenery.ground import Rng
from scenery.materials import Colour, Kind, Palette, Texture
from scenery.mesh import Mesh, box, cylinder, merged, revolved, smooth, sphere, surface_grid


def soft_box(
    size: tuple[float, float, float], material: int, at: tuple[float, float, float]
) -> Mesh:
    """Return an upholstered block: a box with rounded edges that stands on `at`."""
    ball = sphere(1.0, material, 36)
    v = ball.vertices
    power = 0.22
    rounded = np.sign(v) * np.abs(v) ** power
    rounded /= np.abs(rounded).max(axis=0)
    x, y, z = size
    block = smooth(rounded * np.array([x / 2, y / 2, z / 2]), ball.faces, material)
    return block.moved(at[0], at[1], at[2] + z / 2)


def book(
    rng: Rng, palette: Palette, width: float, depth: float, height: float, colour: Colour
) -> Mesh:
    """Return an upright book with its spine towards -y, centred on the origin."""
    cover = palette(colour, shine=0.25, roughness=0.3)
    paper = palette((0.9, 0.86, 0.76))
    gold = palette((0.85, 0.7, 0.3), shine=0.8, roughness=0.2)
    parts = [
        box((width, depth, height), cover),
        box((0.8 * width, depth, 0.002), paper, (0, 0.01, height)),
    ]
    stripe = box((1.02 * width, 0.004, 0.025 * height), gold, (0, -depth / 2, 0))
    heights = rng.choice([0.12, 0.2, 0.72, 0.8, 0.88], 2, replace=False) * height
    parts += [stripe.moved(z=z) for z in heights]
    return merged(parts)


def book_row(rng: Rng, palette: Palette, length: float, height: float) -> Mesh:
    """Return a row of books along x from the origin, spines towards -y."""
    colours: Sequence[Colour] = [
        (0.55, 0.12, 0.1),
        (0.12, 0.25, 0.42),
        (0.15, 0.35, 0.2),
        (0.75, 0.6, 0.3),
        (0.35, 0.18, 0.3),
        (0.82, 0.78, 0.68),
        (0.1, 0.1, 0.12),
        (0.7, 0.32, 0.12),
        (0.3, 0.45, 0.5),
    ]
    parts, x = [], 0.0
    while x < length - 0.06:
        wide = float(rng.uniform(0.02, 0.055))
        tall = height * float(rng.uniform(0.68, 0.97))
        colour = colours[int(rng.integers(len(colours)))]
        parts.append(book(rng, palette, wide, 0.18, tall, colour).moved(x + wide / 2))
        x += wide + 0.002
        if rng.random() < 0.06:
            x += 0.12
    return merged(parts)


def chair(wood: int, seat: int) -> Mesh:
    """Return a kitchen chair that faces -y."""
    parts = [box((0.45, 0.45, 0.05), seat, (0, 0, 0.44))]
    for x in (-0.19, 0.19):
        parts += [
            box((0.045, 0.045, 0.44), wood, (x, -0.19, 0)),
            box((0.045, 0.045, 0.95), wood, (x, 0.2, 0)),
        ]
    parts += [box((0.38, 0.025, 0.07), wood, (0, 0.2, z)) for z in (0.62, 0.74, 0.86)]
    parts += [box((0.03, 0.38, 0.03), wood, (x, 0, 0.2)) for x in (-0.19, 0.19)]
    return merged(parts)


def table(width: float, depth: float, height: float, wood: int) -> Mesh:
    """Return a table on four legs; its top is at `height`."""
    parts = [
        box((width, depth, 0.045), wood, (0, 0, height - 0.045)),
        box((width - 0.15, depth - 0.15, 0.09), wood, (0, 0, height - 0.13)),
    ]
    leg = box((0.07, 0.07, height - 0.04), wood)
    parts += [
        leg.moved(x * (width / 2 - 0.1), y * (depth / 2 - 0.1)) for x in (-1, 1) for y in (-1, 1)
    ]
    return merged(parts)


def cushion(size: float, material: int) -> Mesh:
    """Return a cushion, standing upright on the origin and facing -y."""
    n = 24
    u = np.linspace(-1, 1, n)
    a, b = np.meshgrid(u, u)
    puff = 0.28 * np.sqrt(np.clip((1 - a**4) * (1 - b**4), 0, 1)) + 0.01
    pinch = 1 - 0.07 * (a**2 * (1 - b**2) + b**2 * (1 - a**2)) * 0.5
    sides = [surface_grid(a * pinch, sign * puff, b * pinch + 1, material) for sign in (-1, 1)]
    return merged(sides).scaled(size / 2)


def sofa(palette: Palette, colour: Colour, width: float = 2.1) -> Mesh:
    """Return a sofa that faces -y."""
    darker = (0.8 * colour[0], 0.8 * colour[1], 0.8 * colour[2])
    cloth = palette(colour, darker, texture=Texture.MOTTLED, scale=0.02, bump=0.15)
    leg = palette((0.25, 0.16, 0.1))
    half = (width - 0.4) / 2
    parts = [
        soft_box((width, 0.9, 0.3), cloth, (0, 0, 0.12)),
        soft_box((width, 0.24, 0.75), cloth, (0, 0.36, 0.15)),
        *[soft_box((half, 0.7, 0.2), cloth, (s * half / 2, -0.06, 0.36)) for s in (-1, 1)],
        *[soft_box((half, 0.2, 0.45), cloth, (s * half / 2, 0.24, 0.48)) for s in (-1, 1)],
        *[soft_box((0.22, 0.9, 0.52), cloth, (s * (width / 2 - 0.08), 0, 0.12)) for s in (-1, 1)],
    ]
    parts += [
        cylinder(0.025, 0.14, leg, 10).moved(s * (width / 2 - 0.1), y, 0)
        for s in (-1, 1)
        for y in (-0.35, 0.35)
    ]
    return merged(parts)


def floor_lamp(palette: Palette, height: float, glow: float) -> Mesh:
    """Return a standing lamp with a shade."""
    brass = palette((0.7, 0.55, 0.25), kind=Kind.METAL, roughness=0.2)
    shade = palette((1.0, 0.86, 0.62), kind=Kind.GLOW, glow=glow, shine=1.0)
    return merged(
        [
            cylinder(0.14, 0.025, brass),
            cylinder(0.012, height, brass, 10),
            revolved([(0.22, 0.82 * height), (0.13, height)], shade),
        ]
    )
