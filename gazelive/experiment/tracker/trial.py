"""A trial of somebody else's script: recording, messages, triggers and the posterior."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Self

from gazelive.experiment.display.display import Picture
from gazelive.experiment.protocol.stage import Outcome, TrialInterruptedError
from gazelive.experiment.tracker.posterior import LivePosterior
from gazelive.experiment.tracker.trial_recorder import TrialRecorder
from gazelive.triggers import Area, GazePoint, Trigger, Triggers, Watch


class Trial:
    """Records from the start of its `with` to the end; made by `Tracker.trial`.

    Times of the screen are those of the calls, so let the flip make them:
    `win.callOnFlip(trial.shown)`. Use it in one thread.
    """

    def __init__(
        self,
        recorder: TrialRecorder,
        triggers: Triggers,
        name: str,
        picture: Picture | None,
        *,
        latest_posterior: Callable[[], LivePosterior | None],
        position: Callable[[float, float], tuple[float, float]],
    ) -> None:
        self.name = name
        self.picture = picture
        """The image and its rectangle in screen pixels."""
        self.variables: dict[str, object] = {}
        """Written as TRIAL_VAR at the end of the trial; fill it at any time."""
        self.outcome: Outcome | None = None
        """None while the trial runs; then "shown", or "skipped", "repeated" or "aborted"."""
        self.triggers = triggers
        """Makes watches that can be polled, waited for, or given a callback."""
        self._recorder = recorder
        self._latest_posterior = latest_posterior
        self._position = position
        self._saccades: Watch | None = None
        self._counts = True

    def __enter__(self) -> Self:
        self._recorder.begin(self.name)
        self._saccades = self.triggers.saccade_onset()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        """End the trial; one that was skipped or repeated on the Host PC ends only itself."""
        late = None if error is not None else self._late_end()
        end = error or late
        self.outcome = self._outcome(end)
        if self._saccades is not None:
            self._saccades.close()
        image = None if self.picture is None else self.picture.path.name
        try:
            self._recorder.end(self.name, image, self.variables, self.outcome)
        except Exception:
            if end is None or isinstance(end, TrialInterruptedError):
                raise  # else there is an earlier failure to report
        if late is not None and not isinstance(late, TrialInterruptedError):
            raise late
        return isinstance(error, TrialInterruptedError)

    def _late_end(self) -> Exception | None:
        """Return what would have ended the trial, had the script asked."""
        try:
            self.check()
        except Exception as error:
            return error
        return None

    def _outcome(self, end: BaseException | None) -> Outcome:
        if isinstance(end, TrialInterruptedError):
            return end.outcome
        if end is not None:
            return "aborted"
        return "shown" if self._counts else "skipped"

    # what the screen shows

    def shown(self) -> None:
        """Log the onset of the image: call it at the flip, `win.callOnFlip(trial.shown)`.

        A simulated viewer looks at the image from now on, and `poll` forgets earlier saccades.
        """
        self._recorder.image_on(self.picture)
        if self._saccades is not None:
            self._saccades.clear()

    def hidden(self) -> None:
        """Log the offset of the image, at the flip; else the end of the trial is its offset."""
        self._recorder.image_off(counts=self._counts)

    def cross_shown(self, x_px: float | None = None, y_px: float | None = None) -> None:
        """Log a fixation cross at a position on the screen (default: its centre), at the flip.

        A simulated viewer looks at it from now on.
        """
        self._recorder.cross_on(x_px, y_px)

    def message(self, text: str) -> None:
        """Send a message with the time of now, to the session and the tracker's own file."""
        self._recorder.message(text)

    def discard(self) -> None:
        """Let this trial not count as evidence; call it before the image's offset."""
        self._counts = False

    # gaze

    @property
    def gaze(self) -> GazePoint | None:
        """The newest gaze; None while it is lost."""
        return self.triggers.gaze

    @property
    def gaze_pix(self) -> tuple[float, float] | None:
        """The newest gaze in the window's units `pix`: from its centre, y upwards; or None."""
        gaze = self.triggers.gaze
        return None if gaze is None else self._position(gaze.x_px, gaze.y_px)

    @property
    def posterior(self) -> LivePosterior | None:
        """The newest posterior; None without a model, or before the first saccade."""
        return self._latest_posterior()

    def check(self) -> None:
        """Raise what ends the trial: a lost tracker, a dashboard's stop, the Host PC's menu."""
        self._recorder.check()
        self.triggers.check()

    def poll(self) -> Trigger | None:
        """Return the oldest saccade onset that was not returned yet, or None; never waits."""
        self.check()
        return None if self._saccades is None else self._saccades.poll()

    def wait_saccade(
        self,
        *,
        timeout_s: float | None = None,
        direction_deg: float | None = None,
        within_deg: float = 45.0,
        min_amplitude_deg: float = 0.0,
    ) -> Trigger | None:
        """Wait for the onset of the next saccade; None after the time.

        A direction (0° is right, 90° up) keeps out those that go more than `within_deg` from it.
        """
        watch = self.triggers.saccade_onset(
            direction_deg=direction_deg,
            within_deg=within_deg,
            min_amplitude_deg=min_amplitude_deg,
        )
        return self.wait(watch, timeout_s=timeout_s)

    def wait_saccade_end(
        self,
        *,
        timeout_s: float | None = None,
        direction_deg: float | None = None,
        within_deg: float = 45.0,
        min_amplitude_deg: float = 0.0,
    ) -> Trigger | None:
        """Wait for the end of the next saccade; None after the time."""
        watch = self.triggers.saccade_end(
            direction_deg=direction_deg,
            within_deg=within_deg,
            min_amplitude_deg=min_amplitude_deg,
        )
        return self.wait(watch, timeout_s=timeout_s)

    def wait_fixation(
        self, ms: float, area: Area | None = None, *, timeout_s: float | None = None
    ) -> Trigger | None:
        """Wait for the eye at rest for `ms`, in the area if there is one; None after the time."""
        return self.wait(self.triggers.fixation(ms, area), timeout_s=timeout_s)

    def wait_enter(
        self, area: Area, *, for_ms: float = 0.0, timeout_s: float | None = None
    ) -> Trigger | None:
        """Wait for gaze to come into an area and stay for `for_ms`; None after the time."""
        return self.wait(self.triggers.enter(area, for_ms), timeout_s=timeout_s)

    def wait_leave(
        self, area: Area, *, for_ms: float = 0.0, timeout_s: float | None = None
    ) -> Trigger | None:
        """Wait for gaze to go out of an area and stay outside for `for_ms`; None after the time."""
        return self.wait(self.triggers.leave(area, for_ms), timeout_s=timeout_s)

    def wait_blink(self, *, timeout_s: float | None = None) -> Trigger | None:
        """Wait for the next blink; None after the time."""
        return self.wait(self.triggers.blink(), timeout_s=timeout_s)

    def wait(self, watch: Watch, *, timeout_s: float | None = None) -> Trigger | None:
        """Wait for a watch, then close it; None after the time, or at the end of a replay.

        Raises what `check` raises, at once.
        """
        with watch:
            return self._recorder.wait(watch, timeout_s, self.check)
