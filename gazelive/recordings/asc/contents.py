"""Contents of an ASC file besides its samples: blocks, messages, signals, tracker events."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np

from gazelive.gaze import Eye, Floats, Integers, Message, TrackerEvent
from gazelive.recordings.asc import lines as asc_lines, parser_state as asc
from gazelive.recordings.asc.blocks import BlockLines
from gazelive.recordings.asc.columns import SampleColumns, columns_from_line, eyes_among
from gazelive.recordings.asc.parser_state import END_BLINK, END_FIXATION, END_SACCADE
from gazelive.recordings.asc.store import AscStore
from gazelive.recordings.messages import message_at
from gazelive.recordings.problems import ProblemLog
from gazelive.recordings.recording import Signal

_KINDS: dict[int, Literal["saccade", "fixation", "blink"]] = {
    END_SACCADE: "saccade",
    END_FIXATION: "fixation",
    END_BLINK: "blink",
}
_EYES: tuple[Eye, ...] = ("L", "R")
_NOTHING = np.array(None, object)
_POSITIONS = [0, 1, 2, 3, 6, 7]
"""Indices of the positions among the numbers."""


def tracker_events(heads: Integers, numbers: Floats, prescaler: float) -> list[TrackerEvent]:
    """Return the events of `heads` (n, 4) and `numbers` (n, 9); positions / `prescaler`."""
    if prescaler != 1:
        numbers[:, _POSITIONS] /= prescaler
    known = np.where(np.isnan(numbers), _NOTHING, numbers)
    return [
        TrackerEvent(
            kind=_KINDS[kind],
            eye=_EYES[eye],
            start_us=start_us,
            end_us=end_us,
            start_x=start_x,
            start_y=start_y,
            end_x=end_x,
            end_y=end_y,
            amplitude_deg=amplitude_deg,
            peak_velocity_deg_s=peak_velocity_deg_s,
            mean_x=mean_x,
            mean_y=mean_y,
            mean_pupil=mean_pupil,
        )
        for (kind, eye, start_us, end_us), (
            start_x,
            start_y,
            end_x,
            end_y,
            amplitude_deg,
            peak_velocity_deg_s,
            mean_x,
            mean_y,
            mean_pupil,
        ) in zip(heads.tolist(), known.tolist(), strict=True)
    ]


MAX_HEADER_LINES = 1000
MAX_CONTINUATION_LINES = 100
_UNREADABLE = "this line cannot be read: skipped"
_NO_END = "the block that starts here has no END"


class AscContents:
    """Collects blocks, messages and signals; `store` has the place of a block's samples."""

    def __init__(self, store: AscStore, problems: ProblemLog) -> None:
        self._store = store
        self._problems = problems
        self.header: list[str] = []
        self.messages: list[Message] = []
        self.signals: list[Signal] = []
        self.blocks: list[BlockLines] = []
        """Blocks that have ended."""
        self.block: BlockLines | None = None
        """The open block."""
        self._has_started = False
        self._is_last_line = False
        self._announced_rate_hz: float | None = None
        self._continuation: list[str] = []
        self._can_continue = False
        self._last_time: tuple[bytes, int | None] = (b"", None)
        self._last_text: tuple[bytes, str] = (b"", "")

    @property
    def is_empty(self) -> bool:
        """True if no line specific to ASC files was seen."""
        return not (self.messages or self._has_started)

    def take(self, line: int, kind: int, content: bytes, *, is_last: bool) -> None:
        """Take the line of that number and kind; `is_last`: the file ends in it."""
        if kind != asc.CONTINUATION and self._continuation:
            self._join_continuation()
        self._is_last_line = is_last
        _TAKERS[kind](self, line, content)

    def finish(self) -> None:
        """Close what is open at the end of the file."""
        self._join_continuation()
        if self.block is not None:
            self._problems.add(self.block.line, _NO_END)
            self._close_block()

    def _take_header(self, _line: int, content: bytes) -> None:
        text = asc_lines.text_of(content[2:]).strip()
        if text and len(self.header) < MAX_HEADER_LINES:
            self.header.append(text)

    # messages

    def _take_message(self, line: int, content: bytes) -> None:
        words = content.split(None, 2)
        time = words[1] if len(words) > 1 else b""
        if time != self._last_time[0]:  # equal values are stored once
            self._last_time = time, asc_lines.time_us(time)
        time_us = self._last_time[1]
        self._can_continue = time_us is not None
        if time_us is None:
            self._problems.add(line, _UNREADABLE)
            return
        text = words[2] if len(words) > 2 else b""
        if text != self._last_text[0]:
            self._last_text = text, asc_lines.text_of(text)
        message = message_at(time_us, self._last_text[1])
        self.messages.append(message)
        if message.text.startswith("RECCFG"):
            rates = (asc_lines.plausible_rate_hz(word) for word in message.text.split()[2:3])
            self._announced_rate_hz = next(rates, None)

    def _take_continuation(self, _line: int, content: bytes) -> None:
        if self._can_continue and len(self._continuation) < MAX_CONTINUATION_LINES:
            self._continuation.append(asc_lines.text_of(content).rstrip())

    def _join_continuation(self) -> None:
        if self._continuation:
            message = self.messages[-1]
            text = "\n".join([message.text, *self._continuation])
            self.messages[-1] = Message(message.tracker_time_us, text)
            self._continuation.clear()

    # blocks

    def _take_start(self, line: int, content: bytes) -> None:
        if self.block is not None:
            self._problems.add(self.block.line, _NO_END)
            self._close_block()
        self._has_started = True
        words = asc_lines.text_of(content).split()
        start_us = asc_lines.time_us(words[1].encode()) if len(words) > 1 else None
        if start_us is None:
            self._problems.add(line, "the block's start time cannot be read")
        eyes = eyes_among(words)
        self.block = BlockLines(
            line=line,
            first_sample=self._store.n_samples,
            first_extra=self._store.n_extras,
            start_us=start_us,
            columns=SampleColumns(eyes) if eyes else None,
            announced_rate_hz=self._announced_rate_hz,
        )

    def _take_samples(self, line: int, content: bytes) -> None:
        block = self._open_block()
        words = asc_lines.text_of(content).split()
        columns = columns_from_line(words, block.columns.eyes if block.columns else None)
        if columns is None:
            self._problems.add(line, "this line does not name the recorded eye")
        elif columns != block.columns and self._store.n_samples > block.first_sample:
            self._problems.add(line, "the columns change inside a block: this line is skipped")
        else:
            block.columns = columns
            block.rate_hz = asc_lines.rate_hz(words)
            block.is_described = True

    def _take_events(self, _line: int, content: bytes) -> None:
        block = self._open_block()
        words = asc_lines.text_of(content).split()
        eyes = eyes_among(words)
        if block.columns is None and eyes is not None:
            block.columns = SampleColumns(eyes)
        block.announced_rate_hz = asc_lines.rate_hz(words) or block.announced_rate_hz
        block.is_described = True

    def _take_end(self, line: int, content: bytes) -> None:
        block = self._open_block()
        words = asc_lines.text_of(content).split()
        block.end_us = asc_lines.time_us(words[1].encode()) if len(words) > 1 else None
        if block.end_us is None:
            self._problems.add(line, "the block's end time cannot be read")
        block.px_per_deg = asc_lines.resolution(words, whole_line=not self._is_last_line)
        self._close_block()

    def _take_pupil(self, _line: int, content: bytes) -> None:
        self._open_block().pupil = "diameter" if b"DIAMETER" in content else "area"

    def _take_prescaler(self, line: int, content: bytes) -> None:
        value = asc_lines.prescaler(content.split())
        if value is None:
            self._problems.add(line, _UNREADABLE)
        else:
            self._open_block().prescaler = value

    def _take_velocity_prescaler(self, line: int, content: bytes) -> None:
        value = asc_lines.prescaler(content.split())
        if value is None:
            self._problems.add(line, _UNREADABLE)
        else:
            self._open_block().velocity_prescaler = value

    def _open_block(self) -> BlockLines:
        assert self.block is not None  # the kernel passes these lines only inside a block
        return self.block

    def _close_block(self) -> None:
        block = self._open_block()
        block.n_samples = self._store.n_samples - block.first_sample
        if block.columns is not None and (block.is_described or block.n_samples):
            self.blocks.append(block)
        else:
            self._problems.add(block.line, "the block that starts here is empty: skipped")
        self.block = None
        self._announced_rate_hz = None

    # signals

    def _take_input(self, line: int, content: bytes) -> None:
        self._take_signal(line, asc_lines.input_signal(content.split()))

    def _take_button(self, line: int, content: bytes) -> None:
        self._take_signal(line, asc_lines.button_signal(content.split()))

    def _take_signal(self, line: int, signal: Signal | None) -> None:
        if signal is None:
            self._problems.add(line, _UNREADABLE)
        else:
            self.signals.append(signal)


_TAKERS: dict[int, Callable[[AscContents, int, bytes], None]] = {
    asc.MESSAGE: AscContents._take_message,
    asc.CONTINUATION: AscContents._take_continuation,
    asc.HEADER: AscContents._take_header,
    asc.START: AscContents._take_start,
    asc.SAMPLES: AscContents._take_samples,
    asc.EVENTS: AscContents._take_events,
    asc.END: AscContents._take_end,
    asc.PUPIL: AscContents._take_pupil,
    asc.PRESCALER: AscContents._take_prescaler,
    asc.VELOCITY_PRESCALER: AscContents._take_velocity_prescaler,
    asc.INPUT: AscContents._take_input,
    asc.BUTTON: AscContents._take_button,
}
"""Not in the object: bound methods would keep it and the file's arrays from being freed."""
