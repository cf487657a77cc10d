"""Calibration, validation and drift check of an EyeLink."""

import pytest

from gazelive.devices.eyelink.device import EyeLinkDevice
from gazelive.devices.eyelink.setup import EyeLinkSettings
from gazelive.errors import CalibrationError
from gazelive.gaze.screen import PAPER_SCREEN

from ...support.devices import read_for
from ...support.fake_host import Behaviour, FakeHost
from ...support.fake_pylink import FakePylink
from ...support.recordings import samples_of


@pytest.mark.parametrize("eyes", ["L", "R", "LR"])
@pytest.mark.parametrize("words", ["edf", "short"])
def test_validation_gives_mean_and_maximal_error(connect, eyes, words):
    device, pylink = connect(Behaviour(words=words), eyes=eyes)
    results = device.calibrate()
    assert [(r.eye, r.kind) for r in results] == [
        (eye, kind) for eye in eyes for kind in ("calibration", "validation")
    ]
    for result in results:
        assert result.model == "HV9"
        if result.kind == "validation":
            assert 0 < result.mean_error_deg < result.max_error_deg < 3
    assert len(pylink.graphics.targets_px) == 9


def test_unknown_results_are_kept(connect):
    device, _ = connect(Behaviour(words="other"))
    (result,) = device.calibrate()
    assert (result.kind, result.result, result.mean_error_deg) == (
        "calibration",
        "Erfolgreich",
        None,
    )
    assert device.check_drift(960.0, 540.0) == ()


@pytest.mark.parametrize(
    ("does", "sentence"),
    [("leave", "without a calibration: press C"), ("abort", "was aborted"), ("fail", "failed")],
)
def test_a_setup_without_a_result_is_an_error(connect, clock, does, sentence):
    device, _ = connect(Behaviour(setups=["calibrate", does, "calibrate"]))
    device.calibrate()
    with pytest.raises(CalibrationError, match=sentence):
        device.calibrate()
    assert device.calibrate()
    device.start()
    assert len(samples_of(read_for(device, clock, 0.2))) > 150, "set-up ends in offline mode"


def test_a_drift_check_measures_or_sends_to_setup(connect):
    device, pylink = connect(Behaviour(drift_codes=[0, 27, -1]))
    (drift,) = device.check_drift(700.4, 300.6)
    assert (drift.target_x_px, drift.target_y_px) == (700.0, 301.0)
    assert pylink.graphics.targets_px == [(700, 301)]
    assert device.calibrate(), "from there too"
    with pytest.raises(CalibrationError, match="left with Esc: recalibrate"):
        device.check_drift(700, 300)
    with pytest.raises(CalibrationError, match=r"failed \(code -1\): recalibrate"):
        device.check_drift(700, 300)


def test_calibration_needs_a_window_and_releases_it(clock):
    pylink = FakePylink(FakeHost(clock))
    settings = EyeLinkSettings(screen=PAPER_SCREEN)
    device = EyeLinkDevice(settings, clock=clock, host_file_stem="a", pylink=pylink)
    with pytest.raises(CalibrationError, match=r"window for calibrating.*use_graphics"):
        device.calibrate()
    with pytest.raises(CalibrationError, match="window for checking drift"):
        device.check_drift(1, 2)
    for _ in range(2):
        device.use_graphics(lambda _tracker: pylink.EyeLinkCustomDisplay())
    device.calibrate()
    device.close()
    assert pylink.graphics is None


@pytest.mark.parametrize("code", [0, 27])
def test_ctrl_c_in_set_up_is_raised_on_leaving_it(connect, code):
    device, pylink = connect(Behaviour(drift_codes=[code]))
    graphics = pylink.EyeLinkCustomDisplay()
    device.use_graphics(lambda _tracker: graphics)
    graphics.was_interrupted = True
    with pytest.raises(KeyboardInterrupt):
        device.calibrate()
    with pytest.raises(KeyboardInterrupt):
        device.check_drift(960, 540)
    device.close()
