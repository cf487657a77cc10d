"""The process that owns a device, driven step by step by a test."""

from __future__ import annotations

from pathlib import Path

import msgspec

from gazelive.devices.recorder import Recorder
from gazelive.devices.replay import ReplayDevice
from gazelive.gaze.screen import PAPER_SCREEN
from gazelive.gaze.stream import Message
from gazelive.live.wire.owner import OwnerLines
from gazelive.recordings.session.manifest import SessionManifest, new_session_id
from gazelive.recordings.session.writer import SessionWriter

from ..support.manual_clock import ManualClock
from ..support.recordings import make_block, make_recording

MANIFEST = SessionManifest(
    session="s1", device="replay", mode="identify", started_at="", screen=PAPER_SCREEN
)


def recorded(n_trials=4, seconds=3.0):
    """Return trials, each in a block of its own."""
    blocks, messages = [], []
    for k in range(n_trials):
        start_us = 1_000_000 + k * 5_000_000
        blocks.append(make_block(k, seconds, start_us, rate_hz=1000.0))
        messages += [
            Message(start_us - 30_000, f"TRIALID {k}"),
            Message(start_us + 300_000, "image_onset"),
            Message(start_us + 300_000, f"!V IMGLOAD FILL image{k}.png"),
            Message(start_us + 2_700_000, "image_offset"),
            Message(start_us + 3_100_000, "TRIAL_RESULT 0"),
        ]
    return make_recording(blocks, messages)


class Owner:
    """The process that owns the device, driven step by step."""

    def __init__(self, folder: Path, run, *, device=None, clock=None) -> None:
        self.clock = clock or ManualClock()
        self.device = device or ReplayDevice(recorded(), clock=self.clock)
        self.writer = SessionWriter.create(
            folder, msgspec.structs.replace(MANIFEST, id=new_session_id()), sync_interval_s=None
        )
        self.lines = OwnerLines(run, self.device, self.writer.manifest.id)
        self.sender, self.control = self.lines.sender, self.lines.control
        self.recorder = Recorder(self.device, self.writer, [self.send], clock=self.clock)
        self.keep_from_wire = lambda _number: True
        self.device.start()

    def send(self, chunk, stream) -> None:
        self.last = chunk, stream
        if self.keep_from_wire(chunk.number):
            self.sender(chunk, stream)

    def steps(self, n: int) -> bool:
        """Move this number of chunks; return False if there are no more."""
        for _ in range(n):
            if self.device.finished:
                return False
            self.recorder.step(1.0)
            self.control.serve()
        return True

    def finish(self) -> None:
        self.device.stop()
        self.recorder.drain()
        self.recorder.finish("over")
        self.sender.end_run("over")

    def close(self) -> None:
        self.writer.close()
        self.lines.close()
