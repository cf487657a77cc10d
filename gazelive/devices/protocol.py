"""What a gaze device is: one small Protocol, and one more for each thing only some can do.

Ask for a capability with `isinstance(device, SeesStimulus)`; a device has it by having its
methods, not by declaring it.

One thread owns a device and makes every call to it (the EyeLink's library is not known to bear
two). Whoever else wants something asks that thread, and says when it was wanted: hence `at_s`.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, Protocol, runtime_checkable

import msgspec

from gazelive.gaze.stream import Chunk, StreamDescription
from gazelive.recordings.recording import Calibration, DriftCorrection

MAX_CHUNK_SAMPLES = 4096
"""So that a chunk stays small however late its reader is; the rest comes with the next call."""


@runtime_checkable
class GazeDevice(Protocol):
    """A source of gaze samples.

    `start` … `stop` is one recording block and may be repeated; a replayed file may begin further
    blocks in between. Blocks and chunks are numbered from 0 over the device's whole life, without
    gaps. Whoever calls at the wrong moment gets a `DeviceError`: `start` while recording,
    `read_chunk` before the first `start`, either after `close`.
    """

    def describe(self) -> StreamDescription:
        """Return what the block of the last chunk delivers, or after `start` the coming one's."""
        ...

    def start(self) -> None:
        """Begin to record a new block."""
        ...

    def read_chunk(self, timeout_s: float) -> Chunk | None:
        """Return what has arrived since the last call, waiting for it up to `timeout_s`.

        A device may wait for more than one sample, so that reading costs little, but no longer
        than it was asked to. None means that nothing came in time; after `stop`, and at
        `finished`, that nothing is left. No sample and no message is ever left out or given
        twice. A chunk holds a sample or a message, and its arrays belong to the caller.
        """
        ...

    @property
    def finished(self) -> bool:
        """True once everything was read that will ever come (for a live tracker: once closed)."""
        ...

    def tracker_time_us(self) -> int:
        """Return the device's own time now."""
        ...

    def stop(self) -> None:
        """End the block; what had arrived by now can still be read. Does nothing if stopped."""
        ...

    def close(self) -> None:
        """Let go of everything, also of what was not read; at any time, twice too."""
        ...


@runtime_checkable
class SendsMessages(Protocol):
    """A device that stamps messages with its own time and hands them on in its chunks."""

    def send_message(self, text: str, at_s: float | None = None) -> None:
        """Stamp and store `text`, which is true of now or of `at_s` on the host's clock.

        It comes with the next chunk, also when it was sent between two blocks.
        """
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
    """A device that can be calibrated; only between blocks (else a `CalibrationError`)."""

    def calibrate(self) -> tuple[Calibration, ...]:
        """Calibrate and validate; return the results of each eye."""
        ...

    def check_drift(self, x_px: float, y_px: float) -> tuple[DriftCorrection, ...]:
        """Measure each eye's error at a target that is on the screen now."""
        ...


@runtime_checkable
class LooksAtTargets(Protocol):
    """A device that draws no calibration targets itself, and says which are looked at."""

    on_target: Callable[[float, float], None]
    """Called with each target's place in screen pixels before it is looked at."""


@runtime_checkable
class DrawsInWindow(Protocol):
    """A device that draws its calibration itself, in a window that it must be given."""

    def use_graphics(self, make: Callable[[Any], Any]) -> None:
        """Take what makes the display of the vendor's tracker object; before `calibrate`."""
        ...


@runtime_checkable
class HasHostFile(Protocol):
    """A device that keeps a recording of its own, such as the EyeLink's EDF."""

    def receive_host_file(
        self, folder: Path, stem: str, progress: Callable[[float], None] | None = None
    ) -> Path:
        """Fetch the file into `folder` as `stem` and the device's suffix, whole or not at all.

        Only between blocks and before `close`.
        """
        ...


HostRequest = Literal["repeat", "skip", "abort"]


@runtime_checkable
class HasHostMenu(Protocol):
    """A device at whose own computer somebody can end a trial."""

    def take_host_request(self) -> HostRequest | None:
        """Return once what was chosen there; the device records no more then."""
        ...


@runtime_checkable
class TellsProblems(Protocol):
    """A device that knows what is wrong with it, such as another rate than was asked for."""

    @property
    def problems(self) -> tuple[str, ...]:
        """Sentences, in the order in which they were found."""
        ...


class Playback(msgspec.Struct, frozen=True, kw_only=True):
    """How a playback stands."""

    position_s: float
    """Time played since the beginning, in the time of the recording."""
    duration_s: float
    """The whole; with a loop, one lap."""
    speed: float | None
    """Times real time; None is as fast as possible."""
    paused: bool


@runtime_checkable
class ControlsPlayback(Protocol):
    """A device that plays something back, and can be paused and hurried."""

    def pause(self) -> None:
        """Hold the device's time still; what had arrived can be read. Twice is once."""
        ...

    def resume(self) -> None:
        """Go on from where it was paused."""
        ...

    def set_speed(self, speed: float | None) -> None:
        """Play at `speed` times real time from here on; None: as fast as possible."""
        ...

    def playback(self) -> Playback:
        """Return how it stands."""
        ...
