"""Noise in three dimensions with the falling spectrum of natural surfaces."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from scenery.compiled import kernel

_MASK = 0xFFFFFFFF


@kernel
def hash_unit(i: int, j: int, k: int) -> float:
    """Return a number in 0 … 1 that depends on three integers in no visible way."""
    h = (i * 0x9E3779B1 + j * 0x85EBCA77 + k * 0xC2B2AE3D) & _MASK
    h ^= h >> 15
    h = (h * 0x2C1B3C6D) & _MASK
    h ^= h >> 12
    h = (h * 0x297A2D39) & _MASK
    h ^= h >> 15
    return h / 4294967296.0


@kernel
def value_noise(x: float, y: float, z: float) -> float:
    """Return smooth noise in -1 … 1 with one random value per unit cube's corner."""
    fx, fy, fz = math.floor(x), math.floor(y), math.floor(z)
    i, j, k = int(fx), int(fy), int(fz)
    u, v, w = x - fx, y - fy, z - fz
    u = u * u * u * (u * (u * 6 - 15) + 10)
    v = v * v * v * (v * (v * 6 - 15) + 10)
    w = w * w * w * (w * (w * 6 - 15) + 10)
    total = 0.0
    for di in range(2):
        wx = u if di else 1 - u
        for dj in range(2):
            wy = v if dj else 1 - v
            for dk in range(2):
                wz = w if dk else 1 - w
                total += wx * wy * wz * hash_unit(i + di, j + dj, k + dk)
    return 2 * total - 1


@kernel
def fractal_noise(x: float, y: float, z: float, octaves: int) -> float:
    """Return octaves of noise, each of half the size and half the strength: a 1/f spectrum."""
    total, strength = 0.0, 0.5
    for octave in range(octaves):
        shift = 17.3 * octave
        total += strength * value_noise(x + shift, y - shift, z + 0.7 * shift)
        x, y, z = 2.03 * x, 2.01 * y, 2.02 * z
        strength *= 0.5
    return total


@kernel
def ridged_noise(x: float, y: float, z: float, octaves: int) -> float:
    """Return fractal noise in 0 … 1 that is sharp at its crests, like mountains."""
    total, strength, weight = 0.0, 0.55, 1.0
    for octave in range(octaves):
        shift = 11.9 * octave
        crest = 1 - abs(value_noise(x + shift, y + 2 * shift, z - shift))
        crest *= crest * weight
        weight = min(1.0, max(0.0, 1.8 * crest))
        total += strength * crest
        x, y, z = 2.07 * x, 2.03 * y, 2.05 * z
        strength *= 0.5
    return total


@kernel
def _field(points, octaves, ridged, values):  # type: ignore[no-untyped-def]
    for n in range(len(points)):
        x, y, z = points[n, 0], points[n, 1], points[n, 2]
        values[n] = ridged_noise(x, y, z, octaves) if ridged else fractal_noise(x, y, z, octaves)


def noise_at(
    x: npt.ArrayLike,
    y: npt.ArrayLike,
    z: npt.ArrayLike = 0.0,
    *,
    octaves: int = 5,
    ridged: bool = False,
) -> npt.NDArray[np.float64]:
    """Return fractal or ridged noise at many points, in the shape of the arrays."""
    xyz = np.broadcast_arrays(
        np.asarray(x, np.float64), np.asarray(y, np.float64), np.asarray(z, np.float64)
    )
    points = np.stack([axis.ravel() for axis in xyz], axis=1)
    values = np.empty(len(points))
    _field(points, octaves, ridged, values)
    return values.reshape(xyz[0].shape)
