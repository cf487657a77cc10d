"""Checks of the timer and the disk."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from gazelive.experiment.doctor.finding import Finding, Situation

N_SLEEPS, SLEEP_S = 200, 0.001
COARSE_CLOCK_S = 1e-5
LATE_SLEEP_S = 0.003
"""A warning is given if one in a hundred sleeps of 1 ms takes longer than this."""
N_APPENDS, APPEND_BYTES = 100, 4096
SLOW_APPEND_S = 0.1
SEQUENTIAL_BYTES, BLOCK_BYTES = 64 << 20, 1 << 20
SLOW_MB_S = 20.0
FULL_BYTES, SCARCE_BYTES = 500e6, 5e9
"""A session of half an hour takes about 100 MB, with its EDF about 200 MB."""


def timer(_situation: Situation) -> Iterator[Finding]:
    """Measure the timer's resolution and the delay of short sleeps."""
    step_s = _clock_step_s()
    took_s = np.empty(N_SLEEPS)
    for i in range(N_SLEEPS):
        began_s = time.perf_counter()
        time.sleep(SLEEP_S)
        took_s[i] = time.perf_counter() - began_s
    median_s, late_s = np.median(took_s), np.percentile(took_s, 99)
    text = (
        f"resolution {step_s * 1e6:.2g} µs; a sleep of 1 ms takes {median_s * 1e3:.1f} ms "
        f"(99th percentile {late_s * 1e3:.1f} ms)"
    )
    if step_s > COARSE_CLOCK_S:
        yield Finding("timer", "fail", text, "the clock is too coarse: is this a virtual machine?")
    elif late_s > LATE_SLEEP_S:
        yield Finding(
            "timer",
            "warn",
            text,
            "close other programs, use mains power and the highest-performance power plan",
        )
    else:
        yield Finding("timer", "ok", text)


def disk(situation: Situation) -> Iterator[Finding]:
    """Measure synchronised appends and a long write in the folder for sessions."""
    wanted = situation.output_folder
    folder = next((path for path in (wanted, *wanted.parents) if path.is_dir()), None)
    if folder is None:
        yield Finding("disk space", "fail", f"no disk for {wanted}", "set output.folder")
        return
    free_bytes = shutil.disk_usage(folder).free
    space = f"{free_bytes / 1e9:.1f} GB free in {folder}"
    if free_bytes < FULL_BYTES:
        yield Finding(
            "disk space", "fail", space, "free some space, or set output.folder to another disk"
        )
        return
    if free_bytes < SCARCE_BYTES:
        remedy = "free some space: 5 GB hold about twenty sessions"
        yield Finding("disk space", "warn", space, remedy)
    else:
        yield Finding("disk space", "ok", space)
    try:
        append_s, mb_s = _disk_speed(folder)
    except OSError as error:
        yield Finding(
            "disk speed",
            "fail",
            f"cannot write to {folder}: {error.strerror or error}",
            "set output.folder to a folder that you can write to",
        )
        return
    text = f"synced append {append_s * 1e3:.1f} ms (99th percentile), {mb_s:.0f} MB/s"
    if append_s > SLOW_APPEND_S or mb_s < SLOW_MB_S:
        yield Finding(
            "disk speed", "warn", text, "use an internal disk, not a network drive or USB stick"
        )
    else:
        yield Finding("disk speed", "ok", text)


def _clock_step_s() -> float:
    """Return the smallest observed step of the clock."""
    times = np.array([time.perf_counter() for _ in range(2000)])
    steps = np.diff(times)
    return float(steps[steps > 0].min())


def _disk_speed(folder: Path) -> tuple[float, float]:
    """Return the 99th percentile of an append with fsync (s), and MB/s; leaves no file."""
    handle, name = tempfile.mkstemp(prefix=".gazelive-doctor-", dir=folder)
    try:
        with os.fdopen(handle, "wb", buffering=0) as file:
            took_s = []
            for _ in range(N_APPENDS):
                began_s = time.perf_counter()
                file.write(bytes(APPEND_BYTES))
                os.fsync(file.fileno())
                took_s.append(time.perf_counter() - began_s)
            block = np.random.default_rng(0).bytes(BLOCK_BYTES)
            began_s = time.perf_counter()
            for _ in range(SEQUENTIAL_BYTES // BLOCK_BYTES):
                file.write(block)
            os.fsync(file.fileno())
            long_s = time.perf_counter() - began_s
    finally:
        Path(name).unlink(missing_ok=True)
    return float(np.percentile(took_s, 99)), SEQUENTIAL_BYTES / 1e6 / long_s
