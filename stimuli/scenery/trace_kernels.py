"""Path tracing: follow light backwards from the eye until it comes from the sky or a lamp.

J. Kajiya, "The rendering equation", SIGGRAPH 1986; direct light is sampled at every scattering
point. Each pixel and sample has random numbers of its own, so that an image does not depend on
the order or the number of threads in which its rows are drawn.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from scenery.bvh_kernels import Tree, first_hit
from scenery.compiled import kernel
from scenery.light_kernels import Lamps, Sky, clearness, sky_light
from scenery.materials import Kind, MaterialTable
from scenery.shading_kernels import bumped, look

Floats = npt.NDArray[np.float64]
MATTE, METAL, WATER = int(Kind.MATTE), int(Kind.METAL), int(Kind.WATER)
GLASS, LEAF, GLOW = int(Kind.GLASS), int(Kind.LEAF), int(Kind.GLOW)
_FAR = 1e30
_BRIGHTEST = 12.0


class World(NamedTuple):
    """Everything that rays can meet; `normals` is (triangles, 3 corners, 3) in tree order."""

    tree: Tree
    normals: Floats
    material: npt.NDArray[np.int64]
    materials: MaterialTable
    sky: Sky
    lamps: Lamps


class Eye(NamedTuple):
    """A camera: where it stands, its axes (3,), and its lens."""

    position: Floats
    right: Floats
    up: Floats
    forward: Floats
    half_height: float
    """Tangent of half the vertical angle of view."""
    lens_radius: float
    focus_distance: float


@kernel
def _random(state):  # type: ignore[no-untyped-def]
    """Return the next number in 0 … 1 and move `state` (1,) on (PCG-XSH-RR, O'Neill 2014)."""
    old = state[0]
    state[0] = old * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
    mixed = ((old >> np.uint64(18)) ^ old) >> np.uint64(27)
    shifted = mixed & np.uint64(0xFFFFFFFF)
    turn = old >> np.uint64(59)
    result = (shifted >> turn) | (shifted << ((np.uint64(32) - turn) & np.uint64(31)))
    return float(result & np.uint64(0xFFFFFFFF)) / 4294967296.0


@kernel
def _cross(ax, ay, az, bx, by, bz):  # type: ignore[no-untyped-def]
    return ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx


@kernel
def _frame(nx, ny, nz):  # type: ignore[no-untyped-def]
    """Return two directions at right angles to a normal (Duff et al. 2017)."""
    sign = 1.0 if nz >= 0 else -1.0
    a = -1.0 / (sign + nz)
    b = nx * ny * a
    return 1 + sign * nx * nx * a, sign * b, -sign * nx, b, sign + ny * ny * a, -ny


@kernel
def _scattered(nx, ny, nz, u, v):  # type: ignore[no-untyped-def]
    """Return a direction around a normal, as often as the cosine between them."""
    tx, ty, tz, bx, by, bz = _frame(nx, ny, nz)
    radius, angle = math.sqrt(u), 2 * math.pi * v
    a, b, c = radius * math.cos(angle), radius * math.sin(angle), math.sqrt(max(0.0, 1 - u))
    return a * tx + b * bx + c * nx, a * ty + b * by + c * ny, a * tz + b * bz + c * nz


@kernel
def _near_direction(x, y, z, spread, state):  # type: ignore[no-untyped-def]
    """Return a direction at most `spread` (a tangent) off the given one."""
    tx, ty, tz, bx, by, bz = _frame(x, y, z)
    radius, angle = spread * math.sqrt(_random(state)), 2 * math.pi * _random(state)
    a, b = radius * math.cos(angle), radius * math.sin(angle)
    x, y, z = x + a * tx + b * bx, y + a * ty + b * by, z + a * tz + b * bz
    length = math.sqrt(x * x + y * y + z * z)
    return x / length, y / length, z / length


@kernel
def _fresnel(cosine, at_normal):  # type: ignore[no-untyped-def]
    """Return the mirrored share of light (Schlick 1994)."""
    return at_normal + (1 - at_normal) * math.pow(1 - min(1.0, max(0.0, cosine)), 5)


@kernel
def _lit(world, scratch, x, y, z, dx, dy, dz, far):  # type: ignore[no-untyped-def]
    """Say whether light comes from a direction."""
    return first_hit(world.tree, scratch, x, y, z, dx, dy, dz, 1e-4, far, True)[1] < 0


@kernel
def _direct(world, scratch, x, y, z, nx, ny, nz, dx, dy, dz, gloss, both_sides, state):  # type: ignore[no-untyped-def]  # noqa: PLR0917
    """Return the light that a point gets from the sun and the lamps.

    Red, green, blue, and the sun's highlight as seen along (dx, dy, dz) on a coat whose
    sharpness is `gloss` (Blinn 1977).
    """
    r = g = b = highlight = 0.0
    sky, lamps = world.sky, world.lamps
    if sky.sun_light[0] > 0:
        lx, ly, lz = _near_direction(
            sky.sun[0], sky.sun[1], sky.sun[2], math.tan(sky.sun_radius), state
        )
        cosine = nx * lx + ny * ly + nz * lz
        if both_sides and cosine < 0:
            cosine *= -0.6
        if cosine > 0 and _lit(world, scratch, x, y, z, lx, ly, lz, _FAR):
            share = cosine
            if gloss > 0:
                hx, hy, hz = lx - dx, ly - dy, lz - dz
                half = (nx * hx + ny * hy + nz * hz) / math.sqrt(hx * hx + hy * hy + hz * hz)
                highlight = 0.04 * share * (gloss + 8) / 8 * math.pow(max(0.0, half), gloss)
            r, g, b = share * sky.sun_light[0], share * sky.sun_light[1], share * sky.sun_light[2]
    for k in range(len(lamps.corner)):
        u, v = _random(state), _random(state)
        lx = lamps.corner[k, 0] + u * lamps.edge_1[k, 0] + v * lamps.edge_2[k, 0] - x
        ly = lamps.corner[k, 1] + u * lamps.edge_1[k, 1] + v * lamps.edge_2[k, 1] - y
        lz = lamps.corner[k, 2] + u * lamps.edge_1[k, 2] + v * lamps.edge_2[k, 2] - z
        square = max(1e-6, lx * lx + ly * ly + lz * lz)
        distance = math.sqrt(square)
        lx, ly, lz = lx / distance, ly / distance, lz / distance
        e1, e2 = lamps.edge_1, lamps.edge_2
        ax, ay, az = _cross(e1[k, 0], e1[k, 1], e1[k, 2], e2[k, 0], e2[k, 1], e2[k, 2])
        facing = -(ax * lx + ay * ly + az * lz)
        cosine = nx * lx + ny * ly + nz * lz
        if both_sides and cosine < 0:
            cosine *= -0.6
        if (
            facing > 0
            and cosine > 0
            and _lit(world, scratch, x, y, z, lx, ly, lz, 0.999 * distance)
        ):
            share = cosine * facing / square / math.pi
            r += share * lamps.radiance[k, 0]
            g += share * lamps.radiance[k, 1]
            b += share * lamps.radiance[k, 2]
    return r, g, b, highlight


@kernel
def _normals(world, t, u, v, dx, dy, dz):  # type: ignore[no-untyped-def]
    """Return the smooth and the flat unit normal of a hit, both towards the ray's origin."""
    e = world.tree.shape
    gx, gy, gz = _cross(e[t, 3], e[t, 4], e[t, 5], e[t, 6], e[t, 7], e[t, 8])
    length = math.sqrt(gx * gx + gy * gy + gz * gz) + 1e-30
    gx, gy, gz = gx / length, gy / length, gz / length
    if gx * dx + gy * dy + gz * dz > 0:
        gx, gy, gz = -gx, -gy, -gz
    corner = world.normals
    w = 1 - u - v
    nx = w * corner[t, 0, 0] + u * corner[t, 1, 0] + v * corner[t, 2, 0]
    ny = w * corner[t, 0, 1] + u * corner[t, 1, 1] + v * corner[t, 2, 1]
    nz = w * corner[t, 0, 2] + u * corner[t, 1, 2] + v * corner[t, 2, 2]
    length = math.sqrt(nx * nx + ny * ny + nz * nz)
    if length < 0.1:
        return gx, gy, gz, gx, gy, gz
    nx, ny, nz = nx / length, ny / length, nz / length
    if nx * gx + ny * gy + nz * gz < 0:
        nx, ny, nz = -nx, -ny, -nz
    return nx, ny, nz, gx, gy, gz


@kernel
def _outward(dx, dy, dz, gx, gy, gz):  # type: ignore[no-untyped-def]
    """Return a mirrored direction, bent back where it would enter the surface."""
    inward = 0.02 - (dx * gx + dy * gy + dz * gz)
    if inward > 0.01:
        dx, dy, dz = dx + inward * gx, dy + inward * gy, dz + inward * gz
    length = math.sqrt(dx * dx + dy * dy + dz * dz)
    return dx / length, dy / length, dz / length


@kernel
def _glimpse(world, scratch, x, y, z, dx, dy, dz, roughness, gx, gy, gz, state):  # type: ignore[no-untyped-def]  # noqa: PLR0917
    """Return the light mirrored by a clear coat: one ray, direct light only, no sun's disc.

    Tracing it beside the scattered light, instead of choosing between the two, leaves far less
    noise.
    """
    dx, dy, dz = _near_direction(dx, dy, dz, roughness, state)
    dx, dy, dz = _outward(dx, dy, dz, gx, gy, gz)
    distance, t, u, v = first_hit(world.tree, scratch, x, y, z, dx, dy, dz, 1e-4, _FAR, False)
    if t < 0:
        return sky_light(world.sky, dx, dy, dz, False)
    x, y, z = x + dx * distance, y + dy * distance, z + dz * distance
    nx, ny, nz, gx, gy, gz = _normals(world, t, u, v, dx, dy, dz)
    m = world.material[t]
    cr, cg, cb, glow = look(world.materials, m, x, y, z, nx, ny, nz)
    if world.materials.kind[m] == GLOW or glow > 0:
        strength = min(3.0, world.materials.glow[m] * (glow if glow > 0 else 1.0))
        return cr * strength, cg * strength, cb * strength
    lr, lg, lb, _highlight = _direct(
        world,
        scratch,
        x + 1e-4 * gx,
        y + 1e-4 * gy,
        z + 1e-4 * gz,
        nx,
        ny,
        nz,
        dx,
        dy,
        dz,
        0.0,
        False,
        state,
    )
    sr, sg, sb = sky_light(world.sky, nx, ny, abs(nz), False)
    return cr * (lr + 0.4 * sr), cg * (lg + 0.4 * sg), cb * (lb + 0.4 * sb)


@kernel
def _follow(world, scratch, ox, oy, oz, dx, dy, dz, n_bounces, u0, v0, state, first):  # type: ignore[no-untyped-def]  # noqa: PLR0912, PLR0915, PLR0917
    """Return the light (red, green, blue) that comes along a ray.

    `first` (7,) receives the colour, normal and distance of the first surface that scatters.
    """
    r = g = b = 0.0
    tr = tg = tb = 1.0
    travelled = 0.0
    n_scattered = 0
    mirrored = True
    for _ in range(n_bounces + 6):
        distance, t, u, v = first_hit(
            world.tree, scratch, ox, oy, oz, dx, dy, dz, 1e-4, _FAR, False
        )
        if t < 0:
            sr, sg, sb = sky_light(world.sky, dx, dy, dz, mirrored)
            r, g, b = r + tr * sr, g + tg * sg, b + tb * sb
            if n_scattered == 0 and first[6] == 0:
                first[0] = first[1] = first[2] = 1.0
                first[6] = 1e6
            break
        if world.sky.haze > 0:
            clear = clearness(world.sky, oz, dz, distance)
            haze = world.sky.haze_colour
            r, g, b = (
                r + tr * (1 - clear) * haze[0],
                g + tg * (1 - clear) * haze[1],
                b + tb * (1 - clear) * haze[2],
            )
            tr, tg, tb = tr * clear, tg * clear, tb * clear
        travelled += distance
        x, y, z = ox + dx * distance, oy + dy * distance, oz + dz * distance
        nx, ny, nz, gx, gy, gz = _normals(world, t, u, v, dx, dy, dz)
        m = world.material[t]
        kind = world.materials.kind[m]
        cr, cg, cb, glow = look(world.materials, m, x, y, z, nx, ny, nz)
        nx, ny, nz = bumped(world.materials, m, x, y, z, nx, ny, nz, travelled)
        cosine = -(nx * dx + ny * dy + nz * dz)
        if cosine < 0.02:  # a tilted normal must not face away from the eye
            nx, ny, nz = (
                nx - (cosine - 0.02) * -dx,
                ny - (cosine - 0.02) * -dy,
                nz - (cosine - 0.02) * -dz,
            )
            length = math.sqrt(nx * nx + ny * ny + nz * nz)
            nx, ny, nz = nx / length, ny / length, nz / length
            cosine = 0.02
        if first[6] == 0:
            first[3], first[4], first[5], first[6] = nx, ny, nz, travelled
            first[0] = first[1] = first[2] = 1.0
        if kind == GLOW or glow > 0:
            strength = world.materials.glow[m] * (1.0 if kind == GLOW else glow)
            if mirrored or not (kind == GLOW and world.materials.shine[m] > 0):
                r, g, b = r + tr * cr * strength, g + tg * cg * strength, b + tb * cb * strength
            break
        lift = 1e-4 * (1 + 0.05 * travelled)
        mirror_share = 0.0
        if kind == METAL:
            mirror_share = 1.0
        elif kind == WATER:
            # both parts at once, since choosing between them would leave noise on a calm lake
            mirror_share = 1.0
            mirrored_part = _fresnel(cosine, 0.03)
            lr, lg, lb = sky_light(world.sky, 0.0, 0.0, 1.0, False)
            body = (1 - mirrored_part) * (0.6 + 0.4 * world.sky.sun[2])
            r += tr * body * cr * (lr + 0.3 * world.sky.sun_light[0])
            g += tg * body * cg * (lg + 0.3 * world.sky.sun_light[1])
            b += tb * body * cb * (lb + 0.3 * world.sky.sun_light[2])
            tr, tg, tb = tr * mirrored_part, tg * mirrored_part, tb * mirrored_part
        elif kind == GLASS:
            mirror_share = _fresnel(cosine, 0.04)
        elif world.materials.shine[m] > 0:
            coat = world.materials.shine[m] * _fresnel(cosine, 0.05)
            if n_scattered == 0:
                sr, sg, sb = _glimpse(
                    world,
                    scratch,
                    x + gx * lift,
                    y + gy * lift,
                    z + gz * lift,
                    dx + 2 * cosine * nx,
                    dy + 2 * cosine * ny,
                    dz + 2 * cosine * nz,
                    world.materials.roughness[m],
                    gx,
                    gy,
                    gz,
                    state,
                )
                r, g, b = r + tr * coat * sr, g + tg * coat * sg, b + tb * coat * sb
            tr, tg, tb = tr * (1 - coat), tg * (1 - coat), tb * (1 - coat)
        if mirror_share > 0 and _random(state) < mirror_share:
            dx, dy, dz = dx + 2 * cosine * nx, dy + 2 * cosine * ny, dz + 2 * cosine * nz
            if kind == METAL:
                dx, dy, dz = _near_direction(dx, dy, dz, world.materials.roughness[m], state)
            dx, dy, dz = _outward(dx, dy, dz, gx, gy, gz)
            if kind == METAL:
                tr, tg, tb = tr * cr, tg * cg, tb * cb
            ox, oy, oz = x + gx * lift, y + gy * lift, z + gz * lift
            continue
        if kind == GLASS:
            tr, tg, tb = tr * cr, tg * cg, tb * cb
            ox, oy, oz = x - gx * lift, y - gy * lift, z - gz * lift
            continue
        if n_scattered == 0 and mirrored:
            first[0], first[1], first[2] = cr, cg, cb
        ox, oy, oz = x + gx * lift, y + gy * lift, z + gz * lift
        shine = world.materials.shine[m]
        gloss = 2 / (world.materials.roughness[m] ** 2 + 1e-4) if shine > 0 else 0.0
        lr, lg, lb, highlight = _direct(
            world, scratch, ox, oy, oz, nx, ny, nz, dx, dy, dz, gloss, kind == LEAF, state
        )
        highlight *= shine
        r += tr * (cr * lr + highlight * world.sky.sun_light[0])
        g += tg * (cg * lg + highlight * world.sky.sun_light[1])
        b += tb * (cb * lb + highlight * world.sky.sun_light[2])
        tr, tg, tb = tr * cr, tg * cg, tb * cb
        n_scattered += 1
        mirrored = False
        if n_scattered > n_bounces:
            break
        if n_scattered == 1:
            su, sv = u0, v0
        else:
            su, sv = _random(state), _random(state)
            # what has become dark is given up now and then, the rest made up for it
            keep = min(1.0, 1.2 * max(tr, tg, tb))
            if _random(state) > keep:
                break
            tr, tg, tb = tr / keep, tg / keep, tb / keep
        if kind == LEAF and _random(state) < 0.35:
            nx, ny, nz = -nx, -ny, -nz
            ox, oy, oz = x - gx * lift, y - gy * lift, z - gz * lift
        dx, dy, dz = _scattered(nx, ny, nz, su, sv)
    return min(r, _BRIGHTEST), min(g, _BRIGHTEST), min(b, _BRIGHTEST)


@kernel
def trace_rows(world, eye, size, rows, n_samples, n_bounces, seed, light, surface):  # type: ignore[no-untyped-def]
    """Fill rows `rows` (first, last + 1) of `light` (rows, columns, 3) and `surface` (…, 7).

    `light` is the mean radiance; `surface` the mean colour, normal and distance of what is seen.
    """
    n_rows, n_columns = size
    state = np.zeros(1, np.uint64)
    scratch = (np.empty(96, np.int32), np.empty(96))
    first = np.zeros(7)
    side = int(math.sqrt(n_samples))
    for row in range(rows[0], rows[1]):
        for column in range(n_columns):
            pixel = row * n_columns + column
            state[0] = np.uint64((pixel + 1) * 747796405 + seed * 2891336453)
            for _ in range(3):
                _random(state)
            shift_u, shift_v = _random(state), _random(state)
            for sample in range(n_samples):
                first[:] = 0
                in_x, in_y = sample % side, (sample // side) % side
                px = column + (in_x + _random(state)) / side
                py = row + (in_y + _random(state)) / side
                right = (2 * px / n_columns - 1) * eye.half_height * n_columns / n_rows
                up = (1 - 2 * py / n_rows) * eye.half_height
                dx = eye.forward[0] + right * eye.right[0] + up * eye.up[0]
                dy = eye.forward[1] + right * eye.right[1] + up * eye.up[1]
                dz = eye.forward[2] + right * eye.right[2] + up * eye.up[2]
                ox, oy, oz = eye.position[0], eye.position[1], eye.position[2]
                if eye.lens_radius > 0:
                    radius = eye.lens_radius * math.sqrt(_random(state))
                    angle = 2 * math.pi * _random(state)
                    a, b = radius * math.cos(angle), radius * math.sin(angle)
                    mx = a * eye.right[0] + b * eye.up[0]
                    my = a * eye.right[1] + b * eye.up[1]
                    mz = a * eye.right[2] + b * eye.up[2]
                    ox, oy, oz = ox + mx, oy + my, oz + mz
                    f = eye.focus_distance
                    dx, dy, dz = dx * f - mx, dy * f - my, dz * f - mz
                length = math.sqrt(dx * dx + dy * dy + dz * dz)
                # the R2 sequence (Roberts 2018), shifted per pixel, spreads the first bounce evenly
                u0 = (shift_u + sample * 0.7548776662466927) % 1.0
                v0 = (shift_v + sample * 0.5698402909980532) % 1.0
                r, g, b = _follow(
                    world,
                    scratch,
                    ox,
                    oy,
                    oz,
                    dx / length,
                    dy / length,
                    dz / length,
                    n_bounces,
                    u0,
                    v0,
                    state,
                    first,
                )
                light[row, column, 0] += r / n_samples
                light[row, column, 1] += g / n_samples
                light[row, column, 2] += b / n_samples
                for k in range(7):
                    surface[row, column, k] += first[k] / n_samples
