"""Trial log: messages to the tracker's file and the session, in Data Viewer's protocol."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from gazelive.devices import LONGEST_MESSAGE
from gazelive.experiment.display.display import Picture
from gazelive.experiment.process.device_thread import DeviceThread
from gazelive.experiment.protocol.stage import Outcome

RESULTS: dict[Outcome, int] = {"shown": 0, "repeated": 1, "skipped": 2, "aborted": 3}
"""Codes of TRIAL_RESULT; 0 is a complete trial."""


@dataclass
class Timings:
    """Timing of images over a session."""

    onset_delays_ms: list[float] = field(default_factory=list)
    """Delays from the frame that saw the gate open to the image onset."""
    image_ms: list[float] = field(default_factory=list)
    """Duration of each image on the screen."""


class TrialLog:
    """Writes the messages of one trial after the other, with the times of the flips."""

    def __init__(
        self, device_thread: DeviceThread, timings: Timings, *, folder: Path, background_grey: int
    ) -> None:
        self._device_thread = device_thread
        self._timings = timings
        self._folder = folder
        self._clear = f"!V CLEAR {background_grey} {background_grey} {background_grey}"
        self._begin_timing()

    def _begin_timing(self) -> None:
        self._gate_s: float | None = None
        self._onset_s: float | None = None
        self._times: dict[str, str] = {}
        self._is_validity_sent = False
        """True if the message about the viewing's validity was sent."""

    @property
    def image_is_on(self) -> bool:
        """True if the image is on the screen."""
        return self._onset_s is not None

    def begin(self, name: str | int) -> None:
        """Log the start of a trial; recording starts after it."""
        self._begin_timing()
        self._device_thread.say(f"TRIALID {name}")
        self._device_thread.say(self._clear)

    def cross(self, x_px: int, y_px: int, at_s: float) -> None:
        """Log the onset of the cross."""
        self._device_thread.say(f"cross {x_px} {y_px}", at_s)

    def gate_passed(self, waited_s: float, at_s: float) -> None:
        """Log that the cross was fixated."""
        self._gate_s = at_s
        self._device_thread.say(f"gate_passed {1000 * waited_s:.0f} ms", at_s)

    def gate_timed_out(self, attempt: int, tries: int) -> None:
        """Log that the cross was not fixated in time."""
        self._device_thread.say(f"gate_timeout {attempt} of {tries}")

    def image_on(self, picture: Picture | None, at_s: float) -> None:
        """Log the image onset; None if it is no image that Data Viewer could load."""
        self._onset_s = at_s
        self._device_thread.say("image_onset", at_s)
        if picture is not None:
            self._device_thread.say(self._image_message(picture), at_s)

    def seen(self, *, counts: bool = True) -> None:
        """Log, before the offset, whether the viewing counts as evidence, unless it was logged.

        The engine settles an interval at the image offset.
        """
        if not self._is_validity_sent:
            self._is_validity_sent = True
            self._device_thread.say(f"!V TRIAL_VAR evidence {int(counts)}")

    def image_off(self, at_s: float) -> None:
        """Log the image offset."""
        onset_s, self._onset_s = self._onset_s, None
        if onset_s is not None:
            self._time("image_ms", self._timings.image_ms, at_s - onset_s)
            if self._gate_s is not None:
                delay_s = onset_s - self._gate_s
                self._time("onset_delay_ms", self._timings.onset_delays_ms, delay_s)
        self._device_thread.say("image_offset", at_s)
        self._device_thread.say(self._clear, at_s)

    def ends(self, outcome: Outcome) -> None:
        """Log, before the offset, whether the viewing counts, as `seen`.

        Skipped and repeated viewings do not; a viewing until the session was aborted does.
        """
        self.seen(counts=outcome == "aborted" and self.image_is_on)

    def end(self, variables: Mapping[str, object], outcome: Outcome) -> None:
        """Log the variables of the trial and its times, and stop recording."""
        for key, value in {**variables, **self._times}.items():
            self._device_thread.say(f"!V TRIAL_VAR {key} {value}")
        self._device_thread.stop_block(f"TRIAL_RESULT {RESULTS[outcome]}")

    def _time(self, name: str, all_ms: list[float], seconds: float) -> None:
        all_ms.append(1000 * seconds)
        self._times[name] = f"{1000 * seconds:.1f}"

    def _image_message(self, picture: Picture) -> str:
        """Return Data Viewer's command to load the image, with its path relative to the EDF.

        If that is too long for an EDF message, which would be cut off, use only the file name.
        """
        try:
            path = Path(os.path.relpath(picture.path, self._folder)).as_posix()
        except ValueError:  # another drive
            path = picture.path.as_posix()
        x_px = picture.left_px + picture.width_px / 2
        y_px = picture.top_px + picture.height_px / 2
        where = f"{x_px:.0f} {y_px:.0f} {picture.width_px:.0f} {picture.height_px:.0f}"
        message = f"!V IMGLOAD CENTER {path} {where}"
        if len(message) > LONGEST_MESSAGE:
            return f"!V IMGLOAD CENTER {picture.path.name} {where}"
        return message
