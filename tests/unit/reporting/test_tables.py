"""Tables of a session as text."""

from __future__ import annotations

from gazelive.gaze.stream import Message
from gazelive.reporting.tables import recognition


def test_hits_and_false_alarms() -> None:
    said = [
        "recognition a cat.jpg shown 1 answer 1",
        "recognition shown 1.jpg shown 1 answer 0",
        "recognition dog.jpg shown 0 answer 1",
        "recognition fox.jpg shown 0 answer 0",
        "recognition owl.jpg shown 0 answer 0",
        "recognition left out: nobody can answer",
    ]
    messages = [Message(time_us, text) for time_us, text in enumerate(said)]
    assert recognition(messages) == (
        "1 of 2 shown images recognised, 1 of 3 new images mistaken for shown ones"
    )
    assert recognition(messages[-1:]) is None
