"""The EyeLink on a fake pylink: what it asks for and tells, and what it does when all fails."""

import sys
import types

import numpy as np
import pytest

from gazelive.clock import ManualClock
from gazelive.devices.eyelink import EyeLinkDevice, EyeLinkSettings, load_pylink
from gazelive.errors import (
    CalibrationError,
    ConfigError,
    DeviceDisconnectedError,
    DeviceError,
    DeviceUnavailableError,
)
from gazelive.gaze.quality_messages import told_quality
from gazelive.gaze.samples import SAMPLE_DTYPE
from gazelive.gaze.screen import PAPER_SCREEN

from .fake_host import Behaviour, FakeHost
from .fake_pylink import FakePylink


@pytest.fixture
def clock():
    return ManualClock(1000.0)


@pytest.fixture
def connect(clock):
    """Connect to a host that behaves as told; return the device and the fake pylink."""
    devices = []

    def make(behaviour=None, *, version="EYELINK CL 5.15", **settings):
        pylink = FakePylink(FakeHost(clock, behaviour, version=version))
        wanted = EyeLinkSettings(screen=PAPER_SCREEN, **settings)
        device = EyeLinkDevice(wanted, clock=clock, host_file_stem="v01", pylink=pylink)
        device.use_graphics(lambda _tracker: pylink.EyeLinkCustomDisplay())
        devices.append(device)
        return device, pylink

    yield make
    for device in devices:
        device.close()


def _read(device, clock, seconds):
    chunks, until_s = [], clock.now_s() + seconds
    while clock.now_s() < until_s - 1e-9:
        chunk = device.read_chunk(min(0.05, until_s - clock.now_s()))
        if chunk is not None:
            chunks.append(chunk)
    return chunks


def _drain(device):
    chunks = []
    while (chunk := device.read_chunk(0.0)) is not None:
        chunks.append(chunk)
    return chunks


def _samples(chunks):
    return np.concatenate([np.zeros(0, SAMPLE_DTYPE), *(chunk.samples for chunk in chunks)])


def _told(chunks):
    messages = [message for chunk in chunks for message in chunk.messages]
    return [(q.kind, q.text) for m in messages if (q := told_quality(m)) is not None]


def _calls(pylink):
    return [name for name, _ in pylink.calls.log]


# connecting


def test_without_the_vendors_pylink_its_package_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "pylink", None)
    with pytest.raises(DeviceUnavailableError, match="pip install sr-research-pylink"):
        load_pylink()
    monkeypatch.setitem(sys.modules, "pylink", types.ModuleType("pylink"))
    with pytest.raises(DeviceUnavailableError, match="pip uninstall pylink, then pip install sr-"):
        load_pylink()


def test_a_tracker_that_does_not_answer_is_no_dummy(clock):
    pylink = FakePylink(FakeHost(clock, address="100.1.1.7"))
    with pytest.raises(DeviceUnavailableError, match=r"no EyeLink answers at 100\.1\.1\.1 .*cable"):
        EyeLinkDevice(
            EyeLinkSettings(screen=PAPER_SCREEN), clock=clock, host_file_stem="a", pylink=pylink
        )
    for address in ("", "  "):
        with pytest.raises(ConfigError, match="simulated device"):
            EyeLinkSettings(screen=PAPER_SCREEN, address=address)


def test_pylinks_dummy_mode_is_refused(clock):
    host = FakeHost(clock)
    host.is_connected = -1
    with pytest.raises(DeviceUnavailableError, match="no connection"):
        EyeLinkDevice(
            EyeLinkSettings(screen=PAPER_SCREEN),
            clock=clock,
            host_file_stem="a",
            pylink=FakePylink(host),
        )


def test_the_tracker_has_one_owner(connect, clock):
    device, pylink = connect()
    settings = EyeLinkSettings(screen=PAPER_SCREEN)
    with pytest.raises(DeviceUnavailableError, match="connected to the EyeLink already"):
        EyeLinkDevice(settings, clock=clock, host_file_stem="b", pylink=pylink)
    device.close()
    pylink.host.is_connected = True
    device._tracker.close()


