"""Fit how velocity, profile and oscillation depend on amplitude, the same for everybody.

    python docs/scripts/fit_saccade_shape.py PATH/TO/DATA

One simulated person makes saccades of many sizes; the medians per bin of amplitude are brought as
close as possible to those of BioEye 2015 RAN (250 Hz) and of the lab recordings (500–1000 Hz) at
once, with a velocity, an amplitude constant and an oscillation of their own for the labs. Prints
the numbers that stand in `OculomotorTraits` and at the start of `calibrate_population.py`.
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path

import numpy as np
from gaze_statistics import Measurements, measure
from population_statistics import DIRECTIONS
from real_recordings import (
    BIOEYE_RATE_HZ,
    asc_recordings,
    bioeye_recordings,
    lund_recordings,
    zemblys_recordings,
)
from replayed_gaze import as_bioeye
from scipy.optimize import minimize

from gazelive.gaze.arrays import Floats
from gazelive.simulation.eye.eye import Oculomotor
from gazelive.simulation.eye.traits import OculomotorTraits
from gazelive.simulation.truth import SimulatedTrace

BINS_DEG = (0.3, 0.5, 0.8, 1.5, 2.5, 4.0, 6.0, 9.0, 13.0, 18.0, 25.0)
TOLERANCES = {
    "peak_velocity_deg_s": 0.05,
    "duration_s": 0.05,
    "centroid": 0.015,
    "rebound": 0.03,
    "rebound_delay_s": 0.1,
    "second_swing": 0.03,
}
ON_LOG_SCALE = ("peak_velocity_deg_s", "duration_s", "rebound_delay_s")
SACCADES_PER_BIN = 24
LAB_WEIGHT = 0.7

START = {
    # name: start, first step of the search
    "log_limit": (math.log(600.0), 0.06),
    "log_constant": (math.log(7.0), 0.1),
    "sharpness": (2.9, 0.3),
    "sharpness_change": (-0.4, 0.1),
    "peak": (0.41, 0.03),
    "peak_change": (-0.04, 0.03),
    "log_frequency": (math.log(30.0), 0.2),
    "log_damping": (math.log(0.3), 0.3),
    "log_gain": (math.log(0.5), 0.3),
    "lab_log_vigor": (0.03, 0.06),
    "lab_log_constant": (-0.1, 0.1),
    "lab_log_gain": (0.5, 0.3),
    "lab_log_frequency": (0.1, 0.1),
}


def medians(measured: list[Measurements]) -> Floats:
    """Return the median of each quantity per bin of amplitude, logs where the scale is one."""
    pooled = {
        name: np.concatenate([one.saccades[name] for one in measured])
        for name in ("amplitude_deg", *TOLERANCES)
    }
    bins = np.digitize(pooled["amplitude_deg"], BINS_DEG)
    rows = np.full((len(BINS_DEG) - 1, len(TOLERANCES)), np.nan)
    for number in range(1, len(BINS_DEG)):
        inside = bins == number
        if inside.sum() < 8:
            continue
        for column, name in enumerate(TOLERANCES):
            value = float(np.median(pooled[name][inside]))
            if name == "peak_velocity_deg_s":
                # amplitudes within a bin differ from corpus to corpus
                value /= float(np.median(pooled["amplitude_deg"][inside])) ** 0.75
            if name in ON_LOG_SCALE:
                value = math.log(max(value, 1e-3))
            rows[number - 1, column] = value
    return rows


def saccades_of_all_sizes(traits: OculomotorTraits) -> SimulatedTrace:
    """Return a minute or so of saccades in all directions, as many in each bin of amplitude."""
    directions = np.random.default_rng(0)
    eye = Oculomotor(
        traits,
        sampling_rate_hz=1000.0,
        eyes="L",
        rng=np.random.default_rng(100),
        x_deg=0.0,
        y_deg=0.0,
    )
    centres = np.sqrt(np.array(BINS_DEG[1:]) * np.array(BINS_DEG[:-1]))
    for amplitude_deg in np.tile(centres, SACCADES_PER_BIN):
        x_deg, y_deg = eye.position_deg
        angle = directions.random() * 2 * math.pi
        if math.hypot(x_deg, y_deg) > 8:
            angle = math.atan2(-y_deg, -x_deg) + 0.6 * directions.standard_normal()
        eye.fixate(260)
        eye.saccade_to(
            x_deg + amplitude_deg * math.cos(angle), y_deg + amplitude_deg * math.sin(angle)
        )
    eye.fixate(400)
    return eye.take()


def traits_of(values: dict[str, float], *, lab: bool) -> OculomotorTraits:
    """Return a person without blinks, microsaccades and differences between directions."""
    shift = values if lab else dict.fromkeys(values, 0.0)
    gain = math.exp(values["log_gain"] + shift["lab_log_gain"])
    noise_deg = 0.02 if lab else 0.015
    return OculomotorTraits(
        peak_velocity_limit_deg_s=math.exp(values["log_limit"] + shift["lab_log_vigor"]),
        amplitude_constant_deg=math.exp(values["log_constant"] + shift["lab_log_constant"]),
        profile_sharpness=values["sharpness"],
        profile_sharpness_change=values["sharpness_change"],
        peak_fraction_change=values["peak_change"],
        oscillation_frequency_hz=math.exp(values["log_frequency"] + shift["lab_log_frequency"]),
        oscillation_damping=math.exp(values["log_damping"]),
        oscillation_gain_x=gain,
        oscillation_gain_y=gain,
        noise_x_deg=noise_deg,
        noise_y_deg=noise_deg,
        noise_correlation_s=0.0 if lab else 0.0012,
        vigor_slope=0.0,
        microsaccade_rate_hz=0.0,
        blink_rate_per_min=0.0,
        dropout_rate_per_min=0.0,
        undershoot_probability=0.0,
        landing_scatter=0.0,
        **{f"peak_fraction_{name}": values["peak"] for name in DIRECTIONS},
        **{f"vigor_{name}": 1.0 for name in DIRECTIONS},
    )


def misfit(values: dict[str, float], bioeye: Floats, labs: Floats) -> float:
    """Return how far one simulated person is from both corpora, in robust tolerances."""
    slow = as_bioeye(saccades_of_all_sizes(traits_of(values, lab=False)))
    fast = saccades_of_all_sizes(traits_of(values, lab=True)).gaze_deg[:, 0]
    off = [
        medians([measure(slow, BIOEYE_RATE_HZ, 0.008)]) - bioeye,
        LAB_WEIGHT * (medians([measure(fast, 1000.0, 0.004)]) - labs),
    ]
    scaled = np.concatenate(off) / np.array(list(TOLERANCES.values()))
    scaled = np.clip(scaled[np.isfinite(scaled)], -8, 8)
    return float((2 * (np.sqrt(1 + scaled**2 / 2) - 1)).sum())


def main() -> None:
    """Fit and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="folder with identity, labelled, asc and edf")
    parser.add_argument("--evaluations", type=int, default=600)
    arguments = parser.parse_args()
    data = arguments.data
    dots = bioeye_recordings(data / "identity" / "bioeye2015_RAN.npz")
    bioeye = medians([measure(gaze, BIOEYE_RATE_HZ, 0.008) for gaze in dots.values()])
    others = [
        *zemblys_recordings(data / "labelled"),
        *lund_recordings(data / "labelled"),
        *asc_recordings(data),
    ]
    labs = medians([measure(one.gaze_deg, one.rate_hz, 0.004) for one in others])
    names = list(START)
    start = np.array([START[name][0] for name in names])
    steps = np.diag([START[name][1] for name in names])

    def cost(values: Floats) -> float:
        return misfit(dict(zip(names, values.tolist(), strict=True)), bioeye, labs)

    print(f"misfit at the start {cost(start):.1f}")
    result = minimize(
        cost,
        start,
        method="Nelder-Mead",
        options={
            "initial_simplex": np.vstack((start, start + steps)),
            "maxfev": arguments.evaluations,
            "adaptive": True,
        },
    )
    print(f"misfit at the end {result.fun:.1f}")
    for name, value in zip(names, result.x, strict=True):
        natural = f" = log {math.exp(value):.4g}" if "log" in name else ""
        print(f"  {name:20s} {value:+.4f}{natural}")


if __name__ == "__main__":
    main()
