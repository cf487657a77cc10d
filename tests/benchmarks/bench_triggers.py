"""Latency of triggers, from the hand-over of a sample by the device to a script that waits for it.

    python tests/benchmarks/bench_triggers.py [--seconds S] [--minutes M] [--json OUT]

A replay delivers 1000 Hz gaze of two eyes in real time to a `Recorder` in a thread of its own.
It writes each chunk to a session folder and then passes it to the triggers, as the device's thread
of a session does. Gaze goes in and out of an area every 20 ms.

- waiting: a script sleeps in `Watch.wait`; at the start, and after M minutes of samples.
- polling: a script calls `Watch.poll` at 60 Hz and computes in Python for half of each frame.
  `late` counts triggers that the first poll 1 ms after the hand-over did not see.
- machine: two threads pass a `threading.Event` from one to the other, in the same run.
- cost: processor time of `Triggers.take` for one chunk.

`from_sample_ms` counts from the moment at which the sample was due.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import json
import os
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from gazelive.clock import MonotonicClock
from gazelive.devices import Recorder, ReplayDevice
from gazelive.gaze import PAPER_SCREEN, Chunk, Samples, StreamDescription, empty_samples
from gazelive.recordings import Block, Recording, SessionManifest, SessionWriter
from gazelive.triggers import Circle, Trigger, Triggers, Watch

TARGET_P99_MS = 1.0
READING_S = 0.001
FRAME_S = 1 / 60
RATE_HZ = 1000.0
STREAM = StreamDescription(device="bench", sampling_rate_hz=RATE_HZ, eyes="LR", screen=PAPER_SCREEN)
AREA = Circle(5.0, 0.0, 2.0)


def gaze(seconds: float, from_us: int = 0) -> Samples:
    """Return gaze that rests in the middle and 5° to the right in turn, for 20 ms each."""
    n = round(seconds * RATE_HZ)
    random = np.random.default_rng(1)
    x_deg = np.where(np.arange(n) // 20 % 2, 5.0, 0.0) + random.normal(0, 0.01, n)
    x_px, y_px = PAPER_SCREEN.deg_to_px(x_deg, random.normal(0, 0.01, n))
    samples = empty_samples(n)
    samples["tracker_time_us"] = from_us + np.arange(n) * 1000
    for eye in ("left", "right"):
        samples[f"{eye}_x"], samples[f"{eye}_y"] = x_px, y_px
    return samples


class Session:
    """A recording that runs in a thread, with the triggers after the disk."""

    def __init__(self, triggers: Triggers, seconds: float, from_us: int) -> None:
        samples = gaze(seconds, from_us)
        block = Block(STREAM, samples, from_us, int(samples["tracker_time_us"][-1]) + 1000)
        recording = Recording(path=Path("bench.asc"), format="asc", blocks=(block,))
        self.clock = MonotonicClock()
        self.device = ReplayDevice(recording, clock=self.clock, chunk_s=0.01)
        self.triggers = triggers
        self.from_us = from_us
        self.takes_s: list[float] = []

    def _take(self, chunk: Chunk, stream: StreamDescription) -> None:
        before_s = time.perf_counter()
        self.triggers.take(chunk, stream)
        self.takes_s.append(time.perf_counter() - before_s)

    def run(self, ended: threading.Event) -> None:
        with tempfile.TemporaryDirectory() as folder:
            manifest = SessionManifest(
                session="bench",
                device="bench",
                mode="identify",
                started_at="2026-01-01T00:00:00+00:00",
            )
            writer = SessionWriter.create(Path(folder) / "session", manifest)
            recorder = Recorder(self.device, writer, [self._take], clock=self.clock)
            self.device.start()
            started_s = self.clock.now_s()
            self.triggers.host_time_s = lambda us: started_s + (us - self.from_us) / 1e6
            while not self.device.finished:
                recorder.step(READING_S)
            recorder.finish("bench")
        ended.set()


@contextlib.contextmanager
def recording(triggers: Triggers, seconds: float, from_us: int) -> Iterator[threading.Event]:
    ended = threading.Event()
    session = Session(triggers, seconds, from_us)
    thread = threading.Thread(target=session.run, args=(ended,), daemon=True)
    thread.start()
    yield ended
    thread.join()


def wait_for_all(watch: Watch, ended: threading.Event) -> list[Trigger]:
    """Wait for one trigger after the other."""
    got = []
    while not ended.is_set():
        trigger = watch.wait(0.1)
        if trigger is not None:
            got.append(trigger)
    return got


def poll_at_60_hz(watch: Watch, ended: threading.Event) -> tuple[list[Trigger], list[float]]:
    """Poll once a frame and compute for half of it; return also when polls began."""
    got, polls_s = [], []
    next_s = time.perf_counter()
    while not ended.is_set():
        polls_s.append(time.perf_counter())
        while (trigger := watch.poll()) is not None:
            got.append(trigger)
        busy_until_s = polls_s[-1] + FRAME_S / 2
        total = 0
        while time.perf_counter() < busy_until_s:
            total += sum(range(100))
        next_s += FRAME_S
        time.sleep(max(0.0, next_s - time.perf_counter()))
    return got, polls_s


def quantiles(values: Any) -> dict[str, float]:
    p50, p95, p99, worst = np.percentile(values, (50, 95, 99, 100)).tolist()
    return {"p50": p50, "p95": p95, "p99": p99, "worst": worst, "n": len(values)}


def latencies(got: list[Trigger]) -> dict[str, Any]:
    got = got[20:]  # the first ones wake what was asleep
    return {
        "hand_over_ms": quantiles([trigger.delay_ms for trigger in got]),
        "from_sample_ms": quantiles([trigger.sample_delay_ms for trigger in got]),
    }


def bench_waiting(triggers: Triggers, seconds: float, from_us: int) -> dict[str, Any]:
    with triggers.enter(AREA) as watch, recording(triggers, seconds, from_us) as ended:
        got = wait_for_all(watch, ended)
    triggers.check()
    return latencies(got)


def bench_polling(triggers: Triggers, seconds: float, from_us: int) -> dict[str, Any]:
    with triggers.enter(AREA) as watch, recording(triggers, seconds, from_us) as ended:
        got, polls_s = poll_at_60_hz(watch, ended)
    triggers.check()
    first_poll = np.searchsorted(polls_s, [trigger.arrival_s + 0.001 for trigger in got])
    due_s = np.array(polls_s)[np.minimum(first_poll, len(polls_s) - 1)]
    late = sum(t.delivered_s > due + FRAME_S / 2 for t, due in zip(got, due_s, strict=True))
    return {**latencies(got), "late": int(late), "n_triggers": len(got)}


def bench_machine(seconds: float) -> dict[str, float]:
    """Return how long an event takes from one thread to another that waits for it."""
    came, sent_s, delays_ms = threading.Event(), [0.0], []
    over = threading.Event()

    def wait() -> None:
        while not over.is_set():
            if came.wait(0.1):
                delays_ms.append(1000 * (time.perf_counter() - sent_s[0]))
                came.clear()

    thread = threading.Thread(target=wait)
    thread.start()
    for _ in range(round(seconds / 0.02)):
        time.sleep(0.02)
        sent_s[0] = time.perf_counter()
        came.set()
    over.set()
    thread.join()
    return quantiles(delays_ms[20:])


def bench_cost(triggers: Triggers, from_us: int) -> dict[str, float]:
    """Return the processor time of `take` in µs, by the number of samples and of watches."""
    result = {}
    samples = gaze(20.0, from_us)
    for n_watches in (0, 6):
        watches = [
            triggers.saccade_onset(direction_deg=0),
            triggers.saccade_end(),
            triggers.fixation(200),
            triggers.enter(AREA),
            triggers.leave(AREA, for_ms=5),
            triggers.blink(),
        ][:n_watches]
        for n in (1, 4, 10):
            part = samples[: 5000 * n] if n < 4 else samples
            samples["tracker_time_us"] += 20_000_000
            chunks = [Chunk(k, 0, part[k : k + n]) for k in range(0, len(part) - n, n)]
            gc.collect()
            before_s = time.thread_time()
            for chunk in chunks:
                triggers.take(chunk, STREAM)
            spent_us = 1e6 * (time.thread_time() - before_s) / len(chunks)
            result[f"{n} samples, {n_watches} watches"] = spent_us
        for watch in watches:
            watch.close()
    triggers.check()
    return result


def live_through(triggers: Triggers, minutes: float) -> int:
    """Take the samples of a long session, with watches that nobody reads; return its end."""
    unread = [triggers.enter(AREA), triggers.saccade_onset(), triggers.fixation(10)]
    samples = gaze(60.0)
    for _ in range(round(minutes)):
        for start in range(0, len(samples), 100):
            triggers.take(Chunk(0, 0, samples[start : start + 100].copy()), STREAM)
        samples["tracker_time_us"] += 60_000_000
    for watch in unread:
        watch.close()
    triggers.check()
    return int(samples["tracker_time_us"][0])


def show(name: str, found: dict[str, Any]) -> None:
    for what in ("hand_over_ms", "from_sample_ms"):
        q = found[what]
        print(
            f"{name:42s} {what:15s} p50 {q['p50']:6.2f}  p95 {q['p95']:6.2f}  p99 {q['p99']:6.2f}"
            f"  worst {q['worst']:6.2f}  (n = {q['n']})",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0, help="of each measurement")
    parser.add_argument("--minutes", type=float, default=60.0, help="of the long session")
    parser.add_argument("--json", type=Path, default=Path("bench-results/triggers.json"))
    options = parser.parse_args()
    triggers = Triggers(PAPER_SCREEN, MonotonicClock())
    result: dict[str, Any] = {
        "target_p99_ms": TARGET_P99_MS,
        "load": os.getloadavg() if hasattr(os, "getloadavg") else None,
        "switch_interval_s": sys.getswitchinterval(),
        "machine_ms": bench_machine(options.seconds / 2),
    }
    print(f"load {result['load']}, two threads and an event: {result['machine_ms']} ms")
    at_us = 0
    for when in ("at the start", f"after {options.minutes:g} minutes"):
        if at_us:
            at_us = live_through(triggers, options.minutes)
        for name, bench in (("waiting", bench_waiting), ("polling", bench_polling)):
            found = bench(triggers, options.seconds, at_us)
            result[f"{name} {when}"] = found
            show(f"{name} {when}", found)
            at_us += round(2e6 * options.seconds)
            if "late" in found:
                print(f"{'':42s} {found['late']} of {found['n_triggers']} late", flush=True)
        found = bench_cost(triggers, at_us)
        result[f"cost_us {when}"] = found
        print("cost of take in µs:", {name: round(value, 1) for name, value in found.items()})
        at_us += 1_000_000_000
    interval_s = sys.getswitchinterval()
    sys.setswitchinterval(0.0005)
    found = bench_polling(triggers, options.seconds, at_us)
    sys.setswitchinterval(interval_s)
    result["polling, switch interval 0.5 ms"] = found
    show("polling, switch interval 0.5 ms", found)
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(result, indent=1))
    print(f"written to {options.json}")


if __name__ == "__main__":
    main()
