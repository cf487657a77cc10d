"""What a participant recognised, from the messages of the questions at the end."""

from __future__ import annotations

import re
from collections.abc import Iterable

from gazelive.gaze.stream import Message

_ANSWER = re.compile(r"recognition .+ shown ([01]) answer ([01])$")


def recognition(messages: Iterable[Message]) -> str | None:
    """Say how many images were recognised, and how many others taken for such; None if none asked.

    Both are needed: who says yes to everything recognises everything.
    """
    answers = [
        (match[1] == "1", match[2] == "1")
        for message in messages
        if (match := _ANSWER.match(message.text)) is not None
    ]
    if not answers:
        return None
    seen = [said_yes for was_shown, said_yes in answers if was_shown]
    others = [said_yes for was_shown, said_yes in answers if not was_shown]
    return (
        f"{sum(seen)} of {len(seen)} images that were shown recognised, {sum(others)} of "
        f"{len(others)} others taken for shown"
    )
