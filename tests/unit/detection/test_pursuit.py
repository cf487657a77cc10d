"""Pursuit between saccades, and oscillation after them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from gazelive.detection import DetectorParameters, detect_settled
from gazelive.detection.online.noise import whiteness
from gazelive.detection.settled.pursuit import find_pursuit
from gazelive.detection.settled.pursuit_kernels import fit_lines

Make = Callable[..., Any]


@pytest.mark.parametrize("rate_hz", [250.0, 500.0, 1000.0])
def test_pursuit_is_taken_out_of_fixations(make_trace: Make, rate_hz: float) -> None:
    trace = make_trace(rate_hz=rate_hz, seconds=3.0, every_ms=1200.0)
    x = trace.x_deg.copy()
    first, last = trace.index(500), trace.index(1100)
    x[first:last] += 6.0 * (np.arange(last - first) / rate_hz)
    x[last:] += 6.0 * (last - first) / rate_hz
    found = detect_settled(trace.times_us, x, trace.y_deg, rate_hz)
    (pursuit,) = found.pursuits
    assert pursuit.onset_us == pytest.approx(500_000, abs=60_000)
    assert pursuit.offset_us == pytest.approx(1_100_000, abs=60_000)
    assert pursuit.end_x_deg - pursuit.start_x_deg == pytest.approx(3.6, abs=0.5)
    inside = (pursuit.onset_us, pursuit.offset_us)
    assert not any(f.onset_us < inside[1] and f.offset_us > inside[0] for f in found.fixations)
    assert len(found.rests) == len(found.saccades) + 1, "rests are not split"


@pytest.mark.parametrize("noise_deg", [0.0, 0.01, 0.05])
def test_a_still_eye_pursues_nothing(make_trace: Make, noise_deg: float) -> None:
    trace = make_trace(noise_deg=noise_deg, rate_hz=500.0, seconds=4.0)
    found = detect_settled(trace.times_us, trace.x_deg, trace.y_deg, 500.0)
    assert not found.pursuits
    assert found.fixations == found.rests


@given(st.integers(0, 40), st.integers(1, 60))
def test_pursuit_survives_losses(start: int, length: int) -> None:
    x = np.arange(200) * 0.02  # 10 °/s at 500 Hz
    x[60 + start : 60 + start + length] = np.nan
    y = np.where(np.isnan(x), np.nan, 0.0)
    runs = find_pursuit(x, y, np.array([[0, 199]]), 500.0, DetectorParameters())
    assert runs.tolist() == [[0, 199]]


def test_the_oscillation_is_inside_at_low_rates_only(make_trace: Make) -> None:
    for rate_hz in (250.0, 1000.0):
        trace = make_trace(rate_hz=rate_hz, seconds=2.0, every_ms=3000.0, amplitudes_deg=(8.0,))
        (_, last) = trace.saccades[0]
        after_s = np.arange(len(trace.x_deg) - last) / rate_hz
        x = trace.x_deg.copy()
        x[last:] += 0.8 * np.sin(2 * np.pi * 22 * after_s) * np.exp(-after_s / 0.025)
        (saccade,) = detect_settled(trace.times_us, x, trace.y_deg, rate_hz).saccades
        end_us = trace.times_us[last]
        assert saccade.arrival_us == pytest.approx(end_us, abs=16_000)
        if rate_hz == 250.0:
            assert saccade.oscillation_ms >= 12
        else:
            assert saccade.oscillation_ms == 0


def test_white_noise_lowers_the_threshold_by_itself(make_trace: Make) -> None:
    trace = make_trace(rate_hz=500.0, noise_deg=0.07, amplitudes_deg=(1.2,), seconds=8.0)
    arguments = trace.times_us, trace.x_deg, trace.y_deg, 500.0
    found = detect_settled(*arguments)
    plain = detect_settled(*arguments, DetectorParameters(white_noise_above_deg_s=0.0))
    assert found.parameters != plain.parameters
    assert len(found.saccades) > len(plain.saccades)
    assert len(found.saccades) == pytest.approx(len(trace.saccades), abs=2)


def test_whiteness() -> None:
    random = np.random.default_rng(2)
    white = random.normal(size=4000)
    assert whiteness(white) == pytest.approx(1.0, abs=0.15)
    assert whiteness(np.cumsum(white)) == pytest.approx(0.0, abs=0.1)
    assert whiteness(np.sin(np.arange(4000) / 50)) < -1.5
    assert whiteness(np.full(100, np.nan)) == 0.0
    assert whiteness(np.zeros(100)) == 0.0


@given(st.integers(1, 40), st.integers(2, 15), st.integers(0, 2**32 - 1))
def test_lines_are_least_squares_fits(n: int, half: int, seed: int) -> None:
    n = max(n, 3)
    x, y = np.cumsum(np.random.default_rng(seed).normal(size=(2, n)), axis=1)
    slopes, shares = np.empty(n), np.empty(n)
    fit_lines(x, y, half, slopes, shares)
    for i in range(n):
        start = min(max(i - half, 0), max(0, n - 2 * half - 1))
        stop = min(start + 2 * half + 1, n)
        t, parts = np.arange(stop - start), (x[start:stop], y[start:stop])
        fits = [np.polynomial.polynomial.polyfit(t, part, 1) for part in parts]
        total = sum(((part - part.mean()) ** 2).sum() for part in parts)
        rest = sum(
            ((part - fit[0] - fit[1] * t) ** 2).sum() for part, fit in zip(parts, fits, strict=True)
        )
        assert slopes[i] == pytest.approx(np.hypot(fits[0][1], fits[1][1]), abs=1e-8)
        assert shares[i] == pytest.approx(1 - rest / total, abs=1e-8)
