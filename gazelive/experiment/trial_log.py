"""What a trial says to the tracker's own file and to the session: Data Viewer's protocol."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

from gazelive.devices.eyelink_link import LONGEST_MESSAGE
from gazelive.experiment.desk import Desk
from gazelive.experiment.display import Picture
from gazelive.experiment.plan import PlannedTrial
from gazelive.experiment.stage import Outcome

RESULTS: dict[Outcome, int] = {"shown": 0, "repeated": 1, "skipped": 2, "aborted": 3}
"""What TRIAL_RESULT says; 0 is a whole trial."""


@dataclass
class Timings:
    """When images came, over a session."""

    onset_delays_ms: list[float] = field(default_factory=list)
    """From the frame in which the gate was seen open to the image on the screen."""
    image_ms: list[float] = field(default_factory=list)
    """How long each image was on the screen."""


class TrialLog:
    """Says what happens in trial after trial, with the times of the flips."""

    def __init__(self, desk: Desk, timings: Timings, *, folder: Path, background_grey: int) -> None:
        self._desk = desk
        self._timings = timings
        self._folder = folder
        self._clear = f"!V CLEAR {background_grey} {background_grey} {background_grey}"
        self._begin_timing()

    def _begin_timing(self) -> None:
        self._gate_s: float | None = None
        self._onset_s: float | None = None
        self._told: dict[str, str] = {}
        self._is_judged = False
        """Whether it was said if the viewing counts."""

    @property
    def image_is_on(self) -> bool:
        """True from the image's onset to its offset."""
        return self._onset_s is not None

    def begin(self, trial: PlannedTrial) -> None:
        """Say that a trial begins; recording starts after it."""
        self._begin_timing()
        self._desk.say(f"TRIALID {trial.number}")
        self._desk.say(self._clear)

    def cross(self, trial: PlannedTrial, at_s: float) -> None:
        """Say that the cross is on the screen."""
        x_px, y_px = trial.cross_px
        self._desk.say(f"cross {x_px} {y_px}", at_s)

    def gate_passed(self, waited_s: float, at_s: float) -> None:
        """Say that the cross was fixated."""
        self._gate_s = at_s
        self._desk.say(f"gate_passed {1000 * waited_s:.0f} ms", at_s)

    def gate_timed_out(self, attempt: int, tries: int) -> None:
        """Say that the cross was not fixated in time."""
        self._desk.say(f"gate_timeout {attempt} of {tries}")

    def image_on(self, picture: Picture, at_s: float) -> None:
        """Say that the image is on the screen."""
        self._onset_s = at_s
        self._desk.say("image_onset", at_s)
        self._desk.say(self._image_message(picture), at_s)

    def seen(self) -> None:
        """Say that the image was seen for as long as it should be, before it goes."""
        self._judge(counts=True)

    def image_off(self, at_s: float) -> None:
        """Say that the image is gone."""
        onset_s, self._onset_s = self._onset_s, None
        if onset_s is not None:
            self._time("image_ms", self._timings.image_ms, at_s - onset_s)
            if self._gate_s is not None:
                delay_s = onset_s - self._gate_s
                self._time("onset_delay_ms", self._timings.onset_delays_ms, delay_s)
        self._desk.say("image_offset", at_s)
        self._desk.say(self._clear, at_s)

    def ends(self, outcome: Outcome) -> None:
        """Say, before an image that is still there goes, whether its viewing counts.

        The engine settles what was seen when the image goes. What was skipped or repeated does not
        count; what was seen of an image until the session was aborted is as good as any.
        """
        if not self._is_judged:
            self._judge(counts=outcome == "aborted" and self.image_is_on)

    def end(self, trial: PlannedTrial, attempt: int, outcome: Outcome, n_dropped: int) -> None:
        """Say what became of the trial, and stop recording."""
        variables = {
            "image": trial.image,
            "index": trial.number,
            "attempt": attempt,
            "outcome": outcome,
            "dropped_frames": n_dropped,
            **self._told,
        }
        for key, value in variables.items():
            self._desk.say(f"!V TRIAL_VAR {key} {value}")
        self._desk.stop_block(f"TRIAL_RESULT {RESULTS[outcome]}")

    def _judge(self, *, counts: bool) -> None:
        self._is_judged = True
        self._desk.say(f"!V TRIAL_VAR evidence {int(counts)}")

    def _time(self, name: str, all_ms: list[float], seconds: float) -> None:
        all_ms.append(1000 * seconds)
        self._told[name] = f"{1000 * seconds:.1f}"

    def _image_message(self, picture: Picture) -> str:
        """Return Data Viewer's command to load the image; its path is relative to the EDF.

        Where that does not fit into a message of the EDF, which would lose what stands at its end,
        the image's name alone has to do.
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
