"""A soak: recorder, engine and subscriber in processes of their own, watched to their end."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import psutil

from gazelive.errors import PeerLostError
from gazelive.gaze.documents import IntervalSettled, QualitySummary, RunStopped, decode_line
from gazelive.gaze.stream import Chunk
from gazelive.live.session import LiveSession
from gazelive.live.settings import DashboardSettings, LiveSettings, encode_settings
from gazelive.live.wire.addresses import free_addresses
from gazelive.observer import Observer
from gazelive.recordings.session.journal_reader import JournalFollower
from gazelive.recordings.session.manifest import DOCUMENTS_NAME, JOURNAL_NAME, read_manifest
from gazelive.system.process import one_thread_environment

from .owner import Course

HERE = Path(__file__).parent
END_S = 600.0
"""Longest end of the engine and the subscriber once everything is recorded."""
N_LATENCIES = 24
"""Parts of the session whose latencies are compared."""


@dataclass
class Soak:
    """What a soak found."""

    progress: list[dict[str, Any]] = field(default_factory=list)
    """What the recorder said."""
    memory_mb: dict[str, list[float]] = field(default_factory=dict)
    """Resident memory of each process, at the times of the progress but the last."""
    heard: list[dict[str, Any]] = field(default_factory=list)
    """What the subscriber said."""
    engine_starts: int = 0
    found: dict[str, Any] = field(default_factory=dict)
    """What is on disk."""

    def growth(self, warm_s: float) -> dict[str, float]:
        """Return by which fraction the memory grew after the warm-up, by process.

        From the mean of the first tenth of what follows to the mean of the last.
        """
        return {
            name: float(np.mean(tenths(warm_mb)[-1]) / np.mean(tenths(warm_mb)[0]) - 1)
            for name, warm_mb in self._warm(warm_s).items()
        }

    def spread(self, warm_s: float) -> dict[str, float]:
        """Return how far tenths of the time after the warm-up lie from the mean of it all.

        As a fraction of that mean. A tenth is long enough to even out what waits in queues.
        """
        return {
            name: max(abs(float(np.mean(part) / np.mean(warm_mb)) - 1) for part in tenths(warm_mb))
            for name, warm_mb in self._warm(warm_s).items()
        }

    def _warm(self, warm_s: float) -> dict[str, list[float]]:
        """Return the memory of each process after the warm-up."""
        times_s = [one["session_s"] for one in self.progress]
        return {
            name: [
                mb
                for mb, at_s in zip(all_mb, times_s, strict=False)
                if at_s >= warm_s and np.isfinite(mb)
            ]
            for name, all_mb in self.memory_mb.items()
        }

    def lost(self) -> dict[str, int]:
        """Return what is missing, by what should have it."""
        last, found = self.progress[-1], self.found
        return {
            "samples on disk": last["samples"] - found["samples"],
            "chunks on disk": last["chunks"] - found["chunks"],
            "samples that are not 1/rate after the one before": found["uneven"],
            "samples that the engine missed": found["missed_by_engine"],
            "trials that the engine did not settle": last["trials"] - found["settled"],
            "settled trials that the subscriber missed": (
                found["settled"] - self.heard[-1]["kinds"]["IntervalSettled"]
            ),
        }

    def latency_by_part(self) -> list[dict[str, float]]:
        """Return the engine's latencies (99th percentile of a thousand chunks) over the session."""
        found = np.array(self.found["latencies_ms"])
        return [
            {"median_ms": float(np.median(part)), "worst_ms": float(part.max())}
            for part in np.array_split(found, min(N_LATENCIES, len(found)))
        ]

    def onset_delays(self) -> list[dict[str, float]]:
        """Return the delays from a sample to the subscriber; only in real time."""
        offset_s = self.progress[0]["clock_offset_s"]
        return [
            {
                "minute": (one["tracker_us"] - self.heard[0]["tracker_us"]) / 60e6,
                "n": one["n"],
                **{
                    f"{name}_ms": 1e3 * (one[f"{name}_s"] - offset_s)
                    for name in ("p50", "p99", "max")
                },
            }
            for one in self.heard[:-1]
        ]


def tenths(values: list[float]) -> list[np.ndarray]:
    """Return the values in ten parts, or fewer if there are fewer values."""
    return np.array_split(np.array(values), min(10, len(values)))


