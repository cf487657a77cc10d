"""Trials from live messages, by the rules of `recordings.trials`.

The interval of a trial is final (`Viewed`) when its image is gone and has a name, else when the
trial ends. No later message changes it, and it can be settled at once.
"""

from __future__ import annotations

from dataclasses import dataclass

from gazelive.gaze import Message
from gazelive.recordings import BlockTimes, OpenTrial, Trial, TrialFinder, TrialPatterns


@dataclass(frozen=True)
class TrialBegan:
    """A trial starts."""

    name: str
    start_us: int


@dataclass(frozen=True)
class ImageCame:
    """The image of the trial is on the screen."""

    name: str
    onset_us: int
    image: str | None


@dataclass(frozen=True)
class ImageNamed:
    """A message names the image."""

    image: str | None
    text: str


@dataclass(frozen=True)
class ViewingEnded:
    """The image is gone, or the trial is over."""

    time_us: int


@dataclass(frozen=True)
class Viewed:
    """The interval of a trial is final."""

    trial: Trial


@dataclass(frozen=True)
class TrialEnded:
    """The trial is over."""

    trial: Trial


Step = TrialBegan | ImageCame | ImageNamed | ViewingEnded | Viewed | TrialEnded


class TrialSteps:
    """Turns messages, in the order of time, into steps.

    Call `put_block` before each message for the blocks that begin before it.
    """

    def __init__(self, patterns: TrialPatterns) -> None:
        self._block_times = BlockTimes()
        self._finder = TrialFinder(self._block_times, patterns, keeps=False)
        self._viewing_ended = False
        self._viewed = False

    @property
    def open(self) -> OpenTrial | None:
        """The open trial."""
        return self._finder.open

    def matters(self, message: Message) -> bool:
        """Return whether the sample before which a message takes effect makes a difference."""
        return self._finder.matters(message.text)

    def put_block(self, number: int, first_us: int, reached_us: int) -> None:
        """Note that a block begins at `first_us` and has reached a time."""
        self._block_times.put(number, first_us, reached_us)

    def take(self, message: Message) -> list[Step]:
        """Take the next message."""
        before, n_ended = self._finder.open, self._finder.n_ended
        image = None if before is None else before.image
        had_onset = before is not None and before.onset_us is not None
        self._finder.take(message)
        steps = self._ended(n_ended)
        trial = self._finder.open
        if trial is None:
            return steps
        if trial is not before:
            self._viewing_ended = self._viewed = False
            return [*steps, TrialBegan(trial.name, trial.start_us)]
        if trial.image != image:
            steps.append(ImageNamed(trial.image, message.text))
        if trial.onset_us is not None and not had_onset:
            steps.append(ImageCame(trial.name, trial.onset_us, trial.image))
        return steps + self._image_gone(trial)

    def finish(self) -> list[Step]:
        """End the open trial: no more messages come."""
        n_ended = self._finder.n_ended
        self._finder.trials()
        return self._ended(n_ended)

    def _image_gone(self, trial: OpenTrial) -> list[Step]:
        if trial.onset_us is None or trial.offset_us is None:
            return []
        steps: list[Step] = []
        if not self._viewing_ended:
            self._viewing_ended = True
            steps.append(ViewingEnded(trial.offset_us))
        if trial.image is not None and not self._viewed:
            self._viewed = True
            viewed = Trial(
                name=trial.name,
                start_us=trial.start_us,
                end_us=trial.offset_us,
                block=self._block_times.containing(trial.onset_us, trial.offset_us),
                image=trial.image,
                image_onset_us=trial.onset_us,
                image_offset_us=trial.offset_us,
                variables=dict(trial.variables),
            )
            steps.append(Viewed(viewed))
        return steps

    def _ended(self, n_ended_before: int) -> list[Step]:
        trial = self._finder.last
        if trial is None or self._finder.n_ended == n_ended_before:
            return []
        steps: list[Step] = []
        if not self._viewing_ended:
            steps.append(ViewingEnded(trial.end_us))
        if not self._viewed:
            steps.append(Viewed(trial))
        return [*steps, TrialEnded(trial)]
