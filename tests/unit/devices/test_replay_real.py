"""Real recordings play whole: repeated times, several blocks, messages in all places."""

import numpy as np
import pytest

from gazelive.clock import ManualClock
from gazelive.devices.replay import ReplayDevice
from gazelive.recordings.asc_reader import read_asc

FILES = (
    "bino1000",
    "bino500_unclosed",
    "mono1000_trials",
    "mono2000",
    "monoRemote500",
)


@pytest.mark.parametrize("name", FILES)
def test_a_real_recording_plays_whole(shared_data, name):
    recording = read_asc(shared_data / "asc" / f"{name}.asc.gz")
    blocks = [block for block in recording.blocks if len(block.samples)]
    clock = ManualClock()
    device = ReplayDevice(recording, clock=clock, speed=20.0)
    device.start()
    chunks, streams = [], {}
    while not device.finished:
        chunk = device.read_chunk(1.0)
        if chunk is not None:
            chunks.append(chunk)
            streams.setdefault(chunk.block, device.describe())
    assert streams == {number: block.stream for number, block in enumerate(blocks)}
    for number, block in enumerate(blocks):
        played = np.concatenate([c.samples for c in chunks if c.block == number])
        assert played.tobytes() == np.ascontiguousarray(block.samples).tobytes()
    texts = [message.text for chunk in chunks for message in chunk.messages]
    in_time = sorted(recording.messages, key=lambda message: message.tracker_time_us)
    assert texts == [message.text for message in in_time]
    assert clock.now_s() >= 0.99 * recording.duration_s / 20
