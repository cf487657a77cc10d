"""How fast the detectors are, beside the peers' in the same run.

    python tests/benchmarks/bench_detection.py [--json OUT] [--seconds N]

Gaze is made up: minimum-jerk saccades of 1 to 15°, three a second, with white noise. Times are
the best of many short runs, in nanoseconds per sample of 1000 Hz gaze.
"""

from __future__ import annotations

import argparse
import json
import logging
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pymovements as pm
import remodnav

from gazelive.detection import (
    DetectorParameters,
    EngbertKlieglParameters,
    OnlineDetector,
    detect_engbert_kliegl,
    detect_settled,
)
from gazelive.detection.engbert_kliegl import find_saccades

RATE_HZ = 1000.0
TARGET_CHUNK_NS, TARGET_SINGLE_NS = 300.0, 3000.0
TARGET_PYMOVEMENTS, TARGET_REMODNAV = 20.0, 100.0


def made_up_gaze(seconds: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return times in µs, x and y in degrees."""
    random = np.random.default_rng(1)
    n = int(seconds * RATE_HZ)
    position = np.zeros((2, n))
    for start in range(200, n - 200, 333):
        amplitude, angle = random.uniform(1, 15), random.uniform(0, 2 * np.pi)
        duration = int(2.2 * amplitude + 21)
        s = np.arange(1, duration + 1) / duration
        progress = np.ones(n - start)
        progress[:duration] = 10 * s**3 - 15 * s**4 + 6 * s**5
        back = position[:, start : start + 1] / 20  # gaze stays on the screen
        target = amplitude * np.array([[np.cos(angle)], [np.sin(angle)]]) - back * amplitude
        position[:, start:] += target * progress
    x, y = position + random.normal(0, 0.01, (2, n))
    return np.arange(n, dtype=np.int64) * 1000, x, y


def best_ns(run: Callable[[], Any], n_samples: int, repeats: int) -> float:
    """Return the fastest run's nanoseconds per sample."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter_ns()
        run()
        times.append(time.perf_counter_ns() - start)
    return min(times) / n_samples


def online_ns(gaze: tuple[np.ndarray, ...], chunk: int, memory_s: float = 8.0) -> float:
    """Return the cost of pushing `chunk` samples at a time: the best of all seconds of gaze.

    Each second has three saccades in it, and is short enough to be left alone by other
    processes now and then.
    """
    detector = OnlineDetector(DetectorParameters(noise_memory_s=memory_s), RATE_HZ)
    second = int(RATE_HZ)
    times = []
    for begin in range(0, len(gaze[0]) - second + 1, second):
        chunks = [
            tuple(column[i : i + chunk] for column in gaze)
            for i in range(begin, begin + second, chunk)
        ]
        start = time.perf_counter_ns()
        for times_us, x, y in chunks:
            detector.push(times_us, x, y)
        times.append(time.perf_counter_ns() - start)
    return min(times) / second


def pymovements_ns(gaze: tuple[np.ndarray, ...], repeats: int) -> float:
    """Return the cost of the peer's `pos2vel` and its `microsaccades`, its tables made before."""
    times_us, x, y = gaze
    samples = pl.DataFrame({"time": times_us // 1000, "x": x, "y": y})
    experiment = pm.Experiment(1920, 1080, 53.5, 30.1, 60, "center", RATE_HZ)
    times = []
    for _ in range(repeats):
        peer = pm.Gaze(
            samples,
            experiment,
            time_column="time",
            time_unit="ms",
            position_columns=["x", "y"],
        )
        start = time.perf_counter_ns()
        peer.pos2vel("fivepoint")
        peer.detect("microsaccades", threshold_factor=6, minimum_duration=6)
        times.append(time.perf_counter_ns() - start)
    return min(times) / len(x)


def remodnav_ns(gaze: tuple[np.ndarray, ...], repeats: int) -> float:
    """Return the cost of the peer's preprocessing and classification."""
    _, x, y = gaze
    data = np.zeros(len(x), [("x", "f8"), ("y", "f8")])
    data["x"], data["y"] = x, y
    classifier = remodnav.EyegazeClassifier(px2deg=1.0, sampling_rate=RATE_HZ)
    return best_ns(lambda: classifier(classifier.preproc(data.copy())), len(x), repeats)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, default=Path("bench-results/detection_speed.json"))
    parser.add_argument("--seconds", type=float, default=60.0)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    logging.disable()
    gaze = made_up_gaze(options.seconds)
    n = len(gaze[0])
    ek = EngbertKlieglParameters()
    detect_engbert_kliegl(*gaze, RATE_HZ, ek)  # compiled
    detect_settled(*gaze, RATE_HZ)

    ns = {
        "online, 1 sample per call": online_ns(gaze, 1),
        "online, 10 samples per call": online_ns(gaze, 10),
        "online, 1000 samples per call": online_ns(gaze, 1000),
        "online, 1000 per call, memory 1 s": online_ns(gaze, 1000, 1.0),
        "online, 1000 per call, memory 60 s": online_ns(gaze, 1000, 60.0),
        "settled": best_ns(lambda: detect_settled(*gaze, RATE_HZ), n, 30),
        "engbert-kliegl, events": best_ns(lambda: detect_engbert_kliegl(*gaze, RATE_HZ, ek), n, 30),
        "engbert-kliegl, table": best_ns(
            lambda: find_saccades(gaze[1], gaze[2], RATE_HZ, ek), n, 30
        ),
        "pymovements pos2vel + microsaccades": pymovements_ns(gaze, 10),
        "REMoDNaV": remodnav_ns(gaze, 2),
    }
    for name, value in ns.items():
        print(f"{name:38s}{value:12.1f} ns per sample")
    ratios = {
        "engbert-kliegl events, times pymovements": (
            ns["pymovements pos2vel + microsaccades"] / ns["engbert-kliegl, events"]
        ),
        "engbert-kliegl table, times pymovements": (
            ns["pymovements pos2vel + microsaccades"] / ns["engbert-kliegl, table"]
        ),
        "engbert-kliegl events, times REMoDNaV": ns["REMoDNaV"] / ns["engbert-kliegl, events"],
        "settled, times REMoDNaV": ns["REMoDNaV"] / ns["settled"],
    }
    for name, value in ratios.items():
        print(f"{name:44s}{value:10.1f} ×")
    print(
        f"targets: {TARGET_CHUNK_NS:g} ns in a chunk, {TARGET_SINGLE_NS:g} ns alone, "
        f"{TARGET_PYMOVEMENTS:g} × pymovements, {TARGET_REMODNAV:g} × REMoDNaV"
    )
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps({"ns_per_sample": ns, "ratios": ratios}, indent=1))


if __name__ == "__main__":
    main()
