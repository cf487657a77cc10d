"""Process that owns the simulated tracker of a soak; its one argument is the JSON of a `Course`.

It records trials like those of a real session, each in a block of its own. After every
`report_every_s` of session time and at the end it prints a line of JSON: how far it has come.
"""

from __future__ import annotations

import functools
import json
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

ROOT = Path(__file__).parents[3]
TRIAL_S, CROSS_S, PAUSE_S = 4.0, 0.5, 0.5
N_IMAGES = 40
CATCH_UP_CHUNKS = 32
"""In accelerated time the engine may be this far behind."""


class Course(msgspec.Struct, frozen=True, kw_only=True):
    """A session to record."""

    folder: Path
    address: str
    seconds: float
    accelerated: bool
    """True: as fast as the engine analyses it; False: in real time."""
    report_every_s: float = 60.0
    sampling_rate_hz: float = 2000.0
    seed: int = 1


def main() -> None:
    sys.path.insert(0, str(ROOT))
    from gazelive.system.process import limit_to_one_thread

    limit_to_one_thread()
    from gazelive.live import decode_settings, find_run

    course = decode_settings(sys.argv[1], Course)
    for progress in record(course, find_run(course.address)):
        print(json.dumps(progress), flush=True)


def record(course: Course, run: Any) -> Iterator[dict[str, Any]]:
    """Record the session; yield its progress."""
    from gazelive.clock import MonotonicClock
    from gazelive.devices.protocol import CrossStimulus, ImageStimulus
    from gazelive.devices.recorder import Recorder
    from gazelive.devices.simulated import SimulatedDevice, generated_image
    from gazelive.gaze.screen import PAPER_SCREEN
    from gazelive.live.wire.owner import OwnerLines
    from gazelive.recordings.session.manifest import SessionManifest, new_session_id
    from gazelive.recordings.session.writer import SessionWriter, now_iso
    from tests.support.manual_clock import ManualClock

    class Tracker(SimulatedDevice):
        """Keeps no file of its own, as that is on another computer; stamps arrivals in real time.

        Latencies are those of the real clock also where the session runs faster.
        """

        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            self._host_file.close()
            self._host_file = NoFile()  # type: ignore[assignment]

        def read_chunk(self, timeout_s: float) -> Any:
            chunk = super().read_chunk(timeout_s)
            return None if chunk is None else replace(chunk, arrival_s=time.perf_counter())

    clock = ManualClock() if course.accelerated else MonotonicClock()
    saliency_of = functools.cache(generated_image)
    names = [f"image{number:02}.jpg" for number in range(N_IMAGES)]
    for name in names:
        saliency_of(name)
    device = Tracker(
        "v001",
        seed=course.seed,
        session=1,
        clock=clock,
        sampling_rate_hz=course.sampling_rate_hz,
        eyes="LR",
        drift_ppm=0.0,
        chunk_s=0.1 if course.accelerated else 0.01,
        saliency_of=saliency_of,
    )
    manifest = SessionManifest(
        session="1", id=new_session_id(), device="simulated", mode="identify",
        started_at=now_iso(), screen=PAPER_SCREEN,
    )  # fmt: skip
    writer = SessionWriter.create(course.folder, manifest)
    lines = OwnerLines(run, device, manifest.id)
    recorder = Recorder(device, writer, [lines.sender], clock=clock)
    n_samples = 0

    def go_on(seconds: float) -> None:
        nonlocal n_samples
        until_s = clock.now_s() + seconds
        while clock.now_s() < until_s:
            chunk = recorder.step(0.05 if not course.accelerated else 1.0)
            n_samples += 0 if chunk is None else len(chunk.samples)
            lines.serve()
            if course.accelerated and writer.next_chunk % CATCH_UP_CHUNKS == 0:
                wait_for_engine(lines, writer.next_chunk - CATCH_UP_CHUNKS)
                lines.posteriors.newest()  # `serve` takes 200 per second, plenty in real time

    def progress(trials: int, *, over: bool = False) -> dict[str, Any]:
        return {
            "over": over,
            "session_s": clock.now_s() - started_s,
            "trials": trials,
            "samples": n_samples,
            "chunks": writer.next_chunk,
            "not_sent": lines.sender.n_unsent,
            "clock_offset_s": clock.now_s() - device.tracker_time_us() / 1e6,
        }

    started_s = clock.now_s()
    due_s, trial = started_s, 0
    while clock.now_s() < started_s + course.seconds:
        trial += 1
        name = names[trial % N_IMAGES]
        device.send_message(f"TRIALID {trial}")
        device.start()
        device.show(CrossStimulus(x_px=960, y_px=540))
        go_on(CROSS_S)
        device.send_message("image_onset")
        device.send_message(f"!V IMGLOAD CENTER {name} 960 540 1500 1000")
        device.show(ImageStimulus(name=name, left_px=210, top_px=40, width_px=1500, height_px=1000))
        go_on(TRIAL_S)
        device.send_message("image_offset")
        device.hide()
        device.send_message(f"!V TRIAL_VAR image {name}")
        device.send_message("TRIAL_RESULT 0")
        device.stop()
        while (chunk := recorder.step(0.0)) is not None:
            n_samples += len(chunk.samples)
        lines.sender.end_block()
        clock.sleep_until_s(clock.now_s() + PAUSE_S)
        if clock.now_s() >= due_s:
            due_s += course.report_every_s
            yield progress(trial)
    device.close()
    recorder.finish("over")
    lines.sender.end_run("over")
    yield progress(trial, over=True)
    lines.close()


class NoFile:
    """Stands for the file of the tracker's own computer."""

    def __getattr__(self, _name: str) -> Any:
        return lambda *_arguments: None


def wait_for_engine(lines: Any, next_chunk: int) -> None:
    """Return once the engine has come this far."""
    from gazelive.errors import PeerLostError

    while True:
        try:
            if lines.ask_engine("status", timeout_s=5.0).get("next_chunk", 0) >= next_chunk:
                return
        except PeerLostError:
            continue


if __name__ == "__main__":
    main()
