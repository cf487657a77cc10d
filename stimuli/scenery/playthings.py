"""Large bright things: balloons, sunshades, balls, cars."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from scenery.furniture import soft_box
from scenery.materials import Colour, Kind, Palette, Texture
from scenery.mesh import Mesh, box, cylinder, merged, revolved, smooth, sphere, tube


def balloon(palette: Palette, radius: float, colours: Sequence[Colour]) -> Mesh:
    """Return a hot-air balloon in vertical stripes, centred on the origin."""
    stripes = [palette(colour) for colour in colours]
    t = np.linspace(-1.25, np.pi / 2, 30)
    profile = [
        (
            max(1e-3, np.cos(a)) * radius * (1 if a > 0 else 1 - 0.22 * (a / 1.25) ** 2),
            np.sin(a) * radius * (1 if a > 0 else 1.28),
        )
        for a in t
    ]
    hull = revolved(profile, 0, 48)
    side = np.arctan2(*hull.vertices[hull.faces].mean(axis=1)[:, 1::-1].T)
    which = ((side + np.pi) / (2 * np.pi) * 16).astype(int) % len(stripes)
    painted = Mesh(hull.vertices, hull.normals, hull.faces, np.array(stripes)[which])
    wicker = palette(
        (0.45, 0.3, 0.16), (0.3, 0.2, 0.1), texture=Texture.CHECKED, scale=0.06 * radius
    )
    basket = box((0.26 * radius, 0.26 * radius, 0.2 * radius), wicker, (0, 0, -1.85 * radius))
    rope = palette((0.2, 0.18, 0.15))
    ropes = [
        tube(
            [
                (0.13 * radius * sx, 0.13 * radius * sy, -1.65 * radius),
                (0.28 * radius * sx, 0.28 * radius * sy, -1.2 * radius),
            ],
            [0.008 * radius] * 2,
            rope,
            4,
        )
        for sx in (-1, 1)
        for sy in (-1, 1)
    ]
    return merged([painted, basket, *ropes])


def umbrella(palette: Palette, radius: float, height: float, colours: Sequence[Colour]) -> Mesh:
    """Return a sunshade on its pole."""
    cloths = [palette(colour, kind=Kind.LEAF) for colour in colours]
    pole = palette((0.85, 0.82, 0.78), shine=0.5)
    t = np.linspace(0, 1, 8)
    dome = revolved([(max(1e-3, radius * a), height - 0.36 * radius * a**1.8) for a in t], 0, 48)
    side = np.arctan2(*dome.vertices[dome.faces].mean(axis=1)[:, 1::-1].T)
    which = ((side + np.pi) / (2 * np.pi) * 8).astype(int) % len(cloths)
    return merged(
        [
            Mesh(dome.vertices, dome.normals, dome.faces, np.array(cloths)[which]),
            cylinder(0.025, height + 0.08, pole, 10),
        ]
    )


def beach_ball(palette: Palette, radius: float) -> Mesh:
    """Return a ball in six colours on the origin."""
    colours = [
        (0.9, 0.15, 0.12),
        (0.97, 0.97, 0.95),
        (0.98, 0.8, 0.1),
        (0.97, 0.97, 0.95),
        (0.1, 0.35, 0.8),
        (0.97, 0.97, 0.95),
    ]
    skins = [palette(colour, shine=0.8, roughness=0.1) for colour in colours]
    ball = sphere(radius, 0, 48)
    side = np.arctan2(*ball.vertices[ball.faces].mean(axis=1)[:, 1::-1].T)
    which = ((side + np.pi) / (2 * np.pi) * 6).astype(int) % 6
    return (
        Mesh(ball.vertices, ball.normals, ball.faces, np.array(skins)[which])
        .turned(35, "x")
        .turned(20, "y")
        .moved(z=radius)
    )


def car(palette: Palette, colour: Colour) -> Mesh:
    """Return a small car of 4 m along y, front towards -y."""
    paint = palette(colour, shine=1.0, roughness=0.05)
    glass = palette((0.07, 0.09, 0.12), shine=1.0, roughness=0.02)
    tyre, rim = (
        palette((0.04, 0.04, 0.045)),
        palette((0.6, 0.6, 0.62), kind=Kind.METAL, roughness=0.2),
    )
    lamp, red = palette((0.95, 0.95, 0.9), shine=1.0), palette((0.7, 0.05, 0.05), shine=1.0)
    plate = palette((0.9, 0.9, 0.85))
    low = soft_box((1.7, 4.0, 0.62), paint, (0, 0, 0.28))
    cabin = soft_box((1.5, 2.2, 0.62), paint, (0, 0.25, 0.78))
    v = cabin.vertices.copy()
    up = np.clip((v[:, 2] - 0.85) / 0.5, 0, 1)
    v[:, 0] *= 1 - 0.16 * up
    v[:, 1] = 0.25 + (v[:, 1] - 0.25) * (1 - 0.28 * up)
    panes = smooth(v * np.array([1.012, 0.0, 0]) + v * np.array([0, 1.0, 1.0]), cabin.faces, glass)
    centre = panes.vertices[panes.faces].mean(axis=1)
    keep = (centre[:, 2] > 0.92) & (centre[:, 2] < 1.3)
    facing = np.abs(centre[:, 1] - 0.25)
    glazed = np.where(keep & (facing > 0.06), glass, paint)
    parts = [low, Mesh(v, cabin.normals, cabin.faces, glazed)]
    for y in (-1.25, 1.25):
        for s in (-1, 1):
            wheel = merged([cylinder(0.32, 0.2, tyre, 28), cylinder(0.2, 0.205, rim, 20)]).turned(
                90, "y"
            )
            parts.append(wheel.moved(s * 0.86 - (0.2 if s > 0 else 0.0), y, 0.32))
    for s in (-1, 1):
        parts += [
            sphere(1, lamp, 16).scaled(0.16, 0.08, 0.09).moved(s * 0.6, -1.94, 0.66),
            sphere(1, red, 16).scaled(0.14, 0.06, 0.09).moved(s * 0.62, 1.95, 0.7),
        ]
    parts += [box((0.45, 0.02, 0.11), plate, (0, y, 0.42)) for y in (-2.0, 2.0)]
    return merged(parts)
