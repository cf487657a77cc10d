"""How fast the detectors are, beside the peers' in the same run.

    python tests/benchmarks/bench_detection.py [--json OUT] [--seconds N]

Gaze is made up: minimum-jerk saccades of 1 to 15°, three a second, with white noise. Times are
the best of many short runs, in nanoseconds per sample of 1000 Hz gaze; processor time too, which
other work on the machine disturbs less.
"""

from __future__ import annotations

import argparse
import json
import logging
import math
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
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


@dataclass
class Stopwatch:
    """Collects runs; keeps the best wall and processor time (all threads) of one."""

    n_samples: int
    wall_ns: float = math.inf
    cpu_ns: float = math.inf

    @contextmanager
    def run(self) -> Iterator[None]:
        wall, cpu = time.perf_counter_ns(), time.process_time_ns()
        yield
        cpu_ns, wall_ns = time.process_time_ns() - cpu, time.perf_counter_ns() - wall
        self.wall_ns = min(self.wall_ns, wall_ns / self.n_samples)
        self.cpu_ns = min(self.cpu_ns, cpu_ns / self.n_samples)


def timed(run: Callable[[], Any], n_samples: int, repeats: int) -> Stopwatch:
    """Time a function."""
    stopwatch = Stopwatch(n_samples)
    for _ in range(repeats):
        with stopwatch.run():
            run()
    return stopwatch


def online(gaze: tuple[np.ndarray, ...], chunk: int, memory_s: float = 8.0) -> Stopwatch:
    """Time pushing `chunk` samples at a time: the best second of gaze.

    Each second has three saccades in it, and is short enough to be left alone by other
    processes now and then.
    """
    detector = OnlineDetector(DetectorParameters(noise_memory_s=memory_s), RATE_HZ)
    second = int(RATE_HZ)
    stopwatch = Stopwatch(second)
    for begin in range(0, len(gaze[0]) - second + 1, second):
        chunks = [
            tuple(column[i : i + chunk] for column in gaze)
            for i in range(begin, begin + second, chunk)
        ]
        with stopwatch.run():
            for times_us, x, y in chunks:
                detector.push(times_us, x, y)
    return stopwatch


def pymovements(gaze: tuple[np.ndarray, ...], repeats: int) -> Stopwatch:
    """Time the peer's `pos2vel` and its `microsaccades`, its tables made before."""
    times_us, x, y = gaze
    samples = pl.DataFrame({"time": times_us // 1000, "x": x, "y": y})
    experiment = pm.Experiment(1920, 1080, 53.5, 30.1, 60, "center", RATE_HZ)
    stopwatch = Stopwatch(len(x))
    for _ in range(repeats):
        peer = pm.Gaze(
            samples,
            experiment,
            time_column="time",
            time_unit="ms",
            position_columns=["x", "y"],
        )
        with stopwatch.run():
            peer.pos2vel("fivepoint")
            peer.detect("microsaccades", threshold_factor=6, minimum_duration=6)
    return stopwatch


def remodnav_time(gaze: tuple[np.ndarray, ...], repeats: int) -> Stopwatch:
    """Time the peer's preprocessing and classification."""
    _, x, y = gaze
    data = np.zeros(len(x), [("x", "f8"), ("y", "f8")])
    data["x"], data["y"] = x, y
    classifier = remodnav.EyegazeClassifier(px2deg=1.0, sampling_rate=RATE_HZ)
    return timed(lambda: classifier(classifier.preproc(data.copy())), len(x), repeats)


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

    runs = {
        "online, 1 sample per call": online(gaze, 1),
        "online, 10 samples per call": online(gaze, 10),
        "online, 1000 samples per call": online(gaze, 1000),
        "online, 1000 per call, memory 1 s": online(gaze, 1000, 1.0),
        "online, 1000 per call, memory 60 s": online(gaze, 1000, 60.0),
        "settled": timed(lambda: detect_settled(*gaze, RATE_HZ), n, 30),
        "engbert-kliegl": timed(lambda: detect_engbert_kliegl(*gaze, RATE_HZ, ek), n, 50),
        "engbert-kliegl, table only": timed(
            lambda: find_saccades(gaze[1], gaze[2], RATE_HZ, ek), n, 50
        ),
        "pymovements pos2vel + microsaccades": pymovements(gaze, 20),
        "REMoDNaV": remodnav_time(gaze, 2),
    }
    print(f"{'ns per sample':38s}{'wall':>12s}{'processor':>12s}")
    for name, time_ in runs.items():
        print(f"{name:38s}{time_.wall_ns:12.1f}{time_.cpu_ns:12.1f}")
    ratios = {}
    for ours, peer in (
        ("engbert-kliegl", "pymovements pos2vel + microsaccades"),
        ("engbert-kliegl, table only", "pymovements pos2vel + microsaccades"),
        ("engbert-kliegl", "REMoDNaV"),
        ("settled", "REMoDNaV"),
    ):
        a, b = runs[ours], runs[peer]
        ratios[f"{ours} / {peer}"] = (b.wall_ns / a.wall_ns, b.cpu_ns / a.cpu_ns)
        print(
            f"{ours} is {b.wall_ns / a.wall_ns:.0f} (processor: {b.cpu_ns / a.cpu_ns:.0f}) × {peer}"
        )
    print(
        f"targets: {TARGET_CHUNK_NS:g} ns in a chunk, {TARGET_SINGLE_NS:g} ns alone, "
        f"{TARGET_PYMOVEMENTS:g} × pymovements, {TARGET_REMODNAV:g} × REMoDNaV"
    )
    results = {
        "ns_per_sample": {k: {"wall": r.wall_ns, "cpu": r.cpu_ns} for k, r in runs.items()},
        "times_faster_wall_and_cpu": ratios,
    }
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
