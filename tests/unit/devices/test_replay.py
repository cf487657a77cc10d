from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, strategies as st

from gazelive.devices.protocol import MAX_CHUNK_SAMPLES, ControlsPlayback, SendsMessages
from gazelive.devices.replay import ReplayDevice
from gazelive.errors import ConfigError, DeviceError
from gazelive.recordings.recording import Trial
from gazelive.recordings.trials import find_trials

from ...support.manual_clock import ManualClock
from ...support.recordings import make_recording, numbered_block, samples_of


def _play(device, *, timeout_s=1.0, max_chunks=100_000):
    chunks = []
    while not device.finished and len(chunks) < max_chunks:
        chunk = device.read_chunk(timeout_s)
        if chunk is not None:
            chunks.append(chunk)
    return chunks


def _texts(chunks):
    return [message.text for chunk in chunks for message in chunk.messages]


@pytest.fixture
def experiment():
    """Two trials with messages in all places: before, between and after blocks too."""
    return make_recording(
        [
            numbered_block(1_000_000, 100),
            numbered_block(1_500_000, 50, rate_hz=500.0, first_value=1000),
        ],
        messages=(
            (900_000, "DISPLAY_COORDS"),
            (999_000, "TRIALID 1"),
            (1_010_500, "image_onset"),
            (1_099_000, "last"),
            (1_120_000, "TRIAL_RESULT 1"),
            (1_490_000, "TRIALID 2"),
            (1_500_000, "first"),
            (1_700_000, "TRIAL_RESULT 2"),
        ),
    )


@pytest.mark.parametrize("speed", [1.0, 10.0, 0.25, None])
@pytest.mark.parametrize("loop", [False, True])
def test_samples_messages_and_blocks_come_as_recorded(experiment, speed, loop):
    device = ReplayDevice(experiment, clock=ManualClock(), speed=speed, loop=loop)
    device.start()
    chunks, streams = [], {}
    while len(_texts(chunks)) < 8:
        chunk = device.read_chunk(5.0)
        chunks.append(chunk)
        streams.setdefault(chunk.block, device.describe())
    assert _texts(chunks) == [message.text for message in experiment.messages]
    for number, block in enumerate(experiment.blocks):
        played = samples_of([chunk for chunk in chunks if chunk.block == number])
        assert played.tobytes() == block.samples.tobytes()
        assert streams[number] == block.stream
    assert device.finished is not loop


def test_a_message_comes_with_its_sample_and_one_outside_at_its_own_time(experiment):
    clock = ManualClock(50.0)
    device = ReplayDevice(experiment, clock=clock)
    device.start()
    for chunk in _play(device):
        for message in chunk.messages:
            late_s = chunk.arrival_s - 50.0 - (message.tracker_time_us - 900_000) / 1e6
            assert -1e-9 <= late_s <= 0.01 + 1e-9
            if message.text == "image_onset":
                times_us = chunk.samples["tracker_time_us"]
                assert times_us[0] < message.tracker_time_us < times_us[-1]
            elif message.text in {"TRIALID 1", "TRIAL_RESULT 1", "TRIALID 2"}:
                assert not len(chunk.samples)
                assert chunk.block == 0, "the next block begins with its first sample"


def test_trials_that_no_message_marks_are_marked():
    trials = tuple(
        Trial(
            name=f"t{i}",
            start_us=i * 100_000,
            end_us=i * 100_000 + 80_000,
            block=0,
            image=f"{i}.png",
            image_onset_us=i * 100_000 + 20_000,
            image_offset_us=i * 100_000 + 70_000,
        )
        for i in range(5)
    )
    recording = replace(make_recording([numbered_block(0, 500)]), trials=trials)
    device = ReplayDevice(recording, clock=ManualClock())
    device.start()
    messages = [message for chunk in _play(device) for message in chunk.messages]
    assert find_trials(messages, recording.blocks) == trials


