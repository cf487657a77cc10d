import pytest

from gazelive.gaze.documents import Quality
from gazelive.gaze.quality_messages import quality_message, told_quality
from gazelive.gaze.stream import Message


def test_what_a_device_tells_comes_back_as_quality():
    message = quality_message(5, "rate", "1000 Hz was asked for, it is 500")
    assert message.text == "GAZELIVE_QUALITY rate 1000 Hz was asked for, it is 500"
    assert told_quality(message) == Quality(
        tracker_time_us=5, kind="rate", text="1000 Hz was asked for, it is 500"
    )


@pytest.mark.parametrize(
    "text",
    ["", "TRIALID 1", "GAZELIVE_QUALITY", "GAZELIVE_QUALITY rate", "GAZELIVE_QUALITY odd text"],
)
def test_other_messages_are_none_of_its_business(text):
    assert told_quality(Message(5, text)) is None
