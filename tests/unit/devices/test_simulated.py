from contextlib import closing

import numpy as np
import pytest
from PIL import Image

from gazelive.devices.protocol import CrossStimulus, ImageStimulus
from gazelive.devices.simulated import SimulatedDevice, saliency_in
from gazelive.errors import ModelError
from gazelive.gaze.samples import missing_mask
from gazelive.gaze.screen import PAPER_SCREEN
from gazelive.recordings.asc.reader import read_asc

from ...support.faults import FaultyDevice, LostSamples
from ...support.manual_clock import ManualClock

IMAGE = ImageStimulus(name="scene.png", left_px=210, top_px=40, width_px=1500, height_px=1000)


@pytest.fixture
def make_simulated():
    """Make devices that are closed at the end; return each with its clock."""
    devices = []

    def make(viewer_id="a", *, seed=1, session=1, **options):
        clock = ManualClock(500.0)
        device = SimulatedDevice(viewer_id, seed=seed, session=session, clock=clock, **options)
        devices.append(device)
        return device, clock

    yield make
    for device in devices:
        device.close()


def _record(device, clock, seconds):
    """Advance the clock and return the samples recorded meanwhile."""
    clock.advance_s(seconds)
    chunks = []
    while (chunk := device.read_chunk(0.0)) is not None:
        chunks.append(chunk)
    return np.concatenate([chunk.samples for chunk in chunks])


def _trial(device, clock):
    device.start()
    device.show(CrossStimulus(x_px=500.0, y_px=700.0))
    parts = [_record(device, clock, 0.8)]
    device.show(IMAGE)
    parts.append(_record(device, clock, 3.0))
    device.hide()
    parts.append(_record(device, clock, 0.4))
    device.stop()
    return np.concatenate(parts)


def test_the_same_viewer_seed_session_and_commands_give_the_same_samples(make_simulated):
    reference = _trial(*make_simulated())
    assert _trial(*make_simulated()).tobytes() == reference.tobytes()
    for other in (
        make_simulated("b"),
        make_simulated(seed=2),
        make_simulated(session=2),
    ):
        assert _trial(*other).tobytes() != reference.tobytes()


@pytest.mark.parametrize("rate_hz", [250.0, 1000.0, 2000.0])
@pytest.mark.parametrize("eyes", ["L", "R", "LR"])
def test_rate_and_eyes_are_as_requested(make_simulated, rate_hz, eyes):
    device, clock = make_simulated(sampling_rate_hz=rate_hz, eyes=eyes)
    device.start()
    samples = _record(device, clock, 1.0)
    assert len(samples) == pytest.approx(rate_hz, abs=1)
    assert (np.diff(samples["tracker_time_us"]) == round(1e6 / rate_hz)).all()
    for eye, field in (("L", "left_x"), ("R", "right_x")):
        assert np.isfinite(samples[field]).any() == (eye in eyes)
    assert missing_mask(samples, eyes).mean() < 0.5
    assert device.describe().screen == PAPER_SCREEN


def test_the_trackers_clock_has_its_own_origin_and_drifts(make_simulated):
    device, clock = make_simulated(drift_ppm=1000.0, tracker_origin_us=77_000_000)
    assert device.tracker_time_us() == 77_000_000
    device.start()
    samples = _record(device, clock, 20.0)
    assert len(samples) == 20_020
    assert samples["tracker_time_us"][0] == 77_001_000
    assert device.tracker_time_us() == 97_020_000


def test_a_break_is_lived_only_at_its_end(make_simulated):
    device, clock = make_simulated()
    device.show(CrossStimulus(x_px=300.0, y_px=200.0))
    clock.advance_s(7 * 24 * 3600.0)
    device.start()
    samples = _record(device, clock, 0.5)
    assert np.nanmedian(samples["right_x"]) == pytest.approx(300, abs=60)
    assert np.nanmedian(samples["right_y"]) == pytest.approx(200, abs=60)


def test_a_drift_check_measures_the_gaze_that_is_recorded(make_simulated):
    device, clock = make_simulated(eyes="LR")
    target = CrossStimulus(x_px=1200.0, y_px=400.0)
    device.show(target)
    left, right = device.check_drift(target.x_px, target.y_px)
    device.start()
    samples = _record(device, clock, 2.0)
    assert (left.eye, right.eye) == ("L", "R")
    for drift, x, y in ((left, "left_x", "left_y"), (right, "right_x", "right_y")):
        assert np.nanmedian(samples[x]) == pytest.approx(1200 + drift.offset_x_px, abs=15)
        assert np.nanmedian(samples[y]) == pytest.approx(400 + drift.offset_y_px, abs=15)
        pixels = np.hypot(drift.offset_x_px, drift.offset_y_px)
        assert drift.offset_deg == pytest.approx(pixels / 38, rel=0.25)


def test_validation_finds_each_eyes_own_error(make_simulated):
    errors_deg = []
    for session in range(4):
        device, _ = make_simulated(eyes="LR", session=session)
        results = device.calibrate()
        assert [(r.eye, r.kind) for r in results] == [
            ("L", "calibration"),
            ("L", "validation"),
            ("R", "calibration"),
            ("R", "validation"),
        ]
        errors_deg += [r.mean_error_deg for r in results if r.kind == "validation"]
    assert len(set(errors_deg)) == 8
    assert 0.1 < np.mean(errors_deg) < 1.2


def test_the_viewer_looks_at_salient_places(make_simulated, tmp_path):
    mean_x_px = {}
    for side, column in (("left", 60), ("right", 240)):
        picture = np.full((200, 300, 3), 90, np.uint8)
        picture[70:130, column - 30 : column + 30] = (250, 30, 30)
        Image.fromarray(picture).save(tmp_path / f"{side}.png")
        device, clock = make_simulated(saliency_of=saliency_in(tmp_path))
        device.start()
        device.show(
            ImageStimulus(name=f"{side}.png", left_px=210, top_px=40, width_px=1500, height_px=1000)
        )
        mean_x_px[side] = np.nanmean(_record(device, clock, 8.0)["right_x"])
    assert mean_x_px["right"] - mean_x_px["left"] > 200


def test_an_image_that_is_not_there_is_named(make_simulated, tmp_path):
    device, _ = make_simulated(saliency_of=saliency_in(tmp_path))
    with pytest.raises(ModelError, match=r"scene\.png: no such image"):
        device.show(IMAGE)


def test_the_host_file_has_samples_that_the_link_lost(make_simulated, tmp_path):
    device, clock = make_simulated(eyes="LR")
    link = FaultyDevice(device, [LostSamples(every_n=100, length=10)], clock=clock)
    with closing(link):
        link.calibrate()
        received = []
        for trial in range(2):
            link.send_message(f"TRIALID {trial}")
            link.start()
            received.append(_record(link, clock, 1.0))
            link.stop()
            link.send_message("TRIAL_RESULT 0")
        path = link.receive_host_file(tmp_path, "session_1")
    host = read_asc(path)
    assert host.problems == ()
    assert [len(samples) for samples in received] == [900, 900]
    for block, samples in zip(host.blocks, received, strict=True):
        assert len(block.samples) == 1000
        kept = np.isin(block.samples["tracker_time_us"], samples["tracker_time_us"])
        for field in ("tracker_time_us", "left_x", "left_y", "right_x", "right_y"):
            np.testing.assert_allclose(block.samples[field][kept], samples[field], atol=0.06)
    assert [trial.name for trial in host.trials] == ["0", "1"]
    assert (host.screen_px) == (1920, 1080)
