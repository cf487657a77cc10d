"""Ten minutes of playing on a manual clock: nothing lost, nothing reordered, nothing adds up."""

import numpy as np
import pytest

from gazelive.devices.replay import ReplayDevice

from ..support.manual_clock import ManualClock
from ..support.recordings import make_recording, numbered_block

MINUTES = 10
ORIGIN_US = 123_456_789


def _recording(rate_hz):
    block = numbered_block(ORIGIN_US, round(MINUTES * 60 * rate_hz), rate_hz=rate_hz)
    times_us = block.samples["tracker_time_us"][:: round(rate_hz)].tolist()
    return make_recording([block], [(time_us, f"at {time_us}") for time_us in times_us])


@pytest.mark.parametrize("rate_hz", [1000.0, 2000.0])
def test_a_prompt_reader_gets_every_sample_when_it_is_due(rate_hz):
    recording = _recording(rate_hz)
    clock = ManualClock(98_765.4321)
    device = ReplayDevice(recording, clock=clock)
    device.start()
    started_s = clock.now_s()
    chunks = []
    while not device.finished:
        chunks.append(device.read_chunk(1.0))
    _assert_all_came(recording, chunks)
    late_s = np.array([c.arrival_s - started_s - (_last_us(c) - ORIGIN_US) / 1e6 for c in chunks])
    assert np.abs(late_s).max() < 1e-6, "on time, in the tenth minute as in the first"
    assert max(len(c.samples) for c in chunks) <= 0.01 * rate_hz + 1


def test_a_slow_reader_and_a_changing_speed_add_no_error():
    recording = _recording(1000.0)
    clock = ManualClock()
    device = ReplayDevice(recording, clock=clock, speed=3.7)
    random = np.random.default_rng(2)
    device.start()
    chunks, late_s = [], []
    anchor_s, anchor_us = clock.now_s(), float(ORIGIN_US)
    speed = 3.7
    while not device.finished:
        if random.random() < 0.001:
            anchor_us += (clock.now_s() - anchor_s) * speed * 1e6
            anchor_s, speed = clock.now_s(), float(random.uniform(0.5, 20))
            device.set_speed(speed)
        chunk = device.read_chunk(0.02)
        if chunk is not None:
            chunks.append(chunk)
            due_s = anchor_s + (_last_us(chunk) - anchor_us) / speed / 1e6
            late_s.append(chunk.arrival_s - due_s)
        clock.advance_s(random.exponential(0.002))
    _assert_all_came(recording, chunks)
    assert min(late_s) > -1e-6
    # nothing is later than the reader's own delay and one sample at the slowest speed
    assert max(late_s) < 0.04
    tenth = len(late_s) // 10
    assert np.mean(late_s[-tenth:]) == pytest.approx(np.mean(late_s[:tenth]), abs=0.001)


def _last_us(chunk):
    return int(chunk.samples["tracker_time_us"][-1])


def _assert_all_came(recording, chunks):
    samples = np.concatenate([chunk.samples for chunk in chunks])
    assert samples.tobytes() == recording.blocks[0].samples.tobytes()
    assert tuple(m for c in chunks for m in c.messages) == recording.messages
    assert [c.number for c in chunks] == list(range(len(chunks)))
