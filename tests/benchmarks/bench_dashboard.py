"""Cost of the dashboard at 1000 Hz: repaints per second, CPU, memory, start-up time.

A publisher in a process of its own sends over ZeroMQ what an engine sends (traces every 20 ms,
saccades, fixations, posteriors, quality, a new image every eight seconds); the dashboard runs
offscreen, painted by Qt's raster engine, in another. Beside it in the same run: a bare pyqtgraph
window that redraws three curves of the same five seconds, every sample of them.

    python tests/benchmarks/bench_dashboard.py [--seconds S] [--json OUT]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

TARGET_HZ = 30.0
TARGET_CPU_PERCENT = 40.0
TARGET_START_S = 3.0
PIECE_MS = 20
SACCADE_EVERY_MS = 280
IMAGE_EVERY_MS = 8_000
STIMULI = Path(__file__).parents[2] / "stimuli"
N_LEADING = 20


# -- the publisher ------------------------------------------------------------------------------


def synthetic_gaze(seconds: float) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[int]]:
    """Return x, y (°), speed (°/s) at 1000 Hz, and the onsets of 40 ms saccades."""
    rng = np.random.default_rng(1)
    n = round(1000 * seconds)
    x, y = np.zeros(n), np.zeros(n)
    onsets = list(range(200, n - 200, SACCADE_EVERY_MS))
    here = np.zeros(2)
    ramp = np.linspace(0, 1, 40)
    ramp = 10 * ramp**3 - 15 * ramp**4 + 6 * ramp**5
    for onset, following in zip(onsets, [*onsets[1:], n], strict=True):
        there = rng.uniform((-15, -9), (15, 9))
        for values, start, end in zip((x, y), here, there, strict=True):
            values[onset : onset + 40] = start + (end - start) * ramp
            values[onset + 40 : following] = end
        here = there
    x, y = x + rng.normal(0, 0.01, n), y + rng.normal(0, 0.01, n)
    speed = np.hypot(np.gradient(x), np.gradient(y)) * 1000
    return x, y, speed, onsets


def synthetic_documents(seconds: float, n_viewers: int) -> Iterator[tuple[float, bytes]]:
    """Yield the encoded documents with the second at which each is due."""
    from gazelive.gaze import documents as d
    from gazelive.gaze.screen import PAPER_SCREEN
    from gazelive.gaze.stream import StreamDescription

    rng = np.random.default_rng(2)
    x, y, speed, onsets = synthetic_gaze(seconds)
    images = sorted(path.name for path in STIMULI.glob("*.jpg"))
    stream = StreamDescription(
        device="synthetic", sampling_rate_hz=1000.0, eyes="R", screen=PAPER_SCREEN
    )
    yield 0.0, d.encode(d.RunStarted(session="bench", stream=stream))
    names = tuple(f"v{i:05d}" for i in range(n_viewers))
    yield 0.0, d.encode(d.ModelLoaded(model="bench", method="none", viewer_ids=names))
    at_ms = {onset + 45: onset for onset in onsets}
    evidence, n_saccades, n_images = np.zeros(n_viewers), 0, 0
    for first in range(0, len(x), PIECE_MS):
        due_s, part = (first + PIECE_MS) / 1000, slice(first, first + PIECE_MS)
        if first % IMAGE_EVERY_MS == 0:
            n_images += 1
            yield (
                due_s,
                d.encode(
                    d.TrialStarted(
                        trial=f"{n_images}",
                        tracker_time_us=first * 1000,
                        image=images[n_images % len(images)],
                        image_rectangle_px=(210.0, 40.0, 1500.0, 1000.0),
                    )
                ),
            )
        yield (
            due_s,
            d.encode(
                d.GazeTrace(
                    first_us=first * 1000,
                    interval_us=1000.0,
                    x_deg=x[part].astype("<f4").tobytes(),
                    y_deg=y[part].astype("<f4").tobytes(),
                    speed_deg_s=speed[part].astype("<f4").tobytes(),
                    threshold_deg_s=30.0,
                )
            ),
        )
        if first % 1000 == 0:
            yield (
                due_s,
                d.encode(
                    d.QualitySummary(
                        tracker_time_us=first * 1000,
                        rate_asked_hz=1000.0,
                        rate_received_hz=1000.0,
                        n_lost_samples=0,
                        missing_fraction=0.01,
                        rms_s2s_deg=0.014,
                        latency_ms=float(rng.uniform(2, 4)),
                    )
                ),
            )
        for ms in range(first, first + PIECE_MS):
            onset = at_ms.get(ms)
            if onset is None:
                continue
            n_saccades += 1
            evidence += rng.normal(0, 0.2, n_viewers)
            evidence[7] += 0.15
            log_p = evidence - np.logaddexp.reduce(evidence)
            leading = np.argsort(-log_p)[:N_LEADING]
            start, end = onset - 1, onset + 41
            yield (
                due_s,
                d.encode(
                    d.Saccade(
                        eye="R",
                        onset_us=onset * 1000,
                        offset_us=(onset + 39) * 1000,
                        start_x_deg=float(x[start]),
                        start_y_deg=float(y[start]),
                        end_x_deg=float(x[end]),
                        end_y_deg=float(y[end]),
                        peak_velocity_deg_s=float(speed[onset : onset + 40].max()),
                    )
                ),
            )
            yield (
                due_s,
                d.encode(
                    d.Fixation(
                        eye="R",
                        onset_us=(onset - SACCADE_EVERY_MS + 40) * 1000,
                        offset_us=(onset - 1) * 1000,
                        x_deg=float(x[start]),
                        y_deg=float(y[start]),
                    )
                ),
            )
            yield (
                due_s,
                d.encode(
                    d.Posterior(
                        tracker_time_us=ms * 1000,
                        leading=tuple(leading.tolist()),
                        log_probabilities=tuple(log_p[leading].tolist()),
                        log_unknown=-2.0,
                        n_saccades=n_saccades,
                        n_images=n_images,
                        seconds=ms / 1000,
                        settled=n_saccades % 25 == 0,
                    )
                ),
            )


def publish(documents_port: int, control_port: int, seconds: float, n_viewers: int) -> None:
    """Send in real time once a dashboard has asked for a snapshot."""
    import msgspec
    import zmq

    context = zmq.Context()
    publisher, control = context.socket(zmq.PUB), context.socket(zmq.REP)
    publisher.bind(f"tcp://127.0.0.1:{documents_port}")
    control.bind(f"tcp://127.0.0.1:{control_port}")
    script = list(synthetic_documents(seconds, n_viewers))
    control.recv()
    control.send(msgspec.msgpack.encode({"ok": True, "documents": [], "playback": None}))
    started_s = time.perf_counter()
    for due_s, message in script:
        while True:
            wait_s = started_s + due_s - time.perf_counter()
            if control.poll(max(wait_s, 0) * 1000):
                control.recv()
                control.send(msgspec.msgpack.encode({"ok": True, "playback": None}))
            if wait_s <= 0:
                break
        publisher.send(message)
    publisher.close(1000)
    control.close(0)
    context.term()


# -- the dashboard ------------------------------------------------------------------------------


def watch(documents_port: int, control_port: int, seconds: float, size: tuple[int, int]) -> None:
    """Run the dashboard for some seconds; print what it cost as JSON."""
    from PyQt6.QtCore import QEvent, QObject, QTimer

    from gazelive.dashboard.feed import ZmqFeed
    from gazelive.dashboard.window.application import make_application
    from gazelive.dashboard.window.preferences import Preferences
    from gazelive.dashboard.window.window import DashboardWindow

    class PaintWatch(QObject):
        """Notes when a widget is painted."""

        def __init__(self) -> None:
            super().__init__()
            self.times_s: list[float] = []

        def eventFilter(self, _watched: QObject | None, event: QEvent | None) -> bool:  # noqa: N802
            if event is not None and event.type() == QEvent.Type.Paint:
                self.times_s.append(time.perf_counter())
            return False

    app = make_application()
    feed = ZmqFeed(f"tcp://127.0.0.1:{documents_port}", f"tcp://127.0.0.1:{control_port}")
    with tempfile.TemporaryDirectory() as folder:
        preferences = Preferences(Path(folder) / "dashboard.ini")
        window = DashboardWindow(feed, preferences, image_folders=[STIMULI])
        window.resize(*size)
        watches = {}
        for key in ("traces", "gaze"):
            panel = window.panels[key]
            canvas = getattr(panel, "_canvas", None) or panel._plot
            watches[key] = PaintWatch()
            canvas.viewport().installEventFilter(watches[key])
        window.start()
        app.processEvents()
        start_cpu_s = time.process_time()
        print(json.dumps({"shown": True}), flush=True)

        figures: dict[str, Any] = {"start_cpu_s": start_cpu_s}
        settle_s = 6.0  # until the traces are full

        def begin() -> None:
            figures["from"] = time.perf_counter(), time.process_time(), _memory_mb()

        def end() -> None:
            wall_s = time.perf_counter() - figures["from"][0]
            figures["cpu_percent"] = 100 * (time.process_time() - figures["from"][1]) / wall_s
            figures["grown_mb"] = _memory_mb() - figures["from"][2]
            figures["memory_mb"] = _memory_mb()
            for key, watched in watches.items():
                times = np.array([t for t in watched.times_s if t >= figures["from"][0]])
                figures[f"{key}_hz"] = len(times) / wall_s
                figures[f"{key}_gap_p99_ms"] = float(np.percentile(np.diff(times), 99)) * 1e3
            figures["n_saccades"] = window.state.posterior.n_saccades
            window.close()
            app.quit()

        QTimer.singleShot(round(1000 * settle_s), begin)
        QTimer.singleShot(round(1000 * (settle_s + seconds)), end)
        app.exec()
        del figures["from"]
    print(json.dumps(figures), flush=True)


def watch_bare(seconds: float, size: tuple[int, int]) -> None:
    """Redraw three bare curves at 30 Hz for some seconds; print what it cost as JSON."""
    import pyqtgraph as pg
    from PyQt6.QtCore import Qt, QTimer

    app = pg.mkQApp()
    canvas = pg.GraphicsLayoutWidget()
    canvas.resize(round(size[0] * 0.45), round(size[1] * 0.4))
    curves = [canvas.addPlot(row=i, col=0).plot(pen="b") for i in range(3)]
    x, y, speed, _ = synthetic_gaze(seconds + 6)
    canvas.show()
    now = 5_000
    times = np.arange(-5_000, 0) / 1000

    def redraw() -> None:
        nonlocal now
        now += 30
        for curve, values in zip(curves, (x, y, speed), strict=True):
            curve.setData(times, values[now - 5_000 : now])

    timer = QTimer()
    timer.setTimerType(Qt.TimerType.PreciseTimer)
    timer.timeout.connect(redraw)
    timer.start(30)
    wall_s, cpu_s = time.perf_counter(), time.process_time()
    QTimer.singleShot(round(1000 * seconds), app.quit)
    app.exec()
    wall_s, cpu_s = time.perf_counter() - wall_s, time.process_time() - cpu_s
    print(json.dumps({"cpu_percent": 100 * cpu_s / wall_s}), flush=True)


def _memory_mb() -> float:
    import psutil

    return float(psutil.Process().memory_info().rss) / 2**20


# -- all of it ----------------------------------------------------------------------------------


def child(*arguments: object) -> subprocess.Popen[str]:
    """Start this file as another process, without a display."""
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen", "OMP_NUM_THREADS": "1"}
    return subprocess.Popen(
        [sys.executable, __file__, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=environment,
    )


def free_ports() -> tuple[int, int]:
    """Return two free ports."""
    import socket

    with socket.socket() as one, socket.socket() as other:
        one.bind(("127.0.0.1", 0))
        other.bind(("127.0.0.1", 0))
        return one.getsockname()[1], other.getsockname()[1]


def measure(seconds: float, n_viewers: int, size: tuple[int, int]) -> dict[str, Any]:
    """Return the figures of one run."""
    ports = free_ports()
    publisher = child("--publish", *ports, seconds + 9, n_viewers)
    started_s = time.perf_counter()
    dashboard = child("--watch", *ports, seconds, *size)
    assert dashboard.stdout is not None
    dashboard.stdout.readline()
    shown_s = time.perf_counter() - started_s
    figures: dict[str, Any] = json.loads(dashboard.stdout.readline())
    dashboard.wait(60)
    publisher.terminate()
    publisher.wait(60)
    return {"n_viewers": n_viewers, "size": list(size), "start_s": shown_s, **figures}


def main() -> None:
    """Measure, print a table, write JSON."""
    if len(sys.argv) > 1 and sys.argv[1] == "--publish":
        documents_port, control_port, seconds, n_viewers = sys.argv[2:]
        publish(int(documents_port), int(control_port), float(seconds), int(n_viewers))
        return
    if len(sys.argv) > 1 and sys.argv[1] == "--watch":
        documents_port, control_port, seconds, width, height = sys.argv[2:]
        ports = int(documents_port), int(control_port)
        watch(*ports, float(seconds), (int(width), int(height)))
        return
    if len(sys.argv) > 1 and sys.argv[1] == "--bare":
        watch_bare(float(sys.argv[2]), (int(sys.argv[3]), int(sys.argv[4])))
        return
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=20.0, help="measured in each row")
    parser.add_argument("--json", type=Path, default=Path("bench-results/dashboard.json"))
    options = parser.parse_args()
    print(
        f"{'window':<12}{'viewers':>8}{'start s':>9}{'(CPU)':>7}{'traces Hz':>11}{'gaze Hz':>9}"
        f"{'gap p99 ms':>12}{'CPU %':>8}{'MB':>7}{'grown MB':>10}{'bare CPU %':>12}"
    )
    rows = []
    for size, n_viewers in (((1280, 800), 32), ((1280, 800), 10_000), ((3840, 2160), 32)):
        row = measure(options.seconds, n_viewers, size)
        bare = child("--bare", options.seconds / 2, *size)
        row["bare_cpu_percent"] = json.loads(bare.communicate()[0])["cpu_percent"]
        row["cpu_against_bare"] = row["cpu_percent"] / row["bare_cpu_percent"]
        rows.append(row)
        print(
            f"{f'{size[0]}×{size[1]}':<12}{n_viewers:>8}{row['start_s']:>9.2f}"
            f"{row['start_cpu_s']:>7.2f}"
            f"{row['traces_hz']:>11.1f}{row['gaze_hz']:>9.1f}{row['traces_gap_p99_ms']:>12.1f}"
            f"{row['cpu_percent']:>8.1f}{row['memory_mb']:>7.0f}{row['grown_mb']:>10.1f}"
            f"{row['bare_cpu_percent']:>12.1f}"
        )
    smallest = [row for row in rows if row["size"] == [1280, 800]]
    result = {
        "rows": rows,
        "targets": {"hz": TARGET_HZ, "cpu": TARGET_CPU_PERCENT, "start_s": TARGET_START_S},
        "holds": all(
            row["traces_hz"] >= TARGET_HZ
            and row["cpu_percent"] < TARGET_CPU_PERCENT
            and row["start_s"] < TARGET_START_S
            for row in smallest
        ),
        "load_average": os.getloadavg() if hasattr(os, "getloadavg") else None,
    }
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    print(f"at 1280×800 the targets {'hold' if result['holds'] else 'DO NOT HOLD'}; {options.json}")


if __name__ == "__main__":
    main()