def test_settings_are_sent_in_offline_mode_and_asked_back(connect):
    device, pylink = connect(eyes="LR", sampling_rate_hz=500.0, calibration_type="HV13")
    settings = pylink.host.settings
    assert settings["sample_rate"] == "500"
    assert settings["screen_pixel_coords"] == "0 0 1919 1079"
    assert settings["binocular_enabled"] == "YES"
    assert settings["calibration_type"] == "HV13"
    assert "HTARGET" in settings["link_sample_data"]
    assert [m.text for m in pylink.host.file.messages] == ["DISPLAY_COORDS 0 0 1919 1079"]
    asked = [args[0] for name, args in pylink.calls.log if name == "readRequest"]
    assert asked[:2] == ["screen_pixel_coords", "sample_rate"]
    assert device.problems == ()
    assert device.describe().device == "EYELINK CL 5.15"


@pytest.mark.parametrize("version", ["EYELINK II 3.2", "EYELINK I", ""])
def test_an_old_tracker_is_not_asked_for_a_head_target(connect, version):
    _, pylink = connect(version=version)
    assert "HTARGET" not in pylink.host.settings["link_sample_data"]
    assert "HTARGET" not in pylink.host.settings["file_sample_data"]


def test_another_screen_than_ours_is_refused(connect, clock):
    pylink = FakePylink(FakeHost(clock, Behaviour(replies={"screen_pixel_coords": "0,0,1023,767"})))
    with pytest.raises(DeviceError, match="screen at 0 0 1023 767 px instead of 0 0 1919 1079"):
        EyeLinkDevice(
            EyeLinkSettings(screen=PAPER_SCREEN), clock=clock, host_file_stem="a", pylink=pylink
        )
    assert not pylink.host.is_connected
    assert not pylink.host.files["A.EDF"].is_open


@pytest.mark.parametrize("refuses_loudly", [False, True])
def test_what_the_tracker_does_not_take_is_told(connect, clock, refuses_loudly):
    behaviour = Behaviour(
        refuses=("binocular_enabled",),
        refuses_loudly=refuses_loudly,
        replies={"sample_rate": "500"},
    )
    device, _ = connect(behaviour, eyes="R")
    assert len(device.problems) == 2
    assert "the command 'binocular_enabled = NO' (Unknown command)" in device.problems[0]
    assert "1000 was asked for as sample_rate, the EyeLink has 500" in device.problems[1]
    device.start()
    kinds = [kind for kind, _ in _told(_read(device, clock, 0.1))]
    assert kinds == ["message", "rate"]


def test_a_tracker_that_answers_no_questions_is_believed(connect):
    device, _ = connect(Behaviour(replies=dict.fromkeys(["screen_pixel_coords"], "Unknown Name")))
    assert device.problems == ()


def test_without_a_name_for_the_edf_nothing_is_connected(clock):
    pylink = FakePylink(FakeHost(clock))
    with pytest.raises(ConfigError, match="host_file_stem"):
        EyeLinkDevice(
            EyeLinkSettings(screen=PAPER_SCREEN), clock=clock, host_file_stem="", pylink=pylink
        )
    assert pylink.calls.log == []


@pytest.mark.parametrize("reply_s", [0.1, 0.6])
def test_answers_are_waited_for_but_not_for_ever(connect, clock, reply_s):
    device, pylink = connect(
        Behaviour(reply_s=reply_s, replies={"screen_distance": "123", "sample_rate": "500"})
    )
    asked = [name for name, _ in pylink.calls.log if name == "readRequest"]
    assert len(asked) == (4 if reply_s < 0.5 else 1)
    assert len(device.problems) == (2 if reply_s < 0.5 else 0)


def test_a_name_that_the_host_pc_refuses_ends_the_connection(clock, monkeypatch):
    pylink = FakePylink(FakeHost(clock))
    monkeypatch.setattr(pylink.host, "open_file", lambda _name: -1)
    with pytest.raises(DeviceError, match=r"could not open A\.EDF on the Host PC"):
        EyeLinkDevice(
            EyeLinkSettings(screen=PAPER_SCREEN), clock=clock, host_file_stem="a", pylink=pylink
        )
    assert not pylink.host.is_connected


# recording


def test_wanted_against_actual_rate_and_eye(connect, clock):
    device, _ = connect(Behaviour(rate_hz=500.0, eyes="L"), eyes="R", sampling_rate_hz=1000.0)
    assert (device.describe().sampling_rate_hz, device.describe().eyes) == (1000.0, "R")
    chunks = []
    for _ in range(2):
        device.start()
        assert (device.describe().sampling_rate_hz, device.describe().eyes) == (500.0, "L")
        chunks += _read(device, clock, 0.2)
        device.stop()
        chunks += _drain(device)
    assert _told(chunks) == [
        ("eye", "the right eye should be recorded, the EyeLink records the left eye"),
        ("rate", "1000 Hz was asked for, the EyeLink records at 500 Hz"),
    ]
    samples = _samples(chunks)
    assert np.isfinite(samples["left_x"]).any()
    assert np.isnan(samples["right_x"]).all()


