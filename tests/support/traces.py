"""Gaze whose saccades are known, made of minimum-jerk movements and white noise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


@dataclass
class Trace:
    times_us: npt.NDArray[np.int64]
    x_deg: Floats
    y_deg: Floats
    rate_hz: float
    saccades: npt.NDArray[np.int64]
    """Nominal first and last sample of each movement."""

    def index(self, time_ms: float) -> int:
        return round(time_ms * self.rate_hz / 1000)


def make_trace(
    *,
    rate_hz: float = 1000.0,
    seconds: float = 3.0,
    every_ms: float = 300.0,
    amplitudes_deg: tuple[float, ...] = (5.0,),
    noise_deg: float = 0.01,
    seed: int = 1,
) -> Trace:
    random = np.random.default_rng(seed)
    n = round(seconds * rate_hz)
    time_ms = np.arange(n) * 1000 / rate_hz
    x, y = np.zeros(n), np.zeros(n)
    saccades = []
    start_ms, k = 200.0, 0
    while start_ms + 150 < seconds * 1000:
        amplitude = amplitudes_deg[k % len(amplitudes_deg)] * (-1) ** (k // len(amplitudes_deg))
        angle = random.uniform(-0.5, 0.5)
        duration_ms = 2.2 * abs(amplitude) + 21
        s = np.clip((time_ms - start_ms) / duration_ms, 0, 1)
        progress = 10 * s**3 - 15 * s**4 + 6 * s**5
        x += amplitude * np.cos(angle) * progress
        y += amplitude * np.sin(angle) * progress
        saccades.append((start_ms * rate_hz / 1000, (start_ms + duration_ms) * rate_hz / 1000))
        start_ms += every_ms
        k += 1
    x += random.normal(0, noise_deg, n)
    y += random.normal(0, noise_deg, n)
    times_us = np.round(np.arange(n) * 1e6 / rate_hz).astype(np.int64)
    return Trace(times_us, x, y, rate_hz, np.round(saccades).astype(np.int64).reshape(-1, 2))
