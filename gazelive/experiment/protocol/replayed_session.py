"""Replayed session: the screen follows the time of a recording.

Trials, images, positions, times and messages to the engine are those of the recording. The gate
passes when it did in the recording; the log has `gate_replayed`.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gazelive.errors import ConfigError, RecordingError
from gazelive.experiment.config.schema import ExperimentConfig, Screen
from gazelive.experiment.display.display import Blank, Cross, Picture, Words
from gazelive.experiment.protocol.plan import Plan, PlannedTrial, picture_of, upright_size_px
from gazelive.experiment.protocol.stage import Outcome, TrialInterruptedError
from gazelive.experiment.session import Session
from gazelive.gaze import Message, in_time_order
from gazelive.recordings import DEFAULT_PATTERNS, Recording, RectanglePx, Trial, image_rectangle_px
from gazelive.stimuli import find_image
from gazelive.wording import counted, file_name


class ReplayedTrial(PlannedTrial, frozen=True, kw_only=True):
    """A recorded trial."""

    recorded: Trial
    found: bool
    """True if the image file exists on this computer."""

    @property
    def image(self) -> str:
        """The image's name in the recording."""
        return self.recorded.image or ""


def plan_of(recording: Recording, config: ExperimentConfig, stimuli: Path) -> Plan:
    """Return the trials of a recording.

    Images are found by the path in its messages, relative to its folder, else by name in `stimuli`.
    """
    places = RecordedPlaces(recording, config.screen)
    home = recording.path if recording.path.is_dir() else recording.path.parent
    trials = tuple(
        _planned(number, trial, places, config, (home, stimuli))
        for number, trial in enumerate(recording.trials, start=1)
    )
    return Plan(trials=trials, foils=(), n_available=len(trials), seed=0)


class ReplayedSession(Session):
    """Shows the recorded scenes at the recorded times; the only key is abort."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._damaged: set[int] = set()
        """Numbers of trials with a damaged image."""

    def instruct(self) -> None:
        """Announce the replay."""
        trials = counted(len(self.plan.trials), "recorded trial")
        self._print(f"Replaying {trials}.")
        self.stage.show_text(f"Replay of {trials}", then="to begin")

    def calibrate(self) -> None:
        """Do nothing: the recording has its calibration."""

    def trials(self) -> Iterator[PlannedTrial]:
        """Play the recording and yield each trial when it begins."""
        self._device_thread.start_block()
        for trial in self.plan.trials:
            assert isinstance(trial, ReplayedTrial)
            self._prepare(trial)
            self.stage.show(Blank())
            self._wait_until_us(trial.recorded.start_us)
            yield trial
        while not self._device_thread.has_finished:
            self._frame()
        self._device_thread.stop_block()
        self.report.reason = "end of the recording"

    @contextmanager
    def recording(self, trial: PlannedTrial) -> Iterator[None]:
        """Count the frames of the trial."""
        outcome: Outcome = "aborted"
        self.stage.frames.start_trial()
        try:
            yield
            outcome = "shown"
        finally:
            frames = self.stage.frames.stop_trial()
            self.report.outcomes.append((trial.number, trial.image, outcome))
            self._device_thread.say(f"replayed {trial.number} dropped_frames {frames.dropped}")

    def fixate(self, trial: PlannedTrial) -> None:
        """Show the cross for the recorded time."""
        assert isinstance(trial, ReplayedTrial)
        size_deg = self.config.trial.cross_size_deg
        self.stage.show(Cross(*trial.cross_px, size_deg))
        self._wait_until_us(trial.recorded.image_onset_us or trial.recorded.start_us)
        self._device_thread.say(f"gate_replayed {trial.number}")

    def show_image(self, trial: PlannedTrial) -> None:
        """Show the image for the recorded time."""
        assert isinstance(trial, ReplayedTrial)
        name = file_name(trial.image)
        missing = Words(f"{name}\nis not on this computer" if name else "No image in the recording")
        found = trial.found and trial.number not in self._damaged
        onset_s = self.stage.show(trial.picture if found else missing)
        self._device_thread.say(f"replayed {trial.number} shown", onset_s)
        self._wait_until_us(trial.recorded.image_offset_us or trial.recorded.end_us)
        self.stage.show(Blank())

    def blank(self) -> None:
        """Do nothing: the recording has its own pauses."""

    def recognise(self) -> None:
        """Ask nothing: there is no participant."""

    def _prepare(self, trial: ReplayedTrial) -> None:
        if trial.found:
            try:
                self.stage.display.prepare(trial.picture)
            except RecordingError as error:
                self._damaged.add(trial.number)
                self._print(str(error))

    def _wait_until_us(self, tracker_time_us: int) -> None:
        while (
            self._device_thread.reached_us < tracker_time_us
            and not self._device_thread.has_finished
        ):
            self._frame()

    def _frame(self) -> None:
        """Show a frame; of the keys only abort has an effect."""
        try:
            self.stage.frame()
        except TrialInterruptedError:
            self._print("This key has no effect in a replay; pause it from the dashboard.")


def _planned(
    number: int,
    trial: Trial,
    places: RecordedPlaces,
    config: ExperimentConfig,
    folders: tuple[Path, ...],
) -> ReplayedTrial:
    path = None if trial.image is None else find_image(trial.image, folders)
    picture = None
    if path is not None:
        with suppress(ConfigError):  # an invalid image counts as missing
            picture = _placed(path, trial, places, config)
    return ReplayedTrial(
        number=number,
        picture=picture or Picture(Path(), 0.0, 0.0, 0.0, 0.0),
        cross_px=places.cross_px(trial),
        recorded=trial,
        found=picture is not None,
    )


def _placed(path: Path, trial: Trial, places: RecordedPlaces, config: ExperimentConfig) -> Picture:
    """Return the image at its recorded position; if unknown, at the configured one."""
    rectangle_px = places.image_px(trial, upright_size_px(path))
    return picture_of(path, config) if rectangle_px is None else Picture(path, *rectangle_px)


_CROSS = re.compile(r"cross (-?\d+) (-?\d+)$")
_IMAGE = re.compile(DEFAULT_PATTERNS.image)


@dataclass(frozen=True)
class _Fit:
    """Maps the recorded screen to this one: same aspect ratio, same centre."""

    scale: float
    left_px: float
    top_px: float

    def point(self, x_px: float, y_px: float) -> tuple[float, float]:
        return self.left_px + x_px * self.scale, self.top_px + y_px * self.scale


class RecordedPlaces:
    """Positions of crosses and images, from the messages of a recording."""

    def __init__(self, recording: Recording, screen: Screen) -> None:
        self._recording = recording
        self._messages = in_time_order(recording.messages)
        self._times_us = [message.tracker_time_us for message in self._messages]
        self._screen = screen
        self._fit = _fit(recording.screen_px, (screen.width_px, screen.height_px))

    def cross_px(self, trial: Trial) -> tuple[int, int]:
        """Return the position of the trial's cross; the screen's centre if unknown."""
        for message in self._of(trial):
            match = _CROSS.match(message.text)
            if match is not None:
                x_px, y_px = self._fit.point(int(match[1]), int(match[2]))
                return round(x_px), round(y_px)
        return self._screen.width_px // 2, self._screen.height_px // 2

    def image_px(self, trial: Trial, file_px: tuple[int, int]) -> RectanglePx | None:
        """Return the rectangle of the trial's image; None if unknown.

        `file_px` is the size of the image file, for messages with a position only.
        """
        named = [message for message in self._of(trial) if _names(message, trial.image)]
        onset_us = trial.image_onset_us
        # as for the image's name: the first message after the onset, else the last before it
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