def test_speed_scales_the_time_that_passes(experiment):
    for speed in (0.5, 1.0, 4.0):
        clock = ManualClock()
        device = ReplayDevice(experiment, clock=clock, speed=speed)
        device.start()
        _play(device)
        assert clock.now_s() == pytest.approx(0.8 / speed, abs=1e-9)


def test_as_fast_as_possible_takes_no_time_and_large_chunks():
    clock = ManualClock()
    recording = make_recording([numbered_block(0, 3 * MAX_CHUNK_SAMPLES + 1)])
    device = ReplayDevice(recording, clock=clock, speed=None)
    device.start()
    sizes = [len(chunk.samples) for chunk in _play(device)]
    assert sizes == [MAX_CHUNK_SAMPLES] * 3 + [1]
    assert clock.now_s() == 0


def test_a_late_reader_gets_all_that_came_and_nothing_shifts():
    clock = ManualClock()
    device = ReplayDevice(make_recording([numbered_block(0, 20_000)]), clock=clock)
    device.start()
    clock.advance_s(9.9995)
    chunks = [device.read_chunk(0.0) for _ in range(4)]
    assert [len(c.samples) if c else 0 for c in chunks] == [4096, 4096, 1808, 0]
    chunk = device.read_chunk(1.0)
    assert chunk.samples["tracker_time_us"][-1] == 10_009_000
    assert chunk.arrival_s == pytest.approx(10.009)


def test_chunks_last_as_requested_or_until_the_timeout():
    clock = ManualClock()
    device = ReplayDevice(make_recording([numbered_block(0, 1000)]), clock=clock, chunk_s=0.02)
    device.start()
    assert len(device.read_chunk(1.0).samples) == 21, "the first sample is at 0"
    assert [len(device.read_chunk(1.0).samples) for _ in range(3)] == [20, 20, 20]
    assert len(device.read_chunk(0.005).samples) == 5
    assert device.read_chunk(0.0) is None
    assert clock.now_s() == pytest.approx(0.085)


def test_breaks_are_kept_shortened_or_skipped():
    recording = make_recording(
        [numbered_block(0, 1000), numbered_block(61_000_000, 1000)],
        messages=((31_000_000, "halfway"),),
    )
    durations_s = {}
    for longest_gap_s in (float("inf"), 5.0, 0.0):
        clock = ManualClock()
        device = ReplayDevice(recording, clock=clock, longest_gap_s=longest_gap_s)
        device.start()
        chunks = _play(device)
        assert _texts(chunks) == ["halfway"]
        assert samples_of(chunks)["tracker_time_us"][-1] == 61_999_000
        durations_s[longest_gap_s] = clock.now_s()
    assert durations_s == pytest.approx({float("inf"): 61.999, 5.0: 6.999, 0.0: 1.999})


def test_a_loop_goes_on_in_time(experiment):
    clock = ManualClock()
    device = ReplayDevice(experiment, clock=clock, loop=True)
    device.start()
    chunks = []
    while len(_texts(chunks)) < 24:
        chunks.append(device.read_chunk(1.0))
    assert not device.finished
    assert [c.number for c in chunks] == list(range(len(chunks)))
    assert sorted({c.block for c in chunks}) == list(range(6))
    times_us = samples_of(chunks)["tracker_time_us"]
    assert len(times_us) == 3 * 150
    assert (np.diff(times_us) > 0).all()
    lap_us = 700_001 + 100_000  # from the first message to just after the last
    assert (times_us[150:300] - times_us[:150] == lap_us).all()
    onsets_us = [m.tracker_time_us for c in chunks for m in c.messages if m.text == "image_onset"]
    assert np.diff(onsets_us).tolist() == [lap_us, lap_us]
    assert device.tracker_time_us() == pytest.approx(900_000 + clock.now_s() * 1e6, abs=1)


