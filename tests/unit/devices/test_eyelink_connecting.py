"""Connection to an EyeLink, and its settings: sent, read back and refused."""

import sys
import types

import pytest

from gazelive.devices.eyelink.device import EyeLinkDevice, load_pylink
from gazelive.devices.eyelink.setup import EyeLinkSettings
from gazelive.errors import ConfigError, DeviceError, DeviceUnavailableError
from gazelive.gaze.screen import PAPER_SCREEN

from ...support.devices import quality_of, read_for
from ...support.fake_host import Behaviour, FakeHost
from ...support.fake_pylink import FakePylink


def test_without_the_vendors_pylink_its_package_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "pylink", None)
    with pytest.raises(DeviceUnavailableError, match="pip install sr-research-pylink"):
        load_pylink()
    monkeypatch.setitem(sys.modules, "pylink", types.ModuleType("pylink"))
    with pytest.raises(DeviceUnavailableError, match=r"pip uninstall pylink.*sr-"):
        load_pylink()


def test_a_silent_tracker_is_not_replaced_by_a_dummy(clock):
    pylink = FakePylink(FakeHost(clock, address="100.1.1.7"))
    with pytest.raises(DeviceUnavailableError, match=r"answers at 100\.1\.1\.1 .*cable"):
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
    with pytest.raises(DeviceUnavailableError, match="already connected"):
        EyeLinkDevice(settings, clock=clock, host_file_stem="b", pylink=pylink)
    device.close()
    pylink.host.is_connected = True
    device._tracker.close()


def test_settings_are_sent_in_offline_mode_and_read_back(connect):
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
    with pytest.raises(DeviceError, match=r"1023 767 .*1919 1079"):
        EyeLinkDevice(
            EyeLinkSettings(screen=PAPER_SCREEN), clock=clock, host_file_stem="a", pylink=pylink
        )
    assert not pylink.host.is_connected
    assert not pylink.host.files["A.EDF"].is_open


@pytest.mark.parametrize("refuses_loudly", [False, True])
def test_refused_commands_are_reported(connect, clock, refuses_loudly):
    behaviour = Behaviour(
        refuses=("binocular_enabled",),
        refuses_loudly=refuses_loudly,
        replies={"sample_rate": "500"},
    )
    device, _ = connect(behaviour, eyes="R")
    assert len(device.problems) == 2
    assert "the command 'binocular_enabled = NO' (Unknown command)" in device.problems[0]
    assert "sample_rate: requested 1000, the EyeLink has 500" in device.problems[1]
    device.start()
    kinds = [kind for kind, _ in quality_of(read_for(device, clock, 0.1))]
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
    with pytest.raises(DeviceError, match=r"not open A\.EDF"):
        EyeLinkDevice(
            EyeLinkSettings(screen=PAPER_SCREEN), clock=clock, host_file_stem="a", pylink=pylink
        )
    assert not pylink.host.is_connected
