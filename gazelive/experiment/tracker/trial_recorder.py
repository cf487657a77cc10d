"""Recording of the trials of somebody else's script, one after the other."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from gazelive.clock import Clock
from gazelive.devices import ControlsPlayback, CrossStimulus, ImageStimulus
from gazelive.errors import ConfigError, DeviceError
from gazelive.experiment.display.display import Picture
from gazelive.experiment.process.device_thread import DeviceThread
from gazelive.experiment.process.saving import value_range
from gazelive.experiment.protocol.stage import (
    Outcome,
    SessionAbortedError,
    TrialInterruptedError,
)
from gazelive.experiment.protocol.trial_log import Timings, TrialLog
from gazelive.gaze import ScreenGeometry
from gazelive.triggers import Trigger, Watch

LOOK_S = 0.1
"""Longest wait before the device, the dashboard and Ctrl-C are looked at again."""


class TrialRecorder:
    """Starts and stops recording, and sends the messages of the trials.

    A replay plays on from the first trial to its end, with its own messages about trials; of the
    script's only the free ones are added.
    """

    def __init__(
        self,
        device_thread: DeviceThread,
        screen: ScreenGeometry,
        *,
        clock: Clock,
        folder: Path,
        background_grey: int,
    ) -> None:
        self._device_thread = device_thread
        self._screen = screen
        self._clock = clock
        self._timings = Timings()
        self._log = TrialLog(
            device_thread, self._timings, folder=folder, background_grey=background_grey
        )
        self._is_replay = isinstance(device_thread.device, ControlsPlayback)
        self._has_started = False
        self._running: str | None = None
        self._was_shown = False
        self._outcomes: list[list[object]] = []

    def begin(self, name: str) -> None:
        """Start a trial."""
        self.require_none()
        self._device_thread.take_host_request()  # of the trial before
        self.check()
        if not self._is_replay:
            self._log.begin(name)
            self._device_thread.start_block()
        elif self._device_thread.has_finished:
            raise DeviceError("the recording has been played to its end")
        elif not self._has_started:
            self._device_thread.start_block()
        self._has_started = True
        self._running, self._was_shown = name, False

    def end(
        self, name: str, image: str | None, variables: dict[str, object], outcome: Outcome
    ) -> None:
        """End the trial, whatever its outcome.

        A viewing counts as evidence unless the trial was skipped or repeated, or its image never
        shown.
        """
        self._running = None
        index = len(self._outcomes) + 1
        self._outcomes.append([name, image or "", outcome])
        if self._is_replay:
            return
        was_seen = self._was_shown or image is None
        self._log.seen(counts=was_seen and outcome in ("shown", "aborted"))
        self.image_off()
        self._device_thread.hide()
        named = {} if image is None else {"image": image}
        self._log.end({**named, "index": index, "outcome": outcome, **variables}, outcome)

    def image_on(self, picture: Picture | None) -> None:
        """Log the onset of the image, once a trial."""
        at_s = self._clock.now_s()
        if self._is_replay or self._log.image_is_on:
            return
        self._was_shown = True
        self._log.image_on(picture, at_s)
        if picture is not None:
            self._device_thread.show(
                ImageStimulus(
                    name=str(picture.path),
                    left_px=picture.left_px,
                    top_px=picture.top_px,
                    width_px=picture.width_px,
                    height_px=picture.height_px,
                )
            )

    def image_off(self, *, counts: bool = True) -> None:
        """Log the offset of the image, if it is on, and whether its viewing is evidence."""
        at_s = self._clock.now_s()
        if not self._is_replay and self._log.image_is_on:
            self._log.seen(counts=counts)
            self._log.image_off(at_s)
            self._device_thread.hide()

    def cross_on(self, x_px: float | None, y_px: float | None) -> None:
        """Log the onset of a fixation cross."""
        at_s = self._clock.now_s()
        x_px = (self._screen.width_px - 1) / 2 if x_px is None else x_px
        y_px = (self._screen.height_px - 1) / 2 if y_px is None else y_px
        if not self._is_replay:
            self._log.cross(round(x_px), round(y_px), at_s)
            self._device_thread.show(CrossStimulus(x_px=x_px, y_px=y_px))

    def message(self, text: str) -> None:
        """Send a message with the time of now."""
        self._device_thread.say(" ".join(text.split()), self._clock.now_s())

    def require_none(self) -> None:
        """Raise if a trial is running."""
        if self._running is not None:
            raise ConfigError(f"trial {self._running} is still running: end its `with` before")

    def check(self) -> None:
        """Raise what ends the trial or the session, if anything does."""
        self._device_thread.check()
        if self._device_thread.is_stop_wanted:
            raise SessionAbortedError("stopped from the dashboard")
        match self._device_thread.take_host_request():
            case "abort":
                raise SessionAbortedError("aborted on the tracker's Host PC")
            case "skip":
                raise TrialInterruptedError("skipped")
            case "repeat":
                raise TrialInterruptedError("repeated")

    def wait(
        self, watch: Watch, timeout_s: float | None, check: Callable[[], None]
    ) -> Trigger | None:
        """Wait for a watch; the rest of the session is checked meanwhile."""
        until_s = None if timeout_s is None else self._clock.now_s() + timeout_s
        while True:
            left_s = LOOK_S if until_s is None else until_s - self._clock.now_s()
            trigger = watch.wait(max(0.0, min(left_s, LOOK_S)))
            if trigger is not None:
                return trigger
            check()
            if left_s <= 0 or self._device_thread.has_finished:
                return None

    def outcome(self) -> dict[str, Any]:
        """Return the results for `session.json`."""
        return {"trials": self._outcomes, "image_ms": value_range(self._timings.image_ms)}
