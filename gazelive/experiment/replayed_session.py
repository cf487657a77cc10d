"""A session that was recorded before: the screen follows the recording's time.

Trials, images, their places and times are the recording's own, and so is what it says to the
engine; the gate passes because it once did, and the log says so.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PureWindowsPath
from typing import Any

from gazelive.config.schema import ExperimentConfig
from gazelive.errors import ConfigError, RecordingError
from gazelive.experiment.display import Blank, Cross, Picture, Words
from gazelive.experiment.plan import Plan, PlannedTrial, picture_of, upright_size_px
from gazelive.experiment.replayed_places import RecordedPlaces
from gazelive.experiment.session import Session
from gazelive.experiment.stage import Outcome, TrialInterruptedError
from gazelive.recordings.image_files import find_image
from gazelive.recordings.recording import Recording, Trial


class ReplayedTrial(PlannedTrial, frozen=True, kw_only=True):
    """A trial that has happened."""

    recorded: Trial
    found: bool
    """Whether the image is on this computer."""

    @property
    def image(self) -> str:
        """The image's name in the recording."""
        return self.recorded.image or ""


def plan_of(recording: Recording, config: ExperimentConfig, stimuli: Path) -> Plan:
    """Return the trials of a recording.

    Images are where its messages say, seen from its own folder, else of the same name in `stimuli`.
    """
    places = RecordedPlaces(recording, config.screen)
    home = recording.path if recording.path.is_dir() else recording.path.parent
    trials = tuple(
        _planned(number, trial, places, config, (home, stimuli))
        for number, trial in enumerate(recording.trials, start=1)
    )
    return Plan(trials=trials, foils=(), n_available=len(trials), seed=0)


class ReplayedSession(Session):
    """Shows what was shown, when it was; keys can only end it."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._unreadable: set[int] = set()
        """Trials whose image is damaged."""

    def instruct(self) -> None:
        """Say what is going to be replayed."""
        n = len(self.plan.trials)
        told = f"{n} recorded trial{'' if n == 1 else 's'}"
        self._tell_console(f"Replaying {told}.")
        self.stage.tell(f"A replay of {told}", then="to begin")

    def calibrate(self) -> None:
        """Do nothing: the recording's calibration holds."""

    def trials(self) -> Iterator[PlannedTrial]:
        """Play the recording, and yield each trial when it begins."""
        self._desk.start_block()
        for trial in self.plan.trials:
            assert isinstance(trial, ReplayedTrial)
            self._prepare(trial)
            self.stage.show(Blank())
            self._wait_until_us(trial.recorded.start_us)
            yield trial
        while not self._desk.has_finished:
            self._frame()
        self._desk.stop_block()
        self.report.reason = "the recording was replayed to its end"

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
            self._desk.say(f"replayed {trial.number} dropped_frames {frames.dropped}")

    def fixate(self, trial: PlannedTrial) -> None:
        """Show the cross for as long as it was shown."""
        assert isinstance(trial, ReplayedTrial)
        size_deg = self.config.trial.cross_size_deg
        self.stage.show(Cross(*trial.cross_px, size_deg))
        self._wait_until_us(trial.recorded.image_onset_us or trial.recorded.start_us)
        self._desk.say(f"gate_replayed {trial.number}")

    def show_image(self, trial: PlannedTrial) -> None:
        """Show the image for as long as it was shown."""
        assert isinstance(trial, ReplayedTrial)
        name = PureWindowsPath(trial.image).name  # whichever slashes it has
        missing = Words(
            f"{name}\nis not on this computer" if name else "The recording names no image"
        )
        found = trial.found and trial.number not in self._unreadable
        onset_s = self.stage.show(trial.picture if found else missing)
        self._desk.say(f"replayed {trial.number} shown", onset_s)
        self._wait_until_us(trial.recorded.image_offset_us or trial.recorded.end_us)
        self.stage.show(Blank())

    def blank(self) -> None:
        """Leave the pause to the recording."""

    def recognise(self) -> None:
        """Ask nothing: the participant is not here."""

    def _prepare(self, trial: ReplayedTrial) -> None:
        if trial.found:
            try:
                self.stage.display.prepare(trial.picture)
            except RecordingError as error:
                self._unreadable.add(trial.number)
                self._tell_console(str(error))

    def _wait_until_us(self, tracker_time_us: int) -> None:
        while self._desk.reached_us < tracker_time_us and not self._desk.has_finished:
            self._frame()

    def _frame(self) -> None:
        """Show a frame; of the keys only the one that aborts means something."""
        try:
            self.stage.frame()
        except TrialInterruptedError:
            self._tell_console("A replay is as it was: pause it from the dashboard.")


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
        with suppress(ConfigError):  # a file that is no image is as good as none
            picture = _placed(path, trial, places, config)
    return ReplayedTrial(
        number=number,
        picture=picture or Picture(Path(), 0.0, 0.0, 0.0, 0.0),
        cross_px=places.cross_px(trial),
        recorded=trial,
        found=picture is not None,
    )


def _placed(path: Path, trial: Trial, places: RecordedPlaces, config: ExperimentConfig) -> Picture:
    """Return the image where it was; where the recording does not say, as it would be today."""
    rectangle_px = places.image_px(trial, upright_size_px(path))
    return picture_of(path, config) if rectangle_px is None else Picture(path, *rectangle_px)
