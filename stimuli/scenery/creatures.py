"""Animals and people."""

from __future__ import annotations

import numpy as np

from scenery.ground import Rng
from scenery.materials import Colour, Kind, Palette, Texture, shaded
from scenery.mesh import Mesh, box, cylinder, flat, merged, revolved, sphere, tube
from scenery.noise_kernels import noise_at


def sheep(rng: Rng, palette: Palette, dark_face: bool = True) -> Mesh:
    """Return a sheep on the origin, looking to -x."""
    tone = float(rng.uniform(0.78, 0.92))
    wool = palette(
        (tone, 0.96 * tone, 0.88 * tone),
        (0.7 * tone, 0.67 * tone, 0.6 * tone),
        texture=Texture.MOTTLED,
        scale=0.12,
        bump=0.8,
    )
    skin = palette((0.12, 0.1, 0.09) if dark_face else (0.8, 0.72, 0.64))
    shift = rng.uniform(0, 50, 3)
    body = sphere(1.0, wool, 36).displaced(lambda p: 0.13 * noise_at(*(4 * p + shift).T, octaves=3))
    head_turn = float(rng.uniform(-40, 40))
    low = float(rng.choice([0.0, 0.0, 0.42]))
    head = merged(
        [
            sphere(1, skin, 20).scaled(0.17, 0.11, 0.12),
            sphere(1, wool, 16).scaled(0.1, 0.11, 0.09).moved(0.06, 0, 0.08),
            *[
                sphere(1, skin, 12).scaled(0.035, 0.1, 0.03).moved(0.08, s * 0.14, 0.03)
                for s in (-1, 1)
            ],
        ]
    ).turned(head_turn)
    legs = [
        cylinder(0.045, 0.36, skin, 8).moved(x, y, 0) for x in (-0.32, 0.3) for y in (-0.15, 0.15)
    ]
    return merged(
        [body.scaled(0.56, 0.33, 0.36).moved(z=0.62), head.moved(-0.66, 0, 0.86 - low), *legs]
    )


def duck(palette: Palette, drake: bool = True) -> Mesh:
    """Return a swimming duck that looks to -x, its waterline at z = 0."""
    body = palette(
        (0.62, 0.58, 0.52) if drake else (0.5, 0.36, 0.22),
        (0.42, 0.35, 0.28),
        texture=Texture.MOTTLED,
        scale=0.06,
    )
    head = palette((0.05, 0.3, 0.16) if drake else (0.46, 0.33, 0.2), shine=0.6, roughness=0.2)
    bill, breast = palette((0.9, 0.65, 0.1), shine=0.3), palette((0.35, 0.18, 0.1))
    neck = tube(
        [(-0.15, 0, 0.06), (-0.2, 0, 0.16), (-0.19, 0, 0.25)], [0.075, 0.05, 0.045], head, 10
    )
    return merged(
        [
            sphere(1, body, 28).scaled(0.26, 0.14, 0.12).moved(0, 0, 0.04),
            sphere(1, breast, 20).scaled(0.11, 0.12, 0.11).moved(-0.14, 0, 0.05),
            revolved([(0.09, 0), (0.001, 0.2)], body, 12).turned(62, "y").moved(0.16, 0, 0.09),
            neck,
            sphere(0.065, head, 18).moved(-0.21, 0, 0.28),
            sphere(1, bill, 14).scaled(0.06, 0.035, 0.016).moved(-0.29, 0, 0.265),
        ]
    )


def fish(palette: Palette, length: float, colour: Colour, second: Colour) -> Mesh:
    """Return a striped fish around the origin, looking to -x."""
    skin = palette(
        colour, second, texture=Texture.STRIPED, scale=0.3 * length, shine=0.6, roughness=0.15
    )
    fin = palette(second, kind=Kind.LEAF)
    white, black = palette((0.95, 0.95, 0.95), shine=0.8), palette((0.02, 0.02, 0.02), shine=1.0)
    x = np.array([-0.5, -0.47, -0.38, -0.22, 0, 0.2, 0.33, 0.4])
    r = np.array([0.005, 0.05, 0.12, 0.19, 0.22, 0.15, 0.07, 0.045])
    fine = np.linspace(-0.5, 0.4, 30)
    body = revolved([(float(np.interp(a, x, r)) * length, a * length) for a in fine], skin, 24)
    body = body.turned(90, "y").scaled(1, 0.45, 1.0)
    fins = flat(
        np.array(
            [
                (0.36, 0, 0.0),
                (0.6, 0.02, 0.2),
                (0.52, 0, 0),
                (0.6, 0.02, -0.2),
                (-0.15, 0, 0.19),
                (0.1, 0.0, 0.36),
                (0.24, 0, 0.13),
                (-0.05, 0, -0.2),
                (0.12, 0, -0.34),
                (0.2, 0, -0.14),
                (-0.12, -0.09, -0.03),
                (0.06, -0.2, -0.1),
                (0.02, -0.1, 0.05),
            ]
        )
        * length,
        [[0, 1, 2], [0, 2, 3], [4, 5, 6], [7, 8, 9], [10, 11, 12]],
        fin,
    )
    eyes = [
        m
        for s in (-1, 1)
        for m in (
            sphere(0.042 * length, white, 14).moved(
                -0.36 * length, s * 0.052 * length, 0.05 * length
            ),
            sphere(0.024 * length, black, 12).moved(
                -0.372 * length, s * 0.075 * length, 0.052 * length
            ),
        )
    ]
    return merged([body, fins, *eyes])