def test_pause_holds_time_and_resume_loses_nothing():
    clock = ManualClock()
    recording = make_recording([numbered_block(0, 1000)])
    device = ReplayDevice(recording, clock=clock)
    assert isinstance(device, ControlsPlayback)
    device.start()
    first = device.read_chunk(1.0)
    clock.advance_s(0.1)
    device.pause()
    device.pause()
    clock.advance_s(100.0)
    assert device.playback().paused
    assert device.playback().position_s == pytest.approx(0.110)
    assert device.tracker_time_us() == 110_000
    held = device.read_chunk(1.0)
    assert held.samples["tracker_time_us"][-1] == 110_000, "what had arrived can be read"
    before_s = clock.now_s()
    assert device.read_chunk(0.5) is None
    assert clock.now_s() == before_s + 0.5
    device.resume()
    resumed_s = clock.now_s()
    chunks = [first, held, *_play(device)]
    assert samples_of(chunks).tobytes() == recording.blocks[0].samples.tobytes()
    assert clock.now_s() - resumed_s == pytest.approx(0.999 - 0.110)


def test_speed_changes_from_here_on():
    clock = ManualClock()
    recording = make_recording([numbered_block(0, 20_000)])
    device = ReplayDevice(recording, clock=clock)
    device.start()
    chunks = []
    reached_us = 0
    for speed, until_us in ((1.0, 1e6), (4.0, 2e6), (None, 5e6), (0.5, 8e6), (None, 19_999_000)):
        device.set_speed(speed)
        before_s, before_us = clock.now_s(), reached_us
        while reached_us < until_us:
            chunks.append(device.read_chunk(1.0))
            reached_us = int(chunks[-1].samples["tracker_time_us"][-1])
        assert reached_us > before_us
        expected_s = (reached_us - before_us) / 1e6 / speed if speed else 0.0
        assert clock.now_s() - before_s == pytest.approx(expected_s, abs=1e-6)
        assert device.playback().speed == speed
        assert device.tracker_time_us() == reached_us
    assert samples_of(chunks).tobytes() == recording.blocks[0].samples.tobytes()
    assert device.playback().position_s == pytest.approx(19.999)
    assert device.playback().duration_s == pytest.approx(20.0)


def test_a_paused_playback_waits_at_any_speed():
    for speed in (1.0, None):
        clock = ManualClock()
        device = ReplayDevice(make_recording([numbered_block(0, 9000)]), clock=clock, speed=speed)
        device.start()
        device.read_chunk(1.0)
        device.pause()
        before_s = clock.now_s()
        assert device.read_chunk(0.25) is None
        assert clock.now_s() == before_s + 0.25


def test_messages_of_a_late_or_hurried_reader_come_with_their_samples():
    messages = tuple((t, str(t)) for t in range(500_500, 20_000_000, 1_000_000))
    recording = make_recording([numbered_block(0, 20_000)], messages=messages)
    clock = ManualClock()
    device = ReplayDevice(recording, clock=clock, speed=None)
    device.start()
    for chunk in _play(device):
        times_us = chunk.samples["tracker_time_us"]
        for message in chunk.messages:
            assert times_us[0] - 1000 < message.tracker_time_us <= times_us[-1]


def test_a_loop_with_a_shortened_break_keeps_the_trackers_time():
    recording = make_recording([numbered_block(0, 100), numbered_block(60_000_000, 100)])
    clock = ManualClock()
    device = ReplayDevice(recording, clock=clock, loop=True, longest_gap_s=0.5)
    device.start()
    chunks = []
    while sum(len(chunk.samples) for chunk in chunks) < 400:
        chunks.append(device.read_chunk(1.0))
    times_us = samples_of(chunks)["tracker_time_us"]
    assert times_us[[0, 100, 200, 300]].tolist() == [0, 60_000_000, 60_100_000, 120_100_000]
    assert clock.now_s() == pytest.approx(2 * 0.7 - 0.001)


def test_a_mark_is_stamped_with_the_time_that_plays():
    clock = ManualClock()
    device = ReplayDevice(make_recording([numbered_block(5_000_000, 1000)]), clock=clock, speed=2.0)
    assert isinstance(device, SendsMessages)
    device.start()
    clock.advance_s(0.1)
    device.send_message("now")
    clock.advance_s(0.1)
    device.send_message("earlier", at_s=0.05)
    chunk = device.read_chunk(0.0)
    assert [(m.tracker_time_us, m.text) for m in chunk.messages] == [
        (5_100_000, "earlier"),
        (5_200_000, "now"),
    ]


