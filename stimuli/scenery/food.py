"""Fruit, and the crockery it comes in."""

from __future__ import annotations

import numpy as np

from scenery.ground import Rng
from scenery.materials import Colour, Palette, Texture
from scenery.mesh import Mesh, merged, revolved, sphere, tube


def apple(palette: Palette, radius: float, colour: Colour, second: Colour) -> Mesh:
    """Return an apple or a pear-less round fruit with a stem, standing on the origin."""
    skin = palette(
        colour, second, texture=Texture.PEEL, scale=radius, shine=0.9, roughness=0.12, detail=0.6
    )
    t = np.linspace(-np.pi / 2, np.pi / 2, 36)
    dip = 0.32 * np.exp(-(((t - np.pi / 2) / 0.42) ** 2)) + 0.12 * np.exp(
        -(((t + np.pi / 2) / 0.35) ** 2)
    )
    profile = [
        (
            max(1e-3, np.cos(a) * (1 + 0.1 * np.sin(a))) * radius,
            (np.sin(a) - d * np.sign(a)) * radius * 0.95,
        )
        for a, d in zip(t, dip, strict=True)
    ]
    stem = tube(
        [
            (0, 0, 0.55 * radius),
            (0.03 * radius, 0, 0.85 * radius),
            (0.14 * radius, 0, 1.15 * radius),
        ],
        [0.05 * radius, 0.04 * radius, 0.06 * radius],
        palette((0.3, 0.2, 0.1)),
    )
    return merged([revolved(profile, skin), stem]).moved(z=0.86 * radius)


def orange(palette: Palette, radius: float, colour: Colour = (0.95, 0.5, 0.06)) -> Mesh:
    """Return an orange (or a lemon, by colour and scaling) on the origin."""
    peel = palette(colour, shine=0.6, roughness=0.25, bump=0.35, scale=0.07 * radius)
    return sphere(radius, peel).scaled(1, 1, 0.95).moved(z=0.95 * radius)


def lemon(palette: Palette, radius: float) -> Mesh:
    """Return a lemon that lies along x on the origin."""
    peel = palette((0.97, 0.83, 0.12), shine=0.6, roughness=0.22, bump=0.3, scale=0.07 * radius)
    t = np.linspace(-1, 1, 30)
    width = np.sqrt(np.clip(1 - np.abs(t) ** 2.2, 0, 1)) + 0.16 * np.exp(
        -(((np.abs(t) - 1) / 0.12) ** 2)
    )
    body = revolved(
        [(max(1e-3, w) * radius, z * 1.4 * radius) for w, z in zip(width, t, strict=True)], peel
    )
    return body.turned(90, "y").moved(z=radius)


def pear(palette: Palette, radius: float) -> Mesh:
    """Return a pear on the origin."""
    skin = palette(
        (0.72, 0.72, 0.2),
        (0.8, 0.5, 0.15),
        texture=Texture.PEEL,
        scale=radius,
        shine=0.7,
        roughness=0.2,
        detail=0.8,
    )
    height = np.array([0.0, 0.05, 0.3, 0.7, 1.1, 1.5, 1.9, 2.25, 2.45, 2.5])
    width = np.array([0.05, 0.45, 0.85, 1.0, 0.92, 0.68, 0.48, 0.36, 0.2, 0.01])
    fine = np.linspace(0, 2.5, 40)
    body = revolved(
        [(max(1e-3, float(np.interp(h, height, width))) * radius, h * radius) for h in fine], skin
    )
    stem = tube(
        [(0, 0, 2.45 * radius), (0.06 * radius, 0, 2.7 * radius), (0.2 * radius, 0, 2.95 * radius)],
        [0.06 * radius, 0.05 * radius, 0.06 * radius],
        palette((0.3, 0.2, 0.1)),
    )
    return merged([body, stem])


def banana(palette: Palette, length: float) -> Mesh:
    """Return a banana that lies on the origin, bent in the plane of x and y."""
    skin = palette(
        (0.95, 0.8, 0.2), (0.75, 0.55, 0.12), texture=Texture.MOTTLED, scale=0.08, shine=0.4
    )
    a = np.linspace(-0.85, 0.85, 24)
    r = 0.62 * length
    path = np.column_stack([r * np.sin(a), r * (1 - np.cos(a)), np.zeros(24)])
    width = np.interp(np.abs(a), [0, 0.55, 0.75, 0.85], [0.095, 0.085, 0.045, 0.02]) * length
    return tube(path, width, skin, 6).moved(z=0.085 * length)


