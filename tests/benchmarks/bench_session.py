"""Speed of reading a session folder, and time of an append in the sampling thread.

Reading, for journals of long, 10 ms and irregular 1-3 ms chunks, beside it in the same run:
numpy reading the bare samples (no checks, no structure) and pyarrow reading them from an
uncompressed Feather file. Appending, every 10 ms in real time: the background sync that the writer
has, the same with an fsync in the sampling thread once per second, and without any; once on a quiet
disk and once while another process writes to it.

    python tests/benchmarks/bench_session.py [--megabytes N] [--seconds S] [--json OUT]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pyarrow as pa
import pyarrow.feather

from gazelive.gaze.samples import SAMPLE_DTYPE, Samples, empty_samples
from gazelive.gaze.stream import Chunk, Message, StreamDescription
from gazelive.recordings.session.journal import BlockHead, Kind, chunk_record, frame, to_json
from gazelive.recordings.session.manifest import JOURNAL_NAME, SessionManifest
from gazelive.recordings.session.reader import read_journal
from gazelive.recordings.session.writer import SessionWriter

TARGET_MB_PER_S = 500.0
STREAM = StreamDescription(device="made up", sampling_rate_hz=1000.0, eyes="LR")
CHUNKS: dict[str, tuple[float, tuple[int, ...]]] = {
    "1 s chunks": (1.0, (1000,)),
    "10 ms chunks": (0.25, (10,)),
    "1-3 ms chunks": (0.125, (2, 1, 3, 2, 2)),
}
"""Fraction of the requested size (small chunks take long to write) and samples per chunk."""
_WRITE_TO_THE_DISK = """
import os, sys
with open(sys.argv[1], "wb") as file:
    while True:
        file.seek(0)
        for _ in range(50):
            file.write(bytes(1 << 20))
        file.flush()
        os.fsync(file.fileno())