def test_stop_and_start_goes_on_as_a_new_block():
    clock = ManualClock()
    recording = make_recording([numbered_block(0, 1000)])
    device = ReplayDevice(recording, clock=clock)
    device.start()
    chunks = [device.read_chunk(1.0)]
    clock.advance_s(0.0555)
    device.stop()
    clock.advance_s(10.0)
    chunks.append(device.read_chunk(1.0))
    assert chunks[-1].samples["tracker_time_us"][-1] == 65_000
    assert device.read_chunk(1.0) is None
    device.start()
    chunks += _play(device)
    assert samples_of(chunks).tobytes() == recording.blocks[0].samples.tobytes()
    assert sorted({c.block for c in chunks}) == [0, 1]
    with pytest.raises(DeviceError, match="played to its end"):
        device.stop()
        device.start()


def test_unplayable_recordings_are_refused():
    with pytest.raises(DeviceError, match="no samples"):
        ReplayDevice(make_recording([numbered_block(0, 0)]), clock=ManualClock())
    recording = make_recording([numbered_block(0, 10)])
    for speed in (0.0, -1.0, float("nan"), float("inf")):
        with pytest.raises(ConfigError, match="speed"):
            ReplayDevice(recording, clock=ManualClock(), speed=speed)
    with pytest.raises(ConfigError, match="chunk_s"):
        ReplayDevice(recording, clock=ManualClock(), chunk_s=-1.0)
    with pytest.raises(ConfigError, match="longest_gap_s"):
        ReplayDevice(recording, clock=ManualClock(), longest_gap_s=float("nan"))


ACTIONS = st.one_of(
    st.tuples(st.just("read"), st.floats(0, 0.1)),
    st.tuples(st.just("wait"), st.floats(0, 0.2)),
    st.tuples(st.just("speed"), st.sampled_from([None, 0.5, 1.0, 3.7])),
    st.tuples(st.sampled_from(["pause", "resume", "stop", "start"]), st.none()),
)


@given(actions=st.lists(ACTIONS, max_size=40), chunk_s=st.sampled_from([0.0, 0.004, 0.01]))
def test_everything_comes_once_and_in_order(actions, chunk_s):
    blocks = (
        numbered_block(1_000_000, 300),
        numbered_block(1_400_000, 77, rate_hz=500.0, first_value=999),
    )
    times_us = (500_000, 1_000_000, 1_050_700, 1_299_500, 1_350_000, 1_400_000, 1_600_000)
    recording = make_recording(blocks, messages=tuple((t, str(t)) for t in times_us))
    clock = ManualClock()
    device = ReplayDevice(recording, clock=clock, chunk_s=chunk_s)
    device.start()
    recording_now, chunks = True, []
    for action, value in actions:
        if action == "wait":
            clock.advance_s(value)
        elif action == "speed":
            device.set_speed(value)
        elif action == "read":
            chunk = device.read_chunk(value)
            if chunk is not None:
                chunks.append(chunk)
        elif action == "start":
            if not recording_now and not device.finished:
                device.start()
                recording_now = True
        else:
            getattr(device, action)()
            recording_now = recording_now and action != "stop"
    device.resume()
    if not recording_now and not device.finished:
        device.start()
    chunks += _play(device)
    assert samples_of(chunks).tobytes() == b"".join(b.samples.tobytes() for b in blocks)
    assert _texts(chunks) == [str(t) for t in times_us]
    assert [chunk.number for chunk in chunks] == list(range(len(chunks)))
    block_numbers = [chunk.block for chunk in chunks]
    assert set(np.diff(block_numbers)) <= {0, 1}
    assert (np.diff([chunk.arrival_s for chunk in chunks]) >= 0).all()
    assert all(len(chunk.samples) or chunk.messages for chunk in chunks)
