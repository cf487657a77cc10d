"""Messages to an EyeLink: their true times, and limits of the EDF."""

import pytest

from gazelive.gaze.quality_messages import quality_from_message

from ...support.devices import drained, quality_of
from ...support.fake_host import Behaviour


def test_a_late_message_has_its_true_time_in_the_edf(connect, clock):
    device, pylink = connect()
    device.start()
    flip_s, flip_us = clock.now_s(), device.tracker_time_us()
    clock.advance_s(0.037)
    device.send_message("image_onset", at_s=flip_s)
    (message,) = [m for chunk in drained(device) for m in chunk.messages]
    assert message.tracker_time_us == pytest.approx(flip_us, abs=1)
    assert pylink.host.file.messages[-1].tracker_time_us == pytest.approx(flip_us, abs=1001)


def test_long_messages_are_truncated_only_in_the_edf(connect, clock):
    device, pylink = connect()
    device.start()
    long = "!V IMGLOAD CENTER " + "x" * 150
    for text in (long, "5 apples", "Größe\nµ"):
        device.send_message(text)
    chunks = drained(device)
    texts = [m.text for chunk in chunks for m in chunk.messages if quality_from_message(m) is None]
    assert texts == [long, "5 apples", "Größe\nµ"]
    assert [m.text for m in pylink.host.file.messages[1:]] == [
        long[:130],
        "+0 5 apples",
        "Gr??e ?",
    ]
    kinds, (cut, missing) = zip(*quality_of(chunks), strict=True)
    assert set(kinds) == {"message"}
    assert cut.startswith("cut to 130 characters in the EDF: '!V IMGLOAD")
    assert missing == "letters are missing in the EDF, which is ASCII: 'Gr??e ?'"


def test_a_refused_message_is_reported(connect, clock):
    device, _ = connect(Behaviour(message_code=-3))
    device.start()
    device.send_message("image_onset")
    chunks = drained(device)
    assert "image_onset" in [m.text for chunk in chunks for m in chunk.messages]
    assert quality_of(chunks) == [("message", "not in the EDF (code -3): 'image_onset'")]
