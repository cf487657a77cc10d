"""What an EyeLink has given and nobody has read yet: samples by block, messages, problems."""

from __future__ import annotations

from collections import deque

import numpy as np

from gazelive.devices.eyelink_samples import Drained
from gazelive.devices.protocol import MAX_CHUNK_SAMPLES
from gazelive.gaze.quality_messages import Kind, quality_message
from gazelive.gaze.samples import Samples, empty_samples
from gazelive.gaze.stream import Chunk, Message

LOSS_TOLD_EVERY_US = 1_000_000
"""A line that is bad for long is not told of at every look; its gaps are in the samples' times."""
LOSS_TEXT = "the link lost data: what is missing here is in the EDF"


class PendingStream:
    """Keeps samples and messages until they are taken as chunks, which it numbers."""

    def __init__(self) -> None:
        self.problems: list[str] = []
        """Whatever was told, each once."""
        self.n_unread = 0
        self._arrived: deque[tuple[int, Samples]] = deque()
        self._messages: list[Message] = []
        self._n_chunks = 0
        self._loss_us: int | None = None

    def __bool__(self) -> bool:
        return bool(self._arrived or self._messages)

    def put(self, block: int, drained: Drained, now_us: int) -> None:
        """Keep what the queue gave; `now_us` is for what it lost before any sample came."""
        if len(drained.samples):
            self._arrived.append((block, drained.samples))
            self.n_unread += len(drained.samples)
        if not drained.losses_us:
            return
        loss_us = drained.losses_us[0] if drained.losses_us[0] >= 0 else now_us
        if self._loss_us is None or loss_us >= self._loss_us + LOSS_TOLD_EVERY_US:
            self._loss_us = loss_us
            self.say(quality_message(loss_us, "lost_samples", LOSS_TEXT))
            self._remember(LOSS_TEXT)

    def say(self, message: Message) -> None:
        """Keep a message."""
        self._messages.append(message)

    def tell_once(self, now_us: int, kind: Kind, text: str) -> None:
        """Tell what is wrong with the tracker, unless that was told before."""
        if self._remember(text):
            self.say(quality_message(now_us, kind, text))

    def take(self, block: int, now_s: float) -> Chunk | None:
        """Return the oldest block's samples, as far as one chunk holds them, and all messages.

        Messages alone belong to `block`. None if there is nothing.
        """
        samples = empty_samples(0)
        if self._arrived:
            block, samples = self._take_samples()
        elif not self._messages:
            return None
        messages = tuple(sorted(self._messages, key=lambda message: message.tracker_time_us))
        self._messages.clear()
        number, self._n_chunks = self._n_chunks, self._n_chunks + 1
        return Chunk(number, block, samples, messages, now_s)

    def _take_samples(self) -> tuple[int, Samples]:
        block, first = self._arrived.popleft()
        parts, n = [first], len(first)
        while self._arrived and self._arrived[0][0] == block:
            n += len(self._arrived[0][1])
            if n > MAX_CHUNK_SAMPLES:
                break
            parts.append(self._arrived.popleft()[1])
        samples = np.concatenate(parts)
        self.n_unread -= len(samples)
        return block, samples

    def _remember(self, text: str) -> bool:
        is_new = text not in self.problems
        if is_new:
            self.problems.append(text)
        return is_new
