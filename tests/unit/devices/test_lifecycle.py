import pytest

from gazelive.devices.lifecycle import Lifecycle
from gazelive.errors import CalibrationError, DeviceError


def test_each_wrong_state_has_its_own_error():
    life = Lifecycle("the tracker")
    with pytest.raises(DeviceError, match="never started: start"):
        life.require_started()
    life.start()
    life.require_started()
    with pytest.raises(DeviceError, match="tracker is recording already"):
        life.start()
    with pytest.raises(CalibrationError, match=r"is recording.* before calibrating"):
        life.require_between_blocks("calibrating", CalibrationError)
    assert life.stop()
    assert not life.stop()
    life.require_between_blocks("calibrating")
    life.start()
    assert life.close()
    assert not life.close()
    assert not life.recording
    with pytest.raises(DeviceError, match="the tracker was closed"):
        life.start()
    with pytest.raises(DeviceError, match="closed"):
        life.require_started()