def soak(
    folder: Path,
    seconds: float,
    model: Path,
    *,
    accelerated: bool,
    report_every_s: float = 60.0,
    dashboard: bool = False,
    tell: Callable[[str], None] = lambda _text: None,
) -> Soak:
    """Record and analyse so much session time; return what was found."""
    settings = LiveSettings(
        folder=folder,
        address=str(free_addresses()),
        model=model,
        dashboard=DashboardSettings() if dashboard else None,
    )
    course = Course(
        folder=folder,
        address=str(settings.address),
        seconds=seconds,
        accelerated=accelerated,
        report_every_s=report_every_s,
    )
    result = Soak()
    with LiveSession(settings, Observer()) as live:
        live.engine.wait_ready()
        with (
            script("subscriber.py", str(settings.address)) as subscriber,
            script("owner.py", encode_settings(course)) as owner,
        ):
            assert subscriber.stdout is not None
            assert subscriber.stdout.readline() == "listening\n"
            processes = {"recorder": owner.pid, "subscriber": subscriber.pid}
            if live._window is not None:
                processes["dashboard"] = live._window.pid
            for progress in lines_of(owner):
                result.progress.append(progress)
                note_life(live)
                if not progress["over"] and live.keep_alive():
                    processes["engine"] = live.engine._process.pid
                    for name, pid in processes.items():
                        result.memory_mb.setdefault(name, []).append(resident_mb(pid))
                    now = ", ".join(f"{n} {mb[-1]:.0f}" for n, mb in result.memory_mb.items())
                    tell(f"{progress['session_s'] / 3600:7.3f} h: {now} MB; {progress}")
            assert owner.wait(END_S) == 0, f"the recorder ended with {owner.returncode}"
            note_life(live)
            assert live.settle(END_S, n_chunks=result.progress[-1]["chunks"])
            result.heard = list(lines_of(subscriber))
        result.engine_starts = live.engine.n_starts
    result.found = on_disk(folder)
    return result


def note_life(live: LiveSession) -> None:
    """Ask the engine for a sign of life: it is not supervised while nothing is reported."""
    while not live.engine.has_ended:  # it ends when everything is analysed
        with suppress(PeerLostError):
            live.engine.ask("status", timeout_s=0.5)
            return


@contextmanager
def script(name: str, argument: str) -> Iterator[subprocess.Popen[str]]:
    """Run a script of this folder; it ends with the block."""
    command = [sys.executable, str(HERE / name), argument]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env=one_thread_environment()
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def lines_of(process: subprocess.Popen[str]) -> Iterator[dict[str, Any]]:
    """Yield the lines of JSON that a process prints."""
    assert process.stdout is not None
    yield from map(json.loads, process.stdout)


def resident_mb(pid: int) -> float:
    """Return a process's memory; NaN if it has just ended."""
    try:
        return float(psutil.Process(pid).memory_info().rss) / 1e6
    except psutil.NoSuchProcess:
        return float("nan")


def on_disk(folder: Path) -> dict[str, Any]:
    """Count what a session folder holds, in constant memory but for the latencies."""
    n_samples = n_chunks = n_uneven = 0
    last_block, last_us = -1, 0
    follower = JournalFollower(folder / JOURNAL_NAME)
    for item in follower.poll():
        if not isinstance(item, Chunk):
            interval_us = item.sample_interval_us
            continue
        assert item.number == n_chunks
        n_chunks += 1
        n_samples += len(item.samples)
        times_us = item.samples["tracker_time_us"]
        if len(times_us):
            before_us = last_us if item.block == last_block else times_us[0] - interval_us
            n_uneven += int((np.diff(times_us, prepend=before_us) != interval_us).sum())
            last_block, last_us = item.block, times_us[-1]
    settled, missed, latencies_ms, reasons = 0, 0, [], []
    with (folder / DOCUMENTS_NAME).open("rb") as file:
        for document in map(decode_line, file):
            match document:
                case IntervalSettled():
                    settled += 1
                case QualitySummary():
                    missed = document.n_lost_samples
                    if document.latency_ms is not None:
                        latencies_ms.append(document.latency_ms)
                case RunStopped():
                    reasons.append(document.reason)
    return {
        "samples": n_samples,
        "chunks": n_chunks,
        "uneven": n_uneven,
        "problems": [problem.text for problem in follower.problems],
        "settled": settled,
        "missed_by_engine": missed,
        "latencies_ms": latencies_ms,
        "stop_reason": read_manifest(folder).stop_reason,
        "engine_stop_reasons": reasons,
    }
