"""Messages that wait for the samples of their time."""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Iterable

from gazelive.gaze import LATEST_US, Message, Quality


class MessageQueue:
    """Holds messages in the order of time until they take effect.

    `matters` returns whether the sample before which a message takes effect makes a difference.
    """

    def __init__(self, matters: Callable[[Message], bool]) -> None:
        self._matters = matters
        self._waiting: list[Message] = []
        self._effective_us: int | None = None
        """The latest time of a message that took effect and matters."""

    def add(self, messages: Iterable[Message]) -> list[Quality]:
        """Add messages; return a warning for each that is too late."""
        warnings = []
        for message in sorted(messages, key=_time_of):
            if abs(_time_of(message)) > LATEST_US:
                text = f"has a time that no tracker has: {message.text[:80]!r}"
                warnings.append(Quality(tracker_time_us=0, kind="message", text=text))
                continue
            is_late = self._effective_us is not None and _time_of(message) < self._effective_us
            if is_late and self._matters(message):
                text = f"came after a later one: {message.text[:80]!r}"
                warnings.append(
                    Quality(tracker_time_us=_time_of(message), kind="message", text=text)
                )
            insort(self._waiting, message, key=_time_of)
        return warnings

    @property
    def next_due_us(self) -> int | None:
        """The time of the next message that matters; the others can wait for it."""
        matter = (message for message in self._waiting if self._matters(message))
        return next((_time_of(message) for message in matter), None)

    def pop(self, until_us: int | None) -> Message | None:
        """Return the next message up to a time (None: any), which takes effect now."""
        if not self._waiting or (until_us is not None and _time_of(self._waiting[0]) > until_us):
            return None
        message = self._waiting.pop(0)
        if self._matters(message):
            before_us = _time_of(message) if self._effective_us is None else self._effective_us
            self._effective_us = max(_time_of(message), before_us)
        return message


def _time_of(message: Message) -> int:
    return message.tracker_time_us
