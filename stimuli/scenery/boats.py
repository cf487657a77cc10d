"""Boats."""

from __future__ import annotations

import numpy as np

from scenery.materials import Colour, Kind, Palette, Texture
from scenery.mesh import Mesh, box, flat, merged, quad, surface_grid, tube


def sail_boat(
    palette: Palette, length: float, hull: Colour, sail: Colour = (0.95, 0.94, 0.9)
) -> Mesh:
    """Return a boat under sail along x, its waterline at z = 0."""
    paint = palette(hull, shine=0.7, roughness=0.15)
    deck, mast = palette((0.62, 0.45, 0.28)), palette((0.55, 0.42, 0.3))
    cloth = palette(sail, kind=Kind.LEAF)
    n = 17
    t = np.linspace(-1, 1, n)
    beam = (
        0.14
        * length
        * np.sqrt(np.clip(1 - (0.5 * (t + 1)) ** 3, 0, 1))
        * (0.75 + 0.25 * (1 - t) / 2 + 0.0)
    )
    sheer = 0.09 * length * (1 + 0.35 * t**2)
    a = np.linspace(0, np.pi, 9)
    shell = surface_grid(
        t[:, None] * length / 2,
        beam[:, None] * np.cos(a),
        sheer[:, None] - (sheer[:, None] + 0.07 * length) * np.sin(a) ** 0.7,
        paint,
    )
    top = np.concatenate(
        [np.column_stack([t * length / 2, s * beam * 0.97, sheer * 0.9]) for s in (1, -1)]
    )
    deck_faces = [[k, k + 1, n + k + 1] for k in range(n - 1)] + [
        [k, n + k + 1, n + k] for k in range(n - 1)
    ]
    tall = 1.15 * length
    belly = np.linspace(0, 1, 10)
    main = [(0.04 * length, 0, 0.2 * length), (0.04 * length, 0, tall)]
    luff = np.column_stack(
        [np.full(10, 0.04 * length), np.zeros(10), 0.2 * length + belly * (tall - 0.2 * length)]
    )
    leech = np.column_stack(
        [
            0.04 * length - 0.46 * length * (1 - belly) ** 0.9,
            0.05 * length * np.sin(np.pi * belly),
            0.2 * length + belly * (tall - 0.2 * length),
        ]
    )
    middle = 0.5 * (luff + leech) + np.array([0, 0.06 * length, 0]) * np.sin(np.pi * belly)[:, None]
    sails = [
        quad([left[k], right[k], right[k + 1], left[k + 1]], cloth)
        for left, right in ((luff, middle), (middle, leech))
        for k in range(9)
    ]
    jib = flat(
        [
            (0.47 * length, 0, 0.14 * length),
            (0.07 * length, 0.05 * length, 0.2 * length),
            (0.05 * length, 0, 0.92 * tall),
        ],
        [[0, 1, 2]],
        cloth,
    )
    return merged(
        [
            shell,
            flat(top, deck_faces, deck),
            tube([main[0], main[1]], [0.012 * length, 0.008 * length], mast),
            tube([(0, 0, 0.0), (0.04 * length, 0, 0.2 * length)], [0.012 * length] * 2, mast),
            tube(
                [(0.04 * length, 0, 0.2 * length), (-0.43 * length, 0, 0.21 * length)],
                [0.009 * length] * 2,
                mast,
            ),
            *sails,
            jib,
        ]
    )


def rowing_boat(palette: Palette, length: float, colour: Colour) -> Mesh:
    """Return an open boat along x, its waterline at z = 0."""
    paint = palette(colour, shine=0.5, roughness=0.2)
    wood = palette((0.55, 0.4, 0.25), (0.4, 0.28, 0.16), texture=Texture.WOOD, scale=0.2)
    n, m = 21, 11
    t, a = np.linspace(-1, 1, n), np.linspace(0, np.pi, m)
    beam = 0.16 * length * (1 - np.abs(t) ** 2.6) ** 0.8 + 0.002
    shells = []
    rim = 0.11 * length * (1 + 0.5 * t[:, None] ** 2)
    for shrink, material in ((1.0, paint), (0.93, wood)):
        shells.append(
            surface_grid(
                t[:, None] * length / 2,
                shrink * beam[:, None] * np.cos(a),
                rim - (rim + 0.05 * length) * shrink * np.sin(a) ** 0.7,
                material,
            )
        )
    seats = [
        box((0.07 * length, 0.27 * length, 0.015 * length), wood, (x * length, 0, 0.06 * length))
        for x in (-0.22, 0.02, 0.25)
    ]
    return merged([*shells, *seats])
