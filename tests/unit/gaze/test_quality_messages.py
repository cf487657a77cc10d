import pytest

from gazelive.gaze.documents import Quality
from gazelive.gaze.quality_messages import quality_from_message, quality_message
from gazelive.gaze.stream import Message


def test_quality_messages_survive_a_round_trip():
    message = quality_message(5, "rate", "1000 Hz was asked for, it is 500")
    assert message.text == "GAZELIVE_QUALITY rate 1000 Hz was asked for, it is 500"
    assert quality_from_message(message) == Quality(
        tracker_time_us=5, kind="rate", text="1000 Hz was asked for, it is 500"
    )


@pytest.mark.parametrize(
    "text",
    ["", "TRIALID 1", "GAZELIVE_QUALITY", "GAZELIVE_QUALITY rate", "GAZELIVE_QUALITY odd text"],
)
def test_other_messages_are_ignored(text):
    assert quality_from_message(Message(5, text)) is None