@pytest.mark.parametrize("half_ms", ["flag", "decimal", "not at all"])
def test_2000_hz_has_half_milliseconds(connect, clock, half_ms):
    device, pylink = connect(Behaviour(half_ms=half_ms), sampling_rate_hz=2000.0)
    device.start()
    samples = _samples(_read(device, clock, 0.5))
    assert len(samples) == pytest.approx(1000, abs=2)
    seen = pylink.host.file.samples[0]
    if half_ms == "not at all":  # then nobody knows of the very first
        samples, seen = samples[1:], seen[1:]
    assert (np.diff(samples["tracker_time_us"]) == 500).all()
    assert samples.tobytes() == seen.tobytes()


def test_the_filter_is_set_for_each_block(connect, clock):
    device, pylink = connect(link_filter="off", file_filter="extra")
    for _ in range(3):
        device.start()
        clock.advance_s(0.1)
        device.stop()
    assert pylink.host.filters == ["0 2"] * 3


def test_lost_data_are_told_where_they_are_missing(connect, clock):
    device, pylink = connect(Behaviour(lose=range(300, 340)))
    device.start()
    chunks = _read(device, clock, 1.0)
    device.stop()
    chunks += _drain(device)
    (told,) = [m for chunk in chunks for m in chunk.messages if told_quality(m) is not None]
    assert told_quality(told).kind == "lost_samples"
    times_us = _samples(chunks)["tracker_time_us"]
    (gap,) = np.flatnonzero(np.diff(times_us) > 1000)
    assert told.tracker_time_us == times_us[gap]
    on_host = np.concatenate(pylink.host.file.samples)
    assert len(on_host) == len(times_us) + 40, "the EDF has them"
    assert device.problems == ("the link lost data: what is missing here is in the EDF",)


def test_a_line_that_is_bad_for_long_is_told_once_a_second(connect, clock):
    device, _ = connect(Behaviour(lose=range(0, 10_000, 7)))
    device.start()
    assert len(_told(_read(device, clock, 2.5))) == 3


def test_a_reader_who_is_too_late_loses_and_is_told(connect, clock):
    device, _ = connect(Behaviour(queue_size=500))
    device.start()
    clock.advance_s(2.0)
    chunks = _read(device, clock, 0.1)
    assert _told(chunks) == [
        ("lost_samples", "the link lost data: what is missing here is in the EDF")
    ]
    assert len(_samples(chunks)) < 700


def test_a_read_neither_holds_the_interpreter_nor_spins(connect, clock):
    device, pylink = connect()
    device.start()
    pylink.calls.log.clear()
    chunks = _read(device, clock, 1.0)
    names = _calls(pylink)
    assert "msecDelay" not in names
    assert names.count("getNextData") - names.count("getFloatData") < 4 * len(chunks)
    assert len(chunks) == pytest.approx(100, abs=10)
    assert 10 <= names.count("isRecording") <= 25


def test_what_is_on_its_way_when_recording_ends_still_comes(connect, clock):
    device, pylink = connect(Behaviour(latency_us=5000))
    device.start()
    chunks = _read(device, clock, 0.2)
    clock.advance_s(9.0)
    device.stop()
    chunks += _drain(device)
    assert _samples(chunks).tobytes() == pylink.host.file.samples[0].tobytes()
    assert len(_samples(chunks)) > 9000
    assert max(len(chunk.samples) for chunk in chunks) <= 4096


def test_a_read_leaves_nothing_behind_that_has_come(connect, clock):
    device, _ = connect(Behaviour(latency_us=2700))
    device.start()
    for timeout_s in (0.012, 0.05, 0.0033, 0.02):
        assert device.read_chunk(timeout_s) is not None
        assert device.read_chunk(0.0) is None


def test_each_chunk_is_described_by_its_own_block(connect, clock):
    device, pylink = connect()
    for eyes in ("R", "L"):
        pylink.host.behaviour.eyes = eyes
        device.start()
        assert device.describe().eyes == eyes
        clock.advance_s(0.1)
        device.stop()
    described = []
    while (chunk := device.read_chunk(0.0)) is not None:
        described.append((chunk.block, device.describe().eyes))
    assert described == [(0, "R"), (1, "L")]


