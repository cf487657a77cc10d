"""Session of one participant: the steps that an experiment script combines.

Every change of the screen is logged with the time of its flip, in the tracker's file and in the
session folder, in the message format of EyeLink Data Viewer.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from gazelive.clock import Clock
from gazelive.devices import CrossStimulus, ImageStimulus, LooksAtTargets
from gazelive.errors import ConfigError, RecordingError
from gazelive.experiment.config.schema import ExperimentConfig
from gazelive.experiment.display.display import (
    Blank,
    Cross,
    Display,
    Participant,
    Question,
    Target,
    Words,
)
from gazelive.experiment.process.device_thread import DeviceThread
from gazelive.experiment.process.saving import value_range
from gazelive.experiment.protocol.gate import FixationGate
from gazelive.experiment.protocol.plan import Plan, PlannedTrial, questions
from gazelive.experiment.protocol.stage import (
    Outcome,
    SessionAbortedError,
    Stage,
    TrialInterruptedError,
)
from gazelive.experiment.protocol.tracker_setup import (
    TARGET_S,
    SetupResults,
    TrackerSetup,
    is_due,
)
from gazelive.experiment.protocol.trial_log import Timings, TrialLog
from gazelive.gaze import Posterior

SETTLING_S = 1.0
"""Longest wait for the engine to settle a trial before the next one begins."""


@dataclass
class Report(Timings, SetupResults):
    """Results of a session."""

    outcomes: list[tuple[int, str, Outcome]] = field(default_factory=list)
    """Trial, image and outcome; a repeated trial appears twice."""
    n_gate_timeouts: int = 0
    n_right_answers: int = 0
    n_answers: int = 0
    reason: str = "all images were shown"

    def count(self, outcome: Outcome) -> int:
        """Return the number of trials with this outcome."""
        return sum(1 for _, _, what in self.outcomes if what == outcome)


class Session:
    """One participant in front of the screen, step by step."""

    def __init__(
        self,
        config: ExperimentConfig,
        plan: Plan,
        participant: Participant,
        display: Display,
        device_thread: DeviceThread,
        *,
        clock: Clock,
        folder: Path,
        attended: bool = True,
        latest_posterior: Callable[[], Posterior | None] = lambda: None,
        prepare_image: Callable[[str], object] = lambda _name: None,
        say: Callable[[str], None] = lambda _text: None,
        snapshots: Path | None = None,
    ) -> None:
        self.config = config
        self.plan = plan
        self.participant = participant
        self.report = Report()
        self._device_thread = device_thread
        self._clock = clock
        self._folder = folder
        self._attended = attended
        self._latest_posterior = latest_posterior
        self._prepare_image = prepare_image
        self._print = say
        self._pause_wanted = False
        self._trials_since_break = 0
        self._gate_failures = 0
        self._attempt = 0
        self._repeats = False
        self._shown: list[PlannedTrial] = []
        self.stage = Stage(
            display,
            config.keys,
            attended=attended,
            each_frame=self._each_frame,
            host_request=device_thread.take_host_request,
            snapshots=snapshots,
        )
        self._log = TrialLog(
            device_thread, self.report, folder=folder, background_grey=config.screen.background_grey
        )
        self._setup = TrackerSetup(
            config, device_thread, self.stage, self.report, attended=attended, say=say
        )
        if isinstance(device_thread.device, LooksAtTargets):
            device_thread.device.on_target = self._show_target

    def outcome(self) -> dict[str, Any]:
        """Return the results for `session.json`."""
        report = self.report
        frames = msgspec.to_builtins(self.stage.frames.session)
        return {
            "trials": [list(outcome) for outcome in report.outcomes],
            "frames": {**frames, "synced": self.stage.display.is_synced},
            "image_ms": value_range(report.image_ms),
            "onset_delay_ms": value_range(report.onset_delays_ms),
            "gate_timeouts": report.n_gate_timeouts,
            "recognition": {"right": report.n_right_answers, "of": report.n_answers},
        }

    # steps for the script

    def instruct(self) -> None:
        """Show the instructions."""
        self._print(self.plan.summary())
        self.stage.show_text(self.config.task.instructions, then="to begin")

    def calibrate(self) -> None:
        """Calibrate and validate until the experimenter accepts the result."""
        self._setup.calibrate()

    def trials(self) -> Iterator[PlannedTrial]:
        """Yield the trials, with breaks, calibrations and drift checks between them as scheduled.

        A repeated trial comes again at once; a trial whose image cannot be shown is skipped.
        """
        for trial in self.plan.trials:
            self._attempt = self._gate_failures = 0
            self._repeats = True
            while self._repeats:
                self._run_due_steps()
                self._repeats = False
                if self._is_ready(trial):
                    self._attempt += 1
                    yield trial
            if self._shown and self._shown[-1] is trial and self._is_sure():
                return

    @contextmanager
    def recording(self, trial: PlannedTrial) -> Iterator[None]:
        """Record the `with` block; keys may end it early, and the session continues."""
        outcome: Outcome = "aborted"
        self._log.begin(trial.number)
        self._device_thread.start_block()
        self.stage.frames.start_trial()
        try:
            yield
            outcome = "shown"
        except TrialInterruptedError as interruption:
            outcome = interruption.outcome
            self._postpone(interruption)
        finally:
            self._end_trial(trial, outcome)

    def fixate(self, trial: PlannedTrial) -> None:
        """Show the cross until it is fixated."""
        gate = self.config.gate
        for attempt in range(1, gate.tries + 1):
            waited_s = self._wait_at_cross(trial)
            if waited_s is not None:
                self._log.gate_passed(waited_s, self._clock.now_s())
                return
            self.report.n_gate_timeouts += 1
            self._log.gate_timed_out(attempt, gate.tries)
        raise self._gate_failed(trial)

    def show_image(self, trial: PlannedTrial) -> None:
        """Show the image for the configured time."""
        picture = trial.picture
        onset_s = self.stage.show(picture)
        self._log.image_on(picture, onset_s)
        self._device_thread.show(
            ImageStimulus(
                name=trial.image,
                left_px=picture.left_px,
                top_px=picture.top_px,
                width_px=picture.width_px,
                height_px=picture.height_px,
            )
        )
        self.stage.hold(onset_s + self.config.trial.image_s)
        self._log.seen()
        self._take_image_away()

    def blank(self) -> None:
        """Show a blank screen for the configured time.

        The image was seen by now: only the repeat key ends the trial early.
        """
        try:
            self.stage.hold(self._clock.now_s() + self.config.trial.blank_s)
        except TrialInterruptedError as interruption:
            if interruption.outcome == "repeated" and not interruption.then:
                raise
            self._postpone(interruption)

    def recognise(self) -> None:
        """Ask the configured recognition questions, unless the session is unattended."""
        n_questions = self.config.task.recognition_questions
        if not n_questions:
            return
        if not self._attended:
            self._device_thread.say("recognition skipped: unattended session")
            self._print("Recognition questions skipped: the session is unattended.")
            return
        keys = self.config.keys
        who = self.participant
        asked = questions(self.plan, self._shown, n_questions, who.viewer or "", who.session)
        for picture, was_shown in asked:
            hint = f"{keys.yes.upper()}: yes   {keys.no.upper()}: no"
            scene = Question(picture, "Have you seen this image today?", hint)
            try:
                self.stage.display.prepare(scene)
            except RecordingError as error:
                self._print(f"Question skipped: {error}")
                continue
            yes = self.stage.ask(scene, (keys.yes, keys.no)) == keys.yes
            self.report.n_answers += 1
            self.report.n_right_answers += yes == was_shown
            self._device_thread.say(
                f"recognition {picture.path.name} shown {int(was_shown)} answer {int(yes)}"
            )

    def farewell(self) -> None:
        """Show the farewell text."""
        self.stage.show_text(self.config.task.farewell, then="to end")

    # between trials

    def _is_ready(self, trial: PlannedTrial) -> bool:
        """Prepare the image; an unreadable image does not end the session."""
        try:
            self.stage.display.prepare(trial.picture)
            self._prepare_image(trial.image)
        except (RecordingError, ConfigError) as error:
            self._print(f"Trial {trial.number} skipped: {error}")
            self._device_thread.say(f"trial {trial.number} skipped: {trial.image} is unreadable")
            self.report.outcomes.append((trial.number, trial.image, "skipped"))
            return False
        self.stage.display.pressed()  # drop earlier keys
        return True

    def _rest(self) -> float:
        """Show a frame between trials; requests by keys are handled before the next trial."""
        try:
            return self.stage.frame()
        except TrialInterruptedError as interruption:
            self._postpone(interruption)
            return self._clock.now_s()

    def _postpone(self, interruption: TrialInterruptedError) -> None:
        self._pause_wanted |= interruption.then == "pause"
        self._setup.is_wanted |= interruption.then == "calibrate"

    def _run_due_steps(self) -> None:
        if self._pause_wanted:
            self._pause()
        if is_due(self._trials_since_break, self.config.schedule.break_every_trials):
            self._trials_since_break = 0
            self._device_thread.say("break")
            self.stage.show_text(self.config.task.break_text)
        self._setup.is_wanted |= self._device_thread.take_calibration_request()
        self._setup.run_due_steps()

    def _pause(self) -> None:
        self._pause_wanted = False
        self._device_thread.say("pause")
        keys = self.config.keys
        hint = f"Press {keys.go_on.upper()} to continue"
        self.stage.ask(Words("Pause", hint), (keys.go_on,), alone_s=None)
        self._device_thread.say("resume")

    def _show_target(self, x_px: float, y_px: float) -> None:
        until_s = self.stage.show(Target(x_px, y_px)) + TARGET_S
        while self._rest() < until_s:
            pass

    def _is_sure(self) -> bool:
        """Return whether the posterior has reached the configured level for an early stop."""
        identify = self.config.identify
        if self.participant.mode != "identify" or identify.stop_at is None:
            return False
        if len(self._shown) < identify.stop_after_images:
            return False
        posterior = self._settled_posterior()
        if posterior is None:
            return False
        unknown = 0.0 if posterior.log_unknown is None else math.exp(posterior.log_unknown)
        best = (1.0 - unknown) * math.exp(max(posterior.log_probabilities))
        if best < identify.stop_at:
            return False
        enough = {True: ", accepted", False: ", not accepted", None: ""}[posterior.accepted]
        self.report.reason = f"the posterior reached {identify.stop_at:g}{enough}"
        self._device_thread.say(f"stopped early: posterior {best:.4f}{enough}")
        return True

    def _settled_posterior(self) -> Posterior | None:
        """Return the posterior after the last image, if it comes in time.

        The engine settles a trial within milliseconds of its end; frames continue meanwhile.
        """
        deadline_s = self._clock.now_s() + SETTLING_S
        while True:
            posterior = self._latest_posterior()
            if posterior is not None and posterior.n_images >= len(self._shown):
                return posterior
            if self._rest() > deadline_s:
                return None

    # inside a trial

    def _wait_at_cross(self, trial: PlannedTrial) -> float | None:
        """Show the cross; return the time until it was fixated, None after the time-out."""
        settings = self.config.gate
        x_px, y_px = trial.cross_px
        gate = FixationGate(
            self.stage.display.screen,
            trial.cross_px,
            radius_deg=settings.radius_deg,
            dwell_s=settings.dwell_s,
        )
        shown_s = self.stage.show(Cross(x_px, y_px, self.config.trial.cross_size_deg))
        self._device_thread.show(CrossStimulus(x_px=x_px, y_px=y_px))
        self._log.cross(x_px, y_px, shown_s)
        self._device_thread.watch(gate)
        while gate.opened_us is None:
            if self.stage.frame() - shown_s > settings.timeout_s:
                return None
        return self._clock.now_s() - shown_s

    def _gate_failed(self, trial: PlannedTrial) -> TrialInterruptedError:
        """Return the consequence: a recalibration, and after a second failure the next trial."""
        self._gate_failures += 1
        if self._gate_failures > 1:
            self._gate_failures = 0
            self._print(f"Trial {trial.number}: the cross was not fixated; skipped.")
            return TrialInterruptedError("skipped")
        self._print(f"Trial {trial.number}: the cross was not fixated; calibrating again.")
        return TrialInterruptedError("repeated", "calibrate")

    def _take_image_away(self) -> None:
        offset_s = self.stage.show(Blank())
        self._device_thread.hide()
        self._log.image_off(offset_s)

    def _end_trial(self, trial: PlannedTrial, outcome: Outcome) -> None:
        """Stop recording and log the outcome, also if the session is aborted."""
        self.report.outcomes.append((trial.number, trial.image, outcome))
        self._log.ends(outcome)
        if self._log.image_is_on:
            self._take_image_away()
        else:
            self.stage.show(Blank())
            self._device_thread.hide()
        frames = self.stage.frames.stop_trial()
        variables = {
            "image": trial.image,
            "index": trial.number,
            "attempt": self._attempt,
            "outcome": outcome,
            "dropped_frames": frames.dropped,
        }
        self._log.end(variables, outcome)
        self._repeats = outcome == "repeated"
        if outcome == "shown":
            self._shown.append(trial)
            self._trials_since_break += 1
            self._setup.count_trial()

    def _each_frame(self) -> None:
        self._device_thread.check()
        if self._device_thread.is_stop_wanted:
            raise SessionAbortedError("stopped from the dashboard")
