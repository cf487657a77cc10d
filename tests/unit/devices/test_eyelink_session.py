"""Complete sessions through the fake pylink into a session folder, sample for sample."""

import numpy as np
import pytest

from gazelive.devices.eyelink.device import EyeLinkDevice
from gazelive.devices.eyelink.setup import EyeLinkSettings
from gazelive.devices.recorder import Recorder
from gazelive.errors import DeviceDisconnectedError
from gazelive.gaze.quality_messages import quality_from_message
from gazelive.gaze.screen import PAPER_SCREEN
from gazelive.recordings.session.manifest import SessionManifest, read_manifest
from gazelive.recordings.session.reader import read_session
from gazelive.recordings.session.writer import SessionWriter

from ...support.fake_host import Behaviour, FakeHost
from ...support.fake_pylink import FakePylink
from ...support.manual_clock import ManualClock

N_TRIALS = 3


def run_session(folder, clock, behaviour=None, *, sinks=(), **settings):
    """Record some trials as an experiment does; return the fake pylink and where the EDF is."""
    pylink = FakePylink(FakeHost(clock, behaviour, drift_ppm=40.0))
    wanted = EyeLinkSettings(screen=PAPER_SCREEN, **settings)
    device = EyeLinkDevice(wanted, clock=clock, host_file_stem="v01_1", pylink=pylink)
    manifest = SessionManifest(
        session="1", device="eyelink", mode="enrol", started_at="2026-01-01T12:00:00+01:00"
    )
    writer = SessionWriter.create(folder, manifest, sync_interval_s=None)
    recorder = Recorder(device, writer, sinks, clock=clock)
    edf = None
    try:
        device.use_graphics(lambda _tracker: pylink.EyeLinkCustomDisplay())
        writer.update(calibrations=device.calibrate())
        for trial in range(N_TRIALS):
            device.check_drift(960.0, 540.0)
            _run_trial(trial, device, recorder, clock, pylink.host)
        recorder.finish("over")
    except DeviceDisconnectedError as error:
        recorder.rescue()
        writer.close(str(error))
    else:
        edf = device.receive_host_file(folder, folder.name)
    finally:
        device.close()
    return pylink, edf


def _run_trial(trial, device, recorder, clock, host):
    device.send_message(f"TRIALID {trial + 1}")
    device.start()
    _step_for(recorder, clock, 0.3)
    flip_s = clock.now_s()
    host.show(f"scene_{trial}.png")
    clock.advance_s(0.004)
    device.send_message("image_onset", at_s=flip_s)
    device.send_message(f"!V IMGLOAD CENTER scene_{trial}.png 960 540 1500 1000")
    _step_for(recorder, clock, 1.0)
    device.send_message("image_offset")
    _step_for(recorder, clock, 0.1)
    device.stop()
    recorder.drain()
    device.send_message("TRIAL_RESULT 0")
    recorder.drain()
    clock.advance_s(1.0)


def _step_for(recorder, clock, seconds):
    until_s = clock.now_s() + seconds
    while clock.now_s() < until_s - 1e-9:
        recorder.step(min(0.05, until_s - clock.now_s()))


@pytest.mark.parametrize(
    ("rate_hz", "eyes"), [(1000.0, "R"), (1000.0, "LR"), (500.0, "L"), (2000.0, "R")]
)
def test_a_session_contains_what_the_camera_saw(tmp_path, rate_hz, eyes):
    clock = ManualClock(1000.0)
    pylink, edf = run_session(tmp_path / "s1", clock, sampling_rate_hz=rate_hz, eyes=eyes)
    stored = read_session(tmp_path / "s1")
    seen = pylink.host.files["V01_1.EDF"]
    assert [b.samples.tobytes() for b in stored.blocks] == [b.tobytes() for b in seen.samples]
    assert len(stored.blocks) == N_TRIALS
    assert all(len(b.samples) > 1.3 * rate_hz for b in stored.blocks)
    assert {(b.stream.sampling_rate_hz, b.stream.eyes) for b in stored.blocks} == {(rate_hz, eyes)}
    assert [trial.name for trial in stored.trials] == ["1", "2", "3"]
    assert [trial.image for trial in stored.trials] == [f"scene_{k}.png" for k in range(3)]
    for ours in stored.messages:
        (theirs,) = [m for m in seen.messages if m.text == ours.text][:1] or [None]
        assert theirs is not None
    onsets_us = [m.tracker_time_us for m in stored.messages if m.text == "image_onset"]
    in_edf_us = [m.tracker_time_us for m in seen.messages if m.text == "image_onset"]
    np.testing.assert_allclose(onsets_us, in_edf_us, atol=1001)
    assert [c.kind for c in stored.calibrations if c.eye == eyes[0]][:2] == [
        "calibration",
        "validation",
    ]
    assert edf.read_bytes() == seen.content()
    assert stored.problems == ()


def test_offset_and_drift_of_the_trackers_clock_are_stored(tmp_path):
    clock = ManualClock(1000.0)
    pylink, _ = run_session(tmp_path / "s1", clock)
    fit = read_manifest(tmp_path / "s1").clock_fit
    assert fit.n_queries >= 4
    assert fit.tracker_us_per_host_s == pytest.approx(1e6 * (1 + 40e-6), abs=0.5)
    at_us = fit.tracker_reference_us + fit.tracker_us_per_host_s * (
        clock.now_s() - fit.host_reference_s
    )
    assert at_us == pytest.approx(pylink.host.now_us, abs=5)


def test_a_bad_line_is_stored_and_the_edf_has_the_rest(tmp_path):
    clock = ManualClock(1000.0)
    pylink, _ = run_session(tmp_path / "s1", clock, Behaviour(lose=range(500, 620), eyes="L"))
    stored = read_session(tmp_path / "s1")
    n_seen = sum(map(len, pylink.host.files["V01_1.EDF"].samples))
    assert stored.n_samples == n_seen - 120
    kinds = [q.kind for m in stored.messages if (q := quality_from_message(m)) is not None]
    assert kinds == ["eye", "lost_samples"]
    assert stored.blocks[0].stream.eyes == "L"


def test_a_disconnection_ends_the_session_with_all_that_came(tmp_path):
    clock = ManualClock(1000.0)
    pylink, edf = run_session(tmp_path / "s1", clock, Behaviour(disconnect_after=2000))
    stored = read_session(tmp_path / "s1")
    assert stored.n_samples == 2000
    assert "connection to the EyeLink was lost" in read_manifest(tmp_path / "s1").stop_reason
    assert edf is None
    assert not pylink.host.is_connected