"""


def made_up_samples(n: int) -> Samples:
    """Return samples with some noise in them."""
    samples = empty_samples(n)
    samples["tracker_time_us"] = 1000 * np.arange(n)
    samples["left_x"] = np.random.default_rng(0).normal(960, 200, n)
    return samples


def write_journal(path: Path, n_bytes: int, chunk_samples: tuple[int, ...]) -> None:
    """Write a journal of about `n_bytes`, with a message every hundredth chunk."""
    samples = made_up_samples(max(chunk_samples))
    with path.open("wb") as file:
        file.write(frame(Kind.BLOCK, 0, 0, to_json(BlockHead(stream=STREAM))))
        number = 0
        while file.tell() < n_bytes:
            for n in chunk_samples:
                messages = (Message(number, "!V TRIAL_VAR side left"),) * (number % 100 == 0)
                file.write(chunk_record(Chunk(number, 0, samples[:n], messages)))
                number += 1


def best_s(action: Callable[[], object], repeats: int = 5) -> tuple[float, float]:
    """Return the shortest time that `action` took, and the shortest processor time."""
    times_s = []
    for _ in range(repeats):
        start_s, start_cpu_s = time.perf_counter(), time.process_time()
        action()
        times_s.append((time.perf_counter() - start_s, time.process_time() - start_cpu_s))
    wall_s, cpu_s = np.min(times_s, axis=0)
    return float(wall_s), float(cpu_s)


def bench_reading(folder: Path, megabytes: float) -> list[dict[str, Any]]:
    """Return a row per kind of chunk, and the peers' rows."""
    rows = []
    path = folder / JOURNAL_NAME
    n_bytes = round(megabytes * 1e6)
    for name, (fraction, chunk_samples) in CHUNKS.items():
        write_journal(path, round(fraction * n_bytes), chunk_samples)
        seconds, cpu_s = best_s(lambda: read_journal(path))
        size = path.stat().st_size
        rows.append(
            {
                "what": f"read_journal, {name}",
                "mb_per_s": size / 1e6 / seconds,
                "mb_per_cpu_s": size / 1e6 / cpu_s,
                "million_samples_per_s": read_journal(path).n_samples / 1e6 / seconds,
                "memory_beyond_arrays_mb": _memory_beyond_arrays_mb(path),
            }
        )
        path.unlink()
    samples = made_up_samples(n_bytes // SAMPLE_DTYPE.itemsize)
    samples.tofile(folder / "bare")
    table = pa.table({name: np.ascontiguousarray(samples[name]) for name in SAMPLE_DTYPE.names})
    pyarrow.feather.write_feather(table, folder / "feather", compression="uncompressed")
    peers: dict[str, Callable[[], object]] = {
        "numpy.fromfile": lambda: np.fromfile(folder / "bare", SAMPLE_DTYPE),
        "pyarrow Feather": lambda: pyarrow.feather.read_table(folder / "feather", memory_map=False),
    }
    for name, action in peers.items():
        seconds, cpu_s = best_s(action)
        rows.append(
            {
                "what": name,
                "mb_per_s": samples.nbytes / 1e6 / seconds,
                "mb_per_cpu_s": samples.nbytes / 1e6 / cpu_s,
                "million_samples_per_s": len(samples) / 1e6 / seconds,
            }
        )
    for row in rows:
        row["times_numpy"] = row["million_samples_per_s"] / rows[-2]["million_samples_per_s"]
    return rows


def _memory_beyond_arrays_mb(path: Path) -> float | None:
    """Return what a fresh process needs at most for reading, the samples not counted."""
    if not sys.platform.startswith("linux"):
        return None  # peaks per process are counted otherwise elsewhere
    script = (
        "import pathlib, re, sys\n"
        "from gazelive.recordings.session.reader import read_journal\n"
        "status = pathlib.Path('/proc/self/status')\n"
        "peak = lambda: 1024 * int(re.search(r'VmHWM:\\s+(\\d+)', status.read_text())[1])\n"
        "before = peak()\n"
        "n = read_journal(pathlib.Path(sys.argv[1])).n_samples\n"
        "print(peak() - before - n * 36)\n"
    )
    answer = subprocess.run(
        [sys.executable, "-c", script, str(path)], capture_output=True, text=True, check=True
    )
    return float(answer.stdout) / 1e6


@contextmanager
def busy_disk(folder: Path, busy: bool) -> Iterator[None]:
    """Have another process write to the disk, if `busy`."""
    if not busy:
        yield
        return
    command = [sys.executable, "-c", _WRITE_TO_THE_DISK, str(folder / "ballast")]
    process = subprocess.Popen(command)
    try:
        yield
    finally:
        process.kill()
        process.wait()
        (folder / "ballast").unlink(missing_ok=True)


def bench_appending(folder: Path, seconds: float, how: str) -> dict[str, Any]:
    """Append a chunk of 10 ms every 10 ms; return how long the calls took."""
    manifest = SessionManifest(session="1", device="made up", mode="identify", started_at="")
    samples = made_up_samples(10)
    times_s = []
    session = folder / how.replace(" ", "-")
    interval_s = 1.0 if how == "background" else None
    with SessionWriter.create(session, manifest, sync_interval_s=interval_s) as writer:
        block = writer.start_block(STREAM)
        handle = os.open(session / JOURNAL_NAME, os.O_RDWR)
        due_s = time.perf_counter()
        for number in range(round(seconds * 100)):
            due_s += 0.01
            time.sleep(max(0.0, due_s - time.perf_counter()))
            start_s = time.perf_counter()
            writer.append(Chunk(number, block, samples))
            if how == "same thread" and number % 100 == 99:
                os.fsync(handle)
            times_s.append(time.perf_counter() - start_s)
        os.close(handle)
    p50, p99, longest = np.percentile(times_s, [50, 99, 100]) * 1e3
    return {"p50_ms": p50, "p99_ms": p99, "max_ms": longest}


def main() -> None:
    """Measure, print tables, write JSON."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--megabytes", type=float, default=1000.0)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--json", type=Path, default=Path("bench-results/session.json"))
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        reading = bench_reading(folder, arguments.megabytes)
        print(
            f"{'reading':30} {'MB/s':>7} {'MB/CPU s':>9} {'M samples/s':>12} {'×numpy':>7} "
            f"{'beyond arrays':>14}"
        )
        for row in reading:
            beyond = row.get("memory_beyond_arrays_mb")
            print(
                f"{row['what']:30} {row['mb_per_s']:7.0f} {row['mb_per_cpu_s']:9.0f} "
                f"{row['million_samples_per_s']:12.1f} "
                f"{row['times_numpy']:7.2f} {'' if beyond is None else f'{beyond:11.1f} MB'}"
            )
        appending = []
        print(f"\n{'appending 10 ms, fsync in':34} {'p50 ms':>7} {'p99 ms':>7} {'max ms':>7}")
        for busy in (False, True):
            for how in ("no thread", "background", "same thread"):
                with busy_disk(folder, busy), tempfile.TemporaryDirectory(dir=folder) as inner:
                    row = bench_appending(Path(inner), arguments.seconds, how)
                row = {"fsync": how, "disk_busy": busy, **row}
                appending.append(row)
                what = f"{how}, {'busy' if busy else 'quiet'} disk"
                print(f"{what:34} {row['p50_ms']:7.3f} {row['p99_ms']:7.3f} {row['max_ms']:7.3f}")
    arguments.json.parent.mkdir(parents=True, exist_ok=True)
    result = {
        "target_mb_per_s": TARGET_MB_PER_S,
        "reading": reading,
        "appending": appending,
        "load_average": psutil.getloadavg()[0],
    }
    arguments.json.write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