def test_a_disconnection_is_told_after_what_had_come(connect, clock):
    device, _ = connect(Behaviour(disconnect_after=730))
    device.start()
    clock.advance_s(3.0)
    chunks = []
    with pytest.raises(DeviceDisconnectedError, match="lost while recording: check the cable"):
        while True:
            chunks.append(device.read_chunk(0.1))
    assert len(_samples([chunk for chunk in chunks if chunk is not None])) == 730
    device.stop()
    with pytest.raises(DeviceDisconnectedError):
        device.start()
    with pytest.raises(DeviceDisconnectedError, match="taking a message"):
        device.send_message("anybody?")


def test_a_tracker_that_stops_by_itself_is_told(connect, clock):
    device, pylink = connect()
    device.start()
    _read(device, clock, 0.2)
    pylink.host.mode = "setup"
    with pytest.raises(DeviceDisconnectedError, match="stopped recording by itself"):
        _read(device, clock, 0.5)


@pytest.mark.parametrize(("code", "request_"), [(1, "repeat"), (2, "skip"), (3, "abort")])
def test_the_host_pcs_abort_menu_ends_the_block(connect, clock, code, request_):
    device, pylink = connect(Behaviour(menu_after=(200, code), latency_us=3000))
    device.start()
    chunks = _read(device, clock, 0.5)
    assert _samples(chunks).tobytes() == pylink.host.file.samples[0].tobytes()
    assert 200 <= len(_samples(chunks)) < 300
    assert device.take_host_request() == request_
    assert device.take_host_request() is None
    assert _told(chunks) == [("message", f"somebody at the Host PC chose to {request_}")]
    device.stop()
    device.start()
    assert len(_samples(_read(device, clock, 0.2))) == pytest.approx(197, abs=2)


@pytest.mark.parametrize(
    ("behaviour", "sentence"),
    [
        (Behaviour(start_code=3), r"did not start to record \(code 3\)"),
        (Behaviour(sends_samples=False), "sends no samples"),
        (Behaviour(is_blind=True), "records no eye"),
    ],
)
def test_a_start_that_fails_can_be_tried_again(connect, clock, behaviour, sentence):
    device, pylink = connect(behaviour)
    with pytest.raises(DeviceError, match=sentence):
        device.start()
    assert pylink.host.mode == "offline"
    pylink.host.behaviour = Behaviour()
    device.start()
    assert len(_samples(_read(device, clock, 0.2))) > 150


def test_real_time_mode_lasts_as_long_as_a_block(connect, clock):
    device, pylink = connect()
    device.start()
    assert pylink.is_real_time
    device.stop()
    assert not pylink.is_real_time
    other, pylink = connect(real_time=False)
    other.start()
    assert not pylink.is_real_time


# messages


def test_a_message_told_late_has_its_true_time_in_the_edf(connect, clock):
    device, pylink = connect()
    device.start()
    flip_s, flip_us = clock.now_s(), device.tracker_time_us()
    clock.advance_s(0.037)
    device.send_message("image_onset", at_s=flip_s)
    (message,) = [m for chunk in _drain(device) for m in chunk.messages]
    assert message.tracker_time_us == pytest.approx(flip_us, abs=1)
    assert pylink.host.file.messages[-1].tracker_time_us == pytest.approx(flip_us, abs=1001)


def test_what_the_edf_cannot_hold_is_cut_there_and_whole_here(connect, clock):
    device, pylink = connect()
    device.start()
    long = "!V IMGLOAD CENTER " + "x" * 150
    for text in (long, "5 apples", "Größe\nµ"):
        device.send_message(text)
    chunks = _drain(device)
    texts = [m.text for chunk in chunks for m in chunk.messages if told_quality(m) is None]
    assert texts == [long, "5 apples", "Größe\nµ"]
    assert [m.text for m in pylink.host.file.messages[1:]] == [
        long[:130],
        "+0 5 apples",
        "Gr??e ?",
    ]
    kinds, (cut, missing) = zip(*_told(chunks), strict=True)
    assert set(kinds) == {"message"}
    assert cut.startswith("cut to 130 characters in the EDF: '!V IMGLOAD")
    assert missing == "letters are missing in the EDF, which is ASCII: 'Gr??e ?'"


def test_a_message_that_the_tracker_does_not_take_is_told(connect, clock):
    device, _ = connect(Behaviour(message_code=-3))
    device.start()
    device.send_message("image_onset")
    chunks = _drain(device)
    assert "image_onset" in [m.text for chunk in chunks for m in chunk.messages]
    assert _told(chunks) == [("message", "not in the EDF (code -3): 'image_onset'")]


