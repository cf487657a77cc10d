"""EDF of an EyeLink: fetched under its full name."""

from pathlib import Path

import numpy as np
import pytest

from gazelive.errors import DeviceError

from ...support.devices import drained, read_for
from ...support.fake_host import Behaviour
from ...support.recordings import samples_of


def test_the_edf_comes_under_its_full_name_with_progress(connect, clock, tmp_path):
    device, pylink = connect(Behaviour(transfer_s=20.0))
    device.start()
    read_for(device, clock, 0.5)
    device.stop()
    fractions = []
    path = device.receive_host_file(tmp_path, "v01_session_1_enrol", fractions.append)
    assert path == tmp_path / "v01_session_1_enrol.edf"
    assert path.read_bytes() == pylink.host.files["V01.EDF"].content()
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1.0
    assert len(fractions) > 5
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(DeviceError, match=r"V01\.EDF was fetched"):
        device.start()


def test_the_edf_comes_to_any_folder_from_anywhere(connect, clock, tmp_path, monkeypatch):
    device, pylink = connect()
    device.start()
    read_for(device, clock, 0.2)
    device.stop()
    (tmp_path / "Jürgens łab").mkdir()
    monkeypatch.chdir(tmp_path)
    path = device.receive_host_file(Path("Jürgens łab"), "session")
    assert path == Path("Jürgens łab/session.edf")
    assert path.read_bytes() == pylink.host.files["V01.EDF"].content()
    assert Path.cwd() == tmp_path


@pytest.mark.parametrize("fault", ["breaks", "loses"])
def test_an_edf_that_does_not_come_is_still_on_the_host(connect, clock, tmp_path, fault):
    device, pylink = connect(Behaviour(**{f"transfer_{fault}": 1}))
    device.start()
    read_for(device, clock, 0.2)
    device.stop()
    with pytest.raises(DeviceError, match=r"Host PC as V01\.EDF.*copy"):
        device.receive_host_file(tmp_path, "session")
    assert list(tmp_path.iterdir()) == []
    pylink.host.behaviour = Behaviour()
    assert device.receive_host_file(tmp_path, "session").exists(), "a second try may work"


def test_an_edf_that_cannot_be_saved_stays_on_the_host(connect, clock, tmp_path):
    device, _ = connect()
    device.start()
    read_for(device, clock, 0.2)
    device.stop()
    with pytest.raises(DeviceError, match=r"Host PC as V01\.EDF.*copy"):
        device.receive_host_file(tmp_path / "gone", "session")


def test_ctrl_c_anywhere_leaves_an_edf_that_can_be_fetched(connect, clock, tmp_path, monkeypatch):
    device, pylink = connect()
    device.start()
    read_for(device, clock, 0.3)
    live = pylink.host.live
    monkeypatch.setattr(pylink.host, "live", _interrupted)
    with pytest.raises(KeyboardInterrupt):
        device.read_chunk(0.1)
    monkeypatch.setattr(pylink.host, "live", live)
    device.stop()
    rest = samples_of(drained(device))
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
    read_for(device, clock, 0.2)
    device.close()
    device.close()
    file = pylink.host.files["V01.EDF"]
    assert not file.is_open
    assert len(file.samples[0]) >= 200
    assert not pylink.is_real_time
    assert pylink.graphics is None
