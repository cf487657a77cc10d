import math

import numpy as np
import pytest

from gazelive.devices.protocol import (
    Calibrates,
    ControlsPlayback,
    GazeDevice,
    SeesStimulus,
    SendsMessages,
)
from gazelive.devices.replay import ReplayDevice
from gazelive.errors import ConfigError, DeviceDisconnectedError

from ...support.faults import (
    BackwardTimes,
    Disconnect,
    FaultyDevice,
    Jitter,
    LostSamples,
    RepeatedTimes,
    Stalls,
    TimeJitter,
)
from ...support.manual_clock import ManualClock
from ...support.recordings import make_recording, numbered_block, samples_of

N_SAMPLES = 10_000


@pytest.fixture
def recording():
    """Ten seconds at 1000 Hz with a message every second."""
    messages = tuple((i * 1_000_000 + 500_300, f"message {i}") for i in range(10))
    return make_recording([numbered_block(0, N_SAMPLES)], messages=messages)


def _read_all(recording, *faults, seed=0, chunk_s=0.01, timeout_s=1.0):
    """Play the recording through the faults; return the chunks and who ended it."""
    clock = ManualClock()
    replay = ReplayDevice(recording, clock=clock, chunk_s=chunk_s)
    device = FaultyDevice(replay, faults, clock=clock, seed=seed)
    device.start()
    chunks = []
    while not device.finished:
        chunk = device.read_chunk(timeout_s)
        if chunk is not None:
            chunks.append(chunk)
    return chunks


def _recorded_index(samples):
    """Return which sample each was before anything happened to its time."""
    return samples["left_x"].astype(int)


def test_without_faults_nothing_changes(recording):
    chunks = _read_all(recording)
    assert samples_of(chunks).tobytes() == recording.blocks[0].samples.tobytes()
    assert [m for c in chunks for m in c.messages] == list(recording.messages)
    assert [c.number for c in chunks] == list(range(len(chunks)))


