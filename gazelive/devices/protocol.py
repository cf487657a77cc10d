"""What a gaze device is: one small Protocol, and one more for each thing only some can do.

Ask for a capability with `isinstance(device, SeesStimulus)`; a device has it by having its
methods, not by declaring it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Protocol, runtime_checkable

import msgspec

from gazelive.gaze.stream import Chunk, StreamDescription
from gazelive.recordings.recording import Calibration, DriftCorrection


@runtime_checkable
class GazeDevice(Protocol):
    """A source of gaze samples.

    `start` … `stop` is one recording block and may be repeated; `close` is for good and may be
    called at any time, twice too. Chunks are numbered over the device's whole life.
    """

    def describe(self) -> StreamDescription:
        """Return what the current block delivers (before the first: what it will)."""
        ...

    def start(self) -> None:
        """Begin to record."""
        ...

    def read_chunk(self, timeout_s: float) -> Chunk | None:
        """Return what has arrived since the last call, waiting for it up to `timeout_s`.

        None means that nothing came in time; at `finished`, that nothing will. No sample is ever
        left out or given twice.
        """
        ...

    @property
    def finished(self) -> bool:
        """True once everything was read that will ever come (never, for a live tracker)."""
        ...

    def tracker_time_us(self) -> int:
        """Return the device's own time now."""
        ...

    def stop(self) -> None:
        """End the block; what had arrived by now can still be read."""
        ...

    def close(self) -> None:
        """Let go of everything."""
        ...


@runtime_checkable
class SendsMessages(Protocol):
    """A device that stamps messages with its own time and hands them on in its chunks."""

    def send_message(self, text: str) -> None:
        """Stamp and store `text`."""
        ...


class ImageStimulus(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """An image on the screen; the rectangle is in screen pixels."""

    name: str
    left_px: float
    top_px: float
    width_px: float
    height_px: float


class CrossStimulus(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """A fixation cross."""

    x_px: float
    y_px: float


Stimulus = ImageStimulus | CrossStimulus


@runtime_checkable
class SeesStimulus(Protocol):
    """A device whose viewer must be told what is on the screen, because it is simulated."""

    def show(self, stimulus: Stimulus) -> None:
        """Say that `stimulus` is visible from now on, in place of what was."""
        ...

    def hide(self) -> None:
        """Say that the screen is blank from now on."""
        ...


@runtime_checkable
class Calibrates(Protocol):
    """A device that can be calibrated; only between blocks."""

    def calibrate(self) -> tuple[Calibration, ...]:
        """Calibrate and validate; return the result of each eye."""
        ...

    def check_drift(self, x_px: float, y_px: float) -> tuple[DriftCorrection, ...]:
        """Measure each eye's error at a target that is on the screen now."""
        ...


@runtime_checkable
class HasHostFile(Protocol):
    """A device that keeps a recording of its own, such as the EyeLink's EDF."""

    def receive_host_file(self, target: Path) -> Path:
        """Fetch the file to `target`, whole or not at all."""
        ...
