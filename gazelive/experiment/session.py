"""A session as the paper recorded it; the script in `experiments/` says in which order.

Every change of the screen is a message with the time of its flip, to the tracker's own file and to
the session folder; the messages are those of EyeLink's Data Viewer.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from gazelive.clock import Clock
from gazelive.config.schema import ExperimentConfig
from gazelive.devices.protocol import (
    CrossStimulus,
    ImageStimulus,
    LooksAtTargets,
)
from gazelive.errors import ConfigError, RecordingError
from gazelive.experiment.desk import Desk
from gazelive.experiment.display import (
    Blank,
    Cross,
    Display,
    Participant,
    Question,
    Target,
    Words,
)
from gazelive.experiment.gate import FixationGate
from gazelive.experiment.plan import Plan, PlannedTrial, questions
from gazelive.experiment.setting_up import SettingUp, SetUpResults, is_due
from gazelive.experiment.stage import (
    Outcome,
    SessionAbortedError,
    Stage,
    TrialInterruptedError,
)
from gazelive.experiment.trial_log import Timings, TrialLog
from gazelive.gaze.documents import Posterior

TARGET_S = 0.15
"""How long each target of a simulated calibration is on the screen."""
SETTLING_S = 1.0
"""How long the engine may take to settle a trial before the next begins without it."""


@dataclass
class Report(Timings, SetUpResults):
    """What a session came to."""

    outcomes: list[tuple[int, str, Outcome]] = field(default_factory=list)
    """Trial, image and what became of it; a repeated trial is there twice."""
    n_gate_timeouts: int = 0
    n_right_answers: int = 0
    n_answers: int = 0
    reason: str = "all images were shown"

    def count(self, outcome: Outcome) -> int:
        """Return how many trials ended so."""
        return sum(1 for _, _, what in self.outcomes if what == outcome)


class Session:
    """One participant before the screen, step by step."""

    def __init__(
        self,
        config: ExperimentConfig,
        plan: Plan,
        participant: Participant,
        display: Display,
        desk: Desk,
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
        self._desk = desk
        self._clock = clock
        self._folder = folder
        self._attended = attended
        self._latest_posterior = latest_posterior
        self._prepare_image = prepare_image
        self._tell_console = say
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
            host_request=desk.take_host_request,
            snapshots=snapshots,
        )
        self._log = TrialLog(
            desk, self.report, folder=folder, background_grey=config.screen.background_grey
        )
        self._set_up = SettingUp(config, desk, self.stage, self.report, attended=attended, say=say)
        if isinstance(desk.device, LooksAtTargets):
            desk.device.on_target = self._show_target

    # what the script says

    def instruct(self) -> None:
        """Show the instructions."""
        self._tell_console(self.plan.told())
        self.stage.tell(self.config.task.instructions, then="to begin")

    def calibrate(self) -> None:
        """Calibrate and validate, again until the experimenter is content."""
        self._set_up.calibrate()

    def trials(self) -> Iterator[PlannedTrial]:
        """Yield the trials; breaks, calibrations and drift checks come between as scheduled.

        A trial that is to be repeated comes again at once; one whose image cannot be shown is left
        out.
        """
        for trial in self.plan.trials:
            self._attempt = self._gate_failures = 0
            self._repeats = True
            while self._repeats:
                self._do_what_is_due()
                self._repeats = False
                if self._is_ready(trial):
                    self._attempt += 1
                    yield trial
            if self._shown and self._shown[-1] is trial and self._is_sure():
                return

    @contextmanager
    def recording(self, trial: PlannedTrial) -> Iterator[None]:
        """Record while the block runs; keys may end it before its end, and the session goes on."""
        outcome: Outcome = "aborted"
        self._log.begin(trial)
        self._desk.start_block()
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
        """Show the cross until gaze has rested on it."""
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
        """Show the image for as long as the configuration says."""
        picture = trial.picture
        onset_s = self.stage.show(picture)
        self._log.image_on(picture, onset_s)
        self._desk.show(
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
        """Show nothing for a moment.

        The image was seen by now: of the keys only the one that wants it again ends the trial.
        """
        try:
            self.stage.hold(self._clock.now_s() + self.config.trial.blank_s)
        except TrialInterruptedError as interruption:
            if interruption.outcome == "repeated" and not interruption.then:
                raise
            self._postpone(interruption)

    def recognise(self) -> None:
        """Ask which images were seen, if the configuration wants it and somebody can answer."""
        n_questions = self.config.task.recognition_questions
        if not n_questions:
            return
        if not self._attended:
            self._desk.say("recognition left out: nobody can answer")
            self._tell_console("The recognition questions are left out: nobody is here to answer.")
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
                self._tell_console(f"A question is left out: {error}")
                continue
            yes = self.stage.ask(scene, (keys.yes, keys.no)) == keys.yes
            self.report.n_answers += 1
            self.report.n_right_answers += yes == was_shown
            self._desk.say(
                f"recognition {picture.path.name} shown {int(was_shown)} answer {int(yes)}"
            )

    def farewell(self) -> None:
        """Say thank you."""
        self.stage.tell(self.config.task.farewell, then="to end")

    # between trials

    def _is_ready(self, trial: PlannedTrial) -> bool:
        """Get the image ready; one that cannot be read does not end the session."""
        try:
            self.stage.display.prepare(trial.picture)
            self._prepare_image(trial.image)
        except (RecordingError, ConfigError) as error:
            self._tell_console(f"Trial {trial.number} is left out: {error}")
            self._desk.say(f"trial {trial.number} left out: {trial.image} cannot be read")
            self.report.outcomes.append((trial.number, trial.image, "skipped"))
            return False
        self.stage.display.pressed()  # what was pressed until now was not meant for the trial
        return True

    def _rest(self) -> float:
        """Show a frame where no trial runs; what keys ask for comes before the next trial."""
        try:
            return self.stage.frame()
        except TrialInterruptedError as interruption:
            self._postpone(interruption)
            return self._clock.now_s()

    def _postpone(self, interruption: TrialInterruptedError) -> None:
        self._pause_wanted |= interruption.then == "pause"
        self._set_up.is_wanted |= interruption.then == "calibrate"

    def _do_what_is_due(self) -> None:
        if self._pause_wanted:
            self._pause()
        if is_due(self._trials_since_break, self.config.schedule.break_every_trials):
            self._trials_since_break = 0
            self._desk.say("break")
            self.stage.tell(self.config.task.break_text)
        self._set_up.do_what_is_due()

    def _pause(self) -> None:
        self._pause_wanted = False
        self._desk.say("pause")
        keys = self.config.keys
        hint = f"Press {keys.go_on.upper()} to go on"
        self.stage.ask(Words("Pause", hint), (keys.go_on,), alone_s=None)
        self._desk.say("resume")

    def _show_target(self, x_px: float, y_px: float) -> None:
        until_s = self.stage.show(Target(x_px, y_px)) + TARGET_S
        while self._rest() < until_s:
            pass

    def _is_sure(self) -> bool:
        """Say whether the posterior has passed what the configuration wants."""
        identify = self.config.identify
        if self.participant.mode != "identify" or identify.stop_at is None:
            return False
        if len(self._shown) < identify.stop_after_images:
            return False
        best = self._settled_best()
        if best is None or best < identify.stop_at:
            return False
        self.report.reason = f"the posterior passed {identify.stop_at:g}"
        self._desk.say(f"stopped early: posterior {best:.4f}")
        return True

    def _settled_best(self) -> float | None:
        """Return the probability of the likeliest enrolled viewer after the last image, if told.

        The engine settles a trial within milliseconds of its end; frames go on meanwhile.
        """
        deadline_s = self._clock.now_s() + SETTLING_S
        while True:
            posterior = self._latest_posterior()
            if posterior is not None and posterior.n_images >= len(self._shown):
                unknown = 0.0 if posterior.log_unknown is None else math.exp(posterior.log_unknown)
                return (1.0 - unknown) * math.exp(max(posterior.log_probabilities))
            if self._rest() > deadline_s:
                return None

    # inside a trial

    def _wait_at_cross(self, trial: PlannedTrial) -> float | None:
        """Show the cross; return how long it took to be fixated, None if it was not in time."""
        settings = self.config.gate
        x_px, y_px = trial.cross_px
        gate = FixationGate(
            self.stage.display.screen,
            trial.cross_px,
            radius_deg=settings.radius_deg,
            dwell_s=settings.dwell_s,
        )
        shown_s = self.stage.show(Cross(x_px, y_px, self.config.trial.cross_size_deg))
        self._desk.show(CrossStimulus(x_px=x_px, y_px=y_px))
        self._log.cross(trial, shown_s)
        self._desk.watch(gate)
        while gate.opened_us is None:
            if self.stage.frame() - shown_s > settings.timeout_s:
                return None
        return self._clock.now_s() - shown_s

    def _gate_failed(self, trial: PlannedTrial) -> TrialInterruptedError:
        """Return what follows: another calibration, and where that did not help, the next trial."""
        self._gate_failures += 1
        if self._gate_failures > 1:
            self._gate_failures = 0
            self._tell_console(f"Trial {trial.number}: the cross was not fixated; skipped.")
            return TrialInterruptedError("skipped")
        self._tell_console(f"Trial {trial.number}: the cross was not fixated; calibrating again.")
        return TrialInterruptedError("repeated", "calibrate")

    def _take_image_away(self) -> None:
        offset_s = self.stage.show(Blank())
        self._desk.hide()
        self._log.image_off(offset_s)

    def _end_trial(self, trial: PlannedTrial, outcome: Outcome) -> None:
        """Stop recording and tell what became of the trial, also when the session is aborted."""
        self.report.outcomes.append((trial.number, trial.image, outcome))
        self._log.ends(outcome)
        if self._log.image_is_on:
            self._take_image_away()
        else:
            self.stage.show(Blank())
            self._desk.hide()
        frames = self.stage.frames.stop_trial()
        self._log.end(trial, self._attempt, outcome, frames.dropped)
        self._repeats = outcome == "repeated"
        if outcome == "shown":
            self._shown.append(trial)
            self._trials_since_break += 1
            self._set_up.count_trial()

    def _each_frame(self) -> None:
        self._desk.check()
        if self._desk.is_stop_wanted:
            raise SessionAbortedError("stopped from the dashboard")
