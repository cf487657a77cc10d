"""Where cross and image were on the screen of a recording, and so where a replay shows them."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from gazelive.config.schema import Screen
from gazelive.engine.image_messages import RectanglePx, image_rectangle_px
from gazelive.gaze.stream import Message
from gazelive.recordings.recording import Recording, Trial
from gazelive.recordings.trials import DEFAULT_PATTERNS, in_order_of_time

_CROSS = re.compile(r"cross (-?\d+) (-?\d+)$")
_IMAGE = re.compile(DEFAULT_PATTERNS.image)


@dataclass(frozen=True)
class _Fit:
    """Brings a place of the recorded screen to this one: to scale, and the middle to the middle."""

    scale: float
    left_px: float
    top_px: float

    def point(self, x_px: float, y_px: float) -> tuple[float, float]:
        return self.left_px + x_px * self.scale, self.top_px + y_px * self.scale


class RecordedPlaces:
    """Looks places up in the messages of a recording."""

    def __init__(self, recording: Recording, screen: Screen) -> None:
        self._recording = recording
        self._messages = in_order_of_time(recording.messages)
        self._times_us = [message.tracker_time_us for message in self._messages]
        self._screen = screen
        self._fit = _fit(recording.screen_px, (screen.width_px, screen.height_px))

    def cross_px(self, trial: Trial) -> tuple[int, int]:
        """Return where the trial's cross was, the middle of the screen if that is not told."""
        for message in self._of(trial):
            match = _CROSS.match(message.text)
            if match is not None:
                x_px, y_px = self._fit.point(int(match[1]), int(match[2]))
                return round(x_px), round(y_px)
        return self._screen.width_px // 2, self._screen.height_px // 2

    def image_px(self, trial: Trial, file_px: tuple[int, int]) -> RectanglePx | None:
        """Return where the trial's image was, None if that is not told.

        `file_px` is the size of the image's file: it holds where a message tells only a place.
        """
        named = [message for message in self._of(trial) if _names(message, trial.image)]
        onset_us = trial.image_onset_us
        # as for the image's name: the first after the onset counts, else the last before it
        after = [m for m in named if onset_us is not None and m.tracker_time_us >= onset_us]
        for message in (*after, *reversed(named)):
            rectangle = self._rectangle(message.text, trial, file_px)
            if rectangle is not None:
                left_px, top_px, width_px, height_px = rectangle
                scale = self._fit.scale
                return (*self._fit.point(left_px, top_px), width_px * scale, height_px * scale)
        return None

    def _rectangle(self, text: str, trial: Trial, file_px: tuple[int, int]) -> RectanglePx | None:
        blocks = self._recording.blocks
        stream = blocks[trial.block or 0].stream if blocks else None
        rectangle = image_rectangle_px(text, stream)
        if rectangle is None:
            rectangle = image_rectangle_px(f"{text} {file_px[0]} {file_px[1]}", stream)
        return None if rectangle is None or min(rectangle[2:]) < 1 else rectangle

    def _of(self, trial: Trial) -> Sequence[Message]:
        first = bisect_left(self._times_us, trial.start_us)
        return self._messages[first : bisect_right(self._times_us, trial.end_us)]


def _names(message: Message, image: str | None) -> bool:
    match = _IMAGE.match(message.text)
    return match is not None and match["image"] == image


def _fit(from_px: tuple[int, int] | None, to_px: tuple[int, int]) -> _Fit:
    if from_px is None:
        return _Fit(1.0, 0.0, 0.0)
    scale = min(to_px[0] / from_px[0], to_px[1] / from_px[1])
    return _Fit(scale, (to_px[0] - scale * from_px[0]) / 2, (to_px[1] - scale * from_px[1]) / 2)
