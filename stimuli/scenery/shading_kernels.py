"""The look of a surface at a point: its textured colour, its glow, its roughened normal."""

from __future__ import annotations

import math

from scenery.compiled import kernel
from scenery.materials import Kind, Texture
from scenery.noise_kernels import fractal_noise, hash_unit, value_noise

MOTTLED, WOOD, BRICK = int(Texture.MOTTLED), int(Texture.WOOD), int(Texture.BRICK)
CHECKED, STRIPED, TERRAIN = int(Texture.CHECKED), int(Texture.STRIPED), int(Texture.TERRAIN)
LIT_WINDOWS, PEEL, PLANKS = int(Texture.LIT_WINDOWS), int(Texture.PEEL), int(Texture.PLANKS)
COBBLES, PLAID, SHINGLES = int(Texture.COBBLES), int(Texture.PLAID), int(Texture.SHINGLES)
ROAD, MARBLED, SHORE = int(Texture.ROAD), int(Texture.MARBLED), int(Texture.SHORE)
WATER = int(Kind.WATER)


@kernel
def step(low, high, x):  # type: ignore[no-untyped-def]
    """Return 0 below `low`, 1 above `high`, smooth between."""
    t = min(1.0, max(0.0, (x - low) / (high - low)))
    return t * t * (3 - 2 * t)


@kernel
def _plane(x, y, z, nx, ny, nz):  # type: ignore[no-untyped-def]
    """Return two coordinates on the plane that the normal faces most."""
    if abs(nz) > 0.7:
        return x, y
    if abs(nx) > abs(ny):
        return y, z
    return x, z


@kernel
def _courses(u, v, width, height, joint):  # type: ignore[no-untyped-def]
    """Return (share of joint, tone of the brick) in a bond of shifted rows."""
    row = math.floor(v / height)
    shifted = u / width + 0.5 * (row % 2)
    column = math.floor(shifted)
    fu, fv = shifted - column, v / height - row
    gap_u, gap_v = joint / width, joint / height
    edge = min(
        step(0.0, gap_u, fu) * step(0.0, gap_u, 1 - fu),
        step(0.0, gap_v, fv) * step(0.0, gap_v, 1 - fv),
    )
    return 1 - edge, hash_unit(int(column), int(row), 7)


@kernel
def _cells(u, v):  # type: ignore[no-untyped-def]
    """Return (distance to the nearest cell border, tone of the cell) of rounded stones."""
    iu, iv = math.floor(u), math.floor(v)
    nearest, second, tone = 9.0, 9.0, 0.0
    for du in range(-1, 2):
        for dv in range(-1, 2):
            ci, cj = int(iu) + du, int(iv) + dv
            px = ci + 0.15 + 0.7 * hash_unit(ci, cj, 1)
            py = cj + 0.15 + 0.7 * hash_unit(ci, cj, 2)
            distance = math.hypot(u - px, v - py)
            if distance < nearest:
                second, nearest, tone = nearest, distance, hash_unit(ci, cj, 3)
            elif distance < second:
                second = distance
    return second - nearest, tone


@kernel
def blend(texture, detail, x, y, z, nx, ny, nz):  # type: ignore[no-untyped-def]  # noqa: PLR0912, PLR0915
    """Return (share of the second colour, brightness, glow) of a texture.

    Positions are in units of the pattern's scale, except those that `detail` refers to.
    """
    share, tone, glow = 0.0, 1.0, 0.0
    if texture == MOTTLED:
        share = min(1.0, max(0.0, 0.5 + 1.1 * fractal_noise(x, y, z, 6)))
    elif texture == WOOD:
        rings = 2.5 * math.hypot(y, z + 0.15) + 0.5 * fractal_noise(0.35 * x, 2 * y, 2 * z, 4)
        share = 0.55 * (rings - math.floor(rings)) + 0.35 * abs(
            fractal_noise(1.2 * x, 14 * y, 14 * z, 3)
        )
    elif texture == BRICK:
        u, v = _plane(x, y, z, nx, ny, nz)
        share, tone = _courses(u, v, 1.0, 0.32, 0.05)
        tone = 0.72 + 0.5 * tone + 0.25 * fractal_noise(6 * x, 6 * y, 6 * z, 4)
    elif texture == CHECKED:
        u, v = _plane(x, y, z, nx, ny, nz)
        iu, iv = math.floor(u), math.floor(v)
        share = (iu + iv) % 2
        fu, fv = u - iu, v - iv
        line = min(fu, 1 - fu, fv, 1 - fv)
        tone = (0.55 + 0.45 * step(0.0, 0.025, line)) * (
            0.94 + 0.12 * hash_unit(int(iu), int(iv), 5) + 0.1 * fractal_noise(3 * u, 3 * v, 0.5, 4)
        )
    elif texture == STRIPED:
        u, v = _plane(x, y, z, nx, ny, nz)
        share = step(0.45, 0.55, abs(2 * (u - math.floor(u)) - 1))
    elif texture == TERRAIN:
        rough = fractal_noise(x, y, z, 6)
        share = 1 - step(0.62, 0.82, nz + 0.22 * rough)
        tone = 0.95 + 0.5 * rough
    elif texture == LIT_WINDOWS:
        u, v = _plane(x, y, z, nx, ny, nz)
        iu, iv = math.floor(u), math.floor(v)
        fu, fv = u - iu, v - iv
        if abs(nz) < 0.5 and 0.22 < fu < 0.78 and 0.25 < fv < 0.82:
            face = int(3 * abs(nx) + 7 * abs(ny))
            chance = hash_unit(iu, iv, 11 + face)
            tone = 0.3
            if chance < detail:
                share, tone = 1.0, 1.0
                glow = 0.35 + 0.65 * hash_unit(iv, iu, 23) + 0.2 * value_noise(4 * u, 4 * v, 0.0)
    elif texture == PEEL:
        streaks = fractal_noise(9 * math.atan2(y, x), 0.0, 1.2 * z, 4)
        share = min(1.0, max(0.0, 0.45 + 0.45 * nx * detail + 0.4 * nz + 0.7 * streaks))
        if value_noise(26 * x, 26 * y, 26 * z) > 0.72:
            tone = 1.3
    elif texture == PLANKS:
        u, v = _plane(x, y, z, nx, ny, nz)
        row = math.floor(v)
        shifted = u / 6 + hash_unit(int(row), 3, 3)
        column = math.floor(shifted)
        grain = fractal_noise(0.8 * u, 12 * v, float(row), 4)
        gap = min(v - row, 1 - (v - row)) < 0.02 or shifted - column < 0.004
        share = min(1.0, max(0.0, 0.5 + 0.5 * grain))
        tone = 0.35 if gap else 0.8 + 0.4 * hash_unit(int(column), int(row), 9)
    elif texture == COBBLES:
        u, v = _plane(x, y, z, nx, ny, nz)
        border, stone = _cells(u, v)
        share = 1 - step(0.03, 0.16, border)
        tone = 0.7 + 0.5 * stone + 0.3 * fractal_noise(5 * u, 5 * v, 0.0, 4)
    elif texture == PLAID:
        u, v = _plane(x, y, z, nx, ny, nz)
        across = abs(2 * (u - math.floor(u)) - 1) > 0.5
        down = abs(2 * (v - math.floor(v)) - 1) > 0.5
        share = 0.5 * across + 0.5 * down
        tone = 0.95 + 0.05 * math.sin(90 * u) * math.sin(90 * v)
    elif texture == SHINGLES:
        u = x if abs(ny) > abs(nx) else y
        joint, stone = _courses(u, 1.3 * z, 0.6, 0.4, 0.05)
        row = 1.3 * z / 0.4 - math.floor(1.3 * z / 0.4)
        share = 0.6 * stone
        tone = (1 - 0.6 * joint) * (0.7 + 0.4 * (1 - row)) + 0.2 * fractal_noise(4 * u, z, 0.0, 4)
    elif texture == MARBLED:
        vein = math.sin(3 * x + 2 * y + 6 * fractal_noise(x, y, z, 6))
        share = math.pow(abs(vein), 0.35)
        share = 1 - share
    return share, tone, glow


