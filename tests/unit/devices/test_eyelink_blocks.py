"""Start and end of an EyeLink's block, expected or not."""

import pytest

from gazelive.errors import DeviceDisconnectedError, DeviceError

from ...support.devices import quality_of, read_for
from ...support.fake_host import Behaviour
from ...support.recordings import samples_of


def test_a_disconnection_is_raised_after_the_last_samples(connect, clock):
    device, _ = connect(Behaviour(disconnect_after=730))
    device.start()
    clock.advance_s(3.0)
    chunks = []
    with pytest.raises(DeviceDisconnectedError, match=r"lost while recording.*cable"):
        while True:
            chunks.append(device.read_chunk(0.1))
    assert len(samples_of([chunk for chunk in chunks if chunk is not None])) == 730
    device.stop()
    with pytest.raises(DeviceDisconnectedError):
        device.start()
    with pytest.raises(DeviceDisconnectedError, match="taking a message"):
        device.send_message("anybody?")


def test_a_tracker_that_stops_by_itself_is_reported(connect, clock):
    device, pylink = connect()
    device.start()
    read_for(device, clock, 0.2)
    pylink.host.mode = "setup"
    with pytest.raises(DeviceDisconnectedError, match="stopped recording by itself"):
        read_for(device, clock, 0.5)


@pytest.mark.parametrize(("code", "request_"), [(1, "repeat"), (2, "skip"), (3, "abort")])
def test_the_host_pcs_abort_menu_ends_the_block(connect, clock, code, request_):
    device, pylink = connect(Behaviour(menu_after=(200, code), latency_us=3000))
    device.start()
    chunks = read_for(device, clock, 0.5)
    assert samples_of(chunks).tobytes() == pylink.host.file.samples[0].tobytes()
    assert 200 <= len(samples_of(chunks)) < 300
    assert device.take_host_request() == request_
    assert device.take_host_request() is None
    assert quality_of(chunks) == [("message", f"the operator at the Host PC chose to {request_}")]
    device.stop()
    device.start()
    assert len(samples_of(read_for(device, clock, 0.2))) == pytest.approx(197, abs=2)


@pytest.mark.parametrize(
    ("behaviour", "sentence"),
    [
        (Behaviour(start_code=3), r"did not start recording \(code 3\)"),
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
    assert len(samples_of(read_for(device, clock, 0.2))) > 150


def test_real_time_mode_lasts_as_long_as_a_block(connect, clock):
    device, pylink = connect()
    device.start()
    assert pylink.is_real_time
    device.stop()
    assert not pylink.is_real_time
    other, pylink = connect(real_time=False)
    other.start()
    assert not pylink.is_real_time
