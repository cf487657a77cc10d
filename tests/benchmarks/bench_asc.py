"""Speed and memory of reading and writing ASC files.

The same file, a made-up recording of one eye at 1000 Hz with events and messages, is read in the
same run by gazelive (which takes one thread for a file of this size, and is made to use two), by
MNE and by polars' CSV reader, which is told the columns and leaves all other lines out. They take
turns, so that whatever else the machine does meets all of them; the shortest and the median time
count, and the processor time beside them. Memory is what each adds to its own fresh process, and
"first" is how fast that one goes, without memory that an earlier reading left behind. Then: the
writer, the gzipped file, files of nothing but newlines or messages, the compiling of the kernels
on a new machine, and (with --large) a file of a gigabyte.

    python tests/benchmarks/bench_asc.py [--megabytes N] [--large] [--json OUT]
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import psutil

from gazelive.gaze.events import TrackerEvent
from gazelive.gaze.samples import empty_samples
from gazelive.gaze.stream import Message, StreamDescription
from gazelive.recordings.asc.reader import read_asc
from gazelive.recordings.asc.writer import write_asc
from gazelive.recordings.recording import Block, Recording

BYTES_PER_SAMPLE = 36
FIXATION_SAMPLES = 250
TRIAL_SAMPLES = 8000
FIRST_US = 1_000_000_000
TARGETS = {"over MNE": 40.0, "over polars": 2.0, "peak memory / file": 8.0}
POLARS_COLUMNS = ("time", "x", "y", "pupil", "flags")


def made_up_recording(n: int) -> Recording:
    """Return `n` samples of fixations that jump, with drift, noise, blinks, trials and events."""
    rng = np.random.default_rng(0)
    samples = empty_samples(n)
    samples["tracker_time_us"] = FIRST_US + 1000 * np.arange(n)
    n_fixations = -(-n // FIXATION_SAMPLES)
    for field, size in (("right_x", 1920.0), ("right_y", 1080.0)):
        jumps = np.repeat(rng.uniform(0.1 * size, 0.9 * size, n_fixations), FIXATION_SAMPLES)[:n]
        samples[field] = jumps + np.cumsum(rng.normal(0, 0.1, n)) % 20 + rng.normal(0, 0.3, n)
    samples["right_pupil"] = np.round(1500 + 300 * np.sin(np.arange(n) / 3000))
    for start in rng.integers(0, n, n // 5000):
        for field in ("right_x", "right_y", "right_pupil"):
            samples[field][start : start + 100] = np.nan
    events = []
    for k in range(n_fixations - 1):
        start_us = FIRST_US + 1000 * FIXATION_SAMPLES * k
        saccade_us = start_us + 1000 * (FIXATION_SAMPLES - 40)
        end_us = start_us + 1000 * (FIXATION_SAMPLES - 1)
        events.append(
            TrackerEvent(
                kind="fixation",
                eye="R",
                start_us=start_us,
                end_us=saccade_us - 1000,
                mean_x=512.3,
                mean_y=384.1,
                mean_pupil=1500.0,
            )
        )
        events.append(
            TrackerEvent(
                kind="saccade",
                eye="R",
                start_us=saccade_us,
                end_us=end_us,
                start_x=512.3,
                start_y=384.1,
                end_x=812.3,
                end_y=284.1,
                amplitude_deg=7.5,
                peak_velocity_deg_s=301.0,
            )
        )
    messages = []
    for trial in range(n // TRIAL_SAMPLES):
        start_us = FIRST_US + 1000 * TRIAL_SAMPLES * trial
        texts = (f"TRIALID {trial}", "image_onset", f"!V IMGLOAD FILL images/{trial}.png")
        messages += [Message(start_us, text) for text in texts]
        messages.append(Message(start_us + 1000 * (TRIAL_SAMPLES - 2), "TRIAL_RESULT 0"))
    stream = StreamDescription(
        device="made up",
        sampling_rate_hz=1000,
        eyes="R",
        screen_px=(1920, 1080),
        px_per_deg=(35.1, 35.2),
    )
    block = Block(stream, samples, FIRST_US, FIRST_US + 1000 * n)
    return Recording(
        path=Path("made_up"),
        format="session",
        blocks=(block,),
        messages=tuple(messages),
        tracker_events=tuple(events),
    )


def read_with_gazelive(path: Path) -> int:
    """Read with our own reader; return the number of samples."""
    return read_asc(path).n_samples


def read_with_two_threads(path: Path) -> int:
    """Read with our own reader, which is made to use two threads."""
    return read_asc(path, n_threads=2).n_samples


def read_with_mne(path: Path) -> int:
    """Read with MNE."""
    import mne

    return int(mne.io.read_raw_eyelink(path, verbose="error").n_times)


def read_with_polars(path: Path) -> int:
    """Read the sample lines with polars, which knows their types."""
    import polars as pl

    types = (pl.Int64, pl.Float32, pl.Float32, pl.Float32, pl.String)
    with path.open("rb") as file:  # it tells the number of columns by the first line
        n_lines_before = next(k for k, line in enumerate(file) if line[:1].isdigit())
    table = pl.read_csv(
        path,
        separator="\t",
        skip_lines=n_lines_before,
        has_header=False,
        schema=dict(zip(POLARS_COLUMNS, types, strict=True)),
        truncate_ragged_lines=True,
        ignore_errors=True,  # a missing value is none either; naming it costs polars a tenth
        quote_char=None,
    )
    return table.height - table["time"].null_count()


READERS: dict[str, Callable[[Path], int]] = {
    "gazelive": read_with_gazelive,
    "two threads": read_with_two_threads,
    "polars": read_with_polars,
    "mne": read_with_mne,
}
REPEATS = {"gazelive": 20, "two threads": 20, "polars": 20, "mne": 2}
FIRST_REPEATS = 5


def first_read_s(reader: str, path: Path, warm_up: Path) -> float:
    """Return how long the first reading of the file takes this (fresh) process."""
    READERS[reader](warm_up)
    return seconds(lambda: READERS[reader](path), 1)


def peak_growth_bytes(reader: str, path: Path, warm_up: Path) -> int:
    """Return what reading adds to the memory of this (fresh) process at its peak.

    The peak is sampled by the operating system; reading a small file first loads the reader's
    modules and kernels, which are no part of it.
    """
    READERS[reader](warm_up)
    process = psutil.Process()
    before = process.memory_info().rss
    if sys.platform == "linux":
        Path("/proc/self/clear_refs").write_text("5")  # forgets the peak so far
    READERS[reader](path)
    return peak_rss_bytes(process) - before


def peak_rss_bytes(process: psutil.Process) -> int:
    """Return the largest resident size that the process has had."""
    if sys.platform == "win32":
        return int(process.memory_info().peak_wset)
    if sys.platform == "linux":  # since clear_refs, which ru_maxrss does not know
        status = Path("/proc/self/status").read_text()
        return 1024 * int(status.split("VmHWM:")[1].split()[0])
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def in_fresh_process(*arguments: str, cache: Path | None = None) -> str:
    """Run this file with `arguments` and return what it prints last."""
    environment = dict(os.environ)
    if cache is not None:
        environment |= {"XDG_CACHE_HOME": str(cache), "LOCALAPPDATA": str(cache)}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", __file__, *arguments],
        check=True,
        capture_output=True,
        text=True,
        env=environment,
    )
    return done.stdout.split()[-1]


def seconds(action: Callable[[], object], repeats: int) -> float:
    """Return the shortest time that `action` took."""
    times = []
    for _ in range(repeats):
        started = time.perf_counter()
        action()
        times.append(time.perf_counter() - started)
    return min(times)


def compare_readers(path: Path, small: Path) -> dict[str, Any]:
    """Return speed and memory of each reader on the same file, read in turns."""
    megabytes = path.stat().st_size / 1e6
    n_samples = {name: reader(path) for name, reader in READERS.items()}
    assert len(set(n_samples.values())) == 1, n_samples
    times_s: dict[str, list[float]] = {name: [] for name in READERS}
    processor_s: dict[str, list[float]] = {name: [] for name in READERS}
    first_s: dict[str, list[float]] = {name: [] for name in READERS}
    for turn in range(max(REPEATS.values())):
        for name, reader in READERS.items():
            if turn < REPEATS[name]:
                before_s = time.process_time()
                times_s[name].append(seconds(lambda: reader(path), 1))  # noqa: B023
                processor_s[name].append(time.process_time() - before_s)
    for turn in range(FIRST_REPEATS):
        for name in READERS:
            if turn < REPEATS[name]:  # MNE's are long
                first = in_fresh_process("--first", name, str(path), str(small))
                first_s[name].append(float(first))
    results: dict[str, Any] = {}
    for name in READERS:
        peak = int(in_fresh_process("--peak", name, str(path), str(small)))
        results[name] = {
            "mb_per_s": megabytes / min(times_s[name]),
            "median_mb_per_s": megabytes / statistics.median(times_s[name]),
            "mb_per_processor_s": megabytes / statistics.median(processor_s[name]),
            "first_mb_per_s": megabytes / min(first_s[name]),
            "peak_bytes_per_file_byte": peak / 1e6 / megabytes,
            "n_samples": n_samples[name],
        }
    ours, two, polars = (results[name] for name in ("gazelive", "two threads", "polars"))
    results["ratios"] = {
        "over MNE": ours["mb_per_s"] / results["mne"]["mb_per_s"],
        "over polars": ours["mb_per_s"] / polars["mb_per_s"],
        "over polars, medians": ours["median_mb_per_s"] / polars["median_mb_per_s"],
        "over polars, first": ours["first_mb_per_s"] / polars["first_mb_per_s"],
        "over polars, processor": ours["mb_per_processor_s"] / polars["mb_per_processor_s"],
        "two threads over polars": two["mb_per_s"] / polars["mb_per_s"],
        "peak memory / file": ours["peak_bytes_per_file_byte"],
    }
    return results


def other_files(path: Path, recording: Recording, folder: Path) -> dict[str, Any]:
    """Return how fast gazelive writes, unpacks, and goes through strange files."""
    n_bytes = path.stat().st_size
    packed = folder / "packed.asc.gz"
    write_asc(recording, packed)
    results = {
        "write": n_bytes / 1e6 / seconds(lambda: write_asc(recording, folder / "again.asc"), 3),
        "read gzipped (unpacked MB)": n_bytes / 1e6 / seconds(lambda: read_asc(packed), 3),
    }
    message = b"MSG\t1234567 a message of usual length\n"
    for name, line in {"only newlines": b"\n", "only messages": message}.items():
        strange = folder / "strange.asc"
        strange.write_bytes(message + line * (n_bytes // len(line)))
        results[name] = n_bytes / 1e6 / seconds(lambda: read_asc(strange), 1)  # noqa: B023
    return results


def read_large(folder: Path, n_bytes: int, small: Path) -> dict[str, float]:
    """Return speed and memory for a large file."""
    path = folder / "large.asc"
    write_asc(made_up_recording(n_bytes // BYTES_PER_SAMPLE), path)
    size = path.stat().st_size
    peak = int(in_fresh_process("--peak", "gazelive", str(path), str(small)))
    array_bytes = sum(block.samples.nbytes for block in read_asc(path).blocks)
    return {
        "file_mb": size / 1e6,
        "mb_per_s": size / 1e6 / seconds(lambda: read_asc(path), 1),
        "peak_bytes_per_array_byte": peak / array_bytes,
    }


def show(results: dict[str, Any]) -> None:
    """Print the results as small tables."""
    print(f"{results['file_mb']:.1f} MB of one eye at 1000 Hz, {os.cpu_count()} processors")
    print("  MB/s         shortest   median   per processor second    first   peak memory / file")
    for name in READERS:
        row = results["readers"][name]
        print(
            f"  {name:11} {row['mb_per_s']:9.1f} {row['median_mb_per_s']:8.1f} "
            f"{row['mb_per_processor_s']:22.1f} {row['first_mb_per_s']:8.1f} "
            f"{row['peak_bytes_per_file_byte']:20.1f}"
        )
    for name, ratio in results["readers"]["ratios"].items():
        limit = "at most" if "memory" in name else "at least"
        wanted = f"   (wanted: {limit} {TARGETS[name]:g})" if name in TARGETS else ""
        print(f"  {name:24} {ratio:6.1f}{wanted}")
    for name, speed in results["other"].items():
        print(f"  {name:28} {speed:8.1f} MB/s")
    print(f"  first call on a new machine  {results['cold_start_s']:8.1f} s (compiles the kernels)")
    if "large" in results:
        large = results["large"]
        print(
            f"  {large['file_mb']:.0f} MB file: {large['mb_per_s']:.0f} MB/s, "
            f"peak memory {large['peak_bytes_per_array_byte']:.2f} × its arrays"
        )


def main() -> None:
    """Run the benchmark, or one measurement in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=float, default=30.0)
    parser.add_argument("--large", action="store_true", help="also read a file of a gigabyte")
    parser.add_argument("--json", type=Path, default=Path("bench-results/asc.json"))
    parser.add_argument("--peak", nargs=3, help=argparse.SUPPRESS)
    parser.add_argument("--first", nargs=3, help=argparse.SUPPRESS)
    parser.add_argument("--cold", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.peak:
        reader, path, small = arguments.peak
        print(peak_growth_bytes(reader, Path(path), Path(small)))
        return
    if arguments.first:
        reader, path, small = arguments.first
        print(first_read_s(reader, Path(path), Path(small)))
        return
    if arguments.cold:
        cold = arguments.cold
        print(seconds(lambda: write_asc(read_asc(cold), cold.with_name("cold.asc")), 1))
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path, small = folder / "made_up.asc", folder / "small.asc"
        recording = made_up_recording(round(arguments.megabytes * 1e6 / BYTES_PER_SAMPLE))
        write_asc(recording, path)
        write_asc(made_up_recording(2000), small)
        results: dict[str, Any] = {
            "file_mb": path.stat().st_size / 1e6,
            "readers": compare_readers(path, small),
            "other": other_files(path, recording, folder),
            "cold_start_s": float(in_fresh_process("--cold", str(small), cache=folder / "cache")),
        }
        if arguments.large:
            results["large"] = read_large(folder, 10**9, small)
    show(results)
    arguments.json.parent.mkdir(parents=True, exist_ok=True)
    arguments.json.write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    main()