def cat(palette: Palette, colour: Colour) -> Mesh:
    """Return a sitting cat on the origin that faces -y."""
    fur = palette(colour, shaded(colour, 0.5625), texture=Texture.STRIPED, scale=0.07)
    plain = palette(colour)
    white, green, black = (
        palette((0.93, 0.9, 0.86)),
        palette((0.55, 0.75, 0.2), shine=1.0),
        palette((0.05, 0.04, 0.04)),
    )
    t = np.linspace(0, 1, 14)
    tail = np.column_stack(
        [0.06 + 0.16 * np.sin(2.2 * t), 0.12 - 0.3 * t * (t - 0.4), 0.03 + 0.02 * t]
    )
    ear = revolved([(0.035, 0), (0.001, 0.075)], plain, 10)
    return merged(
        [
            sphere(1, fur, 28).scaled(0.12, 0.15, 0.13).moved(0, 0.05, 0.12),
            sphere(1, fur, 24).scaled(0.085, 0.09, 0.14).moved(0, -0.04, 0.23),
            sphere(1, white, 20).scaled(0.055, 0.04, 0.09).moved(0, -0.1, 0.22),
            sphere(1, plain, 24).scaled(0.075, 0.07, 0.065).moved(0, -0.08, 0.41),
            sphere(1, white, 16).scaled(0.035, 0.03, 0.025).moved(0, -0.145, 0.39),
            sphere(0.01, black, 10).moved(0, -0.172, 0.4),
            *[sphere(0.016, green, 12).moved(s * 0.03, -0.137, 0.428) for s in (-1, 1)],
            *[sphere(0.008, black, 8).moved(s * 0.031, -0.15, 0.429) for s in (-1, 1)],
            *[ear.moved(s * 0.042, -0.07, 0.455) for s in (-1, 1)],
            *[
                tube([(s * 0.045, -0.08, 0.2), (s * 0.045, -0.13, 0.03)], [0.032, 0.026], plain, 10)
                for s in (-1, 1)
            ],
            *[
                sphere(1, white, 12).scaled(0.032, 0.045, 0.022).moved(s * 0.045, -0.15, 0.02)
                for s in (-1, 1)
            ],
            tube(tail, np.linspace(0.03, 0.02, 14), fur, 10),
        ]
    )


def person(
    rng: Rng,
    palette: Palette,
    *,
    shirt: Colour,
    trousers: Colour = (0.15, 0.18, 0.28),
    stride: float = 0.18,
) -> Mesh:
    """Return a figure of about 1.75 m that stands on the origin and faces -y."""
    skin = palette(
        ((0.85, 0.65, 0.52), (0.55, 0.36, 0.26), (0.92, 0.74, 0.62))[int(rng.integers(3))]
    )
    hair = palette(((0.12, 0.08, 0.05), (0.4, 0.25, 0.12), (0.65, 0.5, 0.28))[int(rng.integers(3))])
    top, legs, shoe = palette(shirt), palette(trousers), palette((0.1, 0.08, 0.07))
    swing = float(rng.choice([-1, 1])) * stride
    parts = [
        sphere(1, skin, 22).scaled(0.095, 0.11, 0.125).moved(0, -0.01, 1.62),
        sphere(1, hair, 22).scaled(0.105, 0.11, 0.115).moved(0, 0.025, 1.66),
        cylinder(0.05, 0.12, skin, 12).moved(0, 0, 1.44),
        revolved(
            [(0.15, 0.9), (0.165, 1.0), (0.15, 1.15), (0.2, 1.36), (0.15, 1.46), (0.05, 1.5)],
            top,
            24,
        ).scaled(1, 0.62, 1),
    ]
    for s in (-1, 1):
        step = s * swing
        parts += [
            tube(
                [(s * 0.085, 0, 0.95), (s * 0.095, -0.6 * step, 0.5), (s * 0.095, -step, 0.06)],
                [0.095, 0.072, 0.055],
                legs,
                12,
            ),
            box((0.09, 0.24, 0.07), shoe, (s * 0.095, -step - 0.05, 0)),
            tube(
                [
                    (s * 0.2, 0, 1.41),
                    (s * 0.25, 0.5 * step, 1.15),
                    (s * 0.24, 0.9 * step - 0.08, 0.92),
                ],
                [0.062, 0.05, 0.04],
                top,
                10,
            ),
            sphere(0.05, skin, 12).moved(s * 0.24, 0.9 * step - 0.09, 0.87),
        ]
    return merged(parts)
