"""Where light comes from: sun, sky with clouds or stars, haze, and lamps."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from scenery.compiled import kernel
from scenery.noise_kernels import fractal_noise, hash_unit
from scenery.shading_kernels import step

Floats = npt.NDArray[np.float64]


class Sky(NamedTuple):
    """Everything above the horizon; colours (3,) in linear light, directions of unit length."""

    sun: Floats
    """Direction to the sun (or moon)."""
    sun_light: Floats
    """Its irradiance on a surface that faces it."""
    sun_radius: float
    """Half its apparent width in radians; also how soft shadows are."""
    glow: Floats
    """Brightness around the sun."""
    zenith: Floats
    horizon: Floats
    ground: Floats
    """What is seen below the horizon where there is no ground."""
    cloud_light: Floats
    cloud_shade: Floats
    cloud_cover: float
    """0 is a clear sky, 1 an overcast one."""
    cloud_scale: float
    cloud_phase: float
    stars: float
    haze: float
    """Share of light lost per metre to the haze, at the height of 0."""
    haze_height: float
    """Height in metres over which the haze thins to a third."""
    haze_colour: Floats


class Lamps(NamedTuple):
    """Parallelograms that shine to the side of `edge_1` × `edge_2`; all (n, 3)."""

    corner: Floats
    edge_1: Floats
    edge_2: Floats
    radiance: Floats


@kernel
def _clouds(sky, dx, dy, dz):  # type: ignore[no-untyped-def]
    """Return (opacity, light) of the clouds in a direction above the horizon."""
    reach = sky.cloud_scale / (dz + 0.08)
    x, y = dx * reach, dy * reach
    phase = sky.cloud_phase
    density = fractal_noise(x + phase, 1.3 * y, phase, 6)
    threshold = 0.32 - 0.62 * sky.cloud_cover
    opacity = step(threshold, threshold + 0.22, density) * step(0.0, 0.09, dz)
    if opacity <= 0:
        return 0.0, 0.0
    # thinner towards the sun means lit from there
    toward = fractal_noise(x + phase + 0.35 * sky.sun[0], 1.3 * (y + 0.35 * sky.sun[1]), phase, 4)
    return opacity, min(
        1.0, max(0.0, 0.62 + 1.5 * (density - toward) - 0.5 * (density - threshold))
    )


@kernel
def sky_light(sky, dx, dy, dz, with_sun):  # type: ignore[no-untyped-def]
    """Return the radiance (red, green, blue) that comes from a direction."""
    if dz < 0:
        fade = math.exp(12 * dz)
        return (
            sky.horizon[0] * fade + sky.ground[0] * (1 - fade),
            sky.horizon[1] * fade + sky.ground[1] * (1 - fade),
            sky.horizon[2] * fade + sky.ground[2] * (1 - fade),
        )
    up = math.pow(max(dz, 0.0), 0.55)
    to_sun = dx * sky.sun[0] + dy * sky.sun[1] + dz * sky.sun[2]
    halo = 0.0
    if to_sun > 0:
        halo = 0.55 * math.pow(to_sun, 8) * (1 - 0.6 * up) + 0.9 * math.pow(to_sun, 250)
    r = sky.horizon[0] * (1 - up) + sky.zenith[0] * up + halo * sky.glow[0]
    g = sky.horizon[1] * (1 - up) + sky.zenith[1] * up + halo * sky.glow[1]
    b = sky.horizon[2] * (1 - up) + sky.zenith[2] * up + halo * sky.glow[2]
    if with_sun:
        if sky.stars > 0:
            i, j, k = int(520 * dx + 999), int(520 * dy + 999), int(520 * dz + 999)
            chance = hash_unit(i, j, k)
            if chance > 0.9965:
                spark = sky.stars * (chance - 0.9965) / 0.0035 * step(0.02, 0.3, dz)
                r, g, b = r + spark, g + spark, b + 1.1 * spark
        edge = math.cos(sky.sun_radius)
        if to_sun > edge:
            disc = 14.0
            r, g, b = r + disc * sky.glow[0], g + disc * sky.glow[1], b + disc * sky.glow[2]
    if sky.cloud_cover > 0:
        opacity, light = _clouds(sky, dx, dy, dz)
        bright = light + 0.5 * halo
        r += opacity * (sky.cloud_shade[0] + bright * (sky.cloud_light[0] - sky.cloud_shade[0]) - r)
        g += opacity * (sky.cloud_shade[1] + bright * (sky.cloud_light[1] - sky.cloud_shade[1]) - g)
        b += opacity * (sky.cloud_shade[2] + bright * (sky.cloud_light[2] - sky.cloud_shade[2]) - b)
    return r, g, b


@kernel
def clearness(sky, z, dz, distance):  # type: ignore[no-untyped-def]
    """Return the share of light that passes `distance` through haze from height `z` along `dz`."""
    if sky.haze <= 0:
        return 1.0
    at_start = sky.haze * math.exp(-max(z, 0.0) / sky.haze_height)
    climb = distance * dz / sky.haze_height
    if abs(climb) > 1e-4:
        depth = at_start * distance * (1 - math.exp(-min(60.0, max(-3.0, climb)))) / climb
    else:
        depth = at_start * distance
    return math.exp(-depth)
