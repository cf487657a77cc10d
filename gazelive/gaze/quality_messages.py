"""What a device finds wrong with its own data, told in its stream of messages.

A device has chunks and nothing else to tell by. So what it notices (the link dropped samples, the
tracker runs at another rate than was asked for) travels as a message, is stored with the samples
that it is about, and becomes a `Quality` document wherever the stream is read.
"""

from __future__ import annotations

from typing import Literal, get_args

from gazelive.gaze.documents import Quality
from gazelive.gaze.stream import Message

PREFIX = "GAZELIVE_QUALITY"
Kind = Literal["lost_samples", "rate", "eye", "message"]
_KINDS: dict[str, Kind] = {kind: kind for kind in get_args(Kind)}


def quality_message(tracker_time_us: int, kind: Kind, text: str) -> Message:
    """Return the message that tells `text`."""
    return Message(tracker_time_us, f"{PREFIX} {kind} {text}")


def told_quality(message: Message) -> Quality | None:
    """Return what a message of `quality_message` tells, None for any other."""
    words = message.text.split(" ", 2)
    if len(words) < 3 or words[0] != PREFIX or words[1] not in _KINDS:
        return None
    return Quality(tracker_time_us=message.tracker_time_us, kind=_KINDS[words[1]], text=words[2])