# calibration


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


def test_words_that_nobody_knows_are_kept(connect):
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
    assert len(_samples(_read(device, clock, 0.2))) > 150, "set-up ends in offline mode"


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


def test_calibration_needs_a_window_which_is_let_go_of(clock):
    pylink = FakePylink(FakeHost(clock))
    settings = EyeLinkSettings(screen=PAPER_SCREEN)
    device = EyeLinkDevice(settings, clock=clock, host_file_stem="a", pylink=pylink)
    with pytest.raises(CalibrationError, match="no window for calibrating: use_graphics"):
        device.calibrate()
    with pytest.raises(CalibrationError, match="no window for checking drift"):
        device.check_drift(1, 2)
    for _ in range(2):
        device.use_graphics(lambda _tracker: pylink.EyeLinkCustomDisplay())
    device.calibrate()
    device.close()
    assert pylink.graphics is None


@pytest.mark.parametrize("code", [0, 27])
def test_ctrl_c_in_set_up_is_heard_once_it_is_left(connect, code):
    device, pylink = connect(Behaviour(drift_codes=[code]))
    graphics = pylink.EyeLinkCustomDisplay()
    device.use_graphics(lambda _tracker: graphics)
    graphics.was_interrupted = True
    with pytest.raises(KeyboardInterrupt):
        device.calibrate()
    with pytest.raises(KeyboardInterrupt):
        device.check_drift(960, 540)
    device.close()


# the EDF


def test_the_edf_comes_under_its_full_name_with_progress(connect, clock, tmp_path):
    device, pylink = connect(Behaviour(transfer_s=20.0))
    device.start()
    _read(device, clock, 0.5)
    device.stop()
    fractions = []
    path = device.receive_host_file(tmp_path, "v01_session_1_enrol", fractions.append)
    assert path == tmp_path / "v01_session_1_enrol.edf"
    assert path.read_bytes() == pylink.host.files["V01.EDF"].content()
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1.0
    assert len(fractions) > 5
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(DeviceError, match=r"V01\.EDF was fetched: connect anew"):
        device.start()


@pytest.mark.parametrize("fault", ["breaks", "loses"])
def test_an_edf_that_does_not_come_is_still_on_the_host(connect, clock, tmp_path, fault):
    device, pylink = connect(Behaviour(**{f"transfer_{fault}": 1}))
    device.start()
    _read(device, clock, 0.2)
    device.stop()
    with pytest.raises(DeviceError, match=r"on the Host PC as V01\.EDF, copy it from there"):
        device.receive_host_file(tmp_path, "session")
    assert list(tmp_path.iterdir()) == []
    pylink.host.behaviour = Behaviour()
    assert device.receive_host_file(tmp_path, "session").exists(), "a second try may work"


def test_an_edf_for_which_there_is_no_room_is_still_on_the_host(connect, clock, tmp_path):
    device, _ = connect()
    device.start()
    _read(device, clock, 0.2)
    device.stop()
    with pytest.raises(DeviceError, match=r"on the Host PC as V01\.EDF, copy it from there"):
        device.receive_host_file(tmp_path / "gone", "session")


def test_ctrl_c_anywhere_leaves_an_edf_that_can_be_fetched(connect, clock, tmp_path, monkeypatch):
    device, pylink = connect()
    device.start()
    _read(device, clock, 0.3)
    live = pylink.host.live
    monkeypatch.setattr(pylink.host, "live", _interrupted)
    with pytest.raises(KeyboardInterrupt):
        device.read_chunk(0.1)
    monkeypatch.setattr(pylink.host, "live", live)
    device.stop()
    rest = _samples(_drain(device))
    path = device.receive_host_file(tmp_path, "session")
    device.close()
    assert path.stat().st_size > 1000
    assert len(rest) <= len(np.concatenate(pylink.host.files["V01.EDF"].samples))
    assert not pylink.host.is_connected


def _interrupted():
    raise KeyboardInterrupt


def test_closing_while_it_records_closes_the_edf(connect, clock):
    device, pylink = connect()
    device.start()
    _read(device, clock, 0.2)
    device.close()
    device.close()
    file = pylink.host.files["V01.EDF"]
    assert not file.is_open
    assert len(file.samples[0]) >= 200
    assert not pylink.is_real_time
    assert pylink.graphics is None
