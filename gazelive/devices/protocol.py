"""Protocols of a gaze device: one for all devices, and one for each further capability.

Test for a capability with `isinstance(device, SeesStimulus)`; a device has it by having its
methods, not by declaring it.

One thread owns a device and makes every call to it (the EyeLink's library may not support two).
Other threads submit their requests to it, with the time at which they were made: hence `at_s`.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, Protocol, runtime_checkable

import msgspec

from gazelive.gaze import Chunk, StreamDescription
from gazelive.recordings import Calibration, DriftCorrection

MAX_CHUNK_SAMPLES = 4096
"""Keeps a chunk small if its reader is late; the rest comes with the next call."""


@runtime_checkable
class GazeDevice(Protocol):
    """A source of gaze samples.

    `start` … `stop` is one recording block and may be repeated; a replayed file may start further
    blocks in between. Blocks and chunks are numbered from 0 over the device's lifetime, without
    gaps. A call in the wrong state raises a `DeviceError`: `start` while recording, `read_chunk`
    before the first `start`, either after `close`.
    """

    def describe(self) -> StreamDescription:
        """Return the description of the last chunk's block, or after `start` of the next one."""
        ...

    def start(self) -> None:
        """Start to record a new block."""
        ...

    def read_chunk(self, timeout_s: float) -> Chunk | None:
        """Return what has arrived since the last call, waiting up to `timeout_s`.

        A device may wait for several samples, to make reading cheap, but not longer than
        `timeout_s`. None means that nothing came in time; after `stop`, and when `finished`, that
        nothing is left. No sample or message is ever skipped or repeated. A chunk has at least one
        sample or message, and its arrays belong to the caller.
        """
        ...

    @property
    def finished(self) -> bool:
        """True once everything has been read (for a live tracker: once closed)."""
        ...

    def tracker_time_us(self) -> int:
        """Return the device's own time now."""
        ...

    def stop(self) -> None:
        """End the block; what had arrived by now can still be read. Does nothing if stopped."""
        ...

    def close(self) -> None:
        """Release everything, including unread samples; at any time, also twice."""
        ...


@runtime_checkable
class SendsMessages(Protocol):
    """A device that stamps messages with its own time and returns them in its chunks."""

    def send_message(self, text: str, at_s: float | None = None) -> None:
        """Stamp and store `text` for now, or for `at_s` on the host's clock.

        It comes with the next chunk, also if sent between two blocks.
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
    """A device with a simulated viewer, who must be given what is on the screen."""

    def show(self, stimulus: Stimulus) -> None:
        """Show `stimulus` from now on, instead of the previous one."""
        ...

    def hide(self) -> None:
        """Show a blank screen from now on."""
        ...


@runtime_checkable
class Calibrates(Protocol):
    """A device that can be calibrated; only between blocks (else a `CalibrationError`)."""

    def calibrate(self) -> tuple[Calibration, ...]:
        """Calibrate and validate; return the results of each eye."""
        ...

    def check_drift(self, x_px: float, y_px: float) -> tuple[DriftCorrection, ...]:
        """Measure each eye's error at a target that is on the screen."""
        ...


@runtime_checkable
class LooksAtTargets(Protocol):
    """A device that does not draw calibration targets itself, and reports the current one."""

    on_target: Callable[[float, float], None]
    """Called with each target's position in screen pixels before it is fixated."""


@runtime_checkable
class DrawsInWindow(Protocol):
    """A device that draws its calibration itself, in a window that it is given."""

    def use_graphics(self, make: Callable[[Any], Any]) -> None:
        """Take the factory of a display for the vendor's tracker object; before `calibrate`."""
        ...


@runtime_checkable
class HasHostFile(Protocol):
    """A device that keeps its own recording, such as the EyeLink's EDF."""

    def receive_host_file(
        self, folder: Path, stem: str, progress: Callable[[float], None] | None = None
    ) -> Path:
        """Fetch the file into `folder` as `stem` and the device's suffix, atomically.

        Only between blocks and before `close`.
        """
        ...


HostRequest = Literal["repeat", "skip", "abort"]


@runtime_checkable
class HasHostMenu(Protocol):
    """A device at whose host computer the operator can end a trial."""

    def take_host_request(self) -> HostRequest | None:
        """Return once what the operator chose; the device has stopped recording then."""
        ...


@runtime_checkable
class TellsProblems(Protocol):
    """A device that reports its own problems, such as another rate than requested."""

    @property
    def problems(self) -> tuple[str, ...]:
        """Sentences, in the order in which they were found."""
        ...


class Playback(msgspec.Struct, frozen=True, kw_only=True):
    """State of a playback."""

    position_s: float
    """Time played since the start, in the time of the recording."""
    duration_s: float
    """Total time; with a loop, one lap."""
    speed: float | None
    """Times real time; None is as fast as possible."""
    paused: bool


@runtime_checkable
class ControlsPlayback(Protocol):
    """A device that plays something back, and can be paused and sped up."""

    def pause(self) -> None:
        """Stop the device's time; what has arrived can be read. May be called twice."""
        ...

    def resume(self) -> None:
        """Continue after a pause."""
        ...

    def set_speed(self, speed: float | None) -> None:
        """Play at `speed` times real time from here on; None: as fast as possible."""
        ...

    def playback(self) -> Playback:
        """Return the state of the playback."""
        ...