def grapes(rng: Rng, palette: Palette, radius: float, colour: Colour) -> Mesh:
    """Return a bunch of grapes that lies on the origin."""
    skin = palette(
        colour,
        tuple(min(1.0, 1.7 * c) for c in colour),
        texture=Texture.MOTTLED,
        scale=0.02,
        shine=0.9,
        roughness=0.1,
    )
    berries = []
    for k in range(46):
        along = (k / 46) * 7 * radius
        spread = 2.3 * radius * (1 - 0.75 * k / 46)
        across, up = rng.uniform(-1, 1) * spread, rng.random() * spread * 0.9
        berries.append(
            sphere(radius * rng.uniform(0.85, 1.1), skin, 18).moved(along, across, radius + up)
        )
    stem = tube(
        [(-1.5 * radius, 0, 2.6 * radius), (0, 0, 2.4 * radius), (3 * radius, 0, 2 * radius)],
        [0.2 * radius] * 3,
        palette((0.4, 0.32, 0.15)),
    )
    return merged([*berries, stem])


def bowl(palette: Palette, radius: float, material: int) -> Mesh:
    """Return a footed bowl on the origin."""
    t = np.linspace(0, 1, 14)
    outer = [
        (radius * (0.38 + 0.62 * np.sin(a * np.pi / 2)), radius * (0.12 + 0.45 * a**1.8)) for a in t
    ]
    inner = [(0.95 * r, z + 0.03 * radius) for r, z in reversed(outer)]
    return revolved(
        [
            (0.001, 0),
            (0.4 * radius, 0),
            (0.34 * radius, 0.08 * radius),
            *outer,
            *inner,
            (0.001, 0.16 * radius),
        ],
        material,
    )


def vase(height: float, material: int) -> Mesh:
    """Return a bellied vase on the origin."""
    h = np.array([0, 0.02, 0.15, 0.35, 0.55, 0.72, 0.86, 0.95, 1.0])
    w = np.array([0.15, 0.17, 0.24, 0.29, 0.25, 0.15, 0.1, 0.12, 0.16])
    fine = np.linspace(0, 1, 48)
    outer = [(float(np.interp(z, h, w)) * height, z * height) for z in fine]
    outer = [
        (float(np.mean([r for r, _ in outer[max(0, k - 2) : k + 3]])), z)
        for k, (_, z) in enumerate(outer)
    ]
    inner = [(0.92 * r, z) for r, z in reversed(outer[20:])]
    return revolved([(0.001, 0), *outer, *inner], material)


def bottle(height: float, material: int) -> Mesh:
    """Return a wine bottle on the origin."""
    h = [0, 0.01, 0.55, 0.62, 0.68, 0.74, 0.95, 0.955, 1.0, 1.0]
    w = [0.001, 0.135, 0.135, 0.12, 0.08, 0.048, 0.045, 0.055, 0.055, 0.001]
    return revolved([(r * height, z * height) for r, z in zip(w, h, strict=True)], material)


def cup(
    palette: Palette, radius: float, colour: Colour, drink: Colour = (0.18, 0.09, 0.04)
) -> Mesh:
    """Return a cup with its saucer, filled, handle to +x."""
    china = palette(colour, shine=1.0, roughness=0.06)
    body = revolved(
        [
            (0.001, 0.15),
            (0.55, 0.15),
            (0.6, 0.2),
            (0.85, 0.6),
            (0.98, 1.35),
            (0.92, 1.35),
            (0.8, 0.65),
            (0.6, 0.3),
            (0.001, 0.28),
        ],
        china,
    )
    surface = revolved([(0.9, 1.12), (0.001, 1.12)], palette(drink, shine=1.0, roughness=0.03))
    saucer = revolved(
        [(0.001, 0), (0.7, 0.02), (1.6, 0.2), (1.62, 0.24), (0.7, 0.1), (0.001, 0.1)], china
    )
    a = np.linspace(-1.35, 1.35, 14)
    handle = tube(
        np.column_stack([0.85 + 0.5 * np.cos(a), 0 * a, 0.8 + 0.42 * np.sin(a)]),
        np.full(14, 0.09),
        china,
        8,
    )
    return merged([body, surface, saucer, handle]).scaled(radius)


def teapot(palette: Palette, radius: float, colour: Colour) -> Mesh:
    """Return a teapot on the origin, spout to -x."""
    china = palette(colour, shine=1.0, roughness=0.06)
    t = np.linspace(-1.1, 1.15, 26)
    body = revolved(
        [(0.001, -0.88), *[(np.cos(a), 0.95 * np.sin(a)) for a in t], (0.3, 0.9), (0.001, 0.92)],
        china,
    )
    lid = revolved(
        [(0.46, 0.85), (0.4, 0.98), (0.12, 1.08), (0.08, 1.14), (0.15, 1.22), (0.001, 1.3)], china
    )
    spout = tube(
        [(-0.8, 0, -0.25), (-1.15, 0, -0.1), (-1.35, 0, 0.3), (-1.6, 0, 0.75)],
        [0.26, 0.2, 0.14, 0.09],
        china,
        14,
    )
    a = np.linspace(-1.3, 1.3, 16)
    handle = tube(
        np.column_stack([0.8 + 0.75 * np.cos(a), 0 * a, 0.1 + 0.6 * np.sin(a)]),
        np.full(16, 0.1),
        china,
        10,
    )
    return merged([body, lid, spout, handle]).moved(z=0.88).scaled(radius)
