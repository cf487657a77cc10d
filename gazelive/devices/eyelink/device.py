"""EyeLink device: the only module that imports pylink.

pylink is the vendor's (`sr-research-pylink`); `pylink` on PyPI is another package. Its dummy mode,
which accepts everything and never sends a sample, is never used: without a tracker use the
simulated one.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from gazelive.clock import Clock
from gazelive.devices.eyelink.calibration import SetupRoom
from gazelive.devices.eyelink.host_file import HostEdf, host_name
from gazelive.devices.eyelink.link import LONGEST_MESSAGE, Link, message_in_edf, quiet
from gazelive.devices.eyelink.samples import PendingStream, SampleQueue
from gazelive.devices.eyelink.setup import EyeLinkSettings, begin_recording, configure
from gazelive.devices.lifecycle import Lifecycle
from gazelive.devices.protocol import MAX_CHUNK_SAMPLES, HostRequest
from gazelive.errors import (
    CalibrationError,
    DeviceDisconnectedError,
    DeviceError,
    DeviceUnavailableError,
)
from gazelive.gaze import Chunk, Eyes, Kind, Message, StreamDescription, quality_message
from gazelive.recordings import Calibration, DriftCorrection

PACKAGE = "sr-research-pylink"
CHUNK_S = 0.01
WATCH_S = 0.05
"""Interval of the checks that the tracker still records."""


def load_pylink() -> ModuleType:
    """Import the vendor's pylink, or raise if it is missing or another package has its name."""
    try:
        with quiet():
            import pylink
    except ImportError as error:
        raise DeviceUnavailableError(
            f"the EyeLink needs the vendor's package: pip install {PACKAGE} ({error})"
        ) from error
    if not hasattr(pylink, "EyeLinkCustomDisplay"):
        raise DeviceUnavailableError(
            f"the installed `pylink` is not the EyeLink's: pip uninstall pylink, then "
            f"pip install {PACKAGE}"
        )
    return pylink  # type: ignore[no-any-return]


