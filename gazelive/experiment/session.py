"""A session as the paper recorded it; the script in `experiments/` says in which order.

Every change of the screen is a message with the time of its flip, to the tracker's own file and to
the session folder; the messages are those of EyeLink's Data Viewer.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from gazelive.clock import Clock
from gazelive.config.schema import ExperimentConfig
from gazelive.devices.protocol import (
    Calibrates,
    CrossStimulus,
    ImageStimulus,
    LooksAtTargets,
)
from gazelive.errors import CalibrationError, ConfigError, RecordingError
from gazelive.experiment.desk import Desk
from gazelive.experiment.display import (
    Blank,
    Cross,
    Display,
    Participant,
    Picture,
    Question,
    Target,
    Words,
)
from gazelive.experiment.gate import FixationGate
from gazelive.experiment.plan import Plan, PlannedTrial, questions
from gazelive.experiment.stage import (
    Outcome,
    SessionAbortedError,
    Stage,
    TrialInterruptedError,
)
from gazelive.gaze.documents import Posterior
from gazelive.gaze.stream import Message
from gazelive.recordings.recording import Calibration, DriftCorrection
from gazelive.recordings.tracker_messages import calibration_text, drift_text

TARGET_S = 0.15
"""How long each target of a simulated calibration is on the screen."""
SETTLING_S = 1.0
"""How long the engine may take to settle a trial before the next begins without it."""
RESULTS: dict[Outcome, int] = {"shown": 0, "repeated": 1, "skipped": 2, "aborted": 3}
"""What TRIAL_RESULT says; 0 is a whole trial."""


@dataclass
class Report:
    """What a session came to."""

    onset_delays_ms: list[float] = field(default_factory=list)
    """From the frame in which the gate was seen open to the image on the screen."""
    image_ms: list[float] = field(default_factory=list)
    """How long each image was on the screen."""

    outcomes: list[tuple[int, str, Outcome]] = field(default_factory=list)
    """Trial, image and what became of it; a repeated trial is there twice."""
    calibrations: list[Calibration] = field(default_factory=list)
    drift_corrections: list[DriftCorrection] = field(default_factory=list)
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
        self._due: set[str] = set()
        """What must come before the next trial: calibrate, pause."""
        self._since_calibration = self._since_break = self._since_drift_check = 0
        self._gate_failures = 0
        self._gate_s: float | None = None
        self._onset_s: float | None = None
        """When the image came, while it is on the screen."""
        self._timing: dict[str, str] = {}
        self._was_seen = False
        """Whether the trial's image was shown to its end."""
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
        if isinstance(desk.device, LooksAtTargets):
            desk.device.on_target = self._show_target

    # what the script says

    def instruct(self) -> None:
        """Show the instructions."""
        self._tell_console(self.plan.told())
        self.stage.tell(self.config.task.instructions, then="to begin")

    def calibrate(self) -> None:
        """Calibrate and validate, again until the experimenter is content."""
        device = self._desk.device
        if not isinstance(device, Calibrates):
            return
        keys = self.config.keys
        self._due.discard("calibrate")
        hint = f"{keys.go_on.upper()}: go on   {keys.recalibrate.upper()}: calibrate again"
        while True:
            try:
                told = _validation_told(self._calibrated(device))
            except CalibrationError as error:
                if not self._attended:
                    raise
                told = str(error)  # the experimenter left the set-up without a result, say
            self._since_calibration = self._since_drift_check = 0
            self._tell_console(told)
            scene = Words(told, hint if self._attended else "")
            if self.stage.ask(scene, (keys.go_on, keys.recalibrate)) != keys.recalibrate:
                break
        self.stage.show(Blank())

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
        self._timing, self._gate_s, self._was_seen = {}, None, False
        self._desk.say(f"TRIALID {trial.number}")
        grey = self.config.screen.background_grey
        self._desk.say(f"!V CLEAR {grey} {grey} {grey}")
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
                self._gate_s = self._clock.now_s()
                self._desk.say(f"gate_passed {1000 * waited_s:.0f} ms", self._gate_s)
                return
            self.report.n_gate_timeouts += 1
            self._desk.say(f"gate_timeout {attempt} of {gate.tries}")
        raise self._gate_failed(trial)

    def show_image(self, trial: PlannedTrial) -> None:
        """Show the image for as long as the configuration says."""
        picture = trial.picture
        onset_s = self._onset_s = self.stage.show(picture)
        self._desk.show(
            ImageStimulus(
                name=trial.image,
                left_px=picture.left_px,
                top_px=picture.top_px,
                width_px=picture.width_px,
                height_px=picture.height_px,
            )
        )
        self._desk.say("image_onset", onset_s)
        self._desk.say(self._image_message(picture), onset_s)
        self.stage.hold(onset_s + self.config.trial.image_s)
        self._was_seen = True
        self._say_evidence(True)
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
        if interruption.then:
            self._due.add(interruption.then)

    def _do_what_is_due(self) -> None:
        schedule = self.config.schedule
        if "pause" in self._due:
            self._pause()
        if _is_due(self._since_break, schedule.break_every_trials):
            self._since_break = 0
            self._desk.say("break")
            self.stage.tell(self.config.task.break_text)
        recalibrates = _is_due(self._since_calibration, schedule.recalibrate_every_trials)
        if "calibrate" in self._due or recalibrates:
            self.calibrate()
        elif _is_due(self._since_drift_check, schedule.drift_check_every_trials):
            self._check_drift()

    def _pause(self) -> None:
        self._due.discard("pause")
        self._desk.say("pause")
        keys = self.config.keys
        hint = f"Press {keys.go_on.upper()} to go on"
        self.stage.ask(Words("Pause", hint), (keys.go_on,), alone_s=None)
        self._desk.say("resume")

    def _check_drift(self) -> None:
        """Compare gaze with a target; where that fails or is far off, calibrate again."""
        device = self._desk.device
        self._since_drift_check = 0
        if not isinstance(device, Calibrates):
            return
        screen = self.stage.display.screen
        x_px, y_px = round((screen.width_px - 1) / 2), round((screen.height_px - 1) / 2)
        try:
            drifts = self._desk.lend(lambda: device.check_drift(x_px, y_px))
        except CalibrationError as error:
            self._tell_console(str(error))
            self.calibrate()
            return
        self.stage.show(Blank())
        self.report.drift_corrections += drifts
        for drift in drifts:
            self._desk.note(Message(drift.tracker_time_us, drift_text(drift)))
        worst_deg = max((drift.offset_deg for drift in drifts), default=0.0)
        if worst_deg > self.config.gate.radius_deg:
            self._tell_console(f"Drift of {worst_deg:.1f}°: calibrating again.")
            self.calibrate()

    def _calibrated(self, device: Calibrates) -> tuple[Calibration, ...]:
        self.stage.show(Blank())
        results = self._desk.lend(device.calibrate)
        self.report.calibrations += results
        for result in results:
            self._desk.note(Message(result.tracker_time_us, calibration_text(result)))
        return results

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
        self._desk.say(f"cross {x_px} {y_px}", shown_s)
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

    def _say_evidence(self, counts: bool) -> None:
        """Say whether the viewing counts: what was skipped or repeated does not.

        It is said before the image goes, since that is when the engine settles what was seen. What
        was seen of an image until the session was aborted is as good as any.
        """
        self._desk.say(f"!V TRIAL_VAR evidence {int(counts)}")

    def _take_image_away(self) -> None:
        offset_s = self.stage.show(Blank())
        self._log_timing(offset_s)
        self._desk.hide()
        self._desk.say("image_offset", offset_s)
        grey = self.config.screen.background_grey
        self._desk.say(f"!V CLEAR {grey} {grey} {grey}", offset_s)

    def _log_timing(self, offset_s: float) -> None:
        """Note how soon after the gate the image came, and how long it stayed."""
        onset_s, self._onset_s = self._onset_s, None
        if onset_s is None:
            return
        self.report.image_ms.append(1000 * (offset_s - onset_s))
        self._timing["image_ms"] = f"{self.report.image_ms[-1]:.1f}"
        if self._gate_s is not None:
            self.report.onset_delays_ms.append(1000 * (onset_s - self._gate_s))
            self._timing["onset_delay_ms"] = f"{self.report.onset_delays_ms[-1]:.1f}"

    def _end_trial(self, trial: PlannedTrial, outcome: Outcome) -> None:
        """Stop recording and tell what became of the trial, also when the session is aborted."""
        self.report.outcomes.append((trial.number, trial.image, outcome))
        if not self._was_seen:
            self._say_evidence(outcome == "aborted" and self._onset_s is not None)
        if self._onset_s is not None:
            self._take_image_away()
        else:
            self.stage.show(Blank())
            self._desk.hide()
        frames = self.stage.frames.stop_trial()
        variables = {
            "image": trial.image,
            "index": trial.number,
            "attempt": self._attempt,
            "outcome": outcome,
            "dropped_frames": frames.dropped,
            **self._timing,
        }
        for key, value in variables.items():
            self._desk.say(f"!V TRIAL_VAR {key} {value}")
        self._desk.stop_block(f"TRIAL_RESULT {RESULTS[outcome]}")
        self._repeats = outcome == "repeated"
        if outcome == "shown":
            self._shown.append(trial)
            self._since_calibration += 1
            self._since_break += 1
            self._since_drift_check += 1

    def _image_message(self, picture: Picture) -> str:
        """Return Data Viewer's command to load the image; its path is relative to the EDF."""
        try:
            path = Path(os.path.relpath(picture.path, self._folder)).as_posix()
        except ValueError:  # another drive
            path = picture.path.as_posix()
        x_px = picture.left_px + picture.width_px / 2
        y_px = picture.top_px + picture.height_px / 2
        size = f"{picture.width_px:.0f} {picture.height_px:.0f}"
        return f"!V IMGLOAD CENTER {path} {x_px:.0f} {y_px:.0f} {size}"

    def _each_frame(self) -> None:
        self._desk.check()
        if self._desk.is_stop_wanted:
            raise SessionAbortedError("stopped from the dashboard")


def _is_due(n_trials: int, every: int) -> bool:
    return every > 0 and n_trials >= every


def _validation_told(results: tuple[Calibration, ...]) -> str:
    words = {"L": "left", "R": "right"}
    told = [
        f"{words[result.eye]} eye {result.result}: {result.mean_error_deg:.2f}° on average, "
        f"{result.max_error_deg:.2f}° at worst"
        for result in results
        if result.mean_error_deg is not None and result.max_error_deg is not None
    ]
    return "Validation\n\n" + "\n".join(told) if told else "Calibrated, not validated"
