"""Punctuality of a replay: arrival of each chunk minus the due time of its last sample.

Beside it in the same run: the clock alone, waiting for the same moments (what the machine can do),
and a player that sleeps for one interval at a time (what a naive one does).

    python tests/benchmarks/bench_pacing.py [--seconds S] [--json OUT]
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gazelive.clock import MonotonicClock
from gazelive.devices.protocol import ImageStimulus
from gazelive.devices.replay import ReplayDevice
from gazelive.devices.simulated import SimulatedDevice
from gazelive.gaze.samples import empty_samples
from gazelive.gaze.stream import StreamDescription
from gazelive.recordings.recording import Block, Recording

TARGET_P99_MS = 2.0
CHUNK_S = 0.01
IMAGE = ImageStimulus(name="bench.png", left_px=210, top_px=40, width_px=1500, height_px=1000)
Floats = npt.NDArray[np.float64]


def made_up(rate_hz: float, seconds: float) -> Recording:
    """Return a binocular recording of the given length."""
    n = round(rate_hz * seconds)
    samples = empty_samples(n)
    samples["tracker_time_us"] = np.arange(n) * round(1e6 / rate_hz)
    stream = StreamDescription(device="made up", sampling_rate_hz=rate_hz, eyes="LR")
    block = Block(stream, samples, 0, round(seconds * 1e6))
    return Recording(path=Path("made_up.asc"), format="asc", blocks=(block,))


def replay_errors_s(recording: Recording, speed: float) -> Floats:
    """Play the recording; return how late each chunk came."""
    clock = MonotonicClock()
    device = ReplayDevice(recording, clock=clock, speed=speed, chunk_s=CHUNK_S)
    late_s = []
    device.start()
    started_s = clock.now_s()
    while not device.finished:
        chunk = device.read_chunk(1.0)
        if chunk is not None:
            due_s = started_s + int(chunk.samples["tracker_time_us"][-1]) / 1e6 / speed
            late_s.append(chunk.arrival_s - due_s)
    return np.array(late_s)


def simulated_errors_s(seconds: float) -> Floats:
    """Let a simulated viewer explore an image; return how late each chunk came."""
    clock = MonotonicClock()
    device = SimulatedDevice(
        "bench", seed=0, session=0, clock=clock, drift_ppm=0.0, chunk_s=CHUNK_S
    )
    with closing(device):
        origin_us, origin_s = device.tracker_time_us(), clock.now_s()
        device.start()
        device.show(IMAGE)
        late_s = []
        while clock.now_s() < origin_s + seconds:
            chunk = device.read_chunk(1.0)
            if chunk is not None:
                seen_us = int(chunk.samples["tracker_time_us"][-1]) - origin_us
                late_s.append(chunk.arrival_s - origin_s - seen_us / 1e6)
    return np.array(late_s)


def clock_errors_s(seconds: float) -> Floats:
    """Wait for each moment; return how late each wait ended."""
    clock = MonotonicClock()
    started_s = clock.now_s()
    late_s = []
    for i in range(1, round(seconds / CHUNK_S)):
        clock.sleep_until_s(started_s + i * CHUNK_S)
        late_s.append(clock.now_s() - started_s - i * CHUNK_S)
    return np.array(late_s)


def naive_errors_s(recording: Recording) -> Floats:
    """Sleep for one interval after each chunk; return how late each chunk came."""
    rate_hz = recording.blocks[0].stream.sampling_rate_hz
    per_chunk = round(rate_hz * CHUNK_S)
    samples = recording.blocks[0].samples
    started_s = time.perf_counter()
    late_s = []
    for first in range(per_chunk, len(samples), per_chunk):
        time.sleep(CHUNK_S)
        due_s = int(samples["tracker_time_us"][first]) / 1e6
        samples[first - per_chunk : first].copy()
        late_s.append(time.perf_counter() - started_s - due_s)
    return np.array(late_s)


def summary(name: str, late_s: Floats, wall_s: float, cpu_s: float) -> dict[str, Any]:
    """Return the figures of one row."""
    tenth = max(len(late_s) // 10, 1)
    return {
        "name": name,
        "p50_ms": float(np.percentile(late_s, 50)) * 1e3,
        "p99_ms": float(np.percentile(late_s, 99)) * 1e3,
        "max_ms": float(late_s.max()) * 1e3,
        "drift_ms": float(np.median(late_s[-tenth:]) - np.median(late_s[:tenth])) * 1e3,
        "cpu_percent": 100 * cpu_s / wall_s,
        "n_chunks": len(late_s),
    }


def unpaced_samples_per_s(recording: Recording) -> float:
    """Return how many samples a second go through `read_chunk` as fast as possible."""
    device = ReplayDevice(recording, clock=MonotonicClock(), speed=None)
    started_s = time.perf_counter()
    device.start()
    while not device.finished:
        device.read_chunk(1.0)
    return recording.n_samples / (time.perf_counter() - started_s)


def main() -> None:
    """Measure, print a table, write JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=10.0, help="real time for each row")
    parser.add_argument("--json", type=Path, default=Path("bench-results/pacing.json"))
    options = parser.parse_args()
    seconds = options.seconds

    rows = []

    def measure(name: str, errors_s: Callable[[], Floats]) -> None:
        wall_s, cpu_s = time.perf_counter(), time.process_time()
        late_s = errors_s()
        wall_s, cpu_s = time.perf_counter() - wall_s, time.process_time() - cpu_s
        row = summary(name, late_s, wall_s, cpu_s)
        rows.append(row)
        print(
            f"{name:<28}{row['p50_ms']:>9.3f}{row['p99_ms']:>9.3f}{row['max_ms']:>9.3f}"
            f"{row['drift_ms']:>10.3f}{row['cpu_percent']:>8.1f}"
        )

    print(f"{'late, ms':<28}{'p50':>9}{'p99':>9}{'max':>9}{'drift':>10}{'CPU %':>8}")
    for rate_hz in (1000.0, 2000.0):
        for speed in (1.0, 10.0):
            recording = made_up(rate_hz, seconds * speed)
            measure(
                f"replay {rate_hz:.0f} Hz, {speed:g}×",
                lambda recording=recording, speed=speed: replay_errors_s(recording, speed),
            )
    measure("simulated 1000 Hz", lambda: simulated_errors_s(seconds))
    measure("the clock alone", lambda: clock_errors_s(seconds))
    measure("naive sleep, 1000 Hz, 1×", lambda: naive_errors_s(made_up(1000.0, seconds)))

    throughput = max(unpaced_samples_per_s(made_up(2000.0, 600.0)) for _ in range(3))
    print(f"as fast as possible: {throughput / 1e6:.1f} million samples/s through read_chunk")

    p99_ms = {row["name"]: row["p99_ms"] for row in rows}
    worst_p99_ms = max(value for name, value in p99_ms.items() if name.startswith("replay"))
    result = {
        "rows": rows,
        "worst_replay_p99_ms": worst_p99_ms,
        "target_p99_ms": TARGET_P99_MS,
        "holds": worst_p99_ms < TARGET_P99_MS,
        "p99_against_clock_alone": worst_p99_ms / p99_ms["the clock alone"],
        "naive_p99_against_replay": p99_ms["naive sleep, 1000 Hz, 1×"] / worst_p99_ms,
        "unpaced_samples_per_s": throughput,
        "load_average": os.getloadavg() if hasattr(os, "getloadavg") else None,
    }
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    print(f"worst p99 {worst_p99_ms:.3f} ms (target {TARGET_P99_MS} ms); written to {options.json}")


if __name__ == "__main__":
    main()