class EyeLinkDevice:
    """A connected and configured EyeLink.

    One thread makes every call while it records. Deviations from the requested settings, and lost
    data, come as messages of `gaze.quality_messages` in the chunks; `problems` has the same as
    sentences.
    """

    def __init__(
        self,
        settings: EyeLinkSettings,
        *,
        clock: Clock,
        host_file_stem: str,
        pylink: ModuleType | None = None,
    ) -> None:
        self._life = Lifecycle("the EyeLink")
        self._settings = settings
        self._clock = clock
        name_on_host = host_name(host_file_stem)
        self._link = Link(*_connect(settings.address, pylink), clock)
        self._tracker = self._link.tracker
        self._file = HostEdf(self._link, name_on_host)
        self._queue = SampleQueue(self._link.pylink, self._tracker)
        self._pending = PendingStream()
        self._streams: list[StreamDescription] = []
        """Description of each block."""
        self._setup_room = SetupRoom(self._link)
        self._loss: str | None = None
        """Reason if the tracker stopped."""
        self._request: HostRequest | None = None
        self._was_ended = False
        """True if the operator at the Host PC ended the block, which we have not stopped yet."""
        self._watch_s = 0.0
        try:
            with self._link.doing("being configured"):
                self._file.open()
                deviations = configure(self._link, settings)
                name = (self._tracker.getTrackerVersionString() or "EyeLink").strip()
        except BaseException:
            self.close()
            raise
        self._stream = self._describe(name, settings.sampling_rate_hz, settings.eyes)
        for kind, text in deviations:
            self._report(kind, text)

    # what it is

    def describe(self) -> StreamDescription:
        """Return what the tracker actually delivers; before the first `start`, the settings."""
        return self._stream

    @property
    def host_file_name(self) -> str:
        """The EDF's name on the Host PC."""
        return self._file.name

    @property
    def problems(self) -> tuple[str, ...]:
        """Problems reported so far, each once."""
        return tuple(self._pending.problems)

    @property
    def finished(self) -> bool:
        """True after `close`."""
        return self._life.closed

    def tracker_time_us(self) -> int:
        """Return the tracker's time now, as the link knows it."""
        self._life.require_open()
        return round(float(self._tracker.trackerTimeUsec()))

    # recording

    def start(self) -> None:
        """Start a block; its description is what the tracker actually does."""
        self._life.require_open()
        if self._loss is not None:
            raise DeviceDisconnectedError(self._loss)
        if not self._file.is_open:
            raise DeviceError(
                f"the EyeLink's file {self._file.name} was fetched: connect again to record more"
            )
        self._life.start()
        try:
            with self._link.doing("starting to record"):
                started = begin_recording(self._link, self._settings)
        except BaseException:
            self._life.stop()
            raise
        self._stream = self._describe(self._stream.device, started.rate_hz, started.eyes)
        self._streams.append(self._stream)
        self._queue.begin_block(started.rate_hz)
        for kind, text in started.deviations:
            self._report(kind, text)
        self._request, self._was_ended = None, False
        self._watch_s = self._clock.now_s() + WATCH_S

    def read_chunk(self, timeout_s: float) -> Chunk | None:
        """Return what has arrived; if less than `CHUNK_S` has, wait up to `timeout_s`."""
        self._life.require_started()
        if self._life.recording and not self._was_ended:
            self._wait(max(timeout_s, 0.0))
            self._watch()
        elif self._life.recording and not self._pending:
            self._clock.sleep_until_s(self._clock.now_s() + max(timeout_s, 0.0))
        chunk = self._pending.take(max(len(self._streams) - 1, 0), self._clock.now_s())
        if chunk is None and self._loss is not None:
            raise DeviceDisconnectedError(self._loss)
        if chunk is not None and self._streams:
            self._stream = self._streams[chunk.block]
        return chunk

    def stop(self) -> None:
        """End the block; what the tracker had sent by then can still be read."""
        if not self._life.recording:
            return
        try:
            if not self._was_ended:
                self._drain()
                with self._link.doing("stopping"):
                    self._tracker.stopRecording()
                self._drain()
        finally:
            self._end_block()

    def close(self) -> None:
        """Close the EDF, the calibration's graphics and the connection."""
        if not self._life.closed:
            talks = (self.stop, self._file.close) if self._link.is_connected else ()
            for let_go in (*talks, self._setup_room.close, self._tracker.close):
                with contextlib.suppress(DeviceError, RuntimeError):
                    let_go()
        self._life.close()

    def take_host_request(self) -> HostRequest | None:
        """Return once what the operator chose in the Host PC's abort menu.

        The tracker has stopped recording then; stop the block.
        """
        request, self._request = self._request, None
        return request

    def _wait(self, timeout_s: float) -> None:
        """Empty the queue until a chunk is complete or the time is up, sleeping in between."""
        deadline_s = self._clock.now_s() + timeout_s
        interval_s = 1.0 / self._stream.sampling_rate_hz
        n_chunk = max(round(CHUNK_S / interval_s), 1)
        while True:
            self._drain()
            now_s = self._clock.now_s()
            if self._pending.n_unread >= n_chunk or now_s >= deadline_s:
                return
            complete_s = now_s + (n_chunk - self._pending.n_unread) * interval_s
            self._clock.sleep_until_s(min(complete_s, deadline_s))

    def _drain(self) -> None:
        """Move everything from pylink's queue to ours."""
        is_full = True
        while is_full:
            drained = self._queue.drain()
            is_full = len(drained.samples) == MAX_CHUNK_SAMPLES
            self._pending.put(len(self._streams) - 1, drained, self.tracker_time_us())

    def _watch(self) -> None:
        """Check periodically that the tracker still records; end the block if not."""
        now_s = self._clock.now_s()
        if now_s < self._watch_s:
            return
        self._watch_s = now_s + WATCH_S
        pylink = self._link.pylink
        code = self._tracker.isRecording()
        if code == pylink.TRIAL_OK and self._link.is_connected:
            return
        self._drain()
        requests: dict[int, HostRequest] = {
            pylink.REPEAT_TRIAL: "repeat",
            pylink.SKIP_TRIAL: "skip",
            pylink.ABORT_EXPT: "abort",
        }
        if code in requests and self._link.is_connected:
            self._was_ended = True
            self._request = requests[code]
            text = f"the operator at the Host PC chose to {self._request}"
            self._pending.say(quality_message(self.tracker_time_us(), "message", text))
            return
        self._end_block()
        if self._link.is_connected:
            self._loss = "the EyeLink stopped recording by itself: look at the Host PC's screen"
        else:
            self._loss = str(self._link.lost("recording"))

    def _end_block(self) -> None:
        self._life.stop()
        if self._settings.real_time:
            with contextlib.suppress(RuntimeError, OSError):
                self._link.pylink.endRealTimeMode()

    # messages

    def send_message(self, text: str, at_s: float | None = None) -> None:
        """Write a message into the EDF and the stream, at its true time."""
        self._life.require_open()
        now_s, now_us = self._clock.now_s(), self._tracker.trackerTimeUsec()
        ahead_s = 0.0 if at_s is None else at_s - now_s
        self._pending.say(Message(round(now_us + ahead_s * 1e6), text))
        in_file = message_in_edf(text)
        if len(in_file) == LONGEST_MESSAGE < len(text):
            self._report("message", f"cut to {LONGEST_MESSAGE} characters in the EDF: {in_file!r}")
        if not text.isascii():  # such as an image's name, which Data Viewer would not find
            self._report("message", f"letters are missing in the EDF, which is ASCII: {in_file!r}")
        with self._link.doing("taking a message"):
            code = self._tracker.sendMessage(in_file, round(ahead_s * 1000))
        if code != 0:
            self._report("message", f"not in the EDF (code {code}): {in_file!r}")

    def _report(self, kind: Kind, text: str) -> None:
        """Report a problem once, in the stream and in `problems`."""
        self._pending.report_once(self.tracker_time_us(), kind, text)

    # calibration

    def use_graphics(self, make: Callable[[Any], Any]) -> None:
        """Draw calibration with the display that `make` creates for the tracker.

        That is an `EyeLinkCustomDisplay`, such as
        `lambda tracker: EyeLinkCoreGraphicsPsychoPy(tracker, window)`. Its window belongs to the
        thread that calibrates.
        """
        self._life.require_between_blocks("giving it a window", CalibrationError)
        self._setup_room.use_graphics(make)

    def calibrate(self) -> tuple[Calibration, ...]:
        """Let the operator set up, calibrate and validate; return the last results."""
        self._life.require_between_blocks("calibrating", CalibrationError)
        return self._setup_room.calibrate(self._settings.eyes, self._settings.calibration_type)

    def check_drift(self, x_px: float, y_px: float) -> tuple[DriftCorrection, ...]:
        """Show the tracker's target and measure each eye's error at it.

        Nothing is returned if the check passed but the tracker's text is not understood; it is in
        the stream then, and the numbers are in the EDF.
        """
        self._life.require_between_blocks("checking drift", CalibrationError)
        text, drifts = self._setup_room.check_drift(x_px, y_px)
        if not drifts:
            self._pending.say(Message(self.tracker_time_us(), f"DRIFT_CHECK_PASSED {text}".strip()))
        return drifts

    # the EDF

    def receive_host_file(
        self, folder: Path, stem: str, progress: Callable[[float], None] | None = None
    ) -> Path:
        """Close the EDF and fetch it as `stem`.edf."""
        self._life.require_between_blocks("fetching its file")
        return self._file.receive(folder, stem, progress)

    def _describe(self, name: str, rate_hz: float, eyes: Eyes) -> StreamDescription:
        screen = self._settings.screen
        return StreamDescription(
            device=name,
            sampling_rate_hz=rate_hz,
            eyes=eyes,
            screen=screen,
            screen_px=(screen.width_px, screen.height_px),
        )


def _connect(address: str, pylink: Any) -> tuple[Any, Any]:
    """Return pylink and a connected tracker."""
    pylink = load_pylink() if pylink is None else pylink
    other = pylink.getEYELINK()
    if other is not None and other.isConnected() > 0:
        raise DeviceUnavailableError(
            "this program is already connected to the EyeLink: close that connection"
        )
    try:
        with quiet():
            tracker = pylink.EyeLink(address)
    except RuntimeError as error:
        raise DeviceUnavailableError(
            f"no EyeLink answers at {address} ({error}): is the Host PC on, is its EyeLink program "
            "running, does the cable go to this machine, and has it an address in the same network "
            "(such as 100.1.1.2)?"
        ) from error
    if not tracker.isConnected() > 0:
        raise DeviceUnavailableError(
            f"no connection to the EyeLink at {address}: is another program using it?"
        )
    return pylink, tracker