def test_losses_have_the_requested_rate_and_length(recording):
    chunks = _read_all(recording, LostSamples(every_n=100, length=7))
    kept = _recorded_index(samples_of(chunks))
    lost = np.setdiff1d(np.arange(N_SAMPLES), kept)
    runs = np.split(lost, np.flatnonzero(np.diff(lost) > 1) + 1)
    assert [len(run) for run in runs] == [7] * 100
    assert [run[0] // 100 for run in runs] == list(range(100)), "one in each hundred"
    assert [run[-1] // 100 for run in runs] == list(range(100))
    assert len({run[0] % 100 for run in runs}) > 30, "at ever other places"
    assert len([m for c in chunks for m in c.messages]) == 10, "messages arrive"


def test_chunks_that_lost_everything_leave_no_gap_in_the_numbers(recording):
    chunks = _read_all(recording, LostSamples(every_n=100, length=60), chunk_s=0.005)
    assert [c.number for c in chunks] == list(range(len(chunks)))
    assert all(len(c.samples) or c.messages for c in chunks)
    assert len(samples_of(chunks)) == N_SAMPLES * 0.4


def test_repeated_times_are_those_of_the_sample_before(recording):
    samples = samples_of(_read_all(recording, RepeatedTimes(every_n=50)))
    steps_us = np.diff(samples["tracker_time_us"])
    assert len(samples) == N_SAMPLES
    assert (steps_us == 0).sum() == N_SAMPLES / 50
    assert (steps_us == 2000).sum() == N_SAMPLES / 50
    repeated = np.flatnonzero(steps_us == 0) + 1
    assert (repeated // 50).tolist() == list(range(N_SAMPLES // 50))


@pytest.mark.parametrize("seed", range(5))
def test_the_first_sample_has_none_before_it_to_repeat(recording, seed):
    samples = samples_of(_read_all(recording, RepeatedTimes(every_n=2), seed=seed))
    assert (samples["tracker_time_us"][1::2] == samples["tracker_time_us"][::2]).all()


def test_backward_steps_have_the_requested_size(recording):
    samples = samples_of(_read_all(recording, BackwardTimes(every_n=1000, by_us=3000)))
    steps_us = np.diff(samples["tracker_time_us"])
    assert (steps_us == -3000).sum() == (steps_us < 0).sum() == N_SAMPLES / 1000


def test_time_jitter_moves_times_and_nothing_else(recording):
    samples = samples_of(_read_all(recording, TimeJitter(max_us=400)))
    off_us = samples["tracker_time_us"] - recording.blocks[0].samples["tracker_time_us"]
    assert abs(off_us).max() <= 400
    assert off_us.std() == pytest.approx(400 / math.sqrt(3), rel=0.05)
    assert (np.diff(samples["tracker_time_us"]) > 0).all(), "less than half an interval keeps order"
    assert (_recorded_index(samples) == np.arange(N_SAMPLES)).all()


def test_jitter_delays_delivery_without_loss_or_overtaking(recording):
    chunks = _read_all(recording, Jitter(max_s=0.008))
    assert samples_of(chunks).tobytes() == recording.blocks[0].samples.tobytes()
    late_s = np.array([c.arrival_s - c.samples["tracker_time_us"][-1] / 1e6 for c in chunks])
    assert late_s.min() >= 0
    assert 0.007 < late_s.max() <= 0.008
    assert late_s.std() > 0.001


def test_a_held_chunk_respects_the_timeout(recording):
    clock = ManualClock()
    device = FaultyDevice(
        ReplayDevice(recording, clock=clock), [Jitter(max_s=5.0)], clock=clock, seed=3
    )
    device.start()
    n_empty = 0
    while (chunk := device.read_chunk(0.02)) is None:
        n_empty += 1
        assert clock.now_s() == pytest.approx(0.02 * n_empty)
    assert n_empty > 10
    assert chunk.arrival_s == clock.now_s()
    assert device.read_chunk(0.0) is None
    device.stop()
    rest = [device.read_chunk(0.0)]
    assert device.read_chunk(0.0) is None
    played = samples_of([chunk, *rest])
    assert (_recorded_index(played) == np.arange(len(played))).all(), "stopping frees what was held"
    assert len(played) == math.floor(clock.now_s() * 1000 + 1e-6) + 1


def test_stalls_hold_everything_up_once_a_period(recording):
    chunks = _read_all(recording, Stalls(every_s=2.0, length_s=0.3))
    assert samples_of(chunks).tobytes() == recording.blocks[0].samples.tobytes()
    arrivals_s = np.array([c.arrival_s for c in chunks])
    stalls = np.flatnonzero(np.diff(arrivals_s) > 0.2)
    assert len(stalls) == 5
    assert np.diff(arrivals_s)[stalls] == pytest.approx(0.3, abs=0.011)
    assert (arrivals_s[stalls] // 2.0).tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("after_n", [1, 4321, N_SAMPLES - 1])
def test_a_disconnected_device_gave_exactly_n_samples(recording, after_n):
    clock = ManualClock()
    replay = ReplayDevice(recording, clock=clock)
    device = FaultyDevice(replay, [Disconnect(after_n_samples=after_n)], clock=clock)
    device.start()
    chunks = []
    with pytest.raises(DeviceDisconnectedError, match="tracker was lost"):
        while True:
            chunks.append(device.read_chunk(1.0))
    assert (_recorded_index(samples_of(chunks)) == np.arange(after_n)).all()
    assert len([m for c in chunks for m in c.messages]) == sum(
        m.tracker_time_us <= (after_n - 1) * 1000 for m in recording.messages
    )
    for call in (device.start, device.tracker_time_us, device.pause, lambda: device.read_chunk(0)):
        with pytest.raises(DeviceDisconnectedError):
            call()
    device.stop()
    device.close()
    assert device.finished


def test_it_has_the_capabilities_of_the_device(recording):
    clock = ManualClock()
    device = FaultyDevice(ReplayDevice(recording, clock=clock), [], clock=clock)
    for capability in (GazeDevice, SendsMessages, ControlsPlayback):
        assert isinstance(device, capability)
    for capability in (SeesStimulus, Calibrates):
        assert not isinstance(device, capability)
    device.start()
    device.send_message("mark")
    assert device.read_chunk(1.0).messages[0].text == "mark"
    device.set_speed(3.0)
    assert device.playback().speed == 3.0


SAMPLE_FAULTS = (
    LostSamples(every_n=37, length=5),
    RepeatedTimes(every_n=20),
    BackwardTimes(every_n=91),
    TimeJitter(max_us=300),
)


@pytest.mark.parametrize("chunk_s", [0.0, 0.003, 1.0])
@pytest.mark.parametrize("seed", [0, 7])
def test_the_seed_decides_and_not_the_cut_into_chunks(chunk_s, seed):
    recording = make_recording([numbered_block(0, 500)])
    reference = samples_of(_read_all(recording, *SAMPLE_FAULTS, seed=seed))
    again = samples_of(_read_all(recording, *SAMPLE_FAULTS, seed=seed, chunk_s=chunk_s))
    assert again.tobytes() == reference.tobytes()
    other = samples_of(_read_all(recording, *SAMPLE_FAULTS, seed=seed + 1))
    assert other.tobytes() != reference.tobytes()


@pytest.mark.parametrize(
    "make",
    [
        lambda: LostSamples(every_n=5, length=5),
        lambda: LostSamples(every_n=5, length=0),
        lambda: RepeatedTimes(every_n=1),
        lambda: BackwardTimes(every_n=10, by_us=0),
        lambda: TimeJitter(max_us=0),
        lambda: Jitter(max_s=-1.0),
        lambda: Stalls(every_s=1.0, length_s=1.0),
        lambda: Disconnect(after_n_samples=0),
    ],
)
def test_an_impossible_fault_is_refused(make):
    with pytest.raises(ConfigError):
        make()