@kernel
def look(materials, m, x, y, z, nx, ny, nz):  # type: ignore[no-untyped-def]
    """Return (red, green, blue, glow) of material `m` at a point, colours in linear light."""
    scale = materials.scale[m]
    texture, detail = materials.texture[m], materials.detail[m]
    px, py, pz = x / scale, y / scale, z / scale
    if texture == ROAD:
        rough = 0.9 + 0.35 * fractal_noise(8 * px, 8 * py, 0.0, 5)
        along = py / 6 - math.floor(py / 6)
        line = abs(x - detail) < 0.08 and along < 0.5
        share, tone, glow = (1.0 if line else 0.0), rough, 0.0
    elif texture == SHORE:
        share = 1 - step(detail, detail + scale, z + 0.15 * scale * fractal_noise(x, y, 0.0, 4))
        tone, glow = 0.95 + 0.25 * fractal_noise(1.7 * x, 1.7 * y, z, 6), 0.0
    else:
        share, tone, glow = blend(texture, detail, px, py, pz, nx, ny, nz)
    r = tone * (materials.colour[m, 0] * (1 - share) + materials.second[m, 0] * share)
    g = tone * (materials.colour[m, 1] * (1 - share) + materials.second[m, 1] * share)
    b = tone * (materials.colour[m, 2] * (1 - share) + materials.second[m, 2] * share)
    if texture == TERRAIN and detail < 1e8:
        height = z + 0.25 * scale * fractal_noise(0.6 * px, 0.6 * py, 0.0, 5)
        snow = step(detail - 0.06 * scale, detail + 0.06 * scale, height) * step(0.5, 0.68, nz)
        r, g, b = r + snow * (0.86 - r), g + snow * (0.9 - g), b + snow * (0.96 - b)
    return min(r, 0.95), min(g, 0.95), min(b, 0.95), glow


@kernel
def _relief(m_kind, x, y, z):  # type: ignore[no-untyped-def]
    """Return the height that tilts a normal: long-crested waves on water, grain elsewhere."""
    if m_kind == WATER:
        swell = fractal_noise(0.55 * x + 0.3 * y, 1.5 * y, 0.0, 3)
        return swell + 0.35 * fractal_noise(2.7 * x, 4.1 * y, 3.0, 3)
    return fractal_noise(x, y, z, 4)


@kernel
def bumped(materials, m, x, y, z, nx, ny, nz, distance):  # type: ignore[no-untyped-def]
    """Return the normal tilted by the material's relief; far away it smooths out."""
    strength = materials.bump[m]
    if strength == 0.0:
        return nx, ny, nz
    kind, scale = materials.kind[m], materials.scale[m]
    strength /= 1 + distance * 0.012 / scale
    px, py, pz = x / scale, y / scale, z / scale
    d = 0.04
    here = _relief(kind, px, py, pz)
    gx = (_relief(kind, px + d, py, pz) - here) / d
    gy = (_relief(kind, px, py + d, pz) - here) / d
    gz = (_relief(kind, px, py, pz + d) - here) / d
    inward = gx * nx + gy * ny + gz * nz
    tx = nx - strength * (gx - inward * nx)
    ty = ny - strength * (gy - inward * ny)
    tz = nz - strength * (gz - inward * nz)
    length = math.sqrt(tx * tx + ty * ty + tz * tz)
    return tx / length, ty / length, tz / length
