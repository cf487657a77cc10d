"""Messages in which a device, or the process that owns it, reports problems of the data.

Neither has another channel than the chunks. What they notice (lost samples, another rate than
requested, a slow disk) is therefore sent as a message, stored with the samples, and becomes a
`Quality` document wherever the stream is read.
"""

from __future__ import annotations

from typing import Literal, get_args

from gazelive.gaze.documents import Quality
from gazelive.gaze.stream import Message

PREFIX = "GAZELIVE_QUALITY"
Kind = Literal["lost_samples", "rate", "eye", "message", "disk", "clock"]
_KINDS: dict[str, Kind] = {kind: kind for kind in get_args(Kind)}


def quality_message(tracker_time_us: int, kind: Kind, text: str) -> Message:
    """Return a message that reports `text`."""
    return Message(tracker_time_us, f"{PREFIX} {kind} {text}")


def quality_from_message(message: Message) -> Quality | None:
    """Return the report of a message of `quality_message`, None for any other message."""
    words = message.text.split(" ", 2)
    if len(words) < 3 or words[0] != PREFIX or words[1] not in _KINDS:
        return None
    return Quality(tracker_time_us=message.tracker_time_us, kind=_KINDS[words[1]], text=words[2])
